//===- CaseSplitter.cpp - Copy cases for the variants of children ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseSplitter.h"

#include "../CallInlining.h"

#include "Batch/Dialect/Rec/AdtLookup.h"

using namespace mlir;
using namespace mlir::batch;

CaseSplitter::CaseSplitter(ModuleOp module, const InstanceProgram &program,
                           int64_t maxCopies)
    : module(module), program(program), maxCopies(maxCopies) {
  for (func::FuncOp function : program.getFunctions())
    if (program.isRecursive(function) && function.getBody().hasOneBlock())
      callees[function.getSymNameAttr()] = function.clone();
}

CaseSplitter::~CaseSplitter() {
  for (auto &[name, callee] : callees)
    callee->erase();
}

func::CallOp CaseSplitter::getSelected(func::FuncOp function) const {
  func::CallOp first;
  function.walk<WalkOrder::PreOrder>([&](func::CallOp call) {
    if (!selected.contains(call))
      return WalkResult::advance();
    first = call;
    return WalkResult::interrupt();
  });
  return first;
}

BlockArgument CaseSplitter::getChild(func::CallOp call) {
  for (Value operand : call.getOperands()) {
    auto child = dyn_cast<BlockArgument>(operand);
    if (child && isa<rec::AdtType>(child.getType()) &&
        isa<rec::MatchOp, rec::MapOp, rec::FoldOp>(
            child.getOwner()->getParentOp()))
      return child;
  }
  return {};
}

Value CaseSplitter::getSelectedChild(func::CallOp call) const {
  std::optional<unsigned> operand = selected.lookup(call).operand;
  return operand ? call.getOperand(*operand) : getChild(call);
}

/// Checks that the ADT of `child` has no shared nodes. A shared child would be
/// recomputed for each of its parents, and results would contain several copies
/// of it.
LogicalResult CaseSplitter::checkUnshared(func::CallOp call, Value child) {
  rec::AdtOp adt = rec::lookupAdt(
      module, cast<rec::AdtType>(child.getType()).getName(), symbols);
  if (adt.isUnshared())
    return success();
  InFlightDiagnostic error = call.emitError(
      "this call cannot be inlined: its argument is a child that may be "
      "shared, so each parent would recompute the results for it");
  if (adt.getKind())
    error.attachNote(adt.getLoc()) << "the ADT is declared as a DAG";
  else
    error.attachNote(adt.getLoc())
        << "declare 'kind tree' or 'kind sequence' if no value shares nodes";
  return error;
}

void CaseSplitter::decideMatches(Block &block, Value value, StringAttr variant,
                                 ValueRange fields) {
  // Inner matches are resolved first, so a case that is moved contains no
  // further match to resolve.
  block.walk([&](rec::MatchOp match) {
    if (match.getValue() != value)
      return;
    Block &taken = match.getCase(variant)->front();
    if (taken.getArgumentTypes() != fields.getTypes())
      return;
    for (auto [argument, field] : llvm::zip_equal(taken.getArguments(), fields))
      argument.replaceAllUsesWith(field);
    Operation *yield = taken.getTerminator();
    match.getResults().replaceAllUsesWith(yield->getOperands());
    yield->erase();
    match->getBlock()->getOperations().splice(match->getIterator(),
                                              taken.getOperations());
    // Only the cases that are not taken remain. They are erased, so their calls
    // are no longer selected.
    match->walk([&](func::CallOp call) { selected.erase(call); });
    match.erase();
  });
}

LogicalResult CaseSplitter::addCopy(func::FuncOp function) {
  if (++copies[function] <= maxCopies)
    return success();
  return function.emitError("this function would get more than max-copies=")
         << maxCopies
         << " copies of code; unroll fewer levels, test fewer variants or "
            "raise max-copies";
}

LogicalResult CaseSplitter::inlineSelected(func::CallOp call) {
  if (failed(addCopy(call->getParentOfType<func::FuncOp>())))
    return failure();
  unsigned levels = selected.lookup(call).levels - 1;
  selected.erase(call);
  func::FuncOp callee = callees.lookup(call.getCalleeAttr().getAttr());
  auto component = program.getComponent(program.getCallee(call));
  IRMapping mapping = inlineCall(call, callee);
  if (levels == 0)
    return success();
  callee.walk([&](func::CallOp inner) {
    func::FuncOp next = program.getCallee(inner);
    if (next && program.isRecursive(next) &&
        program.getComponent(next) == component)
      select(cast<func::CallOp>(mapping.lookup(inner.getOperation())), levels);
  });
  return success();
}

FailureOr<rec::MatchOp>
CaseSplitter::split(func::CallOp call,
                    llvm::function_ref<bool(rec::VariantOp)> isTaken) {
  Block *block = call->getBlock();
  Value child = getSelectedChild(call);
  if (failed(checkUnshared(call, child)))
    return failure();
  rec::AdtOp adt = rec::lookupAdt(
      module, cast<rec::AdtType>(child.getType()).getName(), symbols);
  SmallVector<rec::VariantOp> variants(adt.getVariants());
  auto function = call->getParentOfType<func::FuncOp>();

  Operation *terminator = block->getTerminator();
  OpBuilder builder(terminator);
  Location loc = child.getParentBlock()->getParentOp()->getLoc();
  SmallVector<Operation *> code;
  for (Operation &op : block->without_terminator())
    code.push_back(&op);
  SmallVector<Attribute> names;
  for (rec::VariantOp variant : variants)
    names.push_back(FlatSymbolRefAttr::get(variant.getSymNameAttr()));
  auto match =
      rec::MatchOp::create(builder, loc, terminator->getOperandTypes(), child,
                           builder.getArrayAttr(names), variants.size());
  for (auto [number, variant] : llvm::enumerate(variants)) {
    if (failed(addCopy(function)))
      return failure();
    SmallVector<Type> fields;
    for (unsigned i = 0; i < variant.getNumFields(); ++i)
      fields.push_back(variant.getFieldType(i));
    Block *arm = builder.createBlock(&match->getRegion(number), {}, fields,
                                     SmallVector<Location>(fields.size(), loc));
    IRMapping mapping;
    SmallVector<func::CallOp> taken;
    for (Operation *op : code) {
      builder.clone(*op, mapping);
      op->walk([&, variant = variant](func::CallOp inner) {
        if (!isSelected(inner))
          return;
        bool takesChild = getSelectedChild(inner) == child;
        if (takesChild && !isTaken(variant))
          return;
        auto copy = cast<func::CallOp>(mapping.lookup(inner.getOperation()));
        select(copy, selected.lookup(inner).levels,
               selected.lookup(inner).operand);
        if (takesChild)
          taken.push_back(copy);
      });
    }
    SmallVector<Value> results;
    for (Value operand : terminator->getOperands())
      results.push_back(mapping.lookupOrDefault(operand));
    rec::YieldOp::create(builder, loc, results);
    for (func::CallOp copy : taken)
      if (failed(inlineSelected(copy)))
        return failure();
    decideMatches(*arm, child, variant.getSymNameAttr(), arm->getArguments());
  }
  terminator->setOperands(match.getResults());
  for (Operation *op : llvm::reverse(code)) {
    op->walk([&](func::CallOp inner) { selected.erase(inner); });
    op->erase();
  }
  return match;
}
