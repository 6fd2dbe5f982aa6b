//===- ElementCode.cpp - Elements of the results of ops -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::uprog;
using namespace mlir::batch::abi;

Value Evaluator::address(Value value, ArrayRef<Index> indices) {
  addressOnly = true;
  Value pointer = eval(value, indices);
  addressOnly = false;
  return pointer;
}

Evaluator::Key Evaluator::keyOf(Value value, ArrayRef<Index> indices) {
  Key key{value.getAsOpaquePointer()};
  for (const Index &index : indices) {
    key.push_back(index.base.getAsOpaquePointer());
    uintptr_t lanes = index.lanes ? 2 * index.step + index.partial : 0;
    key.push_back(reinterpret_cast<void *>(lanes));
  }
  return key;
}

void Evaluator::remember(Value value, ArrayRef<Index> indices, Value element) {
  scopes.back()[keyOf(value, indices)] = element;
}

Value Evaluator::eval(Value value, ArrayRef<Index> indices) {
  if (failed)
    return {};
  if (addressOnly)
    return evalUncached(value, indices);
  if (!isa<RankedTensorType>(value.getType()))
    return evalScalar(value);
  Key key = keyOf(value, indices);
  if (Value *known = find(key))
    return *known;
  Value result = evalUncached(value, indices);
  if (result)
    scopes.back()[key] = result;
  return result;
}

Value Evaluator::evalUncached(Value value, ArrayRef<Index> indices) {
  if (tiles.count(value)) {
    bool scalar = plan.getRowShape(value).empty();
    const Index column = scalar ? index(0) : indices.back();
    return loadTile(value, tileRow, column.base, column.lanes);
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return evalArgument(argument, indices);
  auto result = cast<OpResult>(value);
  if (isa<StageOp>(result.getOwner())) {
    RowSpace space = plan.getSpace(value);
    Value row = space.hasRows() ? indices.front().base : b.constant(0);
    Value pointer =
        storagePointer(value, plan.getStorage(result), space.domain, row);
    return loadElement(pointer, space.shape, plan.getLayout(value),
                       getElementTypeOrSelf(value.getType()),
                       indices.drop_front(space.hasRows() ? 1 : 0));
  }
  return evalOp(result.getOwner(), result, indices);
}

Value Evaluator::evalArgument(BlockArgument argument, ArrayRef<Index> indices) {
  OperatorOp op = plan.getOperator();
  unsigned number = argument.getArgNumber();
  auto type = cast<RankedTensorType>(argument.getType());
  Type element = type.getElementType();
  if (auto parameter = op.getParameter(number)) {
    Value packing = getPacking(tables.getRows(*parameter));
    // Dimension 0 counts rows. Its extent may be unknown, since no address
    // depends on it.
    return loadElement(packing, type.getShape(), plan.getLayout(argument),
                       element, indices);
  }
  if (std::optional<int64_t> domain = op.getOffsets(number))
    return arith::IndexCastOp::create(b, element,
                                      getOffset(*domain, indices.front().base));
  Value row = rowPointer(argument, indices.front().base);
  if (op.getRead(number).getKind() != OperandKind::Scalar)
    return loadElement(row, type.getShape().drop_front(),
                       plan.getLayout(argument), element, indices.drop_front());
  Value cell = b.load(b.getI64Type(), row, batch::abi::kCellBytes);
  if (element.isIndex())
    return arith::IndexCastOp::create(b, element, cell);
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits < 64)
    cell = arith::TruncIOp::create(b, b.getIntegerType(bits), cell);
  if (isa<FloatType>(element))
    cell = arith::BitcastOp::create(b, element, cell);
  return cell;
}

Value Evaluator::evalScalar(Value value) {
  return atEntry({value.getAsOpaquePointer()}, [&]() -> Value {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getArgNumber() == 0 &&
          argument.getOwner()->getParentOp() == plan.getOperator())
        return arith::IndexCastOp::create(b, b.getIndexType(), getCount());
      fail(plan.getOperator(), "reads a scalar that is not a constant");
      return {};
    }
    Operation *op = value.getDefiningOp();
    if (op->hasTrait<OpTrait::ConstantLike>())
      return b.clone(*op)->getResult(0);
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      int64_t domain = plan.getSpace(dim.getSource()).domain;
      if (dim.getConstantIndex() == 0 && domain != RowSpace::kOnce)
        return arith::IndexCastOp::create(
            b, b.getIndexType(),
            domain < 0 ? getCount() : getOffset(domain, getCount()));
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> parameter;
      if (argument && dim.getConstantIndex() == 0)
        parameter = plan.getOperator().getParameter(argument.getArgNumber());
      if (parameter)
        return countRows(*parameter);
    }
    if (OpTrait::hasElementwiseMappableTraits(op)) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(evalScalar(operand));
      if (failed)
        return {};
      return evalElement(op, operands)[cast<OpResult>(value).getResultNumber()];
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      // Hide values computed at the current position, which are not available
      // at the entry.
      std::vector<std::map<Key, Value>> outer(1);
      std::swap(scopes, outer);
      Indices indices;
      for (Value position : extract.getIndices())
        if (std::optional<int64_t> known = getConstantIntValue(position))
          indices.push_back(index(*known));
        else if (Value scalar = evalScalar(position))
          indices.push_back(
              index(arith::IndexCastOp::create(b, b.getI64Type(), scalar)));
      Value element = failed ? Value() : eval(extract.getTensor(), indices);
      std::swap(scopes, outer);
      return element;
    }
    fail(op, "is not supported in an operator yet");
    return {};
  });
}

/// Returns the divisor of an integer division, or 1 if dividing by it would
/// trap. The divisor may be invalid in rows that are never read, and in lanes
/// beyond a row's end.
Value Evaluator::safeDivisor(Operation *op, ValueRange operands) {
  Value dividend = operands[0], divisor = operands[1];
  APInt known;
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                      arith::FloorDivSIOp>(op);
  if (matchPattern(op->getOperand(1), m_ConstantInt(&known)) &&
      !known.isZero() && !(isSigned && known.isAllOnes()))
    return divisor;
  Type type = divisor.getType(), element = getElementTypeOrSelf(type);
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto constant = [&](const APInt &value) -> Value {
    TypedAttr attr = IntegerAttr::get(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  };
  auto equals = [&](Value value, const APInt &other) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                                 constant(other));
  };
  Value traps = equals(divisor, APInt::getZero(bits));
  if (isSigned) {
    Value minusOne = equals(divisor, APInt::getAllOnes(bits));
    Value least = equals(dividend, APInt::getSignedMinValue(bits));
    Value overflows = arith::AndIOp::create(b, minusOne, least);
    traps = arith::OrIOp::create(b, traps, overflows);
  }
  return arith::SelectOp::create(b, traps, constant(APInt(bits, 1)), divisor);
}

SmallVector<Value> Evaluator::evalElement(Operation *op, ValueRange operands) {
  SmallVector<Value> values(operands);
  bool vector = llvm::any_of(
      values, [](Value value) { return isa<VectorType>(value.getType()); });
  if (vector)
    for (Value &value : values)
      value = broadcast(value);
  if (op->hasTrait<OpTrait::ConstantLike>())
    return {b.clone(*op)->getResult(0)};
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    values[1] = safeDivisor(op, values);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    type = getElementTypeOrSelf(type);
    types.push_back(vector ? vectorOf(type) : type);
  }
  OperationState state(b.getLoc(), op->getName(), values, types,
                       op->getAttrs());
  return SmallVector<Value>(b.create(state)->getResults());
}

/// Returns the product a*b if `op` adds it to an accumulator of a reduction.
static arith::MulFOp getProduct(Operation *op,
                                llvm::function_ref<bool(Value)> isAccumulator) {
  auto add = dyn_cast<arith::AddFOp>(op);
  if (!add)
    return {};
  if (isAccumulator(add.getLhs()))
    return add.getRhs().getDefiningOp<arith::MulFOp>();
  if (isAccumulator(add.getRhs()))
    return add.getLhs().getDefiningOp<arith::MulFOp>();
  return {};
}

Value Evaluator::evalProductSum(ValueRange operands) {
  SmallVector<Value> values(operands);
  if (llvm::none_of(operands, [](Value value) {
        return isa<VectorType>(value.getType());
      }))
    return math::FmaOp::create(b, values[0], values[1], values[2]);
  for (Value &value : values)
    value = broadcast(value);
  return vector::FMAOp::create(b, values[0], values[1], values[2]);
}

Index Evaluator::evalIndex(Value value, ArrayRef<Index> dims,
                           llvm::function_ref<Value(Value)> lookup) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(*constant);
  Operation *def = value.getDefiningOp();
  if (auto loop = dyn_cast_or_null<linalg::IndexOp>(def))
    return dims[loop.getDim()];
  if (auto sum = dyn_cast_or_null<arith::AddIOp>(def)) {
    Index left = evalIndex(sum.getLhs(), dims, lookup);
    Index right = evalIndex(sum.getRhs(), dims, lookup);
    return failed ? Index() : add(left, right);
  }
  if (auto product = dyn_cast_or_null<arith::MulIOp>(def))
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs())) {
      Index left = evalIndex(product.getLhs(), dims, lookup);
      return failed ? Index() : mul(left, *factor);
    }
  Value position = lookup(value);
  if (!position || isa<VectorType>(position.getType())) {
    fail(plan.getOperator(), "uses an index that is not supported yet");
    return {};
  }
  return index(arith::IndexCastOp::create(b, b.getI64Type(), position));
}

/// Returns the ragged domain of the rows that `op` reads: the first index of
/// `op` is relative to one of the offsets of this domain. Returns nullopt if
/// `op` reads no ragged tensor.
std::optional<int64_t> Evaluator::getRaggedDomain(tensor::ExtractOp op) const {
  if (op.getIndices().empty())
    return std::nullopt;
  Value row = op.getIndices().front();
  SmallVector<Value> terms = {row};
  if (auto sum = row.getDefiningOp<arith::AddIOp>())
    terms = {sum.getLhs(), sum.getRhs()};
  for (Value term : terms)
    if (auto first = term.getDefiningOp<tensor::ExtractOp>())
      if (auto offsets = dyn_cast<BlockArgument>(first.getTensor()))
        if (auto domain = plan.getOperator().getOffsets(offsets.getArgNumber()))
          return domain;
  return std::nullopt;
}

Value Evaluator::evalExtract(tensor::ExtractOp op, ArrayRef<Index> dims,
                             llvm::function_ref<Value(Value)> lookup) {
  Indices indices;
  for (Value index : op.getIndices())
    indices.push_back(evalIndex(index, dims, lookup));
  if (failed)
    return {};
  std::optional<int64_t> domain = getRaggedDomain(op);
  if (!domain)
    return eval(op.getTensor(), indices);
  // Read the row only if it exists: the first row of a task without rows may be
  // beyond the rows of all tasks.
  Type type = op.getType();
  if (llvm::any_of(indices, [](const Index &index) { return index.lanes; }))
    type = vectorOf(type);
  Value exists = b.less(indices.front().base, getOffset(*domain, getCount()));
  auto row = scf::IfOp::create(b, type, exists, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    scopes.emplace_back();
    b.setInsertionPointToStart(row.thenBlock());
    Value element = eval(op.getTensor(), indices);
    if (element)
      scf::YieldOp::create(b, element);
    scopes.pop_back();
    b.setInsertionPointToStart(row.elseBlock());
    scf::YieldOp::create(
        b, arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
  }
  return row.getResult(0);
}

void Evaluator::evalAssert(cf::AssertOp op,
                           llvm::function_ref<Value(Value)> lookup) {
  auto compare = op.getArg().getDefiningOp<arith::CmpIOp>();
  Value holds = lookup(op.getArg());
  // The error message contains the left operand of the comparison.
  Value number = compare ? lookup(compare.getLhs()) : b.constant(0);
  if (!holds || !number || isa<VectorType>(holds.getType())) {
    fail(op, "is not supported in an operator yet");
    return;
  }
  Value fails = arith::XOrIOp::create(
      b, holds, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  Value place = b.constant(tables.getIndex(op.getMsg()));
  Value none = b.constant(0), record = arguments.indexError;
  // Only the first failure among all units is recorded.
  b.when(fails, [&] {
    Value exchanged = LLVM::AtomicCmpXchgOp::create(
        b, b.offset(record, b.constant(kIndexErrorPlace.offset)), none, place,
        LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic,
        StringRef(), kCellBytes);
    Value isFirst =
        LLVM::ExtractValueOp::create(b, exchanged, ArrayRef<int64_t>{1});
    b.when(isFirst, [&] {
      Type cell = b.getI64Type();
      auto integer = dyn_cast<IntegerType>(number.getType());
      Value stored = !integer ? arith::IndexCastOp::create(b, cell, number)
                     : integer.getWidth() < 64
                         ? arith::ExtSIOp::create(b, cell, number).getResult()
                         : number;
      b.store(stored, b.offset(record, b.constant(kIndexErrorIndex.offset)),
              kCellBytes);
    });
  });
}

SmallVector<Value> Evaluator::evalBody(Block &body, ValueRange arguments,
                                       ArrayRef<Index> dims, bool reduction) {
  IRMapping mapping;
  unsigned results = body.getTerminator()->getNumOperands();
  unsigned first = body.getNumArguments() - results;
  for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
    if (value)
      mapping.map(argument, value);
  auto isAccumulator = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return reduction && argument && argument.getOwner() == &body &&
           argument.getArgNumber() >= first;
  };
  auto lookup = [&](Value value) {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    return value.getParentBlock() == &body ? Value() : evalScalar(value);
  };
  for (Operation &op : body.without_terminator()) {
    if (auto indexOp = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(indexOp.getResult(), indexValue(dims[indexOp.getDim()]));
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      Value element = evalExtract(extract, dims, lookup);
      if (failed)
        return {};
      mapping.map(extract.getResult(), element);
      continue;
    }
    if (auto check = dyn_cast<cf::AssertOp>(op)) {
      evalAssert(check, lookup);
      continue;
    }
    if (isa<arith::MulFOp>(op) && op.hasOneUse() &&
        getProduct(*op.user_begin(), isAccumulator))
      continue;
    SmallVector<Value> sources(op.getOperands());
    arith::MulFOp product = getProduct(&op, isAccumulator);
    if (product) {
      Value sum = sources[isAccumulator(sources[0]) ? 0 : 1];
      sources = {product.getLhs(), product.getRhs(), sum};
    }
    SmallVector<Value> operands = llvm::map_to_vector(sources, lookup);
    if (failed || llvm::is_contained(operands, Value())) {
      fail(&op, "is not supported in an operator yet");
      return {};
    }
    if (product)
      mapping.map(op.getResult(0), evalProductSum(operands));
    else
      mapping.map(op.getResults(), evalElement(&op, operands));
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), lookup);
}

SmallVector<Value> Evaluator::evalInputs(linalg::LinalgOp op,
                                         ArrayRef<Index> dims) {
  SmallVector<Value> values;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value;
    if (op.isDpsInput(&operand) && op.payloadUsesValueFromOperand(&operand))
      value = eval(operand.get(),
                   operandIndices(op.getMatchingIndexingMap(&operand), dims));
    values.push_back(value);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

Value Evaluator::evalConstant(arith::ConstantOp op, ArrayRef<Index> indices) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense) {
    fail(op, "is a constant without dense elements; write it as dense<...>");
    return {};
  }
  if (dense.isSplat())
    return atEntry({op, &entryValues}, [&]() -> Value {
      return arith::ConstantOp::create(
          b, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    });
  Value pointer = atEntry({op, &entryValues}, [&]() -> Value {
    return LLVM::AddressOfOp::create(b, b.ptrType(), tables.getConstant(dense));
  });
  ArrayRef<int64_t> shape = dense.getType().getShape();
  return loadElement(pointer, shape, makeLayout(shape, dense.getElementType()),
                     dense.getElementType(), indices);
}

/// Returns true if `condition` is known to hold for all values of `index`,
/// false if it is known to hold for none, and nullopt otherwise.
static std::optional<bool> holds(const IndexCondition &condition,
                                 const Index &index) {
  if (index.upper < 0)
    return std::nullopt;
  if (index.upper <= condition.limit)
    return condition.below;
  if (index.lower >= condition.limit)
    return !condition.below;
  return std::nullopt;
}

bool Evaluator::splitsLanes(const IndexCondition &condition,
                            const Index &index) const {
  return index.lanes && (index.step != 1 || index.residue < 0 ||
                         mod(index.residue - condition.limit) != 0);
}

Value Evaluator::lanesWhere(const IndexCondition &condition,
                            const Index &index) {
  auto predicate =
      condition.below ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
  return arith::CmpIOp::create(b, predicate, laneIndices(index),
                               broadcast(b.constant(condition.limit)));
}

Value Evaluator::evalView(ArrayRef<ElementSource> sources,
                          ArrayRef<Index> allIndices) {
  const ElementSource &source = sources.front();
  Indices indices(allIndices);
  Value isSource, lanesOfSource;
  for (const IndexCondition &condition : source.conditions) {
    Index &index = indices[condition.dim];
    if (std::optional<bool> known = holds(condition, index)) {
      if (!*known)
        return evalView(sources.drop_front(), indices);
      continue;
    }
    if (splitsLanes(condition, index)) {
      Value own = lanesWhere(condition, index);
      index.partial = true;
      lanesOfSource =
          lanesOfSource
              ? arith::AndIOp::create(b, lanesOfSource, own).getResult()
              : own;
      continue;
    }
    Value one = condition.below
                    ? b.less(index.base, b.constant(condition.limit))
                    : b.less(b.constant(condition.limit - 1), index.base);
    isSource =
        isSource ? arith::AndIOp::create(b, isSource, one).getResult() : one;
  }
  // Compute the indices of an inserted slice before the source is chosen.
  // Compute the indices of any other source only where it is chosen.
  bool isInsert = isa<tensor::InsertSliceOp>(source.operand->getOwner());
  Indices inner;
  if (isInsert)
    inner = operandIndices(source.map, indices);
  auto take = [&]() -> Value {
    if (!isInsert)
      inner = operandIndices(source.map, indices);
    if (source.taskOfRow) {
      auto segment =
          cast<batch::SegmentBroadcastOp>(source.operand->getOwner());
      inner.front() = index(
          ownerOf(plan.getDomain(segment.getOffsets()), inner.front().base));
    }
    Value value = eval(source.operand->get(), inner);
    if (!value || !lanesOfSource)
      return value;
    Value other = evalView(sources.drop_front(), indices);
    if (!other)
      return other;
    return arith::SelectOp::create(b, lanesOfSource, broadcast(value),
                                   broadcast(other))
        .getResult();
  };
  if (!isSource)
    return take();
  return b.select(isSource, take,
                  [&] { return evalView(sources.drop_front(), indices); });
}

Value Evaluator::evalOp(Operation *op, OpResult value,
                        ArrayRef<Index> indices) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return evalConstant(constant, indices);
  if (isa<tensor::EmptyOp>(op))
    return atEntry({op, &entryValues}, [&]() -> Value {
      return arith::ConstantOp::create(
          b, b.getZeroAttr(getElementTypeOrSelf(value.getType())));
    });
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return evalScalar(splat.getInput());
  if (isa<batch::SegmentReduceOp>(op))
    return evalSegmentReduce(op, indices);
  // The stage of an insert stores the inserted value.
  if (auto insert = dyn_cast<InsertOp>(op))
    return eval(insert.getSource(), indices);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && linalgOp.getNumReductionLoops() != 0) {
    fail(op, "is a reduction outside its stage");
    return {};
  }
  SmallVector<ElementSource> sources = getElementSources(value);
  if (isView(op))
    return evalView(sources, indices);
  if (!linalgOp && !OpTrait::hasElementwiseMappableTraits(op)) {
    fail(op, "is not supported in an operator yet");
    return {};
  }
  SmallVector<Value> operands(op->getNumOperands());
  for (const ElementSource &source : sources)
    operands[source.operand->getOperandNumber()] =
        eval(source.operand->get(), operandIndices(source.map, indices));
  if (failed)
    return {};
  SmallVector<Value> results =
      linalgOp ? evalBody(op->getRegion(0).front(), operands,
                          loopIndices(linalgOp, indices), false)
               : evalElement(op, operands);
  return failed ? Value() : results[value.getResultNumber()];
}

/// Returns the task that owns ragged row `row`: the last task whose offset is
/// not greater than the row.
Value Evaluator::ownerOf(int64_t domain, Value row) {
  Key key{&arguments, reinterpret_cast<void *>(domain),
          row.getAsOpaquePointer()};
  if (Value *known = find(key))
    return *known;
  Value init[] = {b.constant(0), getCount()};
  Type i64 = b.getI64Type();
  auto search = scf::WhileOp::create(
      b, TypeRange{i64, i64}, init,
      [&](OpBuilder &, Location, ValueRange range) {
        scopes.emplace_back();
        Value more = b.less(b.constant(1), b.sub(range[1], range[0]));
        scopes.pop_back();
        scf::ConditionOp::create(b, more, range);
      },
      [&](OpBuilder &, Location, ValueRange range) {
        scopes.emplace_back();
        Value middle = b.div(b.add(range[0], range[1]), b.constant(2));
        Value above = b.less(row, getOffset(domain, middle));
        Value low = arith::SelectOp::create(b, above, range[0], middle);
        Value high = arith::SelectOp::create(b, above, middle, range[1]);
        scopes.pop_back();
        scf::YieldOp::create(b, ValueRange{low, high});
      });
  return scopes.back()[key] = search.getResult(0);
}

Value Evaluator::evalSegmentReduce(Operation *op, ArrayRef<Index> indices) {
  auto reduce = cast<batch::SegmentReduceOp>(op);
  int64_t domain = plan.getDomain(reduce.getOffsets());
  Value task = indices.front().base;
  Value init = eval(reduce.getInit(), indices);
  if (failed)
    return {};
  if (llvm::any_of(indices, [](const Index &index) { return index.lanes; }))
    init = broadcast(init);
  Value first = getOffset(domain, task);
  Value last = getOffset(domain, b.add(task, b.constant(1)));
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(init.getType()));
  auto combine = [&](Value a, Value c) -> Value {
    switch (reduce.getKind()) {
    case batch::SegmentKind::Add:
      return isFloat ? arith::AddFOp::create(b, a, c).getResult()
                     : arith::AddIOp::create(b, a, c);
    case batch::SegmentKind::Mul:
      return isFloat ? arith::MulFOp::create(b, a, c).getResult()
                     : arith::MulIOp::create(b, a, c);
    case batch::SegmentKind::Max:
      return isFloat ? arith::MaximumFOp::create(b, a, c).getResult()
                     : arith::MaxSIOp::create(b, a, c);
    case batch::SegmentKind::Min:
      return isFloat ? arith::MinimumFOp::create(b, a, c).getResult()
                     : arith::MinSIOp::create(b, a, c);
    }
    return {};
  };
  auto results =
      b.loop(first, last, 1, ValueRange{init}, [&](Value row, ValueRange sum) {
        Indices at(indices);
        at.front() = index(row);
        Value element = eval(reduce.getRows(), at);
        if (failed)
          return CodeBuilder::Values{sum[0]};
        if (isa<VectorType>(sum[0].getType()))
          element = broadcast(element);
        return CodeBuilder::Values{combine(sum[0], element)};
      });
  return results[0];
}
