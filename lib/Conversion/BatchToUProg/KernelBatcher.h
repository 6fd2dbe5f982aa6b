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

/// Replaces tensors of computed extent with tensors of static shape. Such a
/// tensor is a slice of a static tensor with a size that the kernel computes,
/// or is computed from such a slice. Emits an error and fails if an op cannot
/// be replaced in this way.
LogicalResult decomposePrefixes(KernelOp kernel);

/// Attribute of the select that computes the index of a read. If the condition
/// is false, the index is 0, and there is nothing to read, not even at 0.
inline constexpr llvm::StringLiteral kExistsAttr = "exists";

/// Returns `index` if it is less than `limit`. Otherwise returns 0, and the
/// kernel reports an error about `what` when it runs.
Value checkIndex(OpBuilder &builder, Location loc, Value index, Value limit,
                 const Twine &what);

/// Replaces tensor ops without a batched form, such as gathers, paddings and
/// generated tensors, with ops that have one.
void decomposeTensorOps(KernelOp kernel);

/// Rewrites reductions that importers produce, so that they have a batched
/// form. Handles results that keep the reduced dimensions with extent one, and
/// reductions over a ragged extent together with other extents.
void decomposeReductions(KernelOp kernel);

/// Value of a kernel in its batched form. `value` is null for an extent.
struct BatchedValue : BatchedForm {
  Value value;
};

/// Builds an operator for many tasks from the code of a kernel, which is
/// straight-line and written for one instance. One object builds one operator.
class KernelBatcher {
public:
  explicit KernelBatcher(KernelOp kernel)
      : kernel(kernel), forms(kernel), builder(kernel.getContext()) {}

  /// Creates the operator after the kernel. On failure, emits an error and
  /// leaves no operator behind.
  FailureOr<uprog::OperatorOp> run(StringRef name);

private:
  using Kind = BatchedForm::Kind;

  /// Loops of a structured operation, renumbered.
  struct Loops : BatchedLoops {
    SmallVector<utils::IteratorType> iterators;
    /// New numbers of the old loops.
    SmallVector<AffineExpr> replacements;
  };

  //===--------------------------------------------------------------------===//
  // The operator around the code (VectorizeKernels.cpp)
  //===--------------------------------------------------------------------===//

  /// Creates the empty operator and maps the kernel's arguments.
  FailureOr<uprog::OperatorOp> buildOperator(StringRef name);
  /// Batches one operation. Operations are batched in the order of the body.
  LogicalResult batchOp(Operation *op);

  //===--------------------------------------------------------------------===//
  // Values (VectorizeKernels.cpp)
  //===--------------------------------------------------------------------===//

  BatchedValue lookup(Value value) const {
    return {forms.lookup(value), values.lookup(value)};
  }
  void map(Value value, Value batched);
  /// Returns the number of rows as an index: the number of tasks, or the number
  /// of ragged rows of a domain.
  Value getRowCount(BatchedForm form);
  /// Returns the type of the batched form of `type`. For Rows, the result lacks
  /// the ragged dimension of the type.
  static RankedTensorType getBatchedType(Type type, Kind kind);
  /// Returns the dimension of the batched type that corresponds to dimension
  /// `dim` of `type`.
  static int64_t getBatchedDim(Type type, Kind kind, int64_t dim);
  /// Builds an uninitialized tensor of the batched form of `type`.
  Value buildEmpty(Location loc, Type type, BatchedForm form);
  /// Returns `value` in batched form `form`, repeated for every row if needed.
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

  /// Offsets, sizes and strides of a slice. The dimension of the rows comes
  /// first.
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
  /// Builds a slice of `source` for all tasks. Its offsets, sizes and strides
  /// must be constant.
  Value buildView(Location loc, Type type, BatchedValue source,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                  ArrayRef<OpFoldResult> strides);
  /// Returns the extent that a dimension of `source` has in the operator.
  OpFoldResult getExtent(Location loc, Value source, int64_t dim);
  /// Returns `index` if it is less than `limit`. Otherwise returns 0, and the
  /// operator reports an error about `what` when it runs.
  Value check(OpBuilder &nested, Location loc, Value index, OpFoldResult limit,
              const Twine &what);
  std::string describe(Operation *op, Value source, int64_t dim);
  /// Checks the index of a row of task `linalg.index 0` in the ragged domain.
  /// Returns the position of this row among the rows of all tasks.
  Value checkRow(OpBuilder &nested, Location loc, Value index, int64_t domain,
                 const Twine &what);
  /// Makes the reads in the body of `generic` read rows of batched tensors. The
  /// body was copied from `op`.
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
  /// Finds the inserts that write into rows of operands, emits a remark for
  /// each insert, and marks the kernel's results.
  void placeInserts();
  /// Returns the reason why the inserts that create result `index` must copy
  /// their destination. If they need no copy, adds them to `placed` and returns
  /// an empty string.
  StringRef placeResult(unsigned index);
  /// Returns true if `op` stores its results in memory.
  bool isStored(Operation *op) const;
  /// Returns the values that depend on the destination of `insert`, are not in
  /// memory, and are read by code after the insert.
  SmallVector<Value> findSaved(Operation *insert) const;
  /// Returns true if storing the values of findSaved() for these inserts takes
  /// less time than copying the row.
  bool savesLess(ArrayRef<Operation *> chain) const;
  /// Copies `batched` to memory.
  Value store(Location loc, Type type, Value batched);
  /// Builds an insert that writes into the row of its operand.
  Value buildInsert(Operation *op, Value source, Value dest,
                    ArrayRef<OpFoldResult> offsets,
                    ArrayRef<OpFoldResult> sizes,
                    ArrayRef<OpFoldResult> strides);
  /// Returns the position in `dest` of a slice of `count` elements, and checks
  /// it.
  Value checkPosition(OpBuilder &nested, Operation *op, Value position,
                      Value dest, unsigned dim, int64_t count, int64_t step);
  /// Returns `value`, or a copy of it in memory if it depends on the row that
  /// `op` writes.
  Value readBefore(Operation *op, Value value);

  //===--------------------------------------------------------------------===//
  // Structured operations (VectorizeLinalg.cpp)
  //===--------------------------------------------------------------------===//

  void batchLinalg(linalg::LinalgOp op);
  Loops getLoops(linalg::LinalgOp op);
  /// Returns the operand and its indexing map for the new loops.
  std::pair<Value, AffineMap> getInput(linalg::LinalgOp op, OpOperand &operand,
                                       const Loops &loops);
  Value getInit(linalg::LinalgOp op, OpOperand &operand, const Loops &loops);
  AffineMap getMap(linalg::LinalgOp op, OpOperand &operand, const Loops &loops,
                   Kind form);
  void batchSegmentReduction(linalg::LinalgOp op, const Loops &loops);

  /// Values that the body of a structured operation captures, except tensors of
  /// tasks. The body reads tensors of tasks at positions that it computes.
  struct Captured {
    SmallVector<Value> once;
    /// Per-task scalars, which become inputs.
    SmallVector<Value> perTask;
  };
  Captured getCaptured(linalg::LinalgOp op);
  /// Builds a linalg.generic that corresponds to `op`. `buildBody` fills its
  /// body from the body of `op`.
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
  /// Values that are copied unchanged from the kernel.
  IRMapping once;
  /// Inserts into rows of operands, each with its operand.
  DenseMap<Operation *, BlockArgument> placed;
  /// Values that the operator must store before an insert, because the insert
  /// changes the row that they depend on.
  DenseSet<Value> saved;
  /// Values that are repeated for each row, by (value, number of rows).
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
