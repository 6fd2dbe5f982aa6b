//===- Buffer.cpp - Buffers and bump arenas -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace batchrt;

static constexpr size_t hugePage = size_t(2) << 20;

/// Returns true if accesses beyond the end of a buffer must fault, for
/// debugging.
static bool haveGuardPages() {
  static const bool isSet = [] {
    const char *value = std::getenv("BATCH_GUARD_PAGES");
    return value && *value;
  }();
  return isSet;
}

static size_t pageBytes() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(size, other.size);
  std::swap(mapped, other.mapped);
  return *this;
}

void Buffer::release() {
  if (mapped)
    ::munmap(memory - reinterpret_cast<uintptr_t>(memory) % pageBytes(),
             mapped);
  else
    std::free(memory);
  memory = nullptr;
  size = mapped = 0;
}

[[noreturn]] static void raiseNoMemory(size_t bytes, const char *what) {
  raise("out of memory: cannot allocate ", bytes, " bytes for ", what,
        "; use a smaller batch (--batch) or fewer workers (--threads)");
}

/// Allocates memory that ends, except for padding, at an inaccessible page.
/// Sets `mapped` to the number of bytes of all pages.
static char *allocateGuarded(size_t bytes, size_t &mapped, const char *what) {
  const size_t page = pageBytes();
  const size_t used = (bytes + page - 1) / page * page;
  void *pages = ::mmap(nullptr, used + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    raiseNoMemory(bytes, what);
  char *end = static_cast<char *>(pages) + used;
  ::mprotect(end, page, PROT_NONE);
  // New pages are zero, which hides reads of uninitialized memory.
  std::memset(end - bytes, 0xa5, bytes);
  mapped = used + page;
  return end - bytes;
}

static char *allocate(size_t &bytes, size_t &mapped, const char *what) {
  bool large = bytes >= 2 * hugePage;
  size_t alignment = large ? hugePage : 64;
  if (bytes > SIZE_MAX - alignment)
    raise("out of memory: cannot allocate ", bytes, " bytes for ", what);
  size_t rounded = (bytes + 63) / 64 * 64;
  if (haveGuardPages()) {
    bytes = rounded;
    return allocateGuarded(rounded, mapped, what);
  }
  mapped = 0;
  void *memory = nullptr;
  if (::posix_memalign(&memory, alignment, rounded) != 0)
    raiseNoMemory(bytes, what);
  if (large)
    ::madvise(memory, rounded / hugePage * hugePage, MADV_HUGEPAGE);
  bytes = rounded;
  return static_cast<char *>(memory);
}

char *Buffer::reserve(size_t bytes, const char *what) {
  size_t wanted = std::max<size_t>(bytes, 64);
  bool fits =
      haveGuardPages() ? (wanted + 63) / 64 * 64 == size : bytes <= size;
  if (!fits || !memory) {
    release();
    memory = allocate(wanted, mapped, what);
    size = wanted;
  }
  return memory;
}

char *Buffer::reserveAddresses(size_t bytes, const char *what) {
  // Buffers of less than 1 GiB can be allocated as usual.
  if (bytes < size_t(1) << 30)
    return reserve(bytes, what);
  if (bytes <= size)
    return memory;
  release();
  void *found =
      bytes > SIZE_MAX / 2
          ? MAP_FAILED
          : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED)
    raiseNoMemory(bytes, what);
  ::madvise(found, bytes, MADV_HUGEPAGE);
  memory = static_cast<char *>(found);
  size = mapped = bytes;
  return memory;
}

char *Buffer::grow(size_t bytes, size_t used, const char *what) {
  if (bytes <= size && memory)
    return memory;
  size_t wanted = std::max<size_t>(
      haveGuardPages() ? bytes : std::max(bytes, size * 2), 64);
  size_t pages = 0;
  char *larger = allocate(wanted, pages, what);
  if (used)
    std::memcpy(larger, memory, used);
  release();
  memory = larger;
  size = wanted;
  mapped = pages;
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
  // Skip chunks that are too small for the request; the next run can use them.
  size_t next = context.arenaTop ? current + 1 : 0;
  while (next < chunks.size() && chunks[next].capacity() < bytes)
    ++next;
  if (next == chunks.size()) {
    size_t size =
        chunks.empty() ? least : std::min(most, chunks.back().capacity() * 2);
    // With guard pages, each tensor has its own chunk, which ends at an
    // inaccessible page. This holds up to a limit on the number of chunks.
    if (haveGuardPages() && chunks.size() < 1000)
      size = 0;
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

void BumpArena::keep(BatchContext &context, char *mark, int64_t *rows,
                     const int64_t *bytes, size_t count) {
  if (chunks.empty())
    return;
  size_t first = mark ? current : 0;
  while (mark && !holds(first, mark))
    --first;
  auto isYounger = [&](const char *row) {
    if (mark && holds(first, row) && row < mark)
      return false;
    for (size_t chunk = first; chunk <= current; ++chunk)
      if (holds(chunk, row))
        return true;
    return false;
  };
  size_t total = 0;
  for (size_t i = 0; i < count; ++i)
    total += static_cast<size_t>(bytes[i]);
  char *copies = moving.reserve(total, "tensors of the unbatched code");
  std::vector<size_t> young;
  for (size_t i = 0, end = 0; i < count; ++i) {
    const char *row = reinterpret_cast<const char *>(rows[i]);
    if (!isYounger(row))
      continue;
    young.push_back(i);
    std::memcpy(copies + end, row, static_cast<size_t>(bytes[i]));
    end += static_cast<size_t>(bytes[i]);
  }
  current = first;
  Buffer &chunk = chunks[current];
  context.arenaTop = mark ? mark : chunk.data();
  context.arenaLimit = chunk.data() + chunk.capacity();
  for (size_t i : young) {
    size_t size = static_cast<size_t>(bytes[i]);
    char *place = context.arenaTop;
    if (static_cast<size_t>(context.arenaLimit - place) < size)
      place = grow(context, size);
    else
      context.arenaTop += size;
    std::memcpy(place, copies, size);
    copies += size;
    rows[i] = reinterpret_cast<int64_t>(place);
  }
}

size_t BumpArena::capacity() const {
  size_t sum = moving.capacity();
  for (const Buffer &chunk : chunks)
    sum += chunk.capacity();
  return sum;
}
