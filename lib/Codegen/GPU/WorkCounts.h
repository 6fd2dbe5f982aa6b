//===- WorkCounts.h - What the kernels of a stage do ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WORKCOUNTS_H
#define BATCH_CODEGEN_GPU_WORKCOUNTS_H

#include "WarpEmitter.h"

namespace mlir::uprog {

/// What a warp does for its share of a product, each lane by itself: its
/// instructions, and the sums that it leaves in shared memory.
struct ItemWork {
  int64_t multiplications = 0; ///< fma, or products on tensor cores
  int64_t loads = 0;           ///< of shared memory, 16 bytes each
  int64_t shuffles = 0;
  int64_t instructions = 0; ///< all
  int64_t sums = 0;         ///< of all lanes

  /// `rows` by `columns` sums over `depth`.
  ItemWork(const FactorFormat &format, int64_t rows, int64_t columns,
           int64_t depth);
};

/// What is known of a stage's function, whatever the number of rows.
struct StageCode {
  /// What stages have that have no functions yet: about those of the models
  /// over trees.
  StageCode() = default;
  explicit StageCode(func::FuncOp function);

  /// The most loads of global memory, behind the barrier of all blocks, each of
  /// which needs what the one before it has loaded.
  int64_t dependentLoads = 2;
  /// Of one element, behind the products: instructions of which each needs the
  /// one before it. Functions of `math` count as what they are expanded to.
  int64_t chain = 100;
};

/// What the blocks of a launch do in one stage, with so many rows: counted by
/// the functions that say who does what in the code, WorkShare.
struct StageWork {
  /// Cycles of a barrier of a block, rounded from published measurements.
  static constexpr int64_t kBlockBarrier = 40;

  struct Launch {
    int64_t units; ///< blocks that share out the stage
    WarpEmitter::Blocks blocks;
  };

  StageWork(const StagePlan &plan, const Stage &stage,
            const KeptParameters &parameters, const ProductMemory &memory,
            const Launch &launch, int64_t rows);

  /// Of each warp, block by block: shares of products, or tiles of elements in
  /// a stage without products; and the sums that it leaves in shared memory.
  SmallVector<int64_t> items, sums;
  int64_t passes = 0;   ///< of the block with most: products between barriers
  int64_t barriers = 0; ///< of the block, of that with most
  // Bytes of global memory, of all blocks and of that with most: rows that it
  // copies, parameters that it has not kept.
  int64_t rowBytes = 0, mostRowBytes = 0;
  int64_t weightBytes = 0, mostWeightBytes = 0;
  // Of the warp with most:
  int64_t multiplications = 0, loads = 0, shuffles = 0, instructions = 0;
  /// Of the block with most.
  int64_t blockInstructions = 0;
  /// Turns of 128 bytes of its shared memory, of the block with most.
  int64_t wavefronts = 0;

  int64_t countBusyWarps() const;
  int64_t getMostItems() const;
  /// An estimate of the cycles between two barriers of those that share out the
  /// stage, made of these counts; nothing in it is fitted to measured times.
  /// It leaves out products of two tensors of a task.
  int64_t estimateCycles(const StageCode &code) const;

private:
  struct Counter;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WORKCOUNTS_H
