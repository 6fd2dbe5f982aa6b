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
  let summary = "a static block of tensor code, written for one instance";
  let description = [{
    Arguments marked `batch.shared` (a unit attribute here) are equal for all
    tasks; the others are per task: static tensors, scalars, or *ragged* tensors
    `tensor<?x...>` whose extent differs from task to task. There is no control
    flow that depends on data. Results are static tensors, and elements of all
    tensors are index, i1, i8, i16, i32, i64, f16, bf16, f32 or f64. `phase`, at
    least 0, orders kernels: all tasks of a phase run before those of the next.
    Control never waits for what a `deferred` kernel makes, nor for what depends on
    it: its tasks run when all instances have ended.

    An argument with `batch.shared` is a parameter of the entry, number
    `batch.parameter`. Once tables are assigned, an argument says how a step
    reads it (`batch.read`, a `#batch.read`) and a result in which table it lies
    (`batch.in_table`). Ragged arguments of one domain, which have one
    `batch.ragged`, have equal extents.

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
    /// True if argument `index` is equal for all tasks.
    bool isShared(unsigned index);
    /// The arguments that each task has one of, in order.
    SmallVector<unsigned> getTaskArguments();
    /// True if argument `index` has a per-task extent.
    bool isRagged(unsigned index);
    /// Position of result `index` among the results in the same table, and the
    /// number of these. Results without a table are alone.
    int64_t getPosition(unsigned index);
    int64_t getSiblings(unsigned index);
  }];
}

def Batch_YieldOp : Batch_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["KernelOp", "ConcurrentOp"]>]> {
  let summary = "results of a kernel, or of a region of batch.concurrent";
  let description = [{
    Ends a `batch.kernel`. The operands are the results of a task, in order, with
    the types that the kernel declares. In a region of `batch.concurrent`, they
    are the region's results.

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
  let summary = "a depth-tagged operator: one task of a kernel";
  let description = [{
    Runs a kernel for one instance. The operands are all arguments of the kernel,
    shared ones too, and have their types, as the results have. The depth, where
    it is known, is one more than the largest depth of the operands; a hoisted
    task has a constant one.

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
  let summary = "the depth of a task with these operands";
  let description = [{
    One more than the largest depth of the operands: of the rows, for a ragged
    tensor or a list. Parameters and inputs have depth -1, so a task that reads
    nothing else has depth 0. In the instance program the operands are tensors;
    in the inspector they are handles, which carry their depth.

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
  let summary = "a tensor of an earlier phase, for a later one";
  let description = [{
    The same tensor, with depth -1: what an earlier phase makes is there when a
    later one begins, for all instances. Stands where such a tensor enters a
    recursion or loop of the later phase, together with tensors of that phase,
    whose depths count: without it the way down a tree would begin at a depth
    that differs from tree to tree.

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
  let summary = "a tensor as if one more task had made it";
  let description = [{
    The same tensor, with the depth that a task of depth `%d` gives its results, if
    that is greater: a task that counts in depths and never runs (ACRoBat, section
    4.1). `batch-insert-ghosts` puts it where branches make a value by chains of
    tasks of different lengths. In the inspector the handle is that of the same
    tensor; its depth counts even if the task has run. So only `batch.depth` should
    read it, perhaps through results of control: data that keep it would delay what
    reads them after a wait.

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
  let summary = "the point where control needs a tensor's value";
  let description = [{
    The same tensor, of which control reads elements by `tensor.extract`.
    `batch-insert-forces` puts it in front of control's reads of what kernels
    compute, and numbers it. In the inspector the reads become `batch.await`.

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
  let summary = "the result table of a value class";
  let description = [{
    A row (slot) per result; rows are static tensors. Several kernels write row
    ranges of one table; slots are numbered in schedule order. Tables of one
    `group` are written by the same kernels in the same way, so a task has one
    slot number in all.

    A layout takes a slot (d0) and the indices in its row to dimensions in
    memory, outermost first; `TableLayout.h` says which ones there are. The rows
    of a table that lies `beside` another of its group come behind those of that
    table, slot by slot (block by block, if slots are split). A layout takes every
    digit of every index once, has the slots first, and keeps a multiple of 64
    bytes of consecutive elements innermost.

    ```mlir
    batch.table @h : tensor<256xf32> group(0)
    batch.table @c : tensor<256xf32> group(0) beside(@h)
    batch.table @m : tensor<8x32xf32> group(0)
      layout(affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1, d2 mod 16)>)
    batch.table @s : tensor<256xf32> group(1) transient
    ```

    Rows of a `transient` table are in no list, data structure or remembered
    call: where control waits, one that no `batch.keep` names and no task reads
    is used again.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$row, I64Attr:$group,
                       OptionalAttr<AffineMapAttr>:$layout,
                       OptionalAttr<FlatSymbolRefAttr>:$beside,
                       UnitAttr:$transient);
  let assemblyFormat = [{
    $sym_name `:` $row `group` `(` $group `)` (`layout` `(` $layout^ `)`)?
    (`beside` `(` $beside^ `)`)? (`transient` $transient^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "StringRef":$name, "Type":$row,
                                 "int64_t":$group, "AffineMap":$layout,
                                 CArg<"bool", "false">:$transient)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The layout of this table by itself.
    TableLayout getOwnLayout();
    /// The same with the distance that blocks of slots have in memory, where
    /// others may lie between them, and the bytes before the first one.
    TableLayout getTableLayout();
    int64_t getOffset();
  }];
}

def Batch_SourceOp : Batch_Op<"source", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "rows that exist before the run";
  let description = [{
    Either the rows of a parameter of the entry (`parameter(n)` counts
    parameters), which are never copied, or the input tensors of one type.
    Rows are static tensors; a parameter that is a vector of unknown extent is
    one row.

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
  let summary = "records one task of a kernel";
  let description = [{
    What `batch.invoke` becomes in the inspector. The operands are those of the
    kernel's arguments that are not shared: a handle for a tensor, a list of
    handles for a ragged one, a number for a scalar. There is a handle for each
    result. A kernel that reads parameters alone, or besides only rows at constant
    places, the same in all of its records, is recorded once per run.

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
  let summary = "a handle for a row of a source";
  let description = [{
    The inspector's view of an embedding row: nothing is copied. An index that is
    not below the number of rows is an error when the program runs.

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
  let summary = "number of rows of a source";
  let description = [{
    The first extent of a parameter, which is known when the parameter is bound.

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
  let summary = "an element of a row of a source";
  let description = [{
    What `tensor.extract` of an input, a field or a parameter becomes where
    control reads the element. The row, of the given type, exists before the run;
    the handle is not one of a task. An index out of range is an error when the
    program runs.

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
  let summary = "an element of a result of a task, once that has run";
  let description = [{
    What `tensor.extract` of the `batch.force` with this number becomes. If the
    task has not run, the instance waits; when no instance can go on, the tasks
    recorded so far run. `batch-assign-slots` adds the table of the result. An
    index out of range is an error when the program runs.

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
  let summary = "the rows that a function needs when it goes on";
  let description = [{
    Stands in front of what may wait, and names the rows that this call of the
    function around it may read or hand on after that. Until its next
    `batch.keep` or its end, no other rows are kept for it. A region of a
    `batch.concurrent` is a function in this respect; what it reads from outside
    is kept by the `batch.keep` in front of the op.

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
  let summary = "regions of an inspector that wait side by side";
  let description = [{
    Runs its regions, which do not depend on each other, and ends when all have.
    Where one waits at a `batch.await`, the next goes on. The results are those
    of the regions, in order. `batch-fork-calls` makes it.

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
  let summary = "runs functions on all nodes, children first";
  let description = [{
    The linearizer of bottom-up recursion: one loop over the nodes of an
    instance in post-order, without recursion. Each function takes one ADT value
    and nothing else; it is run on every node of that ADT and its results are
    remembered for `batch.lookup`. A node that is shared is visited once.

    ```mlir
    batch.traverse [@encode.inspect]
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$functions);
  let assemblyFormat = "$functions attr-dict";
}

def Batch_LookupOp : Batch_Op<"lookup", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what a traversal remembers of a function at a node";
  let description = [{
    The results of the function for the node, of the function's result types. The
    node is one that the `batch.traverse` of the function has visited: a child of
    the node that is visited now, or any node after the traversal.

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
  let summary = "combines the rows of each task";
  let description = [{
    Row `t` of the result is `init[t]` combined, in order, with rows
    `offsets[t]` to `offsets[t+1]` of the operand. A task without rows keeps
    `init[t]`. There is one more offset than there are tasks; they ascend.

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
  let summary = "repeats each task's row for all its ragged rows";
  let description = [{
    Row `r` of the result is row `t` of the operand, where task `t` owns
    ragged row `r`: `offsets[t]` <= `r` < `offsets[t+1]`.

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
// Lanes: control in lock step
//===----------------------------------------------------------------------===//

def Batch_StartLanesOp : Batch_Op<"start_lanes", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "every lane takes an instance";
  let description = [{
    A lane that gets one waits for the first block of the machine, which is the
    `batch.machine` of that name. Lanes that are done take the next instance by
    themselves.

    ```mlir
    batch.start_lanes %lanes @main.machine
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, FlatSymbolRefAttr:$machine);
  let assemblyFormat = "$lanes $machine attr-dict";
}

def Batch_BlockKeysOp : Batch_Op<"block_keys", [MemoryEffects<[MemRead]>]> {
  let summary = "how much a block is to run next";
  let description = [{
    The less, the sooner, both: `preference` by the choice that the host has made
    when it runs the program (0, so that program order decides; how few lanes wait;
    or what the block has cost so far), and `since`, the step at which the first of
    the lanes came that wait. The greatest i64 if none waits.

    ```mlir
    %preference, %since = batch.block_keys %lanes[%block]
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, Index:$block);
  let results = (outs I64:$preference, I64:$since);
  let assemblyFormat = "$lanes `[` $block `]` attr-dict";
}

def Batch_NextBlockOp : Batch_Op<"next_block"> {
  let summary = "the block that runs next";
  let description = [{
    Given the preferred one, the one that a lane has waited for longest, and since
    when: the latter if that is too long ago; else what a learned choice says, if
    the host has made it and it knows the state; else the preferred one. `any` is
    false if no lane waits: all instances are done. Else all lanes that wait for
    the block are about to run it.

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
  let summary = "how many lanes there are, and room for a list of them";
  let description = [{
    `count` is the number of lanes of the unit, those without an instance
    included. `list` has room for their numbers; `uprog.compact` writes there
    which lanes run a block.

    ```mlir
    %all, %list = batch.lane_list %lanes : memref<?xi32>
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes);
  let results = (outs Index:$count, MemRefRankOf<[I32], [1]>:$list);
  let assemblyFormat = "$lanes attr-dict `:` type($list)";
}

def Batch_EnterBlockOp : Batch_Op<"enter_block"> {
  let summary = "whether a lane runs a block";
  let description = [{
    True if the lane waits for the block, which is counted as one more that its
    instance runs. An instance that has run too many ends here; its lane takes the
    next one.

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
  let summary = "what a block does to the variables of the lanes taken";
  let description = [{
    The stack operations of a block of a `batch.machine`: those before its
    invocation of a kernel (`prologue`), or those after it and the terminator,
    which says what the lanes wait for next. In a machine with `frames` a call
    enters a new frame: only its lanes run until `batch.leave_frame`.

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
  let summary = "all lanes of a call have come back";
  let description = [{
    The lanes of the frame below run again, those that have come back too. The
    machine is one with `frames`.

    ```mlir
    batch.leave_frame %lanes @main.machine
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, FlatSymbolRefAttr:$machine);
  let assemblyFormat = "$lanes $machine attr-dict";
}

#endif // BATCH_DIALECT_BATCH_OPS_TD
