//===- Calls.cpp - Functions that compiled code calls ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArenaRanges.h"
#include "InstanceFibers.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/TaskNumbers.h"

#include <algorithm>
#include <chrono>
#include <exception>

using namespace batchrt;

namespace {
/// Functions that compiled code calls. No exception may pass through compiled
/// code, so an error leaves the fiber.
struct RuntimeCalls {
  [[noreturn]] static void leave(Part &part) {
    part.hasFailed = true;
    part.running->leave();
  }

  template <class Body>
  static auto guarded(BatchContext *context, Body body) {
    Part &part = Part::of(context);
    try {
      return body(part, part.owner);
    } catch (...) {
      part.error = std::current_exception();
    }
    leave(part);
  }

  static void growNodes(BatchContext *context, int64_t count) {
    guarded(context, [&](Part &part, MiniBatch &batch) {
      if (part.ranges)
        part.ranges->reserve(part, count, 0);
      else
        batch.growNodes(part.numNodes + count);
    });
  }

  static void growList(BatchContext *context, int64_t count) {
    guarded(context, [&](Part &part, MiniBatch &batch) {
      if (part.ranges)
        part.ranges->reserve(part, 0, count);
      else
        batch.growList(part.listSize + count);
    });
  }

  /// Appends an element to a list. The longest list of a region grows in place
  /// if there is space. Other lists are copied into a new region of twice their
  /// length, but of at least four elements.
  static int64_t append(BatchContext *context, int64_t list, int64_t element) {
    const int64_t length = listLength(list), first = listFirst(list);
    if (list & listGrows) {
      int64_t &region = context->listPool[first - 1];
      const int64_t taken = listFirst(region), capacity = listLength(region);
      if (taken == length && taken < capacity) {
        ++region;
        context->listPool[first + length] = element;
        return list + listCell(0, 1);
      }
    }
    const int64_t capacity = std::max<int64_t>(2 * length, 4);
    if (context->listSize + 1 + capacity > context->listCapacity)
      growList(context, 1 + capacity);
    const int64_t copy = context->listSize + 1;
    context->listSize = copy + capacity;
    int64_t *pool = context->listPool;
    pool[copy - 1] = listCell(length + 1, capacity);
    std::copy_n(pool + first, length, pool + copy);
    pool[copy + length] = element;
    return listCell(copy, length + 1) | listGrows;
  }

  static void growQueue(BatchContext *context, int64_t kernel, int64_t bytes) {
    guarded(context, [&](Part &part, MiniBatch &batch) {
      BatchQueue &queue = part.queues[kernel];
      int64_t cells = batch.descriptor().kernels[kernel].recordCells;
      int64_t used = queue.end - queue.begin;
      size_t usedBytes = used * sizeof(int64_t);
      size_t record = cells * sizeof(int64_t);
      Buffer &memory = part.queueMemory[kernel];
      size_t wanted = usedBytes + static_cast<size_t>(bytes);
      memory.grow(std::max({wanted, 256 * record, 2 * usedBytes}), usedBytes,
                  "recorded tasks");
      queue.begin = memory.as<int64_t>();
      queue.end = queue.begin + used;
      // The limit is the end of a whole record, so compiled code may test for
      // equality.
      queue.limit = queue.begin + memory.capacity() / record * cells;
    });
  }

  static void *growArena(BatchContext *context, int64_t bytes) {
    return guarded(context, [&](Part &part, MiniBatch &batch) -> void * {
      return batch.arena.grow(part, static_cast<size_t>(bytes));
    });
  }

  static void keepRows(BatchContext *context, char *mark, int64_t *rows,
                       const int64_t *bytes, int64_t count) {
    guarded(context, [&](Part &part, MiniBatch &batch) {
      batch.arena.keep(part, mark, rows, bytes, static_cast<size_t>(count));
    });
  }

  static int64_t memoFind(BatchContext *context, int64_t function,
                          const int64_t *key, int64_t keySize, int64_t *results,
                          int64_t resultCount) {
    Part &own = Part::of(context);
    if (!own.fibers)
      return own.known.find(function, key, keySize, results, resultCount);
    // A call that another branch or instance has begun does not run again.
    while (!own.known.find(function, key, keySize, results, resultCount)) {
      if (guarded(context, [&](Part &part, MiniBatch &) {
            return part.known.begin(function, key, keySize, resultCount);
          }))
        return 0;
      own.fibers->awaitStore();
    }
    return 1;
  }

  static void memoStore(BatchContext *context, int64_t function,
                        const int64_t *key, int64_t keySize,
                        const int64_t *results, int64_t resultCount) {
    guarded(context, [&](Part &part, MiniBatch &) {
      part.known.store(function, key, keySize, results, resultCount);
      if (part.fibers)
        part.fibers->stored();
    });
  }

  static int64_t await(BatchContext *context, int64_t handle, int64_t table) {
    Part &part = Part::of(context);
    while (part.isPending(taskOf(handle))) {
      ++part.waits;
      guarded(context, [](Part &part, MiniBatch &) { part.fibers->wait(); });
    }
    if (part.keepsReads)
      guarded(context, [&](Part &part, MiniBatch &) {
        part.reads.push_back({handle, static_cast<int>(table)});
      });
    const char *row = part.owner.tables->row(handle, static_cast<int>(table),
                                             part.owner.sources());
    return reinterpret_cast<int64_t>(row);
  }

  static void concurrent(BatchContext *context, void *code, int64_t *frame,
                         int64_t count) {
    const bool isGood = guarded(context, [&](Part &part, MiniBatch &) {
      return part.fibers->fork(reinterpret_cast<BatchBranch>(code), frame,
                               count);
    });
    if (!isGood)
      leave(Part::of(context));
  }

  static void barrier(BatchContext *context, int64_t worker) {
    if (!Part::of(context).owner.workers.barrier(static_cast<int>(worker)))
      leave(context, worker);
  }

  [[noreturn]] static void leave(BatchContext *context, int64_t worker) {
    std::longjmp(Part::of(context).owner.exits[worker].place, 1);
  }

  static void traceTasks(BatchContext *context, void *trace, int64_t kernel,
                         int64_t tasks, int64_t allUnits) noexcept {
    static_cast<UnitTrace *>(trace)->push_back(
        {std::chrono::steady_clock::now(), kernel, tasks, allUnits != 0,
         Part::of(context).owner.progress().ended});
  }

  static int64_t exchangeInstance(BatchContext *context,
                                  int64_t ended) noexcept {
    return Part::of(context).owner.stream->exchange(ended);
  }

  static void fail(BatchContext *context, int64_t code, int64_t a, int64_t b) {
    Part &part = Part::of(context);
    part.code = code;
    part.a = a;
    part.b = b;
    if (code == BATCH_ERROR_STACK_OVERFLOW) {
      part.a = static_cast<int64_t>(part.stackSize);
      part.b = part.fibers && part.fibers->isBranch();
    }
    leave(part);
  }
};
} // namespace

static constexpr BatchRuntimeFunctions listFunctions() {
  BatchRuntimeFunctions list = {};
#define BATCH_RUNTIME_FUNCTION(result, name, parameters)                       \
  list.name = RuntimeCalls::name;
#include "batch-runtime/RuntimeFunctions.def"
  return list;
}

const BatchRuntimeFunctions batchrt::runtimeFunctions = listFunctions();
