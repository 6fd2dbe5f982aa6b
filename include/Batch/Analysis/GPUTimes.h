//===- GPUTimes.h - Times measured on a GPU ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Table of times that passes use to choose strategies, levels, loop orders and
// executors for GPUs. The estimates of `count-rows` are based on separate
// latencies (WorkCounts.cpp). The GPU is an NVIDIA H200. Results of benchmarks
// on this GPU are stored in benchmarks/results/gpu-first-hour-2026-11-27.json.
// The times of the barriers and of the empty step are measured (`barriers` in
// that file). The host time comes from an earlier measurement. The clock rate,
// the number of multiprocessors and the cache size are properties of the chip.
// All other values are fitted to `control` in that file.
// test/Integration/check_gpu_choices.py compares estimates with the stored
// results.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_GPUTIMES_H
#define BATCH_ANALYSIS_GPUTIMES_H

namespace mlir::batch::gpu_times {

/// Cycles of a multiprocessor per nanosecond.
inline constexpr double kClock = 1.98;
/// Number of multiprocessors. Each one runs one block.
inline constexpr int kBlocks = 132;

// The following times are in nanoseconds.

/// Times of a barrier of all blocks, and of a barrier of the blocks of a
/// cluster.
inline constexpr double kDeviceBarrier = 1390, kClusterBarrier = 557;
/// Time of a step without tasks.
inline constexpr double kStep = 556;
/// Additional host time for each step of a plan.
inline constexpr double kHostStep = 400;
/// Time that a step of a program for instances takes in addition to kStep. In
/// this time, the first thread stores the addresses of rows, and the other
/// threads load them.
inline constexpr double kSite = 2900;
/// Additional time of a reduction that waits for a reduction of other blocks,
/// without the time of the barrier at which it waits. The loads of the
/// reduction depend on each other, and the elementwise ops between the two
/// reductions form a stage.
inline constexpr double kStage = 1700;

// The following rates are those of one block, per nanosecond.

/// Bytes from the L2 cache, and bytes from global memory.
inline constexpr double kCacheBytes = 37, kMemoryBytes = 32;
/// Operations on elements in products whose factors are in shared memory.
inline constexpr double kOperations = 150;

/// Size of the L2 cache in bytes.
inline constexpr double kCache = 50 << 20;

} // namespace mlir::batch::gpu_times

#endif // BATCH_ANALYSIS_GPUTIMES_H
