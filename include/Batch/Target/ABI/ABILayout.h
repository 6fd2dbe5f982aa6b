//===- ABILayout.h - Layout of the structs of the ABI -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_ABI_ABILAYOUT_H
#define BATCH_TARGET_ABI_ABILAYOUT_H

#include "batch-runtime/ABI.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <type_traits>

/// Offsets of the struct fields that compiled code reads and writes. All of
/// them are derived from ABI.h when the compiler is built, so compiled code
/// follows changes to a struct. Offsets must not be defined anywhere else.
namespace mlir::batch::abi {

static_assert(sizeof(void *) == 8, "objects are only for 64-bit targets");

/// Size in bytes of the integers, pointers and cells that compiled code loads
/// and stores, on every target.
inline constexpr int64_t kCellBytes = 8;
/// Size in bytes of an entry in a list of rows or lanes.
inline constexpr int64_t kIndexBytes = sizeof(int32_t);

/// Field of a struct.
struct Field {
  int64_t offset; ///< in bytes
  bool isPointer; ///< false for a number
  /// Returns the offset in cells.
  constexpr int64_t cell() const { return offset / kCellBytes; }
};

template <class T>
constexpr Field makeField(size_t offset) {
  static_assert(sizeof(T) == kCellBytes,
                "compiled code has no access to fields of other sizes");
  return {static_cast<int64_t>(offset), std::is_pointer_v<T>};
}

/// Returns the size in cells of a struct, which is also the size of an element
/// of an array of such structs.
template <class Struct>
constexpr int64_t countCells() {
  static_assert(sizeof(Struct) % kCellBytes == 0, "an array has no padding");
  return sizeof(Struct) / kCellBytes;
}

/// Returns the indices of the cells of a struct that contain none of `fields`.
/// Code that writes a whole struct sets these cells to 0.
template <class Struct, size_t count>
llvm::SmallVector<int64_t> listOtherCells(const Field (&fields)[count]) {
  llvm::SmallVector<int64_t> cells;
  for (int64_t cell = 0; cell < countCells<Struct>(); ++cell)
    if (llvm::none_of(fields,
                      [&](Field field) { return field.cell() == cell; }))
      cells.push_back(cell);
  return cells;
}

/// Types of a function's result and arguments as letters: 'p' for a pointer,
/// 'l' for int64_t, 'v' for void.
template <class Function>
struct Signature;
template <class Result, class... Arguments>
struct Signature<Result (*)(Arguments...)> {
  template <class T>
  static constexpr char letter() {
    static_assert(std::is_void_v<T> || std::is_pointer_v<T> ||
                      std::is_same_v<T, int64_t>,
                  "compiled code passes pointers and int64_t only");
    return std::is_void_v<T> ? 'v' : std::is_pointer_v<T> ? 'p' : 'l';
  }
  static constexpr char letters[] = {letter<Result>(), letter<Arguments>()...,
                                     0};
};

/// Function that compiled code calls: the field for its address in the function
/// table, and the letters of its Signature.
struct Callee {
  Field address;
  const char *signature;
};

#define BATCH_FIELD(constant, type, field)                                     \
  inline constexpr Field constant =                                            \
      makeField<decltype(type::field)>(offsetof(type, field));

inline constexpr int64_t kQueueBytes = sizeof(BatchQueue);
BATCH_FIELD(kQueueEnd, BatchQueue, end)
BATCH_FIELD(kQueueLimit, BatchQueue, limit)

inline constexpr int64_t kSourceCells = countCells<BatchSource>();
BATCH_FIELD(kSourceBase, BatchSource, base)

/// Fields of a BatchFrame, and its size in cells. The size does not include the
/// rows that follow the frame.
inline constexpr int64_t kFrameCells = countCells<BatchFrame>();
BATCH_FIELD(kFrameOuter, BatchFrame, outer)
BATCH_FIELD(kFrameCount, BatchFrame, count)
BATCH_FIELD(kSourceRows, BatchSource, rows)

inline constexpr int64_t kOperandCells = countCells<BatchOperand>();
BATCH_FIELD(kOperandBase, BatchOperand, base)
BATCH_FIELD(kOperandRows, BatchOperand, rows)
BATCH_FIELD(kOperandOffsets, BatchOperand, offsets)
static_assert(sizeof(*BatchOperand::offsets) == kIndexBytes);

inline constexpr int64_t kStepBytes = sizeof(BatchStep);
inline constexpr int64_t kStepCells = countCells<BatchStep>();
BATCH_FIELD(kStepKernel, BatchStep, kernel)
BATCH_FIELD(kStepCount, BatchStep, count)
BATCH_FIELD(kStepOperands, BatchStep, operands)
BATCH_FIELD(kStepResults, BatchStep, results)
BATCH_FIELD(kStepScratch, BatchStep, scratch)
BATCH_FIELD(kStepBarrier, BatchStep, barrier)

inline constexpr int64_t kPlanCells = countCells<BatchPlan>();
BATCH_FIELD(kPlanSteps, BatchPlan, steps)
BATCH_FIELD(kPlanNumSteps, BatchPlan, numSteps)

BATCH_FIELD(kPlansLaunchPlans, BatchPlansLaunch, plans)
BATCH_FIELD(kPlansLaunchNumPlans, BatchPlansLaunch, numPlans)
BATCH_FIELD(kPlansLaunchPackings, BatchPlansLaunch, packings)
BATCH_FIELD(kPlansLaunchControl, BatchPlansLaunch, control)
BATCH_FIELD(kPlansLaunchBlocks, BatchPlansLaunch, blocks)
BATCH_FIELD(kPlansLaunchWatchdog, BatchPlansLaunch, watchdog)

BATCH_FIELD(kLanesLaunchContext, BatchLanesLaunch, context)
BATCH_FIELD(kLanesLaunchControl, BatchLanesLaunch, control)
BATCH_FIELD(kLanesLaunchBlocks, BatchLanesLaunch, blocks)

BATCH_FIELD(kInstancesLaunchContext, BatchInstancesLaunch, context)
BATCH_FIELD(kInstancesLaunchControl, BatchInstancesLaunch, control)
BATCH_FIELD(kInstancesLaunchBlocks, BatchInstancesLaunch, blocks)
BATCH_FIELD(kInstancesLaunchWatchdog, BatchInstancesLaunch, watchdog)

BATCH_FIELD(kIndexErrorPlace, BatchIndexError, place)
BATCH_FIELD(kIndexErrorIndex, BatchIndexError, index)
/// Offset of the BatchIndexError in the control words of a launch, in bytes.
inline constexpr int64_t kControlIndexError =
    offsetof(BatchDeviceControl, indexError);
/// Offset in bytes from the rows of a parameter to its first extent.
inline constexpr int64_t kExtentOffset = -BATCH_ROWS_PREFIX;

/// Control words of the blocks of a launch. All numbers are in bytes: the
/// offset of the first block's words, the size of each block's words, and the
/// offset of the 32-bit word `ended` in them.
inline constexpr int64_t kControlOfBlocks =
    offsetof(BatchDeviceControl, ofBlocks);
inline constexpr int64_t kBlockControlBytes = sizeof(BatchBlockControl);
inline constexpr int64_t kBlockControlEnded =
    offsetof(BatchBlockControl, ended);
static_assert(sizeof(BatchBlockControl::ended) == sizeof(int32_t));
BATCH_FIELD(kBlockControlProgress, BatchBlockControl, progress)
/// Shift of the value in the high half of `progress`.
inline constexpr int64_t kProgressShift = 32;

BATCH_FIELD(kObjectABIVersion, BatchObject, abiVersion)
BATCH_FIELD(kObjectDescriptor, BatchObject, descriptor)
BATCH_FIELD(kObjectInspect, BatchObject, inspect)
BATCH_FIELD(kObjectExecute, BatchObject, execute)
BATCH_FIELD(kObjectUnbatched, BatchObject, unbatched)
BATCH_FIELD(kObjectDeviceCode, BatchObject, deviceCode)
BATCH_FIELD(kObjectDeviceCodeSize, BatchObject, deviceCodeSize)
BATCH_FIELD(kObjectEmulate, BatchObject, emulate)

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
BATCH_FIELD(kLanesLowCost, BatchLanes, lowCost)
BATCH_FIELD(kLanesStates, BatchLanes, states)
BATCH_FIELD(kLanesLastSlot, BatchLanes, lastSlot)
BATCH_FIELD(kLanesUnknownStates, BatchLanes, unknownStates)
BATCH_FIELD(kLanesTrace, BatchLanes, trace)
BATCH_FIELD(kLanesReady, BatchLanes, ready)

static_assert(sizeof(*BatchLanes::active) == kIndexBytes);

inline constexpr int64_t kVariableCells = countCells<BatchVariable>();
BATCH_FIELD(kVariableTops, BatchVariable, tops)
BATCH_FIELD(kVariableStack, BatchVariable, stack)
BATCH_FIELD(kVariableDepths, BatchVariable, depths)

BATCH_FIELD(kUnitOwn, BatchUnit, own)
BATCH_FIELD(kUnitCommon, BatchUnit, common)
BATCH_FIELD(kUnitNumInstances, BatchUnit, numInstances)
BATCH_FIELD(kUnitMaxRounds, BatchUnit, maxRounds)
BATCH_FIELD(kUnitEnds, BatchUnit, ends)
BATCH_FIELD(kUnitTasks, BatchUnit, tasks)
BATCH_FIELD(kUnitShares, BatchUnit, shares)
BATCH_FIELD(kUnitBatches, BatchUnit, batches)
BATCH_FIELD(kUnitSharedBatches, BatchUnit, sharedBatches)
BATCH_FIELD(kUnitBarriers, BatchUnit, barriers)
BATCH_FIELD(kUnitCopiedBytes, BatchUnit, copiedBytes)
BATCH_FIELD(kUnitNodeRows, BatchUnit, nodeRows)
BATCH_FIELD(kUnitNodeResults, BatchUnit, nodeResults)
BATCH_FIELD(kUnitTrace, BatchUnit, trace)

/// Bit fields of a handle.
inline constexpr int64_t kHandleDepthShift = 32;
inline constexpr int64_t kHandleDepthMask = 0x7fffff;
inline constexpr int64_t kHandleGhost = int64_t(1) << 55;
inline constexpr int64_t kHandleTagShift = 56;
inline constexpr int64_t kHandleSourceTag = 128;

#undef BATCH_FIELD

} // namespace mlir::batch::abi

#endif // BATCH_TARGET_ABI_ABILAYOUT_H
