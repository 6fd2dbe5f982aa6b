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
          "Where control runs: 'linearize' (ahead, in an inspector; "
          "an error where the program is not structural), 'lockstep' "
          "(block by block for many lanes), 'mask' (the same, call "
          "by call), 'lazy' (ahead, but waiting where it needs a "
          "tensor), 'replicate' (on all units that run the "
          "instance), 'auto' (what fits the program) or 'none' (kernels "
          "only)"),
      llvm::cl::init(Strategy::Auto)};
  Option<int64_t> instances{
      *this, "instances",
      llvm::cl::desc(
          "Instances that a mini-batch has: with one, strategy 'auto' "
          "takes 'replicate' wherever control depends on tensors, also on GPUs "
          "and over data structures"),
      llvm::cl::init(64)};
  Option<InstanceLevel> level{
      *this, "level",
      llvm::cl::desc(
          "Who runs an instance of strategy 'replicate': 'block' (one "
          "unit), 'cluster' (the blocks of a GPU's cluster), 'device' (all "
          "units together) or 'auto' (what is estimated to be fastest)"),
      llvm::cl::init(InstanceLevel::Auto)};
  Option<int64_t> clusterSize{
      *this, "cluster-size",
      llvm::cl::desc("Blocks of a cluster that level 'auto' may take; 0: the "
                     "GPU has none"),
      llvm::cl::init(0)};
  Option<int64_t> rounds{
      *this, "rounds",
      llvm::cl::desc("Estimated rounds of a loop whose number of rounds is not "
                     "static"),
      llvm::cl::init(kUnknownRounds)};
  Option<LoopOrder> order{
      *this, "order",
      llvm::cl::desc("The order of tasks in loops of strategy 'replicate': "
                     "'rounds' (round after round), 'layers' (layer after "
                     "layer of a group of rounds), 'wavefront' (all layers "
                     "together, each a round behind the one before) or "
                     "'auto'"),
      llvm::cl::init(LoopOrder::Auto)};
  Option<std::string> tuning{
      *this, "tuning",
      llvm::cl::desc("File with choices for kernels, loops and units that cost "
                     "models make else (docs/Formats.md)"),
      llvm::cl::init("")};
  Option<bool> coarsen{
      *this, "coarsen",
      llvm::cl::desc("Make kernels of blocks of tensor code, not of single "
                     "operations"),
      llvm::cl::init(true)};
  Option<bool> hoist{
      *this, "hoist",
      llvm::cl::desc(
          "Compute before a loop or recursion what it does not change"),
      llvm::cl::init(true)};
  Option<bool> phases{
      *this, "phases",
      llvm::cl::desc("Run what reads a recursion's results after all of it"),
      llvm::cl::init(true)};
  Option<bool> ghosts{
      *this, "ghosts",
      llvm::cl::desc("Delay what follows a branch with fewer tasks than the "
                     "others"),
      llvm::cl::init(true)};
  Option<bool> gpu{*this, "gpu",
                   llvm::cl::desc("Strategy 'auto' is for a GPU, where control "
                                  "cannot wait for tensors"),
                   llvm::cl::init(false)};
  Option<bool> defer{
      *this, "defer",
      llvm::cl::desc("Run what no wait depends on after all waits"),
      llvm::cl::init(true)};
  Option<bool> fork{
      *this, "fork",
      llvm::cl::desc("Let calls that do not depend on each other wait side by "
                     "side"),
      llvm::cl::init(true)};
  Option<bool> select{
      *this, "select",
      llvm::cl::desc("Compute both branches of small conditionals that depend "
                     "on tensors"),
      llvm::cl::init(true)};
  Option<PolicyOption> policy{*this, "policy", llvm::cl::desc(getPolicyHelp())};
  Option<std::string> policyTable{
      *this, "policy-table",
      llvm::cl::desc("State machine that 'batch-run --learn-policy' wrote"),
      llvm::cl::init("")};
  ListOption<std::string> sizes{
      *this, "sizes",
      llvm::cl::desc("Values of named sizes, such as H=64,V=100")};
  Option<bool> refactor{
      *this, "refactor",
      llvm::cl::desc("Move ops marked rec.backedge to the callers"),
      llvm::cl::init(false)};
  ListOption<std::string> specialize{
      *this, "specialize",
      llvm::cl::desc("Structural tests that get code of their own, such as "
                     "leaf or node(leaf,_)")};
  Option<int64_t> unroll{
      *this, "unroll",
      llvm::cl::desc("Number of levels of a recursion that one call computes"),
      llvm::cl::init(1)};
  Option<EqualOperators> layoutKernels{
      *this, "layout-kernels",
      llvm::cl::desc("Batch operators inside kernels that are equal by "
                     "'weights' or 'shapes'; 'none': leave kernels alone"),
      llvm::cl::init(EqualOperators::None)};
  Option<std::string> layout{
      *this, "layout",
      llvm::cl::desc(
          "Layout primitives for result tables, such as 'h: split(0, "
          "8) reorder(0, 2, 1)'; see batch-assign-slots"),
      llvm::cl::init("")};
  Option<bool> assumeFinite{
      *this, "assume-finite",
      llvm::cl::desc(
          "Assume that no value is infinite or NaN and that the sign "
          "of a zero does not matter: products with zero are removed"),
      llvm::cl::init(false)};
};

/// Options of `--cpu-workers`.
struct CPUWorkersOptions : PassPipelineOptions<CPUWorkersOptions> {
  Option<int64_t> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Width of a vector register of the target in bits"),
      llvm::cl::init(512)};
  Option<int64_t> vectorRegisters{
      *this, "vector-registers",
      llvm::cl::desc("Number of vector registers of the target"),
      llvm::cl::init(32)};
  Option<std::string> tuning{
      *this, "tuning",
      llvm::cl::desc("File of batch-run --tune with measured choices"),
      llvm::cl::init("")};
  Option<std::string> triple{
      *this, "triple", llvm::cl::desc("Target triple, for the descriptor"),
      llvm::cl::init("")};
  Option<std::string> cpu{*this, "cpu",
                          llvm::cl::desc("Target CPU, for the descriptor"),
                          llvm::cl::init("")};
  ListOption<std::string> features{
      *this, "features",
      llvm::cl::desc("CPU features that the object needs, for the descriptor")};
};

/// Options of `--gpu-persistent`.
struct GPUPersistentOptions : PassPipelineOptions<GPUPersistentOptions> {
  Option<Executor> executor{
      *this, "executor",
      llvm::cl::desc("What runs a mini-batch or a share of it: 'device' (all "
                     "blocks, with barriers in global memory), 'cluster', "
                     "'block' or 'auto': what is estimated to be fastest"),
      llvm::cl::init(Executor::Auto)};
  Option<int64_t> blockSize{
      *this, "block-size",
      llvm::cl::desc("Threads of a block; 0: 256, or 512 "
                     "where products run on tensor cores"),
      llvm::cl::init(0)};
  Option<int64_t> clusterSize{
      *this, "cluster-size",
      llvm::cl::desc("Blocks of a cluster, 1 to 16; 0: 8, or 16 where executor "
                     "'auto' takes these"),
      llvm::cl::init(0)};
  Option<int64_t> instances{
      *this, "instances",
      llvm::cl::desc("Instances that a mini-batch will have, for executor "
                     "'auto'"),
      llvm::cl::init(64)};
  Option<int64_t> sharedMemory{
      *this, "shared-memory",
      llvm::cl::desc(
          "Bytes of a block's shared memory for parameters; 0: none, "
          "-1: all that the chip has, or, without a chip, what all "
          "have from sm_80 on"),
      llvm::cl::init(-1)};
  Option<Precision> precision{
      *this, "precision",
      llvm::cl::desc("Precision of the factors of products with parameters: "
                     "'f32' (not rounded), 'tf32' or 'bf16' (products run on "
                     "tensor cores)"),
      llvm::cl::init(Precision::F32)};
  Option<int64_t> blocks{
      *this, "blocks",
      llvm::cl::desc(
          "Blocks of a launch, as far as is known; 0: one on each of "
          "the chip's multiprocessors"),
      llvm::cl::init(0)};
  ListOption<int64_t> countRows{
      *this, "count-rows",
      llvm::cl::desc("Numbers of rows for which the remark Work says what the "
                     "blocks do in a stage")};
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("Lower the kernel for this chip: sm_80, sm_90a, ..., or "
                     "gfx90a, gfx942; without it the output stops at the gpu "
                     "dialect"),
      llvm::cl::init("")};
  Option<CodeFormat> format{
      *this, "format",
      llvm::cl::desc("Format of the kernel: 'llvm' (LLVM dialect), 'isa' "
                     "(PTX or assembly text), 'bin' or 'fatbin' (both need "
                     "ptxas of a CUDA toolkit)"),
      llvm::cl::init(CodeFormat::LLVM)};
};

/// Builds the pipeline from a program for one instance to `uprog` over batched
/// tensor code, which does not depend on a target. Passes have no effect on a
/// module that is already past them, so a module may enter at any stage.
void buildAutobatchPipeline(OpPassManager &pm, const AutobatchOptions &options);

/// Builds the pipeline from `uprog` to the LLVM dialect, for a pool of CPU
/// workers.
void buildCPUWorkersPipeline(OpPassManager &pm,
                             const CPUWorkersOptions &options);

/// Builds the pipeline from `uprog` to one persistent GPU kernel and a host
/// function that launches it. With a chip, it continues to code for that chip.
void buildGPUPersistentPipeline(OpPassManager &pm,
                                const GPUPersistentOptions &options);

/// Registers the pipelines as `--autobatch`, `--cpu-workers` and
/// `--gpu-persistent`.
void registerPipelines();

} // namespace mlir::batch

#endif // BATCH_PIPELINES_PIPELINES_H
