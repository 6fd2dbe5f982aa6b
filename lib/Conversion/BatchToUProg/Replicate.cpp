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
/// Programs that run instances: each instance on one unit or cluster, one
/// instance on all units, or several instances on all units.
struct InstancePrograms {
  uprog::ProgramOp perUnit = {}, allUnits = {}, set = {};
};
} // namespace

/// Runs the instances in [first, end) on all units, one after another.
static void runOnAllUnits(OpBuilder &builder, Location loc,
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
  Value capacity = arith::ConstantIndexOp::create(builder, loc, kSetCapacity);
  auto loop = uprog::ForOp::create(builder, loc, zero, count, capacity);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  Value first = loop.getBody().getArgument(0);
  Value rest = arith::SubIOp::create(builder, loc, count, first);
  Value size = arith::MinUIOp::create(builder, loc, rest, capacity);
  uprog::RefOp::create(builder, loc,
                       FlatSymbolRefAttr::get(program.getSymNameAttr()),
                       ValueRange{first, size});
}

/// Creates the program for a mini-batch. If there is a program for sets and the
/// mini-batch has several instances, they run in sets. Otherwise, each unit
/// runs the same number of instances, and all units together run the remaining
/// instances. If the program for one unit or the program for all units is
/// missing, the other program runs all instances.
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
  if (programs.perUnit) {
    Value tasks = count;
    if (programs.allUnits) {
      Value units = uprog::UnitsOp::create(builder, loc, index);
      Value rest = arith::RemUIOp::create(builder, loc, count, units);
      first = tasks = arith::SubIOp::create(builder, loc, count, rest);
    }
    uprog::RunOp::create(builder, loc, programs.perUnit.getSymName(),
                         /*step=*/Value(), tasks, /*inputs=*/ValueRange(),
                         /*level=*/uprog::LevelAttr());
  }
  if (programs.allUnits)
    runOnAllUnits(builder, loc, programs.allUnits, first, count);
  uprog::YieldOp::create(builder, loc);
}

/// Copies the program for all units to create a program for units of a lower
/// level.
static uprog::ProgramOp cloneAtLevel(uprog::ProgramOp program, StringRef name,
                                     uprog::Level level) {
  uprog::ProgramOp copy = program.clone();
  copy.setSymName(name);
  copy.setLevel(level);
  copy.walk([&](uprog::BarrierOp barrier) { barrier.setLevel(level); });
  copy.walk([](uprog::RunOp run) { run.removeLevelAttr(); });
  program->getBlock()->getOperations().insert(Block::iterator(program), copy);
  return copy;
}

namespace {
class ReplicatePass : public batch::impl::ReplicatePassBase<ReplicatePass> {
  using ReplicatePassBase::ReplicatePassBase;

  void runOnOperation() override {
    auto entry = dyn_cast_or_null<func::FuncOp>(
        lookupEntry(getOperation()).getOperation());
    InstanceProgram program(getOperation());
    // Leave modules with other strategies or with an executor unchanged.
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
    uprog::ProgramOp allUnits =
        beginProgram(builder, entry.getLoc(), name + ".all_units",
                     uprog::Level::Device, builder.getIndexType());
    if (failed(Replicator(entry).fillProgram(allUnits)))
      return signalPassFailure();
    if (clusterSize < 0) {
      entry.emitError("cluster-size must be at least 0 (0: no clusters)");
      return signalPassFailure();
    }
    if (rounds < 1) {
      entry.emitError("rounds must be at least 1");
      return signalPassFailure();
    }
    Tuning choices;
    if (failed(choices.load(tuning, &getContext())) ||
        failed(choices.checkKernels(getOperation())))
      return signalPassFailure();
    InstancePrograms programs;
    programs.allUnits = allUnits;
    const bool isPerUnit = entry->hasAttr(kPerUnitAttr) &&
                           getGivenLevel(choices) == InstanceLevel::Auto;
    Choice choice = isPerUnit ? Choice{InstanceLevel::Block, /*sets=*/false}
                              : choose(programs, name, choices);
    if (choice.sets)
      programs.set = makeSetProgram(allUnits, name + ".set");
    if (choice.level == InstanceLevel::Block ||
        choice.level == InstanceLevel::Auto)
      programs.perUnit = cloneAtLevel(allUnits, name, uprog::Level::Block);
    if (choice.level == InstanceLevel::Block ||
        choice.level == InstanceLevel::Cluster) {
      allUnits.erase();
      programs.allUnits = {};
    }
    makeExecutor(entry, programs);
  }

  struct Choice {
    InstanceLevel level; ///< level of instances that do not run in sets
    bool sets;
  };

  /// Returns the level that the option specifies, or else the tuning file.
  /// Returns `Auto` if neither specifies a level.
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

  /// Decides which units run instances. If several units run an instance, also
  /// decides which steps one of these units runs by itself. If clusters run
  /// instances, also creates the program for clusters.
  Choice choose(InstancePrograms &programs, StringRef name,
                const Tuning &choices) {
    uprog::ProgramOp allUnits = programs.allUnits;
    const InstanceLevel given = getGivenLevel(choices);
    if (given == InstanceLevel::Block)
      return {given, /*sets=*/false};
    uprog::ProgramOp ofCluster;
    if (given == InstanceLevel::Cluster ||
        (given == InstanceLevel::Auto && gpu && clusterSize > 0))
      ofCluster = cloneAtLevel(allUnits, (name + ".cluster").str(),
                               uprog::Level::Cluster);
    if (given == InstanceLevel::Cluster) {
      applyUnits(ofCluster, choices);
      programs.perUnit = ofCluster;
      return {given, /*sets=*/false};
    }
    if (given == InstanceLevel::Device) {
      applyUnits(allUnits, choices);
      return {given, /*sets=*/instances > 1};
    }
    EstimatedCosts costs(gpu);
    const int64_t count = std::max<int64_t>(instances, 1);
    const int64_t size = std::min<int64_t>(count, kSetCapacity);
    const UnitSchedule schedule =
        scheduleUnits(allUnits, costs, choices, size, rounds);
    // Returns the time that `groups` concurrent groups take to run `runs`
    // instances or sets.
    auto getTime = [](double time, int64_t runs, int64_t groups) {
      return time * static_cast<double>(llvm::divideCeil(runs, groups));
    };
    const double onUnits = getTime(schedule.onOneUnit, count, costs.getUnits()),
                 onAll = getTime(schedule.chosen, count, 1),
                 inSets =
                     getTime(schedule.set, llvm::divideCeil(count, size), 1);
    const bool sets =
        count > 1 && inSets < (gpu ? std::min(onUnits, onAll) : onUnits);
    double best = sets ? inSets : std::min(onUnits, onAll), onCluster = 0;
    if (ofCluster)
      onCluster = scheduleUnits(ofCluster,
                                EstimatedCosts::ofCluster(clusterSize), choices,
                                /*instances=*/1, rounds)
                      .chosen;
    const double onClusters =
        getTime(onCluster, count,
                std::max<int64_t>(
                    costs.getUnits() / std::max<int64_t>(clusterSize, 1), 1));

    Choice choice = {InstanceLevel::Auto, sets};
    StringRef decision = "all units run instances one after another";
    if (ofCluster && onClusters < best) {
      choice = {InstanceLevel::Cluster, /*sets=*/false};
      decision = "each cluster runs its own instances";
      programs.perUnit = ofCluster;
    } else {
      if (ofCluster)
        ofCluster.erase();
      // On a GPU, all instances of a mini-batch run at one level: blocks keep
      // parameters in their shared memory, and a second level would divide the
      // parameters differently.
      const bool isOnOneUnit = gpu ? !sets && onUnits <= onAll
                                   : schedule.onOneUnit <= schedule.chosen;
      if (isOnOneUnit)
        choice.level = InstanceLevel::Block;
      else if (gpu)
        choice.level = InstanceLevel::Device;
      if (sets)
        decision = "all units run sets of instances";
      else if (isOnOneUnit)
        decision = "each unit runs its own instances";
      else if (count > 1 && !gpu)
        decision = "each unit runs its own instances, and all units run the "
                   "remaining ones together";
    }
    report(allUnits.getLoc(), decision, schedule, costs.getUnits(), onCluster);
    if (count > 1)
      emit(allUnits.getLoc(),
           llvm::formatv("{0} instances take about {1:F1} us with one unit "
                         "each, {2:F1} us one after another on all units, "
                         "{3:F1} us in sets of {4}",
                         count, onUnits / 1000, onAll / 1000, inSets / 1000,
                         size)
                   .str() +
               (onClusters > 0
                    ? llvm::formatv(", {0:F1} us with one cluster each",
                                    onClusters / 1000)
                          .str()
                    : ""));
    return choice;
  }

  static void emit(Location loc, const Twine &text) {
    remark::analysis(loc, remark::RemarkOpts::name("Units").category("batch"))
        << text.str();
  }

  /// Reports which units run an instance, and the estimates for one instance.
  /// `onCluster` is 0 if there are no clusters.
  void report(Location loc, StringRef decision, const UnitSchedule &schedule,
              int64_t units, double onCluster) {
    std::string text = llvm::formatv(
        "{0}: an instance takes about {1:F1} us on one unit, {2:F1} us on {3} "
        "that share all steps",
        decision, schedule.onOneUnit / 1000, schedule.shared / 1000, units);
    if (schedule.stepsOnOneUnit > 0)
      text += llvm::formatv(", {0:F1} us if one of them runs {1} of {2} steps "
                            "by itself",
                            schedule.chosen / 1000, schedule.stepsOnOneUnit,
                            schedule.steps);
    if (onCluster > 0)
      text += llvm::formatv(", {0:F1} us on a cluster of {1} blocks",
                            onCluster / 1000, clusterSize);
    emit(loc, text);
  }
};
} // namespace
