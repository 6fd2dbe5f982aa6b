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

/// The batched form of a value of a kernel: its shape in the operator.
struct BatchedForm {
  enum Kind {
    /// Computed from parameters and constants alone: as in the kernel.
    Once,
    /// A leading dimension counts tasks. A scalar T is a `tensor<?xT>`.
    PerTask,
    /// The ragged dimension has moved to the front and counts the rows of all
    /// tasks of `domain`.
    Rows,
    /// The extent of a ragged tensor: no single value holds for all tasks.
    Extent,
  };
  Kind kind = Once;
  int64_t domain = -1;

  bool isBatched() const { return kind == PerTask || kind == Rows; }
  bool operator==(BatchedForm other) const {
    return kind == other.kind && domain == other.domain;
  }
};

/// How the loops of a structured operation run over the rows of its operands.
struct BatchedLoops {
  BatchedForm form = {BatchedForm::PerTask};
  /// The loop over the ragged dimension, or -1.
  int64_t extentLoop = -1;
};

/// How a structured operation that reduces a ragged extent combines its result
/// so far with one more row.
struct Combiner {
  SegmentKind kind;
  Operation *op;
  /// The combined value; null if it is the product of an fma's factors.
  Value row;
};
std::optional<Combiner> matchCombiner(linalg::LinalgOp op);

/// The first op in `op`, itself included, that code generators do not know and
/// the body of an operator must not have; null if they know all.
Operation *findUnknownCode(Operation *op);

/// The one dynamic dimension of a ragged tensor type.
int64_t getExtentDim(Type type);

/// The one place that knows which operations can be batched over which forms of
/// their operands: finds the form of each value of a kernel, or the first
/// operation that has no batched form.
class BatchedForms {
public:
  explicit BatchedForms(KernelOp kernel);

  /// Why the kernel cannot be batched. If set, nothing below is valid.
  const std::optional<Obstacle> &getObstacle() const { return obstacle; }

  BatchedForm lookup(Value value) const { return forms.lookup(value); }
  /// True if `op` is in the operator as it is in the kernel.
  bool isCopied(Operation *op) const { return copied.contains(op); }
  /// True if the generated code cannot know `position`: it differs from task to
  /// task or is computed from parameters. Loop counters are known once loops
  /// are unrolled.
  bool isUnknown(Value position) const;
  /// True if `op` reads or writes a tensor where the generated code cannot know
  /// whether the tensor has elements: the position is unknown, or the extent
  /// is. True for all inserts that are no views, too.
  bool picks(Operation *op) const;
  /// The form of an operation whose operands have equal extents: Rows if one of
  /// them is, PerTask otherwise.
  BatchedForm join(ValueRange operands) const;
  BatchedLoops getLoops(linalg::LinalgOp op) const;
  /// The number of ragged domains, numbered by their first arguments.
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

  /// Each of these returns false after it has recorded an obstacle.
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
