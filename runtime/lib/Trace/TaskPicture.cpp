//===- TaskPicture.cpp - The tasks of a mini-batch ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/TaskPicture.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/OutputFile.h"
#include "batch-runtime/Plan.h"

using namespace batchrt;

void TaskPicture::begin() { *this = TaskPicture(); }

void TaskPicture::look(const RunView &run, const Plan &plan) {
  markReads(run);
  const TaskOrder &order = plan.order();
  const DepthScheduler &schedule = order.schedule();
  const auto first = static_cast<int64_t>(all.size());
  all.resize(all.size() + order.numTasks());
  for (int32_t s : schedule.sequence())
    order.forEachTask(s, [&](int64_t position, const int64_t *record) {
      places[taskOf(record[0])] = first + position;
    });
  int64_t last = -1;
  for (int32_t s : schedule.sequence()) {
    const DepthStep &step = schedule.steps()[s];
    const KernelInfo &kernel = run.descriptor.kernels[step.kernel];
    order.forEachTask(s, [&](int64_t position, const int64_t *record) {
      if (position == last)
        return; // a constant task of another part
      last = position;
      Task &task = all[first + position];
      task = {taskOf(record[0]), step.kernel,  batches, step.depth,
              run.flush,         run.deferred, false,   {}};
      auto read = [&](int64_t handle, int) {
        if (taskOf(handle) >= 0)
          task.reads.push_back(places[taskOf(handle)]);
      };
      RecordedTasks::forEachRead(kernel, record, run.contexts.front()->listPool,
                                 read);
    });
    ++batches;
  }
}

void TaskPicture::end(const RunView &run) { markReads(run); }

void TaskPicture::markReads(const RunView &run) {
  for (const ReadTensor &tensor : run.reads)
    if (taskOf(tensor.handle) >= 0)
      all[places[taskOf(tensor.handle)]].isRead = true;
}

void TaskPicture::write(const std::string &path,
                        const Descriptor &descriptor) const {
  std::string nodes, edges;
  for (size_t t = 0; t < all.size(); ++t) {
    const Task &task = all[t];
    const bool begins = t == 0 || all[t - 1].flush != task.flush ||
                        all[t - 1].deferred != task.deferred;
    if (descriptor.waits && begins)
      nodes += concat(t == 0 ? "" : "  }\n", "  subgraph cluster_", task.batch,
                      " {\n    labeljust=l;\n    label=\"flush ", task.flush,
                      task.deferred ? ", deferred" : "", "\";\n");
    nodes +=
        concat("  t", t, " [label=\"", descriptor.kernels[task.kernel].name,
               "\\n", t, " @", task.depth,
               "\", fillcolor=", task.batch % 12 + 1, ", tooltip=\"step ",
               task.batch, task.isRead ? "\", peripheries=2];\n" : "\"];\n");
    for (int64_t read : task.reads)
      edges += concat("  t", read, " -> t", t, ";\n");
  }
  if (descriptor.waits && !all.empty())
    nodes += "  }\n";
  const std::string text =
      concat("digraph tasks {\n  rankdir=BT;\n"
             "  node [shape=box, style=filled, colorscheme=set312];\n",
             nodes, edges, "}\n");
  writeFile(path, text);
}
