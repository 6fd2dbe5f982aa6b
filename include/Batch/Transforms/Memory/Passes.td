//===- Passes.td - Storage of results ----------------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_MEMORY_PASSES_TD
#define BATCH_TRANSFORMS_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignSlotsPass : Pass<"batch-assign-slots", "::mlir::ModuleOp"> {
  let summary = "Create tables for value classes";
  let description = [{
    Creates a `batch.table` for every value class that kernels compute.
    Attributes of kernels specify where results are stored (`batch.in_table`)
    and how a step reads each operand (`batch.read`). Of the kinds of reads that
    the class allows, the pass selects the one with the lowest cost: `gather` if
    all rows are in one table or source, and `rows` if they are mixed or ragged.

    Tables that the same kernels write share slot numbers (a group). A slot is
    reused after the last read of its rows. Rows of 4 KB (a page) or more
    therefore share slot numbers only with rows of the same length. This limit
    is 512 bytes for rows that kernels insert into in place. Transient tables
    share slot numbers only with each other. Results are written to consecutive
    slots, in schedule order. A module without an inspector is left unchanged.

    `layout` changes the order of elements in tables (Cortex, section 5.1). It
    lists primitives, which are applied one after another to the dimensions of a
    table. Dimension 0 is the slot, and the others are the dimensions of a row.

    | primitive | effect |
    |---|---|
    | `split(d, f)` | splits dimension `d` into two, the second of extent `f` |
    | `reorder(a, b, ...)` | puts the dimensions into this order |
    | `fuse(d, d + 1)` | fuses two dimensions into one |
    | `next_to(@t)` | stores each row after the row of `@t` in the same slot |

    `layout='split(1, 16)'` applies to all tables, and `layout='h: split(2, 16);
    c: next_to(@h)'` to single tables. Slots come first, because their number is
    known only at run time, but `split(0, 8)` divides them into blocks. The
    innermost dimension must contain a multiple of 64 bytes of consecutive
    elements, for vectors. Only slots can be split if rows share operands with
    rows of parameters or inputs, or if control flow reads elements of them.
    Results are bit-identical with every layout.

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
           "Lay out tables, as in 'split(0, 8) reorder(0, 2, 1)'">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

def AttachPolicyPass : Pass<"batch-attach-policy", "::mlir::ModuleOp"> {
  let summary = "Attach the policy that selects the next batch";
  let description = [{
    Attaches the policy to the module. The object stores the policy, and
    `batch-run` uses it unless an option specifies another one. Policy `depth`
    is the default and needs no attribute. The table of a state machine, which
    `batch-run --learn-policy=FILE` writes, must be for the module's kernels. It
    is stored in the attribute.

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
           "Choose the policy that selects the next batch "
           "(docs/explanation/policies.md; default: 'fsm' with a table, else no "
           "change)">,
    Option<"table", "table", "std::string", /*default=*/"\"\"",
           "Read the state machine of policy 'fsm' from this file">,
  ];
  let dependentDialects = ["::mlir::batch::BatchDialect"];
}

#endif // BATCH_TRANSFORMS_MEMORY_PASSES_TD
