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
    order of declarations counts: the variants of all ADTs of a module are
    numbered in it.

    The symbol is never discarded for want of uses: types of values refer to
    it, and symbol uses in types are invisible to upstream's symbol passes.

    A kind says which shapes the values given to a program have: in a `tree` no
    node is a child of two nodes, in a `sequence` a node also has at most one
    child of its own ADT; a `dag` may share nodes, as may an ADT without a kind.
    The arity is the largest number of children of its own ADT that a node has,
    the entries of lists included. Inputs that are not of the kind or exceed the
    arity are refused when they are read. Results need not keep to either.

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
    /// The declared variants in order.
    auto getVariants() { return getBody().front().getOps<VariantOp>(); }
    /// Returns the variant of that name or null.
    VariantOp getVariant(::mlir::StringAttr name);
    /// The type of the values that this declares.
    AdtType getType();
    /// True if the kind says that no node is a child of two nodes.
    bool isUnshared() { return getKind() && *getKind() != Kind::Dag; }

    bool canDiscardOnUseEmpty() { return false; }
  }];
}

def VariantOp : Rec_Op<"variant", [
    HasParent<"AdtOp">, Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Declares a variant of an algebraic data type";
  let description = [{
    A variant has named fields. A field is an index, a signless integer or a
    float of at most 64 bits, a static tensor of these, an ADT, or a list of
    any of these. Two fields of a variant have different names, and the ADTs
    that fields name are declared in the module. Where the ADT has an arity, no
    variant has more fields of the ADT itself.

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
    /// The ADT that this is a variant of.
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
    its field; for a tensor or a list of tensors it may have any type that
    stands for these (see `rec.match`). The result is of the variant's ADT.

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
  let summary = "Takes a value of an algebraic data type apart";
  let description = [{
    Runs the case of the variant that the value is, with the value's fields as
    arguments. Every variant has exactly one case. What the case yields are the
    results of the match, so all cases yield the same types.

    An argument has the type of its field. Where that is a list of tensors, it
    may also be the ragged tensor of them; and where it is a tensor, a type that
    stands for tensors, such as `!batch.handle` in an inspector.

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
    /// The region of the case for that variant, or null.
    ::mlir::Region *getCase(::mlir::StringAttr variant);
    /// The variant that the case with that number is for.
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
    In a case of `rec.match` the operands are the results of the match; in the
    body of `rec.map`, one element of each result; in the body of `rec.fold`,
    the accumulators for the next element. The op around it checks their number
    and types.

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
    lists are walked together and have equal lengths, which is checked when the
    program runs. A ragged tensor is walked row by row, a value of a list-shaped
    ADT (see `rec.elements`) element by element; its type does not say what its
    elements are, so their argument does.

    What the body yields is gathered in a list per yielded value, in order; a
    static tensor may also be gathered in a ragged tensor. The runs of the body
    do not depend on each other. There is at least one list, and a result for
    each value that the body yields.

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
    /// The body's arguments: one element per list.
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
    The body's arguments are the accumulators, then the elements of the lists
    at one position. The body yields the accumulators for the next position;
    the results are those after the last one, or the initial values where the
    lists are empty. Lists are walked as in `rec.map`. An accumulator has one
    type: that of its initial value, of the argument, of what the body yields
    for it, and of the result.

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
    /// The body's arguments that hold the accumulators.
    ::mlir::Block::BlockArgListType getAccumulators();
    /// The body's other arguments: one element per list.
    ::mlir::Block::BlockArgListType getElements();
    YieldOp getYield();
  }];
}

def ElementsOp : Rec_Op<"elements", [
    Pure, DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The elements of a value of a list-shaped ADT, in order";
  let description = [{
    A list-shaped ADT has two variants: one has no field of the ADT's own type
    and ends a list, the other has two fields, of which exactly one, the rest of
    the list, has the ADT's own type. The other field is the element.

    The result is the list of the elements from first to last, as a list or, for
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
  let summary = "The list without elements";
  let description = [{
    Lists that a loop makes begin with it (see `rec.append`).

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
  let summary = "The list with one more element behind it";
  let description = [{
    The elements of the list, then `element`. The list itself stays as it is:
    two appends to one list make two lists. To a ragged tensor a row is
    appended.

    A list that grows by n appends, each to the result of the one before, takes
    time and memory proportional to n. Only the first append to a list extends
    it in place; each further one copies it.

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
  let summary = "The number of elements of a list or rows of a ragged tensor";
  let description = [{
    The result is 0 for an empty list. A value of a list-shaped ADT has no
    length before `rec.elements` makes a list of it.

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
  let summary = "One element of a list, or row of a ragged tensor";
  let description = [{
    Positions count from 0. One that is not below the length is an error when
    the program runs.

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
// Marks
//===----------------------------------------------------------------------===//

def Rec_PhaseResource : Resource<"::mlir::rec::PhaseResource">;

def PhaseOp : Rec_Op<"phase", [
    MemoryEffects<[MemWrite<Rec_PhaseResource>]>,
    DeclareOpInterfaceMethods<Rec_ValueFlowOpInterface>]> {
  let summary = "Marks the start of a program phase";
  let description = [{
    What follows in the block belongs to a new phase: all tensor work before
    the mark runs before any after it. It changes the schedule, never a
    result. Its effect on a resource of its own keeps it in place.

    Example:

    ```mlir
    rec.phase "decode"
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict";
}

#endif // BATCH_DIALECT_REC_RECOPS
