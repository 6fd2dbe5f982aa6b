//===- LaneChoice.cpp - The next block and the lanes that run it ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/RecToLLVM/ABILayout.h"
#include "Batch/Schedule/BlockPolicy.h"
#include "LaneCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using arith::CmpIPredicate;

Value LaneCode::learnedBlock(Value waiting) {
  Value none = constant(-1), zero = constant(0);
  Value costs = array(kLanesCosts), bound = limit(kLanesCheap);
  Value factor = constant(static_cast<int64_t>(batchrt::stateHashFactor));
  auto mix = [&](Value hash, Value item) {
    return mul(arith::XOrIOp::create(builder, loc, hash, item), factor);
  };
  // A cheap block, the hash of the others that lanes wait for, and the one of
  // them with most lanes.
  ValueRange found =
      carry(constant(layout.getNumBlocks()), 1, {none, factor, none, zero},
            [&](Value block, ValueRange last) -> SmallVector<Value> {
              Value count = load(waiting, block);
              Value any = compare(CmpIPredicate::sgt, count, zero);
              Value isCheap =
                  compare(CmpIPredicate::slt, load(costs, block), bound);
              Value isFirst = compare(CmpIPredicate::slt, last[0], zero);
              Value more = compare(CmpIPredicate::sgt, count, last[3]);
              // The new value if lanes wait for the block, and it is cheap or
              // not.
              auto ifCheap = [&](Value value, Value other) {
                return select(any, select(isCheap, value, other), other);
              };
              auto ifDear = [&](Value value, Value other) {
                return select(any, select(isCheap, other, value), other);
              };
              return {ifCheap(select(isFirst, block, last[0]), last[0]),
                      ifDear(mix(last[1], block), last[1]),
                      ifDear(select(more, block, last[2]), last[2]),
                      ifDear(select(more, count, last[3]), last[3])};
            });
  Value cheap = found[0], most = found[2];
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
  Value isCheap = compare(CmpIPredicate::sge, cheap, zero);
  return select(isCheap, cheap, cell(search.getResult(0), 1));
}

/// Blocks that lanes wait for, -1 if there is none.
struct LaneCode::Candidates {
  Value best;   ///< the one that the choice prefers
  Value oldest; ///< for which a lane has waited longest
  Value came;   ///< the step since when
};

LaneCode::Candidates LaneCode::findCandidates(Value waiting, Value since) {
  auto isChoice = [&](int64_t choice) {
    return compare(CmpIPredicate::eq, limit(kLanesChoice), constant(choice));
  };
  Value most = isChoice(BATCH_CHOICE_MOST);
  // A learned choice falls back on work.
  Value work =
      arith::OrIOp::create(builder, loc, isChoice(BATCH_CHOICE_LEARNED),
                           isChoice(BATCH_CHOICE_WORK));
  Value costs = array(kLanesCosts), laneRuns = array(kLanesLaneRuns);
  Value none = constant(-1), zero = constant(0);
  Value never = constant(std::numeric_limits<int64_t>::max());
  // The best block so far and its key, the least one; the oldest one and its
  // step.
  ValueRange found = carry(
      constant(layout.getNumBlocks()), 1, {none, never, none, never},
      [&](Value block, ValueRange last) -> SmallVector<Value> {
        Value count = load(waiting, block);
        Value any = compare(CmpIPredicate::sgt, count, zero);
        Value done = mul(load(laneRuns, block), load(costs, block));
        Value fewest = arith::SubIOp::create(builder, loc, zero, count);
        Value key = select(most, fewest, select(work, done, zero));
        Value better = arith::AndIOp::create(
            builder, loc, any, compare(CmpIPredicate::slt, key, last[1]));
        Value came = load(since, block);
        Value older = arith::AndIOp::create(
            builder, loc, any, compare(CmpIPredicate::slt, came, last[3]));
        return {select(better, block, last[0]), select(better, key, last[1]),
                select(older, block, last[2]), select(older, came, last[3])};
      });
  return {found[0], found[2], found[3]};
}

std::pair<Value, Value> LaneCode::nextBlock() {
  Value now = add(number(kLanesNow), constant(1)), zero = constant(0);
  // The present frame's part of both.
  Value waiting = array(kLanesWaiting), since = array(kLanesSince);
  if (machine.getFrames()) {
    Value offset = mul(number(kLanesFrame), constant(kCellBytes));
    waiting = bytesAt(waiting, offset);
    since = bytesAt(since, offset);
  }
  Candidates found = findCandidates(waiting, since);
  Value tooOld =
      arith::SubIOp::create(builder, loc, now, limit(kLanesPatience));
  Value isOverdue = compare(CmpIPredicate::sle, found.came, tooOld);
  Value block = select(isOverdue, found.oldest, found.best);
  Value any = compare(CmpIPredicate::sge, block, zero);
  // A learned choice asks its table where no block is overdue.
  Value isLearned = compare(CmpIPredicate::eq, limit(kLanesChoice),
                            constant(BATCH_CHOICE_LEARNED));
  Value isInTime = compare(CmpIPredicate::sgt, found.came, tooOld);
  Value asks =
      arith::AndIOp::create(builder, loc, isLearned,
                            arith::AndIOp::create(builder, loc, any, isInTime));
  Value answer = either(
      asks, [&] { return learnedBlock(waiting); }, [&] { return block; });
  Value isUnknown = arith::AndIOp::create(
      builder, loc, asks, compare(CmpIPredicate::slt, answer, zero));
  block = select(isUnknown, block, answer);
  meet();
  byFirstThread([&] {
    // The last look finds nothing and is no step.
    setNumber(kLanesNow, select(any, now, add(now, constant(-1))));
    Value unknown =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), isUnknown);
    setNumber(kLanesUnknownStates, add(number(kLanesUnknownStates), unknown));
    // Lanes that come back while others enter the block wait for it anew.
    when(any, [&] {
      Value place = placeOf(block);
      Value wait = arith::SubIOp::create(builder, loc, now,
                                         load(array(kLanesSince), place));
      setNumber(kLanesLongestWait,
                arith::MaxSIOp::create(builder, loc, number(kLanesLongestWait),
                                       wait));
      store(array(kLanesWaiting), place, zero);
    });
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

Value LaneCode::placeOf(Value block) {
  return machine.getFrames() ? add(number(kLanesFrame), block) : block;
}

std::pair<Value, Value> LaneCode::laneList() {
  return {limit(kLanesLanes), array(kLanesActive)};
}

Value LaneCode::enterBlock(Value lane, Value block) {
  Value waits = compare(CmpIPredicate::eq, load(array(kLanesBlocks), lane),
                        placeOf(block));
  // Loaded for every lane, these leave the loop over lanes.
  Value steps = array(kLanesLaneSteps), most = limit(kLanesMaxSteps);
  auto countStep = [&] {
    Value count = add(load(steps, lane), constant(1));
    store(steps, lane, count);
    Value goesOn = compare(CmpIPredicate::sle, count, most);
    when(
        goesOn, [] {},
        [&] {
          Value code =
              add(constant(int64_t(BATCH_LANE_TOO_MANY_STEPS) << 32), block);
          store(array(kLanesEnds), load(array(kLanesInstances), lane), code);
          callNextInstance(lane, /*isDone=*/false);
        });
    return goesOn;
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
    store(step, constant(kStepCount),
          select(masked, limit(kLanesLanes), count));
  });
  meet();
  return step;
}
