//===- WarpEmitter.h - The code of a stage for warps ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WARPEMITTER_H
#define BATCH_CODEGEN_GPU_WARPEMITTER_H

#include "LaneReductions.h"
#include "ProductEmitter.h"

namespace mlir::uprog {

/// Emits the functions of an operator's stages for thread blocks. A stage with
/// products:
///
///   for the rows of this block, as many at a time as its memory holds:
///     the block copies them to shared memory; barrier
///     for its tiles of columns, as many at a time as fit the memory for sums:
///       the warps divide tiles, products and shares of k; barrier
///       a lane per element: adds shares, computes everything else
///
/// See ProductPlan and WorkShare. A stage without products runs only the last
/// of these lines. Its tiles have as many elements as a warp has lanes, or
/// fewer if each element has several lanes (LaneReductions). The same blocks
/// read the parameters of a tile of columns at every step, from shared memory
/// if the parameters are resident.
class WarpEmitter {
public:
  static constexpr int64_t kLanes = ProductEmitter::kLanes;

  /// Blocks that run stages together.
  struct Blocks {
    int64_t warps; ///< warps of each block
    batch::Precision precision;
    /// True if stages may wait for the rows of other blocks, at
    /// `uprog.await_rows`.
    bool stagesWait = false;
  };

  WarpEmitter(const StagePlan &plan, const ResidentParameters &parameters,
              const ProductMemory &memory, ModuleTables &tables, CodeBuilder &b,
              const Blocks &blocks);

  /// Emits the function of stage `number`, f(step, packings, unit, units),
  /// which computes the share of block `unit` of `units`. If the plan checks
  /// indices, a fifth argument is the address of the record of an index error.
  func::FuncOp emit(int64_t number, StringRef name);

  bool hasFailed() const { return evaluator.hasFailed(); }

private:
  using Columns = ProductEmitter::Columns;
  using Rows = ProductEmitter::Rows;
  using Tiles = ProductEmitter::Tiles;
  using Slices = ProductEmitter::Slices;

  /// Emits the tiles of this block's rows and columns, in a stage without
  /// products.
  void emitTiles(const Columns &own, const LaneReductions &lanes);
  /// Emits a stage with products. If `waits` is true, the stage still has to
  /// wait for rows.
  void emitProducts(const Columns &columns, bool waits);
  /// Emits the products and elements of tiles. The tiles begin at row number
  /// `firstRow` of `rows`, and at tile column number `firstTurn` of the block.
  void emitPass(ProductEmitter &products, const ProductPlan &productPlan,
                const Rows &rows, Value firstRow, const Columns &columns,
                const Slices &slices, Value firstTurn, const Tiles &tiles);
  /// Indices of an element, and a flag that is set if the element exists.
  struct Place {
    Indices indices;
    Value valid;
  };
  /// Returns the place of the element in a row and column. Beyond an edge,
  /// returns the place in the last row or column, with `valid` false.
  Place placeAt(Value row, Value column);
  /// For one of this lane's elements, emits everything except products with
  /// parameters.
  void emitElement(const Indices &element);
  /// Emits the code of emitElement() for an element that several lanes compute
  /// together. `member` is the number of this lane among them. One lane stores
  /// the element.
  void emitSharedElement(const Place &place, const LaneReductions &lanes,
                         Value member);
  void emitStores(const Indices &element);
  /// Computes a product's result at this lane's element from `sum`.
  void finishProduct(const Reduction &reduction, const Indices &element,
                     Value sum);
  Value countRows();

  const StagePlan &plan;
  const ResidentParameters &parameters;
  const ProductMemory &memory;
  ModuleTables &tables;
  CodeBuilder &b;
  Evaluator evaluator;
  Blocks blocks;
  WordMath m;

  // State of the current stage. Values are i32.
  const Stage *stage = nullptr;
  int64_t tileColumns = 1;
  Value thread, warp, lane, rowCount;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WARPEMITTER_H
