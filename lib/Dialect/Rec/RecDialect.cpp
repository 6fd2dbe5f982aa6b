//===- RecDialect.cpp - The rec dialect -----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::rec;

#include "Batch/Dialect/Rec/RecDialect.cpp.inc"
#include "Batch/Dialect/Rec/RecEnums.cpp.inc"

namespace {
/// Allows all inlining, including inlining into cases and bodies.
struct RecInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void RecDialect::initialize() {
  registerTypes();
  addInterfaces<RecInlinerInterface>();
  addOperations<
#define GET_OP_LIST
#include "Batch/Dialect/Rec/RecOps.cpp.inc"
      >();
}

LogicalResult RecDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  if (attr.getName() == kBackedgeAttr && !isa<UnitAttr>(attr.getValue()))
    return op->emitOpError("'rec.backedge' must be a unit attribute");
  return success();
}
