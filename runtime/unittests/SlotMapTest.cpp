//===- SlotMapTest.cpp - Tests of maps from tasks to slots ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/SlotMap.h"
#include "Support.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Tables.h"

using namespace batchrt;

TEST(SlotMap, OnePageHasAllPlaces) {
  SlotMap map(/*inPages=*/false);
  EXPECT_EQ(map.allSlots(), nullptr);
  EXPECT_EQ(map.slot(0), -1);
  for (int run = 0; run < 2; ++run) {
    map.clear();
    map.reserve(1000);
    map.set(999, 7);
    map.set(0, 5);
    ASSERT_NE(map.allSlots(), nullptr);
    EXPECT_EQ(map.allSlots()[999], 7);
    EXPECT_EQ(map.slot(0), 5);
    // Slots do not change when tasks are added.
    map.reserve(5000);
    EXPECT_EQ(map.slot(999), 7);
  }
}

TEST(SlotMap, PlacesWithoutSlotsHaveNone) {
  SlotMap map(/*inPages=*/true);
  EXPECT_EQ(map.slot(0), -1);
  map.set(5, 1);
  map.set(int64_t(1) << 31, 2);
  map.set(0xffffffff, 3);
  EXPECT_EQ(map.slot(5), 1);
  EXPECT_EQ(map.slot(int64_t(1) << 31), 2);
  EXPECT_EQ(map.slot(0xffffffff), 3);
  EXPECT_EQ(map.slot(6), -1);
  EXPECT_EQ(map.slot(SlotMap::pagePlaces), -1);
  EXPECT_EQ(map.allSlots(), nullptr);
  map.clear();
  EXPECT_EQ(map.slot(5), -1);
}

// A page exists for one more plan after the last plan that wrote or kept it. A
// pinned page exists until the end of the run.
TEST(SlotMap, PagesGoWhenNobodyNeedsThem) {
  SlotMap map(/*inPages=*/true);
  const int64_t kept = 3 * SlotMap::pagePlaces,
                pinned = 5 * SlotMap::pagePlaces;
  map.beginPlan(true);
  map.set(0, 1);
  map.set(kept, 2);
  map.pin(pinned);
  map.set(pinned, 3);
  map.removePages();
  EXPECT_EQ(map.slot(0), 1);
  map.beginPlan(true);
  EXPECT_EQ(map.keep(kept), 2);
  EXPECT_EQ(map.keep(9 * SlotMap::pagePlaces), -1);
  map.removePages();
  EXPECT_EQ(map.slot(0), -1);
  EXPECT_EQ(map.slot(kept), 2);
  map.beginPlan(true);
  map.removePages();
  EXPECT_EQ(map.slot(kept), -1);
  EXPECT_EQ(map.slot(pinned), 3);
}

// Memory depends on the pages in use, not on the number of all pages so far.
TEST(SlotMap, MemoryFollowsPagesInUse) {
  SlotMap map(/*inPages=*/true);
  size_t early = 0;
  for (int plan = 0; plan < 100000; ++plan) {
    map.beginPlan(true);
    for (int i = 0; i < 8; ++i)
      map.set(8 * plan + i, i);
    map.keep(0);
    if (plan == 1000)
      early = map.bytes();
  }
  EXPECT_EQ(map.slot(7), 7);
  EXPECT_EQ(map.bytes(), early);
}

// A search is short, regardless of where kept pages and new pages begin.
TEST(SlotMap, SearchesAreShort) {
  for (int64_t first : {1000, 1024, 1 << 20, 1 << 30}) {
    SlotMap map(/*inPages=*/true);
    for (int64_t page = 0; page < 1000; ++page) {
      map.set(page * SlotMap::pagePlaces, 1);
      map.set((first + page) * SlotMap::pagePlaces, 2);
    }
    EXPECT_LE(map.longestSearch(), 4) << first;
  }
}

// When half of the task numbers have been used, the next numbers come from the
// largest gap between the pages in use.
TEST(SlotMap, NumbersAreUsedAgain) {
  const Descriptor descriptor(R"({
    "abi": 9, "name": "n", "target": {"cpu": "generic", "features": []},
    "parameters": [], "packings": [], "adts": [], "cellColumns": 0, "memo": 0,
    "arguments": [], "results": [], "waits": true,
    "tables": [{"name": "n", "rowBytes": 64, "group": 0, "transient": true}],
    "groups": 1, "sources": [null], "kernels": [],
    "has": {"inspect": true, "execute": true, "unbatched": true}
  })");
  for (int64_t parts : {1, 4}) {
    Tables tables(descriptor, /*reusedRowBytes=*/64);
    tables.clear(parts);
    const int64_t part = parts - 1, first = firstTaskOf(part, parts);
    const int64_t half = first + (endTaskOf(part, parts) - first) / 2;
    tables.beginPlan();
    tables.addTasks(part, first + 10);
    tables.slotsOf(part, 0).set(0, 1);
    EXPECT_EQ(tables.chooseNumbers(part), first + 10);
    EXPECT_EQ(tables.limitTask(part), endTaskOf(part, parts));
    // The first page is pinned, and a page in the middle was written.
    tables.pin(first);
    tables.addTasks(part, half + 10);
    tables.slotsOf(part, 0).set(half - first, 2);
    const int64_t next = tables.chooseNumbers(part);
    EXPECT_EQ(next, first + SlotMap::pagePlaces);
    EXPECT_EQ(tables.limitTask(part), half);
    // Half of the numbers in this gap have been used, and the page in the
    // middle is no longer needed.
    tables.beginPlan();
    tables.addTasks(part, next + (half - next) / 2);
    EXPECT_EQ(tables.chooseNumbers(part), first + SlotMap::pagePlaces);
    EXPECT_EQ(tables.limitTask(part), endTaskOf(part, parts));
    EXPECT_EQ(tables.slot(first, 0), 1);
  }
}
