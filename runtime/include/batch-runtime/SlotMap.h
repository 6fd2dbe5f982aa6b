//===- SlotMap.h - Maps tasks to slots of tables ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SLOTMAP_H
#define BATCH_RUNTIME_SLOTMAP_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace batchrt {

/// Map from the tasks of one part to their slots in the tables of one group.
/// The place of a task is its number minus the first number of the part. A run
/// of one plan uses one page for all places. A run of several plans uses short
/// pages in a hash table. Memory use therefore depends on the pages in use and
/// not on the largest place.
class SlotMap {
public:
  /// Number of places in a page if there are several pages.
  static constexpr int64_t pagePlaces = 256;

  explicit SlotMap(bool inPages);

  /// Removes all pages and keeps their memory.
  void clear();
  /// Reserves the places below `count` if there is only one page.
  void reserve(int64_t count);

  /// Returns the slot of a place, or -1 if the place has no page.
  int32_t slot(int64_t place) const {
    const Page *page = find(place >> shift);
    return page ? page->slots[place & mask] : -1;
  }
  void set(int64_t place, int32_t slot) {
    if (const int64_t number = place >> shift; number != written)
      write(number);
    writtenSlots[place & mask] = slot;
  }

  /// Begins a plan. If `removesPages` is true, may remove the pages that the
  /// previous plan has neither written nor kept.
  void beginPlan(bool removesPages);
  /// Keeps the page of a place, if there is one, until the end of the next
  /// plan. Returns slot(place).
  int32_t keep(int64_t place);
  /// Keeps the page of a place until the end of the run.
  void pin(int64_t place);
  /// Removes the pages that the current plan has neither written nor kept.
  void removePages();

  /// Returns the slots of all places if there is only one page, else null.
  const int32_t *allSlots() const {
    return inPages || pageCount == 0 ? nullptr : entries.front().slots;
  }
  /// Appends the numbers of all pages: places divided by pagePlaces.
  void listPages(std::vector<int64_t> &numbers) const;
  size_t bytes() const;
  /// Returns the maximum number of entries that a search for a page reads.
  int64_t longestSearch() const;

private:
  struct Page {
    int64_t number;  ///< -1: no page
    int64_t lastUse; ///< the last plan that wrote or kept it
    int32_t *slots;
  };
  /// Scatters page numbers. Otherwise, sequences of kept pages and of new pages
  /// would begin in the same entries, and each search would visit all these
  /// pages.
  static size_t hash(int64_t number) {
    return static_cast<uint64_t>(number) * 0x9e3779b97f4a7c15 >> 32;
  }
  const Page *find(int64_t number) const {
    for (size_t at = hash(number);; ++at) {
      const Page &page = entries[at & (entries.size() - 1)];
      if (page.number == number)
        return &page;
      if (page.number < 0)
        return nullptr;
    }
  }
  Page *find(int64_t number) {
    return const_cast<Page *>(std::as_const(*this).find(number));
  }
  Page &insert(const Page &page);
  Page &open(int64_t number);
  void write(int64_t number);

  bool inPages;
  int64_t shift, mask; ///< convert a place to its page, and to its position in
                       ///< the page
  /// The hash table. Its size is a power of two, and at least half of its
  /// entries are free.
  std::vector<Page> entries{{-1, 0, nullptr}}, before;
  int64_t pageCount = 0,
          pagesAfterRemoval = 0; ///< number of pages now, and after the last
                                 ///< removal
  int64_t plan = 0;
  int64_t written = -1; ///< the page written last
  int32_t *writtenSlots = nullptr;
  std::vector<std::vector<int32_t>> memory; ///< memory of pages
  std::vector<int32_t *> unused;            ///< unused pages in `memory`
  std::vector<int32_t> onePage;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SLOTMAP_H
