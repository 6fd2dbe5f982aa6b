//===- ElementSources.h - Sources of an op's elements -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps the indices of an element of a view, or of the result of an elementwise
// op, to indices in the op's operands. Staging uses this map to find the memory
// that a stage reads, and the emitters use it to compute addresses. No other
// code computes this mapping.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_ELEMENTSOURCES_H
#define BATCH_CODEGEN_STAGES_ELEMENTSOURCES_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace mlir::uprog {

/// Condition that the index along dimension `dim` of the result is less than
/// `limit`. If `below` is false, the index must be at least `limit` instead.
struct IndexCondition {
  unsigned dim;
  bool below;
  int64_t limit;
};

/// Operand from which an element of a result is computed.
struct ElementSource {
  OpOperand *operand;
  /// Map from the indices of the result's element, including its row, to the
  /// indices of the operand's element.
  AffineMap map;
  /// Conditions of an op that chooses between operands. All of them must hold.
  SmallVector<IndexCondition, 2> conditions;
  /// True if the map returns the number of a ragged row. The operand's row is
  /// then the row of the task that owns this ragged row.
  bool taskOfRow = false;
};

/// Returns true if the elements of the result of `op` are elements of its
/// operands.
bool isView(Operation *op);

/// Returns the sources of an element of a view or of a result of an elementwise
/// op. If they have conditions, only the first source whose conditions hold is
/// used. The last source has no conditions.
SmallVector<ElementSource> getElementSources(OpResult result);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_ELEMENTSOURCES_H
