//===- VectorizeTensor.cpp - Batches elementwise and tensor operations ----===//
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
  if (OpTrait::hasElementwiseMappableTraits(op))
    return batchElementwise(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tensor::DimOp dim) { return batchDim(dim); })
      .Case([&](tensor::EmptyOp empty) { return batchEmpty(empty); })
      .Case([&](tensor::SplatOp splat) { return batchSplat(splat); })
      .Case([&](tensor::ExtractOp extract) { return batchExtract(extract); })
      .Case([&](tensor::FromElementsOp elements) {
        return batchFromElements(elements);
      })
      .Case([&](tensor::ConcatOp concat) { return batchConcat(concat); })
      .Case([&](tensor::ExtractSliceOp slice) {
        return batchExtractSlice(slice);
      })
      .Case(
          [&](tensor::InsertSliceOp slice) { return batchInsertSlice(slice); })
      .Case([&](tensor::CollapseShapeOp reshape) {
        return batchReshape(reshape);
      })
      .Case(
          [&](tensor::ExpandShapeOp reshape) { return batchReshape(reshape); })
      .Case([&](linalg::SoftmaxOp softmax) { return batchSoftmax(softmax); })
      .Default([&](Operation *other) { return batchForeign(other); });
}

/// Emits an error at `op`, whose batched form `made` is part of, if no lowering
/// knows that.
static LogicalResult checkBatchedForm(Operation *op, Operation *made) {
  WalkResult result = made->walk([&](Operation *nested) {
    if (isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
            tensor::TensorDialect>(nested->getDialect()))
      return WalkResult::advance();
    op->emitOpError("has a batched form with '")
        << nested->getName()
        << "', which has no lowering: build it of linalg, tensor, arith and "
           "math";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelBatcher::batchForeign(Operation *op) {
  auto batchable = dyn_cast<BatchableOpInterface>(op);
  if (!batchable)
    return op->emitOpError(
        "cannot be batched: write it as linalg.generic, or let it implement "
        "BatchableOpInterface");
  SmallVector<Value> operands, results;
  SmallVector<bool> batched;
  for (Value operand : op->getOperands()) {
    BatchedValue form = lookup(operand);
    if (form.kind == BatchedValue::Rows || form.kind == BatchedValue::Extent)
      return op->emitOpError("cannot be batched over a ragged tensor: its "
                             "BatchableOpInterface knows one row per task");
    operands.push_back(form.value);
    batched.push_back(form.isBatched());
  }
  // What it makes of shared operands alone, it makes for every task.
  if (!operands.empty() && !llvm::is_contained(batched, true)) {
    operands[0] = getAs(op, op->getOperand(0), BatchedValue::PerTask, -1);
    if (!operands[0])
      return failure();
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
        getBatchedType(result.getType(), BatchedValue::PerTask))
      return op->emitOpError("has a batched form of type ")
             << value.getType() << " instead of "
             << getBatchedType(result.getType(), BatchedValue::PerTask);
    map(result, BatchedValue::PerTask, value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise operations on tensors and scalars
//===----------------------------------------------------------------------===//

LogicalResult KernelBatcher::batchElementwise(Operation *op) {
  // A scalar condition selects whole tensors.
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (isa<RankedTensorType>(op->getResult(0).getType()) &&
        !isa<RankedTensorType>(select.getCondition().getType()))
      return batchSelect(op);

  FailureOr<BatchedValue> form = joinOperands(op, op->getOperands());
  if (failed(form))
    return failure();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value value = getAs(op, operand, form->kind, form->domain);
    if (!value)
      return failure();
    operands.push_back(value);
  }
  Operation *copy = op->clone();
  copy->setOperands(operands);
  for (OpResult result : copy->getResults())
    result.setType(getBatchedType(result.getType(), form->kind));
  builder.insert(copy);
  for (auto [result, value] : llvm::zip(op->getResults(), copy->getResults()))
    map(result, form->kind, value, form->domain);
  return success();
}

LogicalResult KernelBatcher::batchSelect(Operation *op) {
  auto select = cast<arith::SelectOp>(op);
  Location loc = op->getLoc();
  FailureOr<BatchedValue> form = joinOperands(op, op->getOperands());
  if (failed(form))
    return failure();
  Type type = select.getType();
  Value onTrue = getAs(op, select.getTrueValue(), form->kind, form->domain);
  Value onFalse = getAs(op, select.getFalseValue(), form->kind, form->domain);
  if (!onTrue || !onFalse)
    return failure();
  BatchedValue condition = lookup(select.getCondition());
  if (condition.kind == BatchedValue::Once) {
    Value value =
        arith::SelectOp::create(builder, loc, condition.value, onTrue, onFalse);
    map(select, form->kind, value, form->domain);
    return success();
  }
  Value conditions = getAs(op, select.getCondition(), form->kind, form->domain);
  if (!conditions)
    return failure();
  RankedTensorType batchedType = getBatchedType(type, form->kind);
  AffineMap all = builder.getMultiDimIdentityMap(batchedType.getRank());
  AffineMap row = all.getMajorSubMap(1);
  Value empty = buildEmpty(loc, type, form->kind, form->domain);
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
  map(select, form->kind, generic.getResult(0), form->domain);
  return success();
}

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

LogicalResult KernelBatcher::batchDim(tensor::DimOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  std::optional<int64_t> index = op.getConstantIndex();
  if (!type || !index || *index < 0 || *index >= type.getRank())
    return op.emitOpError("cannot be batched: the dimension must be constant");
  if (!type.isDynamicDim(*index)) {
    map(op, BatchedValue::Once,
        arith::ConstantIndexOp::create(builder, op.getLoc(),
                                       type.getDimSize(*index)));
    return success();
  }
  map(op, BatchedValue::Extent, Value(), lookup(op.getSource()).domain);
  return success();
}

LogicalResult KernelBatcher::batchEmpty(tensor::EmptyOp op) {
  BatchedValue extent;
  if (op.getDynamicSizes().size() == 1)
    extent = lookup(op.getDynamicSizes()[0]);
  if (extent.kind != BatchedValue::Extent)
    return op.emitOpError("has an extent that differs from task to task and "
                          "is not that of a ragged tensor");
  map(op, BatchedValue::Rows,
      buildEmpty(op.getLoc(), op.getType(), BatchedValue::Rows, extent.domain),
      extent.domain);
  return success();
}

LogicalResult KernelBatcher::batchSplat(tensor::SplatOp op) {
  Location loc = op.getLoc();
  Kind kind = BatchedValue::PerTask;
  int64_t domain = -1;
  if (!op.getDynamicSizes().empty()) {
    BatchedValue extent = lookup(op.getDynamicSizes()[0]);
    if (op.getDynamicSizes().size() != 1 || extent.kind != BatchedValue::Extent)
      return op.emitOpError("has an extent that differs from task to task and "
                            "is not that of a ragged tensor");
    kind = BatchedValue::Rows;
    domain = extent.domain;
  }
  BatchedValue input = lookup(op.getInput());
  if (input.kind == BatchedValue::Once) {
    Value empty = buildEmpty(loc, op.getType(), kind, domain);
    map(op, kind,
        linalg::FillOp::create(builder, loc, input.value, empty).getResult(0),
        domain);
    return success();
  }
  Value scalars = getAs(op, op.getInput(), kind, domain);
  if (!scalars)
    return failure();
  RankedTensorType type = getBatchedType(op.getType(), kind);
  if (type.getRank() > 1) {
    Value empty = buildEmpty(loc, op.getType(), kind, domain);
    scalars = linalg::BroadcastOp::create(
                  builder, loc, scalars, empty,
                  llvm::to_vector(llvm::seq<int64_t>(1, type.getRank())))
                  ->getResult(0);
  }
  map(op, kind, scalars, domain);
  return success();
}

LogicalResult KernelBatcher::batchExtract(tensor::ExtractOp op) {
  BatchedValue form = lookup(op.getTensor());
  if (form.kind != BatchedValue::PerTask &&
      !(form.kind == BatchedValue::Once &&
        op.getTensor().getType().hasStaticShape()))
    return op.emitOpError("cannot be batched: it reads a tensor that is not "
                          "one task's own, of an extent that is not known; "
                          "pass the row or the element to the kernel");
  if (op.getIndices().empty()) {
    map(op, BatchedValue::PerTask, form.value);
    return success();
  }
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(op.getIndices());
  SmallVector<OpFoldResult> ones(indices.size(), builder.getIndexAttr(1));
  llvm::SmallBitVector dropped(indices.size(), true);
  return batchPick(op, op.getTensor(), indices, ones, ones, dropped);
}

/// True if code cannot know `position`: it differs from task to task, or is
/// computed from parameters. What loops count is known once they are unrolled.
bool KernelBatcher::isUnknown(Value position) const {
  return lookup(position).kind == BatchedValue::PerTask ||
         (isa<KernelOp>(position.getParentRegion()->getParentOp()) &&
          !matchPattern(position, m_Constant()));
}

/// Takes whole what is at other positions for other tasks, and picks the
/// elements from it. All that are not picked count as -0.0, or as 0 if they are
/// integers, so the sum is the picked one bit for bit.
LogicalResult KernelBatcher::batchPick(Operation *op, Value source,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes,
                                       ArrayRef<OpFoldResult> strides,
                                       const llvm::SmallBitVector &dropped) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(source.getType());
  Type element = type.getElementType();
  BatchedValue form = lookup(source);
  SmallVector<OpFoldResult> first, counts, steps;
  // Of the slice with whole dimensions: its shape, loops and maps.
  SmallVector<int64_t> shape;
  if (form.isBatched()) {
    first.push_back(builder.getIndexAttr(0));
    counts.push_back(tasks);
    steps.push_back(builder.getIndexAttr(1));
    shape.push_back(ShapedType::kDynamic);
  }
  SmallVector<utils::IteratorType> iterators = {utils::IteratorType::parallel};
  SmallVector<std::pair<unsigned, Value>> positions; // by loop
  SmallVector<AffineExpr> kept = {builder.getAffineDimExpr(0)};
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(offsets, sizes, strides)) {
    auto isOnce = [&](OpFoldResult part) {
      auto value = dyn_cast<Value>(part);
      return !value || lookup(value).kind == BatchedValue::Once;
    };
    auto position = dyn_cast<Value>(offset);
    bool picked = position && isUnknown(position);
    if (picked ? form.kind == BatchedValue::Rows || !isOneInteger(size) ||
                     !dropped[dim] || type.isDynamicDim(dim)
               : !isOnce(offset) || !isOnce(size) || !isOnce(stride))
      return op->emitOpError(
          "takes a slice that differs from task to task, other than one "
          "position of a tensor of known size");
    if (picked) {
      Value own = getAs(op, position, BatchedValue::PerTask, /*domain=*/-1);
      if (!own)
        return failure();
      positions.push_back({iterators.size(), own});
      iterators.push_back(utils::IteratorType::reduction);
      first.push_back(builder.getIndexAttr(0));
      counts.push_back(builder.getIndexAttr(type.getDimSize(dim)));
      steps.push_back(builder.getIndexAttr(1));
      shape.push_back(type.getDimSize(dim));
      continue;
    }
    auto get = [&](OpFoldResult part) -> OpFoldResult {
      if (auto value = dyn_cast<Value>(part))
        return lookup(value).value;
      return part;
    };
    first.push_back(get(offset));
    counts.push_back(get(size));
    steps.push_back(get(stride));
    if (dropped[dim])
      continue;
    kept.push_back(builder.getAffineDimExpr(iterators.size()));
    iterators.push_back(utils::IteratorType::parallel);
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  }
  auto slice = tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, element), form.value, first,
      counts, steps);
  if (positions.empty()) {
    map(op->getResult(0), form.kind, slice, form.domain);
    return success();
  }
  map(op->getResult(0), BatchedValue::PerTask,
      sumPicked(op, slice, form.isBatched(), iterators, positions, kept));
  return success();
}

/// The sum of the elements of `slice` at each task's own `positions`, which are
/// given by loop; `kept` are the loops of the result.
Value KernelBatcher::sumPicked(Operation *op, Value slice, bool batched,
                               ArrayRef<utils::IteratorType> iterators,
                               ArrayRef<std::pair<unsigned, Value>> positions,
                               ArrayRef<AffineExpr> kept) {
  Location loc = op->getLoc();
  Type element = cast<RankedTensorType>(slice.getType()).getElementType();
  TypedAttr neutral = builder.getZeroAttr(element);
  if (auto real = dyn_cast<FloatType>(element))
    neutral = FloatAttr::get(
        real, APFloat::getZero(real.getFloatSemantics(), /*Negative=*/true));
  Value none = arith::ConstantOp::create(builder, loc, neutral);
  Value start =
      linalg::FillOp::create(builder, loc, none,
                             buildEmpty(loc, op->getResult(0).getType(),
                                        BatchedValue::PerTask, /*domain=*/-1))
          .getResult(0);
  auto loops = static_cast<unsigned>(iterators.size());
  MLIRContext *context = builder.getContext();
  SmallVector<Value> inputs = {slice};
  SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(loops)};
  if (!batched)
    maps.front() = maps.front().dropResult(0);
  for (auto [loop, position] : positions) {
    inputs.push_back(position);
    maps.push_back(AffineMap::get(loops, 0, kept.front(), context));
  }
  maps.push_back(AffineMap::get(loops, 0, kept, context));
  auto generic = linalg::GenericOp::create(
      builder, loc, start.getType(), inputs, start, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        Value value = arguments.front();
        for (auto [number, position] : llvm::enumerate(positions)) {
          Value index = linalg::IndexOp::create(nested, loc, position.first);
          Value isHere =
              arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq,
                                    index, arguments[number + 1]);
          value = arith::SelectOp::create(nested, loc, isHere, value, none);
        }
        Value sum =
            isa<FloatType>(element)
                ? arith::AddFOp::create(nested, loc, value, arguments.back())
                      .getResult()
                : arith::AddIOp::create(nested, loc, value, arguments.back());
        linalg::YieldOp::create(nested, loc, sum);
      });
  return generic.getResult(0);
}

LogicalResult KernelBatcher::batchFromElements(tensor::FromElementsOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  RankedTensorType batchedType = getBatchedType(type, BatchedValue::PerTask);
  // A column per element.
  SmallVector<Value> columns;
  for (Value element : op.getElements()) {
    Value scalars = getAs(op, element, BatchedValue::PerTask, -1);
    if (!scalars)
      return failure();
    if (type.getRank() == 0) {
      map(op, BatchedValue::PerTask, scalars);
      return success();
    }
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
  map(op, BatchedValue::PerTask, flat);
  return success();
}

//===----------------------------------------------------------------------===//
// Pieces of tensors
//===----------------------------------------------------------------------===//

LogicalResult KernelBatcher::batchConcat(tensor::ConcatOp op) {
  FailureOr<BatchedValue> form = joinOperands(op, op.getInputs());
  if (failed(form))
    return failure();
  auto dim = static_cast<int64_t>(op.getDim());
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    if (form->kind == BatchedValue::Rows &&
        (!cast<RankedTensorType>(input.getType()).hasStaticShape()
             ? getExtentDim(input.getType()) == dim
             : true))
      return op.emitOpError("concatenates along a ragged extent: pass the "
                            "concatenation to the kernel");
    Value value = getAs(op, input, form->kind, form->domain);
    if (!value)
      return failure();
    inputs.push_back(value);
  }
  map(op, form->kind,
      tensor::ConcatOp::create(
          builder, op.getLoc(), getBatchedType(op.getType(), form->kind),
          getBatchedDim(op.getType(), form->kind, dim), inputs),
      form->domain);
  return success();
}

FailureOr<KernelBatcher::Slice>
KernelBatcher::getSlice(OffsetSizeAndStrideOpInterface op, Type whole,
                        const BatchedValue &form) {
  auto fail = [&]() {
    op->emitOpError("takes a slice that differs from task to task: offsets, "
                    "sizes and strides must be constant or shared, and a "
                    "ragged extent must be taken whole");
    return failure();
  };
  Slice slice;
  slice.offsets.push_back(builder.getIndexAttr(0));
  slice.sizes.push_back(getRowCount(form.kind, form.domain));
  slice.strides.push_back(builder.getIndexAttr(1));
  int64_t extentDim =
      form.kind == BatchedValue::Rows ? getExtentDim(whole) : -1;
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    if (static_cast<int64_t>(dim) == extentDim) {
      auto extent = dyn_cast<Value>(size);
      if (!extent || lookup(extent).kind != BatchedValue::Extent ||
          lookup(extent).domain != form.domain || !isZeroInteger(offset) ||
          !isOneInteger(stride))
        return fail();
      continue;
    }
    for (OpFoldResult part : {offset, size, stride}) {
      if (auto value = dyn_cast<Value>(part)) {
        if (lookup(value).kind != BatchedValue::Once)
          return fail();
      }
    }
    auto get = [&](OpFoldResult part) -> OpFoldResult {
      if (auto value = dyn_cast<Value>(part))
        return lookup(value).value;
      return part;
    };
    slice.offsets.push_back(get(offset));
    slice.sizes.push_back(get(size));
    slice.strides.push_back(get(stride));
  }
  return slice;
}

LogicalResult KernelBatcher::batchExtractSlice(tensor::ExtractSliceOp op) {
  BatchedValue form = lookup(op.getSource());
  if (form.kind == BatchedValue::Once && !op.getSourceType().hasStaticShape())
    return op.emitOpError("takes a slice of a shared tensor at a per-task "
                          "position: pass the slice to the kernel");
  if (llvm::any_of(op.getOffsets(),
                   [&](Value offset) { return isUnknown(offset); }))
    return batchPick(op, op.getSource(), op.getMixedOffsets(),
                     op.getMixedSizes(), op.getMixedStrides(),
                     op.getDroppedDims());
  FailureOr<Slice> slice = getSlice(op, op.getSourceType(), form);
  if (failed(slice))
    return failure();
  map(op, form.kind,
      tensor::ExtractSliceOp::create(
          builder, op.getLoc(), getBatchedType(op.getType(), form.kind),
          form.value, slice->offsets, slice->sizes, slice->strides),
      form.domain);
  return success();
}

LogicalResult KernelBatcher::batchInsertSlice(tensor::InsertSliceOp op) {
  FailureOr<BatchedValue> form =
      joinOperands(op, {op.getSource(), op.getDest()});
  if (failed(form))
    return failure();
  Value source = getAs(op, op.getSource(), form->kind, form->domain);
  Value dest = getAs(op, op.getDest(), form->kind, form->domain);
  if (!source || !dest)
    return failure();
  FailureOr<Slice> slice = getSlice(op, op.getDestType(), *form);
  if (failed(slice))
    return failure();
  map(op, form->kind,
      tensor::InsertSliceOp::create(builder, op.getLoc(), source, dest,
                                    slice->offsets, slice->sizes,
                                    slice->strides),
      form->domain);
  return success();
}

template <typename ReshapeOp>
LogicalResult KernelBatcher::batchReshape(ReshapeOp op) {
  BatchedValue form = lookup(op.getSrc());
  RankedTensorType sourceType = op.getSrcType(),
                   resultType = op.getResultType();
  if (!form.isBatched())
    return op.emitOpError("cannot be batched: its shape differs from task to "
                          "task");
  constexpr bool isExpand = std::is_same_v<ReshapeOp, tensor::ExpandShapeOp>;
  // The dimension groups belong to the operand with more dimensions.
  Type detailed = isExpand ? Type(resultType) : Type(sourceType);
  SmallVector<ReassociationIndices> groups = {{0}};
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    if (form.kind == BatchedValue::Rows &&
        llvm::is_contained(group, getExtentDim(detailed))) {
      if (group.size() != 1)
        return op.emitOpError("mixes a ragged extent with other dimensions");
      continue;
    }
    ReassociationIndices batched;
    for (int64_t dim : group)
      batched.push_back(getBatchedDim(detailed, form.kind, dim));
    groups.push_back(std::move(batched));
  }
  RankedTensorType type = getBatchedType(resultType, form.kind);
  // A task's only element has no group of its own.
  if (isExpand ? sourceType.getRank() == 0 : resultType.getRank() == 0)
    groups[0] = llvm::to_vector<2>(llvm::seq<int64_t>(
        0, isExpand ? type.getRank() : sourceType.getRank() + 1));
  Value value;
  if constexpr (isExpand) {
    SmallVector<OpFoldResult> shape = {getRowCount(form.kind, form.domain)};
    for (int64_t extent : type.getShape().drop_front())
      shape.push_back(builder.getIndexAttr(extent));
    value = tensor::ExpandShapeOp::create(builder, op.getLoc(), type,
                                          form.value, groups, shape);
  } else {
    value = tensor::CollapseShapeOp::create(builder, op.getLoc(), type,
                                            form.value, groups);
  }
  map(op, form.kind, value, form.domain);
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

LogicalResult KernelBatcher::batchSoftmax(linalg::SoftmaxOp op) {
  BatchedValue form = lookup(op.getInput());
  if (form.kind != BatchedValue::PerTask)
    return op.emitOpError("cannot be batched over a ragged tensor: write it as "
                          "maximum, exponential, sum and quotient");
  Location loc = op.getLoc();
  Value empty = buildEmpty(loc, op.getInput().getType(), form.kind, -1);
  auto batched = linalg::SoftmaxOp::create(
      builder, loc, empty.getType(), form.value, empty, op.getDimension() + 1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(batched);
  FailureOr<SmallVector<Value>> values = batched.decomposeOperation(builder);
  if (failed(values))
    return failure();
  // The decomposition asks for the number of rows, which is known.
  for (Operation *made = empty.getDefiningOp(); made != batched;
       made = made->getNextNode())
    if (auto dim = dyn_cast<tensor::DimOp>(made))
      if (dim.getConstantIndex() == 0)
        dim.replaceAllUsesWith(tasks);
  batched.erase();
  map(op->getResult(0), form.kind, values->front());
  return success();
}
