//===- BlockPolicy.h - A learned choice of blocks ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state machine that picks the next block of a lockstep program. The choices
// do not change the blocks that an instance runs, so the state machine is
// learned from paths that were recorded once. Independent of the IR: the
// runtime links it, and the compiler generates code that reads its table.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_BLOCKPOLICY_H
#define BATCH_RUNTIME_SCHEDULE_BLOCKPOLICY_H

#include "batch-runtime/Schedule/StateMachine.h"

namespace batchrt {

/// A program, and the paths of its instances.
struct LanePaths {
  std::vector<std::string> blocks; ///< their names
  std::vector<int64_t> costs;      ///< relative cost of running each block
  std::vector<std::vector<int32_t>> paths; ///< for each instance: the blocks it
                                           ///< runs
};

/// A block has low cost if it costs less than the maximum cost divided by this
/// number. Blocks of low cost run first, in program order; states describe only
/// the other blocks.
constexpr int64_t lowCostShare = 64;
int64_t lowCostBelow(const std::vector<int64_t> &costs);

/// The hash of a state starts at this factor. Each item of the state sets
/// `hash = (hash ^ item) * stateHashFactor`. The final hash is never 0.
constexpr uint64_t stateHashFactor = 0x9e3779b97f4a7c15;
int64_t hashOf(const State &state);
/// Returns a state machine as a hash table. Bits 32 and up of a state's hash
/// select its slot. If another state is in that slot, the state is in the next
/// free one. A slot stores a hash and a block, or 0 and -1 if it is free. The
/// number of slots is a power of two.
std::vector<int64_t> makeStateTable(const StateMachine &stateMachine);

/// Returns the cost of the steps of a run in which lanes take instances one by
/// one. In unknown states, the block with the lowest total cost so far runs.
int64_t costOfRun(const LanePaths &program, int64_t lanes,
                  const StateMachine &stateMachine);

struct BlockLearningOptions {
  uint64_t seed = 1;
  int32_t trials = 200; ///< maximum number of trials
  /// Trials between two checks of the table. Learning ends after two
  /// consecutive checks without improvement.
  int32_t checkEvery = 20;
  double rate = 0.2, discount = 0.98;
  int32_t steps = 16; ///< number of rewards that an update adds up
  /// Share of random choices in the first and in the last trial.
  double explore = 0.3, exploreLast = 0.02;
};

struct LearnedBlocks {
  StateMachine stateMachine;
  /// Total costs over all numbers of lanes, with and without the state machine.
  int64_t cost = 0, costWithout = 0;
  int32_t trials = 0;
};

/// Learns from runs with different numbers of lanes. The same paths and seed
/// give the same state machine.
LearnedBlocks learnBlocks(const LanePaths &program,
                          const std::vector<int64_t> &lanes,
                          const BlockLearningOptions &options = {});

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_BLOCKPOLICY_H
