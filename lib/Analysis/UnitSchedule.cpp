//===- UnitSchedule.cpp - Levels of the steps of a program ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/UnitSchedule.h"

#include "Batch/Analysis/UnitBarriers.h"
#include "Batch/Analysis/WorkEstimate.h"
#include "Batch/Dialect/Batch/TableLayout.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::batch;
using mlir::uprog::Level;

/// Maximum number of consecutive ops that improve() assigns to one unit
/// together.
static constexpr size_t kMostPieces = 8;

namespace {
class UnitScheduler {
public:
  UnitScheduler(uprog::ProgramOp program, const UnitCosts &costs,
                const Tuning &tuning, double unknownRounds);

  UnitSchedule run(int64_t instances);

private:
  double countGroups(Operation *op) const;
  double estimate(int64_t units, double members = 1);
  double estimate(Block &block, const SetVector<Operation *> &barriers,
                  int64_t units, double members) const;
  double estimateStep(uprog::RunOp run, int64_t units, double members) const;
  bool isSmall(uprog::RunOp run) const;
  std::optional<SmallVector<uprog::RunOp>> findSmallSteps(Operation &op) const;
  void improve(Block &block);

  uprog::ProgramOp program;
  const UnitCosts &costs;
  double unknownRounds;
  DenseMap<Operation *, TaskWork> works; ///< work of each `uprog.run`
  DenseSet<Operation *> given;           ///< steps whose units a tuning file
                                         ///< specifies
  double best = 0;
};
} // namespace

UnitScheduler::UnitScheduler(uprog::ProgramOp program, const UnitCosts &costs,
                             const Tuning &tuning, double unknownRounds)
    : program(program), costs(costs), unknownRounds(unknownRounds) {
  auto module = program->getParentOfType<ModuleOp>();
  program.walk([&](uprog::RunOp run) {
    auto op = module.lookupSymbol<uprog::OperatorOp>(run.getCallee());
    if (!op || !op.getKernel())
      return;
    works[run] = estimateTask(module.lookupSymbol<KernelOp>(*op.getKernel()));
    if (tuning.getKernel(*op.getKernel()).onOneUnit)
      given.insert(run);
  });
  applyUnits(program, tuning);
}

/// Estimates the time of a step for `members` instances of a set. If each
/// instance has several tasks, the step runs for one instance after another,
/// with a barrier after each instance.
double UnitScheduler::estimateStep(uprog::RunOp run, int64_t units,
                                   double members) const {
  auto work = works.find(run);
  if (work == works.end())
    return 0;
  auto task = cast<uprog::UTaskOpInterface>(run.getOperation());
  if (task.getUnitLevel())
    units = 1;
  const bool isBatch = isa_and_nonnull<uprog::BatchOp>(task.getScratch());
  std::optional<int64_t> known = getConstantIntValue(task.getNumTasks());
  double tasks = known ? static_cast<double>(*known) : unknownRounds;
  if (!isBatch)
    return costs.getStepTime(work->second, tasks * members, units);
  double time = costs.getStepTime(work->second, tasks, units);
  if (members > 1)
    time += costs.getBarrierTime();
  return time * members;
}

/// Estimates how often the regions of `op` run, as countRuns() does. If the
/// number of rounds is not static, a loop over groups of rounds counts once per
/// group.
double UnitScheduler::countGroups(Operation *op) const {
  auto loop = dyn_cast<uprog::ForOp>(op);
  std::optional<int64_t> step;
  if (loop && loop.getStep() &&
      !cast<LoopLikeOpInterface>(op).getStaticTripCount())
    step = getConstantIntValue(loop.getStep());
  const double runs = countRuns(op, unknownRounds);
  return step ? std::max(runs / static_cast<double>(*step), 1.0) : runs;
}

double UnitScheduler::estimate(Block &block,
                               const SetVector<Operation *> &barriers,
                               int64_t units, double members) const {
  double sum = 0;
  for (Operation &op : block) {
    if (barriers.contains(&op) || (isa<uprog::BarrierOp>(op) && units > 1))
      sum += costs.getBarrierTime();
    if (auto run = dyn_cast<uprog::RunOp>(op))
      sum += estimateStep(run, units, members);
    if (auto copy = dyn_cast<uprog::CopyOp>(op))
      sum += members *
             costs.getMoveTime(
                 2.0 * getRowBytes(cast<RankedTensorType>(copy.getType())) /
                 units);
    // Assume that each path of a branch is taken by some members of a set.
    double runs = countGroups(&op), takers = members;
    if (members > 1 && isa<uprog::BranchOp>(op)) {
      takers = std::max(members * runs, 1.0);
      runs = 1;
    }
    for (Region &region : op.getRegions())
      if (!region.empty())
        sum += runs * estimate(region.front(), barriers, units, takers);
  }
  return sum;
}

/// Estimates the time of the program in its current state, for `members`
/// instances of a set.
double UnitScheduler::estimate(int64_t units, double members) {
  return estimate(program.getBody().front(),
                  units > 1 ? findBarriers(program) : SetVector<Operation *>(),
                  units, members);
}

/// Returns true for a step whose time on one unit is at most its time on all
/// units, including the barriers before and after it. A step on one unit might
/// not need these barriers.
bool UnitScheduler::isSmall(uprog::RunOp run) const {
  return works.contains(run) && !given.contains(run) &&
         estimateStep(run, /*units=*/1, /*members=*/1) <=
             estimateStep(run, costs.getUnits(), /*members=*/1) +
                 2 * costs.getBarrierTime();
}

/// Returns the steps that all units run, among `op` and the ops inside it.
/// Returns std::nullopt if one of these steps is not small.
std::optional<SmallVector<uprog::RunOp>>
UnitScheduler::findSmallSteps(Operation &op) const {
  SmallVector<uprog::RunOp> steps;
  WalkResult result = op.walk([&](uprog::RunOp run) {
    if (run.getLevel())
      return WalkResult::advance();
    steps.push_back(run);
    return isSmall(run) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return steps;
}

/// Assigns the steps of consecutive ops to one unit where this reduces the
/// estimated time of the program most.
void UnitScheduler::improve(Block &block) {
  SmallVector<SmallVector<uprog::RunOp>> pieces;
  auto improvePieces = [&] {
    for (size_t begin = 0; begin < pieces.size(); ++begin) {
      size_t bestEnd = begin, end = begin;
      for (; end < std::min(pieces.size(), begin + kMostPieces); ++end) {
        for (uprog::RunOp run : pieces[end])
          run.setLevel(Level::Block);
        if (double time = estimate(costs.getUnits()); time < best) {
          best = time;
          bestEnd = end + 1;
        }
      }
      for (; end > bestEnd; --end)
        for (uprog::RunOp run : pieces[end - 1])
          run.removeLevelAttr();
      if (bestEnd > begin)
        begin = bestEnd - 1;
    }
    pieces.clear();
  };
  for (Operation &op : block) {
    auto steps = findSmallSteps(op);
    if (!steps)
      improvePieces();
    else if (!steps->empty())
      pieces.push_back(std::move(*steps));
  }
  improvePieces();
}

UnitSchedule UnitScheduler::run(int64_t size) {
  UnitSchedule schedule;
  schedule.set = estimate(costs.getUnits(), static_cast<double>(size));
  schedule.onOneUnit = estimate(/*units=*/1);
  schedule.shared = best = estimate(costs.getUnits());
  program.walk<WalkOrder::PostOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        improve(region.front());
  });
  schedule.chosen = best;
  for (auto [run, work] : works) {
    ++schedule.steps;
    schedule.stepsOnOneUnit += cast<uprog::RunOp>(run).getLevel().has_value();
  }
  return schedule;
}

void batch::applyUnits(uprog::ProgramOp program, const Tuning &tuning) {
  auto module = program->getParentOfType<ModuleOp>();
  program.walk([&](uprog::RunOp run) {
    auto op = module.lookupSymbol<uprog::OperatorOp>(run.getCallee());
    if (op && op.getKernel() &&
        tuning.getKernel(*op.getKernel()).onOneUnit.value_or(false))
      run.setLevel(Level::Block);
  });
}

UnitSchedule batch::scheduleUnits(uprog::ProgramOp program,
                                  const UnitCosts &costs, const Tuning &tuning,
                                  int64_t instances, double unknownRounds) {
  return UnitScheduler(program, costs, tuning, unknownRounds).run(instances);
}
