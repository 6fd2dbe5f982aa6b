//===- RandomPrograms.h - Random recursive programs -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_UNITTESTS_TRANSFORMS_CONTROL_RANDOMPROGRAMS_H
#define BATCH_UNITTESTS_TRANSFORMS_CONTROL_RANDOMPROGRAMS_H

#include <cstdint>
#include <string>

namespace mlir::batch::test {

/// Returns a module of functions that call themselves and each other, with
/// branches and loops between and around the calls. The entry takes and returns
/// two i64.
std::string makeRandomProgram(uint32_t seed);

} // namespace mlir::batch::test

#endif // BATCH_UNITTESTS_TRANSFORMS_CONTROL_RANDOMPROGRAMS_H
