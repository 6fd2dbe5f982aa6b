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
  let summary = "Defines a uOperator: equal uTasks, as batched tensor code";
  let description = [{
    Contains the code of a kernel (`of`) for `n` equal tasks, over batched rows.
    The first argument is `n`. The other arguments are the operands, each with a
    `uprog.operand` that specifies how it is read:

    | `#uprog.operand` | type |
    |---|---|
    | `gather`, `rows` | `tensor<?x...>`, one row per task |
    | `gather ragged(d)`, `rows ragged(d)` | `tensor<?x...>`, the concatenated rows of ragged domain `d` |
    | `scalar` | `tensor<?xT>`, one number per task |
    | `shared(p)` | any tensor: parameter `p` of the entry, for all tasks |
    | `offsets(d)` | `tensor<?xindex>`, `n + 1` numbers; one such operand for each domain with rows |

    Results have one row per task. `uprog.result` specifies where they are
    written; the default is a separate table in row-major order. Rows are
    independent, so units may divide them in any way.

    `uprog-stage-operators` splits the body into stages for a target
    (`uprog.staging`). The body then consists of `uprog.stage` ops and yields
    their results.

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
    /// Returns how argument `index` is read; null for argument 0.
    OperandAttr getRead(unsigned index) {
      return getArgAttrOfType<OperandAttr>(index, kOperandAttr);
    }
    void setRead(unsigned index, OperandAttr read) {
      setArgAttr(index, kOperandAttr, read);
    }
    /// Returns where result `index` is written.
    ResultAttr getWrite(unsigned index);
    /// Returns the ragged domain whose rows argument `index` has.
    std::optional<int64_t> getRagged(unsigned index);
    /// Returns the number of the parameter that argument `index` is.
    std::optional<int64_t> getParameter(unsigned index);
    /// Returns the ragged domain whose offsets argument `index` is.
    std::optional<int64_t> getOffsets(unsigned index);
    /// Returns the target of the stages, or null if there are none.
    StagingAttr getStaging() {
      return (*this)->getAttrOfType<StagingAttr>(kStagingAttr);
    }
  }];
}

def UProg_StageOp : UProg_Op<"stage", [
    HasParent<"OperatorOp">, NoRegionArguments, RecursiveMemoryEffects,
    SingleBlock]> {
  let summary = "Computes values of an operator in one pass over its rows";
  let description = [{
    All values that a stage stores have its `rows` and `shape`, and use each
    other only element by element. The results of other ops are computed where
    they are read: views, elementwise code of low cost, and ops whose results
    are stored in tiles of the stage. Each reduction has a `uprog.reduction`
    that specifies how it runs. With `scalar`, the stage computes one element at
    a time, because some access cannot use vectors.

    From each operand in `reads`, a row of the stage reads the row of the same
    task, or the same ragged row. The location of that row is computed once for
    all columns. The results of earlier stages are read where they are stored:
    in the rows of the operator's results, or in `scratch` memory, at an offset
    in bytes per row.

    Workers that run a stage together divide its columns among them. With
    `shared_dims = m`, they divide rows instead: the positions of all rows in
    the m leading dimensions of the shape are divided into ranges of equal
    length. With `barrier`, the workers wait for each other before the stage. A
    barrier is necessary if one worker reads or writes data that another worker
    has written or read since the previous barrier.

    A stage is in an operator that has a `uprog.staging`. Each result has the
    rows and the shape of the stage. The operator yields the result, a
    `uprog.insert` writes into it, or it is in scratch memory.

    A stage that yields a `uprog.insert` has the shape of the inserted value,
    which is stored in the row of the result. If that row is the row of the
    operand, the stage whose result the insert writes into is skipped.

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
    /// Returns the value in the stage that becomes result `index`.
    Value getYielded(unsigned index) {
      return getBody().front().getTerminator()->getOperand(index);
    }
  }];
}

def UProg_PositionsType
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get("
                 "{::mlir::ShapedType::kDynamic}, "
                 "::mlir::IndexType::get($_self.getContext()))">,
           "1D index tensor with one position per task">,
      BuildableType<"::mlir::RankedTensorType::get("
                    "{::mlir::ShapedType::kDynamic}, "
                    "$_builder.getIndexType())">;

def UProg_InsertOp : UProg_Op<"insert", [Pure, AllTypesMatch<["dest", "result"]>]> {
  let summary = "Replaces a slice of each task's row, in place";
  let description = [{
    Returns the row of each task in `dest`, with the task's row of `source`
    inserted at `offsets`. `sizes` and `strides` are the same as in
    `tensor.insert_slice`. A position that differs from task to task is a tensor
    with one index per task. Positions are in range.

    Depending on the step (`BatchStep`), the operator writes the result in
    place, or it copies the row first. In place, it writes into the row of
    `dest`, or of the operand that `dest` comes from. Therefore, `dest` is an
    operand of the operator or the result of another insert, and nothing reads
    it afterwards. The result is yielded, or it is the `dest` of another insert.
    In stages, `dest` is the result of an earlier stage, which copies the
    operand if necessary.

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
    /// Returns the dimensions of a row of `dest` that `source` does not have.
    llvm::SmallBitVector getDroppedDims();
    /// Returns the operand that the result may be written into.
    BlockArgument getRoot();
    /// Returns the position in dimension `dim` of a row, or null if it is
    /// constant.
    Value getPosition(unsigned dim);
  }];
}

def UProg_ProgramOp : UProg_FunctionOp<"program", [
    HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Defines a uProgram, which every unit of a level runs";
  let description = [{
    A program has no results. It writes to the tables and lanes that its
    arguments name. `level` is the level of its units. Barriers in the program
    are of that level or below.

    Units wait for each other at a barrier and divide the tasks of a `uprog.run`
    among them, so all units must reach such an op. It is an error if the
    control flow around the op is not known to be uniform: equal on all units of
    the barrier's level or, for a run, of the program's level. These values are
    uniform:

    - constants;
    - the arguments of a program that the host starts, except lanes: each thread
      block has its own lanes;
    - values that `arith` or `math` computes from uniform values, and values
      that this dialect reads from uniform plans, steps and lanes;
    - values that control flow forwards, if they and the conditions of the
      control flow are uniform;
    - an argument of a program that is run by other programs, if all of them
      pass a uniform value;
    - the number of a task, on the units of the level that runs the task.

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
  let summary = "Ends an operator, a program or a region";
  let description = [{
    The operands are the results of the operator, stage or branch. In a loop,
    they are the values for its next iteration, and in a `uprog.reduce`, they
    are the keys to compare. They have the types of the results. A program
    yields nothing.

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
  let summary = "Distributes the tasks of an operator or the runs of a program";
  let description = [{
    If the callee is a `uprog.operator`, the op runs its tasks. `step` specifies
    the locations of the rows of operands and results, in the order of the
    operator. Shared operands are the parameters that the operator names.

    If the callee is a `uprog.program`, which is of a lower level, the op runs
    it `tasks` times. The runs are divided among the units of that level: each
    takes some of the numbers from 0 to `tasks` - 1. The program's first
    argument is the number of the task, and the others are the values in
    parentheses. The tasks are independent of each other.

    With `level`, which is below the level of the enclosing program, the first
    unit of that level runs all tasks of an operator by itself. The other units
    continue. This saves time if the tasks cost less than a barrier: ops that
    one unit runs need no barrier between them.

    When the op ends on a unit, only the share of that unit is done;
    `uprog.barrier` waits for all units.

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
    /// Returns the program that the op runs, or null if it runs an operator.
    ProgramOp getProgram();
  }];
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

def UProg_PlanSizeOp : UProg_Op<"plan_size", [Pure]> {
  let summary = "Returns the number of steps of a plan";
  let description = [{
    The number is equal on all units that run the plan, like all data in a plan.

    ```mlir
    %n = uprog.plan_size %plan
    ```
  }];
  let arguments = (ins Batch_PlanType:$plan);
  let results = (outs Index:$size);
  let assemblyFormat = "$plan attr-dict";
}

def UProg_PlanStepOp : UProg_Op<"plan_step", [Pure]> {
  let summary = "Returns a step of a plan";
  let description = [{
    `index` is from 0 to the size of the plan - 1. Steps run in this order,
    because a step may read results of earlier steps.

    ```mlir
    %step = uprog.plan_step %plan[%i]
    ```
  }];
  let arguments = (ins Batch_PlanType:$plan, Index:$index);
  let results = (outs UProg_StepType:$step);
  let assemblyFormat = "$plan `[` $index `]` attr-dict";
}

def UProg_TakeLanesOp : UProg_Op<"take_lanes"> {
  let summary = "Returns the lanes that run a block, as a step";
  let description = [{
    The tasks of the step are the first `count` lanes of the list that
    `batch.lane_list` returns. Its operands read the rows of variables through
    this list. If `count` reaches a limit that the host sets, all lanes are
    tasks of the step, and the results of the other lanes are dropped.

    ```mlir
    %step = uprog.take_lanes %lanes[%block] tasks(%count)
    ```
  }];
  let arguments = (ins Batch_LanesType:$lanes, Index:$block, Index:$count);
  let results = (outs UProg_StepType:$step);
  let assemblyFormat = "$lanes `[` $block `]` `tasks` `(` $count `)` attr-dict";
}

def UProg_StepKernelOp : UProg_Op<"step_kernel", [Pure]> {
  let summary = "Returns the number of a step's kernel, in module order";
  let description = [{
    The first `batch.kernel` of the module is number 0. A `uprog.branch` on this
    number has a case for each kernel, which runs the operator of that kernel.

    ```mlir
    %k = uprog.step_kernel %step
    ```
  }];
  let arguments = (ins UProg_StepType:$step);
  let results = (outs Index:$kernel);
  let assemblyFormat = "$step attr-dict";
}

def UProg_StepTasksOp : UProg_Op<"step_tasks", [Pure]> {
  let summary = "Returns the number of tasks of a step";
  let description = [{
    The tasks are those of the batch that the step runs. `uprog.run` divides
    them among the units.

    ```mlir
    %n = uprog.step_tasks %step
    ```
  }];
  let arguments = (ins UProg_StepType:$step);
  let results = (outs Index:$tasks);
  let assemblyFormat = "$step attr-dict";
}

def UProg_StepBarrierOp : UProg_Op<"step_barrier", [Pure]> {
  let summary = "Returns 1 if a barrier of all units follows a step";
  let description = [{
    The result is 1 if the next step may read data that this step, or another
    step since the last barrier, writes. It is 0 if the next step is independent
    of these steps. It is also 0 for the last step.

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
                "number, row, step or value of an ADT">;

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
  let summary = "Runs a loop uTask: every unit runs all iterations";
  let description = [{
    Runs its body for the numbers `lower`, `lower` + `step` and so on that are
    less than `upper`. The number is the body's first argument. `step` is
    positive and 1 by default. With `iter`, the body's other arguments are
    values that the loop carries: first the initial values, then the values that
    the previous iteration yields. The results are the values that the last
    iteration yields, or the initial values if there is no iteration. If the
    loop carries no values, the body needs no `uprog.yield`.

    If the bounds and the step are equal on all units of the level, the body may
    contain barriers, and operators whose tasks units divide.

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
  // Creates a body without a terminator if the loop carries values.
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
  let summary = "Runs a loop uTask until its first region ends it";
  let description = [{
    Runs `before`. If its `uprog.condition` is true, runs `body` with the values
    that the condition forwards, and starts again. With `iter`, `before` has
    arguments: first the initial values, then the values that `body` yields. The
    results are the values that the condition forwards when it is false.

    Both regions may contain barriers, and operators whose tasks are divided
    among units, if the condition is equal on all units of the level.

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
  let summary = "Decides whether a loop continues or a number is listed";
  let description = [{
    Ends the first region of a `uprog.while`. If the condition is true, the loop
    continues with the values; otherwise they are its results. Also ends the
    region of a `uprog.compact`. If the condition is true, the `uprog.compact`
    lists the number, or the forwarded value.

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
  let summary = "Finds the smallest keys of a range of numbers";
  let description = [{
    The region yields the keys of each number from 0 to `upper` - 1. Each key
    has two results: its smallest value, and the first number that has this
    value. If no value is smaller than the largest i64, the results are the
    largest i64 and 0. Each unit runs the op by itself; if a unit consists of
    many threads, the op is an all-reduce over them. Several threads may
    evaluate the region for the same number, so the region must not write
    memory.

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
  let summary = "Lists the numbers for which a predicate holds";
  let description = [{
    Evaluates the region once for each number from 0 to `upper` - 1. Writes the
    numbers for which its `uprog.condition` is true to `list`, in ascending
    order and without gaps. If the condition forwards an index, this index is
    written instead of the number. The result is the length of the list. Each
    unit runs the op by itself. If a unit consists of many threads, they divide
    the numbers among them, and all of them see the list afterwards. The effects
    of the region for one number must therefore not depend on another number.

    ```mlir
    %lanes_of_block = uprog.compact %lane < %all into %list : memref<?xi32> {
      %runs = batch.enter_block %lanes[%lane], %block
      uprog.condition(%runs)
    }
    ```
  }];
  let arguments = (ins Index:$upper,
                       Arg<MemRefRankOf<[I32], [1]>,
                           "with space for all numbers", [MemWrite]>:$list);
  let results = (outs Index:$count);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def UProg_BranchOp : UProg_ControlOp<"branch", [
    NoRegionArguments, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "Runs a branch uTask: one region per value of the selector";
  let description = [{
    Runs the region of the case that is equal to the selector, or `default` if
    no case is equal to it. No two cases are equal. The results are the values
    that the region yields, so a branch with results has a `default`. Without a
    `default`, the op does nothing if no case is equal to the selector.

    The regions may contain barriers, and operators whose tasks are divided
    among units, if the selector is equal on all units of the level.

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
  let summary = "Runs a program, which can be the enclosing one";
  let description = [{
    The unit runs the program to its end, then continues. The level of this
    program is at most the level of the enclosing program. If the level were
    higher, some units of that level would not run the reference.

    ```mlir
    uprog.ref @main.frame(%lanes) : !batch.lanes
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict (`:` type($inputs)^)?";
}

def UProg_BarrierOp : UProg_Op<"barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "Makes all units of a level wait for each other";
  let description = [{
    After the barrier, all units see the writes of all units before the barrier.
    The op declares a write effect, so no pass deletes or moves it. It is an
    error if the level of the barrier is above the level of its program. It is
    also an error if control flow around the op is not uniform over the level of
    the barrier (`uprog.program`). The same applies to control flow around an op
    that runs the program. Units that take another path would never arrive.

    ```mlir
    uprog.barrier device
    ```
  }];
  let arguments = (ins UProg_Level:$level);
  let assemblyFormat = "$level attr-dict";
  let hasVerifier = 1;
}

def UProg_AwaitRowsOp : UProg_Op<"await_rows", [MemoryEffects<[MemWrite]>]> {
  let summary = "Waits for rows that earlier steps write";
  let description = [{
    The op is in the function of a stage, after all code that depends only on
    the plan. If the caller leaves the wait to the function, blocks wait at this
    op. They wait for the barrier between this stage and the steps whose rows
    the stage reads. Loads before the op are in flight while blocks wait for
    each other. A function has at most one such op, outside its branches and
    loops, because all threads must reach a barrier.

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
