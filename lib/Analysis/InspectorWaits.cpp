//===- InspectorWaits.cpp - What may wait in inspectors -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InspectorWaits.h"
#include "Batch/Dialect/Batch/Batch.h"

using namespace mlir;
using namespace mlir::batch;

InspectorWaits::InspectorWaits(ModuleOp module) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto function : module.getOps<func::FuncOp>())
      if (!functions.contains(function.getSymNameAttr()) && (*this)(function))
        changed = functions.insert(function.getSymNameAttr()).second;
  }
}

bool InspectorWaits::operator()(Operation *op) const {
  return op
      ->walk([&](Operation *inner) {
        auto call = dyn_cast<func::CallOp>(inner);
        bool waits = call ? functions.contains(call.getCalleeAttr().getAttr())
                          : isa<AwaitOp>(inner);
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
