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

/// Where rows lie, of arguments and results of operators alike.
static std::optional<bool> isValidPlace(NamedAttribute attr) {
  if (attr.getName() == OperatorOp::kLayout)
    return isa<AffineMapAttr>(attr.getValue());
  if (attr.getName() == OperatorOp::kBlockBytes)
    return isa<IntegerAttr>(attr.getValue());
  return std::nullopt;
}

LogicalResult UProgDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned argIndex,
                                                     NamedAttribute attr) {
  StringRef name = attr.getName();
  std::optional<bool> valid = isValidPlace(attr);
  if (llvm::is_contained(
          {OperatorOp::kRagged, OperatorOp::kParameter, OperatorOp::kOffsets},
          name)) {
    auto number = dyn_cast<IntegerAttr>(attr.getValue());
    valid = number && !number.getValue().isNegative();
  } else if (name == "uprog.read") {
    auto kind = dyn_cast<StringAttr>(attr.getValue());
    valid = kind &&
            llvm::is_contained({"gather", "rows", "scalar"}, kind.getValue());
  }
  if (!valid)
    return op->emitOpError("argument #")
           << argIndex << ": '" << name
           << "' is no attribute of the uprog dialect for arguments";
  if (!*valid)
    return op->emitOpError("argument #")
           << argIndex << ": '" << name << "' cannot be " << attr.getValue();
  return success();
}

LogicalResult UProgDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                        unsigned resultIndex,
                                                        NamedAttribute attr) {
  StringRef name = attr.getName();
  std::optional<bool> valid = isValidPlace(attr);
  if (name == "uprog.siblings" || name == "uprog.position")
    valid = isa<IntegerAttr>(attr.getValue());
  if (!valid)
    return op->emitOpError("result #")
           << resultIndex << ": '" << name
           << "' is no attribute of the uprog dialect for results";
  if (!*valid)
    return op->emitOpError("result #")
           << resultIndex << ": '" << name << "' cannot be " << attr.getValue();
  return success();
}
