//===- Replicate.cpp - Run an instance on all units -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/LoopLayers.h"
#include "Batch/Analysis/Strategies.h"
#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "InsertedRows.h"
#include "PlanBuffers.h"
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

/// The most rounds of a group, whose tasks run together where they can.
static constexpr int64_t kAheadRounds = 64;

namespace {

/// A loop that knows its number of rounds.
struct CountedLoop {
  LoopLikeOpInterface op;
  Block &body;
  Value lower, upper, step; ///< of the program
  /// Maps what follows from the number of a round, given that.
  std::function<void(Value)> mapRound;
  Block::BlockArgListType carried; ///< the other arguments of the body
  SmallVector<Value> inits;        ///< of the program

  MutableArrayRef<OpOperand> getYielded() const {
    return *LoopLikeOpInterface(op).getYieldedValuesMutable();
  }
};

/// A result of a task, and the row with the tensors of all rounds of a group.
using StoredResult = std::pair<Value, Value>;

/// Rounds of a loop whose layers run one after the other.
struct RoundGroup {
  const CountedLoop &loop;
  const LoopLayers &layers;
  Value begin, end;
  SmallVector<StoredResult> stored = {}; ///< for later layers

  /// True for the ops of a layer that are not free.
  bool isOf(unsigned layer, Operation &op) const {
    return !op.hasTrait<OpTrait::IsTerminator>() && !layers.isFree(&op) &&
           layers.getLayer(&op) == layer;
  }
  /// The layer in which a use of a result is read.
  unsigned getReader(OpOperand &use) const {
    Operation *reader = loop.body.findAncestorOpInBlock(*use.getOwner());
    if (reader != loop.body.getTerminator())
      return layers.getLayer(reader);
    return layers.getArgumentLayer(&use - loop.getYielded().data());
  }
  /// The last layer in which a result is read.
  unsigned getLastReader(Value result) const {
    unsigned last = 0;
    for (OpOperand &use : result.getUses())
      last = std::max(last, getReader(use));
    return last;
  }
  /// What rounds hand on in a layer.
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

/// Makes the program that runs one instance of an entry: its control, with a
/// site for each task.
class Replicator {
public:
  explicit Replicator(func::FuncOp entry)
      : entry(entry), module(entry->getParentOfType<ModuleOp>()),
        symbols(module), program(module), sharedness(program), inserted(entry),
        operators(uprog::mapOperators(module)), builder(entry.getContext()),
        rowType(uprog::RowType::get(entry.getContext())) {}

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
  LoopLayers findLayers(LoopLikeOpInterface loop);
  Value makeGroupRow(OpResult result);
  void mapStored(ArrayRef<StoredResult> stored, Value number);
  Value countRounds(const CountedLoop &loop, Value begin, Value end);
  LogicalResult runAhead(RoundGroup &group, InvokeOp invoke);
  LogicalResult convertOps(const RoundGroup &group, unsigned layer);
  LogicalResult convertLayer(RoundGroup &group, unsigned layer,
                             MutableArrayRef<Value> carried);
  LogicalResult convertWavefront(RoundGroup &group,
                                 MutableArrayRef<Value> carried);
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
  /// The rows of results that later layers of a loop read.
  DenseMap<Value, Value> places;
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

/// A name for the buffer of a kernel's result.
static std::string nameResult(OpResult result) {
  StringRef kernel = cast<InvokeOp>(result.getOwner()).getKernel();
  return (kernel + "." + Twine(result.getResultNumber())).str();
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
    Value row;
    if (OpOperand *root = inserted.getRoot(result))
      row = inputs[root->getOperandNumber()];
    else if (!(row = places.lookup(result)))
      row = makeRow(loc, nameResult(result), type);
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

/// True if a kernel multiplies and makes all its results, which are slices of
/// tensors with those of many rounds.
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

/// The layers of a loop of tasks. With order `rounds`, all but those that need
/// nothing of the loop but the number of the round are one layer.
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

/// A row for the tensors that many rounds give for a result.
Value Replicator::makeGroupRow(OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> shape = {kAheadRounds};
  llvm::append_range(shape, type.getShape());
  return makeRow(result.getLoc(), nameResult(result),
                 RankedTensorType::get(shape, type.getElementType()));
}

/// Maps stored results to those of a round, the `number`th of its group.
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

/// The number of rounds from `begin` to before `end`.
Value Replicator::countRounds(const CountedLoop &loop, Value begin, Value end) {
  Location loc = loop.op->getLoc();
  Value count = arith::SubIOp::create(builder, loc, end, begin);
  return loop.step
             ? arith::CeilDivUIOp::create(builder, loc, count, loop.step)
                   .getResult()
             : count;
}

/// Runs a task of all rounds of a group.
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
    uprog::PutTaskOp::create(builder, loc, tasks, number, inputs);
  }
  SmallVector<Value> results;
  for (OpResult result : invoke->getResults()) {
    results.push_back(makeGroupRow(result));
    group.stored.emplace_back(result, results.back());
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

/// Converts the ops of a layer, and what any layer may need of the round.
LogicalResult Replicator::convertOps(const RoundGroup &group, unsigned layer) {
  for (Operation &op : group.loop.body.without_terminator())
    if ((group.layers.isFree(&op) || group.isOf(layer, op)) &&
        failed(convert(&op)))
      return failure();
  return success();
}

/// Runs the rounds of a group for a layer, and replaces what it hands on in
/// `carried`. What later layers read has a row for each round.
LogicalResult Replicator::convertLayer(RoundGroup &group, unsigned layer,
                                       MutableArrayRef<Value> carried) {
  const CountedLoop &loop = group.loop;
  SmallVector<unsigned> own = group.getCarried(layer);
  SmallVector<Value> inits = llvm::map_to_vector(
      own, [&](unsigned index) { return carried[index]; });
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

/// A branch that `make` fills where `condition` holds; else it gives `others`.
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

/// Runs the rounds of a group for all layers but 0, each a round behind the one
/// before it: a *wave* has tasks of as many rounds as there are layers, which
/// do not depend on each other. A barrier is between two waves. What a later
/// layer reads is handed on from wave to wave until it does.
LogicalResult Replicator::convertWavefront(RoundGroup &group,
                                           MutableArrayRef<Value> carried) {
  const CountedLoop &loop = group.loop;
  Location loc = loop.op->getLoc();
  const unsigned last = group.layers.getNumLayers() - 1;
  // By result: what it was in the waves before this one, the latest first.
  struct Delayed {
    OpResult result;
    unsigned layer, first, count;
  };
  SmallVector<Delayed> delayed;
  SmallVector<Value> inits(carried);
  for (unsigned layer = 1; layer <= last; ++layer)
    for (Operation &op : loop.body)
      if (group.isOf(layer, op))
        for (OpResult result : op.getResults())
          if (unsigned reader = group.getLastReader(result); reader > layer) {
            delayed.push_back({result, layer,
                               static_cast<unsigned>(inits.size()),
                               reader - layer});
            inits.append(reader - layer,
                         makeRow(loc, entry.getSymName() + ".before",
                                 result.getType()));
          }
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count = countRounds(loop, group.begin, group.end);
  Value waves = arith::AddIOp::create(
      builder, loc, count,
      arith::ConstantIndexOp::create(builder, loc, last - 1));
  auto rounds =
      uprog::ForOp::create(builder, loc, zero, waves, /*step=*/Value(), inits);
  Block &block = rounds.getBody().front();
  if (inits.empty())
    block.back().erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> now(rounds.getRegionIterArgs());
  SmallVector<Value> next = now;
  uprog::BarrierOp::create(builder, loc, uprog::Level::Device);
  SmallVector<Value> placed;
  auto place = [&](Value result) {
    if (places.contains(result))
      return;
    places[result] = makeRow(loc, nameResult(cast<OpResult>(result)),
                             result.getType());
    placed.push_back(result);
  };
  // What layers hand on changes when all have read it.
  SmallVector<std::function<void()>> changes;
  for (unsigned layer = 1; layer <= last; ++layer) {
    Value number = arith::SubIOp::create(
        builder, loc, block.getArgument(0),
        arith::ConstantIndexOp::create(builder, loc, layer - 1));
    Value runs = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, number, count);
    for (const Delayed &entry : delayed) {
      if (entry.layer == layer)
        place(entry.result);
      else if (entry.layer < layer && layer - entry.layer <= entry.count)
        mapping.map(entry.result, now[entry.first + layer - entry.layer - 1]);
    }
    // What a kernel makes has its row before it is known whether it runs.
    SmallVector<unsigned> inner, outer;
    for (unsigned index : group.getCarried(layer)) {
      mapping.map(loop.carried[index], now[index]);
      OpOperand &yielded = group.getYielded(index);
      auto invoke = yielded.get().getDefiningOp<InvokeOp>();
      bool isMade = invoke && invoke->getBlock() == &loop.body &&
                    group.layers.getLayer(invoke) > 0 &&
                    !inserted.getRoot(cast<OpResult>(yielded.get()));
      (isMade ? outer : inner).push_back(index);
      if (isMade && group.isOf(layer, *invoke))
        place(yielded.get());
    }
    SmallVector<Value> others = llvm::map_to_vector(
        inner, [&](unsigned index) { return now[index]; });
    LogicalResult converted = success();
    uprog::BranchOp branch =
        makeBranch(builder, loc, runs, others, [&]() -> SmallVector<Value> {
          Value round = number;
          if (loop.step)
            round = arith::MulIOp::create(builder, loc, round, loop.step);
          loop.mapRound(
              arith::AddIOp::create(builder, loc, group.begin, round));
          mapStored(group.stored, number);
          converted = convertOps(group, layer);
          if (failed(converted))
            return others;
          return llvm::map_to_vector(inner, [&](unsigned index) {
            return getValue(group.getYielded(index));
          });
        });
    if (failed(converted))
      return failure();
    for (auto [index, value] : llvm::zip_equal(inner, branch.getResults()))
      next[index] = value;
    SmallVector<Value> made = llvm::map_to_vector(outer, [&](unsigned index) {
      return mapping.lookup(group.getYielded(index).get());
    });
    changes.push_back([&, runs, outer, made] {
      if (outer.empty())
        return;
      SmallVector<Value> same = llvm::map_to_vector(
          outer, [&](unsigned index) { return now[index]; });
      auto change =
          makeBranch(builder, loc, runs, same, [&] { return made; });
      for (auto [index, value] : llvm::zip_equal(outer, change.getResults()))
        next[index] = value;
    });
  }
  for (const Delayed &entry : delayed) {
    next[entry.first] = places.lookup(entry.result);
    for (unsigned i = 1; i < entry.count; ++i)
      next[entry.first + i] = now[entry.first + i - 1];
  }
  for (const auto &change : changes)
    change();
  uprog::YieldOp::create(builder, loc, next);
  for (Value result : placed)
    places.erase(result);
  for (auto [value, result] : llvm::zip(carried, rounds.getResults()))
    value = result;
  return success();
}

/// Converts a loop. If some tasks can run ahead, it becomes a loop of groups of
/// rounds, in which layer runs after layer.
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
  auto runsAlone = [&](Operation &op) {
    return !layers.isFree(&op) &&
           (order == Order::Wavefront ? layers.getLayer(&op) == 0
                                      : layers.getLayer(&op) % 2 == 0);
  };
  bool isGrouped = llvm::any_of(loop.body.without_terminator(), runsAlone);
  if (!isGrouped) {
    Value upper = loop.upper;
    if (order == Order::Wavefront)
      upper = arith::MaxSIOp::create(builder, loop.op->getLoc(), loop.lower,
                                     upper);
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

/// True for the number 1.
static bool isOne(Value value) { return matchPattern(value, m_One()); }

LogicalResult Replicator::convert(scf::ForOp loop) {
  Value step = isOne(loop.getStep()) ? Value() : mapping.lookup(loop.getStep());
  BlockArgument number = loop.getBody()->getArgument(0);
  return convertCounted(
      {loop, *loop.getBody(), mapping.lookup(loop.getLowerBound()),
       mapping.lookup(loop.getUpperBound()), step,
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
  return convertCounted({loop, loop.getBody().front(), zero, length,
                         /*step=*/Value(), mapElements,
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
    if (!isa<func::ReturnOp>(op) && failed(convert(&op)))
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

/// Erases what layers have computed again, but do not need.
static void eraseDeadCode(uprog::ProgramOp program) {
  program.getBody().walk<WalkOrder::PostOrder, ReverseIterator>(
      [&](Operation *op) {
        if (isOpTriviallyDead(op))
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
    alone.walk([](uprog::BarrierOp barrier) {
      barrier.setLevel(uprog::Level::Block);
    });
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
