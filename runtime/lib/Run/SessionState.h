//===- SessionState.h - What a session keeps for compiled code --*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_RUN_SESSIONSTATE_H
#define BATCH_RUNTIME_LIB_RUN_SESSIONSTATE_H

#include "batch-runtime/Session.h"

namespace batchrt {

/// The context that compiled code sees, and the memory behind it.
struct Session::State : BatchContext {
  Session *session = nullptr;

  std::vector<int64_t *> cellPointers, argumentPointers, resultPointers;
  std::vector<int64_t *> memoPointers;
  std::vector<std::vector<int64_t>> resultCells, memos;
  std::vector<BatchQueue> queueList;
  std::vector<Buffer> queueMemory;
  std::vector<int64_t> constantList;
  std::vector<const char *> formPointers;
  std::vector<BatchSource> sourceList;
  std::vector<Buffer> workerMemory;
  std::vector<char *> workerPointers;
  Buffer unbatchedScratch;

  // How compiled code ended, if by an error.
  bool failed = false;
  int64_t code = 0, a = 0, b = 0;
  std::string message; ///< of an error in the runtime itself

  static State &of(BatchContext *context) {
    return *static_cast<State *>(context);
  }
};

/// The table of functions that compiled code calls.
extern const BatchRuntimeFunctions runtimeFunctions;

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_RUN_SESSIONSTATE_H
