//===- Strategies.h - Legal strategies --------------------------*- C++ -*-===//
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

/// Minimum number of operations between two waits of an instance. With fewer
/// operations, `lockstep` is preferred to `lazy`.
inline constexpr double kOperationsPerWait = 1 << 22;

/// Maximum size of a mini-batch for which `replicate` is preferred in two
/// cases. In the first case, a CPU runs code over data structures whose control
/// flow depends on tensors. In the second case, the layers of a loop read
/// parameters once for many rounds. With more instances, reading parameters
/// once for all instances saves more time than dividing an instance among
/// units.
inline constexpr int64_t kFewInstances = 1;

/// Determines which strategies are legal for a program. For each illegal
/// strategy, provides the op and the reason that make it illegal.
class Strategies {
public:
  /// If `gpu` is set, the target is a GPU, where control flow cannot wait.
  explicit Strategies(const InstanceProgram &program, bool gpu = false);

  /// Returns the obstacle to `strategy`, or none if it is legal. The result is
  /// computed on first use.
  const std::optional<Obstacle> &getObstacle(Strategy strategy);
  bool isLegal(Strategy strategy) { return !getObstacle(strategy); }

  /// Returns the first of these strategies that is legal for mini-batches of
  /// `instances` instances:
  /// `replicate`, if runsPerUnit() is true;
  /// `replicate`, for at most kFewInstances instances, if findLayeredLoop()
  /// finds a loop;
  /// `linearize`;
  /// `replicate`, if there are at most kFewInstances instances, or the target
  /// is a GPU, or `lockstep` is also legal;
  /// `lazy`, with at least kOperationsPerWait operations between two waits;
  /// `lockstep`; `lazy`; `replicate`; `none`.
  Strategy choose(int64_t instances);
  /// Returns true if each worker should run instances by itself and compute
  /// with numbers (NumberForm.h). This applies to loops over tensors of few
  /// elements on a CPU.
  bool runsPerUnit();
  /// Returns the first loop of the entry that should run layer after layer, or
  /// null.
  Operation *findLayeredLoop() const;
  /// Returns the estimated number of operations of one instance between two
  /// waits, for programs whose control flow waits.
  double getOperationsPerWait() const;

  /// Emits `obstacle` as an error, with a note that lists the legal
  /// strategies.
  LogicalResult emitError(const Obstacle &obstacle);

private:
  std::optional<Obstacle> find(Strategy strategy) const;

  const InstanceProgram &program;
  bool gpu;
  std::optional<bool> perUnit; ///< cached result of runsPerUnit()
  /// Cached results of getObstacle(), by strategy.
  std::map<Strategy, std::optional<Obstacle>> obstacles;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STRATEGIES_H
