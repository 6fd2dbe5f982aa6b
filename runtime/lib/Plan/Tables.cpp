//===- Tables.cpp - Memory of results, rows of tasks ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Tables.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

Tables::Tables(const Descriptor &descriptor, int64_t reusedRowBytes)
    : descriptor(descriptor), groupRows(descriptor.groups),
      groupBlocks(descriptor.groups, 1), memory(descriptor.tables.size()),
      usedBytes(descriptor.tables.size()) {
  for (const TableInfo &table : descriptor.tables)
    groupBlocks[table.group] = std::max(groupBlocks[table.group], table.block);
  choosePools(reusedRowBytes);
}

void Tables::choosePools(int64_t reusedRowBytes) {
  // For each group: its tables with their own memory, and the size of a row in
  // bytes.
  std::vector<std::vector<int>> owners(descriptor.groups);
  std::vector<int64_t> rowBytes(descriptor.groups);
  memoryOf.resize(memory.size());
  for (size_t t = 0; t < memory.size(); ++t) {
    const TableInfo &table = descriptor.tables[t];
    memoryOf[t] = table.nextTo < 0 ? static_cast<int>(t) : table.nextTo;
    if (table.nextTo >= 0)
      continue;
    owners[table.group].push_back(static_cast<int>(t));
    rowBytes[table.group] += table.rowBytes;
  }
  // All kernels may read the rows of constants, so these are never reused.
  std::vector<bool> isConstant(descriptor.groups);
  for (const KernelInfo &kernel : descriptor.kernels)
    for (const ResultInfo &result : kernel.results)
      if (kernel.constant)
        isConstant[descriptor.tables[result.table].group] = true;

  auto hasSameRows = [&](int a, int b) {
    return std::equal(owners[a].begin(), owners[a].end(), owners[b].begin(),
                      owners[b].end(), [&](int left, int right) {
                        return descriptor.tables[left].rowBytes ==
                               descriptor.tables[right].rowBytes;
                      });
  };
  poolOf.assign(descriptor.groups, -1);
  for (int group = 0; group < descriptor.groups; ++group) {
    if (rowBytes[group] < reusedRowBytes || groupBlocks[group] > 1 ||
        isConstant[group])
      continue;
    size_t pool = 0;
    while (pool < pools.size() && !hasSameRows(pools[pool].leader, group))
      ++pool;
    if (pool == pools.size())
      pools.push_back({group, {}, {}});
    poolOf[group] = static_cast<int>(pool);
    for (size_t i = 0; i < owners[group].size(); ++i)
      memoryOf[owners[group][i]] = owners[pools[pool].leader][i];
  }
  for (size_t t = 0; t < memory.size(); ++t)
    memoryOf[t] = memoryOf[memoryOf[t]];
  isHeld.assign(descriptor.groups, descriptor.waits);
  for (const TableInfo &table : descriptor.tables)
    if (!table.transient || poolOf[table.group] < 0)
      isHeld[table.group] = false;
  hasHeld = std::find(isHeld.begin(), isHeld.end(), 1) != isHeld.end();
}

void Tables::clear(int64_t numParts) {
  std::fill(groupRows.begin(), groupRows.end(), 0);
  std::fill(usedBytes.begin(), usedBytes.end(), 0);
  for (Pool &pool : pools) {
    pool.rows.reset();
    pool.held.clear();
  }
  totalSlots = 0;
  partCount = numParts;
  for (int64_t p = 0; p < numParts; ++p) {
    if (static_cast<size_t>(p) == parts.size())
      parts.emplace_back().slots.assign(descriptor.groups,
                                        SlotMap(descriptor.waits));
    for (SlotMap &slots : parts[p].slots)
      slots.clear();
    setNumbers(p, firstTaskOf(p, numParts), endTaskOf(p, numParts));
  }
}

void Tables::setNumbers(int64_t number, int64_t task, int64_t limit) {
  Part &part = parts[number];
  part.end = task;
  part.limit = limit;
  part.half = task + (limit - task) / 2;
}

void Tables::addTasks(int64_t number, int64_t end) {
  for (SlotMap &slots : parts[number].slots)
    slots.reserve(end - firstTaskOf(number, partCount));
  parts[number].end = end;
}

int64_t Tables::chooseNumbers(int64_t number) {
  Part &part = parts[number];
  if (part.end < part.half)
    return part.end;
  // Find the largest range outside of all pages: its numbers are not in use.
  std::vector<int64_t> pages;
  for (int group = 0; group < descriptor.groups; ++group) {
    if (isHeld[group])
      part.slots[group].removePages();
    part.slots[group].listPages(pages);
  }
  std::sort(pages.begin(), pages.end());
  const int64_t first = firstTaskOf(number, partCount);
  int64_t begin = part.end, limit = part.end, free = first;
  auto addGap = [&](int64_t end) {
    if (end - free > limit - begin) {
      begin = free;
      limit = end;
    }
  };
  for (int64_t page : pages) {
    addGap(first + page * SlotMap::pagePlaces);
    free = first + (page + 1) * SlotMap::pagePlaces;
  }
  addGap(endTaskOf(number, partCount));
  setNumbers(number, begin, limit);
  return begin;
}

void Tables::shareRows(int64_t task, int64_t number) {
  const int64_t owner = partOf(task, partCount), end = parts[number].end;
  addTasks(number, end + 1);
  for (int group = 0; group < descriptor.groups; ++group)
    if (const int32_t slot =
            slotsOf(owner, group).slot(task - firstTaskOf(owner, partCount));
        slot >= 0)
      slotsOf(number, group).set(end - firstTaskOf(number, partCount), slot);
}

void Tables::keep(int64_t handle, int32_t epoch) {
  const int64_t task = taskOf(handle), part = partOf(task, partCount);
  const int64_t place = task - firstTaskOf(part, partCount);
  if (epoch == HeldRows::pinned)
    pin(handle);
  for (int group = 0; hasHeld && group < descriptor.groups; ++group)
    // A slot of -1 means that the task has no results in the group.
    if (isHeld[group])
      if (const int32_t slot = slotsOf(part, group).keep(place); slot >= 0)
        heldRows(group)->read(slot + (handle >> 56), epoch);
}

void Tables::pin(int64_t handle) {
  const int64_t task = taskOf(handle), part = partOf(task, partCount);
  for (int group = 0; group < descriptor.groups; ++group)
    if (isHeld[group])
      slotsOf(part, group).pin(task - firstTaskOf(part, partCount));
}

void Tables::beginPlan() {
  for (Pool &pool : pools) {
    pool.rows.continueRun();
    pool.held.begin(pool.rows.rows());
  }
  for (int64_t p = 0; p < partCount; ++p)
    for (int group = 0; group < descriptor.groups; ++group)
      parts[p].slots[group].beginPlan(/*removesPages=*/isHeld[group]);
}

void Tables::startSeparateRows() {
  for (Pool &pool : pools)
    pool.rows.startPlan();
}

void Tables::releaseHeld() {
  for (Pool &pool : pools)
    pool.held.release(pool.rows);
}

size_t Tables::storageBytes(size_t table) const {
  const TableInfo &info = descriptor.tables[table];
  int64_t rows = groupRows[info.group];
  return (rows + info.block - 1) / info.block * info.rowBytes;
}

void Tables::reserveRows() {
  for (const Pool &pool : pools)
    groupRows[pool.leader] = pool.rows.rows();
  totalSlots = 0;
  for (size_t t = 0; t < memory.size(); ++t) {
    const TableInfo &table = descriptor.tables[t];
    int64_t rows = groupRows[table.group];
    if (rows > INT32_MAX)
      raise("the mini-batch needs ", rows, " rows of table '", table.name,
            "', but the limit is 2147483647; use a smaller batch (--batch)");
    totalSlots += rows;
    if (memoryOf[t] != static_cast<int>(t))
      continue;
    const size_t bytes = storageBytes(t);
    // A run of one plan reserves no more than it needs.
    if (usedBytes[t])
      memory[t].grow(bytes, usedBytes[t], "result tables");
    else
      memory[t].reserve(bytes, "result tables");
    usedBytes[t] = bytes;
  }
}

void Tables::addRegions(const std::vector<bool> &outputs,
                        std::vector<ImageRegion> &regions) const {
  std::vector<bool> copied = outputs;
  for (size_t t = 0; t < memory.size(); ++t)
    if (outputs[t])
      copied[memoryOf[t]] = true;
  for (size_t t = 0; t < memory.size(); ++t)
    if (memoryOf[t] == static_cast<int>(t))
      regions.push_back(
          {memory[t].data(), usedBytes[t],
           copied[t] ? ImageRegion::CopiedOut : ImageRegion::DeviceOnly,
           descriptor.tables[t].name.c_str()});
}

size_t Tables::rowBytes() const {
  size_t sum = 0;
  for (const Buffer &rows : memory)
    sum += rows.capacity();
  return sum;
}

size_t Tables::slotBytes() const {
  size_t sum = 0;
  for (const Part &part : parts)
    for (const SlotMap &slots : part.slots)
      sum += slots.bytes();
  for (const Pool &pool : pools)
    sum += pool.rows.bytes() + pool.held.bytes();
  return sum;
}
