//===- ReplicateLoops.cpp - Loops with known numbers of rounds ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replicator.h"

#include "InstanceSets.h"

#include "Batch/Analysis/TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::batch;

/// Maximum number of rounds in a group. The tasks of a group run together if
/// possible.
static constexpr int64_t kAheadRounds = 64;

/// Consecutive rounds of a loop. Each layer runs all of these rounds before the
/// next layer does, except in a wavefront.
struct batch::RoundGroup {
  const CountedLoop &loop;
  const LoopLayers &layers;
  Value begin, end;
  SmallVector<StoredResult> stored = {}; ///< results stored for later layers

  /// Returns true if `op` belongs to `layer` and not to the free ops, which any
  /// layer can recompute.
  bool isOf(unsigned layer, Operation &op) const {
    return !op.hasTrait<OpTrait::IsTerminator>() && !layers.isFree(&op) &&
           layers.getLayer(&op) == layer;
  }
  /// Returns the layer that contains a use of a result.
  unsigned getReader(OpOperand &use) const {
    Operation *reader = loop.body.findAncestorOpInBlock(*use.getOwner());
    if (reader != loop.body.getTerminator())
      return layers.getLayer(reader);
    return layers.getArgumentLayer(&use - loop.getYielded().data());
  }
  /// Returns the last layer that reads a result.
  unsigned getLastReader(Value result) const {
    unsigned last = 0;
    for (OpOperand &use : result.getUses())
      last = std::max(last, getReader(use));
    return last;
  }
  /// Returns the indices of the values that a layer carries between rounds.
  SmallVector<unsigned> getCarried(unsigned layer) const {
    auto isOf = [&](unsigned index) {
      return layers.getArgumentLayer(index) == layer;
    };
    return llvm::filter_to_vector(llvm::seq<unsigned>(loop.carried.size()),
                                  isOf);
  }
  OpOperand &getYielded(unsigned index) const {
    return loop.getYielded()[index];
  }
};

/// Returns true if a kernel contains a contraction and writes no result in
/// place. Its results are then slices of tensors that contain the results of
/// many rounds.
static bool runsAhead(KernelOp kernel) {
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (kernel.getResultAttr(i, kInPlaceAttr))
      return false;
  return kernel
      .walk([](Operation *op) {
        return getContraction(op) ? WalkResult::interrupt()
                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the layers of the tasks of a loop. With order `rounds`, the caller
/// merges all layers except the one that needs only the round number.
LoopLayers Replicator::findLayers(LoopLikeOpInterface loop) {
  auto isStored = [&](Value value) {
    auto invoke = value.getDefiningOp<InvokeOp>();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return invoke && type.hasStaticShape() && type.getRank() > 0 &&
           !inserted.getRoot(cast<OpResult>(value)) &&
           !inserted.isChanged(value);
  };
  auto multiplies = [&](Operation *op) {
    auto invoke = dyn_cast<InvokeOp>(op);
    return invoke && llvm::all_of(invoke->getResults(), isStored) &&
           runsAhead(symbols.lookup<KernelOp>(invoke.getKernel()));
  };
  return LoopLayers(loop, {multiplies, multiplies, isStored});
}

/// Creates a row that stores a result for all rounds of a group.
Value Replicator::makeGroupRow(OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> shape = {kAheadRounds};
  llvm::append_range(shape, type.getShape());
  return makeRow(result.getLoc(), nameResult(result),
                 RankedTensorType::get(shape, type.getElementType()));
}

/// Maps stored results to their values in round `number` of the group.
void Replicator::mapStored(ArrayRef<StoredResult> stored, Value number) {
  for (auto [result, whole] : stored) {
    auto buffer = symbols.lookup<uprog::BufferOp>(
        whole.getDefiningOp<uprog::RowOp>().getBuffer());
    mapping.map(result,
                uprog::SliceOp::create(builder, result.getLoc(), rowType, whole,
                                       number, buffer.getTypeAttr())
                    .getResult());
  }
}

/// Returns the number of rounds in [begin, end).
Value Replicator::countRounds(const CountedLoop &loop, Value begin, Value end) {
  Location loc = loop.op->getLoc();
  Value count = arith::SubIOp::create(builder, loc, end, begin);
  return loop.step ? arith::CeilDivUIOp::create(builder, loc, count, loop.step)
                         .getResult()
                   : count;
}

/// Runs a task for all rounds of a group.
LogicalResult Replicator::runAhead(RoundGroup &group, InvokeOp invoke) {
  Location loc = invoke.getLoc();
  auto kernel = symbols.lookup<KernelOp>(invoke.getKernel());
  Value tasks = uprog::TasksOp::create(
      builder, loc, uprog::TasksType::get(builder.getContext()),
      invoke.getKernelAttr(), builder.getI64IntegerAttr(kAheadRounds));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count = countRounds(group.loop, group.begin, group.end);
  auto put = uprog::ForOp::create(builder, loc, zero, count);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&put.getBody().front());
    Value number = put.getBody().getArgument(0), round = number;
    if (group.loop.step)
      round = arith::MulIOp::create(builder, loc, round, group.loop.step);
    group.loop.mapRound(
        arith::AddIOp::create(builder, loc, group.begin, round));
    mapStored(group.stored, number);
    for (Operation &op : group.loop.body)
      if (group.layers.isFree(&op) && failed(convert(&op)))
        return failure();
    SmallVector<Value> inputs;
    for (OpOperand &operand : invoke.getInputsMutable())
      if (!kernel.isShared(operand.getOperandNumber()))
        inputs.push_back(getValue(operand));
    uprog::PutTaskOp::create(builder, loc, tasks, number, inputs,
                             /*outputs=*/ValueRange());
  }
  SmallVector<Value> results;
  for (OpResult result : invoke->getResults()) {
    results.push_back(makeGroupRow(result));
    group.stored.emplace_back(result, results.back());
  }
  readByAddress(kernel);
  Value step = uprog::BatchOp::create(
      builder, loc, uprog::StepType::get(builder.getContext()), tasks, count,
      results);
  uprog::OperatorOp op = operators.lookup(kernel.getSymNameAttr());
  uprog::RunOp::create(builder, loc, op.getSymName(), step, count,
                       /*inputs=*/ValueRange(),
                       /*level=*/uprog::LevelAttr());
  return success();
}

/// Converts the ops of a layer, and the free ops, which any layer may need.
LogicalResult Replicator::convertOps(const RoundGroup &group, unsigned layer) {
  for (Operation &op : group.loop.body.without_terminator())
    if ((group.layers.isFree(&op) || group.isOf(layer, op)) &&
        failed(convert(&op)))
      return failure();
  return success();
}

/// Runs the rounds of a group for a layer. In `carried`, replaces the values
/// that the layer carries between rounds. A result that is read by a later
/// layer has a row for each round.
LogicalResult Replicator::convertLayer(RoundGroup &group, unsigned layer,
                                       MutableArrayRef<Value> carried) {
  const CountedLoop &loop = group.loop;
  SmallVector<unsigned> own = group.getCarried(layer);
  SmallVector<Value> inits =
      llvm::map_to_vector(own, [&](unsigned index) { return carried[index]; });
  SmallVector<StoredResult> made;
  for (Operation &op : loop.body)
    if (group.isOf(layer, op))
      for (OpResult result : op.getResults())
        if (group.getLastReader(result) > layer)
          made.emplace_back(result, makeGroupRow(result));
  Location loc = loop.op->getLoc();
  auto rounds = uprog::ForOp::create(builder, loc, group.begin, group.end,
                                     loop.step, inits);
  Block &block = rounds.getBody().front();
  if (inits.empty())
    block.back().erase();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&block);
    for (auto [index, argument] :
         llvm::zip_equal(own, rounds.getRegionIterArgs()))
      mapping.map(loop.carried[index], argument);
    Value round = block.getArgument(0);
    loop.mapRound(round);
    Value number = countRounds(loop, group.begin, round);
    mapStored(group.stored, number);
    mapStored(made, number);
    for (auto [result, whole] : made)
      places[result] = mapping.lookup(result);
    if (failed(convertOps(group, layer)))
      return failure();
    SmallVector<Value> yielded;
    for (unsigned index : own)
      yielded.push_back(getValue(group.getYielded(index)));
    uprog::YieldOp::create(builder, loc, yielded);
  }
  for (auto [result, whole] : made)
    places.erase(result);
  llvm::append_range(group.stored, made);
  for (auto [index, result] : llvm::zip_equal(own, rounds.getResults()))
    carried[index] = result;
  return success();
}

/// Creates a branch on `condition`. If it holds, the branch runs the ops that
/// `make` creates. Otherwise, it yields `others`.
static uprog::BranchOp makeBranch(OpBuilder &builder, Location loc,
                                  Value condition, ValueRange others,
                                  function_ref<SmallVector<Value>()> make) {
  Value selector = arith::IndexCastUIOp::create(
      builder, loc, builder.getIndexType(), condition);
  auto branch =
      uprog::BranchOp::create(builder, loc, others.getTypes(), selector,
                              ArrayRef<int64_t>{1}, /*caseRegionsCount=*/1);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&branch.getCaseRegions().front());
  uprog::YieldOp::create(builder, loc, make());
  if (!others.empty()) {
    builder.createBlock(&branch.getDefaultRegion());
    uprog::YieldOp::create(builder, loc, others);
  }
  return branch;
}

namespace {
/// Result that later layers of a wavefront read. The loop over waves has
/// `count` arguments for the values of the result in the last waves, latest
/// first. `first` is the index of the first of these arguments.
struct DelayedResult {
  OpResult result;
  unsigned layer, first, count;
};
} // namespace

/// Returns the delayed results of a group. Their arguments follow `first` other
/// arguments.
static SmallVector<DelayedResult> listDelayed(const RoundGroup &group,
                                              unsigned first) {
  SmallVector<DelayedResult> delayed;
  for (unsigned layer = 1; layer < group.layers.getNumLayers(); ++layer)
    for (Operation &op : group.loop.body) {
      if (!group.isOf(layer, op))
        continue;
      for (OpResult result : op.getResults()) {
        unsigned reader = group.getLastReader(result);
        if (reader <= layer)
          continue;
        delayed.push_back({result, layer, first, reader - layer});
        first += reader - layer;
      }
    }
  return delayed;
}

/// Runs the rounds of a group for all layers except layer 0. Each of these
/// layers is one round behind the previous layer. A *wave* contains at most one
/// round of each layer. In a wave, tasks of different layers do not depend on
/// each other. A barrier separates two waves.
LogicalResult Replicator::convertWavefront(RoundGroup &group,
                                           MutableArrayRef<Value> carried) {
  const CountedLoop &loop = group.loop;
  Location loc = loop.op->getLoc();
  const unsigned layers = group.layers.getNumLayers() - 1;
  SmallVector<DelayedResult> delayed = listDelayed(group, carried.size());
  SmallVector<Value> inits(carried);
  for (const DelayedResult &entry : delayed)
    inits.append(entry.count, makeRow(loc, nameResult(entry.result) + ".before",
                                      entry.result.getType()));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count = countRounds(loop, group.begin, group.end);
  Value waves = arith::AddIOp::create(
      builder, loc, count,
      arith::ConstantIndexOp::create(builder, loc, layers - 1));
  auto rounds =
      uprog::ForOp::create(builder, loc, zero, waves, /*step=*/Value(), inits);
  Block &block = rounds.getBody().front();
  if (inits.empty())
    block.back().erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  uprog::BarrierOp::create(builder, loc, uprog::Level::Device);

  // The row of a task's result is created before the branch that may run the
  // task. Carried values change after all layers have read them.
  SmallVector<Value> now(rounds.getRegionIterArgs()), next = now;
  auto getNow = [&](unsigned index) { return now[index]; };
  SmallVector<Value> placed;
  auto place = [&](OpResult result) {
    if (places.contains(result))
      return;
    places[result] = makeRow(loc, nameResult(result), result.getType());
    placed.push_back(result);
  };
  struct Change {
    Value runs;
    SmallVector<unsigned> indices;
    SmallVector<Value> values;
  };
  SmallVector<Change> changes;
  for (unsigned layer = 1; layer <= layers; ++layer) {
    Value number = arith::SubIOp::create(
        builder, loc, block.getArgument(0),
        arith::ConstantIndexOp::create(builder, loc, layer - 1));
    Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       number, count);
    for (const DelayedResult &entry : delayed) {
      if (entry.layer == layer)
        place(entry.result);
      else if (entry.layer < layer && layer - entry.layer <= entry.count)
        mapping.map(entry.result, now[entry.first + layer - entry.layer - 1]);
    }
    Change change{runs, {}, {}};
    SmallVector<unsigned> inner;
    for (unsigned index : group.getCarried(layer)) {
      mapping.map(loop.carried[index], now[index]);
      Value yielded = group.getYielded(index).get();
      auto invoke = yielded.getDefiningOp<InvokeOp>();
      bool isPlaced = invoke && invoke->getBlock() == &loop.body &&
                      group.layers.getLayer(invoke) > 0 &&
                      !inserted.getRoot(cast<OpResult>(yielded));
      (isPlaced ? change.indices : inner).push_back(index);
      if (isPlaced && group.isOf(layer, *invoke))
        place(cast<OpResult>(yielded));
    }
    SmallVector<Value> same = llvm::map_to_vector(inner, getNow);
    LogicalResult converted = success();
    uprog::BranchOp branch =
        makeBranch(builder, loc, runs, same, [&]() -> SmallVector<Value> {
          Value round = number;
          if (loop.step)
            round = arith::MulIOp::create(builder, loc, round, loop.step);
          loop.mapRound(
              arith::AddIOp::create(builder, loc, group.begin, round));
          mapStored(group.stored, number);
          converted = convertOps(group, layer);
          if (failed(converted))
            return same;
          return llvm::map_to_vector(inner, [&](unsigned index) {
            return getValue(group.getYielded(index));
          });
        });
    if (failed(converted))
      return failure();
    for (auto [index, value] : llvm::zip_equal(inner, branch.getResults()))
      next[index] = value;
    for (unsigned index : change.indices)
      change.values.push_back(mapping.lookup(group.getYielded(index).get()));
    changes.push_back(std::move(change));
  }
  for (const DelayedResult &entry : delayed) {
    next[entry.first] = places.lookup(entry.result);
    for (unsigned i = 1; i < entry.count; ++i)
      next[entry.first + i] = now[entry.first + i - 1];
  }
  for (const Change &change : changes) {
    if (change.indices.empty())
      continue;
    SmallVector<Value> same = llvm::map_to_vector(change.indices, getNow);
    uprog::BranchOp branch = makeBranch(builder, loc, change.runs, same,
                                        [&] { return change.values; });
    for (auto [index, value] :
         llvm::zip_equal(change.indices, branch.getResults()))
      next[index] = value;
  }
  uprog::YieldOp::create(builder, loc, next);
  for (Value result : placed)
    places.erase(result);
  for (auto [value, result] : llvm::zip(carried, rounds.getResults()))
    value = result;
  return success();
}

/// Converts a loop. If some tasks can run ahead, it becomes a loop over groups
/// of rounds. Within a group, layers run one after another or as a wavefront.
LogicalResult Replicator::convertCounted(const CountedLoop &loop) {
  LoopLayers layers = findLayers(loop.op);
  auto given = loop.op->getAttrOfType<OrderAttr>(kOrderAttr);
  Order order = given ? given.getValue() : Order::Rounds;
  if (order == Order::Rounds)
    layers.mergeRounds();
  if (order == Order::Wavefront)
    layers.separateReaders();
  auto convertLayers = [&](Value begin, Value end,
                           MutableArrayRef<Value> carried) -> LogicalResult {
    RoundGroup group{loop, layers, begin, end};
    for (unsigned layer = 0; layer < layers.getNumLayers(); ++layer) {
      if (layer == 1 && order == Order::Wavefront)
        return convertWavefront(group, carried);
      if (layer % 2 != 0) {
        if (failed(convertLayer(group, layer, carried)))
          return failure();
        continue;
      }
      for (Operation &op : loop.body.without_terminator())
        if (!layers.isFree(&op) && layers.getLayer(&op) == layer &&
            failed(runAhead(group, cast<InvokeOp>(op))))
          return failure();
    }
    return success();
  };
  SmallVector<Value> carried = loop.inits;
  auto runsInGroups = [&](Operation &op) {
    return !layers.isFree(&op) &&
           (order == Order::Wavefront ? layers.getLayer(&op) == 0
                                      : layers.getLayer(&op) % 2 == 0);
  };
  bool isGrouped = llvm::any_of(loop.body.without_terminator(), runsInGroups);
  if (!isGrouped) {
    Value upper = loop.upper;
    if (order == Order::Wavefront)
      upper =
          arith::MaxSIOp::create(builder, loop.op->getLoc(), loop.lower, upper);
    if (failed(convertLayers(loop.lower, upper, carried)))
      return failure();
    mapping.map(loop.op->getResults(), carried);
    return success();
  }
  Location loc = loop.op->getLoc();
  Value most = arith::ConstantIndexOp::create(builder, loc, kAheadRounds);
  if (loop.step)
    most = arith::MulIOp::create(builder, loc, most, loop.step);
  auto groups = uprog::ForOp::create(builder, loc, loop.lower, loop.upper, most,
                                     loop.inits);
  Block &block = groups.getBody().front();
  if (loop.inits.empty())
    block.back().erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  carried.assign(groups.getRegionIterArgs().begin(),
                 groups.getRegionIterArgs().end());
  Value begin = block.getArgument(0);
  Value end = arith::AddIOp::create(builder, loc, begin, most);
  end = arith::MinUIOp::create(builder, loc, end, loop.upper);
  if (failed(convertLayers(begin, end, carried)))
    return failure();
  uprog::YieldOp::create(builder, loc, carried);
  mapping.map(loop.op->getResults(), groups.getResults());
  return success();
}
