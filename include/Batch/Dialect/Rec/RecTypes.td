//===- RecTypes.td - Types of the rec dialect ------------ -*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_REC_RECTYPES
#define BATCH_DIALECT_REC_RECTYPES

include "Batch/Dialect/Rec/RecDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"

class Rec_Type<string name, string typeMnemonic>
    : TypeDef<Rec_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Rec_AdtType : Rec_Type<"Adt", "adt"> {
  let summary = "value of an algebraic data type";
  let description = [{
    Names the `rec.adt` that declares the type. Values are immutable and may
    share substructure.

    Example:

    ```mlir
    !rec.adt<@Tree>
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}

def Rec_ListType : Rec_Type<"List", "list"> {
  let summary = "immutable list";
  let description = [{
    A list of any length whose elements all have the same type. If the elements
    are static tensors, the ragged tensor type is equivalent:
    `tensor<?x256xf32>` for a list of `tensor<256xf32>`. Fields are declared
    with the list type, but their values may have either type.

    Example:

    ```mlir
    !rec.list<!rec.adt<@Tree>>
    ```
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(), elementType);
    }]>
  ];
  let assemblyFormat = "`<` $elementType `>`";
}

def Rec_Sequence
    : Type<CPred<"::mlir::rec::getSequenceElementType($_self)">,
           "list or tensor whose only dynamic dimension is the first">;

/// Type of a value over which a map or fold iterates. The declaration of an ADT
/// determines whether the ADT is list-shaped.
def Rec_Walkable : AnyTypeOf<[Rec_Sequence, Rec_AdtType],
                             "list, tensor whose only dynamic dimension is the "
                             "first, or value of a list-shaped ADT">;

#endif // BATCH_DIALECT_REC_RECTYPES
