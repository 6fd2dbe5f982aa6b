//===- RecursionToStack.cpp - Convert a program to a machine --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Program-counter autobatching, section 3: all control-flow graphs become one
// table of blocks, and calls become stack operations. Every caller saves its
// own variables around a call, so a function does not need to preserve any
// variables.
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/StepFunctions.h"
#include "Batch/Analysis/StepProgram.h"
#include "Batch/Analysis/Strategies.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::batch {
#define GEN_PASS_DEF_RECURSIONTOSTACKPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Assignment at the end of a block: a variable and its new value.
using Assignment = std::pair<VariableOp, Value>;

/// Builds a machine from functions that are graphs of steps.
class MachineBuilder {
public:
  /// `steps` must contain the functions of `original`, and have no obstacle.
  MachineBuilder(const InstanceProgram &original, const StepProgram &steps,
                 const RecursionToStackPassOptions &options)
      : original(original), options(options), steps(steps),
        program(steps.getProgram()), sharedness(steps.getSharedness()),
        liveness(steps.getLiveness()) {}

  /// Builds the machine after the entry in its module, whose symbol table is
  /// `symbols`.
  MachineOp build(SymbolTable &symbols);

private:
  void orderFunctions();
  void createMachine(SymbolTable &symbols);
  void declareVariables(func::FuncOp function);
  void declareVariable(Value value, const Twine &name);
  void declareResults();
  void numberArguments();
  VariableOp createVariable(Location loc, const Twine &name, Type type,
                            bool stack);
  void declareBlocks(func::FuncOp function);

  bool isVariable(Value value) const;
  bool isStack(Value value) const;
  SmallVector<Value> getSaved(func::CallOp call) const;

  void emitBlock(Block *block);
  void emitReturnPoint(func::CallOp call);
  void emitOp(Operation *op);
  void emitTerminator(Operation *op);
  void emitBranch(cf::CondBranchOp op);
  void emitCall(func::CallOp call);
  Value read(Value value);
  void define(Value value, Value computed);
  void assign(SmallVectorImpl<Assignment> &assignments, Value target,
              Value value);
  void emitSets(Location loc, ArrayRef<Assignment> assignments);
  FlatSymbolRefAttr getName(Block *block);

  const InstanceProgram &original;
  const RecursionToStackPassOptions &options;
  const StepProgram &steps;
  const InstanceProgram &program;
  const Sharedness &sharedness;
  const StepLiveness &liveness;

  MachineOp machine;
  OpBuilder builder{program.getEntry().getContext()};
  /// Keeps names in the machine unique.
  std::optional<SymbolTable> names;
  SmallVector<func::FuncOp> functions;
  DenseMap<Operation *, SmallVector<Block *>> blocksOf;
  DenseMap<Block *, BlockOp> blocks;
  DenseMap<Operation *, SmallVector<Value>> valuesOf;
  DenseMap<Value, VariableOp> variables;
  /// Variables in which each function stores its results.
  DenseMap<Operation *, SmallVector<VariableOp>> results;
  /// Values that the current block has computed or read.
  IRMapping values;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values that need variables
//===----------------------------------------------------------------------===//

bool MachineBuilder::isVariable(Value value) const {
  return steps.needsVariable(value) ||
         (!options.temporaries && steps.isOfLane(value) &&
          VariableOp::isValidType(value.getType()));
}

bool MachineBuilder::isStack(Value value) const {
  return !options.neededStacks || liveness.isLiveAcrossRecursion(value);
}

/// Returns the values that `call` has to save, in the order of their
/// definition.
SmallVector<Value> MachineBuilder::getSaved(func::CallOp call) const {
  if (StepLiveness::isTailCall(call) ||
      (options.neededStacks && !program.isRecursiveCall(call)))
    return {};
  SmallVector<Value> saved;
  for (Value value : valuesOf.find(call->getParentOp())->second)
    if (isStack(value) &&
        (!options.liveSaves || liveness.isLiveAcross(value, call)))
      saved.push_back(value);
  return saved;
}

//===----------------------------------------------------------------------===//
// The machine's functions, blocks and variables
//===----------------------------------------------------------------------===//

/// Puts the entry first, then the other functions in the order of their first
/// call.
void MachineBuilder::orderFunctions() {
  llvm::SetVector<Operation *> order;
  order.insert(program.getEntry());
  for (size_t i = 0; i < order.size(); ++i) {
    auto function = cast<func::FuncOp>(order[i]);
    functions.push_back(function);
    blocksOf[function] = getProgramOrder(function);
    for (Block *block : blocksOf[function])
      if (func::CallOp call = StepLiveness::getCall(*block))
        order.insert(program.getCallee(call));
  }
}

void MachineBuilder::createMachine(SymbolTable &symbols) {
  func::FuncOp entry = original.getEntry();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0, e = entry.getNumArguments(); i < e; ++i)
    if (entry.getArgAttr(i, kSharedAttr)) {
      types.push_back(entry.getArgumentTypes()[i]);
      attributes.push_back(entry.getArgAttrDict(i));
    }
  machine = MachineOp::create(builder, entry.getLoc(),
                              (entry.getSymName() + ".machine").str(), types);
  machine.setAllArgAttrs(ArrayRef<DictionaryAttr>(attributes));
  machine.setCachedTops(options.cachedTops);
  symbols.insert(machine, std::next(Block::iterator(entry)));
  names.emplace(machine);
}

VariableOp MachineBuilder::createVariable(Location loc, const Twine &name,
                                          Type type, bool stack) {
  builder.setInsertionPointToEnd(&machine.getBody().front());
  auto variable = VariableOp::create(builder, loc, name.str(), type, stack,
                                     IntegerAttr(), IntegerAttr());
  names->insert(variable);
  return variable;
}

void MachineBuilder::declareVariable(Value value, const Twine &name) {
  valuesOf[value.getParentRegion()->getParentOp()].push_back(value);
  variables[value] =
      createVariable(value.getLoc(), name, value.getType(), isStack(value));
}

void MachineBuilder::declareVariables(func::FuncOp function) {
  StringRef name = function.getSymName();
  valuesOf[function];
  for (BlockArgument argument : function.getArguments())
    if (isVariable(argument))
      declareVariable(argument, name + ".arg" + Twine(argument.getArgNumber()));
  unsigned number = 0;
  auto declare = [&](Value value) {
    if (isVariable(value))
      declareVariable(value, name + ".v" + Twine(number++));
  };
  for (Block *block : blocksOf[function]) {
    if (!block->isEntryBlock())
      llvm::for_each(block->getArguments(), declare);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), declare);
  }
}

/// Declares the variables of results. Functions that end in calls to each other
/// store their results in the same variables, so the callee can return on
/// behalf of its caller.
void MachineBuilder::declareResults() {
  llvm::EquivalenceClasses<Operation *> classes;
  for (func::FuncOp function : functions) {
    classes.insert(function.getOperation());
    for (Block *block : blocksOf[function])
      if (func::CallOp call = StepLiveness::getCall(*block);
          call && StepLiveness::isTailCall(call))
        classes.unionSets(function.getOperation(),
                          program.getCallee(call).getOperation());
  }
  DenseMap<Operation *, SmallVector<VariableOp>> ofClass;
  for (func::FuncOp function : functions) {
    auto &shared = ofClass[classes.getLeaderValue(function.getOperation())];
    if (shared.empty())
      for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
        shared.push_back(
            createVariable(function.getLoc(),
                           function.getSymName() + ".result" + Twine(number),
                           type, !options.neededStacks));
    results[function] = shared;
  }
}

/// Numbers the variables of the entry's arguments and results.
void MachineBuilder::numberArguments() {
  func::FuncOp entry = program.getEntry();
  int64_t number = 0;
  for (BlockArgument argument : entry.getArguments()) {
    if (entry.getArgAttr(argument.getArgNumber(), kSharedAttr))
      continue;
    if (VariableOp variable = variables.lookup(argument))
      variable.setArgumentNumber(number);
    ++number;
  }
  for (auto [number, variable] : llvm::enumerate(results[entry]))
    variable.setResultNumber(number);
}

void MachineBuilder::declareBlocks(func::FuncOp function) {
  for (auto [number, block] : llvm::enumerate(blocksOf[function])) {
    builder.setInsertionPointToEnd(&machine.getBody().front());
    Location loc = block->empty() ? function.getLoc() : block->front().getLoc();
    auto op = BlockOp::create(
        builder, loc, (function.getSymName() + "." + Twine(number)).str());
    op.getBody().emplaceBlock();
    names->insert(op);
    blocks[block] = op;
  }
}

MachineOp MachineBuilder::build(SymbolTable &symbols) {
  orderFunctions();
  createMachine(symbols);
  llvm::for_each(functions,
                 [&](func::FuncOp function) { declareVariables(function); });
  declareResults();
  numberArguments();
  llvm::for_each(functions,
                 [&](func::FuncOp function) { declareBlocks(function); });
  for (func::FuncOp function : functions)
    for (Block *block : blocksOf[function])
      emitBlock(block);
  return machine;
}

//===----------------------------------------------------------------------===//
// The code of blocks
//===----------------------------------------------------------------------===//

static FlatSymbolRefAttr getName(VariableOp variable) {
  return FlatSymbolRefAttr::get(variable.getSymNameAttr());
}

FlatSymbolRefAttr MachineBuilder::getName(Block *block) {
  return FlatSymbolRefAttr::get(blocks.lookup(block).getSymNameAttr());
}

/// Returns `value` in the current block: a parameter, a value computed there, a
/// read of its variable, or a clone of its op. With temporaries, a block reads
/// the variable of a value at most once. The read stays valid while the block
/// runs, because the variable changes only at the end of the block.
Value MachineBuilder::read(Value value) {
  if (std::optional<int64_t> parameter = sharedness.getParameter(value))
    return machine.getArgument(*parameter);
  if (Value computed = values.lookupOrNull(value))
    return computed;
  if (VariableOp variable = variables.lookup(value)) {
    Value top = TopOp::create(builder, value.getLoc(), value.getType(),
                              ::getName(variable));
    if (options.temporaries)
      values.map(value, top);
    return top;
  }
  Operation *op = value.getDefiningOp();
  assert(StepProgram::isRematerializable(value) &&
         "value is neither computed here nor in a variable");
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, read(operand));
  values.map(value, builder.clone(*op, operands)
                        ->getResult(cast<OpResult>(value).getResultNumber()));
  return values.lookup(value);
}

/// Sets the variable of `value`, if it has one, to `computed`. Without a
/// variable or with temporaries, later reads in the block use `computed`.
void MachineBuilder::define(Value value, Value computed) {
  VariableOp variable = variables.lookup(value);
  if (variable)
    SetOp::create(builder, value.getLoc(), ::getName(variable), computed);
  if (!variable || options.temporaries)
    values.map(value, computed);
}

void MachineBuilder::emitBlock(Block *block) {
  builder.setInsertionPointToEnd(&blocks[block].getBody().front());
  values.clear();
  if (func::CallOp call = StepLiveness::getReturningCall(*block))
    emitReturnPoint(call);
  for (Operation &op : block->without_terminator())
    if (!isa<func::CallOp>(op))
      emitOp(&op);
  emitTerminator(block->getTerminator());
}

void MachineBuilder::emitOp(Operation *op) {
  if (isOpTriviallyDead(op) ||
      llvm::any_of(op->getResults(), StepProgram::isRematerializable))
    return;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  IRMapping operands;
  for (Value value : used)
    operands.map(value, read(value));
  Operation *copy = builder.clone(*op, operands);
  for (auto [result, computed] :
       llvm::zip_equal(op->getResults(), copy->getResults()))
    define(result, computed);
}

void MachineBuilder::emitTerminator(Operation *op) {
  if (func::CallOp call = StepLiveness::getCall(*op->getBlock()))
    return emitCall(call);
  if (auto branch = dyn_cast<cf::CondBranchOp>(op))
    return emitBranch(branch);
  SmallVector<Assignment> assignments;
  if (auto branch = dyn_cast<cf::BranchOp>(op)) {
    for (auto [argument, operand] : llvm::zip_equal(
             branch.getDest()->getArguments(), branch.getDestOperands()))
      assign(assignments, argument, operand);
    emitSets(op->getLoc(), assignments);
    JumpOp::create(builder, op->getLoc(), getName(branch.getDest()));
    return;
  }
  for (auto [variable, operand] :
       llvm::zip_equal(results[op->getParentOp()], op->getOperands()))
    assignments.push_back({variable, read(operand)});
  emitSets(op->getLoc(), assignments);
  batch::ReturnOp::create(builder, op->getLoc());
}

/// Adds the assignment of `value` to the variable of `target`, unless the
/// variable already has that value. All values are read before any variable is
/// written, so `f(b, a)` swaps its arguments.
void MachineBuilder::assign(SmallVectorImpl<Assignment> &assignments,
                            Value target, Value value) {
  VariableOp variable = variables.lookup(target);
  if (variable && value != target)
    assignments.push_back({variable, read(value)});
}

void MachineBuilder::emitSets(Location loc, ArrayRef<Assignment> assignments) {
  for (auto [variable, value] : assignments)
    SetOp::create(builder, loc, ::getName(variable), value);
}

/// Sets the arguments of both targets before the lane jumps to one of them, so
/// an edge needs no separate block. If an argument of one target is live in the
/// other target, it keeps its value on the edge to the other target.
void MachineBuilder::emitBranch(cf::CondBranchOp op) {
  Location loc = op.getLoc();
  Value condition = read(op.getCondition());
  SmallVector<Assignment> assignments;
  auto select = [&](Value ifTrue, Value ifFalse) -> Value {
    return arith::SelectOp::create(builder, loc, condition, ifTrue, ifFalse);
  };
  Block *trueTarget = op.getTrueDest(), *falseTarget = op.getFalseDest();
  if (trueTarget == falseTarget) {
    for (auto [argument, ifTrue, ifFalse] :
         llvm::zip_equal(trueTarget->getArguments(), op.getTrueDestOperands(),
                         op.getFalseDestOperands()))
      if (VariableOp variable = variables.lookup(argument))
        assignments.push_back({variable, select(read(ifTrue), read(ifFalse))});
  } else {
    for (bool taken : {true, false}) {
      Block *target = taken ? trueTarget : falseTarget;
      Block *other = taken ? falseTarget : trueTarget;
      ValueRange operands =
          taken ? op.getTrueDestOperands() : op.getFalseDestOperands();
      for (auto [argument, operand] :
           llvm::zip_equal(target->getArguments(), operands)) {
        size_t count = assignments.size();
        assign(assignments, argument, operand);
        if (assignments.size() == count || !liveness.isLiveIn(argument, other))
          continue;
        Value kept = read(argument), given = assignments.back().second;
        assignments.back().second =
            taken ? select(given, kept) : select(kept, given);
      }
    }
  }
  emitSets(loc, assignments);
  batch::BranchOp::create(builder, loc, condition, getName(trueTarget),
                          getName(falseTarget));
}

/// Saves the values that the caller needs after the call, and enters the
/// callee. If a function calls itself, a saved variable may also be an
/// argument. In this case, the push also sets the variable to the value of the
/// argument.
void MachineBuilder::emitCall(func::CallOp call) {
  Location loc = call.getLoc();
  func::FuncOp callee = program.getCallee(call);
  SmallVector<Assignment> assignments;
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getArguments(), call.getOperands()))
    assign(assignments, argument, operand);
  for (Value saved : getSaved(call)) {
    VariableOp variable = variables.lookup(saved);
    auto *argument = llvm::find_if(assignments, [&](Assignment assignment) {
      return assignment.first == variable;
    });
    Value value;
    if (argument != assignments.end()) {
      value = argument->second;
      assignments.erase(argument);
    }
    PushOp::create(builder, loc, ::getName(variable), value);
  }
  emitSets(loc, assignments);
  FlatSymbolRefAttr target = getName(&callee.getBody().front());
  if (StepLiveness::isTailCall(call))
    JumpOp::create(builder, loc, target);
  else
    PushJumpOp::create(builder, loc, target,
                       getName(call->getBlock()->getSuccessor(0)));
}

/// Reads the callee's results, which the next call overwrites, and restores the
/// saved values.
void MachineBuilder::emitReturnPoint(func::CallOp call) {
  Location loc = call.getLoc();
  SmallVector<std::pair<Value, Value>> taken;
  for (auto [result, variable] :
       llvm::zip_equal(call.getResults(), results[program.getCallee(call)]))
    if (!result.use_empty())
      taken.push_back({result, TopOp::create(builder, loc, result.getType(),
                                             ::getName(variable))});
  SmallVector<Value> allSaved = getSaved(call);
  for (Value saved : llvm::reverse(allSaved))
    PopOp::create(builder, loc, ::getName(variables.lookup(saved)));
  for (auto [result, value] : taken)
    define(result, value);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct RecursionToStackPass
    : batch::impl::RecursionToStackPassBase<RecursionToStackPass> {
  using RecursionToStackPassBase::RecursionToStackPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    InstanceProgram program(module);
    if (!program.getEntry() || !module.getOps<MachineOp>().empty())
      return;
    auto attr = program.getEntry()->getAttrOfType<StrategyAttr>(kStrategyAttr);
    Strategy strategy = attr ? attr.getValue() : Strategy::Lockstep;
    if (strategy != Strategy::Lockstep && strategy != Strategy::Mask)
      return;
    StepProgram steps(program, tailCalls);
    if (const std::optional<Obstacle> &obstacle = steps.getObstacle()) {
      (void)Strategies(program).emitError(*obstacle);
      return signalPassFailure();
    }
    RecursionToStackPassOptions options{liveSaves, temporaries, neededStacks,
                                        cachedTops, tailCalls};
    SymbolTable symbols(module);
    MachineBuilder(program, steps, options)
        .build(symbols)
        .setFrames(strategy == Strategy::Mask);
  }
};

} // namespace
