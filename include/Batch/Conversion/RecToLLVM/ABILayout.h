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

/// The parts of a handle.
inline constexpr int64_t kHandleDepthShift = 32;
inline constexpr int64_t kHandleDepthMask = 0xffffff;
inline constexpr int64_t kHandleTagShift = 56;
inline constexpr int64_t kHandleSourceTag = 128;

} // namespace mlir::batch::abi

#endif // BATCH_CONVERSION_RECTOLLVM_ABILAYOUT_H
