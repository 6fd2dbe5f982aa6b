//===- SessionState.h - What a session keeps for compiled code --*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_RUN_SESSIONSTATE_H
#define BATCH_RUNTIME_LIB_RUN_SESSIONSTATE_H

#include "batch-runtime/Session.h"

namespace batchrt {

/// The context that compiled code sees where it runs on one worker: consecutive
/// instances that it inspects, or one that it runs unbatched. Contexts of a run
/// differ in what is here; the executor's is that of the first part. A worker
/// inspects one part, or several one after the other.
struct alignas(64) Session::Part : BatchContext {
  Part(Session &session, FiberStack &stack)
      : BatchContext(), session(&session), stack(stack), fiber(stack) {}

  Session *session;
  FiberStack &stack; ///< of the worker that inspects this part
  Fiber fiber;
  MemoTable known;
  Buffer queueList; ///< on cache lines of its own
  std::vector<Buffer> queueMemory;
  std::vector<int64_t> constantList;
  int64_t beginInstance = 0, endInstance = 0;

  // Where new nodes and list entries begin in the forest's arrays, and how many
  // there is room for. One part alone has all room, which grows.
  int64_t firstNode = 0, nodeRoom = 0;
  int64_t firstEntry = 0, entryRoom = 0;

  // How compiled code ended.
  enum End { Returned, Failed, NoRoom };
  End end = Returned;
  int64_t code = 0, a = 0, b = 0; ///< of an error
  std::string message;            ///< of an error in the runtime itself

  static Part &of(BatchContext *context) {
    return *static_cast<Part *>(context);
  }
};

/// The memory behind the contexts.
struct Session::State {
  std::vector<int64_t *> cellPointers, argumentPointers, resultPointers;
  std::vector<int64_t *> memoPointers;
  std::vector<std::vector<int64_t>> resultCells, memos;
  std::vector<const char *> formPointers;
  std::vector<BatchSource> sourceList;
  std::vector<Buffer> workerMemory;
  std::vector<char *> workerPointers;
  Buffer unbatchedScratch;
  std::vector<std::unique_ptr<FiberStack>> stacks; ///< of workers
  std::vector<std::unique_ptr<Part>> parts;        ///< at least one
  std::vector<BatchContext *> contexts;            ///< of the parts of this run
};

/// The table of functions that compiled code calls.
extern const BatchRuntimeFunctions runtimeFunctions;

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_RUN_SESSIONSTATE_H
