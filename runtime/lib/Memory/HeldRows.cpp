//===- HeldRows.cpp - Rows of earlier plans of a run ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/HeldRows.h"

using namespace batchrt;

void HeldRows::begin(int64_t rows) {
  if (static_cast<int64_t>(lastReads.size()) < rows)
    lastReads.resize(std::max(rows, 2 * static_cast<int64_t>(lastReads.size())),
                     -1);
  for (const Range &range : ranges)
    std::fill(lastReads.begin() + range.begin, lastReads.begin() + range.end,
              -1);
}

void HeldRows::release(RowAllocator &rows) {
  before.swap(ranges);
  ranges.clear();
  for (const Range &range : before)
    for (int64_t begin = range.begin, end; begin < range.end; begin = end) {
      const int32_t last = lastReads[begin];
      end = begin + 1;
      while (end < range.end && lastReads[end] == last)
        ++end;
      if (last == liveOut)
        hold(begin, end - begin);
      else if (last != pinned)
        rows.release(begin, end - begin, last + 1);
    }
}

void HeldRows::hold(int64_t begin, int64_t count) {
  if (!ranges.empty() && ranges.back().end == begin)
    ranges.back().end += count;
  else
    ranges.push_back({begin, begin + count});
}

size_t HeldRows::bytes() const {
  return (ranges.capacity() + before.capacity()) * sizeof(Range) +
         lastReads.capacity() * sizeof(int32_t);
}
