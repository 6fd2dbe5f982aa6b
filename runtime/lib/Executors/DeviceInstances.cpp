//===- DeviceInstances.cpp - Single instances on a device -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"
#include "InstanceExecutor.h"
#include "InstanceImage.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/StageRows.h"

#include <cstring>

using namespace batchrt;

namespace {
/// Runs a program of single instances with one launch of its persistent kernel.
class DeviceInstances : public InstanceExecutor {
public:
  DeviceInstances(MiniBatch &batch, const BoundParameters &parameters)
      : InstanceExecutor(batch), parameters(parameters), image(descriptor()) {}

  void inspect() override {
    if (!runs)
      runs =
          std::make_unique<DeviceRuns>(batch.object, parameters, batch.options);
  }
  void prepare() override { prepareInstances(); }
  void run(ResultCopies copies) override;
  double runTimed() override;
  std::vector<StepTime> runTraced() override {
    raiseNoTrace(", which run a whole mini-batch in one launch");
  }
  RunCounters counters() const override;
  void addMemory(MemoryUse &use) const override;

private:
  void copyResults() override;
  void readResults();
  std::string describe(int64_t progress) const;
  void readOutcome(const Watchdog &watchdog);

  const BoundParameters &parameters;
  std::unique_ptr<DeviceRuns> runs;
  InstanceImage image;
  RunCounters counted;
};
} // namespace

/// Describes the kernel of a block's most recent task, and the kernel's loop.
std::string DeviceInstances::describe(int64_t progress) const {
  const std::vector<KernelInfo> &kernels = descriptor().kernels;
  const size_t kernel = lowOf(progress);
  if (kernel >= kernels.size())
    return "control flow";
  const auto loop = info.kernelLoops.find(kernels[kernel].name);
  return concat("kernel '", kernels[kernel].name, "'",
                loop == info.kernelLoops.end() ? "" : " of " + loop->second);
}

void DeviceInstances::run(ResultCopies copies) {
  checkInstanceRows(info, batch.numInstances());
  const LaunchShape &shape = runs->shape();
  image.layOut(batch, shape.blocks);
  runs->begin(image.bytes(), image.outEnd(), image.regions());
  DeviceArena &memory = runs->memory();
  DeviceProgram &program = runs->onDevice();
  image.write(batch, program.packingRegions(), program.packings(),
              memory.staging(), memory.address());
  runs->copyIn(image.inEnd());

  Watchdog watchdog = runs->makeWatchdog(image.control(), shape.blocks);
  watchdog.executor += ", single instances";
  watchdog.describe = [&](int64_t progress) { return describe(progress); };
  BatchInstancesLaunch arguments = {};
  setAddress(arguments.context, memory.address(image.context()));
  setAddress(arguments.control, watchdog.control);
  arguments.blocks = shape.blocks;
  arguments.watchdog = static_cast<int64_t>(watchdog.nanoseconds());
  forget(); // no results until this run has succeeded
  const bool withRun = copies == ResultCopies::WithRun;
  runs->launch(shape, arguments, watchdog, image.outBegin(),
               withRun ? image.outEnd() : image.inEnd());
  readOutcome(watchdog);
  if (withRun)
    readResults();
  checkEnds();
  uncollected = !withRun;
}

/// Reads the outcome of a run, except its results.
void DeviceInstances::readOutcome(const Watchdog &watchdog) {
  const char *staging = runs->memory().staging();
  const char *control = staging + image.control();
  checkControl(control, watchdog);
  runs->checkProgress(watchdog, [&](int64_t block) {
    const BatchUnit unit = image.unit(block, staging);
    return makeProgress(unit.tasks + unit.shares, anyLow);
  });
  BatchDeviceControl words;
  std::memcpy(&words, control, sizeof(words));
  batch.indexError = words.indexError;
  std::copy_n(image.ends(staging), ends.size(), ends.begin());
  counted = {};
  for (int64_t u = 0; u < watchdog.blocks; ++u)
    addCounts(counted, image.unit(u, staging), u == 0);
  counted.barriers += words.ofBlocks[0].arrivals;
}

void DeviceInstances::readResults() {
  DeviceArena &memory = runs->memory();
  image.readResults(batch, runs->onDevice().packingRegions(), memory.staging(),
                    memory.address());
}

void DeviceInstances::copyResults() {
  runs->copyOut(image.inEnd(), image.outEnd());
  readResults();
}

double DeviceInstances::runTimed() {
  run(ResultCopies::WhenCollected);
  return runs->kernelTime();
}

RunCounters DeviceInstances::counters() const {
  RunCounters counters = counted;
  if (runs)
    runs->addCounters(counters);
  return counters;
}

void DeviceInstances::addMemory(MemoryUse &use) const {
  InstanceExecutor::addMemory(use);
  if (runs)
    use.device += runs->bytes();
}

std::unique_ptr<Executor>
batchrt::makeDeviceInstances(MiniBatch &batch,
                             const BoundParameters &parameters) {
  return std::make_unique<DeviceInstances>(batch, parameters);
}
