//===- BatchDialect.td - The batch dialect -----------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_DIALECT_TD
#define BATCH_DIALECT_BATCH_DIALECT_TD

include "mlir/IR/OpBase.td"

def Batch_Dialect : Dialect {
  let name = "batch";
  let cppNamespace = "::mlir::batch";
  let summary = "Depth-tagged operators, their tables and their schedule";
  let description = [{
    The `batch` dialect specifies which tensor code runs together. A
    `batch.kernel` is a static block of tensor code written for one instance.
    Instance functions *invoke* kernels. Inspector functions are created from
    instance functions and *record* tasks instead. These tasks run in batches
    over result tables. Their executor is a `uprog.program`.

    If control flow is batched too, a `batch.machine` runs the program block by
    block. docs/explanation/batch.md gives the rationale.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

class Batch_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Batch_Dialect, opMnemonic, traits>;

#endif // BATCH_DIALECT_BATCH_DIALECT_TD
