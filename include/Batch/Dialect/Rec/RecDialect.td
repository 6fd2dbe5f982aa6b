//===- RecDialect.td - The rec dialect ------------------- -*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_REC_RECDIALECT
#define BATCH_DIALECT_REC_RECDIALECT

include "mlir/IR/DialectBase.td"

def Rec_Dialect : Dialect {
  let name = "rec";
  let cppNamespace = "::mlir::rec";
  let summary = "Recursion over algebraic data types";
  let description = [{
    What upstream lacks to write a recursive function over a tree, a list or a
    graph for one input: declarations of algebraic data types, construction and
    exhaustive matching of their values, and maps and folds over lists.
    Recursion itself is `func.call`. Every op is pure.

    The unit attribute `rec.backedge` may be on any op: with what depends on it,
    `rec-refactor` moves it to the callers of the function.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif // BATCH_DIALECT_REC_RECDIALECT
