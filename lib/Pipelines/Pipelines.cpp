//===- Pipelines.cpp - Pipelines as library functions ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Pipelines/Pipelines.h"

#include "Batch/Codegen/Passes.h"
#include "Batch/Conversion/Passes.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "Batch/Transforms/Passes.h"
#include "batch-runtime/Schedule/PolicyNames.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::batch;

StringRef mlir::batch::getPolicyHelp() {
  static const std::string help =
      "Choose the policy that picks the next batch: " +
      batchrt::listPolicies() + "; 'fsm' requires policy-table";
  return help;
}

void mlir::batch::buildAutobatchPipeline(OpPassManager &pm,
                                         const AutobatchOptions &options) {
  pm.addPass(createVerifyInputPass());
  // A later pass reports functions that are still only declared.
  pm.addPass(createLinkLibraryPass());
  SpecializeSizesPassOptions sizes;
  sizes.sizes.assign(options.sizes.begin(), options.sizes.end());
  pm.addPass(createSpecializeSizesPass(sizes));
  pm.addPass(createShareResourcesPass());
  // Later passes expect structured control flow, and maps and folds over lists
  // instead of list-shaped ADTs.
  pm.addPass(createLiftCFPass());
  pm.addPass(createListElementsPass());

  // Kernels. Helpers are inlined first, because a call would end a
  // straight-line block.
  pm.addPass(createInlineHelpersPass());
  // Only recursive functions are still called with several sets of parameters.
  pm.addPass(createDuplicateFunctionsPass());
  pm.addPass(createFoldEmptyPass());
  pm.addPass(createFlattenBodiesPass());
  // Counters and conditions that front ends write as tensors become scalars.
  pm.addPass(createScalarizePass());
  // This pass requires positions to be numbers, not tensors.
  pm.addPass(createUpdateStacksPass());
  pm.addPass(createFoldBiasesPass());
  // Recursion. Refactor before code is copied, while `rec.backedge` marks are
  // still where the user put them. Unroll last, so that specialized code is
  // unrolled together with its tests. All three passes bring together code in
  // which zeros can be folded.
  if (options.refactor)
    pm.addPass(createRefactorPass());
  SpecializePassOptions specialize;
  specialize.tests.assign(options.specialize.begin(), options.specialize.end());
  pm.addPass(createSpecializePass(specialize));
  UnrollPassOptions unroll;
  unroll.factor = options.unroll;
  pm.addPass(createUnrollPass(unroll));
  // Products with zeros appear once helpers are inlined. A branch without
  // products may then become a select.
  FoldZerosPassOptions zeros;
  zeros.assumeFinite = options.assumeFinite;
  pm.addPass(createFoldZerosPass(zeros));
  if (options.hoist)
    pm.addPass(createHoistProductsPass());
  // A branch may contain the code of a helper, so this pass runs after
  // inlining. Code that becomes straight-line is outlined together with the
  // surrounding code.
  IfToSelectPassOptions select;
  if (!options.select)
    select.maxElements = 0;
  pm.addPass(createIfToSelectPass(select));
  ChooseStrategyPassOptions strategy;
  strategy.strategy = options.strategy;
  strategy.gpu = options.gpu;
  strategy.instances = options.instances;
  pm.addPass(createChooseStrategyPass(strategy));
  pm.addPass(createTensorsToNumbersPass());
  OrderLoopsPassOptions order;
  order.order = options.order;
  order.gpu = options.gpu;
  order.tuning = options.tuning;
  pm.addPass(createOrderLoopsPass(order));
  pm.addPass(createInsertForcesPass());
  // Each block of a machine becomes one kernel.
  pm.addPass(createRecursionToStackPass());
  pm.addPass(createCancelPopsPass());
  pm.addPass(createOutlineBlocksPass());
  OutlineKernelsPassOptions kernels;
  kernels.coarsen = options.coarsen;
  kernels.hoist = options.hoist;
  pm.addPass(createOutlineKernelsPass(kernels));
  // Depths are counted within phases, so phases come first. Ghosts change
  // depths, so they come last.
  AssignPhasesPassOptions phases;
  phases.defer = options.defer;
  phases.phases = options.phases;
  pm.addPass(createAssignPhasesPass(phases));
  pm.addPass(createTagDepthsPass());
  if (options.ghosts)
    pm.addPass(createInsertGhostsPass());
  pm.addPass(createVerifyKernelsPass());
  if (options.layoutKernels != EqualOperators::None) {
    LayoutPQPassOptions layout;
    layout.equal = options.layoutKernels;
    pm.addPass(createLayoutPQPass(layout));
  }
  // Kernels are final after the next pass, and all later code is created from
  // them.
  pm.addPass(createWidenReductionsPass());
  pm.addPass(createVectorizeKernelsPass());

  // The next passes handle control flow, and then memory.
  pm.addPass(createLockstepPass());
  ReplicatePassOptions replicate;
  replicate.level = options.level;
  replicate.instances = options.instances;
  replicate.gpu = options.gpu;
  replicate.clusterSize = options.clusterSize;
  replicate.rounds = options.rounds;
  replicate.tuning = options.tuning;
  pm.addPass(createReplicatePass(replicate));
  pm.addPass(createInsertBarriersPass());
  pm.addPass(createLinearizePass());
  // A module may already have a policy.
  if (options.policy || !options.policyTable.empty()) {
    AttachPolicyPassOptions policy;
    policy.policy = options.policy;
    policy.table = options.policyTable;
    pm.addPass(createAttachPolicyPass(policy));
  }
  AssignSlotsPassOptions slots;
  slots.layout = options.layout;
  pm.addPass(createAssignSlotsPass(slots));
  pm.addPass(createMergeHandlesPass());
  if (options.fork)
    pm.addPass(createForkCallsPass());
  pm.addPass(createKeepRowsPass());
  pm.addPass(createVerifyPlannedPass());

  pm.addPass(createConvertBatchToUProgPass());
  pm.addPass(createVerifyExecutorPass());
}

void mlir::batch::buildCPUWorkersPipeline(OpPassManager &pm,
                                          const CPUWorkersOptions &options) {
  // This pass precedes the division into stages, which depends on how
  // convolutions are expressed.
  pm.addPass(createConvolutionsToProductsPass());
  StageOperatorsPassOptions stages;
  stages.target = uprog::StageTarget::CPU;
  stages.vectorBits = options.vectorBits;
  pm.addPass(createStageOperatorsPass(stages));
  ConvertOperatorsToCPUPassOptions operators;
  operators.vectorRegisters = options.vectorRegisters;
  operators.tuning = options.tuning;
  pm.addPass(createConvertOperatorsToCPUPass(operators));
  // Programs and instance code call the operators' code that is created above.
  ConvertUProgToCPUPassOptions programs;
  programs.vectorBits = options.vectorBits;
  pm.addPass(createConvertUProgToCPUPass(programs));
  ConvertBatchToLLVMPassOptions host;
  host.targetTriple = options.triple;
  host.targetCPU = options.cpu;
  host.targetFeatures.assign(options.features.begin(), options.features.end());
  pm.addPass(createConvertBatchToLLVMPass(host));

  // Math on f16 and bf16 becomes math on f32, which a later pass expands.
  pm.addPass(createExpandFloatsPass());
  // Saturate the conversions of the program itself. Conversions of expanded
  // math are within range.
  pm.addPass(createSaturateConversionsPass());
  // The sine and the cosine of a number share a range reduction.
  pm.addNestedPass<func::FuncOp>(math::createMathSincosFusionPass());
  // This pass precedes the conversion of math, which would call library
  // functions.
  ExpandMathPassOptions math;
  math.share = true;
  pm.addPass(createExpandMathPass(math));
  // Where possible, the conversion runs function by function, on all cores.
  // Entry points, calls and signatures follow.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createSCFToCFPass());
  ConvertToLLVMPassOptions local;
  local.filterDialects = {"arith", "cf", "math", "vector"};
  // None of these patterns fails after it has changed code.
  local.allowPatternRollback = false;
  functions.addPass(createConvertToLLVMPass(local));
  OpPassManager &entries = pm.nest<LLVM::LLVMFuncOp>();
  entries.addPass(createSCFToCFPass());
  entries.addPass(createConvertToLLVMPass(local));
  ConvertToLLVMPassOptions rest;
  rest.filterDialects = {"func"};
  rest.allowPatternRollback = false;
  pm.addPass(createConvertToLLVMPass(rest));
  pm.addNestedPass<LLVM::LLVMFuncOp>(createReconcileUnrealizedCastsPass());
}

/// Sets the option `gpu` of the passes that `pm` already contains.
static void chooseForGPU(OpPassManager &pm) {
  for (Pass &pass : pm)
    (void)pass.initializeOptions("gpu=true",
                                 [](const Twine &) { return failure(); });
}

void mlir::batch::buildGPUPersistentPipeline(
    OpPassManager &pm, const GPUPersistentOptions &options) {
  chooseForGPU(pm);
  CheckGPUTargetPassOptions check;
  check.chip = options.chip;
  check.format = options.format;
  check.executor = options.executor;
  check.precision = options.precision;
  pm.addPass(createCheckGPUTargetPass(check));
  StageOperatorsPassOptions stages;
  stages.target = uprog::StageTarget::GPU;
  pm.addPass(createStageOperatorsPass(stages));
  // Tensor cores need few registers, but more warps to load their data.
  int64_t blockSize = options.blockSize;
  if (blockSize == 0)
    blockSize = options.precision == Precision::F32 ? 256 : 512;
  ChipFacts facts = getChipFacts(options.chip);
  int64_t sharedMemory = options.sharedMemory < 0
                             ? facts.sharedMemory
                             : options.sharedMemory.getValue();
  int64_t blocks =
      options.blocks ? options.blocks.getValue() : facts.multiprocessors;
  ChooseExecutorPassOptions choose;
  choose.executor = options.executor;
  choose.chip = options.chip;
  choose.clusterSize = options.clusterSize;
  choose.instances = options.instances;
  choose.blockSize = blockSize;
  choose.sharedMemory = sharedMemory;
  choose.blocks = blocks;
  choose.precision = options.precision;
  pm.addPass(createChooseExecutorPass(choose));
  ConvertOperatorsToGPUPassOptions operators;
  operators.blockSize = blockSize;
  operators.sharedMemory = sharedMemory;
  operators.asyncCopies = facts.asyncCopies;
  operators.blocks = blocks;
  operators.precision = options.precision;
  operators.countRows.assign(options.countRows.begin(),
                             options.countRows.end());
  pm.addPass(createConvertOperatorsToGPUPass(operators));
  ConvertUProgToGPUPassOptions program;
  program.blockSize = blockSize;
  program.chip = options.chip;
  pm.addPass(createConvertUProgToGPUPass(program));
  if (options.chip.empty())
    return;

  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createExpandFloatsPass());
  device.addPass(createSaturateConversionsPass());
  device.addPass(math::createMathSincosFusionPass());
  // Expand math, because device libraries for math require a toolkit.
  device.addPass(createExpandMathPass());
  device.addPass(createMathToIntrinsicsPass());
  device.addPass(createSCFToCFPass());
  ConvertToLLVMPassOptions local;
  local.filterDialects = {"arith", "math", "vector"};
  local.allowPatternRollback = false;
  device.addPass(createConvertToLLVMPass(local));
  if (facts.vendor->vendor == GPUVendor::AMD) {
    ConvertGpuOpsToROCDLOpsOptions lower;
    lower.chipset = options.chip;
    lower.useBarePtrCallConv = true;
    device.addPass(createConvertGpuOpsToROCDLOps(lower));
    GpuROCDLAttachTargetOptions target;
    target.chip = options.chip;
    target.optLevel = 3;
    pm.addPass(createGpuROCDLAttachTarget(target));
  } else {
    GpuNVVMAttachTargetOptions target;
    target.chip = options.chip;
    target.features = ""; // the oldest PTX that supports the chip
    target.optLevel = 3;
    pm.addPass(createGpuNVVMAttachTarget(target));
    ConvertToLLVMPassOptions rest;
    rest.useDynamic = true;
    pm.nest<gpu::GPUModuleOp>().addPass(createConvertToLLVMPass(rest));
  }
  pm.nest<gpu::GPUModuleOp>().addPass(createReconcileUnrealizedCastsPass());
  if (options.format == CodeFormat::LLVM)
    return;
  SerializeGPUModulesPassOptions binary;
  binary.format = options.format;
  pm.addPass(createSerializeGPUModulesPass(binary));
}

void mlir::batch::registerPipelines() {
  PassPipelineRegistration<AutobatchOptions>(
      "autobatch",
      "Batch a program for one instance: convert it to a uprog.program for a "
      "whole mini-batch",
      buildAutobatchPipeline);
  PassPipelineRegistration<CPUWorkersOptions>(
      "cpu-workers",
      "Lower the output of --autobatch to the LLVM dialect, for a pool of CPU "
      "workers",
      buildCPUWorkersPipeline);
  PassPipelineRegistration<GPUPersistentOptions>(
      "gpu-persistent",
      "Lower the output of --autobatch to one persistent GPU kernel",
      buildGPUPersistentPipeline);
}
