//===- OperatorsToGPU.cpp - Lower operators to a gpu.module ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Codegen/GPU/Passes.h"
#include "Batch/Support/OptionError.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"

#include "BlockMemory.h"
#include "WarpEmitter.h"
#include "WorkCounts.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"
#include <set>

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTOPERATORSTOGPUPASS
#include "Batch/Codegen/GPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::uprog;

/// Address space of rows and parameters, which are in global memory; see the
/// NVVM dialect.
static constexpr unsigned kGlobalMemory = 1;

/// Returns true if the GPU kernel of the module runs only steps that all units
/// share. In other kernels, control flow keeps values in registers across
/// stages.
static bool runsOnlyPlans(ModuleOp module) {
  WalkResult others = module.walk([](Operation *op) {
    auto run = dyn_cast<RunOp>(op);
    return isa<CompactOp>(op) || (run && (!run.getStep() || run.getLevel()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !others.wasInterrupted();
}

/// Emits the functions of a staged operator. Records their requirements on
/// `host`, the operator from which the staged one was copied.
static LogicalResult convertOperator(const StagePlan &plan, OperatorOp host,
                                     const ResidentParameters &parameters,
                                     const ProductMemory &memory,
                                     gpu::GPUModuleOp module,
                                     ModuleTables &tables,
                                     const WarpEmitter::Blocks &blocks) {
  CodeBuilder b(host.getLoc(), host.getContext());
  b.addressSpace = kGlobalMemory;
  b.setInsertionPointToEnd(module.getBody());
  WarpEmitter emitter(plan, parameters, memory, tables, b, blocks);
  int64_t count = plan.getStages().size();
  for (int64_t s = 0; s < count; ++s) {
    func::FuncOp function =
        emitter.emit(s, batch::getStageName(host.getSymName(), s));
    if (emitter.hasFailed())
      return failure();
    // Products use all registers. If they were inlined, they would spill the
    // registers of the surrounding program.
    ArrayRef<Reduction> reductions = plan.getStages()[s].reductions;
    if (llvm::any_of(reductions, [](const Reduction &reduction) {
          return bool(reduction.packed);
        }))
      function->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  }
  host->setAttr(kCodeAttr,
                CodeAttr::get(b.getContext(), count, plan.getTaskScratch(),
                              plan.getRaggedScratch(), WorkersAttr()));
  return success();
}

/// For each stage of an operator, reports the work of a launch's blocks.
static void describeWork(const StagePlan &plan, OperatorOp host,
                         const ResidentParameters &parameters,
                         const ProductMemory &memory, gpu::GPUModuleOp module,
                         const StageWork::Launch &launch,
                         ArrayRef<int64_t> rowCounts) {
  for (auto [number, stage] : llvm::enumerate(plan.getStages())) {
    StageCode code(module.lookupSymbol<func::FuncOp>(
        batch::getStageName(host.getSymName(), number)));
    for (int64_t count : rowCounts) {
      int64_t rows = stage.space.leading();
      if (stage.space.hasRows())
        rows *= count;
      StageWork work(plan, stage, parameters, memory, launch, rows);
      std::string text;
      llvm::raw_string_ostream os(text);
      os << "work of @" << host.getSymName() << ", stage " << number
         << ", domain " << stage.space.domain << ", count " << count
         << ": busy warps " << work.countBusyWarps() << ", warps "
         << work.items.size() << ", most items " << work.getMostItems()
         << ", passes " << work.passes << ", block barriers " << work.barriers
         << ", dependent loads " << code.dependentLoads << ", row bytes "
         << work.rowBytes << ", most row bytes " << work.mostRowBytes
         << ", weight bytes " << work.weightBytes << ", most weight bytes "
         << work.mostWeightBytes << ", multiplications " << work.multiplications
         << ", loads " << work.loads << ", shuffles " << work.shuffles
         << ", instructions " << work.instructions << ", block instructions "
         << work.blockInstructions << ", wavefronts " << work.wavefronts
         << ", chain " << code.chain << ", cycles "
         << work.estimateCycles(code);
      // If the launch has few blocks, also report the sums of each warp.
      if (launch.units <= 16) {
        os << ", sums from byte " << memory.sums << " to " << memory.rows
           << " of " << memory.rows + memory.rowBytes << ", of warps";
        for (int64_t sums : work.sums)
          os << ' ' << sums;
      }
      remark::analysis(host.getLoc(),
                       remark::RemarkOpts::name("Work").category("batch"))
          << text;
    }
  }
}

namespace {
struct ConvertOperatorsToGPUPass
    : batch::impl::ConvertOperatorsToGPUPassBase<ConvertOperatorsToGPUPass> {
  using ConvertOperatorsToGPUPassBase::ConvertOperatorsToGPUPassBase;

  /// Returns the level of the blocks that run stages together, or std::nullopt
  /// if there are several levels. Returns Level::Device if there is none.
  std::optional<Level> findSharingLevel() {
    std::set<Level> levels;
    getOperation()->walk([&](RunOp run) {
      if (run.getStep() && !run.getLevel())
        levels.insert(run->getParentOfType<ProgramOp>().getLevel());
    });
    if (levels.empty())
      return Level::Device;
    return levels.size() == 1 ? std::optional(*levels.begin()) : std::nullopt;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<OperatorOp> operators(module.getOps<OperatorOp>());
    if (operators.empty())
      return;
    if (blockSize < WarpEmitter::kLanes || blockSize > 1024 ||
        blockSize % WarpEmitter::kLanes) {
      batch::emitOptionError(&getContext(),
                             "block-size must be a multiple of 32 up to 1024");
      return signalPassFailure();
    }
    if (sharedMemory < 0 || blocks < 1) {
      batch::emitOptionError(
          &getContext(), "shared-memory must be at least 0, and blocks must "
                         "be at least 1");
      return signalPassFailure();
    }
    if (llvm::any_of(countRows, [](int64_t rows) { return rows < 1; })) {
      batch::emitOptionError(&getContext(), "count-rows must be at least 1");
      return signalPassFailure();
    }
    auto device =
        SymbolTable(module).lookup<gpu::GPUModuleOp>(batch::kDeviceModule);
    std::vector<std::unique_ptr<StagePlan>> plans;
    // Find the level first: a block's share of the columns depends on it.
    std::optional<Level> level = findSharingLevel();
    WarpEmitter::Blocks warps{blockSize / WarpEmitter::kLanes, precision,
                              level && runsOnlyPlans(module)};
    for (OperatorOp op : operators) {
      auto staged = device ? device.lookupSymbol<OperatorOp>(op.getSymName())
                           : OperatorOp();
      if (!staged) {
        op.emitError("this operator has no stages for a GPU; run "
                     "uprog-stage-operators=target=gpu first");
        return signalPassFailure();
      }
      plans.push_back(std::make_unique<StagePlan>(staged));
    }
    if (level == Level::Cluster && !module->hasAttr(kClusterSizeAttr)) {
      module.emitError("cluster-level programs require attribute ")
          << kClusterSizeAttr << "; run batch-choose-executor first";
      return signalPassFailure();
    }
    int64_t units = level ? getUnits(*level) : 0;
    BlockMemory memory(
        module, operators, plans,
        {units, blockSize, sharedMemory, asyncCopies, precision});
    if (failed(memory.verify(operators, plans)))
      return signalPassFailure();
    const ResidentParameters &parameters = memory.parameters;
    ModuleTables tables(module, device, kGlobalMemory);
    for (auto [plan, op] : llvm::zip_equal(plans, operators)) {
      parameters.describe(*plan, memory.getReason(op));
      if (failed(convertOperator(*plan, op, parameters, memory.products, device,
                                 tables, warps)))
        return signalPassFailure();
      if (!countRows.empty())
        describeWork(*plan, op, parameters, memory.products, device,
                     {std::max<int64_t>(units, 1), warps}, countRows);
    }
    parameters.describe(module.getLoc());
    CodeBuilder builder(module.getLoc(), module.getContext());
    builder.addressSpace = kGlobalMemory;
    if (int64_t bytes = memory.getBytes())
      ResidentParameters::addMemory(device, builder, bytes);
    if (level)
      parameters.emitLoad(device, tables, builder, blockSize, *level);
    tables.save();
    for (const std::unique_ptr<StagePlan> &plan : plans)
      plan->getOperator().erase();
  }

  /// Returns the expected number of blocks that run a stage together.
  int64_t getUnits(Level level) {
    if (level != Level::Cluster)
      return level == Level::Device ? blocks : 1;
    return getOperation()
        ->getAttrOfType<IntegerAttr>(kClusterSizeAttr)
        .getInt();
  }
};
} // namespace
