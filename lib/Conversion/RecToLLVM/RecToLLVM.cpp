//===- RecToLLVM.cpp - Lower rec to scf, arith and llvm -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/RecToLLVM/RecToLLVM.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Moves the only block of `region` before `position`, replaces its arguments
/// with `values` and removes its yield. A null value belongs to an argument
/// without uses. Returns the converted yielded values.
FailureOr<SmallVector<Value>> inlineBody(Region &region, ArrayRef<Value> values,
                                         Block *block, Block::iterator position,
                                         const TypeConverter &converter,
                                         ConversionPatternRewriter &rewriter) {
  TypeConverter::SignatureConversion arguments(values.size());
  for (auto [i, value] : llvm::enumerate(values))
    if (value)
      arguments.remapInput(i, value);
  Block *body =
      rewriter.applySignatureConversion(&region.front(), arguments, &converter);
  Operation *yield = body->getTerminator();
  rewriter.inlineBlockBefore(body, block, position);
  rewriter.setInsertionPoint(yield);
  SmallVector<Value> yielded;
  if (failed(rewriter.getRemappedValues(yield->getOperands(), yielded)))
    return failure();
  rewriter.setInsertionPointAfter(yield);
  rewriter.eraseOp(yield);
  return yielded;
}

class RecPatternBase {
protected:
  explicit RecPatternBase(const rec::VariantNumbering &numbering)
      : numbering(numbering) {}
  const rec::VariantNumbering &numbering;
};

/// Lowers a construct to a new node of the forest.
struct ConvertConstruct : OpConversionPattern<rec::ConstructOp>,
                          private RecPatternBase {
  ConvertConstruct(const TypeConverter &converter, MLIRContext *context,
                   const rec::VariantNumbering &numbering)
      : OpConversionPattern(converter, context), RecPatternBase(numbering) {}

  LogicalResult
  matchAndRewrite(rec::ConstructOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t number = numbering.getNumber(op.getVariant());
    if (number < 0)
      return rewriter.notifyMatchFailure(op, "unknown variant");
    ContextBuilder build(rewriter, op.getLoc());
    Value node = build.makeNode(number, op->hasAttr(kReservedAttr));
    for (auto [i, field] : llvm::enumerate(adaptor.getFields()))
      build.storeNodeCell(node, i, build.toCell(field));
    rewriter.replaceOp(op, node);
    return success();
  }
};

/// Lowers a match to a switch over the variant of a node. If there is only one
/// variant, omits the switch.
struct ConvertMatch : OpConversionPattern<rec::MatchOp>,
                      private RecPatternBase {
  ConvertMatch(const TypeConverter &converter, MLIRContext *context,
               const rec::VariantNumbering &numbering)
      : OpConversionPattern(converter, context), RecPatternBase(numbering) {}

  LogicalResult
  matchAndRewrite(rec::MatchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    SmallVector<int64_t> numbers;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    for (unsigned i = 0, e = op.getNumRegions(); i != e; ++i) {
      numbers.push_back(
          numbering.getNumber(op.getValue().getType(), op.getCaseName(i)));
      if (numbers.back() < 0)
        return rewriter.notifyMatchFailure(op, "unknown variant");
    }

    if (numbers.size() == 1) {
      auto yielded = convertCase(op, 0, adaptor.getValue(), op->getBlock(),
                                 op->getIterator(), rewriter);
      if (failed(yielded))
        return failure();
      rewriter.replaceOp(op, *yielded);
      return success();
    }

    // The last case is the default: no other variant can occur, because values
    // are checked against their declaration when they enter the program.
    ContextBuilder build(rewriter, op.getLoc());
    Value variant = arith::IndexCastOp::create(
        rewriter, op.getLoc(), rewriter.getIndexType(),
        build.loadVariant(adaptor.getValue()));
    auto branch = scf::IndexSwitchOp::create(
        rewriter, op.getLoc(), types, variant, ArrayRef(numbers).drop_back(),
        numbers.size() - 1);
    for (unsigned i = 0, e = op.getNumRegions(); i != e; ++i) {
      Region &region =
          i + 1 == e ? branch.getDefaultRegion() : branch.getCaseRegions()[i];
      Block *block = rewriter.createBlock(&region);
      auto yielded =
          convertCase(op, i, adaptor.getValue(), block, block->end(), rewriter);
      if (failed(yielded))
        return failure();
      rewriter.setInsertionPointToEnd(block);
      scf::YieldOp::create(rewriter, op.getLoc(), *yielded);
    }
    rewriter.replaceOp(op, branch);
    return success();
  }

private:
  /// Moves the body of a case to `position` in `block`, preceded by loads of
  /// the fields that it uses. Returns the yielded values.
  FailureOr<SmallVector<Value>>
  convertCase(rec::MatchOp op, unsigned number, Value node, Block *block,
              Block::iterator position,
              ConversionPatternRewriter &rewriter) const {
    rewriter.setInsertionPoint(block, position);
    ContextBuilder build(rewriter, op.getLoc());
    Region &region = op.getRegions()[number];
    SmallVector<Value> fields;
    for (BlockArgument argument : region.getArguments()) {
      if (argument.use_empty()) {
        fields.push_back({});
        continue;
      }
      Type type = getTypeConverter()->convertType(argument.getType());
      if (!type)
        return failure();
      Value cell = build.loadNodeCell(node, argument.getArgNumber());
      fields.push_back(build.fromCell(cell, type));
    }
    return inlineBody(region, fields, block, position, *getTypeConverter(),
                      rewriter);
  }
};

/// Lowers a rec.elements to entries of the list pool, which are filled link by
/// link. The links are counted first, so all entries can be reserved at once.
struct ConvertElements : OpConversionPattern<rec::ElementsOp>,
                         private RecPatternBase {
  ConvertElements(const TypeConverter &converter, MLIRContext *context,
                  const rec::VariantNumbering &numbering)
      : OpConversionPattern(converter, context), RecPatternBase(numbering) {}

  LogicalResult
  matchAndRewrite(rec::ElementsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    rec::AdtType type = op.getValue().getType();
    auto shape = rec::getListShape(
        SymbolTable::lookupNearestSymbolFrom<rec::AdtOp>(op, type.getName()));
    int64_t link =
        numbering.getNumber(type, FlatSymbolRefAttr::get(shape->link));
    ContextBuilder build(rewriter, loc);
    Value context = build.getContext();
    Value zero = build.constant(0), one = build.constant(1);
    auto count = scf::WhileOp::create(
        rewriter, loc, TypeRange{zero.getType(), zero.getType()},
        ValueRange{adaptor.getValue(), zero},
        [&](OpBuilder &before, Location loc, ValueRange values) {
          ContextBuilder build(before, loc, context);
          Value variant = build.loadVariant(values[0]);
          Value isLink =
              arith::CmpIOp::create(before, loc, arith::CmpIPredicate::eq,
                                    variant, build.constant(link));
          scf::ConditionOp::create(before, loc, isLink, values);
        },
        [&](OpBuilder &after, Location loc, ValueRange values) {
          ContextBuilder build(after, loc, context);
          Value rest = build.loadNodeCell(values[0], shape->rest);
          Value sum = arith::AddIOp::create(after, loc, values[1], one);
          scf::YieldOp::create(after, loc, ValueRange{rest, sum});
        });
    Value length = count.getResult(1);
    Value begin = build.reserveEntries(length);
    scf::ForOp::create(
        rewriter, loc, zero, length, one, adaptor.getValue(),
        [&](OpBuilder &body, Location loc, Value i, ValueRange node) {
          ContextBuilder build(body, loc, context);
          Value entry = arith::AddIOp::create(body, loc, begin, i);
          build.storeEntry(entry, build.loadNodeCell(node[0], shape->element));
          Value rest = build.loadNodeCell(node[0], shape->rest);
          scf::YieldOp::create(body, loc, rest);
        });
    rewriter.replaceOp(op, build.makeList(length, begin));
    return success();
  }
};

/// Lists that a map or fold walks together.
class Walk {
public:
  /// Emits code that unpacks the lists and checks that their lengths are equal.
  Walk(ValueRange lists, ContextBuilder &build, OpBuilder &builder,
       Location loc) {
    for (Value list : lists) {
      begins.push_back(build.listBegin(list));
      Value other = build.listLength(list);
      if (!length) {
        length = other;
        continue;
      }
      Value differ = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ne, length, other);
      scf::IfOp::create(builder, loc, differ,
                        [&](OpBuilder &nested, Location loc) {
                          ContextBuilder(nested, loc, build.getContext())
                              .fail(BATCH_ERROR_RAGGED_MISMATCH, length, other);
                          scf::YieldOp::create(nested, loc);
                        });
    }
  }

  Value getLength() const { return length; }

  /// Emits loads of the elements at position `i` for `arguments`. The value for
  /// an argument without uses is null.
  FailureOr<SmallVector<Value>>
  loadElements(Value i, ArrayRef<BlockArgument> arguments,
               const TypeConverter &converter, ContextBuilder &build,
               OpBuilder &builder, Location loc) const {
    SmallVector<Value> elements;
    for (auto [begin, argument] : llvm::zip_equal(begins, arguments)) {
      if (argument.use_empty()) {
        elements.push_back({});
        continue;
      }
      Type type = converter.convertType(argument.getType());
      if (!type)
        return failure();
      Value entry = arith::AddIOp::create(builder, loc, begin, i);
      elements.push_back(build.fromCell(build.loadEntry(entry), type));
    }
    return elements;
  }

private:
  Value length;
  SmallVector<Value> begins;
};

/// Lowers a map to a loop that fills the result lists. All their entries are
/// reserved before the loop, so lists that the loop creates cannot interleave
/// with them.
struct ConvertMap : OpConversionPattern<rec::MapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(rec::MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (rec::walksAdt(op))
      return rewriter.notifyMatchFailure(op, "it walks a value of an ADT");
    Location loc = op.getLoc();
    ContextBuilder build(rewriter, loc);
    Walk walk(adaptor.getLists(), build, rewriter, loc);
    SmallVector<Value> results, begins;
    if (op.getNumResults() != 0) {
      Value count = arith::MulIOp::create(rewriter, loc, walk.getLength(),
                                          build.constant(op.getNumResults()));
      Value begin = build.reserveEntries(count);
      for (unsigned i = 0, e = op.getNumResults(); i != e; ++i) {
        if (i != 0)
          begin = arith::AddIOp::create(rewriter, loc, begin, walk.getLength());
        begins.push_back(begin);
        results.push_back(build.makeList(walk.getLength(), begin));
      }
    }

    auto loop = scf::ForOp::create(rewriter, loc, build.constant(0),
                                   walk.getLength(), build.constant(1));
    // Attributes of the map's rounds also apply to the loop's rounds.
    loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    Operation *end = loop.getBody()->getTerminator();
    rewriter.setInsertionPoint(end);
    Value i = loop.getInductionVar();
    auto elements = walk.loadElements(i, op.getElements(), *getTypeConverter(),
                                      build, rewriter, loc);
    if (failed(elements))
      return failure();
    auto yielded =
        inlineBody(op.getBody(), *elements, loop.getBody(), end->getIterator(),
                   *getTypeConverter(), rewriter);
    if (failed(yielded))
      return failure();
    rewriter.setInsertionPoint(end);
    for (auto [begin, value] : llvm::zip_equal(begins, *yielded)) {
      Value entry = arith::AddIOp::create(rewriter, loc, begin, i);
      build.storeEntry(entry, build.toCell(value));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Lowers a fold to a loop that carries the accumulators.
struct ConvertFold : OpConversionPattern<rec::FoldOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(rec::FoldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (rec::walksAdt(op))
      return rewriter.notifyMatchFailure(op, "it walks a value of an ADT");
    Location loc = op.getLoc();
    ContextBuilder build(rewriter, loc);
    Walk walk(adaptor.getLists(), build, rewriter, loc);
    auto loop =
        scf::ForOp::create(rewriter, loc, build.constant(0), walk.getLength(),
                           build.constant(1), adaptor.getInits());
    Block *body = loop.getBody();
    // Without accumulators, the builder creates the terminator.
    if (!body->empty())
      rewriter.eraseOp(body->getTerminator());
    rewriter.setInsertionPointToEnd(body);
    auto elements =
        walk.loadElements(loop.getInductionVar(), op.getElements(),
                          *getTypeConverter(), build, rewriter, loc);
    if (failed(elements))
      return failure();
    SmallVector<Value> arguments(loop.getRegionIterArgs());
    llvm::append_range(arguments, *elements);
    auto yielded = inlineBody(op.getBody(), arguments, body, body->end(),
                              *getTypeConverter(), rewriter);
    if (failed(yielded))
      return failure();
    rewriter.setInsertionPointToEnd(body);
    scf::YieldOp::create(rewriter, loc, *yielded);
    rewriter.replaceOp(op, loop);
    return success();
  }
};

struct ConvertEmpty : OpConversionPattern<rec::EmptyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(rec::EmptyOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ContextBuilder build(rewriter, op.getLoc());
    Value zero = build.constant(0);
    rewriter.replaceOp(op, build.makeList(/*length=*/zero, /*begin=*/zero));
    return success();
  }
};

/// Lowers an append to a call. Only the runtime can determine which lists have
/// space after them.
struct ConvertAppend : OpConversionPattern<rec::AppendOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(rec::AppendOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ContextBuilder build(rewriter, op.getLoc());
    Value element = build.toCell(adaptor.getElement());
    rewriter.replaceOp(
        op, build.call(RuntimeFunction::append, {adaptor.getList(), element}));
    return success();
  }
};

struct ConvertLength : OpConversionPattern<rec::LengthOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(rec::LengthOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ContextBuilder build(rewriter, op.getLoc());
    Type type = getTypeConverter()->convertType(op.getType());
    Value length = build.listLength(adaptor.getList());
    rewriter.replaceOp(op, build.fromCell(length, type));
    return success();
  }
};

struct ConvertElement : OpConversionPattern<rec::ElementOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(rec::ElementOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ContextBuilder build(rewriter, loc);
    Type type = getTypeConverter()->convertType(op.getType());
    Value position = build.toCell(adaptor.getPosition());
    Value length = build.listLength(adaptor.getList());
    Value outside = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::uge, position, length);
    scf::IfOp::create(
        rewriter, loc, outside, [&](OpBuilder &then, Location loc) {
          ContextBuilder(then, loc, build.getContext())
              .fail(BATCH_ERROR_ELEMENT_OUT_OF_BOUNDS, position, length);
          scf::YieldOp::create(then, loc);
        });
    Value entry = arith::AddIOp::create(
        rewriter, loc, build.listBegin(adaptor.getList()), position);
    rewriter.replaceOp(op, build.fromCell(build.loadEntry(entry), type));
    return success();
  }
};

/// Erases a phase, because the schedule already respects phases.
struct ConvertPhase : OpConversionPattern<rec::PhaseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(rec::PhaseOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

/// Converts selects whose type is not legal. Canonicalization creates them from
/// branches.
struct ConvertSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (getTypeConverter()->isLegal(op.getType()))
      return failure();
    // The condition may also be a tensor with one value per element.
    if (!op.getCondition().getType().isInteger(1))
      return rewriter.notifyMatchFailure(op, "it selects elements, not values");
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, adaptor.getCondition(),
                                                 adaptor.getTrueValue(),
                                                 adaptor.getFalseValue());
    return success();
  }
};

} // namespace

void batch::populateRecToLLVMTypeConversions(TypeConverter &converter) {
  auto toCell = [](Type type) -> Type {
    return IntegerType::get(type.getContext(), 64);
  };
  converter.addConversion([=](rec::AdtType type) { return toCell(type); });
  converter.addConversion([=](rec::ListType type) { return toCell(type); });
  converter.addConversion([=](RankedTensorType type) { return toCell(type); });
}

LogicalResult batch::checkRecToLLVM(Operation *op) {
  WalkResult result = op->walk([](Operation *nested) {
    if (!rec::walksAdt(nested))
      return WalkResult::advance();
    nested->emitOpError("walks a value of a list-shaped ADT; run "
                        "batch-list-elements first");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void batch::populateRecToLLVMConversionPatterns(
    const TypeConverter &converter, const rec::VariantNumbering &numbering,
    RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertConstruct, ConvertElements, ConvertMatch>(
      converter, context, numbering);
  patterns.add<ConvertAppend, ConvertElement, ConvertEmpty, ConvertFold,
               ConvertLength, ConvertMap, ConvertPhase, ConvertSelect>(
      converter, context);
}

void batch::populateFunctionConversionsAndLegality(
    const TypeConverter &converter, RewritePatternSet &patterns,
    ConversionTarget &target) {
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
    return converter.isSignatureLegal(function.getFunctionType()) &&
           converter.isLegal(&function.getBody());
  });
  target.addDynamicallyLegalOp<arith::SelectOp, func::CallOp, func::ReturnOp>(
      [&](Operation *op) { return converter.isLegal(op); });
}
