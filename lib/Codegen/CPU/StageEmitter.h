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

/// Makes the functions of an operator's stages:
///
///   for each group of rows, of this worker's share or of all
///     pack the left operands of contractions
///     for each matrix that contractions multiply them with
///       for each tile of columns, of all or of this worker's share
///         copy or pack the columns of contractions that do
///         for each tile of rows
///           contractions and other reductions, each into a tile of its own
///           for each row, each vector of columns: everything else
///
/// A "row" here is `columns()` elements: a row of a value with more inner
/// dimensions is split into several. The inner dimensions that say which matrix
/// it is are `groupDims`; rows are numbered without them.
class StageEmitter {
public:
  StageEmitter(const StagePlan &plan, ModuleTables &tables,
               TileFunctions &tileFunctions, const RegisterTiles &registers,
               CodeBuilder &b);

  /// Makes the function of stage `number`, f(step, packings, scratch, work,
  /// rowBegin, rowEnd, share, shares).
  func::FuncOp emit(int64_t number, StringRef name);

  /// The bytes of a worker's scratch that the stages emitted so far need: for
  /// n tasks min(fixed + n * perTask, most).
  struct WorkerScratch {
    int64_t fixed = 0, perTask = 0, most = 0;
  };
  const WorkerScratch &getWorkerScratch() const { return workerScratch; }
  bool hasFailed() const { return evaluator.hasFailed(); }

private:
  struct Pack {
    OpOperand *operand;
    AffineMap map; ///< from (row and inner dims, k) to operand dims
    int64_t depth;
    int64_t offset; ///< bytes from the start of a packed row
    Type element;
    const Reduction *reader; ///< one of its readers
    bool grouped;            ///< differs from matrix to matrix
  };

  /// The memory to prefetch while a tile is computed: its share, as one of
  /// `tiles`, of the panel after all of them, counted over all matrices. Null
  /// if there is one tile.
  struct Ahead {
    Value panel, tile, tiles;
  };

  /// The columns of a tile, and the panels that they are.
  struct Columns {
    Value first, last, panel, panels;
    bool vector; ///< computed in vectors
  };

  void planScratch(const Stage &stage);
  /// The loops of the stage over the rows and columns of this unit.
  void emitRows();
  void emitBlocks(Value first, Value last);
  /// Calls `body` with each run of `size` positions that has some of
  /// [begin, end), and with the positions in the run where they begin and end.
  void forEachRun(Value begin, Value end, int64_t size,
                  llvm::function_ref<void(Value, Value, Value)> body);
  std::pair<Value, Value> getShare(Value count);
  Columns getColumns(Value panel, Value panels);
  /// The inner dimensions that matrices differ in, and what follows from them.
  void planGroups(const Stage &stage);
  /// The indices of a row of the current matrix.
  Indices positionOf(Value row);
  /// The number of the current matrix, among those of `reduction`.
  Value groupOf(const Reduction &reduction);
  void emitPacks(Value firstRow, Value rows, bool grouped);
  void emitPack(const Pack &pack, Value row, ArrayRef<Index> position);
  Value packedRow(const Pack &pack, Value row);
  void emitColumns(const Stage &stage, Value blockRow, Value blockRows);
  /// Tiles of panels [first, last) of a matrix. After them comes the panel
  /// `after`, counted over all matrices, of which `before` come earlier.
  void emitPanelTiles(const Stage &stage, Value blockRow, Value blockRows,
                      Value first, Value last, Value before, Value after);
  /// Copies a panel of B, that of the task that `row` belongs to.
  void emitCopy(const Reduction &reduction, Value row, Value panel);
  Value copiedPanel(const Reduction &reduction);
  void emitTile(const Stage &stage, Value blockRow, Value tileRow, Value rows,
                const Columns &columns, const Ahead &ahead);
  /// Plans the panels that gathered columns are packed in, of at most `panels`
  /// at once, from byte `offset` of the worker's scratch on; returns their end.
  int64_t planColumns(const Stage &stage, int64_t panels, int64_t offset);
  /// Packs `panels` panels for the group of rows that begins at `blockRow`.
  void emitColumnPacks(Value blockRow, Value panel, Value panels);
  /// Packs columns [first, last) of one panel, as far as they lie in `line`.
  void emitColumnPack(const Reduction &reduction, ArrayRef<Index> position,
                      Value line, Value first, Value last, Value panel);
  Value gatheredRow(const Reduction &reduction, Value row);
  void emitGathered(const Reduction &reduction, Value firstRow, Value rows,
                    Value panels, Value firstColumn, bool accumulate);
  /// Puts the start value of a contraction into its tile; false if it is zero.
  bool emitStart(const Reduction &reduction, Value firstRow, Value rows,
                 Value firstColumn, Value lastColumn);
  void emitPanels(const Reduction &reduction, Value tileRow, Value rows,
                  Value panel, Value panels, Value firstColumn,
                  const Ahead &ahead, bool accumulate);
  void emitInPlace(const Reduction &reduction, Value firstRow, Value rows,
                   Value panels, Value firstColumn, bool accumulate);
  void emitCopied(const Reduction &reduction, Value tileRow, Value rows,
                  Value firstColumn, bool accumulate);
  /// A row of a tile, and its indices without the column's.
  struct RowPosition {
    Value row;
    Indices indices;
  };
  void emitReduction(const Reduction &reduction, Value firstRow, Value rows,
                     Value firstColumn, Value lastColumn);
  void reduceColumns(const Reduction &reduction, ArrayRef<RowPosition> rows,
                     Value firstColumn, Value column, int64_t vectors,
                     bool vector);
  /// The results of a reduction along the lanes; none after an error.
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
  /// The worker's scratch: tiles of results, panels of columns, then from
  /// packsOffset on the rows of all packs, row by row.
  std::vector<Pack> packs;
  int64_t packsOffset = 0, packedRowBytes = 0;
  DenseMap<const Reduction *, size_t> packOf;
  struct ColumnPack {
    AffineMap map;  ///< from (row, inner dims, steps, line) to operand dims
    int64_t offset; ///< bytes from the start of the worker's scratch
  };
  DenseMap<const Reduction *, ColumnPack> columnPacks;
  int64_t columnPanels = 0; ///< packed at once
  DenseMap<Value, int64_t> tileOffsets;
  int64_t blockRowsMax = 0, tileStride = 0, panelWidth = 0;
  bool hasPanels = false, isOfTask = false;
  SmallVector<int64_t> groupDims; ///< sorted
  int64_t groups = 1;             ///< matrices
  int64_t groupRows = 1; ///< rows of a task that share one, if all differ
  /// Where this worker's matrices begin and end, if `sharedDims` says which.
  std::pair<Value, Value> ownGroups;
  Indices groupPosition; ///< of the current matrix, one for each of groupDims
  DenseMap<const Reduction *, int64_t> copyOffsets;
  WorkerScratch workerScratch;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_CPU_STAGEEMITTER_H
