//===- batch-reduce.cpp - Test case reducer -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../HideLibraryOptions.h"
#include "../Version.h"
#include "Batch/InitAll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

using namespace mlir;

namespace {
/// Takes an operation out of a program: its result becomes an operand of the
/// same type, or zero. What it means changes; what shows a fault may stay.
struct TakeOut : RewritePattern {
  explicit TakeOut(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->hasTrait<OpTrait::ConstantLike>())
      return failure();
    Type type = op->getResult(0).getType();
    for (Value operand : op->getOperands())
      if (operand.getType() == type)
        return rewriter.replaceOp(op, operand), success();
    TypedAttr zero = rewriter.getZeroAttr(type);
    if (!zero)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, zero);
    return success();
  }
};

/// The dialect stands for all: the pattern is for operations of any.
struct Reductions : DialectReductionPatternInterface {
  explicit Reductions(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}
  void populateReductionPatterns(RewritePatternSet &patterns) const override {
    patterns.add<TakeOut>(patterns.getContext());
  }
};
} // namespace

int main(int argc, char **argv) {
  batch::hideLibraryOptions();
  batch::setVersion("batch-reduce");
  mlir::registerAllPasses();
  batch::registerAllPasses();
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  batch::registerAllDialects(registry);
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *dialect) {
    context->getOrLoadDialect<arith::ArithDialect>();
    dialect->addInterfaces<Reductions>();
  });
  MLIRContext context(registry);
  return failed(mlirReduceMain(argc, argv, context));
}
