//===- UProgOps.cpp - Operations of the uprog dialect ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FunctionSyntax.h"
#include "Batch/Dialect/UProg/UProg.h"

using namespace mlir;
using namespace mlir::uprog;

static ParseResult
parseBranchCases(OpAsmParser &parser, DenseI64ArrayAttr &cases,
                 SmallVectorImpl<std::unique_ptr<Region>> &regions);
static void printBranchCases(OpAsmPrinter &printer, BranchOp op,
                             DenseI64ArrayAttr cases,
                             MutableArrayRef<Region> regions);
static ParseResult parseStoredTypes(OpAsmParser &parser,
                                    SmallVectorImpl<Type> &types,
                                    DenseI64ArrayAttr &scratch);
static void printStoredTypes(OpAsmPrinter &printer, StageOp op, TypeRange types,
                             DenseI64ArrayAttr scratch);

#define GET_OP_CLASSES
#include "Batch/Dialect/UProg/UProgOps.cpp.inc"

//===----------------------------------------------------------------------===//
// OperatorOp, ProgramOp
//===----------------------------------------------------------------------===//

ParseResult OperatorOp::parse(OpAsmParser &parser, OperationState &result) {
  return batch::parseFunction<OperatorOp>(parser, result);
}

void OperatorOp::print(OpAsmPrinter &printer) {
  batch::printFunction(printer, *this);
}

static std::optional<int64_t> getIntegerArgAttr(OperatorOp op, unsigned index,
                                                StringRef name) {
  if (auto attr = op.getArgAttrOfType<IntegerAttr>(index, name))
    return attr.getInt();
  return std::nullopt;
}

std::optional<int64_t> OperatorOp::getRagged(unsigned index) {
  return getIntegerArgAttr(*this, index, kRagged);
}

std::optional<int64_t> OperatorOp::getParameter(unsigned index) {
  return getIntegerArgAttr(*this, index, kParameter);
}

std::optional<int64_t> OperatorOp::getOffsets(unsigned index) {
  return getIntegerArgAttr(*this, index, kOffsets);
}

StringRef OperatorOp::getRead(unsigned index) {
  auto read = getArgAttrOfType<StringAttr>(index, "uprog.read");
  return read ? read.getValue() : "gather";
}

static RowPlace getPlace(DictionaryAttr attributes) {
  RowPlace place;
  if (!attributes)
    return place;
  if (auto map = attributes.getAs<AffineMapAttr>(OperatorOp::kLayout))
    place.layout = map.getValue();
  if (auto bytes = attributes.getAs<IntegerAttr>(OperatorOp::kBlockBytes))
    place.blockBytes = bytes.getInt();
  return place;
}

RowPlace OperatorOp::getArgumentPlace(unsigned index) {
  return getPlace(getArgAttrDict(index));
}

RowPlace OperatorOp::getResultPlace(unsigned index) {
  return getPlace(getResultAttrDict(index));
}

int64_t OperatorOp::getSiblings(unsigned index) {
  auto attr = getResultAttrOfType<IntegerAttr>(index, "uprog.siblings");
  return attr ? attr.getInt() : 1;
}

int64_t OperatorOp::getPosition(unsigned index) {
  auto attr = getResultAttrOfType<IntegerAttr>(index, "uprog.position");
  return attr ? attr.getInt() : 0;
}

/// Checks that a body ends in a yield of the function's results.
template <typename FunctionOp>
static LogicalResult verifyYield(FunctionOp op) {
  if (op.getBody().empty())
    return op.emitOpError("needs a body");
  auto yield = dyn_cast<YieldOp>(op.getBody().front().back());
  if (!yield)
    return op.emitOpError("must end in uprog.yield");
  if (yield.getOperandTypes() != TypeRange(op.getResultTypes()))
    return yield.emitOpError("operand types differ from the results of ")
           << op.getSymNameAttr();
  return success();
}

LogicalResult OperatorOp::verify() {
  if (getNumArguments() == 0 || !getArgumentTypes()[0].isIndex())
    return emitOpError("the first argument must be the number of tasks, an "
                       "index");
  for (unsigned i = 1, e = getNumArguments(); i < e; ++i) {
    auto type = dyn_cast<RankedTensorType>(getArgumentTypes()[i]);
    if (!type)
      return emitOpError("argument #") << i << " must be a ranked tensor";
    if (getParameter(i))
      continue;
    if (type.getRank() == 0 || !type.isDynamicDim(0))
      return emitOpError("argument #")
             << i
             << " must be shared (`uprog.parameter`) or have rows, tensor<?"
             << "x...>, got " << type;
  }
  for (auto [index, type] : llvm::enumerate(getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0))
      return emitOpError("result #")
             << index << " must have rows, tensor<?x...>, got " << type;
  }
  if (failed(verifyYield(*this)))
    return failure();
  // Either all of the body are stages or nothing.
  Block &body = getBody().front();
  bool staged = bool(getStaging());
  for (Operation &op : body.without_terminator())
    if (isa<StageOp>(op) != staged)
      return op.emitOpError(staged ? "is outside of the operator's stages"
                                   : "needs 'uprog.staging' at its operator");
  if (staged)
    for (Value value : body.getTerminator()->getOperands())
      if (!value.getDefiningOp<StageOp>())
        return body.getTerminator()->emitOpError("yields what no stage stores");
  return success();
}

//===----------------------------------------------------------------------===//
// StageOp
//===----------------------------------------------------------------------===//

/// `-> (type, type scratch 128)`
static ParseResult parseStoredTypes(OpAsmParser &parser,
                                    SmallVectorImpl<Type> &types,
                                    DenseI64ArrayAttr &scratch) {
  SmallVector<int64_t> offsets;
  if (parser.parseArrow() ||
      parser.parseCommaSeparatedList(
          OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
            offsets.push_back(-1);
            if (parser.parseType(types.emplace_back()))
              return failure();
            if (succeeded(parser.parseOptionalKeyword("scratch")))
              return parser.parseInteger(offsets.back());
            return success();
          }))
    return failure();
  scratch = parser.getBuilder().getDenseI64ArrayAttr(offsets);
  return success();
}

static void printStoredTypes(OpAsmPrinter &printer, StageOp, TypeRange types,
                             DenseI64ArrayAttr scratch) {
  printer << "-> (";
  llvm::interleaveComma(llvm::zip_equal(types, scratch.asArrayRef()), printer,
                        [&](auto pair) {
                          printer << std::get<0>(pair);
                          if (std::get<1>(pair) >= 0)
                            printer << " scratch " << std::get<1>(pair);
                        });
  printer << ')';
}

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> types;
  StringAttr name;
  bool variadic = false;
  SmallVector<DictionaryAttr> resultAttrs;
  SmallVector<Type> resultTypes;
  StringRef level;
  SMLoc loc;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, variadic, resultTypes,
          resultAttrs) ||
      parser.parseKeyword("level") || parser.parseLParen() ||
      parser.getCurrentLocation(&loc) || parser.parseKeyword(&level) ||
      parser.parseRParen() ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  std::optional<Level> kind = symbolizeLevel(level);
  if (!kind)
    return parser.emitError(loc, "unknown level '")
           << level << "'; levels are block, cluster and device";
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  Builder &builder = parser.getBuilder();
  result.addAttribute(getLevelAttrName(result.name),
                      LevelAttr::get(builder.getContext(), *kind));
  result.addAttribute(
      getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(types, resultTypes)));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, resultAttrs, getArgAttrsAttrName(result.name),
      getResAttrsAttrName(result.name));
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  printer << " level(" << stringifyLevel(getLevel()) << ")";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getLevelAttrName(),
       getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ProgramOp::verify() {
  if (getNumResults() != 0)
    return emitOpError("must have no results: nothing takes them");
  return verifyYield(*this);
}

//===----------------------------------------------------------------------===//
// RunOp
//===----------------------------------------------------------------------===//

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  // A target's lowering may have made a function of the operator already.
  bool isCode = isa_and_nonnull<FunctionOpInterface>(symbol) &&
                symbol->hasAttr(kCodeAttr);
  if (!isCode && !isa_and_nonnull<OperatorOp>(symbol))
    return emitOpError("there is no uprog.operator ") << getCalleeAttr();
  return success();
}

//===----------------------------------------------------------------------===//
// ForOp
//===----------------------------------------------------------------------===//

void ForOp::build(OpBuilder &builder, OperationState &state, Value lower,
                  Value upper) {
  state.addOperands({lower, upper});
  Region *body = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(body, {}, builder.getIndexType(), state.location);
  ensureTerminator(*body, builder, state.location);
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  OpAsmParser::Argument variable;
  variable.type = index;
  OpAsmParser::UnresolvedOperand lower, upper;
  if (parser.parseArgument(variable) || parser.parseEqual() ||
      parser.parseOperand(lower) || parser.parseKeyword("to") ||
      parser.parseOperand(upper) ||
      parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), variable))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return success();
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBody().getArgument(0) << " = " << getLower() << " to "
          << getUpper();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult ForOp::verifyRegions() {
  if (getBody().getNumArguments() != 1 ||
      !getBody().getArgument(0).getType().isIndex())
    return emitOpError("body must have one argument, an index");
  return success();
}

//===----------------------------------------------------------------------===//
// WhileOp
//===----------------------------------------------------------------------===//

LogicalResult WhileOp::verifyRegions() {
  Block &before = getBefore().front(), &body = getBody().front();
  if (before.getNumArguments() != 0)
    return emitOpError("first region must have no arguments");
  auto condition =
      before.empty() ? ConditionOp() : dyn_cast<ConditionOp>(before.back());
  if (!condition)
    return emitOpError("first region must end in uprog.condition");
  if (body.empty() || !isa<YieldOp>(body.back()) ||
      body.back().getNumOperands() != 0)
    return emitOpError("second region must end in a uprog.yield of nothing");
  if (condition.getValues().getTypes() != TypeRange(body.getArgumentTypes()))
    return emitOpError("passes on other types than its second region takes");
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceOp, CompactOp
//===----------------------------------------------------------------------===//

/// `%number < %upper`
static ParseResult parseNumbers(OpAsmParser &parser, OperationState &result,
                                OpAsmParser::Argument &number) {
  OpAsmParser::UnresolvedOperand upper;
  number.type = parser.getBuilder().getIndexType();
  return failure(parser.parseArgument(number) || parser.parseLess() ||
                 parser.parseOperand(upper) ||
                 parser.resolveOperand(upper, number.type, result.operands));
}

/// Checks that a body asks for a number.
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
  // As many results as keys; the verifier says if there are none.
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
    return emitOpError("body must end in a uprog.yield of its keys, i64s");
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(*this);
  if (!effects || llvm::any_of(*effects, [](const auto &effect) {
        return !isa<MemoryEffects::Read>(effect.getEffect());
      }))
    return emitOpError("body must do nothing but read: threads may ask for the "
                       "same number");
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
  if (!condition || !condition.getValues().empty())
    return emitOpError("body must end in a uprog.condition without values");
  return success();
}

//===----------------------------------------------------------------------===//
// BranchOp
//===----------------------------------------------------------------------===//

static ParseResult
parseBranchCases(OpAsmParser &parser, DenseI64ArrayAttr &cases,
                 SmallVectorImpl<std::unique_ptr<Region>> &regions) {
  SmallVector<int64_t> values;
  while (succeeded(parser.parseOptionalKeyword("case"))) {
    auto &region = regions.emplace_back(std::make_unique<Region>());
    if (parser.parseInteger(values.emplace_back()) ||
        parser.parseRegion(*region, {}))
      return failure();
    BranchOp::ensureTerminator(
        *region, parser.getBuilder(),
        parser.getEncodedSourceLoc(parser.getCurrentLocation()));
  }
  cases = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printBranchCases(OpAsmPrinter &printer, BranchOp,
                             DenseI64ArrayAttr cases,
                             MutableArrayRef<Region> regions) {
  for (auto [value, region] : llvm::zip_equal(cases.asArrayRef(), regions)) {
    printer.printNewline();
    printer << "case " << value << ' ';
    printer.printRegion(region, /*printEntryBlockArgs=*/false,
                        /*printBlockTerminators=*/false);
  }
}

LogicalResult BranchOp::verify() {
  if (getCases().size() != getCaseRegions().size())
    return emitOpError("has ") << getCaseRegions().size() << " regions for "
                               << getCases().size() << " cases";
  SmallVector<int64_t> sorted(getCases());
  llvm::sort(sorted);
  auto *duplicate = std::adjacent_find(sorted.begin(), sorted.end());
  if (duplicate != sorted.end())
    return emitOpError("has two cases ") << *duplicate;
  return success();
}

//===----------------------------------------------------------------------===//
// RefOp
//===----------------------------------------------------------------------===//

LogicalResult RefOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto program =
      symbols.lookupNearestSymbolFrom<ProgramOp>(*this, getCalleeAttr());
  if (!program)
    return emitOpError("there is no uprog.program ") << getCalleeAttr();
  if (TypeRange(program.getArgumentTypes()) != getInputs().getTypes())
    return emitOpError("passes other types than ")
           << getCalleeAttr() << " takes";
  auto caller = (*this)->getParentOfType<ProgramOp>();
  if (caller && program.getLevel() > caller.getLevel())
    return emitOpError("in a program of level ")
           << stringifyLevel(caller.getLevel()) << " refers to "
           << getCalleeAttr() << " of level "
           << stringifyLevel(program.getLevel())
           << ": not all units of that level would run it";
  return success();
}

//===----------------------------------------------------------------------===//
// BarrierOp
//===----------------------------------------------------------------------===//

LogicalResult BarrierOp::verify() {
  for (Operation *op = (*this)->getParentOp(); op; op = op->getParentOp()) {
    if (auto branch = dyn_cast<BranchOp>(op); branch && !branch.getUniform())
      return emitOpError("is under a branch that is not uniform: units that "
                         "take another case would never arrive");
    if (auto program = dyn_cast<ProgramOp>(op))
      return getLevel() <= program.getLevel()
                 ? success()
                 : emitOpError("of level ")
                       << stringifyLevel(getLevel())
                       << " is in a program of level "
                       << stringifyLevel(program.getLevel());
  }
  return success();
}
