//===- InlineHelpers.cpp - Inline functions that do not recurse -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CallInlining.h"

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Normalize/Passes.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::batch {
#define GEN_PASS_DEF_INLINEHELPERSPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Removes ops whose results are unused, users before their operands.
static void eraseDeadOps(func::FuncOp function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

namespace {
class InlineHelpersPass
    : public batch::impl::InlineHelpersPassBase<InlineHelpersPass> {
  void runOnOperation() override {
    InstanceProgram program(getOperation());
    // Callees come before callers, so calls in copied code are already inlined.
    for (ArrayRef<func::FuncOp> component : program.getComponents()) {
      func::FuncOp function = component.front();
      if (program.isRecursive(function) || function == program.getEntry() ||
          !function.getBody().hasOneBlock())
        continue;
      for (func::CallOp call : program.getCallers(function))
        inlineCall(call, function);
      // Functions that the entry does not reach may still call `function`.
      if (SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
    }
    InstanceProgram inlined(getOperation());
    llvm::for_each(inlined.getFunctions(), eraseDeadOps);
  }
};
} // namespace
