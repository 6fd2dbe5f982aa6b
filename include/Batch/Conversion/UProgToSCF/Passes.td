//===- Passes.td - Control flow of programs as scf ---------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOSCF_PASSES_TD
#define BATCH_CONVERSION_UPROGTOSCF_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertUProgToSCFPass : Pass<"convert-uprog-to-scf"> {
  let summary = "Lower the uniform control flow of programs to scf";
  let description = [{
    `uprog.for`, `uprog.branch` and `uprog.while` become `scf.for`,
    `scf.index_switch` and `scf.while`, which carry the same values. Other ops
    remain. Pipelines do not need this pass: `convert-uprog-to-cpu` and
    `convert-uprog-to-gpu` use the same patterns, `populateUProgToSCFPatterns`
    of Batch/Conversion/UProgToSCF/UProgToSCF.h. A compiler with its own target
    can use them too.

    ```mlir
    uprog.for %i = %zero to %steps {
      %step = uprog.plan_step %plan[%i]
      %kernel = uprog.step_kernel %step
      uprog.branch %kernel
      case 0 {
        uprog.barrier device
      }
    }
    // becomes
    scf.for %i = %zero to %steps step %one {
      %step = uprog.plan_step %plan[%i]
      %kernel = uprog.step_kernel %step
      scf.index_switch %kernel
      case 0 {
        uprog.barrier device
        scf.yield
      }
      default {
      }
    }
    ```

    See test/Conversion/UProgToSCF/uprog-to-scf.mlir.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // BATCH_CONVERSION_UPROGTOSCF_PASSES_TD
