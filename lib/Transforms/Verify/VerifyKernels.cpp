//===- VerifyKernels.cpp - Kernels hold all tensor code -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Transforms/Verify/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::batch {
#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "Batch/Transforms/Verify/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

static LogicalResult verifyControl(Operation *op) {
  // Ops of scf other than the four below must return scalars. The lowering to
  // LLVM (populateSCFStructuralTypeConversions) converts the result types of
  // these four only.
  bool returnsScalars = llvm::none_of(op->getResultTypes(), [](Type type) {
    return isa<TensorType>(type) || isa<rec::RecDialect>(type.getDialect());
  });
  if (isa<rec::RecDialect>(op->getDialect()) ||
      isa<scf::IfOp, scf::IndexSwitchOp, scf::ForOp, scf::WhileOp>(op) ||
      (isa<scf::SCFDialect>(op->getDialect()) && returnsScalars))
    return success();
  return op->emitOpError("is not supported as control flow; use 'scf.if', "
                         "'scf.index_switch', 'scf.for' or 'scf.while'");
}

/// Checks that control flow can read an extent. Control flow can read the
/// lengths of an instance's ragged tensors, which belong to the data structure.
/// It can also read the number of rows of a parameter, once the parameter is
/// bound.
static LogicalResult verifyExtent(tensor::DimOp dim,
                                  const Sharedness &sharedness) {
  auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
  std::optional<int64_t> number = dim.getConstantIndex();
  if (type && number && *number < type.getRank()) {
    bool isParameter = sharedness.getParameter(dim.getSource()).has_value();
    if (!type.isDynamicDim(*number) ||
        (isParameter ? bool(getCountedRow(dim))
                     : *number == 0 && rec::isRaggedTensor(type)))
      return success();
  }
  return dim.emitOpError(
      "reads an extent that control flow cannot read; expected the first "
      "extent of a ragged tensor, or of a parameter whose other extents are "
      "static");
}

/// Checks `op`, which is neither a control-flow op nor a call. It must compute
/// no tensor itself, and read only tensors that control flow can read. An
/// invocation must have a depth if `hasDepths` is true.
static LogicalResult
verifyComputation(Operation *op, const Sharedness &sharedness, bool hasDepths) {
  bool makesTensor =
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](InvokeOp invoke) -> LogicalResult {
        if (invoke.getDepth() || !hasDepths)
          return success();
        return invoke.emitOpError("has no depth; run batch-tag-depths first");
      })
      .Case([&](tensor::DimOp dim) { return verifyExtent(dim, sharedness); })
      .Case([&](tensor::ExtractSliceOp slice) -> LogicalResult {
        if (isRowView(slice) && sharedness.getParameter(slice.getSource()))
          return success();
        return slice.emitOpError("slices a tensor outside of kernels; only a "
                                 "row of a parameter can be read there");
      })
      .Case([&](tensor::ExtractOp extract) -> LogicalResult {
        RankedTensorType type = extract.getTensor().getType();
        if (type.hasStaticShape() ||
            (sharedness.getParameter(extract.getTensor()) && getReadRow(type)))
          return success();
        return extract.emitError("cannot read an element of ")
               << type
               << " outside of kernels; only elements of static tensors and "
                  "of static rows of parameters can be read there";
      })
      .Default([&](Operation *) -> LogicalResult {
        // A cast without operands represents a value that control flow leaves
        // undefined.
        bool isUndefined =
            isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 0;
        if (!makesTensor || isUndefined ||
            isa<rec::RecDialect, BatchDialect>(op->getDialect()))
          return success();
        return op->emitOpError(
            "computes a tensor outside of kernels; batch-outline-kernels moves "
            "ops of linalg, tensor, arith and math, and ops that implement "
            "BatchableOpInterface, into kernels");
      });
}

namespace {
class VerifyKernelsPass
    : public batch::impl::VerifyKernelsPassBase<VerifyKernelsPass> {
  void runOnOperation() override {
    InstanceProgram program(getOperation());
    Sharedness sharedness(program);
    bool hasDepths = program.getStrategy() != Strategy::Replicate;
    auto verify = [&](Operation *op) -> WalkResult {
      if (isa<func::FuncOp, CallOpInterface>(op))
        return WalkResult::advance();
      if (isa<RegionBranchOpInterface>(op))
        return verifyControl(op);
      return verifyComputation(op, sharedness, hasDepths);
    };
    for (func::FuncOp function : program.getFunctions()) {
      if (function.isExternal()) {
        function.emitError(
            "this function is only declared; functions that the entry calls "
            "require a body");
        return signalPassFailure();
      }
      if (function.walk<WalkOrder::PreOrder>(verify).wasInterrupted())
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
