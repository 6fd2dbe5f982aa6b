//===- Memo.cpp - Memoized calls ------------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Memory.h"
#include "batch-runtime/Schedule/Random.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace batchrt;

static uint64_t hashKey(int64_t function, const int64_t *key, int64_t size) {
  uint64_t hash = mixBits(static_cast<uint64_t>(function) + goldenRatio);
  for (int64_t i = 0; i < size; ++i)
    hash = mixBits(hash + goldenRatio + static_cast<uint64_t>(key[i]));
  return hash;
}

void MemoTable::clear() {
  ++epoch;
  used = 0;
  pool.clear();
}

/// Returns the entry of the key, or the empty entry to store it in.
size_t MemoTable::locate(uint64_t hash, int64_t function, const int64_t *key,
                         int64_t keySize) const {
  size_t mask = entries.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Entry &entry = entries[at];
    if (entry.epoch != epoch)
      return at;
    if (entry.hash == hash && entry.function == function &&
        entry.keySize == keySize &&
        (keySize == 0 ||
         std::memcmp(pool.data() + entry.cells, key, keySize * 8) == 0))
      return at;
  }
}

bool MemoTable::find(int64_t function, const int64_t *key, int64_t keySize,
                     int64_t *results, int64_t resultCount) const {
  if (used == 0)
    return false;
  size_t at = locate(hashKey(function, key, keySize), function, key, keySize);
  const Entry &entry = entries[at];
  if (entry.epoch != epoch || !entry.hasResults)
    return false;
  for (int64_t i = 0; i < resultCount; ++i)
    results[i] = pool[entry.cells + keySize + i];
  return true;
}

/// Returns the entry of the key. If there is none, adds one without results.
MemoTable::Entry &MemoTable::add(int64_t function, const int64_t *key,
                                 int64_t keySize, int64_t resultCount) {
  if (2 * static_cast<size_t>(used + 1) > entries.size())
    rehash();
  uint64_t hash = hashKey(function, key, keySize);
  Entry &entry = entries[locate(hash, function, key, keySize)];
  if (entry.epoch == epoch)
    return entry;
  ++used;
  const auto cells = static_cast<int64_t>(pool.size());
  entry = {hash, epoch, function, keySize, cells, false, 0};
  pool.insert(pool.end(), key, key + keySize);
  pool.resize(pool.size() + resultCount);
  return entry;
}

bool MemoTable::begin(int64_t function, const int64_t *key, int64_t keySize,
                      int64_t resultCount) {
  Entry &entry = add(function, key, keySize, resultCount);
  return std::exchange(entry.attempt, attempt) != attempt;
}

void MemoTable::store(int64_t function, const int64_t *key, int64_t keySize,
                      const int64_t *results, int64_t resultCount) {
  Entry &entry = add(function, key, keySize, resultCount);
  entry.hasResults = true;
  std::copy(results, results + resultCount,
            pool.begin() + entry.cells + keySize);
}

void MemoTable::rehash() {
  std::vector<Entry> old(entries.empty() ? 1024 : entries.size() * 2,
                         Entry{0, 0, 0, 0, 0, false, 0});
  old.swap(entries);
  size_t mask = entries.size() - 1;
  for (const Entry &entry : old) {
    if (entry.epoch != epoch)
      continue;
    size_t at = entry.hash & mask;
    while (entries[at].epoch == epoch)
      at = (at + 1) & mask;
    entries[at] = entry;
  }
}
