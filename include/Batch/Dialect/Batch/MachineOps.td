//===- MachineOps.td - Programs of blocks and variables ----*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_MACHINEOPS_TD
#define BATCH_DIALECT_BATCH_MACHINEOPS_TD

include "Batch/Dialect/Batch/BatchDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// The machine, its variables and its blocks
//===----------------------------------------------------------------------===//

def Batch_MachineOp : Batch_Op<"machine", [
    FunctionOpInterface, IsolatedFromAbove, Symbol, SymbolTable,
    HasParent<"::mlir::ModuleOp">, NoTerminator]> {
  let summary = "Defines a program of blocks, variables and program counters";
  let description = [{
    Contains the whole program of one instance, including calls and recursion,
    as one table of blocks (program-counter autobatching, section 3). A *lane*
    runs an instance. It has a stack of program counters and its own row of
    every variable. A step runs one block for some of the lanes that have
    reached it. A lane starts at the first block with an empty stack of program
    counters. It is done when it runs a `batch.return` with an empty stack.

    Arguments are the parameters of the entry, in order. Blocks are in program
    order: the entry first, then functions in order of their first call. With
    `frames`, all lanes that make a call in the same step run it to its end.
    Other lanes of the caller continue afterwards (local static autobatching,
    section 2). With `cached_tops`, the top of each stack is stored separately
    from the rows below it. Reads then do not depend on the depth of a lane's
    stack.

    ```mlir
    batch.machine @main.machine(%w: tensor<4x4xf32> {batch.shared = "W"}) {
      batch.variable @x : tensor<4xf32> argument(0) result(0)
      batch.block @main.0 {
        %x = batch.top @x : tensor<4xf32>
        %y = linalg.matvec ins(%w, %x : tensor<4x4xf32>, tensor<4xf32>)
                           outs(%x : tensor<4xf32>) -> tensor<4xf32>
        batch.set @x, %y : tensor<4xf32>
        batch.return
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       UnitAttr:$cached_tops, UnitAttr:$frames,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "StringRef":$name, "TypeRange":$shared)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
  }];
}

def Batch_VariableOp : Batch_Op<"variable", [Symbol, HasParent<"MachineOp">]> {
  let summary = "Declares a variable of a machine, with a value per lane";
  let description = [{
    A variable has a row per lane, which persists from step to step. With
    `stack`, it has a stack of rows per lane, and blocks access the top row. A
    row is an integer of at most 64 bits, an index, an f16, bf16, f32 or f64, or
    a nonempty static tensor of them.

    No two variables have the same argument or result. The bottom row of
    variable `argument(n)` starts as per-instance argument `n` of the entry
    (parameters do not count). Bottom rows of other variables start with an
    unspecified value. The top of variable `result(n)` is result `n` of the
    entry when the lane is done.

    ```mlir
    batch.variable @fib.n : i64 stack argument(0)
    batch.variable @fib.result : i64 result(0)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
                       UnitAttr:$stack, OptionalAttr<I64Attr>:$argument_number,
                       OptionalAttr<I64Attr>:$result_number);
  let assemblyFormat = [{
    $sym_name `:` $type (`stack` $stack^)?
    (`argument` `(` $argument_number^ `)`)?
    (`result` `(` $result_number^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns true if a variable can hold values of this type: integers of at
    /// most 64 bits, index, f16, bf16, f32, f64 and nonempty static tensors of
    /// them.
    static bool isValidType(Type type);
  }];
}

def Batch_BlockOp : Batch_Op<"block", [
    Symbol, HasParent<"MachineOp">, SingleBlock, NoRegionArguments]> {
  let summary = "Defines the code that a lane runs in one step";
  let description = [{
    The code is straight-line code for one lane, which reads and writes the tops
    of variables, in order. Its terminator determines the next block of the
    lane: `batch.jump`, `batch.branch`, `batch.push_jump` or `batch.return`.
    Values are live until the end of the block. The code can read parameters.

    ```mlir
    batch.block @fib.0 {
      %n = batch.top @fib.n : i64
      %two = arith.constant 2 : i64
      %c = arith.cmpi slt, %n, %two : i64
      batch.branch %c, @fib.1, @fib.2
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the blocks that the terminator names: the next blocks of a lane,
    /// and the block that a call returns to.
    SmallVector<StringAttr> getTargets();
  }];
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Op of a block that names a variable.
class Batch_VariableUseOp<string mnemonic, list<Trait> traits>
    : Batch_Op<mnemonic, !listconcat(traits, [
        HasParent<"BlockOp">,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>])>;

def Batch_TopOp : Batch_VariableUseOp<"top", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads the top of a variable";
  let description = [{
    Returns the lane's row of the variable, or the top row if the variable has a
    stack. The result has the variable's type.

    ```mlir
    %n = batch.top @fib.n : i64
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$variable attr-dict `:` type($value)";
}

def Batch_SetOp : Batch_VariableUseOp<"set", [MemoryEffects<[MemWrite]>]> {
  let summary = "Overwrites the top of a variable";
  let description = [{
    This is the operation Update of program-counter autobatching: rows below the
    top do not change. The value has the variable's type.

    ```mlir
    batch.set @fib.n, %m : i64
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, AnyType:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Batch_PushOp
    : Batch_VariableUseOp<"push", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Pushes a row onto a variable's stack";
  let description = [{
    Without a value, the new row is a copy of the top: the op saves the
    variable. The variable must have a `stack`, and the value has the variable's
    type.

    ```mlir
    batch.push @fib.n
    batch.push @fib.n, %m : i64
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Optional<AnyType>:$value);
  let assemblyFormat = "$variable (`,` $value^ `:` type($value))? attr-dict";
}

def Batch_PopOp
    : Batch_VariableUseOp<"pop", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Drops the top row of a variable's stack";
  let description = [{
    The row below becomes the top. The variable must have a `stack`. Each pop
    undoes one push.

    ```mlir
    batch.pop @fib.n
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let assemblyFormat = "$variable attr-dict";
}

//===----------------------------------------------------------------------===//
// Terminators
//===----------------------------------------------------------------------===//

/// Terminator of a block.
class Batch_BlockEndOp<string mnemonic, list<Trait> traits = []>
    : Batch_Op<mnemonic, !listconcat(traits,
        [Terminator, HasParent<"BlockOp">])>;

def Batch_JumpOp : Batch_BlockEndOp<"jump", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Moves the lane to a block";
  let description = [{
    The block belongs to the same machine and runs in a later step. Program
    counters below the top do not change.

    ```mlir
    batch.jump @fib.3
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$target);
  let assemblyFormat = "$target attr-dict";
}

def Batch_BranchOp : Batch_BlockEndOp<"branch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Moves the lane to one of two blocks";
  let description = [{
    The lane moves to the first block if the condition holds, else to the
    second. Both are blocks of the same machine.

    ```mlir
    batch.branch %c, @fib.1, @fib.2
    ```
  }];
  let arguments = (ins I1:$condition, FlatSymbolRefAttr:$true_target,
                       FlatSymbolRefAttr:$false_target);
  let assemblyFormat = [{
    $condition `,` $true_target `,` $false_target attr-dict
  }];
}

def Batch_PushJumpOp : Batch_BlockEndOp<"push_jump", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Moves the lane to a block and pushes a block to return to";
  let description = [{
    The op is a call: it pushes the block to return to onto the lane's program
    counters. Arguments and results are passed in variables.

    ```mlir
    batch.push_jump @fib.0 return_to(@fib.3)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$target, FlatSymbolRefAttr:$return_to);
  let assemblyFormat = "$target `return_to` `(` $return_to `)` attr-dict";
}

def Batch_ReturnOp : Batch_BlockEndOp<"return"> {
  let summary = "Returns the lane to the block that its call pushed";
  let description = [{
    Pops the program counter at which the lane continues. A lane without program
    counters is done.

    ```mlir
    batch.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // BATCH_DIALECT_BATCH_MACHINEOPS_TD
