//===- BatchAttrs.td - Attributes of the batch dialect -----*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_ATTRS_TD
#define BATCH_DIALECT_BATCH_ATTRS_TD

include "Batch/Dialect/Batch/BatchDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Batch_ReadKind : I32EnumAttr<"ReadKind", "access of a step to an operand", [
      I32EnumAttrCase<"Shared", 0, "shared">,
      I32EnumAttrCase<"Gather", 1, "gather">,
      I32EnumAttrCase<"Rows", 2, "rows">,
      I32EnumAttrCase<"Scalar", 3, "scalar">]> {
  let cppNamespace = "::mlir::batch";
  let genSpecializedAttr = 0;
}

def Batch_ReadAttr : AttrDef<Batch_Dialect, "Read"> {
  let mnemonic = "read";
  let summary = "access of a step to one operand of a kernel";
  let description = [{
    The kind determines the row that a step reads for a task:

    | kind | row of task `t` |
    |---|---|
    | `shared` | the same tensor for all tasks |
    | `gather` | row `indices[t]` of one table or source |
    | `rows` | the row at address `t`, if the class mixes a table with sources |
    | `scalar` | cell `t`: an index, integer or float |

    With `segments`, the operand is ragged. Of the rows that one of the first
    three kinds reads, task `t` owns rows `offsets[t]` to `offsets[t+1] - 1`.

    ```mlir
    #batch.read<kind = gather, from = @h>
    #batch.read<kind = rows, from = @h, segments = true>
    ```
  }];
  let parameters = (ins EnumParameter<Batch_ReadKind>:$kind,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$from,
                        DefaultValuedParameter<"bool", "false">:$segments);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Batch_PolicyAttr : AttrDef<Batch_Dialect, "Policy"> {
  let mnemonic = "policy";
  let summary = "policy that selects the next batch";
  let description = [{
    docs/explanation/policies.md describes each policy. Policy `fsm` requires
    the table of a state machine; other policies do not have a table. A module
    without `batch.policy` uses policy `depth`.

    ```mlir
    module attributes {batch.policy = #batch.policy<greedy>} {}
    ```
  }];
  let parameters = (ins "::batchrt::Policy":$kind,
                        OptionalParameter<"::mlir::StringAttr">:$table);
  let assemblyFormat = "`<` $kind (`,` $table^)? `>`";
  let genVerifyDecl = 1;
}

def Batch_Strategy : I32EnumAttr<"Strategy", "control-flow strategy", [
      I32EnumAttrCase<"Auto", 0, "auto">,
      I32EnumAttrCase<"None", 1, "none">,
      I32EnumAttrCase<"Linearize", 2, "linearize">,
      I32EnumAttrCase<"Lockstep", 3, "lockstep">,
      I32EnumAttrCase<"Mask", 4, "mask">,
      I32EnumAttrCase<"Lazy", 5, "lazy">,
      I32EnumAttrCase<"Replicate", 6, "replicate">]> {
  let cppNamespace = "::mlir::batch";
  let genSpecializedAttr = 0;
}

def Batch_StrategyAttr : EnumAttr<Batch_Dialect, Batch_Strategy, "strategy"> {
  let summary = "control-flow strategy of an entry";
  let description = [{
    | strategy | control flow |
    |---|---|
    | `auto` | not chosen yet |
    | `none` | runs per instance: only `--unbatched` runs the program |
    | `linearize` | reads only the inputs, and runs ahead of the kernels |
    | `lockstep` | runs in lockstep, with a program counter per instance |
    | `mask` | runs in lockstep, with calls on the stack of the host |
    | `lazy` | runs ahead of the kernels, and waits where it needs a tensor |
    | `replicate` | runs on every unit, with the kernels of the instance |

    `batch-choose-strategy` chooses the strategy. If the source specifies a
    strategy, the pass does not change it.

    ```mlir
    func.func @main() attributes {
        batch.entry, batch.strategy = #batch.strategy<lockstep>} {
      return
    }
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Batch_Order : I32EnumAttr<"Order", "order of a loop's tasks", [
      I32EnumAttrCase<"Rounds", 0, "rounds">,
      I32EnumAttrCase<"Layers", 1, "layers">,
      I32EnumAttrCase<"Wavefront", 2, "wavefront">]> {
  let cppNamespace = "::mlir::batch";
  let genSpecializedAttr = 0;
}

def Batch_OrderAttr : EnumAttr<Batch_Dialect, Batch_Order, "order"> {
  let summary = "order in which tasks of a loop run";
  let description = [{
    Applies to a loop with a known number of rounds, in a program with strategy
    `replicate`. A *layer* of the loop can run for many rounds before the next
    layer runs. Layers are recurrences, and products between them.

    | order | tasks |
    |---|---|
    | `rounds` | round after round |
    | `layers` | layer after layer, for one group of rounds at a time |
    | `wavefront` | all layers together, each a round behind the previous one |

    With `layers`, the products of all rounds of a group run together.

    `batch-order-loops` chooses the order. If the source specifies an order, the
    pass does not change it.

    ```mlir
    #batch.order<layers>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif // BATCH_DIALECT_BATCH_ATTRS_TD
