//===- Passes.td - Structured control flow as branches -----*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_SCFTOCF_PASSES_TD
#define BATCH_CONVERSION_SCFTOCF_PASSES_TD

include "mlir/Pass/PassBase.td"

def SCFToCFPass : Pass<"batch-scf-to-cf"> {
  let summary = "Lower scf to branches in reverse program order";
  let description = [{
    Applies the patterns of the MLIR pass `convert-scf-to-cf`. Each pattern
    splits a block at an op and moves the ops after it. In program order, an op
    would move once for each op of scf before it. This pass starts with the last
    op of a block, so each op moves only once for each region around it.

    ```mlir
    scf.if %c {
      func.call @f() : () -> ()
    }
    // becomes
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      func.call @f() : () -> ()
      cf.br ^bb2
    ^bb2:
    ```

    See test/Conversion/SCFToCF.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

#endif // BATCH_CONVERSION_SCFTOCF_PASSES_TD
