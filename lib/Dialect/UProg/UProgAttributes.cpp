//===- UProgAttributes.cpp - What attributes of uprog may say -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Operands and results of operators
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlace(EmitError emitError, AffineMap layout,
                                 int64_t blockBytes) {
  if (layout && layout.getNumSymbols() != 0)
    return emitError() << "a layout has no symbols";
  if (blockBytes < 0)
    return emitError() << "block_bytes is a number of bytes, at least 0";
  return success();
}

LogicalResult OperandAttr::verify(EmitError emitError, OperandKind kind,
                                  int64_t number, int64_t ragged,
                                  AffineMap layout, int64_t blockBytes) {
  bool numbered = kind == OperandKind::Shared || kind == OperandKind::Offsets;
  if (numbered != (number >= 0))
    return emitError() << "'shared' and 'offsets' have a number, the others "
                          "have none";
  bool isRow = kind == OperandKind::Gather || kind == OperandKind::Rows;
  if (!isRow && (ragged >= 0 || layout || blockBytes))
    return emitError() << "'" << stringifyOperandKind(kind)
                       << "' has no rows in a table";
  return verifyPlace(emitError, layout, blockBytes);
}

LogicalResult ResultAttr::verify(EmitError emitError, int64_t siblings,
                                 int64_t position, AffineMap layout,
                                 int64_t blockBytes) {
  if (position < 0 || position >= siblings)
    return emitError() << "there is no position " << position << " of "
                       << siblings;
  return verifyPlace(emitError, layout, blockBytes);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

LogicalResult WorkersAttr::verify(EmitError emitError, int64_t fixedScratch,
                                  int64_t taskScratch, int64_t mostScratch,
                                  int64_t rowSplit, int64_t rowBlock,
                                  int64_t shareTasks) {
  if (fixedScratch < 0 || taskScratch < 0 || mostScratch < 0)
    return emitError() << "scratch memory is a number of bytes, at least 0";
  if (rowSplit < 1 || shareTasks < 1 || rowBlock < 0)
    return emitError() << "row_split and share_tasks are at least 1, row_block "
                          "is at least 0";
  return success();
}

LogicalResult CodeAttr::verify(EmitError emitError, int64_t stages,
                               int64_t taskScratch,
                               ArrayRef<int64_t> raggedScratch, WorkersAttr) {
  if (stages < 0)
    return emitError() << "there are " << stages << " stages";
  if (taskScratch < 0 ||
      llvm::any_of(raggedScratch, [](int64_t bytes) { return bytes < 0; }))
    return emitError() << "scratch memory is a number of bytes, at least 0";
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult StagingAttr::verify(EmitError emitError, StageTarget,
                                  int64_t vectorBits, int64_t lanes) {
  if (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits))
    return emitError() << "vector_bits is a power of two of at least 128";
  if (lanes < 1 || !llvm::isPowerOf2_64(lanes) || lanes * 32 > vectorBits)
    return emitError() << "lanes is a power of two, of which each has at least "
                          "32 of the "
                       << vectorBits << " bits";
  return success();
}

LogicalResult RowsAttr::verify(EmitError emitError, RowsKind kind,
                               int64_t domain) {
  if ((kind == RowsKind::Ragged) != (domain >= 0))
    return emitError() << "ragged rows have a domain, the others have none";
  return success();
}

LogicalResult PanelsAttr::verify(EmitError emitError,
                                 ArrayRef<int64_t> parameters, int64_t n,
                                 int64_t k, int64_t width, bool transposed) {
  if (parameters.empty())
    return emitError() << "panels are made of at least one parameter";
  if (n < 1 || k < 1 || width < 1)
    return emitError() << "n, k and width are at least 1";
  if (parameters.size() > 1 && !transposed)
    return emitError() << "parameters are stacked along n, so they are "
                          "transposed";
  return success();
}

/// Places along a reduction, in ascending order.
static LogicalResult verifyBreaks(EmitError emitError,
                                  ArrayRef<int64_t> breaks) {
  int64_t last = 0;
  for (int64_t position : breaks) {
    if (position <= last)
      return emitError() << "breaks ascend from 1 on";
    last = position;
  }
  return success();
}

LogicalResult PackedAttr::verify(EmitError emitError, ArrayRef<int64_t> breaks,
                                 unsigned left, PanelsAttr panels,
                                 int64_t nOffset, int64_t kOffset, bool) {
  if (left > 1)
    return emitError() << "a contraction has inputs 0 and 1";
  if (nOffset < 0 || nOffset >= panels.getN() || kOffset < 0 ||
      kOffset >= panels.getK())
    return emitError() << "offsets lie in the panels";
  return verifyBreaks(emitError, breaks);
}

LogicalResult InPlaceAttr::verify(EmitError emitError, ArrayRef<int64_t> breaks,
                                  ArrayRef<int64_t>, unsigned left,
                                  int64_t leftStride, int64_t rightStride) {
  if (left > 1)
    return emitError() << "a contraction has inputs 0 and 1";
  if (leftStride < 1 || rightStride < 1)
    return emitError() << "strides are at least 1";
  return verifyBreaks(emitError, breaks);
}

LogicalResult ReducedAttr::verify(EmitError emitError, ReducedKind,
                                  ArrayRef<int64_t> breaks) {
  return verifyBreaks(emitError, breaks);
}

//===----------------------------------------------------------------------===//
// Discardable attributes of operations
//===----------------------------------------------------------------------===//

static LogicalResult verifyReduction(Operation *op, Attribute how) {
  if (!isa<PackedAttr, InPlaceAttr, ReducedAttr>(how))
    return op->emitOpError("'uprog.reduction' is #uprog.packed, "
                           "#uprog.in_place or #uprog.reduced");
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumReductionLoops() == 0 ||
      !isa<StageOp>(op->getParentOp()))
    return op->emitOpError("'uprog.reduction' is about a reduction in a stage");
  if (!isa<ReducedAttr>(how) &&
      (linalgOp.getNumReductionLoops() != 1 || linalgOp.getNumDpsInputs() != 2))
    return op->emitOpError("is no contraction: a reduction of two inputs along "
                           "one dimension");
  return success();
}

LogicalResult UProgDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  if (name == kReductionAttr)
    return verifyReduction(op, value);
  if (name == kCodeAttr)
    return isa<CodeAttr>(value) && isa<FunctionOpInterface>(op)
               ? success()
               : op->emitOpError("'uprog.code' is a #uprog.code of a function "
                                 "or an operator");
  if (name == kStagingAttr)
    return isa<StagingAttr>(value) && isa<OperatorOp>(op)
               ? success()
               : op->emitOpError("'uprog.staging' is a #uprog.staging of an "
                                 "operator");
  if (name == kPackingsAttr) {
    auto list = dyn_cast<ArrayAttr>(value);
    return list && isa<ModuleOp>(op) &&
                   llvm::all_of(list, llvm::IsaPred<PanelsAttr, PaddedAttr>)
               ? success()
               : op->emitOpError("'uprog.packings' is a module's list of "
                                 "#uprog.panels and #uprog.padded");
  }
  return op->emitOpError("'")
         << name << "' is no attribute of the uprog dialect for operations";
}
