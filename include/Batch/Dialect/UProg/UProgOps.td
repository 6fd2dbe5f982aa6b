//===- UProgOps.td - Operations of the uprog dialect -------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_OPS_TD
#define BATCH_DIALECT_UPROG_OPS_TD

include "Batch/Dialect/Batch/BatchTypes.td"
include "Batch/Dialect/UProg/UProgAttributes.td"
include "Batch/Dialect/UProg/UProgBase.td"
include "Batch/Dialect/UProg/UProgInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Operators and programs
//===----------------------------------------------------------------------===//

class UProg_FunctionOp<string opMnemonic, list<Trait> traits = []>
    : UProg_Op<opMnemonic, !listconcat([
        FunctionOpInterface, IsolatedFromAbove, Symbol, SingleBlock], traits)> {
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  code functionDeclarations = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
  }];
}

def UProg_OperatorOp : UProg_FunctionOp<"operator", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a uOperator: equal uTasks, as one batched tensor code";
  let description = [{
    The code of `n` equal tasks over batched rows, `of` a kernel. The first
    argument is the number of tasks `n`. Then come the operands, each with its
    `uprog.operand`, which says how it is read:

    | `#uprog.operand` | type |
    |---|---|
    | `gather`, `rows` | `tensor<?x...>`, one row per task |
    | `gather ragged(d)`, `rows ragged(d)` | `tensor<?x...>`, the concatenated rows of ragged domain `d` |
    | `scalar` | `tensor<?xT>`, one number per task |
    | `shared(p)` | any tensor: parameter `p` of the entry, for all tasks |
    | `offsets(d)` | `tensor<?xindex>`, `n + 1` numbers: one for each domain `d` that has rows |

    Results have one row per task. `uprog.result` says where they are written,
    unless that is a table of their own in row-major order. Rows are independent:
    units may share them out in any way.

    `uprog-stage-operators` splits the body into stages for a target
    (`uprog.staging`): then it consists of `uprog.stage` ops, whose results it
    yields.

    ```mlir
    uprog.operator @cell.rows of @cell(
        %n: index, %h: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
        %w: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
        -> (tensor<?x4xf32> {uprog.result = #uprog.result<siblings = 2>}) {
      %y = math.tanh %h : tensor<?x4xf32>
      uprog.yield %y : tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<FlatSymbolRefAttr>:$kernel,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let extraClassDeclaration = functionDeclarations # [{
    /// How argument `index` is read. Null for argument 0.
    OperandAttr getRead(unsigned index) {
      return getArgAttrOfType<OperandAttr>(index, kOperandAttr);
    }
    void setRead(unsigned index, OperandAttr read) {
      setArgAttr(index, kOperandAttr, read);
    }
    /// Where result `index` is written.
    ResultAttr getWrite(unsigned index);
    /// The ragged domain whose rows argument `index` has.
    std::optional<int64_t> getRagged(unsigned index);
    /// The parameter that argument `index` is.
    std::optional<int64_t> getParameter(unsigned index);
    /// The ragged domain whose offsets argument `index` is.
    std::optional<int64_t> getOffsets(unsigned index);
    /// What its stages are made for, or null if it has none.
    StagingAttr getStaging() {
      return (*this)->getAttrOfType<StagingAttr>(kStagingAttr);
    }
  }];
}

def UProg_StageOp : UProg_Op<"stage", [
    HasParent<"OperatorOp">, NoRegionArguments, RecursiveMemoryEffects,
    SingleBlock]> {
  let summary = "what an operator computes in one pass over its rows";
  let description = [{
    All that a stage stores has `rows` of the same `shape`, element by element.
    Ops between are computed where they are read: views and elementwise
    code of low cost, and what is in tiles of the stage. Each reduction has a
    `uprog.reduction`, which says how it runs. `scalar`: one element at a time,
    because some access does not fit vectors.

    `reads` are the operands of which a row of the stage reads the row of the same
    task, or of the same ragged row; it is located once for all columns. The
    results of earlier stages are read where they were stored: where the operator
    yields them, or, with an offset in bytes per row, in `scratch` memory.

    Workers that run a stage together share out its columns. With `shared_dims`
    they share out rows instead: the positions of all rows in this many leading
    dimensions of the shape, one after the other, in ranges of equal length. With
    `barrier` they wait for each other before the stage, because one of them reads or
    writes what another one has written or read since the barrier before.

    A stage is in an operator that has a `uprog.staging`. Each result is of its
    rows and shape, and is either yielded by the operator or in scratch memory.
    What a `uprog.insert` makes is stored in the row of its result, where the
    shape is that of what is inserted; the stage whose result it inserts into is
    left out where the row is the operand's.

    ```mlir
    %h, %c = uprog.stage rows<tasks> shape [64] reads(%x : tensor<?x64xf32>)
        -> (tensor<?x64xf32>, tensor<?x64xf32> scratch 0) {
      %y = math.tanh %x : tensor<?x64xf32>
      %z = math.exp %x : tensor<?x64xf32>
      uprog.yield %y, %z : tensor<?x64xf32>, tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins UProg_RowsAttr:$rows, DenseI64ArrayAttr:$shape,
                       OptionalAttr<I64Attr>:$shared_dims, UnitAttr:$barrier,
                       UnitAttr:$scalar, Variadic<AnyRankedTensor>:$reads,
                       DenseI64ArrayAttr:$scratch);
  let results = (outs Variadic<AnyRankedTensor>:$values);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `rows` `` $rows `shape` $shape (`shared_dims` $shared_dims^)?
    (`barrier` $barrier^)? (`scalar` $scalar^)?
    (`reads` `(` $reads^ `:` type($reads) `)`)?
    custom<StoredTypes>(type($values), $scratch) attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The value in the stage that is result `index`.
    Value getYielded(unsigned index) {
      return getBody().front().getTerminator()->getOperand(index);
    }
  }];
}

def UProg_PositionsType
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get("
                 "{::mlir::ShapedType::kDynamic}, "
                 "::mlir::IndexType::get($_self.getContext()))">,
           "a position for each task">,
      BuildableType<"::mlir::RankedTensorType::get("
                    "{::mlir::ShapedType::kDynamic}, "
                    "$_builder.getIndexType())">;

def UProg_InsertOp : UProg_Op<"insert", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "a slice that replaces elements of each task's row, in place";
  let description = [{
    The row of each task in `dest`, with the task's row of `source` at `offsets`;
    `sizes` and `strides` are those of `tensor.insert_slice`. A position that
    differs from task to task is a tensor of one index for each. Positions are in
    range.

    The operator writes the result into the row of `dest`, or of the operand that
    it comes from, if the step says so (`BatchStep`); else it copies the row
    before. So `dest` is an operand of the operator or the result of another
    insert, nothing reads it afterwards, and the result is yielded or inserted
    into. In stages, `dest` is the result of an earlier one, which copies the
    operand where it has to.

    ```mlir
    %y = uprog.insert %row into %cache[%position, 0] sizes [1, 64] strides [1, 1]
        : tensor<?x64xf32> into tensor<?x512x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$dest,
                       Variadic<UProg_PositionsType>:$positions,
                       DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `into` $dest custom<DynamicIndexList>($positions, $offsets)
    `sizes` $sizes `strides` $strides attr-dict
    `:` type($source) `into` type($dest)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dimensions of a row of `dest` that `source` has not.
    llvm::SmallBitVector getDroppedDims();
    /// The operand that the result may be written into.
    BlockArgument getRoot();
    /// The position of dimension `dim` of a row, if it is not constant.
    Value getPosition(unsigned dim);
  }];
}

def UProg_ProgramOp : UProg_FunctionOp<"program", [
    HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a uProgram: what every unit of a level runs";
  let description = [{
    A program has no results: what it computes is in the tables and lanes that
    its arguments name. `level` says what a unit is a unit of: barriers in the
    program are of that level or below.

    Units wait for each other at barriers, and share out the tasks of a `uprog.run`, so each has
    to come there. That is an error where control around is not equal on all units
    of the barrier's level, or of the program's if it is a run, as far as can be
    seen. Equal are constants; the arguments of a program that the host starts, but
    lanes, of which each thread block has its own; what is computed from equal
    values by `arith`, and what this dialect reads of plans, steps and lanes that
    are equal; what control hands on, if all of that is equal, and what it decides
    by. An argument of a program that others run is equal if it is for all of them.
    The number of a task is equal on the units of the level that runs the task.

    ```mlir
    uprog.program @main.execute(%plan: !batch.plan) level(device) {
      %steps = uprog.plan_size %plan
      uprog.yield
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       UProg_Level:$level,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let extraClassDeclaration = functionDeclarations;
}

def UProg_YieldOp : UProg_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends an operator, a program or a region";
  let description = [{
    The operands are the results of the operator or stage, of their types, what a
    loop hands on or a branch results in, or the keys that a `uprog.reduce`
    compares. A program yields nothing.

    ```mlir
    uprog.operator @copy.rows(
        %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x4xf32> {
      uprog.yield %x : tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ValueRange());">];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def UProg_RunOp : UProg_Op<"run", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<UTaskOpInterface, [
        "getNumTasks", "getScratch", "getUnitLevel"]>]> {
  let summary = "the units share out tasks: an operator's, or runs of a program";
  let description = [{
    The tasks of a `uprog.operator`: `step` says where the rows of operands and
    results lie, in the order in which the operator has them; shared operands are
    the parameters that it names.

    Or `tasks` runs of a `uprog.program` of a level below: the units of that level
    share them out, each taking some of the numbers from 0 to `tasks` - 1. The
    program's first argument is the number of the task, the others are the values
    in parentheses. Its tasks are independent of each other.

    With `level`, which is below that of the program around, one unit of that level,
    the first one, runs all tasks of an operator by itself, and the others go on:
    tasks that are small cost less than a barrier, and none is needed between what
    one unit does.

    When the op is done on one unit, that unit's share is done; `uprog.barrier`
    waits for all.

    ```mlir
    uprog.run @cell.rows step(%step) tasks(%n)
    uprog.run @cell.rows step(%step) tasks(%n) level(block)
    uprog.run @one_instance(%plan) tasks(%n) : !batch.plan
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Optional<UProg_StepType>:$step,
                       Index:$tasks, Variadic<AnyType>:$inputs,
                       OptionalAttr<UProg_Level>:$level);
  let assemblyFormat = [{
    $callee (`(` $inputs^ `)`)? (`step` `(` $step^ `)`)? `tasks` `(` $tasks `)`
    (`level` `(` $level^ `)`)? attr-dict (`:` type($inputs)^)?
  }];
  let extraClassDeclaration = [{
    /// The program that it runs, or null if it runs an operator.
    ProgramOp getProgram();
  }];
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

def UProg_PlanSizeOp : UProg_Op<"plan_size", [Pure]> {
  let summary = "number of steps of a plan";
  let description = [{
    Equal on all units that run the plan, as all that is read of a plan is.

    ```mlir
    %n = uprog.plan_size %plan
    ```
  }];
  let arguments = (ins Batch_PlanType:$plan);
  let results = (outs Index:$size);
  let assemblyFormat = "$plan attr-dict";
}

def UProg_PlanStepOp : UProg_Op<"plan_step", [Pure]> {
  let summary = "a step of a plan";
  let description = [{
    `index` is from 0 to the size of the plan - 1. Steps are run in this order:
    what a step reads, earlier ones have written.

    ```mlir
    %step = uprog.plan_step %plan[%i]
    ```
  }];
  let arguments = (ins Batch_PlanType:$plan, Index:$index);
  let results = (outs UProg_StepType:$step);
  let assemblyFormat = "$plan `[` $index `]` attr-dict";
}

def UProg_TakeLanesOp : UProg_Op<"take_lanes"> {
  let summary = "the lanes that run a block, as a step";
  let description = [{
    The first `count` lanes of the list; the step's operands read the rows of
    variables by it. If they are so many that it pays, the step has all lanes as
    tasks, and what it computes for the others is dropped.

    ```mlir
    %step = uprog.take_lanes %lanes[%block] tasks(%count)
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, Index:$block, Index:$count);
  let results = (outs UProg_StepType:$step);
  let assemblyFormat = "$lanes `[` $block `]` `tasks` `(` $count `)` attr-dict";
}

def UProg_StepKernelOp : UProg_Op<"step_kernel", [Pure]> {
  let summary = "number of a step's kernel, in module order";
  let description = [{
    The first `batch.kernel` of the module is number 0. A `uprog.branch` on it has
    a case for each kernel, which runs the operator of that kernel.

    ```mlir
    %k = uprog.step_kernel %step
    ```
  }];
  let arguments = (ins UProg_StepType:$step);
  let results = (outs Index:$kernel);
  let assemblyFormat = "$step attr-dict";
}

def UProg_StepTasksOp : UProg_Op<"step_tasks", [Pure]> {
  let summary = "number of tasks of a step";
  let description = [{
    How many tasks the batch has that the step runs: what `uprog.run` shares out.

    ```mlir
    %n = uprog.step_tasks %step
    ```
  }];
  let arguments = (ins UProg_StepType:$step);
  let results = (outs Index:$tasks);
  let assemblyFormat = "$step attr-dict";
}

def UProg_StepBarrierOp : UProg_Op<"step_barrier", [Pure]> {
  let summary = "whether a barrier of all units follows a step";
  let description = [{
    1 if a later step reads what this one or one since the last barrier writes;
    0 if the next step is independent of them, and after the last step.

    ```mlir
    %barrier = uprog.step_barrier %step
    ```
  }];
  let arguments = (ins UProg_StepType:$step);
  let results = (outs Index:$barrier);
  let assemblyFormat = "$step attr-dict";
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

def UProg_Carried
    : AnyTypeOf<[Index, AnySignlessInteger, AnyFloat, UProg_StepType,
                 UProg_RowType, UProg_Adt],
                "a number, a row, a step or a value of an ADT">;

class UProg_ControlOp<string opMnemonic, list<Trait> traits = []>
    : UProg_Op<opMnemonic, !listconcat([RecursiveMemoryEffects, SingleBlock],
                                       traits)> {
  let hasCustomAssemblyFormat = 1;
}

def UProg_ForOp : UProg_ControlOp<"for", [
    AutomaticAllocationScope, AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
        "getLoopInductionVars", "getLoopLowerBounds", "getLoopUpperBounds",
        "getLoopSteps", "getRegionIterArgs", "getStaticTripCount",
        "getYieldedValuesMutable", "getLoopResults"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getEntrySuccessorOperands"]>]> {
  let summary = "a loop uTask: all units run it in step";
  let description = [{
    Runs its body for `lower`, `lower` + `step` and so on, as long as that is less
    than `upper`. The number is the body's first argument; `step` is positive, and
    1 if nothing is said. With `iter`, the body's other arguments are numbers that
    it hands on: first the values given, then what the iteration before has yielded.
    The results are what the last one has yielded, or the values given if there was
    none. A body that hands on nothing needs no `uprog.yield`.

    There may be barriers in the body, and operators that units share out, if the
    bounds and the step are equal on all units of the level.

    ```mlir
    %sum = uprog.for %i = %lower to %upper step %two iter(%so_far = %zero) : index {
      uprog.barrier device
      %next = arith.addi %so_far, %i : index
      uprog.yield %next : index
    }
    ```
  }];
  let arguments = (ins Index:$lower, Index:$upper, Optional<Index>:$step,
                       Variadic<UProg_Carried>:$inits);
  let results = (outs Variadic<UProg_Carried>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  // The body has no end yet if it hands on something.
  let builders = [OpBuilder<(ins "Value":$lower, "Value":$upper,
                                 CArg<"Value", "{}">:$step,
                                 CArg<"ValueRange", "{}">:$inits)>];
}

def UProg_WhileOp : UProg_ControlOp<"while", [
    AutomaticAllocationScope,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
        "getRegionIterArgs", "getYieldedValuesMutable"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getEntrySuccessorOperands"]>]> {
  let summary = "a loop uTask that ends when its first region says so";
  let description = [{
    Runs `before`, and, if its `uprog.condition` is true, `body` with the values
    that it passes on, again and again. With `iter`, `before` has arguments: first
    the values given, then what `body` has yielded. The results are the values that
    the condition passes on when it is false.

    There may be barriers in both regions, and operators that units share out, if
    the condition is equal on all units of the level.

    ```mlir
    %steps = uprog.while iter(%i = %zero) : index {
      %block, %any = batch.next_block %lanes of %preferred, %oldest since %step
      uprog.condition(%any) %i : index
    } do {
    ^bb0(%i: index):
      %next = arith.addi %i, %one : index
      uprog.yield %next : index
    }
    ```
  }];
  let arguments = (ins Variadic<UProg_Carried>:$inits);
  let results = (outs Variadic<UProg_Carried>:$results);
  let regions = (region SizedRegion<1>:$before, SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}

def UProg_ConditionOp : UProg_Op<"condition", [
    Pure, Terminator, ParentOneOf<["WhileOp", "CompactOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "whether a loop goes on, or a number is listed";
  let description = [{
    Ends the first region of a `uprog.while`, which goes on with the values if the
    condition is true, and else has them as its results; and the region of a
    `uprog.compact`, which lists the number if it is true, or what it passes on.

    ```mlir
    %last = uprog.while {
      uprog.condition(%any) %block : index
    } do {
    ^bb0(%now: index):
      uprog.yield
    }
    ```
  }];
  let arguments = (ins I1:$condition, Variadic<AnyType>:$values);
  let assemblyFormat = [{
    `(` $condition `)` ($values^ `:` type($values))? attr-dict
  }];
}

def UProg_ReduceOp : UProg_Op<"reduce", [
    RecursiveMemoryEffects, SingleBlock, AttrSizedResultSegments]> {
  let summary = "the least keys of numbers, and which numbers have them";
  let description = [{
    The region says keys of each number from 0 to `upper` - 1. For each of these
    keys there are two results: the least one, and the first number that has it;
    the greatest i64 and 0 if no key is less than that. Each unit does so by itself;
    where a unit is many threads, it is an all-reduce over them. They may ask for
    the same number, so the region writes nothing.

    ```mlir
    %keys:2, %blocks:2 = uprog.reduce min %block < %all {
      %cost, %since = batch.block_keys %lanes[%block]
      uprog.yield %cost, %since : i64, i64
    }
    ```
  }];
  let arguments = (ins Index:$upper);
  let results = (outs Variadic<I64>:$keys, Variadic<Index>:$numbers);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def UProg_CompactOp : UProg_Op<"compact", [
    RecursiveMemoryEffects, SingleBlock]> {
  let summary = "the numbers for which a predicate holds, as a dense list";
  let description = [{
    Asks the region for each number from 0 to `upper` - 1, once, and writes those
    for which its `uprog.condition` is true to `list`, in ascending order; if the
    condition passes on an index, that in place of the number. The result is how many
    they are. Each unit does so by itself; where a unit is many
    threads, they share out the numbers, and all see the list afterwards. So what
    the region does for one number must not depend on another.

    ```mlir
    %lanes_of_block = uprog.compact %lane < %all into %list : memref<?xi32> {
      %runs = batch.enter_block %lanes[%lane], %block
      uprog.condition(%runs)
    }
    ```
  }];
  let arguments = (ins Index:$upper,
                       Arg<MemRefRankOf<[I32], [1]>, "with room for all numbers",
                           [MemWrite]>:$list);
  let results = (outs Index:$count);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def UProg_BranchOp : UProg_ControlOp<"branch", [
    NoRegionArguments, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "a branch uTask: one region per value of the selector";
  let description = [{
    Runs the region of the case that is equal to the selector, and `default` if no
    case is. No two cases are equal. The results are what the region yields; so a
    branch with results has a `default`. Without one a selector without a case does
    nothing.

    There may be barriers in the regions, and operators that units share out, if
    the selector is equal on all units of the level.

    ```mlir
    %done = uprog.branch %kernel -> index
    case 0 {
      uprog.run @leaf.rows step(%step) tasks(%n)
      uprog.yield %n : index
    }
    case 1 {
      uprog.yield %one : index
    }
    default {
      uprog.yield %zero : index
    }
    ```
  }];
  let arguments = (ins Index:$selector, DenseI64ArrayAttr:$cases);
  let results = (outs Variadic<UProg_Carried>:$results);
  let regions = (region MaxSizedRegion<1>:$defaultRegion,
                        VariadicRegion<SizedRegion<1>>:$caseRegions);
  let hasVerifier = 1;
}

def UProg_RefOp : UProg_Op<"ref", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<UTaskOpInterface>]> {
  let summary = "a reference uTask: runs a uProgram, perhaps the one it is in";
  let description = [{
    The unit runs the program to its end, then goes on. The program's level is
    that of the program around or below: at a higher one, units that do not run
    the reference would be missing.

    ```mlir
    uprog.ref @main.frame(%lanes) : !batch.lanes
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict (`:` type($inputs)^)?";
}

def UProg_BarrierOp : UProg_Op<"barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "all units of the level wait for each other";
  let description = [{
    What any unit wrote before is seen by all after. Declares a write effect, so
    that nothing deletes or moves it. A level above that of its program is an error,
    and so is control around it, or around what runs its program, that is not
    uniform over its level (`uprog.program`): units that take another way would
    never arrive.

    ```mlir
    uprog.barrier device
    ```
  }];
  let arguments = (ins UProg_Level:$level);
  let assemblyFormat = "$level attr-dict";
  let hasVerifier = 1;
}

def UProg_AwaitRowsOp : UProg_Op<"await_rows", [MemoryEffects<[MemWrite]>]> {
  let summary = "what follows reads rows that earlier steps wrote";
  let description = [{
    In the function of a stage, behind all that depends on the plan alone: where a
    kernel waits at the barrier between this stage and what it reads, if the code
    that calls the function leaves that to it. Loads before it are on their way
    while blocks wait for each other. A function has one at most, in none of its
    branches and loops: all threads come to a barrier.

    ```mlir
    func.func private @cell.rows.stage0(%step: !llvm.ptr<1>) {
      uprog.await_rows
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

include "Batch/Dialect/UProg/UProgInstanceOps.td"
include "Batch/Dialect/UProg/UProgNodeOps.td"
include "Batch/Dialect/UProg/UProgSetOps.td"

#endif // BATCH_DIALECT_UPROG_OPS_TD
