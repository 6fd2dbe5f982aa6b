//===- Memory.cpp - Memory of an emulated GPU and its shadow --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Based on FastTrack (Flanagan and Freund, PLDI 2009). While accesses are
// ordered, the last write of a word and one read are enough. Only concurrent
// reads need more entries, and reads by one block share an entry.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;
using namespace batchrt::emulator;

/// Returns the stamp of the host's writes, which precedes every launch.
static Stamp hostStamp() { return Stamp(ThreadId(0, 0), 1, false); }

Region::Region(uintptr_t base, size_t bytes, std::string name, RegionUse use)
    : base(base), bytes(bytes), name(std::move(name)),
      readOnly(use == RegionUse::ReadOnly) {
  reset();
}

void Region::reset() {
  written = false;
  splits.clear();
  readers.clear();
  freeReaders.clear();
  cells.reset(
      static_cast<Cell *>(std::calloc((bytes + 3) / 4 + 1, sizeof(Cell))));
  if (!cells)
    raise("out of memory: cannot allocate shadow memory for the ", bytes,
          " bytes of '", name, "'");
}

/// Returns one stamp that represents two reads by threads of the same block.
static Stamp joinReads(const ThreadClock &thread, Stamp old, Stamp added) {
  if (thread.covers(old))
    return added;
  return Stamp(ThreadId::several(added.id().block()),
               std::max(old.time(), added.time()),
               old.atomic() && added.atomic());
}

void Region::addReader(const ThreadClock &thread, Cell &cell,
                       const Access &access) {
  Reader mine{thread.stamp(access.atomic), access.where};
  int64_t block = thread.thread().block();
  auto set = [&](Reader reader) {
    cell.read = reader.stamp;
    cell.readWhere = reader.where;
  };
  if (cell.read == Stamp::mark()) {
    for (Reader &reader : readers[cell.list])
      if (reader.stamp.id().block() == block) {
        reader = {joinReads(thread, reader.stamp, mine.stamp), mine.where};
        return;
      }
    readers[cell.list].push_back(mine);
    return;
  }
  if (!cell.read)
    return set(mine);
  if (cell.read.id().block() == block)
    return set({joinReads(thread, cell.read, mine.stamp), mine.where});
  if (thread.covers(cell.read))
    return set(mine);
  size_t list = readers.size();
  if (freeReaders.empty()) {
    readers.emplace_back();
  } else {
    list = freeReaders.back();
    freeReaders.pop_back();
  }
  readers[list] = {{cell.read, cell.readWhere}, mine};
  cell.read = Stamp::mark();
  cell.list = list;
}

void Region::forgetReaders(Cell &cell) {
  if (cell.read == Stamp::mark())
    freeReaders.push_back(cell.list);
  cell.read = Stamp();
}

bool Region::checkReaders(const ThreadClock &thread, const Cell &cell,
                          const Access &access, Finding &finding) const {
  auto check = [&](Stamp stamp, const char *where) {
    if ((access.atomic && stamp.atomic()) || thread.covers(stamp))
      return true;
    finding.kind = Finding::Race;
    finding.other = stamp;
    finding.otherWhere = where;
    return false;
  };
  if (!cell.read)
    return true;
  if (!(cell.read == Stamp::mark()))
    return check(cell.read, cell.readWhere);
  return std::all_of(
      readers[cell.list].begin(), readers[cell.list].end(),
      [&](const Reader &reader) { return check(reader.stamp, reader.where); });
}

bool Region::recordAccess(const ThreadClock &thread, Cell &cell,
                          const Access &access, Finding &finding) {
  if (!cell.write) {
    if (access.reads && !written) {
      finding.kind = Finding::Unwritten;
      return false;
    }
  } else if (!(access.atomic && cell.write.atomic()) &&
             !thread.covers(cell.write)) {
    finding.kind = Finding::Race;
    finding.other = cell.write;
    finding.otherWrites = true;
    finding.otherWhere = cell.writeWhere;
    return false;
  }
  if (!access.writes) {
    if (!readOnly)
      addReader(thread, cell, access);
    return true;
  }
  if (!checkReaders(thread, cell, access, finding))
    return false;
  forgetReaders(cell);
  cell.write = thread.stamp(access.atomic);
  cell.writeWhere = access.where;
  return true;
}

std::array<Region::Cell, 4> &Region::split(Cell &cell) {
  if (!(cell.write == Stamp::mark())) {
    std::array<Cell, 4> bytes{cell, cell, cell, cell};
    if (cell.read == Stamp::mark())
      for (int i = 1; i < 4; ++i) {
        bytes[i].list = readers.size();
        readers.push_back(std::vector<Reader>(readers[cell.list]));
      }
    cell.write = Stamp::mark();
    cell.split = splits.size();
    splits.push_back(bytes);
  }
  return splits[cell.split];
}

Finding Region::note(const ThreadClock &thread, uintptr_t address,
                     size_t length, const Access &access) {
  Finding finding;
  uint64_t offset = address - base, end = offset + length;
  if (access.writes && readOnly) {
    finding.kind = Finding::ReadOnly;
    finding.offset = offset;
    return finding;
  }
  while (offset < end) {
    Cell &cell = cells[offset / 4];
    finding.offset = offset;
    bool whole = offset % 4 == 0 && end - offset >= 4;
    if (whole && !(cell.write == Stamp::mark())) {
      if (!recordAccess(thread, cell, access, finding))
        return finding;
      offset += 4;
      continue;
    }
    std::array<Cell, 4> &bytes = split(cell);
    do {
      if (!recordAccess(thread, bytes[offset % 4], access, finding))
        return finding;
      finding.offset = ++offset;
    } while (offset < end && offset % 4);
  }
  return finding;
}

void Region::setWritten(Cell &cell) {
  forgetReaders(cell);
  cell.write = hostStamp();
  cell.writeWhere = "the host";
}

template <class Function>
void Region::forEachCell(uintptr_t address, size_t length, Function function) {
  const uint64_t begin = address - base, end = begin + length;
  for (uint64_t offset = begin; offset < end;) {
    Cell &cell = cells[offset / 4];
    if (offset % 4 == 0 && end - offset >= 4 &&
        !(cell.write == Stamp::mark())) {
      function(cell);
      offset += 4;
    } else {
      function(split(cell)[offset % 4]);
      ++offset;
    }
  }
}

void Region::markWritten(uintptr_t address, size_t length) {
  if (length == bytes) {
    reset();
    written = true;
    return;
  }
  forEachCell(address, length, [&](Cell &cell) { setWritten(cell); });
}

void Region::markUnwritten(uintptr_t address, size_t length) {
  forEachCell(address, length, [](Cell &cell) { cell.write = Stamp(); });
}

int64_t Region::findUnwritten(uintptr_t address, size_t length) const {
  uint64_t begin = address - base;
  for (uint64_t offset = begin; offset < begin + length && !written; ++offset) {
    const Cell &cell = cells[offset / 4];
    bool split = cell.write == Stamp::mark();
    if (!(split ? splits[cell.split][offset % 4] : cell).write)
      return static_cast<int64_t>(offset);
  }
  return -1;
}

void GlobalMemory::add(uintptr_t base, size_t bytes, std::string name,
                       RegionUse use) {
  if (base % 4)
    raise("region '", name, "' does not begin at a multiple of 4 bytes");
  if (bytes == 0)
    raise("region '", name, "' is empty");
  auto next = regions.lower_bound(base);
  if (next != regions.end() && next->first - base < bytes)
    raise("region '", name, "' overlaps '", next->second->getName(), "'");
  if (Region *before = find(base); before && before->contains(base, 1))
    raise("region '", name, "' overlaps '", before->getName(), "'");
  regions.emplace(base,
                  std::make_unique<Region>(base, bytes, std::move(name), use));
}

void GlobalMemory::remove(uintptr_t base) {
  if (!regions.erase(base))
    raise("no region begins at ", reinterpret_cast<void *>(base));
}

Region *GlobalMemory::find(uintptr_t address) {
  auto next = regions.upper_bound(address);
  return next == regions.begin() ? nullptr : std::prev(next)->second.get();
}

Region &GlobalMemory::get(const void *address, size_t bytes) {
  auto base = reinterpret_cast<uintptr_t>(address);
  Region *region = find(base);
  if (!region || !region->contains(base, bytes))
    raise("no region contains the ", bytes, " bytes at ", address);
  return *region;
}
