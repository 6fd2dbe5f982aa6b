//===- DeviceLanes.cpp - Lanes on a device --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"
#include "LaneExecutor.h"
#include "LaneMemory.h"
#include "batch-runtime/StageRows.h"

#include <cstring>

using namespace batchrt;

namespace {
/// Runs a lockstep program with one launch of its persistent kernel. Each
/// thread block has its own lanes.
class DeviceLanes : public LaneExecutor {
public:
  DeviceLanes(MiniBatch &batch, const BoundParameters &parameters)
      : LaneExecutor(batch), parameters(parameters),
        image(lanes, /*onDevice=*/true) {}

  void inspect() override {
    if (!runs)
      runs =
          std::make_unique<DeviceRuns>(batch.object, parameters, batch.options);
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
  size_t imageAt = 0; ///< offset of `image` in the memory of `runs`
};
} // namespace

void DeviceLanes::run(ResultCopies copies) {
  image.layOut(lanes.instances(), runs->shape().blocks);
  for (const KernelInfo &kernel : descriptor().kernels)
    checkStageRows(descriptor(), kernel, image.mostLanes());
  LaunchShape shape = runs->shape();
  shape.blocks = image.units();
  // The control words precede the image, so one copy transfers both.
  std::vector<DeviceRegion> parts;
  RegionLayout front(parts, 256);
  front.add(controlBytes(shape.blocks), "control words");
  imageAt = front.end();
  for (const DeviceRegion &part : image.deviceRegions())
    parts.push_back({imageAt + part.offset, part.bytes, part.what});
  runs->begin(imageAt + image.bytes(), imageAt + image.outEnd(), parts);
  DeviceArena &memory = runs->memory();
  std::memset(memory.staging(), 0, imageAt);
  char *staging = memory.staging(imageAt);
  image.write(batch.context(), runs->onDevice().packings(), staging,
              memory.address(imageAt));
  runs->copyIn(imageAt + image.inEnd());

  Watchdog watchdog = runs->makeWatchdog(/*control=*/0, shape.blocks);
  watchdog.executor += ", in lockstep";
  watchdog.describe = [&](int64_t progress) {
    return describeLanes(*descriptor().lockstep, progress);
  };
  BatchLanesLaunch arguments = {};
  setAddress(arguments.context, memory.address(imageAt + image.context()));
  setAddress(arguments.control, watchdog.control);
  arguments.blocks = shape.blocks;
  forget(); // no results until this run has succeeded
  // Ends and counts precede the rows of results, which may be copied later.
  const bool withRun = copies == ResultCopies::WithRun;
  const size_t outEnd = withRun ? image.outEnd() : image.inEnd();
  runs->launch(shape, arguments, watchdog, imageAt + image.outBegin(),
               imageAt + outEnd);
  runs->checkProgress(watchdog, [&](int64_t block) {
    return makeProgress(image.counts(block, staging).now, anyLow);
  });
  if (!descriptor().indices.empty()) {
    runs->copyOut(0, imageAt);
    BatchDeviceControl words;
    std::memcpy(&words, memory.staging(), sizeof(words));
    batch.indexError = words.indexError;
  }
  lanes.setOutcome(image, staging);
  if (withRun)
    image.readResults(batch.context(), staging);
  checkEnds();
  uncollected = !withRun;
}

void DeviceLanes::copyResults() {
  runs->copyOut(imageAt + image.inEnd(), imageAt + image.outEnd());
  image.readResults(batch.context(), runs->memory().staging(imageAt));
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
