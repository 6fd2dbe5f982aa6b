//===- BatchedForms.h - Batched forms of a kernel's values ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_BATCHEDFORMS_H
#define BATCH_ANALYSIS_BATCHEDFORMS_H

#include "Batch/Analysis/Obstacle.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::batch {

/// Batched form of a value in a kernel: the shape that the value has in the
/// operator.
struct BatchedForm {
  enum Kind {
    /// The value is computed only from parameters and constants, and has the
    /// same shape as in the kernel.
    Once,
    /// One row per task, along a new leading dimension. A scalar T becomes a
    /// `tensor<?xT>`.
    PerTask,
    /// The ragged dimension comes first and contains the rows of all tasks of
    /// `domain`.
    Rows,
    /// Extent of a ragged tensor, which differs from task to task.
    Extent,
  };
  Kind kind = Once;
  int64_t domain = -1;

  bool isBatched() const { return kind == PerTask || kind == Rows; }
  bool operator==(BatchedForm other) const {
    return kind == other.kind && domain == other.domain;
  }
};

/// Loops of a structured operation over the rows of its operands.
struct BatchedLoops {
  BatchedForm form = {BatchedForm::PerTask};
  /// Index of the loop over the ragged dimension, or -1 if there is none.
  int64_t extentLoop = -1;
};

/// Operation that combines the partial result with the next row in a reduction
/// over a ragged extent.
struct Combiner {
  SegmentKind kind;
  Operation *op;
  /// Value to combine with the partial result. Null for an fma, which adds the
  /// product of its factors.
  Value row;
};
std::optional<Combiner> matchCombiner(linalg::LinalgOp op);

/// Searches `op` and the ops in it for ops that code generators do not support.
/// Returns the first one, or null if there is none. The body of an operator
/// must not contain such an op.
Operation *findUnknownCode(Operation *op);

/// Returns the only dynamic dimension of a ragged tensor type.
int64_t getExtentDim(Type type);

/// Finds the batched form of each value of a kernel, or else the first
/// operation that cannot be batched. Only this class specifies which operations
/// can be batched, and for which forms of their operands.
class BatchedForms {
public:
  explicit BatchedForms(KernelOp kernel);

  /// Returns the reason why the kernel cannot be batched, or nullopt if it can.
  /// The functions below are valid only in the latter case.
  const std::optional<Obstacle> &getObstacle() const { return obstacle; }

  BatchedForm lookup(Value value) const { return forms.lookup(value); }
  /// Returns true if the operator contains an unchanged copy of `op`.
  bool isCopied(Operation *op) const { return copied.contains(op); }
  /// Returns true if `position` is unknown when code is generated, because it
  /// differs from task to task or is computed from parameters. Loop counters
  /// are known once loops are unrolled.
  bool isUnknown(Value position) const;
  /// Returns true if `op` accesses a tensor at a position that may be out of
  /// range. In this case, the position or the extent is unknown when code is
  /// generated. Also returns true for every `tensor.insert`, and for every op
  /// whose body contains a `tensor.extract`.
  bool picks(Operation *op) const;
  /// Returns the form of an operation on operands with equal extents: Rows if
  /// any operand has this form, PerTask otherwise.
  BatchedForm join(ValueRange operands) const;
  BatchedLoops getLoops(linalg::LinalgOp op) const;
  /// Returns the number of ragged domains, which are numbered in the order of
  /// their first arguments.
  unsigned getNumDomains() const { return numDomains; }

private:
  void findDomains();
  void visit(Operation *op);
  bool isSameForAll(Operation *op) const;
  void visitLinalg(linalg::LinalgOp op);
  void visitSegmentReduction(linalg::LinalgOp op, const BatchedLoops &loops);
  void visitElementwise(Operation *op);
  void visitDim(tensor::DimOp op);
  void visitEmpty(tensor::EmptyOp op);
  void visitSplat(tensor::SplatOp op);
  void visitExtract(tensor::ExtractOp op);
  void visitFromElements(tensor::FromElementsOp op);
  void visitConcat(tensor::ConcatOp op);
  void visitExtractSlice(tensor::ExtractSliceOp op);
  void visitInsertSlice(tensor::InsertSliceOp op);
  void visitInsert(tensor::InsertOp op);
  void visitReshape(Operation *op, Value source, Type detailed,
                    ArrayRef<ReassociationIndices> groups);
  void visitSoftmax(linalg::SoftmaxOp op);
  void visitOtherDialect(Operation *op);

  /// The `check` functions return false if they have recorded an obstacle.
  bool checkCanBe(Operation *user, Value value, BatchedForm form);
  bool checkJoin(Operation *op, ValueRange operands);
  bool checkLoops(linalg::LinalgOp op);
  bool checkCaptured(linalg::LinalgOp op, const BatchedLoops &loops);
  bool checkInput(linalg::LinalgOp op, OpOperand &operand,
                  const BatchedLoops &loops);
  bool checkInit(linalg::LinalgOp op, OpOperand &operand,
                 const BatchedLoops &loops);
  bool checkSlice(OffsetSizeAndStrideOpInterface op, Type whole,
                  BatchedForm form);
  void visitPick(Operation *op, Value source, ArrayRef<OpFoldResult> offsets,
                 ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides);
  void visitPut(Operation *op, Value source, Value dest,
                ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                ArrayRef<OpFoldResult> strides);
  bool isIndexable(Value tensor) const;

  bool fail(Operation *op, const Twine &text);
  void set(Operation *op, BatchedForm form);

  KernelOp kernel;
  DenseMap<Value, BatchedForm> forms;
  DenseSet<Operation *> copied;
  unsigned numDomains = 0;
  std::optional<Obstacle> obstacle;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_BATCHEDFORMS_H
