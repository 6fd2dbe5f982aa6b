//===- InlineHelpers.cpp - Inline functions that do not recurse -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {
#define GEN_PASS_DEF_INLINEHELPERSPASS
#include "Batch/Transforms/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Replaces `call` by a copy of the single block of `callee`.
static void inlineBlock(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
}

namespace {
class InlineHelpersPass
    : public batch::impl::InlineHelpersPassBase<InlineHelpersPass> {
  void runOnOperation() override {
    InstanceProgram program(getOperation());
    // Callees come before callers, so what is copied is inlined already.
    for (ArrayRef<func::FuncOp> component : program.getComponents()) {
      func::FuncOp function = component.front();
      if (program.isRecursive(function) || function == program.getEntry() ||
          !function.getBody().hasOneBlock())
        continue;
      for (func::CallOp call : program.getCallers(function))
        inlineBlock(call, function);
      // What the entry does not reach may still call it.
      if (SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
    }
  }
};
} // namespace
