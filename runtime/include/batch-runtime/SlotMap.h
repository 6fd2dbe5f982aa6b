//===- SlotMap.h - From tasks to slots of tables ----------------*- C++ -*-===//
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

/// The slots of one part's tasks in the tables of one group. A task's place is
/// its distance from the first number of the part. A run of one plan has one
/// page for all places. The pages of a run of several plans are short, and a
/// hash table finds them, so that memory follows the pages that are in use and
/// not the places.
class SlotMap {
public:
  /// Places of a page if there are several.
  static constexpr int64_t pagePlaces = 256;

  explicit SlotMap(bool inPages);

  /// Removes all pages and keeps their memory.
  void clear();
  /// Makes room for the places below `count` if there is only one page.
  void reserve(int64_t count);

  /// The slot of a place, or -1.
  int32_t slot(int64_t place) const {
    const Page *page = find(place >> shift);
    return page ? page->slots[place & mask] : -1;
  }
  void set(int64_t place, int32_t slot) {
    if (const int64_t number = place >> shift; number != written)
      write(number);
    writtenSlots[place & mask] = slot;
  }

  /// Begins a plan. With `removesPages`, nobody needs pages any more that the
  /// plan before has neither written nor kept.
  void beginPlan(bool removesPages);
  /// Keeps the page of a place, if there is one, until the next plan has run.
  /// Returns slot(place).
  int32_t keep(int64_t place);
  /// Keeps the page of a place until the end of the run.
  void pin(int64_t place);
  /// Removes the pages that the present plan has neither written nor kept.
  void removePages();

  /// The slots of all places if there is only one page, else null.
  const int32_t *allSlots() const {
    return inPages || pageCount == 0 ? nullptr : entries.front().slots;
  }
  /// Appends the numbers of all pages, which are places over pagePlaces.
  void listPages(std::vector<int64_t> &numbers) const;
  size_t bytes() const;

private:
  struct Page {
    int64_t number;  ///< -1: none
    int64_t lastUse; ///< the last plan that has written or kept it
    int32_t *slots;
  };
  const Page *find(int64_t number) const {
    for (size_t at = static_cast<size_t>(number);; ++at) {
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
  int64_t shift, mask; ///< from a place to its page, and to its place there
  /// The hash table: a power of two of entries, half of them free.
  std::vector<Page> entries{{-1, 0, nullptr}}, before;
  int64_t pageCount = 0, pagesKept = 0; ///< now; when some were last removed
  int64_t plan = 0;
  int64_t written = -1; ///< the page that was written last
  int32_t *writtenSlots = nullptr;
  std::vector<std::vector<int32_t>> memory; ///< of pages
  std::vector<int32_t *> unused;            ///< of these
  std::vector<int32_t> onePage;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SLOTMAP_H
