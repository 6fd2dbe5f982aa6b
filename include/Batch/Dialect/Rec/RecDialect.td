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
    Represents recursive functions over trees, lists and graphs, written for one
    input. The dialect provides declarations of algebraic data types,
    construction and exhaustive matching of their values, and maps and folds
    over lists. Recursion itself is `func.call`. Only `rec.phase` has a side
    effect.

    Any op may have the unit attribute `rec.backedge`. `rec-refactor` moves such
    an op, with all ops that depend on it, to the callers of the function.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif // BATCH_DIALECT_REC_RECDIALECT
