//===- LaneCode.cpp - Code between the blocks of lanes --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneCode.h"
#include "Batch/Conversion/RecToLLVM/ABILayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using arith::CmpIPredicate;

std::string batch::getNextInstanceName(MachineOp machine) {
  return (machine.getSymName() + ".next_instance").str();
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

LaneCode::LaneCode(OpBuilder &builder, Location loc, MachineOp machine,
                   Value context, Value lanes)
    : builder(builder), loc(loc), machine(machine), layout(machine),
      cb(builder, loc, context), lanes(lanes) {}

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

void LaneCode::loop(Value count, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, constant(0), count, constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

Value LaneCode::number(int64_t field) { return load(lanes, constant(field)); }

void LaneCode::setNumber(int64_t field, Value value) {
  store(lanes, constant(field), value);
}

Value LaneCode::bytesAt(Value base, Value offset) {
  return cb.address(base, offset, builder.getI8Type());
}

void LaneCode::forActive(function_ref<void(Value, Value)> body) {
  Value active = array(kLanesActive);
  loop(number(kLanesCount), [&](Value place) {
    Value where = cb.address(active, place, builder.getI32Type());
    Value lane =
        LLVM::LoadOp::create(builder, loc, builder.getI32Type(), where);
    body(place,
         arith::ExtSIOp::create(builder, loc, builder.getI64Type(), lane));
  });
}

//===----------------------------------------------------------------------===//
// Rows of variables
//===----------------------------------------------------------------------===//

Value LaneCode::variable(const MachineLayout::Variable &variable,
                         int64_t field) {
  return cb.loadPointer(array(kLanesVariables),
                        variable.number * kVariableBytes / kCellBytes + field);
}

Value LaneCode::stackRow(const MachineLayout::Variable &entry, Value depth,
                         Value lane) {
  Value row = add(mul(depth, number(kLanesLanes)), lane);
  return bytesAt(variable(entry, kVariableStack),
                 mul(row, constant(entry.rowBytes)));
}

Value LaneCode::currentRow(const MachineLayout::Variable &entry, Value lane) {
  if (entry.hasStack && !machine.getCachedTops())
    return stackRow(entry, load(variable(entry, kVariableDepths), lane), lane);
  return bytesAt(variable(entry, kVariableTops),
                 mul(lane, constant(entry.rowBytes)));
}

void LaneCode::copyRow(Value to, Value from, int64_t bytes) {
  constexpr int64_t chunk = 64;
  if (bytes < chunk) {
    Type type = builder.getIntegerType(8 * bytes);
    Value value = LLVM::LoadOp::create(builder, loc, type, from);
    LLVM::StoreOp::create(builder, loc, value, to);
    return;
  }
  Type type = VectorType::get(chunk / 4, builder.getI32Type());
  loop(constant(bytes / chunk), [&](Value i) {
    Value offset = mul(i, constant(chunk));
    Value value =
        LLVM::LoadOp::create(builder, loc, type, bytesAt(from, offset));
    LLVM::StoreOp::create(builder, loc, value, bytesAt(to, offset));
  });
}

Value LaneCode::resultRow(InvokeOp invoke, OpResult result, Value place,
                          Value lane) {
  auto type = cast<RankedTensorType>(result.getType());
  int64_t rowBytes =
      TableLayout(type.getShape(), elementBytes(type.getElementType()))
          .getRowBytes();
  Value steps = array(kLanesSteps);
  Value list = cb.loadPointer(steps, present * kStepCells + kStepResults);
  Value base = cb.loadPointer(list, result.getResultNumber());
  // Masked blocks compute all lanes, others only those that take part.
  Value masked = compare(CmpIPredicate::ne, number(kLanesMasked), constant(0));
  return bytesAt(base, mul(select(masked, lane, place), constant(rowBytes)));
}

Value LaneCode::valueRow(Value value, Value place, Value lane) {
  if (auto top = value.getDefiningOp<TopOp>())
    return currentRow(layout.getVariable(top.getVariableAttr().getAttr()),
                      lane);
  auto result = cast<OpResult>(value);
  return resultRow(cast<InvokeOp>(result.getOwner()), result, place, lane);
}

Value LaneCode::makeRoom(Value depths, Value lane, Value block) {
  Value depth = load(depths, lane);
  Value last = number(kLanesStackDepth);
  Value hasRoom = compare(CmpIPredicate::slt, depth, last);
  when(
      hasRoom, [&] { store(depths, lane, add(depth, constant(1))); },
      [&] {
        Value code =
            constant(int64_t(BATCH_LANE_STACK_OVERFLOW) << 32 | present);
        store(array(kLanesEnds), load(array(kLanesInstances), lane), code);
      });
  // The last row is spare: what does not fit may go there.
  return depth;
}

void LaneCode::push(PushOp op, Value place, Value lane) {
  const auto &entry = layout.getVariable(op.getVariableAttr().getAttr());
  Value depths = variable(entry, kVariableDepths);
  Value depth = makeRoom(depths, lane, constant(present));
  if (machine.getCachedTops()) {
    Value top = currentRow(entry, lane);
    copyRow(stackRow(entry, depth, lane), top, entry.copyBytes);
    if (op.getValue())
      copyRow(top, valueRow(op.getValue(), place, lane), entry.copyBytes);
    return;
  }
  // The rows of stacks that have no room left are the same one.
  Value above = load(depths, lane);
  Value from = op.getValue() ? valueRow(op.getValue(), place, lane)
                             : stackRow(entry, depth, lane);
  copyRow(stackRow(entry, above, lane), from, entry.copyBytes);
}

void LaneCode::pop(PopOp op, Value lane) {
  const auto &entry = layout.getVariable(op.getVariableAttr().getAttr());
  Value depths = variable(entry, kVariableDepths);
  Value depth = add(load(depths, lane), constant(-1));
  store(depths, lane, depth);
  if (machine.getCachedTops())
    copyRow(currentRow(entry, lane), stackRow(entry, depth, lane),
            entry.copyBytes);
}

//===----------------------------------------------------------------------===//
// Where lanes go
//===----------------------------------------------------------------------===//

void LaneCode::arrive(Value lane, Value frame, Value target) {
  if (frame)
    target = add(frame, target);
  store(array(kLanesBlocks), lane, target);
  Value waiting = array(kLanesWaiting);
  Value before = load(waiting, target);
  when(compare(CmpIPredicate::eq, before, constant(0)),
       [&] { store(array(kLanesSince), target, number(kLanesNow)); });
  store(waiting, target, add(before, constant(1)));
}

void LaneCode::callNextInstance(Value lane, Value done) {
  func::CallOp::create(builder, loc, getNextInstanceName(machine), TypeRange(),
                       ValueRange{cb.getContext(), lanes, lane, done});
}

void LaneCode::makeNextInstance(func::FuncOp entry) {
  OpBuilder::InsertionGuard guard(builder);
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto function = func::FuncOp::create(
      builder, loc, getNextInstanceName(machine),
      builder.getFunctionType({ptr, ptr, i64, builder.getI1Type()}, {}));
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Value lane = body->getArgument(2), done = body->getArgument(3);
  LaneCode code(builder, loc, machine, body->getArgument(0),
                body->getArgument(1));
  SmallVector<Type> arguments;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (!entry.getArgAttr(i, kSharedAttr))
      arguments.push_back(entry.getArgumentTypes()[i]);

  auto cellType = [&](Type type) -> Type {
    // i1 is a byte in rows, and so is its cell then.
    return builder.getIntegerType(8 * elementBytes(type));
  };
  code.when(done, [&] {
    Value instance = code.load(code.array(kLanesInstances), lane);
    for (auto &[name, variable] : code.layout.getVariables()) {
      if (!variable.result)
        continue;
      Value cells = code.cb.loadPointer(
          code.cb.loadField(ContextField::results), *variable.result);
      Value row = code.currentRow(variable, lane);
      Type type = entry.getResultTypes()[*variable.result];
      if (isa<RankedTensorType>(type)) {
        Value to = LLVM::IntToPtrOp::create(builder, loc, ptr,
                                            code.load(cells, instance));
        code.copyRow(to, row, variable.copyBytes);
        continue;
      }
      Value cell = LLVM::LoadOp::create(builder, loc, cellType(type), row);
      if (cell.getType() != i64)
        cell = isa<FloatType>(type) || type.isInteger(1)
                   ? arith::ExtUIOp::create(builder, loc, i64, cell).getResult()
                   : arith::ExtSIOp::create(builder, loc, i64, cell);
      code.store(cells, instance, cell);
    }
  });
  Value counter = code.array(kLanesNextInstance);
  Value next = LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add,
                                         counter, code.constant(1),
                                         LLVM::AtomicOrdering::monotonic);
  Value isThere =
      code.compare(CmpIPredicate::slt, next, code.number(kLanesNumInstances));
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
        for (auto &[name, variable] : code.layout.getVariables()) {
          if (!variable.argument)
            continue;
          Value cells = code.cb.loadPointer(
              code.cb.loadField(ContextField::arguments), *variable.argument);
          Value cell = code.load(cells, next);
          Value row = code.currentRow(variable, lane);
          Type type = arguments[*variable.argument];
          if (isa<RankedTensorType>(type)) {
            Value from = LLVM::IntToPtrOp::create(builder, loc, ptr, cell);
            code.copyRow(row, from, variable.copyBytes);
            continue;
          }
          Value bits = cell;
          if (cellType(type) != i64)
            bits = arith::TruncIOp::create(builder, loc, cellType(type), cell);
          LLVM::StoreOp::create(builder, loc, bits, row);
        }
        code.arrive(lane, /*frame=*/Value(), code.constant(0));
      },
      [&] { code.store(code.array(kLanesBlocks), lane, code.constant(-1)); });
  func::ReturnOp::create(builder, loc);
}

void LaneCode::startLanes() {
  Value no = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
  loop(number(kLanesLanes), [&](Value lane) { callNextInstance(lane, no); });
}

std::pair<Value, Value> LaneCode::nextBlock() {
  Value now = add(number(kLanesNow), constant(1));
  setNumber(kLanesNow, now);
  // The present frame's part of both.
  Value waiting = array(kLanesWaiting), since = array(kLanesSince);
  if (machine.getFrames()) {
    Value offset = mul(number(kLanesFrame), constant(kCellBytes));
    waiting = bytesAt(waiting, offset);
    since = bytesAt(since, offset);
  }
  Value most = compare(CmpIPredicate::eq, number(kLanesChoice),
                       constant(BATCH_CHOICE_MOST));
  Value tooOld =
      arith::SubIOp::create(builder, loc, now, number(kLanesPatience));
  // The best block so far and its lanes, the oldest one and its step.
  Value none = constant(-1), zero = constant(0);
  Value never = constant(std::numeric_limits<int64_t>::max());
  auto loop =
      scf::ForOp::create(builder, loc, zero, constant(layout.getNumBlocks()),
                         constant(1), ValueRange{none, zero, none, never});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value block = loop.getInductionVar();
    ValueRange best = loop.getRegionIterArgs();
    Value count = load(waiting, block);
    Value any = compare(CmpIPredicate::sgt, count, zero);
    Value first = compare(CmpIPredicate::slt, best[0], zero);
    Value more = arith::AndIOp::create(
        builder, loc, most, compare(CmpIPredicate::sgt, count, best[1]));
    Value better = arith::AndIOp::create(
        builder, loc, any, arith::OrIOp::create(builder, loc, first, more));
    Value came = load(since, block);
    Value older = arith::AndIOp::create(
        builder, loc, any, compare(CmpIPredicate::slt, came, best[3]));
    scf::YieldOp::create(builder, loc,
                         ValueRange{select(better, block, best[0]),
                                    select(better, count, best[1]),
                                    select(older, block, best[2]),
                                    select(older, came, best[3])});
  }
  Value overdue = compare(CmpIPredicate::sle, loop.getResult(3), tooOld);
  Value block = select(overdue, loop.getResult(2), loop.getResult(0));
  Value any = compare(CmpIPredicate::sge, block, zero);
  // The last look finds nothing and is no step.
  setNumber(kLanesNow, select(any, now, add(now, constant(-1))));
  return {block, any};
}

Value LaneCode::takeLanes(Value block) {
  Value blocks = array(kLanesBlocks), active = array(kLanesActive);
  Value steps = array(kLanesLaneSteps), maxSteps = number(kLanesMaxSteps);
  Value all = number(kLanesLanes), zero = constant(0), one = constant(1);
  Value place = machine.getFrames() ? add(number(kLanesFrame), block) : block;
  store(array(kLanesWaiting), place, zero);
  auto list =
      scf::ForOp::create(builder, loc, zero, all, one, ValueRange{zero});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(list.getBody());
    Value lane = list.getInductionVar(), taken = list.getRegionIterArg(0);
    Value waits = compare(CmpIPredicate::eq, load(blocks, lane), place);
    auto choice = scf::IfOp::create(builder, loc, builder.getI64Type(), waits,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(choice.thenBlock());
    Value count = add(load(steps, lane), one);
    store(steps, lane, count);
    Value goesOn = compare(CmpIPredicate::sle, count, maxSteps);
    when(
        goesOn,
        [&] {
          Value where = cb.address(active, taken, builder.getI32Type());
          Value number =
              arith::TruncIOp::create(builder, loc, builder.getI32Type(), lane);
          LLVM::StoreOp::create(builder, loc, number, where);
        },
        [&] {
          Value code =
              add(constant(int64_t(BATCH_LANE_TOO_MANY_STEPS) << 32), block);
          store(array(kLanesEnds), load(array(kLanesInstances), lane), code);
          callNextInstance(lane, arith::ConstantIntOp::create(
                                     builder, loc, builder.getI1Type(), 0));
        });
    Value next =
        add(taken,
            arith::ExtUIOp::create(builder, loc, builder.getI64Type(), goesOn));
    scf::YieldOp::create(builder, loc, next);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, taken);
    builder.setInsertionPointToEnd(list.getBody());
    scf::YieldOp::create(builder, loc, choice.getResult(0));
  }
  Value count = list.getResult(0);
  setNumber(kLanesCount, count);
  Value masked = compare(CmpIPredicate::sge, count, number(kLanesMaskFrom));
  setNumber(kLanesMasked,
            arith::ExtUIOp::create(builder, loc, builder.getI64Type(), masked));
  Value runs = array(kLanesRuns), laneRuns = array(kLanesLaneRuns);
  store(runs, block, add(load(runs, block), one));
  store(laneRuns, block, add(load(laneRuns, block), count));
  Value base = select(masked, array(kLanesMaskedSteps), array(kLanesSteps));
  Value step = bytesAt(base, mul(block, constant(kStepBytes)));
  store(step, constant(kStepCount), select(masked, all, count));
  return step;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The invocation of the block's kernel, or null.
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
    if (auto pop = dyn_cast<PopOp>(op))
      forActive([&](Value, Value lane) { this->pop(pop, lane); });
    else if (auto push = dyn_cast<PushOp>(op))
      forActive(
          [&](Value place, Value lane) { this->push(push, place, lane); });
    else if (auto set = dyn_cast<SetOp>(op)) {
      const auto &entry = layout.getVariable(set.getVariableAttr().getAttr());
      forActive([&](Value place, Value lane) {
        copyRow(currentRow(entry, lane), valueRow(set.getValue(), place, lane),
                entry.copyBytes);
      });
    } else if (auto top = dyn_cast<TopOp>(op)) {
      // Kernels read the rows of tops.
      const auto &entry = layout.getVariable(top.getVariableAttr().getAttr());
      if (!entry.hasStack || machine.getCachedTops())
        continue;
      forActive([&](Value, Value lane) {
        Value row = bytesAt(variable(entry, kVariableTops),
                            mul(lane, constant(entry.rowBytes)));
        copyRow(row, currentRow(entry, lane), entry.copyBytes);
      });
    }
  }
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
    return add(mul(depth, number(kLanesLanes)), lane);
  };
  if (auto call = dyn_cast<PushJumpOp>(terminator)) {
    Value depth = makeRoom(array(kLanesReturnDepths), lane, constant(present));
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
      [&] {
        callNextInstance(lane, arith::ConstantIntOp::create(
                                   builder, loc, builder.getI1Type(), 1));
      });
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
    if (auto pop = dyn_cast<PopOp>(op)) {
      forActive([&](Value, Value lane) { this->pop(pop, lane); });
    } else if (auto push = dyn_cast<PushOp>(op)) {
      forActive(
          [&](Value place, Value lane) { this->push(push, place, lane); });
    } else if (auto set = dyn_cast<SetOp>(op)) {
      const auto &entry = layout.getVariable(set.getVariableAttr().getAttr());
      forActive([&](Value place, Value lane) {
        copyRow(currentRow(entry, lane), valueRow(set.getValue(), place, lane),
                entry.copyBytes);
      });
    }
  }
  Operation *terminator = block.getBody().front().getTerminator();
  if (machine.getFrames() && isa<PushJumpOp>(terminator))
    setNumber(kLanesFrame,
              add(number(kLanesFrame), constant(layout.getNumBlocks())));
  forActive([&](Value place, Value lane) {
    if (!canFail(block))
      return leave(terminator, place, lane);
    // Where a stack was too small the instance has ended.
    Value instance = load(array(kLanesInstances), lane);
    Value end = load(array(kLanesEnds), instance);
    when(
        compare(CmpIPredicate::eq, end, constant(0)),
        [&] { leave(terminator, place, lane); },
        [&] {
          callNextInstance(lane, arith::ConstantIntOp::create(
                                     builder, loc, builder.getI1Type(), 0));
        });
  });
}

void LaneCode::leaveFrame() {
  setNumber(kLanesFrame,
            add(number(kLanesFrame), constant(-layout.getNumBlocks())));
}
