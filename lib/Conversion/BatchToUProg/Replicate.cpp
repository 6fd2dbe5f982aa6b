//===- Replicate.cpp - Run an instance on all units -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/LoopLayers.h"
#include "Batch/Analysis/Strategies.h"
#include "Batch/Analysis/UnitSchedule.h"
#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Replicator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::batch {
#define GEN_PASS_DEF_REPLICATEPASS
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Begins a program for one instance, or for all.
static uprog::ProgramOp beginProgram(OpBuilder &builder, Location loc,
                                     StringRef name, uprog::Level level,
                                     TypeRange arguments) {
  auto program = uprog::ProgramOp::create(
      builder, loc, name, builder.getFunctionType(arguments, {}), level,
      /*arg_attrs=*/ArrayAttr(), /*res_attrs=*/ArrayAttr());
  SmallVector<Location> locs(arguments.size(), loc);
  builder.createBlock(&program.getBody(), {}, arguments, locs);
  return program;
}

/// Makes the program for a mini-batch. All units together run those instances
/// that are too few for each unit to have as many of its own.
static void makeExecutor(func::FuncOp entry, uprog::ProgramOp alone,
                         uprog::ProgramOp together) {
  Location loc = entry.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(entry->getBlock());
  auto program = beginProgram(builder, loc, getExecutorName(entry.getSymName()),
                              uprog::Level::Device, {});
  program->setAttr(kExecutorAttr, builder.getUnitAttr());
  Type index = builder.getIndexType();
  Value count = uprog::InstancesOp::create(builder, loc, index);
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  if (alone) {
    first = count;
    if (together) {
      Value units = uprog::UnitsOp::create(builder, loc, index);
      Value rest = arith::RemUIOp::create(builder, loc, count, units);
      first = arith::SubIOp::create(builder, loc, count, rest);
    }
    uprog::RunOp::create(builder, loc, alone.getSymName(), /*step=*/Value(),
                         first, /*inputs=*/ValueRange(),
                         /*level=*/uprog::LevelAttr());
  }
  if (together) {
    auto loop = uprog::ForOp::create(builder, loc, first, count);
    builder.setInsertionPointToStart(&loop.getBody().front());
    uprog::RefOp::create(builder, loc,
                         FlatSymbolRefAttr::get(together.getSymNameAttr()),
                         ValueRange(loop.getBody().getArgument(0)));
    builder.setInsertionPointAfter(loop);
  }
  uprog::YieldOp::create(builder, loc);
}

/// Makes the program for one unit of that for all.
static uprog::ProgramOp makeAlone(uprog::ProgramOp together, StringRef name) {
  uprog::ProgramOp alone = together.clone();
  alone.setSymName(name);
  alone.setLevel(uprog::Level::Block);
  alone.walk(
      [](uprog::BarrierOp barrier) { barrier.setLevel(uprog::Level::Block); });
  alone.walk([](uprog::RunOp run) { run.removeLevelAttr(); });
  together->getBlock()->getOperations().insert(Block::iterator(together),
                                               alone);
  return alone;
}

namespace {
class ReplicatePass : public batch::impl::ReplicatePassBase<ReplicatePass> {
  using ReplicatePassBase::ReplicatePassBase;

  void runOnOperation() override {
    auto entry = dyn_cast_or_null<func::FuncOp>(
        lookupEntry(getOperation()).getOperation());
    InstanceProgram program(getOperation());
    // A module that has its executor already stays as it is.
    if (program.getStrategy() != Strategy::Replicate ||
        getOperation().lookupSymbol(getExecutorName(entry.getSymName())))
      return;
    Strategies strategies(program);
    if (const auto &obstacle = strategies.getObstacle(Strategy::Replicate)) {
      (void)strategies.emitError(*obstacle);
      return signalPassFailure();
    }
    std::string name = getInstanceProgramName(entry.getSymName());
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    uprog::ProgramOp together =
        beginProgram(builder, entry.getLoc(), name + ".together",
                     uprog::Level::Device, builder.getIndexType());
    if (failed(Replicator(entry).fillProgram(together)))
      return signalPassFailure();
    std::optional<InstanceLevel> chosen = chooseLevel(together);
    if (!chosen)
      return signalPassFailure();
    uprog::ProgramOp alone;
    if (*chosen != InstanceLevel::Device)
      alone = makeAlone(together, name);
    if (*chosen == InstanceLevel::Block) {
      together.erase();
      together = {};
    }
    makeExecutor(entry, alone, together);
  }

  /// Decides which units run an instance, and which steps one of them runs by
  /// itself where all do. Nothing after an error.
  std::optional<InstanceLevel> chooseLevel(uprog::ProgramOp together) {
    Tuning choices;
    if (failed(choices.load(tuning, getOperation())) ||
        failed(choices.checkKernels(getOperation())))
      return std::nullopt;
    InstanceLevel given = level;
    if (given == InstanceLevel::Auto && choices.getLevel())
      given = *choices.getLevel() == uprog::Level::Block
                  ? InstanceLevel::Block
                  : InstanceLevel::Device;
    if (given == InstanceLevel::Block)
      return given;
    EstimatedCosts costs(gpu);
    UnitSchedule schedule = scheduleUnits(together, costs, choices);
    bool isAlone =
        given == InstanceLevel::Auto && schedule.alone <= schedule.chosen;
    std::string text = llvm::formatv(
        "about {0:F1} us on one unit, {1:F1} us on {2} that share out all "
        "steps",
        schedule.alone / 1000, schedule.shared / 1000, costs.getUnits());
    if (schedule.stepsAlone > 0 && !isAlone)
      text += llvm::formatv(", {0:F1} us if one of them runs {1} of {2} steps "
                            "by itself",
                            schedule.chosen / 1000, schedule.stepsAlone,
                            schedule.steps);
    remark::analysis(together.getLoc(),
                     remark::RemarkOpts::name("Units").category("batch"))
        << (isAlone ? "an instance runs on one unit: "
                    : "an instance runs on all units: ") +
               text;
    return isAlone ? InstanceLevel::Block : given;
  }
};
} // namespace
