//===- ArenaRanges.h - Ranges for nodes and list entries --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_ARENARANGES_H
#define BATCH_RUNTIME_LIB_INSPECTOR_ARENARANGES_H

#include "MiniBatch.h"

#include <exception>

namespace batchrt {

/// Gives each part its own ranges of the forest's arrays, for nodes and list
/// entries. The arrays move when they grow. A part that needs more space
/// therefore waits until all workers need space or have finished. Then it gets
/// another range and continues.
class ArenaRanges {
public:
  explicit ArenaRanges(MiniBatch &batch) : batch(batch) {}

  /// Begins a run of `newParts`. Each part gets a copy of the first part's
  /// context, and as much space as it needed in the last run.
  void begin(const std::vector<Part *> &newParts);
  /// Calls `body(part)` for each part, on all workers if `shared` is set. If
  /// several parts throw, rethrows the exception of the first one.
  template <class Body>
  void forEachPart(bool shared, const Body &body);
  /// Reserves space in a part for `nodes` more nodes and `entries` more list
  /// entries. Compiled code calls this while the part is inspected.
  void reserve(Part &part, int64_t nodes, int64_t entries);
  /// Sets the numbers of nodes and list entries in the first part's context to
  /// the ends of all ranges, if there are several parts.
  void end();

private:
  struct Job {
    ArenaRanges &ranges;
    void (*body)(const void *, Part &);
    const void *argument;
  };
  void runParts(const Job &job);
  bool waitAndGrow(int worker);
  void grow();

  MiniBatch &batch;
  std::vector<Part *> parts;
  int64_t endNodes = 0, endEntries = 0; ///< end of all ranges
  bool isShared = false;
  std::vector<std::exception_ptr> errors; ///< indexed by part
  std::exception_ptr noMemory;            ///< reason why there is no more space
};

template <class Body>
void ArenaRanges::forEachPart(bool shared, const Body &body) {
  if (!shared) {
    for (Part *part : parts)
      body(*part);
    return;
  }
  runParts({*this,
            [](const void *body, Part &part) {
              (*static_cast<const Body *>(body))(part);
            },
            &body});
}

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_INSPECTOR_ARENARANGES_H
