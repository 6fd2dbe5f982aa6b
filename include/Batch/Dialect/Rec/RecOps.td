//===- RecOps.td - Ops of the rec dialect ---------------- -*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_REC_RECOPS
#define BATCH_DIALECT_REC_RECOPS

include "Batch/Dialect/Rec/RecInterfaces.td"
include "Batch/Dialect/Rec/RecTypes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Rec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rec_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

def Rec_Kind : I32EnumAttr<"Kind", "kind of a data structure", [
      I32EnumAttrCase<"Sequence", 0, "sequence">,
      I32EnumAttrCase<"Tree", 1, "tree">, I32EnumAttrCase<"Dag", 2, "dag">]> {
  let cppNamespace = "::mlir::rec";
}

def AdtOp : Rec_Op<"adt", [
    HasParent<"::mlir::ModuleOp">, IsolatedFromAbove, NoTerminator,
    SingleBlock, Symbol, SymbolTable]> {
  let summary = "Declares an algebraic data type";
  let description = [{
    A value of the type is one of the variants, which are declared inside. The
    variants of all ADTs of a module are numbered in the order of their
    declarations, so this order matters.

    The symbol is never discarded, even if it has no uses. Types of values refer
    to it, and upstream symbol passes do not see symbol uses in types.

    The kind restricts the shapes of input values. In a `tree`, no node is a
    child of two nodes. In a `sequence`, a node also has at most one child of
    its own ADT. Values of a `dag`, or of an ADT without a kind, may share
    nodes. The arity is the maximum number of children of its own ADT that a
    node may have, including the entries of lists. Inputs that violate the kind
    or exceed the arity are rejected when they are read. The restrictions do not
    apply to results.

    Example:

    ```mlir
    rec.adt @Tree kind tree arity 2 {
      rec.variant @leaf(word: index)
      rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Rec_Kind>:$kind,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$arity);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`kind` $kind^)? (`arity` $arity^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the declared variants in order.
    auto getVariants() { return getBody().front().getOps<VariantOp>(); }
    /// Returns the variant with this name, or null.
    VariantOp getVariant(::mlir::StringAttr name);
    /// Returns the type that this op declares.
    AdtType getType();
    /// Returns true if the kind does not allow a node to have two parents.
    bool isUnshared() { return getKind() && *getKind() != Kind::Dag; }

    bool canDiscardOnUseEmpty() { return false; }
  }];
}

def VariantOp : Rec_Op<"variant", [
    HasParent<"AdtOp">, Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Declares a variant of an algebraic data type";
  let description = [{
    A variant has named fields. A field is an index, a signless integer or float
    of at most 64 bits, or a static tensor of these. A field may also be an ADT,
    or a list of values of any field type. The fields of a variant have
    different names, and the ADTs of its fields are declared in the module. If
    the ADT has an arity, a variant has at most that many fields of the ADT
    itself. Fields that are lists do not count.

    Example:

    ```mlir
    rec.variant @node(word: index, children: !rec.list<!rec.adt<@Tree>>)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$field_names,
                       TypeArrayAttr:$field_types);
  let assemblyFormat = [{
    $sym_name `` custom<Fields>($field_names, $field_types) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumFields() { return getFieldTypes().size(); }
    ::llvm::StringRef getFieldName(unsigned field);
    ::mlir::Type getFieldType(unsigned field);
    /// Returns the ADT that this is a variant of.
    AdtOp getAdt() { return ::llvm::cast<AdtOp>((*this)->getParentOp()); }

    bool canDiscardOnUseEmpty() { return false; }
  }];
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def ConstructOp : Rec_Op<"construct", [
    Pure, DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Builds a value of an algebraic data type";
  let description = [{
    Takes one operand per field of the variant, in declared order. Two values
    built from equal fields are indistinguishable. An operand has the type of
    its field. If the field is a tensor or a list of tensors, the operand may
    have any type that represents these (see `rec.match`). The type of the
    result is the variant's ADT.

    Example:

    ```mlir
    %t = rec.construct @Tree::@node(%l, %r)
        : (!rec.adt<@Tree>, !rec.adt<@Tree>) -> !rec.adt<@Tree>
    ```
  }];
  let arguments = (ins SymbolRefAttr:$variant, Variadic<AnyType>:$fields);
  let results = (outs Rec_AdtType:$result);
  let assemblyFormat = [{
    $variant `(` $fields `)` attr-dict `:` functional-type($fields, $result)
  }];
  let hasVerifier = 1;
}

def MatchOp : Rec_Op<"match", [
    RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockNames"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getRegionInvocationBounds"]>,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Branches on the variant of a value of an algebraic data type";
  let description = [{
    Runs the case of the value's variant, with the value's fields as arguments.
    Every variant has exactly one case. The results of the match are the values
    that the case yields, so all cases yield the same types.

    An argument has the type of its field. If the field is a list of tensors,
    the argument may also be the equivalent ragged tensor. If the field is a
    tensor, the argument may also have a type that represents tensors, such as
    `!batch.handle` in an inspector.

    Example:

    ```mlir
    %height = rec.match %t : !rec.adt<@Tree> -> index {
    case @leaf(%word: index) {
      %zero = arith.constant 0 : index
      rec.yield %zero : index
    }
    case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
      %hl = func.call @height(%l) : (!rec.adt<@Tree>) -> index
      %hr = func.call @height(%r) : (!rec.adt<@Tree>) -> index
      %one = arith.constant 1 : index
      %larger = arith.maxui %hl, %hr : index
      %h = arith.addi %larger, %one : index
      rec.yield %h : index
    } }
    ```
  }];
  let arguments = (ins Rec_AdtType:$value,
                       TypedArrayAttrBase<FlatSymbolRefAttr,
                                          "flat symbol references">:$cases);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$regions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Returns the region of the case for this variant, or null.
    ::mlir::Region *getCase(::mlir::StringAttr variant);
    /// Returns the variant of case `number`.
    ::mlir::FlatSymbolRefAttr getCaseName(unsigned number);
    YieldOp getYield(unsigned number);
  }];
}

def YieldOp : Rec_Op<"yield", [
    ParentOneOf<["FoldOp", "MapOp", "MatchOp"]>, Pure, Terminator,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Ends a region of match, map or fold with its results";
  let description = [{
    In a case of `rec.match`, the operands are the results of the match. In the
    body of `rec.map`, they are one element of each result. In the body of
    `rec.fold`, they are the accumulators for the next element. The enclosing op
    checks their number and types.

    Example:

    ```mlir
    %same = rec.match %t : !rec.adt<@Tree> -> index {
    case @leaf(%word: index) {
      rec.yield %word : index
    } }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, {});">];
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

class Rec_LoopOp<string mnemonic, list<Trait> traits = []>
    : Rec_Op<mnemonic, !listconcat([
        RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
        DeclareOpInterfaceMethods<ConditionallySpeculatable>,
        DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def MapOp : Rec_LoopOp<"map", [
    DeclareOpInterfaceMethods<LoopLikeOpInterface>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "Runs its body for every element of a list, independently";
  let description = [{
    The body's arguments are the elements of the lists at one position. Several
    lists are walked together and have equal lengths, which is checked at run
    time. A ragged tensor is walked row by row, and a value of a list-shaped ADT
    (see `rec.elements`) element by element. The type of such a value does not
    determine the type of its elements, so the type of the body's argument is
    written explicitly.

    For each value that the body yields, the op has one result: the list of
    these values, in order. For static tensors, the result may also be a ragged
    tensor. The runs of the body do not depend on each other. The op takes at
    least one list.

    Example:

    ```mlir
    %hs = rec.map %k in %children : !rec.list<!rec.adt<@Tree>>
        -> tensor<?x256xf32> {
      %h = func.call @encode(%k) : (!rec.adt<@Tree>) -> tensor<256xf32>
      rec.yield %h : tensor<256xf32>
    }
    %ys, %ns = rec.map (%h, %n) in (%hs, %counts)
        : tensor<?x256xf32>, !rec.list<index>
        -> tensor<?x256xf32>, !rec.list<index> {
      %y = math.tanh %h : tensor<256xf32>
      %m = arith.addi %n, %n : index
      rec.yield %y, %m : tensor<256xf32>, index
    }
    %ms = rec.map %word: index in %sentence : !rec.adt<@Words>
        -> !rec.list<index> {
      %m = arith.addi %word, %word : index
      rec.yield %m : index
    }
    ```
  }];
  let arguments = (ins Variadic<Rec_Walkable>:$lists);
  let results = (outs Variadic<Rec_Sequence>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Returns the body's arguments: one element per list.
    ::mlir::Block::BlockArgListType getElements() {
      return getBody().getArguments();
    }
    YieldOp getYield();
  }];
}

def FoldOp : Rec_LoopOp<"fold", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
        "getLoopResults", "getRegionIterArgs", "getYieldedValuesMutable"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getEntrySuccessorOperands"]>]> {
  let summary = "Runs its body for every element of a list, in order";
  let description = [{
    The body's arguments are the accumulators, followed by the elements of the
    lists at one position. The body yields the accumulators for the next
    position. The results are the accumulators after the last position, or the
    initial values if the lists are empty. The op walks lists as `rec.map` does.
    An accumulator, its initial value, the value that the body yields for it and
    its result have the same type.

    Example:

    ```mlir
    %h = rec.fold %w in %words init(%acc = %h0)
        : !rec.list<index> -> tensor<256xf32> {
      %next = func.call @cell(%acc, %w)
          : (tensor<256xf32>, index) -> tensor<256xf32>
      rec.yield %next : tensor<256xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Rec_Walkable>:$lists,
                       Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// Returns the body's arguments that are accumulators.
    ::mlir::Block::BlockArgListType getAccumulators();
    /// Returns the body's other arguments: one element per list.
    ::mlir::Block::BlockArgListType getElements();
    YieldOp getYield();
  }];
}

def ElementsOp : Rec_Op<"elements", [
    Pure, DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Lists the elements of a value of a list-shaped ADT, in order";
  let description = [{
    A list-shaped ADT has two variants. One has no field of the ADT's own type
    and ends a list. The other has two fields, of which exactly one, the rest of
    the list, has the ADT's own type. The other field is the element.

    The result contains the elements from first to last, as a list or, for
    static tensors, as a ragged tensor.

    Example:

    ```mlir
    rec.adt @Words {
      rec.variant @end()
      rec.variant @word(word: index, rest: !rec.adt<@Words>)
    }
    func.func @words(%sentence: !rec.adt<@Words>) -> !rec.list<index> {
      %words = rec.elements %sentence : !rec.adt<@Words> -> !rec.list<index>
      return %words : !rec.list<index>
    }
    ```
  }];
  let arguments = (ins Rec_AdtType:$value);
  let results = (outs Rec_Sequence:$list);
  let assemblyFormat = [{
    $value attr-dict `:` qualified(type($value)) `->` type($list)
  }];
}

def EmptyOp : Rec_Op<"empty", [
    Pure, DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Creates an empty list";
  let description = [{
    A loop that builds a list starts from the result of this op (see
    `rec.append`).

    Example:

    ```mlir
    %none = rec.empty : !rec.list<index>
    ```
  }];
  let results = (outs Rec_Sequence:$list);
  let assemblyFormat = "attr-dict `:` type($list)";
}

def AppendOp : Rec_Op<"append", [
    Pure, AllTypesMatch<["list", "result"]>,
    TypesMatchWith<"the element has the type of the list's elements", "list",
                   "element", "::mlir::rec::getSequenceElementType($_self)">,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Appends an element to a list";
  let description = [{
    The result has the elements of the list, followed by `element`. The list
    itself does not change: two appends to one list create two lists. A row is
    appended to a ragged tensor.

    A chain of n appends takes time and memory proportional to n. Only the first
    append to a list extends it in place; every further append copies the list.

    Example:

    ```mlir
    func.func @count(%n: index) -> !rec.list<index> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %none = rec.empty : !rec.list<index>
      %all = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none)
          -> !rec.list<index> {
        %after = rec.append %before, %i : !rec.list<index>
        scf.yield %after : !rec.list<index>
      }
      return %all : !rec.list<index>
    }
    ```
  }];
  let arguments = (ins Rec_Sequence:$list, AnyType:$element);
  let results = (outs Rec_Sequence:$result);
  let assemblyFormat = "$list `,` $element attr-dict `:` type($list)";
}

def LengthOp : Rec_Op<"length", [
    Pure, DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Returns the length of a list or ragged tensor";
  let description = [{
    The length of a ragged tensor is its number of rows. The result is 0 for an
    empty list. A value of a list-shaped ADT has no length; convert it to a list
    with `rec.elements` first.

    Example:

    ```mlir
    %n = rec.length %children : !rec.list<!rec.adt<@Tree>>
    ```
  }];
  let arguments = (ins Rec_Sequence:$list);
  let results = (outs Index:$result);
  let assemblyFormat = "$list attr-dict `:` type($list)";
  let hasFolder = 1;
}

def ElementOp : Rec_Op<"element", [
    NoMemoryEffect, DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Returns an element of a list, or a row of a ragged tensor";
  let description = [{
    Positions start at 0. A position that is not less than the length is a
    run-time error.

    Example:

    ```mlir
    %x = rec.element %xs[%i] : tensor<?x256xf32> -> tensor<256xf32>
    ```
  }];
  let arguments = (ins Rec_Sequence:$list, Index:$position);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $list `[` $position `]` attr-dict `:` type($list) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

def Rec_PhaseResource : Resource<"::mlir::rec::PhaseResource">;

def PhaseOp : Rec_Op<"phase", [
    MemoryEffects<[MemWrite<Rec_PhaseResource>]>,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Marks the start of a program phase";
  let description = [{
    The ops that follow in the block belong to a new phase: all tensor work
    before the mark runs before any tensor work after it. Tasks of a kernel that
    runs on both sides of the mark are not ordered. The mark changes only the
    schedule, never a result. The op writes to a separate resource, so passes do
    not delete or move it.

    Example:

    ```mlir
    rec.phase "decode"
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict";
}

#endif // BATCH_DIALECT_REC_RECOPS
