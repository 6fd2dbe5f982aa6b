//===- UnitCosts.h - What units take for tasks ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_UNITCOSTS_H
#define BATCH_ANALYSIS_UNITCOSTS_H

#include "Batch/Dialect/UProg/UProg.h"

namespace mlir::batch {

/// What a task does.
struct TaskWork {
  double bytes = 0;       ///< of its own that it reads and writes
  double sharedBytes = 0; ///< of parameters, which all tasks of a step read
  /// Subset of `bytes` that is multiplied by parameters. Each unit that
  /// computes some of the columns reads all of it.
  double factorBytes = 0;
  double operations = 0; ///< on elements
  /// Barriers inside: a reduction waits for those that it depends on.
  int64_t barriers = 0;
};

/// Estimates the work of a task of a kernel. Extents that are not static count
/// as 1. A tensor into which the kernel only inserts in place counts as not
/// read.
TaskWork estimateTask(KernelOp kernel);

/// How many units there are, and what they take, in nanoseconds: what choices
/// of a schedule are made by. Measurements can take its place.
class UnitCosts {
public:
  virtual ~UnitCosts() = default;
  /// The units that can run an instance together.
  virtual int64_t getUnits() const = 0;
  /// A barrier of all units.
  virtual double getBarrierTime() const = 0;
  /// So many units that share out a step of `tasks` tasks, with its barriers.
  virtual double getStepTime(const TaskWork &task, double tasks,
                             int64_t units) const = 0;
  /// One unit that reads or writes memory which lies in caches.
  virtual double getMoveTime(double bytes) const = 0;

  /// True if it takes longer to read so many bytes than to wait for others.
  bool isLongerThanBarrier(int64_t bytes) const {
    return getMoveTime(static_cast<double>(bytes)) >= getBarrierTime();
  }
};

/// What units that run an instance together do in a nanosecond, and wait for.
struct UnitSpeed {
  int64_t units;
  double barrier;    ///< nanoseconds, of all units
  double begin;      ///< nanoseconds, of a step
  double stage;      ///< nanoseconds, of a reduction after a barrier
  double bytes;      ///< in a nanosecond, from caches
  double farBytes;   ///< the same from behind them
  double cache;      ///< bytes of the caches of all units
  double operations; ///< in a nanosecond, on elements
};

/// Estimates from the speed of units: of workers of a CPU, or of the thread
/// blocks of a GPU (GPUTimes.h), all of them or those of a cluster.
class EstimatedCosts : public UnitCosts {
public:
  explicit EstimatedCosts(bool gpu);
  static EstimatedCosts ofCluster(int64_t blocks);

  int64_t getUnits() const override;
  double getBarrierTime() const override;
  double getStepTime(const TaskWork &task, double tasks,
                     int64_t units) const override;
  double getMoveTime(double bytes) const override;

private:
  explicit EstimatedCosts(const UnitSpeed &speed) : speed(speed) {}

  UnitSpeed speed;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_UNITCOSTS_H
