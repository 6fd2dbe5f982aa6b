//===- UProgDialect.td - The uprog dialect -----------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_DIALECT_TD
#define BATCH_DIALECT_UPROG_DIALECT_TD

include "mlir/IR/OpBase.td"

def UProg_Dialect : Dialect {
  let name = "uprog";
  let cppNamespace = "::mlir::uprog";
  let summary = "The executor: programs that every unit of a level runs";
  let description = [{
    A *unit* is a worker thread of a CPU, a thread block or a cluster of thread
    blocks. All units of a level run a `uprog.program`. A program consists of
    loops, branches, references, operators whose tasks the units divide, and
    barriers at which the units wait for each other. It does not depend on a
    target. docs/explanation/uprog.md gives the rationale.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

#endif // BATCH_DIALECT_UPROG_DIALECT_TD
