//===- TestValueClasses.cpp - Print value classes -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "Batch/Analysis/ValueClasses.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Reports the contents of each value class in a remark at the module. Reports
/// the classes of operands and results in a remark at each invoked kernel.
/// Reports the class of each field in a remark at the ADT variant. Classes are
/// numbered in the order of printing. Classes that contain only whole
/// parameters are omitted.
struct TestValueClassesPass
    : PassWrapper<TestValueClassesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestValueClassesPass)

  StringRef getArgument() const final { return "test-print-value-classes"; }
  StringRef getDescription() const final {
    return "Print which tensors can be the same operand";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    InstanceProgram program(module);
    Sharedness sharedness(program);
    ValueFlow flow(program);
    ValueClasses classes(program, sharedness, flow);

    DenseMap<unsigned, unsigned> numbers;
    for (auto [index, members] : llvm::enumerate(classes.getClasses()))
      if (members.row) {
        numbers.try_emplace(index, numbers.size());
        print(module, numbers[index], members);
      }
    for (auto kernel : module.getOps<KernelOp>()) {
      if (!classes.isInvoked(kernel))
        continue;
      InFlightDiagnostic remark = kernel.emitRemark("operands: ");
      llvm::interleaveComma(
          llvm::seq(kernel.getNumArguments()), remark, [&](unsigned i) {
            if (kernel.isShared(i))
              remark << "shared";
            else if (!carriesTensor(kernel.getArgumentTypes()[i]))
              remark << "scalar";
            else
              remark << numbers.lookup(classes.getOperandClass(kernel, i));
          });
      remark << "; results: ";
      llvm::interleaveComma(
          llvm::seq(kernel.getNumResults()), remark, [&](unsigned i) {
            remark << numbers.lookup(classes.getResultClass(kernel, i));
          });
    }
    for (auto adt : module.getOps<rec::AdtOp>())
      for (rec::VariantOp variant : adt.getVariants())
        for (unsigned i = 0; i < variant.getNumFields(); ++i)
          if (flow.containsField(variant, i))
            variant.emitRemark("field '")
                << variant.getFieldName(i) << "' is in class "
                << numbers.lookup(classes.getFieldClass(variant, i));
  }

  static void print(ModuleOp module, unsigned number,
                    const ValueClass &members) {
    InFlightDiagnostic remark = module.emitRemark("class ");
    remark << number;
    if (!members.name.empty())
      remark << " '" << members.name << "'";
    remark << " of " << members.row << ":";
    for (auto [kernel, result] : members.producers)
      remark << " @" << kernel.getSymName() << "#" << result;
    SmallVector<int64_t> parameters(
        llvm::make_first_range(members.parameterRows));
    llvm::sort(parameters);
    for (int64_t parameter : parameters)
      remark << " parameter " << parameter;
    if (members.hasInputs)
      remark << " inputs";
  }
};

} // namespace

void mlir::batch::test::registerTestValueClassesPass() {
  PassRegistration<TestValueClassesPass>();
}
