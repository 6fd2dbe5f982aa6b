//===- Tables.cpp - The memory of results, and where tasks' rows lie ------===//
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
  // By group: its tables with memory of their own, and the bytes of a row.
  std::vector<std::vector<int>> owners(descriptor.groups);
  std::vector<int64_t> rowBytes(descriptor.groups);
  memoryOf.resize(memory.size());
  for (size_t t = 0; t < memory.size(); ++t) {
    const TableInfo &table = descriptor.tables[t];
    memoryOf[t] = table.beside < 0 ? static_cast<int>(t) : table.beside;
    if (table.beside >= 0)
      continue;
    owners[table.group].push_back(static_cast<int>(t));
    rowBytes[table.group] += table.rowBytes;
  }
  // All kernels may read the rows of constants.
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
      parts.emplace_back();
    parts[p].end = firstTaskOf(p, numParts);
  }
}

void Tables::addTasks(int64_t number, int64_t end) {
  Part &part = parts[number];
  const int64_t first = firstTaskOf(number, partCount);
  const int64_t used = part.end - first, wanted = end - first;
  auto bytes = [&](int64_t stride) {
    return descriptor.groups * stride * sizeof(int32_t);
  };
  if (used == 0) {
    part.stride = wanted;
    part.slots.reserve(bytes(wanted), "slots of tasks");
  } else if (wanted > part.stride) {
    Buffer slots;
    const int64_t stride = std::max(wanted, 2 * part.stride);
    slots.reserve(bytes(stride), "slots of tasks");
    for (int group = 0; group < descriptor.groups; ++group)
      std::copy_n(part.slots.as<int32_t>() + group * part.stride, used,
                  slots.as<int32_t>() + group * stride);
    part.slots = std::move(slots);
    part.stride = stride;
  }
  for (int group = 0; hasHeld && group < descriptor.groups; ++group)
    if (isHeld[group])
      std::fill_n(slotsOf(number, group) + used, wanted - used, -1);
  part.end = end;
}

void Tables::shareRows(int64_t task, int64_t part) {
  const int64_t owner = partOf(task, partCount), end = parts[part].end;
  addTasks(part, end + 1);
  for (int group = 0; group < descriptor.groups; ++group)
    slotsOf(part, group)[end - firstTaskOf(part, partCount)] =
        slotsOf(owner, group)[task - firstTaskOf(owner, partCount)];
}

void Tables::beginPlan() {
  for (Pool &pool : pools) {
    pool.rows.continueRun();
    pool.held.begin(pool.rows.rows());
  }
}

void Tables::startApart() {
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

void Tables::makeRoom() {
  for (const Pool &pool : pools)
    groupRows[pool.leader] = pool.rows.rows();
  totalSlots = 0;
  for (size_t t = 0; t < memory.size(); ++t) {
    const TableInfo &table = descriptor.tables[t];
    int64_t rows = groupRows[table.group];
    if (rows > INT32_MAX)
      raise("the mini-batch needs ", rows, " rows of table '", table.name,
            "', but 2147483647 is the most; give a smaller --batch");
    totalSlots += rows;
    if (memoryOf[t] != static_cast<int>(t))
      continue;
    const size_t bytes = storageBytes(t);
    // A run of one plan takes no more than it needs.
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
    sum += part.slots.capacity();
  for (const Pool &pool : pools)
    sum += pool.rows.bytes() + pool.held.bytes();
  return sum;
}
