//===- LaneChoice.cpp - The next block and the lanes that run it ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/RecToLLVM/ABILayout.h"
#include "Batch/Schedule/BlockPolicy.h"
#include "LaneCode.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using arith::CmpIPredicate;

/// Threads of a block that exchange values without memory.
static constexpr int64_t kWarp = 32;

Value LaneCode::learnedBlock(Value waiting) {
  Value none = constant(-1), zero = constant(0);
  Value costs = array(kLanesCosts), limit = number(kLanesCheap);
  Value factor = constant(static_cast<int64_t>(batchrt::stateHashFactor));
  auto mix = [&](Value hash, Value item) {
    return mul(arith::XOrIOp::create(builder, loc, hash, item), factor);
  };
  // A cheap block, the hash of the others that lanes wait for, and the one of
  // them with most lanes.
  ValueRange found = carry(
      constant(layout.getNumBlocks()), 1, {none, factor, none, zero},
      [&](Value block, ValueRange last) -> SmallVector<Value> {
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
        return {ifCheap(select(isFirst, block, last[0]), last[0]),
                ifDear(mix(last[1], block), last[1]),
                ifDear(select(more, block, last[2]), last[2]),
                ifDear(select(more, count, last[3]), last[3])};
      });
  Value cheap = found[0], most = found[2];
  Value hash =
      arith::OrIOp::create(builder, loc, mix(found[1], most), constant(1));
  Value states = array(kLanesStates), lastSlot = number(kLanesLastSlot);
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
    return compare(CmpIPredicate::eq, number(kLanesChoice), constant(choice));
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
      arith::SubIOp::create(builder, loc, now, number(kLanesPatience));
  Value isOverdue = compare(CmpIPredicate::sle, found.came, tooOld);
  Value block = select(isOverdue, found.oldest, found.best);
  Value any = compare(CmpIPredicate::sge, block, zero);
  // A learned choice asks its table where no block is overdue.
  Value isLearned = compare(CmpIPredicate::eq, number(kLanesChoice),
                            constant(BATCH_CHOICE_LEARNED));
  Value isInTime = compare(CmpIPredicate::sgt, found.came, tooOld);
  Value asks = arith::AndIOp::create(
      builder, loc, isLearned,
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
  auto listLane = [&](Value lane, Value taken) -> Value {
    Value goesOn = countStep(list, lane);
    when(
        goesOn, [&] { append(list, taken, lane); },
        [&] { stopInstance(lane, block); });
    return add(taken, arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                             goesOn));
  };
  return carry(list.all, 1, constant(0),
               [&](Value lane, ValueRange taken) -> SmallVector<Value> {
                 Value waits = compare(CmpIPredicate::eq,
                                       load(list.blocks, lane), place);
                 return {either(
                     waits, [&] { return listLane(lane, taken[0]); },
                     [&] { return taken[0]; })};
               })[0];
}

/// The same by the threads of a warp: each looks at one lane, and learns from
/// the others how many of those before it are on the list.
Value LaneCode::listLanesByWarp(Value block, Value place) {
  Type i32 = builder.getI32Type();
  List list = beginList();
  auto number32 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  };
  auto extend = [&](Type type, Value value) -> Value {
    return arith::ExtUIOp::create(builder, loc, type, value);
  };
  auto shuffle = [&](Value value, int64_t offset, gpu::ShuffleMode mode) {
    return gpu::ShuffleOp::create(builder, loc, value, number32(offset),
                                  number32(kWarp), mode)
        .getShuffleResult();
  };
  auto both = [&](Value condition, function_ref<Value()> body) {
    return either(condition, body, [&]() -> Value {
      return arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
    });
  };
  return carry(
      list.all, kWarp, constant(0),
      [&](Value first, ValueRange taken) -> SmallVector<Value> {
        Value lane = add(first, unit.thread);
        Value waits = both(compare(CmpIPredicate::slt, lane, list.all), [&] {
          return compare(CmpIPredicate::eq, load(list.blocks, lane), place);
        });
        Value goesOn = both(waits, [&] {
          Value goesOn = countStep(list, lane);
          when(goesOn, [] {}, [&] { stopInstance(lane, block); });
          return goesOn;
        });
        Value one = extend(i32, goesOn), sum = one;
        for (int64_t distance = 1; distance < kWarp; distance *= 2) {
          Value before = shuffle(sum, distance, gpu::ShuffleMode::UP);
          Value isThere =
              compare(CmpIPredicate::sge, unit.thread, constant(distance));
          sum = add(sum, select(isThere, before, number32(0)));
        }
        Type i64 = builder.getI64Type();
        when(goesOn, [&] {
          Value before = arith::SubIOp::create(builder, loc, sum, one);
          append(list, add(taken[0], extend(i64, before)), lane);
        });
        Value last = shuffle(sum, kWarp - 1, gpu::ShuffleMode::IDX);
        return {add(taken[0], extend(i64, last))};
      })[0];
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
