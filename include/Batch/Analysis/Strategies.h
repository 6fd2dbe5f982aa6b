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
#include "Batch/Dialect/Batch/EntryAttrs.h"
#include <map>

namespace mlir::batch {

/// With so many operations of one instance between two waits, `lazy` is chosen
/// before `lockstep`.
inline constexpr double kOperationsPerWait = 1 << 22;

/// Maximum number of instances of a mini-batch for which `replicate` runs code
/// over data structures on a CPU, and loops whose layers read parameters once
/// for many rounds. With more instances, reading parameters once for all of
/// them saves more time than sharing one instance among units.
inline constexpr int64_t kFewInstances = 1;

/// Decides for each control strategy whether it is legal for a program and, if
/// it is not, at which op and why.
class Strategies {
public:
  /// `gpu`: control runs for a GPU, where it cannot wait.
  explicit Strategies(const InstanceProgram &program, bool gpu = false);

  /// The obstacle to `strategy`, or none if it is legal. Computed on first
  /// use.
  const std::optional<Obstacle> &getObstacle(Strategy strategy);
  bool isLegal(Strategy strategy) { return !getObstacle(strategy); }

  /// The first of these that is legal for mini-batches of so many instances:
  /// `replicate`, if instances should run apart;
  /// `replicate`, with kFewInstances and a loop whose layers are worth it;
  /// `linearize`; `replicate`, with kFewInstances, on a GPU, or on a CPU
  /// without data structures; `lazy`, with kOperationsPerWait; `lockstep`;
  /// `lazy`; `none`.
  Strategy choose(int64_t instances);
  /// True if each worker should run instances by itself, and compute with
  /// numbers (NumberForm.h): on a CPU, for loops over tensors of few elements.
  bool runsApart();
  /// The first loop of the entry that should run layer after layer, or null.
  Operation *findLayeredLoop() const;
  /// The operations of one instance between two waits, by estimate; for
  /// programs whose control waits.
  double getOperationsPerWait() const;

  /// Emits `obstacle` as an error, with a note that lists the legal
  /// strategies.
  LogicalResult emitError(const Obstacle &obstacle);

private:
  std::optional<Obstacle> find(Strategy strategy) const;

  const InstanceProgram &program;
  bool gpu;
  std::optional<bool> apart; ///< runsApart(), once it has been asked for
  /// By strategy, for those that were asked for.
  std::map<Strategy, std::optional<Obstacle>> obstacles;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STRATEGIES_H
