//===- ABILayout.h - Where the structs of the ABI lie -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_RECTOLLVM_ABILAYOUT_H
#define BATCH_CONVERSION_RECTOLLVM_ABILAYOUT_H

#include "batch-runtime/ABI.h"

#include <cstddef>

/// Sizes in bytes, and fields in cells, of what compiled code reads and writes
/// through a context. All fields are eight bytes wide, on every target.
namespace mlir::batch::abi {

static_assert(sizeof(void *) == 8, "objects are made for 64-bit targets");

inline constexpr int64_t kCellBytes = 8;

inline constexpr int64_t kQueueBytes = sizeof(BatchQueue);
inline constexpr int64_t kQueueEnd = offsetof(BatchQueue, end) / kCellBytes;
inline constexpr int64_t kQueueLimit = offsetof(BatchQueue, limit) / kCellBytes;

inline constexpr int64_t kSourceBytes = sizeof(BatchSource);
inline constexpr int64_t kSourceCells = kSourceBytes / kCellBytes;
inline constexpr int64_t kSourceBase = offsetof(BatchSource, base) / kCellBytes;
inline constexpr int64_t kSourceRows = offsetof(BatchSource, rows) / kCellBytes;

inline constexpr int64_t kOperandCells = sizeof(BatchOperand) / kCellBytes;
inline constexpr int64_t kOperandBase =
    offsetof(BatchOperand, base) / kCellBytes;
inline constexpr int64_t kOperandRows =
    offsetof(BatchOperand, rows) / kCellBytes;
inline constexpr int64_t kOperandOffsets =
    offsetof(BatchOperand, offsets) / kCellBytes;

inline constexpr int64_t kStepBytes = sizeof(BatchStep);
inline constexpr int64_t kStepCells = kStepBytes / kCellBytes;
inline constexpr int64_t kStepKernel = offsetof(BatchStep, kernel) / kCellBytes;
inline constexpr int64_t kStepCount = offsetof(BatchStep, count) / kCellBytes;
inline constexpr int64_t kStepOperands =
    offsetof(BatchStep, operands) / kCellBytes;
inline constexpr int64_t kStepScratch =
    offsetof(BatchStep, scratch) / kCellBytes;
inline constexpr int64_t kStepMeets = offsetof(BatchStep, meets) / kCellBytes;
inline constexpr int64_t kStepResults =
    offsetof(BatchStep, results) / kCellBytes;

// Lanes of a lockstep program.
inline constexpr int64_t kLanesLanes = offsetof(BatchLanes, lanes) / kCellBytes;
inline constexpr int64_t kLanesNumInstances =
    offsetof(BatchLanes, numInstances) / kCellBytes;
inline constexpr int64_t kLanesNextInstance =
    offsetof(BatchLanes, nextInstance) / kCellBytes;
inline constexpr int64_t kLanesStackDepth =
    offsetof(BatchLanes, stackDepth) / kCellBytes;
inline constexpr int64_t kLanesMaxSteps =
    offsetof(BatchLanes, maxSteps) / kCellBytes;
inline constexpr int64_t kLanesChoice =
    offsetof(BatchLanes, choice) / kCellBytes;
inline constexpr int64_t kLanesPatience =
    offsetof(BatchLanes, patience) / kCellBytes;
inline constexpr int64_t kLanesMaskFrom =
    offsetof(BatchLanes, maskFrom) / kCellBytes;
inline constexpr int64_t kLanesNow = offsetof(BatchLanes, now) / kCellBytes;
inline constexpr int64_t kLanesFrame = offsetof(BatchLanes, frame) / kCellBytes;
inline constexpr int64_t kLanesCount = offsetof(BatchLanes, count) / kCellBytes;
inline constexpr int64_t kLanesMasked =
    offsetof(BatchLanes, masked) / kCellBytes;
inline constexpr int64_t kLanesInstances =
    offsetof(BatchLanes, instances) / kCellBytes;
inline constexpr int64_t kLanesBlocks =
    offsetof(BatchLanes, blocks) / kCellBytes;
inline constexpr int64_t kLanesLaneSteps =
    offsetof(BatchLanes, laneSteps) / kCellBytes;
inline constexpr int64_t kLanesActive =
    offsetof(BatchLanes, active) / kCellBytes;
inline constexpr int64_t kLanesReturns =
    offsetof(BatchLanes, returns) / kCellBytes;
inline constexpr int64_t kLanesReturnDepths =
    offsetof(BatchLanes, returnDepths) / kCellBytes;
inline constexpr int64_t kLanesVariables =
    offsetof(BatchLanes, variables) / kCellBytes;
inline constexpr int64_t kLanesSteps = offsetof(BatchLanes, steps) / kCellBytes;
inline constexpr int64_t kLanesMaskedSteps =
    offsetof(BatchLanes, maskedSteps) / kCellBytes;
inline constexpr int64_t kLanesCosts = offsetof(BatchLanes, costs) / kCellBytes;
inline constexpr int64_t kLanesWaiting =
    offsetof(BatchLanes, waiting) / kCellBytes;
inline constexpr int64_t kLanesSince = offsetof(BatchLanes, since) / kCellBytes;
inline constexpr int64_t kLanesRuns = offsetof(BatchLanes, runs) / kCellBytes;
inline constexpr int64_t kLanesLaneRuns =
    offsetof(BatchLanes, laneRuns) / kCellBytes;
inline constexpr int64_t kLanesEnds = offsetof(BatchLanes, ends) / kCellBytes;

inline constexpr int64_t kVariableBytes = sizeof(BatchVariable);
inline constexpr int64_t kVariableTops =
    offsetof(BatchVariable, tops) / kCellBytes;
inline constexpr int64_t kVariableStack =
    offsetof(BatchVariable, stack) / kCellBytes;
inline constexpr int64_t kVariableDepths =
    offsetof(BatchVariable, depths) / kCellBytes;

/// The parts of a handle.
inline constexpr int64_t kHandleDepthShift = 32;
inline constexpr int64_t kHandleDepthMask = 0xffffff;
inline constexpr int64_t kHandleTagShift = 56;
inline constexpr int64_t kHandleSourceTag = 128;

} // namespace mlir::batch::abi

#endif // BATCH_CONVERSION_RECTOLLVM_ABILAYOUT_H
