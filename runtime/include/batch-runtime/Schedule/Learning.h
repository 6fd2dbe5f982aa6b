//===- Learning.h - Learns which batch to run next --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Tabular Q-learning with N-step bootstrapping (ED-Batch, section 2.3). The
// same graphs and seed give the same state machine. Independent of the IR.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_LEARNING_H
#define BATCH_RUNTIME_SCHEDULE_LEARNING_H

#include "batch-runtime/Schedule/StateMachine.h"

#include <array>

namespace batchrt {

/// Number of instances to learn from, in mini-batches of several sizes, because
/// the table must work for any size.
constexpr int32_t learnedInstances = 32;
constexpr std::array<int32_t, 3> learnedBatches = {32, 16, 8};

/// Options that are the same for all models. The numbers in
/// benchmarks/policies/README.md are measured with the defaults.
struct LearningOptions {
  uint64_t seed = 1;
  int32_t trials = 300; ///< maximum number of trials
  /// Trials between two checks of the policy. Learning ends if the policy
  /// reaches the lower bound.
  int32_t checkEvery = 25;
  /// Weight of the ratio in the reward of a batch: -1 + weight * ratio.
  double ratioWeight = 0.5;
  double rate = 0.3, discount = 0.95;
  int32_t steps = 8; ///< number of rewards that an update adds up
  /// Share of random choices in the first and in the last trial.
  double explore = 0.5, exploreLast = 0.02;
  /// A learned policy replaces an earlier one only if the number of batches
  /// that it saves is at least this many standard deviations. A smaller saving
  /// may be due to chance, and then does not occur on other graphs.
  double deviations = 2;
};

struct Learned {
  StateMachine stateMachine;
  /// The number of batches with the state machine, and the lower bound on this
  /// number, each summed over all graphs.
  int64_t batches = 0, bound = 0;
  int32_t trials = 0;
};

/// Learns from graphs of one program. `types` are the names of its types.
Learned learn(const std::vector<TaskGraph> &graphs,
              const std::vector<std::string> &types, Encoding encoding,
              const LearningOptions &options = {});
/// Learns with the encodings urgency, sort, base, max and share, in this order,
/// and returns the first result that no later one improves on significantly. If
/// there is nothing to decide, the encoding is base, which needs the least
/// space.
Learned learn(const std::vector<TaskGraph> &graphs,
              const std::vector<std::string> &types,
              const LearningOptions &options = {});

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_LEARNING_H
