//===- Evaluator.cpp - Code for the elements of a value -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;
using namespace mlir::batch::abi;

Evaluator::Evaluator(CodeBuilder &b, const StagePlan &plan,
                     ModuleTables &tables)
    : b(b), plan(plan), tables(tables), lanes(plan.getLanes()) {
  b.onRegion = [this](bool enter) {
    if (enter)
      scopes.emplace_back();
    else
      scopes.pop_back();
  };
}

void Evaluator::beginStage(int64_t number, const StageArguments &newArguments) {
  stage = number;
  arguments = newArguments;
  scopes.clear();
  scopes.emplace_back();
  entryValues.clear();
  tiles.clear();
  marker = arith::ConstantOp::create(b, b.getBoolAttr(false));
}

void Evaluator::endStage() { marker->erase(); }

void Evaluator::fail(Operation *op, const Twine &message) {
  if (!failed)
    op->emitOpError(message);
  failed = true;
}

int64_t Evaluator::mod(int64_t value) const { return llvm::mod(value, lanes); }

Value *Evaluator::find(const Key &key) {
  for (auto &scope : llvm::reverse(scopes))
    if (auto it = scope.find(key); it != scope.end())
      return &it->second;
  return nullptr;
}

Value Evaluator::atEntry(Key key, llvm::function_ref<Value()> make) {
  Value &value = entryValues[key];
  if (!value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(marker);
    value = make();
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Index Evaluator::index(int64_t value) {
  return {b.constant(value), false, mod(value), value, value + 1};
}

Index Evaluator::add(const Index &a, const Index &other) {
  Index sum{b.add(a.base, other.base), a.lanes || other.lanes};
  sum.step = a.lanes ? a.step : other.step;
  sum.partial = a.partial || other.partial;
  if (a.residue >= 0 && other.residue >= 0)
    sum.residue = mod(a.residue + other.residue);
  if (a.upper >= 0 && other.upper >= 0) {
    sum.lower = a.lower + other.lower;
    sum.upper = a.upper + other.upper - 1;
  }
  return sum;
}

Index Evaluator::add(const Index &a, int64_t other) {
  if (other == 0)
    return a;
  Index sum{b.add(a.base, b.constant(other)), a.lanes};
  sum.step = a.step;
  sum.partial = a.partial;
  if (a.residue >= 0)
    sum.residue = mod(a.residue + other);
  if (a.upper >= 0) {
    // Indices are negative only where nothing is read.
    sum.lower = std::max<int64_t>(a.lower + other, 0);
    sum.upper = std::max<int64_t>(a.upper + other, 0);
  }
  return sum;
}

Index Evaluator::mul(const Index &a, int64_t factor) {
  if (factor == 1)
    return a;
  Index product{b.mul(a.base, b.constant(factor)), a.lanes};
  product.step = a.step * factor;
  product.partial = a.partial;
  if (a.lanes)
    return product;
  product.residue = a.residue >= 0        ? mod(a.residue * factor)
                    : factor % lanes == 0 ? 0
                                          : -1;
  return product;
}

std::pair<Index, Index> Evaluator::divide(const Index &a, int64_t divisor) {
  Value by = b.constant(divisor);
  Index quotient{b.div(a.base, by)};
  Index rest{b.rem(a.base, by), a.lanes,
             divisor % lanes == 0 ? a.residue : int64_t(-1)};
  return {quotient, rest};
}

Index Evaluator::evalExpr(AffineExpr expr, ArrayRef<Index> dims,
                          Divisions &divisions) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto cst = dyn_cast<AffineConstantExpr>(expr))
    return index(cst.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto cst = dyn_cast<AffineConstantExpr>(binary.getRHS());
  Index lhs = evalExpr(binary.getLHS(), dims, divisions);
  if (binary.getKind() == AffineExprKind::Add)
    return cst ? add(lhs, cst.getValue())
               : add(lhs, evalExpr(binary.getRHS(), dims, divisions));
  if (binary.getKind() == AffineExprKind::Mul)
    return mul(lhs, cst.getValue());
  auto [it, isNew] = divisions.try_emplace({binary.getLHS(), cst.getValue()});
  if (isNew)
    it->second = divide(lhs, cst.getValue());
  auto [quotient, rest] = it->second;
  return binary.getKind() == AffineExprKind::Mod ? rest : quotient;
}

Indices Evaluator::operandIndices(AffineMap map, ArrayRef<Index> dims) {
  // A division that several expressions share is computed once.
  Divisions divisions;
  Indices indices;
  for (AffineExpr expr : map.getResults())
    indices.push_back(evalExpr(expr, dims, divisions));
  return indices;
}

Indices Evaluator::loopIndices(linalg::LinalgOp op, ArrayRef<Index> results) {
  Indices dims(op.getNumLoops());
  AffineMap out = op.getIndexingMapMatchingResult(op->getResult(0));
  for (auto [i, expr] : llvm::enumerate(out.getResults()))
    dims[cast<AffineDimExpr>(expr).getPosition()] = results[i];
  return dims;
}

Indices Evaluator::positionOf(const RowSpace &space, Value row) {
  Indices position;
  Value rest = row;
  SmallVector<Value> inner;
  for (int64_t i = space.rank() - 2; i >= 0; --i) {
    Value extent = b.constant(space.shape[i]);
    inner.push_back(i == 0 && !space.hasRows() ? rest : b.rem(rest, extent));
    rest = b.div(rest, extent);
  }
  if (space.hasRows())
    position.push_back(index(rest));
  for (Value value : llvm::reverse(inner))
    position.push_back(index(value));
  return position;
}

Value Evaluator::iota() {
  return atEntry({&lanes}, [&] {
    SmallVector<int64_t> values;
    for (int64_t i = 0; i < lanes; ++i)
      values.push_back(i);
    return arith::ConstantOp::create(
               b, DenseElementsAttr::get(
                      cast<VectorType>(vectorOf(b.getI64Type())),
                      ArrayRef<int64_t>(values)))
        .getResult();
  });
}

Value Evaluator::broadcast(Value scalar) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, vectorOf(scalar.getType()), scalar);
}

Value Evaluator::indexValue(const Index &index) {
  Value value = index.base;
  Type type = b.getIndexType();
  if (index.lanes) {
    value = laneIndices(index);
    type = vectorOf(type);
  }
  return arith::IndexCastOp::create(b, type, value);
}

Value Evaluator::lanesBelow(Value base, Value end) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iota(),
                               broadcast(b.sub(end, base)));
}

Value Evaluator::mask(Value base, int64_t extent) {
  return lanesBelow(base, b.constant(extent));
}

Value Evaluator::laneIndices(const Index &index) {
  Value distance = iota();
  if (index.step != 1)
    distance =
        arith::MulIOp::create(b, distance, broadcast(b.constant(index.step)));
  return arith::AddIOp::create(b, broadcast(index.base), distance);
}

Value Evaluator::mask(const Index &index, int64_t extent) {
  if (index.step == 1 && !index.partial)
    return mask(index.base, extent);
  // As an unsigned number, a negative index is greater than the extent.
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, laneIndices(index),
                               broadcast(b.constant(extent)));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns the type that elements of `type` have in memory.
static Type storedType(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  if (type.isInteger())
    return IntegerType::get(type.getContext(), elementBytes(type) * 8);
  return type;
}

static Value fromStored(CodeBuilder &b, Value value, Type element) {
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), element);
  if (value.getType() == type)
    return value;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, type, value);
  return arith::TruncIOp::create(b, type, value);
}

static Value toStored(CodeBuilder &b, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  Type type = storedType(element);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), type);
  if (value.getType() == type)
    return value;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, type, value);
  return arith::ExtUIOp::create(b, type, value);
}

Evaluator::Place Evaluator::locate(const TableLayout &layout,
                                   ArrayRef<Index> indices) {
  Place place{b.constant(0)};
  auto all = [&](int64_t value) { return broadcast(b.constant(value)); };
  for (const TableLayout::Digit &digit : layout.getDigits()) {
    const Index &index = indices[digit.dim];
    bool isLast = digit.dim + 1 == indices.size();
    if (index.lanes && layout.getOnlyDigit(digit.dim)) {
      place.stride = digit.stride * index.step;
    } else if (index.lanes && isLast && index.residue == 0) {
      // The whole vector is in one piece, as Staging::checkLayouts() ensures.
      place.stride = 1;
    } else if (index.lanes) {
      Value digitValue = laneIndices(index);
      if (digit.divisor > 1)
        digitValue = arith::DivUIOp::create(b, digitValue, all(digit.divisor));
      if (digit.modulus)
        digitValue = arith::RemUIOp::create(b, digitValue, all(digit.modulus));
      digitValue = arith::MulIOp::create(b, digitValue, all(digit.stride));
      place.offsets = place.offsets
                          ? arith::AddIOp::create(b, place.offsets, digitValue)
                          : digitValue;
      continue;
    }
    Value digitValue = b.div(index.base, b.constant(digit.divisor));
    if (digit.modulus)
      digitValue = b.rem(digitValue, b.constant(digit.modulus));
    place.first =
        b.add(place.first, b.mul(digitValue, b.constant(digit.stride)));
  }
  return place;
}

Value Evaluator::slotOffset(const TableLayout &layout, Value slot) {
  Value block = b.constant(layout.getBlock());
  Value inBlock = b.mul(b.rem(slot, block), b.constant(layout.getSlotBytes()));
  return b.add(b.mul(b.div(slot, block), b.constant(layout.getBlockBytes())),
               inBlock);
}

Value Evaluator::loadElement(Value row, ArrayRef<int64_t> shape,
                             const TableLayout &layout, Type element,
                             ArrayRef<Index> indices) {
  int64_t bytes = elementBytes(element);
  Place place = locate(layout, indices);
  Type stored = storedType(element);
  Value pointer = b.offset(row, b.mul(place.first, b.constant(bytes)));
  if (addressOnly)
    return pointer;
  if (place.stride == 0 && !place.offsets)
    return fromStored(b, b.load(stored, pointer, bytes), element);
  Type type = vectorOf(stored);
  const Index *lanesIndex =
      llvm::find_if(indices, [](const Index &index) { return index.lanes; });
  int64_t extent = shape[lanesIndex - indices.begin()];
  if (place.stride == 1) {
    // Padding makes it safe to load beyond the end. GPUs load whole vectors
    // only if the load specifies that the vectors are aligned.
    if (lanesIndex->residue == 0 && !lanesIndex->partial &&
        layout.getRun() % lanes == 0)
      return fromStored(
          b, b.load(type, pointer, b.addressSpace ? lanes * bytes : bytes),
          element);
    Value loaded = LLVM::MaskedLoadOp::create(
        b, type, pointer, mask(*lanesIndex, extent),
        LLVM::ZeroOp::create(b, type), b.getI32IntegerAttr(bytes));
    return fromStored(b, loaded, element);
  }
  Value offsets = arith::MulIOp::create(
      b, place.offsets ? place.offsets : iota(),
      broadcast(b.constant((place.offsets ? 1 : place.stride) * bytes)));
  Value pointers = LLVM::GEPOp::create(b, VectorType::get({lanes}, b.ptrType()),
                                       b.getI8Type(), pointer,
                                       ArrayRef<LLVM::GEPArg>{offsets});
  Value loaded = LLVM::masked_gather::create(
      b, type, pointers, mask(*lanesIndex, extent),
      ValueRange{LLVM::ZeroOp::create(b, type)}, b.getI32IntegerAttr(bytes));
  return fromStored(b, loaded, element);
}

Value Evaluator::getCount() {
  return atEntry({&plan},
                 [&] { return b.loadField(arguments.step, kStepCount); });
}

Value Evaluator::getPacking(int64_t packing) {
  return atEntry({&tables, reinterpret_cast<void *>(packing)},
                 [&] { return b.loadPointer(arguments.packings, packing); });
}

Value Evaluator::countRows(int64_t parameter) {
  Value rows = getPacking(tables.getRows(parameter));
  Value extent = b.load(b.getI64Type(),
                        b.offset(rows, b.constant(kExtentOffset)), kCellBytes);
  return arith::IndexCastOp::create(b, b.getIndexType(), extent);
}

Value Evaluator::getOffset(int64_t domain, Value position) {
  int64_t operand = plan.getRaggedOperand(domain);
  Value offsets = atEntry({&stage, reinterpret_cast<void *>(operand)}, [&] {
    return b.loadField(b.loadField(arguments.step, kStepOperands), operand,
                       kOperandCells, kOperandOffsets);
  });
  Value loaded = b.load(
      b.getI32Type(),
      b.offset(offsets, b.mul(position, b.constant(kIndexBytes))), kIndexBytes);
  return arith::ExtSIOp::create(b, b.getI64Type(), loaded);
}

void Evaluator::rememberRow(BlockArgument argument, Value row, Value pointer) {
  Key key{argument.getAsOpaquePointer(), row.getAsOpaquePointer(), &stage};
  scopes.back()[key] = pointer;
}

Value Evaluator::rowPointer(BlockArgument argument, Value row) {
  Key key{argument.getAsOpaquePointer(), row.getAsOpaquePointer(), &stage};
  if (Value *known = find(key))
    return *known;
  OperatorOp op = plan.getOperator();
  unsigned number = argument.getArgNumber();
  auto field = [&](Field of) {
    return atEntry({argument.getAsOpaquePointer(),
                    reinterpret_cast<void *>(of.offset + 1)},
                   [&] {
                     return b.loadField(
                         b.loadField(arguments.step, kStepOperands),
                         plan.getStepOperand(number), kOperandCells, of);
                   });
  };
  OperandKind kind = op.getRead(number).getKind();
  TableLayout layout = plan.getLayout(argument);
  Value pointer;
  if (kind == OperandKind::Rows) {
    pointer = b.load(
        b.ptrType(),
        b.offset(field(kOperandRows), b.mul(row, b.constant(kCellBytes))),
        kCellBytes);
  } else if (kind == OperandKind::Scalar) {
    pointer = b.offset(field(kOperandRows), b.mul(row, b.constant(kCellBytes)));
  } else {
    Value slot = b.load(
        b.getI32Type(),
        b.offset(field(kOperandRows), b.mul(row, b.constant(kIndexBytes))),
        kIndexBytes);
    slot = arith::ExtSIOp::create(b, b.getI64Type(), slot);
    pointer = b.offset(field(kOperandBase), slotOffset(layout, slot));
  }
  return scopes.back()[key] = pointer;
}

Value Evaluator::resultBase(int64_t result) {
  return atEntry({&arguments, reinterpret_cast<void *>(result)}, [&] {
    return b.loadPointer(b.loadField(arguments.step, kStepResults), result);
  });
}

Value Evaluator::isNull(Value pointer) {
  Value null = LLVM::ZeroOp::create(b, pointer.getType());
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, pointer, null);
}

Value Evaluator::loadUnlessNull(Value base, Value place, Value otherwise) {
  auto choice = scf::IfOp::create(
      b, isNull(base),
      [&](OpBuilder &then, Location loc) {
        scf::YieldOp::create(then, loc, otherwise);
      },
      [&](OpBuilder &other, Location loc) {
        Value loaded = LLVM::LoadOp::create(other, loc, otherwise.getType(),
                                            place, kCellBytes);
        scf::YieldOp::create(other, loc, loaded);
      });
  return choice.getResult(0);
}

Value Evaluator::mustCopy(const Stage &copying) {
  std::optional<unsigned> result = plan.getCopiedResult(copying);
  if (!result)
    return {};
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  return arith::XOrIOp::create(b, isNull(resultBase(*result)), yes);
}

Value Evaluator::storagePointer(Value value, const Storage &storage,
                                int64_t domain, Value row) {
  Key key{value.getAsOpaquePointer(), row.getAsOpaquePointer(),
          reinterpret_cast<void *>(storage.index), &tiles};
  if (Value *known = find(key))
    return *known;
  Value base, offset;
  if (storage.kind == Storage::Result) {
    // Offset in bytes from the first task's row to this task's row.
    const TableLayout &layout = plan.getResultLayout(storage.index);
    OperatorOp op = plan.getOperator();
    ResultAttr write = op.getWrite(storage.index);
    int64_t siblings = write.getSiblings();
    if (write.getRows()) {
      offset = b.mul(row, b.constant(kCellBytes));
    } else if (layout.getBlock() > 1) {
      Value position = b.constant(write.getPosition());
      Value slot = b.add(b.mul(row, b.constant(siblings)), position);
      offset = b.sub(slotOffset(layout, slot), slotOffset(layout, position));
    } else {
      offset = b.mul(row, b.constant(layout.getBlockBytes() * siblings));
    }
    base = resultBase(storage.index);
    BlockArgument root = plan.getRoot(storage.index);
    if (write.getRows()) {
      // The address of the row is stored at `place`, unless results are written
      // to rows of operands.
      Value place = b.offset(base, offset);
      if (!root)
        return scopes.back()[key] = b.load(b.ptrType(), place, kCellBytes);
      Value own = rowPointer(root, row);
      return scopes.back()[key] = loadUnlessNull(base, place, own);
    }
    if (root) {
      Value own = b.offset(base, offset);
      return scopes.back()[key] = arith::SelectOp::create(
                 b, isNull(base), rowPointer(root, row), own);
    }
  } else {
    TableLayout layout = makeLayout(plan.getRowShape(value),
                                    getElementTypeOrSelf(value.getType()));
    offset = b.mul(row, b.constant(layout.getRowBytes()));
    base = atEntry({value.getAsOpaquePointer(), &scopes}, [&] {
      Value count = getCount();
      if (domain < 0)
        return b.offset(arguments.scratch,
                        b.mul(count, b.constant(storage.offset)));
      Value offset = b.mul(count, b.constant(plan.getTaskScratch()));
      for (int64_t d = 0; d <= domain; ++d) {
        int64_t perRow =
            d == domain ? storage.offset : plan.getRaggedScratch()[d];
        if (perRow)
          offset =
              b.add(offset, b.mul(getOffset(d, count), b.constant(perRow)));
      }
      return b.offset(arguments.scratch, offset);
    });
  }
  return scopes.back()[key] = b.offset(base, offset);
}

Indices Evaluator::insertIndices(InsertOp insert, ArrayRef<Index> indices) {
  Indices places;
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  ArrayRef<Index> own = indices.drop_front();
  for (auto [dim, offset, stride] :
       llvm::enumerate(insert.getOffsets(), insert.getStrides())) {
    Index place = index(0);
    if (!dropped[dim]) {
      place = mul(own.front(), stride);
      own = own.drop_front();
    }
    if (Value position = insert.getPosition(dim)) {
      Value first = eval(position, indices.take_front());
      if (failed)
        return {};
      first = arith::IndexCastOp::create(b, b.getI64Type(), first);
      places.push_back(add(place, index(first)));
    } else {
      places.push_back(add(place, offset));
    }
  }
  return places;
}

void Evaluator::store(Value computed, Value value, const Storage &storage,
                      ArrayRef<Index> indices) {
  Type element = getElementTypeOrSelf(value.getType());
  const RowSpace &space = plan.getStages()[stage].space;
  Value row = space.hasRows() ? indices.front().base : b.constant(0);
  ArrayRef<Index> inner = indices.drop_front(space.hasRows() ? 1 : 0);
  int64_t bytes = elementBytes(element);
  TableLayout layout = storage.kind == Storage::Result
                           ? plan.getResultLayout(storage.index)
                           : makeLayout(space.shape, element);
  auto insert = value.getDefiningOp<InsertOp>();
  Indices places;
  // A vector store must not overwrite columns next to the slice.
  bool isWhole = true;
  if (insert) {
    places = insertIndices(insert, indices);
    if (failed)
      return;
    isWhole =
        space.rank() > 0 && space.columns() == plan.getRowShape(value).back();
  }
  Place place = locate(layout, insert ? ArrayRef<Index>(places) : inner);
  Value pointer = b.offset(storagePointer(value, storage, space.domain, row),
                           b.mul(place.first, b.constant(bytes)));
  if (place.stride == 0) {
    b.store(toStored(b, computed), pointer, bytes);
    return;
  }
  Value stored = toStored(b, broadcast(computed));
  if (layout.getRun() % lanes == 0 && isWhole)
    b.store(stored, pointer, bytes);
  else
    LLVM::MaskedStoreOp::create(b, stored, pointer,
                                mask(inner.back().base, space.shape.back()),
                                b.getI32IntegerAttr(bytes));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void Evaluator::setTile(Value value, Value pointer, int64_t stride) {
  tiles[value] = {pointer, stride};
}

void Evaluator::setTilePosition(Value row, Value column) {
  tileRow = row;
  tileColumn = column;
}

Value Evaluator::tilePointer(Value value, Value row, Value column) {
  const Tile &tile = tiles.find(value)->second;
  int64_t bytes = elementBytes(getElementTypeOrSelf(value.getType()));
  Value offset =
      b.add(b.mul(row, b.constant(tile.stride)), b.sub(column, tileColumn));
  return b.offset(tile.pointer, b.mul(offset, b.constant(bytes)));
}

Value Evaluator::loadTile(Value value, Value row, Value column, bool vector) {
  Type element = getElementTypeOrSelf(value.getType());
  Type stored = storedType(element);
  return fromStored(b,
                    b.load(vector ? vectorOf(stored) : stored,
                           tilePointer(value, row, column),
                           elementBytes(element)),
                    element);
}

void Evaluator::storeTile(Value element, Value value, Value row, Value column,
                          bool vector) {
  b.store(toStored(b, vector ? broadcast(element) : element),
          tilePointer(value, row, column),
          elementBytes(getElementTypeOrSelf(value.getType())));
}

void Evaluator::prepareRow(const Stage &stage, ArrayRef<Index> indices) {
  for (Value argument : stage.op.getReads())
    rowPointer(cast<BlockArgument>(argument), indices.front().base);
  for (auto &[value, storage] : stage.stores)
    if (auto insert = value.getDefiningOp<InsertOp>()) {
      storagePointer(value, storage, stage.space.domain, indices.front().base);
      for (Value position : insert.getPositions())
        eval(position, indices.take_front());
    }
}
