//===- GPUTimes.h - Times measured on a GPU ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only table of times from which passes choose strategies, levels, orders
// of loops and executors for GPUs. All were measured on one NVIDIA H200, whose
// results are benchmarks/results/gpu-first-hour-2026-11-27.json: part
// `barriers` has the barriers and the step, and the others are fitted to part
// `control`. test/Integration/check_gpu_choices.py compares estimates with
// these results.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_GPUTIMES_H
#define BATCH_ANALYSIS_GPUTIMES_H

namespace mlir::batch::gpu_times {

/// Cycles of a multiprocessor in a nanosecond.
inline constexpr double kClock = 1.98;
/// Multiprocessors, each of which runs one block.
inline constexpr int kBlocks = 132;

// Nanoseconds.

/// A barrier of all blocks, and one of the blocks of a cluster.
inline constexpr double kDeviceBarrier = 1390, kClusterBarrier = 557;
/// A step without tasks.
inline constexpr double kStep = 556;
/// What a step of a plan adds to the time of the host.
inline constexpr double kHostStep = 400;
/// A step of a program for instances, whose first thread stores the addresses
/// of rows and whose others load them: what it takes more than an empty step.
inline constexpr double kSite = 2900;
/// A reduction that waits for one of other blocks, besides the barrier: its
/// loads depend on each other, and elements between the two are a stage.
inline constexpr double kStage = 1700;

// Of one block, in a nanosecond.

/// Bytes from the L2 cache, and from memory behind it.
inline constexpr double kCacheBytes = 37, kMemoryBytes = 32;
/// Operations on elements, of products that read factors from shared memory.
inline constexpr double kOperations = 150;

/// Bytes of the L2 cache.
inline constexpr double kCache = 50 << 20;

} // namespace mlir::batch::gpu_times

#endif // BATCH_ANALYSIS_GPUTIMES_H
