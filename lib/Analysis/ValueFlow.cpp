//===- ValueFlow.cpp - Where tensors come from and go to ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ValueFlow.h"

#include "Batch/Dialect/Batch/Batch.h"

#include "Batch/Dialect/Rec/AdtLookup.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

bool mlir::batch::carriesTensor(Type type) {
  while (auto list = dyn_cast<rec::ListType>(type))
    type = list.getElementType();
  return isa<RankedTensorType>(type);
}

ValueFlow::ValueFlow(const InstanceProgram &program) : program(program) {
  for (func::FuncOp function : program.getFunctions()) {
    for (BlockArgument argument : function.getArguments())
      if (carriesTensor(argument.getType()))
        ensure(argument);
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      visit(op);
      // Bodies of tensor ops hold scalars only.
      bool control = isa<func::FuncOp>(op) || op->getNumRegions() == 0 ||
                     isa<rec::RecDialect, scf::SCFDialect>(op->getDialect());
      return control ? WalkResult::advance() : WalkResult::skip();
    });
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

void ValueFlow::copy(Value from, Value to) {
  if (!carriesTensor(from.getType()) || !carriesTensor(to.getType()))
    return;
  copy(ensure(from), ensure(to));
}

void ValueFlow::copy(Node source, Node target) {
  copies[source].push_back(target);
  reverseCopies[target].push_back(source);
}

void ValueFlow::visitYield(Operation *terminator, ValueRange operands) {
  Operation *parent = terminator->getParentOp();
  auto toResults = [&] {
    for (auto [operand, result] : llvm::zip(operands, parent->getResults()))
      copy(operand, result);
  };
  if (auto fold = dyn_cast<rec::FoldOp>(parent)) {
    toResults();
    for (auto [operand, argument] : llvm::zip(operands, fold.getAccumulators()))
      copy(operand, argument);
  } else if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    toResults();
    for (auto [operand, argument] :
         llvm::zip(operands, loop.getRegionIterArgs()))
      copy(operand, argument);
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    for (auto [operand, argument] :
         llvm::zip(operands, loop.getBeforeArguments()))
      copy(operand, argument);
  } else if (!isa<func::FuncOp>(parent)) {
    toResults();
  }
}

void ValueFlow::visit(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    func::FuncOp callee = program.getCallee(call);
    if (!callee || callee.isExternal())
      return;
    for (auto [operand, argument] :
         llvm::zip_equal(call.getOperands(), callee.getArguments()))
      copy(operand, argument);
    callee.walk([&](func::ReturnOp ret) {
      for (auto [operand, result] :
           llvm::zip_equal(ret.getOperands(), call.getResults()))
        copy(operand, result);
    });
    return;
  }
  if (auto construct = dyn_cast<rec::ConstructOp>(op)) {
    rec::VariantOp variant =
        rec::lookupVariant(op, construct.getVariantAttr(), symbols);
    for (auto [index, field] : llvm::enumerate(construct.getFields()))
      if (carriesTensor(field.getType()))
        copy(ensure(field), ensureField(variant, index));
    return;
  }
  if (auto match = dyn_cast<rec::MatchOp>(op)) {
    for (auto [number, region] : llvm::enumerate(match.getRegions())) {
      rec::VariantOp variant = rec::lookupCase(match, number, symbols);
      for (BlockArgument argument : region.getArguments())
        if (carriesTensor(argument.getType()))
          copy(ensureField(variant, argument.getArgNumber()), ensure(argument));
    }
    return;
  }
  if (auto elements = dyn_cast<rec::ElementsOp>(op)) {
    rec::AdtOp adt =
        rec::lookupAdt(op, elements.getValue().getType().getName(), symbols);
    auto shape = rec::getListShape(adt);
    if (carriesTensor(elements.getType()))
      copy(ensureField(shape->link, shape->element), ensure(elements));
    return;
  }
  if (auto settle = dyn_cast<SettleOp>(op)) {
    copy(settle.getValue(), settle.getResult());
    return;
  }
  if (auto map = dyn_cast<rec::MapOp>(op)) {
    for (auto [list, element] :
         llvm::zip_equal(map.getLists(), map.getElements()))
      copy(list, element);
    return;
  }
  if (auto fold = dyn_cast<rec::FoldOp>(op)) {
    for (auto [list, element] :
         llvm::zip_equal(fold.getLists(), fold.getElements()))
      copy(list, element);
    for (auto [init, argument, result] : llvm::zip_equal(
             fold.getInits(), fold.getAccumulators(), fold.getResults())) {
      copy(init, argument);
      copy(init, result);
    }
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, result] : llvm::zip_equal(
             loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
      copy(init, argument);
      copy(init, result);
    }
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument] :
         llvm::zip_equal(loop.getInits(), loop.getBeforeArguments()))
      copy(init, argument);
    return;
  }
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    auto loop = cast<scf::WhileOp>(op->getParentOp());
    for (auto [operand, argument, result] :
         llvm::zip_equal(condition.getArgs(), loop.getAfterArguments(),
                         loop.getResults())) {
      copy(operand, argument);
      copy(operand, result);
    }
    return;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitYield(op, op->getOperands());
  if (isa<scf::SCFDialect>(op->getDialect()) || isa<func::FuncOp>(op))
    return;
  for (Value result : op->getResults()) {
    if (!carriesTensor(result.getType()))
      continue;
    Node target = ensure(result);
    for (Value operand : op->getOperands())
      if (carriesTensor(operand.getType())) {
        Node source = ensure(operand);
        reverseComputes[target].push_back(source);
      }
  }
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
