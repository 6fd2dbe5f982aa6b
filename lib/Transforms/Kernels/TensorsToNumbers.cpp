//===- TensorsToNumbers.cpp - Compute with elements of small tensors ------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/NumberForm.h"
#include "Batch/Analysis/Strategies.h"
#include "Batch/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::batch {
#define GEN_PASS_DEF_TENSORSTONUMBERSPASS
#include "Batch/Transforms/Kernels/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
class TensorsToNumbersPass
    : public batch::impl::TensorsToNumbersPassBase<TensorsToNumbersPass> {
  void runOnOperation() override {
    InstanceProgram program(getOperation());
    func::FuncOp entry = program.getEntry();
    if (!entry || !entry->hasAttr(kPerUnitAttr))
      return;
    // A program with outlined kernels has already been processed by this pass.
    if (entry.walk([](InvokeOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return;
    std::optional<Obstacle> obstacle;
    OwningOpRef<func::FuncOp> numbers = makeNumberForm(program, obstacle);
    if (!numbers) {
      mlir::emitError(obstacle->loc)
          << "'" << kPerUnitAttr << "' is not legal: " << obstacle->text;
      return signalPassFailure();
    }
    entry.getBody().takeBody(numbers->getBody());
  }
};
} // namespace
