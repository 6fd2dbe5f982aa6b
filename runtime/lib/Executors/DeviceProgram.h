//===- DeviceProgram.h - An object on a device ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_DEVICEPROGRAM_H
#define BATCH_RUNTIME_LIB_EXECUTORS_DEVICEPROGRAM_H

#include "batch-runtime/DeviceArena.h"
#include "batch-runtime/PlanImage.h"
#include "batch-runtime/Session.h"
#include "batch-runtime/Watchdog.h"

#include <cstring>
#include <memory>
#include <vector>

namespace batchrt {

/// Memory of a device that is released together.
class DeviceAllocations {
public:
  explicit DeviceAllocations(Device &device) : device(device) {}
  ~DeviceAllocations();
  DeviceAllocations(const DeviceAllocations &) = delete;
  DeviceAllocations &operator=(const DeviceAllocations &) = delete;

  uint64_t allocate(size_t bytes, const char *what);
  size_t bytes() const { return allocated; }

private:
  Device &device;
  std::vector<uint64_t> addresses;
  size_t allocated = 0;
};

/// The kernel of an object on a device, and the object's parameters on that
/// device. Sessions with the same object, parameters and device share a
/// program.
class DeviceProgram {
public:
  /// Returns the program that another session has opened, or a new one.
  static std::shared_ptr<DeviceProgram> open(const CompiledObject &object,
                                             const BoundParameters &parameters,
                                             const SessionOptions &options);
  DeviceProgram(const CompiledObject &object, const BoundParameters &parameters,
                const SessionOptions &options);

  Device &device() { return *where; }
  DeviceKernel kernel() const { return code; }
  /// Returns the device address of a list with the addresses of packed
  /// parameters.
  uint64_t packings() const { return packingsAddress; }
  const std::vector<ImageRegion> &packingRegions() const { return regions; }
  const LaunchInfo &launchInfo() const { return *object.descriptor().launch; }
  size_t bytes() const { return allocations.bytes(); }
  bool isEmulated() const { return object.entry().emulate != nullptr; }

private:
  void copyPackings(const Descriptor &descriptor,
                    const BoundParameters &parameters);

  const CompiledObject object;
  std::unique_ptr<Device> where;
  DeviceAllocations allocations;
  DeviceKernel code = 0;
  std::vector<ImageRegion> regions;
  uint64_t packingsAddress = 0;
};

/// Runs of a device program in one session: the shape of launches, the memory
/// of the mini-batch, a stream and counts. The constructor opens the program.
class DeviceRuns {
public:
  DeviceRuns(const CompiledObject &object, const BoundParameters &parameters,
             const SessionOptions &options);
  ~DeviceRuns();

  const LaunchShape &shape() const { return launchShape; }
  DeviceArena &memory() { return arena; }
  DeviceProgram &onDevice() { return *program; }
  /// Returns a watchdog for a launch of `blocks` blocks. The control words are
  /// at offset `control` in memory.
  Watchdog makeWatchdog(size_t control, int64_t blocks) const;
  /// Checks that each block has ended and has reported the progress that
  /// `wanted` returns. Has an effect only in the emulator, which tests kernels.
  void checkProgress(const Watchdog &watchdog,
                     const std::function<int64_t(int64_t block)> &wanted);

  /// Starts a run with an image of `bytes` bytes, of which the first `staged`
  /// are copied in or out.
  void begin(size_t bytes, size_t staged,
             const std::vector<DeviceRegion> &parts);
  /// Copies [0, end) of the image to the device, in the stream.
  void copyIn(size_t end);
  /// Launches the kernel, copies [outBegin, outEnd) of the image out and waits
  /// for both. `arguments` is a struct of the ABI.
  template <class Launch>
  void launch(const LaunchShape &shape, const Launch &arguments,
              const Watchdog &watchdog, size_t outBegin, size_t outEnd) {
    launch(shape, listArguments(arguments), watchdog, outBegin, outEnd);
  }
  /// Copies [begin, end) of the image out and waits for the copy.
  void copyOut(size_t begin, size_t end);

  /// Adds the launches and copies of the last run to `counters`.
  void addCounters(RunCounters &counters) const;
  /// Returns the time of the last run's kernel, in microseconds.
  double kernelTime() const { return time; }
  size_t bytes() const { return program->bytes() + arena.capacity(); }

private:
  void chooseShape(int64_t mostBlocks);
  void launch(const LaunchShape &shape, const std::vector<uint64_t> &arguments,
              const Watchdog &watchdog, size_t outBegin, size_t outEnd);
  template <class Launch>
  static std::vector<uint64_t> listArguments(const Launch &launch);

  std::shared_ptr<DeviceProgram> program;
  DeviceStream ownStream = 0; ///< used unless the caller specifies a stream
  DeviceStream stream = 0;
  const double watchdogSeconds;
  const OptionNames names;
  LaunchShape launchShape;
  DeviceArena arena;
  DeviceArena::Counts before;       ///< counts before the run
  DeviceEvent startEvent, endEvent; ///< before and after the kernel
  int64_t launches = 0;
  double time = 0;
};

/// Sets a device pointer in a struct of the ABI.
template <class T>
void setAddress(T *&field, uint64_t address) {
  field = reinterpret_cast<T *>(address);
}

template <class Launch>
std::vector<uint64_t> DeviceRuns::listArguments(const Launch &launch) {
  // The fields of the struct are the arguments of the kernel.
  std::vector<uint64_t> arguments(sizeof(Launch) / sizeof(uint64_t));
  static_assert(sizeof(Launch) % sizeof(uint64_t) == 0);
  std::memcpy(arguments.data(), &launch, sizeof(Launch));
  return arguments;
}

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_DEVICEPROGRAM_H
