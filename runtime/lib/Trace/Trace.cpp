//===- Trace.cpp - Pictures of a run --------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Trace.h"
#include "batch-runtime/Error.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

using namespace batchrt;

void batchrt::writeTrace(const std::string &path, const Descriptor &descriptor,
                         const std::vector<std::vector<StepTime>> &batches) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  double begin = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    double end = begin;
    for (size_t s = 0; s < batches[b].size(); ++s) {
      const StepTime &step = batches[b][s];
      events.push_back(
          {{"name", descriptor.kernels[step.kernel].name},
           {"ph", "X"},
           {"pid", 0},
           {"tid", 0},
           {"ts", begin + step.begin},
           {"dur", step.end - step.begin},
           {"args", {{"mini_batch", b}, {"step", s}, {"tasks", step.count}}}});
      end = begin + step.end;
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

void batchrt::writeTaskGraph(const std::string &path, const Session &session) {
  const Descriptor &descriptor = session.descriptor();
  const TaskOrder &order = session.plan()->order();
  const DepthScheduler &schedule = order.schedule();
  writeFileAtomically(path, [&](const auto &write) {
    auto print = [&](const auto &...parts) {
      std::string text = concat(parts...);
      write(text.data(), text.size());
    };
    print("digraph tasks {\n  rankdir=BT;\n"
          "  node [shape=box, style=filled, colorscheme=set312];\n");
    // Tasks are named by their place in the schedule.
    std::unordered_map<int64_t, int64_t> names;
    for (int32_t s : schedule.sequence())
      order.forEachTask(s, [&](int64_t position, const int64_t *record) {
        names[taskOf(record[0])] = position;
      });
    int64_t last = -1;
    for (size_t i = 0; i < schedule.sequence().size(); ++i) {
      const DepthStep &step = schedule.steps()[schedule.sequence()[i]];
      const KernelInfo &kernel = descriptor.kernels[step.kernel];
      order.forEachTask(
          schedule.sequence()[i], [&](int64_t name, const int64_t *record) {
            if (name == last)
              return; // a constant task of another part
            last = name;
            print("  t", name, " [label=\"", kernel.name, "\\n", name, " @",
                  step.depth, "\", fillcolor=", i % 12 + 1, ", tooltip=\"step ",
                  i, "\"];\n");
            auto edge = [&](int64_t handle, int) {
              if (taskOf(handle) >= 0)
                print("  t", names[taskOf(handle)], " -> t", name, ";\n");
            };
            RecordedTasks::forEachRead(kernel, record,
                                       session.context().listPool, edge);
          });
    }
    print("}\n");
  });
}
