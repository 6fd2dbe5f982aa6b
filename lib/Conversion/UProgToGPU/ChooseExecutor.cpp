//===- ChooseExecutor.cpp - Choose the blocks that run a plan together ----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Codegen/GPU/BlockMemory.h"
#include "../../Codegen/GPU/WorkCounts.h"
#include "../UProgToSCF/ProgramPatterns.h"
#include "Batch/Analysis/GPUTimes.h"
#include "Batch/Analysis/UnitCosts.h"
#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Target/GPU/GPUTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace mlir::batch {
#define GEN_PASS_DEF_CHOOSEEXECUTORPASS
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::uprog;

static constexpr int64_t toCycles(double nanoseconds) {
  return static_cast<int64_t>(nanoseconds * batch::gpu_times::kClock);
}

static constexpr int64_t kClusterBarrier =
                             toCycles(batch::gpu_times::kClusterBarrier),
                         kDeviceBarrier =
                             toCycles(batch::gpu_times::kDeviceBarrier),
                         kStep = toCycles(batch::gpu_times::kStep),
                         kHostStep = toCycles(batch::gpu_times::kHostStep);

/// Maximum number of rows that are counted one by one.
static constexpr int64_t kMostRows = 8192;

/// Percentage by which estimates may differ and still count as equal. Among
/// equal estimates, the pass chooses the largest groups, because the host
/// creates fewer plans for them.
static constexpr int64_t kMargin = 5;

static bool isBelow(ProgramOp left, ProgramOp right) {
  return left.getLevel() < right.getLevel();
}

static std::string nameGroup(Level level, int64_t clusterBlocks) {
  std::string name = stringifyLevel(level).str();
  if (level == Level::Cluster)
    name += " of " + std::to_string(clusterBlocks);
  return name;
}

namespace {
struct ChooseExecutorPass
    : batch::impl::ChooseExecutorPassBase<ChooseExecutorPass> {
  using ChooseExecutorPassBase::ChooseExecutorPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Empty for `auto`.
    std::optional<Level> given =
        symbolizeLevel(batch::getOptionName(executor.getValue()));
    SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
    if (programs.empty())
      return;
    if (clusterSize < 0 || clusterSize > kMostClusterBlocks) {
      programs[0].emitError("invalid cluster-size ")
          << clusterSize.getValue() << "; expected 0 to " << kMostClusterBlocks;
      return signalPassFailure();
    }
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    if (instances < 1 || instances > most) {
      programs[0].emitError("instances must be from 1 to ") << most;
      return signalPassFailure();
    }
    if (blocks < 1 || blockSize < WarpEmitter::kLanes) {
      programs[0].emitError("blocks must be at least 1, and block-size at "
                            "least ")
          << WarpEmitter::kLanes;
      return signalPassFailure();
    }
    auto lockstep = llvm::find_if(programs, batch::hasLanes);
    auto single = llvm::find_if(programs, batch::runsInstances);
    findLevels(programs);
    std::string why = "as specified by option 'executor'";
    Level group = given.value_or(Level::Device);
    // If the option is not given, use the size in the module. A size of 0 means
    // that neither of them specifies a size.
    int64_t clusterBlocks = clusterSize;
    auto known = module->getAttrOfType<IntegerAttr>(kClusterSizeAttr);
    if (known && clusterBlocks == 0)
      clusterBlocks = known.getInt();
    if (lockstep != programs.end()) {
      if (given.value_or(Level::Block) != Level::Block) {
        lockstep->emitError("this program runs lanes, which blocks do not "
                            "share; expected executor=block or executor=auto, "
                            "got '")
            << stringifyLevel(*given) << "'";
        return signalPassFailure();
      }
      group = Level::Block;
      why = "each block runs its own lanes" + describeSteps();
    } else if (single != programs.end()) {
      if (given.value_or(Level::Device) != Level::Device) {
        single->emitError("this program runs single instances on all blocks; "
                          "expected executor=device or executor=auto, got '")
            << stringifyLevel(*given) << "'";
        return signalPassFailure();
      }
      group = Level::Device;
      why = "all blocks run single instances";
    } else if (given && below && *given <= *below) {
      (*llvm::max_element(programs, isBelow))
              .emitError("this program must have a higher level than the ")
          << stringifyLevel(*below)
          << "-level program of this module; expected "
          << (*below == Level::Block ? "executor=cluster, " : "")
          << "executor=device or executor=auto, got '" << stringifyLevel(*given)
          << "'";
      return signalPassFailure();
    } else if (!given && failed(choose(group, clusterBlocks, why))) {
      return signalPassFailure();
    }
    if (clusterBlocks == 0)
      clusterBlocks = batch::kClusterBlocks;
    for (ProgramOp program : programs) {
      if (program.getLevel() != all)
        continue;
      remark::analysis(program.getLoc(),
                       remark::RemarkOpts::name("Executor").category("batch"))
          << ("program @" + program.getSymName() + ": executor " +
              nameGroup(group, clusterBlocks) + ", " + why)
                 .str();
      program.setLevel(group);
      program.walk([&](BarrierOp barrier) {
        if (barrier.getLevel() == all)
          barrier.setLevel(group);
      });
      // Remove the levels of units that the program's units do not contain.
      program.walk([&](RunOp run) {
        if (run.getLevel() && *run.getLevel() >= group)
          run.removeLevelAttr();
      });
    }
    if (llvm::any_of(programs, [](ProgramOp program) {
          return program.getLevel() == Level::Cluster;
        }))
      module->setAttr(
          kClusterSizeAttr,
          IntegerAttr::get(IntegerType::get(&getContext(), 64), clusterBlocks));
    else
      module->removeAttr(kClusterSizeAttr);
  }

  void findLevels(MutableArrayRef<ProgramOp> programs);
  std::string describeSteps();
  LogicalResult choose(Level &group, int64_t &clusterBlocks, std::string &why);
  int64_t estimateStep(Level level, int64_t units,
                       ArrayRef<OperatorOp> operators,
                       BlockMemory::Plans plans);

  Level all;                  ///< level of the programs that run plans
  std::optional<Level> below; ///< highest level of the other programs
};
} // namespace

void ChooseExecutorPass::findLevels(MutableArrayRef<ProgramOp> programs) {
  all = (*llvm::max_element(programs, isBelow)).getLevel();
  below = std::nullopt;
  for (ProgramOp program : programs)
    if (program.getLevel() < all)
      below = std::max(below.value_or(Level::Block), program.getLevel());
}

/// Describes the step that has the longest estimated time on a single lane.
std::string ChooseExecutorPass::describeSteps() {
  batch::EstimatedCosts costs(/*gpu=*/true);
  SymbolTable symbols(getOperation());
  double longest = 0;
  StringRef name;
  for (auto op : getOperation().getOps<OperatorOp>()) {
    if (!op.getKernel())
      continue;
    auto kernel = symbols.lookup<batch::KernelOp>(*op.getKernel());
    if (!kernel)
      continue;
    const double time =
        costs.getStepTime(batch::estimateTask(kernel), /*tasks=*/1,
                          /*units=*/1);
    if (time > longest) {
      longest = time;
      name = op.getSymName();
    }
  }
  if (name.empty())
    return "";
  return llvm::formatv("; the longest step of a lane is @{0}, about {1:F1} us",
                       name, longest / 1000);
}

/// Estimates the cycles for one step of each kernel that runs in several steps,
/// plus the host's work on the plans. If no kernel runs in several steps, the
/// estimate includes all kernels. Each group of `units` blocks has a plan, and
/// each of `instances` instances has a task in each step.
int64_t ChooseExecutorPass::estimateStep(Level level, int64_t units,
                                         ArrayRef<OperatorOp> operators,
                                         BlockMemory::Plans plans) {
  const int64_t barrier = level == Level::Device    ? kDeviceBarrier
                          : level == Level::Cluster ? kClusterBarrier
                                                    : StageWork::kBlockBarrier;
  int64_t groups = std::max<int64_t>(blocks / units, 1);
  int64_t tasks = llvm::divideCeil(instances.getValue(), groups);
  BlockMemory memory(
      getOperation(), operators, plans,
      {units, blockSize, sharedMemory, /*asyncCopies=*/true, precision});
  StageWork::Launch launch{units, {blockSize / WarpEmitter::kLanes, precision}};
  RepeatedOperators repeated(getOperation());
  bool any = llvm::any_of(operators,
                          [&](OperatorOp op) { return repeated.contains(op); });
  double cycles = 0;
  int64_t steps = 0;
  for (auto [plan, op] : llvm::zip_equal(plans, operators)) {
    if (any && !repeated.contains(op))
      continue;
    ++steps;
    for (const Stage &stage : plan->getStages()) {
      int64_t rows = stage.space.leading();
      if (stage.space.hasRows())
        rows *= tasks *
                (stage.space.domain >= 0 ? ResidentParameters::kRaggedRows : 1);
      StageWork work(*plan, stage, memory.parameters, memory.products, launch,
                     std::min(rows, kMostRows));
      // Scale the estimate for kMostRows rows to the actual number of rows.
      double times = std::max(double(rows) / kMostRows, 1.0);
      cycles += barrier + work.estimateCycles(StageCode()) * times;
    }
  }
  int64_t host = kHostStep * std::min<int64_t>(groups, instances);
  // A plan that only runs programs has steps, too.
  cycles += steps ? steps * (kStep + host) : kStep + host + barrier;
  return std::llround(std::min(cycles, 1e18));
}

/// Chooses the largest group whose estimated cycles per step exceed the minimum
/// by at most kMargin percent.
LogicalResult ChooseExecutorPass::choose(Level &group, int64_t &clusterBlocks,
                                         std::string &why) {
  SmallVector<OperatorOp> operators(getOperation().getOps<OperatorOp>());
  std::vector<std::unique_ptr<StagePlan>> plans;
  auto device = SymbolTable(getOperation())
                    .lookup<gpu::GPUModuleOp>(batch::kDeviceModule);
  for (OperatorOp op : operators) {
    auto staged = device ? device.lookupSymbol<OperatorOp>(op.getSymName())
                         : OperatorOp();
    if (!staged)
      return op.emitError("this operator has no stages for a GPU; run "
                          "uprog-stage-operators=target=gpu first");
    plans.push_back(std::make_unique<StagePlan>(staged));
  }
  batch::ChipFacts facts = batch::getChipFacts(chip);
  SmallVector<std::pair<Level, int64_t>> candidates = {{Level::Block, 1}};
  if (facts.clusters)
    candidates.emplace_back(
        Level::Cluster, clusterBlocks ? clusterBlocks : batch::kClusterBlocks);
  if (facts.clusters && facts.wideClusters && clusterBlocks == 0)
    candidates.emplace_back(Level::Cluster, batch::kWideClusterBlocks);
  candidates.emplace_back(Level::Device, blocks);
  llvm::erase_if(candidates, [&](auto &candidate) {
    auto [level, units] = candidate;
    return (below && level <= *below) || units > blocks;
  });
  llvm::raw_string_ostream os(why = "");
  os << "which takes the fewest estimated cycles for steps of " << instances
     << " instances, or at most " << kMargin << " % more:";
  SmallVector<int64_t> costs;
  for (auto [level, units] : candidates) {
    costs.push_back(estimateStep(level, units, operators, plans));
    os << (costs.size() == 1 ? " " : ", ") << nameGroup(level, units) << ' '
       << costs.back();
  }
  int64_t least = *llvm::min_element(costs);
  for (auto [candidate, cycles] : llvm::zip_equal(candidates, costs)) {
    if (100 * cycles > (100 + kMargin) * least)
      continue;
    group = candidate.first;
    if (group == Level::Cluster)
      clusterBlocks = candidate.second;
  }
  return success();
}
