//===- Session.cpp - Running a compiled object ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceExecutor.h"
#include "Lockstep.h"
#include "SessionState.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace batchrt;

Session::Session(const CompiledObject &object,
                 const BoundParameters &parameters, const InputTensors &tensors,
                 const SessionOptions &options)
    : object(object), parameters(parameters), tensors(tensors),
      options(options), runPlan(object.descriptor(), options.reusedRowBytes),
      workers(options.threads), state(new State()) {
  const Descriptor &info = descriptor();
  State &s = *state;
  Part &part = makePart();
  part.runtime = &runtimeFunctions;

  s.cellPointers.resize(info.cellColumns);
  part.cells = s.cellPointers.data();
  s.argumentPointers.resize(info.arguments.size());
  part.arguments = s.argumentPointers.data();
  s.resultCells.resize(info.results.size());
  s.resultPointers.resize(info.results.size());
  part.results = s.resultPointers.data();
  s.memos.resize(info.memo);
  s.memoPointers.resize(info.memo);
  part.memo = s.memoPointers.data();

  for (size_t i = 0; i < info.forms.size(); ++i)
    s.formPointers.push_back(parameters.form(i));
  part.forms = s.formPointers.data();
  for (size_t i = 0; i < info.sources.size(); ++i) {
    const SourceInfo &source = info.sources[i];
    BatchSource row = {};
    if (source.input) {
      row.rowBytes = RowLayout(source.shape, source.dtype).rowBytes();
    } else if (source.form >= 0) {
      row.base = parameters.form(source.form);
      row.rows = parameters.rows(source.form);
      row.rowBytes = parameters.rowBytes(source.form);
    }
    s.sourceList.push_back(row);
  }
  part.sources = s.sourceList.data();

  s.workerMemory.resize(workers.size());
  s.workerPointers.resize(workers.size());
  part.workerScratch = s.workerPointers.data();
  if (info.policy != Policy::Depth)
    setPolicy(info.policy, info.machine);
  if (info.lockstep)
    lockstep = std::make_unique<Lockstep>(info, options.lockstep);
}

Session::~Session() = default;

const BatchContext &Session::context() const { return *state->parts.front(); }

void Session::reserveWorkers(size_t bytes, size_t count) {
  for (size_t w = 0; w < count; ++w)
    state->workerPointers[w] =
        state->workerMemory[w].reserve(bytes, "scratch of workers");
}

/// One more part, with queues of its own.
Session::Part &Session::makePart() {
  auto &stacks = state->stacks;
  if (stacks.size() < static_cast<size_t>(workers.size()))
    stacks.push_back(std::make_unique<FiberStack>(options.stackSize));
  FiberStack &stack = *stacks[state->parts.size() % workers.size()];
  state->parts.push_back(std::make_unique<Part>(*this, stack));
  Part &part = *state->parts.back();
  size_t kernels = descriptor().kernels.size();
  size_t bytes = kernels * sizeof(BatchQueue);
  std::memset(part.queueList.reserve(bytes, "recorded tasks"), 0, bytes);
  part.queues = part.queueList.as<BatchQueue>();
  part.queueMemory.resize(kernels);
  part.constantList.resize(kernels, -1);
  part.constants = part.constantList.data();
  part.stackLimit = part.stack.limit();
  return part;
}

void Session::load(Forest &forest) {
  loaded = &forest;
  mode = Mode::None;
  State &s = *state;
  s.parts.front()->instanceNodes = forest.instanceNodes.data();
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

/// Cuts the mini-batch into parts of about equal size: one for each plan of a
/// device, or for each worker if it is large enough.
void Session::splitInstances() {
  Forest &forest = *loaded;
  // An instance without nodes takes time, too.
  auto sizeOf = [&](int64_t instance) {
    int64_t size =
        1 + forest.instanceNodes[instance + 1] - forest.instanceNodes[instance];
    for (size_t a = 0; a < forest.arguments.size(); ++a)
      if (descriptor().arguments[a].type.kind == Type::List)
        size += listLength(forest.arguments[a][instance]);
    return size;
  };
  int64_t sum = 0, done = 0, instance = 0;
  for (int64_t i = 0; i < forest.numInstances; ++i)
    sum += sizeOf(i);
  plansApart = descriptor().separable && device && device->groups() > 1;
  int64_t wanted = 1;
  if (plansApart)
    wanted = device->groups();
  else if (descriptor().separable)
    wanted = std::min<int64_t>(
        workers.size(), sum / std::max<int64_t>(options.nodesPerWorker, 1));
  numParts = std::max<int64_t>(std::min(wanted, forest.numInstances), 1);
  state->contexts.clear();
  for (int64_t p = 0; p < numParts; ++p) {
    Part &part = static_cast<size_t>(p) == state->parts.size()
                     ? makePart()
                     : *state->parts[p];
    state->contexts.push_back(&part);
    // At least one instance each.
    int64_t last = forest.numInstances - (numParts - p - 1);
    part.beginInstance = instance;
    while (instance < last &&
           (instance == part.beginInstance || done * numParts < sum * (p + 1)))
      done += sizeOf(instance++);
    part.endInstance = instance;
  }
}

/// Compiled code sees the forest through pointers, which change when it grows.
void Session::refreshForest() {
  Part &part = *state->parts.front();
  part.variants = loaded->variants.data();
  part.nodeCapacity = static_cast<int64_t>(loaded->variants.size());
  for (size_t c = 0; c < state->cellPointers.size(); ++c)
    state->cellPointers[c] = loaded->cells[c].data();
  part.listPool = loaded->listPool.data();
  part.listCapacity = static_cast<int64_t>(loaded->listPool.size());
}

/// Drops the nodes and lists that a run has added.
void Session::resetForest() {
  state->parts.front()->numNodes = loaded->numNodes;
  state->parts.front()->listSize = loaded->listSize;
  refreshForest();
}

void Session::growNodes(int64_t wanted) {
  int64_t capacity = static_cast<int64_t>(loaded->variants.size());
  if (wanted <= capacity)
    return;
  if (wanted > INT32_MAX)
    raise("the mini-batch has more than 2^31 nodes; give a smaller --batch");
  capacity = std::max<int64_t>({wanted, 2 * capacity, 1024});
  loaded->variants.resize(capacity);
  for (std::vector<int64_t> &column : loaded->cells)
    column.resize(capacity);
  refreshForest();
}

void Session::growList(int64_t wanted) {
  int64_t capacity = static_cast<int64_t>(loaded->listPool.size());
  if (wanted <= capacity)
    return;
  if (wanted > INT32_MAX)
    raise("the lists of the mini-batch have more than 2^31 entries; give a "
          "smaller --batch");
  loaded->listPool.resize(std::max<int64_t>({wanted, 2 * capacity, 1024}));
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
      const BatchSource &source = state->sourceList[(value >> 56) & 127];
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
struct Inspection {
  void (*inspect)(BatchContext *, int64_t, int64_t);
  BatchContext *context;
  int64_t begin, end;

  static void run(void *argument) {
    Inspection &call = *static_cast<Inspection *>(argument);
    call.inspect(call.context, call.begin, call.end);
  }
};

struct UnbatchedRun {
  void (*unbatched)(BatchContext *, int64_t);
  BatchContext *context;
  int64_t instance;

  static void run(void *argument) {
    UnbatchedRun &call = *static_cast<UnbatchedRun *>(argument);
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

/// What compiled code failed with; `instance` is below 0 if it inspected.
void Session::throwError(const Part &part, int64_t instance) const {
  std::string message =
      part.message.empty() ? explain(part.code, part.a, part.b) : part.message;
  if (instance >= 0)
    message =
        concat("instance ", loaded->firstInstance + instance, ": ", message);
  throw Error(message);
}

/// Lanes read arguments and write results as unbatched code does: scalars in
/// cells, tensors where cells say.
void Session::prepareLockstep() {
  enter(Mode::Unbatched);
  resetForest();
  lockstep->prepare(loaded->numInstances, device ? 0 : workers.size());
  state->parts.front()->lanes = lockstep->lanes();
  for (size_t r = 0; r < state->resultCells.size(); ++r) {
    const Type &type = descriptor().results[r].type;
    if (type.kind != Type::Tensor)
      continue;
    int64_t bytes = RowLayout(type.shape, type.dtype).rowBytes();
    char *rows = lockstep->resultRows(r, bytes);
    for (int64_t i = 0; i < loaded->numInstances; ++i)
      state->resultCells[r][i] = reinterpret_cast<int64_t>(rows + i * bytes);
  }
  state->contexts = {state->parts.front().get()};
  if (!device)
    reserveWorkers(lockstep->workerScratch(), workers.size());
}

void Session::inspect() {
  if (descriptor().launch && !device)
    device = std::make_unique<DeviceExecutor>(object, parameters, options);
  if (lockstep)
    return;
  if (!object.entry().inspect)
    raise("the object was compiled without an inspector");
  splitInstances();
  enter(Mode::Batched);
  auto &parts = state->parts;
  auto end = parts.begin() + numParts;
  auto returned = [](auto &part) { return part->end == Part::Returned; };
  for (;;) {
    resetForest();
    makeRoom();
    workers.forEachPart(numParts, [this](int64_t p) { inspectPart(p); });
    // The first error is that of the first instance that has one.
    auto part = std::find_if_not(parts.begin(), end, returned);
    if (part == end)
      break;
    if ((*part)->end == Part::Failed)
      throwError(**part, /*instance=*/-1);
  }
  // Nodes and entries of all parts are below those of the last.
  parts.front()->numNodes = end[-1]->numNodes;
  parts.front()->listSize = end[-1]->listSize;
}

/// Gives each part what the first one has, and where it may add nodes and list
/// entries.
void Session::makeRoom() {
  Part &first = *state->parts.front();
  first.numSteps = 0;
  if (numParts == 1)
    return;
  int64_t nodes = first.numNodes, entries = first.listSize;
  for (int64_t p = 0; p < numParts; ++p) {
    nodes += state->parts[p]->nodeRoom;
    entries += state->parts[p]->entryRoom;
  }
  growNodes(nodes);
  growList(entries);
  nodes = first.numNodes;
  entries = first.listSize;
  for (int64_t p = 0; p < numParts; ++p) {
    Part &part = *state->parts[p];
    BatchContext own = part;
    static_cast<BatchContext &>(part) = first;
    part.queues = own.queues;
    part.constants = own.constants;
    part.stackLimit = own.stackLimit;
    part.firstNode = part.numNodes = nodes;
    part.nodeCapacity = nodes += part.nodeRoom;
    part.firstEntry = part.listSize = entries;
    part.listCapacity = entries += part.entryRoom;
  }
}

void Session::inspectPart(int64_t number) {
  Part &part = *state->parts[number];
  for (size_t k = 0; k < part.queueMemory.size(); ++k)
    part.queues[k].end = part.queues[k].begin;
  std::fill(part.constantList.begin(), part.constantList.end(), -1);
  part.numTasks = firstTaskOf(number, numParts);
  part.known.clear();
  part.end = Part::Returned;
  part.message.clear();
  Inspection call{object.entry().inspect, &part, part.beginInstance,
                  part.endInstance};
  part.fiber.run(Inspection::run, &call);
}

void Session::setPolicy(Policy policy, StateMachine machine) {
  std::vector<std::string> kernels;
  for (const KernelInfo &kernel : descriptor().kernels)
    kernels.push_back(kernel.name);
  if (std::string wrong = machine.renumber(kernels); !wrong.empty())
    raise(wrong);
  runPlan.setPolicy(policy, std::move(machine));
}

void Session::setBlockPolicy(StateMachine machine) {
  std::vector<std::string> blocks;
  for (const BlockInfo &block : descriptor().lockstep->blocks)
    blocks.push_back(block.name);
  if (machine.states() && machine.encoding() != Encoding::Max)
    raise("a choice of blocks reads states of encoding 'max', not '",
          name(machine.encoding()), "'; learn it from this program");
  if (std::string wrong = machine.renumber(blocks); !wrong.empty())
    raise(wrong);
  lockstep->setPolicy(machine);
}

TaskGraph Session::taskGraph() const {
  return RecordedTasks(descriptor()).read(state->contexts);
}

void Session::schedule() {
  if (lockstep)
    return prepareLockstep();
  runPlan.build(state->contexts, loaded->numInstances, workers, plansApart);
  if (object.entry().execute) {
    runPlan.shareSteps(workers.size(), options.shareTasks);
    reserveWorkers(runPlan.workerScratch(), workers.size());
  }
}

/// Calls `body(context, job, shared)` for each stretch of the plan, with a
/// context that has its steps only. Returns how often workers met.
template <class Body>
int64_t Session::forEachStretch(const Body &body) {
  if (!object.entry().execute)
    raise("the object was compiled without an executor");
  BatchContext &context = *state->parts.front();
  BatchStep *steps = context.steps;
  const int64_t numSteps = context.numSteps;
  int64_t before = workers.barriers(), stretches = 0;
  for (const Plan::Stretch &stretch : runPlan.stretches()) {
    context.steps = steps + stretch.begin;
    context.numSteps = stretch.end - stretch.begin;
    Job job{object.entry().execute, &context,
            stretch.shared ? workers.size() : 1};
    body(context, job, stretch.shared);
    ++stretches;
  }
  context.steps = steps;
  context.numSteps = numSteps;
  return workers.barriers() - before + std::max<int64_t>(stretches - 1, 0);
}

void Session::executeLanes() {
  if (device) {
    device->run(context(), *lockstep);
  } else {
    if (!object.entry().execute)
      raise("the object was compiled without an executor");
    Job job{object.entry().execute, state->parts.front().get(), workers.size()};
    workers.run(Job::run, &job, /*shared=*/true);
  }
  lastBarriers = 0;
  for (int64_t i = 0; i < loaded->numInstances; ++i)
    if (std::string why = lockstep->describeEnd(i); !why.empty())
      if (!options.lockstep.partialResults)
        raise("instance ", loaded->firstInstance + i, ": ", why);
}

std::string Session::failure(int64_t instance) const {
  return lockstep ? lockstep->describeEnd(instance) : "";
}

std::vector<int32_t> Session::blockPath() const { return lockstep->path(); }

std::vector<int64_t> Session::blockCosts() const {
  return costsOfBlocks(descriptor());
}

LockstepCounters Session::lockstepCounters() const {
  return lockstep ? lockstep->counters() : LockstepCounters();
}

void Session::execute() {
  if (lockstep)
    return executeLanes();
  if (device) {
    device->run(context(), runPlan);
    lastBarriers = device->barriers();
    return;
  }
  lastBarriers = forEachStretch([&](BatchContext &, Job &job, bool shared) {
    workers.run(Job::run, &job, shared);
  });
}

double Session::executeTimed() {
  if (device) {
    execute();
    return device->kernelTime();
  }
  if (lockstep) {
    // Blocks run between bookkeeping of their own: all of it counts.
    prepareLockstep();
    Job job{object.entry().execute, state->parts.front().get(), workers.size()};
    return workers.runTimed(Job::run, &job, /*shared=*/true);
  }
  auto time = [&] {
    double sum = 0;
    forEachStretch([&](BatchContext &, Job &job, bool shared) {
      sum += workers.runTimed(Job::run, &job, shared);
    });
    return sum;
  };
  // What steps without tasks take is not spent in kernels.
  BatchContext &context = *state->parts.front();
  BatchStep *steps = context.steps;
  std::vector<BatchStep> empty(steps, steps + context.numSteps);
  for (BatchStep &step : empty)
    step.count = 0;
  context.steps = empty.data();
  double between = time();
  context.steps = steps;
  // One of the two may have been interrupted.
  return std::max(time() - between, 0.0);
}

std::vector<StepTime> Session::executeTraced() {
  if (device)
    raise(
        "a device runs all steps in one launch, nobody sees when each begins; "
        "leave out --trace, or give --device=cpu");
  if (lockstep)
    raise("blocks of lanes are no steps of a schedule; leave out --trace");
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  auto now = [&] {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin)
        .count();
  };
  std::vector<StepTime> times;
  lastBarriers =
      forEachStretch([&](BatchContext &context, Job &job, bool shared) {
        BatchStep *end = context.steps + context.numSteps;
        context.numSteps = 1;
        for (; context.steps != end; ++context.steps) {
          double start = now();
          workers.run(Job::run, &job, shared);
          times.push_back(
              {context.steps->kernel, context.steps->count, start, now()});
        }
      });
  return times;
}

void Session::runUnbatched(int64_t instance) {
  if (!object.entry().unbatched)
    raise(
        "the object has no unbatched code: it was compiled from a module that "
        "does not hold the instance functions any more");
  enter(Mode::Unbatched);
  resetForest();
  Part &part = *state->parts.front();
  arena.reset(part);
  part.known.clear();
  int64_t scratch = 64, worker = 64;
  for (const KernelInfo &kernel : descriptor().kernels) {
    scratch = std::max(scratch, kernel.taskScratch);
    worker = std::max(worker, kernel.workerScratch.bytes(1));
  }
  part.scratch = state->unbatchedScratch.reserve(scratch, "intermediates");
  reserveWorkers(worker, 1);
  part.end = Part::Returned;
  part.message.clear();
  UnbatchedRun call{object.entry().unbatched, &part, instance};
  part.fiber.run(UnbatchedRun::run, &call);
  if (part.end != Part::Returned)
    throwError(part, instance);
}

const char *Session::tensor(const Type &type, int64_t cell) const {
  if (mode == Mode::Unbatched)
    return reinterpret_cast<const char *>(cell);
  return runPlan.row(cell, type.table, state->sourceList.data());
}

RunCounters Session::counters() const {
  RunCounters counters;
  counters.nodes = loaded->numNodes;
  counters.inspectors = std::min<int64_t>(numParts, workers.size());
  counters.plans = static_cast<int64_t>(runPlan.plans().size());
  counters.tasks = runPlan.tasks();
  counters.batches = context().numSteps;
  counters.unknownStates = runPlan.unknownStates();
  if (workers.size() > 1 && !device)
    for (const Plan::Stretch &stretch : runPlan.stretches())
      counters.shared += stretch.shared ? stretch.end - stretch.begin : 0;
  if (lockstep) {
    LockstepCounters lanes = lockstep->counters();
    counters.tasks = lanes.laneRuns;
    counters.batches = lanes.steps;
    counters.unknownStates = lanes.unknownStates;
  }
  counters.launches = device ? device->launches() : counters.batches;
  counters.copies = device ? device->copies() : 0;
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
      rows = state->sourceList[b].rows;
      if (source.parameter >= 0)
        name = "parameter '" + info.parameters[source.parameter].name + "'";
    }
    return concat("index ", a, " is out of range for ", name, " with ", rows,
                  " rows", findIndex(info, *loaded, a));
  }
  case BATCH_ERROR_STACK_OVERFLOW:
    return concat("the recursion is deeper than the stack of ",
                  state->parts.front()->stack.size(),
                  " bytes allows; give a larger one with --stack-size=BYTES");
  case BATCH_ERROR_RAGGED_MISMATCH:
    return concat("two ragged tensors that belong together have ", a, " and ",
                  b, " rows");
  default:
    return concat("compiled code failed with error ", code, " (", a, ", ", b,
                  ")");
  }
}
