//===- StepProgram.h - A program in lockstep --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_STEPPROGRAM_H
#define BATCH_ANALYSIS_STEPPROGRAM_H

#include "Batch/Analysis/Obstacle.h"
#include "Batch/Analysis/Sharedness.h"
#include "Batch/Analysis/StepLiveness.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::batch {

/// Functions of a program, copied into a separate module as graphs of steps,
/// with analyses of these graphs. If the program cannot run in lockstep, only
/// the obstacle is set.
class StepProgram {
public:
  /// Without `tailCalls`, every call returns to its caller.
  StepProgram(const InstanceProgram &original, bool tailCalls);

  /// Returns the reason why lockstep is not legal, or nullopt if it is legal.
  /// The functions below are valid only in the latter case.
  const std::optional<Obstacle> &getObstacle() const { return obstacle; }

  const InstanceProgram &getProgram() const { return analyses->program; }
  const Sharedness &getSharedness() const { return analyses->sharedness; }
  const StepLiveness &getLiveness() const { return analyses->liveness; }

  /// Returns true for constants and tensors filled with constants, which are
  /// recomputed where they are needed.
  static bool isRematerializable(Value value);
  /// Returns true if `value` may differ from lane to lane and steps cannot
  /// rematerialize it. Returns false if nothing uses `value`, or if it is the
  /// result of a tail call.
  bool isOfLane(Value value) const;
  /// Returns true if a variable must store `value` between steps.
  bool needsVariable(Value value) const {
    return isOfLane(value) && analyses->liveness.isLiveAcrossStep(value);
  }

private:
  struct Analyses {
    explicit Analyses(ModuleOp module)
        : program(module), sharedness(program), liveness(program) {}
    InstanceProgram program;
    Sharedness sharedness;
    StepLiveness liveness;
  };

  std::optional<Obstacle> findParameterObstacle() const;
  std::optional<Obstacle> findVariableObstacle(func::FuncOp function) const;
  std::optional<Obstacle> findEffect(func::FuncOp function) const;

  OwningOpRef<ModuleOp> module;
  std::optional<Analyses> analyses;
  std::optional<Obstacle> obstacle;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STEPPROGRAM_H
