//===- BatchDialect.cpp - The batch dialect -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

#include "Batch/Dialect/Batch/BatchDialect.cpp.inc"
#include "Batch/Dialect/Batch/BatchEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/Batch/BatchTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Batch/Dialect/Batch/BatchAttributes.cpp.inc"

namespace {

/// Constants stay in the block of a machine that needs them: between blocks
/// there is no code.
struct BatchFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const final {
    return isa<BlockOp>(region->getParentOp());
  }
};

} // namespace

void BatchDialect::initialize() {
  addInterfaces<BatchFoldInterface>();
  addOperations<
#define GET_OP_LIST
#include "Batch/Dialect/Batch/BatchOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Batch/Dialect/Batch/BatchTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Batch/Dialect/Batch/BatchAttributes.cpp.inc"
      >();
}

LogicalResult BatchDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  if (attr.getName() == kEntryAttr) {
    if (!isa<UnitAttr>(attr.getValue()) || !isa<FunctionOpInterface>(op))
      return op->emitOpError("'batch.entry' is a unit attribute of a function");
    auto module = op->getParentOfType<ModuleOp>();
    if (!module)
      return success();
    for (auto other : module.getOps<FunctionOpInterface>())
      if (other.getOperation() != op && other->hasAttr(kEntryAttr) &&
          op->isBeforeInBlock(other))
        return other->emitOpError("is a second entry; a module has one")
                   .attachNote(op->getLoc())
               << "the first entry is here";
  }
  return success();
}

LogicalResult PolicyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 PolicyKind kind, StringAttr table) {
  if ((kind == PolicyKind::Fsm) != bool(table))
    return emitError() << "policy 'fsm' has a table, the others have none";
  return success();
}

LogicalResult BatchDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned regionIndex,
                                                     unsigned argIndex,
                                                     NamedAttribute attr) {
  bool onKernel = isa<KernelOp>(op);
  if (attr.getName() == kSharedAttr) {
    if (onKernel && !isa<UnitAttr>(attr.getValue()))
      return op->emitOpError("argument #")
             << argIndex
             << ": 'batch.shared' of a kernel is a unit attribute; the name of "
                "the parameter belongs to the entry function";
    if (!onKernel && !isa<StringAttr>(attr.getValue()))
      return op->emitOpError("argument #")
             << argIndex
             << ": 'batch.shared' of a function is a string, the name of the "
                "parameter";
  }
  if (attr.getName() == kNameAttr && !isa<StringAttr>(attr.getValue()))
    return op->emitOpError("argument #")
           << argIndex << ": 'batch.name' must be a string";
  if (attr.getName() == kReadAttr &&
      !(onKernel && isa<ReadAttr>(attr.getValue())))
    return op->emitOpError("argument #")
           << argIndex << ": 'batch.read' is a #batch.read, on kernels alone";
  return success();
}

Operation *BatchDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

FunctionOpInterface mlir::batch::lookupEntry(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function->hasAttr(kEntryAttr))
      return function;
  return {};
}
