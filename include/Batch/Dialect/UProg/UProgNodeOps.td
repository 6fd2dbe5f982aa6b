//===- UProgNodeOps.td - Data structures of an instance ----*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What programs that run single instances do with values of algebraic data
// types: they read the nodes of the input, and have a row, a result and new
// values for each of these.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_NODE_OPS_TD
#define BATCH_DIALECT_UPROG_NODE_OPS_TD

include "Batch/Dialect/UProg/UProgBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Nodes of the input
//===----------------------------------------------------------------------===//

def UProg_NodeOp : UProg_Op<"node", [Pure]> {
  let summary = "a node of an instance, by its number";
  let description = [{
    The nodes of an instance have numbers from 0, children before their parents.
    The type is that of the nodes that one looks for; `uprog.variant` says whether
    it is one.

    ```mlir
    %t = uprog.node %i of %instance : !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins Index:$number, Index:$instance);
  let results = (outs UProg_Adt:$node);
  let assemblyFormat = "$number `of` $instance attr-dict `:` type($node)";
}

def UProg_NodeNumberOp : UProg_Op<"node_number", [Pure]> {
  let summary = "the number of a node of an instance";
  let description = [{
    From 0, as `uprog.node` takes it; those of its children are less.

    ```mlir
    %n = uprog.node_number %t of %instance : !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins UProg_Adt:$node, Index:$instance);
  let results = (outs Index:$number);
  let assemblyFormat = "$node `of` $instance attr-dict `:` type($node)";
}

def UProg_VariantOp : UProg_Op<"variant", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "which variant of its type a node of the input is";
  let description = [{
    Its number among the variants that the `rec.adt` lists, from 0. If the node is of
    another ADT, it is a number that no variant has, seen as unsigned.

    ```mlir
    %v = uprog.variant %t : !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins UProg_Adt:$node);
  let results = (outs Index:$variant);
  let assemblyFormat = "$node attr-dict `:` type($node)";
}

def UProg_FieldOp : UProg_Op<"field", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a field of a node of the input";
  let description = [{
    Field `number`, from 0, of a node that is of the variant that is named. A tensor
    is a row; a ragged tensor is a list of rows.

    ```mlir
    %word = uprog.field 0 of %t as @leaf : !rec.adt<@Tree> -> index
    ```
  }];
  let arguments = (ins I64Attr:$number, UProg_Adt:$node,
                       FlatSymbolRefAttr:$variant);
  let results = (outs AnyType:$value);
  let assemblyFormat = [{
    $number `of` $node `as` $variant attr-dict `:` type($node) `->` type($value)
  }];
}

//===----------------------------------------------------------------------===//
// Rows and results of nodes
//===----------------------------------------------------------------------===//

def UProg_NodeRowsOp : UProg_Op<"node_rows", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "memory for a tensor of each node of the input";
  let description = [{
    A row of a static type for each node of the mini-batch: as much memory as the
    input asks for. The rows stay until the results have been read.

    ```mlir
    uprog.node_rows @h : tensor<256xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

def UProg_NodeRowOp : UProg_Op<"node_row", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the row of a node";
  let description = [{
    It is written at most once while an instance runs: a `uprog.node_rows` has one such
    op in a program, in a loop that comes to each node once. Others read it as what the
    node has resulted in (`uprog.look_up`).

    ```mlir
    %h = uprog.node_row @h[%t] : !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$rows, UProg_Adt:$node);
  let results = (outs UProg_RowType:$row);
  let assemblyFormat = "$rows `[` $node `]` attr-dict `:` type($node)";
}

def UProg_NodeResultsOp : UProg_Op<"node_results", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "memory for what a recursion results in at each node";
  let description = [{
    For each node of the instance a number, the place of a tensor, or a node, of each of
    these types. Every unit has its own and fills it in by itself, as it computes all
    control.

    ```mlir
    uprog.node_results @encode : [!uprog.row, index]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$types);
  let assemblyFormat = "$sym_name `:` $types attr-dict";
  let hasVerifier = 1;
}

def UProg_RememberOp : UProg_Op<"remember", [
    MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "notes what a recursion results in at a node";
  let description = [{
    The node is one of the instance that the unit is at.

    ```mlir
    uprog.remember @encode[%t] = %h, %n : !uprog.row, index of !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$recursion, UProg_Adt:$node,
                       Variadic<AnyType>:$values);
  let assemblyFormat = [{
    $recursion `[` $node `]` `=` $values attr-dict `:` type($values)
    `of` type($node)
  }];
}

def UProg_LookUpOp : UProg_Op<"look_up", [
    MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what a recursion has resulted in at a node";
  let description = [{
    What `uprog.remember` has noted for this node of the instance. What a row is read
    for was written by any unit, so there is a barrier between.

    ```mlir
    %h, %n = uprog.look_up @encode[%l] : !rec.adt<@Tree> -> !uprog.row, index
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$recursion, UProg_Adt:$node);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat = [{
    $recursion `[` $node `]` attr-dict `:` type($node) `->` type($values)
  }];
}

def UProg_ConstructOp : UProg_Op<"construct", [
    MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a new value that belongs to a node of the input";
  let description = [{
    A value of the variant, with a number or a value for each field, and a row for one
    that is a tensor. Each such op makes at most one value for a node of the input, whose
    place follows from the node: nothing grows. The host reads it after the run; the
    program does not.

    ```mlir
    %s = uprog.construct @States::@node(%sl, %sr, %h) for %t
        : (!rec.adt<@States>, !rec.adt<@States>, !uprog.row) -> !rec.adt<@States>
          of !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins SymbolRefAttr:$variant, Variadic<AnyType>:$fields,
                       UProg_Adt:$node);
  let results = (outs UProg_Adt:$value);
  let assemblyFormat = [{
    $variant `(` $fields `)` `for` $node attr-dict
    `:` functional-type($fields, $value) `of` type($node)
  }];
}

#endif // BATCH_DIALECT_UPROG_NODE_OPS_TD
