//===- PickRows.h - Rows that control takes out of tensors ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_KERNELS_PICKROWS_H
#define BATCH_TRANSFORMS_KERNELS_PICKROWS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::batch {

/// Makes slices and elements of parameters and ragged tensors, where control
/// knows the position, whole rows and code on these: rows of ragged tensors are
/// elements of the lists that they are.
void pickRows(ModuleOp module);

} // namespace mlir::batch

#endif // BATCH_TRANSFORMS_KERNELS_PICKROWS_H
