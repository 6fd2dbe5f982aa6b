//===- InstanceFibers.h - Fibers of instances -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_INSTANCEFIBERS_H
#define BATCH_RUNTIME_LIB_INSPECTOR_INSTANCEFIBERS_H

#include "MiniBatch.h"

#include <deque>
#include <utility>

namespace batchrt {

/// Runs the inspector of each instance of a part on its own fiber. If branches
/// of an instance wait concurrently, they also have fibers. The order of fibers
/// depends neither on the host nor on other parts. Instances run in order. The
/// branches of each instance run in the order in which they began to wait.
class InstanceFibers {
public:
  explicit InstanceFibers(Part &part) : part(part) {}

  /// Begins a run. Drops fibers of an earlier run that failed.
  void begin();
  /// Runs all waiting fibers until they wait again or finish. The first round
  /// begins all instances. An instance with at least `maxBranches` branches
  /// starts no further fibers. Raises the error of the first instance that
  /// fails.
  void runRound(int64_t maxBranches);
  /// Returns the number of fibers that wait for a task and resume in the next
  /// round. Instances that begin in that round do not count.
  int64_t numWaiting() const { return static_cast<int64_t>(waiting.size()); }
  /// Returns the number of fibers in use.
  int64_t numAlive() const { return alive; }
  /// Checks the end of a run, when nothing waits for a task. Raises an error if
  /// an instance has not finished, which means that it needs its own result.
  void checkEnd() const;
  /// Appends the handles of all rows that fibers in progress keep.
  void listFrameRows(std::vector<int64_t> &handles) const;
  /// Returns the instances that finished since the last call.
  std::vector<int64_t> takeEnded() { return std::exchange(ended, {}); }
  /// Returns the number of instances that finished since begin().
  int64_t numEnded() const { return allEnded; }

  // Functions for compiled code, which runs on a fiber.

  /// Suspends the running fiber until the next round.
  void wait();
  /// Suspends the running fiber at least until another fiber stores a result.
  void awaitStore();
  void stored() { hasStored = true; }
  /// Runs code(part, frame, i) for each i below `count`. Each call except the
  /// last one has its own fiber. At the fiber limit of the instance, the next
  /// branch waits until a branch of this fork ends. If no branch of this fork
  /// has a fiber, the next branch runs on the forking fiber. Returns false if a
  /// branch has failed.
  bool fork(BatchBranch code, int64_t *frame, int64_t count);
  /// Returns true if the running fiber is a branch.
  bool isBranch() const { return running->code; }

private:
  struct FiberState;
  /// A fork that has not finished.
  struct Join {
    int64_t left; ///< unfinished branches
    int64_t most; ///< the waiter resumes when at most this many branches are
                  ///< left
    FiberState *waiter;
  };
  struct FiberState {
    explicit FiberState(size_t bytes) : stack(bytes) {}
    FiberStack stack;
    Fiber fiber{stack};
    InstanceFibers *owner = nullptr;
    int64_t instance = 0;
    bool isUsed = false;
    BatchFrame *frames = nullptr; ///< saved while other fibers run
    // Only for a branch:
    BatchBranch code = nullptr;
    int64_t *frame = nullptr, number = 0;
    Join *join = nullptr;
  };
  struct Instance {
    int64_t stepsLeft, branches;
    bool hasFailed;
  };

  static void enter(void *state);
  Instance &at(int64_t instance) {
    return instances[instance - part.beginInstance];
  }
  FiberState &take(int64_t instance, BatchBranch code);
  FiberState *release(FiberState &state);
  bool run(FiberState &state, bool isNew);
  void advance(FiberState *state, bool isNew);
  void advanceStored(size_t first);
  void takeTurn(int64_t instance, bool isNew);
  void fail(int64_t instance);
  void dropFailed();

  Part &part;
  std::deque<FiberState> all;
  std::vector<FiberState *> unused[2]; ///< of instances, and of branches
  /// Fibers that wait for a task (`waiting`) and for a memoized call
  /// (`parked`), in the order of their instances.
  std::vector<FiberState *> waiting, parked;
  /// These lists at the beginning of the round, and the number of fibers in
  /// each that have resumed.
  std::vector<FiberState *> ready, stalled;
  size_t next = 0, nextStalled = 0;
  std::vector<Instance> instances;
  std::vector<int64_t> ended;
  FiberState *running = nullptr;
  int64_t alive = 0, allEnded = 0;
  int64_t maxBranches = 0; ///< of an instance, in this round
  bool hasBegun = false;
  bool hasStored = false; ///< true if a result was stored since parked fibers
                          ///< resumed
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_INSPECTOR_INSTANCEFIBERS_H
