//===- UTasks.cpp - Accesses of units to rows -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"

using namespace mlir;
using namespace mlir::uprog;

#include "Batch/Dialect/UProg/UProgInterfaces.cpp.inc"

using Accesses = std::optional<SmallVector<RowAccess>>;

Accesses LoadOp::getAccesses() { return {{{getRow(), /*isWritten=*/false}}}; }

Accesses CopyOp::getAccesses() {
  return {{{getFrom(), /*isWritten=*/false}, {getTo(), /*isWritten=*/true}}};
}

Accesses ResultOp::getAccesses() {
  SmallVector<RowAccess> accesses;
  if (getType())
    accesses.push_back({getValue(), /*isWritten=*/false});
  return accesses;
}

Accesses RefOp::getAccesses() { return std::nullopt; }

Accesses RunOp::getAccesses() {
  SmallVector<RowAccess> accesses;
  auto add = [&](ValueRange values, bool isWritten) {
    for (Value value : values)
      if (isa<RowType>(value.getType()))
        accesses.push_back({value, isWritten});
  };
  Operation *step = getScratch();
  if (auto site = dyn_cast_or_null<SiteOp>(step)) {
    add(site.getInputs(), /*isWritten=*/false);
    add(site.getOutputs(), /*isWritten=*/true);
    return accesses;
  }
  auto batch = dyn_cast_or_null<BatchOp>(step);
  if (!batch)
    return std::nullopt;
  for (Operation *user : batch.getTasks().getUsers())
    if (auto put = dyn_cast<PutTaskOp>(user)) {
      add(put.getInputs(), /*isWritten=*/false);
      add(put.getOutputs(), /*isWritten=*/true);
    }
  add(batch.getOutputs(), /*isWritten=*/true);
  return accesses;
}

Operation *RunOp::getScratch() {
  Operation *step = getStep() ? getStep().getDefiningOp() : nullptr;
  return isa_and_nonnull<SiteOp, BatchOp>(step) ? step : nullptr;
}

Value RunOp::getNumTasks() { return getTasks(); }

std::optional<Level> RunOp::getUnitLevel() { return getLevel(); }
