//===- VectorizeReads.cpp - Batch reads at computed positions -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice, an element or the body of a structured operation may read a tensor
// at a computed index. In an operator, each of these reads becomes a
// linalg.generic whose body has a `tensor.extract` from the tensor as it is
// stored in memory. The cost of reading a row then does not depend on the
// length of the table.
//
// The body compares each index that may be out of range with its limit. If the
// index is out of range, a `cf.assert` that names the tensor reports it. Index
// 0 then replaces it, so nothing outside the tensor is read. The index of a
// task's row is `linalg.index 0`. Where possible, an index is a sum of loop
// indices and of values that are equal for all columns, so a stage still reads
// vectors.
//
//===----------------------------------------------------------------------===//

#include "KernelBatcher.h"

#include "Batch/Dialect/Batch/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::batch;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Checked indices
//===----------------------------------------------------------------------===//

OpFoldResult KernelBatcher::getExtent(Location loc, Value source, int64_t dim) {
  auto type = cast<RankedTensorType>(source.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  return tensor::DimOp::create(builder, loc, lookup(source).value, dim)
      .getResult();
}

/// Returns text that names dimension `dim` of `source`, and the location of
/// `op`, which reads or writes `source`.
std::string KernelBatcher::describe(Operation *op, Value source, int64_t dim) {
  auto argument = dyn_cast<BlockArgument>(source);
  auto parameter = argument ? kernel.getArgAttrOfType<IntegerAttr>(
                                  argument.getArgNumber(), kParameterAttr)
                            : IntegerAttr();
  StringRef name;
  if (parameter)
    name = getParameterName(kernel->getParentOfType<ModuleOp>(),
                            parameter.getInt());
  bool writes = isa<tensor::InsertOp, tensor::InsertSliceOp>(op);
  return describeDimension(dim, name, source.getType(), op->getLoc(),
                           writes ? "written" : "read");
}

static Value getValue(OpBuilder &nested, Location loc, OpFoldResult number) {
  if (auto value = dyn_cast<Value>(number))
    return value;
  return arith::ConstantIndexOp::create(nested, loc,
                                        *getConstantIntValue(number));
}

Value mlir::batch::checkIndex(OpBuilder &builder, Location loc, Value index,
                              Value limit, const Twine &what) {
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, index, limit);
  cf::AssertOp::create(builder, loc, isInside, describeIndexError(what));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::SelectOp::create(builder, loc, isInside, index, zero);
}

Value KernelBatcher::check(OpBuilder &nested, Location loc, Value index,
                           OpFoldResult limit, const Twine &what) {
  Value below = getValue(nested, loc, limit);
  // If there is nothing to read, the index is 0, and a limit of 1 accepts it.
  auto select = index.getDefiningOp<arith::SelectOp>();
  if (select && select->removeAttr(kExistsAttr))
    below =
        arith::SelectOp::create(nested, loc, select.getCondition(), below,
                                arith::ConstantIndexOp::create(nested, loc, 1));
  return checkIndex(nested, loc, index, below, what);
}

Value KernelBatcher::checkRow(OpBuilder &nested, Location loc, Value index,
                              int64_t domain, const Twine &what) {
  Value offsets = domains[domain].offsets;
  Value task = linalg::IndexOp::create(nested, loc, 0);
  Value one = arith::ConstantIndexOp::create(nested, loc, 1);
  Value after = arith::AddIOp::create(nested, loc, task, one);
  Value first = tensor::ExtractOp::create(nested, loc, offsets, task);
  Value next = tensor::ExtractOp::create(nested, loc, offsets, after);
  Value count = arith::SubIOp::create(nested, loc, next, first);
  Value own = check(nested, loc, index, count, what);
  return arith::AddIOp::create(nested, loc, first, own);
}

//===----------------------------------------------------------------------===//
// Slices and elements
//===----------------------------------------------------------------------===//

void KernelBatcher::batchExtract(tensor::ExtractOp op) {
  if (op.getIndices().empty())
    return map(op, getAs(op, op.getTensor(), {BatchedForm::PerTask}));
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(op.getIndices());
  SmallVector<OpFoldResult> ones(indices.size(), builder.getIndexAttr(1));
  llvm::SmallBitVector dropped(indices.size(), true);
  batchPick(op, op.getTensor(), indices, ones, ones, dropped);
}

Value KernelBatcher::buildView(Location loc, Type type, BatchedValue source,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes,
                               ArrayRef<OpFoldResult> strides) {
  SmallVector<OpFoldResult> first = {builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> counts = {tasks}, steps = {builder.getIndexAttr(1)};
  for (auto [offset, size, stride] : llvm::zip_equal(offsets, sizes, strides)) {
    first.push_back(builder.getIndexAttr(*getConstantIntValue(offset)));
    counts.push_back(builder.getIndexAttr(*getConstantIntValue(size)));
    steps.push_back(builder.getIndexAttr(*getConstantIntValue(stride)));
  }
  return tensor::ExtractSliceOp::create(builder, loc,
                                        cast<RankedTensorType>(type),
                                        source.value, first, counts, steps);
}

void KernelBatcher::batchPick(Operation *op, Value source,
                              ArrayRef<OpFoldResult> offsets,
                              ArrayRef<OpFoldResult> sizes,
                              ArrayRef<OpFoldResult> strides,
                              const llvm::SmallBitVector &dropped) {
  Location loc = op->getLoc();
  MLIRContext *context = op->getContext();
  auto type = cast<RankedTensorType>(source.getType());
  BatchedValue form = lookup(source);
  Value empty =
      buildEmpty(loc, op->getResult(0).getType(), {BatchedForm::PerTask});
  auto loops =
      static_cast<unsigned>(cast<RankedTensorType>(empty.getType()).getRank());
  // A slice at known positions is a view.
  auto isKnown = [](OpFoldResult offset) {
    return getConstantIntValue(offset).has_value();
  };
  if (llvm::all_of(offsets, isKnown) && type.hasStaticShape())
    return map(op->getResult(0),
               buildView(loc, empty.getType(), form, offsets, sizes, strides));
  // The ragged rows of all tasks form one dimension.
  bool isRagged = form.kind == BatchedForm::Rows;
  auto isRow = [&](size_t dim) { return isRagged && dim == 0; };
  // Positions are inputs with one element for each task.
  SmallVector<Value> positions;
  SmallVector<std::optional<unsigned>> positionOf(type.getRank());
  SmallVector<OpFoldResult> extents;
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    extents.push_back(isRow(dim) ? OpFoldResult()
                                 : getExtent(loc, source, dim));
    auto position = dyn_cast<Value>(offset);
    if (!position || isKnown(offset))
      continue;
    positionOf[dim] = positions.size();
    positions.push_back(getAs(op, position, {BatchedForm::PerTask}));
  }
  AffineMap all = AffineMap::getMultiDimIdentityMap(loops, context);
  SmallVector<AffineMap> maps(
      positions.size(),
      AffineMap::get(loops, 0, getAffineDimExpr(0, context), context));
  maps.push_back(all);
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  auto buildBody = [&](OpBuilder &nested, Location, ValueRange arguments) {
    SmallVector<Value> indices;
    if (form.isBatched() && !isRagged)
      indices.push_back(linalg::IndexOp::create(nested, loc, 0));
    unsigned loop = 1;
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      int64_t count = *getConstantIntValue(sizes[dim]);
      int64_t step = *getConstantIntValue(strides[dim]);
      bool isDynamic = type.isDynamicDim(dim);
      Value index = positionOf[dim] ? arguments[*positionOf[dim]]
                                    : getValue(nested, loc, offset);
      if (!isDynamic && positionOf[dim]) {
        std::string what = describe(op, source, dim);
        if (count > 1)
          what = "a slice of " + std::to_string(count) + " in " + what;
        index = check(
            nested, loc, index,
            builder.getIndexAttr(type.getDimSize(dim) - (count - 1) * step),
            what);
      }
      if (count > 1) {
        Value along = linalg::IndexOp::create(nested, loc, loop);
        if (step != 1)
          along = arith::MulIOp::create(
              nested, loc, along,
              arith::ConstantIndexOp::create(nested, loc, step));
        index = arith::AddIOp::create(nested, loc, index, along);
      }
      loop += !dropped[dim];
      if (isRow(dim))
        index = checkRow(nested, loc, index, form.domain,
                         describe(op, source, dim));
      else if (isDynamic)
        index =
            check(nested, loc, index, extents[dim], describe(op, source, dim));
      indices.push_back(index);
    }
    Value element = tensor::ExtractOp::create(nested, loc, form.value, indices);
    linalg::YieldOp::create(nested, loc, element);
  };
  auto generic =
      linalg::GenericOp::create(builder, loc, empty.getType(), positions, empty,
                                maps, iterators, buildBody);
  map(op->getResult(0), generic.getResult(0));
}

//===----------------------------------------------------------------------===//
// Bodies of structured operations
//===----------------------------------------------------------------------===//

/// Returns true if an index is below `extent` by construction.
static bool isInside(linalg::LinalgOp op, Value index, int64_t extent) {
  if (ShapedType::isDynamic(extent))
    return false;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant >= 0 && *constant < extent;
  auto loop = index.getDefiningOp<linalg::IndexOp>();
  if (!loop)
    return false;
  int64_t range = op.getStaticLoopRanges()[loop.getDim()];
  return !ShapedType::isDynamic(range) && range <= extent;
}

void KernelBatcher::bindReads(linalg::LinalgOp op, const Loops &loops,
                              linalg::GenericOp generic) {
  OpBuilder::InsertionGuard guard(builder);
  for (auto [extract, copy] : llvm::zip_equal(
           llvm::to_vector(op.getBlock()->getOps<tensor::ExtractOp>()),
           llvm::to_vector(generic.getBody()->getOps<tensor::ExtractOp>()))) {
    Location loc = extract.getLoc();
    Value source = extract.getTensor();
    auto type = cast<RankedTensorType>(source.getType());
    builder.setInsertionPoint(generic);
    BatchedValue form = lookup(source);
    bool isRagged = form.kind == BatchedForm::Rows;
    Value tensor = form.kind == BatchedForm::PerTask
                       ? getAs(op, source, loops.form)
                       : form.value;
    SmallVector<OpFoldResult> extents;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      extents.push_back(isRagged && dim == 0 ? OpFoldResult()
                                             : getExtent(loc, source, dim));
    builder.setInsertionPoint(copy);
    SmallVector<Value> indices;
    if (form.kind == BatchedForm::PerTask)
      indices.push_back(linalg::IndexOp::create(builder, loc, 0));
    for (auto [dim, index, own] :
         llvm::enumerate(extract.getIndices(), copy.getIndices())) {
      if (isInside(op, index, type.getDimSize(dim)))
        indices.push_back(own);
      else if (isRagged && dim == 0)
        indices.push_back(checkRow(builder, loc, own, form.domain,
                                   describe(extract, source, dim)));
      else
        indices.push_back(check(builder, loc, own, extents[dim],
                                describe(extract, source, dim)));
    }
    copy.getResult().replaceAllUsesWith(
        tensor::ExtractOp::create(builder, loc, tensor, indices).getResult());
    copy.erase();
  }
}
