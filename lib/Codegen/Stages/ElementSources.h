//===- ElementSources.h - Sources of an op's elements -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place that knows how the index of an element of a view, or of the
// result of an elementwise op, becomes an index of its operands. Staging asks
// it which memory a stage reads, the emitters which addresses to compute.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_ELEMENTSOURCES_H
#define BATCH_CODEGEN_STAGES_ELEMENTSOURCES_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace mlir::uprog {

/// A condition: the index along dimension `dim` of the result is below `limit`,
/// or is not.
struct IndexCondition {
  unsigned dim;
  bool below;
  int64_t limit;
};

/// An operand from which an element of a result is computed.
struct ElementSource {
  OpOperand *operand;
  /// From the indices of the result's element, its row included, to those of
  /// the operand's.
  AffineMap map;
  /// If an op chooses between operands: all must hold.
  SmallVector<IndexCondition, 2> conditions;
  /// The row of the map is ragged, and the operand's row is that of its task.
  bool taskOfRow = false;
};

/// True if the elements of the result of `op` are elements of its operands.
bool isView(Operation *op);

/// The sources of an element of a view or of a result of an elementwise op. If
/// they have conditions, only the first whose conditions hold is used; the last
/// one has none.
SmallVector<ElementSource> getElementSources(OpResult result);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_ELEMENTSOURCES_H
