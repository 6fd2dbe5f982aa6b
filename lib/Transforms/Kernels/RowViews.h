//===- RowViews.h - Rows and extents in control flow ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites of rows and extents in batch-outline-kernels, before the pass cuts
// kernels.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_TRANSFORMS_KERNELS_ROWVIEWS_H
#define BATCH_LIB_TRANSFORMS_KERNELS_ROWVIEWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::batch {

class Sharedness;
class StructuralControl;

/// Replaces the extents of new tensors with extents of ragged tensors: the
/// length of a mapped list is the extent of the result of the map.
void normalizeExtents(func::FuncOp function, SymbolTableCollection &symbols);

/// If a slice reads only a piece of a row of a parameter or a ragged tensor,
/// splits the slice in two. The slice of the whole row becomes an operand of a
/// kernel, and the slice of the piece becomes code of the kernel.
void splitRowViews(func::FuncOp function, const Sharedness &sharedness,
                   const StructuralControl &control);

/// If the rows of a ragged tensor are a list, replaces reads of rows with
/// `rec.element`, provided that the positions are constant or structural.
void pickElements(func::FuncOp function, const Sharedness &sharedness,
                  const StructuralControl &control);

} // namespace mlir::batch

#endif // BATCH_LIB_TRANSFORMS_KERNELS_ROWVIEWS_H
