//===- Strands.h - Instances that wait, and their branches ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_STRANDS_H
#define BATCH_RUNTIME_LIB_INSPECTOR_STRANDS_H

#include "MiniBatch.h"

#include <map>
#include <utility>

namespace batchrt {

/// Runs the inspector of each instance of a part on a fiber of its own, and the
/// branches of an instance that wait side by side on fibers beside it. What
/// runs when does not depend on the machine: instances go on in order, and the
/// branches of each in the order in which they began to wait.
class Strands {
public:
  explicit Strands(Part &part) : part(part) {}

  /// Begins anew; drops what an earlier run that failed has left.
  void begin();
  /// Lets all that waited go on until they wait again or end, and in the first
  /// round begins all instances. False if all have ended. Raises the error of
  /// the first instance that fails.
  bool runRound();
  /// The most fibers that there have been behind a round.
  int64_t mostFibers() const { return most; }
  /// Appends the handles of the rows that all strands in progress keep.
  void listKept(std::vector<int64_t> &handles) const;
  /// The instances that have ended since the last call.
  std::vector<int64_t> takeEnded() { return std::exchange(ended, {}); }
  /// Why an instance ended early, if others may go on without it; or empty.
  std::string failure(int64_t instance) const;

  // For compiled code, which runs on a fiber.

  /// Suspends the fiber that runs until the next round.
  void wait();
  /// Suspends it until another has stored a result, at least.
  void awaitStore();
  void stored() { hasStored = true; }
  /// Runs code(part, frame, i) for each i below `count`, each on a fiber as
  /// long as the instance may have one more. False if one has failed.
  bool fork(BatchBranch code, int64_t *frame, int64_t count);
  /// Of the fiber that runs.
  const FiberStack &stack() const { return running->stack; }
  bool isBranch() const { return running->code; }

private:
  struct Strand;
  /// A fork that has not ended.
  struct Join {
    int64_t left; ///< branches that have not ended
    Strand *waiter;
  };
  struct Strand {
    explicit Strand(size_t bytes) : stack(bytes) {}
    FiberStack stack;
    Fiber fiber{stack};
    Strands *owner = nullptr;
    int64_t instance = 0;
    bool isUsed = false;
    BatchFrame *frames = nullptr; ///< while others run
    // Of a branch:
    BatchBranch code = nullptr;
    int64_t *frame = nullptr, number = 0;
    Join *join = nullptr;
  };
  struct Instance {
    int64_t stepsLeft, branches;
    bool hasFailed;
  };

  static void enter(void *strand);
  Strand &take(int64_t instance, BatchBranch code);
  Strand *release(Strand &strand);
  bool run(Strand &strand, bool isNew);
  void advance(Strand *strand, bool isNew);
  void fail(int64_t instance);
  void dropFailed();

  Part &part;
  std::vector<std::unique_ptr<Strand>> all;
  std::vector<Strand *> unused[2]; ///< instances, branches
  std::vector<Strand *> waiting, parked;
  std::vector<Instance> instances;
  std::vector<int64_t> ended;
  std::map<int64_t, std::string> failures; ///< by instance
  Strand *running = nullptr;
  int64_t nextInstance = 0, alive = 0, most = 0;
  bool hasStored = false;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_INSPECTOR_STRANDS_H
