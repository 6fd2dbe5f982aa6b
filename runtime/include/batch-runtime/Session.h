//===- Session.h - Running a compiled object --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled object is used in three calls: open (Object.h), bind the
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
#include "batch-runtime/Parameters.h"
#include "batch-runtime/RunWatcher.h"
#include "batch-runtime/Workers.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace batchrt {

class Executor;
class MiniBatch;
class RunExplanation;

/// When a run on a device copies its results to the host.
enum class ResultCopies {
  WithRun,      ///< right after it, in the same stream
  WhenCollected ///< only on request, Session::collect()
};

/// How messages call options: as tools do, or the fields of the C API's, or the
/// arguments of Python's.
enum class OptionNames { Tools, C, Python };

/// "--max-steps=N", "maxSteps" or "max_steps", of "max-steps" and "N".
std::string optionName(OptionNames names, const std::string &option,
                       const std::string &value = "");

/// Options of objects whose control runs in lock step; `maxSteps` and
/// `partialResults` serve all objects.
struct LockstepOptions {
  int64_t lanes = 0;       ///< 0: one for each instance of a mini-batch
  int64_t stackDepth = 64; ///< of recursions
  /// Blocks that an instance may run; of inspectors and unbatched code, rounds
  /// of loops and calls of recursions.
  int64_t maxSteps = INT64_MAX;
  /// Keeps the results of instances that ended well if others did not.
  bool partialResults = false;
  OptionNames names = OptionNames::Tools; ///< in messages
  /// Nothing: MOST on a device, for the fewest steps, else WORK.
  std::optional<BatchBlockChoice> choice;
  int64_t patience = 1024; ///< the most steps that a lane waits for its turn
  /// From this share of the lanes on, a block runs on all lanes, and the
  /// results of the others are dropped; above 1: never.
  double maskFrom = 2;
  /// Records which blocks run. Not on a device.
  bool recordPath = false;
};

struct SessionOptions {
  int threads = 1;
  size_t stackSize = size_t(256) << 20;
  /// Each worker that inspects gets at least this many nodes and elements of
  /// list arguments: fewer are not worth waking it for.
  int64_t nodesPerWorker = 256;
  /// A task's rows of at least this many bytes are reused after their last
  /// read. Finding the last reads costs about as much as scheduling.
  int64_t reusedRowBytes = 1024;
  /// All workers share batches of at least this many tasks, and one worker runs
  /// smaller ones; 0: each kernel has a number of its own.
  int64_t shareTasks = 0;
  /// Depths follow from what records read, once per plan, instead of from the
  /// handles in the inspector: what a system without a compiler has to do.
  bool depthsOfRecords = false;

  // Options of objects whose control waits for tensors.
  /// Branches of an instance that may wait at the same time; the next one of a
  /// fork begins when one of the fork ends.
  int64_t maxFibers = 256;
  /// Of each of them.
  size_t branchStackSize = size_t(256) << 10;

  LockstepOptions lockstep;

  // Options of objects for a device.
  int deviceNumber = 0;
  /// The stream of all runs: a CUstream of the GPU's primary context, which
  /// CUDA's runtime library uses too, as a number; 0: the session's own stream.
  uint64_t stream = 0;
  int64_t blocks = 0; ///< the most in a launch; 0: all that run together
  /// Seconds that a kernel may go without progress; 0: for ever. None: 10 on a
  /// GPU, for ever in the emulator, which detects hangs by itself.
  std::optional<double> watchdog;
  EmulatorOptions emulator;
};

/// When one step ran, or a worker's share of one where each runs control, in
/// microseconds since the execution began.
struct StepTime {
  int64_t kernel; ///< of lanes: the block; -1: a barrier
  int64_t count;  ///< tasks, or lanes
  double begin, end;
  int64_t flush = 0; ///< of the run, where control waits for tensors
  int64_t worker = 0;
  int64_t run = 0;   ///< how often the worker has run this kernel before
  int64_t depth = 0; ///< in its plan
  /// The most instances that could have had a task in it: of the mini-batch, of
  /// those that run together, or the worker's lanes.
  int64_t room = 0;
  /// All workers have a share in it, and a step each.
  bool together = false;
};

/// Counts of a run in lock step.
struct LockstepCounters {
  struct Block {
    int64_t runs = 0;     ///< times that it ran
    int64_t laneRuns = 0; ///< lanes that ran it, in all
    int64_t laneRoom = 0; ///< lanes there were then, in all
  };
  int64_t lanes = 0;
  int64_t steps = 0;       ///< blocks run
  int64_t longestWait = 0; ///< the most steps that a lane waited for its block
  int64_t laneRuns = 0;    ///< lanes that ran them, in all
  int64_t stackBytes = 0, topBytes = 0; ///< moved from and to stacks; to tops
  int64_t copiedBytes = 0;              ///< by inserts
  /// Steps in states that the learned table does not know.
  int64_t unknownStates = 0;
  std::vector<Block> blocks;
};

/// Microseconds of the three parts of a run.
struct RunTimes {
  double inspect = 0, schedule = 0, execute = 0;
};

/// Counts of what one kernel did in a run.
struct KernelCounts {
  int64_t tasks = 0, batches = 0;
};

/// Counts of one run of a mini-batch: sums over its plans.
struct RunCounters {
  int64_t nodes = 0;      ///< input nodes
  int64_t inspectors = 0; ///< workers that inspected
  int64_t plans = 0;      ///< one for each group of units, in each flush
  /// Times that recorded tasks ran so that control could go on, or after it
  /// had ended.
  int64_t flushes = 0;
  int64_t waits = 0;      ///< of instances, for a task that had not run
  int64_t fibersMost = 0; ///< instances and branches in progress together
  int64_t tasks = 0;
  int64_t batches = 0;  ///< steps of the schedule
  int64_t shared = 0;   ///< of these, steps that several workers ran
  int64_t launches = 0; ///< of steps, or of a device's kernel
  int64_t barriers = 0;
  int64_t copies = 0;      ///< to and from a device
  int64_t gatherBytes = 0; ///< copied by separate gathers: none so far
  int64_t slots = 0;       ///< rows of result tables
  /// By tasks that insert into a copy of their operand; of a program in lock
  /// step, masked blocks not included.
  int64_t copiedBytes = 0;
  /// Batches in states that the policy's state machine does not know.
  int64_t unknownStates = 0;
};

/// How far a run has come.
struct RunProgress {
  int64_t instances = 0;
  /// Those that have their results. Where control runs ahead, in an inspector,
  /// all have them at once.
  int64_t ended = 0;
  int64_t flushes = 0; ///< where control waits for tensors
};

/// Bytes that a session holds: the most that any mini-batch so far needed.
struct MemoryUse {
  size_t results = 0;  ///< result tables
  size_t records = 0;  ///< what the inspector writes: tasks, remembered calls
  size_t schedule = 0; ///< steps, slots, operand index arrays
  size_t scratch = 0;  ///< intermediates of kernels, tensors of unbatched code
  size_t device = 0;   ///< memory of a device: parameters, and all of a run

  /// Of the host.
  size_t total() const { return results + records + schedule + scratch; }
};

/// Runs one mini-batch at a time. Two threads must not use it at once, but any
/// number of sessions may share one object and one set of bound parameters: a
/// run writes only to its session and its forest.
class Session {
public:
  Session(const CompiledObject &object, const BoundParameters &parameters,
          const InputTensors &tensors, const SessionOptions &options);
  ~Session();

  /// Makes `forest` the mini-batch of the following calls, which grow it. The
  /// input tensors that it names must exist.
  void load(Forest &forest);

  /// Sets the policy of the next runs; at first it is the object's. The types
  /// of the state machine, which Policy::StateMachine follows, are the object's
  /// kernels.
  void setPolicy(Policy policy, StateMachine stateMachine = {});
  /// Sets the state machine that picks the next block in lock step. Its types
  /// are the object's blocks.
  void setBlockPolicy(StateMachine stateMachine);
  /// Shows the plans of the next runs to a watcher when they are scheduled;
  /// null: no longer. There are none if control runs in lock step.
  void watch(RunWatcher *watcher);

  /// Once this is requested, a run in progress or one that begins raises
  /// Cancelled, soon: when a batch that is being computed has ended. Its
  /// results are lost, and the session goes on with load(). A run on a device
  /// only ends before its kernel starts. Null: no longer.
  void setCancellation(const Cancellation *cancellation);

  /// A whole batched run of a mini-batch.
  void run(Forest &forest) {
    load(forest);
    run();
  }
  /// The same for the mini-batch that is loaded.
  void run();
  /// The three calls of a batched run. Each may be repeated, and those after it
  /// must then be called again. Where control waits for tensors
  /// (`descriptor().waits`) they take turns, and these calls are errors.
  void inspect();
  void schedule();
  void execute(ResultCopies copies = ResultCopies::WithRun);
  /// Gets ready for a stream of instances, of which the forest has one for each
  /// seat; then cells of tensors are addresses. It must have tensors and
  /// numbers only.
  void openStream(Forest &seats, InstanceStream &stream);
  /// Runs its instances until it is closed. Meanwhile its caller, in another
  /// thread, writes arguments, and reads results, of seats that are its own.
  void runStream();
  /// Whether an instance has met an index out of range. Any thread may call
  /// this.
  bool hasBadIndex() const;
  /// The text of that error, once the run has ended.
  std::string describeBadIndex();
  /// Why the instance of a seat has no results; empty if it has some. Asked
  /// before the seat gets another one.
  std::string takeFailure(int64_t seat);
  /// Copies the results of the last batched run to host memory, if they are not
  /// there yet.
  void collect() const;
  /// As execute(), step by step; returns the times, worker after worker. Not on
  /// a device. Where control waits for tensors, as run().
  std::vector<StepTime> executeTraced();
  /// As run(), traced: what ran for how many instances at once.
  RunExplanation explain();
  /// As execute() or run(); returns the microseconds that a worker spends in
  /// kernels: neither between steps nor waiting for others; the mean over the
  /// workers that run any. On a device, the time of its kernel; no results are
  /// copied.
  double executeTimed();

  /// Runs one instance of the mini-batch directly. Its results live until the
  /// next call. With `partialResults`, failure() has the reason if it has none.
  void runUnbatched(int64_t instance);

  /// The address of a tensor of the last run: batched and collected, or
  /// unbatched.
  const char *tensor(const Type &type, int64_t cell) const;
  const BatchContext &context() const;
  /// The plan of the tasks scheduled last; null if control runs in lock step.
  /// Where control waits for tensors there are several, and this is an error.
  const Plan *plan() const;
  const Forest &forest() const;
  const Descriptor &descriptor() const { return object.descriptor(); }
  RunCounters counters() const;
  /// Of the run in progress, or the last one. Any thread may call this.
  RunProgress progress() const;
  /// Counts of the last run by kernel; none in lock step.
  const std::vector<KernelCounts> &kernelCounts() const;
  /// The times of the last run() where control waits for tensors.
  RunTimes times() const;
  /// Counts of the last run in lock step.
  LockstepCounters lockstepCounters() const;
  /// The blocks that the first worker ran in the last run, in order.
  std::vector<int32_t> blockPath() const;
  /// The cost of running each block on a lane; none of plans of tasks.
  std::vector<int64_t> blockCosts() const;
  /// Why an instance has no results; empty if it has some.
  std::string failure(int64_t instance) const;
  MemoryUse memory() const;

private:
  const CompiledObject object;
  WorkerPool workers;
  std::unique_ptr<MiniBatch> batch;
  std::unique_ptr<Executor> executor;
  RunWatcher *watcher = nullptr;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SESSION_H
