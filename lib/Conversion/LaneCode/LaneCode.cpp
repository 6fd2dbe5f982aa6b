//===- LaneCode.cpp - Code between the blocks of lanes --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneCode.h"
#include "Batch/Conversion/RecToLLVM/ABILayout.h"
#include "Batch/Schedule/BlockPolicy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using arith::CmpIPredicate;

/// Threads of a block that exchange values without memory.
static constexpr int64_t kWarp = 32;

std::string batch::getNextInstanceName(MachineOp machine) {
  return (machine.getSymName() + ".next_instance").str();
}

FailureOr<func::FuncOp> batch::findEntry(StartLanesOp start) {
  for (auto function :
       start->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (function->hasAttr(kEntryAttr))
      return function;
  return start.emitError("needs the entry that its machine was made from");
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

LaneCode::LaneCode(OpBuilder &builder, Location loc, MachineOp machine,
                   Value context, Value lanes, const LaneUnit &unit)
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

void LaneCode::meet() {
  if (unit.isGroup())
    gpu::BarrierOp::create(builder, loc);
}

Value LaneCode::number(int64_t field) { return load(lanes, constant(field)); }

void LaneCode::setNumber(int64_t field, Value value) {
  store(lanes, constant(field), value);
}

Value LaneCode::bytesAt(Value base, Value offset) {
  return cb.address(base, offset, builder.getI8Type());
}

void LaneCode::shareBy(Share next) {
  if (shared != Share::Nothing && shared != next)
    meet();
  shared = next;
}

Value LaneCode::laneAt(Value active, Value place) {
  Value where = cb.address(active, place, builder.getI32Type());
  Value lane = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), where);
  return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), lane);
}

void LaneCode::forActive(function_ref<void(Value, Value)> body) {
  shareBy(Share::Lanes);
  Value active = array(kLanesActive);
  share(number(kLanesCount),
        [&](Value place) { body(place, laneAt(active, place)); });
}

void LaneCode::forPieces(const MachineLayout::Variable &entry,
                         function_ref<void(Value, Value, Value)> body) {
  shareBy(Share::Pieces);
  Value active = array(kLanesActive), pieces = constant(entry.pieces());
  share(mul(number(kLanesCount), pieces), [&](Value i) {
    Value place = arith::DivUIOp::create(builder, loc, i, pieces);
    Value piece = arith::RemUIOp::create(builder, loc, i, pieces);
    body(place, laneAt(active, place), piece);
  });
}

bool LaneCode::isWide(const MachineLayout::Variable &entry) {
  return unit.isGroup() && entry.pieces() > 1;
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

Value LaneCode::topRow(const MachineLayout::Variable &entry, Value lane) {
  return bytesAt(variable(entry, kVariableTops),
                 mul(lane, constant(entry.rowBytes)));
}

Value LaneCode::currentRow(const MachineLayout::Variable &entry, Value lane) {
  if (entry.hasStack && !machine.getCachedTops())
    return stackRow(entry, load(variable(entry, kVariableDepths), lane), lane);
  return topRow(entry, lane);
}

void LaneCode::copyRow(Value to, Value from,
                       const MachineLayout::Variable &entry) {
  if (unit.isGroup()) {
    // No byte of padding, which nobody may have written.
    if (entry.pieces() == 1)
      return copyPiece(to, from, entry, constant(0));
    return loop(constant(entry.pieces()),
                [&](Value piece) { copyPiece(to, from, entry, piece); });
  }
  constexpr int64_t chunk = 64;
  if (entry.copyBytes < chunk) {
    Type type = builder.getIntegerType(8 * entry.copyBytes);
    Value value = LLVM::LoadOp::create(builder, loc, type, from);
    LLVM::StoreOp::create(builder, loc, value, to);
    return;
  }
  Type type = VectorType::get(chunk / 4, builder.getI32Type());
  loop(constant(entry.copyBytes / chunk), [&](Value i) {
    Value offset = mul(i, constant(chunk));
    Value value =
        LLVM::LoadOp::create(builder, loc, type, bytesAt(from, offset));
    LLVM::StoreOp::create(builder, loc, value, bytesAt(to, offset));
  });
}

/// The type of a piece of `bytes`.
static Type getPieceType(OpBuilder &builder, int64_t bytes) {
  if (bytes <= 8)
    return builder.getIntegerType(8 * bytes);
  return VectorType::get(bytes / 4, builder.getI32Type());
}

void LaneCode::copyPiece(Value to, Value from,
                         const MachineLayout::Variable &entry, Value piece) {
  Value offset = pieceOffset(entry, piece);
  Type type = getPieceType(builder, entry.pieceBytes);
  Value value = LLVM::LoadOp::create(builder, loc, type, bytesAt(from, offset));
  LLVM::StoreOp::create(builder, loc, value, bytesAt(to, offset));
}

Value LaneCode::pieceOffset(const MachineLayout::Variable &entry, Value piece) {
  Value bytes = constant(entry.pieceBytes);
  if (entry.lines == 1)
    return mul(piece, bytes);
  Value inLine = constant(entry.lineBytes / entry.pieceBytes);
  Value line = arith::DivUIOp::create(builder, loc, piece, inLine);
  Value place = arith::RemUIOp::create(builder, loc, piece, inLine);
  return add(mul(line, constant(entry.rowBytes / entry.lines)),
             mul(place, bytes));
}

void LaneCode::clearRows(const MachineLayout::Variable &entry) {
  Type type = getPieceType(builder, entry.pieceBytes);
  Value zero =
      arith::ConstantOp::create(builder, loc, type, builder.getZeroAttr(type));
  Value pieces = constant(entry.pieces());
  share(mul(number(kLanesLanes), pieces), [&](Value i) {
    Value lane = arith::DivUIOp::create(builder, loc, i, pieces);
    Value piece = arith::RemUIOp::create(builder, loc, i, pieces);
    Value offset =
        add(mul(lane, constant(entry.rowBytes)), pieceOffset(entry, piece));
    Value tops = variable(entry, kVariableTops);
    LLVM::StoreOp::create(builder, loc, zero, bytesAt(tops, offset));
    if (!entry.hasStack || machine.getCachedTops())
      return;
    Value stack = variable(entry, kVariableStack);
    LLVM::StoreOp::create(builder, loc, zero, bytesAt(stack, offset));
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

Value LaneCode::makeRoom(Value depths, Value lane) {
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
  Value depth = makeRoom(depths, lane);
  if (machine.getCachedTops()) {
    Value top = currentRow(entry, lane);
    copyRow(stackRow(entry, depth, lane), top, entry);
    if (op.getValue())
      copyRow(top, valueRow(op.getValue(), place, lane), entry);
    return;
  }
  // The rows of stacks that have no room left are the same one.
  Value above = load(depths, lane);
  Value from = op.getValue() ? valueRow(op.getValue(), place, lane)
                             : stackRow(entry, depth, lane);
  copyRow(stackRow(entry, above, lane), from, entry);
}

void LaneCode::push(PushOp op) {
  const auto &entry = layout.getVariable(op.getVariableAttr().getAttr());
  if (!isWide(entry))
    return forActive([&](Value place, Value lane) { push(op, place, lane); });
  // Rows first, while depths are the old ones.
  Value depths = variable(entry, kVariableDepths);
  forPieces(entry, [&](Value place, Value lane, Value piece) {
    Value depth = load(depths, lane);
    Value row = stackRow(entry, depth, lane);
    Value value = op.getValue() ? valueRow(op.getValue(), place, lane) : row;
    if (machine.getCachedTops()) {
      Value top = currentRow(entry, lane);
      copyPiece(row, top, entry, piece);
      if (op.getValue())
        copyPiece(top, value, entry, piece);
      return;
    }
    Value hasRoom =
        compare(CmpIPredicate::slt, depth, number(kLanesStackDepth));
    Value above = select(hasRoom, add(depth, constant(1)), depth);
    copyPiece(stackRow(entry, above, lane), value, entry, piece);
  });
  forActive([&](Value, Value lane) { makeRoom(depths, lane); });
}

void LaneCode::pop(PopOp op) {
  const auto &entry = layout.getVariable(op.getVariableAttr().getAttr());
  Value depths = variable(entry, kVariableDepths);
  auto below = [&](Value lane) {
    return add(load(depths, lane), constant(-1));
  };
  bool moves = machine.getCachedTops();
  if (moves && isWide(entry)) {
    forPieces(entry, [&](Value, Value lane, Value piece) {
      copyPiece(currentRow(entry, lane), stackRow(entry, below(lane), lane),
                entry, piece);
    });
    moves = false;
  }
  forActive([&](Value, Value lane) {
    Value depth = below(lane);
    store(depths, lane, depth);
    if (moves)
      copyRow(currentRow(entry, lane), stackRow(entry, depth, lane), entry);
  });
}

void LaneCode::set(SetOp op) {
  const auto &entry = layout.getVariable(op.getVariableAttr().getAttr());
  if (isWide(entry))
    return forPieces(entry, [&](Value place, Value lane, Value piece) {
      copyPiece(currentRow(entry, lane), valueRow(op.getValue(), place, lane),
                entry, piece);
    });
  forActive([&](Value place, Value lane) {
    copyRow(currentRow(entry, lane), valueRow(op.getValue(), place, lane),
            entry);
  });
}

void LaneCode::copyToTops(const MachineLayout::Variable &entry) {
  if (isWide(entry))
    return forPieces(entry, [&](Value, Value lane, Value piece) {
      copyPiece(topRow(entry, lane), currentRow(entry, lane), entry, piece);
    });
  forActive([&](Value, Value lane) {
    copyRow(topRow(entry, lane), currentRow(entry, lane), entry);
  });
}

//===----------------------------------------------------------------------===//
// Where lanes go
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
  func::CallOp::create(builder, loc, getNextInstanceName(machine), TypeRange(),
                       ValueRange{cb.getContext(), lanes, lane, done});
}

void LaneCode::makeNextInstance(func::FuncOp entry) {
  OpBuilder::InsertionGuard guard(builder);
  Type ptr = cb.getContext().getType();
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
                body->getArgument(1), unit);
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
        code.copyRow(to, row, variable);
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
  Value next = LLVM::AtomicRMWOp::create(
      builder, loc, LLVM::AtomicBinOp::add, counter, code.constant(1),
      LLVM::AtomicOrdering::monotonic, unit.deviceScope);
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
            code.copyRow(row, from, variable);
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
  if (unit.isGroup()) {
    for (auto &[name, variable] : layout.getVariables())
      clearRows(variable);
    meet();
  }
  share(number(kLanesLanes),
        [&](Value lane) { callNextInstance(lane, /*isDone=*/false); });
  meet();
}

Value LaneCode::learnedBlock(Value waiting) {
  Value none = constant(-1), zero = constant(0);
  Value costs = array(kLanesCosts), limit = number(kLanesCheap);
  Value factor = constant(static_cast<int64_t>(batchrt::stateHashFactor));
  auto mix = [&](Value hash, Value item) {
    return mul(arith::XOrIOp::create(builder, loc, hash, item), factor);
  };
  // A cheap block, the hash of the others that lanes wait for, and the one of
  // them with most lanes.
  auto loop =
      scf::ForOp::create(builder, loc, zero, constant(layout.getNumBlocks()),
                         constant(1), ValueRange{none, factor, none, zero});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value block = loop.getInductionVar();
    ValueRange last = loop.getRegionIterArgs();
    Value count = load(waiting, block);
    Value any = compare(CmpIPredicate::sgt, count, zero);
    Value isCheap = compare(CmpIPredicate::slt, load(costs, block), limit);
    Value isFirst = compare(CmpIPredicate::slt, last[0], zero);
    Value more = compare(CmpIPredicate::sgt, count, last[3]);
    // The new value if lanes wait for the block, and it is cheap or not.
    auto ifCheap = [&](Value value, Value other) {
      return select(any, select(isCheap, value, other), other);
    };
    auto ifDear = [&](Value value, Value other) {
      return select(any, select(isCheap, other, value), other);
    };
    scf::YieldOp::create(
        builder, loc,
        ValueRange{ifCheap(select(isFirst, block, last[0]), last[0]),
                   ifDear(mix(last[1], block), last[1]),
                   ifDear(select(more, block, last[2]), last[2]),
                   ifDear(select(more, count, last[3]), last[3])});
  }
  Value hash = arith::OrIOp::create(
      builder, loc, mix(loop.getResult(1), loop.getResult(2)), constant(1));
  Value states = array(kLanesStates), lastSlot = number(kLanesLastSlot);
  auto wrap = [&](Value slot) -> Value {
    return arith::AndIOp::create(builder, loc, slot, lastSlot);
  };
  Type i64 = builder.getI64Type();
  Value start = wrap(
      arith::ShRUIOp::create(builder, loc, hash, constant(32)).getResult());
  auto cell = [&](Value slot, int64_t which) {
    return load(states, add(mul(slot, constant(2)), constant(which)));
  };
  auto search =
      scf::WhileOp::create(builder, loc, TypeRange{i64}, ValueRange{start});
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *before = builder.createBlock(&search.getBefore(), {}, {i64}, {loc});
    Value slot = before->getArgument(0), known = cell(slot, 0);
    Value isOther = arith::AndIOp::create(
        builder, loc, compare(CmpIPredicate::ne, known, zero),
        compare(CmpIPredicate::ne, known, hash));
    scf::ConditionOp::create(builder, loc, isOther, slot);
    Block *after = builder.createBlock(&search.getAfter(), {}, {i64}, {loc});
    scf::YieldOp::create(builder, loc,
                         wrap(add(after->getArgument(0), constant(1))));
  }
  Value cheap = loop.getResult(0);
  Value isCheap = compare(CmpIPredicate::sge, cheap, zero);
  return select(isCheap, cheap, cell(search.getResult(0), 1));
}

std::pair<Value, Value> LaneCode::nextBlock() {
  Value now = add(number(kLanesNow), constant(1));
  // The present frame's part of both.
  Value waiting = array(kLanesWaiting), since = array(kLanesSince);
  if (machine.getFrames()) {
    Value offset = mul(number(kLanesFrame), constant(kCellBytes));
    waiting = bytesAt(waiting, offset);
    since = bytesAt(since, offset);
  }
  auto isChoice = [&](int64_t choice) {
    return compare(CmpIPredicate::eq, number(kLanesChoice), constant(choice));
  };
  Value most = isChoice(BATCH_CHOICE_MOST);
  Value learned = isChoice(BATCH_CHOICE_LEARNED);
  Value work =
      arith::OrIOp::create(builder, loc, learned, isChoice(BATCH_CHOICE_WORK));
  Value costs = array(kLanesCosts), laneRuns = array(kLanesLaneRuns);
  Value tooOld =
      arith::SubIOp::create(builder, loc, now, number(kLanesPatience));
  // The best block so far and its key, the least one; the oldest one and its
  // step.
  Value none = constant(-1), zero = constant(0);
  Value never = constant(std::numeric_limits<int64_t>::max());
  auto loop =
      scf::ForOp::create(builder, loc, zero, constant(layout.getNumBlocks()),
                         constant(1), ValueRange{none, never, none, never});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value block = loop.getInductionVar();
    ValueRange best = loop.getRegionIterArgs();
    Value count = load(waiting, block);
    Value any = compare(CmpIPredicate::sgt, count, zero);
    Value done = mul(load(laneRuns, block), load(costs, block));
    Value fewest = arith::SubIOp::create(builder, loc, zero, count);
    Value key = select(most, fewest, select(work, done, zero));
    Value better = arith::AndIOp::create(
        builder, loc, any, compare(CmpIPredicate::slt, key, best[1]));
    Value came = load(since, block);
    Value older = arith::AndIOp::create(
        builder, loc, any, compare(CmpIPredicate::slt, came, best[3]));
    scf::YieldOp::create(builder, loc,
                         ValueRange{select(better, block, best[0]),
                                    select(better, key, best[1]),
                                    select(older, block, best[2]),
                                    select(older, came, best[3])});
  }
  Value overdue = compare(CmpIPredicate::sle, loop.getResult(3), tooOld);
  Value block = select(overdue, loop.getResult(2), loop.getResult(0));
  Value any = compare(CmpIPredicate::sge, block, zero);
  // A learned choice asks its table where no block is overdue.
  Value asks = arith::AndIOp::create(
      builder, loc, learned,
      arith::AndIOp::create(
          builder, loc, any,
          compare(CmpIPredicate::sgt, loop.getResult(3), tooOld)));
  auto answer = scf::IfOp::create(builder, loc, builder.getI64Type(), asks,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(answer.thenBlock());
    scf::YieldOp::create(builder, loc, learnedBlock(waiting));
    builder.setInsertionPointToStart(answer.elseBlock());
    scf::YieldOp::create(builder, loc, block);
  }
  Value isUnknown = arith::AndIOp::create(
      builder, loc, asks,
      compare(CmpIPredicate::slt, answer.getResult(0), zero));
  block = select(isUnknown, block, answer.getResult(0));
  meet();
  byFirstThread([&] {
    // The last look finds nothing and is no step.
    setNumber(kLanesNow, select(any, now, add(now, constant(-1))));
    Value unknown =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), isUnknown);
    setNumber(kLanesUnknownStates, add(number(kLanesUnknownStates), unknown));
  });
  if (!unit.isGroup()) {
    Value path = array(kLanesPath);
    Value null = LLVM::ZeroOp::create(builder, loc, path.getType());
    when(
        LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, path, null),
        [&] { store(path, add(now, constant(-1)), block); });
  }
  return {block, any};
}

/// Where lanes are listed that run a block.
struct LaneCode::List {
  Value blocks, steps, maxSteps, active, all;
};

LaneCode::List LaneCode::beginList() {
  return {array(kLanesBlocks), array(kLanesLaneSteps), number(kLanesMaxSteps),
          array(kLanesActive), number(kLanesLanes)};
}

Value LaneCode::countStep(const List &list, Value lane) {
  Value count = add(load(list.steps, lane), constant(1));
  store(list.steps, lane, count);
  return compare(CmpIPredicate::sle, count, list.maxSteps);
}

void LaneCode::append(const List &list, Value taken, Value lane) {
  Value where = cb.address(list.active, taken, builder.getI32Type());
  Value number =
      arith::TruncIOp::create(builder, loc, builder.getI32Type(), lane);
  LLVM::StoreOp::create(builder, loc, number, where);
}

/// A lane has run too many blocks.
void LaneCode::stopInstance(Value lane, Value block) {
  Value code = add(constant(int64_t(BATCH_LANE_TOO_MANY_STEPS) << 32), block);
  store(array(kLanesEnds), load(array(kLanesInstances), lane), code);
  callNextInstance(lane, /*isDone=*/false);
}

/// Lists the lanes that wait at a place. Returns how many there are.
Value LaneCode::listLanes(Value block, Value place) {
  List list = beginList();
  Value zero = constant(0);
  auto loop = scf::ForOp::create(builder, loc, zero, list.all, constant(1),
                                 ValueRange{zero});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar(), taken = loop.getRegionIterArg(0);
  Value waits = compare(CmpIPredicate::eq, load(list.blocks, lane), place);
  auto choice = scf::IfOp::create(builder, loc, builder.getI64Type(), waits,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(choice.thenBlock());
  Value goesOn = countStep(list, lane);
  when(
      goesOn, [&] { append(list, taken, lane); },
      [&] { stopInstance(lane, block); });
  Value next = add(taken, arith::ExtUIOp::create(builder, loc,
                                                 builder.getI64Type(), goesOn));
  scf::YieldOp::create(builder, loc, next);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, taken);
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc, choice.getResult(0));
  return loop.getResult(0);
}

/// The same by the threads of a warp: each looks at one lane, and learns from
/// the others how many of those before it are on the list.
Value LaneCode::listLanesByWarp(Value block, Value place) {
  Type i1 = builder.getI1Type(), i32 = builder.getI32Type();
  List list = beginList();
  Value zero = constant(0);
  auto number32 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  };
  auto shuffle = [&](Value value, int64_t offset, gpu::ShuffleMode mode) {
    return gpu::ShuffleOp::create(builder, loc, value, number32(offset),
                                  number32(kWarp), mode)
        .getShuffleResult();
  };
  auto choose = [&](Value condition, function_ref<Value()> body) -> Value {
    auto choice = scf::IfOp::create(builder, loc, i1, condition,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    Value no = arith::ConstantIntOp::create(builder, loc, i1, 0);
    scf::YieldOp::create(builder, loc, no);
    builder.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(builder, loc, body());
    return choice.getResult(0);
  };
  auto loop = scf::ForOp::create(builder, loc, zero, list.all, constant(kWarp),
                                 ValueRange{zero});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value lane = add(loop.getInductionVar(), unit.thread);
  Value taken = loop.getRegionIterArg(0);
  Value waits = choose(compare(CmpIPredicate::slt, lane, list.all), [&] {
    return compare(CmpIPredicate::eq, load(list.blocks, lane), place);
  });
  Value goesOn = choose(waits, [&] {
    Value goesOn = countStep(list, lane);
    when(goesOn, [] {}, [&] { stopInstance(lane, block); });
    return goesOn;
  });
  Value one = arith::ExtUIOp::create(builder, loc, i32, goesOn), sum = one;
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    Value before = shuffle(sum, distance, gpu::ShuffleMode::UP);
    Value isThere =
        compare(CmpIPredicate::sge, unit.thread, constant(distance));
    sum = add(sum, select(isThere, before, number32(0)));
  }
  auto extend = [&](Value value) -> Value {
    return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value);
  };
  when(goesOn, [&] {
    Value before = arith::SubIOp::create(builder, loc, sum, one);
    append(list, add(taken, extend(before)), lane);
  });
  Value last = shuffle(sum, kWarp - 1, gpu::ShuffleMode::IDX);
  Value next = add(taken, extend(last));
  scf::YieldOp::create(builder, loc, next);
  return loop.getResult(0);
}

Value LaneCode::takeLanes(Value block) {
  Value place = machine.getFrames() ? add(number(kLanesFrame), block) : block;
  auto getStep = [&](Value masked) {
    Value base = select(masked, array(kLanesMaskedSteps), array(kLanesSteps));
    return bytesAt(base, mul(block, constant(kStepBytes)));
  };
  auto take = [&](Value count) {
    setNumber(kLanesCount, count);
    Value masked = compare(CmpIPredicate::sge, count, number(kLanesMaskFrom));
    setNumber(kLanesMasked, arith::ExtUIOp::create(
                                builder, loc, builder.getI64Type(), masked));
    Value runs = array(kLanesRuns), laneRuns = array(kLanesLaneRuns);
    store(runs, block, add(load(runs, block), constant(1)));
    store(laneRuns, block, add(load(laneRuns, block), count));
    Value step = getStep(masked);
    store(step, constant(kStepCount),
          select(masked, number(kLanesLanes), count));
    return step;
  };
  byFirstThread([&] {
    // Lanes that are stopped below arrive anew, now.
    Value wait = arith::SubIOp::create(builder, loc, number(kLanesNow),
                                       load(array(kLanesSince), place));
    setNumber(
        kLanesLongestWait,
        arith::MaxSIOp::create(builder, loc, number(kLanesLongestWait), wait));
    store(array(kLanesWaiting), place, constant(0));
  });
  if (!unit.isGroup())
    return take(listLanes(block, place));
  // Lanes that are stopped here wait for the first block.
  meet();
  when(compare(CmpIPredicate::slt, unit.thread, constant(kWarp)), [&] {
    Value count = listLanesByWarp(block, place);
    byFirstThread([&] { take(count); });
  });
  meet();
  return getStep(compare(CmpIPredicate::ne, number(kLanesMasked), constant(0)));
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
  meet();
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
    Value depth = makeRoom(array(kLanesReturnDepths), lane);
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
    // Where a stack was too small the instance has ended.
    Value instance = load(array(kLanesInstances), lane);
    Value end = load(array(kLanesEnds), instance);
    when(
        compare(CmpIPredicate::eq, end, constant(0)),
        [&] { leave(terminator, place, lane); },
        [&] { callNextInstance(lane, /*isDone=*/false); });
  });
  meet();
}

void LaneCode::leaveFrame() {
  setNumber(kLanesFrame,
            add(number(kLanesFrame), constant(-layout.getNumBlocks())));
}
