//===- LaneCode.cpp - Code between the blocks of lanes --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneCode.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

LaneCode::LaneCode(OpBuilder &builder, Location loc, MachineOp machine,
                   Value context, Value lanes, const UnitThreads &unit)
    : builder(builder), loc(loc), machine(machine), layout(machine),
      cb(builder, loc, context), lanes(lanes), unit(unit) {}

Value LaneCode::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}

Value LaneCode::mul(Value a, Value b) {
  return arith::MulIOp::create(builder, loc, a, b);
}

Value LaneCode::compare(CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

Value LaneCode::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

void LaneCode::when(Value condition, function_ref<void()> body,
                    function_ref<void()> otherwise) {
  auto choice = scf::IfOp::create(builder, loc, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(choice.thenBlock()->getTerminator());
  body();
  if (!otherwise)
    return;
  builder.setInsertionPoint(choice.elseBlock()->getTerminator());
  otherwise();
}

Value LaneCode::either(Value condition, function_ref<Value()> body,
                       function_ref<Value()> otherwise) {
  auto branch = [](function_ref<Value()> make) {
    return [make](OpBuilder &builder, Location loc) {
      scf::YieldOp::create(builder, loc, make());
    };
  };
  return scf::IfOp::create(builder, loc, condition, branch(body),
                           branch(otherwise))
      .getResult(0);
}

void LaneCode::loop(Value count, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, constant(0), count, constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

void LaneCode::share(Value count, function_ref<void(Value)> body) {
  if (!unit.isGroup())
    return loop(count, body);
  auto loop = scf::ForOp::create(builder, loc, unit.thread, count,
                                 constant(unit.threads));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

void LaneCode::byFirstThread(function_ref<void()> body) {
  if (!unit.isGroup())
    return body();
  when(compare(CmpIPredicate::eq, unit.thread, constant(0)), body);
}

void LaneCode::emitBarrier() {
  if (unit.isGroup())
    gpu::BarrierOp::create(builder, loc);
}

Value LaneCode::number(Field field) { return cb.loadCell(lanes, field); }

Value LaneCode::limit(Field field) {
  Value value = number(field);
  value.getDefiningOp<LLVM::LoadOp>().setInvariant(true);
  return value;
}

Value LaneCode::array(Field field) {
  Value pointer = cb.loadPointer(lanes, field);
  pointer.getDefiningOp<LLVM::LoadOp>().setInvariant(true);
  return pointer;
}

void LaneCode::setNumber(Field field, Value value) {
  cb.storeCell(lanes, field, value);
}

Value LaneCode::bytesAt(Value base, Value offset) {
  return cb.address(base, offset, builder.getI8Type());
}

void LaneCode::shareBy(Share next) {
  if (shared != Share::Nothing && shared != next)
    emitBarrier();
  shared = next;
}

Value LaneCode::laneAt(Value active, Value place) {
  Value where = cb.address(active, place, builder.getI32Type());
  Value lane = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), where);
  return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), lane);
}

void LaneCode::forActive(Value count, function_ref<void(Value, Value)> body) {
  shareBy(Share::Lanes);
  Value active = array(kLanesActive);
  share(count, [&](Value place) { body(place, laneAt(active, place)); });
}

void LaneCode::forPieces(const MachineLayout::Variable &entry, Value count,
                         function_ref<void(Value, Value, Value)> body) {
  shareBy(Share::Pieces);
  Value active = array(kLanesActive), pieces = constant(entry.pieces());
  share(mul(count, pieces), [&](Value i) {
    Value place = arith::DivUIOp::create(builder, loc, i, pieces);
    Value piece = arith::RemUIOp::create(builder, loc, i, pieces);
    body(place, laneAt(active, place), piece);
  });
}

bool LaneCode::isWide(const MachineLayout::Variable &entry) {
  return unit.isGroup() && entry.pieces() > 1;
}

//===----------------------------------------------------------------------===//
// Destinations of lanes
//===----------------------------------------------------------------------===//

void LaneCode::arrive(Value lane, Value frame, Value target) {
  if (frame)
    target = add(frame, target);
  store(array(kLanesBlocks), lane, target);
  Value waiting = array(kLanesWaiting);
  Value before =
      unit.isGroup()
          ? LLVM::AtomicRMWOp::create(
                builder, loc, LLVM::AtomicBinOp::add,
                cb.address(waiting, target, builder.getI64Type()), constant(1),
                LLVM::AtomicOrdering::monotonic, unit.blockScope)
                .getResult()
          : load(waiting, target);
  when(compare(CmpIPredicate::eq, before, constant(0)),
       [&] { store(array(kLanesSince), target, number(kLanesNow)); });
  if (!unit.isGroup())
    store(waiting, target, add(before, constant(1)));
}

void LaneCode::callNextInstance(Value lane, bool isDone) {
  Value done =
      arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), isDone);
  func::CallOp::create(builder, loc, getNextInstanceName(machine.getSymName()),
                       TypeRange(),
                       ValueRange{cb.getContext(), lanes, lane, done});
}

/// Returns the type of a value's bits in a row, where an i1 takes one byte.
static Type getBitsType(OpBuilder &builder, Type type) {
  return builder.getIntegerType(8 * elementBytes(type));
}

void LaneCode::storeResults(func::FuncOp entry, Value lane) {
  Type i64 = builder.getI64Type();
  Value instance = load(array(kLanesInstances), lane);
  for (auto &[name, variable] : layout.getVariables()) {
    if (!variable.result)
      continue;
    Value cells =
        cb.loadPointer(cb.loadField(ContextField::results), *variable.result);
    Value row = currentRow(variable, lane);
    Type type = entry.getResultTypes()[*variable.result];
    if (isa<RankedTensorType>(type)) {
      Value to = LLVM::IntToPtrOp::create(
          builder, loc, cb.getContext().getType(), load(cells, instance));
      copyRow(to, row, variable);
      continue;
    }
    Value cell =
        LLVM::LoadOp::create(builder, loc, getBitsType(builder, type), row);
    if (cell.getType() != i64)
      cell = isa<FloatType>(type) || type.isInteger(1)
                 ? arith::ExtUIOp::create(builder, loc, i64, cell).getResult()
                 : arith::ExtSIOp::create(builder, loc, i64, cell);
    store(cells, instance, cell);
  }
}

void LaneCode::takeArguments(func::FuncOp entry, Value lane, Value instance) {
  SmallVector<Type> types;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (!entry.getArgAttr(i, kSharedAttr))
      types.push_back(entry.getArgumentTypes()[i]);
  for (auto &[name, variable] : layout.getVariables()) {
    if (!variable.argument)
      continue;
    Value cells = cb.loadPointer(cb.loadField(ContextField::arguments),
                                 *variable.argument);
    Value cell = load(cells, instance);
    Value row = currentRow(variable, lane);
    Type type = types[*variable.argument];
    if (isa<RankedTensorType>(type)) {
      Value from = LLVM::IntToPtrOp::create(builder, loc,
                                            cb.getContext().getType(), cell);
      copyRow(row, from, variable);
      continue;
    }
    Type bits = getBitsType(builder, type);
    if (bits != cell.getType())
      cell = arith::TruncIOp::create(builder, loc, bits, cell);
    LLVM::StoreOp::create(builder, loc, cell, row);
  }
}

void LaneCode::makeNextInstance(func::FuncOp entry) {
  OpBuilder::InsertionGuard guard(builder);
  Type ptr = cb.getContext().getType();
  Type i64 = builder.getI64Type();
  auto function = func::FuncOp::create(
      builder, loc, getNextInstanceName(machine.getSymName()),
      builder.getFunctionType({ptr, ptr, i64, builder.getI1Type()}, {}));
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Value lane = body->getArgument(2), done = body->getArgument(3);
  LaneCode code(builder, loc, machine, body->getArgument(0),
                body->getArgument(1), unit);
  code.when(done, [&] {
    code.storeResults(entry, lane);
    if (!unit.thread) // on the host
      code.cb.countEnded();
  });
  auto count = [&]() -> Value {
    return LLVM::AtomicRMWOp::create(
        builder, loc, LLVM::AtomicBinOp::add, code.array(kLanesNextInstance),
        code.constant(1), LLVM::AtomicOrdering::monotonic, unit.deviceScope);
  };
  auto exchange = [&]() -> Value {
    return code.cb.call(RuntimeFunction::exchangeInstance,
                        code.load(code.array(kLanesInstances), lane));
  };
  Value next =
      unit.thread ? count() : code.either(code.hasStream(), exchange, count);
  // As an unsigned number, the -1 of a stream without instances is too large.
  Value isThere =
      code.compare(CmpIPredicate::ult, next, code.limit(kLanesNumInstances));
  code.store(code.array(kLanesInstances), lane,
             code.select(isThere, next, code.constant(-1)));
  code.store(code.array(kLanesLaneSteps), lane, code.constant(0));
  code.when(
      isThere,
      [&] {
        code.store(code.array(kLanesReturnDepths), lane, code.constant(0));
        for (auto &[name, variable] : code.layout.getVariables())
          if (variable.hasStack)
            code.store(code.variable(variable, kVariableDepths), lane,
                       code.constant(0));
        code.takeArguments(entry, lane, next);
        code.arrive(lane, /*frame=*/Value(), code.constant(0));
      },
      [&] { code.store(code.array(kLanesBlocks), lane, code.constant(-1)); });
  func::ReturnOp::create(builder, loc);
}

Value LaneCode::hasStream() {
  Value ready = array(kLanesReady);
  Value null = LLVM::ZeroOp::create(builder, loc, ready.getType());
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, ready,
                              null);
}

void LaneCode::takeReady() {
  if (unit.thread)
    return; // only lanes on the host use streams
  when(hasStream(), [&] {
    Value ready = LLVM::LoadOp::create(
        builder, loc, builder.getI64Type(), array(kLanesReady), kCellBytes,
        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
    when(compare(CmpIPredicate::sgt, ready, constant(0)), [&] {
      loop(limit(kLanesLanes), [&](Value lane) {
        Value instance = load(array(kLanesInstances), lane);
        when(compare(CmpIPredicate::slt, instance, constant(0)),
             [&] { callNextInstance(lane, /*isDone=*/false); });
      });
    });
  });
}

void LaneCode::startLanes() {
  if (unit.isGroup()) {
    for (auto &[name, variable] : layout.getVariables())
      clearRows(variable);
    emitBarrier();
  }
  share(limit(kLanesLanes),
        [&](Value lane) { callNextInstance(lane, /*isDone=*/false); });
  emitBarrier();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Returns the invocation of the block's kernel, or null.
static InvokeOp getInvoke(BlockOp block) {
  auto invokes = block.getBody().front().getOps<InvokeOp>();
  return invokes.empty() ? InvokeOp() : *invokes.begin();
}

void LaneCode::runPrologue(BlockOp block) {
  present = layout.getBlock(block.getSymNameAttr());
  InvokeOp invoke = getInvoke(block);
  if (!invoke)
    return;
  for (Operation &op : block.getBody().front()) {
    if (&op == invoke)
      break;
    if (auto pop = dyn_cast<PopOp>(op)) {
      this->pop(pop);
    } else if (auto push = dyn_cast<PushOp>(op)) {
      this->push(push);
    } else if (auto set = dyn_cast<SetOp>(op)) {
      this->set(set);
    } else if (auto top = dyn_cast<TopOp>(op)) {
      const auto &entry = layout.getVariable(top.getVariableAttr().getAttr());
      if (entry.hasStack && !machine.getCachedTops())
        copyToTops(entry);
    }
  }
  emitBarrier();
}

bool LaneCode::canFail(BlockOp block) {
  return isa<PushJumpOp>(block.getBody().front().getTerminator()) ||
         !block.getBody().front().getOps<PushOp>().empty();
}

void LaneCode::leave(Operation *terminator, Value place, Value lane) {
  auto target = [&](FlatSymbolRefAttr name) {
    return constant(layout.getBlock(name.getAttr()));
  };
  Value frame = machine.getFrames() ? number(kLanesFrame) : Value();
  if (auto jump = dyn_cast<JumpOp>(terminator))
    return arrive(lane, frame, target(jump.getTargetAttr()));
  Value returns = array(kLanesReturns);
  auto returnPlace = [&](Value depth) {
    return add(mul(depth, limit(kLanesLanes)), lane);
  };
  if (auto call = dyn_cast<PushJumpOp>(terminator)) {
    Value depth = pushEntry(array(kLanesReturnDepths), lane);
    store(returns, returnPlace(depth), target(call.getReturnToAttr()));
    return arrive(lane, frame, target(call.getTargetAttr()));
  }
  if (auto branch = dyn_cast<batch::BranchOp>(terminator)) {
    auto extract = branch.getCondition().getDefiningOp<tensor::ExtractOp>();
    Value row = valueRow(extract.getTensor(), place, lane);
    Value bit = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), row);
    Value zero =
        arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), 0);
    Value holds = compare(CmpIPredicate::ne, bit, zero);
    return arrive(lane, frame,
                  select(holds, target(branch.getTrueTargetAttr()),
                         target(branch.getFalseTargetAttr())));
  }
  Value depths = array(kLanesReturnDepths);
  Value depth = load(depths, lane);
  when(
      compare(CmpIPredicate::sgt, depth, constant(0)),
      [&] {
        Value below = add(depth, constant(-1));
        store(depths, lane, below);
        if (frame)
          frame = add(frame, constant(-layout.getNumBlocks()));
        arrive(lane, frame, load(returns, returnPlace(below)));
      },
      [&] { callNextInstance(lane, /*isDone=*/true); });
}

void LaneCode::runEpilogue(BlockOp block) {
  present = layout.getBlock(block.getSymNameAttr());
  InvokeOp invoke = getInvoke(block);
  bool after = !invoke;
  for (Operation &op : block.getBody().front().without_terminator()) {
    if (&op == invoke) {
      after = true;
      continue;
    }
    if (!after)
      continue;
    if (auto pop = dyn_cast<PopOp>(op))
      this->pop(pop);
    else if (auto push = dyn_cast<PushOp>(op))
      this->push(push);
    else if (auto set = dyn_cast<SetOp>(op))
      this->set(set);
  }
  Operation *terminator = block.getBody().front().getTerminator();
  if (machine.getFrames() && isa<PushJumpOp>(terminator))
    setNumber(kLanesFrame,
              add(number(kLanesFrame), constant(layout.getNumBlocks())));
  forActive([&](Value place, Value lane) {
    if (!canFail(block))
      return leave(terminator, place, lane);
    // If a stack was too small, the instance has ended with an error.
    Value instance = load(array(kLanesInstances), lane);
    Value end = load(array(kLanesEnds), instance);
    when(
        compare(CmpIPredicate::eq, end, constant(0)),
        [&] { leave(terminator, place, lane); },
        [&] { callNextInstance(lane, /*isDone=*/false); });
  });
  takeReady();
  emitBarrier();
}

void LaneCode::leaveFrame() {
  setNumber(kLanesFrame,
            add(number(kLanesFrame), constant(-layout.getNumBlocks())));
}
