//===- ConvertRecToLLVM.cpp - The pass convert-rec-to-llvm ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/RecToLLVM/Passes.h"
#include "Batch/Conversion/RecToLLVM/RecToLLVM.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTRECTOLLVMPASS
#include "Batch/Conversion/RecToLLVM/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

struct ConvertRecToLLVMPass
    : batch::impl::ConvertRecToLLVMPassBase<ConvertRecToLLVMPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    if (failed(checkRecToLLVM(module)) ||
        failed(addContextArgument(module, functions)))
      return signalPassFailure();

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    populateRecToLLVMTypeConversions(converter);

    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    target.addLegalDialect<LLVM::LLVMDialect, arith::ArithDialect,
                           scf::SCFDialect>();
    rec::VariantNumbering numbering(module);
    populateRecToLLVMConversionPatterns(converter, numbering, patterns);
    populateFunctionConversionsAndLegality(converter, patterns, target);

    target.addLegalOp<rec::AdtOp, rec::VariantOp>();
    target.addIllegalDialect<rec::RecDialect>();
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
