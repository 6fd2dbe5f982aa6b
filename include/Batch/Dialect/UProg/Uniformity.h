//===- Uniformity.h - What is equal on all units of a level -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_UNIFORMITY_H
#define BATCH_DIALECT_UPROG_UNIFORMITY_H

#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::uprog {

/// Control that some units of a level may take another way through than others.
struct Divergence {
  /// Decides; or deals numbers out to the threads of a unit.
  Operation *control;
  /// What it decides by; null if it deals numbers out.
  Value cause;
  /// What runs the program that is asked about, from inside to outside: from
  /// there the control is seen.
  SmallVector<Operation *> callers;
};

/// Says of values of a module's programs whether they are equal on all units of
/// a level. Each value that is not has a cause: a value that differs without
/// being computed from one that does.
///
/// - Constants are equal, and so is what is computed from equal values: by
///   arithmetic, and by what reads plans, steps and lanes.
/// - The arguments of a program are equal on the units that run it together, if
///   they are wherever others run it; but lanes are a thread block's own, and
///   the number of a task differs between the units that share tasks out.
/// - What control hands on is equal if all that may be handed on is, and so is
///   what the control decides by.
/// - The cells of instances are equal if all that is put into them is, under
///   control that is equal.
/// - Nothing is known of results of other ops.
class Uniformity {
public:
  Uniformity(ModuleOp module, Level level);

  /// The cause of a value's not being equal on all units of the level, or null
  /// if it is equal.
  Value findCause(Value value) const { return causes.lookup(value); }

  /// The innermost control around an op, or around what runs its program, that
  /// is not equal on all units of the level.
  std::optional<Divergence> findDivergence(Operation *op) const;

private:
  std::optional<Divergence> findOwnDivergence(Operation *op) const;
  void begin(ProgramOp program);
  void visit(Operation *op);
  void visitCall(ValueRange arguments, ValueRange operands);
  void visitControl(RegionBranchOpInterface control);
  Value findControlCause(RegionBranchOpInterface control) const;
  Value findCause(ValueRange values) const;
  void join(Value value, Value cause);
  bool enter(ProgramOp program);

  Level level;
  DenseMap<Value, Value> causes;
  DenseMap<Operation *, Value> controls; ///< what they decide by, if it differs
  DenseMap<StringAttr, ProgramOp> programs;
  DenseMap<Operation *, SmallVector<Operation *>> callers; ///< of programs
  DenseMap<Operation *, Divergence> entries; ///< around what runs programs
  bool changed = false;
};

/// Checks that all units that a barrier waits for reach it, and all that share
/// tasks out the op that runs them, in a program.
LogicalResult verifyUniformity(ProgramOp program);

} // namespace mlir::uprog

#endif // BATCH_DIALECT_UPROG_UNIFORMITY_H
