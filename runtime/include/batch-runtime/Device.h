//===- Device.h - Accelerators that run persistent kernels ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's interface to a device. Addresses of its memory are uint64_t:
// the host never dereferences them. All errors are of type Error.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_DEVICE_H
#define BATCH_RUNTIME_DEVICE_H

#include "batch-runtime/OptionNames.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace batchrt {

struct Watchdog;

/// Handles that are valid only for their device.
using DeviceKernel = uint64_t;
using DeviceEvent = uint64_t;
/// A stream runs its work in order. Stream 0 is the device's own stream.
using DeviceStream = uint64_t;

/// The resources of a chip.
struct DeviceInfo {
  std::string name; ///< "NVIDIA H200"
  std::string chip; ///< target of compiled code: "sm_90"
  int multiprocessors = 0;
  int capabilityMajor = 0, capabilityMinor = 0;
  int64_t maxSharedPerBlock = 0; ///< bytes, for kernels that opt in
  int64_t maxThreadsPerBlock = 0;
  bool hasClusters = false;
  size_t memory = 0; ///< bytes
};

/// Code for a device, in any format that the device can load.
struct DeviceCode {
  const void *data = nullptr;
  size_t size = 0;
  std::string kernel; ///< the symbol to launch
  std::string chip;   ///< target of the code; for messages, may be empty
};

/// Launch configuration of a kernel. Either all blocks run at the same time, or
/// none.
struct LaunchShape {
  int64_t blocks = 1;
  int64_t blockSize = 256;
  int64_t clusterSize = 1; ///< blocks per cluster; divides `blocks`
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block
};

/// A region of device memory.
struct DeviceRegion {
  size_t offset, bytes;
  const char *what; ///< for messages
};

/// A device. Any number of threads may use it, each with its own streams.
class Device {
public:
  /// `names`: spelling of options in messages.
  explicit Device(OptionNames names) : names(names) {}
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  virtual ~Device() = default;

  const DeviceInfo &info() const { return facts; }

  /// Allocates memory of the device, aligned to 256 bytes. `what` names the
  /// purpose in the out-of-memory message.
  uint64_t allocate(size_t bytes, const char *what);
  virtual void release(uint64_t address) noexcept = 0;
  /// Declares that the contents of this memory are no longer needed. A device
  /// that tracks writes treats the memory as unwritten.
  virtual void discard(uint64_t /*address*/, size_t /*bytes*/) {}
  /// Declares that kernels access only these regions of the memory until it is
  /// discarded. Each region begins at a multiple of 4. A device that checks
  /// accesses reports all other accesses as errors.
  virtual void divide(uint64_t /*address*/,
                      const std::vector<DeviceRegion> & /*regions*/) {}
  /// Allocates host memory for copies that do not block the caller.
  char *allocateStaging(size_t bytes, const char *what);
  virtual void releaseStaging(char *memory) noexcept = 0;

  /// Copies between host and device. Returns at once if the host memory is
  /// staging memory.
  virtual void copyIn(uint64_t to, const void *from, size_t bytes,
                      DeviceStream stream = 0) = 0;
  virtual void copyOut(void *to, uint64_t from, size_t bytes,
                       DeviceStream stream = 0) = 0;

  virtual DeviceStream createStream() = 0;
  virtual void releaseStream(DeviceStream stream) noexcept = 0;

  /// Loads code. Equal code is loaded only once. The handle is valid as long as
  /// the device exists.
  virtual DeviceKernel load(const DeviceCode &code) = 0;
  /// Returns the number of blocks of this shape that the whole device can run
  /// at the same time. Returns 0 if a block does not fit. Ignores
  /// `shape.blocks`.
  virtual int64_t residentBlocks(DeviceKernel kernel,
                                 const LaunchShape &shape) = 0;
  /// Returns the maximum number of blocks of this shape in a cluster, or 1 if
  /// the device has no clusters.
  virtual int64_t maxClusterSize(DeviceKernel kernel,
                                 const LaunchShape &shape) = 0;
  virtual void launch(DeviceKernel kernel, const LaunchShape &shape,
                      const std::vector<uint64_t> &arguments,
                      DeviceStream stream = 0) = 0;

  /// Returns true once all work of the stream is done.
  virtual bool isDone(DeviceStream stream = 0) = 0;
  virtual void synchronize(DeviceStream stream = 0) = 0;
  /// Waits until all work of the stream is done. Raises an Error if the kernel
  /// makes no progress for longer than the watchdog allows. The time is
  /// measured from the last progress, or from the start of the kernel if there
  /// is none yet. After this error, the device is unusable until the process
  /// ends.
  void wait(const Watchdog &watchdog, DeviceStream stream = 0);

  virtual DeviceEvent createEvent() = 0;
  virtual void releaseEvent(DeviceEvent event) noexcept = 0;
  virtual void record(DeviceEvent event, DeviceStream stream = 0) = 0;
  virtual bool hasHappened(DeviceEvent event) = 0;
  /// Returns the time between two events that have occurred.
  virtual double microseconds(DeviceEvent begin, DeviceEvent end) = 0;

protected:
  /// Allocate memory; return 0 or null if there is not enough.
  virtual uint64_t tryAllocate(size_t bytes) = 0;
  virtual char *tryAllocateStaging(size_t bytes) = 0;
  /// Returns the number of free bytes, for messages.
  virtual size_t freeMemory() = 0;
  /// Reads device memory while a kernel runs. Returns false if that is not
  /// possible.
  virtual bool peek(void *to, uint64_t from, size_t bytes) = 0;
  /// Records that the kernel never finishes, so nothing may wait for the device
  /// from now on.
  virtual void abandon() noexcept = 0;

  DeviceInfo facts;
  const OptionNames names;
};

/// Opens the NVIDIA GPU with this number. Loads the driver: libcuda.so.1, or
/// the library that the environment variable BATCH_CUDA_DRIVER names.
std::unique_ptr<Device> openCudaDevice(int ordinal = 0,
                                       OptionNames names = OptionNames::Tools);

struct AccessCounts; // Emulator.h

struct EmulatorOptions {
  /// Blocks that run at the same time; 0 means four blocks, or two clusters if
  /// these have more blocks.
  int64_t blocks = 0;
  uint64_t seed = 0;              ///< seed for the order in which threads run
  AccessCounts *counts = nullptr; ///< launches add to these counts; may be null
};

/// Opens a GPU emulated on the host, which finds races, deadlocks and accesses
/// to memory that does not exist or was never written (Emulator.h).
std::unique_ptr<Device>
openEmulatedDevice(const EmulatorOptions &options,
                   OptionNames names = OptionNames::Tools);

} // namespace batchrt

#endif // BATCH_RUNTIME_DEVICE_H
