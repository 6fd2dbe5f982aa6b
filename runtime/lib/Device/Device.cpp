//===- Device.cpp - Common code of all devices ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Device.h"
#include "batch-runtime/Error.h"

using namespace batchrt;

uint64_t Device::allocate(size_t bytes, const char *what) {
  uint64_t memory = tryAllocate(bytes);
  if (!memory)
    raise("out of memory on ", facts.name, ": cannot allocate ", bytes,
          " bytes for ", what, " (", freeMemory(), " of ", facts.memory,
          " bytes free); ", smallerBatch(names));
  return memory;
}

char *Device::allocateStaging(size_t bytes, const char *what) {
  char *memory = tryAllocateStaging(bytes);
  if (!memory)
    raise("out of pinned memory on the host: cannot allocate ", bytes,
          " bytes to copy ", what, " to ", facts.name, "; ",
          smallerBatch(names));
  return memory;
}
