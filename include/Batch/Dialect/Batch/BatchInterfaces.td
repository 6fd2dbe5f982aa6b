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

    For example, an operation `my.norm : tensor<4xf32> -> tensor<4xf32>` without
    attributes that count dimensions works on `tensor<?x4xf32>` as it is:

    ```c++
    LogicalResult NormOp::buildBatched(OpBuilder &builder, ValueRange operands,
                                       ArrayRef<bool> batched, Value tasks,
                                       SmallVectorImpl<Value> &results) {
      results.push_back(NormOp::create(builder, getLoc(),
                                       operands[0].getType(), operands[0]));
      return success();
    }
    ```

    It may as well lower itself to linalg here. An operation that cannot be
    changed gets the interface as an external model.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the operation for `tasks` tasks at once and returns one value per
        result in `results`, of the result's type with one more, leading,
        dynamic dimension; a scalar's type T becomes `tensor<?xT>`. Operand `i`
        is in that form if `batched[i]`; otherwise it is as in the kernel, and
        equal for all tasks. At least one is batched. Row `t` of a result may
        depend on row `t` of the operands only. Emits an error if it fails.
      }],
      "::llvm::LogicalResult", "buildBatched",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::llvm::ArrayRef<bool>":$batched, "::mlir::Value":$tasks,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

#endif // BATCH_DIALECT_BATCH_INTERFACES_TD
