//===- MiniBatch.cpp - A mini-batch as compiled code sees it --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MiniBatch.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/ResultRows.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

using namespace batchrt;

MiniBatch::MiniBatch(const CompiledObject &object,
                     const BoundParameters &parameters,
                     const InputTensors &tensors, const SessionOptions &options,
                     WorkerPool &workers)
    : object(object), options(options), workers(workers), exits(workers.size()),
      tensors(tensors) {
  const Descriptor &info = descriptor();
  makePart();
  Part &part = context();
  part.runtime = &runtimeFunctions;

  cellPointers.resize(info.cellColumns);
  part.cells = cellPointers.data();
  argumentPointers.resize(info.arguments.size());
  part.arguments = argumentPointers.data();
  resultCells.resize(info.results.size());
  resultPointers.resize(info.results.size());
  part.results = resultPointers.data();
  memos.resize(info.memo);
  memoPointers.resize(info.memo);
  part.memo = memoPointers.data();

  for (size_t i = 0; i < info.packings.size(); ++i)
    packingPointers.push_back(parameters.packing(i));
  part.packings = packingPointers.data();
  part.indexError = &indexError;
  setCancellation(nullptr);
  part.ended = reinterpret_cast<int64_t *>(&ended);
  for (const SourceInfo &source : info.sources) {
    BatchSource row = {};
    if (source.input) {
      row.rowBytes = RowLayout(source.shape, source.dtype).rowBytes();
    } else if (source.packing >= 0) {
      row.base = parameters.packing(source.packing);
      row.rows = parameters.rows(source.packing);
      row.rowBytes = parameters.rowBytes(source.packing);
    }
    sourceList.push_back(row);
  }
  part.sources = sourceList.data();

  workerMemory.resize(workers.size());
  workerPointers.resize(workers.size());
  part.workerScratch = workerPointers.data();
}

/// Also frees spare stacks, because a deep recursion may have touched many
/// pages.
MiniBatch::~MiniBatch() { BorrowedStack::freeOthers(); }

void Part::run(void (*body)(void *), void *argument) {
  hasFailed = false;
  error = nullptr;
  const BorrowedStack stack(owner.options.stackSize);
  Fiber fiber(*stack);
  enter(fiber, *stack);
  fiber.run(body, argument);
  running = nullptr;
}

void MiniBatch::setCancellation(const Cancellation *newCancellation) {
  static const Cancellation never;
  cancellation = newCancellation;
  context().cancelled = (cancellation ? *cancellation : never).address();
  workers.allowLeaving(cancellation);
}

void MiniBatch::beginProgress() {
  static_assert(sizeof(ended) == sizeof(int64_t) &&
                    std::atomic<int64_t>::is_always_lock_free,
                "compiled code adds to the number itself");
  instances.store(numInstances(), std::memory_order_relaxed);
  setProgress(0, 0);
}

void MiniBatch::makePart() {
  auto made = std::make_unique<Part>(*this);
  Part &part = *made;
  size_t kernels = descriptor().kernels.size();
  size_t bytes = kernels * sizeof(BatchQueue);
  std::memset(part.queueList.reserve(bytes, "recorded tasks"), 0, bytes);
  part.queues = part.queueList.as<BatchQueue>();
  part.queueMemory.resize(kernels);
  part.constantList.resize(kernels, -1);
  part.constants = part.constantList.data();
  parts.push_back(std::move(made));
}

void MiniBatch::reserveParts(int64_t count) {
  while (static_cast<int64_t>(parts.size()) < count)
    makePart();
}

void MiniBatch::reserveWorkers(size_t bytes, int64_t count) {
  for (int64_t w = 0; w < count; ++w)
    workerPointers[w] = workerMemory[w].reserve(bytes, "scratch of workers");
}

void MiniBatch::load(Forest &forest) {
  loaded = &forest;
  mode = Cells::None;
  context().failures.clear();
  context().instanceNodes = forest.instanceNodes.data();
  for (size_t i = 0; i < resultCells.size(); ++i) {
    resultCells[i].assign(std::max<int64_t>(forest.numInstances, 1), 0);
    resultPointers[i] = resultCells[i].data();
  }
  for (size_t i = 0; i < memos.size(); ++i) {
    if (memos[i].size() < static_cast<size_t>(forest.numNodes) + 1)
      memos[i].resize(forest.numNodes + 1);
    memoPointers[i] = memos[i].data();
  }
  for (size_t i = 0; i < argumentPointers.size(); ++i)
    argumentPointers[i] = forest.arguments[i].data();
  // More input tensors may have been read since the last mini-batch.
  for (size_t i = 0; i < sourceList.size(); ++i)
    if (descriptor().sources[i].input) {
      sourceList[i].base = tensors.base(static_cast<int>(i));
      sourceList[i].rows = tensors.count(static_cast<int>(i));
    }
  reset();
  beginProgress();
}

/// Sets the pointers to the forest that compiled code uses. They change when
/// the forest grows.
void MiniBatch::refresh() {
  Part &part = context();
  part.variants = loaded->variants.data();
  part.nodeCapacity = static_cast<int64_t>(loaded->variants.size());
  for (size_t c = 0; c < cellPointers.size(); ++c)
    cellPointers[c] = loaded->cells[c].data();
  part.listPool = loaded->listPool.data();
  part.listCapacity = static_cast<int64_t>(loaded->listPool.size());
}

void MiniBatch::reset() {
  context().numNodes = loaded->numNodes;
  context().listSize = loaded->listSize;
  refresh();
}

void MiniBatch::growNodes(int64_t wanted) {
  int64_t capacity = static_cast<int64_t>(loaded->variants.size());
  if (wanted <= capacity)
    return;
  if (wanted > INT32_MAX)
    raise("the mini-batch has 2^31 or more nodes; use a smaller batch "
          "(--batch)");
  capacity = std::max<int64_t>({wanted, 2 * capacity, 1024});
  loaded->variants.resize(capacity);
  for (std::vector<int64_t> &column : loaded->cells)
    column.resize(capacity);
  refresh();
}

void MiniBatch::growList(int64_t wanted) {
  int64_t capacity = static_cast<int64_t>(loaded->listPool.size());
  if (wanted <= capacity)
    return;
  if (wanted > INT32_MAX)
    raise("the lists of the mini-batch have 2^31 or more entries; use a "
          "smaller batch (--batch)");
  loaded->listPool.resize(std::max<int64_t>({wanted, 2 * capacity, 1024}));
  refresh();
}

void MiniBatch::enter(Cells wanted) {
  if (mode == wanted)
    return;
  mode = wanted;
  for (const TensorCell &cell : loaded->tensors) {
    int64_t value = cell.handle;
    if (wanted == Cells::Addresses) {
      const BatchSource &source = sourceList[(value >> 56) & 127];
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
struct UnbatchedRun {
  void (*unbatched)(BatchContext *, int64_t);
  BatchContext *context;
  int64_t instance;

  static void run(void *argument) {
    UnbatchedRun &call = *static_cast<UnbatchedRun *>(argument);
    call.unbatched(call.context, call.instance);
  }
};
} // namespace

void MiniBatch::runUnbatched(int64_t instance) {
  if (!object.entry().unbatched)
    raise("the object has no unbatched code, because it was compiled from a "
          "module whose instance functions had been removed");
  enter(Cells::Addresses);
  reset();
  Part &part = context();
  arena.reset(part);
  part.known.clear();
  part.ranges = nullptr;
  part.fibers = nullptr;
  part.stepsLeft = options.lockstep.maxSteps;
  part.failures.erase(instance);
  int64_t scratch = 64, worker = 64;
  for (const KernelInfo &kernel : descriptor().kernels) {
    scratch = std::max(scratch, kernel.taskScratch);
    worker = std::max(worker, kernel.workerScratch.bytes(1));
  }
  part.scratch = unbatchedScratch.reserve(scratch, "intermediates");
  reserveWorkers(worker, 1);
  UnbatchedRun call{object.entry().unbatched, &part, instance};
  indexError = {};
  part.run(UnbatchedRun::run, &call);
  if (indexError.place)
    raise("instance ", loaded->firstInstance + instance, ": ",
          describeIndex(std::exchange(indexError, {})));
  if (part.hasFailed)
    endInstance(part, instance);
}

void MiniBatch::checkIndices(const std::vector<int64_t> &instances) {
  const BatchIndexError error = std::exchange(indexError, {});
  if (!object.entry().unbatched)
    raise(describeIndex(error));
  // Run the unbatched code, which finds the first failed check of an instance.
  // Units report the check that fails first in time, and lanes may also fail a
  // check for a result that is not used.
  for (int64_t instance : instances)
    runUnbatched(instance);
  context().failures.clear();
}

void MiniBatch::addMemory(MemoryUse &use) const {
  auto reserved = [](const std::vector<std::vector<int64_t>> &cells) {
    size_t sum = 0;
    for (const std::vector<int64_t> &list : cells)
      sum += list.capacity() * sizeof(int64_t);
    return sum;
  };
  use.records += reserved(memos) + reserved(resultCells);
  for (const std::unique_ptr<Part> &part : parts) {
    use.records += part->known.bytes();
    for (const Buffer &queue : part->queueMemory)
      use.records += queue.capacity();
  }
  use.scratch += unbatchedScratch.capacity() + arena.capacity();
  for (const Buffer &scratch : workerMemory)
    use.scratch += scratch.capacity();
}

//===----------------------------------------------------------------------===//
// Errors of compiled code
//===----------------------------------------------------------------------===//

std::string MiniBatch::describeIndex(const BatchIndexError &error) const {
  const std::vector<std::string> &known = descriptor().indices;
  const auto place = static_cast<size_t>(error.place - 1);
  std::string text = place < known.size()
                         ? known[place]
                         : "index {} is out of range for a tensor";
  if (const size_t number = text.find("{}"); number != std::string::npos)
    text.replace(number, 2, std::to_string(error.index));
  return text;
}

std::string MiniBatch::describeError(const Part &part) const {
  if (!part.error)
    return explain(part.code, part.a, part.b);
  try {
    std::rethrow_exception(part.error);
  } catch (const std::bad_alloc &) {
    return "out of memory; use a smaller batch (--batch)";
  } catch (const std::exception &error) {
    return error.what();
  }
}

void MiniBatch::endInstance(Part &part, int64_t instance) {
  checkCancelled(part);
  const std::string why = describeError(part);
  const bool isLimit =
      !part.error && (part.code == BATCH_ERROR_STACK_OVERFLOW ||
                      part.code == BATCH_ERROR_TOO_MANY_STEPS);
  if (!isLimit || !options.lockstep.partialResults)
    raise("instance ", loaded->firstInstance + instance, ": ", why,
          !isLimit
              ? ""
              : concat(why.find("; ") == std::string::npos ? ";" : ", or",
                       " write the results of the other instances with ",
                       optionName(options.lockstep.names, "partial-results")));
  part.failures[instance] = why;
  for (size_t r = 0; r < resultCells.size(); ++r)
    resultCells[r][instance] = noValue(descriptor().results[r].type);
}

std::string MiniBatch::unbatchedFailure(int64_t instance) const {
  auto found = context().failures.find(instance);
  return found == context().failures.end() ? "" : found->second;
}

/// Returns the first line and field that contain index `value`, for messages.
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
      return concat(" (line ", forest.lines[instance], ": ", variant->name, ".",
                    variant->fields[f].name, ")");
    }
  }
  return "";
}

std::string MiniBatch::explain(int64_t code, int64_t a, int64_t b) const {
  switch (code) {
  case BATCH_ERROR_ROW_OUT_OF_BOUNDS: {
    const Descriptor &info = descriptor();
    std::string name = concat("source ", b);
    int64_t rows = 0;
    if (b > 0 && b < static_cast<int64_t>(info.sources.size())) {
      const SourceInfo &source = info.sources[b];
      rows = sourceList[b].rows;
      if (source.parameter >= 0)
        name = "parameter '" + info.parameters[source.parameter].name + "'";
    }
    return concat("index ", a, " is out of range for ", name, " with ", rows,
                  " rows", findIndex(info, *loaded, a));
  }
  case BATCH_ERROR_STACK_OVERFLOW:
    return concat("the recursion is deeper than the stack of ", a,
                  " bytes allows",
                  // Only tools have such options.
                  options.lockstep.names != OptionNames::Tools
                      ? ""
                      : concat("; give a larger one with ",
                               b ? "--fiber-stack" : "--stack-size", "=BYTES"));
  case BATCH_ERROR_RAGGED_MISMATCH:
    return concat("two ragged tensors that are read together have ", a, " and ",
                  b, " rows; give them the same number of rows");
  case BATCH_ERROR_ELEMENT_OUT_OF_BOUNDS:
    return concat("position ", a,
                  " is out of range for a list or ragged "
                  "tensor of length ",
                  b);
  case BATCH_ERROR_INDEX_OUT_OF_BOUNDS:
    return describeIndex({b, a});
  case BATCH_ERROR_TOO_MANY_STEPS: {
    const std::vector<std::string> &known = descriptor().counted;
    const auto place = static_cast<size_t>(a - 1);
    return concat("exceeded the limit of ", options.lockstep.maxSteps,
                  " steps, the last one in ",
                  place < known.size() ? known[place] : "a loop",
                  "; allow more with ",
                  optionName(options.lockstep.names, "max-steps", "N"));
  }
  default:
    return concat("compiled code failed with error ", code, " (", a, ", ", b,
                  ")");
  }
}
