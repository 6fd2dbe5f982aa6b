//===- DeviceProgram.cpp - An object on a device --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

using namespace batchrt;

namespace {
/// Programs that are open in sessions. A live program keeps its object alive,
/// and its sessions keep the parameters alive, so no address in a key is
/// reused.
struct OpenPrograms {
  using Key = std::tuple<const BatchObject *, const BoundParameters *, int,
                         int64_t, uint64_t>;
  std::mutex lock;
  std::map<Key, std::weak_ptr<DeviceProgram>> list;

  static OpenPrograms &instance() {
    static OpenPrograms programs;
    return programs;
  }
};
} // namespace

DeviceAllocations::~DeviceAllocations() {
  for (uint64_t address : addresses)
    device.release(address);
}

uint64_t DeviceAllocations::allocate(size_t bytes, const char *what) {
  uint64_t address = device.allocate(bytes, what);
  addresses.push_back(address);
  allocated += bytes;
  return address;
}

static EmulatorOptions emulatorOptions(const Descriptor &descriptor,
                                       const SessionOptions &options) {
  EmulatorOptions emulator = options.emulator;
  if (emulator.blocks == 0)
    emulator.blocks = std::max<int64_t>(4, 2 * descriptor.launch->clusterSize);
  return emulator;
}

std::shared_ptr<DeviceProgram>
DeviceProgram::open(const CompiledObject &object,
                    const BoundParameters &parameters,
                    const SessionOptions &options) {
  OpenPrograms &open = OpenPrograms::instance();
  OpenPrograms::Key key{&object.entry(), &parameters, options.deviceNumber, 0,
                        0};
  if (object.entry().emulate) {
    const EmulatorOptions emulator =
        emulatorOptions(object.descriptor(), options);
    key = {&object.entry(), &parameters, -1, emulator.blocks, emulator.seed};
  }
  std::lock_guard<std::mutex> guard(open.lock);
  for (auto entry = open.list.begin(); entry != open.list.end();)
    entry = entry->second.expired() ? open.list.erase(entry) : std::next(entry);
  auto known = open.list.find(key);
  std::shared_ptr<DeviceProgram> program;
  if (known != open.list.end())
    program = known->second.lock();
  if (!program) {
    program = std::make_shared<DeviceProgram>(object, parameters, options);
    open.list[key] = program;
  }
  return program;
}

static std::unique_ptr<Device> openDevice(const CompiledObject &object,
                                          const SessionOptions &options) {
  if (object.entry().emulate)
    return openEmulatedDevice(emulatorOptions(object.descriptor(), options),
                              options.lockstep.names);
  return openCudaDevice(options.deviceNumber, options.lockstep.names);
}

DeviceProgram::DeviceProgram(const CompiledObject &object,
                             const BoundParameters &parameters,
                             const SessionOptions &options)
    : object(object), where(openDevice(object, options)), allocations(*where) {
  const BatchObject &entry = object.entry();
  const LaunchInfo &launch = *object.descriptor().launch;
  DeviceCode source{entry.deviceCode, entry.deviceCodeSize, launch.kernel,
                    launch.chip};
  if (entry.emulate)
    source.data = reinterpret_cast<const void *>(
        reinterpret_cast<uintptr_t>(entry.emulate));
  code = where->load(source);
  copyPackings(object.descriptor(), parameters);
}

void DeviceProgram::copyPackings(const Descriptor &descriptor,
                                 const BoundParameters &parameters) {
  std::vector<uint64_t> addresses;
  for (size_t f = 0; f < descriptor.packings.size(); ++f) {
    const size_t prefix = parameters.prefix(f);
    const size_t bytes = prefix + parameters.bytes(f);
    uint64_t address =
        allocations.allocate(std::max<size_t>(bytes, 1), "parameters");
    where->copyIn(address, parameters.packing(f) - prefix, bytes);
    address += prefix;
    addresses.push_back(address);
    regions.push_back({parameters.packing(f), parameters.bytes(f),
                       ImageRegion::Resident, "parameters", address});
  }
  packingsAddress = allocations.allocate(
      std::max<size_t>(addresses.size() * 8, 8), "addresses of parameters");
  if (!addresses.empty())
    where->copyIn(packingsAddress, addresses.data(), addresses.size() * 8);
  where->synchronize();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

DeviceRuns::DeviceRuns(const CompiledObject &object,
                       const BoundParameters &parameters,
                       const SessionOptions &options)
    : program(DeviceProgram::open(object, parameters, options)),
      watchdogSeconds(options.watchdog.value_or(
          program->isEmulated() ? 0 : Watchdog::defaultSeconds)),
      names(options.lockstep.names),
      arena(program->device(), "the mini-batch") {
  chooseShape(options.blocks);
  Device &device = program->device();
  if (options.stream == 0)
    ownStream = device.createStream();
  stream = options.stream ? options.stream : ownStream;
  startEvent = device.createEvent();
  endEvent = device.createEvent();
}

DeviceRuns::~DeviceRuns() {
  Device &device = program->device();
  device.releaseEvent(startEvent);
  device.releaseEvent(endEvent);
  if (ownStream)
    device.releaseStream(ownStream);
}

/// Chooses as many blocks as the device can run at the same time, but at most
/// `mostBlocks` if that is positive. Rounds down to whole clusters.
void DeviceRuns::chooseShape(int64_t mostBlocks) {
  const LaunchInfo &launch = program->launchInfo();
  Device &device = program->device();
  LaunchShape &shape = launchShape;
  shape.blockSize = launch.blockSize;
  shape.clusterSize = launch.clusterSize;
  shape.sharedBytes = launch.sharedBytes;
  int64_t most = device.maxClusterSize(program->kernel(), shape);
  if (shape.clusterSize > most)
    raise("the object has clusters of ", shape.clusterSize, " blocks, but ",
          device.info().name, " supports at most ", most,
          "; recompile the model with a smaller --cluster-size, with "
          "--executor=device, or with --level=device if it runs single "
          "instances");
  int64_t resident = device.residentBlocks(program->kernel(), shape);
  if (mostBlocks > 0)
    resident = std::min<int64_t>(resident, mostBlocks);
  if (mostBlocks > 0 && mostBlocks < shape.clusterSize)
    raise("invalid value '", mostBlocks, "' for --blocks; expected at least ",
          shape.clusterSize, ", the number of blocks in a cluster");
  shape.blocks = resident / shape.clusterSize * shape.clusterSize;
  if (shape.blocks == 0)
    raise("the kernel does not fit on ", device.info().name,
          ": each block needs ", shape.blockSize, " threads and ",
          shape.sharedBytes, " bytes of shared memory, and each cluster has ",
          shape.clusterSize, shape.clusterSize == 1 ? " block" : " blocks",
          "; recompile the model with a smaller --shared-memory");
}

Watchdog DeviceRuns::makeWatchdog(size_t control, int64_t blocks) const {
  Watchdog watchdog;
  watchdog.seconds = watchdogSeconds;
  watchdog.control = arena.address(control);
  watchdog.blocks = blocks;
  watchdog.begin = startEvent;
  watchdog.executor = program->launchInfo().executor;
  watchdog.names = names;
  return watchdog;
}

void DeviceRuns::checkProgress(
    const Watchdog &watchdog,
    const std::function<int64_t(int64_t block)> &wanted) {
  if (!program->isEmulated())
    return;
  std::vector<char> control(controlBytes(watchdog.blocks));
  program->device().copyOut(control.data(), watchdog.control, control.size());
  checkEnded(control.data(), watchdog.blocks, wanted);
}

void DeviceRuns::begin(size_t bytes, size_t staged,
                       const std::vector<DeviceRegion> &parts) {
  launches = 0;
  before = arena.counts();
  arena.reset(bytes, staged);
  arena.allocate(bytes);
  arena.divide(parts);
}

void DeviceRuns::copyIn(size_t end) { arena.copyIn(0, end, stream); }

void DeviceRuns::launch(const LaunchShape &shape,
                        const std::vector<uint64_t> &arguments,
                        const Watchdog &watchdog, size_t outBegin,
                        size_t outEnd) {
  Device &device = program->device();
  device.record(startEvent, stream);
  device.launch(program->kernel(), shape, arguments, stream);
  ++launches;
  device.record(endEvent, stream);
  arena.copyOut(outBegin, outEnd, stream);
  device.wait(watchdog, stream);
  time = device.microseconds(startEvent, endEvent);
}

void DeviceRuns::copyOut(size_t begin, size_t end) {
  arena.copyOut(begin, end, stream);
  program->device().synchronize(stream);
}

void DeviceRuns::addCounters(RunCounters &counters) const {
  counters.launches += launches;
  counters.copies += arena.counts().copiesIn - before.copiesIn +
                     arena.counts().copiesOut - before.copiesOut;
}
