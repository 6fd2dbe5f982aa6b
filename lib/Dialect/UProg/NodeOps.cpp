//===- NodeOps.cpp - Data structures of an instance -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceOps.h"

#include "Batch/Dialect/Batch/ElementTypes.h"
#include "Batch/Dialect/Rec/AdtLookup.h"

using namespace mlir;
using namespace mlir::uprog;

//===----------------------------------------------------------------------===//
// Nodes of the input
//===----------------------------------------------------------------------===//

LogicalResult VariantOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FlatSymbolRefAttr name = cast<rec::AdtType>(getNode().getType()).getName();
  if (!rec::lookupAdt(*this, name, symbols))
    return emitOpError("refers to unknown rec.adt ") << name;
  return success();
}

LogicalResult FieldOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto name = SymbolRefAttr::get(
      cast<rec::AdtType>(getNode().getType()).getName().getAttr(),
      getVariantAttr());
  rec::VariantOp variant = rec::lookupVariant(*this, name, symbols);
  if (!variant)
    return emitOpError("refers to unknown rec.variant ") << name;
  if (getNumber() >= variant.getNumFields())
    return emitOpError("field number ")
           << getNumber() << " is out of range; " << name << " has "
           << variant.getNumFields() << " fields";
  Type type = variant.getFieldType(getNumber());
  if (!isDatumOrList(getValue().getType(), type))
    return emitOpError("has type ")
           << getValue().getType() << ", but the field has type " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Rows and results of nodes
//===----------------------------------------------------------------------===//

LogicalResult NodeRowsOp::verify() {
  return verifyRowType(*this, cast<RankedTensorType>(getType()));
}

LogicalResult NodeRowOp::verifySymbolUses(SymbolTableCollection &) {
  if (!SymbolTable::lookupNearestSymbolFrom<NodeRowsOp>(
          (*this)->getParentOfType<ModuleOp>(), getRowsAttr()))
    return emitOpError("refers to unknown uprog.node_rows ") << getRowsAttr();
  auto program = (*this)->getParentOfType<ProgramOp>();
  WalkResult others = program.walk([&](NodeRowOp other) {
    return other != *this && other.getRowsAttr() == getRowsAttr()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (others.wasInterrupted())
    return emitOpError("must be the only uprog.node_row of ")
           << getRowsAttr() << " in its program; otherwise, a unit may write a "
           << "row that others read";
  return success();
}

LogicalResult NodeResultsOp::verify() {
  for (Type type : getTypes().getAsValueRange<TypeAttr>())
    if (!isa<RowType, rec::AdtType>(type) && !batch::isElementType(type))
      return emitOpError("has unsupported result type ")
             << type << "; expected a number, a row or a value of an ADT";
  return success();
}

/// Checks that values have the types of a recursion's results.
static LogicalResult verifyResults(Operation *op, FlatSymbolRefAttr name,
                                   TypeRange types) {
  auto results = SymbolTable::lookupNearestSymbolFrom<NodeResultsOp>(
      op->getParentOfType<ModuleOp>(), name);
  if (!results)
    return op->emitOpError("refers to unknown uprog.node_results ") << name;
  if (!llvm::equal(results.getTypes().getAsValueRange<TypeAttr>(), types))
    return op->emitOpError("has values of types ")
           << types << ", but " << name << " has " << results.getTypes();
  return success();
}

LogicalResult RememberOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyResults(*this, getRecursionAttr(), getValues().getTypes());
}

LogicalResult LookUpOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyResults(*this, getRecursionAttr(), getValues().getTypes());
}

LogicalResult ConstructOp::verifySymbolUses(SymbolTableCollection &symbols) {
  rec::VariantOp variant = rec::lookupVariant(*this, getVariant(), symbols);
  if (!variant)
    return emitOpError("refers to unknown rec.variant ") << getVariant();
  if (getValue().getType() != variant.getAdt().getType())
    return emitOpError("has a result of type ")
           << getValue().getType() << ", but " << getVariant()
           << " is a variant of " << variant.getAdt().getType();
  if (getFields().size() != variant.getNumFields())
    return emitOpError("has ")
           << getFields().size() << " fields, but " << getVariant() << " has "
           << variant.getNumFields();
  for (auto [number, field] : llvm::enumerate(getFields())) {
    Type type = variant.getFieldType(number);
    if (isa<rec::ListType>(type) || !isDatumOrList(field.getType(), type))
      return emitOpError("field #")
             << number << " has type " << field.getType() << ", but "
             << getVariant() << " declares it as " << type;
  }
  return success();
}
