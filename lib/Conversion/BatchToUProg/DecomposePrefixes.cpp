//===- DecomposePrefixes.cpp - Code over computed extents -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may compute the size of a slice, such as the first `t` rows of a
// cache. Tensors that are computed from the slice have the same extent and
// remain in the kernel. Each such tensor becomes a tensor with the maximum
// number of rows, and its rows from `t` on are unused. Reductions skip these
// rows, and code generators end the loops of reductions before them. A read of
// an unused row is out of range, and an insert of the tensor omits the unused
// rows. The size is checked like an index.
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Views.h"
#include "KernelBatcher.h"
#include "PrefixExtents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;
using arith::CmpIPredicate;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Code for the largest extents
//===----------------------------------------------------------------------===//

namespace {

class PrefixRewriter {
public:
  PrefixRewriter(KernelOp kernel, Extents &extents)
      : kernel(kernel), extents(extents), builder(kernel.getContext()) {}

  LogicalResult run();

private:
  LogicalResult rewrite(Operation *op);
  void rewriteLinalg(linalg::LinalgOp op);
  LogicalResult rewriteSlice(tensor::ExtractSliceOp slice);
  LogicalResult rewriteInsert(tensor::InsertSliceOp insert);
  void rewriteExtract(tensor::ExtractOp extract);
  void rewriteReads(linalg::GenericOp op, ArrayRef<Extent *> loops);
  Value readWindow(tensor::ExtractSliceOp slice);

  bool isInvolved(Operation *op);
  void setTypes(Operation *op);
  void replace(Operation *op, Value made);
  Value getSize(Extent &extent);
  Value isBelow(OpBuilder &nested, Location loc, Value index, Value size);
  /// Like checkIndex(), for a number that is computed outside structured ops.
  Value checkNumber(Location loc, Value index, Value limit, const Twine &what);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  KernelOp kernel;
  Extents &extents;
  OpBuilder builder;
};

} // namespace

/// Returns true if `op` has an operand or result with a computed extent.
bool PrefixRewriter::isInvolved(Operation *op) {
  auto isPrefix = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
      if (extents.find(value, dim))
        return true;
    return false;
  };
  return llvm::any_of(op->getOperands(), isPrefix) ||
         llvm::any_of(op->getResults(), isPrefix);
}

void PrefixRewriter::setTypes(Operation *op) {
  for (Value result : op->getResults())
    result.setType(extents.getBounded(result));
}

void PrefixRewriter::replace(Operation *op, Value made) {
  extents.copy(op->getResult(0), made);
  op->getResult(0).replaceAllUsesWith(made);
  op->erase();
}

Value PrefixRewriter::isBelow(OpBuilder &nested, Location loc, Value index,
                              Value size) {
  return arith::CmpIOp::create(nested, loc, CmpIPredicate::ult, index, size);
}

Value PrefixRewriter::checkNumber(Location loc, Value index, Value limit,
                                  const Twine &what) {
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(),
                                        builder.getIndexType());
  auto checked = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange(), empty,
      AffineMap::get(builder.getContext()), ArrayRef<IteratorType>(),
      [&](OpBuilder &nested, Location, ValueRange) {
        linalg::YieldOp::create(nested, loc,
                                checkIndex(nested, loc, index, limit, what));
      });
  return tensor::ExtractOp::create(builder, loc, checked.getResult(0),
                                   ValueRange());
}

Value PrefixRewriter::getSize(Extent &extent) {
  if (extent.checked)
    return extent.checked;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(extent.size);
  Location loc = extent.size.getLoc();
  extent.checked =
      checkNumber(loc, extent.size, constant(loc, extent.bound + 1),
                  "the size of a slice of " + extent.what);
  return extent.checked;
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

/// Disables reads beyond the extents of the loops, and checks reads of tensors
/// with a computed extent.
void PrefixRewriter::rewriteReads(linalg::GenericOp op,
                                  ArrayRef<Extent *> loops) {
  for (auto extract :
       llvm::to_vector(op.getBody()->getOps<tensor::ExtractOp>())) {
    Location loc = extract.getLoc();
    OpBuilder nested(extract);
    Value exists;
    for (auto [loop, extent] : llvm::enumerate(loops))
      if (extent) {
        Value here =
            isBelow(nested, loc, linalg::IndexOp::create(nested, loc, loop),
                    getSize(*extent));
        exists =
            exists ? arith::AndIOp::create(nested, loc, exists, here) : here;
      }
    for (OpOperand &operand : extract.getIndicesMutable()) {
      Value index = operand.get();
      unsigned dim = operand.getOperandNumber() - 1;
      Extent *extent = extents.find(extract.getTensor(), dim);
      auto own = index.getDefiningOp<linalg::IndexOp>();
      Extent *range = own ? loops[own.getDim()] : nullptr;
      auto type = cast<RankedTensorType>(extract.getTensor().getType());
      bool isInside = range && (extent ? extent == range
                                       : type.getDimSize(dim) >= range->bound);
      if (isInside || (!extent && getConstantIntValue(index)))
        continue;
      Value one = arith::ConstantIndexOp::create(nested, loc, 1);
      if (exists) {
        auto select = arith::SelectOp::create(
            nested, loc, exists, index,
            arith::ConstantIndexOp::create(nested, loc, 0));
        select->setAttr(kExistsAttr, nested.getUnitAttr());
        index = select;
      }
      if (extent) {
        Value limit = getSize(*extent);
        if (exists)
          limit = arith::SelectOp::create(nested, loc, exists, limit, one);
        index = checkIndex(
            nested, loc, index, limit,
            describeDimension(dim, {}, extents.getOriginal(extract.getTensor()),
                              loc));
      }
      operand.set(index);
    }
  }
}

void PrefixRewriter::rewriteLinalg(linalg::LinalgOp op) {
  Location loc = op.getLoc();
  SmallVector<Extent *> loops = extents.findLoops(op);
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  bool reduces = llvm::any_of(llvm::zip(loops, iterators), [](auto pair) {
    return std::get<0>(pair) && std::get<1>(pair) == IteratorType::reduction;
  });
  bool reads = op->walk([](tensor::ExtractOp) {
                   return WalkResult::interrupt();
                 }).wasInterrupted();
  if (!reduces && !reads)
    return setTypes(op);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(op.getDpsInits()), op.getDpsInputs(),
      op.getDpsInits(), op.getIndexingMapsArray(), iterators);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  rewriteReads(generic, loops);
  Operation *yield = generic.getBody()->getTerminator();
  OpBuilder nested(yield);
  // A reduction leaves its result unchanged beyond the extents.
  Value exists;
  for (auto [loop, extent] : llvm::enumerate(loops))
    if (extent && iterators[loop] == IteratorType::reduction) {
      Value here =
          isBelow(nested, loc, linalg::IndexOp::create(nested, loc, loop),
                  getSize(*extent));
      exists = exists ? arith::AndIOp::create(nested, loc, exists, here) : here;
    }
  for (OpOperand &operand : yield->getOpOperands())
    if (exists)
      operand.set(arith::SelectOp::create(
          nested, loc, exists, operand.get(),
          generic.getRegionOutputArgs()[operand.getOperandNumber()]));
  for (auto [result, made] :
       llvm::zip(op->getResults(), generic.getResults())) {
    extents.copy(result, made);
    result.replaceAllUsesWith(made);
  }
  op->erase();
}

//===----------------------------------------------------------------------===//
// Slices, elements, inserts
//===----------------------------------------------------------------------===//

/// Builds a slice with a computed size at a computed position by reading its
/// elements.
Value PrefixRewriter::readWindow(tensor::ExtractSliceOp slice) {
  Location loc = slice.getLoc();
  RankedTensorType type = extents.getBounded(slice);
  SmallVector<unsigned> kept = getKeptDims(slice);
  SmallVector<Extent *> loops;
  for (unsigned dim = 0; dim < kept.size(); ++dim)
    loops.push_back(extents.find(slice, dim));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<IteratorType> iterators(kept.size(), IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, type, ValueRange(), empty,
      builder.getMultiDimIdentityMap(kept.size()), iterators,
      [&](OpBuilder &nested, Location, ValueRange) {
        SmallVector<Value> indices;
        unsigned loop = 0;
        for (auto [dim, offset, stride] : llvm::enumerate(
                 slice.getMixedOffsets(), slice.getMixedStrides())) {
          Value index = getValueOrCreateConstantIndexOp(nested, loc, offset);
          if (loop < kept.size() && kept[loop] == dim) {
            Value along = linalg::IndexOp::create(nested, loc, loop++);
            along = arith::MulIOp::create(
                nested, loc, along,
                getValueOrCreateConstantIndexOp(nested, loc, stride));
            index = arith::AddIOp::create(nested, loc, index, along);
          }
          indices.push_back(index);
        }
        Value element =
            tensor::ExtractOp::create(nested, loc, slice.getSource(), indices);
        linalg::YieldOp::create(nested, loc, element);
      });
  rewriteReads(generic, loops);
  return generic.getResult(0);
}

LogicalResult PrefixRewriter::rewriteSlice(tensor::ExtractSliceOp slice) {
  Location loc = slice.getLoc();
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  SmallVector<OpFoldResult> strides = slice.getMixedStrides();
  SmallVector<unsigned> kept = getKeptDims(slice);
  bool isWindow = false;
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(offsets, sizes, strides)) {
    Extent *source = extents.find(slice.getSource(), dim);
    auto own = llvm::find(kept, dim);
    Extent *result = own == kept.end()
                         ? nullptr
                         : extents.find(slice.getResult(), own - kept.begin());
    if (result) {
      if (source && (!isZeroInteger(offset) || !isOneInteger(stride)))
        return slice.emitOpError(
            "takes a slice of computed size from a tensor of computed size; "
            "take it from the original tensor");
      isWindow |= !getConstantIntValue(offset).has_value();
      size = builder.getIndexAttr(result->bound);
      continue;
    }
    if (!source)
      continue;
    std::optional<int64_t> count = getConstantIntValue(size);
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!count || !step)
      return slice.emitOpError("takes a slice with a non-constant size or "
                               "stride from a tensor of computed size; use a "
                               "constant size and stride");
    // All rows of the slice exist if the last one does.
    Value first = getValueOrCreateConstantIndexOp(builder, loc, offset);
    Value distance = constant(loc, (*count - 1) * *step);
    Value last = arith::AddIOp::create(builder, loc, first, distance);
    last =
        checkNumber(loc, last, getSize(*source),
                    describeDimension(
                        dim, {}, extents.getOriginal(slice.getSource()), loc));
    offset = arith::SubIOp::create(builder, loc, last, distance).getResult();
  }
  if (isWindow) {
    replace(slice, readWindow(slice));
    return success();
  }
  auto made = tensor::ExtractSliceOp::create(
      builder, loc, extents.getBounded(slice), slice.getSource(), offsets,
      sizes, strides);
  replace(slice, made);
  return success();
}

/// Rewrites an insert. Each element is the inserted element or, outside the
/// slice, the element of the destination.
LogicalResult PrefixRewriter::rewriteInsert(tensor::InsertSliceOp insert) {
  Location loc = insert.getLoc();
  RankedTensorType type = insert.getDestType();
  SmallVector<unsigned> kept = getKeptDims(insert);
  SmallVector<OpFoldResult> offsets = insert.getMixedOffsets();
  bool isKnown = type.hasStaticShape() && insert.hasUnitStride() &&
                 llvm::all_of(offsets, [](OpFoldResult offset) {
                   return getConstantIntValue(offset).has_value();
                 });
  for (unsigned dim = 0; dim < kept.size(); ++dim)
    isKnown &= !insert.isDynamicSize(kept[dim]) ||
               extents.find(insert.getSource(), dim);
  if (!isKnown)
    return insert.emitOpError("inserts a tensor of computed size; expected "
                              "constant offsets, unit strides and a "
                              "destination of static shape");
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<IteratorType> iterators(type.getRank(), IteratorType::parallel);
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  // Create sizes before the body that captures them.
  SmallVector<Value> counts;
  for (auto [dim, size] : llvm::enumerate(insert.getMixedSizes())) {
    auto own = llvm::find(kept, dim);
    Extent *extent = own == kept.end()
                         ? nullptr
                         : extents.find(insert.getSource(), own - kept.begin());
    counts.push_back(extent
                         ? getSize(*extent)
                         : getValueOrCreateConstantIndexOp(builder, loc, size));
  }
  auto generic = linalg::GenericOp::create(
      builder, loc, type, insert.getDest(), empty, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        SmallVector<Value> indices;
        Value zero = arith::ConstantIndexOp::create(nested, loc, 0), exists;
        for (auto [dim, offset] : llvm::enumerate(offsets)) {
          Value index = arith::SubIOp::create(
              nested, loc, linalg::IndexOp::create(nested, loc, dim),
              getValueOrCreateConstantIndexOp(nested, loc, offset));
          Value here = isBelow(nested, loc, index, counts[dim]);
          exists =
              exists ? arith::AndIOp::create(nested, loc, exists, here) : here;
          if (llvm::is_contained(kept, dim))
            indices.push_back(
                arith::SelectOp::create(nested, loc, here, index, zero));
        }
        Value element =
            tensor::ExtractOp::create(nested, loc, insert.getSource(), indices);
        if (exists)
          element = arith::SelectOp::create(nested, loc, exists, element,
                                            arguments[0]);
        linalg::YieldOp::create(nested, loc, element);
      });
  insert.replaceAllUsesWith(generic.getResult(0));
  insert.erase();
  return success();
}

void PrefixRewriter::rewriteExtract(tensor::ExtractOp extract) {
  Location loc = extract.getLoc();
  for (OpOperand &index : extract.getIndicesMutable()) {
    unsigned dim = index.getOperandNumber() - 1;
    if (Extent *extent = extents.find(extract.getTensor(), dim))
      index.set(checkNumber(
          loc, index.get(), getSize(*extent),
          describeDimension(dim, {}, extents.getOriginal(extract.getTensor()),
                            loc)));
  }
}

//===----------------------------------------------------------------------===//
// All operations
//===----------------------------------------------------------------------===//

LogicalResult PrefixRewriter::rewrite(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    rewriteLinalg(linalgOp);
    return success();
  }
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    setTypes(op);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tensor::EmptyOp empty) {
        RankedTensorType type = extents.getBounded(empty);
        replace(empty,
                tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                        type.getElementType()));
        return success();
      })
      .Case([&](tensor::SplatOp splat) {
        replace(splat, tensor::SplatOp::create(builder, op->getLoc(),
                                               extents.getBounded(splat),
                                               splat.getInput(), ValueRange()));
        return success();
      })
      .Case([&](tensor::ExtractSliceOp slice) { return rewriteSlice(slice); })
      .Case([&](tensor::InsertSliceOp insert) { return rewriteInsert(insert); })
      .Case([&](tensor::ExtractOp extract) {
        rewriteExtract(extract);
        return success();
      })
      .Case([&](tensor::CollapseShapeOp reshape) {
        setTypes(op);
        return success();
      })
      .Case([&](tensor::ExpandShapeOp reshape) {
        replace(op, tensor::ExpandShapeOp::create(
                        builder, op->getLoc(), extents.getBounded(reshape),
                        reshape.getSrc(), reshape.getReassociationIndices()));
        return success();
      })
      .Case([&](tensor::DimOp dim) {
        std::optional<int64_t> number = dim.getConstantIndex();
        Extent *extent =
            number ? extents.find(dim.getSource(), *number) : nullptr;
        if (extent) {
          dim.replaceAllUsesWith(getSize(*extent));
          dim.erase();
        }
        return success();
      })
      .Default([&](Operation *) {
        return op->emitOpError(
            "has no batched form for a tensor with a computed extent; rewrite "
            "it as linalg.generic, or insert the tensor into a tensor of "
            "static shape");
      });
}

LogicalResult PrefixRewriter::run() {
  Block &body = kernel.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (!isInvolved(&op))
      continue;
    builder.setInsertionPoint(&op);
    if (failed(rewrite(&op)))
      return failure();
  }
  return success();
}

/// Decomposes softmax ops with a computed extent into reductions and
/// elementwise ops.
static void decomposeSoftmax(KernelOp kernel) {
  for (auto softmax :
       llvm::to_vector(kernel.getBody().front().getOps<linalg::SoftmaxOp>())) {
    if (softmax.getInput().getType().hasStaticShape() ||
        isa<BlockArgument>(softmax.getInput()))
      continue;
    OpBuilder builder(softmax);
    // The decomposition never fails on tensors.
    SmallVector<Value> values = *softmax.decomposeOperation(builder);
    softmax->getResult(0).replaceAllUsesWith(values.front());
    softmax.erase();
  }
}

LogicalResult mlir::batch::decomposePrefixes(KernelOp kernel) {
  auto isComputed = [](Operation &op) {
    return isa<tensor::ExtractSliceOp>(op) &&
           !cast<RankedTensorType>(op.getResult(0).getType()).hasStaticShape();
  };
  if (llvm::none_of(kernel.getBody().front(), isComputed) ||
      !Extents(kernel).hasPrefix())
    return success();
  decomposeSoftmax(kernel);
  RewritePatternSet patterns(kernel.getContext());
  patterns.add<linalg::DecomposePadOpPattern>(kernel.getContext());
  walkAndApplyPatterns(kernel, std::move(patterns));
  Extents extents(kernel);
  if (Operation *conflict = extents.getConflict())
    return conflict->emitOpError("combines tensors with different computed "
                                 "extents; use the same size for both slices");
  return PrefixRewriter(kernel, extents).run();
}
