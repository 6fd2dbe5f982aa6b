//===- ABILayout.h - Where the structs of the ABI lie -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_ABI_ABILAYOUT_H
#define BATCH_TARGET_ABI_ABILAYOUT_H

#include "batch-runtime/ABI.h"

#include <cstddef>

/// Sizes in bytes, and fields in cells, of what compiled code reads and writes
/// through a context. All fields are eight bytes wide, on every target.
namespace mlir::batch::abi {

static_assert(sizeof(void *) == 8, "objects are made for 64-bit targets");

inline constexpr int64_t kCellBytes = 8;

#define BATCH_FIELD(constant, type, field)                                     \
  inline constexpr int64_t constant = offsetof(type, field) / kCellBytes;

inline constexpr int64_t kQueueBytes = sizeof(BatchQueue);
BATCH_FIELD(kQueueEnd, BatchQueue, end)
BATCH_FIELD(kQueueLimit, BatchQueue, limit)

inline constexpr int64_t kSourceBytes = sizeof(BatchSource);
inline constexpr int64_t kSourceCells = kSourceBytes / kCellBytes;
BATCH_FIELD(kSourceBase, BatchSource, base)
BATCH_FIELD(kSourceRows, BatchSource, rows)

inline constexpr int64_t kOperandCells = sizeof(BatchOperand) / kCellBytes;
BATCH_FIELD(kOperandBase, BatchOperand, base)
BATCH_FIELD(kOperandRows, BatchOperand, rows)
BATCH_FIELD(kOperandOffsets, BatchOperand, offsets)

inline constexpr int64_t kStepBytes = sizeof(BatchStep);
inline constexpr int64_t kStepCells = kStepBytes / kCellBytes;
BATCH_FIELD(kStepKernel, BatchStep, kernel)
BATCH_FIELD(kStepCount, BatchStep, count)
BATCH_FIELD(kStepOperands, BatchStep, operands)
BATCH_FIELD(kStepScratch, BatchStep, scratch)
BATCH_FIELD(kStepMeets, BatchStep, meets)
BATCH_FIELD(kStepResults, BatchStep, results)

// Lanes of a lockstep program.
BATCH_FIELD(kLanesLanes, BatchLanes, lanes)
BATCH_FIELD(kLanesNumInstances, BatchLanes, numInstances)
BATCH_FIELD(kLanesNextInstance, BatchLanes, nextInstance)
BATCH_FIELD(kLanesStackDepth, BatchLanes, stackDepth)
BATCH_FIELD(kLanesMaxSteps, BatchLanes, maxSteps)
BATCH_FIELD(kLanesChoice, BatchLanes, choice)
BATCH_FIELD(kLanesPatience, BatchLanes, patience)
BATCH_FIELD(kLanesMaskFrom, BatchLanes, maskFrom)
BATCH_FIELD(kLanesNow, BatchLanes, now)
BATCH_FIELD(kLanesLongestWait, BatchLanes, longestWait)
BATCH_FIELD(kLanesFrame, BatchLanes, frame)
BATCH_FIELD(kLanesCount, BatchLanes, count)
BATCH_FIELD(kLanesMasked, BatchLanes, masked)
BATCH_FIELD(kLanesInstances, BatchLanes, instances)
BATCH_FIELD(kLanesBlocks, BatchLanes, blocks)
BATCH_FIELD(kLanesLaneSteps, BatchLanes, laneSteps)
BATCH_FIELD(kLanesActive, BatchLanes, active)
BATCH_FIELD(kLanesReturns, BatchLanes, returns)
BATCH_FIELD(kLanesReturnDepths, BatchLanes, returnDepths)
BATCH_FIELD(kLanesVariables, BatchLanes, variables)
BATCH_FIELD(kLanesSteps, BatchLanes, steps)
BATCH_FIELD(kLanesMaskedSteps, BatchLanes, maskedSteps)
BATCH_FIELD(kLanesCosts, BatchLanes, costs)
BATCH_FIELD(kLanesWaiting, BatchLanes, waiting)
BATCH_FIELD(kLanesSince, BatchLanes, since)
BATCH_FIELD(kLanesRuns, BatchLanes, runs)
BATCH_FIELD(kLanesLaneRuns, BatchLanes, laneRuns)
BATCH_FIELD(kLanesEnds, BatchLanes, ends)
BATCH_FIELD(kLanesCheap, BatchLanes, cheap)
BATCH_FIELD(kLanesStates, BatchLanes, states)
BATCH_FIELD(kLanesLastSlot, BatchLanes, lastSlot)
BATCH_FIELD(kLanesUnknownStates, BatchLanes, unknownStates)
BATCH_FIELD(kLanesPath, BatchLanes, path)

inline constexpr int64_t kVariableBytes = sizeof(BatchVariable);
BATCH_FIELD(kVariableTops, BatchVariable, tops)
BATCH_FIELD(kVariableStack, BatchVariable, stack)
BATCH_FIELD(kVariableDepths, BatchVariable, depths)

/// The parts of a handle.
inline constexpr int64_t kHandleDepthShift = 32;
inline constexpr int64_t kHandleDepthMask = 0xffffff;
inline constexpr int64_t kHandleTagShift = 56;
inline constexpr int64_t kHandleSourceTag = 128;

#undef BATCH_FIELD

} // namespace mlir::batch::abi

#endif // BATCH_TARGET_ABI_ABILAYOUT_H
