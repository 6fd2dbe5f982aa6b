//===- Passes.td - Operators as code for a CPU -------------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_CPU_PASSES_TD
#define BATCH_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertOperatorsToCPUPass
    : Pass<"convert-operators-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lower batched operators to code for CPUs";
  let description = [{
    Converts every `uprog.operator @k.rows`, which has stages for a CPU
    (uprog-stage-operators), to a function `@k.rows` over raw rows. Each stage
    is one pass over tiles of rows and columns, with its elementwise code fused
    after its contractions. The number of vector registers determines the sizes
    of the register tiles. Sums have the same order in every row tile, including
    a single row. The bits of a row therefore do not depend on its batch.

    Element types are index, i1, i8, i16, i32, i64, f16, bf16, f32 or f64.
    Contractions with parameters run in register tiles if their type is f32 or
    f64. All vectors of an operator have as many lanes as its widest type
    allows. The order in which a reduction sums depends only on the type of its
    result. An integer division whose divisor is zero, or whose quotient does
    not fit, gives an unspecified number. Kernels may run on rows that no code
    reads, and must not trap there.

    `uprog.operand` and `uprog.result` specify how operands are read and results
    are written. The pass sets `uprog.code = #uprog.code<...>` on the function:
    the number of stages, the bytes of scratch memory, and how workers divide
    tasks (see the remark `Sharing`). It sets `uprog.packings` on the module:
    the packings of the parameters that operators index.

    ```mlir
    uprog.operator @k.rows(
        %n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>})
        -> tensor<?x64xf32> {
      %y = math.tanh %x : tensor<?x64xf32>
      uprog.yield %y : tensor<?x64xf32>
    }
    // becomes, after uprog-stage-operators,
    func.func private @k.rows.stage0(...) ... {
      ...
      %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
      %y = math.tanh %x : vector<16xf32>
      ...
      llvm.store %y, %to {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
      ...
    }
    func.func @k.rows(...) attributes {uprog.code = #uprog.code<stages = 1, ...>} {
      ...
    }
    ```

    See test/Codegen/CPU.
  }];
  let options = [
    Option<"vectorRegisters", "vector-registers", "int64_t", /*default=*/"32",
           "Generate code for this many vector registers">,
    Option<"tuning", "tuning", "std::string", /*default=*/"\"\"",
           "Read choices from this file, which batch-run --tune writes">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // BATCH_CODEGEN_CPU_PASSES_TD
