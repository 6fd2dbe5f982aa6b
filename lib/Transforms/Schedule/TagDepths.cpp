//===- TagDepths.cpp - Add the depth of every task ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Schedule/Passes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include <map>

namespace mlir::batch {
#define GEN_PASS_DEF_TAGDEPTHSPASS
#include "Batch/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

class DepthTagger {
public:
  explicit DepthTagger(ModuleOp module) : program(module), flow(program) {
    for (auto kernel : module.getOps<KernelOp>())
      phases[kernel.getSymNameAttr()] = kernel.getPhase();
  }

  LogicalResult run();

private:
  int64_t getPhase(InvokeOp invoke) const {
    return phases.lookup(invoke.getKernelAttr().getAttr());
  }
  int64_t getLastPhase(ValueFlow::Node node) const;
  bool countsIn(Value value, int64_t phase) const {
    return flow.contains(value) && getLastPhase(flow.getNode(value)) >= phase;
  }
  void tag(InvokeOp invoke);
  void resolve(OpOperand &operand, Value entered);
  bool isReadUpTo(int64_t phase, ValueFlow::Node node);

  InstanceProgram program;
  ValueFlow flow;
  DenseMap<StringAttr, int64_t> phases;
  /// For each phase, the nodes that reach kernels of that phase or of an
  /// earlier one.
  std::map<int64_t, DenseSet<ValueFlow::Node>> read;
};

} // namespace

/// Returns the phase of the last kernel that may compute a tensor, or -1 if
/// there is none.
int64_t DepthTagger::getLastPhase(ValueFlow::Node node) const {
  int64_t last = -1;
  for (ValueFlow::Node origin : flow.origins(node)) {
    Value source = flow.getValue(origin);
    if (auto producer = source ? source.getDefiningOp<InvokeOp>() : InvokeOp())
      last = std::max(last, getPhase(producer));
  }
  return last;
}

/// Adds a depth to `invoke`. Depths are counted within a phase. A value of an
/// earlier phase, or one that no task computes, is available when the phase
/// begins.
void DepthTagger::tag(InvokeOp invoke) {
  if (invoke.getDepth())
    return;
  SmallVector<Value> operands;
  for (Value input : invoke.getInputs())
    if (!llvm::is_contained(operands, input) &&
        countsIn(input, getPhase(invoke)))
      operands.push_back(input);
  OpBuilder builder(invoke);
  Value depth = DepthOp::create(builder, invoke.getLoc(),
                                builder.getIndexType(), operands);
  invoke.getDepthMutable().assign(depth);
}

/// Returns true if a kernel of `phase` or of an earlier phase may read the
/// tensor.
bool DepthTagger::isReadUpTo(int64_t phase, ValueFlow::Node node) {
  auto [it, isNew] = read.try_emplace(phase);
  auto &nodes = it->second;
  if (isNew)
    for (func::FuncOp function : program.getFunctions())
      function.walk([&](InvokeOp invoke) {
        if (getPhase(invoke) > phase)
          return;
        for (Value input : invoke.getInputs())
          if (flow.contains(input))
            nodes.insert_range(flow.origins(flow.getNode(input)));
      });
  return nodes.contains(node);
}

/// Resolves `operand`, which enters a recursion or loop as `entered`, under two
/// conditions: `entered` also receives tensors of later phases, and only later
/// phases read `entered`. In this case, the depth of `operand` must not count.
void DepthTagger::resolve(OpOperand &operand, Value entered) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || !type.hasStaticShape() || !flow.contains(operand.get()))
    return;
  int64_t phase = getLastPhase(flow.getNode(operand.get()));
  ValueFlow::Node target = flow.getNode(entered);
  if (phase < 0 || getLastPhase(target) <= phase || isReadUpTo(phase, target))
    return;
  OpBuilder builder(operand.getOwner());
  operand.set(ResolveOp::create(builder, operand.getOwner()->getLoc(), type,
                                operand.get()));
}

LogicalResult DepthTagger::run() {
  // Strategy `replicate` has no inspector that could read the depths.
  if (program.getStrategy() == Strategy::Replicate)
    return success();
  if (failed(flow.verify()))
    return failure();
  SmallVector<std::pair<OpOperand *, Value>> entries;
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](Operation *op) {
      MutableArrayRef<OpOperand> operands;
      ValueRange entered;
      if (auto call = dyn_cast<func::CallOp>(op)) {
        func::FuncOp callee = program.getCallee(call);
        if (!callee || callee.isExternal())
          return;
        operands = call->getOpOperands();
        entered = callee.getArguments();
      } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
        operands = loop.getInitsMutable();
        entered = loop.getRegionIterArgs();
      } else if (auto invoke = dyn_cast<InvokeOp>(op)) {
        tag(invoke);
      }
      for (auto [operand, value] : llvm::zip_equal(operands, entered))
        entries.push_back({&operand, value});
    });
  for (auto [operand, value] : entries)
    resolve(*operand, value);
  return success();
}

namespace {
class TagDepthsPass : public batch::impl::TagDepthsPassBase<TagDepthsPass> {
  void runOnOperation() override {
    // An inspector already has its depths.
    if (llvm::any_of(getOperation().getOps<func::FuncOp>(),
                     [](func::FuncOp function) {
                       return function->hasAttr(kInspectorAttr);
                     }))
      return;
    if (failed(DepthTagger(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
