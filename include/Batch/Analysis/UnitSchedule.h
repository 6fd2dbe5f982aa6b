//===- UnitSchedule.h - Levels of the steps of a program --------*- C++ -*-===//
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

/// Estimated times of an instance or a set in nanoseconds, and numbers of
/// steps.
struct UnitSchedule {
  double shared = 0;    ///< on all units, which divide all tasks
  double chosen = 0;    ///< on all units; one unit runs some steps by itself
  double onOneUnit = 0; ///< on one unit
  double set = 0;       ///< of a set of instances, on all units
  int64_t steps = 0;    ///< steps of the program, and steps that one unit runs
  int64_t stepsOnOneUnit = 0;
};

/// Selects the steps that one unit runs by itself, and sets their level. All
/// units run the other steps of an instance together. The search proceeds from
/// inner regions to outer ones. One unit runs all steps of consecutive ops,
/// which may be loops and branches, if that makes the program faster. This
/// saves barriers, but the work is not shared (Zhang et al., "Cocktailer:
/// Analyzing and Optimizing Dynamic Control Flow in Deep Learning", OSDI 2023,
/// algorithm 1). A tuning file can override the decision for individual
/// kernels. Assumes that each loop runs its static number of rounds, and that
/// each step has its static number of tasks. If such a number is not static,
/// assumes `unknownRounds`. Also assumes that all branches of a conditional are
/// equally likely. A set has `instances` instances.
UnitSchedule scheduleUnits(uprog::ProgramOp program, const UnitCosts &costs,
                           const Tuning &tuning, int64_t instances,
                           double unknownRounds);

/// Sets the level of the steps of kernels that a tuning file assigns to one
/// unit.
void applyUnits(uprog::ProgramOp program, const Tuning &tuning);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_UNITSCHEDULE_H
