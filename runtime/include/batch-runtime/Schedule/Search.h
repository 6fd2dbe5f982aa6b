//===- Search.h - Search for the best schedule ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Searches over sequences of types for the best schedule that a policy can
// reach. The search is far too slow to be used as a policy. Independent of the
// IR.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_SEARCH_H
#define BATCH_RUNTIME_SCHEDULE_SEARCH_H

#include "batch-runtime/Schedule/TaskGraph.h"

namespace batchrt {

/// Types of batches in order, for PolicyScheduler::replay().
struct Found {
  std::vector<int32_t> types;
  /// True if no schedule has fewer batches; false if this is not known.
  bool optimal = false;
};

/// Runs a beam search. A beam has at most `width` frontiers, which are all
/// reached with the same number of batches.
Found searchBeam(const TaskGraph &graph, int32_t width);
/// Searches by branch and bound, starting from the result of a beam search.
/// Gives up after `most` frontiers; the best schedule so far is then not marked
/// optimal.
Found searchExact(const TaskGraph &graph, int64_t most = 1 << 20);

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_SEARCH_H
