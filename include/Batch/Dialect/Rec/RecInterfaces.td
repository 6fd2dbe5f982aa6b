//===- RecInterfaces.td - Type interfaces of the rec dialect  -*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_REC_RECINTERFACES
#define BATCH_DIALECT_REC_RECINTERFACES

include "mlir/IR/OpBase.td"

def Rec_TensorStandInTypeInterface
    : TypeInterface<"TensorStandInTypeInterface"> {
  let cppNamespace = "::mlir::rec";
  let description = [{
    Marks a type whose values stand for tensors in code that only decides, an
    inspector. Where the declaration of an ADT says tensor, `rec.construct` and
    `rec.match` also accept a value of such a type, and lists of them where it
    says list of tensors. `!batch.handle` is one.
  }];
}

#endif // BATCH_DIALECT_REC_RECINTERFACES
