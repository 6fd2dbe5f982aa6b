//===- Unroll.cpp - Unroll recursion --------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseSplitter.h"

#include "Batch/Transforms/Recursion/Passes.h"
#include "mlir/IR/Remarks.h"

namespace mlir::batch {
#define GEN_PASS_DEF_UNROLLPASS
#include "Batch/Transforms/Recursion/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
class UnrollPass : public batch::impl::UnrollPassBase<UnrollPass> {
  using UnrollPassBase::UnrollPassBase;

  void runOnOperation() override {
    if (factor < 1) {
      getOperation().emitError("invalid value '")
          << factor.getValue()
          << "' for factor; expected at least 1 (1: no unrolling)";
      return signalPassFailure();
    }
    if (factor == 1)
      return;
    InstanceProgram program(getOperation());
    CaseSplitter splitter(getOperation(), program, maxCopies);
    for (func::FuncOp function : program.getFunctions())
      for (func::CallOp call : program.getCallers(function)) {
        if (!program.isRecursiveCall(call))
          continue;
        splitter.select(call, factor - 1);
        remark::passed(call.getLoc(),
                       remark::RemarkOpts::name("Unroll").category("batch"))
            << "recursion unrolled by " + std::to_string(factor);
      }
    for (func::FuncOp function : program.getFunctions())
      while (func::CallOp call = splitter.getSelected(function)) {
        auto anyVariant = [](rec::VariantOp) { return true; };
        if (failed(CaseSplitter::getChild(call)
                       ? LogicalResult(splitter.split(call, anyVariant))
                       : splitter.inlineSelected(call)))
          return signalPassFailure();
      }
  }
};
} // namespace
