//===- CancelPops.cpp - Replace a pop and a push with an update -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/MachineLiveness.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Control/Passes.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CANCELPOPSPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

struct CancelPopsPass : batch::impl::CancelPopsPassBase<CancelPopsPass> {
  void runOnOperation() override {
    for (auto machine : getOperation().getOps<MachineOp>()) {
      MachineLiveness liveness(machine);
      for (auto block : machine.getOps<BlockOp>())
        visit(block, liveness);
    }
  }

  static void visit(BlockOp block, const MachineLiveness &liveness) {
    // Last pop of each variable, if no op has accessed the variable since.
    DenseMap<Attribute, PopOp> pops;
    for (Operation &op : llvm::make_early_inc_range(block.getBody().front())) {
      if (auto pop = dyn_cast<PopOp>(op)) {
        pops[pop.getVariableAttr()] = pop;
      } else if (auto top = dyn_cast<TopOp>(op)) {
        pops.erase(top.getVariableAttr());
      } else if (auto set = dyn_cast<SetOp>(op)) {
        pops.erase(set.getVariableAttr());
      } else if (auto push = dyn_cast<PushOp>(op)) {
        PopOp pop = pops.lookup(push.getVariableAttr());
        pops.erase(push.getVariableAttr());
        // Without the pop and the push, the row below the top is the same. A
        // push without a value copies this row to the top, which matters only
        // if the top is read.
        if (!pop || (!push.getValue() &&
                     liveness.isLiveAfter(push, push.getVariableAttr())))
          continue;
        if (Value value = push.getValue()) {
          OpBuilder builder(push);
          SetOp::create(builder, push.getLoc(), push.getVariableAttr(), value);
        }
        pop.erase();
        push.erase();
      }
    }
  }
};

} // namespace
