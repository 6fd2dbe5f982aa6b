//===- InsertBarriers.cpp - Barriers between units ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/UnitBarriers.h"
#include "Batch/Transforms/Executor/Passes.h"

namespace mlir::batch {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "Batch/Transforms/Executor/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
class InsertBarriersPass
    : public batch::impl::InsertBarriersPassBase<InsertBarriersPass> {
  void runOnOperation() override {
    // If there are neither buffers nor rows of nodes, programs run plans or
    // lanes, which already have barriers.
    if (getOperation().getOps<uprog::BufferOp>().empty() &&
        getOperation().getOps<uprog::NodeRowsOp>().empty())
      return;
    for (auto program : getOperation().getOps<uprog::ProgramOp>()) {
      // Skip programs with cells: cells do not specify where rows are stored,
      // and these programs already have barriers.
      if (!program.getBody().getOps<uprog::CellsOp>().empty())
        continue;
      for (Operation *op : findBarriers(program)) {
        OpBuilder builder(op);
        uprog::BarrierOp::create(builder, op->getLoc(), program.getLevel());
      }
    }
  }
};
} // namespace
