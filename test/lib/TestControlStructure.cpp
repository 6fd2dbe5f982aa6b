//===- TestControlStructure.cpp - Print control and recursion -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "Batch/Analysis/ControlStructure.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Reports a remark at the entry if a program is structural. Otherwise, the
/// remark is at the place where control flow needs a tensor, and gives the
/// reason.
struct TestStructuralControlPass
    : PassWrapper<TestStructuralControlPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestStructuralControlPass)

  StringRef getArgument() const final {
    return "test-print-structural-control";
  }
  StringRef getDescription() const final {
    return "Print where control flow needs a tensor";
  }

  void runOnOperation() override {
    InstanceProgram program(getOperation());
    if (!program.getEntry())
      return;
    Sharedness sharedness(program);
    StructuralControl structure(program, sharedness);
    if (std::optional<TensorControl> control = structure.getTensorControl())
      control->op->emitRemark("tensor-dependent control flow: ")
          << control->getDescription();
    else
      program.getEntry().emitRemark("structural");
  }
};

/// Emits a remark at each function of a recursion. It states whether one pass
/// over the data covers the recursion.
struct TestRecursionClassPass
    : PassWrapper<TestRecursionClassPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestRecursionClassPass)

  StringRef getArgument() const final { return "test-print-recursion-class"; }
  StringRef getDescription() const final {
    return "Print where one loop over all nodes can replace a recursion";
  }

  void runOnOperation() override {
    InstanceProgram program(getOperation());
    Sharedness sharedness(program);
    RecursionClasses recursion(program, sharedness);
    for (const RecursionClass &component : recursion.getClasses())
      for (func::FuncOp function : component.functions)
        function.emitRemark(component.onePass
                                ? "one loop over the nodes can replace this "
                                  "recursion"
                                : "no single loop over the nodes can replace "
                                  "this recursion");
  }
};

} // namespace

void mlir::batch::test::registerTestControlStructurePasses() {
  PassRegistration<TestStructuralControlPass>();
  PassRegistration<TestRecursionClassPass>();
}
