//===- ValueFlow.cpp - Flow of tensors through a program ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ValueFlow.h"

#include "Batch/Analysis/Obstacle.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::batch;

bool mlir::batch::carriesTensor(Type type) {
  while (auto list = dyn_cast<rec::ListType>(type))
    type = list.getElementType();
  return isa<RankedTensorType>(type);
}

//===----------------------------------------------------------------------===//
// ValueFlowWalker
//===----------------------------------------------------------------------===//

using rec::ValueFlowEdge;

/// Returns true for an op that has no side effects. Not all linalg ops on
/// tensors declare that they have none.
static bool hasNoEffects(Operation *op) {
  return isMemoryEffectFree(op) ||
         (isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) &&
          llvm::none_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>));
}

/// Returns true if an op that implements no flow interface computes its results
/// from all of its operands. Such an op has no side effects, no list or ADT
/// types, and no region arguments that carry tensors. Ops of rec are excluded,
/// because they may take tensors instead of lists and forward their contents.
static bool isComputation(Operation *op) {
  auto hides = [](Type type) { return isa<rec::ListType, rec::AdtType>(type); };
  return !isa_and_nonnull<rec::RecDialect>(op->getDialect()) &&
         hasNoEffects(op) && llvm::none_of(op->getOperandTypes(), hides) &&
         llvm::none_of(op->getResultTypes(), hides) &&
         llvm::none_of(op->getRegions(), [](Region &region) {
           return llvm::any_of(region.getArgumentTypes(), carriesTensor);
         });
}

void ValueFlowWalker::walk(func::FuncOp function, Visitor visit) {
  SmallVector<ValueFlowEdge> edges;
  auto visitOp = [&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      if (func::FuncOp callee = program.getCallee(call))
        return visitCall(call, callee, visit);
    bool known = isa<func::FuncOp, func::ReturnOp>(op);
    if (auto flow = dyn_cast<rec::ValueFlowOpInterface>(op)) {
      known = true;
      edges.clear();
      flow.getValueFlow(symbols, edges);
      for (const ValueFlowEdge &edge : edges)
        visit(op, edge);
    }
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
      known = true;
      visitPoint(branch, op, visit);
    }
    if (isa<RegionBranchTerminatorOpInterface>(op))
      if (auto branch = dyn_cast<RegionBranchOpInterface>(op->getParentOp())) {
        known = true;
        visitPoint(branch, op, visit);
      }
    if (auto branch = dyn_cast<BranchOpInterface>(op)) {
      known = true;
      for (OpOperand &operand : op->getOpOperands())
        if (auto target =
                branch.getSuccessorBlockArgument(operand.getOperandNumber()))
          visit(op, {ValueFlowEdge::Same, operand.get(), *target, {}});
        else
          visit(op, {ValueFlowEdge::Decide, operand.get(), {}, {}});
    }
    // A select between tensors is tensor code, so its edges are Compute edges.
    if (auto select = dyn_cast<SelectLikeOpInterface>(op))
      if (Value result = op->getResult(0); !isa<TensorType>(result.getType())) {
        known = true;
        visit(op, {ValueFlowEdge::Compute, select.getCondition(), result, {}});
        visit(op, {ValueFlowEdge::Same, select.getTrueValue(), result, {}});
        visit(op, {ValueFlowEdge::Same, select.getFalseValue(), result, {}});
      }
    if (known)
      return;
    if (!unknown && !isComputation(op))
      unknown = op;
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value result : op->getResults()) {
      visit(op, {ValueFlowEdge::Compute, {}, result, {}});
      for (Value value : used)
        visit(op, {ValueFlowEdge::Compute, value, result, {}});
    }
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    visitOp(op);
    // Skip the bodies of tensor ops, which compute only scalars.
    return isa<func::FuncOp, RegionBranchOpInterface>(op)
               ? WalkResult::advance()
               : WalkResult::skip();
  });
}

void ValueFlowWalker::visitCall(func::CallOp call, func::FuncOp callee,
                                Visitor visit) {
  if (callee.isExternal())
    return;
  for (auto [operand, argument] :
       llvm::zip_equal(call.getOperands(), callee.getArguments()))
    visit(call, {ValueFlowEdge::Same, operand, argument, {}});
  for (auto ret : callee.getOps<func::ReturnOp>())
    for (auto [operand, result] :
         llvm::zip_equal(ret.getOperands(), call.getResults()))
      visit(call, {ValueFlowEdge::Same, operand, result, {}});
}

/// Visits the edges from the operands of `point`, which is `branch` or a
/// terminator in it.
void ValueFlowWalker::visitPoint(RegionBranchOpInterface branch,
                                 Operation *point, Visitor visit) {
  RegionBranchPoint from = RegionBranchPoint::parent();
  if (point != branch)
    from = cast<RegionBranchTerminatorOpInterface>(point);
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(from, successors);
  SmallVector<OperandRange> forwarded;
  for (RegionSuccessor successor : successors)
    forwarded.push_back(branch.getSuccessorOperands(from, successor));
  for (OpOperand &operand : point->getOpOperands()) {
    bool decides = !isa<rec::ValueFlowOpInterface>(point);
    for (auto [successor, operands] : llvm::zip_equal(successors, forwarded)) {
      if (operands.empty())
        continue;
      unsigned position =
          operand.getOperandNumber() - operands.getBeginOperandIndex();
      if (position >= operands.size())
        continue;
      decides = false;
      visit(point, {ValueFlowEdge::Same,
                    operand.get(),
                    successor.getSuccessorInputs()[position],
                    {}});
    }
    if (decides)
      visit(point, {ValueFlowEdge::Decide, operand.get(), {}, {}});
  }
}

//===----------------------------------------------------------------------===//
// ValueFlow
//===----------------------------------------------------------------------===//

std::string mlir::batch::describeUnknownFlow(Operation *op) {
  return describeOp(op) +
         " has an unknown flow of values: an op that has effects, contains "
         "control flow, or reads or creates lists or ADT values must implement "
         "RegionBranchOpInterface or rec::ValueFlowOpInterface";
}

ValueFlow::ValueFlow(const InstanceProgram &program)
    : entry(program.getEntry()) {
  ValueFlowWalker walker(program);
  for (func::FuncOp function : program.getFunctions()) {
    for (BlockArgument argument : function.getArguments())
      if (carriesTensor(argument.getType()))
        ensure(argument);
    walker.walk(function,
                [&](Operation *, const ValueFlowEdge &edge) { add(edge); });
  }
  unknown = walker.getUnknown();
}

LogicalResult ValueFlow::verify() const {
  if (!unknown)
    return success();
  return unknown->emitError(describeUnknownFlow(unknown));
}

void ValueFlow::add(const ValueFlowEdge &edge) {
  bool follows = edge.to && carriesTensor(edge.to.getType());
  auto isTensor = [](Value value) {
    return value && carriesTensor(value.getType());
  };
  switch (edge.kind) {
  case ValueFlowEdge::Same:
  case ValueFlowEdge::Element:
  case ValueFlowEdge::Gather:
    if (follows && isTensor(edge.from))
      copy(ensure(edge.from), ensure(edge.to));
    else if (edge.from && edge.to && !follows)
      numberSources[edge.to].insert_range(
          numberSources.lookup(edge.from).takeVector());
    return;
  case ValueFlowEdge::Read:
    if (follows &&
        carriesTensor(rec::VariantOp(edge.variant).getFieldType(edge.field)))
      copy(ensureField(edge.variant, edge.field), ensure(edge.to));
    return;
  case ValueFlowEdge::Build:
    if (isTensor(edge.from))
      copy(ensure(edge.from), ensureField(edge.variant, edge.field));
    return;
  case ValueFlowEdge::Decide:
  case ValueFlowEdge::Count:
    return;
  case ValueFlowEdge::Compute: {
    SmallVector<Node> sources;
    if (isTensor(edge.from))
      sources = {ensure(edge.from)};
    else if (edge.from)
      sources = numberSources.lookup(edge.from).takeVector();
    if (follows)
      llvm::append_range(reverseComputes[ensure(edge.to)], sources);
    else if (!sources.empty())
      numberSources[edge.to].insert_range(sources);
    return;
  }
  }
}

ValueFlow::Node ValueFlow::addNode(Value value) {
  values.push_back(value);
  copies.emplace_back();
  reverseCopies.emplace_back();
  reverseComputes.emplace_back();
  return values.size() - 1;
}

ValueFlow::Node ValueFlow::ensure(Value value) {
  auto [it, inserted] = nodes.try_emplace(value, 0);
  if (inserted)
    it->second = addNode(value);
  return it->second;
}

ValueFlow::Node ValueFlow::ensureField(rec::VariantOp variant, unsigned field) {
  auto [it, inserted] = fieldNodes.try_emplace({variant, field}, 0);
  if (inserted)
    it->second = addNode(Value());
  return it->second;
}

ValueFlow::Node ValueFlow::getFieldNode(rec::VariantOp variant,
                                        unsigned field) const {
  return fieldNodes.lookup({variant, field});
}

void ValueFlow::copy(Node source, Node target) {
  copies[source].push_back(target);
  reverseCopies[target].push_back(source);
}

SmallVector<bool> ValueFlow::ancestors(ArrayRef<Node> targets) const {
  SmallVector<bool> marked(size());
  SmallVector<Node> worklist(targets);
  for (Node node : targets)
    marked[node] = true;
  while (!worklist.empty()) {
    Node node = worklist.pop_back_val();
    for (ArrayRef<Node> sources : {ArrayRef<Node>(reverseCopies[node]),
                                   ArrayRef<Node>(reverseComputes[node])})
      for (Node source : sources)
        if (!marked[source]) {
          marked[source] = true;
          worklist.push_back(source);
        }
  }
  return marked;
}

SmallVector<ValueFlow::Node> ValueFlow::origins(Node target) const {
  SmallVector<Node> found = {target};
  DenseSet<Node> seen = {target};
  for (size_t i = 0; i < found.size(); ++i)
    for (Node source : reverseCopies[found[i]])
      if (seen.insert(source).second)
        found.push_back(source);
  return found;
}

bool ValueFlow::holdsInputs(Node node) const {
  return llvm::all_of(origins(node), [&](Node origin) {
    Value value = values[origin];
    auto argument = dyn_cast_or_null<BlockArgument>(value);
    return !value || !reverseCopies[origin].empty() ||
           (argument && argument.getOwner()->getParentOp() == entry);
  });
}
