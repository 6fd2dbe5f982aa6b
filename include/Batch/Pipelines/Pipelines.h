//===- Pipelines.h - Pipelines as library functions -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PIPELINES_PIPELINES_H
#define BATCH_PIPELINES_PIPELINES_H

#include "Batch/Conversion/BatchToUProg/Options.h"
#include "Batch/Conversion/UProgToGPU/Options.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "Batch/Transforms/Control/Options.h"
#include "Batch/Transforms/Kernels/Options.h"
#include "Batch/Transforms/Memory/Options.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::batch {

/// Returns the help text of options that choose a batching policy.
StringRef getPolicyHelp();

/// Options of `--autobatch`.
struct AutobatchOptions : PassPipelineOptions<AutobatchOptions> {
  Option<Strategy> strategy{
      *this, "strategy",
      llvm::cl::desc(
          "Choose where control flow runs: 'linearize' (before tensor code, in "
          "an inspector; only for structural programs), 'lockstep' (block by "
          "block, on many lanes), 'mask' (call by call, on many lanes), "
          "'lazy' (before tensor code, except at waits for tensors), "
          "'replicate' (on all units that run the instance), 'none' (kernels "
          "only) or 'auto' (the strategy that fits the program)"),
      llvm::cl::init(Strategy::Auto)};
  Option<int64_t> instances{
      *this, "instances",
      llvm::cl::desc(
          "Expect mini-batches of this many instances; with 1, strategy 'auto' "
          "chooses 'replicate' wherever control flow depends "
          "on tensors, even on GPUs and over data structures"),
      llvm::cl::init(64)};
  Option<InstanceLevel> level{
      *this, "level",
      llvm::cl::desc("Choose the units that run an instance of strategy "
                     "'replicate': 'block' (one unit), 'cluster' (the blocks "
                     "of a GPU cluster), 'device' (all units together) or "
                     "'auto' (the level with the shortest estimated time)"),
      llvm::cl::init(InstanceLevel::Auto)};
  Option<int64_t> clusterSize{
      *this, "cluster-size",
      llvm::cl::desc("Let level 'auto' use clusters of this many blocks (0: "
                     "no clusters)"),
      llvm::cl::init(0)};
  Option<int64_t> rounds{
      *this, "rounds",
      llvm::cl::desc("Assume this many rounds for a loop without a static "
                     "number of rounds"),
      llvm::cl::init(kUnknownRounds)};
  Option<LoopOrder> order{
      *this, "order",
      llvm::cl::desc("Choose the order of tasks in loops of strategy "
                     "'replicate': 'rounds' (round after round), 'layers' "
                     "(layer after layer of a group of rounds), 'wavefront' "
                     "(all layers together, each one round behind the "
                     "previous one) or 'auto'"),
      llvm::cl::init(LoopOrder::Auto)};
  Option<std::string> tuning{
      *this, "tuning",
      llvm::cl::desc("Read choices for kernels, loops and units from this "
                     "file (docs/reference/formats.md); cost models make all "
                     "other choices"),
      llvm::cl::init("")};
  Option<bool> coarsen{*this, "coarsen",
                       llvm::cl::desc("Outline kernels from blocks of tensor "
                                      "code instead of single operations"),
                       llvm::cl::init(true)};
  Option<bool> hoist{
      *this, "hoist",
      llvm::cl::desc("Hoist invariant code out of loops and recursions"),
      llvm::cl::init(true)};
  Option<bool> phases{*this, "phases",
                      llvm::cl::desc("After a recursion, run the kernels that "
                                     "read its results"),
                      llvm::cl::init(true)};
  Option<bool> ghosts{
      *this, "ghosts",
      llvm::cl::desc("Delay tasks after a branch with fewer tasks than the "
                     "others"),
      llvm::cl::init(true)};
  Option<bool> gpu{
      *this, "gpu",
      llvm::cl::desc("Choose strategies, levels and loop orders for a GPU, "
                     "where control flow cannot wait for tensors"),
      llvm::cl::init(false)};
  Option<bool> defer{
      *this, "defer",
      llvm::cl::desc("After all waits, run the kernels that no wait needs"),
      llvm::cl::init(true)};
  Option<bool> fork{*this, "fork",
                    llvm::cl::desc("Let independent calls wait concurrently"),
                    llvm::cl::init(true)};
  Option<bool> select{
      *this, "select",
      llvm::cl::desc("Compute both branches of small conditionals that depend "
                     "on tensors"),
      llvm::cl::init(true)};
  Option<PolicyOption> policy{*this, "policy", llvm::cl::desc(getPolicyHelp())};
  Option<std::string> policyTable{
      *this, "policy-table",
      llvm::cl::desc("Read the state machine of policy 'fsm' from this file, "
                     "which 'batch-run --learn-policy' writes"),
      llvm::cl::init("")};
  ListOption<std::string> sizes{
      *this, "sizes", llvm::cl::desc("Set named sizes, such as H=64,V=100")};
  Option<bool> refactor{
      *this, "refactor",
      llvm::cl::desc("Move ops marked rec.backedge to the callers"),
      llvm::cl::init(false)};
  ListOption<std::string> specialize{
      *this, "specialize",
      llvm::cl::desc("Generate separate code for these structural tests, such "
                     "as leaf or node(leaf,_)")};
  Option<int64_t> unroll{
      *this, "unroll",
      llvm::cl::desc("Compute this many levels of a recursion per call"),
      llvm::cl::init(1)};
  Option<EqualOperators> layoutKernels{
      *this, "layout-kernels",
      llvm::cl::desc("Batch operators of a kernel that have equal 'weights' or "
                     "'shapes' ('none': leave kernels unchanged)"),
      llvm::cl::init(EqualOperators::None)};
  Option<std::string> layout{
      *this, "layout",
      llvm::cl::desc("Lay out result tables by these primitives, such as 'h: "
                     "split(0, 8) reorder(0, 2, 1)' (see batch-assign-slots)"),
      llvm::cl::init("")};
  Option<bool> assumeFinite{
      *this, "assume-finite",
      llvm::cl::desc("Remove products with zero: assume that no value is "
                     "infinite or NaN, and ignore the signs of zeros"),
      llvm::cl::init(false)};
};

/// Options of `--cpu-workers`.
struct CPUWorkersOptions : PassPipelineOptions<CPUWorkersOptions> {
  Option<int64_t> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Generate code for vector registers of this many bits"),
      llvm::cl::init(512)};
  Option<int64_t> vectorRegisters{
      *this, "vector-registers",
      llvm::cl::desc("Generate code for this many vector registers"),
      llvm::cl::init(32)};
  Option<std::string> tuning{
      *this, "tuning",
      llvm::cl::desc("Read choices for kernels from this file, which "
                     "batch-run --tune writes"),
      llvm::cl::init("")};
  Option<std::string> triple{
      *this, "triple",
      llvm::cl::desc("Write this target triple to the descriptor"),
      llvm::cl::init("")};
  Option<std::string> cpu{
      *this, "cpu", llvm::cl::desc("Write this target CPU to the descriptor"),
      llvm::cl::init("")};
  ListOption<std::string> features{
      *this, "features",
      llvm::cl::desc("Write these required CPU features to the descriptor")};
};

/// Options of `--gpu-persistent`.
struct GPUPersistentOptions : PassPipelineOptions<GPUPersistentOptions> {
  Option<Executor> executor{
      *this, "executor",
      llvm::cl::desc("Choose the blocks that run a mini-batch or a share of "
                     "it: 'device' (all blocks, with barriers in global "
                     "memory), 'cluster', 'block' or 'auto' (the executor "
                     "with the shortest estimated time)"),
      llvm::cl::init(Executor::Auto)};
  Option<int64_t> blockSize{
      *this, "block-size",
      llvm::cl::desc("Use this many threads per block (0: 256, or 512 if "
                     "products run on tensor cores)"),
      llvm::cl::init(0)};
  Option<int64_t> clusterSize{
      *this, "cluster-size",
      llvm::cl::desc("Use clusters of this many blocks, 1 to 16 (0: 8, or 16 "
                     "if executor 'auto' chooses 16)"),
      llvm::cl::init(0)};
  Option<int64_t> instances{
      *this, "instances",
      llvm::cl::desc("Expect mini-batches of this many instances, for "
                     "executor 'auto'"),
      llvm::cl::init(64)};
  Option<int64_t> sharedMemory{
      *this, "shared-memory",
      llvm::cl::desc("Use at most this many bytes of a block's shared memory "
                     "for parameters (0: none; -1: the chip's maximum or, "
                     "without a chip, the minimum of all chips from sm_80 "
                     "on)"),
      llvm::cl::init(-1)};
  Option<Precision> precision{
      *this, "precision",
      llvm::cl::desc("Round the factors of products with parameters to this "
                     "type: 'f32' (no rounding), 'tf32' or 'bf16' (products "
                     "run on tensor cores)"),
      llvm::cl::init(Precision::F32)};
  Option<int64_t> blocks{
      *this, "blocks",
      llvm::cl::desc("Expect launches of this many blocks (0: one per "
                     "multiprocessor of the chip)"),
      llvm::cl::init(0)};
  ListOption<int64_t> countRows{
      *this, "count-rows",
      llvm::cl::desc("Report the work of the blocks in each stage for each of "
                     "these numbers of rows (remark Work)")};
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("Lower the kernel for this chip: sm_80, sm_90a, ..., "
                     "gfx90a or gfx942; without a chip, stop at the gpu "
                     "dialect"),
      llvm::cl::init("")};
  Option<CodeFormat> format{
      *this, "format",
      llvm::cl::desc("Emit the kernel in this format: 'llvm' (LLVM dialect), "
                     "'isa' (PTX or assembly text), 'bin' or 'fatbin' (both "
                     "require ptxas from a CUDA toolkit)"),
      llvm::cl::init(CodeFormat::LLVM)};
};

/// Builds the pipeline that lowers a program for one instance to `uprog` over
/// batched tensor code. The result does not depend on a target. The input may
/// be at any stage, because passes do not change a module that is already
/// lowered further.
void buildAutobatchPipeline(OpPassManager &pm, const AutobatchOptions &options);

/// Builds the pipeline that lowers `uprog` to the LLVM dialect, for a pool of
/// CPU workers.
void buildCPUWorkersPipeline(OpPassManager &pm,
                             const CPUWorkersOptions &options);

/// Builds the pipeline that lowers `uprog` to one persistent GPU kernel and a
/// host function that launches it. If a chip is specified, the pipeline also
/// generates code for that chip.
void buildGPUPersistentPipeline(OpPassManager &pm,
                                const GPUPersistentOptions &options);

/// Registers the pipelines as `--autobatch`, `--cpu-workers` and
/// `--gpu-persistent`.
void registerPipelines();

} // namespace mlir::batch

#endif // BATCH_PIPELINES_PIPELINES_H
