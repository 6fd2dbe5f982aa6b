//===- ElementCode.cpp - Elements of the results of ops ---------*- C++ -*-===//
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
    key.push_back(reinterpret_cast<void *>(uintptr_t(index.lanes)));
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
    Value form = getForm(tables.getRows(*parameter));
    // Dimension 0 counts rows; it may be unknown, as nothing depends on it.
    return loadElement(form, type.getShape(), plan.getLayout(argument), element,
                       indices);
  }
  if (op.getOffsets(number)) {
    fail(op, "reads offsets other than by segment ops");
    return {};
  }
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
      // What was computed at the place at hand is not known at the entry.
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

/// The divisor of an integer division, or 1 where dividing by it would trap. A
/// kernel may run on rows that nobody reads, and on lanes behind a row's end.
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
  // acc + a*b, or null.
  auto productOf = [&](Operation *op) -> arith::MulFOp {
    auto add = dyn_cast<arith::AddFOp>(op);
    if (!add)
      return {};
    if (isAccumulator(add.getLhs()))
      return add.getRhs().getDefiningOp<arith::MulFOp>();
    if (isAccumulator(add.getRhs()))
      return add.getLhs().getDefiningOp<arith::MulFOp>();
    return {};
  };
  for (Operation &op : body.without_terminator()) {
    if (auto indexOp = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(indexOp.getResult(), indexValue(dims[indexOp.getDim()]));
      continue;
    }
    if (isa<arith::MulFOp>(op) && op.hasOneUse() && productOf(*op.user_begin()))
      continue;
    SmallVector<Value> operands;
    arith::MulFOp product = productOf(&op);
    if (product) {
      auto add = cast<arith::AddFOp>(op);
      operands = {
          lookup(product.getLhs()), lookup(product.getRhs()),
          lookup(isAccumulator(add.getLhs()) ? add.getLhs() : add.getRhs())};
    } else {
      for (Value operand : op.getOperands())
        operands.push_back(lookup(operand));
    }
    if (failed || llvm::is_contained(operands, Value())) {
      fail(&op, "is not supported in an operator yet");
      return {};
    }
    if (!product) {
      for (auto [result, value] :
           llvm::zip_equal(op.getResults(), evalElement(&op, operands)))
        mapping.map(result, value);
      continue;
    }
    if (llvm::any_of(operands,
                     [](Value v) { return isa<VectorType>(v.getType()); }))
      for (Value &operand : operands)
        operand = broadcast(operand);
    Value sum;
    if (isa<VectorType>(operands[0].getType()))
      sum = vector::FMAOp::create(b, operands[0], operands[1], operands[2]);
    else
      sum = math::FmaOp::create(b, operands[0], operands[1], operands[2]);
    mapping.map(op.getResult(0), sum);
  }
  SmallVector<Value> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(lookup(value));
  return yielded;
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
// One kind of op each
//===----------------------------------------------------------------------===//

Value Evaluator::evalOp(Operation *op, OpResult value,
                        ArrayRef<Index> indices) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense) {
      fail(op, "has a value that is not dense");
      return {};
    }
    if (dense.isSplat())
      return atEntry({op, &entryValues}, [&]() -> Value {
        return arith::ConstantOp::create(
            b, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
      });
    Value pointer = atEntry({op, &entryValues}, [&]() -> Value {
      return LLVM::AddressOfOp::create(b, b.ptrType(),
                                       tables.getConstant(dense));
    });
    ArrayRef<int64_t> shape = dense.getType().getShape();
    return loadElement(pointer, shape,
                       makeLayout(shape, dense.getElementType()),
                       dense.getElementType(), indices);
  }
  if (isa<tensor::EmptyOp>(op))
    return atEntry({op, &entryValues}, [&]() -> Value {
      return arith::ConstantOp::create(
          b, b.getZeroAttr(getElementTypeOrSelf(value.getType())));
    });
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return evalScalar(splat.getInput());
  if (isa<tensor::CastOp>(op))
    return eval(op->getOperand(0), indices);
  if (isa<tensor::ConcatOp>(op))
    return evalConcat(op, indices);
  if (isa<tensor::InsertSliceOp>(op))
    return evalInsert(op, indices);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return evalReshape(op, indices);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    bool rows = plan.hasRows(value);
    Indices inner;
    unsigned next = 0;
    for (unsigned i = 0, e = dropped.size(); i < e; ++i) {
      int64_t offset = slice.getStaticOffsets()[i];
      if (dropped[i])
        inner.push_back(index(offset));
      else if (i == 0 && rows)
        inner.push_back(indices[next++]);
      else
        inner.push_back(
            add(mul(indices[next++], slice.getStaticStrides()[i]), offset));
    }
    return eval(slice.getSource(), inner);
  }
  if (auto segment = dyn_cast<batch::SegmentBroadcastOp>(op)) {
    Indices task(indices);
    task.front() = index(
        ownerOf(plan.getDomain(segment.getOffsets()), indices.front().base));
    return eval(segment.getTasks(), task);
  }
  if (isa<batch::SegmentReduceOp>(op))
    return evalSegmentReduce(op, indices);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (linalgOp.getNumReductionLoops() != 0) {
      fail(op, "is reduced outside its stage");
      return {};
    }
    Indices dims = loopIndices(linalgOp, indices);
    SmallVector<Value> inputs;
    for (OpOperand &operand : op->getOpOperands()) {
      Value input;
      if (linalgOp.payloadUsesValueFromOperand(&operand))
        input = eval(
            operand.get(),
            operandIndices(linalgOp.getMatchingIndexingMap(&operand), dims));
      inputs.push_back(input);
    }
    if (failed)
      return {};
    SmallVector<Value> results =
        evalBody(op->getRegion(0).front(), inputs, dims, false);
    if (failed)
      return {};
    return results[value.getResultNumber()];
  }
  if (!OpTrait::hasElementwiseMappableTraits(op)) {
    fail(op, "is not supported in an operator yet");
    return {};
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(eval(operand, indices));
  if (failed)
    return {};
  return evalElement(op, operands)[value.getResultNumber()];
}

Value Evaluator::evalConcat(Operation *op, ArrayRef<Index> indices) {
  auto concat = cast<tensor::ConcatOp>(op);
  int64_t dim = concat.getDim(), start = 0;
  const Index &at = indices[dim];
  struct Piece {
    Value value;
    int64_t start, end;
  };
  SmallVector<Piece> pieces;
  for (Value piece : concat.getInputs()) {
    int64_t end =
        start + cast<RankedTensorType>(piece.getType()).getDimSize(dim);
    if (at.upper < 0 || (at.lower < end && at.upper > start))
      pieces.push_back({piece, start, end});
    start = end;
  }
  std::function<Value(unsigned)> from = [&](unsigned i) -> Value {
    auto take = [&] {
      Indices inner(indices);
      inner[dim] = add(at, -pieces[i].start);
      return eval(pieces[i].value, inner);
    };
    if (i + 1 == pieces.size() || failed)
      return take();
    return b.select(b.less(at.base, b.constant(pieces[i].end)), take,
                    [&] { return from(i + 1); });
  };
  return from(0);
}

Value Evaluator::evalInsert(Operation *op, ArrayRef<Index> indices) {
  auto insert = cast<tensor::InsertSliceOp>(op);
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  auto type = insert.getResultType();
  bool rows = plan.hasRows(insert.getResult());
  Value inside;
  auto require = [&](Value condition) {
    inside = inside ? arith::AndIOp::create(b, inside, condition).getResult()
                    : condition;
  };
  Indices inner;
  for (unsigned i = 0, e = dropped.size(); i < e; ++i) {
    if (i == 0 && rows) {
      inner.push_back(indices[i]);
      continue;
    }
    int64_t offset = insert.getStaticOffsets()[i];
    int64_t end = offset + insert.getStaticSizes()[i];
    if (offset != 0)
      require(b.less(b.constant(offset - 1), indices[i].base));
    if (end != type.getDimSize(i))
      require(b.less(indices[i].base, b.constant(end)));
    if (!dropped[i])
      inner.push_back(add(indices[i], -offset));
  }
  auto source = [&] { return eval(insert.getSource(), inner); };
  if (!inside)
    return source();
  return b.select(inside, source,
                  [&] { return eval(insert.getDest(), indices); });
}

Value Evaluator::evalReshape(Operation *op, ArrayRef<Index> indices) {
  bool collapse = isa<tensor::CollapseShapeOp>(op);
  auto wide = cast<RankedTensorType>(collapse ? op->getOperand(0).getType()
                                              : op->getResult(0).getType());
  auto groups =
      collapse ? cast<tensor::CollapseShapeOp>(op).getReassociationIndices()
               : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
  Indices inner(collapse ? wide.getRank() : groups.size());
  for (auto [g, group] : llvm::enumerate(groups)) {
    if (collapse) {
      Index rest = indices[g];
      for (int64_t d : llvm::reverse(ArrayRef<int64_t>(group).drop_front())) {
        if (wide.getDimSize(d) == 1) {
          inner[d] = index(0);
          continue;
        }
        auto [quotient, last] = divide(rest, wide.getDimSize(d));
        inner[d] = last;
        rest = quotient;
      }
      inner[group.front()] = rest;
    } else {
      Index sum = indices[group.front()];
      for (int64_t d : ArrayRef<int64_t>(group).drop_front())
        if (wide.getDimSize(d) != 1)
          sum = add(mul(sum, wide.getDimSize(d)), indices[d]);
      inner[g] = sum;
    }
  }
  return eval(op->getOperand(0), inner);
}

/// The task that owns ragged row `row`: the last whose offset is not above it.
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
