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
// If the kernel's result is an argument with slices inserted, and nothing reads
// what was there afterwards, the inserts are `uprog.insert`s, which need not
// copy the argument: the result may be written into its row.
//
//===----------------------------------------------------------------------===//

#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

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

Value KernelBatcher::checkPosition(OpBuilder &nested, Operation *op,
                                   Value position, Value dest, unsigned dim,
                                   int64_t count, int64_t step) {
  std::string what = describe(op, dest, dim);
  if (count > 1)
    what = "a slice of " + std::to_string(count) + " in " + what;
  int64_t extent = cast<RankedTensorType>(dest.getType()).getDimSize(dim);
  return check(nested, op->getLoc(), position,
               builder.getIndexAttr(extent - (count - 1) * step), what);
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
  if (placed.contains(op))
    return map(op->getResult(0),
               buildInsert(op, source, dest, offsets, sizes, strides));
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

//===----------------------------------------------------------------------===//
// Inserts into rows of operands
//===----------------------------------------------------------------------===//

/// The tensor that `op` inserts into; null if it is another op.
static Value getDest(Operation *op) {
  if (auto insert = dyn_cast_or_null<tensor::InsertOp>(op))
    return insert.getDest();
  auto slice = dyn_cast_or_null<tensor::InsertSliceOp>(op);
  return slice ? slice.getDest() : Value();
}

/// True if all that depends on `tensor`, but for what depends on `insert`, is
/// computed before `insert`. Program order then is an order in which nothing
/// reads an old row after it has changed.
static bool isReadBefore(Value tensor, Operation *insert) {
  Block *block = insert->getBlock();
  SmallVector<Value> work = {tensor};
  DenseSet<Operation *> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *inner : value.getUsers()) {
      Operation *user = block->findAncestorOpInBlock(*inner);
      if (user == insert || !seen.insert(user).second)
        continue;
      // A value that is computed before may be a result, not the tensor itself.
      if (user == block->getTerminator()) {
        if (value == tensor)
          return false;
        continue;
      }
      if (!user->isBeforeInBlock(insert))
        return false;
      llvm::append_range(work, user->getResults());
    }
  }
  return true;
}

StringRef KernelBatcher::placeResult(unsigned index) {
  Operation *yield = kernel.getBody().front().getTerminator();
  Value value = yield->getOperand(index);
  if (llvm::count(yield->getOperands(), value) != 1)
    return "the result is two results of the kernel";
  SmallVector<Operation *> chain;
  while (Value dest = getDest(value.getDefiningOp())) {
    Operation *op = value.getDefiningOp();
    if (!forms.picks(op))
      break;
    if (!isReadBefore(dest, op))
      return "what is there before is read afterwards, or is a result too";
    chain.push_back(op);
    value = dest;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return "what it is inserted into is computed in the same kernel";
  if (forms.lookup(argument).kind != BatchedForm::PerTask)
    return "what it is inserted into is shared by all tasks";
  for (Operation *op : chain)
    placed[op] = argument;
  kernel.setResultAttr(index, kInPlaceAttr,
                       builder.getI64IntegerAttr(argument.getArgNumber()));
  return {};
}

void KernelBatcher::placeInserts() {
  Block &body = kernel.getBody().front();
  DenseMap<Operation *, StringRef> reasons;
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    Operation *op = operand.get().getDefiningOp();
    if (!getDest(op) || !forms.picks(op) || type.getRank() == 0)
      continue;
    StringRef reason = placeResult(operand.getOperandNumber());
    // The same holds for the inserts before.
    for (; getDest(op); op = getDest(op).getDefiningOp())
      reasons.try_emplace(op, reason);
  }
  int64_t copied = 0;
  for (Operation &op : body) {
    if (!getDest(&op) || !forms.picks(&op))
      continue;
    auto name = remark::RemarkOpts::name("Inserts").category("batch");
    if (BlockArgument argument = placed.lookup(&op)) {
      remark::passed(op.getLoc(), name)
          << ("written into the row of argument #" +
              Twine(argument.getArgNumber()) + " of kernel @" +
              kernel.getSymName() + " where no other task reads it")
                 .str();
      continue;
    }
    int64_t bytes =
        getRowBytes(cast<RankedTensorType>(op.getResult(0).getType()));
    copied += bytes;
    StringRef reason = reasons.lookup(&op);
    remark::missed(op.getLoc(), name)
        << ("copies " + Twine(bytes) + " bytes a task: " +
            (reason.empty() ? StringRef("the result is not one of the kernel")
                            : reason))
               .str();
  }
  if (copied)
    kernel->setAttr(kCopiedBytesAttr, builder.getI64IntegerAttr(copied));
}

Value KernelBatcher::readBefore(Operation *op, Value value) {
  SetVector<Value> work;
  work.insert(value);
  bool depends = false;
  for (size_t i = 0; i < work.size() && !depends; ++i) {
    depends = work[i] == placed.lookup(op);
    Operation *def = work[i].getDefiningOp();
    if (!def)
      continue;
    work.insert(def->operand_begin(), def->operand_end());
    getUsedValuesDefinedAbove(def->getRegions(), work);
  }
  Value batched = getAs(op, value, {BatchedForm::PerTask});
  if (!depends)
    return batched;
  Value empty =
      buildEmpty(op->getLoc(), value.getType(), {BatchedForm::PerTask});
  return linalg::CopyOp::create(builder, op->getLoc(), batched, empty)
      .getResult(0);
}

Value KernelBatcher::buildInsert(Operation *op, Value source, Value dest,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes,
                                 ArrayRef<OpFoldResult> strides) {
  Location loc = op->getLoc();
  SmallVector<Value> positions;
  SmallVector<int64_t> first, counts, steps;
  AffineMap task = AffineMap::getMultiDimIdentityMap(1, op->getContext());
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(offsets, sizes, strides)) {
    counts.push_back(*getConstantIntValue(size));
    steps.push_back(*getConstantIntValue(stride));
    std::optional<int64_t> known = getConstantIntValue(offset);
    first.push_back(known.value_or(ShapedType::kDynamic));
    if (known)
      continue;
    auto position = cast<Value>(offset);
    Value empty = buildEmpty(loc, position.getType(), {BatchedForm::PerTask});
    auto checked = linalg::GenericOp::create(
        builder, loc, empty.getType(), readBefore(op, position), empty,
        ArrayRef<AffineMap>{task, task}, IteratorType::parallel,
        [&, dim = dim](OpBuilder &nested, Location, ValueRange arguments) {
          linalg::YieldOp::create(nested, loc,
                                  checkPosition(nested, op, arguments[0], dest,
                                                dim, counts.back(),
                                                steps.back()));
        });
    positions.push_back(checked.getResult(0));
  }
  Value rows = lookup(dest).value;
  return uprog::InsertOp::create(builder, loc, rows.getType(),
                                 readBefore(op, source), rows, positions, first,
                                 counts, steps);
}
