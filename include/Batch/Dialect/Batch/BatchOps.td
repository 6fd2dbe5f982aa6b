//===- BatchOps.td - Operations of the batch dialect -------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_OPS_TD
#define BATCH_DIALECT_BATCH_OPS_TD

include "Batch/Dialect/Batch/BatchAttrs.td"
include "Batch/Dialect/Batch/BatchTypes.td"
include "Batch/Dialect/Batch/MachineOps.td"
include "Batch/Dialect/Rec/RecInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Kernels and their invocations: one instance
//===----------------------------------------------------------------------===//

def Batch_KernelOp : Batch_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, Symbol,
    HasParent<"::mlir::ModuleOp">, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Defines a static block of tensor code for one instance";
  let description = [{
    An argument marked `batch.shared` (a unit attribute here) is equal for all
    tasks. The other arguments are per task: static tensors, scalars, or
    *ragged* tensors `tensor<?x...>` whose extent differs from task to task.
    Results are static tensors. Scalars and elements of tensors are index, i1,
    i8, i16, i32, i64, f16, bf16, f32 or f64. No control flow depends on data.

    `phase`, at least 0, orders kernels: all tasks of a phase run before those
    of the next phase. Control flow never waits for results of a `deferred`
    kernel, or for anything that depends on them. Tasks of such a kernel run
    after all instances have finished.

    An argument with `batch.shared` is parameter number `batch.parameter` of the
    entry. Once tables are assigned, `batch.read` of an argument (a
    `#batch.read`) specifies how a step reads it, and `batch.in_table` of a
    result names its table. Ragged arguments with the same `batch.ragged` belong
    to the same domain and have equal extents.

    ```mlir
    batch.kernel @cell(%h: tensor<4xf32>,
                       %w: tensor<4x4xf32> {batch.shared, batch.parameter = 0})
        -> tensor<4xf32> {
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %y = linalg.matvec ins(%w, %h : tensor<4x4xf32>, tensor<4xf32>)
                         outs(%zero : tensor<4xf32>) -> tensor<4xf32>
      batch.yield %y : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       DefaultValuedAttr<I64Attr, "0">:$phase,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       UnitAttr:$deferred);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
    /// Returns true if argument `index` is equal for all tasks.
    bool isShared(unsigned index);
    /// Returns the arguments that are not shared, in order.
    SmallVector<unsigned> getTaskArguments();
    /// Returns true if argument `index` has a per-task extent.
    bool isRagged(unsigned index);
    /// Returns the position of result `index` among the results in the same
    /// table. A result without a table counts as the only one.
    int64_t getPosition(unsigned index);
    /// Returns the number of results in the table of result `index`.
    int64_t getSiblings(unsigned index);
  }];
}

def Batch_YieldOp : Batch_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["KernelOp", "ConcurrentOp"]>]> {
  let summary = "Ends a kernel or a batch.concurrent region with its results";
  let description = [{
    In a `batch.kernel`, the operands are the results of a task, in order, with
    the types that the kernel declares. In a region of `batch.concurrent`, they
    are the results of the region.

    ```mlir
    batch.kernel @copy(%x: tensor<4xf32>) -> tensor<4xf32> {
      batch.yield %x : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Batch_InvokeOp : Batch_Op<"invoke", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Invokes a kernel for one instance";
  let description = [{
    The operands correspond to all arguments of the kernel, including shared
    ones. Operands and results have the types of the kernel's arguments and
    results. The depth, if known, is one more than the largest depth of the
    operands. A hoisted task has a constant depth.

    ```mlir
    %d = batch.depth(%h) : tensor<4xf32>
    %y = batch.invoke @cell(%h, %w) depth(%d)
           : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
                       Optional<Index>:$depth);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`depth` `(` $depth^ `)`)? attr-dict `:`
    functional-type($inputs, $outputs)
  }];
}

def Batch_DepthOp : Batch_Op<"depth", [
    Pure, DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Computes the depth of a task with these operands";
  let description = [{
    The result is one more than the largest depth of the operands. For a ragged
    tensor or a list, the depths of its rows count. Parameters and inputs have
    depth -1, so a task that reads nothing else has depth 0. In the instance
    program, the operands are tensors. In the inspector, they are handles, which
    carry their depth.

    ```mlir
    %d = batch.depth(%hl, %hr) : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs Index:$depth);
  let assemblyFormat = "`(` $inputs `)` attr-dict (`:` type($inputs)^)?";
  let hasFolder = 1;
}

def Batch_ResolveOp : Batch_Op<"resolve", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Resets the depth of a tensor from an earlier phase";
  let description = [{
    Returns the same tensor, with depth -1. When a phase begins, all tensors of
    earlier phases are available for all instances, so their depths no longer
    count. The op is used where such a tensor enters a recursion or loop
    together with tensors of the new phase. Without the op, a traversal from the
    root of a tree would begin at a depth that differs from tree to tree.

    ```mlir
    %s = batch.resolve %h : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyStaticShapeTensor, Batch_HandleType]>:$value);
  let results = (outs AnyTypeOf<[AnyStaticShapeTensor, Batch_HandleType]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Batch_GhostOp : Batch_Op<"ghost", [
    Pure, AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Raises the depth of a tensor as if one more task computed it";
  let description = [{
    Returns the same tensor. The depth of the result is at least the depth that
    a task of depth `%d` gives to its results. The op represents a task that
    counts in depths and never runs (ACRoBat, section 4.1).
    `batch-insert-ghosts` inserts it where branches compute a value by task
    chains of different lengths.

    In the inspector, the handle represents the same tensor, and its depth
    counts even if the task has run. Only `batch.depth` should therefore read
    the handle, possibly through results of control flow. A data structure that
    contained the handle would delay its readers after a wait.

    ```mlir
    %d = batch.depth(%h) : tensor<4xf32>
    %g = batch.ghost %h depth(%d) : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyStaticShapeTensor, Batch_HandleType]>:$value,
                       Index:$depth);
  let results = (outs AnyTypeOf<[AnyStaticShapeTensor, Batch_HandleType]>:$result);
  let assemblyFormat = [{
    $value `depth` `(` $depth `)` attr-dict `:` type($value)
  }];
}

def Batch_ForceOp : Batch_Op<"force", [
    SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Marks the point where control flow needs a tensor's value";
  let description = [{
    Returns the same tensor. Control flow reads elements of the result with
    `tensor.extract`. `batch-insert-forces` inserts the op, with a number,
    before each read of a kernel result by control flow. In the inspector, the
    reads become `batch.await`.

    ```mlir
    %v = batch.force %t number(0) : tensor<2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor, OptionalAttr<I64Attr>:$number);
  let results = (outs AnyRankedTensor:$value);
  let assemblyFormat = [{
    $tensor (`number` `(` $number^ `)`)? attr-dict `:` type($tensor)
  }];
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def Batch_TableOp : Batch_Op<"table", [
    Symbol, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Defines the result table of a value class";
  let description = [{
    Each task result of the class is a row of the table, and the number of the
    row is its slot. Rows are static tensors. Several kernels may write to the
    same table, each to its own ranges of rows. Slots are numbered in schedule
    order. The same kernels write all tables of one `group` in the same way, so
    a task has the same slot number in all of them.

    A layout maps a slot (d0) and the indices in its row to dimensions in
    memory, outermost first. `TableLayout.h` describes the supported layouts. A
    layout uses every digit of every index once, has the slots first, and keeps
    a multiple of 64 bytes of consecutive elements innermost. A table can be
    `next_to` another table of its group. Its rows then follow those of that
    table, slot by slot, or block by block if slots are split.

    ```mlir
    batch.table @h : tensor<256xf32> group(0)
    batch.table @c : tensor<256xf32> group(0) next_to(@h)
    batch.table @m : tensor<8x32xf32> group(0)
      layout(affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1, d2 mod 16)>)
    batch.table @s : tensor<256xf32> group(1) transient
    ```

    No list, data structure or memoized call contains a row of a `transient`
    table. When control flow waits, the memory of such a row is reused if no
    `batch.keep` names the row and no task will read it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$row, I64Attr:$group,
                       OptionalAttr<AffineMapAttr>:$layout,
                       OptionalAttr<FlatSymbolRefAttr>:$next_to,
                       UnitAttr:$transient);
  let assemblyFormat = [{
    $sym_name `:` $row `group` `(` $group `)` (`layout` `(` $layout^ `)`)?
    (`next_to` `(` $next_to^ `)`)? (`transient` $transient^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "StringRef":$name, "Type":$row,
                                 "int64_t":$group, "AffineMap":$layout,
                                 CArg<"bool", "false">:$transient)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the layout of this table, regardless of adjacent tables.
    TableLayout getOwnLayout();
    /// Returns the layout with the distance between blocks of slots in memory,
    /// which includes the blocks of tables in the same storage.
    TableLayout getTableLayout();
    /// Returns the number of bytes before the first block of this table.
    int64_t getOffset();
  }];
}

def Batch_SourceOp : Batch_Op<"source", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Defines rows that exist before the run";
  let description = [{
    The rows are either rows of a parameter of the entry, which are never
    copied, or the input tensors of one type. `parameter(n)` counts only
    parameters. Rows are static tensors. A parameter that is a vector of unknown
    extent is one row.

    ```mlir
    batch.source @emb : tensor<256xf32> parameter(0)
    batch.source @lengths : tensor<?xi64> parameter(1)
    batch.source @images : tensor<3x32x32xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$row,
                       OptionalAttr<I64Attr>:$parameter);
  let assemblyFormat = [{
    $sym_name `:` $row (`parameter` `(` $parameter^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The inspector
//===----------------------------------------------------------------------===//

def Batch_RecordOp : Batch_Op<"record", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Records one task of a kernel";
  let description = [{
    Replaces `batch.invoke` in the inspector. The operands correspond to the
    kernel's arguments that are not shared. A tensor is passed as a handle, a
    ragged tensor as a list of handles, and a scalar as a number. The op returns
    a handle for each result. A kernel is recorded once per run if all of its
    records read the same operands: parameters, and rows at constant positions.

    ```mlir
    %h = batch.record @cell(%x) depth(%d) : (!batch.handle) -> !batch.handle
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
                       Index:$depth);
  let results = (outs Variadic<Batch_HandleType>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `depth` `(` $depth `)` attr-dict `:`
    functional-type($inputs, $outputs)
  }];
}

def Batch_RowOp : Batch_Op<"row", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Returns a handle for a row of a source";
  let description = [{
    The row can be a row of an embedding table, for example. Nothing is copied.
    An index out of range is a run-time error.

    ```mlir
    %x = batch.row @emb[%word]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source, Index:$index);
  let results = (outs Batch_HandleType:$handle);
  let assemblyFormat = "$source `[` $index `]` attr-dict";
}

def Batch_NumRowsOp : Batch_Op<"num_rows", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Returns the number of rows of a source";
  let description = [{
    The result is the first extent of a parameter, which is known when the
    parameter is bound.

    ```mlir
    %n = batch.num_rows @emb
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source);
  let results = (outs Index:$count);
  let assemblyFormat = "$source attr-dict";
}

def Batch_ExtractOp : Batch_Op<"extract", [
    NoMemoryEffect, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Loads an element of a row of a source";
  let description = [{
    Replaces `tensor.extract` of an input, a field or a parameter where control
    flow reads the element. The row has the given type and exists before the
    run, so the handle does not refer to a task. An index out of range is a
    run-time error.

    ```mlir
    %n = batch.extract %lengths[%i] : tensor<8xi32>
    ```
  }];
  let arguments = (ins Batch_HandleType:$row, Variadic<Index>:$indices,
                       TypeAttrOf<AnyRankedTensor>:$row_type);
  let results = (outs AnyType:$element);
  let assemblyFormat = "$row `[` $indices `]` attr-dict `:` $row_type";
  let hasVerifier = 1;
}

def Batch_AwaitOp : Batch_Op<"await", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Returns an element of a task's result once the task has run";
  let description = [{
    Replaces a `tensor.extract` of the result of a `batch.force`. Both ops have
    the same `number`. If the task has not run, the instance waits. When no
    instance can continue, the tasks recorded so far run. `batch-assign-slots`
    adds the table of the result. An index out of range is a run-time error.

    ```mlir
    %w = batch.await %word[%zero] number(0) table(@word) : tensor<1xindex>
    ```
  }];
  let arguments = (ins Batch_HandleType:$row, Variadic<Index>:$indices,
                       TypeAttrOf<AnyRankedTensor>:$row_type, I64Attr:$number,
                       OptionalAttr<FlatSymbolRefAttr>:$table);
  let results = (outs AnyType:$element);
  let assemblyFormat = [{
    $row `[` $indices `]` `number` `(` $number `)` (`table` `(` $table^ `)`)?
    attr-dict `:` $row_type
  }];
  let hasVerifier = 1;
}

def Batch_KeepOp : Batch_Op<"keep"> {
  let summary = "Names the rows that a function needs after a wait";
  let description = [{
    Precedes an op that may wait. The op names the rows that this call of the
    enclosing function may read or forward after the wait. Until the next
    `batch.keep` or the end of the call, the memory of other rows may be reused.
    In this respect, each region of a `batch.concurrent` counts as a function.
    The `batch.keep` before the `batch.concurrent` names the rows that the
    regions read from outside.

    ```mlir
    batch.keep(%h, %c : !batch.handle, !batch.handle)
    %more = batch.await %score[%zero] number(0) : tensor<1xi1>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Batch_HandleType, I64]>>:$rows);
  let assemblyFormat = "`(` ($rows^ `:` type($rows))? `)` attr-dict";
}

def Batch_ConcurrentOp : Batch_Op<"concurrent", [
    SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "Runs independent regions of an inspector concurrently";
  let description = [{
    Runs its regions, which do not depend on each other, and ends when all of
    them have finished. When a region waits at a `batch.await`, the next one
    continues. The results are the results of the regions, in order.
    `batch-fork-calls` creates the op.

    ```mlir
    %l, %r = batch.concurrent : !batch.handle, !batch.handle {
      %a = func.call @grow.inspect(%x) : (!batch.handle) -> !batch.handle
      batch.yield %a : !batch.handle
    }, {
      %b = func.call @grow.inspect(%y) : (!batch.handle) -> !batch.handle
      batch.yield %b : !batch.handle
    }
    ```
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = [{
    (`:` type($results)^)? $branches attr-dict
  }];
  let hasVerifier = 1;
}

def Batch_TraverseOp : Batch_Op<"traverse", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs functions on all nodes, children first";
  let description = [{
    Linearizes bottom-up recursion: one loop visits the nodes of an instance in
    post-order, without recursion. Each function takes one ADT value and nothing
    else. It runs on every node of that ADT, and its results are stored for
    `batch.lookup`. A shared node is visited once.

    ```mlir
    batch.traverse [@encode.inspect]
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$functions);
  let assemblyFormat = "$functions attr-dict";
}

def Batch_LookupOp : Batch_Op<"lookup", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Looks up the results of a traversed function at a node";
  let description = [{
    Returns the results of the function for the node, with the function's result
    types. The `batch.traverse` of the function must have visited the node.
    During the traversal, the node is a child of the visited node. After the
    traversal, it may be any node.

    ```mlir
    %h, %c = batch.lookup @encode.inspect(%left)
      : (!rec.adt<@Tree>) -> (!batch.handle, !batch.handle)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, AnyType:$node);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{
    $function `(` $node `)` attr-dict `:` functional-type($node, $outputs)
  }];
}

//===----------------------------------------------------------------------===//
// Ragged rows inside batched kernels
//===----------------------------------------------------------------------===//

def Batch_SegmentKind : I32EnumAttr<"SegmentKind", "combiner of a segment", [
      I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
      I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::mlir::batch";
}

def Batch_SegmentReduceOp : Batch_Op<"segment_reduce", [
    Pure, AllTypesMatch<["rows", "init", "result"]>]> {
  let summary = "Combines the rows of each task";
  let description = [{
    Row `t` of the result is `init[t]` combined, in order, with rows
    `offsets[t]` to `offsets[t+1] - 1` of the operand. For a task without rows,
    it is `init[t]`. The offsets are ascending, and their number is the number
    of tasks plus one.

    ```mlir
    %s = batch.segment_reduce add %rows by %offsets into %init
           : tensor<?x4xf32>, tensor<?xindex>
    ```
  }];
  let arguments = (ins Batch_SegmentKind:$kind, AnyRankedTensor:$rows,
                       1DTensorOf<[Index]>:$offsets, AnyRankedTensor:$init);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $rows `by` $offsets `into` $init attr-dict `:`
    type($rows) `,` type($offsets)
  }];
}

def Batch_SegmentBroadcastOp : Batch_Op<"segment_broadcast", [
    Pure, AllTypesMatch<["tasks", "rows"]>]> {
  let summary = "Repeats each task's row for all its ragged rows";
  let description = [{
    Row `r` of the result is row `t` of the operand, where `t` is the task that
    owns ragged row `r`: `offsets[t]` <= `r` < `offsets[t+1]`.

    ```mlir
    %r = batch.segment_broadcast %x by %offsets
           : tensor<?x4xf32>, tensor<?xindex>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tasks, 1DTensorOf<[Index]>:$offsets);
  let results = (outs AnyRankedTensor:$rows);
  let assemblyFormat = [{
    $tasks `by` $offsets attr-dict `:` type($tasks) `,` type($offsets)
  }];
}

//===----------------------------------------------------------------------===//
// Lanes: lockstep control flow
//===----------------------------------------------------------------------===//

def Batch_StartLanesOp : Batch_Op<"start_lanes", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Assigns instances to the lanes of a unit";
  let description = [{
    `machine` names a `batch.machine`. A lane that gets an instance waits for
    the first block of this machine. A lane whose instance is done takes the
    next instance without this op.

    ```mlir
    batch.start_lanes %lanes @main.machine
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, FlatSymbolRefAttr:$machine);
  let assemblyFormat = "$lanes $machine attr-dict";
}

def Batch_BlockKeysOp : Batch_Op<"block_keys", [MemoryEffects<[MemRead]>]> {
  let summary = "Computes the scheduling priority of a block";
  let description = [{
    Smaller keys mean a higher priority. `preference` depends on the rule that
    the host selects when it runs the program. It is 0 (for program order), the
    negated number of lanes that wait for the block, or the cost of the block so
    far. `since` is the step at which the first of these lanes began to wait.
    Both keys are the largest i64 if no lane waits.

    ```mlir
    %preference, %since = batch.block_keys %lanes[%block]
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, Index:$block);
  let results = (outs I64:$preference, I64:$since);
  let assemblyFormat = "$lanes `[` $block `]` attr-dict";
}

def Batch_NextBlockOp : Batch_Op<"next_block"> {
  let summary = "Selects the block that runs next";
  let description = [{
    The operands are the preferred block, the block that a lane has waited for
    longest, and the step at which the wait began. If that step is too long ago,
    the result is the block with the longest wait. Otherwise, it is the block
    that a learned policy selects for the state or, if there is none, the
    preferred block. `any` is false if no lane waits, because all instances are
    done. Otherwise, all lanes that wait for the selected block run it next.

    ```mlir
    %block, %any = batch.next_block %lanes of %preferred, %oldest since %step
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, Index:$preferred, Index:$oldest,
                       I64:$since);
  let results = (outs Index:$block, I1:$any);
  let assemblyFormat = [{
    $lanes `of` $preferred `,` $oldest `since` $since attr-dict
  }];
}

def Batch_LaneListOp : Batch_Op<"lane_list", [Pure]> {
  let summary = "Returns the number of lanes, and memory for a list of lanes";
  let description = [{
    `count` is the number of lanes of the unit, including those without an
    instance. `list` has space for the numbers of all lanes. `uprog.compact`
    stores the lanes that run a block in it.

    ```mlir
    %all, %list = batch.lane_list %lanes : memref<?xi32>
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes);
  let results = (outs Index:$count, MemRefRankOf<[I32], [1]>:$list);
  let assemblyFormat = "$lanes attr-dict `:` type($list)";
}

def Batch_EnterBlockOp : Batch_Op<"enter_block"> {
  let summary = "Decides whether a lane runs a block";
  let description = [{
    Returns true if the lane waits for the block. In this case, the op adds one
    to the number of blocks that the instance of the lane has run. If the
    instance has run too many blocks, it ends, the lane takes the next instance,
    and the result is false.

    ```mlir
    %runs = batch.enter_block %lanes[%lane], %block
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, Index:$lane, Index:$block);
  let results = (outs I1:$runs);
  let assemblyFormat = "$lanes `[` $lane `]` `,` $block attr-dict";
}

def Batch_LaneOpsOp : Batch_Op<"lane_ops", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs the stack operations of a block on the lanes that run it";
  let description = [{
    The block belongs to a `batch.machine`. With `prologue`, the op runs the
    stack operations before the block's invocation of a kernel. Otherwise, it
    runs the stack operations after the invocation, and the terminator, which
    determines the block that the lanes wait for next. In a machine with
    `frames`, a call enters a new frame: only its lanes run until
    `batch.leave_frame`.

    ```mlir
    batch.lane_ops %lanes @main.machine::@fib.2 prologue
    batch.lane_ops %lanes @main.machine::@fib.2
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, SymbolRefAttr:$block,
                       UnitAttr:$prologue);
  let assemblyFormat = "$lanes $block (`prologue` $prologue^)? attr-dict";
}

def Batch_LeaveFrameOp : Batch_Op<"leave_frame"> {
  let summary = "Leaves the frame of a call when all its lanes have returned";
  let description = [{
    The lanes of the frame below run again, including those that have returned.
    The machine must have `frames`.

    ```mlir
    batch.leave_frame %lanes @main.machine
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, FlatSymbolRefAttr:$machine);
  let assemblyFormat = "$lanes $machine attr-dict";
}

#endif // BATCH_DIALECT_BATCH_OPS_TD
