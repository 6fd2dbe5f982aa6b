//===- Rooms.h - Room for what inspectors add to the forest -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_ROOMS_H
#define BATCH_RUNTIME_LIB_INSPECTOR_ROOMS_H

#include "MiniBatch.h"

#include <exception>

namespace batchrt {

/// Ranges of the forest's arrays for the nodes and list entries of each part.
/// The arrays move when they grow. So a part that needs more room waits until
/// all workers do, or have ended; then it has another range and goes on where
/// it was.
class Rooms {
public:
  explicit Rooms(MiniBatch &batch) : batch(batch) {}

  /// Begins a run of these parts: each gets the fields of the first one, and as
  /// much room as it needed in the last run.
  void begin(const std::vector<Part *> &newParts);
  /// Calls `body(part)` for each part, on all workers if they are `shared`. If
  /// parts throw, the first part's exception is rethrown.
  template <class Body>
  void forEachPart(bool shared, const Body &body);
  /// Gives a part, which one of them runs, room for these nodes and entries
  /// more than it has.
  void need(Part &part, int64_t nodes, int64_t entries);
  /// Shows the first part's context the nodes and entries of all.
  void end();

private:
  struct Job {
    Rooms &rooms;
    void (*body)(const void *, Part &);
    const void *argument;
  };
  void runParts(const Job &job);
  bool becomeQuiet(int worker);
  void grow();

  MiniBatch &batch;
  std::vector<Part *> parts;
  int64_t endNodes = 0, endEntries = 0; ///< of all ranges
  bool isShared = false;
  std::vector<std::exception_ptr> errors; ///< by part
  std::exception_ptr noMemory;            ///< why there is no more room
};

template <class Body>
void Rooms::forEachPart(bool shared, const Body &body) {
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

#endif // BATCH_RUNTIME_LIB_INSPECTOR_ROOMS_H
