//===- InsertForces.cpp - Mark where control flow waits -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Analysis/Strategies.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::batch {
#define GEN_PASS_DEF_INSERTFORCESPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
struct InsertForcesPass : batch::impl::InsertForcesPassBase<InsertForcesPass> {
  void runOnOperation() override;
};
} // namespace

/// Makes `read` read the result of a batch.force op, and returns the
/// batch.force op.
static ForceOp addForce(tensor::ExtractOp read) {
  Value tensor = read.getTensor();
  if (auto known = tensor.getDefiningOp<ForceOp>())
    return known;
  OpBuilder builder(read);
  auto force = ForceOp::create(builder, read.getLoc(), tensor.getType(), tensor,
                               /*number=*/IntegerAttr());
  read.getTensorMutable().set(force);
  return force;
}

/// Reports for each loop and each recursion whether it waits.
static void explainRegions(const InstanceProgram &program) {
  auto explain = [&](Operation *op, StringRef what) {
    remark::analysis(op->getLoc(),
                     remark::RemarkOpts::name("Region").category("batch"))
        << (what + (mayWait(op, program)
                        ? " waits for tensors"
                        : " is linear: it runs without waiting for tensors"))
               .str();
  };
  for (func::FuncOp function : program.getFunctions()) {
    if (program.isRecursive(function))
      explain(function, "recursion");
    function.walk([&](LoopLikeOpInterface loop) { explain(loop, "loop"); });
  }
}

void InsertForcesPass::runOnOperation() {
  InstanceProgram program(getOperation());
  func::FuncOp entry = program.getEntry();
  if (!entry)
    return;
  auto strategy = entry->getAttrOfType<StrategyAttr>(kStrategyAttr);
  if (!strategy || strategy.getValue() != Strategy::Lazy)
    return;
  Strategies strategies(program);
  if (const std::optional<Obstacle> &obstacle =
          strategies.getObstacle(Strategy::Lazy)) {
    (void)strategies.emitError(*obstacle);
    return signalPassFailure();
  }
  Sharedness sharedness(program);
  StructuralControl control(program, sharedness);
  Builder builder(&getContext());
  int64_t count = 0;
  for (tensor::ExtractOp read : control.getWaits()) {
    RankedTensorType type = read.getTensor().getType();
    ForceOp force = addForce(read);
    if (force.getNumber())
      continue;
    force.setNumberAttr(builder.getI64IntegerAttr(count++));
    remark::passed(read.getLoc(),
                   remark::RemarkOpts::name("Wait").category("batch"))
        << "control flow waits here for a row of " +
               std::to_string(type.getNumElements() *
                              elementBytes(type.getElementType())) +
               " bytes";
  }
  if (count > 0)
    explainRegions(program);
}
