//===- ResourceValues.h - Values of a module's resources --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TOOLS_BATCHCOMPILE_RESOURCEVALUES_H
#define BATCH_TOOLS_BATCHCOMPILE_RESOURCEVALUES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::batch {

/// Writes the values of all `dense_resource` constants of `module` to a
/// safetensors file, under their keys. Emits an error if a value is not in the
/// module or has an unsupported type, or if the file cannot be written.
LogicalResult writeResourceValues(ModuleOp module, StringRef file);

} // namespace mlir::batch

#endif // BATCH_TOOLS_BATCHCOMPILE_RESOURCEVALUES_H
