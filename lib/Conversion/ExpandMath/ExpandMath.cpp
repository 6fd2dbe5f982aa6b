//===- ExpandMath.cpp - Math functions as arithmetic ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/ExpandMath.h"
#include "Batch/Conversion/ExpandMath/Passes.h"
#include "Functions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::batch {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "Batch/Conversion/ExpandMath/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::expansion;

namespace {

/// Returns true for number types and for vectors of static shape.
bool isScalarOrStatic(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? !vector.isScalable() : type.isIntOrIndexOrFloat();
}

/// Returns true for f32, f64 and their vectors of static shape.
bool isExpandable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isScalarOrStatic(type) && (element.isF32() || element.isF64());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Replaces an op on f32 or f64 with code that computes in its result type.
template <typename MathOp>
struct ExpandReal : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;

  virtual SmallVector<Value> build(Code &code, MathOp op) const = 0;

  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const final {
    Type type = op->getResult(0).getType();
    if (!isExpandable(type))
      return rewriter.notifyMatchFailure(op,
                                         "not f32, f64 or a vector of them");
    Code code(rewriter, op.getLoc(), type);
    rewriter.replaceOp(op, build(code, op));
    return success();
  }
};

template <typename MathOp, Value (*buildValue)(Code &, Value)>
struct ExpandUnary : ExpandReal<MathOp> {
  using ExpandReal<MathOp>::ExpandReal;

  SmallVector<Value> build(Code &code, MathOp op) const override {
    return {buildValue(code, op.getOperand())};
  }
};

struct ExpandAtan2 : ExpandReal<math::Atan2Op> {
  using ExpandReal::ExpandReal;

  SmallVector<Value> build(Code &code, math::Atan2Op op) const override {
    return {buildAtan2(code, op.getLhs(), op.getRhs())};
  }
};

struct ExpandSincos : ExpandReal<math::SincosOp> {
  using ExpandReal::ExpandReal;

  SmallVector<Value> build(Code &code, math::SincosOp op) const override {
    auto [sine, cosine] = buildSincos(code, op.getOperand());
    return {sine, cosine};
  }
};

/// Replaces the upstream pattern, which swaps the bounds.
struct ExpandClampf : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value bounded = arith::MinimumFOp::create(rewriter, op.getLoc(),
                                              op.getValue(), op.getMax());
    rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, bounded, op.getMin());
    return success();
  }
};

/// Returns 0, 1 or 2 if `exponent` is a constant with this value in all vector
/// lanes, and std::nullopt otherwise. These powers need no logarithm.
/// Non-constant exponents of 0, 1 or 2 give bit-identical results.
std::optional<int> getSmallExponent(Value exponent) {
  APFloat real(0.0);
  APInt integer;
  for (int n : {0, 1, 2})
    if ((matchPattern(exponent, m_ConstantFloat(&real)) &&
         real.isExactlyValue(n)) ||
        (matchPattern(exponent, m_ConstantInt(&integer)) &&
         integer.getSExtValue() == n))
      return n;
  return std::nullopt;
}

Value buildSmallPower(Code &code, Value x, int exponent) {
  if (exponent == 0)
    return code.real(1.0);
  return exponent == 1 ? x : code.mul(x, x);
}

/// Expands powers, with simpler code for small constant exponents.
template <typename MathOp, Value (*buildPower)(Code &, Value, Value)>
struct ExpandPower : ExpandReal<MathOp> {
  using ExpandReal<MathOp>::ExpandReal;

  SmallVector<Value> build(Code &code, MathOp op) const override {
    if (std::optional<int> small = getSmallExponent(op.getRhs()))
      return {buildSmallPower(code, op.getLhs(), *small)};
    return {buildPower(code, op.getLhs(), op.getRhs())};
  }
};

struct ExpandIpowi : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    if (!isScalarOrStatic(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a number or vector");
    rewriter.replaceOp(
        op, buildIpowi(rewriter, op.getLoc(), op.getLhs(), op.getRhs()));
    return success();
  }
};

/// Rounds halves away from zero. |x| minus its truncation is exact.
Value buildRound(Code &code, Value x) {
  Value magnitude = code.abs(x);
  Value whole = code.trunc(magnitude);
  Value isBelow = code.less(code.sub(magnitude, whole), code.real(0.5));
  Value next = code.add(whole, code.real(1.0));
  // If x is infinite, its fraction is NaN, and the result is `next`: infinity.
  return code.copySign(code.select(isBelow, whole, next), x);
}

/// Expands tests of the class of a float, including 16-bit floats, to
/// comparisons.
template <typename MathOp,
          Value (*build)(OpBuilder &, Location, Value, Value, Value)>
struct ExpandClass : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getOperand().getType();
    // Do not expand smaller floats, which may have no infinities.
    if (!isScalarOrStatic(type) ||
        !isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(
            getElementTypeOrSelf(type)))
      return rewriter.notifyMatchFailure(op, "not a number or vector of them");
    const llvm::fltSemantics &semantics =
        cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
    auto constant = [&](APFloat value) -> Value {
      auto element = FloatAttr::get(getElementTypeOrSelf(type), value);
      if (auto vector = dyn_cast<VectorType>(type))
        return arith::ConstantOp::create(
            rewriter, op.getLoc(),
            DenseElementsAttr::get(vector, Attribute(element)));
      return arith::ConstantOp::create(rewriter, op.getLoc(), element);
    };
    Value magnitude =
        math::AbsFOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(
        op, build(rewriter, op.getLoc(), magnitude,
                  constant(APFloat::getSmallestNormalized(semantics)),
                  constant(APFloat::getInf(semantics))));
    return success();
  }
};

Value buildIsNaN(OpBuilder &b, Location loc, Value magnitude, Value, Value) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, magnitude,
                               magnitude);
}
Value buildIsInf(OpBuilder &b, Location loc, Value magnitude, Value,
                 Value infinity) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, magnitude,
                               infinity);
}
Value buildIsFinite(OpBuilder &b, Location loc, Value magnitude, Value,
                    Value infinity) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, magnitude,
                               infinity);
}
Value buildIsNormal(OpBuilder &b, Location loc, Value magnitude, Value smallest,
                    Value infinity) {
  Value isLarge = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                                        magnitude, smallest);
  return arith::AndIOp::create(
      b, loc, isLarge, buildIsFinite(b, loc, magnitude, smallest, infinity));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns true if `op` is worth replacing with a call to a shared function
/// that contains it.
bool isShared(Operation *op) {
  if (isa<math::PowFOp, math::FPowIOp>(op) &&
      getSmallExponent(op->getOperand(1)))
    return false;
  if (isa<math::IPowIOp>(op))
    return isScalarOrStatic(op->getResult(0).getType());
  return isa<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
             math::Atan2Op, math::AtanOp, math::AtanhOp, math::CbrtOp,
             math::CosOp, math::CoshOp, math::ErfOp, math::ErfcOp, math::Exp2Op,
             math::ExpM1Op, math::ExpOp, math::FPowIOp, math::Log10Op,
             math::Log1pOp, math::Log2Op, math::LogOp, math::PowFOp,
             math::SinOp, math::SincosOp, math::SinhOp, math::TanOp,
             math::TanhOp>(op) &&
         isExpandable(op->getResult(0).getType());
}

struct ExpandMathPass : batch::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateExpandMathPatterns(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    if (auto module = dyn_cast<ModuleOp>(getOperation()); module && share)
      shareFunctions(module);
    walkAndApplyPatterns(getOperation(), patterns);
  }

  /// Replaces every op that isShared() accepts with a call to a function that
  /// contains the op. There is one function per kind and type.
  static void shareFunctions(ModuleOp module) {
    SymbolTable symbols(module);
    OpBuilder builder(module.getContext());
    DenseMap<std::pair<OperationName, Type>, func::FuncOp> functions;
    module.walk([&](Operation *op) {
      auto caller = op->getParentOfType<func::FuncOp>();
      if (!isShared(op) || !caller)
        return;
      auto type =
          builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
      func::FuncOp &function = functions[{op->getName(), type}];
      if (!function) {
        if (isa<math::CosOp, math::SinOp, math::SincosOp, math::TanOp>(op))
          addLargeAngle(symbols, getElementTypeOrSelf(op->getOperand(0)),
                        op->getLoc());
        builder.setInsertionPointToEnd(module.getBody());
        function = func::FuncOp::create(
            builder, op->getLoc(),
            ("batch." + op->getName().stripDialect()).str(), type);
        function.setPrivate();
        symbols.insert(function);
        builder.setInsertionPointToStart(function.addEntryBlock());
        Operation *copy = builder.clone(*op);
        copy->setOperands(function.getArguments());
        func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
      }
      if (caller == function)
        return;
      builder.setInsertionPoint(op);
      auto call = func::CallOp::create(builder, op->getLoc(), function,
                                       op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
    });
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

void mlir::batch::populateExpandMathPatterns(RewritePatternSet &patterns) {
  // The upstream pattern for rsqrt is sufficient.
  math::populateExpansionPatterns(patterns, {"rsqrt"});
  patterns.add<
      ExpandUnary<math::AcosOp, buildAcos>,
      ExpandUnary<math::AcoshOp, buildAcosh>,
      ExpandUnary<math::AsinOp, buildAsin>,
      ExpandUnary<math::AsinhOp, buildAsinh>,
      ExpandUnary<math::AtanOp, buildAtan>,
      ExpandUnary<math::AtanhOp, buildAtanh>,
      ExpandUnary<math::CbrtOp, buildCbrt>, ExpandUnary<math::CosOp, buildCos>,
      ExpandUnary<math::CoshOp, buildCosh>, ExpandUnary<math::ErfOp, buildErf>,
      ExpandUnary<math::ErfcOp, buildErfc>, ExpandUnary<math::ExpOp, buildExp>,
      ExpandUnary<math::Exp2Op, buildExp2>,
      ExpandUnary<math::ExpM1Op, buildExpm1>,
      ExpandUnary<math::LogOp, buildLog>,
      ExpandUnary<math::Log10Op, buildLog10>,
      ExpandUnary<math::Log1pOp, buildLog1p>,
      ExpandUnary<math::Log2Op, buildLog2>,
      ExpandUnary<math::RoundOp, buildRound>,
      ExpandUnary<math::SinOp, buildSin>, ExpandUnary<math::SinhOp, buildSinh>,
      ExpandUnary<math::TanOp, buildTan>, ExpandUnary<math::TanhOp, buildTanh>,
      ExpandAtan2, ExpandClampf, ExpandIpowi,
      ExpandPower<math::FPowIOp, buildFpowi>,
      ExpandPower<math::PowFOp, buildPowf>, ExpandSincos,
      ExpandClass<math::IsFiniteOp, buildIsFinite>,
      ExpandClass<math::IsInfOp, buildIsInf>,
      ExpandClass<math::IsNaNOp, buildIsNaN>,
      ExpandClass<math::IsNormalOp, buildIsNormal>>(patterns.getContext());
}
