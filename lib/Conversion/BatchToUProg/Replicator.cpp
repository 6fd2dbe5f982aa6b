//===- Replicator.cpp - The program of an instance ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replicator.h"

#include "Batch/Dialect/Batch/Views.h"
#include "PlanBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::batch;

Replicator::Replicator(func::FuncOp entry)
    : entry(entry), module(entry->getParentOfType<ModuleOp>()), symbols(module),
      program(module), sharedness(program), inserted(entry),
      operators(uprog::mapOperators(module)), builder(entry.getContext()),
      rowType(uprog::RowType::get(entry.getContext())),
      nodes(entry, program, sharedness,
            {builder, mapping, symbols,
             [this](Type type) { return convertType(type); },
             [this](Block &block) { return convertBlock(block); },
             [this](OpOperand &operand) { return getValue(operand); }}) {}

/// Returns the type that a value of `type` has in a program.
Type Replicator::convertType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  if (!rec::isRaggedTensor(tensor))
    return rowType;
  return rec::ListType::get(RankedTensorType::get(
      tensor.getShape().drop_front(), tensor.getElementType()));
}

/// Creates a row of a new buffer.
uprog::RowOp Replicator::makeRow(Location loc, const Twine &name, Type type) {
  OpBuilder atModule(module.getContext());
  auto buffer = uprog::BufferOp::create(
      atModule, loc, atModule.getStringAttr(name), TypeAttr::get(type),
      atModule.getI64IntegerAttr(1));
  StringAttr unique = symbols.insert(buffer, Block::iterator(entry));
  return uprog::RowOp::create(builder, loc, rowType,
                              FlatSymbolRefAttr::get(unique),
                              /*avoided=*/ValueRange(), /*member=*/Value());
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

/// Returns the value in the program that represents an operand of control flow
/// or of a kernel.
Value Replicator::getValue(OpOperand &operand) {
  Value value = operand.get();
  Location loc = operand.getOwner()->getLoc();
  std::optional<int64_t> parameter = sharedness.getParameter(value);
  Value found = mapping.lookupOrNull(value);
  if (!found && parameter) {
    // Pass the parameter as a row where other values may occur, too.
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

std::string batch::nameResult(OpResult result) {
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
    Value row;
    if (OpOperand *root = inserted.getRoot(result))
      row = inputs[root->getOperandNumber()];
    else if (!(row = places.lookup(result)) &&
             !(row = nodes.makeRow(result, nameResult(result))))
      row = makeRow(loc, nameResult(result), result.getType());
    mapping.map(result, row);
    outputs.push_back(row);
  }
  Value step = uprog::SiteOp::create(builder, loc,
                                     uprog::StepType::get(builder.getContext()),
                                     invoke.getKernelAttr(), perTask, outputs);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  uprog::RunOp::create(builder, loc, op.getSymName(), step, one,
                       /*inputs=*/ValueRange(),
                       /*level=*/uprog::LevelAttr());
  return success();
}

/// Converts a read of a tensor element. The tensor may be a parameter with any
/// number of rows.
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
    return extract.emitError("strategy 'replicate' does not support reading an "
                             "element from a tensor of type ")
           << type << "; give the tensor a static shape";
  mapping.map(
      extract.getResult(),
      uprog::LoadOp::create(builder, loc, row, indices, type).getResult());
  return success();
}

/// Converts a view of a row of a parameter. The row is read in place.
LogicalResult Replicator::convert(tensor::ExtractSliceOp slice) {
  auto parameter = sharedness.getParameter(slice.getSource());
  if (!parameter || !isRowView(slice))
    return slice.emitError("outside of kernels, strategy 'replicate' only "
                           "supports slices that are whole rows of parameters");
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
// Control flow
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

/// Returns true for the constant 1.
static bool isOne(Value value) { return matchPattern(value, m_One()); }

/// Returns true for a number that does not depend on inputs: it is computed
/// from constants and from induction variables of loops with fixed bounds.
static bool isFixed(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           isFixed(loop.getLowerBound()) && isFixed(loop.getUpperBound()) &&
           isFixed(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  return isa<arith::ArithDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperands(), isFixed);
}

/// Returns the upper bound, or the lower bound if the rounds of the loop would
/// exceed the limit of the instance. Rounds of loops with fixed bounds are not
/// counted: all instances that run together have the same bounds.
Value Replicator::limitRounds(scf::ForOp loop, Value lower, Value upper,
                              Value step) {
  if (isFixed(loop.getLowerBound()) && isFixed(loop.getUpperBound()) &&
      isFixed(loop.getStep()))
    return upper;
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  // Replace a negative difference, which would be a large unsigned number.
  Value isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      lower, upper);
  Value count = arith::SubIOp::create(builder, loc, upper, lower);
  count = arith::SelectOp::create(builder, loc, isAny, count, zero);
  if (step)
    count = arith::CeilDivUIOp::create(builder, loc, count, step);
  Value greatest =
      arith::ConstantIndexOp::create(builder, loc, uprog::kMostCountedRounds);
  count = arith::MinUIOp::create(builder, loc, count, greatest);
  Value may = uprog::NextRoundOp::create(builder, loc, builder.getI1Type(),
                                         "a loop" + describePlace(loc), count,
                                         /*rounds=*/Value());
  return arith::SelectOp::create(builder, loc, may, upper, lower);
}

LogicalResult Replicator::convert(scf::ForOp loop) {
  Value step = isOne(loop.getStep()) ? Value() : mapping.lookup(loop.getStep());
  Value lower = mapping.lookup(loop.getLowerBound());
  Value upper = mapping.lookup(loop.getUpperBound());
  BlockArgument number = loop.getBody()->getArgument(0);
  return convertCounted(
      {loop, *loop.getBody(), lower, limitRounds(loop, lower, upper, step),
       step, [&](Value round) { mapping.map(number, round); },
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
  // Limit the number of rounds, because nothing else bounds it.
  auto condition =
      cast<uprog::ConditionOp>(converted.getBefore().front().back());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(condition);
  Value may = uprog::NextRoundOp::create(builder, loc, builder.getI1Type(),
                                         "a loop" + describePlace(loc),
                                         /*count=*/Value(), /*rounds=*/Value());
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

/// Converts a loop over the elements of lists, which have equal lengths.
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
                         /*step=*/Value(), mapElements, loop.getAccumulators(),
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
  return op->emitError("strategy 'replicate' does not support '")
         << op->getName() << "'";
}

LogicalResult Replicator::convertBlock(Block &block) {
  for (Operation &op : block)
    if (!isa<func::ReturnOp>(op) && failed(convert(&op)))
      return failure();
  return success();
}

/// Erases code that layers have recomputed but do not need.
static void eraseDeadCode(uprog::ProgramOp program) {
  program.getBody().walk<WalkOrder::PostOrder, ReverseIterator>(
      [&](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
}

LogicalResult Replicator::fillProgram(uprog::ProgramOp instances) {
  Location loc = entry.getLoc();
  builder.setInsertionPointToEnd(&instances.getBody().front());
  Value instance = instances.getArgument(0);
  uprog::EnterInstanceOp::create(builder, loc, instance);
  nodes.setInstance(instance);
  Block &block = entry.getBody().front();
  mapArguments(instance);
  if (failed(convertBlock(block)))
    return failure();
  convertReturn(cast<func::ReturnOp>(block.getTerminator()), instance);
  uprog::YieldOp::create(builder, loc);
  eraseDeadCode(instances);
  planBuffers(instances);
  return success();
}
