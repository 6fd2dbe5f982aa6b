//===- VectorizeTensor.cpp - Batch elementwise and tensor operations ------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

LogicalResult KernelBatcher::batchTensorOp(Operation *op) {
  LogicalResult result = success();
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    batchElementwise(op);
    return result;
  }
  TypeSwitch<Operation *>(op)
      .Case([&](tensor::DimOp dim) { batchDim(dim); })
      .Case([&](tensor::EmptyOp empty) { batchEmpty(empty); })
      .Case([&](tensor::SplatOp splat) { batchSplat(splat); })
      .Case([&](tensor::ExtractOp extract) { batchExtract(extract); })
      .Case([&](tensor::FromElementsOp made) { batchFromElements(made); })
      .Case([&](tensor::ConcatOp concat) { batchConcat(concat); })
      .Case([&](tensor::ExtractSliceOp slice) { batchExtractSlice(slice); })
      .Case([&](tensor::InsertSliceOp slice) { batchInsertSlice(slice); })
      .Case([&](tensor::InsertOp insert) { batchInsert(insert); })
      .Case([&](tensor::CollapseShapeOp reshape) { batchReshape(reshape); })
      .Case([&](tensor::ExpandShapeOp reshape) { batchReshape(reshape); })
      .Case([&](linalg::SoftmaxOp softmax) { batchSoftmax(softmax); })
      .Default([&](Operation *other) { result = batchOtherDialect(other); });
  return result;
}

/// Emits an error at `op` if `made`, or an op inside it, cannot be lowered.
/// `made` is an op of the batched form of `op`.
static LogicalResult checkBatchedForm(Operation *op, Operation *made) {
  WalkResult result = made->walk([&](Operation *nested) {
    if (isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
            tensor::TensorDialect>(nested->getDialect()))
      return WalkResult::advance();
    op->emitOpError("has a batched form that contains '")
        << nested->getName()
        << "', which cannot be lowered; use only ops of linalg, tensor, arith "
           "and math";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelBatcher::batchOtherDialect(Operation *op) {
  auto batchable = cast<BatchableOpInterface>(op);
  SmallVector<Value> operands, results;
  SmallVector<bool> batched;
  for (Value operand : op->getOperands()) {
    BatchedValue form = lookup(operand);
    operands.push_back(form.value);
    batched.push_back(form.isBatched());
  }
  // An op whose operands are equal for all tasks is also computed for every
  // task, so repeat one operand.
  if (!operands.empty() && !llvm::is_contained(batched, true)) {
    operands[0] = getAs(op, op->getOperand(0), {BatchedForm::PerTask});
    batched[0] = true;
  }
  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  {
    OpBuilder::InsertionGuard guard(builder);
    if (failed(
            batchable.buildBatched(builder, operands, batched, tasks, results)))
      return failure();
  }
  Operation *first = last             ? last->getNextNode()
                     : block->empty() ? nullptr
                                      : &block->front();
  for (Operation *made = first; made; made = made->getNextNode())
    if (failed(checkBatchedForm(op, made)))
      return failure();
  if (results.size() != op->getNumResults())
    return op->emitOpError("has ")
           << op->getNumResults() << " results, but its batched form has "
           << results.size();
  for (auto [result, value] : llvm::zip(op->getResults(), results)) {
    if (value.getType() !=
        getBatchedType(result.getType(), BatchedForm::PerTask))
      return op->emitOpError("has a batched form of type ")
             << value.getType() << " instead of "
             << getBatchedType(result.getType(), BatchedForm::PerTask);
    map(result, value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise operations on tensors and scalars
//===----------------------------------------------------------------------===//

void KernelBatcher::batchElementwise(Operation *op) {
  // A scalar condition selects whole tensors.
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (isa<RankedTensorType>(op->getResult(0).getType()) &&
        !isa<RankedTensorType>(select.getCondition().getType()))
      return batchSelect(select);

  BatchedForm form = forms.join(op->getOperands());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getAs(op, operand, form));
  Operation *copy = op->clone();
  copy->setOperands(operands);
  for (OpResult result : copy->getResults())
    result.setType(getBatchedType(result.getType(), form.kind));
  builder.insert(copy);
  for (auto [result, value] : llvm::zip(op->getResults(), copy->getResults()))
    map(result, value);
}

void KernelBatcher::batchSelect(arith::SelectOp select) {
  Location loc = select.getLoc();
  BatchedForm form = forms.join(select->getOperands());
  Type type = select.getType();
  Value onTrue = getAs(select, select.getTrueValue(), form);
  Value onFalse = getAs(select, select.getFalseValue(), form);
  BatchedValue condition = lookup(select.getCondition());
  if (condition.kind == BatchedForm::Once) {
    map(select, arith::SelectOp::create(builder, loc, condition.value, onTrue,
                                        onFalse));
    return;
  }
  Value conditions = getAs(select, select.getCondition(), form);
  RankedTensorType batchedType = getBatchedType(type, form.kind);
  AffineMap all = builder.getMultiDimIdentityMap(batchedType.getRank());
  AffineMap row = all.getMajorSubMap(1);
  Value empty = buildEmpty(loc, type, form);
  SmallVector<utils::IteratorType> iterators(batchedType.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, batchedType, ValueRange{conditions, onTrue, onFalse}, empty,
      ArrayRef<AffineMap>{row, all, all, all}, iterators,
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        Value value = arith::SelectOp::create(nested, loc, arguments[0],
                                              arguments[1], arguments[2]);
        linalg::YieldOp::create(nested, loc, value);
      });
  map(select, generic.getResult(0));
}

//===----------------------------------------------------------------------===//
// Tensor creation
//===----------------------------------------------------------------------===//

void KernelBatcher::batchDim(tensor::DimOp op) {
  // A ragged tensor has no single extent.
  Value extent;
  auto type = cast<RankedTensorType>(op.getSource().getType());
  if (int64_t index = *op.getConstantIndex(); !type.isDynamicDim(index))
    extent = arith::ConstantIndexOp::create(builder, op.getLoc(),
                                            type.getDimSize(index));
  map(op, extent);
}

void KernelBatcher::batchEmpty(tensor::EmptyOp op) {
  map(op, buildEmpty(op.getLoc(), op.getType(), lookup(op)));
}

void KernelBatcher::batchSplat(tensor::SplatOp op) {
  Location loc = op.getLoc();
  BatchedForm form = lookup(op);
  BatchedValue input = lookup(op.getInput());
  if (input.kind == BatchedForm::Once) {
    Value empty = buildEmpty(loc, op.getType(), form);
    map(op,
        linalg::FillOp::create(builder, loc, input.value, empty).getResult(0));
    return;
  }
  Value scalars = getAs(op, op.getInput(), form);
  RankedTensorType type = getBatchedType(op.getType(), form.kind);
  if (type.getRank() > 1) {
    Value empty = buildEmpty(loc, op.getType(), form);
    scalars = linalg::BroadcastOp::create(
                  builder, loc, scalars, empty,
                  llvm::to_vector(llvm::seq<int64_t>(1, type.getRank())))
                  ->getResult(0);
  }
  map(op, scalars);
}

void KernelBatcher::batchFromElements(tensor::FromElementsOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  RankedTensorType batchedType = getBatchedType(type, BatchedForm::PerTask);
  // Each element becomes a column.
  SmallVector<Value> columns;
  for (Value element : op.getElements()) {
    Value scalars = getAs(op, element, {BatchedForm::PerTask});
    if (type.getRank() == 0)
      return map(op, scalars);
    auto columnType =
        RankedTensorType::get({ShapedType::kDynamic, 1}, type.getElementType());
    columns.push_back(tensor::ExpandShapeOp::create(
        builder, loc, columnType, scalars,
        ArrayRef<ReassociationIndices>{{0, 1}},
        ArrayRef<OpFoldResult>{tasks, builder.getIndexAttr(1)}));
  }
  Value flat = columns.size() == 1
                   ? columns[0]
                   : tensor::ConcatOp::create(builder, loc, 1, columns);
  if (type.getRank() > 1) {
    ReassociationIndices inner =
        llvm::to_vector<2>(llvm::seq<int64_t>(1, batchedType.getRank()));
    SmallVector<OpFoldResult> shape = {tasks};
    for (int64_t extent : type.getShape())
      shape.push_back(builder.getIndexAttr(extent));
    flat = tensor::ExpandShapeOp::create(
        builder, loc, batchedType, flat,
        ArrayRef<ReassociationIndices>{{0}, inner}, shape);
  }
  map(op, flat);
}

//===----------------------------------------------------------------------===//
// Slices and reshapes
//===----------------------------------------------------------------------===//

void KernelBatcher::batchConcat(tensor::ConcatOp op) {
  BatchedForm form = lookup(op);
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(getAs(op, input, form));
  map(op, tensor::ConcatOp::create(
              builder, op.getLoc(), getBatchedType(op.getType(), form.kind),
              getBatchedDim(op.getType(), form.kind,
                            static_cast<int64_t>(op.getDim())),
              inputs));
}

KernelBatcher::Slice KernelBatcher::getSlice(OffsetSizeAndStrideOpInterface op,
                                             Type whole, BatchedForm form) {
  Slice slice;
  slice.offsets.push_back(builder.getIndexAttr(0));
  slice.sizes.push_back(getRowCount(form));
  slice.strides.push_back(builder.getIndexAttr(1));
  int64_t extentDim = form.kind == BatchedForm::Rows ? getExtentDim(whole) : -1;
  auto get = [&](OpFoldResult number) -> OpFoldResult {
    if (auto value = dyn_cast<Value>(number))
      return lookup(value).value;
    return number;
  };
  // Code generators need constant positions as attributes. However, a constant
  // that was found late, such as the index of a single round, is still an
  // operand. Offsets and strides can become attributes, because the type
  // depends only on sizes.
  auto getStatic = [&](OpFoldResult number) -> OpFoldResult {
    if (std::optional<int64_t> constant = getConstantIntValue(number))
      return builder.getIndexAttr(*constant);
    return get(number);
  };
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    // The slice covers the whole ragged extent.
    if (static_cast<int64_t>(dim) == extentDim)
      continue;
    slice.offsets.push_back(getStatic(offset));
    slice.sizes.push_back(get(size));
    slice.strides.push_back(getStatic(stride));
  }
  return slice;
}

void KernelBatcher::batchExtractSlice(tensor::ExtractSliceOp op) {
  BatchedValue source = lookup(op.getSource());
  if (forms.picks(op))
    return batchPick(op, op.getSource(), op.getMixedOffsets(),
                     op.getMixedSizes(), op.getMixedStrides(),
                     op.getDroppedDims());
  Slice slice = getSlice(op, op.getSourceType(), source);
  map(op, tensor::ExtractSliceOp::create(
              builder, op.getLoc(), getBatchedType(op.getType(), source.kind),
              source.value, slice.offsets, slice.sizes, slice.strides));
}

void KernelBatcher::batchInsertSlice(tensor::InsertSliceOp op) {
  if (forms.picks(op) || placed.contains(op))
    return batchPut(op, op.getSource(), op.getDest(), op.getMixedOffsets(),
                    op.getMixedSizes(), op.getMixedStrides(),
                    op.getDroppedDims());
  BatchedForm form = lookup(op);
  Value source = getAs(op, op.getSource(), form);
  Value dest = getAs(op, op.getDest(), form);
  Slice slice = getSlice(op, op.getDestType(), form);
  map(op,
      tensor::InsertSliceOp::create(builder, op.getLoc(), source, dest,
                                    slice.offsets, slice.sizes, slice.strides));
}

template <typename ReshapeOp>
void KernelBatcher::batchReshape(ReshapeOp op) {
  BatchedValue form = lookup(op.getSrc());
  RankedTensorType sourceType = op.getSrcType(),
                   resultType = op.getResultType();
  constexpr bool isExpand = std::is_same_v<ReshapeOp, tensor::ExpandShapeOp>;
  // The dimension groups refer to the type with more dimensions.
  Type detailed = isExpand ? Type(resultType) : Type(sourceType);
  SmallVector<ReassociationIndices> groups = {{0}};
  SmallVector<int64_t> units;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    ReassociationIndices batched;
    bool hasExtent = form.kind == BatchedForm::Rows &&
                     llvm::is_contained(group, getExtentDim(detailed));
    for (int64_t dim : group)
      batched.push_back(getBatchedDim(detailed, form.kind, dim));
    if (!hasExtent)
      groups.push_back(std::move(batched));
    else
      llvm::append_range(units, batched);
  }
  // A ragged extent moves to the front. Dimensions of extent one next to it
  // join the dimension that then precedes them.
  llvm::sort(units);
  for (int64_t unit : units)
    if (unit != 0)
      llvm::find_if(groups, [&](const ReassociationIndices &group) {
        return group.back() == unit - 1;
      })->push_back(unit);
  RankedTensorType type = getBatchedType(resultType, form.kind);
  // A tensor of rank 0 has no groups, so all dimensions of the other tensor
  // join the dimension of the tasks.
  if (isExpand ? sourceType.getRank() == 0 : resultType.getRank() == 0)
    groups[0] = llvm::to_vector<2>(llvm::seq<int64_t>(
        0, isExpand ? type.getRank() : sourceType.getRank() + 1));
  Value value;
  if constexpr (isExpand) {
    SmallVector<OpFoldResult> shape = {getRowCount(form)};
    for (int64_t extent : type.getShape().drop_front())
      shape.push_back(builder.getIndexAttr(extent));
    value = tensor::ExpandShapeOp::create(builder, op.getLoc(), type,
                                          form.value, groups, shape);
  } else {
    value = tensor::CollapseShapeOp::create(builder, op.getLoc(), type,
                                            form.value, groups);
  }
  map(op, value);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

void KernelBatcher::batchSoftmax(linalg::SoftmaxOp op) {
  BatchedValue form = lookup(op.getInput());
  Location loc = op.getLoc();
  Value empty = buildEmpty(loc, op.getInput().getType(), form);
  auto batched = linalg::SoftmaxOp::create(
      builder, loc, empty.getType(), form.value, empty, op.getDimension() + 1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(batched);
  // The decomposition never fails on tensors.
  SmallVector<Value> values = *batched.decomposeOperation(builder);
  // The decomposition reads the number of rows, which is the number of tasks.
  for (Operation *made = empty.getDefiningOp(); made != batched;
       made = made->getNextNode())
    if (auto dim = dyn_cast<tensor::DimOp>(made))
      if (dim.getConstantIndex() == 0)
        dim.replaceAllUsesWith(tasks);
  batched.erase();
  map(op->getResult(0), values.front());
}
