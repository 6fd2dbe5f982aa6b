//===- Device.cpp - What all devices share --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Device.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

uint64_t Device::allocate(size_t bytes, const char *what) {
  uint64_t memory = tryAllocate(bytes);
  if (!memory)
    raise("out of memory on ", facts.name, ": ", bytes, " bytes for ", what,
          ", ", freeMemory(), " of ", facts.memory,
          " are free; a smaller batch (--batch) needs less");
  return memory;
}

char *Device::allocateStaging(size_t bytes, const char *what) {
  char *memory = tryAllocateStaging(bytes);
  if (!memory)
    raise("out of pinned memory on the host: ", bytes, " bytes to copy ", what,
          " to ", facts.name, "; a smaller batch (--batch) needs less");
  return memory;
}

DeviceArena::~DeviceArena() {
  if (base)
    device.release(base);
  if (stagingBase)
    device.releaseStaging(stagingBase);
}

/// The size to grow to: half as much again, so that growing gets rare.
static size_t grown(size_t size, size_t wanted) {
  return (std::max(wanted, size + size / 2) + 255) / 256 * 256;
}

void DeviceArena::reset(size_t bytes, size_t staged) {
  top = 0;
  room = bytes;
  if (bytes > size) {
    size_t next = grown(size, bytes);
    if (base)
      device.release(base);
    base = size = 0;
    base = device.allocate(next, what);
    size = next;
    ++count.growths;
  } else if (base) {
    device.discard(base, size);
  }
  if (staged > stagingSize) {
    size_t next = grown(stagingSize, staged);
    if (stagingBase)
      device.releaseStaging(stagingBase);
    stagingBase = nullptr;
    stagingSize = 0;
    stagingBase = device.allocateStaging(next, what);
    stagingSize = next;
    ++count.growths;
  }
}

size_t DeviceArena::allocate(size_t bytes) {
  size_t offset = (top + 255) / 256 * 256;
  if (offset > room || bytes > room - offset)
    raise("an arena for ", what, " was reset for ", room, " bytes, but ",
          offset + bytes, " are asked of it");
  top = offset + bytes;
  return offset;
}

void DeviceArena::checkStaged(size_t begin, size_t end) const {
  if (begin > end || end > stagingSize || end > size)
    raise("bytes ", begin, " to ", end, " of an arena for ", what,
          " have no staging memory");
}

void DeviceArena::copyIn(size_t begin, size_t end, DeviceStream stream) {
  checkStaged(begin, end);
  if (begin == end)
    return;
  device.copyIn(address(begin), staging(begin), end - begin, stream);
  ++count.copiesIn;
  count.bytesIn += end - begin;
}

void DeviceArena::copyOut(size_t begin, size_t end, DeviceStream stream) {
  checkStaged(begin, end);
  if (begin == end)
    return;
  device.copyOut(staging(begin), address(begin), end - begin, stream);
  ++count.copiesOut;
  count.bytesOut += end - begin;
}
