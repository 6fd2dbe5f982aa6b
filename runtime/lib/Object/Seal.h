//===- Seal.h - Checking the seal of an object ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_OBJECT_SEAL_H
#define BATCH_RUNTIME_LIB_OBJECT_SEAL_H

#include <string>

namespace batchrt {

/// Raises an error unless the file is a compiled object with the bytes that the
/// compiler wrote. Does not map the file.
void checkSeal(const std::string &path);

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_OBJECT_SEAL_H
