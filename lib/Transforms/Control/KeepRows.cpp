//===- KeepRows.cpp - Name the rows that are needed after a wait ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InspectorWaits.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::batch {
#define GEN_PASS_DEF_KEEPROWSPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns true if the regions of `op` run on fibers, as separate functions.
static bool isForked(Operation *op) {
  return isa<ConcurrentOp>(op) || op->hasAttr(kConcurrentAttr);
}

/// Returns true if, after the execution of `wait` has begun, `user` may use a
/// value that is defined in `scope`. `wait` and `user` are in `scope` or nested
/// in it.
static bool mayFollow(Operation *wait, Operation *user, Block *scope) {
  Operation *waiting = scope->findAncestorOpInBlock(*wait);
  Operation *reading = scope->findAncestorOpInBlock(*user);
  if (waiting != reading)
    return waiting->isBeforeInBlock(reading);
  if (waiting == user)
    return isa<AwaitOp>(user);
  if (waiting == wait)
    return true; // `user` is in a branch of `wait`
  auto branch = dyn_cast<RegionBranchOpInterface>(waiting);
  if (!branch || branch.hasLoop())
    return true;
  Region *region = user->getParentRegion();
  while (region->getParentOp() != waiting)
    region = region->getParentOp()->getParentRegion();
  return region->isAncestor(wait->getParentRegion()) &&
         mayFollow(wait, user, &region->front());
}

/// Returns true if control flow may wait at `op`, or in a function that `op`
/// calls.
static bool isWait(Operation *op, const InspectorWaits &mayWait) {
  return (isForked(op) || isa<AwaitOp, func::CallOp>(op)) && mayWait(op);
}

/// Creates a batch.keep of the handles that the function around `wait` may use
/// after the wait. If a forked branch reads rows from outside the branch, the
/// batch.keep before the fork contains these rows.
static void keepRows(Operation *wait) {
  SmallVector<Value> rows;
  for (Operation *op = wait;;) {
    Block *block = op->getBlock();
    auto add = [&](Value value) {
      if (isa<HandleType>(value.getType()) &&
          !isa_and_nonnull<RowOp>(value.getDefiningOp()) &&
          llvm::any_of(value.getUsers(), [&](Operation *user) {
            return mayFollow(wait, user, block);
          }))
        rows.push_back(value);
    };
    llvm::for_each(block->getArguments(), add);
    for (Operation &before :
         llvm::make_range(block->begin(), Block::iterator(op)))
      llvm::for_each(before.getResults(), add);
    op = block->getParentOp();
    if (isa<FunctionOpInterface>(op) || isForked(op))
      break;
  }
  OpBuilder builder(wait);
  KeepOp::create(builder, wait->getLoc(), rows);
}

namespace {
class KeepRowsPass : public batch::impl::KeepRowsPassBase<KeepRowsPass> {
  using KeepRowsPassBase::KeepRowsPassBase;
  void runOnOperation() override {
    if (llvm::none_of(getOperation().getOps<TableOp>(),
                      [](TableOp table) { return table.getTransient(); }))
      return;
    // A module with a batch.keep has already been processed by this pass.
    if (getOperation()
            .walk([](KeepOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return;
    InspectorWaits mayWait(getOperation());
    SmallVector<Operation *> waits;
    getOperation().walk([&](Operation *op) {
      if (isWait(op, mayWait))
        waits.push_back(op);
    });
    llvm::for_each(waits, keepRows);
  }
};
} // namespace
