//===- VectorizeInserts.cpp - Batch inserts at computed positions ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An insert of a slice or an element at computed positions becomes a
// linalg.generic over the destination. Each element of the result is the
// inserted element inside the slice, and the element of the destination
// elsewhere. Positions are checked like the positions of reads
// (VectorizeReads.cpp).
//
// If the slice covers all columns, each row is either inside or outside of it,
// so whole rows are written as vectors.
//
// The kernel's result may be an argument with inserted slices. If nothing reads
// the argument itself afterwards, each insert becomes a `uprog.insert`. This op
// does not copy the argument, because the result may be written into the
// argument's row. Readers of the old row run before the insert. Code after the
// insert may read a view of the old row, or another value that stages recompute
// from the row at each read. The operator then stores this value before the row
// changes.
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

/// Position of an element of the destination along one dimension of the slice.
namespace {
struct Along {
  Value index;    ///< index in the slice; 0 outside it
  Value isInside; ///< null if always inside
};
} // namespace

/// Returns the position of an element. `distance` is its distance from the
/// first element of the slice, modulo 2^64.
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
  // An inserted element is an input with one value per task. An inserted slice
  // is read in place.
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

/// Returns the tensor into which `op` inserts, or null if `op` is not an
/// insert.
static Value getDest(Operation *op) {
  if (auto insert = dyn_cast_or_null<tensor::InsertOp>(op))
    return insert.getDest();
  auto slice = dyn_cast_or_null<tensor::InsertSliceOp>(op);
  return slice ? slice.getDest() : Value();
}

/// Returns true if `op` is an insert with static extents and strides, which may
/// write into a row.
static bool writesSlice(Operation *op) {
  Value dest = getDest(op);
  if (!dest || !cast<RankedTensorType>(dest.getType()).hasStaticShape())
    return false;
  auto slice = dyn_cast<tensor::InsertSliceOp>(op);
  return !slice || (slice.getSourceType().hasStaticShape() &&
                    !ShapedType::isDynamicShape(slice.getStaticStrides()));
}

/// Returns the chain of inserts that ends in `value`, the last insert first.
static SmallVector<Operation *> listInserts(Value value) {
  SmallVector<Operation *> chain;
  while (writesSlice(value.getDefiningOp())) {
    chain.push_back(value.getDefiningOp());
    value = getDest(chain.back());
  }
  return chain;
}

/// Visits the ops in the block of `insert` that use `value`, directly or in
/// their regions.
static void forEachUser(Value value, Operation *insert,
                        function_ref<void(Operation *)> visit) {
  SetVector<Operation *> users;
  for (Operation *user : value.getUsers())
    users.insert(insert->getBlock()->findAncestorOpInBlock(*user));
  llvm::for_each(users, visit);
}

/// Moves readers of the destination of `insert` before `insert`, except readers
/// that depend on the result of `insert`.
static void hoistReaders(Operation *insert) {
  IRRewriter rewriter(insert->getContext());
  SmallVector<Operation *> later;
  forEachUser(getDest(insert), insert, [&](Operation *user) {
    if (insert->isBeforeInBlock(user) &&
        !user->hasTrait<OpTrait::IsTerminator>())
      later.push_back(user);
  });
  llvm::sort(later,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *user : later)
    if (succeeded(moveOperationDependencies(rewriter, user, insert)))
      rewriter.moveOpBefore(user, insert);
}

/// Returns true if `insert` is the last reader of its destination.
static bool isReadBefore(Operation *insert) {
  Value dest = getDest(insert);
  bool isBefore = llvm::count(insert->getOperands(), dest) == 1;
  forEachUser(dest, insert, [&](Operation *user) {
    isBefore &= user == insert || user->isBeforeInBlock(insert);
  });
  return isBefore;
}

/// Returns the size in bytes of a value of one task, or std::nullopt if it is
/// unknown.
static std::optional<int64_t> countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return elementBytes(type);
  if (!tensor.hasStaticShape())
    return std::nullopt;
  return getRowBytes(tensor);
}

StringRef KernelBatcher::placeResult(unsigned index) {
  Operation *yield = kernel.getBody().front().getTerminator();
  Value value = yield->getOperand(index);
  if (llvm::count(yield->getOperands(), value) != 1)
    return "the kernel returns the result more than once";
  SmallVector<Operation *> chain = listInserts(value);
  auto argument = dyn_cast<BlockArgument>(getDest(chain.back()));
  if (!argument)
    return "the destination is computed in the same kernel";
  if (forms.lookup(argument).kind != BatchedForm::PerTask)
    return "the destination is shared by all tasks";
  if (!llvm::all_of(chain, isReadBefore))
    return "the destination is read after the insert, or is also a result";
  for (Operation *op : chain)
    placed[op] = argument;
  kernel.setResultAttr(index, kInPlaceAttr,
                       builder.getI64IntegerAttr(argument.getArgNumber()));
  return {};
}

bool KernelBatcher::isStored(Operation *op) const {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return placed.contains(op) ||
         (linalgOp && linalgOp.getNumReductionLoops() != 0);
}

SmallVector<Value> KernelBatcher::findSaved(Operation *insert) const {
  SetVector<Value> reads;
  SmallVector<Value> saved;
  reads.insert(getDest(insert));
  for (size_t i = 0; i < reads.size(); ++i) {
    bool isUsedLater = false;
    forEachUser(reads[i], insert, [&](Operation *user) {
      if (!user->isBeforeInBlock(insert))
        isUsedLater |=
            user != insert && !user->hasTrait<OpTrait::IsTerminator>();
      else if (!isStored(user))
        reads.insert_range(user->getResults());
    });
    if (i > 0 && isUsedLater)
      saved.push_back(reads[i]);
  }
  return saved;
}

/// Bytes that a task can copy in the time that the additional stages between
/// inserts take.
static constexpr int64_t kStageBytes = 256;

bool KernelBatcher::savesLess(ArrayRef<Operation *> chain) const {
  auto type = cast<RankedTensorType>(getDest(chain.front()).getType());
  int64_t savedBytes = 0;
  bool addsStages = false;
  for (Operation *op : chain) {
    // Readers between two inserts run in a stage between them.
    Value dest = getDest(op);
    addsStages |= getDest(dest.getDefiningOp()) && !dest.hasOneUse();
    for (Value value : findSaved(op)) {
      std::optional<int64_t> bytes = countBytes(value.getType());
      if (!bytes || forms.lookup(value).kind == BatchedForm::Rows)
        return false;
      savedBytes += *bytes;
      addsStages = true;
    }
  }
  return !addsStages || savedBytes + kStageBytes < getRowBytes(type);
}

void KernelBatcher::placeInserts() {
  Block &body = kernel.getBody().front();
  llvm::MapVector<unsigned, SmallVector<Operation *>> chains;
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    SmallVector<Operation *> chain = listInserts(operand.get());
    auto picks = [&](Operation *op) { return forms.picks(op); };
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (llvm::any_of(chain, picks) && type.getRank() != 0)
      chains[operand.getOperandNumber()] = chain;
  }
  for (auto &[index, chain] : chains)
    llvm::for_each(chain, hoistReaders);
  DenseMap<Operation *, StringRef> reasons;
  SmallVector<unsigned> results;
  for (auto &[index, chain] : chains) {
    StringRef reason = placeResult(index);
    // The same reason applies to earlier inserts of the chain.
    for (Operation *op : chain)
      reasons.try_emplace(op, reason);
    if (reason.empty())
      results.push_back(index);
  }
  // If one chain copies its row, other chains may have to store more values, so
  // iterate.
  auto copies = [&](unsigned index) { return !savesLess(chains[index]); };
  for (auto it = results.begin();
       (it = llvm::find_if(results, copies)) != results.end();) {
    for (Operation *op : chains[*it]) {
      placed.erase(op);
      reasons[op] =
          "an insert in place would save no time, because later code reads the "
          "old values";
    }
    kernel.removeResultAttr(*it, builder.getStringAttr(kInPlaceAttr));
    results.erase(it);
  }
  int64_t copied = 0;
  for (Operation &op : body) {
    if (!getDest(&op) || !(forms.picks(&op) || placed.contains(&op)))
      continue;
    auto name = remark::RemarkOpts::name("Inserts").category("batch");
    if (BlockArgument argument = placed.lookup(&op)) {
      remark::passed(op.getLoc(), name)
          << ("inserts into the row of argument #" +
              Twine(argument.getArgNumber()) + " of kernel @" +
              kernel.getSymName() + " if no other task reads it")
                 .str();
      continue;
    }
    int64_t bytes =
        getRowBytes(cast<RankedTensorType>(op.getResult(0).getType()));
    copied += bytes;
    StringRef reason = reasons.lookup(&op);
    remark::missed(op.getLoc(), name)
        << ("copies " + Twine(bytes) + " bytes per task: " +
            (reason.empty() ? StringRef("the kernel does not return the result")
                            : reason))
               .str();
  }
  if (copied)
    kernel->setAttr(kCopiedBytesAttr, builder.getI64IntegerAttr(copied));
}

Value KernelBatcher::store(Location loc, Type type, Value batched) {
  Value empty = buildEmpty(loc, type, {BatchedForm::PerTask});
  return linalg::CopyOp::create(builder, loc, batched, empty).getResult(0);
}

Value KernelBatcher::readBefore(Operation *op, Value value) {
  SetVector<Value> work;
  work.insert(value);
  bool depends = false;
  for (size_t i = 0; i < work.size() && !depends; ++i) {
    depends = work[i] == placed.lookup(op);
    Operation *def = work[i].getDefiningOp();
    if (saved.contains(work[i]) || !def)
      continue;
    // Results of reductions, and of inserts into operands, are in memory.
    if (isStored(def)) {
      depends = placed.contains(def) && placed.lookup(def) == placed.lookup(op);
      continue;
    }
    work.insert(def->operand_begin(), def->operand_end());
    getUsedValuesDefinedAbove(def->getRegions(), work);
  }
  Value batched = getAs(op, value, {BatchedForm::PerTask});
  return depends ? store(op->getLoc(), value.getType(), batched) : batched;
}

Value KernelBatcher::buildInsert(Operation *op, Value source, Value dest,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes,
                                 ArrayRef<OpFoldResult> strides) {
  Location loc = op->getLoc();
  for (Value value : findSaved(op))
    if (saved.insert(value).second) {
      Value batched = getAs(op, value, {BatchedForm::PerTask});
      values[value] = store(loc, value.getType(), batched);
    }
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
