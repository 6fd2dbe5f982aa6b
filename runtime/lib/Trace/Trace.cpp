//===- Trace.cpp - Pictures of a run --------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Trace.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/OutputFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace batchrt;

/// Returns the name of the block or kernel of a step, or "barrier".
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
        about["capacity"] = step.capacity;
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
  writeFile(path, text + "\n");
}
