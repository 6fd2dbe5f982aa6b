//===- Search.h - The fewest batches of a task graph ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// How good can a policy be? Searches over the sequences of types, far too slow
// for scheduling. Free of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_SEARCH_H
#define BATCH_RUNTIME_SCHEDULE_SEARCH_H

#include "batch-runtime/Schedule/TaskGraph.h"

namespace batchrt {

/// Types of batches in order, for PolicyScheduler::replay().
struct Found {
  std::vector<int32_t> types;
  /// True if no schedule has fewer batches; false if one may.
  bool optimal = false;
};

/// A beam of `width` frontiers, of equally many batches each.
Found searchBeam(const TaskGraph &graph, int32_t width);
/// Branch and bound, from the beam's result down. Gives up after `most`
/// frontiers; the best so far is then not called optimal.
Found searchExact(const TaskGraph &graph, int64_t most = 1 << 20);

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_SEARCH_H
