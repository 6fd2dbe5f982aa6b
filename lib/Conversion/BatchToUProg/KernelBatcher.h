//===- KernelBatcher.h - The batched form of a kernel -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_CONVERSION_BATCHTOUPROG_KERNELBATCHER_H
#define BATCH_LIB_CONVERSION_BATCHTOUPROG_KERNELBATCHER_H

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {

/// A value of a kernel as it is in the operator.
struct BatchedValue {
  enum Kind {
    /// Made of shared operands and constants alone: as in the kernel.
    Once,
    /// A leading dimension counts tasks. A scalar T is a `tensor<?xT>`.
    PerTask,
    /// The ragged dimension has moved to the front and counts the rows of all
    /// tasks of `domain`.
    Rows,
    /// The extent of a ragged tensor: there is no one value for all tasks.
    Extent,
  };
  Kind kind = Once;
  Value value;
  int64_t domain = -1;

  bool isBatched() const { return kind == PerTask || kind == Rows; }
};

/// Rebuilds the code of a kernel, which is straight-line and written for one
/// instance, as an operator for many tasks. One object makes one operator.
class KernelBatcher {
public:
  explicit KernelBatcher(KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()) {}

  /// Makes the operator behind the kernel. On failure an error has been
  /// emitted and nothing is left behind.
  FailureOr<uprog::OperatorOp> run(StringRef name);

private:
  using Kind = BatchedValue::Kind;

  //===--------------------------------------------------------------------===//
  // The operator around the code (VectorizeKernels.cpp)
  //===--------------------------------------------------------------------===//

  /// Finds out which ragged values have equal extents: `domains`.
  void findDomains();
  /// Makes the empty operator and maps the kernel's arguments.
  FailureOr<uprog::OperatorOp> buildOperator(StringRef name);
  LogicalResult batchYield(YieldOp yield);
  /// Batches one operation in the order of the body.
  LogicalResult batchOp(Operation *op);

  //===--------------------------------------------------------------------===//
  // Values (VectorizeKernels.cpp)
  //===--------------------------------------------------------------------===//

  BatchedValue lookup(Value value) const { return values.lookup(value); }
  void map(Value value, Kind kind, Value batched, int64_t domain = -1);
  /// Number of rows: tasks, or ragged rows of a domain. An index value.
  Value getRowCount(Kind kind, int64_t domain);
  /// `type` for many tasks; for Rows without its ragged dimension.
  static RankedTensorType getBatchedType(Type type, Kind kind);
  /// The one dynamic dimension of a ragged tensor type.
  static int64_t getExtentDim(Type type);
  /// Where dimension `dim` of `type` is in the batched type.
  static int64_t getBatchedDim(Type type, Kind kind, int64_t dim);
  /// An uninitialized tensor of the batched form of `type`.
  Value buildEmpty(Location loc, Type type, Kind kind, int64_t domain);
  /// `value` in the form of `kind`, repeated for every row where needed.
  /// A null value if that is impossible: then an error has been emitted at
  /// `user`.
  Value getAs(Operation *user, Value value, Kind kind, int64_t domain);
  Value repeatForRows(Location loc, Value once, Kind kind, int64_t domain);
  /// The form of an operation whose operands have equal extents: Rows if one
  /// of them is, PerTask otherwise.
  FailureOr<BatchedValue> joinOperands(Operation *op, ValueRange operands);

  //===--------------------------------------------------------------------===//
  // Elementwise and tensor operations (VectorizeTensor.cpp)
  //===--------------------------------------------------------------------===//

  LogicalResult batchTensorOp(Operation *op);
  LogicalResult batchElementwise(Operation *op);
  LogicalResult batchSelect(Operation *op);
  LogicalResult batchDim(tensor::DimOp op);
  LogicalResult batchEmpty(tensor::EmptyOp op);
  LogicalResult batchSplat(tensor::SplatOp op);
  LogicalResult batchExtract(tensor::ExtractOp op);
  LogicalResult batchFromElements(tensor::FromElementsOp op);
  LogicalResult batchConcat(tensor::ConcatOp op);
  LogicalResult batchExtractSlice(tensor::ExtractSliceOp op);
  bool isUnknown(Value position) const;
  LogicalResult batchPick(Operation *op, Value source,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes,
                          ArrayRef<OpFoldResult> strides,
                          const llvm::SmallBitVector &dropped);
  Value sumPicked(Operation *op, Value slice, bool batched,
                  ArrayRef<utils::IteratorType> iterators,
                  ArrayRef<std::pair<unsigned, Value>> positions,
                  ArrayRef<AffineExpr> kept);
  LogicalResult batchInsertSlice(tensor::InsertSliceOp op);
  template <typename ReshapeOp>
  LogicalResult batchReshape(ReshapeOp op);
  LogicalResult batchSoftmax(linalg::SoftmaxOp op);
  LogicalResult batchForeign(Operation *op);

  /// Offsets, sizes and strides of a slice with those of the rows in front.
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  FailureOr<Slice> getSlice(OffsetSizeAndStrideOpInterface op, Type whole,
                            const BatchedValue &form);

  //===--------------------------------------------------------------------===//
  // Structured operations (VectorizeLinalg.cpp)
  //===--------------------------------------------------------------------===//

  /// A structured operation with its loops renumbered.
  struct Loops {
    Kind kind = BatchedValue::PerTask;
    int64_t domain = -1;
    /// The loop over the ragged dimension, or -1.
    int64_t extentLoop = -1;
    SmallVector<utils::IteratorType> iterators;
    /// New numbers of the old loops.
    SmallVector<AffineExpr> replacements;
  };

  LogicalResult batchLinalg(linalg::LinalgOp op);
  FailureOr<Loops> getLoops(linalg::LinalgOp op);
  /// The operand for the new loops and its indexing map.
  FailureOr<std::pair<Value, AffineMap>>
  getInput(linalg::LinalgOp op, OpOperand &operand, const Loops &loops);
  FailureOr<Value> getInit(linalg::LinalgOp op, OpOperand &operand,
                           const Loops &loops);
  AffineMap getMap(linalg::LinalgOp op, OpOperand &operand, const Loops &loops,
                   Kind form);
  LogicalResult batchSegmentReduction(linalg::LinalgOp op, const Loops &loops);

  /// What the body of a structured operation reads from around it.
  struct Captured {
    SmallVector<Value> once;
    /// Per-task scalars, which become inputs.
    SmallVector<Value> perTask;
  };
  FailureOr<Captured> getCaptured(linalg::LinalgOp op);
  /// A linalg.generic with the body of `op`. `yield`, if given, replaces what
  /// the body yields.
  linalg::GenericOp
  buildGeneric(linalg::LinalgOp op, const Loops &loops, ValueRange inputs,
               ValueRange inits, ArrayRef<AffineMap> maps,
               ArrayRef<utils::IteratorType> iterators,
               const Captured &captured,
               function_ref<void(OpBuilder &, IRMapping &)> buildBody);

  KernelOp kernel;
  OpBuilder builder;
  DenseMap<Value, BatchedValue> values;
  /// The values that are as in the kernel.
  IRMapping once;
  /// Repeated values by (value, number of rows).
  DenseMap<std::pair<Value, Value>, Value> repeated;
  Value tasks;
  struct Domain {
    Value firstRows;
    Value offsets;
    Value rowCount;
  };
  SmallVector<Domain> domains;
  /// The domain of every ragged value and extent of the kernel.
  DenseMap<Value, int64_t> domainOf;
};

} // namespace mlir::batch

#endif // BATCH_LIB_CONVERSION_BATCHTOUPROG_KERNELBATCHER_H
