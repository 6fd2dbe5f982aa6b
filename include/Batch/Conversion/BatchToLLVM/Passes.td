//===- Passes.td - Inspectors and instance programs --------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_PASSES_TD
#define BATCH_CONVERSION_BATCHTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBatchToLLVMPass
    : Pass<"convert-batch-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower inspector and instance functions, make the object";
  let description = [{
    Lowers the functions that run on the host, `rec` included, to scf, arith and
    llvm over a `BatchContext`: the inspector, where `batch.record` appends to a
    kernel's queue, and the instance program, where `batch.invoke` calls the
    kernel function with one task. Adds what a compiled object exports: the
    global `batch_object` with its entry points and its descriptor (see
    docs/ABI.md).

    See test/Conversion/BatchToLLVM.
  }];
  let options = [
    Option<"targetTriple", "triple", "std::string", "\"\"",
           "Target triple, for the descriptor">,
    Option<"targetCPU", "cpu", "std::string", "\"\"",
           "Target CPU, for the descriptor">,
    ListOption<"targetFeatures", "features", "std::string",
               "CPU features that the object needs, for the descriptor">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::rec::RecDialect"];
}

#endif // BATCH_CONVERSION_BATCHTOLLVM_PASSES_TD
