//===- DeviceLanes.cpp - Lanes on a device --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"
#include "LaneExecutor.h"
#include "LaneMemory.h"

using namespace batchrt;

namespace {
/// Runs a lockstep program by one launch of its persistent kernel, each block
/// with lanes of its own.
class DeviceLanes : public LaneExecutor {
public:
  DeviceLanes(MiniBatch &batch, const BoundParameters &parameters)
      : LaneExecutor(batch), parameters(parameters),
        image(lanes, /*onDevice=*/true) {}

  void inspect() override {
    if (!runs)
      runs = std::make_unique<DeviceRuns>(
          DeviceProgram::open(batch.object, parameters, batch.options),
          descriptor(), batch.options);
  }
  void prepare() override { prepareLanes(/*workers=*/0); }
  void run(ResultCopies copies) override;
  double runTimed() override;
  RunCounters counters() const override;
  void addMemory(MemoryUse &use) const override;

private:
  void copyResults() override;

  const BoundParameters &parameters;
  std::unique_ptr<DeviceRuns> runs;
  LaneMemory image;
};
} // namespace

void DeviceLanes::run(ResultCopies copies) {
  image.layOut(lanes.instances(), runs->shape().blocks);
  runs->begin(image.bytes(), image.outEnd(), image.deviceParts());
  DeviceArena &memory = runs->memory();
  image.write(batch.context(), runs->onDevice().forms(), memory.staging(),
              memory.address());
  runs->copyIn(image.inEnd());
  LaunchShape shape = runs->shape();
  shape.blocks = image.units();
  BatchLanesLaunch arguments = {};
  setAddress(arguments.context, memory.address(image.context()));
  arguments.blocks = shape.blocks;
  // Ends and counts lie before the rows of results.
  runs->launch(
      shape, arguments, runs->makeWatchdog(shape.blocks), image.outBegin(),
      copies == ResultCopies::WithRun ? image.outEnd() : image.inEnd());
  lanes.setOutcome(image, memory.staging());
  checkEnds();
  uncollected = copies != ResultCopies::WithRun;
  if (!uncollected)
    image.readResults(batch.context(), memory.staging());
}

void DeviceLanes::copyResults() {
  runs->copyOut(image.inEnd(), image.outEnd());
  image.readResults(batch.context(), runs->memory().staging());
}

double DeviceLanes::runTimed() {
  run(ResultCopies::WhenCollected);
  return runs->kernelTime();
}

RunCounters DeviceLanes::counters() const {
  RunCounters counters = LaneExecutor::counters();
  counters.launches = 0;
  if (runs)
    runs->addCounters(counters);
  return counters;
}

void DeviceLanes::addMemory(MemoryUse &use) const {
  LaneExecutor::addMemory(use);
  if (runs)
    use.device += runs->bytes();
}

std::unique_ptr<Executor>
batchrt::makeDeviceLanes(MiniBatch &batch, const BoundParameters &parameters) {
  return std::make_unique<DeviceLanes>(batch, parameters);
}
