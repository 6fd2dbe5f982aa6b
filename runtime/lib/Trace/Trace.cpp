//===- Trace.cpp - Pictures of a run --------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Trace.h"
#include "batch-runtime/Error.h"

#include <nlohmann/json.hpp>

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
  const Plan &plan = session.plan();
  const DepthScheduler &schedule = plan.schedule();
  writeFileAtomically(path, [&](const auto &write) {
    auto print = [&](const auto &...parts) {
      std::string text = concat(parts...);
      write(text.data(), text.size());
    };
    print("digraph tasks {\n  rankdir=BT;\n"
          "  node [shape=box, style=filled, colorscheme=set312];\n");
    for (size_t i = 0; i < schedule.sequence().size(); ++i) {
      const DepthStep &step = schedule.steps()[schedule.sequence()[i]];
      const TaskQueue &queue = plan.queues()[step.kernel];
      const KernelInfo &kernel = descriptor.kernels[step.kernel];
      for (int64_t j = step.begin; j < step.begin + step.count; ++j) {
        int64_t record = schedule.order()[j];
        uint32_t task = queue.task(record);
        print("  t", task, " [label=\"", kernel.name, "\\n", task, " @",
              step.depth, "\", fillcolor=", i % 12 + 1, ", tooltip=\"step ", i,
              "\"];\n");
        auto edge = [&](int64_t handle) {
          if (Plan::taskOf(handle) >= 0)
            print("  t", Plan::taskOf(handle), " -> t", task, ";\n");
        };
        const int64_t *cells = queue.records + record * queue.recordCells;
        for (size_t o = 0; o < kernel.operands.size(); ++o) {
          const OperandInfo &operand = kernel.operands[o];
          if (operand.kind == OperandInfo::Scalar ||
              (operand.kind == OperandInfo::Gather && operand.table < 0))
            continue;
          if (!operand.ragged) {
            edge(cells[operand.cell]);
            continue;
          }
          const int64_t *entries =
              session.context().listPool + listFirst(cells[operand.cell]);
          for (int64_t e = 0; e < listLength(cells[operand.cell]); ++e)
            edge(entries[e]);
        }
      }
    }
    print("}\n");
  });
}
