//===- RecordedTasks.h - The task graph of a mini-batch ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_RECORDEDTASKS_H
#define BATCH_RUNTIME_RECORDEDTASKS_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Forest.h"
#include "batch-runtime/Schedule/Policies.h"

namespace batchrt {

/// The records of inspectors as a task graph, whose types are the kernels. The
/// next mini-batch reuses its memory.
class RecordedTasks {
public:
  explicit RecordedTasks(const Descriptor &descriptor);

  /// Reads the records of all parts. `begins` contains the first task of each
  /// part; tasks before it have run already. The tasks of the graph are
  /// numbered part after part, and within a part in recorded order.
  const TaskGraph &read(const std::vector<BatchContext *> &contexts,
                        const std::vector<int64_t> &begins);

  /// Turns a schedule into a schedule of the depth policy: writes depths into
  /// the records just read. Each batch has its own depth, except that
  /// consecutive batches that do not read each other's results share a depth.
  void writeDepths(const Schedule &schedule);

  /// Computes depths and writes them into the records just read. A task's depth
  /// is one more than the greatest depth of the tasks that it reads in its own
  /// phase, or 0 if it reads none.
  void writeDepths();

  /// Calls `body(handle, table)` for the tensors that a task of a kernel reads,
  /// except through operands that gather rows of a source. `table` is the table
  /// of the operand, or -1. `lists` is the context's list pool.
  template <class Body>
  static void forEachRead(const KernelInfo &kernel, const int64_t *record,
                          const int64_t *lists, const Body &body);

  /// Calls `body(handle)` for each tensor that a task reads through `operand`.
  template <class Body>
  static void forEachHandle(const OperandInfo &operand, const int64_t *record,
                            const int64_t *lists, const Body &body);

  size_t bytes() const;

private:
  template <class Body>
  void forEachRecord(const Body &body) const;

  const Descriptor &descriptor;
  std::vector<BatchContext *> contexts; ///< contexts of the records last read
  std::vector<int64_t> begins;          ///< number of each part's first task,
                                        ///< as recorded
  std::vector<int64_t> firstTasks;      ///< number of each part's first task,
                                        ///< in the graph
  TaskGraph graph;
  std::vector<int32_t> batchOf; ///< for each task: its batch or its depth
  std::vector<int32_t> depths;  ///< indexed by batch
};

template <class Body>
void RecordedTasks::forEachHandle(const OperandInfo &operand,
                                  const int64_t *record, const int64_t *lists,
                                  const Body &body) {
  int64_t cell = record[operand.cell];
  if (!operand.ragged) {
    body(cell);
    return;
  }
  const int64_t *entries = lists + listFirst(cell);
  for (int64_t e = 0; e < listLength(cell); ++e)
    body(entries[e]);
}

template <class Body>
void RecordedTasks::forEachRead(const KernelInfo &kernel, const int64_t *record,
                                const int64_t *lists, const Body &body) {
  for (const OperandInfo &operand : kernel.operands) {
    if (operand.kind == OperandInfo::Scalar ||
        (operand.kind == OperandInfo::Gather && operand.table < 0))
      continue;
    forEachHandle(operand, record, lists,
                  [&](int64_t handle) { body(handle, operand.table); });
  }
}

} // namespace batchrt

#endif // BATCH_RUNTIME_RECORDEDTASKS_H
