//===- Session.cpp - Running a compiled object ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceExecutor.h"
#include "SessionState.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <chrono>

using namespace batchrt;

Session::Session(const CompiledObject &object,
                 const BoundParameters &parameters, const InputTensors &tensors,
                 const SessionOptions &options)
    : object(object), parameters(parameters), tensors(tensors),
      options(options), runPlan(object.descriptor()), workers(options.threads),
      stack(options.stackSize), fiber(stack), state(new State()) {
  const Descriptor &info = descriptor();
  State &s = *state;
  s.session = this;
  s.runtime = &runtimeFunctions;
  s.stackLimit = stack.limit();

  s.cellPointers.resize(info.cellColumns);
  s.cells = s.cellPointers.data();
  s.argumentPointers.resize(info.arguments.size());
  s.arguments = s.argumentPointers.data();
  s.resultCells.resize(info.results.size());
  s.resultPointers.resize(info.results.size());
  s.results = s.resultPointers.data();
  s.memos.resize(info.memo);
  s.memoPointers.resize(info.memo);
  s.memo = s.memoPointers.data();

  size_t kernels = info.kernels.size();
  s.queueList.resize(kernels, BatchQueue{nullptr, nullptr, nullptr});
  s.queueMemory.resize(kernels);
  s.queues = s.queueList.data();
  s.constantList.resize(kernels, -1);
  s.constants = s.constantList.data();

  for (size_t i = 0; i < info.forms.size(); ++i)
    s.formPointers.push_back(parameters.form(i));
  s.forms = s.formPointers.data();
  for (size_t i = 0; i < info.sources.size(); ++i) {
    const SourceInfo &source = info.sources[i];
    BatchSource row{nullptr, 0, 0};
    if (source.input)
      row.rowBytes = RowLayout(source.shape, source.dtype).rowBytes();
    else if (source.form >= 0)
      row = {parameters.form(source.form), parameters.rows(source.form),
             parameters.rowBytes(source.form)};
    s.sourceList.push_back(row);
  }
  s.sources = s.sourceList.data();

  s.workerMemory.resize(workers.size());
  for (Buffer &memory : s.workerMemory)
    s.workerPointers.push_back(memory.reserve(
        std::max<int64_t>(info.workerScratch, 64), "scratch of workers"));
  s.workerScratch = s.workerPointers.data();
  int64_t scratch = 64;
  for (const KernelInfo &kernel : info.kernels)
    scratch = std::max(scratch, kernel.taskScratch);
  s.unbatchedScratch.reserve(scratch, "intermediates");
}

Session::~Session() = default;

const BatchContext &Session::context() const { return *state; }

void Session::load(Forest &forest) {
  loaded = &forest;
  mode = Mode::None;
  State &s = *state;
  s.numInstances = forest.numInstances;
  s.numInputNodes = forest.numNodes;
  for (size_t i = 0; i < s.resultCells.size(); ++i) {
    s.resultCells[i].assign(std::max<int64_t>(forest.numInstances, 1), 0);
    s.resultPointers[i] = s.resultCells[i].data();
  }
  for (size_t i = 0; i < s.memos.size(); ++i) {
    if (s.memos[i].size() < static_cast<size_t>(forest.numNodes) + 1)
      s.memos[i].resize(forest.numNodes + 1);
    s.memoPointers[i] = s.memos[i].data();
  }
  for (size_t i = 0; i < s.argumentPointers.size(); ++i)
    s.argumentPointers[i] = forest.arguments[i].data();
  // More input tensors may have been read since the last mini-batch.
  for (size_t i = 0; i < s.sourceList.size(); ++i)
    if (descriptor().sources[i].input) {
      s.sourceList[i].base = tensors.base(static_cast<int>(i));
      s.sourceList[i].rows = tensors.count(static_cast<int>(i));
    }
  resetForest();
}

/// Compiled code sees the forest through pointers, which change when it grows.
void Session::refreshForest() {
  State &s = *state;
  s.variants = loaded->variants.data();
  s.nodeCapacity = static_cast<int64_t>(loaded->variants.size());
  for (size_t c = 0; c < s.cellPointers.size(); ++c)
    s.cellPointers[c] = loaded->cells[c].data();
  s.listPool = loaded->listPool.data();
  s.listCapacity = static_cast<int64_t>(loaded->listPool.size());
}

/// Drops the nodes and lists that a run has added.
void Session::resetForest() {
  state->numNodes = loaded->numNodes;
  state->listSize = loaded->listSize;
  refreshForest();
}

/// Input tensors are handles for the inspector, addresses for unbatched code.
void Session::enter(Mode wanted) {
  if (mode == wanted)
    return;
  mode = wanted;
  for (const TensorCell &cell : loaded->tensors) {
    int64_t value = cell.handle;
    if (wanted == Mode::Unbatched) {
      const BatchSource &source = state->sources[(value >> 56) & 127];
      const char *row =
          source.base + static_cast<uint32_t>(value) * source.rowBytes;
      value = reinterpret_cast<int64_t>(row);
    }
    switch (cell.place) {
    case TensorCell::Argument:
      loaded->arguments[cell.column][cell.position] = value;
      break;
    case TensorCell::Field:
      loaded->cells[cell.column][cell.position] = value;
      break;
    case TensorCell::List:
      loaded->listPool[cell.position] = value;
      break;
    }
  }
}

namespace {
struct Call {
  void (*inspect)(BatchContext *);
  void (*unbatched)(BatchContext *, int64_t);
  BatchContext *context;
  int64_t instance;

  static void run(void *argument) {
    Call &call = *static_cast<Call *>(argument);
    if (call.inspect)
      call.inspect(call.context);
    else
      call.unbatched(call.context, call.instance);
  }
};

struct Job {
  void (*execute)(BatchContext *, int64_t, int64_t);
  BatchContext *context;
  int64_t workers;

  static void run(void *argument, int worker) {
    Job &job = *static_cast<Job *>(argument);
    job.execute(job.context, worker, job.workers);
  }
};
} // namespace

/// Runs compiled code on its own stack; an instance below 0 means the
/// inspector.
void Session::call(int64_t instance) {
  State &s = *state;
  s.failed = false;
  s.code = 0;
  s.message.clear();
  Call call{instance < 0 ? object.entry().inspect : nullptr,
            object.entry().unbatched, state.get(), instance};
  fiber.run(Call::run, &call);
  if (!s.failed)
    return;
  std::string message =
      s.message.empty() ? explain(s.code, s.a, s.b) : s.message;
  if (instance >= 0)
    message =
        concat("instance ", loaded->firstInstance + instance, ": ", message);
  throw Error(message);
}

void Session::inspect() {
  if (!object.entry().inspect)
    raise("the object was compiled without an inspector");
  enter(Mode::Batched);
  resetForest();
  State &s = *state;
  for (BatchQueue &queue : s.queueList)
    queue.end = queue.begin;
  std::fill(s.constantList.begin(), s.constantList.end(), -1);
  s.numTasks = 0;
  s.numSteps = 0;
  memo.clear();
  call(-1);
}

void Session::schedule() { runPlan.build(*state); }

void Session::execute() {
  if (descriptor().launch) {
    if (!device)
      device = std::make_unique<DeviceExecutor>(object, parameters, options);
    device->run(*state, runPlan);
    lastBarriers = device->barriers();
    return;
  }
  if (!object.entry().execute)
    raise("the object was compiled without an executor");
  Job job{object.entry().execute, state.get(), workers.size()};
  int64_t before = workers.barriers();
  workers.run(Job::run, &job);
  lastBarriers = workers.barriers() - before;
}

double Session::executeTimed() {
  if (!object.entry().execute)
    raise("the object was compiled without an executor");
  Job job{object.entry().execute, state.get(), workers.size()};
  // What steps without tasks take is not spent in kernels.
  BatchStep *steps = state->steps;
  std::vector<BatchStep> empty(steps, steps + state->numSteps);
  for (BatchStep &step : empty)
    step.count = 0;
  state->steps = empty.data();
  double between = workers.runTimed(Job::run, &job);
  state->steps = steps;
  return workers.runTimed(Job::run, &job) - between;
}

std::vector<StepTime> Session::executeTraced() {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  auto now = [&] {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin)
        .count();
  };
  BatchStep *steps = state->steps;
  int64_t count = state->numSteps, barriers = 0;
  std::vector<StepTime> times;
  state->numSteps = 1;
  for (int64_t i = 0; i < count; ++i) {
    state->steps = steps + i;
    double start = now();
    execute();
    barriers += lastBarriers;
    times.push_back({steps[i].kernel, steps[i].count, start, now()});
  }
  state->steps = steps;
  state->numSteps = count;
  lastBarriers = barriers;
  return times;
}

void Session::runUnbatched(int64_t instance) {
  if (!object.entry().unbatched)
    raise(
        "the object has no unbatched code: it was compiled from a module that "
        "does not hold the instance functions any more");
  enter(Mode::Unbatched);
  resetForest();
  arena.reset(*state);
  memo.clear();
  state->scratch = state->unbatchedScratch.data();
  call(instance);
}

const char *Session::tensor(const Type &type, int64_t cell) const {
  if (mode == Mode::Unbatched)
    return reinterpret_cast<const char *>(cell);
  return runPlan.row(cell, type.table, state->sources);
}

RunCounters Session::counters() const {
  RunCounters counters;
  counters.nodes = state->numInputNodes;
  counters.tasks = state->numTasks;
  counters.batches = state->numSteps;
  counters.launches = device ? 1 : state->numSteps;
  counters.barriers = lastBarriers;
  counters.slots = runPlan.slots();
  return counters;
}

/// The instance and the node that hold index `value` in a field.
static std::string findIndex(const Descriptor &descriptor, const Forest &forest,
                             int64_t value) {
  for (int64_t node = 0; node < forest.numNodes; ++node) {
    const Variant *variant = descriptor.variantByNumber(forest.variants[node]);
    for (size_t f = 0; variant && f < variant->fields.size(); ++f) {
      if (variant->fields[f].type.kind != Type::Index ||
          forest.cells[f][node] != value)
        continue;
      int64_t instance = std::upper_bound(forest.instanceNodes.begin(),
                                          forest.instanceNodes.end(), node) -
                         forest.instanceNodes.begin() - 1;
      return concat(" (instance ", forest.firstInstance + instance, ", line ",
                    forest.lines[instance], ": ", variant->name, ".",
                    variant->fields[f].name, ")");
    }
  }
  return "";
}

std::string Session::explain(int64_t code, int64_t a, int64_t b) const {
  switch (code) {
  case BATCH_ERROR_ROW_OUT_OF_BOUNDS: {
    const Descriptor &info = descriptor();
    std::string name = concat("source ", b);
    int64_t rows = 0;
    if (b > 0 && b < static_cast<int64_t>(info.sources.size())) {
      const SourceInfo &source = info.sources[b];
      rows = state->sources[b].rows;
      if (source.parameter >= 0)
        name = "parameter '" + info.parameters[source.parameter].name + "'";
    }
    return concat("index ", a, " is out of range for ", name, " with ", rows,
                  " rows", findIndex(info, *loaded, a));
  }
  case BATCH_ERROR_STACK_OVERFLOW:
    return concat("the recursion is deeper than the stack of ", stack.size(),
                  " bytes allows; give a larger one with --stack-size=BYTES");
  case BATCH_ERROR_RAGGED_MISMATCH:
    return concat("two ragged tensors that belong together have ", a, " and ",
                  b, " rows");
  default:
    return concat("compiled code failed with error ", code, " (", a, ", ", b,
                  ")");
  }
}
