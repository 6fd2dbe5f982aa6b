//===- Rec.h - The rec dialect ----------------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_REC_REC_H
#define BATCH_DIALECT_REC_REC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::rec {
class AdtOp;
class VariantOp;
struct ValueFlowEdge;

/// Resource that `rec.phase` writes and nothing reads.
struct PhaseResource : SideEffects::Resource::Base<PhaseResource> {
  StringRef getName() final { return "rec.phase"; }
};
} // namespace mlir::rec

#include "Batch/Dialect/Rec/RecInterfaces.h.inc"
#include "Batch/Dialect/Rec/RecOpInterfaces.h.inc"

#include "Batch/Dialect/Rec/RecDialect.h.inc"

#include "Batch/Dialect/Rec/RecEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/Rec/RecTypes.h.inc"

namespace mlir::rec {
/// Unit attribute of an op that `rec-refactor` moves from its function to the
/// callers, together with all ops that depend on it.
inline constexpr StringLiteral kBackedgeAttr = "rec.backedge";

/// Returns the element type of a list-like type: T for !rec.list<T>,
/// tensor<256xf32> for the ragged tensor<?x256xf32>, null for every other type.
Type getSequenceElementType(Type type);

/// Returns true if `sequence` is a list with elements of type `element`. Also
/// returns true if `element` is a static tensor and `sequence` is a ragged
/// tensor with rows of this type.
bool gathers(Type sequence, Type element);

/// Returns true for tensors whose first dimension is dynamic and whose other
/// dimensions are static.
bool isRaggedTensor(Type type);

/// Returns true if a value of type `value` fits a field of type `field`. The
/// types must be equal, except that a ragged tensor fits a list of its rows,
/// and a type with TensorStandInTypeInterface fits a tensor. Both exceptions
/// also apply to the elements of lists.
bool fitsField(Type field, Type value);
} // namespace mlir::rec

#define GET_OP_CLASSES
#include "Batch/Dialect/Rec/RecOps.h.inc"

namespace mlir::rec {
/// Edge of value flow from one value to another. The second value equals the
/// first, contains it, or is extracted or computed from it. An edge of kind
/// `Decide` leads from a value to control flow.
struct ValueFlowEdge {
  enum Kind {
    Same,    ///< `to` is `from`
    Element, ///< `to` is an element of the list `from`
    Gather,  ///< `from` becomes an element of the list `to`
    Read,    ///< `to` is field `field` of `from`, or a list of the values that
             ///< this field has in all links of a list-shaped `from`
    Build,   ///< `from` becomes field `field` of the value `to`
    Decide,  ///< `from`, or its field `field`, decides which region of the op
             ///< runs, or how often a region runs. `to` is null
    Compute, ///< `to` is computed from `from`
    Count,   ///< `to` is the length of the list `from`, which is known without
             ///< running tensor code
  };
  Kind kind;
  Value from, to;
  /// Variant that has the field, or null if there is no field.
  VariantOp variant;
  unsigned field = 0;
};

/// Returns the edges that `op` reports through its ValueFlowOpInterface, or
/// none if it does not implement this interface.
SmallVector<ValueFlowEdge> getValueFlow(Operation *op,
                                        SymbolTableCollection &symbolTables);

/// Returns true if `op` is a map or fold over at least one value of a
/// list-shaped ADT. `batch-list-elements` removes all such ops.
bool walksAdt(Operation *op);
} // namespace mlir::rec

#endif // BATCH_DIALECT_REC_REC_H
