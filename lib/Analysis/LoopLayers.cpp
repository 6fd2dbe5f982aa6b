//===- LoopLayers.cpp - Layers of a loop ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/LoopLayers.h"

#include "Batch/Analysis/Components.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::batch;

LoopLayers::LoopLayers(LoopLikeOpInterface loop, const LoopTasks &tasks)
    : loop(loop), body(loop.getLoopRegions().front()->front()) {
  for (Operation &op : body.without_terminator())
    if (!tasks.isTask(&op) && dependsOnlyOnRound(&op))
      free.insert(&op);
  for (Operation &op : body.without_terminator())
    if (!isFree(&op)) {
      numbers[&op] = ops.size();
      ops.push_back(&op);
    }
  auto carried = loop.getRegionIterArgs();
  successors.resize(ops.size() + carried.size());
  for (auto [node, op] : llvm::enumerate(ops))
    for (Value result : op->getResults())
      addEdges(result, node, tasks.isStored(result));
  for (auto [index, argument] : llvm::enumerate(carried))
    addEdges(argument, ops.size() + index, /*mayCross=*/false);
  assignLayers(tasks);
}

/// Returns true if `op` computes numbers or views only from the round number
/// and from values outside the loop.
bool LoopLayers::dependsOnlyOnRound(Operation *op) {
  bool isNumberOrView =
      isa<tensor::ExtractSliceOp>(op) ||
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  if (!isNumberOrView || op->getNumRegions() != 0 || !isPure(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (operand.getParentBlock() != &body)
      return true;
    if (Operation *def = operand.getDefiningOp())
      return isFree(def);
    return !llvm::is_contained(loop.getRegionIterArgs(), operand);
  });
}

/// Adds edges from `node`, which defines `value`, to the readers of `value`. If
/// `value` may not cross layers, back edges place the readers in the layer of
/// `node`.
void LoopLayers::addEdges(Value value, unsigned node, bool mayCross) {
  auto add = [&](unsigned reader) {
    successors[node].push_back(reader);
    if (!mayCross)
      successors[reader].push_back(node);
  };
  for (OpOperand &use : value.getUses()) {
    Operation *reader = body.findAncestorOpInBlock(*use.getOwner());
    if (reader != body.getTerminator()) {
      add(numbers.at(reader));
      continue;
    }
    for (auto [index, yielded] : llvm::enumerate(loop.getYieldedValues()))
      if (yielded == value)
        add(ops.size() + index);
  }
}

void LoopLayers::assignLayers(const LoopTasks &tasks) {
  components = findComponents(successors);
  // findComponents() returns each component before its predecessors.
  std::reverse(components.begin(), components.end());
  layers.assign(successors.size(), 0);
  for (const auto &component : components) {
    unsigned layer = 0;
    for (unsigned node : component)
      layer = std::max(layer, layers[node]);
    unsigned first = component.front();
    bool isTask = component.size() == 1 && first < ops.size() &&
                  !llvm::is_contained(successors[first], first) &&
                  tasks.isTask(ops[first]);
    if (!isTask)
      layer |= 1;
    else if (tasks.multiplies(ops[first]))
      layer += layer % 2;
    for (unsigned node : component) {
      layers[node] = layer;
      for (unsigned reader : successors[node])
        layers[reader] = std::max(layers[reader], layer);
    }
    numLayers = std::max(numLayers, layer + 1);
  }
}

int64_t LoopLayers::countParameterBytes(const Sharedness &sharedness) const {
  int64_t bytes = 0;
  for (auto [node, op] : llvm::enumerate(ops)) {
    linalg::LinalgOp product = getContraction(op);
    if (!product || layers[node] == 0 || layers[node] % 2 != 0)
      continue;
    for (Value operand : product.getDpsInputs()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (type && type.hasStaticShape() && sharedness.isShared(operand))
        bytes += type.getNumElements() *
                 llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    }
  }
  return bytes;
}

void LoopLayers::mergeRounds() {
  for (unsigned &layer : layers)
    layer = std::min(layer, 1u);
  numLayers = std::min(numLayers, 2u);
}

void LoopLayers::separateReaders() {
  SmallVector<unsigned> known =
      std::exchange(layers, SmallVector<unsigned>(successors.size(), 0));
  numLayers = 0;
  for (const auto &component : components) {
    unsigned layer = 0;
    for (unsigned node : component)
      layer = std::max({layer, layers[node], std::min(known[node], 1u)});
    for (unsigned node : component)
      for (unsigned reader : successors[node])
        layers[reader] = std::max(layers[reader], layer + 1);
    for (unsigned node : component)
      layers[node] = layer;
    numLayers = std::max(numLayers, layer + 1);
  }
}

bool batch::isCounted(Operation *op) {
  return isa<scf::ForOp, rec::FoldOp>(op);
}

LoopLayers batch::findLayers(LoopLikeOpInterface loop, const TensorCode &code) {
  auto isStored = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getRank() > 0 &&
           code.contains(value.getDefiningOp());
  };
  return LoopLayers(
      loop, {[&](Operation *op) { return code.contains(op); },
             [](Operation *op) { return bool(getContraction(op)); }, isStored});
}
