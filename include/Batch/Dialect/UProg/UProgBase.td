//===- UProgBase.td - Common definitions of uprog ----------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_BASE_TD
#define BATCH_DIALECT_UPROG_BASE_TD

include "Batch/Dialect/UProg/UProgDialect.td"
include "mlir/IR/EnumAttr.td"

class UProg_Op<string opMnemonic, list<Trait> traits = []>
    : Op<UProg_Dialect, opMnemonic, traits>;

def UProg_Level : I32EnumAttr<"Level", "unit level", [
      I32EnumAttrCase<"Block", 0, "block">,
      I32EnumAttrCase<"Cluster", 1, "cluster">,
      I32EnumAttrCase<"Device", 2, "device">]> {
  let cppNamespace = "::mlir::uprog";
}

def UProg_StepType : TypeDef<UProg_Dialect, "Step"> {
  let mnemonic = "step";
  let summary = "step, a batch of tasks of one kernel";
  let description = [{
    A step of a plan (`uprog.plan_step`), of lanes that run a block
    (`uprog.take_lanes`), or of one instance (`uprog.site`, `uprog.batch`).
    `uprog.run` passes the step to an operator, which uses it to find its
    operands and results.

    ```mlir
    !uprog.step
    ```
  }];
}

def UProg_RowType : TypeDef<UProg_Dialect, "Row"> {
  let mnemonic = "row";
  let summary = "row, the location of a tensor of one instance";
  let description = [{
    The tensor is in a `uprog.buffer`, in a `uprog.node_rows`, in an input (such
    as a `uprog.argument`) or in a parameter (`uprog.parameter_row`). Control
    flow forwards locations, never tensors, so a tensor that a loop carries is
    not copied.

    ```mlir
    !uprog.row
    ```
  }];
}

def UProg_TasksType : TypeDef<UProg_Dialect, "Tasks"> {
  let mnemonic = "tasks";
  let summary = "list of task operands of a unit";
  let description = [{
    The list belongs to one unit (`uprog.tasks`). `uprog.batch` creates a step
    from the list.

    ```mlir
    !uprog.tasks
    ```
  }];
}

def UProg_Adt
    : Type<CPred<"::llvm::isa<::mlir::rec::AdtType>($_self)">,
           "value of an algebraic data type">;

#endif // BATCH_DIALECT_UPROG_BASE_TD
