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

FailureOr<batchrt::Policy>
FieldParser<batchrt::Policy, batchrt::Policy>::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  if (std::optional<batchrt::Policy> policy = batchrt::findPolicy(name))
    return *policy;
  return parser.emitError(loc, "unknown policy '")
         << name << "'; expected " << batchrt::listPolicies();
}

AsmPrinter &mlir::operator<<(AsmPrinter &printer, batchrt::Policy policy) {
  return printer << batchrt::policyName(policy);
}

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/Batch/BatchTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Batch/Dialect/Batch/BatchAttributes.cpp.inc"

namespace {

/// Materializes constants in the block that uses them, because a machine has no
/// code between blocks.
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

LogicalResult PolicyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 batchrt::Policy kind, StringAttr table) {
  if ((kind == batchrt::Policy::StateMachine) != bool(table))
    return emitError()
           << "policy 'fsm' requires a table; other policies do not take one";
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

InFlightDiagnostic mlir::batch::emitMissingEntry(ModuleOp module) {
  // If the text does not contain `module`, the location of the module is line
  // 0.
  auto functions = module.getOps<FunctionOpInterface>();
  Operation *place =
      functions.empty() ? module : (*functions.begin()).getOperation();
  return place->emitError("the module has no entry; mark the function for one "
                          "instance with 'attributes {batch.entry}'");
}
