//===- LaneChoice.cpp - The next block and the lanes that run it ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/ABI/ABILayout.h"
#include "LaneCode.h"
#include "batch-runtime/Schedule/BlockPolicy.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using arith::CmpIPredicate;

/// Key of a block that no lane waits for. The keys of other blocks are smaller.
static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

Value LaneCode::inFrame(Value array) {
  if (!machine.getFrames())
    return array;
  return bytesAt(array, mul(number(kLanesFrame), constant(kCellBytes)));
}

Value LaneCode::learnedBlock() {
  Value none = constant(-1), zero = constant(0);
  Value waiting = inFrame(array(kLanesWaiting));
  Value costs = array(kLanesCosts), bound = limit(kLanesLowCost);
  Value factor = constant(static_cast<int64_t>(batchrt::stateHashFactor));
  auto mix = [&](Value hash, Value item) {
    return mul(arith::XOrIOp::create(builder, loc, hash, item), factor);
  };
  // Among the blocks that lanes wait for, find the first block of low cost, and
  // the block of high cost with the most lanes. Also compute a hash of the
  // blocks of high cost.
  auto loop = scf::ForOp::create(
      builder, loc, zero, constant(layout.getNumBlocks()), constant(1),
      ValueRange{none, factor, none, zero},
      [&](OpBuilder &, Location, Value block, ValueRange last) {
        Value count = load(waiting, block);
        Value any = compare(CmpIPredicate::sgt, count, zero);
        Value isLowCost =
            compare(CmpIPredicate::slt, load(costs, block), bound);
        Value isFirst = compare(CmpIPredicate::slt, last[0], zero);
        Value more = compare(CmpIPredicate::sgt, count, last[3]);
        // Select `value` if lanes wait for the block and its cost is low
        // (ifLowCost) or high (ifHighCost).
        auto ifLowCost = [&](Value value, Value other) {
          return select(any, select(isLowCost, value, other), other);
        };
        auto ifHighCost = [&](Value value, Value other) {
          return select(any, select(isLowCost, other, value), other);
        };
        scf::YieldOp::create(
            builder, loc,
            ValueRange{ifLowCost(select(isFirst, block, last[0]), last[0]),
                       ifHighCost(mix(last[1], block), last[1]),
                       ifHighCost(select(more, block, last[2]), last[2]),
                       ifHighCost(select(more, count, last[3]), last[3])});
      });
  ValueRange found = loop.getResults();
  Value lowCost = found[0], most = found[2];
  Value hash =
      arith::OrIOp::create(builder, loc, mix(found[1], most), constant(1));
  Value states = array(kLanesStates), lastSlot = limit(kLanesLastSlot);
  auto wrap = [&](Value slot) -> Value {
    return arith::AndIOp::create(builder, loc, slot, lastSlot);
  };
  auto cell = [&](Value slot, int64_t which) {
    return load(states, add(mul(slot, constant(2)), constant(which)));
  };
  Value start = wrap(
      arith::ShRUIOp::create(builder, loc, hash, constant(32)).getResult());
  auto search = scf::WhileOp::create(
      builder, loc, builder.getI64Type(), start,
      [&](OpBuilder &, Location, ValueRange slot) {
        Value known = cell(slot[0], 0);
        Value isOther = arith::AndIOp::create(
            builder, loc, compare(CmpIPredicate::ne, known, zero),
            compare(CmpIPredicate::ne, known, hash));
        scf::ConditionOp::create(builder, loc, isOther, slot);
      },
      [&](OpBuilder &, Location, ValueRange slot) {
        scf::YieldOp::create(builder, loc, wrap(add(slot[0], constant(1))));
      });
  Value isLowCost = compare(CmpIPredicate::sge, lowCost, zero);
  return select(isLowCost, lowCost, cell(search.getResult(0), 1));
}

std::pair<Value, Value> LaneCode::blockKeys(Value block) {
  auto isChoice = [&](int64_t choice) {
    return compare(CmpIPredicate::eq, limit(kLanesChoice), constant(choice));
  };
  // A learned choice falls back to BATCH_CHOICE_WORK if its table does not
  // contain the state.
  Value work =
      arith::OrIOp::create(builder, loc, isChoice(BATCH_CHOICE_LEARNED),
                           isChoice(BATCH_CHOICE_WORK));
  Value zero = constant(0), never = constant(kNever);
  Value count = load(inFrame(array(kLanesWaiting)), block);
  Value any = compare(CmpIPredicate::sgt, count, zero);
  Value done =
      mul(load(array(kLanesLaneRuns), block), load(array(kLanesCosts), block));
  Value fewest = arith::SubIOp::create(builder, loc, zero, count);
  Value preference =
      select(isChoice(BATCH_CHOICE_MOST), fewest, select(work, done, zero));
  Value came = load(inFrame(array(kLanesSince)), block);
  return {select(any, preference, never), select(any, came, never)};
}

std::pair<Value, Value> LaneCode::nextBlock(Value preferred, Value oldest,
                                            Value came) {
  Value now = add(number(kLanesNow), constant(1)), zero = constant(0);
  Value tooOld =
      arith::SubIOp::create(builder, loc, now, limit(kLanesPatience));
  Value isInTime = compare(CmpIPredicate::sgt, came, tooOld);
  Value block = select(isInTime, preferred, oldest);
  Value any = compare(CmpIPredicate::slt, came, constant(kNever));
  // A learned choice uses its table if no block is overdue.
  Value isLearned = compare(CmpIPredicate::eq, limit(kLanesChoice),
                            constant(BATCH_CHOICE_LEARNED));
  Value asks =
      arith::AndIOp::create(builder, loc, isLearned,
                            arith::AndIOp::create(builder, loc, any, isInTime));
  Value answer =
      either(asks, [&] { return learnedBlock(); }, [&] { return block; });
  Value isUnknown = arith::AndIOp::create(
      builder, loc, asks, compare(CmpIPredicate::slt, answer, zero));
  block = select(isUnknown, block, answer);
  emitBarrier();
  byFirstThread([&] {
    // The last search finds no block and does not count as a step.
    setNumber(kLanesNow, select(any, now, add(now, constant(-1))));
    Value unknown =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), isUnknown);
    setNumber(kLanesUnknownStates, add(number(kLanesUnknownStates), unknown));
    // Lanes that return to the block during this step begin a new wait.
    when(any, [&] {
      reportProgress(now, block);
      Value place = placeOf(block);
      Value wait = arith::SubIOp::create(builder, loc, now,
                                         load(array(kLanesSince), place));
      setNumber(kLanesLongestWait,
                arith::MaxSIOp::create(builder, loc, number(kLanesLongestWait),
                                       wait));
      store(array(kLanesWaiting), place, zero);
    });
  });
  return {block, any};
}

void LaneCode::reportProgress(Value now, Value block) {
  if (!unit.progress)
    return;
  Value steps =
      arith::ShLIOp::create(builder, loc, now, constant(kProgressShift));
  LLVM::StoreOp::create(
      builder, loc, arith::OrIOp::create(builder, loc, steps, block),
      unit.progress, kCellBytes, /*isVolatile=*/false, /*isNonTemporal=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic,
      unit.deviceScope);
}

Value LaneCode::placeOf(Value block) {
  return machine.getFrames() ? add(number(kLanesFrame), block) : block;
}

std::pair<Value, Value> LaneCode::laneList() {
  return {limit(kLanesLanes), array(kLanesActive)};
}

Value LaneCode::enterBlock(Value lane, Value block) {
  Value waits = compare(CmpIPredicate::eq, load(array(kLanesBlocks), lane),
                        placeOf(block));
  // Load these values even if they are not needed, so that the loads can be
  // hoisted out of the loop over lanes.
  Value steps = array(kLanesLaneSteps), most = limit(kLanesMaxSteps);
  auto countStep = [&] {
    Value count = add(load(steps, lane), constant(1));
    store(steps, lane, count);
    Value continues = compare(CmpIPredicate::sle, count, most);
    when(
        continues, [] {},
        [&] {
          Value code =
              add(constant(int64_t(BATCH_LANE_TOO_MANY_STEPS) << 32), block);
          store(array(kLanesEnds), load(array(kLanesInstances), lane), code);
          callNextInstance(lane, /*isDone=*/false);
        });
    return continues;
  };
  return either(waits, countStep, [&]() -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
  });
}

Value LaneCode::takeLanes(Value block, Value count) {
  Value masked = compare(CmpIPredicate::sge, count, limit(kLanesMaskFrom));
  Value base = select(masked, array(kLanesMaskedSteps), array(kLanesSteps));
  Value step = bytesAt(base, mul(block, constant(kStepBytes)));
  byFirstThread([&] {
    setNumber(kLanesCount, count);
    setNumber(kLanesMasked, arith::ExtUIOp::create(
                                builder, loc, builder.getI64Type(), masked));
    Value runs = array(kLanesRuns), laneRuns = array(kLanesLaneRuns);
    store(runs, block, add(load(runs, block), constant(1)));
    store(laneRuns, block, add(load(laneRuns, block), count));
    cb.storeCell(step, kStepCount, select(masked, limit(kLanesLanes), count));
    if (unit.isGroup())
      return;
    Value trace = array(kLanesTrace);
    Value null = LLVM::ZeroOp::create(builder, loc, trace.getType());
    when(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, trace,
                              null),
         [&] {
           cb.call(RuntimeFunction::traceTasks,
                   {trace, block, count, constant(0)});
         });
  });
  emitBarrier();
  return step;
}
