//===- AssignPhases.cpp - Order kernels by dependence ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Components.h"
#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Schedule/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::batch {
#define GEN_PASS_DEF_ASSIGNPHASESPASS
#include "Batch/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Dependences between kernels, direct or through other values.
struct KernelGraph {
  SmallVector<KernelOp> kernels;
  SmallVector<llvm::SetVector<unsigned>> producers;
  /// For each kernel after a `rec.phase`, the kernels before this `rec.phase`.
  SmallVector<llvm::SetVector<unsigned>> marked;
};

class AssignPhasesPass
    : public batch::impl::AssignPhasesPassBase<AssignPhasesPass> {
  using AssignPhasesPassBase::AssignPhasesPassBase;
  void runOnOperation() override;
};

} // namespace

/// Orders the kernels before and after each `rec.phase`. A kernel that runs on
/// both sides cannot be ordered.
static void addMarks(KernelGraph &graph, const InstanceProgram &program,
                     const DenseMap<StringAttr, unsigned> &numbers) {
  using Kernels = llvm::SetVector<unsigned>;
  DenseMap<Operation *, Kernels> invokedBy;
  auto collect = [&](Operation *op, Kernels &kernels) {
    op->walk([&](Operation *nested) {
      if (auto invoke = dyn_cast<InvokeOp>(nested))
        kernels.insert(numbers.lookup(invoke.getKernelAttr().getAttr()));
      else if (auto call = dyn_cast<func::CallOp>(nested))
        if (func::FuncOp callee = program.getCallee(call)) {
          Kernels &known = invokedBy[callee];
          kernels.insert(known.begin(), known.end());
        }
    });
  };
  // Callees come first; further sweeps cover mutual recursion.
  for (ArrayRef<func::FuncOp> component : program.getComponents())
    for (size_t sweep = 0; sweep < component.size() + 1; ++sweep)
      for (func::FuncOp function : component) {
        Kernels kernels;
        collect(function, kernels);
        invokedBy[function].insert(kernels.begin(), kernels.end());
      }
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](rec::PhaseOp mark) {
      Kernels before, after;
      for (Operation &op : *mark->getBlock())
        collect(&op, op.isBeforeInBlock(mark) ? before : after);
      for (unsigned kernel : after)
        for (unsigned earlier : before)
          if (!before.contains(kernel) && !after.contains(earlier))
            graph.marked[kernel].insert(earlier);
    });
}

/// Returns the kernels that some wait depends on. All tasks of a kernel are
/// treated alike, so the inputs of all tasks are needed if one task is needed.
static DenseSet<StringAttr> findNeeded(const InstanceProgram &program,
                                       const ValueFlow &flow,
                                       SmallVector<ValueFlow::Node> nodes) {
  DenseSet<StringAttr> needed;
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<bool> demanded = flow.ancestors(nodes);
    auto isDemanded = [&](Value value) {
      return flow.contains(value) && demanded[flow.getNode(value)];
    };
    for (func::FuncOp function : program.getFunctions())
      function.walk([&](InvokeOp invoke) {
        if (llvm::any_of(invoke.getResults(), isDemanded))
          changed |= needed.insert(invoke.getKernelAttr().getAttr()).second;
      });
    for (func::FuncOp function : program.getFunctions())
      function.walk([&](InvokeOp invoke) {
        for (Value input : invoke.getInputs())
          if (needed.contains(invoke.getKernelAttr().getAttr()) &&
              flow.contains(input) && !isDemanded(input)) {
            nodes.push_back(flow.getNode(input));
            changed = true;
          }
      });
  }
  return needed;
}

/// Defers the kernels that no wait depends on, or none if there are no waits.
/// The phases of deferred kernels come after the phases of all other kernels.
static void deferKernels(ModuleOp module) {
  InstanceProgram program(module);
  ValueFlow flow(program);
  SmallVector<ValueFlow::Node> forced;
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](ForceOp force) {
      if (flow.contains(force.getTensor()))
        forced.push_back(flow.getNode(force.getTensor()));
    });
  if (forced.empty())
    return;
  DenseSet<StringAttr> needed = findNeeded(program, flow, forced);
  int64_t end = 0;
  for (auto kernel : module.getOps<KernelOp>())
    if (needed.contains(kernel.getSymNameAttr()))
      end = std::max<int64_t>(end, kernel.getPhase() + 1);
  for (auto kernel : module.getOps<KernelOp>()) {
    if (needed.contains(kernel.getSymNameAttr()))
      continue;
    kernel.setDeferred(true);
    kernel.setPhase(kernel.getPhase() + end);
  }
}

static FailureOr<KernelGraph> buildGraph(ModuleOp module) {
  KernelGraph graph;
  DenseMap<StringAttr, unsigned> numbers;
  for (auto kernel : module.getOps<KernelOp>()) {
    numbers[kernel.getSymNameAttr()] = graph.kernels.size();
    graph.kernels.push_back(kernel);
  }
  graph.producers.resize(graph.kernels.size());
  graph.marked.resize(graph.kernels.size());

  InstanceProgram program(module);
  ValueFlow flow(program);
  if (failed(flow.verify()))
    return failure();
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](InvokeOp invoke) {
      unsigned consumer = numbers.lookup(invoke.getKernelAttr().getAttr());
      for (Value input : invoke.getInputs()) {
        if (!flow.contains(input))
          continue;
        for (ValueFlow::Node origin : flow.origins(flow.getNode(input)))
          if (Value value = flow.getValue(origin))
            if (auto producer = value.getDefiningOp<InvokeOp>())
              graph.producers[consumer].insert(
                  numbers.lookup(producer.getKernelAttr().getAttr()));
      }
    });
  addMarks(graph, program, numbers);
  for (auto [kernel, earlier] : llvm::enumerate(graph.marked))
    graph.producers[kernel].insert(earlier.begin(), earlier.end());
  return graph;
}

void AssignPhasesPass::runOnOperation() {
  // Do not change the phases for which the depths in an inspector were created.
  if (llvm::any_of(getOperation().getOps<func::FuncOp>(),
                   [](func::FuncOp function) {
                     return function->hasAttr(kInspectorAttr);
                   }))
    return;
  FailureOr<KernelGraph> built = buildGraph(getOperation());
  if (failed(built))
    return signalPassFailure();
  KernelGraph &graph = *built;
  SmallVector<int64_t> phaseOf(graph.kernels.size(), 0);
  SmallVector<unsigned> componentOf(graph.kernels.size());
  SmallVector<SmallVector<unsigned>> producers;
  for (const auto &of : graph.producers)
    producers.emplace_back(of.begin(), of.end());
  SmallVector<SmallVector<unsigned>> components = findComponents(producers);
  for (auto [number, component] : llvm::enumerate(components))
    for (unsigned kernel : component)
      componentOf[kernel] = number;
  auto isCycle = [&](unsigned component) {
    unsigned kernel = components[component].front();
    return components[component].size() > 1 ||
           graph.producers[kernel].contains(kernel);
  };
  // Producers come first, so their phases are final. All results of a recursion
  // are available for all instances before a later phase begins.
  for (auto [number, component] : llvm::enumerate(components)) {
    int64_t phase = 0;
    for (unsigned kernel : component)
      for (unsigned producer : graph.producers[kernel])
        if (componentOf[producer] != number)
          phase = std::max(phase,
                           phaseOf[producer] +
                               (isCycle(componentOf[producer]) ||
                                        graph.marked[kernel].contains(producer)
                                    ? 1
                                    : 0));
    for (unsigned kernel : component) {
      phaseOf[kernel] = phase;
      graph.kernels[kernel].setPhase(phases ? phase : 0);
    }
  }
  if (defer)
    deferKernels(getOperation());
}
