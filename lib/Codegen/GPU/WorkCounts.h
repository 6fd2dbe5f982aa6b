//===- WorkCounts.h - Counts of a stage's work ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WORKCOUNTS_H
#define BATCH_CODEGEN_GPU_WORKCOUNTS_H

#include "WarpEmitter.h"

namespace mlir::uprog {

/// Work of a warp for its share of a product: the instructions of each lane,
/// and the sums that the warp stores in shared memory.
struct ItemWork {
  int64_t multiplications = 0; ///< fma, or products on tensor cores
  int64_t loads = 0;           ///< loads of shared memory, 16 bytes each
  int64_t shuffles = 0;
  int64_t instructions = 0; ///< all instructions
  int64_t sums = 0;         ///< sums of all lanes

  /// Counts the work for `rows` * `columns` sums of `depth` products each.
  ItemWork(const FactorFormat &format, int64_t rows, int64_t columns,
           int64_t depth);
};

/// Properties of a stage's function that do not depend on the number of rows.
struct StageCode {
  /// Default estimates for a stage without a function. They are close to the
  /// values for models over trees.
  StageCode() = default;
  explicit StageCode(func::FuncOp function);

  /// Length of the longest chain of dependent loads from global memory after
  /// `uprog.await_rows`. Each load needs the result of the previous load.
  int64_t dependentLoads = 2;
  /// Length of the longest chain of dependent instructions for one element,
  /// after its products. Functions of `math` count as their expansions.
  int64_t chain = 100;
};

/// Work of a launch's blocks in one stage, with a given number of rows. The
/// same code (WorkShare.h) divides this work and the work of emitted code.
struct StageWork {
  /// Cycles that a block barrier takes, rounded from published measurements.
  static constexpr int64_t kBlockBarrier = 40;

  struct Launch {
    int64_t units; ///< blocks that run the stage together
    WarpEmitter::Blocks blocks;
  };

  StageWork(const StagePlan &plan, const Stage &stage,
            const ResidentParameters &parameters, const ProductMemory &memory,
            const Launch &launch, int64_t rows);

  /// For each warp, ordered by block: the number of its items, and the number
  /// of sums that it stores in shared memory. Items are shares of products or,
  /// in a stage without products, tiles of elements.
  SmallVector<int64_t> items, sums;
  int64_t passes = 0;   ///< iterations over tiles, maximum over all blocks
  int64_t barriers = 0; ///< barriers of a block, maximum over all blocks
  // Bytes read from global memory, by all blocks and by the block that reads
  // the most: rows that are copied, and parameters that are not resident.
  int64_t rowBytes = 0, mostRowBytes = 0;
  int64_t weightBytes = 0, mostWeightBytes = 0;
  // Maximum over all warps:
  int64_t multiplications = 0, loads = 0, shuffles = 0, instructions = 0;
  /// Instructions of the block that executes the most.
  int64_t blockInstructions = 0;
  /// Largest number of 128-byte accesses of any block to its shared memory.
  int64_t wavefronts = 0;

  int64_t countBusyWarps() const;
  int64_t getMostItems() const;
  /// From these counts, estimates the cycles between two barriers of the blocks
  /// that run the stage together. No value in the estimate is fitted to
  /// measured times. The estimate omits products of two tensors of a task.
  int64_t estimateCycles(const StageCode &code) const;

private:
  struct Counter;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WORKCOUNTS_H
