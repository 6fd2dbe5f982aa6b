//===- UnitCosts.h - Costs of work on units ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_UNITCOSTS_H
#define BATCH_ANALYSIS_UNITCOSTS_H

#include "Batch/Dialect/UProg/UProg.h"

namespace mlir::batch {

/// Work of a task.
struct TaskWork {
  double bytes = 0;       ///< bytes of the task's own data, read or written
  double sharedBytes = 0; ///< bytes of parameters, which all tasks of a step
                          ///< read
  /// Bytes among `bytes` that are multiplied by parameters. A unit reads all of
  /// them, even if it computes only some of the columns.
  double factorBytes = 0;
  double operations = 0; ///< operations on elements
  /// Barriers inside the task, where a reduction waits for the reductions on
  /// which it depends.
  int64_t barriers = 0;
};

/// Estimates the work of a task of a kernel. Extents that are not static count
/// as 1. If the kernel only inserts into a tensor in place, the tensor counts
/// as not read.
TaskWork estimateTask(KernelOp kernel);

/// Number of units, and the costs of their work in nanoseconds. Scheduling
/// decisions use these numbers. A subclass can estimate the costs or use
/// measurements.
class UnitCosts {
public:
  virtual ~UnitCosts() = default;
  /// Returns the number of units that can run an instance together.
  virtual int64_t getUnits() const = 0;
  /// Returns the time of a barrier of all units.
  virtual double getBarrierTime() const = 0;
  /// Returns the time of a step whose `tasks` tasks are divided among `units`
  /// units, including the barriers of the step.
  virtual double getStepTime(const TaskWork &task, double tasks,
                             int64_t units) const = 0;
  /// Returns the time that one unit takes to read or write `bytes` bytes of
  /// cached memory.
  virtual double getMoveTime(double bytes) const = 0;

  /// Returns true if reading `bytes` bytes takes at least as long as a barrier.
  bool isLongerThanBarrier(int64_t bytes) const {
    return getMoveTime(static_cast<double>(bytes)) >= getBarrierTime();
  }
};

/// Speed of units that run an instance together, and their waiting times.
struct UnitSpeed {
  int64_t units;
  double barrier;    ///< time of a barrier of all units, in nanoseconds
  double begin;      ///< time of a step without work, in nanoseconds
  double stage;      ///< time of a reduction after a barrier, in nanoseconds
  double bytes;      ///< bytes per nanosecond, from caches
  double farBytes;   ///< bytes per nanosecond, from memory behind the caches
  double cache;      ///< size of the caches of all units, in bytes
  double operations; ///< operations on elements, per nanosecond
};

/// Costs estimated from the speed of units, which are CPU workers, or the
/// thread blocks of a GPU or of a cluster (GPUTimes.h).
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
