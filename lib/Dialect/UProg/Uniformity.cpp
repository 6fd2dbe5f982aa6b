//===- Uniformity.cpp - Values equal on all units of a level --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/Uniformity.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <map>

using namespace mlir;
using namespace mlir::uprog;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the name of the program or operator that an op runs, or null if the
/// op runs neither.
static StringAttr getCallee(Operation *op) {
  if (auto ref = dyn_cast<RefOp>(op))
    return ref.getCalleeAttr().getAttr();
  if (auto run = dyn_cast<RunOp>(op))
    return run.getCalleeAttr().getAttr();
  return {};
}

Uniformity::Uniformity(ModuleOp module, Level level) : level(level) {
  for (auto program : module.getOps<ProgramOp>())
    programs[program.getSymNameAttr()] = program;
  for (auto program : module.getOps<ProgramOp>())
    program.walk([&](Operation *op) {
      if (ProgramOp callee = programs.lookup(getCallee(op)))
        callers[callee].push_back(op);
    });
  for (auto program : module.getOps<ProgramOp>())
    begin(program);
  do {
    changed = false;
    for (auto program : module.getOps<ProgramOp>())
      program.getBody().walk([&](Operation *op) { visit(op); });
  } while (changed);
  do {
    changed = false;
    for (auto program : module.getOps<ProgramOp>())
      changed |= enter(program);
  } while (changed);
}

void Uniformity::join(Value value, Value cause) {
  if (cause)
    changed |= causes.try_emplace(value, cause).second;
}

Value Uniformity::findCause(ValueRange values) const {
  for (Value value : values)
    if (Value cause = findCause(value))
      return cause;
  return {};
}

/// Finds the arguments that are non-uniform regardless of the caller.
void Uniformity::begin(ProgramOp program) {
  // The host starts each unit of a lower level with its own plan.
  bool hasOwnPlan =
      level > program.getLevel() &&
      llvm::all_of(callers.lookup(program), [&](Operation *caller) {
        return program->isAncestor(caller);
      });
  for (BlockArgument argument : program.getArguments())
    if (hasOwnPlan ||
        (level > Level::Block && isa<batch::LanesType>(argument.getType())))
      join(argument, argument);
}

void Uniformity::visitCall(ValueRange arguments, ValueRange operands) {
  // The number of operands may be wrong, because calls are checked later.
  for (auto [argument, operand] : llvm::zip(arguments, operands))
    join(argument, findCause(operand));
}

/// Returns the cause of a non-uniform value on which `control` depends, or null
/// if it depends only on uniform values. Control flow depends on the operands
/// that the op and the terminators of its regions do not forward.
Value Uniformity::findControlCause(RegionBranchOpInterface control) const {
  RegionBranchSuccessorMapping forwarded;
  control.getSuccessorOperandInputMapping(forwarded);
  for (RegionBranchPoint point : control.getAllRegionBranchPoints()) {
    Operation *op = point.isParent() ? control.getOperation()
                                     : point.getTerminatorPredecessorOrNull();
    for (OpOperand &operand : op->getOpOperands())
      if (!forwarded.contains(&operand))
        if (Value cause = findCause(operand.get()))
          return cause;
  }
  return {};
}

void Uniformity::visitControl(RegionBranchOpInterface control) {
  Value cause = findControlCause(control);
  if (cause)
    controls.try_emplace(control, cause);
  for (Value result : control->getResults())
    join(result, cause);
  for (Region &region : control->getRegions())
    for (BlockArgument argument : region.getArguments())
      join(argument, cause);
  for (RegionBranchPoint point : control.getAllRegionBranchPoints()) {
    SmallVector<RegionSuccessor> successors;
    control.getSuccessorRegions(point, successors);
    for (RegionSuccessor successor : successors)
      for (auto [operand, input] :
           llvm::zip(control.getSuccessorOperands(point, successor),
                     successor.getSuccessorInputs()))
        join(input, findCause(operand));
  }
}

/// Returns true if the results depend only on the operands. The op computes
/// them from the operands, or reads them from a place that the operands
/// specify.
static bool isFunction(Operation *op) {
  return isa_and_nonnull<UProgDialect, batch::BatchDialect, arith::ArithDialect,
                         math::MathDialect>(op->getDialect());
}

void Uniformity::visit(Operation *op) {
  if (ProgramOp callee = programs.lookup(getCallee(op))) {
    ValueRange arguments = callee.getArguments();
    if (auto run = dyn_cast<RunOp>(op)) {
      if (arguments.empty())
        return;
      if (level > callee.getLevel())
        join(arguments.front(), arguments.front());
      return visitCall(arguments.drop_front(), run.getInputs());
    }
    return visitCall(arguments, op->getOperands());
  }
  if (auto control = dyn_cast<RegionBranchOpInterface>(op))
    return visitControl(control);
  Value cause = findCause(op->getOperands());
  // Writing a non-uniform value makes all values read from the cells
  // non-uniform.
  if (auto put = dyn_cast<PutOp>(op)) {
    std::optional<Divergence> own = findOwnDivergence(op);
    join(put.getCells(), cause || !own ? cause : own->cause);
  }
  // Threads run the region for different numbers, but the result depends on all
  // numbers.
  if (isa<ReduceOp, CompactOp>(op) && !cause)
    cause = findCause(op->getRegion(0).front().back().getOperands());
  for (Value result : op->getResults())
    join(result, isFunction(op) ? cause : result);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Returns the innermost non-uniform control flow around an op. Searches only
/// the op's program.
std::optional<Divergence> Uniformity::findOwnDivergence(Operation *op) const {
  while ((op = op->getParentOp()) && !isa<ProgramOp>(op)) {
    if (isa<ReduceOp, CompactOp, EachOp>(op))
      return Divergence{op, Value(), {}};
    if (Value cause = controls.lookup(op))
      return Divergence{op, cause, {}};
  }
  return std::nullopt;
}

std::optional<Divergence> Uniformity::findDivergence(Operation *op) const {
  if (std::optional<Divergence> own = findOwnDivergence(op))
    return own;
  auto outer = entries.find(op->getParentOfType<ProgramOp>());
  if (outer == entries.end())
    return std::nullopt;
  return outer->second;
}

/// Checks whether all units reach the ops that run a program. Returns true if
/// it finds a new divergence.
bool Uniformity::enter(ProgramOp program) {
  if (entries.contains(program))
    return false;
  for (Operation *caller : callers.lookup(program))
    if (std::optional<Divergence> found = findDivergence(caller)) {
      found->callers.insert(found->callers.begin(), caller);
      entries.try_emplace(program, *found);
      return true;
    }
  return false;
}

/// Attaches a note at the location of `cause` that explains why this value
/// differs between units of a level.
static void explain(InFlightDiagnostic &error, Value cause, Level level) {
  if (auto result = dyn_cast<OpResult>(cause)) {
    error.attachNote(cause.getLoc())
        << "a result of '" << result.getOwner()->getName()
        << "' is not known to be equal on all units of the "
        << stringifyLevel(level);
    return;
  }
  auto argument = cast<BlockArgument>(cause);
  auto program = cast<ProgramOp>(argument.getOwner()->getParentOp());
  Diagnostic &note = error.attachNote(cause.getLoc());
  note << "argument #" << argument.getArgNumber() << " of @"
       << program.getSymName() << " is not uniform: ";
  if (isa<batch::LanesType>(cause.getType()))
    note << "each block has its own lanes";
  else
    note << "each " << stringifyLevel(program.getLevel())
         << " has its own value";
}

/// Checks that all units of `level` reach `op`. `otherwise` describes what
/// happens if they do not.
static LogicalResult verifyReached(Operation *op, Level level,
                                   const Uniformity &values,
                                   StringRef otherwise) {
  std::optional<Divergence> found = values.findDivergence(op);
  if (!found)
    return success();
  InFlightDiagnostic error =
      op->emitOpError(
          "is in control flow that may be non-uniform across the units of the ")
      << stringifyLevel(level) << ": " << otherwise;
  for (Operation *caller : found->callers)
    error.attachNote(caller->getLoc()) << "its program is run from here";
  Diagnostic &note = error.attachNote(found->control->getLoc());
  note << "'" << found->control->getName() << "' ";
  if (!found->cause) {
    note << "distributes numbers over the threads of a unit";
    return error;
  }
  note << "depends on a value that may differ between units";
  explain(error, found->cause, level);
  return error;
}

LogicalResult uprog::verifyUniformity(ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  std::map<Level, Uniformity> levels;
  WalkResult result = program.walk([&](Operation *op) -> WalkResult {
    auto check = [&](Level level, StringRef otherwise) {
      auto values = levels.try_emplace(level, module, level).first;
      return verifyReached(op, level, values->second, otherwise);
    };
    if (auto barrier = dyn_cast<BarrierOp>(op))
      return check(barrier.getLevel(), "units that take another path would "
                                       "never arrive");
    if (isa<RunOp>(op))
      return check(program.getLevel(), "units that take another path would not "
                                       "run their share of the tasks");
    return success();
  });
  return failure(result.wasInterrupted());
}
