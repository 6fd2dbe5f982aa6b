//===- ParentProcess.h - The process that needs the result ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_COMPILE_PARENTPROCESS_H
#define BATCH_COMPILE_PARENTPROCESS_H

namespace mlir::batch {

/// Ends this process when `process` ends for any reason, or at once if it has
/// already ended. `process` need not be the parent, because a script may be in
/// between. Removes files that are being written.
void exitWithProcess(int process);

} // namespace mlir::batch

#endif // BATCH_COMPILE_PARENTPROCESS_H
