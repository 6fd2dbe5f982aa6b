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

#include "batch-runtime/Device.h"
#include "batch-runtime/Forest.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/Object.h"
#include "batch-runtime/Parameters.h"
#include "batch-runtime/Plan.h"
#include "batch-runtime/Workers.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace batchrt {

class Executor;
class MiniBatch;

/// When a run on a device copies its results to the host.
enum class ResultCopies {
  WithRun,      ///< right behind it, in the same stream
  WhenCollected ///< not before somebody asks for them, Session::collect()
};

/// Of objects whose control runs in lock step.
struct LockstepOptions {
  int64_t lanes = 0;            ///< 0: one for each instance of a mini-batch
  int64_t stackDepth = 64;      ///< of recursions
  int64_t maxSteps = INT64_MAX; ///< blocks that an instance may run
  /// Results of instances that ended well can be had if others did not.
  bool partialResults = false;
  BatchBlockChoice choice = BATCH_CHOICE_WORK;
  int64_t patience = 1024; ///< steps that a lane waits at most for its turn
  /// The share of lanes from which on a block runs on all of them, and results
  /// of the others are dropped; above 1: never.
  double maskFrom = 2;
  /// Keeps the blocks that run; `maxSteps` bounds them. Not on a device.
  bool recordPath = false;
};

struct SessionOptions {
  int threads = 1;
  size_t stackSize = size_t(256) << 20;
  /// Each worker that inspects gets at least as many nodes and elements of list
  /// arguments. Fewer do not pay for waking it.
  int64_t nodesPerWorker = 256;
  /// A task's rows of so many bytes are used again when they are read no more.
  /// Finding that out costs about as much as scheduling.
  int64_t reusedRowBytes = 1024;
  /// All workers share batches of so many tasks, one runs smaller ones; 0: as
  /// kernels say.
  int64_t shareTasks = 0;

  LockstepOptions lockstep;

  // Of objects for a device.
  int deviceNumber = 0;
  /// What runs are part of: a CUstream of the GPU's primary context, which is
  /// the one of CUDA's runtime library, as a number; 0: a stream of its own.
  uint64_t stream = 0;
  int64_t blocks = 0; ///< the most in a launch; 0: as many as run together
  /// Seconds that a kernel may go without progress; 0: for ever. None: 10 on a
  /// GPU, for ever in the emulator, which sees by itself that a kernel hangs.
  std::optional<double> watchdog;
  EmulatorOptions emulator;
};

/// When one step ran, in microseconds since the execution began.
struct StepTime {
  int64_t kernel, count;
  double begin, end;
};

/// Counts of a run in lock step.
struct LockstepCounters {
  struct Block {
    int64_t runs = 0;     ///< how often it ran
    int64_t laneRuns = 0; ///< on how many lanes in all,
    int64_t laneRoom = 0; ///< of how many that there were
  };
  int64_t lanes = 0;
  int64_t steps = 0;       ///< blocks run
  int64_t longestWait = 0; ///< steps that a lane waited for its block, at most
  int64_t laneRuns = 0;    ///< lanes that ran them, in all
  int64_t stackBytes = 0, topBytes = 0; ///< moved from and to stacks, to tops
  /// Steps that the learned table did not decide: unknown states.
  int64_t unknownStates = 0;
  std::vector<Block> blocks;
};

/// Counts of one run of a mini-batch: sums over its plans.
struct RunCounters {
  int64_t nodes = 0;      ///< input nodes
  int64_t inspectors = 0; ///< workers that inspected
  int64_t plans = 0;      ///< that run apart from each other
  int64_t tasks = 0;
  int64_t batches = 0;  ///< steps of the schedule
  int64_t shared = 0;   ///< of these, steps that several workers ran
  int64_t launches = 0; ///< steps run, or of a device's kernel
  int64_t barriers = 0;
  int64_t copies = 0;      ///< to and from a device
  int64_t gatherBytes = 0; ///< copied by gathers of their own: none so far
  int64_t slots = 0;       ///< rows of result tables
  /// Batches that a policy's machine did not decide: unknown states.
  int64_t unknownStates = 0;
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

/// Runs one mini-batch at a time. Not to be used by two threads at once, but
/// any number of sessions may share one object and one set of bound parameters:
/// what a run writes is the session's and the forest's own.
class Session {
public:
  Session(const CompiledObject &object, const BoundParameters &parameters,
          const InputTensors &tensors, const SessionOptions &options);
  ~Session();

  /// Makes `forest` the mini-batch of the following calls, which grow it. Input
  /// tensors that it names have to be there by now.
  void load(Forest &forest);

  /// What picks the next batch from now on; at first the object's policy. The
  /// machine, which Policy::Machine follows, is for the kernels of the object.
  void setPolicy(Policy policy, StateMachine machine = {});
  /// In lock step, what the machine says runs next from now on. It is for the
  /// blocks of the object.
  void setBlockPolicy(StateMachine machine);
  /// The tasks of the mini-batch that was inspected last. Types are kernels.
  TaskGraph taskGraph() const;

  /// A whole batched run of a mini-batch.
  void run(Forest &forest) {
    load(forest);
    inspect();
    schedule();
    execute();
  }
  /// The three parts of a batched run. Each may be repeated, those after it
  /// have to be called again then.
  void inspect();
  void schedule();
  void execute(ResultCopies copies = ResultCopies::WithRun);
  /// Results of the last batched run are in host memory afterwards. Copies at
  /// most once a run, and nothing if the run did.
  void collect() const;
  /// Step by step, with times. Not on a device.
  std::vector<StepTime> executeTraced();
  /// As execute(); returns the microseconds that a worker spends in kernels:
  /// neither between steps nor waiting for others. The mean over those who run
  /// them. On a device, what its kernel takes; its results are not copied.
  double executeTimed();

  /// Runs one instance of the mini-batch directly. Its results live until the
  /// next call.
  void runUnbatched(int64_t instance);

  /// Where a tensor of the last run lies, batched and collected, or unbatched.
  const char *tensor(const Type &type, int64_t cell) const;
  const BatchContext &context() const;
  /// Of the tasks that were scheduled last; null if control runs in lock step.
  const Plan *plan() const;
  /// What the operands of its steps read.
  GatherCounts countGathers() const;
  const Forest &forest() const;
  const Descriptor &descriptor() const { return object.descriptor(); }
  RunCounters counters() const;
  /// Of objects whose control runs in lock step.
  LockstepCounters lockstepCounters() const;
  /// Of the first worker's last run: the blocks, one after the other.
  std::vector<int32_t> blockPath() const;
  /// What it costs to run each block on a lane.
  std::vector<int64_t> blockCosts() const;
  /// Why an instance has no results; empty if it has.
  std::string failure(int64_t instance) const;
  MemoryUse memory() const;
  /// The bytes of result rows that no schedule-preserving layout could do
  /// without: those that a step of the batched run writes, and earlier ones
  /// that it, a later step or an output reads; at the step where they are the
  /// most. 0 in lock step.
  size_t liveResults() const;

private:
  const CompiledObject object;
  WorkerPool workers;
  std::unique_ptr<MiniBatch> batch;
  std::unique_ptr<Executor> executor;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SESSION_H
