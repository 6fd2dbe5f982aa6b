//===- VerifyInput.cpp - Check that a module can be batched ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Verify/Passes.h"
#include "batch-runtime/ABI.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::batch {
#define GEN_PASS_DEF_VERIFYINPUTPASS
#include "Batch/Transforms/Verify/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns advice on how to remove an unsupported dialect, or an empty string
/// for any other dialect.
static StringRef getRemedy(StringRef dialect) {
  constexpr StringLiteral earlier = "use the module from an earlier stage, "
                                    "which computes on tensors";
  return llvm::StringSwitch<StringRef>(dialect)
      .Case("affine", "run 'mlir-opt --lower-affine' first")
      .Cases({"memref", "bufferization"}, earlier)
      .Case("vector", earlier)
      .Case("ml_program",
            "pass the global as an argument of the entry, with 'batch.shared' "
            "if it is a parameter, and return its new value")
      .Case("shape", "run 'mlir-opt --convert-shape-to-std' first")
      .Cases({"stablehlo", "chlo", "mhlo"}, "run 'batch-import' first")
      .Case("torch",
            "export the model with torch-mlir output type 'linalg-on-tensors'")
      .Case("tosa", "run 'mlir-opt --pass-pipeline=\"builtin.module("
                    "func.func(tosa-to-linalg-named,tosa-to-linalg,"
                    "tosa-to-arith,tosa-to-tensor,tosa-to-scf))\"' first")
      .Default("");
}

static LogicalResult verifyType(Location loc, Type type) {
  if (isa<UnrankedTensorType>(type))
    return emitError(loc) << "unranked type " << type
                          << " is not supported; give the tensor a ranked "
                             "type, such as tensor<?xf32>";
  if (isa<BaseMemRefType>(type))
    return emitError(loc) << "buffer type " << type
                          << " is not supported; use the module as it was "
                             "before bufferization";
  if (isa<FunctionType>(type))
    return emitError(loc) << "values of function type " << type
                          << " are not supported; call functions by name";
  return success();
}

static WalkResult verifyOperation(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (StringRef remedy = getRemedy(dialect); !remedy.empty())
    return op->emitError("'")
           << op->getName() << "' belongs to unsupported dialect '" << dialect
           << "'; " << remedy;
  for (Type type : op->getResultTypes())
    if (failed(verifyType(op->getLoc(), type)))
      return WalkResult::interrupt();
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (failed(verifyType(argument.getLoc(), argument.getType())))
        return WalkResult::interrupt();
  return WalkResult::advance();
}

namespace {
class VerifyInputPass
    : public batch::impl::VerifyInputPassBase<VerifyInputPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    InstanceProgram program(module);
    Operation *object = SymbolTable(module).lookup(BATCH_OBJECT_SYMBOL);
    const bool isLowered = object && !isa<func::FuncOp>(object);
    if (!isLowered && !lookupEntry(module)) {
      emitMissingEntry(module);
      return signalPassFailure();
    }
    for (func::FuncOp function : program.getFunctions())
      if (function->walk<WalkOrder::PreOrder>(verifyOperation).wasInterrupted())
        return signalPassFailure();
  }
};
} // namespace
