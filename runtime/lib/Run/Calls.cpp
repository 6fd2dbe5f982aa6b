//===- Calls.cpp - What compiled code calls -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionState.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <exception>

using namespace batchrt;

/// No exception may pass through compiled code: an error leaves the fiber.
struct batchrt::RuntimeCalls {
  using State = Session::State;

  template <class Body>
  static auto guarded(BatchContext *context, Body body) {
    State &state = State::of(context);
    try {
      return body(state, *state.session);
    } catch (const std::exception &error) {
      state.message = error.what();
    }
    state.failed = true;
    state.session->fiber.leave();
  }

  static void growNodes(BatchContext *context, int64_t count) {
    guarded(context, [&](State &state, Session &session) {
      Forest &forest = *session.loaded;
      size_t wanted = static_cast<size_t>(state.numNodes + count);
      size_t capacity = std::max<size_t>(
          {wanted, 2 * static_cast<size_t>(state.nodeCapacity), 1024});
      if (wanted > INT32_MAX)
        raise(
            "the mini-batch has more than 2^31 nodes; give a smaller --batch");
      forest.variants.resize(capacity);
      for (std::vector<int64_t> &column : forest.cells)
        column.resize(capacity);
      session.refreshForest();
    });
  }

  static void growList(BatchContext *context, int64_t count) {
    guarded(context, [&](State &state, Session &session) {
      size_t wanted = static_cast<size_t>(state.listSize + count);
      if (wanted > INT32_MAX)
        raise("the lists of the mini-batch have more than 2^31 entries; give a "
              "smaller --batch");
      session.loaded->listPool.resize(std::max<size_t>(
          {wanted, 2 * static_cast<size_t>(state.listCapacity), 1024}));
      session.refreshForest();
    });
  }

  static void growQueue(BatchContext *context, int64_t kernel, int64_t bytes) {
    guarded(context, [&](State &state, Session &session) {
      BatchQueue &queue = state.queues[kernel];
      int64_t cells = session.descriptor().kernels[kernel].recordCells;
      int64_t used = queue.end - queue.begin;
      size_t usedBytes = used * sizeof(int64_t);
      size_t record = cells * sizeof(int64_t);
      Buffer &memory = state.queueMemory[kernel];
      size_t wanted = usedBytes + static_cast<size_t>(bytes);
      memory.grow(std::max({wanted, 256 * record, 2 * usedBytes}), usedBytes,
                  "recorded tasks");
      queue.begin = memory.as<int64_t>();
      queue.end = queue.begin + used;
      // Whole records only: compiled code may test for equality.
      queue.limit = queue.begin + memory.capacity() / record * cells;
    });
  }

  static void *growArena(BatchContext *context, int64_t bytes) {
    return guarded(context, [&](State &state, Session &session) -> void * {
      return session.arena.grow(state, static_cast<size_t>(bytes));
    });
  }

  static int64_t memoFind(BatchContext *context, int64_t function,
                          const int64_t *key, int64_t keySize, int64_t *results,
                          int64_t resultCount) {
    return State::of(context).session->memo.find(function, key, keySize,
                                                 results, resultCount);
  }

  static void memoStore(BatchContext *context, int64_t function,
                        const int64_t *key, int64_t keySize,
                        const int64_t *results, int64_t resultCount) {
    guarded(context, [&](State &, Session &session) {
      session.memo.store(function, key, keySize, results, resultCount);
    });
  }

  static void barrier(BatchContext *context, int64_t worker) {
    State::of(context).session->workers.barrier(static_cast<int>(worker));
  }

  static void fail(BatchContext *context, int64_t code, int64_t a, int64_t b) {
    State &state = State::of(context);
    state.failed = true;
    state.code = code;
    state.a = a;
    state.b = b;
    state.session->fiber.leave();
  }
};

const BatchRuntimeFunctions batchrt::runtimeFunctions = {
#define BATCH_RUNTIME_FUNCTION(result, name, parameters, signature)            \
  RuntimeCalls::name,
#include "batch-runtime/RuntimeFunctions.def"
};
