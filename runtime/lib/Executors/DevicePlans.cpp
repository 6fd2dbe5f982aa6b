//===- DevicePlans.cpp - Plans on a device --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"
#include "PlanExecutor.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <cstring>

using namespace batchrt;

namespace {
/// Runs all plans of a mini-batch with one copy to the device, one launch of
/// the persistent kernel and one copy to the host. Results that are collected
/// later need a second copy to the host.
class DevicePlans : public PlanExecutor {
public:
  DevicePlans(MiniBatch &batch, const BoundParameters &parameters)
      : PlanExecutor(batch), parameters(parameters) {}

  void inspect() override;
  void run(ResultCopies copies) override;
  double runTimed() override;
  std::vector<StepTime> runTraced() override;
  void addMemory(MemoryUse &use) const override;

private:
  void copyResults() override;
  int64_t groups() override;
  bool sharesPlan() const { return descriptor().launch->executor == "device"; }
  void findOutputTables();
  void listRegions();
  void countLaunches();

  const BoundParameters &parameters;
  std::unique_ptr<DeviceRuns> runs;
  ImageInput input;
  ImageLayout layout;
  std::vector<bool> outputTables;
};
} // namespace

void DevicePlans::inspect() {
  if (!runs) {
    runs =
        std::make_unique<DeviceRuns>(batch.object, parameters, batch.options);
    findOutputTables();
    input.kernels = &descriptor().kernels;
    input.blocks = runs->shape().blocks;
  }
  PlanExecutor::inspect();
}

int64_t DevicePlans::groups() {
  const LaunchShape &shape = runs->shape();
  return sharesPlan() ? 1 : shape.blocks / shape.clusterSize;
}

/// Finds the tables of the tensors in results, including those in nodes and
/// lists.
void DevicePlans::findOutputTables() {
  outputTables.assign(descriptor().tables.size(), false);
  std::vector<bool> seen(descriptor().adts.size(), false);
  std::vector<const Type *> work;
  for (const Field &result : descriptor().results)
    work.push_back(&result.type);
  while (!work.empty()) {
    const Type &type = *work.back();
    work.pop_back();
    if (type.kind == Type::Tensor && type.table >= 0)
      outputTables[type.table] = true;
    for (const Type &element : type.elements)
      work.push_back(&element);
    if (type.kind != Type::Adt || seen[type.adt])
      continue;
    seen[type.adt] = true;
    for (const Variant &variant : descriptor().adts[type.adt].variants)
      for (const Field &field : variant.fields)
        work.push_back(&field.type);
  }
}

/// Lists all memory that the plans refer to.
void DevicePlans::listRegions() {
  input.regions = runs->onDevice().packingRegions();
  const BatchSource *sources = batch.sources();
  for (size_t s = 0; s < descriptor().sources.size(); ++s)
    if (descriptor().sources[s].input && sources[s].rows > 0)
      input.regions.push_back(
          {sources[s].base,
           static_cast<size_t>(sources[s].rows * sources[s].rowBytes),
           ImageRegion::CopiedIn, "input tensors"});
  tables.addRegions(outputTables, input.regions);
  runPlan.addRegions(input.regions);
}

void DevicePlans::run(ResultCopies copies) {
  input.plans = runPlan.plans();
  listRegions();
  layOutImage(input, layout);
  runs->begin(layout.bytes, std::max(layout.inEnd, layout.outEnd),
              layout.deviceRegions);
  DeviceArena &memory = runs->memory();
  writeImage(input, layout, memory.staging(), memory.address());
  runs->copyIn(layout.inEnd);

  const LaunchShape &shape = runs->shape();
  Watchdog watchdog = runs->makeWatchdog(layout.control, shape.blocks);
  watchdog.describe = [&](int64_t progress) {
    return describeStep(input.plans, descriptor().kernels, progress);
  };
  BatchPlansLaunch arguments = {};
  setAddress(arguments.plans, memory.address(layout.plans));
  arguments.numPlans = static_cast<int64_t>(input.plans.size());
  setAddress(arguments.packings, runs->onDevice().packings());
  setAddress(arguments.control, watchdog.control);
  arguments.blocks = shape.blocks;
  arguments.watchdog = static_cast<int64_t>(watchdog.nanoseconds());
  forget(); // no results until this run has succeeded
  runs->launch(shape, arguments, watchdog, layout.control,
               copies == ResultCopies::WithRun ? layout.outEnd : layout.inEnd);
  const char *control = memory.staging(layout.control);
  checkControl(control, watchdog);
  runs->checkProgress(watchdog, [&](int64_t block) {
    const int64_t blocksOfGroup = shape.blocks / groups();
    return lastProgress(input.plans, groups(), block / blocksOfGroup);
  });
  BatchDeviceControl words;
  std::memcpy(&words, control, sizeof(words));
  counted.barriers = words.ofBlocks[0].arrivals;
  batch.indexError = words.indexError;
  countLaunches();
  uncollected = copies != ResultCopies::WithRun;
  if (!uncollected)
    readImage(input, layout, memory.staging());
}

void DevicePlans::copyResults() {
  runs->copyOut(layout.inEnd, layout.outEnd);
  readImage(input, layout, runs->memory().staging());
  countLaunches();
}

void DevicePlans::countLaunches() {
  counted.launches = counted.copies = 0;
  runs->addCounters(counted);
}

double DevicePlans::runTimed() {
  run(ResultCopies::WhenCollected);
  return runs->kernelTime();
}

std::vector<StepTime> DevicePlans::runTraced() {
  raiseNoTrace(", which run all steps in one launch");
}

void DevicePlans::addMemory(MemoryUse &use) const {
  PlanExecutor::addMemory(use);
  if (runs)
    use.device += runs->bytes();
}

std::unique_ptr<Executor>
batchrt::makeDevicePlans(MiniBatch &batch, const BoundParameters &parameters) {
  return std::make_unique<DevicePlans>(batch, parameters);
}
