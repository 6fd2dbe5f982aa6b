//===- OperatorsToGPU.cpp - Operators to functions of a gpu.module --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Codegen/GPU/Passes.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"

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

/// The bytes of shared memory that a block of any chip may have.
static constexpr int64_t kLeastSharedMemory = 48 * 1024;
/// The room for a quad of rows that products multiply, unless they need less.
static constexpr int64_t kFewRowBytes = 24 * 1024;
/// The most room for such rows.
static constexpr int64_t kManyRowBytes = 64 * 1024;

/// Rows and parameters lie in global memory; see the NVVM dialect.
static constexpr unsigned kGlobalMemory = 1;

/// The kernels whose tasks all have a known depth: they run at one step of a
/// plan.
static DenseSet<Attribute> findKernelsOfOneStep(ModuleOp module) {
  DenseSet<Attribute> known, unknown;
  module.walk([&](batch::RecordOp record) {
    auto depth = record.getDepth().getDefiningOp<batch::DepthOp>();
    bool constant = (depth && depth.getInputs().empty()) ||
                    matchPattern(record.getDepth(), m_Constant());
    (constant ? known : unknown).insert(record.getKernelAttr());
  });
  for (Attribute kernel : unknown)
    known.erase(kernel);
  return known;
}

/// True if the kernel only runs steps of plans; otherwise its control has
/// values that stay in registers around stages.
static bool runsOnlyPlans(ModuleOp module) {
  WalkResult others = module.walk([](Operation *op) {
    auto run = dyn_cast<RunOp>(op);
    return isa<CompactOp>(op) || (run && (!run.getStep() || run.getLevel()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !others.wasInterrupted();
}

/// Makes the functions of a staged operator, and records their needs on `host`,
/// the operator that it is a copy of.
static LogicalResult convertOperator(const StagePlan &plan, OperatorOp host,
                                     const KeptParameters &parameters,
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
    // Products take all registers: inlined, they would spill those of the
    // program around them.
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

/// Reports what the blocks of a launch do in the stages of an operator.
static void describeWork(const StagePlan &plan, OperatorOp host,
                         const KeptParameters &parameters,
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
         << ", chain " << code.chain;
      // A launch of a few blocks may be looked at warp by warp.
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

  /// The level of the blocks that share out stages; nothing if there are
  /// several.
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

  /// The bytes of a block's shared memory that its control takes.
  int64_t getControlBytes() {
    int64_t bytes = 0;
    getOperation()->walk([&](CompactOp) {
      bytes += batch::kListBytes;
      return WalkResult::interrupt();
    });
    for (auto program : getOperation().getOps<ProgramOp>())
      if (program.getLevel() == Level::Device) {
        bytes += batch::kLeftBytes;
        break;
      }
    return bytes;
  }

  /// The bytes of a block's shared memory for an operator's sums of products.
  int64_t getSumBytes(const StagePlan &plan) {
    int64_t most = 0;
    for (const Stage &stage : plan.getStages()) {
      ProductPlan products(plan, stage, precision);
      if (products.products.empty())
        continue;
      int64_t tiles =
          ProductEmitter::countTiles(products, blockSize / WarpEmitter::kLanes);
      most = std::max<int64_t>(most, tiles * products.shares.size() *
                                         products.sumBytes);
    }
    return most;
  }

  /// Shares out a block's shared memory: sums, a few of the rows that products
  /// multiply, parameters, and in what is left more of the rows.
  ProductMemory placeMemory(ArrayRef<std::unique_ptr<StagePlan>> plans,
                            KeptParameters &parameters, int64_t room) {
    constexpr int64_t quad = RowShare<NumberMath>::kQuad;
    int64_t sums = 0, few = 0, many = 0;
    for (const auto &plan : plans) {
      sums = std::max(sums, getSumBytes(*plan));
      for (const Stage &stage : plan->getStages()) {
        ProductPlan products(*plan, stage, precision);
        if (products.products.empty())
          continue;
        int64_t row = products.rowBytes();
        few = std::max(few, std::min(quad * row, kFewRowBytes));
        many = std::max(
            many, std::min(ProductMemory::kMostRows * row, kManyRowBytes));
      }
    }
    int64_t kept = parameters.place(std::max<int64_t>(room - sums - few, 0));
    ProductMemory memory;
    memory.sums = llvm::alignTo(kept, FactorFormat::kVectorBytes);
    memory.rows = memory.sums + sums;
    memory.rowBytes = std::clamp(room - memory.rows, few, std::max(few, many));
    memory.rowBytes -= memory.rowBytes % FactorFormat::kVectorBytes;
    return memory;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<OperatorOp> operators(module.getOps<OperatorOp>());
    if (operators.empty())
      return;
    if (blockSize < WarpEmitter::kLanes || blockSize > 1024 ||
        blockSize % WarpEmitter::kLanes) {
      module.emitError("block-size must be a multiple of 32 up to 1024");
      return signalPassFailure();
    }
    if (sharedMemory < 0 || blocks < 1 || clusterSize < 1) {
      module.emitError("shared-memory must be at least 0, and blocks and "
                       "cluster-size must be at least 1");
      return signalPassFailure();
    }
    if (llvm::any_of(countRows, [](int64_t rows) { return rows < 1; })) {
      module.emitError("count-rows must be at least 1");
      return signalPassFailure();
    }
    auto device =
        SymbolTable(module).lookup<gpu::GPUModuleOp>(batch::kDeviceModule);
    std::vector<std::unique_ptr<StagePlan>> plans;
    DenseSet<Attribute> once = findKernelsOfOneStep(module);
    // A block keeps its share of all columns.
    DenseSet<Attribute> alone;
    module.walk([&](RunOp run) {
      if (run.getLevel())
        alone.insert(run.getCalleeAttr().getAttr());
    });
    // A block keeps its share of the columns, which depends on the level.
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
    KeptParameters parameters(level ? getUnits(*level) : 1, asyncCopies,
                              precision);
    for (auto [plan, op] : llvm::zip_equal(plans, operators))
      if (level && !once.contains(op.getKernelAttr()) &&
          !alone.contains(op.getSymNameAttr()))
        parameters.add(*plan);
    ProductMemory memory =
        placeMemory(plans, parameters, sharedMemory - getControlBytes());
    int64_t bytes = memory.rows + memory.rowBytes;
    int64_t most = std::max<int64_t>(sharedMemory, kLeastSharedMemory);
    if (bytes + getControlBytes() > most) {
      auto deepest = llvm::max_element(plans, [&](auto &a, auto &b) {
        return getSumBytes(*a) < getSumBytes(*b);
      });
      operators[deepest - plans.begin()]->emitError(
          "products of this operator are so deep that "
          "sums and rows need ")
          << bytes + getControlBytes()
          << " bytes of a block's shared memory, which has " << most;
      return signalPassFailure();
    }
    ModuleTables tables(module, device, kGlobalMemory);
    for (auto [plan, op] : llvm::zip_equal(plans, operators)) {
      parameters.describe(*plan);
      if (failed(convertOperator(*plan, op, parameters, memory, device, tables,
                                 warps)))
        return signalPassFailure();
      if (!countRows.empty())
        describeWork(*plan, op, parameters, memory, device,
                     {level ? getUnits(*level) : 1, warps}, countRows);
    }
    parameters.describe(module.getLoc());
    CodeBuilder builder(module.getLoc(), module.getContext());
    builder.addressSpace = kGlobalMemory;
    if (bytes)
      KeptParameters::addMemory(device, builder, bytes);
    if (level)
      parameters.emitLoad(device, tables, builder, blockSize, *level);
    tables.save();
    for (const std::unique_ptr<StagePlan> &plan : plans)
      plan->getOperator().erase();
  }

  /// The number of blocks that share a stage, as far as is known.
  int64_t getUnits(Level level) {
    return level == Level::Device    ? blocks
           : level == Level::Cluster ? clusterSize
                                     : 1;
  }
};
} // namespace
