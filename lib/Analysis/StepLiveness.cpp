//===- StepLiveness.cpp - Liveness across steps and calls -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/StepLiveness.h"

using namespace mlir;
using namespace mlir::batch;

StepLiveness::StepLiveness(const InstanceProgram &program) {
  for (func::FuncOp function : program.getFunctions()) {
    auto &liveness = functions[function];
    liveness = std::make_unique<Liveness>(function);
    for (Block &block : function.getBody()) {
      func::CallOp call = getCall(block);
      if (call && !isTailCall(call) && program.isRecursiveCall(call))
        for (Value value : liveness->getLiveIn(block.getSuccessor(0)))
          if (value.getDefiningOp() != call)
            acrossRecursion.insert(value);
    }
  }
}

func::CallOp StepLiveness::getCall(Block &block) {
  return dyn_cast_or_null<func::CallOp>(block.getTerminator()->getPrevNode());
}

func::CallOp StepLiveness::getReturningCall(Block &block) {
  Block *before = block.getSinglePredecessor();
  return before ? getCall(*before) : func::CallOp();
}

bool StepLiveness::isTailCall(func::CallOp call) {
  return isa<func::ReturnOp>(call->getNextNode());
}

const Liveness &StepLiveness::getLiveness(Block *block) const {
  return *functions.find(block->getParentOp())->second;
}

bool StepLiveness::isLiveAcrossStep(Value value) const {
  // The previous step computes the arguments of a block, so they are live if
  // they have uses.
  if (isa<BlockArgument>(value))
    return !value.use_empty();
  Operation *op = value.getDefiningOp();
  Block *step = op->getBlock();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    if (isTailCall(call))
      return false;
    step = step->getSuccessor(0);
  }
  Region *function = step->getParent();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return function->findAncestorOpInRegion(*user)->getBlock() != step;
  });
}

bool StepLiveness::isLiveIn(Value value, Block *block) const {
  return getLiveness(block).getLiveIn(block).contains(value);
}

bool StepLiveness::isLiveAcross(Value value, func::CallOp call) const {
  return !isTailCall(call) && value.getDefiningOp() != call &&
         isLiveIn(value, call->getBlock()->getSuccessor(0));
}
