//===- InstanceCode.cpp - Code of single instances ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceCode.h"

#include "Batch/Dialect/Batch/TableLayout.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "TaskStep.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// Allocates an i64 that is private to this thread, initially 0.
static Value makeOwnCell(OpBuilder &builder, Location loc, unsigned space) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        number);
  };
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), space);
  Value cell = LLVM::AllocaOp::create(builder, loc, pointer,
                                      builder.getI64Type(), constant(1));
  LLVM::StoreOp::create(builder, loc, constant(0), cell);
  return cell;
}

InstanceUnit batch::makeInstanceUnit(OpBuilder &builder, Location loc,
                                     Value context, Value number, Value count,
                                     const UnitThreads &threads) {
  ContextBuilder cb(builder, loc, context);
  InstanceUnit unit;
  unit.threads = threads;
  unit.context = context;
  unit.number = unit.worker = number;
  unit.count = count;
  Value units = cb.loadField(ContextField::units);
  unit.state = LLVM::IntToPtrOp::create(builder, loc, context.getType(),
                                        cb.loadCell(units, number));
  unit.own = cb.loadCell(unit.state, kUnitOwn);
  unit.memory = cb.loadCell(unit.state, kUnitCommon);
  for (Value *cell : {&unit.instance, &unit.rounds, &unit.progress,
                      &unit.shares, &unit.steps, &unit.barriers})
    *cell = makeOwnCell(builder, loc, threads.stackSpace);
  return unit;
}

InstanceUnit batch::makeSingleUnit(OpBuilder &builder, Location loc,
                                   const InstanceUnit &unit) {
  ContextBuilder cb(builder, loc, unit.context);
  InstanceUnit single = unit;
  single.memory = unit.own;
  single.number = cb.constant(0);
  single.count = cb.constant(1);
  single.level = uprog::Level::Block;
  return single;
}

InstanceUnit batch::makeClusterUnit(OpBuilder &builder, Location loc,
                                    const InstanceUnit &unit, Value rank,
                                    Value size) {
  ContextBuilder cb(builder, loc, unit.context);
  Value first = arith::SubIOp::create(builder, loc, unit.number, rank);
  Value state = LLVM::IntToPtrOp::create(
      builder, loc, unit.context.getType(),
      cb.loadCell(cb.loadField(ContextField::units), first));
  InstanceUnit member = unit;
  member.memory = cb.loadCell(state, kUnitOwn);
  member.number = rank;
  member.count = size;
  member.level = uprog::Level::Cluster;
  return member;
}

/// Returns true if the code represents a value of this type as the i64 that its
/// cell stores.
static bool isCell(Type type) {
  return isa<uprog::RowType, rec::ListType, rec::AdtType>(type);
}

Value InstanceCode::fromCell(Value cell, Type type) {
  return isCell(type) ? cell : cb.fromCell(cell, type);
}

InstanceCode::InstanceCode(OpBuilder &builder, Operation *op,
                           const InstanceUnit &unit)
    : builder(builder), op(op), loc(op->getLoc()), unit(unit),
      cb(builder, loc, unit.context) {}

Value InstanceCode::isZero(Value value) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                               cb.constant(0));
}

/// Returns an i1 that is true for the first thread of the unit, or null if the
/// unit has only one thread.
Value InstanceCode::isLeaderThread() {
  return unit.threads.isGroup() ? isZero(unit.threads.thread) : Value();
}

/// Returns an i1 that is true for one thread among all units that run the
/// instance. This thread reports the values that all threads compute.
Value InstanceCode::isReportingThread() {
  Value place = unit.number;
  if (unit.threads.isGroup())
    place = arith::OrIOp::create(builder, loc, place, unit.threads.thread);
  return isZero(place);
}

void InstanceCode::when(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto choice =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(choice.thenBlock()->getTerminator());
  body();
}

void InstanceCode::addTo(Field counter, Value amount, Value condition) {
  when(condition, [&] {
    Value before = cb.loadCell(unit.state, counter);
    cb.storeCell(unit.state, counter,
                 arith::AddIOp::create(builder, loc, before, amount));
  });
}

/// Mask of the low half of a BatchBlockControl's progress, which contains the
/// kernel.
static constexpr int64_t kKernelMask = (int64_t(1) << kProgressShift) - 1;

/// Shift of the number of shared steps in InstanceUnit::steps. The lower
/// bits count the steps that the unit runs by itself.
static constexpr int64_t kSharedStepsShift = 32;

Value InstanceCode::loadOwn(Value cell) {
  return LLVM::LoadOp::create(builder, loc, builder.getI64Type(), cell);
}

/// Returns true for a step whose tasks one unit runs by itself.
static bool isForOneUnit(Value step) {
  return llvm::any_of(step.getUsers(), [](Operation *user) {
    auto run = dyn_cast<uprog::RunOp>(user);
    return run && run.getLevel();
  });
}

void InstanceCode::trace(Value kernel, Value tasks) {
  const bool isMultiUnit = unit.level != uprog::Level::Block;
  Value trace = cb.loadPointer(unit.state, kUnitTrace);
  Value isTraced =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, trace,
                           LLVM::ZeroOp::create(builder, loc, trace.getType()));
  scf::IfOp::create(builder, loc, isTraced, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, unit.context);
    inner.call(RuntimeFunction::traceTasks,
               {trace, kernel, tasks, inner.constant(isMultiUnit)});
    scf::YieldOp::create(then, loc);
  });
}

/// Counts the `count` tasks of a step when the unit begins its share of them.
void InstanceCode::beginTasks(int64_t kernel, Value count, Value step) {
  const UnitThreads &threads = unit.threads;
  const bool isMultiUnit = unit.level != uprog::Level::Block;
  const bool isShared = isMultiUnit && !isForOneUnit(step);
  auto begin = [&] {
    if (!threads.isGroup()) {
      addTo(isShared ? kUnitShares : kUnitTasks, count, Value());
      addTo(isShared ? kUnitSharedBatches : kUnitBatches, cb.constant(1),
            Value());
    } else {
      reportTasks(kernel, count, isShared);
    }
  };
  when(isMultiUnit && !isShared ? isZero(unit.number) : Value(), begin);
}

/// Counts the `count` tasks of a step in a unit with several threads. Tasks
/// that the blocks of a cluster run together count as shared tasks, except in
/// the first block.
void InstanceCode::reportTasks(int64_t kernel, Value count, bool isShared) {
  const UnitThreads &threads = unit.threads;
  // Count in private memory: a load of a count from global memory takes too
  // long.
  Value tasks = arith::AndIOp::create(builder, loc, loadOwn(unit.progress),
                                      cb.constant(~kKernelMask));
  Value more =
      arith::ShLIOp::create(builder, loc, count, cb.constant(kProgressShift));
  tasks = arith::AddIOp::create(builder, loc, tasks, more);
  Value now = arith::OrIOp::create(builder, loc, tasks, cb.constant(kernel));
  LLVM::StoreOp::create(builder, loc, now, unit.progress);
  Value one = cb.constant(isShared ? int64_t(1) << kSharedStepsShift : 1);
  Value share = count;
  if (isShared && unit.level == uprog::Level::Cluster) {
    Value isFirst = isZero(unit.number);
    one = arith::SelectOp::create(builder, loc, isFirst, cb.constant(1), one);
    share =
        arith::SelectOp::create(builder, loc, isFirst, cb.constant(0), share);
  }
  LLVM::StoreOp::create(
      builder, loc,
      arith::AddIOp::create(builder, loc, loadOwn(unit.steps), one),
      unit.steps);
  if (isShared) {
    Value shares =
        arith::AddIOp::create(builder, loc, loadOwn(unit.shares), share);
    LLVM::StoreOp::create(builder, loc, shares, unit.shares);
  }
  when(isLeaderThread(), [&] {
    LLVM::StoreOp::create(builder, loc, now, threads.progress, kCellBytes,
                          /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false,
                          LLVM::AtomicOrdering::monotonic, threads.deviceScope);
  });
}

Value InstanceCode::lastKernel() {
  return arith::AndIOp::create(builder, loc, loadOwn(unit.progress),
                               cb.constant(kKernelMask));
}

/// Counts a barrier that the unit now reaches, but only in the first unit. A
/// unit with one thread also adds the barrier to its trace.
void InstanceCode::beginBarrier() {
  addTo(kUnitBarriers, cb.constant(1), isReportingThread());
  if (!unit.threads.isGroup())
    trace(cb.constant(-1), cb.constant(0));
}

/// Counts a barrier that the cluster now reaches, but only in the first block.
/// Each thread has its own count.
void InstanceCode::countClusterBarrier() {
  Value one = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                     isZero(unit.number));
  Value barriers =
      arith::AddIOp::create(builder, loc, loadOwn(unit.barriers), one);
  LLVM::StoreOp::create(builder, loc, barriers, unit.barriers);
}

void InstanceCode::storeCounts() {
  Value shares = loadOwn(unit.shares);
  Value tasks = arith::ShRUIOp::create(builder, loc, loadOwn(unit.progress),
                                       cb.constant(kProgressShift));
  tasks = arith::SubIOp::create(builder, loc, tasks, shares);
  Value steps = loadOwn(unit.steps);
  Value shift = cb.constant(kSharedStepsShift);
  Value shared = arith::ShRUIOp::create(builder, loc, steps, shift);
  Value batches = arith::SubIOp::create(
      builder, loc, steps, arith::ShLIOp::create(builder, loc, shared, shift));
  when(isLeaderThread(), [&] {
    cb.storeCell(unit.state, kUnitTasks, tasks);
    cb.storeCell(unit.state, kUnitShares, shares);
    cb.storeCell(unit.state, kUnitBatches, batches);
    cb.storeCell(unit.state, kUnitSharedBatches, shared);
    cb.storeCell(unit.state, kUnitBarriers, loadOwn(unit.barriers));
  });
}

Value InstanceCode::instances() {
  return cb.loadCell(unit.state, kUnitNumInstances);
}

void InstanceCode::enterInstance(Value instance) {
  LLVM::StoreOp::create(builder, loc, instance, unit.instance);
  LLVM::StoreOp::create(builder, loc, cb.constant(0), unit.rounds);
}

Value InstanceCode::nextRound(uprog::NextRoundOp op, Value count, Value before,
                              const InstanceTables &tables) {
  // Check for cancellation here: a loop that only computes numbers has no other
  // check.
  if (!unit.threads.thread) // on the host
    cb.endIfCancelled(unit.worker);
  Value last = before ? before : loadOwn(unit.rounds);
  Value rounds =
      arith::AddIOp::create(builder, loc, last, count ? count : cb.constant(1));
  // The sum is unsigned. This bound ensures that later sums do not overflow.
  if (count)
    rounds = arith::MinUIOp::create(builder, loc, rounds,
                                    cb.constant(uprog::kTooManyRounds));
  if (!before)
    LLVM::StoreOp::create(builder, loc, rounds, unit.rounds);
  Value most = cb.loadCell(unit.state, kUnitMaxRounds);
  Value may = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                    rounds, most);
  // Let one thread report the first loop that runs too many rounds.
  Value isFirst = arith::CmpIOp::create(
      builder, loc,
      count ? arith::CmpIPredicate::ule : arith::CmpIPredicate::eq, last, most);
  if (count) {
    Value exceeds = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ugt, rounds, most);
    isFirst = arith::AndIOp::create(builder, loc, isFirst, exceeds);
  }
  when(arith::AndIOp::create(builder, loc, isReportingThread(), isFirst), [&] {
    cb.storeCell(cb.loadPointer(unit.state, kUnitEnds), loadOwn(unit.instance),
                 cb.constant(tables.getLoop(op)));
  });
  return may;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the number of the next copy in turn. Each thread counts separately.
Value InstanceCode::takeTurn(uprog::RowOp op, Value copies) {
  Value turn;
  {
    OpBuilder::InsertionGuard guard(builder);
    auto function = op->getParentOfType<FunctionOpInterface>();
    builder.setInsertionPointToStart(&function.getFunctionBody().front());
    turn = makeOwnCell(builder, loc, unit.threads.stackSpace);
  }
  Value last = loadOwn(turn);
  Value next = arith::AddIOp::create(builder, loc, last, cb.constant(1));
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      next, copies);
  next = arith::SelectOp::create(builder, loc, wraps, cb.constant(0), next);
  LLVM::StoreOp::create(builder, loc, next, turn);
  return last;
}

/// Returns the base address of the buffers.
Value InstanceCode::getMemory() {
  return unit.threads.thread ? makeOpaque(builder, loc, unit.memory)
                             : unit.memory;
}

Value InstanceCode::row(uprog::RowOp op, ValueRange avoided, Value member,
                        const InstanceTables &tables) {
  auto buffer = op->getParentOfType<ModuleOp>().lookupSymbol<uprog::BufferOp>(
      op.getBuffer());
  int64_t bytes = getRowBytes(cast<RankedTensorType>(buffer.getType()));
  int64_t offset = tables.getOffset(buffer.getSymNameAttr());
  Value memory = getMemory();
  if (member) {
    Value distance = arith::MulIOp::create(
        builder, loc, member, cb.constant(tables.getBufferBytes()));
    memory = arith::AddIOp::create(builder, loc, memory, distance);
  }
  auto getCopy = [&](int64_t number) -> Value {
    return arith::AddIOp::create(builder, loc, memory,
                                 cb.constant(offset + number * bytes));
  };
  if (op.getInTurn()) {
    Value turn = takeTurn(op, cb.constant(buffer.getCopies()));
    Value place = arith::MulIOp::create(builder, loc, turn, cb.constant(bytes));
    return arith::AddIOp::create(builder, loc, getCopy(0), place);
  }
  // Select the first free copy: visit the copies that may be needed, from the
  // last to the first.
  Value row = getCopy(avoided.size());
  for (int64_t number = avoided.size(); number-- > 0;) {
    Value copy = getCopy(number);
    Value isFree;
    for (Value other : avoided) {
      // The other row may be a slice of the copy, so check for overlap.
      Value place = arith::SubIOp::create(builder, loc, other, copy);
      Value differs = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::uge, place, cb.constant(bytes));
      isFree =
          isFree
              ? arith::AndIOp::create(builder, loc, isFree, differs).getResult()
              : differs;
    }
    row = arith::SelectOp::create(builder, loc, isFree, copy, row);
  }
  return row;
}

/// Returns the index or, if it is out of range, records it and returns 0.
Value InstanceCode::checkIndex(Value index, Value extent, int64_t place) {
  Value outside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                        index, extent);
  scf::IfOp::create(builder, loc, outside, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, unit.context);
    Value record = inner.loadField(ContextField::indexError);
    // Only the first failure among all units is recorded.
    Value exchanged = LLVM::AtomicCmpXchgOp::create(
        then, loc,
        inner.address(record, inner.constant(kIndexErrorPlace.cell()),
                      then.getI64Type()),
        inner.constant(0), inner.constant(place),
        LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic,
        unit.threads.deviceScope, kCellBytes);
    Value isFirst = LLVM::ExtractValueOp::create(then, loc, exchanged,
                                                 ArrayRef<int64_t>{1});
    scf::IfOp::create(then, loc, isFirst, [&](OpBuilder &first, Location loc) {
      ContextBuilder(first, loc, unit.context)
          .storeCell(record, kIndexErrorIndex, index);
      scf::YieldOp::create(first, loc);
    });
    scf::YieldOp::create(then, loc);
  });
  return arith::SelectOp::create(builder, loc, outside, cb.constant(0), index);
}

/// Returns the number that identifies a source in handles.
static int64_t getSourceNumber(ModuleOp module, StringRef name) {
  int64_t number = 1;
  for (auto source : module.getOps<SourceOp>()) {
    if (source.getSymName() == name)
      return number;
    ++number;
  }
  llvm_unreachable("verified");
}

Value InstanceCode::parameterRow(uprog::ParameterRowOp op, Value index,
                                 const InstanceTables &tables) {
  auto module = op->getParentOfType<ModuleOp>();
  int64_t number = getSourceNumber(module, op.getSource());
  auto source = module.lookupSymbol<SourceOp>(op.getSource());
  std::optional<int64_t> known = getConstantIntValue(op.getIndex());
  if (!known || *known != 0)
    index = checkIndex(index, cb.countRows(number), tables.getIndex(op));
  Value base =
      cb.loadCell(cb.loadField(ContextField::sources),
                  cb.constant(number * kSourceCells + kSourceBase.cell()));
  Value offset = arith::MulIOp::create(
      builder, loc, index,
      cb.constant(getRowBytes(cast<RankedTensorType>(source.getRow()))));
  return arith::AddIOp::create(builder, loc, base, offset);
}

Value InstanceCode::load(uprog::LoadOp op, Value row, ValueRange indices,
                         const InstanceTables &tables) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<Value> cells;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    std::optional<int64_t> known = getConstantIntValue(op.getIndices()[dim]);
    bool isInside = known && *known >= 0 && *known < type.getDimSize(dim);
    Value cell = cb.toCell(index);
    cells.push_back(isInside
                        ? cell
                        : checkIndex(cell, cb.constant(type.getDimSize(dim)),
                                     tables.getIndex(op) + dim));
  }
  return cb.loadElement(type, row, cells);
}

/// Size in bytes of the pieces in which threads copy and clear memory.
static constexpr int64_t kPiece = 64;

/// Returns the beginning and the end of this thread's share, in bytes.
std::pair<Value, Value> InstanceCode::shareOf(Value bytes) {
  Value number = unit.number, count = unit.count;
  if (unit.threads.isGroup()) {
    Value threads = cb.constant(unit.threads.threads);
    number = arith::MulIOp::create(builder, loc, number, threads);
    number = arith::AddIOp::create(builder, loc, number, unit.threads.thread);
    count = arith::MulIOp::create(builder, loc, count, threads);
  }
  Value pieces =
      arith::DivUIOp::create(builder, loc, bytes, cb.constant(kPiece));
  auto getBegin = [&](Value number) -> Value {
    Value share = arith::MulIOp::create(builder, loc, pieces, number);
    share = arith::DivUIOp::create(builder, loc, share, count);
    return arith::MulIOp::create(builder, loc, share, cb.constant(kPiece));
  };
  Value begin = getBegin(number);
  Value next = arith::AddIOp::create(builder, loc, number, cb.constant(1));
  return {begin, getBegin(next)};
}

/// Copies a tensor. All threads of all units copy nearly equal shares, in whole
/// pieces.
void InstanceCode::copy(RankedTensorType type, Value from, Value to) {
  int64_t bytes = getRowBytes(type);
  auto [begin, end] = shareOf(cb.constant(bytes));
  cb.copyBytes(from, to, begin, end);
  addTo(kUnitCopiedBytes, cb.constant(bytes), isReportingThread());
}

void InstanceCode::clearBuffers(const InstanceTables &tables) {
  Value first = arith::AddIOp::create(builder, loc, getMemory(),
                                      cb.constant(tables.getBufferBegin()));
  Value members = cb.constant(1);
  const bool isMultiUnit = unit.level != uprog::Level::Block;
  if (isMultiUnit && tables.getCapacity() > 1)
    members = arith::MaxSIOp::create(
        builder, loc, members,
        arith::MinSIOp::create(builder, loc, instances(),
                               cb.constant(tables.getCapacity())));
  clear(first, arith::MulIOp::create(builder, loc, members,
                                     cb.constant(tables.getBufferBytes())));
  if (!isMultiUnit || tables.getNodeBytes() == 0)
    return;
  Value nodes = firstNode(instances());
  clear(cb.loadCell(unit.state, kUnitNodeRows),
        arith::MulIOp::create(builder, loc, nodes,
                              cb.constant(tables.getNodeBytes())));
}

/// Emits code in which the threads of all units clear memory together.
void InstanceCode::clear(Value first, Value bytes) {
  auto [begin, end] = shareOf(bytes);
  auto loop = scf::ForOp::create(builder, loc, begin, end, cb.constant(kPiece));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  Value place =
      arith::AddIOp::create(builder, loc, first, loop.getInductionVar());
  Value zeros = LLVM::ZeroOp::create(
      builder, loc, VectorType::get(kPiece / 4, builder.getI32Type()));
  LLVM::StoreOp::create(
      builder, loc, zeros,
      LLVM::IntToPtrOp::create(builder, loc, unit.context.getType(), place));
}

//===----------------------------------------------------------------------===//
// Tasks, arguments, results
//===----------------------------------------------------------------------===//

Value InstanceCode::scratchOf(Operation *site, const InstanceTables &tables) {
  return arith::AddIOp::create(builder, loc, getMemory(),
                               cb.constant(tables.getScratch(site)));
}

/// Returns the number of a kernel, in module order.
static int64_t getKernelNumber(ModuleOp module, KernelOp kernel) {
  auto kernels = module.getOps<KernelOp>();
  return std::distance(kernels.begin(), llvm::find(kernels, kernel));
}

/// Returns the address of `count` cells that all threads of the unit read after
/// `store` has written them.
Value InstanceCode::shareCells(Operation *op, int64_t count,
                               const InstanceTables &tables,
                               function_ref<void(Value)> store) {
  Value cells = allocate(op, count, tables);
  if (!unit.threads.isGroup()) {
    store(cells);
    return cells;
  }
  // The first barrier ensures that all threads have read the previous cells,
  // the second that all threads read the new ones.
  gpu::BarrierOp::create(builder, loc);
  when(isLeaderThread(), [&] { store(cells); });
  gpu::BarrierOp::create(builder, loc);
  return cells;
}

/// Counts the bytes of operands that `count` tasks copy before they insert into
/// the copies. Results for which `isInPlace` is true are written in place.
void InstanceCode::countCopies(KernelOp kernel, Value count,
                               function_ref<bool(unsigned)> isInPlace) {
  int64_t bytes = 0;
  if (auto always = kernel->getAttrOfType<IntegerAttr>(kCopiedBytesAttr))
    bytes = always.getInt();
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes()))
    if (kernel.getResultAttr(i, kInPlaceAttr) && !isInPlace(i))
      bytes += getRowBytes(cast<RankedTensorType>(type));
  if (bytes > 0)
    addTo(kUnitCopiedBytes,
          arith::MulIOp::create(builder, loc, count, cb.constant(bytes)),
          isReportingThread());
}

Value InstanceCode::site(uprog::SiteOp site, ValueRange inputs,
                         ValueRange outputs, const InstanceTables &tables) {
  auto module = site->getParentOfType<ModuleOp>();
  auto kernel = module.lookupSymbol<KernelOp>(site.getKernel());
  int64_t number = getKernelNumber(module, kernel);
  // A result is in place if its row is the row of the operand into which the
  // kernel inserts.
  auto isInPlace = [&](unsigned result) {
    return llvm::is_contained(site.getInputs(), site.getOutputs()[result]);
  };
  beginTasks(number, cb.constant(1), site.getStep());
  countCopies(kernel, cb.constant(1), isInPlace);
  return shareCells(
      site, TaskStep::countCells(kernel), tables, [&](Value cells) {
        TaskStep task(builder, op, unit.context, kernel,
                      getCode(module, site.getKernel()), cells);
        llvm::for_each(inputs, [&](Value input) { task.storeOperand(input); });
        for (auto [index, output] : llvm::enumerate(outputs))
          task.storeResult(index, isInPlace(index) ? Value() : output);
        task.finish(number,
                    task.getScratchBytes() ? scratchOf(site, tables) : Value());
      });
}

/// The list has a cell per task for each operand, followed by a cell per task
/// for each result.
Value InstanceCode::tasks(uprog::TasksOp op, const InstanceTables &tables) {
  auto kernel =
      op->getParentOfType<ModuleOp>().lookupSymbol<KernelOp>(op.getKernel());
  return shareCells(op, countTaskCells(kernel, op.getCapacity()), tables,
                    [](Value) {});
}

void InstanceCode::putTask(uprog::PutTaskOp op, Value tasks, Value index,
                           ValueRange inputs, ValueRange outputs) {
  auto list = op.getTasks().getDefiningOp<uprog::TasksOp>();
  when(isLeaderThread(), [&] {
    int64_t position = 0;
    for (ValueRange values : {inputs, outputs})
      for (Value value : values) {
        Value cell = arith::AddIOp::create(
            builder, loc, index, cb.constant(position++ * list.getCapacity()));
        cb.storeCell(tasks, cell, cb.toCell(value));
      }
  });
}

Value InstanceCode::batch(uprog::BatchOp op, Value tasks, Value count,
                          ValueRange outputs, const InstanceTables &tables) {
  auto module = op->getParentOfType<ModuleOp>();
  auto list = op.getTasks().getDefiningOp<uprog::TasksOp>();
  auto kernel = module.lookupSymbol<KernelOp>(list.getKernel());
  const int64_t number = getKernelNumber(module, kernel);
  const int64_t arguments = kernel.getTaskArguments().size();
  const int64_t numResults = kernel.getNumResults(), most = list.getCapacity();
  Value zero = cb.constant(0);
  auto cellOf = [&](Value base, int64_t cell) -> Value {
    Value pointer = cb.address(base, cb.constant(cell), builder.getI64Type());
    return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                    pointer);
  };
  uprog::PutTaskOp put = findPutWithRows(list);
  auto isInPlace = [&](unsigned result) {
    return put && llvm::is_contained(put.getInputs(), put.getOutputs()[result]);
  };
  beginTasks(number, count, op.getStep());
  countCopies(kernel, count, isInPlace);
  return shareCells(op, countBatchCells(kernel, list), tables, [&](Value step) {
    const int64_t operands = kStepCells;
    const int64_t results = operands + arguments * kOperandCells;
    for (int64_t cell = 0; cell < results; ++cell)
      cb.storeCell(step, cb.constant(cell), zero);
    cb.storeCell(step, kStepKernel, cb.constant(number));
    cb.storeCell(step, kStepCount, count);
    cb.storeCell(step, kStepOperands, cellOf(step, operands));
    cb.storeCell(step, kStepResults, cellOf(step, results));
    cb.storeCell(step, kStepScratch, scratchOf(op, tables));
    for (int64_t i = 0; i < arguments; ++i)
      cb.storeCell(
          step, cb.constant(operands + i * kOperandCells + kOperandRows.cell()),
          cellOf(tasks, i * most));
    for (int64_t i = 0; i < numResults; ++i) {
      Value place;
      const int64_t rows = results + numResults + i * most;
      if (put)
        place = isInPlace(i) ? zero : cellOf(tasks, (arguments + i) * most);
      else if (kernel.getResultAttr(i, kRowListAttr))
        place =
            listRows(outputs[i], kernel.getResultTypes()[i], count, step, rows);
      else
        place = outputs[i];
      cb.storeCell(step, cb.constant(results + i), place);
    }
  });
}

/// Stores the addresses of a result's rows in `cells`, beginning at cell `at`.
/// There is one row per task of a step. The rows are adjacent and begin at
/// `first`. Returns the address of these cells.
Value InstanceCode::listRows(Value first, Type type, Value count, Value cells,
                             int64_t at) {
  Value bytes = cb.constant(getRowBytes(cast<RankedTensorType>(type)));
  auto loop =
      scf::ForOp::create(builder, loc, cb.constant(0), count, cb.constant(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    Value task = loop.getInductionVar();
    Value offset = arith::MulIOp::create(builder, loc, task, bytes);
    Value cell = arith::AddIOp::create(builder, loc, task, cb.constant(at));
    cb.storeCell(cells, cell,
                 arith::AddIOp::create(builder, loc, first, offset));
  }
  Value address = cb.address(cells, cb.constant(at), builder.getI64Type());
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), address);
}

//===----------------------------------------------------------------------===//
// Several instances
//===----------------------------------------------------------------------===//

Value InstanceCode::allocate(Operation *op, int64_t count,
                             const InstanceTables &tables) {
  if (!unit.threads.isGroup())
    return allocateCells(builder, op, count);
  return addressOf(cb.constant(tables.getCells(op)));
}

/// Returns the address of the cells at `place`; see cells().
Value InstanceCode::addressOf(Value place) {
  if (unit.threads.thread)
    place = arith::AddIOp::create(builder, loc,
                                  makeOpaque(builder, loc, unit.own), place);
  return LLVM::IntToPtrOp::create(builder, loc, unit.context.getType(), place);
}

Value InstanceCode::cells(uprog::CellsOp op, const InstanceTables &tables) {
  if (unit.threads.isGroup())
    return cb.constant(tables.getCells(op));
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                  allocateCells(builder, op, op.getCapacity()));
}

Value InstanceCode::get(Value cells, Value member, Type type) {
  return fromCell(cb.loadCell(addressOf(cells), member), type);
}

void InstanceCode::put(Value cells, Value member, Value value) {
  auto store = [&] {
    cb.storeCell(addressOf(cells), member, cb.toCell(value));
  };
  if (!unit.threads.isGroup())
    return store();
  // The first barrier ensures that all threads have read the old value, the
  // second that all threads read the new one.
  gpu::BarrierOp::create(builder, loc);
  when(isLeaderThread(), store);
  gpu::BarrierOp::create(builder, loc);
}

Value InstanceCode::member(Value list, Value index) {
  Type i32 = builder.getI32Type();
  Value number =
      LLVM::LoadOp::create(builder, loc, i32, cb.address(list, index, i32));
  return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
}

std::pair<Value, Value> InstanceCode::beginEach() {
  if (!unit.threads.isGroup())
    return {cb.constant(0), cb.constant(1)};
  // The barrier ensures that all threads have read the values that the region
  // overwrites.
  gpu::BarrierOp::create(builder, loc);
  return {unit.threads.thread, cb.constant(unit.threads.threads)};
}

void InstanceCode::endEach() {
  if (unit.threads.isGroup())
    gpu::BarrierOp::create(builder, loc);
}

Value InstanceCode::slice(uprog::SliceOp op, Value whole, Value index) {
  auto type = cast<RankedTensorType>(op.getType());
  auto one = RankedTensorType::get(type.getShape().drop_front(),
                                   type.getElementType());
  Value offset =
      arith::MulIOp::create(builder, loc, index, cb.constant(getRowBytes(one)));
  return arith::AddIOp::create(builder, loc, whole, offset);
}

Value InstanceCode::argument(int64_t number, Value instance, Type type) {
  Value arguments = cb.loadField(ContextField::arguments);
  Value cell = cb.loadCell(cb.loadPointer(arguments, number), instance);
  return fromCell(cell, type);
}

void InstanceCode::result(int64_t number, Value instance, Value value,
                          std::optional<Type> type) {
  Value cells = cb.loadPointer(cb.loadField(ContextField::results), number);
  // Count the instance only at its first result, which precedes the others.
  if (number == 0 && !unit.threads.thread) // on the host
    when(isReportingThread(), [&] { cb.countEnded(); });
  if (type)
    return copy(cast<RankedTensorType>(*type), value,
                cb.loadCell(cells, instance));
  when(isReportingThread(),
       [&] { cb.storeCell(cells, instance, cb.toCell(value)); });
}

Value InstanceCode::listLength(Value list) { return cb.listLength(list); }

Value InstanceCode::listElement(Value list, Value index, Type type) {
  Value entry = arith::AddIOp::create(builder, loc, cb.listBegin(list), index);
  Value cell = cb.loadEntry(entry);
  return fromCell(cell, type);
}
