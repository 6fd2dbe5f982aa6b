//===- EmulatedDevice.cpp - The emulator as a device ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Device.h"
#include "batch-runtime/Emulator.h"
#include "batch-runtime/Memory.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>

using namespace batchrt;

namespace {
/// The emulator as a device. Calls return when their work is done, so threads
/// use the device in turn. All streams are the same.
class EmulatedDevice : public Device {
public:
  EmulatedDevice(const EmulatorOptions &given, OptionNames names)
      : Device(names), options(given) {
    if (options.blocks == 0)
      options.blocks = 4;
    facts.name = "emulator";
    facts.chip = "emulator";
    facts.multiprocessors = options.blocks;
    facts.maxSharedPerBlock = 227 * 1024;
    facts.maxThreadsPerBlock = 1024;
    facts.hasClusters = true;
  }

  void release(uint64_t address) noexcept override {
    Guard guard(mutex);
    removeRegions(address);
    memory.erase(address);
  }
  void discard(uint64_t address, size_t bytes) override {
    divide(address, {{0, bytes, "device memory"}});
  }
  void divide(uint64_t address,
              const std::vector<DeviceRegion> &regions) override {
    Guard guard(mutex);
    removeRegions(address);
    for (const DeviceRegion &region : regions)
      emulator.addRegion(reinterpret_cast<void *>(address + region.offset),
                         region.bytes, region.what);
    memory.at(address).regions = regions;
  }
  void releaseStaging(char *address) noexcept override {
    Guard guard(mutex);
    memory.erase(reinterpret_cast<uint64_t>(address));
  }
  void copyIn(uint64_t to, const void *from, size_t bytes,
              DeviceStream) override {
    Guard guard(mutex);
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    const auto &[address, allocation] = *std::prev(memory.upper_bound(to));
    for (const DeviceRegion &region : allocation.regions) {
      uint64_t begin = std::max(to, address + region.offset);
      uint64_t end =
          std::min(to + bytes, address + region.offset + region.bytes);
      if (begin < end)
        emulator.markWritten(reinterpret_cast<void *>(begin), end - begin);
    }
  }
  void copyOut(void *to, uint64_t from, size_t bytes, DeviceStream) override {
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  }

  DeviceStream createStream() override { return 1; }
  void releaseStream(DeviceStream) noexcept override {}

  DeviceKernel load(const DeviceCode &code) override {
    Guard guard(mutex);
    kernels.push_back(code);
    return kernels.size() - 1;
  }
  int64_t residentBlocks(DeviceKernel, const LaunchShape &) override {
    return options.blocks;
  }
  int64_t maxClusterSize(DeviceKernel, const LaunchShape &) override {
    return 16;
  }
  void launch(DeviceKernel kernel, const LaunchShape &shape,
              const std::vector<uint64_t> &arguments, DeviceStream) override {
    Guard guard(mutex);
    std::vector<uint64_t> values = arguments;
    std::vector<void *> addresses;
    for (uint64_t &value : values)
      addresses.push_back(&value);
    EmulatedLaunch launch;
    launch.kernel = kernels[kernel].kernel;
    launch.entry = reinterpret_cast<BatchEmulatedKernel>(
        reinterpret_cast<uintptr_t>(kernels[kernel].data));
    launch.arguments = addresses.data();
    launch.blocks = shape.blocks;
    launch.threads = shape.blockSize;
    launch.clusterBlocks = shape.clusterSize;
    launch.sharedBytes = shape.sharedBytes;
    launch.seed = options.seed;
    launch.counts = options.counts;
    emulator.launch(launch);
  }

  bool isDone(DeviceStream) override { return true; }
  void synchronize(DeviceStream) override {}

  DeviceEvent createEvent() override {
    Guard guard(mutex);
    events.emplace_back();
    return events.size() - 1;
  }
  void releaseEvent(DeviceEvent) noexcept override {}
  void record(DeviceEvent event, DeviceStream) override {
    Guard guard(mutex);
    events[event] = std::chrono::steady_clock::now();
  }
  bool hasHappened(DeviceEvent) override { return true; }
  double microseconds(DeviceEvent begin, DeviceEvent end) override {
    Guard guard(mutex);
    return std::chrono::duration<double, std::micro>(events[end] -
                                                     events[begin])
        .count();
  }

protected:
  uint64_t tryAllocate(size_t bytes) override {
    auto address = reinterpret_cast<uint64_t>(tryAllocateStaging(bytes));
    discard(address, bytes);
    return address;
  }
  char *tryAllocateStaging(size_t bytes) override {
    // Device memory is aligned to 256 bytes, but a Buffer only to 64 bytes.
    Buffer buffer;
    char *base = buffer.reserve(bytes + 256, "the emulator's memory");
    char *address = reinterpret_cast<char *>(
        (reinterpret_cast<uint64_t>(base) + 255) & ~uint64_t(255));
    Guard guard(mutex);
    memory[reinterpret_cast<uint64_t>(address)].buffer = std::move(buffer);
    return address;
  }
  size_t freeMemory() override { return SIZE_MAX; }
  bool peek(void *to, uint64_t from, size_t bytes) override {
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
    return true;
  }
  void abandon() noexcept override {}

private:
  using Guard = std::lock_guard<std::mutex>;
  /// Memory of the device, which is divided into regions, or of the host.
  struct Allocation {
    Buffer buffer;
    std::vector<DeviceRegion> regions;
  };

  void removeRegions(uint64_t address) {
    Allocation &allocation = memory.at(address);
    for (const DeviceRegion &region : allocation.regions)
      emulator.removeRegion(reinterpret_cast<void *>(address + region.offset));
    allocation.regions.clear();
  }

  EmulatorOptions options;
  std::mutex mutex; ///< for all members below
  Emulator emulator;
  std::map<uint64_t, Allocation> memory;
  std::vector<DeviceCode> kernels;
  std::vector<std::chrono::steady_clock::time_point> events;
};
} // namespace

std::unique_ptr<Device>
batchrt::openEmulatedDevice(const EmulatorOptions &options, OptionNames names) {
  return std::make_unique<EmulatedDevice>(options, names);
}
