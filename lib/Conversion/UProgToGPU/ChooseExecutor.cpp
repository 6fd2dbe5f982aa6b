//===- ChooseExecutor.cpp - Choose the blocks that run a plan together ----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Codegen/Stages/StagePlan.h"
#include "../UProgToSCF/ProgramPatterns.h"
#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Target/GPU/GPUTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Remarks.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CHOOSEEXECUTORPASS
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::uprog;

/// The FLOP of a block during a barrier in global memory: 1e11 FLOP/s, about a
/// fifth of a multiprocessor's peak, for 2.6 us. An estimate.
static constexpr int64_t kBarrierFlops = int64_t(1) << 18;

static bool isBelow(ProgramOp left, ProgramOp right) {
  return left.getLevel() < right.getLevel();
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
    auto lockstep = llvm::find_if(programs, batch::hasLanes);
    auto instances = llvm::find_if(programs, batch::runsInstances);
    findLevels(programs);
    std::string why = "as the option says";
    Level group = given.value_or(Level::Device);
    if (lockstep != programs.end()) {
      if (given.value_or(Level::Block) != Level::Block) {
        lockstep->emitError("this program runs lanes, which each block has for "
                            "itself; use executor=block or auto, not ")
            << stringifyLevel(*given);
        return signalPassFailure();
      }
      group = Level::Block;
      why = "every block runs lanes of its own";
    } else if (instances != programs.end()) {
      if (given.value_or(Level::Device) != Level::Device) {
        instances->emitError("this program runs single instances, on all "
                             "blocks; use executor=device or auto, not ")
            << stringifyLevel(*given);
        return signalPassFailure();
      }
      group = Level::Device;
      why = "all blocks run single instances";
    } else if (given && below && *given <= *below) {
      (*llvm::max_element(programs, isBelow))
              .emitError("blocks run tasks of a program of level ")
          << stringifyLevel(*below)
          << " here, so those that run a plan together are of a level above; "
             "use executor=device or auto, not "
          << stringifyLevel(*given);
      return signalPassFailure();
    } else if (!given && failed(choose(group, why))) {
      return signalPassFailure();
    }
    for (ProgramOp program : programs) {
      if (program.getLevel() != all)
        continue;
      remark::analysis(program.getLoc(),
                       remark::RemarkOpts::name("Executor").category("batch"))
          << ("program @" + program.getSymName() + ": executor " +
              stringifyLevel(group) + ", " + why)
                 .str();
      program.setLevel(group);
      program.walk([&](BarrierOp barrier) {
        if (barrier.getLevel() == all)
          barrier.setLevel(group);
      });
      // A unit of the program has no units below that could run it alone.
      program.walk([&](RunOp run) {
        if (run.getLevel() && *run.getLevel() >= group)
          run.removeLevelAttr();
      });
    }
  }

  void findLevels(MutableArrayRef<ProgramOp> programs);
  LogicalResult choose(Level &group, std::string &why);

  Level all;                  ///< of the programs that run plans
  std::optional<Level> below; ///< the highest of other programs
};
} // namespace

void ChooseExecutorPass::findLevels(MutableArrayRef<ProgramOp> programs) {
  all = (*llvm::max_element(programs, isBelow)).getLevel();
  below = std::nullopt;
  for (ProgramOp program : programs)
    if (program.getLevel() < all)
      below = std::max(below.value_or(Level::Block), program.getLevel());
}

/// The smallest group of blocks that can hold all parameters in shared memory
/// and compute the largest stage of a task during a barrier of all blocks.
LogicalResult ChooseExecutorPass::choose(Level &group, std::string &why) {
  int64_t parameterBytes = 0, flops = 0;
  auto device = SymbolTable(getOperation())
                    .lookup<gpu::GPUModuleOp>(batch::kDeviceModule);
  for (OperatorOp op : getOperation().getOps<OperatorOp>()) {
    auto staged = device ? device.lookupSymbol<OperatorOp>(op.getSymName())
                         : OperatorOp();
    if (!staged)
      return op.emitError("this operator has no stages for a GPU; run "
                          "uprog-stage-operators=target=gpu first");
    ContractionCost cost = StagePlan(staged).getContractionCost();
    parameterBytes += cost.weightBytes;
    flops = std::max(flops, cost.stageFlops);
  }
  batch::ChipFacts facts = batch::getChipFacts(chip);
  llvm::raw_string_ostream os(why = "");
  for (Level candidate : {Level::Block, Level::Cluster}) {
    if (below && candidate <= *below) {
      os << stringifyLevel(candidate) << "s run tasks of programs";
      continue;
    }
    if (candidate == Level::Cluster && !facts.clusters) {
      os << (chip.empty() ? ", and not every chip has clusters"
                          : ", and the chip has no clusters");
      break;
    }
    int64_t blocks = candidate == Level::Cluster ? clusterSize : 1;
    int64_t memory = blocks * facts.sharedMemory;
    int64_t computed = blocks * kBarrierFlops;
    StringRef name = stringifyLevel(candidate);
    why.clear();
    if (parameterBytes > memory) {
      os << parameterBytes << " bytes of parameters are more than a " << name
         << "'s " << memory << " bytes of shared memory";
    } else if (flops > computed) {
      os << flops << " FLOP in a task's largest stage are more than the "
         << computed << " that a " << name
         << " computes during a barrier in global memory";
    } else {
      os << parameterBytes << " bytes of parameters fit in a " << name << "'s "
         << memory << " bytes of shared memory, and it computes the " << flops
         << " FLOP of a task's largest stage during a barrier in global memory";
      group = candidate;
      break;
    }
  }
  return success();
}
