//===- Passes.td - Data structures as memory ---------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_RECTOLLVM_PASSES_TD
#define BATCH_CONVERSION_RECTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertRecToLLVMPass
    : Pass<"convert-rec-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower rec to scf, arith and llvm over a context";
  let description = [{
    Gives every function the context as its first argument and replaces values
    of ADTs, lists and tensors with cells. A match becomes a switch over the
    variant of a node. A construction allocates a new node of the forest. A map
    fills new entries of the list pool. The declarations of ADTs remain.

    Pipelines use the patterns of this pass together with those of `batch`. The
    pass itself lowers programs without tensor code.

    ```mlir
    func.func @left(%t: !rec.adt<@Tree>) -> !rec.adt<@Tree> {
      %r = rec.match %t : !rec.adt<@Tree> -> !rec.adt<@Tree> {
      case @leaf(%word: index) {
        rec.yield %t : !rec.adt<@Tree>
      }
      case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
        %ll = func.call @left(%l) : (!rec.adt<@Tree>) -> !rec.adt<@Tree>
        rec.yield %ll : !rec.adt<@Tree>
      } }
      return %r : !rec.adt<@Tree>
    }
    // becomes
    func.func @left(%context: !llvm.ptr, %t: i64) -> i64 {
      ...
      %r = scf.index_switch %variant -> i64
      case 0 {
        scf.yield %t : i64
      }
      default {
        ...
        %l = llvm.load %field ... : !llvm.ptr -> i64
        %ll = func.call @left(%context, %l) : (!llvm.ptr, i64) -> i64
        scf.yield %ll : i64
      }
      return %r : i64
    }
    ```

    See test/Conversion/RecToLLVM.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // BATCH_CONVERSION_RECTOLLVM_PASSES_TD
