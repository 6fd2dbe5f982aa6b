//===- UProgOps.cpp - Operations of the uprog dialect ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/TableLayout.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Dialect/UProg/Uniformity.h"
#include "InstanceOps.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::uprog;

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

namespace {
/// Arguments and results of a function, as parsed.
struct Signature {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;

  ParseResult parse(OpAsmParser &parser) {
    bool variadic = false;
    return function_interface_impl::parseFunctionSignatureWithArguments(
        parser, /*allowVariadic=*/false, arguments, variadic, resultTypes,
        resultAttrs);
  }

  template <class FunctionOp>
  void addTo(OperationState &state, Builder &builder) {
    SmallVector<Type> types;
    for (const OpAsmParser::Argument &argument : arguments)
      types.push_back(argument.type);
    state.addAttribute(
        FunctionOp::getFunctionTypeAttrName(state.name),
        TypeAttr::get(builder.getFunctionType(types, resultTypes)));
    call_interface_impl::addArgAndResultAttrs(
        builder, state, arguments, resultAttrs,
        FunctionOp::getArgAttrsAttrName(state.name),
        FunctionOp::getResAttrsAttrName(state.name));
  }
};
} // namespace

ParseResult OperatorOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  FlatSymbolRefAttr kernel;
  Signature signature;
  (void)impl::parseOptionalVisibilityKeyword(parser, result.attributes);
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("of")) &&
      parser.parseAttribute(kernel, getKernelAttrName(result.name),
                            result.attributes))
    return failure();
  if (signature.parse(parser) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  signature.addTo<OperatorOp>(result, parser.getBuilder());
  OptionalParseResult body =
      parser.parseOptionalRegion(*result.addRegion(), signature.arguments);
  return body.has_value() ? *body : success();
}

void OperatorOp::print(OpAsmPrinter &printer) {
  StringRef visibility = SymbolTable::getVisibilityAttrName();
  printer << ' ';
  if (auto attr = (*this)->getAttrOfType<StringAttr>(visibility))
    printer << attr.getValue() << ' ';
  printer.printSymbolName(getSymName());
  if (FlatSymbolRefAttr kernel = getKernelAttr())
    printer << " of " << kernel;
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {visibility, getSymNameAttrName(), getFunctionTypeAttrName(),
       getKernelAttrName(), getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ResultAttr OperatorOp::getWrite(unsigned index) {
  if (auto write = getResultAttrOfType<ResultAttr>(index, kResultAttr))
    return write;
  return ResultAttr::get(getContext(), /*siblings=*/1, /*position=*/0,
                         AffineMap(), /*block_bytes=*/0, /*rows=*/false);
}

/// Returns the number of `read` if its kind is `kind`, or nullopt otherwise.
static std::optional<int64_t> getNumber(OperandAttr read, OperandKind kind) {
  if (read && read.getKind() == kind)
    return read.getNumber();
  return std::nullopt;
}

std::optional<int64_t> OperatorOp::getParameter(unsigned index) {
  return getNumber(getRead(index), OperandKind::Shared);
}

std::optional<int64_t> OperatorOp::getOffsets(unsigned index) {
  return getNumber(getRead(index), OperandKind::Offsets);
}

std::optional<int64_t> OperatorOp::getRagged(unsigned index) {
  OperandAttr read = getRead(index);
  if (read && read.getRagged() >= 0)
    return read.getRagged();
  return std::nullopt;
}

/// Checks that a body ends in a yield of the function's results.
template <typename FunctionOp>
static LogicalResult verifyYield(FunctionOp op) {
  if (op.getBody().empty())
    return op.emitOpError("requires a body");
  auto yield = dyn_cast<YieldOp>(op.getBody().front().back());
  if (!yield)
    return op.emitOpError("must end in uprog.yield");
  if (yield.getOperandTypes() != TypeRange(op.getResultTypes()))
    return yield.emitOpError("operand types differ from the result types of ")
           << op.getSymNameAttr();
  return success();
}

static bool hasRows(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && tensor.isDynamicDim(0);
}

/// Checks `layout`, which may be null, for rows of this type.
static LogicalResult verifyLayout(function_ref<InFlightDiagnostic()> emitError,
                                  Type rows, AffineMap layout) {
  if (!layout)
    return success();
  auto type = cast<RankedTensorType>(rows);
  ArrayRef<int64_t> row = type.getShape().drop_front();
  if (ShapedType::isDynamicShape(row) ||
      !type.getElementType().isIntOrIndexOrFloat())
    return emitError() << "has a layout, which is not supported for rows of "
                       << type;
  return batch::TableLayout::verify(
      emitError, row, batch::elementBytes(type.getElementType()), layout);
}

/// Checks that an argument can be read as its `uprog.operand` specifies.
static LogicalResult verifyOperand(OperatorOp op, unsigned index) {
  auto error = [&]() { return op.emitOpError("argument #") << index << ' '; };
  auto type = dyn_cast<RankedTensorType>(op.getArgumentTypes()[index]);
  if (!type)
    return error() << "must be a ranked tensor";
  OperandAttr read = op.getRead(index);
  if (!read)
    return error() << "requires '" << kOperandAttr
                   << "', which specifies how it is read";
  switch (read.getKind()) {
  case OperandKind::Shared:
    return success();
  case OperandKind::Offsets:
    if (type.getRank() != 1 || !hasRows(type) ||
        !type.getElementType().isIndex())
      return error() << "must be offsets of type tensor<?xindex>, got " << type;
    return success();
  case OperandKind::Scalar:
    if (type.getRank() != 1 || !hasRows(type))
      return error() << "must have one scalar per task, tensor<?xT>, got "
                     << type;
    return success();
  case OperandKind::Gather:
  case OperandKind::Rows:
    if (!hasRows(type))
      return error() << "must be shared or have rows, tensor<?x...>, got "
                     << type;
    return verifyLayout(error, type, read.getLayout());
  }
  llvm_unreachable("unknown kind of operand");
}

/// Checks that each ragged domain with rows has exactly one argument for its
/// offsets, and that no other domain has one.
static LogicalResult verifyDomains(OperatorOp op) {
  llvm::SmallMapVector<int64_t, unsigned, 2> offsets, rows;
  for (unsigned i = 1, e = op.getNumArguments(); i < e; ++i) {
    if (std::optional<int64_t> domain = op.getRagged(i))
      rows.try_emplace(*domain, i);
    if (std::optional<int64_t> domain = op.getOffsets(i))
      if (!offsets.try_emplace(*domain, i).second)
        return op.emitOpError("argument #")
               << i << " has the offsets of ragged domain " << *domain
               << ", but another argument already has them";
  }
  for (auto [domain, index] : rows)
    if (!offsets.contains(domain))
      return op.emitOpError("argument #")
             << index << " has rows of ragged domain " << domain
             << ", but no argument has its offsets";
  for (auto [domain, index] : offsets)
    if (!rows.contains(domain))
      return op.emitOpError("argument #")
             << index << " has offsets of ragged domain " << domain
             << ", but no argument has its rows";
  return success();
}

LogicalResult OperatorOp::verify() {
  if (getNumArguments() == 0 || !getArgumentTypes()[0].isIndex() || getRead(0))
    return emitOpError("the first argument must be the number of tasks, an "
                       "index");
  for (unsigned i = 1, e = getNumArguments(); i < e; ++i)
    if (failed(verifyOperand(*this, i)))
      return failure();
  if (failed(verifyDomains(*this)))
    return failure();
  for (auto [index, type] : llvm::enumerate(getResultTypes())) {
    auto error = [&, index = index]() {
      return emitOpError("result #") << index << ' ';
    };
    if (!hasRows(type))
      return error() << "must have rows (tensor<?x...>), got " << type;
    if (failed(verifyLayout(error, type, getWrite(index).getLayout())))
      return failure();
  }
  if (failed(verifyYield(*this)))
    return failure();
  // Either all ops of the body are stages, or none are.
  Block &body = getBody().front();
  bool staged = bool(getStaging());
  for (Operation &op : body.without_terminator())
    if (isa<StageOp>(op) != staged)
      return op.emitOpError(staged
                                ? "is in an operator with stages, but outside "
                                  "of them; move it into a uprog.stage"
                                : "is in an operator without 'uprog.staging'; "
                                  "run uprog-stage-operators");
  if (staged)
    for (Value value : body.getTerminator()->getOperands())
      if (!value.getDefiningOp<StageOp>())
        return body.getTerminator()->emitOpError(
            "yields a value that is not a result of a stage");
  return success();
}

LogicalResult OperatorOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FlatSymbolRefAttr kernel = getKernelAttr();
  if (!kernel)
    return success();
  // The copy of an operator for a device is not in the kernel's module, so skip
  // this copy.
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, kernel);
  if (!symbol)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(symbol);
  if (!function)
    return emitOpError("refers to ") << kernel << ", which is not a kernel";
  unsigned operands = 0;
  for (unsigned i = 1, e = getNumArguments(); i < e; ++i)
    operands += !getOffsets(i);
  if (operands != function.getNumArguments() ||
      getNumResults() != function.getNumResults())
    return emitOpError("has ")
           << operands << " operands and " << getNumResults()
           << " results, but its kernel " << kernel << " has "
           << function.getNumArguments() << " and " << function.getNumResults();
  return success();
}

OperatorMap uprog::mapOperators(ModuleOp module) {
  OperatorMap operators;
  for (auto op : module.getOps<OperatorOp>())
    if (FlatSymbolRefAttr kernel = op.getKernelAttr())
      operators.try_emplace(kernel.getAttr(), op);
  return operators;
}

//===----------------------------------------------------------------------===//
// StageOp
//===----------------------------------------------------------------------===//

/// Parses `-> (type, type scratch 128)`.
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
  StringAttr name;
  Signature signature;
  StringRef level;
  SMLoc loc;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             result.attributes) ||
      signature.parse(parser) || parser.parseKeyword("level") ||
      parser.parseLParen() || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&level) || parser.parseRParen() ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  std::optional<Level> kind = symbolizeLevel(level);
  if (!kind)
    return parser.emitError(loc, "unknown level '")
           << level << "'; expected block, cluster or device";
  result.addAttribute(getLevelAttrName(result.name),
                      LevelAttr::get(parser.getContext(), *kind));
  signature.addTo<ProgramOp>(result, parser.getBuilder());
  return parser.parseRegion(*result.addRegion(), signature.arguments);
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
    return emitOpError("must not have results");
  return verifyYield(*this);
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &) {
  if (failed(verifyInstances(*this)))
    return failure();
  return verifyUniformity(*this);
}

//===----------------------------------------------------------------------===//
// RunOp
//===----------------------------------------------------------------------===//

ProgramOp RunOp::getProgram() {
  // In the code of a device, programs still belong to the enclosing module.
  return SymbolTable::lookupNearestSymbolFrom<ProgramOp>(
      (*this)->getParentOfType<ModuleOp>(), getCalleeAttr());
}

/// Checks a `uprog.run` that runs a program. The units of the enclosing program
/// divide the runs among themselves.
static LogicalResult verifyProgramRun(RunOp run, ProgramOp program) {
  if (run.getStep())
    return run.emitOpError(
        "has a step, but runs a program, which takes no step");
  if (run.getLevel())
    return run.emitOpError(
        "has a level, but runs a program, which has its own level");
  SmallVector<Type> types = {IndexType::get(run.getContext())};
  llvm::append_range(types, run.getInputs().getTypes());
  if (TypeRange(program.getArgumentTypes()) != TypeRange(types))
    return run.emitOpError("expects the arguments of ")
           << run.getCalleeAttr()
           << " to be a task number of type index, followed by the operands";
  auto caller = run->getParentOfType<ProgramOp>();
  if (caller && program.getLevel() >= caller.getLevel())
    return run.emitOpError("is in a ")
           << stringifyLevel(caller.getLevel()) << "-level program, but runs "
           << stringifyLevel(program.getLevel()) << "-level program "
           << run.getCalleeAttr()
           << "; tasks require a program of a lower level";
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  if (auto program = dyn_cast_or_null<ProgramOp>(symbol))
    return verifyProgramRun(*this, program);
  // The lowering of a target may already have created a function from the
  // operator.
  bool isCode = isa_and_nonnull<FunctionOpInterface>(symbol) &&
                symbol->hasAttr(kCodeAttr);
  if (!isCode && !isa_and_nonnull<OperatorOp>(symbol))
    return emitOpError("refers to unknown uprog.operator or uprog.program ")
           << getCalleeAttr();
  if (!getStep() || !getInputs().empty())
    return emitOpError("runs an operator, so it must have a step and no "
                       "operands");
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (program && getLevel() && *getLevel() >= program.getLevel())
    return emitOpError("runs on one ")
           << stringifyLevel(*getLevel()) << " in a "
           << stringifyLevel(program.getLevel())
           << "-level program; expected a level below "
           << stringifyLevel(program.getLevel());
  return success();
}
