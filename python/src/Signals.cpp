//===- Signals.cpp - Interrupts that end runs of the main thread ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Interrupts.h"

namespace nb = nanobind;
using namespace batch::python;

/// Returns true on the main thread. After a fork, this is the thread that
/// called fork.
static bool isMainThread() {
  static const nb::handle mainThread =
      nb::module_::import_("threading").attr("main_thread").inc_ref();
  return nb::cast<unsigned long>(mainThread().attr("ident")) ==
         PyThread_get_thread_ident();
}

Interruptible::Interruptible(BatchCancellation *run)
    : isActive(isMainThread() && catchInterrupts()) {
  if (isActive)
    runOfMainThread = run;
}

Interruptible::~Interruptible() {
  if (isActive)
    runOfMainThread = nullptr;
}
