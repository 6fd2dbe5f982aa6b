//===- Replicate.cpp - Run an instance on all units -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AheadTasks.h"
#include "Batch/Analysis/Strategies.h"
#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "InsertedRows.h"
#include "PlanBuffers.h"
#include "ReplicateNodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::batch {
#define GEN_PASS_DEF_REPLICATEPASS
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// The rounds of a loop whose tasks run ahead together, where they can.
static constexpr int64_t kAheadRounds = 64;

namespace {

/// A loop that knows its number of rounds.
struct CountedLoop {
  Operation *op;
  Block &body;
  Value lower, upper, step; ///< of the program
  ValueRange rounds;        ///< arguments of the body, known from the number
  /// Maps these, given the number.
  std::function<void(Value)> mapRound;
  Block::BlockArgListType carried; ///< the other arguments
  SmallVector<Value> inits;        ///< of the program
};

/// Makes the program that runs one instance of an entry: its control, with a
/// site for each task.
class Replicator {
public:
  explicit Replicator(func::FuncOp entry)
      : entry(entry), module(entry->getParentOfType<ModuleOp>()),
        symbols(module), program(module), sharedness(program), inserted(entry),
        operators(uprog::mapOperators(module)), builder(entry.getContext()),
        rowType(uprog::RowType::get(entry.getContext())),
        nodes(entry, program, sharedness,
              {builder, mapping, symbols,
               [this](Type type) { return convertType(type); },
               [this](Block &block) { return convertBlock(block); },
               [this](OpOperand &operand) { return getValue(operand); }}) {}

  /// Returns the program, or null after an error.
  uprog::ProgramOp makeInstanceProgram(StringRef name);

private:
  Type convertType(Type type);
  uprog::RowOp makeRow(Location loc, const Twine &name, Type type);
  void mapArguments(Value instance);
  Value getValue(OpOperand &operand);
  SmallVector<Value> getValues(MutableArrayRef<OpOperand> operands);
  LogicalResult convertBlock(Block &block);
  LogicalResult convertRegion(Region &from, Region &to);
  LogicalResult convert(Operation *op);
  LogicalResult convert(InvokeOp invoke);
  LogicalResult convert(tensor::ExtractOp extract);
  LogicalResult convert(tensor::ExtractSliceOp slice);
  LogicalResult convert(scf::ForOp loop);
  LogicalResult convert(scf::WhileOp loop);
  LogicalResult convert(scf::IfOp branch);
  LogicalResult convert(scf::IndexSwitchOp branch);
  LogicalResult convert(rec::FoldOp loop);
  LogicalResult convertCounted(const CountedLoop &loop);
  LogicalResult convertRounds(const CountedLoop &loop, Value lower, Value upper,
                              ValueRange inits, function_ref<void(Value)> begin,
                              uprog::ForOp &converted);
  LogicalResult runAhead(const CountedLoop &loop, const AheadTask &task,
                         Value begin, Value count,
                         SmallVectorImpl<Value> &results);
  void convertReturn(func::ReturnOp end, Value instance);

  func::FuncOp entry;
  ModuleOp module;
  SymbolTable symbols;
  InstanceProgram program;
  Sharedness sharedness;
  InsertedRows inserted;
  uprog::OperatorMap operators;
  OpBuilder builder;
  Type rowType;
  IRMapping mapping;
  DenseSet<Operation *> ahead; ///< tasks that have run ahead
  NodeConverter nodes;
};

} // namespace

/// The type of what stands in a program for a value of `type`.
Type Replicator::convertType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  if (!rec::isRaggedTensor(tensor))
    return rowType;
  return rec::ListType::get(RankedTensorType::get(
      tensor.getShape().drop_front(), tensor.getElementType()));
}

/// A row of a new buffer.
uprog::RowOp Replicator::makeRow(Location loc, const Twine &name, Type type) {
  OpBuilder atModule(module.getContext());
  auto buffer = uprog::BufferOp::create(
      atModule, loc, atModule.getStringAttr(name), TypeAttr::get(type),
      atModule.getI64IntegerAttr(1));
  StringAttr unique = symbols.insert(buffer, Block::iterator(entry));
  return uprog::RowOp::create(builder, loc, rowType,
                              FlatSymbolRefAttr::get(unique), ValueRange());
}

void Replicator::mapArguments(Value instance) {
  int64_t number = 0;
  for (BlockArgument argument : entry.getArguments()) {
    if (sharedness.getParameter(argument))
      continue;
    Value value = uprog::ArgumentOp::create(
        builder, argument.getLoc(), convertType(argument.getType()),
        builder.getI64IntegerAttr(number++), instance);
    mapping.map(argument, value);
  }
}

/// What stands for an operand of control or of a kernel.
Value Replicator::getValue(OpOperand &operand) {
  Value value = operand.get();
  Location loc = operand.getOwner()->getLoc();
  std::optional<int64_t> parameter = sharedness.getParameter(value);
  Value found = mapping.lookupOrNull(value);
  if (!found && parameter) {
    // A parameter among other values.
    SourceOp source = getOrCreateSource(
        module, symbols, cast<RankedTensorType>(value.getType()), *parameter);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    found = uprog::ParameterRowOp::create(builder, loc, rowType,
                                          FlatSymbolRefAttr::get(source), zero);
  }
  if (!inserted.isCopied(operand))
    return found;
  uprog::RowOp own = makeRow(loc, entry.getSymName() + ".own", value.getType());
  uprog::CopyOp::create(builder, loc, found, own,
                        TypeAttr::get(value.getType()));
  return own;
}

SmallVector<Value> Replicator::getValues(MutableArrayRef<OpOperand> operands) {
  return llvm::map_to_vector(
      operands, [&](OpOperand &operand) { return getValue(operand); });
}

LogicalResult Replicator::convert(InvokeOp invoke) {
  Location loc = invoke.getLoc();
  auto kernel = symbols.lookup<KernelOp>(invoke.getKernel());
  uprog::OperatorOp op = operators.lookup(invoke.getKernelAttr().getAttr());
  if (!op)
    return invoke.emitError("kernel @")
           << invoke.getKernel()
           << " has no operator; run batch-vectorize-kernels first";
  SmallVector<Value> inputs(invoke.getInputs().size());
  SmallVector<Value> perTask, outputs;
  for (OpOperand &operand : invoke.getInputsMutable()) {
    unsigned number = operand.getOperandNumber();
    if (kernel.isShared(number))
      continue;
    inputs[number] = getValue(operand);
    perTask.push_back(inputs[number]);
  }
  for (OpResult result : invoke->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (!type.hasStaticShape())
      return invoke.emitError("strategy 'replicate' has room for tensors of "
                              "static shape only, but result #")
             << result.getResultNumber() << " of this kernel is a " << type;
    std::string name =
        (kernel.getSymName() + "." + Twine(result.getResultNumber())).str();
    Value row;
    if (OpOperand *root = inserted.getRoot(result))
      row = inputs[root->getOperandNumber()];
    else if (Value ofNode = nodes.makeRow(result, name))
      row = ofNode;
    else
      row = makeRow(loc, name, type);
    mapping.map(result, row);
    outputs.push_back(row);
  }
  Value step = uprog::SiteOp::create(builder, loc,
                                     uprog::StepType::get(builder.getContext()),
                                     invoke.getKernelAttr(), perTask, outputs);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  uprog::RunOp::create(builder, loc, op.getSymName(), step, one,
                       /*inputs=*/ValueRange());
  return success();
}

/// An element of a tensor, or of a parameter that may have any number of rows.
LogicalResult Replicator::convert(tensor::ExtractOp extract) {
  Location loc = extract.getLoc();
  RankedTensorType type = extract.getTensor().getType();
  SmallVector<Value> indices = getValues(extract.getIndicesMutable());
  Value row = mapping.lookupOrNull(extract.getTensor());
  auto parameter = sharedness.getParameter(extract.getTensor());
  RankedTensorType read = getReadRow(type);
  if (!row && parameter && read && read.hasStaticShape()) {
    SourceOp source = getOrCreateSource(module, symbols, read, *parameter);
    Value index =
        read == type
            ? arith::ConstantIndexOp::create(builder, loc, 0).getResult()
            : indices.front();
    if (read != type)
      indices.erase(indices.begin());
    row = uprog::ParameterRowOp::create(builder, loc, rowType,
                                        FlatSymbolRefAttr::get(source), index);
    type = read;
  }
  if (!row || !type.hasStaticShape())
    return extract.emitError("strategy 'replicate' reads elements of tensors "
                             "of static shape only, not of a ")
           << type;
  mapping.map(
      extract.getResult(),
      uprog::LoadOp::create(builder, loc, row, indices, type).getResult());
  return success();
}

/// A row of a parameter, where it lies.
LogicalResult Replicator::convert(tensor::ExtractSliceOp slice) {
  auto parameter = sharedness.getParameter(slice.getSource());
  if (!parameter || !isRowView(slice))
    return slice.emitError("strategy 'replicate' reads whole rows of "
                           "parameters outside of kernels, nothing else");
  Location loc = slice.getLoc();
  SourceOp source =
      getOrCreateSource(module, symbols, slice.getType(), *parameter);
  Value index;
  if (slice.isDynamicOffset(0))
    index = mapping.lookup(slice.getDynamicOffset(0));
  else
    index =
        arith::ConstantIndexOp::create(builder, loc, slice.getStaticOffset(0));
  mapping.map(slice.getResult(),
              uprog::ParameterRowOp::create(
                  builder, loc, rowType, FlatSymbolRefAttr::get(source), index)
                  .getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

/// Converts the only block of a region.
LogicalResult Replicator::convertRegion(Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types;
  SmallVector<Location> locs;
  for (BlockArgument argument : from.getArguments()) {
    types.push_back(convertType(argument.getType()));
    locs.push_back(argument.getLoc());
  }
  Block *block = builder.createBlock(&to, {}, types, locs);
  mapping.map(from.getArguments(), block->getArguments());
  return convertBlock(from.front());
}

/// Makes a loop of the rounds from `lower` to `upper`. `begin` comes first in
/// each, with its number.
LogicalResult Replicator::convertRounds(const CountedLoop &loop, Value lower,
                                        Value upper, ValueRange inits,
                                        function_ref<void(Value)> begin,
                                        uprog::ForOp &converted) {
  converted = uprog::ForOp::create(builder, loop.op->getLoc(), lower, upper,
                                   loop.step, inits);
  Block &block = converted.getBody().front();
  if (inits.empty())
    block.back().erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  mapping.map(loop.carried, converted.getRegionIterArgs());
  loop.mapRound(block.getArgument(0));
  begin(block.getArgument(0));
  return convertBlock(loop.body);
}

/// Runs a task of `count` rounds, the first of which has number `begin`.
/// `results` get a row for each result, with the tensors of all rounds.
LogicalResult Replicator::runAhead(const CountedLoop &loop,
                                   const AheadTask &task, Value begin,
                                   Value count,
                                   SmallVectorImpl<Value> &results) {
  InvokeOp invoke = task.invoke;
  Location loc = invoke.getLoc();
  auto kernel = symbols.lookup<KernelOp>(invoke.getKernel());
  Value tasks = uprog::TasksOp::create(
      builder, loc, uprog::TasksType::get(builder.getContext()),
      invoke.getKernelAttr(), builder.getI64IntegerAttr(kAheadRounds));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto put = uprog::ForOp::create(builder, loc, zero, count);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&put.getBody().front());
    Value number = put.getBody().getArgument(0), round = number;
    if (loop.step)
      round = arith::MulIOp::create(builder, loc, round, loop.step);
    IRMapping outer = mapping;
    loop.mapRound(arith::AddIOp::create(builder, loc, begin, round));
    for (Operation *op : task.operandCode)
      if (failed(convert(op)))
        return failure();
    SmallVector<Value> inputs;
    for (OpOperand &operand : invoke.getInputsMutable())
      if (!kernel.isShared(operand.getOperandNumber()))
        inputs.push_back(getValue(operand));
    uprog::PutTaskOp::create(builder, loc, tasks, number, inputs);
    mapping = outer;
  }
  for (OpResult result : invoke->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape = {kAheadRounds};
    llvm::append_range(shape, type.getShape());
    results.push_back(makeRow(
        loc, kernel.getSymName() + "." + Twine(result.getResultNumber()),
        RankedTensorType::get(shape, type.getElementType())));
  }
  // The rows of its operands have addresses of their own.
  auto read = ReadAttr::get(builder.getContext(), ReadKind::Rows,
                            FlatSymbolRefAttr(), /*segments=*/false);
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (!kernel.isShared(i) &&
        isa<RankedTensorType>(kernel.getArgumentTypes()[i]))
      kernel.setArgAttr(i, kReadAttr, read);
  Value step = uprog::BatchOp::create(
      builder, loc, uprog::StepType::get(builder.getContext()), tasks, count,
      results);
  uprog::OperatorOp op = operators.lookup(kernel.getSymNameAttr());
  uprog::RunOp::create(builder, loc, op.getSymName(), step, count,
                       /*inputs=*/ValueRange());
  return success();
}

/// Converts a loop. If some tasks can run ahead, it becomes a loop of as many
/// rounds as run ahead together.
LogicalResult Replicator::convertCounted(const CountedLoop &loop) {
  Location loc = loop.op->getLoc();
  SmallVector<AheadTask> tasks =
      findAheadTasks(loop.body, loop.rounds, sharedness, inserted);
  uprog::ForOp converted;
  if (tasks.empty()) {
    if (failed(convertRounds(
            loop, loop.lower, loop.upper, loop.inits, [](Value) {}, converted)))
      return failure();
    mapping.map(loop.op->getResults(), converted.getResults());
    return success();
  }
  Value most = arith::ConstantIndexOp::create(builder, loc, kAheadRounds);
  if (loop.step)
    most = arith::MulIOp::create(builder, loc, most, loop.step);
  auto groups = uprog::ForOp::create(builder, loc, loop.lower, loop.upper, most,
                                     loop.inits);
  Block &group = groups.getBody().front();
  if (loop.inits.empty())
    group.back().erase();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&group);
    Value begin = group.getArgument(0);
    Value end = arith::AddIOp::create(builder, loc, begin, most);
    end = arith::MinUIOp::create(builder, loc, end, loop.upper);
    auto toNumber = [&](Value round) -> Value {
      Value number = arith::SubIOp::create(builder, loc, round, begin);
      return loop.step
                 ? arith::CeilDivUIOp::create(builder, loc, number, loop.step)
                       .getResult()
                 : number;
    };
    Value count = toNumber(end);
    SmallVector<SmallVector<Value>> rows(tasks.size());
    for (auto [task, results] : llvm::zip_equal(tasks, rows)) {
      if (failed(runAhead(loop, task, begin, count, results)))
        return failure();
      ahead.insert(task.invoke);
    }
    auto mapResults = [&](Value round) {
      Value number = toNumber(round);
      for (auto [task, results] : llvm::zip_equal(tasks, rows))
        for (auto [result, whole] :
             llvm::zip_equal(task.invoke->getResults(), results)) {
          auto buffer = symbols.lookup<uprog::BufferOp>(
              whole.getDefiningOp<uprog::RowOp>().getBuffer());
          mapping.map(result,
                      uprog::SliceOp::create(builder, loc, rowType, whole,
                                             number, buffer.getTypeAttr())
                          .getResult());
        }
    };
    if (failed(convertRounds(loop, begin, end, groups.getRegionIterArgs(),
                             mapResults, converted)))
      return failure();
    uprog::YieldOp::create(builder, loc, converted.getResults());
  }
  mapping.map(loop.op->getResults(), groups.getResults());
  return success();
}

/// True for the number 1.
static bool isOne(Value value) { return matchPattern(value, m_One()); }

LogicalResult Replicator::convert(scf::ForOp loop) {
  Value step = isOne(loop.getStep()) ? Value() : mapping.lookup(loop.getStep());
  BlockArgument number = loop.getBody()->getArgument(0);
  return convertCounted(
      {loop, *loop.getBody(), mapping.lookup(loop.getLowerBound()),
       mapping.lookup(loop.getUpperBound()), step, number,
       [&](Value round) { mapping.map(number, round); },
       loop.getRegionIterArgs(), getValues(loop.getInitArgsMutable())});
}

LogicalResult Replicator::convert(scf::WhileOp loop) {
  Location loc = loop.getLoc();
  SmallVector<Value> inits = getValues(loop.getInitsMutable());
  SmallVector<Type> types = llvm::map_to_vector(
      loop.getResultTypes(), [&](Type type) { return convertType(type); });
  auto converted = uprog::WhileOp::create(builder, loc, types, inits);
  if (failed(convertRegion(loop.getBefore(), converted.getBefore())) ||
      failed(convertRegion(loop.getAfter(), converted.getBody())))
    return failure();
  // Nothing else bounds the rounds.
  auto condition =
      cast<uprog::ConditionOp>(converted.getBefore().front().back());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(condition);
  Value may = uprog::NextRoundOp::create(builder, loc, builder.getI1Type(),
                                         "a loop" + describePlace(loc));
  condition.getConditionMutable().assign(
      arith::AndIOp::create(builder, loc, condition.getCondition(), may));
  mapping.map(loop.getResults(), converted.getResults());
  return success();
}

LogicalResult Replicator::convert(scf::IfOp branch) {
  Location loc = branch.getLoc();
  Value selector =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                   mapping.lookup(branch.getCondition()));
  SmallVector<Type> types = llvm::map_to_vector(
      branch.getResultTypes(), [&](Type type) { return convertType(type); });
  auto converted = uprog::BranchOp::create(builder, loc, types, selector,
                                           ArrayRef<int64_t>{1}, 1);
  if (failed(convertRegion(branch.getThenRegion(),
                           converted.getCaseRegions().front())))
    return failure();
  if (!branch.getElseRegion().empty() &&
      failed(
          convertRegion(branch.getElseRegion(), converted.getDefaultRegion())))
    return failure();
  mapping.map(branch.getResults(), converted.getResults());
  return success();
}

LogicalResult Replicator::convert(scf::IndexSwitchOp branch) {
  SmallVector<Type> types = llvm::map_to_vector(
      branch.getResultTypes(), [&](Type type) { return convertType(type); });
  auto converted = uprog::BranchOp::create(
      builder, branch.getLoc(), types, mapping.lookup(branch.getArg()),
      branch.getCases(), branch.getNumCases());
  if (failed(convertRegion(branch.getDefaultRegion(),
                           converted.getDefaultRegion())))
    return failure();
  for (auto [from, to] :
       llvm::zip_equal(branch.getCaseRegions(), converted.getCaseRegions()))
    if (failed(convertRegion(from, to)))
      return failure();
  mapping.map(branch.getResults(), converted.getResults());
  return success();
}

/// A loop over the elements of lists, which have equal lengths.
LogicalResult Replicator::convert(rec::FoldOp loop) {
  Location loc = loop.getLoc();
  SmallVector<Value> lists = llvm::map_to_vector(
      loop.getLists(), [&](Value list) { return mapping.lookup(list); });
  auto mapElements = [&](Value round) {
    for (auto [list, element] : llvm::zip_equal(lists, loop.getElements()))
      mapping.map(element,
                  uprog::ListElementOp::create(
                      builder, loc, convertType(element.getType()), list, round)
                      .getResult());
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value length = uprog::ListLengthOp::create(
      builder, loc, builder.getIndexType(), lists.front());
  SmallVector<Value> elements(loop.getElements());
  return convertCounted({loop, loop.getBody().front(), zero, length,
                         /*step=*/Value(), elements, mapElements,
                         loop.getAccumulators(),
                         getValues(loop.getInitsMutable())});
}

void Replicator::convertReturn(func::ReturnOp end, Value instance) {
  for (OpOperand &operand : end->getOpOperands()) {
    Type type = operand.get().getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    uprog::ResultOp::create(
        builder, end.getLoc(),
        builder.getI64IntegerAttr(operand.getOperandNumber()), instance,
        getValue(operand), tensor ? TypeAttr::get(tensor) : TypeAttr());
  }
}

LogicalResult Replicator::convert(Operation *op) {
  if (auto invoke = dyn_cast<InvokeOp>(op))
    return convert(invoke);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return convert(extract);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return convert(slice);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return convert(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return convert(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return convert(branch);
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    return convert(branch);
  if (auto loop = dyn_cast<rec::FoldOp>(op))
    return convert(loop);
  if (NodeConverter::converts(op))
    return nodes.convert(op);
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    uprog::ConditionOp::create(builder, op->getLoc(),
                               mapping.lookup(condition.getCondition()),
                               getValues(condition.getArgsMutable()));
    return success();
  }
  if (isa<scf::YieldOp, rec::YieldOp>(op)) {
    uprog::YieldOp::create(builder, op->getLoc(),
                           getValues(op->getOpOperands()));
    return success();
  }
  if (auto length = dyn_cast<rec::LengthOp>(op)) {
    mapping.map(length.getResult(),
                uprog::ListLengthOp::create(builder, op->getLoc(),
                                            builder.getIndexType(),
                                            mapping.lookup(length.getList()))
                    .getResult());
    return success();
  }
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    builder.clone(*op, mapping);
    return success();
  }
  return op->emitError("strategy 'replicate' does not run '")
         << op->getName() << "'";
}

LogicalResult Replicator::convertBlock(Block &block) {
  for (Operation &op : block)
    if (!isa<func::ReturnOp>(op) && !ahead.contains(&op) &&
        failed(convert(&op)))
      return failure();
  return success();
}

/// Begins a program for one instance, or for all.
static uprog::ProgramOp beginProgram(OpBuilder &builder, Location loc,
                                     StringRef name, uprog::Level level,
                                     TypeRange arguments) {
  auto program = uprog::ProgramOp::create(
      builder, loc, name, builder.getFunctionType(arguments, {}), level,
      /*arg_attrs=*/ArrayAttr(), /*res_attrs=*/ArrayAttr());
  SmallVector<Location> locs(arguments.size(), loc);
  builder.createBlock(&program.getBody(), {}, arguments, locs);
  return program;
}

/// Erases what tasks that run ahead have left behind.
static void eraseDeadCode(uprog::ProgramOp program) {
  program.getBody().walk<WalkOrder::PostOrder, ReverseIterator>(
      [&](Operation *op) {
        if (op->use_empty() && isMemoryEffectFree(op) &&
            !op->hasTrait<OpTrait::IsTerminator>())
          op->erase();
      });
}

uprog::ProgramOp Replicator::makeInstanceProgram(StringRef name) {
  Location loc = entry.getLoc();
  builder.setInsertionPointToEnd(module.getBody());
  auto instances = beginProgram(builder, loc, name, uprog::Level::Device,
                                builder.getIndexType());
  Value instance = instances.getArgument(0);
  uprog::EnterInstanceOp::create(builder, loc, instance);
  nodes.setInstance(instance);
  Block &block = entry.getBody().front();
  mapArguments(instance);
  if (failed(convertBlock(block)))
    return {};
  convertReturn(cast<func::ReturnOp>(block.getTerminator()), instance);
  uprog::YieldOp::create(builder, loc);
  eraseDeadCode(instances);
  planBuffers(instances);
  return instances;
}

/// Makes the program for a mini-batch. All units together run those instances
/// that are too few for each unit to have as many of its own.
static void makeExecutor(func::FuncOp entry, uprog::ProgramOp alone,
                         uprog::ProgramOp together) {
  Location loc = entry.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(entry->getBlock());
  auto program = beginProgram(builder, loc, getExecutorName(entry.getSymName()),
                              uprog::Level::Device, {});
  program->setAttr(kExecutorAttr, builder.getUnitAttr());
  Type index = builder.getIndexType();
  Value count = uprog::InstancesOp::create(builder, loc, index);
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  if (alone) {
    first = count;
    if (together) {
      Value units = uprog::UnitsOp::create(builder, loc, index);
      Value rest = arith::RemUIOp::create(builder, loc, count, units);
      first = arith::SubIOp::create(builder, loc, count, rest);
    }
    uprog::RunOp::create(builder, loc, alone.getSymName(), /*step=*/Value(),
                         first, /*inputs=*/ValueRange());
  }
  if (together) {
    auto loop = uprog::ForOp::create(builder, loc, first, count);
    builder.setInsertionPointToStart(&loop.getBody().front());
    uprog::RefOp::create(builder, loc,
                         FlatSymbolRefAttr::get(together.getSymNameAttr()),
                         ValueRange(loop.getBody().getArgument(0)));
    builder.setInsertionPointAfter(loop);
  }
  uprog::YieldOp::create(builder, loc);
}

namespace {
class ReplicatePass : public batch::impl::ReplicatePassBase<ReplicatePass> {
  using ReplicatePassBase::ReplicatePassBase;

  void runOnOperation() override {
    auto entry = dyn_cast_or_null<func::FuncOp>(
        lookupEntry(getOperation()).getOperation());
    InstanceProgram program(getOperation());
    // A module that has its executor already stays as it is.
    if (program.getStrategy() != Strategy::Replicate ||
        getOperation().lookupSymbol(getExecutorName(entry.getSymName())))
      return;
    Strategies strategies(program);
    if (const auto &obstacle = strategies.getObstacle(Strategy::Replicate)) {
      (void)strategies.emitError(*obstacle);
      return signalPassFailure();
    }
    std::string name = getInstanceProgramName(entry.getSymName());
    uprog::ProgramOp together =
        Replicator(entry).makeInstanceProgram(name + ".together");
    if (!together)
      return signalPassFailure();
    uprog::ProgramOp alone = together.clone();
    alone.setSymName(name);
    alone.setLevel(uprog::Level::Block);
    together->getBlock()->getOperations().insert(Block::iterator(together),
                                                 alone);
    if (level == InstanceLevel::Block) {
      together.erase();
      together = {};
    }
    if (level == InstanceLevel::Device) {
      alone.erase();
      alone = {};
    }
    makeExecutor(entry, alone, together);
  }
};
} // namespace
