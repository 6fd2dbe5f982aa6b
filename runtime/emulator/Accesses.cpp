//===- Accesses.cpp - Memory accesses and atomics of emulated threads -----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grid.h"

#include <algorithm>
#include <cstring>

using namespace batchrt;
using namespace batchrt::emulator;

static const char *verb(const Access &access) {
  return access.reads && access.writes ? "updates"
         : access.writes               ? "writes"
                                       : "reads";
}

//===----------------------------------------------------------------------===//
// Plain accesses
//===----------------------------------------------------------------------===//

Region &Grid::locate(Thread &thread, uintptr_t address, int64_t bytes,
                     int64_t space, const Access &access) {
  auto here = [&] {
    return concat(verb(access), " ", bytes, " bytes at ",
                  reinterpret_cast<void *>(address));
  };
  // The shared memory of each block follows that of the previous block, after a
  // gap.
  uint64_t offset = address - reinterpret_cast<uintptr_t>(shared);
  bool isShared = launch.sharedBytes && offset < blocks.size() * sharedStride;
  if (space == BATCH_SPACE_GENERIC)
    space = isShared ? BATCH_SPACE_SHARED_CLUSTER : BATCH_SPACE_GLOBAL;

  if (space == BATCH_SPACE_GLOBAL) {
    if (thread.region && thread.region->contains(address, bytes))
      return *thread.region;
    Region *region = memory.find(address);
    if (region && region->contains(address, bytes))
      return *(thread.region = region);
    std::string near;
    if (isShared)
      near = "; this is shared memory";
    else if (region)
      near = concat("; '", region->getName(), "' ends ",
                    address + bytes - region->getBase() - region->size(),
                    " bytes before the end of the access");
    fail(thread, access.where,
         here() + ", which is outside of global memory" + near);
  }

  Block *block = thread.inBlock;
  if (space == BATCH_SPACE_SHARED_CLUSTER && isShared)
    block = &blocks[offset / sharedStride];
  if (!block->shared || !block->shared->contains(address, bytes)) {
    int64_t own = address - reinterpret_cast<uintptr_t>(
                                thread.BatchEmulatorThread::shared);
    fail(thread, access.where,
         concat(here(), ", which is outside of the block's ",
                launch.sharedBytes, " bytes of shared memory: offset ", own));
  }
  if (block->cluster != thread.inBlock->cluster)
    fail(thread, access.where,
         concat(here(), " in the shared memory of block ", block->number,
                ", which is in another cluster"));
  if (!block->live)
    fail(thread, access.where,
         concat(here(), " in the shared memory of block ", block->number,
                ", which has exited; add a cluster barrier before the block "
                "exits"));
  return *block->shared;
}

void Grid::count(const Thread &thread, uintptr_t address, int64_t bytes,
                 const Region &region, const Access &access) {
  AccessCounts &counts = *launch.counts;
  const bool isShared = &region == thread.inBlock->shared.get();
  if (access.reads && !isShared)
    counts.reads[region.getName()] += bytes;
  const int64_t offset =
      address - reinterpret_cast<uintptr_t>(thread.BatchEmulatorThread::shared);
  if (access.writes && isShared && offset >= counts.begin &&
      offset < counts.end)
    counts.writes[thread.block][thread.thread / warpSize] += bytes;
}

void Grid::note(Thread &thread, uintptr_t address, int64_t bytes,
                int64_t alignment, int64_t space, const Access &access) {
  thread.where = access.where;
  if (address & (alignment - 1))
    fail(thread, access.where,
         concat(verb(access), " ", bytes, " bytes at ",
                reinterpret_cast<void *>(address),
                ", which is not a multiple of ", alignment));
  Region &region = locate(thread, address, bytes, space, access);
  if (launch.counts)
    count(thread, address, bytes, region, access);
  Finding finding = region.note(thread.clock, address, bytes, access);
  if (finding.kind == Finding::Nothing)
    return;
  std::string what =
      concat(verb(access), " '", region.getName(), "' + ", finding.offset);
  if (finding.kind == Finding::Unwritten)
    fail(thread, access.where, what + ", which was never written");
  if (finding.kind == Finding::ReadOnly)
    fail(thread, access.where, what + ", which is read-only");
  ThreadId id = finding.other.id();
  std::string who = concat(id.isSeveral() ? std::string("several threads")
                                          : concat("thread ", id.thread()),
                           " of block ", id.block());
  bool sameBlock = id.block() == thread.block;
  fail(thread, access.where,
       concat("race: ", what, ", which ", who,
              finding.otherWrites ? " wrote at " : " read at ",
              finding.otherWhere, "; nothing orders the two accesses; ",
              sameBlock ? "add a barrier of the block"
                        : "add a barrier of all blocks, or a release in one "
                          "block and an acquire in the other"));
}

void Grid::access(Thread &thread, uintptr_t address, int64_t bytes,
                  int64_t alignment, int64_t space, Access access) {
  ++counters.accesses;
  if (--quantum < 0) {
    drawQuantum();
    yield(thread);
  }
  note(thread, address, bytes, alignment, space, access);
  stopPolling(thread);
  if (access.writes)
    progress();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Begins a copy. The bytes may be copied at any time until the wait for the
/// copy ends. Until then, no thread may read the old contents of the target or
/// write the source.
void Grid::copyAsync(Thread &thread, void *to, const void *from, int64_t bytes,
                     const char *where) {
  access(thread, reinterpret_cast<uintptr_t>(from), bytes, bytes,
         BATCH_SPACE_GLOBAL, {true, false, false, where});
  const Access write = {false, true, false, where};
  const auto target = reinterpret_cast<uintptr_t>(to);
  access(thread, target, bytes, bytes, BATCH_SPACE_SHARED, write);
  locate(thread, target, bytes, BATCH_SPACE_SHARED, write)
      .markUnwritten(target, bytes);
  Copy &copy = thread.copies.emplace_back(Copy{to, from, bytes, where, {}});
  std::memcpy(copy.before.data(), from, bytes);
}

void Grid::commitCopies(Thread &thread, const char *where) {
  thread.where = where;
  thread.copyGroups.push_back(std::move(thread.copies));
  thread.copies.clear();
}

/// Waits for copies. Copies become visible only here, even to their own thread,
/// so a missing wait is detected.
void Grid::waitCopies(Thread &thread, int64_t groups, const char *where) {
  thread.where = where;
  for (; static_cast<int64_t>(thread.copyGroups.size()) > groups;
       thread.copyGroups.pop_front())
    for (const Copy &copy : thread.copyGroups.front()) {
      access(thread, reinterpret_cast<uintptr_t>(copy.to), copy.bytes,
             copy.bytes, BATCH_SPACE_SHARED, {false, true, false, copy.where});
      if (std::memcmp(copy.before.data(), copy.from, copy.bytes) != 0)
        fail(thread, copy.where,
             concat("copies ", copy.bytes,
                    " bytes that changed before the wait for the copy"));
      std::memcpy(copy.to, copy.from, copy.bytes);
    }
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static uint64_t loadBits(const void *address, int64_t bytes) {
  if (bytes == 8) {
    uint64_t value;
    std::memcpy(&value, address, 8);
    return value;
  }
  uint32_t value;
  std::memcpy(&value, address, 4);
  return value;
}

static void storeBits(void *address, uint64_t value, int64_t bytes) {
  if (bytes == 8) {
    std::memcpy(address, &value, 8);
    return;
  }
  auto low = static_cast<uint32_t>(value);
  std::memcpy(address, &low, 4);
}

template <class Int, class Float>
static Int update(int64_t kind, Int old, Int operand) {
  using Signed = std::make_signed_t<Int>;
  auto a = static_cast<Signed>(old), b = static_cast<Signed>(operand);
  switch (kind) {
  case BATCH_ATOMIC_EXCHANGE:
    return operand;
  case BATCH_ATOMIC_ADD:
    return old + operand;
  case BATCH_ATOMIC_SUB:
    return old - operand;
  case BATCH_ATOMIC_AND:
    return old & operand;
  case BATCH_ATOMIC_OR:
    return old | operand;
  case BATCH_ATOMIC_XOR:
    return old ^ operand;
  case BATCH_ATOMIC_MAX:
    return a > b ? old : operand;
  case BATCH_ATOMIC_MIN:
    return a < b ? old : operand;
  case BATCH_ATOMIC_UMAX:
    return std::max(old, operand);
  case BATCH_ATOMIC_UMIN:
    return std::min(old, operand);
  default: { // BATCH_ATOMIC_FADD
    Float x, y;
    std::memcpy(&x, &old, sizeof(Int));
    std::memcpy(&y, &operand, sizeof(Int));
    x += y;
    std::memcpy(&old, &x, sizeof(Int));
    return old;
  }
  }
}

uint64_t Grid::beginAtomic(Thread &thread, const void *address, int64_t bytes,
                           int64_t space, const Access &access) {
  ++counters.atomics;
  yield(thread);
  note(thread, reinterpret_cast<uintptr_t>(address), bytes, bytes, space,
       access);
  return access.reads ? loadBits(address, bytes) : 0;
}

/// Returns true if one scope of this kind contains both blocks.
static bool reaches(int64_t scope, const Block &a, const Block &b) {
  return scope == BATCH_SCOPE_DEVICE || &a == &b ||
         (scope == BATCH_SCOPE_CLUSTER && a.cluster == b.cluster);
}

void Grid::acquire(Thread &thread, const void *address, int64_t order,
                   int64_t scope) {
  auto found = published.find(address);
  if (found == published.end())
    return;
  const Publication &publication = found->second;
  if (!reaches(std::min(scope, publication.scope), *thread.inBlock,
               blocks[publication.block]))
    return;
  if (order & BATCH_ORDER_ACQUIRE) {
    thread.clock.acquire(publication.clock);
    return;
  }
  Publication seen = publication;
  seen.scope = std::min(seen.scope, scope);
  for (Publication &other : thread.seen)
    if (other.scope == seen.scope && other.block == seen.block) {
      if (other.clock == seen.clock)
        return;
      auto sum = std::make_shared<Clock>(*seen.clock);
      sum->join(*other.clock);
      other.clock = std::move(sum);
      return;
    }
  thread.seen.push_back(std::move(seen));
}

void Grid::publish(Thread &thread, const void *address, int64_t order,
                   int64_t scope, bool continues) {
  SharedClock clock;
  if (order & BATCH_ORDER_RELEASE) {
    clock = thread.clock.release();
  } else {
    clock = thread.fenced.clock;
    scope = std::min(scope, thread.fenced.scope);
  }
  Publication &publication = published[address];
  // An update adds to the clock that is already published at the address; a
  // store replaces that clock.
  if (continues && publication.clock) {
    if (!clock)
      return;
    auto sum = std::make_shared<Clock>(*clock);
    sum->join(*publication.clock);
    clock = std::move(sum);
  }
  if (clock)
    publication = {std::move(clock), scope, thread.block};
  else
    published.erase(address);
}

int64_t Grid::atomicLoad(Thread &thread, const void *address, int64_t bytes,
                         int64_t order, int64_t scope, int64_t space,
                         const char *where) {
  uint64_t value =
      beginAtomic(thread, address, bytes, space, {true, false, true, where});
  acquire(thread, address, order, scope);
  poll(thread, address, where);
  return static_cast<int64_t>(value);
}

void Grid::atomicStore(Thread &thread, void *address, int64_t value,
                       int64_t bytes, int64_t order, int64_t scope,
                       int64_t space, const char *where) {
  beginAtomic(thread, address, bytes, space, {false, true, true, where});
  publish(thread, address, order, scope, /*continues=*/false);
  storeBits(address, static_cast<uint64_t>(value), bytes);
  progress();
}

int64_t Grid::atomicUpdate(Thread &thread, int64_t kind, void *address,
                           int64_t value, int64_t bytes, int64_t scope,
                           int64_t space, const char *where) {
  uint64_t old =
      beginAtomic(thread, address, bytes, space, {true, true, true, where});
  acquire(thread, address, BATCH_ORDER_RELAXED, scope);
  publish(thread, address, BATCH_ORDER_RELAXED, scope, /*continues=*/true);
  uint64_t result =
      bytes == 8 ? update<uint64_t, double>(kind, old, value)
                 : update<uint32_t, float>(kind, static_cast<uint32_t>(old),
                                           static_cast<uint32_t>(value));
  storeBits(address, result, bytes);
  if (result == old)
    poll(thread, address, where);
  else
    progress();
  return static_cast<int64_t>(old);
}

int64_t Grid::compareExchange(Thread &thread, void *address, int64_t expected,
                              int64_t desired, int64_t bytes, int64_t success,
                              int64_t failure, int64_t scope, int64_t space,
                              const char *where) {
  uint64_t old =
      beginAtomic(thread, address, bytes, space, {true, true, true, where});
  uint64_t wanted = bytes == 8 ? static_cast<uint64_t>(expected)
                               : static_cast<uint32_t>(expected);
  bool equal = old == wanted;
  acquire(thread, address, equal ? success : failure, scope);
  if (equal) {
    publish(thread, address, success, scope, /*continues=*/true);
    storeBits(address, static_cast<uint64_t>(desired), bytes);
    progress();
  } else {
    poll(thread, address, where);
  }
  return static_cast<int64_t>(old);
}

void Grid::fence(Thread &thread, int64_t order, int64_t scope,
                 const char *where) {
  thread.where = where;
  if (order & BATCH_ORDER_ACQUIRE) {
    for (const Publication &seen : thread.seen)
      if (reaches(std::min(scope, seen.scope), *thread.inBlock,
                  blocks[seen.block]))
        thread.clock.acquire(seen.clock);
    thread.seen.clear();
  }
  if (order & BATCH_ORDER_RELEASE)
    thread.fenced = {thread.clock.release(), scope, thread.block};
}

void *Grid::mapShared(Thread &thread, void *address, int64_t rank,
                      const char *where) {
  thread.where = where;
  int64_t offset =
      static_cast<char *>(address) - thread.BatchEmulatorThread::shared;
  if (offset < 0 || offset >= launch.sharedBytes)
    fail(thread, where,
         concat("maps an address outside of the block's ", launch.sharedBytes,
                " bytes of shared memory: offset ", offset));
  if (rank < 0 || rank >= launch.clusterBlocks)
    fail(thread, where,
         concat("maps to block ", rank, " of the cluster; expected 0 to ",
                launch.clusterBlocks - 1));
  int64_t block = thread.block - thread.clusterBlock + rank;
  return shared + block * sharedStride + offset;
}
