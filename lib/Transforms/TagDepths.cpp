//===- TagDepths.cpp - Give every task its depth --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Passes.h"

namespace mlir::batch {
#define GEN_PASS_DEF_TAGDEPTHSPASS
#include "Batch/Transforms/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
class TagDepthsPass : public batch::impl::TagDepthsPassBase<TagDepthsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    InstanceProgram program(module);
    ValueFlow flow(program);
    DenseMap<StringAttr, int64_t> phases;
    for (auto kernel : module.getOps<KernelOp>())
      phases[kernel.getSymNameAttr()] = kernel.getPhase();

    // Depths count within a phase: what an earlier phase computes, or nothing
    // computes, is there when the phase begins.
    auto countsIn = [&](Value value, int64_t phase) {
      if (!flow.contains(value))
        return false;
      for (ValueFlow::Node origin : flow.origins(flow.getNode(value))) {
        Value source = flow.getValue(origin);
        if (!source)
          continue;
        if (auto producer = source.getDefiningOp<InvokeOp>())
          if (phases.lookup(producer.getKernelAttr().getAttr()) >= phase)
            return true;
      }
      return false;
    };

    for (func::FuncOp function : program.getFunctions())
      function.walk([&](InvokeOp invoke) {
        if (invoke.getDepth())
          return;
        int64_t phase = phases.lookup(invoke.getKernelAttr().getAttr());
        SmallVector<Value> operands;
        for (Value input : invoke.getInputs())
          if (!llvm::is_contained(operands, input) && countsIn(input, phase))
            operands.push_back(input);
        OpBuilder builder(invoke);
        Value depth = DepthOp::create(builder, invoke.getLoc(),
                                      builder.getIndexType(), operands);
        invoke.getDepthMutable().assign(depth);
      });
  }
};
} // namespace
