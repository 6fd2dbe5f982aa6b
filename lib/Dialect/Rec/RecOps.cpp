//===- RecOps.cpp - Ops of the rec dialect --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::rec;

//===----------------------------------------------------------------------===//
// AdtOp, VariantOp
//===----------------------------------------------------------------------===//

static ParseResult parseFields(OpAsmParser &parser, ArrayAttr &names,
                               ArrayAttr &types) {
  SmallVector<Attribute> nameAttrs, typeAttrs;
  auto parseField = [&]() -> ParseResult {
    std::string name;
    Type type;
    if (parser.parseKeywordOrString(&name) || parser.parseColonType(type))
      return failure();
    nameAttrs.push_back(parser.getBuilder().getStringAttr(name));
    typeAttrs.push_back(TypeAttr::get(type));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                     parseField))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameAttrs);
  types = parser.getBuilder().getArrayAttr(typeAttrs);
  return success();
}

static void printFields(OpAsmPrinter &printer, Operation *, ArrayAttr names,
                        ArrayAttr types) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(names.getAsRange<StringAttr>(),
                                        types.getAsValueRange<TypeAttr>()),
                        printer, [&](auto field) {
                          printer.printKeywordOrString(
                              std::get<0>(field).getValue());
                          printer << ": " << std::get<1>(field);
                        });
  printer << ')';
}

/// Strips all levels of lists from a type.
static Type stripLists(Type type) {
  while (auto list = dyn_cast<ListType>(type))
    type = list.getElementType();
  return type;
}

VariantOp AdtOp::getVariant(StringAttr name) {
  for (VariantOp variant : getVariants())
    if (variant.getSymNameAttr() == name)
      return variant;
  return {};
}

AdtType AdtOp::getType() {
  return AdtType::get(getContext(), FlatSymbolRefAttr::get(*this));
}

LogicalResult AdtOp::verifyRegions() {
  Block &block = getBody().front();
  for (Operation &op : block)
    if (!isa<VariantOp>(op))
      return op.emitOpError("is not allowed in 'rec.adt'; expected "
                            "'rec.variant'");
  if (block.empty())
    return emitOpError("must have at least one variant");
  bool isSequence = getKind() == Kind::Sequence;
  for (VariantOp variant : getVariants()) {
    int64_t children = 0, lists = 0;
    for (unsigned i = 0; i < variant.getNumFields(); ++i)
      if (stripLists(variant.getFieldType(i)) == getType())
        ++(isa<ListType>(variant.getFieldType(i)) ? lists : children);
    if (isSequence && (children > 1 || lists > 0))
      return variant.emitOpError("has more than one child, but its ADT is a "
                                 "sequence; declare it 'kind tree' or 'kind "
                                 "dag'");
    // Do not count children in lists, whose lengths depend on the inputs.
    if (std::optional<int64_t> arity = getArity(); arity && children > *arity)
      return variant.emitOpError("has ")
             << children << " children, but its ADT has arity " << *arity;
  }
  return success();
}

StringRef VariantOp::getFieldName(unsigned field) {
  return cast<StringAttr>(getFieldNames()[field]).getValue();
}

Type VariantOp::getFieldType(unsigned field) {
  return cast<TypeAttr>(getFieldTypes()[field]).getValue();
}

/// Returns true for a scalar that fits a 64-bit cell.
static bool isScalar(Type type) {
  return isa<IndexType>(type) ||
         ((type.isSignlessInteger() || isa<FloatType>(type)) &&
          type.getIntOrFloatBitWidth() <= 64);
}

static bool isSupportedFieldType(Type type) {
  type = stripLists(type);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() && isScalar(tensor.getElementType());
  return isScalar(type) || isa<AdtType>(type);
}

LogicalResult VariantOp::verify() {
  if (getFieldNames().size() != getFieldTypes().size())
    return emitOpError("has ") << getFieldNames().size() << " field names but "
                               << getFieldTypes().size() << " field types";
  llvm::SmallSet<StringRef, 8> names;
  for (unsigned i = 0, e = getNumFields(); i != e; ++i) {
    if (!names.insert(getFieldName(i)).second)
      return emitOpError("has two fields named '") << getFieldName(i) << "'";
    if (!isSupportedFieldType(getFieldType(i)))
      return emitOpError("field '")
             << getFieldName(i) << "' has unsupported type " << getFieldType(i)
             << "; expected an index, a signless integer or float of at most "
                "64 bits, a static tensor of these, an ADT, or a list of these";
  }
  return success();
}

LogicalResult VariantOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  for (unsigned i = 0, e = getNumFields(); i != e; ++i) {
    auto adt = dyn_cast<AdtType>(stripLists(getFieldType(i)));
    if (adt && !lookupAdt(*this, adt.getName(), symbolTables))
      return emitOpError("field '")
             << getFieldName(i) << "' refers to unknown ADT " << adt.getName();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ConstructOp
//===----------------------------------------------------------------------===//

LogicalResult ConstructOp::verify() {
  if (getVariant().getNestedReferences().size() != 1)
    return emitOpError("expects a variant written '@Adt::@variant'");
  if (getVariant().getRootReference() !=
      getResult().getType().getName().getAttr())
    return emitOpError("builds a value of ADT @")
           << getVariant().getRootReference().getValue()
           << ", but its result has type " << getResult().getType();
  return success();
}

/// Checks that values have the types of a variant's fields. `describe` starts a
/// diagnostic about the values.
static LogicalResult
verifyFieldValues(VariantOp variant, TypeRange values,
                  function_ref<InFlightDiagnostic()> describe) {
  if (values.size() != variant.getNumFields())
    return describe() << "has " << values.size() << " values for the "
                      << variant.getNumFields()
                      << (variant.getNumFields() == 1 ? " field" : " fields")
                      << " of variant @" << variant.getSymName();
  for (auto [i, value] : llvm::enumerate(values))
    if (!fitsField(variant.getFieldType(i), value))
      return describe() << "has a value of type " << value << " for field '"
                        << variant.getFieldName(i) << "' of type "
                        << variant.getFieldType(i);
  return success();
}

LogicalResult
ConstructOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  VariantOp variant = lookupVariant(*this, getVariant(), symbolTables);
  if (!variant)
    return emitOpError("refers to unknown rec.variant ") << getVariant();
  return verifyFieldValues(variant, getFields().getTypes(),
                           [&] { return emitOpError(); });
}

//===----------------------------------------------------------------------===//
// MatchOp
//===----------------------------------------------------------------------===//

/// Parses `-> T1, T2` or `-> (T1, T2)` or nothing.
static ParseResult parseArrowTypes(OpAsmParser &parser,
                                   SmallVectorImpl<Type> &types) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  if (failed(parser.parseOptionalLParen()))
    return parser.parseTypeList(types);
  return failure(parser.parseTypeList(types) || parser.parseRParen());
}

static void printArrowTypes(OpAsmPrinter &printer, TypeRange types) {
  if (!types.empty())
    printer << " -> " << types;
}

ParseResult MatchOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand value;
  Type type;
  if (parser.parseOperand(value) || parser.parseColonType(type) ||
      parser.resolveOperand(value, type, result.operands) ||
      parseArrowTypes(parser, result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseLBrace())
    return failure();
  SmallVector<Attribute> cases;
  while (succeeded(parser.parseOptionalKeyword("case"))) {
    StringAttr name;
    SmallVector<OpAsmParser::Argument> arguments;
    Region *region = result.addRegion();
    if (parser.parseSymbolName(name) ||
        parser.parseArgumentList(arguments, AsmParser::Delimiter::OptionalParen,
                                 /*allowType=*/true) ||
        parser.parseRegion(*region, arguments))
      return failure();
    ensureTerminator(*region, parser.getBuilder(), result.location);
    cases.push_back(FlatSymbolRefAttr::get(name));
  }
  result.addAttribute(getCasesAttrName(result.name),
                      parser.getBuilder().getArrayAttr(cases));
  return parser.parseRBrace();
}

/// Prints a region without its entry arguments. Yields without values are
/// implicit.
static void printBody(OpAsmPrinter &printer, Region &body, bool hasResults) {
  printer.printRegion(body, /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/hasResults);
}

void MatchOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getValue() << " : " << getValue().getType();
  printArrowTypes(printer, getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getCasesAttrName()});
  printer << " {";
  for (auto [number, region] : llvm::enumerate(getRegions())) {
    printer.printNewline();
    printer << "case " << getCaseName(number) << '(';
    llvm::interleaveComma(region.getArguments(), printer, [&](auto argument) {
      printer.printRegionArgument(argument);
    });
    printer << ") ";
    printBody(printer, region, getNumResults() != 0);
  }
  printer.printNewline();
  printer << '}';
}

Region *MatchOp::getCase(StringAttr variant) {
  for (auto [number, region] : llvm::enumerate(getRegions()))
    if (getCaseName(number).getAttr() == variant)
      return &region;
  return nullptr;
}

FlatSymbolRefAttr MatchOp::getCaseName(unsigned number) {
  return cast<FlatSymbolRefAttr>(getCases()[number]);
}

YieldOp MatchOp::getYield(unsigned number) {
  return cast<YieldOp>(getRegions()[number].front().getTerminator());
}

LogicalResult MatchOp::verify() {
  if (getCases().size() != getRegions().size())
    return emitOpError("has ") << getCases().size() << " case names but "
                               << getRegions().size() << " regions";
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (Attribute name : getCases())
    if (!seen.insert(name).second)
      return emitOpError("has duplicate case ") << name;
  return success();
}

LogicalResult MatchOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  FlatSymbolRefAttr name = getValue().getType().getName();
  AdtOp adt = lookupAdt(*this, name, symbolTables);
  if (!adt)
    return emitOpError("matches a value of unknown ADT ") << name;
  for (auto [number, region] : llvm::enumerate(getRegions())) {
    FlatSymbolRefAttr caseName = getCaseName(number);
    auto variant =
        symbolTables.lookupSymbolIn<VariantOp>(adt, caseName.getAttr());
    if (!variant)
      return emitOpError("has a case for ")
             << caseName << ", which is not a variant of " << name;
    if (failed(verifyFieldValues(variant, region.getArgumentTypes(), [&] {
          return emitOpError("case ") << caseName << " ";
        })))
      return failure();
  }
  for (VariantOp variant : adt.getVariants())
    if (!getCase(variant.getSymNameAttr()))
      return emitOpError("lacks a case for variant @") << variant.getSymName();
  return success();
}

//===----------------------------------------------------------------------===//
// MapOp, FoldOp
//===----------------------------------------------------------------------===//

/// Parses `%x in %xs` or `(%x, %y) in (%xs, %ys)`. An element may be followed
/// by its type, because the type of a list-shaped ADT does not determine the
/// type of its elements.
static ParseResult
parseWalk(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::Argument> &elements,
          SmallVectorImpl<OpAsmParser::UnresolvedOperand> &lists) {
  auto parseElement = [&]() -> ParseResult {
    OpAsmParser::Argument &element = elements.emplace_back();
    return failure(parser.parseArgument(element) ||
                   (succeeded(parser.parseOptionalColon()) &&
                    parser.parseType(element.type)));
  };
  if (succeeded(parser.parseOptionalLParen())) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseCommaSeparatedList(parseElement) || parser.parseRParen() ||
        parser.parseKeyword("in") ||
        parser.parseOperandList(lists, AsmParser::Delimiter::Paren))
      return failure();
    if (elements.size() != lists.size())
      return parser.emitError(loc, "expected as many elements as lists, got ")
             << elements.size() << " and " << lists.size();
    return success();
  }
  return failure(parseElement() || parser.parseKeyword("in") ||
                 parser.parseOperand(lists.emplace_back()));
}

static void printWalk(OpAsmPrinter &printer, ValueRange elements,
                      ValueRange lists) {
  bool one = lists.size() == 1;
  printer << (one ? " " : " (");
  llvm::interleaveComma(llvm::zip_equal(elements, lists), printer,
                        [&](auto pair) {
                          auto [element, list] = pair;
                          printer << element;
                          if (isa<AdtType>(list.getType()))
                            printer << ": " << element.getType();
                        });
  printer << (one ? " in " : ") in (") << lists << (one ? "" : ")");
}

/// Parses the types of the lists. They determine the types of elements whose
/// types are not written.
static ParseResult parseListTypes(
    OpAsmParser &parser, MutableArrayRef<OpAsmParser::Argument> elements,
    ArrayRef<OpAsmParser::UnresolvedOperand> lists, OperationState &result) {
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types) ||
      parser.resolveOperands(lists, types, loc, result.operands))
    return failure();
  for (auto [element, type] : llvm::zip_equal(elements, types)) {
    if (!element.type)
      element.type = getSequenceElementType(type);
    if (element.type)
      continue;
    if (isa<AdtType>(type))
      return parser.emitError(loc, "expected the element type of ")
             << type << " after the name of the element, as in "
             << "'%x: index in'";
    return parser.emitError(loc,
                            "expected a list, a tensor whose only dynamic "
                            "dimension is the first, or a list-shaped ADT, "
                            "got ")
           << type;
  }
  return success();
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> elements;
  SmallVector<OpAsmParser::UnresolvedOperand> lists;
  Region *body = result.addRegion();
  if (parseWalk(parser, elements, lists) ||
      parseListTypes(parser, elements, lists, result) ||
      parseArrowTypes(parser, result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, elements))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  printWalk(printer, getElements(), getLists());
  printer << " : " << getLists().getTypes();
  printArrowTypes(printer, getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printBody(printer, getBody(), getNumResults() != 0);
}

ParseResult FoldOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> elements, arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> lists, inits;
  Region *body = result.addRegion();
  auto parseInit = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(inits.emplace_back()));
  };
  if (parseWalk(parser, elements, lists) || parser.parseKeyword("init"))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInit) ||
      parseListTypes(parser, elements, lists, result) ||
      parseArrowTypes(parser, result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(inits, result.types, loc, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, result.types))
    argument.type = type;
  arguments.append(elements);
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      static_cast<int32_t>(lists.size()), static_cast<int32_t>(inits.size())};
  return success();
}

void FoldOp::print(OpAsmPrinter &printer) {
  printWalk(printer, getElements(), getLists());
  printer << " init(";
  llvm::interleaveComma(
      llvm::zip_equal(getAccumulators(), getInits()), printer, [&](auto pair) {
        printer << std::get<0>(pair) << " = " << std::get<1>(pair);
      });
  printer << ") : " << getLists().getTypes();
  printArrowTypes(printer, getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getOperandSegmentSizesAttrName()});
  printer << ' ';
  printBody(printer, getBody(), getNumResults() != 0);
}

YieldOp MapOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

YieldOp FoldOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

Block::BlockArgListType FoldOp::getAccumulators() {
  // Before verification, an op may have fewer arguments than initial values.
  Block::BlockArgListType arguments = getBody().getArguments();
  return arguments.take_front(
      std::min<size_t>(arguments.size(), getInits().size()));
}

Block::BlockArgListType FoldOp::getElements() {
  return getBody().getArguments().drop_front(getAccumulators().size());
}

/// Checks the types of a body's arguments: the accumulators, followed by the
/// elements of the lists.
static LogicalResult verifyBodyArguments(Operation *op, Region &body,
                                         TypeRange accumulators,
                                         TypeRange lists) {
  if (lists.empty())
    return op->emitOpError("expects at least one list");
  SmallVector<Type> expected(accumulators);
  for (Type list : lists) {
    Type element = getSequenceElementType(list);
    // The elements of an ADT are checked when symbols are resolved.
    if (!element && expected.size() < body.getNumArguments())
      element = body.getArgument(expected.size()).getType();
    expected.push_back(element ? element : list);
  }
  if (TypeRange(expected) != TypeRange(body.getArgumentTypes()))
    return op->emitOpError("body has argument types (")
           << body.getArgumentTypes() << "); expected (" << expected << ")";
  return success();
}

LogicalResult MapOp::verify() {
  return verifyBodyArguments(*this, getBody(), {}, getLists().getTypes());
}

LogicalResult MapOp::verifyRegions() {
  TypeRange yielded = getYield().getOperandTypes();
  if (yielded.size() != getNumResults())
    return emitOpError("yields ")
           << yielded.size() << " values for " << getNumResults() << " results";
  for (auto [type, result] : llvm::zip_equal(yielded, getResultTypes()))
    if (!gathers(result, type))
      return emitOpError("yields values of type ")
             << type << ", which cannot be the elements of a result of type "
             << result;
  return success();
}

LogicalResult FoldOp::verify() {
  // The interfaces compare the types of initial values, accumulators and
  // results.
  return verifyBodyArguments(*this, getBody(), getResultTypes(),
                             getLists().getTypes());
}

bool rec::takesNode(FunctionOpInterface function) {
  return llvm::any_of(function.getArgumentTypes(), [](Type type) {
    return isa<RecDialect>(type.getDialect());
  });
}

bool rec::walksAdt(Operation *op) {
  auto walks = [](auto loop) {
    return loop &&
           llvm::any_of(loop.getLists().getTypes(), llvm::IsaPred<AdtType>);
  };
  return walks(dyn_cast<MapOp>(op)) || walks(dyn_cast<FoldOp>(op));
}

/// Returns the type of the elements of a list-shaped ADT, or null after an
/// error.
static Type verifyListShaped(Operation *op, AdtType type,
                             SymbolTableCollection &symbolTables) {
  AdtOp adt = lookupAdt(op, type.getName(), symbolTables);
  if (!adt) {
    op->emitOpError("walks a value of unknown ADT ") << type.getName();
    return {};
  }
  std::optional<ListShape> shape = getListShape(adt);
  if (!shape) {
    op->emitOpError("walks a value of ADT ")
        << type.getName()
        << ", which is not list-shaped; a list-shaped ADT has two variants: "
           "one without fields of the ADT's type, and one with two fields, "
           "exactly one of which has the ADT's type";
    return {};
  }
  return shape->getElementType();
}

/// Checks the types of the body arguments for elements of list-shaped ADTs.
static LogicalResult verifyWalkedAdts(Operation *op, ValueRange lists,
                                      ValueRange elements,
                                      SymbolTableCollection &symbolTables) {
  for (auto [list, element] : llvm::zip_equal(lists, elements)) {
    auto adt = dyn_cast<AdtType>(list.getType());
    if (!adt)
      continue;
    Type type = verifyListShaped(op, adt, symbolTables);
    if (!type)
      return failure();
    if (!fitsField(type, element.getType()))
      return op->emitOpError("has an argument of type ")
             << element.getType() << " for the elements of ADT "
             << adt.getName() << ", which have type " << type;
  }
  return success();
}

LogicalResult MapOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyWalkedAdts(*this, getLists(), getElements(), symbolTables);
}

LogicalResult FoldOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyWalkedAdts(*this, getLists(), getElements(), symbolTables);
}

LogicalResult
ElementsOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  AdtType adt = getValue().getType();
  Type type = verifyListShaped(*this, adt, symbolTables);
  if (!type)
    return failure();
  if (!fitsField(ListType::get(type), getList().getType()))
    return emitOpError("has a result of type ")
           << getList().getType() << ", but the elements of ADT "
           << adt.getName() << " have type " << type;
  return success();
}

/// Returns the speculatability of a walk. A walk over several lists fails if
/// their lengths differ, so it must not run speculatively.
static Speculation::Speculatability getWalkSpeculatability(ValueRange lists) {
  return lists.size() == 1 ? Speculation::RecursivelySpeculatable
                           : Speculation::NotSpeculatable;
}

Speculation::Speculatability MapOp::getSpeculatability() {
  return getWalkSpeculatability(getLists());
}

Speculation::Speculatability FoldOp::getSpeculatability() {
  return getWalkSpeculatability(getLists());
}

LogicalResult ElementOp::verify() {
  Type element = getSequenceElementType(getList().getType());
  if (element != getType())
    return emitOpError("has a result of type ")
           << getType() << ", but the elements have type " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Folders and canonicalization
//===----------------------------------------------------------------------===//

OpFoldResult LengthOp::fold(FoldAdaptor) {
  // Each result of a map has as many elements as each list that the map walks.
  auto map = getList().getDefiningOp<MapOp>();
  if (!map)
    return {};
  for (Value list : map.getLists())
    if (getSequenceElementType(list.getType())) {
      getListMutable().assign(list);
      return getResult();
    }
  return {};
}

namespace {

/// Inlines the case of a value whose variant is known.
struct MatchOfConstruct : OpRewritePattern<MatchOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatchOp match,
                                PatternRewriter &rewriter) const override {
    auto construct = match.getValue().getDefiningOp<ConstructOp>();
    if (!construct)
      return failure();
    Region *region = match.getCase(construct.getVariant().getLeafReference());
    // The types may differ: a field may have a tensor type, or a type that
    // represents the tensor.
    if (!region || TypeRange(region->getArgumentTypes()) !=
                       TypeRange(construct.getFields().getTypes()))
      return failure();
    Operation *yield = region->front().getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.eraseOp(yield);
    // Replace yielded block arguments, because the block is about to be erased.
    for (Value &result : results)
      if (auto argument = dyn_cast<BlockArgument>(result);
          argument && argument.getOwner() == &region->front())
        result = construct.getFields()[argument.getArgNumber()];
    rewriter.inlineBlockBefore(&region->front(), match, construct.getFields());
    rewriter.replaceOp(match, results);
    return success();
  }
};

/// Drops unused results and the corresponding operands of yields.
template <typename OpTy>
struct DropUnusedResults : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    BitVector unused(op->getNumResults());
    SmallVector<Type> types;
    for (OpResult result : op->getResults())
      if (result.use_empty())
        unused.set(result.getResultNumber());
      else
        types.push_back(result.getType());
    if (unused.none())
      return failure();

    OperationState state(op.getLoc(), op->getName(), op->getOperands(), types,
                         op->getAttrs());
    for (unsigned i = 0, e = op->getNumRegions(); i != e; ++i)
      state.addRegion();
    Operation *replacement = rewriter.create(state);
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), replacement->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.begin());
      Operation *yield = to.front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(unused); });
    }
    SmallVector<Value> results(op->getNumResults());
    unsigned next = 0;
    for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
      if (!unused.test(i))
        results[i] = replacement->getResult(next++);
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void MatchOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<MatchOfConstruct, DropUnusedResults<MatchOp>>(context);
}

void MapOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<DropUnusedResults<MapOp>>(context);
}

#define GET_OP_CLASSES
#include "Batch/Dialect/Rec/RecOps.cpp.inc"
