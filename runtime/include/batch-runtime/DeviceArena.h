//===- DeviceArena.h - Device memory, allocated in regions ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_DEVICEARENA_H
#define BATCH_RUNTIME_DEVICEARENA_H

#include "batch-runtime/Device.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchrt {

/// Places regions one after another, at multiples of `alignment`. A gap of at
/// least 64 bytes follows each region, so a device that checks accesses detects
/// accesses beyond the end of a region.
class RegionLayout {
public:
  /// Clears `regions`. add() appends each region that is not empty.
  RegionLayout(std::vector<DeviceRegion> &regions, size_t alignment)
      : regions(regions), alignment(alignment) {
    regions.clear();
  }

  /// Adds a region and returns its offset; `what` is for messages.
  size_t add(size_t bytes, const char *what) {
    size_t at = top;
    if (bytes)
      regions.push_back({at, bytes, what});
    top = (top + bytes + 64 + alignment - 1) / alignment * alignment;
    return at;
  }
  size_t end() const { return top; }

private:
  std::vector<DeviceRegion> &regions;
  const size_t alignment;
  size_t top = 0;
};

/// Bump allocator for a range of device memory, with staging memory for the
/// beginning of the range, at the same offsets.
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

  /// Frees all allocations. Then ensures a capacity of `bytes` bytes, with
  /// staging memory for the first `staged` of them. If the arena has to grow,
  /// its contents are lost. No work that uses the arena may be in progress.
  void reset(size_t bytes, size_t staged);
  /// Allocates `bytes` bytes and returns their offset, a multiple of 256.
  size_t allocate(size_t bytes);
  /// Declares that kernels access only these regions.
  void divide(const std::vector<DeviceRegion> &regions) {
    device.divide(base, regions);
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
  size_t size = 0, stagingSize = 0, top = 0, limit = 0;
  Counts count;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_DEVICEARENA_H
