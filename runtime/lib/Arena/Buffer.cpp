//===- Buffer.cpp - Buffers and bump arenas -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace batchrt;

static constexpr size_t hugePage = size_t(2) << 20;

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(size, other.size);
  return *this;
}

void Buffer::release() {
  std::free(memory);
  memory = nullptr;
  size = 0;
}

static char *allocate(size_t &bytes, const char *what) {
  bool large = bytes >= 2 * hugePage;
  size_t alignment = large ? hugePage : 64;
  if (bytes > SIZE_MAX - alignment)
    raise("out of memory: ", bytes, " bytes for ", what);
  size_t rounded = (bytes + 63) / 64 * 64;
  void *memory = nullptr;
  if (::posix_memalign(&memory, alignment, rounded) != 0)
    raise("out of memory: ", bytes, " bytes for ", what,
          "; a smaller batch (--batch) needs less");
  if (large)
    ::madvise(memory, rounded / hugePage * hugePage, MADV_HUGEPAGE);
  bytes = rounded;
  return static_cast<char *>(memory);
}

char *Buffer::reserve(size_t bytes, const char *what) {
  if (bytes > size || !memory) {
    release();
    size_t wanted = std::max<size_t>(bytes, 64);
    memory = allocate(wanted, what);
    size = wanted;
  }
  return memory;
}

char *Buffer::grow(size_t bytes, size_t used, const char *what) {
  if (bytes <= size && memory)
    return memory;
  size_t wanted = std::max<size_t>(std::max(bytes, size * 2), 64);
  char *larger = allocate(wanted, what);
  if (used)
    std::memcpy(larger, memory, used);
  release();
  memory = larger;
  size = wanted;
  return memory;
}

void BumpArena::reset(BatchContext &context) {
  current = 0;
  if (chunks.empty()) {
    context.arenaTop = context.arenaLimit = nullptr;
    return;
  }
  context.arenaTop = chunks[0].data();
  context.arenaLimit = chunks[0].data() + chunks[0].capacity();
}

char *BumpArena::grow(BatchContext &context, size_t bytes) {
  constexpr size_t least = size_t(1) << 20, most = size_t(64) << 20;
  // Chunks too small for the request are skipped; they serve the next run.
  size_t next = context.arenaTop ? current + 1 : 0;
  while (next < chunks.size() && chunks[next].capacity() < bytes)
    ++next;
  if (next == chunks.size()) {
    size_t size = chunks.empty()
                      ? least
                      : std::min(most, chunks.back().capacity() * 2);
    Buffer chunk;
    chunk.reserve(std::max(bytes, size), "tensors of the unbatched code");
    chunks.push_back(std::move(chunk));
  }
  current = next;
  Buffer &chunk = chunks[current];
  context.arenaTop = chunk.data() + bytes;
  context.arenaLimit = chunk.data() + chunk.capacity();
  return chunk.data();
}

size_t BumpArena::capacity() const {
  size_t sum = 0;
  for (const Buffer &chunk : chunks)
    sum += chunk.capacity();
  return sum;
}
