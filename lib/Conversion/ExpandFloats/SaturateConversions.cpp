//===- SaturateConversions.cpp - Floats outside the range of integers -----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/ExpandFloats/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::batch {
#define GEN_PASS_DEF_SATURATECONVERSIONSPASS
#include "Batch/Conversion/ExpandFloats/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using arith::CmpFPredicate;

namespace {

/// Builds the code around one conversion.
class Saturation {
public:
  explicit Saturation(Operation *op)
      : b(op->getLoc(), op), op(op), real(op->getOperand(0).getType()),
        integer(op->getResult(0).getType()) {}

  void run();

private:
  const llvm::fltSemantics &semantics() const {
    return cast<FloatType>(getElementTypeOrSelf(real)).getFloatSemantics();
  }
  Value constant(Type type, TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(b, value);
  }
  Value constant(const APFloat &value) {
    return constant(real, FloatAttr::get(getElementTypeOrSelf(real), value));
  }
  Value constant(const APInt &value) {
    return constant(integer,
                    IntegerAttr::get(getElementTypeOrSelf(integer), value));
  }
  /// Returns `value` where the comparison with `bound` holds, and `bound`
  /// elsewhere. This minimum or maximum is one instruction, which also returns
  /// `bound` if `value` is NaN.
  Value clamp(CmpFPredicate predicate, Value value, Value bound) {
    Value within = arith::CmpFOp::create(b, predicate, value, bound);
    return arith::SelectOp::create(b, within, value, bound);
  }

  ImplicitLocOpBuilder b;
  Operation *op;
  Type real, integer;
};

} // namespace

void Saturation::run() {
  bool isSigned = isa<arith::FPToSIOp>(op);
  unsigned width = getElementTypeOrSelf(integer).getIntOrFloatBitWidth();
  APInt least =
      isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  APInt most =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  auto toReal = [&](const APInt &value, bool isSigned) {
    APFloat result(semantics());
    auto status =
        result.convertFromAPInt(value, isSigned, APFloat::rmNearestTiesToEven);
    return std::pair(result, status == APFloat::opOK);
  };

  // The smallest integer can be represented as a float: minus a power of two
  // for signed types, and 0 for unsigned types. For unsigned types, a NaN
  // therefore becomes 0.
  Value given = op->getOperand(0);
  Value value =
      clamp(CmpFPredicate::OGT, given, constant(toReal(least, isSigned).first));
  auto [bound, isExact] = toReal(most, isSigned);
  // If no float equals the largest integer, `bound` is the next larger float.
  Value limit = constant(bound);
  if (isExact)
    value = clamp(CmpFPredicate::OLT, value, limit);
  op->setOperand(0, value);

  b.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  SmallPtrSet<Operation *, 2> own;
  auto select = [&](CmpFPredicate predicate, Value left, Value right,
                    Value otherwise) {
    Value condition = arith::CmpFOp::create(b, predicate, left, right);
    auto chosen = arith::SelectOp::create(b, condition, result, otherwise);
    own.insert(chosen);
    result = chosen;
  };
  if (!isExact)
    select(CmpFPredicate::OLT, value, limit, constant(most));
  if (isSigned)
    select(CmpFPredicate::ORD, given, given, constant(APInt::getZero(width)));
  op->getResult(0).replaceAllUsesExcept(result, own);
}

namespace {
struct SaturateConversionsPass
    : batch::impl::SaturateConversionsPassBase<SaturateConversionsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> conversions;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
        conversions.push_back(op);
    });
    for (Operation *op : conversions)
      Saturation(op).run();
  }
};
} // namespace
