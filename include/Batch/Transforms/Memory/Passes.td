//===- Passes.td - Where results lie -----------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_MEMORY_PASSES_TD
#define BATCH_TRANSFORMS_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignSlotsPass : Pass<"batch-assign-slots", "::mlir::ModuleOp"> {
  let summary = "make tables for value classes";
  let description = [{
    Gives every value class that kernels compute a `batch.table`, and notes on
    kernels where results lie (`batch.in_table`) and how a step reads each operand
    (`batch.read`), by the kind of lowest cost that its class allows: `gather`
    where all rows lie in one table or source, `rows` where they are mixed.
    Tables that the same kernels write share slot numbers (a group), except that
    rows of a page (4 KB) and more share them with rows of their length only: a
    slot is used again when nobody reads its rows any more. Results are written to consecutive slots, in schedule order. A module without
    an inspector is left as it is.

    `layout` changes where the elements of tables lie (Cortex, section 5.1), with
    primitives that are applied one after the other to the dimensions of a table:
    0 is the slot, the others are those of a row.

    | primitive | does |
    |---|---|
    | `split(d, f)` | dimension `d` becomes two, the second of extent `f` |
    | `reorder(a, b, ...)` | brings dimensions into this order |
    | `fuse(d, d + 1)` | two dimensions become one |
    | `beside(@t)` | the rows of the table come behind those of `@t`, slot by slot |

    `layout='split(1, 16)'` is for all tables, `layout='h: split(2, 16); c:
    beside(@h)'` for single ones. Slots come first, as how many there are is
    known when it runs, but `split(0, 8)` makes blocks of them. The innermost
    dimension holds a multiple of 64 bytes of consecutive elements, for vectors.
    Within rows nothing can be moved where they share operands with rows of
    parameters or inputs. No layout changes a bit of the results.

    ```mlir
    batch.kernel @leaf(%word: index) -> tensor<16xf32> {
      %x = arith.constant dense<0.0> : tensor<16xf32>
      batch.yield %x : tensor<16xf32>
    }
    // becomes
    batch.kernel @leaf(%word: index {batch.read = #batch.read<kind = scalar>})
        -> (tensor<16xf32> {batch.in_table = @leaf_0}) ... {
      ...
    }
    batch.table @leaf_0 : tensor<16xf32> group(0)
    ```

    ```mlir
    batch.kernel @leaf(%word: index) -> tensor<8x32xf32> {
      %x = arith.constant dense<0.0> : tensor<8x32xf32>
      batch.yield %x : tensor<8x32xf32>
    }
    // becomes, with layout='split(2, 16) reorder(0, 2, 1, 3)',
    #layout = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1, d2 mod 16)>
    ...
    batch.table @leaf_0 : tensor<8x32xf32> group(0) layout(#layout)
    ```

    See test/Transforms/Memory/assign-slots.mlir.
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"\"\"",
           "Layout primitives for tables, such as 'split(0, 8) reorder(0, 2, 1)'">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def AttachPolicyPass : Pass<"batch-attach-policy", "::mlir::ModuleOp"> {
  let summary = "say what picks the next batch";
  let description = [{
    Puts the policy into the module, from where it goes into the object: what
    `batch-run` follows unless it is told otherwise. A table of a state machine,
    which `batch-run --learn-policy=FILE` writes, has to be one for the module's
    kernels; it is kept in the attribute.

    ```mlir
    module {}
    // becomes, with policy=greedy,
    module attributes {batch.policy = #batch.policy<greedy>} {}
    ```

    See test/Transforms/Memory/attach-policy.mlir.
  }];
  let options = [
    Option<"policy", "policy", "::mlir::batch::PolicyOption",
           /*default=*/"::mlir::batch::PolicyOption()",
           "What picks the next batch, as docs/Policies.md names it; default: fsm "
           "with a table, else nothing changes">,
    Option<"table", "table", "std::string", /*default=*/"\"\"",
           "File with the state machine of fsm">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

#endif // BATCH_TRANSFORMS_MEMORY_PASSES_TD
