//===- InitAll.h - Dialects, passes and pipelines ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_INITALL_H
#define BATCH_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::batch {

/// Registers the dialects of this project, and the upstream dialects and
/// interface implementations that its passes need.
void registerAllDialects(DialectRegistry &registry);

/// Registers all passes and pipelines of this project globally, as MLIR does
/// for its own passes. Call this function once per process.
void registerAllPasses();

} // namespace mlir::batch

#endif // BATCH_INITALL_H
