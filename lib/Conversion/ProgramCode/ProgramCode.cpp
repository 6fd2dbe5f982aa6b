//===- ProgramCode.cpp - What targets share of a program ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramCode.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

bool ProgramCode::hasLanes(uprog::ProgramOp program) {
  return llvm::any_of(program.getArgumentTypes(), llvm::IsaPred<LanesType>);
}

LogicalResult ProgramCode::findMachine(uprog::ProgramOp program) {
  auto machines = program->getParentOfType<ModuleOp>().getOps<MachineOp>();
  if (machines.empty())
    return program.emitError("has lanes, but the module has no batch.machine");
  machine = *machines.begin();
  return success();
}

void ProgramCode::findLanes(Value unit) {
  ContextBuilder cb(b, b.getLoc(), context);
  Value cell = cb.loadCell(cb.loadField(ContextField::lanes), unit);
  lanes = LLVM::IntToPtrOp::create(b, context.getType(), cell);
}

LogicalResult ProgramCode::lowerFor(uprog::ForOp loop) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto copy = scf::ForOp::create(b, mapping.lookup(loop.getLower()),
                                 mapping.lookup(loop.getUpper()), one);
  mapping.map(loop.getBody().getArgument(0), copy.getInductionVar());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(copy.getBody()->getTerminator());
  return lowerBlock(loop.getBody().front());
}

LogicalResult ProgramCode::lowerBranch(uprog::BranchOp branch) {
  auto copy = scf::IndexSwitchOp::create(
      b, TypeRange(), mapping.lookup(branch.getSelector()), branch.getCases(),
      branch.getCases().size());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&copy.getDefaultRegion());
  scf::YieldOp::create(b);
  for (auto [number, from, to] : llvm::zip_equal(
           branch.getCases(), branch.getCaseRegions(), copy.getCaseRegions())) {
    b.createBlock(&to);
    if (failed(lowerCase(from, number)))
      return failure();
    scf::YieldOp::create(b);
  }
  return success();
}

LogicalResult ProgramCode::lowerWhile(uprog::WhileOp loop) {
  auto condition =
      cast<uprog::ConditionOp>(loop.getBefore().front().getTerminator());
  TypeRange types = condition.getValues().getTypes();
  auto copy = scf::WhileOp::create(b, types, ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&copy.getBefore());
  if (failed(lowerBlock(loop.getBefore().front())))
    return failure();
  SmallVector<Value> values;
  for (Value value : condition.getValues())
    values.push_back(mapping.lookup(value));
  scf::ConditionOp::create(b, mapping.lookup(condition.getCondition()), values);
  Block *body =
      b.createBlock(&copy.getAfter(), {}, types,
                    SmallVector<Location>(types.size(), loop.getLoc()));
  mapping.map(loop.getBody().getArguments(), body->getArguments());
  if (failed(lowerBlock(loop.getBody().front())))
    return failure();
  scf::YieldOp::create(b);
  return success();
}

FailureOr<SmallVector<Value>>
ProgramCode::findLeast(uprog::ReduceOp reduce, Value first, int64_t step) {
  size_t count = reduce.getKeys().size();
  Value upper = toI64(mapping.lookup(reduce.getUpper()));
  SmallVector<Value> start(count,
                           constant(std::numeric_limits<int64_t>::max()));
  start.append(count, constant(0));
  auto loop = scf::ForOp::create(b, first, upper, constant(step), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Block &body = reduce.getBody().front();
  mapping.map(body.getArgument(0), toIndex(number));
  if (failed(lowerBlock(body)))
    return failure();
  SmallVector<Value> keys, numbers;
  for (auto [i, operand] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    Value key = mapping.lookup(operand), last = loop.getRegionIterArg(i);
    Value less = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key, last);
    keys.push_back(arith::SelectOp::create(b, less, key, last));
    numbers.push_back(arith::SelectOp::create(
        b, less, number, loop.getRegionIterArg(count + i)));
  }
  llvm::append_range(keys, numbers);
  scf::YieldOp::create(b, keys);
  return SmallVector<Value>(loop.getResults());
}

void ProgramCode::mapLeast(uprog::ReduceOp reduce, ArrayRef<Value> found) {
  size_t count = reduce.getKeys().size();
  mapping.map(reduce.getKeys(), found.take_front(count));
  for (auto [result, number] :
       llvm::zip_equal(reduce.getNumbers(), found.drop_front(count)))
    mapping.map(result, toIndex(number));
}

FailureOr<Value> ProgramCode::lowerPredicate(uprog::CompactOp compact,
                                             Value number) {
  Block &body = compact.getBody().front();
  mapping.map(body.getArgument(0), toIndex(number));
  if (failed(lowerBlock(body)))
    return failure();
  auto condition = cast<uprog::ConditionOp>(body.getTerminator());
  return mapping.lookup(condition.getCondition());
}

LogicalResult ProgramCode::lowerStart(StartLanesOp start) {
  FailureOr<func::FuncOp> entry = findEntry(start);
  if (failed(entry))
    return failure();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(context.getParentBlock()->getParentOp());
    laneCode().makeNextInstance(*entry);
  }
  laneCode().startLanes();
  return success();
}

void ProgramCode::lowerKeys(BlockKeysOp keys) {
  Value block = toI64(mapping.lookup(keys.getBlock()));
  auto [preference, since] = laneCode().blockKeys(block);
  mapping.map(keys.getPreference(), preference);
  mapping.map(keys.getSince(), since);
}

void ProgramCode::lowerNext(NextBlockOp next) {
  auto [block, any] = laneCode().nextBlock(
      toI64(mapping.lookup(next.getPreferred())),
      toI64(mapping.lookup(next.getOldest())), mapping.lookup(next.getSince()));
  mapping.map(next.getBlock(), toIndex(block));
  mapping.map(next.getAny(), any);
}

void ProgramCode::lowerList(LaneListOp list) {
  auto [count, room] = laneCode().laneList();
  mapping.map(list.getCount(), toIndex(count));
  mapping.map(list.getList(), room);
}

void ProgramCode::lowerEnter(EnterBlockOp enter) {
  Value lane = toI64(mapping.lookup(enter.getLane()));
  Value block = toI64(mapping.lookup(enter.getBlock()));
  mapping.map(enter.getRuns(), laneCode().enterBlock(lane, block));
}

void ProgramCode::lowerTake(uprog::TakeLanesOp take) {
  Value block = toI64(mapping.lookup(take.getBlock()));
  Value count = toI64(mapping.lookup(take.getCount()));
  mapping.map(take.getStep(), laneCode().takeLanes(block, count));
}

void ProgramCode::lowerLaneOps(LaneOpsOp op) {
  auto block = machine.lookupSymbol<BlockOp>(op.getBlock().getLeafReference());
  if (op.getPrologue())
    laneCode().runPrologue(block);
  else
    laneCode().runEpilogue(block);
}

LogicalResult ProgramCode::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    LogicalResult result = success();
    TypeSwitch<Operation *>(&op)
        .Case([&](uprog::ForOp loop) { result = lowerFor(loop); })
        .Case([&](uprog::BranchOp branch) { result = lowerBranch(branch); })
        .Case([&](uprog::WhileOp loop) { result = lowerWhile(loop); })
        .Case([&](StartLanesOp start) { result = lowerStart(start); })
        .Case([&](NextBlockOp next) { lowerNext(next); })
        .Case([&](uprog::ReduceOp reduce) { result = lowerReduce(reduce); })
        .Case([&](BlockKeysOp keys) { lowerKeys(keys); })
        .Case([&](uprog::CompactOp list) { result = lowerCompact(list); })
        .Case([&](LaneListOp list) { lowerList(list); })
        .Case([&](EnterBlockOp enter) { lowerEnter(enter); })
        .Case([&](uprog::TakeLanesOp take) { lowerTake(take); })
        .Case([&](LaneOpsOp laneOps) { lowerLaneOps(laneOps); })
        .Case([&](LeaveFrameOp) { laneCode().leaveFrame(); })
        .Default([&](Operation *other) {
          if (isa_and_nonnull<arith::ArithDialect>(other->getDialect()))
            b.clone(*other, mapping);
          else
            result = lowerOp(other);
        });
    if (failed(result))
      return failure();
  }
  return success();
}
