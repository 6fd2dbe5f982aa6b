//===- RowAllocatorTest.cpp -----------------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/RowAllocator.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace batchrt;

TEST(RowAllocator, TakesTheShortestRangeThatIsLongEnough) {
  RowAllocator rows;
  rows.enter(0);
  EXPECT_EQ(rows.take(10), 0);
  EXPECT_EQ(rows.take(4), 10);
  EXPECT_EQ(rows.take(3), 14);
  rows.release(0, 6, 1);
  rows.release(10, 3, 1);
  // Released rows are not free before the epoch that `release` specifies.
  EXPECT_EQ(rows.take(1), 17);
  rows.enter(1);
  EXPECT_EQ(rows.take(2), 10);
  EXPECT_EQ(rows.take(2), 0);
  EXPECT_EQ(rows.take(1), 12);
  EXPECT_EQ(rows.take(4), 2);
  EXPECT_EQ(rows.rows(), 18);
}

TEST(RowAllocator, JoinsNeighborsAndTheEnd) {
  RowAllocator rows;
  rows.enter(0);
  EXPECT_EQ(rows.take(9), 0);
  rows.release(6, 3, 2);
  rows.release(0, 3, 2);
  rows.release(3, 3, 4);
  rows.enter(3);
  // A free range at the end is extended.
  EXPECT_EQ(rows.take(5), 6);
  EXPECT_EQ(rows.rows(), 11);
  rows.enter(7);
  EXPECT_EQ(rows.take(6), 0);
  EXPECT_EQ(rows.rows(), 11);
  rows.reset();
  rows.enter(0);
  EXPECT_EQ(rows.take(1), 0);
  EXPECT_EQ(rows.rows(), 1);
}

// Rows of another plan are in use, regardless of the epochs of that plan.
TEST(RowAllocator, PlansHaveRowsOfTheirOwn) {
  RowAllocator rows;
  rows.enter(0);
  EXPECT_EQ(rows.take(4), 0);
  rows.release(0, 4, 1);
  rows.startPlan();
  rows.enter(2);
  EXPECT_EQ(rows.take(2), 4);
  rows.release(4, 2, 3);
  rows.enter(3);
  EXPECT_EQ(rows.take(1), 4);
  EXPECT_EQ(rows.rows(), 6);
}

// When a plan begins, all rows that the previous plan freed are free.
TEST(RowAllocator, EarlierPlansHaveRun) {
  RowAllocator rows;
  rows.enter(0);
  EXPECT_EQ(rows.take(6), 0);
  rows.release(0, 2, 1);
  rows.release(4, 2, 7);
  rows.enter(1);
  EXPECT_EQ(rows.take(1), 0);
  rows.continueRun();
  rows.enter(0);
  EXPECT_EQ(rows.take(2), 4);
  EXPECT_EQ(rows.take(1), 1);
  EXPECT_EQ(rows.take(1), 6);
  // Rows may already be free in the first epoch of a plan.
  rows.continueRun();
  rows.release(2, 2, 0);
  rows.enter(0);
  EXPECT_EQ(rows.take(2), 2);
  EXPECT_EQ(rows.rows(), 7);
}

/// Compares the allocator with a list in which rows are marked one by one.
TEST(RowAllocator, NoRowHasTwoOwners) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    RowAllocator rows;
    std::vector<int64_t> freeFrom; // indexed by row
    int64_t live = 0;
    for (int64_t epoch = 0; epoch < 40; epoch += 1 + random() % 2) {
      rows.enter(epoch);
      for (int step = random() % 4; step > 0; --step) {
        int64_t count = 1 + random() % 20, first = rows.take(count);
        ASSERT_LE(first + count, rows.rows());
        freeFrom.resize(rows.rows(), 0);
        for (int64_t i = first; i < first + count;) {
          int64_t length =
              std::min<int64_t>(1 + random() % 7, first + count - i);
          int64_t until = random() % 9 ? epoch + 1 + random() % 12 : INT64_MAX;
          for (int64_t end = i + length; i < end; ++i) {
            ASSERT_LE(freeFrom[i], epoch) << "row " << i;
            freeFrom[i] = until;
          }
          if (until != INT64_MAX)
            rows.release(i - length, length, until);
        }
        live = std::max<int64_t>(
            live, std::count_if(freeFrom.begin(), freeFrom.end(),
                                [&](int64_t end) { return end > epoch; }));
      }
    }
    EXPECT_GE(rows.rows(), live);
    // The allocator finds ranges that are long enough, so the total number of
    // rows stays small.
    EXPECT_LE(rows.rows(), 4 * live + 20);
  }
}
