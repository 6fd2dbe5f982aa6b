//===- MiniBatch.h - A mini-batch as compiled code sees it ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_INSPECTOR_MINIBATCH_H
#define BATCH_RUNTIME_LIB_INSPECTOR_MINIBATCH_H

#include "batch-runtime/Session.h"

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <exception>
#include <map>

namespace batchrt {

class MiniBatch;
class ArenaRanges;
class InstanceFibers;

/// Step of a worker that runs control flow itself. In the step, the worker runs
/// its share of `tasks` tasks of a kernel. If `tasks` is 0, the step continues
/// the previous tasks. Kernel -1 is a barrier. For lanes, `kernel` is a block
/// and `tasks` counts lanes.
struct TracedTasks {
  std::chrono::steady_clock::time_point begin;
  int64_t kernel, tasks;
  bool allUnits; ///< true: all workers run the instance; false: only this one
  int64_t ended; ///< instances that have finished so far
};
using UnitTrace = std::vector<TracedTasks>;

/// Adds the steps of a worker. Each step lasts until the next one, or until the
/// end of the run.
void addTrace(std::vector<StepTime> &times, const UnitTrace &trace,
              std::chrono::steady_clock::time_point begin,
              std::chrono::steady_clock::time_point end);

/// Place where a worker continues after it leaves compiled code and abandons
/// the frames of that code.
struct alignas(64) WorkerExit {
  std::jmp_buf place;
};

/// Context of compiled code on one worker, which inspects consecutive instances
/// or runs one instance unbatched. Each context of a run owns its memory. The
/// executor uses the context of the first part. A worker inspects one part, or
/// several parts in turn.
struct alignas(64) Part : BatchContext {
  explicit Part(MiniBatch &owner) : BatchContext(), owner(owner) {}

  MiniBatch &owner;
  Fiber *running = nullptr;         ///< fiber that runs compiled code now
  size_t stackSize = 0;             ///< stack size of that fiber, in bytes
  InstanceFibers *fibers = nullptr; ///< fibers if control flow waits; else
                                    ///< null
  int64_t waits = 0;
  bool keepsReads = false; ///< true if a watcher needs the reads of control
                           ///< flow
  std::vector<ReadTensor> reads;
  MemoTable known;
  Buffer queueList; ///< on separate cache lines
  std::vector<Buffer> queueMemory;
  std::vector<int64_t> constantList;
  int64_t number = 0; ///< number of the part
  int64_t beginInstance = 0, endInstance = 0;

  /// Provides space for nodes and list entries if there are several parts; null
  /// for a single part, which has all the space.
  ArenaRanges *ranges = nullptr;
  int worker = 0;                             ///< worker that inspects this
                                              ///< part
  int64_t nodeSpace = 0, entrySpace = 0;      ///< space in this or the last run
  int64_t wantedNodes = 0, wantedEntries = 0; ///< space needed to continue

  bool hasFailed = false;         ///< compiled code has failed
  int64_t code = 0, a = 0, b = 0; ///< code and values of an error
  std::exception_ptr error;       ///< error in the runtime itself
  /// For each instance that has reached a limit, the reason.
  std::map<int64_t, std::string> failures;

  /// Returns true if a task was recorded but has not run.
  bool isPending(int64_t task) const {
    return task >= flushedTasks && task < numTasks;
  }
  /// Runs `body(argument)` in a fiber, on a borrowed stack. After an error, the
  /// body may leave the fiber without returning.
  void run(void (*body)(void *), void *argument);
  /// Sets the fiber on which compiled code now runs, and its stack.
  void enter(Fiber &fiber, const FiberStack &stack) {
    running = &fiber;
    stackLimit = stack.limit();
    stackSize = stack.size();
  }
  static Part &of(BatchContext *context) {
    return *static_cast<Part *>(context);
  }
};

/// The loaded forest, the contexts for compiled code, and their memory, which
/// is reused for the next mini-batch.
class MiniBatch {
public:
  /// Contents of the tensor cells of inputs: handles for the inspector,
  /// addresses for unbatched code and lanes.
  enum class Cells { None, Handles, Addresses };

  MiniBatch(const CompiledObject &object, const BoundParameters &parameters,
            const InputTensors &tensors, const SessionOptions &options,
            WorkerPool &workers);
  ~MiniBatch();

  void load(Forest &forest);
  /// Drops the nodes and lists that a run has added.
  void reset();
  void enter(Cells wanted);
  /// Reserves space for `wanted` nodes or list entries in the forest's arrays.
  void growNodes(int64_t wanted);
  void growList(int64_t wanted);
  /// Creates at least `count` parts, each with its own queues.
  void reserveParts(int64_t count);
  /// Reserves `bytes` bytes of scratch memory for each of `count` workers.
  void reserveWorkers(size_t bytes, int64_t count);
  /// Handles an out-of-range index after a run. Raises an error that names the
  /// index and the first of `instances` that reads it. Without unbatched code,
  /// the error names no instance. Returns only if no instance reads the index.
  /// In this case, the unbatched code has run, and the mini-batch must run
  /// again.
  void checkIndices(const std::vector<int64_t> &instances);
  bool hasBadIndex() const {
    return __atomic_load_n(&indexError.place, __ATOMIC_RELAXED) != 0;
  }
  /// Runs one instance with the unbatched code.
  void runUnbatched(int64_t instance);

  /// Returns the error message of a failure in compiled code.
  std::string describeError(const Part &part) const;
  /// Handles a failure of compiled code. Ends only the instance if it has
  /// reached a limit and partial results are requested; otherwise raises the
  /// error.
  void endInstance(Part &part, int64_t instance);
  /// Returns the reason why the unbatched code ended an instance, or an empty
  /// string.
  std::string unbatchedFailure(int64_t instance) const;
  std::string describeIndex(const BatchIndexError &error) const;

  const Descriptor &descriptor() const { return object.descriptor(); }
  Forest &forest() const { return *loaded; }
  int64_t numInstances() const { return loaded->numInstances; }
  Cells cells() const { return mode; }
  Part &part(int64_t number) { return *parts[number]; }
  /// Returns the context that all units of an executor see.
  Part &context() { return *parts.front(); }
  const Part &context() const { return *parts.front(); }
  const BatchSource *sources() const { return sourceList.data(); }
  /// Returns the cells of a result of the entry, indexed by instance.
  std::vector<int64_t> &results(size_t number) { return resultCells[number]; }
  void addMemory(MemoryUse &use) const;

  /// Sets the cancellation that can end later runs early, or null for none.
  void setCancellation(const Cancellation *newCancellation);
  /// Returns the progress of the run. Any thread may call this.
  RunProgress progress() const {
    return {instances.load(std::memory_order_relaxed),
            ended.load(std::memory_order_relaxed),
            flushes.load(std::memory_order_relaxed)};
  }
  void beginProgress();
  void setProgress(int64_t newEnded, int64_t newFlushes) {
    ended.store(newEnded, std::memory_order_relaxed);
    flushes.store(newFlushes, std::memory_order_relaxed);
  }
  /// Raises Cancelled if compiled code ended because of a cancellation.
  static void checkCancelled(const Part &part) {
    if (part.hasFailed && !part.error && part.code == BATCH_ERROR_CANCELLED)
      throw Cancelled();
  }
  /// Raises Cancelled if a cancellation was requested.
  void checkCancelled() const {
    if (cancellation && cancellation->isRequested())
      throw Cancelled();
  }

  const CompiledObject object;
  const SessionOptions options;
  WorkerPool &workers;
  /// For each worker, the place where it continues after it leaves the
  /// executor's code.
  std::vector<WorkerExit> exits;
  BumpArena arena; ///< arena of unbatched code
  BatchIndexError indexError = {};
  InstanceStream *stream = nullptr; ///< stream whose instances lanes run; may
                                    ///< be null
  /// Tables of the run, for inspectors that wait for rows.
  const Tables *tables = nullptr;

private:
  void makePart();
  void refresh();
  std::string explain(int64_t code, int64_t a, int64_t b) const;

  const InputTensors &tensors;
  const Cancellation *cancellation = nullptr;
  std::atomic<int64_t> instances{0}, ended{0}, flushes{0};
  Forest *loaded = nullptr;
  Cells mode = Cells::None;
  std::vector<int64_t *> cellPointers, argumentPointers, resultPointers;
  std::vector<int64_t *> memoPointers;
  std::vector<std::vector<int64_t>> resultCells, memos;
  std::vector<const char *> packingPointers;
  std::vector<BatchSource> sourceList;
  std::vector<Buffer> workerMemory;
  std::vector<char *> workerPointers;
  Buffer unbatchedScratch;
  std::vector<std::unique_ptr<Part>> parts; ///< at least one
};

/// The table of functions that compiled code calls.
extern const BatchRuntimeFunctions runtimeFunctions;

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_INSPECTOR_MINIBATCH_H
