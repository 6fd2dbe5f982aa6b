//===- StructuredFlow.cpp - Values in structured control flow -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/StructuredFlow.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns true if `user` may run after `op` or inside it. Both are nested in
/// `block`.
static bool runsAfter(Block *block, Operation *user, Operation *op) {
  Operation *outerUser = block->findAncestorOpInBlock(*user);
  Operation *outer = block->findAncestorOpInBlock(*op);
  if (outerUser != outer)
    return outer->isBeforeInBlock(outerUser);
  if (outer == op)
    return user != op;
  // A control-flow op reads its operands before the ops in its regions run.
  if (outer == user)
    return false;
  // Ops in a loop run more than once.
  if (isa<LoopLikeOpInterface>(outer))
    return true;
  for (Region &region : outer->getRegions())
    if (region.isAncestor(op->getParentRegion()))
      return region.isAncestor(user->getParentRegion()) &&
             runsAfter(&region.front(), user, op);
  llvm_unreachable("op is in a region of what is around it");
}

bool batch::isLiveAfter(Value value, Operation *op) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return runsAfter(value.getParentBlock(), user, op);
  });
}

bool batch::isDefinedBefore(Value value, Operation *op) {
  Operation *outer = value.getParentBlock()->findAncestorOpInBlock(*op);
  if (!outer)
    return false;
  Operation *definition = value.getDefiningOp();
  return !definition || definition->isBeforeInBlock(outer);
}

void StructuredFlow::add(Value value, OpOperand *operand) {
  incoming[value].push_back(operand);
  outgoing[operand->get()].push_back(value);
}

StructuredFlow::StructuredFlow(Operation *root) {
  root->walk([&](RegionBranchOpInterface control) {
    RegionBranchInverseSuccessorMapping mapping;
    control.getSuccessorInputOperandMapping(mapping);
    for (auto &[input, operands] : mapping)
      for (OpOperand *operand : operands)
        add(input, operand);
  });
  root->walk([&](ViewLikeOpInterface view) {
    for (OpOperand &operand : view->getOpOperands())
      if (operand.get() == view.getViewSource())
        add(view.getViewDest(), &operand);
  });
}

ArrayRef<OpOperand *> StructuredFlow::getIncoming(Value value) const {
  auto it = incoming.find(value);
  return it == incoming.end() ? ArrayRef<OpOperand *>() : it->second;
}

SetVector<Value> StructuredFlow::getOrigins(Value value) const {
  SetVector<Value> reached, origins;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    ArrayRef<OpOperand *> operands = getIncoming(reached[i]);
    if (operands.empty())
      origins.insert(reached[i]);
    for (OpOperand *operand : operands)
      reached.insert(operand->get());
  }
  return origins;
}

SetVector<Value> StructuredFlow::getAliases(SetVector<Value> values) const {
  for (size_t i = 0; i < values.size(); ++i) {
    auto it = outgoing.find(values[i]);
    if (it != outgoing.end())
      values.insert_range(it->second);
  }
  return values;
}
