//===- Inspector.cpp - Runs the inspectors of a mini-batch ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inspector.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/RecordedTasks.h"
#include "batch-runtime/TaskNumbers.h"

#include <algorithm>

using namespace batchrt;

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
} // namespace

void Inspector::run(int64_t groups) {
  if (!batch.object.entry().inspect)
    raise("the object was compiled without an inspector");
  split(groups);
  batch.enter(MiniBatch::Cells::Handles);
  for (;;) {
    batch.reset();
    makeRoom();
    batch.workers.forEachPart(numParts(),
                              [this](int64_t p) { inspect(batch.part(p), p); });
    // The first error is the one of the first instance that fails.
    auto part = std::find_if(list.begin(), list.end(), [](BatchContext *part) {
      return Part::of(part).end != Part::Returned;
    });
    if (part == list.end())
      break;
    if (Part::of(*part).end == Part::Failed) {
      const std::string error = batch.describeError(Part::of(*part));
      throw Error(nameInstance(Part::of(*part)) + error);
    }
  }
  // Nodes and entries of all parts are below those of the last.
  batch.context().numNodes = list.back()->numNodes;
  batch.context().listSize = list.back()->listSize;
}

/// "instance N: " for the first instance of a part that fails. Compiled code
/// does not say which, so they are inspected again, one by one.
std::string Inspector::nameInstance(const Part &failed) {
  const int64_t begin = failed.beginInstance, end = failed.endInstance;
  if (end - begin > 1 && !batch.descriptor().separable)
    return "";
  Part &part = batch.part(0);
  list.assign(1, &part);
  for (int64_t i = begin; i < end; ++i) {
    batch.reset();
    makeRoom();
    part.beginInstance = i;
    part.endInstance = i + 1;
    inspect(part, 0);
    if (part.end == Part::Failed)
      return concat("instance ", batch.forest().firstInstance + i, ": ");
  }
  return "";
}

/// Cuts the mini-batch into parts of about equal size: one for each separate
/// plan, or one per worker if it is large enough.
void Inspector::split(int64_t groups) {
  const Forest &forest = batch.forest();
  const Descriptor &descriptor = batch.descriptor();
  // An instance without nodes takes time, too.
  auto sizeOf = [&](int64_t instance) {
    int64_t size =
        1 + forest.instanceNodes[instance + 1] - forest.instanceNodes[instance];
    for (size_t a = 0; a < forest.arguments.size(); ++a)
      if (descriptor.arguments[a].type.kind == Type::List)
        size += listLength(forest.arguments[a][instance]);
    return size;
  };
  int64_t sum = 0, done = 0, instance = 0;
  for (int64_t i = 0; i < forest.numInstances; ++i)
    sum += sizeOf(i);
  apart = descriptor.separable && groups > 1;
  int64_t wanted = 1;
  if (apart)
    wanted = groups;
  else if (descriptor.separable)
    wanted = std::min<int64_t>(
        batch.workers.size(),
        sum / std::max<int64_t>(batch.options.nodesPerWorker, 1));
  wanted = std::max<int64_t>(std::min(wanted, forest.numInstances), 1);
  batch.reserveParts(wanted);
  list.clear();
  for (int64_t p = 0; p < wanted; ++p) {
    Part &part = batch.part(p);
    list.push_back(&part);
    // At least one instance each.
    int64_t last = forest.numInstances - (wanted - p - 1);
    part.beginInstance = instance;
    while (instance < last &&
           (instance == part.beginInstance || done * wanted < sum * (p + 1)))
      done += sizeOf(instance++);
    part.endInstance = instance;
  }
}

/// Gives each part the fields of the first one, and its own room for nodes and
/// list entries.
void Inspector::makeRoom() {
  Part &first = batch.context();
  first.numSteps = 0;
  first.roomGrows = numParts() == 1;
  if (first.roomGrows)
    return;
  int64_t nodes = first.numNodes, entries = first.listSize;
  for (BatchContext *context : list) {
    nodes += Part::of(context).nodeRoom;
    entries += Part::of(context).entryRoom;
  }
  batch.growNodes(nodes);
  batch.growList(entries);
  nodes = first.numNodes;
  entries = first.listSize;
  for (BatchContext *context : list) {
    Part &part = Part::of(context);
    BatchContext own = part;
    static_cast<BatchContext &>(part) = first;
    part.queues = own.queues;
    part.constants = own.constants;
    part.stackLimit = own.stackLimit;
    part.roomGrows = false;
    part.firstNode = part.numNodes = nodes;
    part.nodeCapacity = nodes += part.nodeRoom;
    part.firstEntry = part.listSize = entries;
    part.listCapacity = entries += part.entryRoom;
  }
}

void Inspector::clear(Part &part, int64_t number) {
  for (size_t k = 0; k < part.queueMemory.size(); ++k)
    part.queues[k].end = part.queues[k].begin;
  std::fill(part.constantList.begin(), part.constantList.end(), -1);
  part.numTasks = firstTaskOf(number, numParts());
  part.flushedTasks = part.numTasks;
  part.known.clear();
}

void Inspector::inspect(Part &part, int64_t number) {
  clear(part, number);
  Inspection call{batch.object.entry().inspect, &part, part.beginInstance,
                  part.endInstance};
  part.run(Inspection::run, &call);
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

void Inspector::begin() {
  const std::vector<KernelInfo> &kernels = batch.descriptor().kernels;
  const bool defers = std::any_of(kernels.begin(), kernels.end(),
                                  [](auto &kernel) { return kernel.deferred; });
  batch.reserveParts(defers ? 2 : 1);
  Part &part = batch.context();
  list.assign(1, &part);
  apart = false;
  batch.enter(MiniBatch::Cells::Handles);
  batch.reset();
  makeRoom();
  // Tasks of deferred kernels have numbers of a part of their own.
  if (defers)
    list.push_back(&batch.part(1));
  clear(part, 0);
  part.deferredTasks = defers ? firstTaskOf(1, numParts()) : 0;
  for (std::vector<BatchQueue> &queues : shown)
    queues.resize(kernels.size());
  pinnedCells.assign(kernels.size(), 0);
  part.waits = 0;
  part.strands = &strands;
  strands.begin();
}

bool Inspector::hasTasks(bool deferred) const {
  const Part &part = batch.context();
  return deferred ? numParts() > 1 &&
                        part.deferredTasks != firstTaskOf(1, numParts())
                  : part.numTasks != part.flushedTasks;
}

void Inspector::showTasks(bool deferred) {
  Part &part = batch.context();
  recorded = part.queues;
  for (size_t k = 0; k < shown[0].size(); ++k) {
    const bool isDeferred = batch.descriptor().kernels[k].deferred;
    for (int p = 0; p < 2; ++p) {
      shown[p][k] = recorded[k];
      if (deferred != isDeferred || isDeferred != (p == 1))
        shown[p][k].end = shown[p][k].begin;
    }
  }
  part.queues = shown[0].data();
  if (numParts() == 1)
    return;
  BatchContext &other = *list[1];
  other = part;
  other.queues = shown[1].data();
  other.numTasks = deferred ? part.deferredTasks : firstTaskOf(1, numParts());
}

const KeptRows &Inspector::keepRows(bool find) {
  keptRows.kept.clear();
  keptRows.pinned.clear();
  if (!find)
    return keptRows;
  strands.listKept(keptRows.kept);
  for (int64_t instance : strands.takeEnded())
    for (size_t r = 0; r < batch.descriptor().results.size(); ++r)
      if (batch.descriptor().results[r].type.kind == Type::Tensor)
        keptRows.pinned.push_back(batch.results(r)[instance]);
  for (size_t k = 0; k < pinnedCells.size(); ++k) {
    const KernelInfo &kernel = batch.descriptor().kernels[k];
    if (!kernel.deferred)
      continue;
    const BatchQueue &queue = recorded[k];
    for (int64_t *record = queue.begin + pinnedCells[k]; record != queue.end;
         record += kernel.recordCells)
      RecordedTasks::forEachRead(
          kernel, record, batch.context().listPool,
          [&](int64_t handle, int) { keptRows.pinned.push_back(handle); });
    pinnedCells[k] = queue.end - queue.begin;
  }
  return keptRows;
}

void Inspector::hideTasks() { batch.context().queues = recorded; }

void Inspector::endFlush() {
  Part &part = batch.context();
  for (size_t k = 0; k < part.queueMemory.size(); ++k)
    if (!batch.descriptor().kernels[k].deferred)
      part.queues[k].end = part.queues[k].begin;
  part.flushedTasks = part.numTasks;
}
