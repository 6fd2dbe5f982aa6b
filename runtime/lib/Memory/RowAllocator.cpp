//===- RowAllocator.cpp - Reused rows of a table --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/RowAllocator.h"

#include <algorithm>

using namespace batchrt;

void RowAllocator::reset() {
  end = 0;
  startPlan();
}

void RowAllocator::startPlan() {
  entered = 0;
  freeRanges.clear();
  releases.clear();
  firstRelease.clear();
}

void RowAllocator::continueRun() {
  enter(static_cast<int64_t>(firstRelease.size()));
  entered = 0;
  releases.clear();
  firstRelease.clear();
}

void RowAllocator::enter(int64_t epoch) {
  arriving.clear();
  int64_t last = std::min(epoch, static_cast<int64_t>(firstRelease.size()) - 1);
  for (; entered <= last; ++entered)
    for (int64_t r = firstRelease[entered]; r >= 0; r = releases[r].next)
      arriving.push_back(releases[r].range);
  entered = std::max(entered, epoch + 1);
  if (arriving.empty())
    return;
  auto isBefore = [](const Range &a, const Range &b) {
    return a.begin < b.begin;
  };
  std::sort(arriving.begin(), arriving.end(), isBefore);
  merged.resize(freeRanges.size() + arriving.size());
  std::merge(freeRanges.begin(), freeRanges.end(), arriving.begin(),
             arriving.end(), merged.begin(), isBefore);
  freeRanges.clear();
  for (const Range &range : merged)
    if (!freeRanges.empty() && freeRanges.back().end == range.begin)
      freeRanges.back().end = range.end;
    else
      freeRanges.push_back(range);
}

int64_t RowAllocator::take(int64_t count) {
  auto best = freeRanges.end();
  for (auto range = freeRanges.begin(); range != freeRanges.end(); ++range) {
    int64_t length = range->end - range->begin;
    if (length >= count &&
        (best == freeRanges.end() || length < best->end - best->begin))
      best = range;
  }
  if (best == freeRanges.end()) {
    // Extend the free range at the end. If there is none, add an empty one.
    if (freeRanges.empty() || freeRanges.back().end != end)
      freeRanges.push_back({end, end});
    best = freeRanges.end() - 1;
    end = best->end = best->begin + count;
  }
  int64_t first = best->begin;
  best->begin += count;
  if (best->begin == best->end)
    freeRanges.erase(best);
  return first;
}

void RowAllocator::release(int64_t begin, int64_t count, int64_t epoch) {
  if (static_cast<size_t>(epoch) >= firstRelease.size())
    firstRelease.resize(epoch + 1, -1);
  releases.push_back({{begin, begin + count}, firstRelease[epoch]});
  firstRelease[epoch] = static_cast<int64_t>(releases.size()) - 1;
}

size_t RowAllocator::bytes() const {
  return (freeRanges.capacity() + merged.capacity() + arriving.capacity()) *
             sizeof(Range) +
         releases.capacity() * sizeof(Release) +
         firstRelease.capacity() * sizeof(int64_t);
}
