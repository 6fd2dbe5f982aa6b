//===- Executor.cpp - Executors of mini-batches ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "batch-runtime/Error.h"

using namespace batchrt;

void batchrt::addTrace(std::vector<StepTime> &times, const UnitTrace &trace,
                       std::chrono::steady_clock::time_point begin,
                       std::chrono::steady_clock::time_point end) {
  auto toTime = [&](std::chrono::steady_clock::time_point time) {
    return std::chrono::duration<double, std::micro>(time - begin).count();
  };
  for (size_t i = 0; i < trace.size(); ++i) {
    const bool isLast = i + 1 == trace.size();
    times.push_back({trace[i].kernel, trace[i].tasks, toTime(trace[i].begin),
                     toTime(isLast ? end : trace[i + 1].begin)});
  }
}

namespace {
/// Control flow of an object: plans of tasks, lanes in lockstep, or single
/// instances.
enum class Control { Plans, Lanes, Instances };

struct Kind {
  Control control;
  bool device; ///< true: a kernel on a device; false: the host's workers
  std::unique_ptr<Executor> (*make)(MiniBatch &, const BoundParameters &);
};
} // namespace

static constexpr Kind kinds[] = {
    {Control::Plans, /*device=*/false, makeWorkerPlans},
    {Control::Plans, /*device=*/true, makeDevicePlans},
    {Control::Lanes, /*device=*/false, makeWorkerLanes},
    {Control::Lanes, /*device=*/true, makeDeviceLanes},
    {Control::Instances, /*device=*/false, makeWorkerInstances},
    {Control::Instances, /*device=*/true, makeDeviceInstances},
};

static Control getControl(const Descriptor &info) {
  if (info.replicate)
    return Control::Instances;
  return info.lockstep ? Control::Lanes : Control::Plans;
}

std::unique_ptr<Executor>
batchrt::makeExecutor(MiniBatch &batch, const BoundParameters &parameters) {
  const Descriptor &info = batch.descriptor();
  for (const Kind &kind : kinds)
    if (kind.control == getControl(info) &&
        kind.device == info.launch.has_value())
      return kind.make(batch, parameters);
  raise("no executor supports this kind of object");
}

void Executor::prepareStream(InstanceStream &) {
  const OptionNames names = batch.options.lockstep.names;
  raise("streams of instances are only supported in lockstep on the host; "
        "compile the model with ",
        compilerOption(names, "strategy", "lockstep"), " and ",
        compilerOption(names, "device", "cpu"));
}

void Executor::raiseNoTrace(const char *why) const {
  const OptionNames names = batch.options.lockstep.names;
  raise("tracing is not supported on devices", why, "; ",
        names == OptionNames::Tools ? "omit --trace or " : "", "use ",
        compilerOption(names, "device", "cpu"));
}

void Executor::setPolicy(Policy, StateMachine) {
  raise("cannot set a policy, because this object does not run plans of tasks");
}

void Executor::setBlockPolicy(StateMachine) {
  raise("cannot set a block policy, because this object does not run in "
        "lockstep");
}

const std::vector<KernelCounts> &Executor::kernelCounts() const {
  static const std::vector<KernelCounts> none;
  return none;
}
