//===- UProgSetOps.td - Running sets of instances ----------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops for programs that run several instances together. Each unit stores the
// numbers that the control flow of each instance computes, and lists of the
// instances that take the same path. A *member* is the number of an instance
// among those that run together.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_SET_OPS_TD
#define BATCH_DIALECT_UPROG_SET_OPS_TD

include "Batch/Dialect/UProg/UProgBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def UProg_CellsType : TypeDef<UProg_Dialect, "Cells"> {
  let mnemonic = "cells";
  let summary = "cells with one value per instance";
  let description = [{
    Each unit has its own cells. The values are numbers, rows, lists or values
    of an ADT.

    ```mlir
    !uprog.cells<index>
    ```
  }];
  let parameters = (ins "Type":$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

def UProg_CellsOp : UProg_Op<"cells", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Allocates cells for a value of each instance";
  let description = [{
    The cells belong to one unit, for at most `capacity` members. A member has
    no value until `uprog.put`.

    ```mlir
    %words = uprog.cells capacity(64) : !uprog.cells<index>
    ```
  }];
  let arguments = (ins I64Attr:$capacity);
  let results = (outs UProg_CellsType:$cells);
  let assemblyFormat = "`capacity` `(` $capacity `)` attr-dict `:` qualified(type($cells))";
}

def UProg_GetOp : UProg_Op<"get", [
    MemoryEffects<[MemRead]>,
    TypesMatchWith<"value has the value type of the cells", "cells", "value",
                   "::llvm::cast<::mlir::uprog::CellsType>($_self).getValue()">]> {
  let summary = "Returns the value of an instance";
  let description = [{
    Returns the last value that was put for the member. The member must have a
    value, because cells start without values.

    ```mlir
    %word = uprog.get %words[%member] : !uprog.cells<index>
    ```
  }];
  let arguments = (ins UProg_CellsType:$cells, Index:$member);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$cells `[` $member `]` attr-dict `:` qualified(type($cells))";
}

def UProg_PutOp : UProg_Op<"put", [
    MemoryEffects<[MemWrite]>,
    TypesMatchWith<"value has the value type of the cells", "cells", "value",
                   "::llvm::cast<::mlir::uprog::CellsType>($_self).getValue()">]> {
  let summary = "Sets the value of an instance";
  let description = [{
    From this op on, the member has this value; its previous value is lost.

    ```mlir
    uprog.put %words[%member] = %next : !uprog.cells<index>
    ```
  }];
  let arguments = (ins UProg_CellsType:$cells, Index:$member, AnyType:$value);
  let assemblyFormat = "$cells `[` $member `]` `=` $value attr-dict `:` qualified(type($cells))";
}

def UProg_MembersOp : UProg_Op<"members", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Allocates a list of members";
  let description = [{
    The list belongs to one unit and has at most `capacity` members.
    `uprog.compact` writes it.

    ```mlir
    %list = uprog.members capacity(64) : memref<?xi32>
    ```
  }];
  let arguments = (ins I64Attr:$capacity);
  let results = (outs MemRefRankOf<[I32], [1]>:$list);
  let assemblyFormat = "`capacity` `(` $capacity `)` attr-dict `:` type($list)";
}

def UProg_MemberOp : UProg_Op<"member", [MemoryEffects<[MemRead]>]> {
  let summary = "Returns a member of a list";
  let description = [{
    Returns entry `index` of the list, from 0. `index` is less than the length
    of the list, which `uprog.compact` returns.

    ```mlir
    %member = uprog.member %list[%k] : memref<?xi32>
    ```
  }];
  let arguments = (ins MemRefRankOf<[I32], [1]>:$list, Index:$index);
  let results = (outs Index:$member);
  let assemblyFormat = "$list `[` $index `]` attr-dict `:` type($list)";
}

def UProg_EachOp : UProg_Op<"each", [
    RecursiveMemoryEffects, SingleBlock,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs its region for each number of a range";
  let description = [{
    Runs the region for each number from 0 to `upper` - 1. Each unit runs the op
    by itself. If a unit consists of many threads, they divide the numbers among
    them, and all of them see the writes of the region afterwards. The effects
    of the region for one number must therefore not depend on another number. In
    the region, units neither wait for each other nor divide tasks.

    ```mlir
    uprog.each %k < %n {
      %member = uprog.member %list[%k] : memref<?xi32>
      %word = uprog.load %row[] : tensor<i32>
      uprog.put %words[%member] = %word : !uprog.cells<i32>
    }
    ```
  }];
  let arguments = (ins Index:$upper);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "Value":$upper)>];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

#endif // BATCH_DIALECT_UPROG_SET_OPS_TD
