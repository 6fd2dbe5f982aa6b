//===- UProgInstanceOps.td - Running single instances ------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops for the data that programs for single instances read and write. Every
// unit computes the control flow of an instance by itself, from numbers that
// all units see. The tensor code is divided among the units.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_INSTANCE_OPS_TD
#define BATCH_DIALECT_UPROG_INSTANCE_OPS_TD

include "Batch/Dialect/UProg/UProgBase.td"
include "Batch/Dialect/UProg/UProgInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

/// Type of a value that a `uprog.result` stores: the location of a tensor, a
/// number, or a value of an ADT.
def UProg_Datum
    : AnyTypeOf<[Index, AnySignlessInteger, AnyFloat, UProg_RowType, UProg_Adt],
                "number, row or value of an ADT">;

def UProg_List
    : Type<CPred<"::llvm::isa<::mlir::rec::ListType>($_self)">, "list">;

//===----------------------------------------------------------------------===//
// Buffers and rows
//===----------------------------------------------------------------------===//

def UProg_BufferOp : UProg_Op<"buffer", [
    HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "Declares memory for a tensor of the instance that units run";
  let description = [{
    The buffer has memory for `copies` tensors of a static type. Units that run
    an instance together share the buffer. A unit that runs instances by itself
    has its own buffer. The number of copies is fixed, so the memory of a
    program does not depend on how often its loops run.

    ```mlir
    uprog.buffer @h : tensor<256xf32> copies(2)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type,
                       I64Attr:$copies);
  let assemblyFormat = [{
    $sym_name `:` $type `copies` `(` $copies `)` attr-dict
  }];
  let hasVerifier = 1;
}

def UProg_RowOp : UProg_Op<"row", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Returns a free copy of a buffer";
  let description = [{
    Returns the first copy that is not one of the rows in parentheses. These
    rows may also be in other memory. There must be fewer rows than copies. With
    `in_turn`, the op cycles through the copies. Units that are one round of a
    loop ahead then do not write the row that other units still read. If several
    instances run together, each `member` has its own copies.

    ```mlir
    %next = uprog.row @h avoiding(%now)
    %word = uprog.row @word in_turn
    %c = uprog.row @c member(%member)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$buffer, Variadic<UProg_RowType>:$avoided,
                       Optional<Index>:$member, UnitAttr:$in_turn);
  let results = (outs UProg_RowType:$row);
  let assemblyFormat = [{
    $buffer (`avoiding` `(` $avoided^ `)`)? (`member` `(` $member^ `)`)?
    (`in_turn` $in_turn^)? attr-dict
  }];
  let hasVerifier = 1;
}

def UProg_ParameterRowOp : UProg_Op<"parameter_row", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Returns a row of a parameter";
  let description = [{
    Returns the location of row `index` of a `batch.source` of a parameter. If
    `index` is out of range, the op returns row 0, and the run ends with an
    error that names the index.

    ```mlir
    %x = uprog.parameter_row @E[%word]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source, Index:$index);
  let results = (outs UProg_RowType:$row);
  let assemblyFormat = "$source `[` $index `]` attr-dict";
}

def UProg_SliceOp : UProg_Op<"slice", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "Returns the location of a slice of a tensor";
  let description = [{
    `whole` is the location of a tensor of type `type`. The result is the
    location of slice `index` along the first dimension of this tensor. `index`
    is in range.

    ```mlir
    %x = uprog.slice %xs[%i] : tensor<64x256xf32>
    ```
  }];
  let arguments = (ins UProg_RowType:$whole, Index:$index,
                       TypeAttrOf<AnyStaticShapeTensor>:$type);
  let results = (outs UProg_RowType:$row);
  let assemblyFormat = "$whole `[` $index `]` attr-dict `:` $type";
  let extraClassDefinition = [{
    Value $cppClass::getViewSource() { return getWhole(); }
  }];
}

def UProg_LoadOp : UProg_Op<"load", [
    InferTypeOpAdaptor, DeclareOpInterfaceMethods<UTaskOpInterface>]> {
  let summary = "Loads an element of a tensor for control flow";
  let description = [{
    All units read the element. Any of them may have written the row, so a
    barrier separates the write from the load. If an index is out of range, the
    op reads at index 0 instead, and the run ends with an error.

    ```mlir
    %word = uprog.load %row[] : tensor<i32>
    %keep = uprog.load %row[%block] : tensor<15xi32>
    ```
  }];
  let arguments = (ins Arg<UProg_RowType, "", [MemRead]>:$row,
                       Variadic<Index>:$indices,
                       TypeAttrOf<AnyStaticShapeTensor>:$type);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$row `[` $indices `]` attr-dict `:` $type";
  let hasVerifier = 1;
}

def UProg_CopyOp : UProg_Op<"copy", [
    DeclareOpInterfaceMethods<UTaskOpInterface>]> {
  let summary = "Copies a tensor, with the work divided among the units";
  let description = [{
    The units divide the copy as they divide tasks. If other ops still read a
    tensor, such as an argument, a program copies the tensor and changes the
    copy in place.

    ```mlir
    uprog.copy %argument to %own : tensor<12x64x64xf32>
    ```
  }];
  let arguments = (ins Arg<UProg_RowType, "", [MemRead]>:$from,
                       Arg<UProg_RowType, "", [MemWrite]>:$to,
                       TypeAttrOf<AnyStaticShapeTensor>:$type);
  let assemblyFormat = "$from `to` $to attr-dict `:` $type";
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

def UProg_SiteOp : UProg_Op<"site", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Creates a step with one task of a kernel";
  let description = [{
    The operands are the operands of the kernel that are not shared, in the
    order of the kernel. `into` contains the row of each result. If the kernel
    inserts a result into an operand, the result may have that operand's row,
    which then changes in place. Only one `uprog.run` uses the step, with one
    task.

    ```mlir
    %step = uprog.site @cell(%x, %h, %t : !uprog.row, !uprog.row, index)
        into(%next)
    uprog.run @cell.rows step(%step) tasks(%one)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<AnyType>:$inputs,
                       Variadic<UProg_RowType>:$outputs);
  let results = (outs UProg_StepType:$step);
  let assemblyFormat = [{
    $kernel (`(` $inputs^ `:` type($inputs) `)`)? (`into` `(` $outputs^ `)`)?
    attr-dict
  }];
}

def UProg_TasksOp : UProg_Op<"tasks", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Allocates a list of tasks of a kernel";
  let description = [{
    Each unit has its own list of the operands of at most `capacity` tasks.
    `uprog.put_task` adds a task to the list, and `uprog.batch` creates a step
    from the tasks.

    ```mlir
    %tasks = uprog.tasks @input capacity(64)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$capacity);
  let results = (outs UProg_TasksType:$tasks);
  let assemblyFormat = "$kernel `capacity` `(` $capacity `)` attr-dict";
}

def UProg_PutTaskOp : UProg_Op<"put_task", [
    AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "Stores the operands of a task in a list";
  let description = [{
    The operands of task `index` are the operands of the kernel that are not
    shared, in the order of the kernel. `index` is less than the capacity of the
    list. If the `uprog.batch` that creates the step has no `into`, this op has
    one, with the row of each result, as in `uprog.site`.

    ```mlir
    uprog.put_task %tasks[%t] = %x : !uprog.row
    uprog.put_task %others[%t] = %x : !uprog.row into(%y)
    ```
  }];
  let arguments = (ins UProg_TasksType:$tasks, Index:$index,
                       Variadic<AnyType>:$inputs,
                       Variadic<UProg_RowType>:$outputs);
  let assemblyFormat = [{
    $tasks `[` $index `]` (`=` $inputs^ `:` type($inputs))?
    (`into` `(` $outputs^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def UProg_BatchOp : UProg_Op<"batch", [MemoryEffects<[MemRead]>]> {
  let summary = "Creates a step with several tasks of a kernel";
  let description = [{
    The step consists of the first `count` tasks of the list. `into` contains a
    row for each result of the kernel. The row is a tensor with an additional
    leading dimension. Each task writes the slice whose index is the number of
    the task (`uprog.slice`). Without `into`, each task has its own rows
    (`uprog.put_task`). Only one `uprog.run` uses the step.

    ```mlir
    %step = uprog.batch %tasks count(%n) into(%xs)
    uprog.run @input.rows step(%step) tasks(%n)
    ```
  }];
  let arguments = (ins UProg_TasksType:$tasks, Index:$count,
                       Variadic<UProg_RowType>:$outputs);
  let results = (outs UProg_StepType:$step);
  let assemblyFormat = [{
    $tasks `count` `(` $count `)` (`into` `(` $outputs^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

def UProg_InstancesOp : UProg_Op<"instances", [Pure]> {
  let summary = "Returns the number of instances of the mini-batch";
  let description = [{
    All units together run this many instances, which are numbered from 0.

    ```mlir
    %n = uprog.instances
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

def UProg_UnitsOp : UProg_Op<"units", [Pure]> {
  let summary = "Returns the number of units that run the program together";
  let description = [{
    The units are workers, thread blocks or blocks of a cluster.

    ```mlir
    %n = uprog.units
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

def UProg_EnterInstanceOp : UProg_Op<"enter_instance", [MemoryEffects<[MemWrite]>]> {
  let summary = "Starts an instance on a unit";
  let description = [{
    After this op, the rounds of loops count towards the limit of this instance
    (`uprog.next_round`), and errors refer to this instance.

    ```mlir
    uprog.enter_instance %instance
    ```
  }];
  let arguments = (ins Index:$instance);
  let assemblyFormat = "$instance attr-dict";
}

def UProg_NextRoundOp : UProg_Op<"next_round", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Returns true if an instance may run more rounds";
  let description = [{
    Counts one round of a loop or, with `count`, all rounds of a loop that is
    about to run. The result is false once the instance exceeds its limit
    (`batch-run --max-steps`). Its loops then end, and the run reports the loop
    named here. If several instances run together, the program itself counts the
    rounds, and `after` is the number of rounds of this instance so far. `count`
    must be from 0 to 2^62, which is verified if it is a constant.

    ```mlir
    %may = uprog.next_round "a loop at model.mlir:10:5"
    %too = uprog.next_round "a loop at model.mlir:10:5" after(%rounds)
    %again = arith.andi %goes_on, %may : i1
    %all = uprog.next_round "a loop at model.mlir:20:5" count(%n)
    ```
  }];
  let arguments = (ins StrAttr:$loop, Optional<Index>:$count,
                       Optional<Index>:$rounds);
  let results = (outs I1:$may);
  let assemblyFormat = [{
    $loop (`count` `(` $count^ `)`)? (`after` `(` $rounds^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def UProg_ArgumentOp : UProg_Op<"argument", [Pure]> {
  let summary = "Returns an argument of an instance";
  let description = [{
    Arguments are numbered from 0; parameters do not count. For a tensor, the
    result is a row. For a ragged tensor, it is a list of rows.

    ```mlir
    %x = uprog.argument 0 of %instance : !uprog.row
    %tokens = uprog.argument 1 of %instance : !rec.list<index>
    ```
  }];
  let arguments = (ins I64Attr:$number, Index:$instance);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$number `of` $instance attr-dict `:` type($value)";
}

def UProg_ResultOp : UProg_Op<"result", [
    MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<UTaskOpInterface>]> {
  let summary = "Stores a result of an instance for the host";
  let description = [{
    The units copy a tensor to the location where the host reads it. The tensors
    in a value of an ADT are not copied.

    ```mlir
    uprog.result 0 of %instance = %count : i32
    uprog.result 1 of %instance = %h : !uprog.row, tensor<256xf32>
    ```
  }];
  let arguments = (ins I64Attr:$number, Index:$instance,
                       Arg<UProg_Datum, "", [MemRead]>:$value,
                       OptionalAttr<TypeAttr>:$type);
  let assemblyFormat = [{
    $number `of` $instance `=` $value attr-dict `:` type($value) (`,` $type^)?
  }];
  let hasVerifier = 1;
}

def UProg_ListLengthOp : UProg_Op<"list_length", [Pure]> {
  let summary = "Returns the length of a list of an instance";
  let description = [{
    Returns the number of elements of a list in the input, which is 0 for an
    empty list.

    ```mlir
    %n = uprog.list_length %tokens : !rec.list<index>
    ```
  }];
  let arguments = (ins UProg_List:$list);
  let results = (outs Index:$length);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def UProg_ListElementOp : UProg_Op<"list_element", [Pure]> {
  let summary = "Returns an element of a list of an instance";
  let description = [{
    `index` is less than the length of the list. If the element is a tensor, the
    result is a row.

    ```mlir
    %word = uprog.list_element %tokens[%i] : !rec.list<index> -> index
    ```
  }];
  let arguments = (ins UProg_List:$list, Index:$index);
  let results = (outs AnyType:$element);
  let assemblyFormat = [{
    $list `[` $index `]` attr-dict `:` type($list) `->` type($element)
  }];
}

#endif // BATCH_DIALECT_UPROG_INSTANCE_OPS_TD
