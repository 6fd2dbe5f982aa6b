//===- BatchTypes.td - Types of the batch dialect ----------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_TYPES_TD
#define BATCH_DIALECT_BATCH_TYPES_TD

include "Batch/Dialect/Batch/BatchDialect.td"
include "Batch/Dialect/Rec/RecInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Batch_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Batch_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Batch_HandleType
    : Batch_Type<"Handle", "handle",
                 [DeclareTypeInterfaceMethods<Rec_TensorStandInTypeInterface>]> {
  let summary = "handle of a tensor in the inspector";
  let description = [{
    Represents a tensor in a program whose tensor code has been removed: a task
    and a depth, or a row of a `batch.source`. A list of handles represents a
    ragged tensor.

    ```mlir
    !batch.handle
    ```
  }];
}

def Batch_PlanType : Batch_Type<"Plan", "plan"> {
  let summary = "plan, a sequence of steps";
  let description = [{
    A policy creates the plan at run time from the records of the inspector. The
    executor reads it with `uprog.plan_size` and `uprog.plan_step`. A plan never
    changes.

    ```mlir
    !batch.plan
    ```
  }];
}

def Batch_LanesType : Batch_Type<"Lanes", "lanes"> {
  let summary = "lanes of a unit";
  let description = [{
    Includes the lanes' program counters and their rows of all variables of a
    `batch.machine`. Lanes are memory, so ops on lanes have side effects. A
    program takes them as its argument.

    ```mlir
    !batch.lanes
    ```
  }];
}

#endif // BATCH_DIALECT_BATCH_TYPES_TD
