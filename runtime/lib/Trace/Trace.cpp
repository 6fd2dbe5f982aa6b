//===- Trace.cpp - Pictures of a run --------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Trace.h"
#include "batch-runtime/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace batchrt;

/// What a step runs, in a word.
static const std::string &describeStep(const Descriptor &descriptor,
                                       const StepTime &step) {
  static const std::string barrier = "barrier";
  if (step.kernel < 0)
    return barrier;
  return descriptor.lockstep ? descriptor.lockstep->blocks[step.kernel].name
                             : descriptor.kernels[step.kernel].name;
}

void batchrt::writeTrace(const std::string &path, const Descriptor &descriptor,
                         const std::vector<std::vector<StepTime>> &batches) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  double begin = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    double end = begin;
    for (size_t s = 0; s < batches[b].size(); ++s) {
      const StepTime &step = batches[b][s];
      nlohmann::ordered_json about = {
          {"mini_batch", b}, {"step", s}, {"tasks", step.count}};
      if (descriptor.waits)
        about["flush"] = step.flush;
      if (descriptor.replicate)
        about["run"] = step.run;
      if (descriptor.lockstep || descriptor.replicate)
        about["room"] = step.room;
      events.push_back({{"name", describeStep(descriptor, step)},
                        {"ph", "X"},
                        {"pid", 0},
                        {"tid", step.worker},
                        {"ts", begin + step.begin},
                        {"dur", step.end - step.begin},
                        {"args", about}});
      end = std::max(end, begin + step.end);
    }
    begin = end;
  }
  std::string text =
      nlohmann::ordered_json{{"traceEvents", events}, {"displayTimeUnit", "ns"}}
          .dump();
  writeFileAtomically(path, [&](const auto &write) {
    write(text.data(), text.size());
    write("\n", 1);
  });
}

void TaskPicture::begin() { *this = TaskPicture(); }

void TaskPicture::look(const RunView &run, const Plan &plan) {
  drawReads(run);
  const TaskOrder &order = plan.order();
  const DepthScheduler &schedule = order.schedule();
  const int64_t first = tasks;
  tasks += order.numTasks();
  for (int32_t s : schedule.sequence())
    order.forEachTask(s, [&](int64_t position, const int64_t *record) {
      names[taskOf(record[0])] = first + position;
    });
  const bool clusters = run.descriptor.waits;
  if (clusters)
    nodes += concat("  subgraph cluster_", steps,
                    " {\n    labeljust=l;\n    label=\"flush ", run.flush,
                    run.deferred ? ", deferred" : "", "\";\n");
  int64_t last = -1;
  for (int32_t s : schedule.sequence()) {
    const DepthStep &step = schedule.steps()[s];
    const KernelInfo &kernel = run.descriptor.kernels[step.kernel];
    order.forEachTask(s, [&](int64_t position, const int64_t *record) {
      if (position == last)
        return; // a constant task of another part
      last = position;
      const int64_t name = first + position;
      nodes += concat("  t", name, " [label=\"", kernel.name, "\\n", name, " @",
                      step.depth, "\", fillcolor=", steps % 12 + 1,
                      ", tooltip=\"step ", steps, "\"];\n");
      auto edge = [&](int64_t handle, int) {
        if (taskOf(handle) >= 0)
          edges += concat("  t", names[taskOf(handle)], " -> t", name, ";\n");
      };
      RecordedTasks::forEachRead(kernel, record, run.contexts.front()->listPool,
                                 edge);
    });
    ++steps;
  }
  if (clusters)
    nodes += "  }\n";
}

void TaskPicture::end(const RunView &run) { drawReads(run); }

void TaskPicture::drawReads(const RunView &run) {
  std::set<int64_t> read; // in one order for any number of workers
  for (const ReadTensor &tensor : run.reads)
    if (taskOf(tensor.handle) >= 0)
      read.insert(names[taskOf(tensor.handle)]);
  for (int64_t name : read)
    edges += concat("  t", name, " [peripheries=2];\n");
}

void TaskPicture::write(const std::string &path) const {
  const std::string text =
      concat("digraph tasks {\n  rankdir=BT;\n"
             "  node [shape=box, style=filled, colorscheme=set312];\n",
             nodes, edges, "}\n");
  writeFileAtomically(
      path, [&](const auto &write) { write(text.data(), text.size()); });
}
