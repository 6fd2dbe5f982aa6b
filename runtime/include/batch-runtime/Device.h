//===- Device.h - Accelerators that run persistent kernels ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime needs of a device. Addresses of its memory are uint64_t:
// the host never follows them. All errors are of type Error.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_DEVICE_H
#define BATCH_RUNTIME_DEVICE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace batchrt {

/// Handles that only their device understands.
using DeviceKernel = uint64_t;
using DeviceEvent = uint64_t;
/// Work of one stream runs in order. Stream 0 is the device's own.
using DeviceStream = uint64_t;

/// The resources of a chip.
struct DeviceInfo {
  std::string name; ///< "NVIDIA H200"
  std::string chip; ///< what code is compiled for: "sm_90"
  int multiprocessors = 0;
  int capabilityMajor = 0, capabilityMinor = 0;
  int64_t maxSharedPerBlock = 0; ///< bytes, with opt-in
  int64_t maxThreadsPerBlock = 0;
  bool hasClusters = false;
  size_t memory = 0; ///< bytes
};

/// Code for a device, in any form that it can load.
struct DeviceCode {
  const void *data = nullptr;
  size_t size = 0;
  std::string kernel; ///< the symbol to launch
  std::string chip;   ///< what it was compiled for; for messages, may be empty
};

/// How a kernel is launched. All blocks run at the same time, or none.
struct LaunchShape {
  int64_t blocks = 1;
  int64_t blockSize = 256;
  int64_t clusterSize = 1; ///< blocks; divides `blocks`
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block
};

/// When to give up on a kernel that does not end. Without control words the
/// limit is on the whole run.
struct Watchdog {
  double seconds = 0;   ///< limit on one barrier wait; 0: wait for ever
  double margin = 2;    ///< seconds that the kernel has to notice it itself
  uint64_t control = 0; ///< device address of the kernel's control words
  int64_t blocks = 0;
  /// Describes a step for messages: "kernel 'cell', 340 tasks". May be empty.
  std::function<std::string(int64_t step)> describeStep;

  /// What the kernel takes.
  uint64_t nanoseconds() const { return static_cast<uint64_t>(seconds * 1e9); }
};

/// Bytes of device memory that belong together.
struct DevicePart {
  size_t offset, bytes;
  const char *what; ///< for messages
};

/// Places parts one behind the other, at multiples of `alignment`. Behind each
/// is a gap of 64 bytes or more that belongs to none: a device that watches
/// accesses sees one beyond the end.
class PartLayout {
public:
  /// Empties `parts`, which then gets those that are not empty.
  PartLayout(std::vector<DevicePart> &parts, size_t alignment)
      : parts(parts), alignment(alignment) {
    parts.clear();
  }

  /// The offset of the next part; `what` is for messages.
  size_t add(size_t bytes, const char *what) {
    size_t at = top;
    if (bytes)
      parts.push_back({at, bytes, what});
    top = (top + bytes + 64 + alignment - 1) / alignment * alignment;
    return at;
  }
  size_t end() const { return top; }

private:
  std::vector<DevicePart> &parts;
  const size_t alignment;
  size_t top = 0;
};

/// The size of a kernel's control words, a BatchDeviceControl.
size_t controlBytes(int64_t blocks);

/// Raises an Error if the kernel's own watchdog has ended it; `control` is a
/// copy of its control words.
void checkControl(const char *control, const Watchdog &watchdog);

/// Any number of threads may use a device, each with streams of its own.
class Device {
public:
  Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  virtual ~Device() = default;

  const DeviceInfo &info() const { return facts; }

  /// Memory of the device, aligned to 256 bytes. `what` names the purpose in
  /// the out-of-memory message.
  uint64_t allocate(size_t bytes, const char *what);
  virtual void release(uint64_t address) noexcept = 0;
  /// What lies in this memory is of no use any more. A device that knows who
  /// wrote what forgets that.
  virtual void discard(uint64_t /*address*/, size_t /*bytes*/) {}
  /// Until it is discarded, kernels access nothing of this memory but these
  /// parts, each of which begins at a multiple of 4. A device that sees all
  /// accesses takes others for errors.
  virtual void divide(uint64_t /*address*/,
                      const std::vector<DevicePart> & /*parts*/) {}
  /// Memory of the host that copies need not be held up for.
  char *allocateStaging(size_t bytes, const char *what);
  virtual void releaseStaging(char *memory) noexcept = 0;

  /// Copies return at once if the host memory is staging memory.
  virtual void copyIn(uint64_t to, const void *from, size_t bytes,
                      DeviceStream stream = 0) = 0;
  virtual void copyOut(void *to, uint64_t from, size_t bytes,
                       DeviceStream stream = 0) = 0;

  virtual DeviceStream createStream() = 0;
  virtual void releaseStream(DeviceStream stream) noexcept = 0;

  /// Equal code is loaded once. The handle lives as long as the device.
  virtual DeviceKernel load(const DeviceCode &code) = 0;
  /// How many blocks of the shape the whole device runs at the same time; 0 if
  /// a block does not fit. `shape.blocks` is not read.
  virtual int64_t residentBlocks(DeviceKernel kernel,
                                 const LaunchShape &shape) = 0;
  /// The largest cluster for such blocks, 1 if the device has no clusters.
  virtual int64_t maxClusterSize(DeviceKernel kernel,
                                 const LaunchShape &shape) = 0;
  virtual void launch(DeviceKernel kernel, const LaunchShape &shape,
                      const std::vector<uint64_t> &arguments,
                      DeviceStream stream = 0) = 0;

  /// True once all work of the stream is done.
  virtual bool isDone(DeviceStream stream = 0) = 0;
  virtual void synchronize(DeviceStream stream = 0) = 0;
  /// Waits until all work of the stream is done. Raises an Error if that takes
  /// longer than the watchdog allows with no block arriving at a barrier; the
  /// device is of no use then until the process ends.
  void wait(const Watchdog &watchdog, DeviceStream stream = 0);

  virtual DeviceEvent createEvent() = 0;
  virtual void releaseEvent(DeviceEvent event) noexcept = 0;
  virtual void record(DeviceEvent event, DeviceStream stream = 0) = 0;
  /// The time between two events that have happened.
  virtual double microseconds(DeviceEvent begin, DeviceEvent end) = 0;

protected:
  /// 0 or null if there is not so much memory.
  virtual uint64_t tryAllocate(size_t bytes) = 0;
  virtual char *tryAllocateStaging(size_t bytes) = 0;
  /// Bytes that are free, for messages.
  virtual size_t freeMemory() = 0;
  /// Reads device memory while a kernel runs; false if that is not possible.
  virtual bool peek(void *to, uint64_t from, size_t bytes) = 0;
  /// The kernel never ends: nothing may wait for the device from now on.
  virtual void abandon() noexcept = 0;

  DeviceInfo facts;
};

/// The NVIDIA GPU of this number. Loads the driver, libcuda.so.1, or what the
/// environment variable BATCH_CUDA_DRIVER names.
std::unique_ptr<Device> openCudaDevice(int ordinal = 0);

struct EmulatorOptions {
  /// That run at the same time; 0: 4, or two clusters.
  int64_t blocks = 0;
  uint64_t seed = 0; ///< of the order in which threads run
};

/// A GPU emulated on the host, which finds races, deadlocks and accesses to
/// memory that is not there or was never written (Emulator.h).
std::unique_ptr<Device> openEmulatedDevice(const EmulatorOptions &options);

/// One block of device memory, given out from its start, and staging memory
/// for a first part of it, at the same offsets.
class DeviceArena {
public:
  struct Counts {
    int64_t growths = 0, copiesIn = 0, copiesOut = 0;
    size_t bytesIn = 0, bytesOut = 0;
  };

  /// `what` names the purpose in the out-of-memory message.
  DeviceArena(Device &device, const char *what) : device(device), what(what) {}
  ~DeviceArena();
  DeviceArena(const DeviceArena &) = delete;
  DeviceArena &operator=(const DeviceArena &) = delete;

  /// Starts over, with room for `bytes` and staging memory for the first
  /// `staged` of them. If that needs more memory than there is, what was in
  /// the arena is lost; no work that uses it may be under way.
  void reset(size_t bytes, size_t staged);
  /// The offset of the next `bytes`, a multiple of 256.
  size_t allocate(size_t bytes);
  /// Kernels access these parts only.
  void divide(const std::vector<DevicePart> &parts) {
    device.divide(base, parts);
  }

  uint64_t address(size_t offset = 0) const { return base + offset; }
  char *staging(size_t offset = 0) const { return stagingBase + offset; }

  /// Copies bytes `begin` to `end` between device and staging memory.
  void copyIn(size_t begin, size_t end, DeviceStream stream = 0);
  void copyOut(size_t begin, size_t end, DeviceStream stream = 0);

  size_t used() const { return top; }
  size_t capacity() const { return size; }
  size_t stagingCapacity() const { return stagingSize; }
  const Counts &counts() const { return count; }

private:
  void checkStaged(size_t begin, size_t end) const;

  Device &device;
  const char *what;
  uint64_t base = 0;
  char *stagingBase = nullptr;
  size_t size = 0, stagingSize = 0, top = 0, room = 0;
  Counts count;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_DEVICE_H
