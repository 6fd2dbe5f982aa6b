//===- DeviceArena.cpp - Device memory, allocated in regions --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/DeviceArena.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

DeviceArena::~DeviceArena() {
  if (base)
    device.release(base);
  if (stagingBase)
    device.releaseStaging(stagingBase);
}

/// Returns the size to grow to: at least 1.5 times the current size, so that
/// growing is rare.
static size_t grown(size_t size, size_t wanted) {
  return (std::max(wanted, size + size / 2) + 255) / 256 * 256;
}

void DeviceArena::reset(size_t bytes, size_t staged) {
  top = 0;
  limit = bytes;
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
  if (offset > limit || bytes > limit - offset)
    raise("the arena for ", what, " has ", limit, " bytes, but ",
          offset + bytes, " are needed");
  top = offset + bytes;
  return offset;
}

void DeviceArena::checkStaged(size_t begin, size_t end) const {
  if (begin > end || end > stagingSize || end > size)
    raise("bytes ", begin, " to ", end, " of an arena for ", what,
          " have no staging memory; this is a bug in the runtime");
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
