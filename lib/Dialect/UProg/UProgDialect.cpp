//===- UProgDialect.cpp - The uprog dialect -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::uprog;

#include "Batch/Dialect/UProg/UProgDialect.cpp.inc"
#include "Batch/Dialect/UProg/UProgEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/UProg/UProgTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Batch/Dialect/UProg/UProgAttributes.cpp.inc"

LogicalResult CellsType::verify(function_ref<InFlightDiagnostic()> emitError,
                                Type value) {
  if (value.isIntOrIndexOrFloat() ||
      isa<RowType, rec::ListType, rec::AdtType>(value))
    return success();
  return emitError() << "unsupported cell type " << value
                     << "; expected a number, a row, a list or a value of an "
                        "ADT";
}

void UProgDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Batch/Dialect/UProg/UProgTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Batch/Dialect/UProg/UProgOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Batch/Dialect/UProg/UProgAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Discardable attributes of arguments and results
//===----------------------------------------------------------------------===//

LogicalResult UProgDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned argIndex,
                                                     NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name != kOperandAttr)
    return op->emitOpError("argument #")
           << argIndex << ": attribute '" << name
           << "' is not supported on arguments; use '" << kOperandAttr
           << "' for operands of an operator";
  if (!isa<OperatorOp>(op) || !isa<OperandAttr>(attr.getValue()))
    return op->emitOpError("argument #")
           << argIndex << ": '" << name
           << "' must be a #uprog.operand attribute on an argument of a "
              "uprog.operator";
  return success();
}

LogicalResult UProgDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                        unsigned resultIndex,
                                                        NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name != kResultAttr)
    return op->emitOpError("result #")
           << resultIndex << ": attribute '" << name
           << "' is not supported on results; use '" << kResultAttr
           << "' for results of an operator";
  if (!isa<OperatorOp>(op) || !isa<ResultAttr>(attr.getValue()))
    return op->emitOpError("result #") << resultIndex << ": '" << name
                                       << "' must be a #uprog.result attribute "
                                          "on a result of a uprog.operator";
  return success();
}
