//===- Signals.cpp - An interrupt ends a run ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <atomic>

namespace nb = nanobind;
using namespace batch::python;

// Python notes a signal in a handler of its own, and looks at it when a call
// returns to the interpreter: a run has to end first. So while the main thread
// runs, a handler before Python's asks for that.

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

/// After a fork the main thread is the one that has forked.
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
  // A process that was forked during a run has this handler still.
  if (!(before.sa_flags & SA_SIGINFO) || before.sa_sigaction != onInterrupt)
    handlerOfPython = before;
  // Without a handler of Python's an interrupt ends the process, or nothing.
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
    return; // another thread's run may be the one that is interrupted
  ::sigaction(SIGINT, &handlerOfPython, nullptr);
  interrupted.store(nullptr);
}
