//===- UProgToSCF.cpp - Lower control flow of programs to scf -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/UProgToSCF/UProgToSCF.h"
#include "Batch/Conversion/UProgToSCF/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTUPROGTOSCFPASS
#include "Batch/Conversion/UProgToSCF/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;

/// Moves the regions of a control-flow op to the regions of an scf op, and
/// converts their types.
static LogicalResult moveRegions(MutableArrayRef<Region> from,
                                 MutableArrayRef<Region> to,
                                 const TypeConverter &converter,
                                 ConversionPatternRewriter &rewriter) {
  for (auto [source, target] : llvm::zip_equal(from, to)) {
    rewriter.inlineRegionBefore(source, target, target.end());
    if (failed(rewriter.convertRegionTypes(&target, converter)))
      return failure();
  }
  return success();
}

namespace {

struct ForLowering : OpConversionPattern<uprog::ForOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(uprog::ForOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    Value step = operands.getStep();
    if (!step)
      step = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 1);
    auto loop =
        scf::ForOp::create(rewriter, op.getLoc(), operands.getLower(),
                           operands.getUpper(), step, operands.getInits());
    rewriter.eraseBlock(loop.getBody());
    if (failed(moveRegions(op->getRegions(), loop->getRegions(), *typeConverter,
                           rewriter)))
      return failure();
    rewriter.replaceOp(op, loop);
    return success();
  }
};

struct BranchLowering : OpConversionPattern<uprog::BranchOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(uprog::BranchOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(typeConverter->convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(
          op, "one of its types cannot be converted");
    // The default is the first region of both ops.
    auto branch = scf::IndexSwitchOp::create(
        rewriter, op.getLoc(), types, operands.getSelector(), op.getCases(),
        op.getCases().size());
    if (failed(moveRegions(op->getRegions(), branch->getRegions(),
                           *typeConverter, rewriter)))
      return failure();
    if (branch.getDefaultRegion().empty()) {
      rewriter.createBlock(&branch.getDefaultRegion());
      scf::YieldOp::create(rewriter, op.getLoc());
    }
    rewriter.replaceOp(op, branch);
    return success();
  }
};

struct WhileLowering : OpConversionPattern<uprog::WhileOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(uprog::WhileOp op, OpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(typeConverter->convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(
          op, "one of its types cannot be converted");
    auto loop =
        scf::WhileOp::create(rewriter, op.getLoc(), types, operands.getInits());
    if (failed(moveRegions(op->getRegions(), loop->getRegions(), *typeConverter,
                           rewriter)))
      return failure();
    rewriter.replaceOp(op, loop);
    return success();
  }
};

/// Lowers the terminator of a region whose parent op is already lowered.
template <class From, class To>
struct EndLowering : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(From op, typename From::Adaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<scf::ForOp, scf::IndexSwitchOp, scf::WhileOp>(op->getParentOp()))
      return rewriter.notifyMatchFailure(op, "it does not end control flow");
    rewriter.replaceOpWithNewOp<To>(op, TypeRange(), operands.getOperands());
    return success();
  }
};

struct ConvertUProgToSCFPass
    : batch::impl::ConvertUProgToSCFPassBase<ConvertUProgToSCFPass> {
  void runOnOperation() override {
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    RewritePatternSet patterns(&getContext());
    batch::populateUProgToSCFPatterns(converter, patterns);
    ConversionTarget target(getContext());
    target.addLegalDialect<scf::SCFDialect, arith::ArithDialect>();
    target.addIllegalOp<uprog::ForOp, uprog::BranchOp, uprog::WhileOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void batch::populateUProgToSCFPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<ForLowering, BranchLowering, WhileLowering,
               EndLowering<uprog::ConditionOp, scf::ConditionOp>,
               EndLowering<uprog::YieldOp, scf::YieldOp>>(
      converter, patterns.getContext());
}

SmallVector<Value> batch::makeLeastLoop(uprog::ReduceOp reduce, Value upper,
                                        Value first, int64_t step,
                                        ConversionPatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(reduce.getLoc(), rewriter);
  Type i64 = b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, i64, value);
  };
  size_t count = reduce.getKeys().size();
  Value end = arith::IndexCastOp::create(b, i64, upper);
  SmallVector<Value> start(count,
                           constant(std::numeric_limits<int64_t>::max()));
  start.append(count, constant(0));
  auto loop = scf::ForOp::create(b, first, end, constant(step), start);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value index = arith::IndexCastOp::create(b, b.getIndexType(), number);
  rewriter.inlineBlockBefore(&reduce.getBody().front(), loop.getBody(),
                             loop.getBody()->end(), index);
  Operation *yield = &loop.getBody()->back();
  b.setInsertionPoint(yield);
  SmallVector<Value> keys, numbers;
  for (auto [i, key] : llvm::enumerate(yield->getOperands())) {
    Value last = loop.getRegionIterArg(i);
    Value less = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key, last);
    keys.push_back(arith::SelectOp::create(b, less, key, last));
    numbers.push_back(arith::SelectOp::create(
        b, less, number, loop.getRegionIterArg(count + i)));
  }
  llvm::append_range(keys, numbers);
  scf::YieldOp::create(b, keys);
  rewriter.eraseOp(yield);
  return SmallVector<Value>(loop.getResults());
}
