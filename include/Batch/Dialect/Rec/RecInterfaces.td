//===- RecInterfaces.td - Interfaces of the rec dialect -------*- tablegen -*-===//
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
    Marks a type whose values represent tensors in an inspector, which is code
    that computes control flow but no tensors. If a field of an ADT is declared
    as a tensor, `rec.construct` and `rec.match` also accept a value of such a
    type. For a field that is declared as a list of tensors, they accept a list
    of such values. `!batch.handle` implements this interface.
  }];
}

def Rec_ValueFlowOpInterface : OpInterface<"ValueFlowOpInterface"> {
  let cppNamespace = "::mlir::rec";
  let description = [{
    Interface of an op that forwards values in a way that no other interface
    describes: it puts values into lists and values of ADTs, or extracts them.
    For such an op, analyses of value flow query only this interface.
    `RegionBranchOpInterface` describes regions and the values that control flow
    forwards to them. An op with neither interface is pure, and computes tensors
    and scalars.
  }];
  let methods = [
    InterfaceMethod<[{
        Appends the edges along which values flow through the op, in the order
        of its operands, except those that `RegionBranchOpInterface` describes.
        An operand without an edge influences no result. A result without an
        edge depends on no operand, or only on values that are known without
        running tensor code.
      }],
      "void", "getValueFlow",
      (ins "::mlir::SymbolTableCollection &":$symbolTables,
           "::llvm::SmallVectorImpl<::mlir::rec::ValueFlowEdge> &":$edges)>
  ];
}

#endif // BATCH_DIALECT_REC_RECINTERFACES
