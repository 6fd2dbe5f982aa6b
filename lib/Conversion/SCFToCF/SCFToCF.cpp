//===- SCFToCF.cpp - Structured control flow as branches ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/SCFToCF/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace mlir::batch {
#define GEN_PASS_DEF_SCFTOCFPASS
#include "Batch/Conversion/SCFToCF/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Lists the ops of `scf` in reverse program order, each before the ops in its
/// regions. Terminators are omitted, because the patterns lower them with their
/// ops.
static SmallVector<Operation *> listOps(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
    if (op != root && isa<scf::SCFDialect>(op->getDialect()) &&
        !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  return ops;
}

LogicalResult mlir::batch::lowerSCFToCF(Operation *root,
                                        RewriterBase::Listener *listener) {
  RewritePatternSet patterns(root->getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(root->getContext());
  rewriter.setListener(listener);
  // Some patterns create new ops of scf, so iterate.
  for (SmallVector<Operation *> ops = listOps(root); !ops.empty();
       ops = listOps(root))
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(applicator.matchAndRewrite(op, rewriter)))
        return op->emitError("this op cannot be lowered to branches");
    }
  return success();
}

namespace {
class SCFToCFPass : public batch::impl::SCFToCFPassBase<SCFToCFPass> {
  using SCFToCFPassBase::SCFToCFPassBase;
  void runOnOperation() override {
    if (failed(lowerSCFToCF(getOperation())))
      signalPassFailure();
  }
};
} // namespace
