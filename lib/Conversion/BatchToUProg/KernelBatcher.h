//===- KernelBatcher.h - The batched form of a kernel -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_KERNELBATCHER_H
#define BATCH_CONVERSION_BATCHTOUPROG_KERNELBATCHER_H

#include "Batch/Analysis/BatchedForms.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {

/// Replaces tensors whose extent the kernel computes, the first t rows of a
/// static one and what is made of them, by ones of static shape. Fails with an
/// error at an op for which there is no such form.
LogicalResult decomposePrefixes(KernelOp kernel);

/// Marks the index of a read that is 0 where the condition says that there is
/// nothing to read, not even at 0.
inline constexpr llvm::StringLiteral kExistsAttr = "exists";

/// `index` if it is below `limit`, else 0; the kernel says so, in words, when
/// it runs.
Value checkIndex(OpBuilder &builder, Location loc, Value index, Value limit,
                 const Twine &what);

/// Replaces ops of the tensor dialect that have no batched form by ops that
/// have one: gathers, paddings, generated tensors.
void decomposeTensorOps(KernelOp kernel);

/// Replaces reductions in the forms of importers by ones that have a batched
/// form: results that keep the reduced dimensions with extent one, and those
/// over a ragged extent and others at once.
void decomposeReductions(KernelOp kernel);

/// A value of a kernel in its batched form. Extents have no value.
struct BatchedValue : BatchedForm {
  Value value;
};

/// Rebuilds the code of a kernel, which is straight-line and written for one
/// instance, as an operator for many tasks. One object makes one operator.
class KernelBatcher {
public:
  explicit KernelBatcher(KernelOp kernel)
      : kernel(kernel), forms(kernel), builder(kernel.getContext()) {}

  /// Makes the operator after the kernel. On failure it has emitted an error
  /// and leaves nothing behind.
  FailureOr<uprog::OperatorOp> run(StringRef name);

private:
  using Kind = BatchedForm::Kind;

  /// A structured operation with its loops renumbered.
  struct Loops : BatchedLoops {
    SmallVector<utils::IteratorType> iterators;
    /// New numbers of the old loops.
    SmallVector<AffineExpr> replacements;
  };

  //===--------------------------------------------------------------------===//
  // The operator around the code (VectorizeKernels.cpp)
  //===--------------------------------------------------------------------===//

  /// Makes the empty operator and maps the kernel's arguments.
  FailureOr<uprog::OperatorOp> buildOperator(StringRef name);
  /// Batches one operation in the order of the body.
  LogicalResult batchOp(Operation *op);

  //===--------------------------------------------------------------------===//
  // Values (VectorizeKernels.cpp)
  //===--------------------------------------------------------------------===//

  BatchedValue lookup(Value value) const {
    return {forms.lookup(value), values.lookup(value)};
  }
  void map(Value value, Value batched);
  /// The number of rows, an index: tasks, or ragged rows of a domain.
  Value getRowCount(BatchedForm form);
  /// `type` for many tasks; for Rows without its ragged dimension.
  static RankedTensorType getBatchedType(Type type, Kind kind);
  /// The dimension of the batched type that dimension `dim` of `type` becomes.
  static int64_t getBatchedDim(Type type, Kind kind, int64_t dim);
  /// An uninitialized tensor of the batched form of `type`.
  Value buildEmpty(Location loc, Type type, BatchedForm form);
  /// `value` in this form, repeated for every row where needed.
  Value getAs(Operation *user, Value value, BatchedForm form);
  Value repeatForRows(Location loc, Value once, BatchedForm form);

  //===--------------------------------------------------------------------===//
  // Elementwise and tensor operations (VectorizeTensor.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult batchTensorOp(Operation *op);
  void batchElementwise(Operation *op);
  void batchSelect(arith::SelectOp select);
  void batchDim(tensor::DimOp op);
  void batchEmpty(tensor::EmptyOp op);
  void batchSplat(tensor::SplatOp op);
  void batchFromElements(tensor::FromElementsOp op);
  void batchConcat(tensor::ConcatOp op);
  void batchExtractSlice(tensor::ExtractSliceOp op);
  void batchInsertSlice(tensor::InsertSliceOp op);
  template <typename ReshapeOp>
  void batchReshape(ReshapeOp op);
  void batchSoftmax(linalg::SoftmaxOp op);
  LogicalResult batchOtherDialect(Operation *op);

  /// The offsets, sizes and strides of a slice, after those of the rows.
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  Slice getSlice(OffsetSizeAndStrideOpInterface op, Type whole,
                 BatchedForm form);

  //===--------------------------------------------------------------------===//
  // Reads at computed positions (VectorizeReads.cpp)
  //===--------------------------------------------------------------------===//

  void batchExtract(tensor::ExtractOp op);
  void batchPick(Operation *op, Value source, ArrayRef<OpFoldResult> offsets,
                 ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides,
                 const llvm::SmallBitVector &dropped);
  /// A slice of the rows of tasks at known positions.
  Value buildView(Location loc, Type type, BatchedValue source,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                  ArrayRef<OpFoldResult> strides);
  /// The extent of a dimension of `source`, in the operator.
  OpFoldResult getExtent(Location loc, Value source, int64_t dim);
  /// `index` if it is below `limit`, else 0; the operator says so when it runs.
  Value check(OpBuilder &nested, Location loc, Value index, OpFoldResult limit,
              const Twine &what);
  std::string describe(Operation *op, Value source, int64_t dim);
  /// The row of `index` of the ragged tensor of the task `linalg.index 0`,
  /// among the rows of all tasks. The index is checked.
  Value checkRow(OpBuilder &nested, Location loc, Value index, int64_t domain,
                 const Twine &what);
  /// Makes the reads in the body of `generic` those of a row: it was copied
  /// from that of `op`.
  void bindReads(linalg::LinalgOp op, const Loops &loops,
                 linalg::GenericOp generic);

  //===--------------------------------------------------------------------===//
  // Inserts at computed positions (VectorizeInserts.cpp)
  //===--------------------------------------------------------------------===//

  void batchInsert(tensor::InsertOp op);
  void batchPut(Operation *op, Value source, Value dest,
                ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                ArrayRef<OpFoldResult> strides,
                const llvm::SmallBitVector &dropped);
  /// Finds the inserts that write into rows of operands, says so of each, and
  /// marks the kernel's results.
  void placeInserts();
  /// Why the inserts that make result `index` copy; empty if they do not: then
  /// they are `placed`.
  StringRef placeResult(unsigned index);
  /// True if `op` stores its results in memory.
  bool isStored(Operation *op) const;
  /// Returns the values that depend on the destination of `insert`, that code
  /// after it reads, and that are not in memory.
  SmallVector<Value> findKept(Operation *insert) const;
  /// True if storing the values of findKept() for these inserts takes less time
  /// than copying the row.
  bool keepsLess(ArrayRef<Operation *> chain) const;
  /// Copies `batched` to memory.
  Value store(Location loc, Type type, Value batched);
  /// An insert that writes into the row of its operand.
  Value buildInsert(Operation *op, Value source, Value dest,
                    ArrayRef<OpFoldResult> offsets,
                    ArrayRef<OpFoldResult> sizes,
                    ArrayRef<OpFoldResult> strides);
  /// The position in `dest` of a slice of `count` elements.
  Value checkPosition(OpBuilder &nested, Operation *op, Value position,
                      Value dest, unsigned dim, int64_t count, int64_t step);
  /// `value`, in memory of its own if it depends on the row that `op` writes.
  Value readBefore(Operation *op, Value value);

  //===--------------------------------------------------------------------===//
  // Structured operations (VectorizeLinalg.cpp)
  //===--------------------------------------------------------------------===//

  void batchLinalg(linalg::LinalgOp op);
  Loops getLoops(linalg::LinalgOp op);
  /// The operand for the new loops and its indexing map.
  std::pair<Value, AffineMap> getInput(linalg::LinalgOp op, OpOperand &operand,
                                       const Loops &loops);
  Value getInit(linalg::LinalgOp op, OpOperand &operand, const Loops &loops);
  AffineMap getMap(linalg::LinalgOp op, OpOperand &operand, const Loops &loops,
                   Kind form);
  void batchSegmentReduction(linalg::LinalgOp op, const Loops &loops);

  /// The values that the body of a structured operation captures, but for
  /// tensors of tasks, which it reads at positions that it computes.
  struct Captured {
    SmallVector<Value> once;
    /// Per-task scalars, which become inputs.
    SmallVector<Value> perTask;
  };
  Captured getCaptured(linalg::LinalgOp op);
  /// A linalg.generic with the body of `op`. `yield`, if given, replaces the
  /// yielded values.
  linalg::GenericOp
  buildGeneric(linalg::LinalgOp op, const Loops &loops, ValueRange inputs,
               ValueRange inits, ArrayRef<AffineMap> maps,
               ArrayRef<utils::IteratorType> iterators,
               const Captured &captured,
               function_ref<void(OpBuilder &, IRMapping &)> buildBody);

  KernelOp kernel;
  BatchedForms forms;
  OpBuilder builder;
  DenseMap<Value, Value> values;
  /// The values that are copied unchanged from the kernel.
  IRMapping once;
  /// Inserts into operands' rows, each with the operand.
  DenseMap<Operation *, BlockArgument> placed;
  /// Values that the operator stores before an insert changes the row that
  /// they depend on.
  DenseSet<Value> kept;
  /// Repeated values by (value, number of rows).
  DenseMap<std::pair<Value, Value>, Value> repeated;
  Value tasks;
  struct Domain {
    Value firstRows;
    Value offsets;
    Value rowCount;
  };
  SmallVector<Domain> domains;
};

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_KERNELBATCHER_H
