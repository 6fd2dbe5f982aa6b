//===- Batching.h - Batches of operators in a static block ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups the operators of a static block into batches so that batches and
// gather copies need the fewest launches (ED-Batch, section 3: a grid search
// over batching orders, then the layout). Does not depend on IR.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LAYOUT_BATCHING_H
#define BATCH_LAYOUT_BATCHING_H

#include "Batch/Layout/Layout.h"

namespace batchrt {

/// Operators of one kind have equal numbers of operands and results, with equal
/// shapes, and can run as one batch.
struct Operator {
  int32_t kind;
  std::vector<int32_t> operands;
  std::vector<int32_t> results;
};

/// Straight-line code: an operator follows the operators that write its
/// operands. Every variable is written at most once; variables that are never
/// written are inputs and parameters.
struct StaticBlock {
  std::vector<Variable> variables;
  std::vector<Operator> operators;
};

/// Indices of the operators of each batch, in the order in which the batches
/// run.
using OperatorBatches = std::vector<std::vector<int32_t>>;

struct BatchingOptions {
  /// See LayoutProblem::sharedReads.
  bool sharedReads = false;
  /// If true, a batch may be a subset of the ready operators of a kind.
  /// Otherwise, a batch contains all of them, as in ED-Batch.
  bool subsets = true;
  /// Limits of the search. Beyond maxStates, the search extends each state only
  /// greedily. Beyond maxPaths, it returns the best layout found so far.
  int64_t maxStates = 2000;
  int64_t maxPaths = 20000;
};

struct Batching {
  OperatorBatches batches;
  Layout layout;
  /// True if the search space contains no better batching.
  bool isBest = true;
  int64_t states = 0;
  int64_t layouts = 0;

  int64_t launches() const {
    return static_cast<int64_t>(batches.size() + layout.copies.size());
  }
};

/// Returns a description of the first error in a block, or an empty string if
/// there is none.
std::string checkBlock(const StaticBlock &block);

/// Returns the layout problem of `batches`. The accesses of a batch are its
/// operands, followed by its results.
LayoutProblem layoutProblem(const StaticBlock &block,
                            const OperatorBatches &batches,
                            bool sharedReads = false);

/// Finds the batches that need the fewest launches, including those of gather
/// copies. Among such batches, finds those that copy the fewest bytes. A batch
/// contains all ready operators of a kind, or a subset of these operators. In a
/// subset, the first operands of the operators are different variables, as are
/// their second operands, and so on. If shared reads are free, a batch may also
/// consist of operators that share a variable at one position, for example as
/// their first operand. Such a batch contains all ready operators of a kind
/// that share this variable.
Batching findBatching(const StaticBlock &block,
                      const BatchingOptions &options = {});

/// Returns a description of the first error in batches, or an empty string if
/// they are legal. In legal batches, every operator runs exactly once, after
/// the operators that write its operands, and only in a batch of operators of
/// its kind.
std::string verifyBatches(const StaticBlock &block,
                          const OperatorBatches &batches);

} // namespace batchrt

#endif // BATCH_LAYOUT_BATCHING_H
