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
#include "InstanceSets.h"
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

namespace {
/// Programs that run instances: each by a unit or a cluster, one by all units,
/// several by all.
struct InstancePrograms {
  uprog::ProgramOp apart = {}, together = {}, set = {};
};
} // namespace

/// Runs the instances from `first` on, one after the other, on all units.
static void runTogether(OpBuilder &builder, Location loc,
                        uprog::ProgramOp program, Value first, Value end) {
  auto loop = uprog::ForOp::create(builder, loc, first, end);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  uprog::RefOp::create(builder, loc,
                       FlatSymbolRefAttr::get(program.getSymNameAttr()),
                       ValueRange(loop.getBody().getArgument(0)));
}

/// Runs all instances in sets.
static void runSets(OpBuilder &builder, Location loc, uprog::ProgramOp program,
                    Value count) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value room = arith::ConstantIndexOp::create(builder, loc, kSetRoom);
  auto loop = uprog::ForOp::create(builder, loc, zero, count, room);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  Value first = loop.getBody().getArgument(0);
  Value rest = arith::SubIOp::create(builder, loc, count, first);
  Value size = arith::MinUIOp::create(builder, loc, rest, room);
  uprog::RefOp::create(builder, loc,
                       FlatSymbolRefAttr::get(program.getSymNameAttr()),
                       ValueRange{first, size});
}

/// Makes the program for a mini-batch. Of instances that do not run in sets,
/// all units together run those that are too few for each unit to have as many
/// of its own.
static void makeExecutor(func::FuncOp entry, InstancePrograms programs) {
  Location loc = entry.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(entry->getBlock());
  auto program = beginProgram(builder, loc, getExecutorName(entry.getSymName()),
                              uprog::Level::Device, {});
  program->setAttr(kExecutorAttr, builder.getUnitAttr());
  Type index = builder.getIndexType();
  Value count = uprog::InstancesOp::create(builder, loc, index);
  OpBuilder::InsertionGuard guard(builder);
  if (programs.set) {
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value isMore = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::ugt, count, one);
    Value selector = arith::IndexCastUIOp::create(builder, loc, index, isMore);
    auto branch = uprog::BranchOp::create(builder, loc, TypeRange(), selector,
                                          ArrayRef<int64_t>{1}, 1);
    uprog::YieldOp::create(builder, loc);
    builder.createBlock(&branch.getCaseRegions().front());
    runSets(builder, loc, programs.set, count);
    uprog::YieldOp::create(builder, loc);
    builder.createBlock(&branch.getDefaultRegion());
  }
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  if (programs.apart) {
    Value tasks = count;
    if (programs.together) {
      Value units = uprog::UnitsOp::create(builder, loc, index);
      Value rest = arith::RemUIOp::create(builder, loc, count, units);
      first = tasks = arith::SubIOp::create(builder, loc, count, rest);
    }
    uprog::RunOp::create(builder, loc, programs.apart.getSymName(),
                         /*step=*/Value(), tasks, /*inputs=*/ValueRange(),
                         /*level=*/uprog::LevelAttr());
  }
  if (programs.together)
    runTogether(builder, loc, programs.together, first, count);
  uprog::YieldOp::create(builder, loc);
}

/// Makes the program for the blocks of a lower level of that for all.
static uprog::ProgramOp makeApart(uprog::ProgramOp together, StringRef name,
                                  uprog::Level level) {
  uprog::ProgramOp apart = together.clone();
  apart.setSymName(name);
  apart.setLevel(level);
  apart.walk([&](uprog::BarrierOp barrier) { barrier.setLevel(level); });
  apart.walk([](uprog::RunOp run) { run.removeLevelAttr(); });
  together->getBlock()->getOperations().insert(Block::iterator(together),
                                               apart);
  return apart;
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
    if (clusterSize < 0) {
      entry.emitError("cluster-size must be at least 0, which means that there "
                      "are no clusters");
      return signalPassFailure();
    }
    Tuning choices;
    if (failed(choices.load(tuning, &getContext())) ||
        failed(choices.checkKernels(getOperation())))
      return signalPassFailure();
    InstancePrograms programs;
    programs.together = together;
    const bool isApart = entry->hasAttr(kApartAttr) &&
                         getGivenLevel(choices) == InstanceLevel::Auto;
    Choice choice = isApart ? Choice{InstanceLevel::Block, /*sets=*/false}
                            : choose(programs, name, choices);
    if (choice.sets)
      programs.set = makeSetProgram(together, name + ".set");
    if (choice.level == InstanceLevel::Block ||
        choice.level == InstanceLevel::Auto)
      programs.apart = makeApart(together, name, uprog::Level::Block);
    if (choice.level == InstanceLevel::Block ||
        choice.level == InstanceLevel::Cluster) {
      together.erase();
      programs.together = {};
    }
    makeExecutor(entry, programs);
  }

  struct Choice {
    InstanceLevel level; ///< of instances that do not run in sets
    bool sets;
  };

  /// The level that an option or a file says.
  InstanceLevel getGivenLevel(const Tuning &choices) {
    if (level != InstanceLevel::Auto || !choices.getLevel())
      return level;
    switch (*choices.getLevel()) {
    case uprog::Level::Block:
      return InstanceLevel::Block;
    case uprog::Level::Cluster:
      return InstanceLevel::Cluster;
    case uprog::Level::Device:
      return InstanceLevel::Device;
    }
    llvm_unreachable("no other level");
  }

  /// Decides which units run instances, and which steps one of them runs by
  /// itself where several run an instance. If that is for clusters, also makes
  /// their program.
  Choice choose(InstancePrograms &programs, StringRef name,
                const Tuning &choices) {
    uprog::ProgramOp together = programs.together;
    const InstanceLevel given = getGivenLevel(choices);
    if (given == InstanceLevel::Block)
      return {given, /*sets=*/false};
    uprog::ProgramOp ofCluster;
    if (given == InstanceLevel::Cluster ||
        (given == InstanceLevel::Auto && gpu && clusterSize > 0))
      ofCluster =
          makeApart(together, (name + ".cluster").str(), uprog::Level::Cluster);
    if (given == InstanceLevel::Cluster) {
      applyUnits(ofCluster, choices);
      programs.apart = ofCluster;
      return {given, /*sets=*/false};
    }
    if (given == InstanceLevel::Device) {
      applyUnits(together, choices);
      return {given, /*sets=*/instances > 1};
    }
    EstimatedCosts costs(gpu);
    const int64_t size = std::clamp<int64_t>(instances, 1, kSetRoom);
    UnitSchedule schedule = scheduleUnits(together, costs, choices, size);
    auto getTimeApart = [&](double time, int64_t groups) {
      return time * static_cast<double>(llvm::divideCeil(size, groups));
    };
    const bool isAlone = schedule.alone <= schedule.chosen;
    const double apart = getTimeApart(schedule.alone, costs.getUnits());
    const bool sets = size > 1 && schedule.set < apart;
    auto emit = [&](const Twine &text) {
      remark::analysis(together.getLoc(),
                       remark::RemarkOpts::name("Units").category("batch"))
          << text.str();
    };
    if (ofCluster) {
      EstimatedCosts ofBlocks = EstimatedCosts::ofCluster(clusterSize);
      const double chosen =
          scheduleUnits(ofCluster, ofBlocks, choices, /*instances=*/1).chosen;
      const double inClusters = getTimeApart(
          chosen, std::max<int64_t>(costs.getUnits() / clusterSize, 1));
      double best = std::min(apart, getTimeApart(schedule.chosen, 1));
      if (sets)
        best = std::min(best, schedule.set);
      const bool isFastest = inClusters < best;
      emit((isFastest ? "each cluster runs instances of its own: "
                      : "clusters run no instances: ") +
           llvm::formatv(
               "about {0:F1} us on a cluster of {1} blocks; {2:F1} us "
               "for {3} instance(s), {4:F1} us otherwise",
               chosen / 1000, clusterSize, inClusters / 1000, size, best / 1000)
               .str());
      if (isFastest) {
        programs.apart = ofCluster;
        return {InstanceLevel::Cluster, /*sets=*/false};
      }
      ofCluster.erase();
    }
    std::string text = llvm::formatv(
        "about {0:F1} us on one unit, {1:F1} us on {2} that share out all "
        "steps",
        schedule.alone / 1000, schedule.shared / 1000, costs.getUnits());
    if (schedule.stepsAlone > 0 && !isAlone)
      text += llvm::formatv(", {0:F1} us if one of them runs {1} of {2} steps "
                            "by itself",
                            schedule.chosen / 1000, schedule.stepsAlone,
                            schedule.steps);
    emit((isAlone ? "an instance runs on one unit: "
                  : "an instance runs on all units: ") +
         text);
    if (size > 1)
      emit((sets ? "instances run in sets: "
                 : "units run instances each by itself: ") +
           llvm::formatv("about {0:F1} us for a set of {1}, {2:F1} us apart",
                         schedule.set / 1000, size, apart / 1000)
               .str());
    return {isAlone ? InstanceLevel::Block : InstanceLevel::Auto, sets};
  }
};
} // namespace
