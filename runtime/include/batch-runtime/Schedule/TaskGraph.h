//===- TaskGraph.h - Tasks, their operands and batches ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input and output of policies: a graph of tasks, and a sequence of
// batches. Independent of the IR, so the runtime and the compiler can link it.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_TASKGRAPH_H
#define BATCH_RUNTIME_SCHEDULE_TASKGRAPH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace batchrt {

/// Returns the number of bytes that a vector has reserved.
template <class T>
size_t reserved(const std::vector<T> &vector) {
  return vector.capacity() * sizeof(T);
}

/// Tasks in topological order. The type of a task is its kernel. A task reads
/// only results of earlier tasks.
struct TaskGraph {
  static constexpr int32_t maxTypes = 1 << 12;

  int32_t numTypes = 0;
  std::vector<uint16_t> types;
  /// Task t reads the results of operands[operandBegin[t] ...
  /// operandBegin[t+1]). A task may occur several times in this range.
  std::vector<int32_t> operandBegin{0}, operands;

  int32_t size() const { return static_cast<int32_t>(types.size()); }
  /// Appends a task and returns its number.
  int32_t add(int32_t type, const std::vector<int32_t> &reads);
  /// Appends the tasks of another graph.
  void append(const TaskGraph &other);
  void clear();
  /// Returns a description of an error in the graph, or an empty string if
  /// there is none.
  std::string check() const;
};

/// Tasks of one type that run together: `count` entries of Schedule::order,
/// starting at `begin`.
struct Batch {
  int32_t type, begin, count;
};

struct Schedule {
  /// Tasks, sorted by type, and within a type in the order in which they run.
  std::vector<int32_t> order;
  /// Batches in the order in which they run.
  std::vector<Batch> batches;

  /// Returns a description of an error in the schedule, or an empty string if
  /// it is legal: every task must run exactly once, in a batch of its type,
  /// after all tasks whose results it reads.
  std::string verify(const TaskGraph &graph) const;
};

/// Returns a lower bound on the number of batches: the sum, over all types, of
/// the maximum number of tasks of the type on one path (ED-Batch, A.3). Paths
/// may lead through tasks of other types.
int64_t lowerBound(const TaskGraph &graph);

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_TASKGRAPH_H
