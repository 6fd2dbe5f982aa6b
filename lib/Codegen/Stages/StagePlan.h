//===- StagePlan.h - The stages of an operator ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Output of uprog-stage-operators in the form that code generators need. This
// code makes no decisions. It reads everything from the uprog.stage ops and
// their attributes.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_STAGEPLAN_H
#define BATCH_CODEGEN_STAGES_STAGEPLAN_H

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::uprog {

/// Rows of a value, and the shape of one row.
struct RowSpace {
  static constexpr int64_t kOnce = -2;  ///< one row, without a row dimension
  static constexpr int64_t kTasks = -1; ///< a row per task
  int64_t domain = kOnce;               ///< kOnce, kTasks or the number of a
                                        ///< ragged domain
  SmallVector<int64_t, 3> shape;

  bool hasRows() const { return domain != kOnce; }
  int64_t rank() const { return shape.size(); }
  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  /// Returns the product of all extents of `shape` except the last one, that
  /// is, the number of elements of a row divided by `columns()`.
  int64_t leading() const;
  bool operator==(const RowSpace &other) const {
    return domain == other.domain && shape == other.shape;
  }
  bool operator!=(const RowSpace &other) const { return !(*this == other); }
};

using batch::elementBytes;
using batch::TableLayout;

/// Returns the layout of the rows of a table, as specified by `map`.
TableLayout makeLayout(ArrayRef<int64_t> row, Type element, AffineMap map = {},
                       int64_t blockBytes = 0);

/// Row spaces and layouts of an operator's arguments, and layouts of its
/// results.
struct OperatorRows {
  explicit OperatorRows(OperatorOp op);

  /// Returns the number of the step operand that contains the i32 offsets of
  /// ragged domain `domain`, or -1 if there is none.
  int64_t getRaggedOperand(int64_t domain) const;

  /// Position of each argument among the operands of a step, or -1.
  SmallVector<int64_t> stepOperands;
  SmallVector<RowSpace> argumentSpaces;
  SmallVector<TableLayout> argumentLayouts, resultLayouts;
  int64_t domains = 0; ///< number of ragged domains
};

/// Returns the number of elements of type `element` in a vector of `vectorBits`
/// bits. Each element takes at least 32 bits.
int64_t getNaturalLanes(int64_t vectorBits, Type element);
/// Returns the minimum number of columns of a register tile, for rows with
/// `columns` columns.
int64_t getPanelWidth(int64_t columns, int64_t lanes);
/// Returns true if every element of `value` is +0 or undefined.
bool isZero(Value value);
/// Returns the op by which a reduction with one result combines a new element
/// with the accumulator. Returns null if this op is neither an fma nor an op
/// with a neutral element.
Operation *getCombiner(linalg::LinalgOp op);

/// Reduction that selects the first of the largest or smallest elements. If
/// `compare` finds that a new element is strictly larger (or smaller) than
/// result `best`, the body replaces all results. Result `position` is the
/// element's index.
struct Selection {
  Operation *compare;
  unsigned best, position;
};
std::optional<Selection> getSelection(linalg::LinalgOp op);

/// Returns true if `op` adds products of two operands, all f32 or all f64.
bool isFloatContraction(linalg::LinalgOp op);

/// Returns the map of input `input` of a reduction. Its dimensions are the row
/// (d0), the inner dimensions of `space` and the dimensions of the reduction.
AffineMap getOperandMap(linalg::LinalgOp op, const RowSpace &space,
                        unsigned input);
/// Returns `map` with its column replaced by `run` * d`line` + d`column`, where
/// d`column` is less than `run`. Returns null if a resulting index is not
/// linear in d`column`.
AffineMap splitColumns(AffineMap map, unsigned column, int64_t run,
                       unsigned line);

/// Kind of code for a reduction: one kind each for PackedAttr, InPlaceAttr,
/// CopiedAttr and GatheredAttr, and the kinds of ReducedAttr.
enum class ReductionKind {
  Packed,
  InPlace,
  Copied,
  Gathered,
  Columns,
  Lanes,
  Sequential
};

/// Reduction of a stage.
struct Reduction {
  linalg::LinalgOp op;
  RowSpace space; ///< rows of the stage
  ReductionKind kind;
  /// Number of elements in a vector of the reduction's type.
  int64_t lanes = 1;
  /// Sorted positions, along the last reduction dimension, at which a
  /// concatenated operand changes from one piece to the next.
  ArrayRef<int64_t> breaks;
  // The next four fields are for contractions.
  unsigned left = 0;        ///< number of the input that is A
  bool vectors = true;      ///< true if A is copied in vectors
  int64_t depth = 0;        ///< extent of the reduction
  ArrayRef<int64_t> groups; ///< inner dimensions that select the matrix B
  PackedAttr packed;        ///< null for other kinds
  InPlaceAttr inPlace;      ///< null for other kinds
  CopiedAttr copied;        ///< null for other kinds
  GatheredAttr gathered;    ///< null for other kinds

  bool isContraction() const { return packed || inPlace || copied || gathered; }
  /// Returns true if B may differ from task to task.
  bool isOfTask() const { return inPlace || copied; }
  /// Returns the element type of the first result.
  Type getElementType() const {
    return getElementTypeOrSelf(op->getResult(0).getType());
  }
};

/// Location of a value that outlives its stage.
struct Storage {
  enum Kind { Result, Scratch } kind;
  int64_t index;  ///< result number
  int64_t offset; ///< bytes, to be multiplied by the number of rows
};

struct Stage {
  mutable StageOp op;
  RowSpace space;
  bool scalar = false;
  /// Number of leading dimensions that are divided among workers, or none if
  /// workers divide the columns.
  std::optional<int64_t> sharedDims;
  std::vector<Reduction> reductions;
  /// Results and scratch values that this stage writes.
  SmallVector<std::pair<Value, Storage>> stores;
};

/// Cost of an operator's contractions. A ragged row counts like a task.
struct ContractionCost {
  int64_t weightBytes = 0; ///< bytes of parameters that contractions read
  int64_t taskFlops = 0;   ///< FLOPs of all stages
};

class StagePlan {
public:
  /// Requires that the operator has stages.
  explicit StagePlan(OperatorOp op);

  ArrayRef<Stage> getStages() const { return stages; }
  int64_t getTaskScratch() const { return taskScratch; }
  ArrayRef<int64_t> getRaggedScratch() const { return raggedScratch; }
  /// Returns the number of lanes of each vector of the operator.
  int64_t getLanes() const { return op.getStaging().getLanes(); }
  OperatorOp getOperator() const { return op; }
  /// Returns true if stages check indices. Their functions then take an
  /// additional argument, the address of a BatchIndexError.
  bool checksIndices() const;

  /// Returns true if `value` has a row dimension; getRowShape() returns the
  /// inner dimensions of a row. `value` is an argument, a result of a stage or
  /// a value inside a stage.
  bool hasRows(Value value) const;
  ArrayRef<int64_t> getRowShape(Value value) const;
  /// Returns the ragged domain of `offsets`.
  int64_t getDomain(Value offsets) const;
  /// Returns the rows of an argument or of a stage's result.
  RowSpace getSpace(Value value) const;
  /// Returns the location where the result of a stage is stored.
  Storage getStorage(OpResult result) const;
  int64_t getRaggedOperand(int64_t domain) const {
    return rows.getRaggedOperand(domain);
  }
  /// Returns the layout of an argument or of a stage's result.
  TableLayout getLayout(Value value) const;
  /// Returns the operand into whose rows result `index` may be written, or
  /// null.
  BlockArgument getRoot(unsigned index) const;
  /// Returns the result for which `stage` copies an operand, so that later
  /// stages can insert into the copy. Returns nullopt if the stage copies no
  /// operand.
  std::optional<unsigned> getCopiedResult(const Stage &stage) const;
  const TableLayout &getResultLayout(unsigned result) const {
    return rows.resultLayouts[result];
  }
  /// Returns the position of argument `index` among the operands of a step, or
  /// -1.
  int64_t getStepOperand(unsigned index) const {
    return rows.stepOperands[index];
  }
  ContractionCost getContractionCost() const;

private:
  void addStage(StageOp op);
  int64_t getWeightBytes(const Reduction &reduction) const;

  mutable OperatorOp op;
  OperatorRows rows;
  SmallVector<Stage> stages;
  int64_t taskScratch = 0;
  SmallVector<int64_t> raggedScratch;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_STAGEPLAN_H
