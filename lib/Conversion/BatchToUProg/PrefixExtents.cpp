//===- PrefixExtents.cpp - Extents that a kernel computes -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrefixExtents.h"

#include "Batch/Dialect/Batch/Views.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns true if equivalent ops compute `a` and `b` from the same operands.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  return left && right &&
         cast<OpResult>(a).getResultNumber() ==
             cast<OpResult>(b).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             left, right, OperationEquivalence::IgnoreLocations);
}

static bool isDynamic(Value value, unsigned dim) {
  return cast<RankedTensorType>(value.getType()).isDynamicDim(dim);
}

Extents::Extents(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          extents[getNumber(argument, dim)].isRagged = true;
  for (Operation &op : body.without_terminator())
    visit(&op);
}

int64_t Extents::getNumber(Value value, unsigned dim) {
  auto [it, isNew] = numbers.try_emplace({value, dim}, extents.size());
  if (isNew) {
    parents.push_back(extents.size());
    extents.emplace_back();
  }
  return findRoot(it->second);
}

int64_t Extents::findRoot(int64_t number) const {
  while (parents[number] != number)
    number = parents[number];
  return number;
}

void Extents::setSize(Operation *op, Place place, Value size) {
  if (auto dim = size.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> index = dim.getConstantIndex();
        index && isDynamic(dim.getSource(), *index))
      return unite(op, place, {dim.getSource(), *index});
  Extent &extent = extents[getNumber(place.first, place.second)];
  auto isBefore = [](Value a, Value b) {
    Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
    return right && (!left || left->isBeforeInBlock(right));
  };
  if (extent.size && !isSame(extent.size, size))
    conflict = op;
  else if (!extent.size || isBefore(size, extent.size))
    extent.size = size;
}

void Extents::setBound(Place place, int64_t bound, const Twine &what) {
  Extent &extent = extents[getNumber(place.first, place.second)];
  if (extent.bound >= 0 && extent.bound <= bound)
    return;
  extent.bound = bound;
  extent.what = what.str();
}

void Extents::unite(Operation *op, Place a, Place b) {
  int64_t first = getNumber(a.first, a.second);
  int64_t second = getNumber(b.first, b.second);
  if (first == second)
    return;
  parents[second] = first;
  Extent from = extents[second];
  extents[first].isRagged |= from.isRagged;
  if (from.size)
    setSize(op, a, from.size);
  if (from.bound >= 0)
    setBound(a, from.bound, from.what);
}

void Extents::visitSlice(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType();
  for (auto [i, dim] : llvm::enumerate(getKeptDims(slice))) {
    if (!isDynamic(slice, i))
      continue;
    Place place(slice.getResult(), i);
    setSize(slice, place, cast<Value>(slice.getMixedSizes()[dim]));
    int64_t stride = slice.getStaticStrides()[dim];
    if (source.isDynamicDim(dim)) {
      // If the extent is computed, the slice covers all of it.
      unite(slice, place, {slice.getSource(), dim});
      continue;
    }
    if (ShapedType::isDynamic(stride) || stride < 1)
      continue;
    // If the offset is dynamic, use 0 for this bound. The generated code also
    // checks the position of each row.
    int64_t offset = slice.getStaticOffsets()[dim];
    int64_t rest =
        source.getDimSize(dim) - (ShapedType::isDynamic(offset) ? 0 : offset);
    setBound(place, std::max<int64_t>(0, (rest + stride - 1) / stride),
             describeDimension(dim, {}, source, slice.getLoc()));
  }
}

void Extents::visitInsert(tensor::InsertSliceOp insert) {
  RankedTensorType dest = insert.getDestType();
  for (auto [i, dim] : llvm::enumerate(getKeptDims(insert))) {
    if (!isDynamic(insert.getSource(), i))
      continue;
    Place place(insert.getSource(), i);
    setSize(insert, place, cast<Value>(insert.getMixedSizes()[dim]));
    int64_t offset = insert.getStaticOffsets()[dim];
    if (!dest.isDynamicDim(dim) && !ShapedType::isDynamic(offset))
      setBound(place, std::max<int64_t>(0, dest.getDimSize(dim) - offset),
               describeDimension(dim, {}, dest, insert.getLoc(), "written"));
  }
}

void Extents::visit(Operation *op) {
  auto uniteAll = [&](ValueRange values) {
    for (Value value : values)
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim))
            unite(op, {op->getResult(0), dim}, {value, dim});
  };
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<std::optional<Place>> loops(linalgOp.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop || !isDynamic(operand.get(), dim))
          continue;
        std::optional<Place> &known = loops[loop.getPosition()];
        if (known)
          unite(op, *known, {operand.get(), dim});
        known = Place(operand.get(), dim);
      }
    }
    for (auto [result, init] :
         llvm::zip(op->getResults(), linalgOp.getDpsInits()))
      for (int64_t dim = 0,
                   rank = cast<RankedTensorType>(init.getType()).getRank();
           dim < rank; ++dim)
        if (isDynamic(init, dim))
          unite(op, {result, dim}, {init, dim});
    return;
  }
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value result : op->getResults())
      if (result != op->getResult(0))
        uniteAll(result);
    return uniteAll(op->getOperands());
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case<tensor::EmptyOp, tensor::SplatOp>([&](auto made) {
        unsigned next = 0;
        for (int64_t dim = 0; dim < made.getType().getRank(); ++dim)
          if (made.getType().isDynamicDim(dim))
            setSize(op, {made.getResult(), dim},
                    made.getDynamicSizes()[next++]);
      })
      .Case([&](tensor::ExtractSliceOp slice) { visitSlice(slice); })
      .Case([&](tensor::InsertSliceOp insert) { visitInsert(insert); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto reshape) {
        bool expands = isa<tensor::ExpandShapeOp>(op);
        for (auto [i, group] :
             llvm::enumerate(reshape.getReassociationIndices()))
          for (int64_t dim : group) {
            Value detailed = expands ? op->getResult(0) : op->getOperand(0);
            if (isDynamic(detailed, dim))
              unite(op, {op->getResult(0), expands ? dim : i},
                    {op->getOperand(0), expands ? i : dim});
          }
      });
}

bool Extents::hasPrefix() const {
  for (auto [number, extent] : llvm::enumerate(extents))
    if (findRoot(number) == static_cast<int64_t>(number) && extent.isPrefix())
      return true;
  return false;
}

Extent *Extents::find(Value value, unsigned dim) {
  auto it = numbers.find({value, dim});
  if (it == numbers.end())
    return nullptr;
  Extent &extent = extents[findRoot(it->second)];
  return extent.isPrefix() ? &extent : nullptr;
}

SmallVector<Extent *> Extents::findLoops(linalg::LinalgOp op) {
  SmallVector<Extent *> loops(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        if (Extent *extent = find(operand.get(), dim))
          loops[loop.getPosition()] = extent;
  }
  return loops;
}

void Extents::copy(Value old, Value made) {
  int64_t rank = cast<RankedTensorType>(old.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (auto it = numbers.find({old, dim}); it != numbers.end()) {
      int64_t number = it->second;
      numbers[{made, dim}] = number;
    }
}

RankedTensorType Extents::getBounded(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (Extent *known = find(value, dim))
      extent = known->bound;
  return RankedTensorType::get(shape, type.getElementType());
}

RankedTensorType Extents::getOriginal(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (find(value, dim))
      extent = ShapedType::kDynamic;
  return RankedTensorType::get(shape, type.getElementType());
}
