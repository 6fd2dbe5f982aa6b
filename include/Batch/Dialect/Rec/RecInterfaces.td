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
    Marks a type whose values stand for tensors in code that only decides, an
    inspector. Where the declaration of an ADT says tensor, `rec.construct` and
    `rec.match` also accept a value of such a type, and lists of them where it
    says list of tensors. `!batch.handle` is one.
  }];
}

def Rec_ValueFlowOpInterface : OpInterface<"ValueFlowOpInterface"> {
  let cppNamespace = "::mlir::rec";
  let description = [{
    Implemented by an op that hands values on in a way that no other interface
    says: it puts them in lists and values of ADTs or takes them out. Analyses
    of values know nothing else of such an op. Regions and the values that
    control flow hands to them are the matter of `RegionBranchOpInterface`. An
    op without both interfaces is pure, and computes tensors and scalars.
  }];
  let methods = [
    InterfaceMethod<[{
        Appends the ways on which values go through the op, in the order of its
        operands, less those that `RegionBranchOpInterface` says. An operand that
        is on no way influences no result; a result that is on none depends on no
        operand, or only on what is known without running tensor code.
      }],
      "void", "getValueFlow",
      (ins "::mlir::SymbolTableCollection &":$symbolTables,
           "::llvm::SmallVectorImpl<::mlir::rec::ValueFlowEdge> &":$edges)>
  ];
}

#endif // BATCH_DIALECT_REC_RECINTERFACES
