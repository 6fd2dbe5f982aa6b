//===- BuildId.h - ID of the compiler's code --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_COMPILE_BUILDID_H
#define BATCH_COMPILE_BUILDID_H

#include <string>

namespace mlir::batch {

/// Returns an ID of this program and of the shared libraries of LLVM and MLIR
/// that it uses: a digest of the build IDs that the linker has stored in them.
/// Copies of the program have the same ID, also if they are stripped.
std::string getBuildId();

} // namespace mlir::batch

#endif // BATCH_COMPILE_BUILDID_H
