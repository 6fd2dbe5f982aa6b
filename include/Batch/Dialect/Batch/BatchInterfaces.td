//===- BatchInterfaces.td - Interfaces of the batch dialect -*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_INTERFACES_TD
#define BATCH_DIALECT_BATCH_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Batch_BatchableOpInterface : OpInterface<"BatchableOpInterface"> {
  let cppNamespace = "::mlir::batch";
  let description = [{
    Interface of an operation, of any dialect, that a `batch.kernel` can
    contain. To get the batched form of the operation, `batch-vectorize-kernels`
    calls `buildBatched`. The linalg, tensor, arith and math operations of MLIR
    do not need the interface.

    The batched form consists of linalg, tensor, arith and math operations,
    which every later pass supports. It is an error if the batched form contains
    any other operation. The operation in this example, from examples/embedding,
    compiles to machine code:

    ```c++
    LogicalResult toy::SwishOp::buildBatched(OpBuilder &builder,
                                             ValueRange operands,
                                             ArrayRef<bool> batched, Value tasks,
                                             SmallVectorImpl<Value> &results) {
      Location loc = getLoc();
      Value x = operands[0];
      auto type = cast<RankedTensorType>(x.getType());
      Value one = arith::ConstantOp::create(
          builder, loc, builder.getFloatAttr(type.getElementType(), 1.0));
      Value ones = tensor::SplatOp::create(builder, loc, one, type, tasks);
      Value negated = arith::NegFOp::create(builder, loc, x);
      Value exp = math::ExpOp::create(builder, loc, negated);
      Value sum = arith::AddFOp::create(builder, loc, ones, exp);
      results.push_back(arith::DivFOp::create(builder, loc, x, sum));
      return success();
    }
    ```

    An external model adds the interface to an operation that cannot be changed.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the operation for `tasks` tasks at once and appends one value per
        result to `results`. Each value has the type of its result with an
        additional, leading, dynamic dimension; a scalar type T becomes
        `tensor<?xT>`. Operand `i` is batched if `batched[i]` is true.
        Otherwise, the operand is the same as in the kernel, and equal for all
        tasks. If there are operands, at least one is batched. Row `t` of a
        result may depend only on row `t` of the operands. Emits an error on
        failure.
      }],
      "::llvm::LogicalResult", "buildBatched",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::llvm::ArrayRef<bool>":$batched, "::mlir::Value":$tasks,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

#endif // BATCH_DIALECT_BATCH_INTERFACES_TD
