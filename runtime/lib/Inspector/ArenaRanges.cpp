//===- ArenaRanges.cpp - Ranges for nodes and list entries ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArenaRanges.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <utility>

using namespace batchrt;

void ArenaRanges::begin(const std::vector<Part *> &newParts) {
  parts = newParts;
  noMemory = nullptr;
  Part &first = *parts[0];
  first.numSteps = 0;
  endNodes = first.numNodes;
  endEntries = first.listSize;
  for (size_t p = 0; p < parts.size(); ++p) {
    Part &part = *parts[p];
    // A single part has all the space.
    part.ranges = parts.size() == 1 ? nullptr : this;
    part.worker = static_cast<int>(p) % batch.workers.size();
    part.wantedNodes = part.wantedEntries = 0;
    if (p == 0)
      continue;
    static_cast<BatchContext &>(part) = first;
    part.queues = part.queueList.as<BatchQueue>();
    part.constants = part.constantList.data();
  }
  if (parts.size() == 1)
    return;
  for (Part *part : parts) {
    part->numNodes = part->nodeCapacity = 0;
    part->listSize = part->listCapacity = 0;
    part->wantedNodes = std::exchange(part->nodeSpace, 0);
    part->wantedEntries = std::exchange(part->entrySpace, 0);
  }
  grow();
  for (Part *part : parts)
    part->wantedNodes = part->wantedEntries = 0;
  if (noMemory)
    std::rethrow_exception(noMemory);
}

/// Assigns a new range to each part that needs space. This at least doubles the
/// total space of the part.
void ArenaRanges::grow() {
  Part &first = *parts[0];
  for (Part *part : parts) {
    if (part->wantedNodes) {
      const int64_t count = std::max(part->wantedNodes, part->nodeSpace);
      part->nodeSpace += count;
      part->numNodes = endNodes;
      part->nodeCapacity = endNodes += count;
    }
    if (part->wantedEntries) {
      const int64_t count = std::max(part->wantedEntries, part->entrySpace);
      part->entrySpace += count;
      part->listSize = endEntries;
      part->listCapacity = endEntries += count;
    }
  }
  // growNodes() and growList() set the new addresses in the first part's
  // context. They also set its capacities to those of the whole arrays, so
  // restore the capacities of the part's own ranges.
  const int64_t nodes = first.nodeCapacity, entries = first.listCapacity;
  try {
    batch.growNodes(endNodes);
    batch.growList(endEntries);
  } catch (...) {
    noMemory = std::current_exception();
  }
  first.nodeCapacity = nodes;
  first.listCapacity = entries;
  for (Part *part : parts) {
    part->variants = first.variants;
    part->listPool = first.listPool;
  }
}

void ArenaRanges::reserve(Part &part, int64_t nodes, int64_t entries) {
  part.wantedNodes = nodes;
  part.wantedEntries = entries;
  if (isShared)
    waitAndGrow(part.worker);
  else
    grow();
  part.wantedNodes = part.wantedEntries = 0;
  if (noMemory)
    std::rethrow_exception(noMemory);
}

/// Waits until each worker needs space or has finished. Returns false if all
/// have finished. Otherwise, assigns the needed ranges and returns true.
bool ArenaRanges::waitAndGrow(int worker) {
  batch.workers.barrier(worker);
  // All workers see the same requests, which change only after the next
  // barrier.
  if (std::none_of(parts.begin(), parts.end(), [](const Part *part) {
        return part->wantedNodes || part->wantedEntries;
      }))
    return false;
  if (worker == 0)
    grow();
  batch.workers.barrier(worker);
  return true;
}

void ArenaRanges::runParts(const Job &job) {
  errors.assign(parts.size(), nullptr);
  isShared = true;
  auto run = [](void *argument, int worker) {
    const Job &job = *static_cast<const Job *>(argument);
    ArenaRanges &ranges = job.ranges;
    for (size_t p = worker; p < ranges.parts.size();
         p += ranges.batch.workers.size())
      try {
        job.body(job.argument, *ranges.parts[p]);
      } catch (...) {
        ranges.errors[p] = std::current_exception();
      }
    while (ranges.waitAndGrow(worker))
      ;
  };
  batch.workers.run(run, const_cast<Job *>(&job));
  isShared = false;
  for (const std::exception_ptr &error : errors)
    if (error)
      std::rethrow_exception(error);
}

void ArenaRanges::end() {
  if (parts.size() == 1)
    return;
  parts[0]->numNodes = endNodes;
  parts[0]->listSize = endEntries;
}
