//===- Session.h - Running a compiled object --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled object is used in three steps: open it (Object.h), bind the
// parameters once (Parameters.h), and run many mini-batches.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SESSION_H
#define BATCH_RUNTIME_SESSION_H

#include "batch-runtime/Cancellation.h"
#include "batch-runtime/Device.h"
#include "batch-runtime/Forest.h"
#include "batch-runtime/InstanceStream.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/Object.h"
#include "batch-runtime/OptionNames.h"
#include "batch-runtime/Parameters.h"
#include "batch-runtime/RunWatcher.h"
#include "batch-runtime/ThreadChoice.h"
#include "batch-runtime/Workers.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace batchrt {

class Executor;
class MiniBatch;
class RunExplanation;

/// The time at which a run on a device copies its results to the host.
enum class ResultCopies {
  WithRun,      ///< right after the run, in the same stream
  WhenCollected ///< only on request, by Session::collect()
};

/// Options of objects whose control flow runs in lockstep; `maxSteps` and
/// `partialResults` apply to all objects.
struct LockstepOptions {
  int64_t lanes = 0;       ///< 0: one for each instance of a mini-batch
  int64_t stackDepth = 64; ///< maximum depth of recursive calls
  /// The maximum number of blocks that an instance may run; for inspectors and
  /// unbatched code, the maximum number of rounds of loops and recursive calls.
  int64_t maxSteps = INT64_MAX;
  /// Keeps the results of successful instances if others fail.
  bool partialResults = false;
  OptionNames names = OptionNames::Tools; ///< spelling in messages
  /// Rule that picks the next block. The default is MOST on a device, where it
  /// needs the fewest steps, and WORK on the host.
  std::optional<BatchBlockChoice> choice;
  int64_t patience = 1024; ///< maximum number of steps that a lane waits for
                           ///< its turn
  /// If at least this share of the lanes waits for a block, the block runs on
  /// all lanes. The results of the other lanes are then dropped. If the value
  /// is above 1, no block runs on all lanes in this way.
  double maskFrom = 2;
  /// Records the blocks that run. Unsupported on devices.
  bool recordPath = false;
};

struct SessionOptions {
  int threads = 1;
  size_t stackSize = size_t(256) << 20;
  /// Each worker that inspects gets at least this many nodes and elements of
  /// list arguments. For less work, waking a worker does not pay off.
  int64_t nodesPerWorker = 256;
  /// Rows of a task that have at least this many bytes are reused after their
  /// last read. Finding the last reads costs about as much as scheduling.
  int64_t reusedRowBytes = 1024;
  /// All workers share concurrent batches that have at least this many tasks
  /// together, and one worker runs other batches. 0 means that each kernel
  /// specifies its own number.
  int64_t shareTasks = 0;
  /// Computes depths once per plan from the operands in records, as a system
  /// without a compiler must. By default, the inspector computes depths from
  /// handles.
  bool depthsOfRecords = false;

  // Options of objects whose control flow waits for tensors.
  /// The maximum number of branches of an instance that may wait at the same
  /// time. At this maximum, the next branch of a fork begins when another
  /// branch of the fork ends. By default, the instances in progress share
  /// `enoughFibers` fibers equally, and each has at least its own.
  std::optional<int64_t> maxFibers;
  /// With this many fibers, batches have enough rows for kernels to run at full
  /// speed. Further fibers cost memory and, on one thread, time.
  static constexpr int64_t enoughFibers = 256;
  /// The stack size of each branch, in bytes.
  size_t branchStackSize = size_t(256) << 10;

  LockstepOptions lockstep;

  // Options of objects for a device.
  int deviceNumber = 0;
  /// The stream of all runs, as a number: a CUstream of the GPU's primary
  /// context, which the CUDA runtime library also uses. 0 means the session's
  /// own stream.
  uint64_t stream = 0;
  int64_t blocks = 0; ///< maximum number per launch; 0: as many as can run
                      ///< together
  /// Seconds that a kernel may run without progress; 0 means no limit. The
  /// default is 10 on a GPU, and 0 in the emulator, which detects hangs by
  /// itself.
  std::optional<double> watchdog;
  EmulatorOptions emulator;
};

/// The time of one step, or of a worker's share of a step if each worker runs
/// control flow, in microseconds since the execution began.
struct StepTime {
  int64_t kernel; ///< for lanes: the block; -1: a barrier
  int64_t count;  ///< tasks, or lanes
  double begin, end;
  int64_t flush = 0; ///< number of the flush, if control flow waits for tensors
  int64_t worker = 0;
  int64_t run = 0;   ///< number of earlier runs of the kernel by this worker
  int64_t depth = 0; ///< depth of the step in its plan
  /// The maximum number of instances that can have a task in the step: all
  /// instances of the mini-batch, the instances that run together, or the
  /// worker's lanes.
  int64_t capacity = 0;
  /// True if each worker has a share of the step and its own StepTime.
  bool isShared = false;
};

/// Counts of a lockstep run.
struct LockstepCounters {
  struct Block {
    int64_t runs = 0;         ///< number of runs of the block
    int64_t laneRuns = 0;     ///< total number of lanes in these runs
    int64_t laneCapacity = 0; ///< number of lanes of the unit, summed over
                              ///< these runs
  };
  int64_t lanes = 0;
  int64_t steps = 0;       ///< total number of runs of blocks
  int64_t longestWait = 0; ///< maximum number of steps that a lane waited for
                           ///< its block
  int64_t laneRuns = 0;    ///< total number of lanes in these steps
  int64_t stackBytes = 0, topBytes = 0; ///< bytes moved from and to stacks, and
                                        ///< to tops of stacks
  int64_t copiedBytes = 0;              ///< bytes copied by inserts
  /// Number of steps in states that the learned table lacks.
  int64_t unknownStates = 0;
  std::vector<Block> blocks;
};

/// Times of the three phases of a run, in microseconds.
struct RunTimes {
  double inspect = 0, schedule = 0, execute = 0;
};

/// Counts of one kernel in a run.
struct KernelCounts {
  int64_t tasks = 0, batches = 0;
};

/// Counts of one run of a mini-batch: sums over its plans.
struct RunCounters {
  int64_t nodes = 0;      ///< input nodes
  int64_t inspectors = 0; ///< workers that inspected
  int64_t plans = 0;      ///< one for each group of units, in each flush
  /// Number of times that recorded tasks ran, either to let control flow
  /// continue or after control flow had ended.
  int64_t flushes = 0;
  int64_t waits = 0;      ///< waits of instances for tasks that had not run
  int64_t fibersMost = 0; ///< maximum number of instances and branches in
                          ///< progress at the same time
  int64_t tasks = 0;
  int64_t batches = 0;  ///< steps of the schedule
  int64_t shared = 0;   ///< number of these steps that several workers ran
  int64_t launches = 0; ///< launches of steps, or of a device's kernel
  int64_t barriers = 0;
  int64_t copies = 0; ///< copies to and from a device
  int64_t slots = 0;  ///< rows of result tables
  /// Bytes copied by tasks that insert into a copy of their operand; in
  /// lockstep, masked blocks are not included.
  int64_t copiedBytes = 0;
  /// Number of batches in states that the policy's state machine lacks.
  int64_t unknownStates = 0;
};

/// The progress of a run.
struct RunProgress {
  int64_t instances = 0;
  /// Number of instances that have results. If control flow runs ahead in an
  /// inspector, all instances get their results at the same time.
  int64_t ended = 0;
  int64_t flushes = 0; ///< number of flushes, if control flow waits for tensors
};

/// Memory of a session, in bytes: the maximum over all mini-batches so far.
struct MemoryUse {
  size_t results = 0;  ///< result tables
  size_t records = 0;  ///< memory of the inspector: tasks, memoized calls
  size_t schedule = 0; ///< steps, slots, operand index arrays
  size_t scratch = 0;  ///< intermediates of kernels, tensors of unbatched code
  size_t device = 0;   ///< memory of a device: parameters, and data of a run

  /// Returns the size in bytes of host memory.
  size_t total() const { return results + records + schedule + scratch; }
};

/// Runs one mini-batch at a time. A session is not thread-safe. Any number of
/// sessions may share one object and one set of bound parameters, because a run
/// writes only to its session and its forest.
class Session {
public:
  Session(const CompiledObject &object, const BoundParameters &parameters,
          const InputTensors &tensors, const SessionOptions &options);
  ~Session();

  /// Makes `forest` the mini-batch of the following calls, which may enlarge
  /// the forest. The input tensors to which the forest refers must exist.
  void load(Forest &forest);

  /// Sets the policy for later runs; the default is the object's policy. Only
  /// Policy::StateMachine uses the state machine, whose types are the object's
  /// kernels.
  void setPolicy(Policy policy, StateMachine stateMachine = {});
  /// Sets the state machine that picks the next block in lockstep. Its types
  /// are the object's blocks.
  void setBlockPolicy(StateMachine stateMachine);
  /// Passes each plan of later runs to a watcher once the plan is scheduled. If
  /// `watcher` is null, later runs have no watcher. Lockstep programs have no
  /// plans.
  void watch(RunWatcher *watcher);

  /// Sets the cancellation flag that later runs check, or removes it if
  /// `cancellation` is null. Once cancellation is requested, a run in progress
  /// or a new one raises Cancelled after the batch that is being computed. The
  /// results of the run are lost, and the next call must be load(). A run on a
  /// device can be cancelled only before its kernel starts.
  void setCancellation(const Cancellation *cancellation);

  /// Runs a whole mini-batch, batched.
  void run(Forest &forest) {
    load(forest);
    run();
  }
  /// Runs the loaded mini-batch, batched. Uses fewer threads than the options
  /// specify if this was measured to be faster in earlier calls.
  void run();
  /// The three phases of a batched run. A phase may be repeated; the later
  /// phases must then also be repeated. If control flow waits for tensors
  /// (`descriptor().waits`), the phases alternate and these calls are errors.
  void inspect();
  void schedule();
  void execute(ResultCopies copies = ResultCopies::WithRun);
  /// Prepares a stream of instances. The forest has one instance for each
  /// position, with only tensors and scalars. The cells of tensors
  /// are addresses.
  void openStream(Forest &forest, InstanceStream &stream);
  /// Runs the instances of the stream until it is closed. Meanwhile, another
  /// thread writes arguments and reads results of the positions that it holds.
  void runStream();
  /// Returns true if an index of some instance was out of range. Any thread may
  /// call this.
  bool hasBadIndex() const;
  /// Returns the error message for the index that hasBadIndex() found. Must be
  /// called after the run has ended.
  std::string describeBadIndex();
  /// Returns the reason why the instance at a position has no results, or an
  /// empty string if it has results. Must be called before the position gets
  /// another instance.
  std::string takeFailure(int64_t position);
  /// Copies the results of the last batched run to host memory, if they are not
  /// there yet.
  void collect() const;
  /// Like execute(), but step by step, or like run() if control flow waits for
  /// tensors. Returns the times of all steps, worker after worker. Unsupported
  /// on devices.
  std::vector<StepTime> executeTraced();
  /// Like run(), but traced. Returns an explanation of how many instances ran
  /// each block together.
  RunExplanation explain();
  /// Like execute() or run(). Returns the mean time in microseconds that the
  /// workers spend in kernels. This excludes the time between steps and the
  /// time spent waiting for other workers. The mean is over the workers that
  /// run kernels. On a device, returns the time of its kernel, and copies no
  /// results.
  double executeTimed();

  /// Runs one instance of the mini-batch directly. Its results are valid until
  /// the next call. With `partialResults`, failure() returns the reason if the
  /// instance has no results.
  void runUnbatched(int64_t instance);

  /// Returns the address of a tensor of the last run, which was either batched
  /// and collected, or unbatched.
  const char *tensor(const Type &type, int64_t cell) const;
  const BatchContext &context() const;
  /// Returns the plan of the tasks scheduled last, or null if the object does
  /// not run plans of tasks. If control flow waits for tensors, there are
  /// several plans and this call is an error.
  const Plan *plan() const;
  const Forest &forest() const;
  const Descriptor &descriptor() const { return object.descriptor(); }
  RunCounters counters() const;
  /// Returns the progress of the current run, or of the last one. Any thread
  /// may call this.
  RunProgress progress() const;
  /// Returns the counts of each kernel in the last run; empty in lockstep.
  const std::vector<KernelCounts> &kernelCounts() const;
  /// Returns the times of the last run() if control flow waits for tensors.
  RunTimes times() const;
  /// Returns the counts of the last lockstep run.
  LockstepCounters lockstepCounters() const;
  /// Returns the blocks that the first worker ran in the last run, in order.
  std::vector<int32_t> blockPath() const;
  /// Returns the relative cost of running each block, or an empty list if the
  /// program does not run in lockstep.
  std::vector<int64_t> blockCosts() const;
  /// Returns the reason why an instance has no results, or an empty string if
  /// it has results.
  std::string failure(int64_t instance) const;
  MemoryUse memory() const;

private:
  void useAllWorkers();
  void addRun(std::chrono::nanoseconds time);

  const CompiledObject object;
  WorkerPool workers;
  ThreadChoice choice;
  std::unique_ptr<MiniBatch> batch;
  std::unique_ptr<Executor> executor;
  RunWatcher *watcher = nullptr;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SESSION_H
