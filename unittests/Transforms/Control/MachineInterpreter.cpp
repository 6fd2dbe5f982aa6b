//===- MachineInterpreter.cpp - Run programs and machines -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineInterpreter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::test;

namespace {

/// The values of a function's activation or of a step; a missing value was
/// never written.
using Frame = DenseMap<Value, Attribute>;

int64_t getInt(Attribute value) { return cast<IntegerAttr>(value).getInt(); }

Values getValues(ValueRange values, const Frame &frame) {
  Values result;
  for (Value value : values)
    result.push_back(frame.lookup(value));
  return result;
}

void setValues(ValueRange values, ArrayRef<Attribute> attributes,
               Frame &frame) {
  for (auto [value, attribute] : llvm::zip_equal(values, attributes))
    frame[value] = attribute;
}

/// Runs an op that computes values.
LogicalResult compute(Operation *op, Frame &frame) {
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> folded;
  // Fold repeatedly, because the first folds may only change the op in place.
  for (int i = 0; i < 3 && folded.empty(); ++i)
    if (failed(copy->fold(getValues(copy->getOperands(), frame), folded)))
      break;
  Values results;
  for (OpFoldResult result : folded)
    results.push_back(isa<Attribute>(result)
                          ? cast<Attribute>(result)
                          : frame.lookup(cast<Value>(result)));
  copy->destroy();
  if (results.size() != op->getNumResults() ||
      llvm::is_contained(results, Attribute()))
    return op->emitError("this op cannot be computed");
  setValues(op->getResults(), results, frame);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Runs `region` until a terminator leaves it, and returns the operands of this
/// terminator. An `scf.condition` has the condition first.
FailureOr<Values> runRegion(Region &region, ArrayRef<Attribute> arguments,
                            Frame &frame);

LogicalResult runLoop(scf::ForOp loop, Frame &frame) {
  Values carried = getValues(loop.getInitArgs(), frame);
  Attribute lower = frame.lookup(loop.getLowerBound());
  int64_t upper = getInt(frame.lookup(loop.getUpperBound()));
  int64_t step = getInt(frame.lookup(loop.getStep()));
  for (int64_t i = getInt(lower); i < upper; i += step) {
    Values arguments = {IntegerAttr::get(loop.getInductionVar().getType(), i)};
    llvm::append_range(arguments, carried);
    auto next = runRegion(loop.getRegion(), arguments, frame);
    if (failed(next))
      return failure();
    carried = *next;
  }
  setValues(loop.getResults(), carried, frame);
  return success();
}

LogicalResult runLoop(scf::WhileOp loop, Frame &frame) {
  Values carried = getValues(loop.getInits(), frame);
  while (true) {
    auto before = runRegion(loop.getBefore(), carried, frame);
    if (failed(before))
      return failure();
    auto passed = ArrayRef(*before).drop_front();
    if (getInt(before->front()) == 0) {
      setValues(loop.getResults(), passed, frame);
      return success();
    }
    auto after = runRegion(loop.getAfter(), Values(passed), frame);
    if (failed(after))
      return failure();
    carried = *after;
  }
}

LogicalResult runBranch(Operation *op, Region &region, Frame &frame) {
  if (region.empty())
    return success();
  auto results = runRegion(region, {}, frame);
  if (failed(results))
    return failure();
  setValues(op->getResults(), *results, frame);
  return success();
}

LogicalResult runOp(Operation *op, Frame &frame) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    auto results = callFunction(callee, getValues(call.getOperands(), frame));
    if (succeeded(results))
      setValues(call.getResults(), *results, frame);
    return results;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(loop, frame);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runLoop(loop, frame);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runBranch(op,
                     getInt(frame.lookup(branch.getCondition())) != 0
                         ? branch.getThenRegion()
                         : branch.getElseRegion(),
                     frame);
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op)) {
    int64_t value = getInt(frame.lookup(branch.getArg()));
    for (auto [number, region] :
         llvm::zip_equal(branch.getCases(), branch.getCaseRegions()))
      if (number == value)
        return runBranch(op, region, frame);
    return runBranch(op, branch.getDefaultRegion(), frame);
  }
  return compute(op, frame);
}

FailureOr<Values> runRegion(Region &region, ArrayRef<Attribute> arguments,
                            Frame &frame) {
  Block *block = &region.front();
  setValues(block->getArguments(), arguments, frame);
  while (true) {
    for (Operation &op : block->without_terminator())
      if (failed(runOp(&op, frame)))
        return failure();
    Operation *end = block->getTerminator();
    Values operands = getValues(end->getOperands(), frame);
    auto branch = dyn_cast<BranchOpInterface>(end);
    if (!branch)
      return operands;
    Block *next = branch.getSuccessorForOperands(operands);
    if (!next)
      return end->emitError("this terminator has no target");
    for (unsigned i = 0, e = end->getNumSuccessors(); i < e; ++i)
      if (end->getSuccessor(i) == next) {
        auto forwarded = branch.getSuccessorOperands(i).getForwardedOperands();
        // Both edges of a branch may lead to the same block, so the condition
        // selects the operands.
        if (auto cond = dyn_cast<cf::CondBranchOp>(end))
          forwarded = getInt(operands.front()) != 0
                          ? cond.getTrueDestOperands()
                          : cond.getFalseDestOperands();
        setValues(next->getArguments(), getValues(forwarded, frame), frame);
        break;
      }
    block = next;
  }
}

} // namespace

FailureOr<Values> test::callFunction(func::FuncOp function,
                                     ArrayRef<Attribute> arguments) {
  Frame frame;
  return runRegion(function.getBody(), arguments, frame);
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

namespace {

/// A lane of a machine.
class Lane {
public:
  Lane(MachineOp machine, ArrayRef<Attribute> arguments, Traffic &traffic)
      : symbols(machine), cached(machine.getCachedTops()), traffic(traffic) {
    for (auto variable : machine.getOps<VariableOp>()) {
      auto number = variable.getArgumentNumber();
      rows[variable.getSymNameAttr()].push_back(number ? arguments[*number]
                                                       : Attribute());
    }
  }

  FailureOr<Values> run(MachineOp machine, ArrayRef<Attribute> shared);

private:
  LogicalResult step(Operation &op, Frame &frame);
  /// Returns the rows of a variable, the top last.
  Values &getRows(FlatSymbolRefAttr variable) {
    return rows[variable.getAttr()];
  }
  /// Counts `top` rows read from or written to the variable's top, and `stack`
  /// rows of its stack. Without cached tops, counts `top` rows of the stack
  /// instead of `stack`.
  void count(FlatSymbolRefAttr name, int64_t top, int64_t stack);

  SymbolTable symbols;
  bool cached;
  Traffic &traffic;
  DenseMap<StringAttr, Values> rows;
};

void Lane::count(FlatSymbolRefAttr name, int64_t top, int64_t stack) {
  auto variable = symbols.lookup<VariableOp>(name.getAttr());
  Type type = variable.getType();
  int64_t bytes = elementBytes(getElementTypeOrSelf(type));
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    bytes *= tensor.getNumElements();
  traffic.topBytes += top * bytes;
  if (variable.getStack() && !cached)
    stack = top;
  traffic.stackBytes += stack * bytes;
}

LogicalResult Lane::step(Operation &op, Frame &frame) {
  if (auto top = dyn_cast<TopOp>(op)) {
    frame[top] = getRows(top.getVariableAttr()).back();
    count(top.getVariableAttr(), 1, 0);
    return success();
  }
  if (auto set = dyn_cast<SetOp>(op)) {
    getRows(set.getVariableAttr()).back() = frame.lookup(set.getValue());
    count(set.getVariableAttr(), 1, 0);
    return success();
  }
  if (auto push = dyn_cast<PushOp>(op)) {
    Values &stack = getRows(push.getVariableAttr());
    stack.push_back(push.getValue() ? frame.lookup(push.getValue())
                                    : stack.back());
    ++traffic.pushes;
    // A push without a value reads the top and writes it again.
    count(push.getVariableAttr(), push.getValue() ? 1 : 2, 1);
    return success();
  }
  if (auto pop = dyn_cast<PopOp>(op)) {
    Values &stack = getRows(pop.getVariableAttr());
    if (stack.size() == 1)
      return op.emitError("this op pops the last row of a stack");
    stack.pop_back();
    ++traffic.pops;
    count(pop.getVariableAttr(), 0, 1);
    return success();
  }
  return compute(&op, frame);
}

FailureOr<Values> Lane::run(MachineOp machine, ArrayRef<Attribute> shared) {
  SmallVector<StringAttr> returns;
  BlockOp block = *machine.getOps<BlockOp>().begin();
  while (true) {
    ++traffic.steps;
    Frame frame;
    setValues(machine.getArguments(), shared, frame);
    Block &body = block.getBody().front();
    for (Operation &op : body.without_terminator())
      if (failed(step(op, frame)))
        return failure();
    Operation *end = body.getTerminator();
    StringAttr next;
    if (auto jump = dyn_cast<JumpOp>(end)) {
      next = jump.getTargetAttr().getAttr();
    } else if (auto branch = dyn_cast<batch::BranchOp>(end)) {
      Attribute condition = frame.lookup(branch.getCondition());
      if (!condition)
        return end->emitError(
            "this op depends on a value that was never written");
      next = (getInt(condition) != 0 ? branch.getTrueTargetAttr()
                                     : branch.getFalseTargetAttr())
                 .getAttr();
    } else if (auto call = dyn_cast<PushJumpOp>(end)) {
      ++traffic.calls;
      returns.push_back(call.getReturnToAttr().getAttr());
      next = call.getTargetAttr().getAttr();
    } else if (!returns.empty()) {
      next = returns.pop_back_val();
    } else {
      break;
    }
    block = symbols.lookup<BlockOp>(next);
  }
  Values results;
  for (auto variable : machine.getOps<VariableOp>()) {
    Values &stack = rows[variable.getSymNameAttr()];
    if (stack.size() != 1)
      return variable.emitError("this variable has rows left on its stack");
    std::optional<int64_t> number = variable.getResultNumber();
    if (!number)
      continue;
    results.resize(std::max<size_t>(results.size(), *number + 1));
    results[*number] = stack.back();
  }
  return results;
}

} // namespace

FailureOr<Values> test::runMachine(MachineOp machine,
                                   ArrayRef<Attribute> shared,
                                   ArrayRef<Attribute> arguments,
                                   Traffic &traffic) {
  return Lane(machine, arguments, traffic).run(machine, shared);
}
