//===- Inspector.cpp - Runs the inspectors of a mini-batch ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inspector.h"
#include "batch-runtime/RecordedTasks.h"
#include "batch-runtime/TaskNumbers.h"

#include <algorithm>

using namespace batchrt;

namespace {
/// Inspection of the instances of a part, one by one, beginning with
/// `instance`.
struct Inspection {
  Part &part;
  int64_t instance;

  static void run(void *argument) {
    Inspection &call = *static_cast<Inspection *>(argument);
    Part &part = call.part;
    for (; call.instance < part.endInstance; ++call.instance) {
      part.stepsLeft = part.owner.options.lockstep.maxSteps;
      part.owner.object.entry().inspect(&part, call.instance,
                                        call.instance + 1);
    }
  }
};
} // namespace

void Inspector::run(int64_t groups) {
  if (!batch.object.entry().inspect)
    raise("the object was compiled without an inspector");
  separatePlans = batch.descriptor().separable && groups > 1;
  split(separatePlans ? groups : numWorkers(size()));
  list.assign(inspected.begin(), inspected.end());
  batch.enter(MiniBatch::Cells::Handles);
  batch.reset();
  ranges.begin(inspected);
  ranges.forEachPart(numParts() > 1, [this](Part &part) { inspect(part); });
  inspectors = std::min<int64_t>(numParts(), batch.workers.size());
  planned = INT64_MAX;
  ranges.end();
}

/// Estimates the work to inspect an instance. Each instance adds 1, because
/// even one without nodes takes time.
int64_t Inspector::sizeOf(int64_t instance) const {
  const Forest &forest = batch.forest();
  int64_t size =
      1 + forest.instanceNodes[instance + 1] - forest.instanceNodes[instance];
  for (size_t a = 0; a < forest.arguments.size(); ++a)
    if (batch.descriptor().arguments[a].type.kind == Type::List)
      size += listLength(forest.arguments[a][instance]);
  return size;
}

int64_t Inspector::size() const {
  int64_t sum = 0;
  for (int64_t i = 0; i < batch.numInstances(); ++i)
    sum += sizeOf(i);
  return sum;
}

/// Returns the number of workers that may share this amount of inspection, or 1
/// if instances share calls.
int64_t Inspector::numWorkers(int64_t work) const {
  const int64_t least = std::max<int64_t>(batch.options.nodesPerWorker, 1);
  return batch.descriptor().separable
             ? std::min<int64_t>(batch.workers.size(), work / least)
             : 1;
}

/// Splits the mini-batch into parts of about equal size, each with at least one
/// instance.
void Inspector::split(int64_t wanted) {
  const int64_t count = batch.numInstances(), sum = size();
  wanted = std::max<int64_t>(std::min(wanted, count), 1);
  batch.reserveParts(wanted);
  inspected.clear();
  int64_t done = 0, instance = 0;
  for (int64_t p = 0; p < wanted; ++p) {
    Part &part = batch.part(p);
    inspected.push_back(&part);
    part.number = p;
    const int64_t last = count - (wanted - p - 1);
    part.beginInstance = instance;
    while (instance < last &&
           (instance == part.beginInstance || done * wanted < sum * (p + 1)))
      done += sizeOf(instance++);
    part.endInstance = instance;
  }
}

void Inspector::clear(Part &part) {
  part.queues = part.queueList.as<BatchQueue>();
  for (size_t k = 0; k < part.queueMemory.size(); ++k)
    part.queues[k].end = part.queues[k].begin;
  std::fill(part.constantList.begin(), part.constantList.end(), -1);
  part.numTasks = firstTaskOf(part.number, numParts());
  part.flushedTasks = part.numTasks;
  part.known.clear();
  part.failures.clear();
}

void Inspector::inspect(Part &part) {
  clear(part);
  Inspection call{part, part.beginInstance};
  for (;; ++call.instance) {
    part.run(Inspection::run, &call);
    if (!part.hasFailed)
      return;
    batch.endInstance(part, call.instance);
  }
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

void Inspector::begin() {
  const std::vector<KernelInfo> &kernels = batch.descriptor().kernels;
  const bool defers = std::any_of(kernels.begin(), kernels.end(),
                                  [](auto &kernel) { return kernel.deferred; });
  separatePlans = false;
  split(batch.descriptor().separable ? batch.workers.size() : 1);
  list.assign(inspected.begin(), inspected.end());
  batch.enter(MiniBatch::Cells::Handles);
  batch.reset();
  ranges.begin(inspected);
  // The tasks of deferred kernels are numbered in separate parts, after all
  // other parts.
  const auto count = static_cast<int64_t>(inspected.size());
  batch.reserveParts(defers ? 2 * count : count);
  for (int64_t p = count; defers && p < 2 * count; ++p)
    list.push_back(&batch.part(p));
  shown.resize(numParts());
  for (std::vector<BatchQueue> &queues : shown)
    queues.resize(kernels.size());
  pinnedCells.assign(defers ? count : 0,
                     std::vector<int64_t>(kernels.size(), 0));
  while (static_cast<int64_t>(fibers.size()) < count)
    fibers.emplace_back(batch.part(static_cast<int64_t>(fibers.size())));
  for (int64_t p = 0; p < count; ++p) {
    Part &part = *inspected[p];
    clear(part);
    part.deferredTasks = defers ? firstTaskOf(count + p, numParts()) : 0;
    part.waits = 0;
    part.fibers = &fibers[p];
    fibers[p].begin();
  }
  hasBegun = false;
  inspectors = 1;
  most = 0;
}

/// Returns the maximum number of branches of an instance in the next round. It
/// does not depend on the number of parts, so neither do the batches.
int64_t Inspector::maxBranches() const {
  const SessionOptions &options = batch.options;
  if (options.maxFibers)
    return *options.maxFibers;
  const int64_t running =
      std::max<int64_t>(batch.numInstances() - numEnded(), 1);
  return std::max<int64_t>(SessionOptions::enoughFibers / running, 1) - 1;
}

bool Inspector::runRound() {
  int64_t work = hasBegun ? 0 : size();
  for (const Part *part : inspected)
    work += part->fibers->numWaiting();
  hasBegun = true;
  const int64_t workers = std::min<int64_t>(numWorkers(work), inspected.size());
  ranges.forEachPart(workers > 1, [most = maxBranches()](Part &part) {
    part.fibers->runRound(most);
  });
  if (workers > 1)
    inspectors = static_cast<int64_t>(inspected.size());
  int64_t waiting = 0, alive = 0;
  for (const Part *part : inspected) {
    waiting += part->fibers->numWaiting();
    alive += part->fibers->numAlive();
  }
  most = std::max(most, alive);
  if (waiting == 0) {
    for (const Part *part : inspected)
      part->fibers->checkEnd();
    ranges.end();
  }
  return waiting != 0;
}

int64_t Inspector::numTasks(bool deferred) const {
  int64_t sum = 0;
  for (const Part *part : inspected) {
    if (!deferred)
      sum += part->numTasks - part->flushedTasks;
    else if (part->deferredTasks)
      sum += part->deferredTasks - firstDeferred(*part);
  }
  return sum;
}

/// Returns the number of the first deferred task of a part.
int64_t Inspector::firstDeferred(const Part &part) const {
  return firstTaskOf(static_cast<int64_t>(inspected.size()) + part.number,
                     numParts());
}

void Inspector::showTasks(bool deferred) {
  planned = numTasks(deferred);
  const size_t count = inspected.size();
  if (list.size() == count)
    return;
  const std::vector<KernelInfo> &kernels = batch.descriptor().kernels;
  for (size_t p = 0; p < list.size(); ++p) {
    Part &part = *inspected[p % count];
    const bool isDeferred = p >= count;
    const auto *recorded = part.queueList.as<BatchQueue>();
    for (size_t k = 0; k < kernels.size(); ++k) {
      shown[p][k] = recorded[k];
      if (kernels[k].deferred != isDeferred || isDeferred != deferred)
        shown[p][k].end = shown[p][k].begin;
    }
    if (isDeferred) {
      *list[p] = part;
      list[p]->numTasks = deferred ? part.deferredTasks : firstDeferred(part);
    }
    list[p]->queues = shown[p].data();
  }
}

void Inspector::hideTasks() {
  for (Part *part : inspected)
    part->queues = part->queueList.as<BatchQueue>();
}

void Inspector::endFlush(Tables &tables) {
  const std::vector<KernelInfo> &kernels = batch.descriptor().kernels;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (kernels[k].deferred)
      continue;
    for (Part *part : inspected)
      part->queues[k].end = part->queues[k].begin;
    if (kernels[k].constant && inspected.size() > 1)
      shareConstant(k, tables);
  }
  for (Part *part : inspected)
    part->flushedTasks = part->numTasks = tables.chooseNumbers(part->number);
}

/// Shares the result of a constant kernel with all parts once one part has it.
void Inspector::shareConstant(size_t kernel, Tables &tables) {
  auto owner =
      std::find_if(inspected.begin(), inspected.end(), [&](const Part *part) {
        return part->constants[kernel] >= 0;
      });
  if (owner == inspected.end())
    return;
  for (Part *part : inspected) {
    if (part->constants[kernel] >= 0)
      continue;
    tables.shareRows(taskOf((*owner)->constants[kernel]), part->number);
    part->constants[kernel] = part->numTasks++;
  }
}

/// Pins the rows that tasks of deferred kernels read. Visits the tasks that the
/// part has recorded since the last call.
void Inspector::pinDeferred(const Part &part) {
  const std::vector<KernelInfo> &kernels = batch.descriptor().kernels;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (!kernels[k].deferred)
      continue;
    const BatchQueue &queue = part.queueList.as<BatchQueue>()[k];
    int64_t &cells = pinnedCells[part.number][k];
    for (const int64_t *record = queue.begin + cells; record != queue.end;
         record += kernels[k].recordCells)
      RecordedTasks::forEachRead(
          kernels[k], record, part.listPool,
          [&](int64_t handle, int) { liveOutRows.pinned.push_back(handle); });
    cells = queue.end - queue.begin;
  }
}

const LiveOutRows &Inspector::findLiveOutRows(bool find) {
  liveOutRows.liveOut.clear();
  liveOutRows.pinned.clear();
  if (!find)
    return liveOutRows;
  const std::vector<Field> &results = batch.descriptor().results;
  for (const Part *part : inspected) {
    part->fibers->listFrameRows(liveOutRows.liveOut);
    for (int64_t instance : part->fibers->takeEnded())
      for (size_t r = 0; r < results.size(); ++r)
        if (results[r].type.kind == Type::Tensor)
          liveOutRows.pinned.push_back(batch.results(r)[instance]);
    pinDeferred(*part);
  }
  return liveOutRows;
}

int64_t Inspector::waits() const {
  int64_t sum = 0;
  for (const Part *part : inspected)
    sum += part->waits;
  return sum;
}

int64_t Inspector::numEnded() const {
  int64_t sum = 0;
  for (const Part *part : inspected)
    sum += part->fibers->numEnded();
  return sum;
}

std::string Inspector::failure(int64_t instance) const {
  for (const Part *part : inspected)
    if (auto found = part->failures.find(instance);
        found != part->failures.end())
      return found->second;
  return "";
}
