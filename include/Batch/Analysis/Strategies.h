//===- Strategies.h - Legal control strategies ------------------*- C++ -*-===//
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

/// Decides for each control strategy whether it is legal for a program and, if
/// it is not, at which op and why.
class Strategies {
public:
  explicit Strategies(const InstanceProgram &program);

  /// The obstacle to `strategy`, or none if it is legal. Computed on first
  /// use.
  const std::optional<Obstacle> &getObstacle(Strategy strategy);
  bool isLegal(Strategy strategy) { return !getObstacle(strategy); }

  /// The first of `linearize`, `lockstep`, `lazy` and `none` that is legal.
  Strategy choose();

  /// Emits `obstacle` as an error, with a note that lists the legal
  /// strategies.
  LogicalResult emitError(const Obstacle &obstacle);

private:
  std::optional<Obstacle> find(Strategy strategy) const;

  const InstanceProgram &program;
  /// By strategy, for those that were asked for.
  std::map<Strategy, std::optional<Obstacle>> obstacles;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STRATEGIES_H
