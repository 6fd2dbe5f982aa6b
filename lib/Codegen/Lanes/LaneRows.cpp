//===- LaneRows.cpp - Rows of the variables of lanes ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/ABI/ABILayout.h"
#include "LaneCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using arith::CmpIPredicate;

Value LaneCode::variable(const MachineLayout::Variable &variable, Field field) {
  return cb.loadPointer(array(kLanesVariables), variable.number, kVariableCells,
                        field);
}

Value LaneCode::stackRow(const MachineLayout::Variable &entry, Value depth,
                         Value lane) {
  Value row = add(mul(depth, limit(kLanesLanes)), lane);
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
    // Do not copy padding: it may never have been written.
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

/// Returns the type of a piece of `bytes` bytes.
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
  share(mul(limit(kLanesLanes), pieces), [&](Value i) {
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
  int64_t rowBytes = getRowBytes(cast<RankedTensorType>(result.getType()));
  Value steps = array(kLanesSteps);
  // Only masked blocks have separate rows for results that are otherwise stored
  // in rows of variables.
  if (layout.isInPlace(result))
    steps = array(kLanesMaskedSteps);
  Value list = cb.loadPointer(steps, present, kStepCells, kStepResults);
  Value base = cb.loadPointer(list, result.getResultNumber());
  // In a masked block, the list has a row for every lane. In any other block,
  // it has rows only for the lanes that run the block.
  return bytesAt(base,
                 mul(select(isMasked(), lane, place), constant(rowBytes)));
}

Value LaneCode::isMasked() {
  return compare(CmpIPredicate::ne, number(kLanesMasked), constant(0));
}

Value LaneCode::valueRow(Value value, Value place, Value lane) {
  if (auto top = value.getDefiningOp<TopOp>())
    return currentRow(layout.getVariable(top.getVariableAttr().getAttr()),
                      lane);
  auto result = cast<OpResult>(value);
  return resultRow(cast<InvokeOp>(result.getOwner()), result, place, lane);
}

Value LaneCode::pushEntry(Value depths, Value lane) {
  Value depth = load(depths, lane);
  Value last = limit(kLanesStackDepth);
  Value isBelowLimit = compare(CmpIPredicate::slt, depth, last);
  when(
      isBelowLimit, [&] { store(depths, lane, add(depth, constant(1))); },
      [&] {
        Value code =
            constant(int64_t(BATCH_LANE_STACK_OVERFLOW) << 32 | present);
        store(array(kLanesEnds), load(array(kLanesInstances), lane), code);
      });
  // The last row is reserved for a value that does not fit.
  return depth;
}

void LaneCode::push(PushOp op, Value place, Value lane) {
  const auto &entry = layout.getVariable(op.getVariableAttr().getAttr());
  Value depths = variable(entry, kVariableDepths);
  Value depth = pushEntry(depths, lane);
  if (machine.getCachedTops()) {
    Value top = currentRow(entry, lane);
    copyRow(stackRow(entry, depth, lane), top, entry);
    if (op.getValue())
      copyRow(top, valueRow(op.getValue(), place, lane), entry);
    return;
  }
  // In a full stack, `above` and `depth` are the same row.
  Value above = load(depths, lane);
  Value from = op.getValue() ? valueRow(op.getValue(), place, lane)
                             : stackRow(entry, depth, lane);
  copyRow(stackRow(entry, above, lane), from, entry);
}

void LaneCode::push(PushOp op) {
  const auto &entry = layout.getVariable(op.getVariableAttr().getAttr());
  if (!isWide(entry))
    return forActive([&](Value place, Value lane) { push(op, place, lane); });
  // Copy rows before depths change.
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
    Value isBelowLimit =
        compare(CmpIPredicate::slt, depth, limit(kLanesStackDepth));
    Value above = select(isBelowLimit, add(depth, constant(1)), depth);
    copyPiece(stackRow(entry, above, lane), value, entry, piece);
  });
  forActive([&](Value, Value lane) { pushEntry(depths, lane); });
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
  // An in-place result is already in the variable's row, except in masked
  // blocks.
  auto result = dyn_cast<OpResult>(op.getValue());
  Value count = number(kLanesCount);
  if (result && isa<InvokeOp>(result.getOwner()) && layout.isInPlace(result))
    count = select(isMasked(), count, constant(0));
  if (isWide(entry))
    return forPieces(entry, count, [&](Value place, Value lane, Value piece) {
      copyPiece(currentRow(entry, lane), valueRow(op.getValue(), place, lane),
                entry, piece);
    });
  forActive(count, [&](Value place, Value lane) {
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
