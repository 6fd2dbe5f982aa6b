//===- CodeBuilder.cpp - Builder of address-level code --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeBuilder.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::uprog;
using namespace mlir::batch::abi;

void CodeBuilder::beginFunction(func::FuncOp function) {
  entry = function.addEntryBlock();
  constants.clear();
  setInsertionPointToStart(entry);
}

Value CodeBuilder::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(entry);
    known = arith::ConstantOp::create(*this, getI64IntegerAttr(value));
  }
  return known;
}

Value CodeBuilder::unique(Value folded) {
  APInt value;
  if (!folded.getType().isInteger(64) ||
      !matchPattern(folded, m_ConstantInt(&value)))
    return folded;
  Value known = constant(value.getSExtValue());
  if (folded != known && folded.use_empty())
    folded.getDefiningOp()->erase();
  return known;
}

Value CodeBuilder::less(Value a, Value b) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, a, b);
}

Value CodeBuilder::offset(Value pointer, Value bytes) {
  if (matchPattern(bytes, m_Zero()))
    return pointer;
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value CodeBuilder::load(Type type, Value pointer, int64_t alignment) {
  return LLVM::LoadOp::create(*this, type, pointer, alignment);
}

void CodeBuilder::store(Value value, Value pointer, int64_t alignment) {
  LLVM::StoreOp::create(*this, value, pointer, alignment);
}

Value CodeBuilder::loadField(Value base, Field field) {
  return loadField(base, 0, 0, field);
}

Value CodeBuilder::loadField(Value array, int64_t index, int64_t structCells,
                             Field field) {
  Value offset = constant(index * structCells * kCellBytes + field.offset);
  return load(field.isPointer ? ptrType() : getI64Type(),
              this->offset(array, offset), kCellBytes);
}

Value CodeBuilder::loadPointer(Value array, int64_t index) {
  return load(ptrType(), offset(array, constant(index * kCellBytes)),
              kCellBytes);
}

CodeBuilder::Values CodeBuilder::loop(Value lower, Value upper, Value step,
                                      ValueRange init, LoopBody body) {
  auto loopOp = scf::ForOp::create(*this, lower, upper, step, init);
  InsertionGuard guard(*this);
  Block *block = loopOp.getBody();
  if (init.empty() && !block->empty())
    block->back().erase();
  setInsertionPointToEnd(block);
  region(true);
  Values carried = body(loopOp.getInductionVar(), loopOp.getRegionIterArgs());
  scf::YieldOp::create(*this, carried);
  region(false);
  return Values(loopOp.getResults());
}

CodeBuilder::Values CodeBuilder::loop(Value lower, Value upper, int64_t step,
                                      ValueRange init, LoopBody body) {
  return loop(lower, upper, constant(step), init, body);
}

void CodeBuilder::loop(Value lower, Value upper, Value step,
                       llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

void CodeBuilder::loop(Value lower, Value upper, int64_t step,
                       llvm::function_ref<void(Value)> body) {
  loop(lower, upper, constant(step), body);
}

Value CodeBuilder::select(Value condition, llvm::function_ref<Value()> whenTrue,
                          llvm::function_ref<Value()> whenFalse) {
  OpBuilder::InsertPoint before = saveInsertionPoint();
  // Build both sides first, because they determine the type of the result.
  Block *sides[2] = {new Block, new Block};
  Value values[2];
  for (int side : {0, 1}) {
    setInsertionPointToStart(sides[side]);
    region(true);
    values[side] = side == 0 ? whenTrue() : whenFalse();
    region(false);
  }
  if (!values[0] || !values[1]) {
    for (Block *side : sides)
      delete side;
    restoreInsertionPoint(before);
    return {};
  }
  for (int side : {0, 1}) {
    setInsertionPointToEnd(sides[side]);
    // If only one side is a scalar, broadcast it to the lanes of the other.
    Type other = values[1 - side].getType();
    if (isa<VectorType>(other) && !isa<VectorType>(values[side].getType()))
      values[side] = vector::BroadcastOp::create(*this, other, values[side]);
    scf::YieldOp::create(*this, values[side]);
  }
  restoreInsertionPoint(before);
  auto ifOp =
      scf::IfOp::create(*this, TypeRange(values[0].getType()), condition,
                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  ifOp.getThenRegion().push_back(sides[0]);
  ifOp.getElseRegion().push_back(sides[1]);
  return ifOp.getResult(0);
}

CodeBuilder::Values
CodeBuilder::select(Value condition, TypeRange types,
                    llvm::function_ref<Values()> whenTrue,
                    llvm::function_ref<Values()> whenFalse) {
  auto ifOp =
      scf::IfOp::create(*this, types, condition, /*withElseRegion=*/true);
  InsertionGuard guard(*this);
  for (bool side : {true, false}) {
    setInsertionPointToStart(side ? ifOp.thenBlock() : ifOp.elseBlock());
    region(true);
    scf::YieldOp::create(*this, side ? whenTrue() : whenFalse());
    region(false);
  }
  return Values(ifOp.getResults());
}

void CodeBuilder::when(Value condition, llvm::function_ref<void()> whenTrue,
                       llvm::function_ref<void()> whenFalse) {
  auto ifOp = scf::IfOp::create(*this, condition, bool(whenFalse));
  InsertionGuard guard(*this);
  setInsertionPointToStart(ifOp.thenBlock());
  region(true);
  whenTrue();
  region(false);
  if (!whenFalse)
    return;
  setInsertionPointToStart(ifOp.elseBlock());
  region(true);
  whenFalse();
  region(false);
}

void uprog::makeInternal(func::FuncOp function) {
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}
