//===- UProgNodeOps.td - Data structures of an instance ----*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops for values of algebraic data types in programs that run single instances.
// The programs read the nodes of the input. For each node, they store rows and
// results, and create new values.
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
  let summary = "Returns a node of an instance, by its number";
  let description = [{
    The nodes of an instance are numbered from 0, children before their parents.
    The result has the type that the program expects. `uprog.variant` determines
    whether the node has that type.

    ```mlir
    %t = uprog.node %i of %instance : !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins Index:$number, Index:$instance);
  let results = (outs UProg_Adt:$node);
  let assemblyFormat = "$number `of` $instance attr-dict `:` type($node)";
}

def UProg_NodeNumberOp : UProg_Op<"node_number", [Pure]> {
  let summary = "Returns the number of a node of an instance";
  let description = [{
    Numbers start at 0, as in `uprog.node`. The children of a node have smaller
    numbers than the node.

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
  let summary = "Returns the variant of a node of the input";
  let description = [{
    Returns the number of the variant among those that the `rec.adt` declares,
    from 0. If the node belongs to another ADT, the result, as an unsigned
    integer, is not the number of any variant.

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
  let summary = "Returns a field of a node of the input";
  let description = [{
    Returns field `number`, from 0, of a node of the named variant. For a
    tensor, the result is a row. For a list of tensors, it is a list of rows.

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
  let summary = "Declares memory for a tensor of each node of the input";
  let description = [{
    The memory has a row of a static type for each node of the mini-batch, so
    its size depends on the input. The rows remain valid until the results have
    been read.

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
  let summary = "Returns the row of a node";
  let description = [{
    The row is written at most once while an instance runs. To ensure this, a
    program has only one such op for each `uprog.node_rows`, in a loop that
    visits each node once. Other code reads the row as a result of the node
    (`uprog.look_up`).

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
  let summary = "Declares memory for the results of a recursion at each node";
  let description = [{
    For each node of the instance, the memory has one value of each of the given
    types: a number, the location of a tensor, or a node. Every unit has its own
    memory and fills it by itself, just as it runs all control flow by itself.

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
  let summary = "Stores the results of a recursion at a node";
  let description = [{
    The node belongs to the instance that the unit runs.

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
  let summary = "Returns the results of a recursion at a node";
  let description = [{
    Returns the values that `uprog.remember` has stored for this node of the
    instance. Any unit may have written the tensor of a row, so a barrier must
    precede reads of the row.

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
  let summary = "Creates a value that belongs to a node of the input";
  let description = [{
    Creates a value of the variant. A field is a number, a value of an ADT or,
    for a tensor, a row. Each such op creates at most one value for a node of
    the input. The node determines the location of the value, so the op needs no
    additional memory. The host reads the value after the run; the program does
    not.

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
