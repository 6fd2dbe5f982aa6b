//===- MachineLayout.cpp - Rows of a machine's variables ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/MachineLayout.h"

using namespace mlir;
using namespace mlir::batch;

MachineLayout::MachineLayout(MachineOp machine)
    : cachedTops(machine.getCachedTops()) {
  for (auto op : machine.getBody().getOps<VariableOp>()) {
    Variable variable;
    variable.hasStack = op.getStack();
    variable.argument = op.getArgumentNumber();
    variable.result = op.getResultNumber();
    variable.number = variables.size();
    auto type = cast<RankedTensorType>(op.getType());
    int64_t bytes = elementBytes(type.getElementType());
    variable.rowBytes = TableLayout(type.getShape(), bytes).getRowBytes();
    variable.copyBytes = type.getRank() ? variable.rowBytes : bytes;
    int64_t columns = type.getRank() ? type.getShape().back() : 1;
    variable.lines = columns ? type.getNumElements() / columns : 0;
    variable.lineBytes = std::max<int64_t>(columns, 1) * bytes;
    constexpr int64_t largestPiece = 16;
    variable.pieceBytes =
        std::min(largestPiece, variable.lineBytes & -variable.lineBytes);
    variables[op.getSymNameAttr()] = variable;
  }
  for (auto op : machine.getBody().getOps<BlockOp>())
    blocks.try_emplace(op.getSymNameAttr(), blocks.size());
}

bool MachineLayout::isInPlace(OpResult result) const {
  auto invoke = cast<InvokeOp>(result.getOwner());
  // Start the lookup at the module, because the machine has a block with the
  // name of the kernel.
  auto kernel = dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(
      invoke->getParentOfType<ModuleOp>(), invoke.getKernelAttr().getAttr()));
  auto number = kernel ? kernel.getResultAttrOfType<IntegerAttr>(
                             result.getResultNumber(), kInPlaceAttr)
                       : IntegerAttr();
  if (!number || !result.hasOneUse())
    return false;
  auto top = invoke.getInputs()[number.getInt()].getDefiningOp<TopOp>();
  auto set = dyn_cast<SetOp>(*result.user_begin());
  if (!top || !set || set.getVariableAttr() != top.getVariableAttr())
    return false;
  // Without cached tops, a kernel reads a copy of the top row of a stack.
  StringAttr name = top.getVariableAttr().getAttr();
  if (getVariable(name).hasStack && !cachedTops)
    return false;
  // Check that the row does not change from the read to the end of the block.
  // Only the kernel and the assignment may use the row.
  for (Operation *op = top->getNextNode(); op; op = op->getNextNode()) {
    auto variable = op->getAttrOfType<FlatSymbolRefAttr>("variable");
    if (variable && variable.getAttr() == name && op != set)
      return false;
  }
  return llvm::hasSingleElement(top->getUses());
}

std::pair<int64_t, int64_t> MachineLayout::countBytes(BlockOp block) const {
  int64_t stack = 0, top = 0;
  DenseSet<StringAttr> read;
  for (Operation &op : block.getBody().front()) {
    auto name = op.getAttrOfType<FlatSymbolRefAttr>("variable");
    if (!name)
      continue;
    const Variable &variable = getVariable(name.getAttr());
    int64_t bytes = variable.copyBytes;
    bool hasStack = variable.hasStack;
    if (isa<TopOp>(op)) {
      // Without cached tops, the value is read from the stack, once per step.
      if (hasStack && !cachedTops && read.insert(name.getAttr()).second)
        stack += bytes;
    } else if (auto set = dyn_cast<SetOp>(op)) {
      auto result = dyn_cast<OpResult>(set.getValue());
      if (result && isa<InvokeOp>(result.getOwner()) && isInPlace(result))
        continue;
      (hasStack && !cachedTops ? stack : top) += bytes;
    } else if (auto push = dyn_cast<PushOp>(op)) {
      stack += cachedTops || push.getValue() ? bytes : 2 * bytes;
      if (cachedTops && push.getValue())
        top += bytes;
    } else if (isa<PopOp>(op) && cachedTops) {
      stack += bytes;
      top += bytes;
    }
  }
  return {stack, top};
}
