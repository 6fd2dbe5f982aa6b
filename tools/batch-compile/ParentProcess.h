//===- ParentProcess.h - The process that needs the result ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_COMPILE_PARENTPROCESS_H
#define BATCH_COMPILE_PARENTPROCESS_H

namespace mlir::batch {

/// Ends this process when another one ends, however it does; at once if it has
/// ended already. The other one need not be the parent: a script may be in
/// between. Files that are being written are removed.
void exitWithProcess(int process);

} // namespace mlir::batch

#endif // BATCH_COMPILE_PARENTPROCESS_H
