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
    An operation of any dialect that can take part in a `batch.kernel`:
    `batch-vectorize-kernels` asks it for its batched form. Upstream's linalg,
    tensor, arith and math operations do not need it.

    The batched form consists of linalg, tensor, arith and math, which every
    later pass knows; anything else in it is an error. For example (see
    examples/embedding, which compiles to the end):

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

    An operation that cannot be changed gets the interface as an external model.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the operation for `tasks` tasks at once and returns one value per
        result in `results`, of the result's type with one more, leading,
        dynamic dimension; a scalar's type T becomes `tensor<?xT>`. Operand `i`
        is batched if `batched[i]`; otherwise it is as in the kernel, and
        equal for all tasks. At least one is batched, if there is one. Row `t`
        of a result may depend on row `t` of the operands only. Emits an error
        if it fails.
      }],
      "::llvm::LogicalResult", "buildBatched",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::llvm::ArrayRef<bool>":$batched, "::mlir::Value":$tasks,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

#endif // BATCH_DIALECT_BATCH_INTERFACES_TD
