//===- StageEmitter.h - The loops of a stage --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_CPU_STAGEEMITTER_H
#define BATCH_CODEGEN_CPU_STAGEEMITTER_H

#include "../Stages/Evaluator.h"
#include "TileFunctions.h"

namespace mlir::uprog {

struct ReductionLoops;

/// Emits the functions of an operator's stages:
///
///   for each group of rows, of this worker's share or of all
///     pack the left operands of contractions
///     for each matrix by which contractions multiply them
///       for each tile of columns, of all or of this worker's share
///         copy or pack the columns of contractions that need it
///         for each tile of rows
///           contractions and other reductions, each into its own tile
///           for each row, each vector of columns: everything else
///
/// A "row" here has `columns()` elements: a row of a value with more inner
/// dimensions is split into several. `groupDims` are the inner dimensions that
/// select the matrix. Row numbers do not include these dimensions.
class StageEmitter {
public:
  StageEmitter(const StagePlan &plan, ModuleTables &tables,
               TileFunctions &tileFunctions, const RegisterTiles &registers,
               CodeBuilder &b);

  /// Emits the function of stage `number`, f(step, packings, scratch, work,
  /// rowBegin, rowEnd, share, shares).
  func::FuncOp emit(int64_t number, StringRef name);

  /// Scratch that each worker needs for the stages emitted so far: for n tasks,
  /// min(fixed + n * perTask, most) bytes.
  struct WorkerScratch {
    int64_t fixed = 0, perTask = 0, most = 0;
  };
  const WorkerScratch &getWorkerScratch() const { return workerScratch; }
  bool hasFailed() const { return evaluator.hasFailed(); }

private:
  struct Pack {
    OpOperand *operand;
    AffineMap map; ///< maps row, inner dimensions and k to operand indices
    int64_t depth;
    int64_t offset; ///< bytes from the start of a packed row
    Type element;
    const Reduction *reader; ///< one of the reductions that read the pack
    bool grouped;            ///< elements differ from matrix to matrix
  };

  /// Memory to prefetch while a tile is computed: share number `tile` of the
  /// `tiles` shares of panel `panel`. Panels are numbered across all matrices.
  /// The values are null if the stage uses no panels.
  struct Ahead {
    Value panel, tile, tiles;
  };

  /// Columns of a tile, and the panels that contain them.
  struct Columns {
    Value first, last, panel, panels;
    bool vector; ///< the columns are computed in vectors
  };

  void planScratch(const Stage &stage);
  /// Emits the loops of the stage over the rows and columns of this worker.
  void emitRows();
  void emitBlocks(Value first, Value last);
  /// Calls `body` for each run of `size` positions that overlaps [begin, end).
  /// Passes the number of the run, and the positions in it at which the overlap
  /// begins and ends.
  void forEachRun(Value begin, Value end, int64_t size,
                  llvm::function_ref<void(Value, Value, Value)> body);
  std::pair<Value, Value> getShare(Value count);
  Columns getColumns(Value panel, Value panels);
  /// Computes the inner dimensions in which matrices differ, and values that
  /// depend on them.
  void planGroups(const Stage &stage);
  /// Returns the indices of row `row` of the stage. In `groupDims`, these are
  /// the indices of the current matrix.
  Indices positionOf(Value row);
  /// Returns the number of the current matrix among the matrices of
  /// `reduction`.
  Value groupOf(const Reduction &reduction);
  void emitPacks(Value firstRow, Value rows, bool grouped);
  void emitPack(const Pack &pack, Value row, ArrayRef<Index> position);
  Value packedRow(const Pack &pack, Value row);
  void emitColumns(const Stage &stage, Value blockRow, Value blockRows);
  /// Emits the tiles of panels [first, last) of a matrix. The next panel is
  /// `after`, numbered across all matrices. `before` is the number of panels of
  /// all earlier matrices.
  void emitPanelTiles(const Stage &stage, Value blockRow, Value blockRows,
                      Value first, Value last, Value before, Value after);
  /// Copies panel `panel` of the right operand, for the task to which `row`
  /// belongs.
  void emitCopy(const Reduction &reduction, Value row, Value panel);
  Value copiedPanel(const Reduction &reduction);
  void emitTile(const Stage &stage, Value blockRow, Value tileRow, Value rows,
                const Columns &columns, const Ahead &ahead);
  /// Plans the panels for packed columns: at most `panels` panels at a time.
  /// They begin at byte `offset` of the worker's scratch. Returns the offset at
  /// which they end.
  int64_t planColumns(const Stage &stage, int64_t panels, int64_t offset);
  /// Packs `panels` panels for the group of rows that begins at `blockRow`.
  void emitColumnPacks(Value blockRow, Value panel, Value panels);
  /// Packs the columns of run number `line` that are in [first, last) into one
  /// panel.
  void emitColumnPack(const Reduction &reduction, ArrayRef<Index> position,
                      Value line, Value first, Value last, Value panel);
  Value gatheredRow(const Reduction &reduction, Value row);
  void emitGathered(const Reduction &reduction, Value firstRow, Value rows,
                    Value panels, Value firstColumn, bool accumulate);
  /// Stores the start value of a contraction in its tile. If the value is zero,
  /// stores nothing and returns false.
  bool emitStart(const Reduction &reduction, Value firstRow, Value rows,
                 Value firstColumn, Value lastColumn);
  void emitPanels(const Reduction &reduction, Value tileRow, Value rows,
                  Value panel, Value panels, Value firstColumn,
                  const Ahead &ahead, bool accumulate);
  void emitInPlace(const Reduction &reduction, Value firstRow, Value rows,
                   Value panels, Value firstColumn, bool accumulate);
  void emitCopied(const Reduction &reduction, Value tileRow, Value rows,
                  Value firstColumn, bool accumulate);
  /// A row of a tile, and its indices without the column index.
  struct RowPosition {
    Value row;
    Indices indices;
  };
  void emitReduction(const Reduction &reduction, Value firstRow, Value rows,
                     Value firstColumn, Value lastColumn);
  void reduceColumns(const Reduction &reduction, ArrayRef<RowPosition> rows,
                     Value firstColumn, Value column, int64_t vectors,
                     bool vector);
  /// Returns the results of a reduction along vector lanes, or none after an
  /// error.
  CodeBuilder::Values reduceLanes(const Reduction &reduction,
                                  ArrayRef<Index> position);

  const StagePlan &plan;
  ModuleTables &tables;
  TileFunctions &tileFunctions;
  RegisterTiles registers;
  CodeBuilder &b;
  Evaluator evaluator;

  // State of the current stage.
  const Stage *stage = nullptr;
  StageArguments arguments;
  /// The worker's scratch contains tiles of results, panels of columns and,
  /// from packsOffset, the rows of all packs, row by row.
  std::vector<Pack> packs;
  int64_t packsOffset = 0, packedRowBytes = 0;
  DenseMap<const Reduction *, size_t> packOf;
  struct ColumnPack {
    /// Maps the row, the inner dimensions, the reduction dimensions and the
    /// line to operand indices.
    AffineMap map;
    int64_t offset; ///< bytes from the start of the worker's scratch
  };
  DenseMap<const Reduction *, ColumnPack> columnPacks;
  int64_t columnPanels = 0; ///< panels packed at once
  DenseMap<Value, int64_t> tileOffsets;
  int64_t blockRowsMax = 0, tileStride = 0, panelWidth = 0;
  bool hasPanels = false, isOfTask = false;
  SmallVector<int64_t> groupDims; ///< sorted
  int64_t groups = 1;             ///< number of matrices
  int64_t groupRows = 1;          ///< rows of a task per matrix
  /// Beginning and end of this worker's matrices, if `sharedDims` specifies
  /// them.
  std::pair<Value, Value> ownGroups;
  Indices groupPosition; ///< position of the current matrix, one index for each
                         ///< of groupDims
  DenseMap<const Reduction *, int64_t> copyOffsets;
  WorkerScratch workerScratch;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_CPU_STAGEEMITTER_H
