//===- MathToIntrinsics.cpp - Math on GPUs without a library --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/ExpandMath/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::batch {
#define GEN_PASS_DEF_MATHTOINTRINSICSPASS
#include "Batch/Conversion/ExpandMath/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;

/// Returns the intrinsic that the code generators for GPUs lower to
/// instructions, or an empty string.
static StringRef getIntrinsic(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.absf", "llvm.fabs")
      .Case("math.ceil", "llvm.ceil")
      .Case("math.copysign", "llvm.copysign")
      .Case("math.floor", "llvm.floor")
      .Case("math.fma", "llvm.fma")
      .Case("math.roundeven", "llvm.roundeven")
      .Case("math.sqrt", "llvm.sqrt")
      .Case("math.trunc", "llvm.trunc")
      .Default("");
}

namespace {
struct MathToIntrinsicsPass
    : batch::impl::MathToIntrinsicsPassBase<MathToIntrinsicsPass> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
          !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
        return WalkResult::advance();
      StringRef name = getIntrinsic(op);
      if (name.empty()) {
        op->emitOpError(
            "requires a CUDA or ROCm library on GPUs; to compile without one, "
            "cast the operands to f32 or f64 and run batch-expand-math first");
        return WalkResult::interrupt();
      }
      b.setInsertionPoint(op);
      auto call = LLVM::CallIntrinsicOp::create(
          b, op->getLoc(), op->getResult(0).getType(), b.getStringAttr(name),
          op->getOperands());
      op->getResult(0).replaceAllUsesWith(call.getResults());
      op->erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
