//===- Interrupts.cpp - Interrupts that end runs --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupts.h"

#include <csignal>
#include <mutex>
#include <new>

using namespace batch::python;

// Python's signal handler only records a signal. Python reads the record when a
// call returns to the interpreter, so a run would continue to its end.

std::atomic<BatchCancellation *> batch::python::runOfMainThread{nullptr};

/// Entry of a list that only grows, so that a signal handler can read it.
struct batch::python::Entry {
  BatchCancellation *cancellation = nullptr;
  std::atomic<bool> isUsed{true};
  Entry *next = nullptr;
};

static std::atomic<Entry *> entries{nullptr};
static struct sigaction handlerOfPython;

static void onInterrupt(int number, siginfo_t *info, void *context) {
  if (BatchCancellation *run = runOfMainThread.load())
    batchCancellationRequest(run);
  for (Entry *entry = entries.load(); entry; entry = entry->next)
    batchCancellationRequest(entry->cancellation);
  if (handlerOfPython.sa_flags & SA_SIGINFO)
    handlerOfPython.sa_sigaction(number, info, context);
  else if (handlerOfPython.sa_handler != SIG_DFL &&
           handlerOfPython.sa_handler != SIG_IGN)
    handlerOfPython.sa_handler(number);
}

static bool isOwn(const struct sigaction &action) {
  return action.sa_flags & SA_SIGINFO && action.sa_sigaction == onInterrupt;
}

bool batch::python::catchInterrupts() {
  struct sigaction before = {};
  if (::sigaction(SIGINT, nullptr, &before) != 0)
    return false;
  if (isOwn(before))
    return true;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (::sigaction(SIGINT, nullptr, &before) != 0)
    return false;
  if (isOwn(before))
    return true;
  // Without a Python handler, an interrupt ends the process or has no effect.
  if (!(before.sa_flags & SA_SIGINFO) &&
      (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))
    return false;
  handlerOfPython = before;
  struct sigaction own = {};
  own.sa_sigaction = onInterrupt;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&own.sa_mask);
  return ::sigaction(SIGINT, &own, nullptr) == 0;
}

InterruptCancellation::InterruptCancellation() {
  for (entry = entries.load(); entry; entry = entry->next)
    if (bool isUsed = false;
        entry->isUsed.compare_exchange_strong(isUsed, true))
      return;
  BatchCancellation *made = nullptr;
  if (batchCancellationMake(&made) != BATCH_STATUS_OK)
    throw std::bad_alloc();
  entry = new Entry;
  entry->cancellation = made;
  entry->next = entries.load();
  while (!entries.compare_exchange_weak(entry->next, entry)) {
  }
}

InterruptCancellation::~InterruptCancellation() { entry->isUsed = false; }

const BatchCancellation *InterruptCancellation::begin() {
  batchCancellationReset(entry->cancellation);
  return entry->cancellation;
}
