//===- ControlOps.cpp - Control flow of programs --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::uprog;

/// Parses the values that a loop carries, `iter(%a = %x, ...) : type, ...`, or
/// nothing.
static ParseResult
parseCarried(OpAsmParser &parser, OperationState &result,
             SmallVectorImpl<OpAsmParser::Argument> &arguments,
             SmallVectorImpl<Type> &types) {
  if (failed(parser.parseOptionalKeyword("iter")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  size_t others = arguments.size();
  if (parser.parseAssignmentList(arguments, inits) ||
      parser.parseColonTypeList(types) ||
      parser.resolveOperands(inits, types, loc, result.operands))
    return failure();
  for (auto [argument, type] :
       llvm::zip_equal(MutableArrayRef(arguments).drop_front(others), types))
    argument.type = type;
  return success();
}

static void printCarried(OpAsmPrinter &printer,
                         Block::BlockArgListType arguments,
                         OperandRange inits) {
  if (inits.empty())
    return;
  printer << " iter(";
  llvm::interleaveComma(
      llvm::zip_equal(arguments, inits), printer, [&](auto pair) {
        printer << std::get<0>(pair) << " = " << std::get<1>(pair);
      });
  printer << ") : " << inits.getTypes();
}

/// Returns the last op of a region with one block if it is an `OpTy`, or null.
template <class OpTy>
static OpTy getEnd(Region &region) {
  if (region.empty() || region.front().empty())
    return {};
  return dyn_cast<OpTy>(region.front().back());
}

/// Returns the values that a region of a loop yields to the next iteration.
static std::optional<MutableArrayRef<OpOperand>> getYielded(Region &region) {
  if (auto yield = getEnd<YieldOp>(region))
    return yield.getOperandsMutable();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// ForOp
//===----------------------------------------------------------------------===//

void ForOp::build(OpBuilder &builder, OperationState &state, Value lower,
                  Value upper, Value step, ValueRange inits) {
  state.addOperands({lower, upper});
  if (step)
    state.addOperands(step);
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  state.getOrAddProperties<Properties>().operandSegmentSizes = {
      1, 1, step ? 1 : 0, static_cast<int32_t>(inits.size())};
  Region *body = state.addRegion();
  SmallVector<Type> types = {builder.getIndexType()};
  llvm::append_range(types, inits.getTypes());
  SmallVector<Location> locs(types.size(), state.location);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(body, {}, types, locs);
  if (inits.empty())
    ensureTerminator(*body, builder, state.location);
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  SmallVector<OpAsmParser::Argument> arguments(1);
  arguments[0].type = index;
  OpAsmParser::UnresolvedOperand lower, upper, step;
  if (parser.parseArgument(arguments[0]) || parser.parseEqual() ||
      parser.parseOperand(lower) || parser.parseKeyword("to") ||
      parser.parseOperand(upper) ||
      parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands))
    return failure();
  bool hasStep = succeeded(parser.parseOptionalKeyword("step"));
  if (hasStep && (parser.parseOperand(step) ||
                  parser.resolveOperand(step, index, result.operands)))
    return failure();
  if (parseCarried(parser, result, arguments, result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      1, 1, hasStep ? 1 : 0, static_cast<int32_t>(result.types.size())};
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return success();
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBody().getArgument(0) << " = " << getLower() << " to "
          << getUpper();
  if (getStep())
    printer << " step " << getStep();
  printCarried(printer, getRegionIterArgs(), getInits());
  printer.printOptionalAttrDictWithKeyword(
      llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!getInits().empty());
}

LogicalResult ForOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() == 0 || !body.getArgument(0).getType().isIndex())
    return emitOpError("body must have an index as its first argument");
  return success();
}

SmallVector<Region *> ForOp::getLoopRegions() { return {&getBody()}; }

std::optional<SmallVector<Value>> ForOp::getLoopInductionVars() {
  return SmallVector<Value>{getBody().getArgument(0)};
}

std::optional<SmallVector<OpFoldResult>> ForOp::getLoopLowerBounds() {
  return SmallVector<OpFoldResult>{getLower()};
}

std::optional<SmallVector<OpFoldResult>> ForOp::getLoopUpperBounds() {
  return SmallVector<OpFoldResult>{getUpper()};
}

std::optional<SmallVector<OpFoldResult>> ForOp::getLoopSteps() {
  OpFoldResult step = getStep();
  if (!getStep())
    step = Builder(getContext()).getIndexAttr(1);
  return SmallVector<OpFoldResult>{step};
}

std::optional<APInt> ForOp::getStaticTripCount() {
  return constantTripCount(
      getLower(), getUpper(), getLoopSteps()->front(), /*isSigned=*/true,
      [](Value, Value, bool) -> std::optional<APSInt> { return std::nullopt; });
}

Block::BlockArgListType ForOp::getRegionIterArgs() {
  Block::BlockArgListType arguments = getBody().getArguments();
  return arguments.drop_front(std::min<size_t>(1, arguments.size()));
}

std::optional<MutableArrayRef<OpOperand>> ForOp::getYieldedValuesMutable() {
  return getYielded(getBody());
}

std::optional<ResultRange> ForOp::getLoopResults() { return getResults(); }

OperandRange ForOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void ForOp::getSuccessorRegions(RegionBranchPoint,
                                SmallVectorImpl<RegionSuccessor> &regions) {
  regions.emplace_back(&getBody(), getRegionIterArgs());
  regions.emplace_back(getOperation(), getResults());
}

//===----------------------------------------------------------------------===//
// WhileOp, ConditionOp
//===----------------------------------------------------------------------===//

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> types;
  Region *before = result.addRegion(), *body = result.addRegion();
  if (parseCarried(parser, result, arguments, types) ||
      parser.parseRegion(*before, arguments) || parser.parseKeyword("do") ||
      parser.parseRegion(*body) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  // The verifier reports a missing condition.
  if (auto condition = getEnd<ConditionOp>(*before))
    result.addTypes(condition.getValues().getTypes());
  return success();
}

void WhileOp::print(OpAsmPrinter &printer) {
  printCarried(printer, getRegionIterArgs(), getInits());
  printer << ' ';
  printer.printRegion(getBefore(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody());
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult WhileOp::verifyRegions() {
  if (!getEnd<ConditionOp>(getBefore()))
    return emitOpError("first region must end in uprog.condition");
  if (!getEnd<YieldOp>(getBody()))
    return emitOpError("second region must end in uprog.yield");
  return success();
}

SmallVector<Region *> WhileOp::getLoopRegions() {
  return {&getBefore(), &getBody()};
}

Block::BlockArgListType WhileOp::getRegionIterArgs() {
  return getBefore().getArguments();
}

std::optional<MutableArrayRef<OpOperand>> WhileOp::getYieldedValuesMutable() {
  return getYielded(getBody());
}

OperandRange WhileOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void WhileOp::getSuccessorRegions(RegionBranchPoint point,
                                  SmallVectorImpl<RegionSuccessor> &regions) {
  Operation *end = point.getTerminatorPredecessorOrNull();
  if (!end || end->getParentRegion() == &getBody()) {
    regions.emplace_back(&getBefore(), getBefore().getArguments());
    return;
  }
  regions.emplace_back(&getBody(), getBody().getArguments());
  regions.emplace_back(getOperation(), getResults());
}

MutableOperandRange ConditionOp::getMutableSuccessorOperands(RegionSuccessor) {
  return getValuesMutable();
}

//===----------------------------------------------------------------------===//
// ReduceOp, CompactOp, EachOp
//===----------------------------------------------------------------------===//

/// Parses `%number < %upper`.
static ParseResult parseNumbers(OpAsmParser &parser, OperationState &result,
                                OpAsmParser::Argument &number) {
  OpAsmParser::UnresolvedOperand upper;
  number.type = parser.getBuilder().getIndexType();
  return failure(parser.parseArgument(number) || parser.parseLess() ||
                 parser.parseOperand(upper) ||
                 parser.resolveOperand(upper, number.type, result.operands));
}

/// Checks that a body has one argument, an index.
static LogicalResult verifyNumber(Operation *op, Block &body) {
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return op->emitOpError("body must have one argument, an index");
  return success();
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument number;
  Region *body = result.addRegion();
  if (parser.parseKeyword("min") || parseNumbers(parser, result, number) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, number))
    return failure();
  // Each key has two results: its least value, and the number for which the
  // body yields this value. The verifier reports missing keys.
  unsigned keys = 0;
  if (!body->empty() && !body->front().empty())
    if (auto yield = dyn_cast<YieldOp>(body->front().back()))
      keys = yield.getNumOperands();
  Builder &builder = parser.getBuilder();
  result.addTypes(SmallVector<Type>(keys, builder.getI64Type()));
  result.addTypes(SmallVector<Type>(keys, builder.getIndexType()));
  result.getOrAddProperties<Properties>().resultSegmentSizes = {
      static_cast<int32_t>(keys), static_cast<int32_t>(keys)};
  return success();
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << " min " << getBody().getArgument(0) << " < " << getUpper();
  printer.printOptionalAttrDictWithKeyword(
      llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ReduceOp::verifyRegions() {
  Block &body = getBody().front();
  if (failed(verifyNumber(*this, body)))
    return failure();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getNumOperands() == 0 ||
      yield.getOperandTypes() != TypeRange(getKeys().getTypes()) ||
      getNumbers().size() != getKeys().size())
    return emitOpError(
        "body must end in a uprog.yield of one or more i64 keys");
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(*this);
  if (!effects || llvm::any_of(*effects, [](const auto &effect) {
        return !isa<MemoryEffects::Read>(effect.getEffect());
      }))
    return emitOpError("body must have no effects except reads, because "
                       "several threads may run it for the same number");
  return success();
}

ParseResult CompactOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument number;
  OpAsmParser::UnresolvedOperand list;
  Type listType;
  result.addTypes(parser.getBuilder().getIndexType());
  return failure(parseNumbers(parser, result, number) ||
                 parser.parseKeyword("into") || parser.parseOperand(list) ||
                 parser.parseColonType(listType) ||
                 parser.resolveOperand(list, listType, result.operands) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), number));
}

void CompactOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBody().getArgument(0) << " < " << getUpper() << " into "
          << getList() << " : " << getList().getType();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult CompactOp::verifyRegions() {
  Block &body = getBody().front();
  if (failed(verifyNumber(*this, body)))
    return failure();
  auto condition =
      body.empty() ? ConditionOp() : dyn_cast<ConditionOp>(body.back());
  WalkResult writes = getBody().walk([](Operation *inner) {
    return isa<PutOp, RememberOp, NextRoundOp, PutTaskOp>(inner)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (writes.wasInterrupted())
    return emitOpError("body must not write to the unit's memory");
  if (!condition || condition.getValues().size() > 1 ||
      !llvm::all_of(condition.getValues().getTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("body must end in a uprog.condition with at most one "
                       "value, an index");
  return success();
}

void EachOp::build(OpBuilder &builder, OperationState &state, Value upper) {
  state.addOperands(upper);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(state.addRegion(), {}, upper.getType(), state.location);
  ensureTerminator(*state.regions.front(), builder, state.location);
}

ParseResult EachOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument number;
  Region *body = result.addRegion();
  if (parseNumbers(parser, result, number) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, number))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void EachOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBody().getArgument(0) << " < " << getUpper();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult EachOp::verifyRegions() {
  Block &body = getBody().front();
  if (failed(verifyNumber(*this, body)))
    return failure();
  if (body.back().getNumOperands() != 0)
    return emitOpError("body must not yield values");
  Operation *collective = nullptr;
  getBody().walk([&](Operation *inner) {
    if (isa<CompactOp, ReduceOp, EachOp, SiteOp, TasksOp, BatchOp, CopyOp,
            CellsOp, MembersOp>(inner))
      collective = inner;
  });
  if (collective)
    return collective->emitOpError(
        "is not allowed in 'uprog.each', because all threads of a unit must "
        "run it together");
  return success();
}

//===----------------------------------------------------------------------===//
// BranchOp
//===----------------------------------------------------------------------===//

/// Parses a region of a branch and adds a terminator if it has none.
static ParseResult parseWay(OpAsmParser &parser, Region &region) {
  if (parser.parseRegion(region))
    return failure();
  BranchOp::ensureTerminator(
      region, parser.getBuilder(),
      parser.getEncodedSourceLoc(parser.getCurrentLocation()));
  return success();
}

ParseResult BranchOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand selector;
  if (parser.parseOperand(selector) ||
      parser.resolveOperand(selector, parser.getBuilder().getIndexType(),
                            result.operands) ||
      parser.parseOptionalArrowTypeList(result.types) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  Region *otherwise = result.addRegion();
  SmallVector<int64_t> values;
  while (succeeded(parser.parseOptionalKeyword("case")))
    if (parser.parseInteger(values.emplace_back()) ||
        parseWay(parser, *result.addRegion()))
      return failure();
  result.getOrAddProperties<Properties>().cases =
      parser.getBuilder().getDenseI64ArrayAttr(values);
  if (failed(parser.parseOptionalKeyword("default")))
    return success();
  return parseWay(parser, *otherwise);
}

void BranchOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSelector();
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDict(
      llvm::to_vector((*this)->getDiscardableAttrs()));
  auto printWay = [&](Region &region) {
    printer.printRegion(region, /*printEntryBlockArgs=*/false,
                        /*printBlockTerminators=*/getNumResults() > 0);
  };
  for (auto [value, region] : llvm::zip_equal(getCases(), getCaseRegions())) {
    printer.printNewline();
    printer << "case " << value << ' ';
    printWay(region);
  }
  if (getDefaultRegion().empty())
    return;
  printer.printNewline();
  printer << "default ";
  printWay(getDefaultRegion());
}

LogicalResult BranchOp::verify() {
  if (getCases().size() != getCaseRegions().size())
    return emitOpError("has ") << getCaseRegions().size() << " regions for "
                               << getCases().size() << " cases";
  if (getNumResults() > 0 && getDefaultRegion().empty())
    return emitOpError("has results, so it requires a default region for "
                       "selectors without a case");
  SmallVector<int64_t> sorted(getCases());
  llvm::sort(sorted);
  auto *duplicate = std::adjacent_find(sorted.begin(), sorted.end());
  if (duplicate != sorted.end())
    return emitOpError("has duplicate case ") << *duplicate;
  return success();
}

void BranchOp::getSuccessorRegions(RegionBranchPoint point,
                                   SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    for (Region &region : (*this)->getRegions())
      if (!region.empty())
        regions.emplace_back(&region);
  // Without a default region, the op may run no region.
  if (!point.isParent() || getDefaultRegion().empty())
    regions.emplace_back(getOperation(), getResults());
}

//===----------------------------------------------------------------------===//
// RefOp
//===----------------------------------------------------------------------===//

LogicalResult RefOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto program =
      symbols.lookupNearestSymbolFrom<ProgramOp>(*this, getCalleeAttr());
  if (!program)
    return emitOpError("refers to unknown uprog.program ") << getCalleeAttr();
  if (TypeRange(program.getArgumentTypes()) != getInputs().getTypes())
    return emitOpError("operand types differ from the argument types of ")
           << getCalleeAttr();
  auto caller = (*this)->getParentOfType<ProgramOp>();
  if (caller && program.getLevel() > caller.getLevel())
    return emitOpError("is in a ")
           << stringifyLevel(caller.getLevel())
           << "-level program, but refers to "
           << stringifyLevel(program.getLevel()) << "-level program "
           << getCalleeAttr() << ", which requires all units of the "
           << stringifyLevel(program.getLevel());
  return success();
}

//===----------------------------------------------------------------------===//
// BarrierOp
//===----------------------------------------------------------------------===//

LogicalResult BarrierOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (program && getLevel() > program.getLevel())
    return emitOpError("has level ")
           << stringifyLevel(getLevel()) << ", but the units of the "
           << stringifyLevel(getLevel()) << " do not run this "
           << stringifyLevel(program.getLevel())
           << "-level program together; use level "
           << stringifyLevel(program.getLevel()) << " or below";
  return success();
}
