//===- Strategies.h - Which control strategies are legal --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_STRATEGIES_H
#define BATCH_ANALYSIS_STRATEGIES_H

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Analysis/Obstacle.h"
#include "Batch/Dialect/Batch/Batch.h"
#include <map>

namespace mlir::batch {

/// Says of each control strategy whether it is legal for a program and, where
/// it is not, at which op and why.
class Strategies {
public:
  explicit Strategies(const InstanceProgram &program);

  /// What is in the way of `strategy`, if it is not legal. Each is found out
  /// when it is asked for.
  const std::optional<Obstacle> &getObstacle(Strategy strategy);
  bool isLegal(Strategy strategy) { return !getObstacle(strategy); }

  /// The first of `linearize`, `lockstep` and `none` that is legal.
  Strategy choose();

  /// Emits `obstacle` as an error, with a note that says which strategies are
  /// legal.
  LogicalResult emitError(const Obstacle &obstacle);

private:
  std::optional<Obstacle> find(Strategy strategy) const;

  const InstanceProgram &program;
  /// By strategy, as far as they were asked for.
  std::map<Strategy, std::optional<Obstacle>> obstacles;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STRATEGIES_H
