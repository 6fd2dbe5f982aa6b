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
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

static int64_t getRowBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return TableLayout(tensor.getShape(), elementBytes(tensor.getElementType()))
      .getRowBytes();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The code of a kernel's operator, which a target has made.
static uprog::CodeAttr getCode(ModuleOp module, StringRef kernel) {
  Operation *op = module.lookupSymbol(getOperatorName(kernel));
  return op->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr);
}

int64_t InstanceTables::take(int64_t size) {
  int64_t offset = bytes;
  bytes += llvm::alignTo(size, 64);
  return offset;
}

void InstanceTables::placeBuffers(ModuleOp module) {
  for (auto buffer : module.getOps<uprog::BufferOp>())
    buffers[buffer.getSymNameAttr()] =
        take(buffer.getCopies() * getRowBytes(buffer.getType()));
}

void InstanceTables::placeScratch(ModuleOp module) {
  // By kernel: the places of its sites, in program order.
  llvm::StringMap<SmallVector<int64_t>> places;
  for (auto program : module.getOps<uprog::ProgramOp>()) {
    llvm::StringMap<size_t> sites;
    auto place = [&](Operation *site, StringRef kernel, int64_t tasks) {
      SmallVector<int64_t> &known = places[kernel];
      size_t number = sites[kernel]++;
      if (number == known.size())
        known.push_back(take(tasks * getCode(module, kernel).getTaskScratch()));
      scratch[site] = known[number];
      mostTasks = std::max(mostTasks, tasks);
    };
    program.walk([&](Operation *op) {
      if (auto site = dyn_cast<uprog::SiteOp>(op))
        return place(op, site.getKernel(), 1);
      auto batch = dyn_cast<uprog::BatchOp>(op);
      if (!batch)
        return;
      auto tasks = batch.getTasks().getDefiningOp<uprog::TasksOp>();
      place(op, tasks.getKernel(), tasks.getRoom());
    });
  }
}

void InstanceTables::numberIndices(ModuleOp module) {
  if (auto known = module->getAttrOfType<ArrayAttr>(uprog::kIndicesAttr))
    llvm::append_range(indices, known);
  DenseMap<std::pair<Location, Type>, int64_t> numbers;
  auto number = [&](Operation *op, StringRef parameter, Type type) {
    auto [it, isNew] =
        numbers.try_emplace({op->getLoc(), type}, indices.size() + 1);
    int64_t rank = cast<RankedTensorType>(type).getRank();
    for (int64_t dim = 0; isNew && dim < rank; ++dim)
      indices.push_back(StringAttr::get(
          op->getContext(),
          describeDimension(dim, parameter, type, op->getLoc())));
    indexOf[op] = it->second;
  };
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<uprog::LoadOp>(op))
      return number(op, {}, load.getType());
    auto row = dyn_cast<uprog::ParameterRowOp>(op);
    if (!row)
      return;
    auto source = module.lookupSymbol<SourceOp>(row.getSource());
    auto type = cast<RankedTensorType>(source.getRow());
    SmallVector<int64_t> shape = {ShapedType::kDynamic};
    llvm::append_range(shape, type.getShape());
    number(op, getParameterName(module, *source.getParameter()),
           RankedTensorType::get(shape, type.getElementType()));
  });
}

void InstanceTables::numberLoops(ModuleOp module) {
  module.walk([&](uprog::NextRoundOp op) {
    auto known = llvm::find(loops, op.getLoopAttr());
    loopOf[op] = known - loops.begin() + 1;
    if (known == loops.end())
      loops.push_back(op.getLoopAttr());
  });
}

InstanceTables::InstanceTables(ModuleOp module) {
  placeBuffers(module);
  placeScratch(module);
  numberIndices(module);
  numberLoops(module);
}

void InstanceTables::save(ModuleOp module) const {
  Builder builder(module.getContext());
  if (!indices.empty())
    module->setAttr(uprog::kIndicesAttr, builder.getArrayAttr(indices));
  auto runsInstances = module.walk([](Operation *op) {
    return isa<uprog::InstancesOp>(op) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  if (!runsInstances.wasInterrupted())
    return;
  NamedAttribute entries[] = {
      builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes)),
      builder.getNamedAttr("tasks", builder.getI64IntegerAttr(mostTasks)),
      builder.getNamedAttr("loops", builder.getArrayAttr(loops))};
  module->setAttr(uprog::kInstancesAttr, builder.getDictionaryAttr(entries));
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

InstanceUnit batch::makeInstanceUnit(OpBuilder &builder, Location loc,
                                     Value context, Value number, Value count,
                                     bool together) {
  ContextBuilder cb(builder, loc, context);
  InstanceUnit unit{context, {}, {}, number, count};
  Value units = cb.loadField(ContextField::units);
  unit.state = LLVM::IntToPtrOp::create(builder, loc, context.getType(),
                                        cb.loadCell(units, number));
  unit.memory = cb.loadCell(unit.state, together ? kUnitCommon : kUnitOwn);
  if (!together) {
    unit.number = cb.constant(0);
    unit.count = cb.constant(1);
  }
  return unit;
}

InstanceCode::InstanceCode(OpBuilder &builder, Operation *op,
                           const InstanceUnit &unit)
    : builder(builder), op(op), loc(op->getLoc()), unit(unit),
      cb(builder, loc, unit.context) {}

/// One unit of those that run an instance together counts.
void InstanceCode::addTo(Field counter, Value amount) {
  Value counts = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       unit.number, cb.constant(0));
  amount =
      arith::SelectOp::create(builder, loc, counts, amount, cb.constant(0));
  Value before = cb.loadCell(unit.state, counter);
  cb.storeCell(unit.state, counter,
               arith::AddIOp::create(builder, loc, before, amount));
}

Value InstanceCode::instances() {
  return cb.loadCell(unit.state, kUnitNumInstances);
}

void InstanceCode::enterInstance(Value instance) {
  cb.storeCell(unit.state, kUnitInstance, instance);
  cb.storeCell(unit.state, kUnitRounds, cb.constant(0));
}

Value InstanceCode::nextRound(uprog::NextRoundOp op,
                              const InstanceTables &tables) {
  Value before = cb.loadCell(unit.state, kUnitRounds);
  Value rounds = arith::AddIOp::create(builder, loc, before, cb.constant(1));
  cb.storeCell(unit.state, kUnitRounds, rounds);
  Value most = cb.loadCell(unit.state, kUnitMaxRounds);
  Value may = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                    rounds, most);
  // The first unit tells the host; an instance ends in its innermost loop
  // first.
  Value next = arith::AddIOp::create(builder, loc, most, cb.constant(1));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        rounds, next);
  Value tells = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      unit.number, cb.constant(0));
  tells = arith::AndIOp::create(builder, loc, tells, isFirst);
  scf::IfOp::create(builder, loc, tells, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, unit.context);
    inner.storeCell(inner.loadPointer(unit.state, kUnitEnds),
                    inner.loadCell(unit.state, kUnitInstance),
                    inner.constant(tables.getLoop(op)));
    scf::YieldOp::create(then, loc);
  });
  return may;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Stores a number in a cell of the stack when the function is entered.
void InstanceCode::storeAtBegin(Value cell, int64_t number) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(cell.getDefiningOp());
  cb.storeCell(cell, cb.constant(0), cb.constant(number));
}

Value InstanceCode::row(uprog::RowOp op, ValueRange avoided,
                        const InstanceTables &tables) {
  auto buffer = op->getParentOfType<ModuleOp>().lookupSymbol<uprog::BufferOp>(
      op.getBuffer());
  int64_t bytes = getRowBytes(buffer.getType());
  int64_t offset = tables.getOffset(buffer.getSymNameAttr());
  auto getCopy = [&](int64_t number) -> Value {
    return arith::AddIOp::create(builder, loc, unit.memory,
                                 cb.constant(offset + number * bytes));
  };
  if (op.getInTurn()) {
    Value turn = allocateCells(builder, op, 1);
    storeAtBegin(turn, 0);
    Value zero = cb.constant(0), last = cb.loadCell(turn, zero);
    Value next = arith::AddIOp::create(builder, loc, last, cb.constant(1));
    Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        next, cb.constant(buffer.getCopies()));
    cb.storeCell(turn, zero,
                 arith::SelectOp::create(builder, loc, wraps, zero, next));
    Value offset =
        arith::MulIOp::create(builder, loc, last, cb.constant(bytes));
    return arith::AddIOp::create(builder, loc, getCopy(0), offset);
  }
  // From the last copy that may be needed to the first.
  Value row = getCopy(avoided.size());
  for (int64_t number = avoided.size(); number-- > 0;) {
    Value copy = getCopy(number);
    Value isFree;
    for (Value other : avoided) {
      Value differs = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ne, copy, other);
      isFree =
          isFree
              ? arith::AndIOp::create(builder, loc, isFree, differs).getResult()
              : differs;
    }
    row = arith::SelectOp::create(builder, loc, isFree, copy, row);
  }
  return row;
}

/// Returns the index, or 0 if it is out of range, which is noted.
Value InstanceCode::checkIndex(Value index, Value extent, int64_t place) {
  Value outside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                        index, extent);
  scf::IfOp::create(builder, loc, outside, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, unit.context);
    Value record = inner.loadField(ContextField::indexError);
    // Only the first one of all units is kept.
    Value exchanged = LLVM::AtomicCmpXchgOp::create(
        then, loc,
        inner.address(record, inner.constant(kIndexErrorPlace.cell()),
                      then.getI64Type()),
        inner.constant(0), inner.constant(place),
        LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic,
        StringRef(), kCellBytes);
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

/// The number of a source, as handles have it.
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
      builder, loc, index, cb.constant(getRowBytes(source.getRow())));
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

/// Each unit copies as much as the others, in whole pieces.
void InstanceCode::copy(RankedTensorType type, Value from, Value to) {
  constexpr int64_t piece = 64;
  int64_t bytes = getRowBytes(type);
  Value pieces = cb.constant(bytes / piece);
  auto getShare = [&](Value number) -> Value {
    Value share = arith::MulIOp::create(builder, loc, pieces, number);
    share = arith::DivUIOp::create(builder, loc, share, unit.count);
    return arith::MulIOp::create(builder, loc, share, cb.constant(piece));
  };
  Value next = arith::AddIOp::create(builder, loc, unit.number, cb.constant(1));
  cb.copyBytes(from, to, getShare(unit.number), getShare(next));
  addTo(kUnitCopiedBytes, cb.constant(bytes));
}

//===----------------------------------------------------------------------===//
// Tasks, arguments, results
//===----------------------------------------------------------------------===//

Value InstanceCode::scratchOf(Operation *site, const InstanceTables &tables) {
  return arith::AddIOp::create(builder, loc, unit.memory,
                               cb.constant(tables.getScratch(site)));
}

/// The number of a kernel, in module order.
static int64_t getKernelNumber(ModuleOp module, KernelOp kernel) {
  auto kernels = module.getOps<KernelOp>();
  return std::distance(kernels.begin(), llvm::find(kernels, kernel));
}

Value InstanceCode::site(uprog::SiteOp site, ValueRange inputs,
                         ValueRange outputs, const InstanceTables &tables) {
  auto module = site->getParentOfType<ModuleOp>();
  auto kernel = module.lookupSymbol<KernelOp>(site.getKernel());
  uprog::CodeAttr code = getCode(module, site.getKernel());
  TaskStep task(builder, op, unit.context, kernel, code);
  llvm::for_each(inputs, [&](Value input) { task.storeOperand(input); });
  for (auto [index, output] : llvm::enumerate(outputs)) {
    // In place: the row is that of the operand that the kernel inserts into.
    bool inPlace =
        llvm::is_contained(site.getInputs(), site.getOutputs()[index]);
    task.storeResult(index, inPlace ? Value() : output);
  }
  Value scratch;
  if (task.getScratchBytes())
    scratch = scratchOf(site, tables);
  addTo(kUnitTasks, cb.constant(1));
  return task.finish(getKernelNumber(module, kernel), scratch);
}

/// The arguments of a kernel that each task has one of.
static SmallVector<unsigned> getTaskArguments(KernelOp kernel) {
  SmallVector<unsigned> arguments;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (!kernel.isShared(i))
      arguments.push_back(i);
  return arguments;
}

/// Each operand has a cell for each task.
Value InstanceCode::tasks(uprog::TasksOp op) {
  auto kernel =
      op->getParentOfType<ModuleOp>().lookupSymbol<KernelOp>(op.getKernel());
  return allocateCells(builder, op,
                       getTaskArguments(kernel).size() * op.getRoom());
}

void InstanceCode::putTask(uprog::PutTaskOp op, Value tasks, Value index,
                           ValueRange inputs) {
  auto list = op.getTasks().getDefiningOp<uprog::TasksOp>();
  for (auto [position, input] : llvm::enumerate(inputs)) {
    Value cell = arith::AddIOp::create(builder, loc, index,
                                       cb.constant(position * list.getRoom()));
    cb.storeCell(tasks, cell, cb.toCell(input));
  }
}

Value InstanceCode::batch(uprog::BatchOp op, Value tasks, Value count,
                          ValueRange outputs, const InstanceTables &tables) {
  auto module = op->getParentOfType<ModuleOp>();
  auto list = op.getTasks().getDefiningOp<uprog::TasksOp>();
  auto kernel = module.lookupSymbol<KernelOp>(list.getKernel());
  size_t arguments = getTaskArguments(kernel).size();
  auto toAddress = [&](Value pointer) -> Value {
    return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                    pointer);
  };
  Value operands = allocateCells(builder, op, arguments * kOperandCells);
  for (size_t i = 0; i < arguments; ++i) {
    for (int64_t cell = 0; cell < kOperandCells; ++cell)
      cb.storeCell(operands, cb.constant(i * kOperandCells + cell),
                   cb.constant(0));
    Value rows = cb.address(tasks, cb.constant(i * list.getRoom()),
                            builder.getI64Type());
    cb.storeCell(operands, cb.constant(i * kOperandCells + kOperandRows.cell()),
                 toAddress(rows));
  }
  Value results = allocateCells(builder, op, outputs.size());
  for (auto [index, output] : llvm::enumerate(outputs))
    cb.storeCell(results, cb.constant(index), output);
  Value step = allocateCells(builder, op, kStepCells);
  for (int64_t cell = 0; cell < kStepCells; ++cell)
    cb.storeCell(step, cb.constant(cell), cb.constant(0));
  cb.storeCell(step, kStepKernel, cb.constant(getKernelNumber(module, kernel)));
  cb.storeCell(step, kStepCount, count);
  cb.storeCell(step, kStepOperands, toAddress(operands));
  cb.storeCell(step, kStepResults, toAddress(results));
  cb.storeCell(step, kStepScratch, scratchOf(op, tables));
  addTo(kUnitTasks, count);
  return step;
}

Value InstanceCode::part(uprog::PartOp op, Value whole, Value index) {
  auto type = cast<RankedTensorType>(op.getType());
  auto part = RankedTensorType::get(type.getShape().drop_front(),
                                    type.getElementType());
  Value offset = arith::MulIOp::create(builder, loc, index,
                                       cb.constant(getRowBytes(part)));
  return arith::AddIOp::create(builder, loc, whole, offset);
}

Value InstanceCode::argument(int64_t number, Value instance, Type type) {
  Value arguments = cb.loadField(ContextField::arguments);
  Value cell = cb.loadCell(cb.loadPointer(arguments, number), instance);
  return isa<uprog::RowType, rec::ListType>(type) ? cell
                                                  : cb.fromCell(cell, type);
}

void InstanceCode::result(int64_t number, Value instance, Value value,
                          std::optional<Type> type) {
  Value cells = cb.loadPointer(cb.loadField(ContextField::results), number);
  if (type)
    return copy(cast<RankedTensorType>(*type), value,
                cb.loadCell(cells, instance));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        unit.number, cb.constant(0));
  scf::IfOp::create(builder, loc, isFirst, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, unit.context);
    inner.storeCell(cells, instance, inner.toCell(value));
    scf::YieldOp::create(then, loc);
  });
}

Value InstanceCode::listLength(Value list) { return cb.listLength(list); }

Value InstanceCode::listElement(Value list, Value index, Type type) {
  Value entry = arith::AddIOp::create(builder, loc, cb.listBegin(list), index);
  Value cell = cb.loadEntry(entry);
  return isa<uprog::RowType, rec::ListType>(type) ? cell
                                                  : cb.fromCell(cell, type);
}
