//===- SerializeModules.cpp - Serialize GPU modules -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Support/NamedOption.h"

#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::batch {
#define GEN_PASS_DEF_SERIALIZEGPUMODULESPASS
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;

/// Returns true for an error about a missing library of device functions. The
/// upstream pass reports it, and continues without the library.
static bool isMissingLibrary(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  return StringRef(text).starts_with("CUDA path: ") ||
         StringRef(text).starts_with("LibDevice path: ");
}

namespace {
struct SerializeGPUModulesPass
    : batch::impl::SerializeGPUModulesPassBase<SerializeGPUModulesPass> {
  using SerializeGPUModulesPassBase::SerializeGPUModulesPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    createGpuModuleToBinaryPass()->getDependentDialects(registry);
  }

  void runOnOperation() override {
    GpuModuleToBinaryPassOptions options;
    options.compilationTarget = batch::getOptionName(format.getValue()).str();
    OpPassManager passes(ModuleOp::getOperationName());
    passes.addPass(createGpuModuleToBinaryPass(options));
    ScopedDiagnosticHandler handler(&getContext(), [](Diagnostic &diagnostic) {
      return success(isMissingLibrary(diagnostic));
    });
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace
