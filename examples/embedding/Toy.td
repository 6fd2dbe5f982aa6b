//===- Toy.td - A dialect with an op for kernels -----------*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOY_TD
#define TOY_TD

include "Batch/Dialect/Batch/BatchInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}

def Toy_SwishOp : Op<Toy_Dialect, "swish", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Batch_BatchableOpInterface>]> {
  let summary = "computes x * sigmoid(x) elementwise";
  let description = [{
    ```mlir
    %y = toy.swish %x : tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TOY_TD
