//===- VerifyExecutor.cpp - One executor that runs all recorded kernels ---===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/BatchedForms.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Batch/Transforms/Verify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::batch {
#define GEN_PASS_DEF_VERIFYEXECUTORPASS
#include "Batch/Transforms/Verify/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns the op that decides which kernels run: the inspector or machine of
/// `module`, or null.
static Operation *findDecider(ModuleOp module) {
  for (Operation &op : *module.getBody())
    if (isa<MachineOp>(op) || op.hasAttr(kInspectorAttr))
      return &op;
  return nullptr;
}

/// Finds the executor of a module: a program, or the function to which it was
/// lowered. Leaves `executor` null if there is none and no inspector or
/// machine needs one.
static LogicalResult findExecutor(ModuleOp module, Operation *&executor) {
  for (Operation &op : *module.getBody()) {
    if (!op.hasAttr(kExecutorAttr))
      continue;
    if (executor)
      return op.emitError("module has more than one executor")
                 .attachNote(executor->getLoc())
             << "the first executor is here";
    executor = &op;
  }
  Operation *decider = findDecider(module);
  if (!decider || executor)
    return success();
  return decider->emitError("the module has no executor; run ")
         << (isa<MachineOp>(decider) ? "batch-lockstep"
                                     : "convert-batch-to-uprog")
         << " first";
}

/// Returns the operators used by `program`, and by the programs that it runs.
static DenseSet<StringAttr> findOperators(uprog::ProgramOp program,
                                          SymbolTable &symbols) {
  DenseSet<StringAttr> operators;
  SetVector<Operation *> programs;
  programs.insert(program);
  for (size_t i = 0; i < programs.size(); ++i)
    programs[i]->walk([&](Operation *op) {
      FlatSymbolRefAttr name;
      if (auto run = dyn_cast<uprog::RunOp>(op))
        name = run.getCalleeAttr();
      else if (auto ref = dyn_cast<uprog::RefOp>(op))
        name = ref.getCalleeAttr();
      else
        return;
      if (auto callee = symbols.lookup<uprog::ProgramOp>(name.getAttr()))
        programs.insert(callee);
      else
        operators.insert(name.getAttr());
    });
  return operators;
}

/// Checks that `program` runs all recorded kernels, and the kernels of a
/// machine's blocks.
static LogicalResult verifyRuns(ModuleOp module, uprog::ProgramOp program) {
  SymbolTable symbols(module);
  DenseSet<StringAttr> operators = findOperators(program, symbols);
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    FlatSymbolRefAttr kernel;
    if (auto record = dyn_cast<RecordOp>(op))
      kernel = record.getKernelAttr();
    else if (isa<InvokeOp>(op) && op->getParentOfType<MachineOp>())
      kernel = cast<InvokeOp>(op).getKernelAttr();
    if (!kernel)
      return WalkResult::advance();
    std::string name = getOperatorName(kernel.getValue());
    if (operators.contains(StringAttr::get(op->getContext(), name)))
      return WalkResult::advance();
    return op->emitError("executor @")
           << program.getSymName() << " does not run operator @" << name;
  });
  return failure(result.wasInterrupted());
}

/// Checks that code generators support the ops in the body of `op`.
static LogicalResult verifyBody(uprog::OperatorOp op) {
  // The body was checked before its stages were created.
  if (op.getStaging())
    return success();
  for (Operation &inner : op.getBody().front().without_terminator())
    if (Operation *unknown =
            isa<uprog::InsertOp>(inner) ? nullptr : findUnknownCode(&inner))
      return unknown->emitOpError(
          "is not supported in an operator yet; use ops "
          "of linalg, tensor, arith and math");
  return success();
}

namespace {
class VerifyExecutorPass
    : public batch::impl::VerifyExecutorPassBase<VerifyExecutorPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto op : module.getOps<uprog::OperatorOp>())
      if (failed(verifyBody(op)))
        return signalPassFailure();
    Operation *executor = nullptr;
    if (failed(findExecutor(module, executor)))
      return signalPassFailure();
    if (auto program = dyn_cast_or_null<uprog::ProgramOp>(executor))
      if (failed(verifyRuns(module, program)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
