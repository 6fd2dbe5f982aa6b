//===- Sharedness.cpp - Values equal for all instances --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Sharedness.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::batch;

Sharedness::Sharedness(const InstanceProgram &program) : program(program) {
  func::FuncOp entry = program.getEntry();
  if (!entry)
    return;
  int64_t parameter = 0;
  for (BlockArgument argument : entry.getArguments()) {
    if (entry.getArgAttr(argument.getArgNumber(), kSharedAttr))
      states[argument] = {Sharing::Parameter, parameter++};
    else
      states[argument] = {Sharing::Instance, -1};
  }
  // The upstream sparse data flow joins the values that control flow forwards
  // to a block argument or a result. This analysis sets the argument or result
  // to `Instance`, since the path may depend on the instance. States only rise,
  // each at most twice, so the analysis terminates. In practice, one sweep per
  // level of the call graph is enough.
  do {
    changed = false;
    for (func::FuncOp function : program.getFunctions())
      function.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
  } while (changed);
}

bool Sharedness::join(Value value, Sharing state) {
  Sharing &current = states[value];
  Sharing joined = state;
  if (state.kind == Sharing::Unknown)
    joined = current;
  else if (current.kind != Sharing::Unknown && !(current == state))
    joined = {Sharing::Instance, -1};
  if (joined == current)
    return false;
  current = joined;
  return changed = true;
}

void Sharedness::visit(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    if (func::FuncOp callee = program.getCallee(call);
        callee && !callee.isExternal())
      for (auto [operand, argument] :
           llvm::zip_equal(call.getOperands(), callee.getArguments()))
        join(argument, getSharing(operand));
    for (Value result : call.getResults())
      join(result, {Sharing::Instance, -1});
    return;
  }
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    // The arguments of a CFG block depend on the path to the block.
    for (Block &block : function.getBody())
      if (!block.isEntryBlock())
        for (BlockArgument argument : block.getArguments())
          join(argument, {Sharing::Instance, -1});
    return;
  }
  if (op->getNumRegions() != 0) {
    // Bodies of linalg and similar ops contain no control flow that could be
    // non-uniform.
    bool computes =
        !isa<RegionBranchOpInterface>(op) &&
        llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
        op->hasTrait<OpTrait::SingleBlock>();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        join(argument, {Sharing::Instance, -1});
    if (!computes) {
      for (Value result : op->getResults())
        join(result, {Sharing::Instance, -1});
      return;
    }
  }
  // Kernels compute shared values themselves, so control flow can neither wait
  // for them nor build lists and nodes from them.
  bool shared = !isa<tensor::ExtractOp>(op) &&
                !isa_and_nonnull<rec::RecDialect>(op->getDialect());
  // The body of an op may also read values that are not operands of the op.
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used) {
    Sharing state = getSharing(value);
    if (state.kind == Sharing::Unknown)
      return;
    shared &= state.isShared();
  }
  for (Value result : op->getResults())
    join(result, {shared ? Sharing::Shared : Sharing::Instance, -1});
}

std::optional<int64_t> Sharedness::getParameter(Value value) const {
  Sharing state = getSharing(value);
  if (state.kind != Sharing::Parameter)
    return std::nullopt;
  return state.parameter;
}
