//===- Library.h - Functions that models may declare ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIBRARY_LIBRARY_H
#define BATCH_LIBRARY_LIBRARY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::batch {

/// Parses the library that is built into the compiler, and returns a module
/// with all functions of lib/Library/*.mlir. Models may declare the public
/// functions; the private functions are helpers. Functions that support any
/// size are in nested modules. The dialects that the functions use must be
/// loaded.
OwningOpRef<ModuleOp> parseLibrary(MLIRContext *context);

} // namespace mlir::batch

#endif // BATCH_LIBRARY_LIBRARY_H
