//===- VectorizeInserts.cpp - Batch inserts at computed positions ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice or an element that is inserted at positions that code generators do
// not know becomes a linalg.generic over the tensor that it is inserted into:
// each element is that tensor's own or, inside of the slice, the one that is
// inserted. Positions are checked as those of reads are (VectorizeReads.cpp).
//
// Whether an element lies inside depends on the columns only if the slice does
// not take all of them, so whole rows are written as vectors.
//
//===----------------------------------------------------------------------===//

#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::batch;
using arith::CmpIPredicate;
using utils::IteratorType;

/// Where an element of the whole lies along one dimension of the slice.
namespace {
struct Along {
  Value index;    ///< in the slice; 0 outside of it
  Value isInside; ///< null: always
};
} // namespace

/// `distance` is how far the element is from the slice's first one, modulo
/// 2^64.
static Along findAlong(OpBuilder &nested, Location loc, Value distance,
                       int64_t count, int64_t step) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(nested, loc, value);
  };
  auto compare = [&](CmpIPredicate predicate, Value a, int64_t b) -> Value {
    return arith::CmpIOp::create(nested, loc, predicate, a, constant(b));
  };
  Along along;
  along.isInside =
      compare(CmpIPredicate::ult, distance, (count - 1) * step + 1);
  if (step != 1) {
    Value rest = arith::RemUIOp::create(nested, loc, distance, constant(step));
    along.isInside = arith::AndIOp::create(nested, loc, along.isInside,
                                           compare(CmpIPredicate::eq, rest, 0));
    distance = arith::DivUIOp::create(nested, loc, distance, constant(step));
  }
  along.index = arith::SelectOp::create(nested, loc, along.isInside, distance,
                                        constant(0));
  return along;
}

void KernelBatcher::batchInsert(tensor::InsertOp op) {
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(op.getIndices());
  SmallVector<OpFoldResult> ones(indices.size(), builder.getIndexAttr(1));
  llvm::SmallBitVector dropped(indices.size(), true);
  batchPut(op, op.getScalar(), op.getDest(), indices, ones, ones, dropped);
}

void KernelBatcher::batchPut(Operation *op, Value source, Value dest,
                             ArrayRef<OpFoldResult> offsets,
                             ArrayRef<OpFoldResult> sizes,
                             ArrayRef<OpFoldResult> strides,
                             const llvm::SmallBitVector &dropped) {
  Location loc = op->getLoc();
  MLIRContext *context = op->getContext();
  auto type = cast<RankedTensorType>(dest.getType());
  BatchedForm perTask = {BatchedForm::PerTask};
  // An element is an input with one for each task, a slice is read where it
  // lies.
  bool isSlice = isa<RankedTensorType>(source.getType());
  BatchedValue slice = lookup(source);
  Value empty = buildEmpty(loc, type, perTask);
  auto loops =
      static_cast<unsigned>(cast<RankedTensorType>(empty.getType()).getRank());
  SmallVector<Value> inputs = {getAs(op, dest, perTask)};
  if (!isSlice)
    inputs.push_back(getAs(op, source, perTask));
  SmallVector<std::optional<unsigned>> inputOf(type.getRank());
  for (auto [dim, offset] : llvm::enumerate(offsets))
    if (!getConstantIntValue(offset)) {
      inputOf[dim] = inputs.size();
      inputs.push_back(getAs(op, cast<Value>(offset), perTask));
    }
  AffineMap all = AffineMap::getMultiDimIdentityMap(loops, context);
  SmallVector<AffineMap> maps(
      inputs.size(),
      AffineMap::get(loops, 0, getAffineDimExpr(0, context), context));
  maps.front() = all;
  maps.push_back(all);
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  auto buildBody = [&](OpBuilder &nested, Location, ValueRange arguments) {
    SmallVector<Value> indices;
    if (slice.isBatched() && isSlice)
      indices.push_back(linalg::IndexOp::create(nested, loc, 0));
    Value isInside;
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      int64_t extent = type.getDimSize(dim);
      int64_t count = *getConstantIntValue(sizes[dim]);
      int64_t step = *getConstantIntValue(strides[dim]);
      Along along = {linalg::IndexOp::create(nested, loc, dim + 1), Value()};
      if (inputOf[dim] || count != extent) {
        Value first;
        if (inputOf[dim]) {
          std::string what = describe(op, dest, dim);
          if (count > 1)
            what = "a slice of " + std::to_string(count) + " in " + what;
          first =
              check(nested, loc, arguments[*inputOf[dim]],
                    builder.getIndexAttr(extent - (count - 1) * step), what);
        } else {
          first = arith::ConstantIndexOp::create(nested, loc,
                                                 *getConstantIntValue(offset));
        }
        Value distance = arith::SubIOp::create(nested, loc, along.index, first);
        along = findAlong(nested, loc, distance, count, step);
      }
      if (!dropped[dim])
        indices.push_back(along.index);
      if (along.isInside)
        isInside = isInside ? arith::AndIOp::create(nested, loc, isInside,
                                                    along.isInside)
                            : along.isInside;
    }
    Value element =
        isSlice ? tensor::ExtractOp::create(nested, loc, slice.value, indices)
                      .getResult()
                : arguments[1];
    if (isInside)
      element = arith::SelectOp::create(nested, loc, isInside, element,
                                        arguments.front());
    linalg::YieldOp::create(nested, loc, element);
  };
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), inputs, empty, maps, iterators, buildBody);
  map(op->getResult(0), generic.getResult(0));
}
