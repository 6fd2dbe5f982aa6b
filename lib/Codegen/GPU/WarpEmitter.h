//===- WarpEmitter.h - The code of a stage for warps ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WARPEMITTER_H
#define BATCH_CODEGEN_GPU_WARPEMITTER_H

#include "FragmentEmitter.h"
#include "KeptParameters.h"

namespace mlir::uprog {

/// Makes the functions of an operator's stages for thread blocks:
///
///   for each tile of columns of this block
///     for each tile of rows of this warp
///       contractions: lanes share k, then add their partial sums
///       everything else: a lane per element of the tile
///
/// A tile has as many elements as a warp has lanes; where contractions run on
/// tensor cores (FragmentEmitter), four times as many. The parameters of a
/// column tile are read by the same blocks at every step, from their shared
/// memory if they keep them. How sums are split depends only on sizes, so that
/// a row's bits do not depend on its batch.
class WarpEmitter {
public:
  static constexpr int64_t kLanes = 32; ///< of a warp
  /// A tile of contractions: fewer rows in use waste more of it, fewer columns
  /// use a loaded row less.
  static constexpr int64_t kPanelRows = 4;
  static constexpr int64_t kPanelColumns = 8;

  WarpEmitter(const StagePlan &plan, const KeptParameters &parameters,
              ModuleTables &tables, CodeBuilder &b, int64_t warps,
              batch::Precision precision);

  /// Makes the function of stage `number`, f(step, packings, unit, units): the
  /// share of block `unit` of `units`.
  func::FuncOp emit(int64_t number, StringRef name);

  bool hasFailed() const { return evaluator.hasFailed(); }

private:
  /// `turn`: the number of tiles of columns that the block has had before.
  /// The tiles of this block's rows and columns.
  void emitRows(Value unit, Value units, Value warp);
  void emitTile(Value firstRow, Value rowCount, Value firstColumn, Value turn);
  /// Everything except contractions with parameters, at one of this lane's
  /// elements.
  void emitElement(const Indices &element);
  /// The sum of products of a contraction at this lane's element.
  Value emitContraction(const Reduction &reduction, ArrayRef<Indices> rows,
                        Value firstColumn, Value turn);
  /// This lane's partial sums of a contraction; the parameters of the tile's
  /// columns begin at `parameters`, `stride` elements apart.
  CodeBuilder::Values multiply(const Reduction &reduction,
                               MutableArrayRef<Indices> rows, Value firstColumn,
                               Value parameters, int64_t stride);
  /// All contractions of the stage on tensor cores, at this lane's elements.
  void emitFragments(ArrayRef<Indices> rows, ArrayRef<Indices> elements,
                     Value firstColumn, Value turn);
  /// A contraction's results at this lane's elements, from sums of products.
  void finishContraction(const Reduction &reduction, ArrayRef<Indices> elements,
                         ValueRange sums);
  /// The address in global memory of the parameters of a contraction's column.
  Value parametersAt(const Reduction &reduction, Value column);
  /// Sum number `lane` of kLanes sums, from the partial sums of all lanes.
  Value addUp(ArrayRef<Value> partials);

  const StagePlan &plan;
  const KeptParameters &parameters;
  ModuleTables &tables;
  CodeBuilder &b;
  Evaluator evaluator;
  FragmentEmitter fragments;
  int64_t warps;
  batch::Precision precision;

  // State of the current stage.
  const Stage *stage = nullptr;
  bool hasPanels = false, useFragments = false;
  int64_t tileRows = 1, tileColumns = 1;
  Value lane;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WARPEMITTER_H
