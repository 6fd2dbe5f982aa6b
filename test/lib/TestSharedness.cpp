//===- TestSharedness.cpp - Print what is shared --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "Batch/Analysis/Sharedness.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::batch;

static std::string describe(Sharing sharing) {
  switch (sharing.kind) {
  case Sharing::Unknown:
    return "unknown";
  case Sharing::Parameter:
    return "parameter " + std::to_string(sharing.parameter);
  case Sharing::Shared:
    return "shared";
  case Sharing::Instance:
    return "instance";
  }
  llvm_unreachable("unknown kind");
}

namespace {

/// Reports the sharedness of the arguments of each reachable function, and of
/// the results of ops with the attribute `test.print`.
struct TestSharednessPass
    : PassWrapper<TestSharednessPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestSharednessPass)

  StringRef getArgument() const final { return "test-print-sharedness"; }
  StringRef getDescription() const final {
    return "Print which values are equal for all instances";
  }

  void runOnOperation() override {
    InstanceProgram program(getOperation());
    Sharedness sharedness(program);
    auto print = [&](Operation *op, StringRef what, ValueRange values) {
      InFlightDiagnostic remark = op->emitRemark(what);
      llvm::interleaveComma(values, remark, [&](Value value) {
        remark << describe(sharedness.getSharing(value));
      });
    };
    for (func::FuncOp function : program.getFunctions()) {
      print(function, "arguments: ", function.getArguments());
      function.walk([&](Operation *op) {
        if (op->hasAttr("test.print"))
          print(op, "results: ", op->getResults());
      });
    }
  }
};

} // namespace

void mlir::batch::test::registerTestSharednessPass() {
  PassRegistration<TestSharednessPass>();
}
