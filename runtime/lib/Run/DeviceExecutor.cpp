//===- DeviceExecutor.cpp - Runs plans on a device ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceExecutor.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Watchdog.h"

#include <algorithm>
#include <cstring>

using namespace batchrt;

static std::unique_ptr<Device> openDevice(const CompiledObject &object,
                                          const SessionOptions &options) {
  if (object.entry().emulate) {
    EmulatorOptions emulator = options.emulator;
    if (emulator.blocks == 0)
      emulator.blocks =
          std::max<int64_t>(4, 2 * object.descriptor().launch->clusterSize);
    return openEmulatedDevice(emulator);
  }
  return openCudaDevice(options.deviceNumber);
}

DeviceExecutor::DeviceExecutor(const CompiledObject &object,
                               const BoundParameters &parameters,
                               const SessionOptions &options)
    : object(object), descriptor(object.descriptor()), options(options),
      device(openDevice(object, options)), arena(*device, "the mini-batch"),
      begin(device->createEvent()), end(device->createEvent()) {
  const BatchObject &entry = object.entry();
  const LaunchInfo &launch = *descriptor.launch;
  DeviceCode code{entry.deviceCode, entry.deviceCodeSize, launch.kernel,
                  launch.chip};
  if (entry.emulate)
    code.data = reinterpret_cast<const void *>(
        reinterpret_cast<uintptr_t>(entry.emulate));
  kernel = device->load(code);
  chooseShape();
  bindForms(parameters);
  findOutputTables();
  input.kernels = &descriptor.kernels;
  input.blocks = shape.blocks;
}

DeviceExecutor::~DeviceExecutor() {
  device->releaseEvent(begin);
  device->releaseEvent(end);
  for (uint64_t address : allocations)
    device->release(address);
}

/// A pointer of the device in a struct of the ABI.
template <class T>
static void setAddress(T *&field, uint64_t address) {
  field = reinterpret_cast<T *>(address);
}

/// The arguments of a launch, which are the fields of a struct of the ABI.
template <class Launch>
static std::vector<uint64_t> listArguments(const Launch &launch) {
  std::vector<uint64_t> arguments(sizeof(Launch) / sizeof(uint64_t));
  static_assert(sizeof(Launch) % sizeof(uint64_t) == 0);
  std::memcpy(arguments.data(), &launch, sizeof(Launch));
  return arguments;
}

/// As many blocks as the device runs at the same time, in whole clusters.
void DeviceExecutor::chooseShape() {
  const LaunchInfo &launch = *descriptor.launch;
  shape.blockSize = launch.blockSize;
  shape.clusterSize = launch.clusterSize;
  shape.sharedBytes = launch.sharedBytes;
  int64_t most = device->maxClusterSize(kernel, shape);
  if (shape.clusterSize > most)
    raise("the object's clusters have ", shape.clusterSize, " blocks, ",
          device->info().name, " has at most ", most,
          "; compile the model again with --executor=device");
  int64_t resident = device->residentBlocks(kernel, shape);
  if (options.blocks > 0)
    resident = std::min<int64_t>(resident, options.blocks);
  shape.blocks = resident / shape.clusterSize * shape.clusterSize;
  if (shape.blocks == 0)
    raise("no block of the kernel fits on ", device->info().name, ": it needs ",
          shape.blockSize, " threads and ", shape.sharedBytes,
          " bytes of shared memory, in clusters of ", shape.clusterSize);
}

void DeviceExecutor::bindForms(const BoundParameters &parameters) {
  std::vector<uint64_t> addresses;
  for (size_t f = 0; f < descriptor.forms.size(); ++f) {
    size_t bytes = std::max<size_t>(parameters.bytes(f), 1);
    uint64_t address = device->allocate(bytes, "parameters");
    allocations.push_back(address);
    allocatedBytes += bytes;
    device->copyIn(address, parameters.form(f), parameters.bytes(f));
    addresses.push_back(address);
    formRegions.push_back({parameters.form(f), parameters.bytes(f),
                           ImageRegion::Resident, "parameters", address});
  }
  size_t bytes = std::max<size_t>(addresses.size() * 8, 8);
  formsAddress = device->allocate(bytes, "addresses of parameters");
  allocations.push_back(formsAddress);
  allocatedBytes += bytes;
  if (!addresses.empty())
    device->copyIn(formsAddress, addresses.data(), addresses.size() * 8);
  device->synchronize();
}

/// The tables of tensors that results hold, in nodes and lists too.
void DeviceExecutor::findOutputTables() {
  outputTables.assign(descriptor.tables.size(), false);
  std::vector<bool> seen(descriptor.adts.size(), false);
  std::vector<const Type *> work;
  for (const Field &result : descriptor.results)
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
    for (const Variant &variant : descriptor.adts[type.adt].variants)
      for (const Field &field : variant.fields)
        work.push_back(&field.type);
  }
}

int64_t DeviceExecutor::groups() const {
  bool together = descriptor.launch->executor == "device";
  return together ? 1 : shape.blocks / shape.clusterSize;
}

/// Blocks that run all steps together have one plan.
std::string DeviceExecutor::describeStep(int64_t step) const {
  const BatchPlan &plan = input.plans.front();
  if (step >= plan.numSteps)
    return "";
  const BatchStep &at = plan.steps[step];
  return concat("kernel '", descriptor.kernels[at.kernel].name, "', ", at.count,
                " tasks");
}

void DeviceExecutor::launch(const LaunchShape &shape,
                            const std::vector<uint64_t> &arguments,
                            const Watchdog &watchdog, size_t outBegin,
                            size_t outEnd) {
  const DeviceStream stream = options.stream;
  device->record(begin, stream);
  device->launch(kernel, shape, arguments, stream);
  ++lastLaunches;
  device->record(end, stream);
  arena.copyOut(outBegin, outEnd, stream);
  device->wait(watchdog, stream);
  lastTime = device->microseconds(begin, end);
}

void DeviceExecutor::run(const BatchContext &context, const Plan &plan) {
  lastLaunches = 0;
  input.plans = plan.plans();
  input.regions = formRegions;
  for (size_t s = 0; s < descriptor.sources.size(); ++s)
    if (descriptor.sources[s].input && context.sources[s].rows > 0)
      input.regions.push_back({context.sources[s].base,
                               static_cast<size_t>(context.sources[s].rows *
                                                   context.sources[s].rowBytes),
                               ImageRegion::CopiedIn, "input tensors"});
  plan.addRegions(outputTables, input.regions);
  layOutImage(input, layout);
  const DeviceArena::Counts before = arena.counts();
  arena.reset(layout.bytes, std::max(layout.inEnd, layout.outEnd));
  arena.allocate(layout.bytes);
  arena.divide(layout.parts);
  writeImage(input, layout, arena.staging(), arena.address());
  arena.copyIn(0, layout.inEnd, options.stream);

  const uint64_t controlAddress = arena.address(layout.control);
  Watchdog watchdog;
  watchdog.seconds = options.watchdog;
  watchdog.blocks = shape.blocks;
  // Blocks count their arrivals at the barrier in global memory only.
  if (descriptor.launch->executor == "device")
    watchdog.control = controlAddress;
  watchdog.describeStep = [&](int64_t step) { return describeStep(step); };
  BatchPlansLaunch arguments = {};
  setAddress(arguments.plans, arena.address(layout.plans));
  arguments.numPlans = static_cast<int64_t>(input.plans.size());
  setAddress(arguments.forms, formsAddress);
  setAddress(arguments.control, controlAddress);
  arguments.blocks = shape.blocks;
  arguments.watchdog = static_cast<int64_t>(watchdog.nanoseconds());
  launch(shape, listArguments(arguments), watchdog, layout.control,
         layout.outEnd);
  const char *control = arena.staging(layout.control);
  checkControl(control, watchdog);
  BatchDeviceControl words;
  std::memcpy(&words, control, sizeof(words));
  lastBarriers = words.generation;
  lastCopies = arena.counts().copiesIn - before.copiesIn +
               arena.counts().copiesOut - before.copiesOut;
  readImage(input, layout, arena.staging());
}

void DeviceExecutor::run(const BatchContext &context, Lockstep &lockstep) {
  lastLaunches = 0;
  if (!lanes)
    lanes.emplace(descriptor, lockstep);
  lanes->layOut(lockstep.instances(), shape.blocks);
  const DeviceArena::Counts before = arena.counts();
  arena.reset(lanes->bytes(), lanes->outEnd());
  arena.allocate(lanes->bytes());
  arena.divide(lanes->deviceParts());
  lanes->write(context, formsAddress, arena.staging(), arena.address());
  arena.copyIn(0, lanes->inEnd(), options.stream);
  Watchdog watchdog;
  watchdog.seconds = options.watchdog;
  LaunchShape own = shape;
  own.blocks = watchdog.blocks = lanes->blocks();
  BatchLanesLaunch arguments = {};
  setAddress(arguments.context, arena.address(lanes->context()));
  arguments.blocks = own.blocks;
  launch(own, listArguments(arguments), watchdog, lanes->outBegin(),
         lanes->outEnd());
  lastBarriers = 0;
  lastCopies = arena.counts().copiesIn - before.copiesIn +
               arena.counts().copiesOut - before.copiesOut;
  lanes->readResults(context, arena.staging());
  lockstep.setOutcome(lanes->counts(arena.staging()),
                      lanes->ends(arena.staging()));
}
