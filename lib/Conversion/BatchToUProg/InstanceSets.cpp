//===- InstanceSets.cpp - Programs for sets of instances ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceSets.h"

#include "Batch/Analysis/UnitBarriers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Instances that run a piece of control flow: the members in a list, or the
/// first `count` members if there is no list.
struct InstanceSet {
  Value list;
  Value count;
};

/// Builds the program for a set of instances. A value of the program for one
/// instance is either the same for all instances, or has a cell for each
/// member. A `uprog.each` collects code that instances run by themselves, until
/// an op must run for all instances.
class ProgramWidener {
public:
  ProgramWidener(uprog::ProgramOp one, uprog::ProgramOp many)
      : one(one), builder(many.getContext()), first(many.getArgument(0)) {
    builder.setInsertionPointToEnd(&many.getBody().front());
    instance = one.getArgument(0);
    all.count = many.getArgument(1);
  }

  void run();

private:
  bool isOwn(Operation *op) const;
  Value makeCells(Value value);
  void beginEach(Location loc, const InstanceSet &set);
  void endEach() { each = {}; }
  Value getMember(Location loc, const InstanceSet &set, Value number);
  Value get(Value value);
  void put(Value value, Value computed);
  bool isUniform(ValueRange values) const;
  void keepUniform(Operation *op);
  void widenOwn(Operation *op, const InstanceSet &set);
  void adapt(Operation *op);
  void forwardValues(Location loc, const InstanceSet &set, ValueRange from,
                     ValueRange to);
  Value makeList(Location loc);
  InstanceSet filter(Location loc, const InstanceSet &set, Value list,
                     function_ref<Value()> holds);
  InstanceSet copySet(Location loc, const InstanceSet &set, Value list = {});
  Value isAny(Location loc, Value count);
  void runOneByOne(ArrayRef<Operation *> ops, const InstanceSet &set);
  void convert(Block &block, const InstanceSet &set);
  void convert(uprog::SiteOp site, const InstanceSet &set);
  void convertRun(uprog::RunOp run, const InstanceSet &set);
  void convert(uprog::ForOp loop, const InstanceSet &set);
  void convertUniform(uprog::ForOp loop, const InstanceSet &set);
  void convert(uprog::WhileOp loop, const InstanceSet &set);
  void convert(uprog::BranchOp branch, const InstanceSet &set);

  uprog::ProgramOp one;
  OpBuilder builder;
  Value first, instance;
  InstanceSet all;
  IRMapping uniform; ///< values that are the same for all instances
  DenseMap<Value, Value> cells;
  DenseMap<Value, Value> tasksOf; ///< list of tasks for each step
  Value rounds;                   ///< cells that count the rounds of members
  /// Op that collects code that instances run by themselves, and the values
  /// available in it.
  uprog::EachOp each;
  Value number, member;
  IRMapping known;
};

} // namespace

/// Returns true for an op whose work is divided among units, or at which the
/// units wait for each other.
static bool isShared(Operation *op) {
  if (auto result = dyn_cast<uprog::ResultOp>(op))
    return result.getType().has_value();
  return isa<uprog::SiteOp, uprog::RunOp, uprog::TasksOp, uprog::PutTaskOp,
             uprog::BatchOp, uprog::CopyOp, uprog::BarrierOp>(op);
}

/// Returns true if an instance runs `op` by itself, including all nested ops.
bool ProgramWidener::isOwn(Operation *op) const {
  return !op->walk([](Operation *inner) {
              return isShared(inner) ? WalkResult::interrupt()
                                     : WalkResult::advance();
            }).wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the cells that store `value` for each member. Creates them at the
/// start of the program when they are first needed.
Value ProgramWidener::makeCells(Value value) {
  Value &known = cells[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    Block &body = *first.getParentBlock();
    builder.setInsertionPointToStart(&body);
    known = uprog::CellsOp::create(
        builder, value.getLoc(),
        uprog::CellsType::get(builder.getContext(), value.getType()),
        kSetCapacity);
  }
  return known;
}

Value ProgramWidener::getMember(Location loc, const InstanceSet &set,
                                Value number) {
  if (!set.list)
    return number;
  return uprog::MemberOp::create(builder, loc, builder.getIndexType(), set.list,
                                 number);
}

/// Begins a `uprog.each` that collects code for each instance of a set until
/// endEach(). The insertion point remains after this op.
void ProgramWidener::beginEach(Location loc, const InstanceSet &set) {
  if (each)
    return;
  each = uprog::EachOp::create(builder, loc, set.count);
  known.clear();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(each.getBody().front().getTerminator());
  number = each.getBody().getArgument(0);
  member = getMember(loc, set, number);
}

/// Returns `value` of the current member, at the insertion point.
Value ProgramWidener::get(Value value) {
  if (Value same = uniform.lookupOrNull(value))
    return same;
  if (Value here = known.lookupOrNull(value))
    return here;
  Value found;
  if (value == instance)
    found = arith::AddIOp::create(builder, value.getLoc(), first, member);
  else
    found = uprog::GetOp::create(builder, value.getLoc(), value.getType(),
                                 makeCells(value), member);
  known.map(value, found);
  return found;
}

void ProgramWidener::put(Value value, Value computed) {
  uprog::PutOp::create(builder, value.getLoc(), makeCells(value), member,
                       computed);
}

bool ProgramWidener::isUniform(ValueRange values) const {
  return llvm::all_of(values,
                      [&](Value value) { return uniform.contains(value); });
}

/// Copies an op that computes the same value for all instances.
void ProgramWidener::keepUniform(Operation *op) {
  OpBuilder::InsertionGuard guard(builder);
  if (each)
    builder.setInsertionPoint(each);
  builder.clone(*op, uniform);
}

/// Makes a copied op use the row and the round count of the current member.
void ProgramWidener::adapt(Operation *op) {
  op->walk([&](Operation *inner) {
    OpBuilder at(inner);
    if (auto row = dyn_cast<uprog::RowOp>(inner)) {
      row.getMemberMutable().assign(member);
    } else if (auto round = dyn_cast<uprog::NextRoundOp>(inner)) {
      Value before = uprog::GetOp::create(at, round.getLoc(), at.getIndexType(),
                                          rounds, member);
      Value count = round.getCount();
      Value after = arith::AddIOp::create(
          at, round.getLoc(), before,
          count ? count
                : arith::ConstantIndexOp::create(at, round.getLoc(), 1));
      // Limit the unsigned sum, so later sums do not overflow.
      if (count)
        after = arith::MinUIOp::create(
            at, round.getLoc(), after,
            arith::ConstantIndexOp::create(at, round.getLoc(),
                                           uprog::kTooManyRounds));
      uprog::PutOp::create(at, round.getLoc(), rounds, member, after);
      round.getRoundsMutable().assign(before);
    }
  });
}

/// Converts an op that each instance of a set runs by itself.
void ProgramWidener::widenOwn(Operation *op, const InstanceSet &set) {
  if (isa<uprog::UProgDialect>(op->getDialect())
          ? isa<uprog::ParameterRowOp>(op)
          : isPure(op))
    if (op->getNumRegions() == 0 && isUniform(op->getOperands()))
      return keepUniform(op);
  beginEach(op->getLoc(), set);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(each.getBody().front().getTerminator());
  if (isa<uprog::EnterInstanceOp>(op)) {
    Value zero = arith::ConstantIndexOp::create(builder, op->getLoc(), 0);
    uprog::PutOp::create(builder, op->getLoc(), rounds, member, zero);
    return;
  }
  SetVector<Value> used;
  used.insert_range(op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  IRMapping mapping;
  for (Value value : used)
    mapping.map(value, get(value));
  if (op->walk([](uprog::NextRoundOp) {
          return WalkResult::interrupt();
        }).wasInterrupted())
    uprog::EnterInstanceOp::create(builder, op->getLoc(), get(instance));
  Operation *copy = builder.clone(*op, mapping);
  adapt(copy);
  for (auto [value, computed] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    known.map(value, computed);
    put(value, computed);
  }
}

/// Assigns the values of `from` to `to` for each instance of a set, and ends
/// the open `uprog.each`.
void ProgramWidener::forwardValues(Location loc, const InstanceSet &set,
                                   ValueRange from, ValueRange to) {
  if (from.empty())
    return endEach();
  beginEach(loc, set);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(each.getBody().front().getTerminator());
  // Read all values before writing any.
  SmallVector<Value> values =
      llvm::map_to_vector(from, [&](Value value) { return get(value); });
  for (auto [target, value] : llvm::zip_equal(to, values))
    put(target, value);
  // End the op, because the assignments may have overwritten values in `known`.
  endEach();
}

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

Value ProgramWidener::makeList(Location loc) {
  return uprog::MembersOp::create(
      builder, loc,
      MemRefType::get({ShapedType::kDynamic}, builder.getI32Type()),
      kSetCapacity);
}

/// Selects the members of a set for which a predicate holds. Stores them in
/// `list`, or in a new list if `list` is null.
InstanceSet ProgramWidener::filter(Location loc, const InstanceSet &set,
                                   Value list, function_ref<Value()> holds) {
  endEach();
  if (!list)
    list = makeList(loc);
  OperationState state(loc, uprog::CompactOp::getOperationName());
  state.addOperands({set.count, list});
  state.addTypes(builder.getIndexType());
  Region *body = state.addRegion();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(body, {}, builder.getIndexType(), loc);
    known.clear();
    member = getMember(loc, set, body->getArgument(0));
    uprog::ConditionOp::create(builder, loc, holds(), member);
  }
  Operation *compact = builder.create(state);
  return {list, compact->getResult(0)};
}

InstanceSet ProgramWidener::copySet(Location loc, const InstanceSet &set,
                                    Value list) {
  return filter(loc, set, list, [&]() -> Value {
    return arith::ConstantIntOp::create(builder, loc, 1, 1);
  });
}

Value ProgramWidener::isAny(Location loc, Value count) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, count,
                               zero);
}

/// Runs ops whose work is divided among units, for one instance after another.
void ProgramWidener::runOneByOne(ArrayRef<Operation *> ops,
                                 const InstanceSet &set) {
  endEach();
  Location loc = ops.front()->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto loop = uprog::ForOp::create(builder, loc, zero, set.count);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = loop.getBody().front();
  builder.setInsertionPoint(body.getTerminator());
  known.clear();
  member = getMember(loc, set, body.getArgument(0));
  IRMapping mapping;
  for (Operation *op : ops) {
    SetVector<Value> used;
    used.insert_range(op->getOperands());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      if (!mapping.contains(value))
        mapping.map(value, get(value));
    Operation *copy = builder.clone(*op, mapping);
    adapt(copy);
    for (auto [value, computed] :
         llvm::zip_equal(op->getResults(), copy->getResults()))
      if (!isa<uprog::TasksType, uprog::StepType>(value.getType()))
        put(value, computed);
  }
  // Wait, because the next instance reuses the scratch memory.
  if (llvm::any_of(ops, llvm::IsaPred<uprog::RunOp>))
    uprog::BarrierOp::create(builder, loc, uprog::Level::Device);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Lists the task of each instance.
void ProgramWidener::convert(uprog::SiteOp site, const InstanceSet &set) {
  Location loc = site.getLoc();
  {
    OpBuilder::InsertionGuard guard(builder);
    if (each)
      builder.setInsertionPoint(each);
    tasksOf[site.getStep()] = uprog::TasksOp::create(
        builder, loc, uprog::TasksType::get(builder.getContext()),
        site.getKernelAttr(), builder.getI64IntegerAttr(kSetCapacity));
  }
  beginEach(loc, set);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(each.getBody().front().getTerminator());
  auto getAll = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return get(value); });
  };
  SmallVector<Value> inputs = getAll(site.getInputs());
  uprog::PutTaskOp::create(builder, loc, tasksOf[site.getStep()], number,
                           inputs, getAll(site.getOutputs()));
}

/// Runs the tasks of all instances of a set.
void ProgramWidener::convertRun(uprog::RunOp run, const InstanceSet &set) {
  endEach();
  Location loc = run.getLoc();
  Value step = uprog::BatchOp::create(
      builder, loc, uprog::StepType::get(builder.getContext()),
      tasksOf.lookup(run.getStep()), set.count, /*outputs=*/ValueRange());
  uprog::RunOp::create(builder, loc, run.getCallee(), step, set.count,
                       /*inputs=*/ValueRange(), /*level=*/uprog::LevelAttr());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Converts a loop whose bounds and step are the same for all instances.
void ProgramWidener::convertUniform(uprog::ForOp loop, const InstanceSet &set) {
  Location loc = loop.getLoc();
  auto lookup = [&](Value value) {
    return value ? uniform.lookup(value) : value;
  };
  forwardValues(loc, set, loop.getInits(), loop.getRegionIterArgs());
  auto rounds =
      uprog::ForOp::create(builder, loc, lookup(loop.getLower()),
                           lookup(loop.getUpper()), lookup(loop.getStep()));
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &from = loop.getBody().front(), &to = rounds.getBody().front();
    builder.setInsertionPoint(to.getTerminator());
    uniform.map(from.getArgument(0), to.getArgument(0));
    convert(from, set);
    forwardValues(loc, set, from.getTerminator()->getOperands(),
                  loop.getRegionIterArgs());
  }
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    cells[result] = makeCells(argument);
}

void ProgramWidener::convert(uprog::ForOp loop, const InstanceSet &set) {
  SmallVector<Value> bounds = {loop.getLower(), loop.getUpper()};
  if (loop.getStep())
    bounds.push_back(loop.getStep());
  if (isUniform(bounds))
    return convertUniform(loop, set);
  Location loc = loop.getLoc();
  Block &from = loop.getBody().front();
  Value round = from.getArgument(0);
  SmallVector<Value> inits = {loop.getLower()}, arguments = {round};
  llvm::append_range(inits, loop.getInits());
  llvm::append_range(arguments, loop.getRegionIterArgs());
  forwardValues(loc, set, inits, arguments);
  InstanceSet in = copySet(loc, set);
  Value list = makeList(loc);
  auto rounds =
      uprog::WhileOp::create(builder, loc, in.count.getType(), in.count);
  OpBuilder::InsertionGuard guard(builder);
  Block *before =
      builder.createBlock(&rounds.getBefore(), {}, in.count.getType(), loc);
  InstanceSet still =
      filter(loc, {in.list, before->getArgument(0)}, list, [&]() -> Value {
        Value now = get(round);
        return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     now, get(loop.getUpper()));
      });
  uprog::ConditionOp::create(builder, loc, isAny(loc, still.count),
                             still.count);
  Block *body =
      builder.createBlock(&rounds.getBody(), {}, in.count.getType(), loc);
  InstanceSet now{list, body->getArgument(0)};
  convert(from, now);
  forwardValues(loc, now, from.getTerminator()->getOperands(),
                loop.getRegionIterArgs());
  beginEach(loc, now);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPoint(each.getBody().front().getTerminator());
    Value step = loop.getStep()
                     ? get(loop.getStep())
                     : arith::ConstantIndexOp::create(builder, loc, 1);
    put(round, arith::AddIOp::create(builder, loc, get(round), step));
  }
  endEach();
  uprog::YieldOp::create(builder, loc, copySet(loc, now, in.list).count);
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    cells[result] = makeCells(argument);
}

void ProgramWidener::convert(uprog::WhileOp loop, const InstanceSet &set) {
  Location loc = loop.getLoc();
  Block &before = loop.getBefore().front(), &after = loop.getBody().front();
  auto condition = cast<uprog::ConditionOp>(before.getTerminator());
  forwardValues(loc, set, loop.getInits(), before.getArguments());
  InstanceSet in = copySet(loc, set);
  Value list = makeList(loc);
  Type index = in.count.getType();
  auto rounds = uprog::WhileOp::create(builder, loc, index, in.count);
  OpBuilder::InsertionGuard guard(builder);
  Block *asks = builder.createBlock(&rounds.getBefore(), {}, index, loc);
  InstanceSet asked{in.list, asks->getArgument(0)};
  convert(before, asked);
  forwardValues(loc, asked, condition.getValues(), after.getArguments());
  InstanceSet still =
      filter(loc, asked, list, [&] { return get(condition.getCondition()); });
  uprog::ConditionOp::create(builder, loc, isAny(loc, still.count),
                             still.count);
  Block *body = builder.createBlock(&rounds.getBody(), {}, index, loc);
  InstanceSet now{list, body->getArgument(0)};
  convert(after, now);
  forwardValues(loc, now, after.getTerminator()->getOperands(),
                before.getArguments());
  uprog::YieldOp::create(builder, loc, copySet(loc, now, in.list).count);
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), after.getArguments()))
    cells[result] = makeCells(argument);
}

/// Converts a branch: each path runs for the instances that take it, if any.
void ProgramWidener::convert(uprog::BranchOp branch, const InstanceSet &set) {
  Location loc = branch.getLoc();
  endEach();
  auto isCase = [&](int64_t number) -> Value {
    Value expected = arith::ConstantIndexOp::create(builder, loc, number);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                 get(branch.getSelector()), expected);
  };
  auto convertWay = [&](Region &region, function_ref<Value()> takes) {
    InstanceSet takers = filter(loc, set, Value(), takes);
    Value any = arith::IndexCastUIOp::create(
        builder, loc, builder.getIndexType(), isAny(loc, takers.count));
    auto way = uprog::BranchOp::create(builder, loc, TypeRange(), any,
                                       ArrayRef<int64_t>{1}, 1);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&way.getCaseRegions().front());
    convert(region.front(), takers);
    forwardValues(loc, takers, region.front().getTerminator()->getOperands(),
                  branch.getResults());
    uprog::YieldOp::create(builder, loc, ValueRange());
  };
  for (auto [number, region] :
       llvm::zip_equal(branch.getCases(), branch.getCaseRegions()))
    convertWay(region, [&, number = number] { return isCase(number); });
  if (branch.getDefaultRegion().empty())
    return;
  convertWay(branch.getDefaultRegion(), [&]() -> Value {
    Value none = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value yes = none;
    for (int64_t number : branch.getCases())
      none = arith::AndIOp::create(
          builder, loc, none,
          arith::XOrIOp::create(builder, loc, isCase(number), yes));
    return none;
  });
}

void ProgramWidener::convert(Block &block, const InstanceSet &set) {
  SmallVector<Operation *> group; ///< ops that fill and run one list of tasks
  for (Operation &op : block.without_terminator()) {
    if (!group.empty() || isa<uprog::TasksOp>(op)) {
      group.push_back(&op);
      if (isa<uprog::RunOp>(op)) {
        runOneByOne(group, set);
        group.clear();
      }
    } else if (isOwn(&op)) {
      widenOwn(&op, set);
    } else if (auto site = dyn_cast<uprog::SiteOp>(op)) {
      convert(site, set);
    } else if (auto run = dyn_cast<uprog::RunOp>(op)) {
      convertRun(run, set);
    } else if (isa<uprog::BarrierOp>(op)) {
      endEach();
      builder.clone(op);
    } else if (auto loop = dyn_cast<uprog::ForOp>(op)) {
      convert(loop, set);
    } else if (auto whileLoop = dyn_cast<uprog::WhileOp>(op)) {
      convert(whileLoop, set);
    } else if (auto branch = dyn_cast<uprog::BranchOp>(op)) {
      convert(branch, set);
    } else {
      runOneByOne(&op, set);
    }
  }
}

/// Erases cells that nothing reads, and dead code.
static void eraseDeadCode(uprog::ProgramOp program) {
  SmallVector<uprog::CellsOp> unread;
  for (auto op : program.getBody().getOps<uprog::CellsOp>())
    if (llvm::none_of(op->getUsers(), llvm::IsaPred<uprog::GetOp>))
      unread.push_back(op);
  for (uprog::CellsOp op : unread) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      user->erase();
    op.erase();
  }
  program.getBody().walk<WalkOrder::PostOrder, ReverseIterator>(
      [](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
}

void ProgramWidener::run() {
  Location loc = one.getLoc();
  rounds = uprog::CellsOp::create(
      builder, loc,
      uprog::CellsType::get(builder.getContext(), builder.getIndexType()),
      kSetCapacity);
  convert(one.getBody().front(), all);
  endEach();
  uprog::YieldOp::create(builder, loc, ValueRange());
}

uprog::ProgramOp batch::beginProgram(OpBuilder &builder, Location loc,
                                     StringRef name, uprog::Level level,
                                     TypeRange arguments) {
  auto program = uprog::ProgramOp::create(
      builder, loc, name, builder.getFunctionType(arguments, {}), level,
      /*arg_attrs=*/ArrayAttr(), /*res_attrs=*/ArrayAttr());
  SmallVector<Location> locs(arguments.size(), loc);
  builder.createBlock(&program.getBody(), {}, arguments, locs);
  return program;
}

void batch::readByAddress(KernelOp kernel) {
  auto read = ReadAttr::get(kernel.getContext(), ReadKind::Rows,
                            FlatSymbolRefAttr(), /*segments=*/false);
  for (unsigned i : kernel.getTaskArguments())
    if (isa<RankedTensorType>(kernel.getArgumentTypes()[i]))
      kernel.setArgAttr(i, kReadAttr, read);
}

uprog::ProgramOp batch::makeSetProgram(uprog::ProgramOp program,
                                       const Twine &name) {
  OpBuilder builder(program);
  // Clear `in_turn`, because it would need a counter for each instance.
  uprog::ProgramOp one = program.clone();
  builder.insert(one);
  one.walk([](uprog::RowOp row) { row.setInTurn(false); });
  one.walk([](uprog::RunOp run) { run.removeLevelAttr(); });
  for (Operation *op : findBarriers(one)) {
    OpBuilder before(op);
    uprog::BarrierOp::create(before, op->getLoc(), one.getLevel());
  }
  Type index = builder.getIndexType();
  OpBuilder::InsertionGuard guard(builder);
  auto many = beginProgram(builder, program.getLoc(), name.str(),
                           uprog::Level::Device, {index, index});
  ProgramWidener(one, many).run();
  eraseDeadCode(many);
  one.erase();
  // Each task has its own rows, so kernels find every row by its address.
  auto module = program->getParentOfType<ModuleOp>();
  Builder attributes(module.getContext());
  many.walk([&](uprog::TasksOp tasks) {
    auto kernel = module.lookupSymbol<KernelOp>(tasks.getKernel());
    readByAddress(kernel);
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      kernel.setResultAttr(i, kRowListAttr, attributes.getUnitAttr());
  });
  return many;
}
