//===- barrier.cpp - Cost of a barrier of a persistent kernel -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// batch-barrier OBJECT STEPS RUNS BLOCKS...
//
// Runs plans with the kernel of OBJECT. The steps of the plans have no tasks.
// One plan has a barrier between any two steps, one has no barriers, and one
// has a single step. The differences between the times of these plans, per
// step, are the times of a barrier and of a step's bookkeeping. Prints a JSON
// array. For each number of blocks, the array contains an object with the
// medians of the runs.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/DeviceArena.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Object.h"
#include "batch-runtime/Parameters.h"
#include "batch-runtime/PlanImage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace batchrt;

namespace {
/// Runs empty steps on blocks of an object's device.
class EmptySteps {
public:
  EmptySteps(const CompiledObject &object, const BoundParameters &parameters,
             int64_t blocks);

  struct Result {
    double microseconds;
    /// Arrivals of block 0 at the barrier that all blocks share.
    int64_t barriers;
  };
  Result run(int64_t count, bool barrier);

private:
  static std::unique_ptr<Device> open(const BatchObject &entry,
                                      int64_t blocks) {
    return entry.emulate ? openEmulatedDevice({blocks, 0}) : openCudaDevice();
  }
  void bindForms(const BoundParameters &parameters);

  const Descriptor &descriptor;
  const LaunchInfo &info;
  std::unique_ptr<Device> device;
  DeviceArena packings, image;
  uint64_t packingsTable = 0;
  DeviceKernel kernel = 0;
  LaunchShape shape;
  DeviceEvent begin, end;
};
} // namespace

EmptySteps::EmptySteps(const CompiledObject &object,
                       const BoundParameters &parameters, int64_t blocks)
    : descriptor(object.descriptor()), info(*descriptor.launch),
      device(open(object.entry(), blocks)), packings(*device, "parameters"),
      image(*device, "steps"),
      shape{blocks, info.blockSize, info.clusterSize, info.sharedBytes},
      begin(device->createEvent()), end(device->createEvent()) {
  const BatchObject &entry = object.entry();
  DeviceCode code{entry.deviceCode, entry.deviceCodeSize, info.kernel,
                  info.chip};
  if (entry.emulate)
    code.data = reinterpret_cast<const void *>(
        reinterpret_cast<uintptr_t>(entry.emulate));
  kernel = device->load(code);
  int64_t most = device->residentBlocks(kernel, shape);
  if (blocks > most || blocks % info.clusterSize)
    raise(blocks, " blocks cannot run together; expected a multiple of ",
          info.clusterSize, ", at most ", most);
  bindForms(parameters);
}

/// Copies parameters to the device, because kernels may read them before their
/// first step.
void EmptySteps::bindForms(const BoundParameters &parameters) {
  size_t count = descriptor.packings.size(), bytes = count * 8 + 256;
  for (size_t f = 0; f < count; ++f)
    bytes += parameters.bytes(f) + 256;
  packings.reset(bytes, bytes);
  size_t table = packings.allocate(count * 8);
  for (size_t f = 0; f < count; ++f) {
    size_t at = packings.allocate(parameters.bytes(f));
    uint64_t address = packings.address(at);
    std::memcpy(packings.staging(table + f * 8), &address, 8);
    std::memcpy(packings.staging(at), parameters.packing(f),
                parameters.bytes(f));
  }
  packings.copyIn(0, packings.used());
  device->synchronize();
  packingsTable = packings.address(table);
}

EmptySteps::Result EmptySteps::run(int64_t count, bool barrier) {
  const KernelInfo &first = descriptor.kernels.front();
  std::vector<BatchOperand> operands(first.operands.size() + 1);
  std::vector<char *> results(first.results.size() + 1);
  std::vector<BatchStep> steps(
      count, {0, 0, operands.data(), results.data(), nullptr, barrier});
  steps.back().barrier = 0;
  ImageInput input;
  input.kernels = &descriptor.kernels;
  input.plans = {{steps.data(), count}};
  input.blocks = shape.blocks;
  ImageLayout layout;
  layOutImage(input, layout);
  image.reset(layout.bytes, layout.bytes);
  image.allocate(layout.bytes);
  writeImage(input, layout, image.staging(), image.address());
  image.copyIn(0, layout.inEnd);
  uint64_t control = image.address(layout.control);
  device->record(begin);
  device->launch(kernel, shape,
                 {image.address(layout.plans), 1, packingsTable, control,
                  static_cast<uint64_t>(shape.blocks), /*watchdog=*/0});
  device->record(end);
  image.copyOut(layout.control, layout.outEnd);
  device->synchronize();
  BatchDeviceControl words;
  std::memcpy(&words, image.staging(layout.control), sizeof(words));
  return {device->microseconds(begin, end), words.ofBlocks[0].arrivals};
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

static void measure(const CompiledObject &object,
                    const BoundParameters &parameters, int64_t blocks,
                    int64_t steps, int64_t runs, const char *before) {
  const LaunchInfo &launch = *object.descriptor().launch;
  EmptySteps empty(object, parameters, blocks);
  std::vector<double> barrier, step;
  for (int64_t i = -1; i < runs; ++i) {
    EmptySteps::Result one = empty.run(1, false);
    EmptySteps::Result withoutBarriers = empty.run(steps, false);
    EmptySteps::Result withBarriers = empty.run(steps, true);
    // Only executor `device` uses the barrier that all blocks share.
    int64_t wanted = launch.executor == "device" ? steps - 1 : 0;
    if (withBarriers.barriers - withoutBarriers.barriers != wanted)
      raise("block 0 arrived at ",
            withBarriers.barriers - withoutBarriers.barriers, " barriers in ",
            steps, " steps; expected ", wanted);
    if (i < 0)
      continue; // the first run is a warm-up
    auto perStep = [&](double more, double fewer) {
      return (more - fewer) * 1e3 / (steps - 1);
    };
    barrier.push_back(
        perStep(withBarriers.microseconds, withoutBarriers.microseconds));
    step.push_back(perStep(withoutBarriers.microseconds, one.microseconds));
  }
  std::printf("%s{\"executor\": \"%s\", \"blocks\": %lld, \"cluster_size\": "
              "%lld, \"block_size\": %lld, \"steps\": %lld, \"barrier_ns\": "
              "%.1f, \"step_ns\": %.1f}",
              before, launch.executor.c_str(), static_cast<long long>(blocks),
              static_cast<long long>(launch.clusterSize),
              static_cast<long long>(launch.blockSize),
              static_cast<long long>(steps), median(barrier), median(step));
}

static void runAll(const std::vector<std::string> &arguments) {
  std::vector<int64_t> numbers;
  for (size_t i = 1; i < arguments.size(); ++i)
    numbers.push_back(std::atoll(arguments[i].c_str()));
  if (numbers.size() < 3 || numbers[0] < 2 ||
      *std::min_element(numbers.begin(), numbers.end()) < 1)
    raise("usage: batch-barrier OBJECT STEPS RUNS BLOCKS..., with positive "
          "numbers and at least two steps");
  CompiledObject object = CompiledObject::open(arguments[0]);
  if (!object.descriptor().launch)
    raise("'", arguments[0],
          "' was not compiled for a GPU; compile it with --device=cuda");
  BoundParameters parameters(object.descriptor(), {"random:0", 0, false});
  for (size_t i = 2; i < numbers.size(); ++i)
    measure(object, parameters, numbers[i], numbers[0], numbers[1],
            i == 2 ? "[" : ",\n ");
  std::puts("]");
}

int main(int argc, char **argv) {
  try {
    runAll({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "batch-barrier: error: %s\n", error.what());
  }
  return 1;
}
