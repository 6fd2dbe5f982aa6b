//===- Signals.cpp - Interrupts that end runs -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <atomic>

namespace nb = nanobind;
using namespace batch::python;

// Python's signal handler only records a signal. Python reads the record when a
// call returns to the interpreter, so a run would continue to its end. While
// the main thread runs a model, the handler below is installed. It requests the
// end of the run and then calls Python's handler.

namespace {
std::atomic<BatchCancellation *> interrupted{nullptr};
struct sigaction handlerOfPython;

void onInterrupt(int number, siginfo_t *info, void *context) {
  if (BatchCancellation *run = interrupted.load())
    batchCancellationRequest(run);
  if (handlerOfPython.sa_flags & SA_SIGINFO)
    handlerOfPython.sa_sigaction(number, info, context);
  else if (handlerOfPython.sa_handler != SIG_DFL &&
           handlerOfPython.sa_handler != SIG_IGN)
    handlerOfPython.sa_handler(number);
}

/// Returns true on the main thread. After a fork, this is the thread that
/// called fork.
bool isMainThread() {
  static const nb::handle mainThread =
      nb::module_::import_("threading").attr("main_thread").inc_ref();
  return nb::cast<unsigned long>(mainThread().attr("ident")) ==
         PyThread_get_thread_ident();
}
} // namespace

Interruptible::Interruptible(BatchCancellation *run) {
  struct sigaction before = {};
  if (!isMainThread() || ::sigaction(SIGINT, nullptr, &before) != 0)
    return;
  // In a process that was forked during a run, onInterrupt is still installed.
  // It must not call itself.
  if (!(before.sa_flags & SA_SIGINFO) || before.sa_sigaction != onInterrupt)
    handlerOfPython = before;
  // Without a Python handler, an interrupt ends the process or has no effect.
  if (!(handlerOfPython.sa_flags & SA_SIGINFO) &&
      (handlerOfPython.sa_handler == SIG_DFL ||
       handlerOfPython.sa_handler == SIG_IGN))
    return;
  struct sigaction own = {};
  own.sa_sigaction = onInterrupt;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&own.sa_mask);
  interrupted.store(run);
  isInstalled = ::sigaction(SIGINT, &own, nullptr) == 0;
  if (!isInstalled)
    interrupted.store(nullptr);
}

Interruptible::~Interruptible() {
  if (!isInstalled)
    return; // the handler may belong to the run of another thread
  ::sigaction(SIGINT, &handlerOfPython, nullptr);
  interrupted.store(nullptr);
}
