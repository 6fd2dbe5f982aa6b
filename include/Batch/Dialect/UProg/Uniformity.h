//===- Uniformity.h - Values equal on all units of a level ------*- C++ -*-===//
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

/// Control flow that may differ between the units of a level.
struct Divergence {
  /// Op that selects a path, or that distributes numbers among the threads of a
  /// unit.
  Operation *control;
  /// Non-uniform value on which the path depends, or null if the op distributes
  /// numbers.
  Value cause;
  /// Chain of ops through which the program of the queried op is run, from the
  /// program's direct caller outward. `control` encloses the last op of the
  /// chain, or the queried op if the chain is empty.
  SmallVector<Operation *> callers;
};

/// Determines which values of a module's programs are uniform, that is, equal
/// on all units of a level. Each non-uniform value has a cause: a non-uniform
/// value that is not computed from other non-uniform values.
///
/// - Constants are uniform, and so is a value that is computed from uniform
///   values: by arithmetic, or by ops that read plans, steps and lanes.
/// - The arguments of a program are uniform on the units that run it together
///   if they are uniform wherever the program is run. There are two exceptions:
///   each thread block has its own lanes, and the number of a task differs
///   between the units that share tasks.
/// - A value that control flow forwards is uniform if the condition and all
///   values that may be forwarded are uniform.
/// - The cells of instances are uniform if all values that are put into them
///   are uniform and the control flow around each put is uniform.
/// - Results of all other ops are assumed to be non-uniform.
class Uniformity {
public:
  Uniformity(ModuleOp module, Level level);

  /// Returns the cause of a non-uniform value, or null for a uniform value.
  Value findCause(Value value) const { return causes.lookup(value); }

  /// Returns the innermost non-uniform control flow around `op`. Also considers
  /// control flow around ops that run the program of `op`.
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
  DenseMap<Operation *, Value> controls; ///< causes of non-uniform control flow
  DenseMap<StringAttr, ProgramOp> programs;
  DenseMap<Operation *, SmallVector<Operation *>> callers; ///< callers of each
                                                           ///< program
  DenseMap<Operation *, Divergence> entries; ///< divergence around a caller
                                             ///< of each program
  bool changed = false;
};

/// Checks that each barrier of `program` is reached by all units for which it
/// waits, and each uprog.run by all units that share its tasks.
LogicalResult verifyUniformity(ProgramOp program);

} // namespace mlir::uprog

#endif // BATCH_DIALECT_UPROG_UNIFORMITY_H
