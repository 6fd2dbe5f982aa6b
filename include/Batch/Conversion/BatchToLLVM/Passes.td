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
  let summary = "Lower inspector and instance functions and emit the object";
  let description = [{
    Lowers the functions that run on the host, including `rec`, to scf, arith
    and llvm over a `BatchContext`. In the inspector, `batch.record` appends to
    a kernel's queue. In the instance program, `batch.invoke` calls the
    operator's code with one task. Adds the exported symbol of a compiled
    object: the global `batch_object`, with the entry points and the descriptor
    of the object (see docs/reference/abi.md).

    ```mlir
    func.func @main(%x: !vec {batch.name = "x"}) -> (!vec {batch.name = "y"})
        attributes {batch.entry} {
      %y = batch.invoke @cell(%x) : (!vec) -> !vec
      return %y : !vec
    }
    // becomes
    func.func private @main(%context: !llvm.ptr, %x: i64) -> i64 {
      ...                                          // a step of one task
      call @cell.rows(%step, ..., %zero, %one, %zero, %one, %zero, %stages) : ...
      return %y : i64
    }
    ...
    llvm.mlir.global external constant @batch_object() ...
    ```

    See test/Conversion/BatchToLLVM.
  }];
  let options = [
    Option<"targetTriple", "triple", "std::string", "\"\"",
           "Write this target triple to the descriptor">,
    Option<"targetCPU", "cpu", "std::string", "\"\"",
           "Write this target CPU to the descriptor">,
    ListOption<"targetFeatures", "features", "std::string",
               "Write these required CPU features to the descriptor">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::rec::RecDialect"];
}

#endif // BATCH_CONVERSION_BATCHTOLLVM_PASSES_TD
