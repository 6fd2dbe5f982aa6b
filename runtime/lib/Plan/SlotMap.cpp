//===- SlotMap.cpp - Maps tasks to slots of tables ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/SlotMap.h"

#include <algorithm>

using namespace batchrt;

static constexpr int64_t kPageBits = 8;
static_assert(SlotMap::pagePlaces == 1 << kPageBits);
/// Last use of pinned pages: after all plans.
static constexpr int64_t kPinned = INT64_MAX;
/// Pages are removed only if there are at least twice this many.
static constexpr int64_t kFewPages = 4;

SlotMap::SlotMap(bool inPages)
    : inPages(inPages), shift(inPages ? kPageBits : 63),
      mask(inPages ? pagePlaces - 1 : INT64_MAX) {}

void SlotMap::clear() {
  for (Page &page : entries) {
    if (page.number >= 0 && inPages)
      unused.push_back(page.slots);
    page.number = -1;
  }
  pageCount = pagesAfterRemoval = 0;
  plan = 0;
  written = -1;
}

void SlotMap::reserve(int64_t count) {
  if (inPages)
    return;
  written = -1;
  if (static_cast<int64_t>(onePage.size()) < count)
    onePage.resize(count);
  open(0).slots = onePage.data();
}

/// Adds a page to the hash table, which has a free entry.
SlotMap::Page &SlotMap::insert(const Page &page) {
  for (size_t at = hash(page.number);; ++at)
    if (Page &entry = entries[at & (entries.size() - 1)]; entry.number < 0)
      return entry = page;
}

/// Returns the page with this number. Creates it if it does not exist.
SlotMap::Page &SlotMap::open(int64_t number) {
  if (Page *page = find(number))
    return *page;
  if (2 * static_cast<size_t>(++pageCount) > entries.size()) {
    before.assign(2 * entries.size(), {-1, 0, nullptr});
    before.swap(entries);
    for (const Page &page : before)
      if (page.number >= 0)
        insert(page);
  }
  if (!inPages)
    return insert({number, plan, nullptr});
  if (unused.empty()) {
    memory.emplace_back(pagePlaces);
    unused.push_back(memory.back().data());
  }
  int32_t *slots = unused.back();
  unused.pop_back();
  std::fill_n(slots, pagePlaces, -1);
  return insert({number, plan, slots});
}

void SlotMap::write(int64_t number) {
  Page &page = open(number);
  page.lastUse = std::max(page.lastUse, plan);
  written = number;
  writtenSlots = page.slots;
}

int32_t SlotMap::keep(int64_t place) {
  Page *page = find(place >> shift);
  if (!page)
    return -1;
  page->lastUse = std::max(page->lastUse, plan);
  return page->slots[place & mask];
}

void SlotMap::pin(int64_t place) { open(place >> shift).lastUse = kPinned; }

void SlotMap::beginPlan(bool removesPages) {
  if (removesPages && pageCount >= 2 * std::max(pagesAfterRemoval, kFewPages))
    removePages();
  ++plan;
  written = -1;
}

void SlotMap::removePages() {
  before.assign(entries.size(), {-1, 0, nullptr});
  before.swap(entries);
  pageCount = 0;
  for (const Page &page : before) {
    if (page.number < 0)
      continue;
    if (page.lastUse < plan) {
      unused.push_back(page.slots);
    } else {
      insert(page);
      ++pageCount;
    }
  }
  pagesAfterRemoval = pageCount;
  written = -1;
}

void SlotMap::listPages(std::vector<int64_t> &numbers) const {
  for (const Page &page : entries)
    if (page.number >= 0)
      numbers.push_back(page.number);
}

int64_t SlotMap::longestSearch() const {
  int64_t longest = 0;
  for (size_t at = 0; at < entries.size(); ++at)
    if (const Page &page = entries[at]; page.number >= 0)
      longest = std::max<int64_t>(
          longest, ((at - hash(page.number)) & (entries.size() - 1)) + 1);
  return longest;
}

size_t SlotMap::bytes() const {
  return (entries.capacity() + before.capacity()) * sizeof(Page) +
         (memory.size() * pagePlaces + onePage.capacity()) * sizeof(int32_t);
}
