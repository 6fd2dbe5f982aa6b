//===- Session.cpp - Running a compiled object ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Session.h"
#include "../Executors/Executor.h"
#include "../Executors/Lockstep.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/RunExplanation.h"

using namespace batchrt;

Session::Session(const CompiledObject &object,
                 const BoundParameters &parameters, const InputTensors &tensors,
                 const SessionOptions &options)
    : object(object), workers(options.threads),
      choice(workers.size(), workers.cores()),
      batch(std::make_unique<MiniBatch>(object, parameters, tensors, options,
                                        workers)),
      executor(makeExecutor(*batch, parameters)) {}

Session::~Session() = default;

void Session::load(Forest &forest) {
  executor->forget();
  batch->load(forest);
}

void Session::setPolicy(Policy policy, StateMachine stateMachine) {
  executor->setPolicy(policy, std::move(stateMachine));
}

void Session::setBlockPolicy(StateMachine stateMachine) {
  executor->setBlockPolicy(std::move(stateMachine));
}

/// Raises an error if control flow waits for tensors, because the phases of
/// such a run cannot be called separately.
static void checkParts(const Descriptor &descriptor) {
  if (descriptor.waits)
    raise(
        "the control flow of this object waits for tensors, so inspection and "
        "execution alternate; call Session::run(), executeTraced() or "
        "executeTimed()");
}

void Session::setCancellation(const Cancellation *cancellation) {
  batch->setCancellation(cancellation);
}

/// Calls `run`. If it fails after a cancellation request, raises Cancelled.
template <typename Run>
static auto runCancellable(MiniBatch &batch, Run run) {
  try {
    batch.checkCancelled();
    return run();
  } catch (const Error &) {
    batch.indexError = {};
    batch.checkCancelled();
    throw;
  }
}

/// Calls `run`. If the run finds an out-of-range index that no instance reads,
/// repeats the run, beginning with the inspection.
template <typename Run>
static auto runChecked(MiniBatch &batch, Executor &executor, Run run) {
  return runCancellable(batch, [&] {
    batch.beginProgress();
    auto result = run();
    batch.setProgress(batch.numInstances(), batch.progress().flushes);
    if (!batch.indexError.place)
      return result;
    // Do not check instances that reached a limit: they would reach it again.
    std::vector<int64_t> ended;
    for (int64_t i = 0; i < batch.numInstances(); ++i)
      if (executor.failure(i).empty())
        ended.push_back(i);
    batch.checkIndices(ended);
    executor.forget();
    if (!batch.descriptor().waits) {
      executor.inspect();
      executor.prepare();
    }
    result = run();
    batch.indexError = {};
    return result;
  });
}

void Session::useAllWorkers() { workers.resize(workers.mostWorkers()); }

void Session::inspect() {
  checkParts(descriptor());
  useAllWorkers();
  runCancellable(*batch, [&] { executor->inspect(); });
}

void Session::schedule() {
  checkParts(descriptor());
  runCancellable(*batch, [&] { executor->prepare(); });
}

/// Adds a run of the mini-batch to the measurements for `choice`.
void Session::addRun(std::chrono::nanoseconds time) {
  const WorkerPool::SharedTime shared = workers.takeSharedTime();
  const int64_t size = batch->numInstances() + batch->forest().numNodes;
  choice.add({static_cast<double>(time.count()), static_cast<double>(size),
              static_cast<double>(shared.total.count()),
              static_cast<double>(shared.waited.count())});
}

void Session::run() {
  const auto begin = std::chrono::steady_clock::now();
  workers.resize(choice.threads());
  workers.takeSharedTime();
  if (!descriptor().waits)
    runCancellable(*batch, [&] {
      executor->inspect();
      executor->prepare();
    });
  runChecked(*batch, *executor, [&] {
    executor->run(ResultCopies::WithRun);
    return true;
  });
  addRun(std::chrono::steady_clock::now() - begin);
}

void Session::execute(ResultCopies copies) {
  checkParts(descriptor());
  runChecked(*batch, *executor, [&] {
    executor->run(copies);
    return true;
  });
}

void Session::openStream(Forest &forest, InstanceStream &stream) {
  load(forest);
  useAllWorkers();
  executor->prepareStream(stream);
  batch->indexError = {}; // error of a stream that was not read to its end
  batch->stream = &stream;
}

void Session::runStream() {
  struct End {
    MiniBatch &batch;
    ~End() {
      batch.stream->close();
      batch.stream = nullptr;
    }
  } end{*batch};
  executor->runStream();
}

bool Session::hasBadIndex() const { return batch->hasBadIndex(); }

std::string Session::describeBadIndex() {
  return batch->describeIndex(std::exchange(batch->indexError, {}));
}

std::string Session::takeFailure(int64_t position) {
  return executor->takeFailure(position);
}

void Session::collect() const { executor->collect(); }

std::vector<StepTime> Session::executeTraced() {
  if (descriptor().waits)
    useAllWorkers();
  return runChecked(*batch, *executor, [&] { return executor->runTraced(); });
}

RunExplanation Session::explain() {
  TaskPicture picture;
  struct Watch {
    Session &session;
    ~Watch() { session.executor->watch(session.watcher); }
  } watch{*this};
  executor->watch(&picture);
  if (!descriptor().waits) {
    inspect();
    schedule();
  }
  const std::vector<StepTime> steps = executeTraced();
  return {descriptor(), batch->numInstances(), workers.size(), steps,
          counters(),   picture.tasks()};
}

double Session::executeTimed() {
  if (descriptor().waits)
    useAllWorkers();
  return runChecked(*batch, *executor, [&] { return executor->runTimed(); });
}

void Session::runUnbatched(int64_t instance) {
  executor->forget();
  runCancellable(*batch, [&] { batch->runUnbatched(instance); });
}

const char *Session::tensor(const Type &type, int64_t cell) const {
  return executor->tensor(type, cell);
}

const BatchContext &Session::context() const { return batch->context(); }

const Forest &Session::forest() const { return batch->forest(); }

void Session::watch(RunWatcher *newWatcher) {
  watcher = newWatcher;
  executor->watch(watcher);
}

const Plan *Session::plan() const {
  if (descriptor().waits)
    raise("the control flow of this object waits for tensors, so each flush "
          "has its own plan; use Session::watch()");
  return executor->plan();
}

RunCounters Session::counters() const {
  RunCounters counters = executor->counters();
  counters.nodes = batch->forest().numNodes;
  return counters;
}

const std::vector<KernelCounts> &Session::kernelCounts() const {
  return executor->kernelCounts();
}

RunProgress Session::progress() const { return batch->progress(); }

RunTimes Session::times() const { return executor->times(); }

LockstepCounters Session::lockstepCounters() const {
  return executor->lockstepCounters();
}

std::vector<int32_t> Session::blockPath() const {
  return executor->blockPath();
}

std::vector<int64_t> Session::blockCosts() const {
  return descriptor().lockstep ? costsOfBlocks(descriptor())
                               : std::vector<int64_t>();
}

std::string Session::failure(int64_t instance) const {
  std::string why = executor->failure(instance);
  return why.empty() ? batch->unbatchedFailure(instance) : why;
}

MemoryUse Session::memory() const {
  MemoryUse use;
  batch->addMemory(use);
  executor->addMemory(use);
  return use;
}
