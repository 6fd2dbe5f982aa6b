//===- UnitSchedule.h - Which units run the tasks of an instance -*- C++
//-*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_UNITSCHEDULE_H
#define BATCH_ANALYSIS_UNITSCHEDULE_H

#include "Batch/Analysis/Tuning.h"
#include "Batch/Analysis/UnitCosts.h"

namespace mlir::batch {

/// How long instances take, in nanoseconds.
struct UnitSchedule {
  double shared = 0; ///< on all units, which share out all tasks
  double chosen = 0; ///< on all, where one unit runs small tasks by itself
  double alone = 0;  ///< on one unit
  double set = 0;    ///< so many instances as a set, on all units
  int64_t steps = 0; ///< of the program, and those of one unit
  int64_t stepsAlone = 0;
};

/// Decides which steps of a program for an instance, which all units run, one
/// unit runs by itself, and gives these their level. From the inner regions to
/// the outer ones, one unit runs all steps of ops in a row, which may be loops
/// and branches, if the program gets faster by that: fewer barriers, but work
/// that is not shared (Zhang et al., "Cocktailer: Analyzing and Optimizing
/// Dynamic Control Flow in Deep Learning", OSDI 2023, algorithm 1). A tuning
/// file can decide for kernels. Loops have their static number of rounds, and
/// steps their static number of tasks, or else `unknownRounds`. All branches of
/// a conditional are equally frequent. A set has `instances` instances.
UnitSchedule scheduleUnits(uprog::ProgramOp program, const UnitCosts &costs,
                           const Tuning &tuning, int64_t instances,
                           double unknownRounds);

/// Gives steps of kernels their level that a tuning file says are for one unit.
void applyUnits(uprog::ProgramOp program, const Tuning &tuning);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_UNITSCHEDULE_H
