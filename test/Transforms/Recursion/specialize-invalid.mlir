// RUN: batch-opt %s --split-input-file --verify-diagnostics --rec-specialize=test=twig
// RUN: not batch-opt %s --split-input-file --rec-specialize="test=node(leaf)" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not batch-opt %s --split-input-file --rec-specialize="test=node(_,leaf,_)" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not batch-opt %s --split-input-file --rec-specialize="test=node(_,_,_)" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not batch-opt %s --split-input-file --rec-specialize="test=node()" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: sed 's/ kind tree//' %s | not batch-opt --rec-specialize=test=leaf 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not batch-opt %s --split-input-file --rec-specialize="test=leaf max-copies=3" 2>&1 | FileCheck %s --check-prefix=COPIES

// The pass rejects invalid tests, unknown variants, and tests that do not fit the variant
// that they name. It also rejects too many copies, and children that may be shared.

// COUNT: error: this variant does not fit test 'node(leaf)': it has 3 fields, but the test has 1
// FIELD: error: this variant does not fit test 'node(_,leaf,_)': the type of field 'word' has no variant 'leaf'; write '_' for any value
// NONE: error: test 'node(_,_,_)' tests no field; name the variant of at least one field
// SHARED: error: this call cannot be inlined: its argument is a child that may be shared, so each parent would recompute the results for it
// SHARED: note: declare 'kind tree' or 'kind sequence' if no value shares nodes
// SYNTAX: error: invalid test 'node()'; expected 'variant' or 'variant(field,...)' with a variant or '_' for each field
// COPIES: error: this function would get more than max-copies=3 copies of code; unroll fewer levels, test fewer variants or raise max-copies

// expected-error @unknown {{unknown variant 'twig' in test 'twig'}}
module {
  rec.adt @Tree kind tree {
    rec.variant @leaf()
    rec.variant @node(left: !rec.adt<@Tree>, word: index, right: !rec.adt<@Tree>)
  }
  func.func @count(%t: !rec.adt<@Tree>) -> index attributes {batch.entry} {
    %n = rec.match %t : !rec.adt<@Tree> -> index {
    case @leaf() {
      %one = arith.constant 1 : index
      rec.yield %one : index
    }
    case @node(%left: !rec.adt<@Tree>, %word: index, %right: !rec.adt<@Tree>) {
      %l = func.call @count(%left) : (!rec.adt<@Tree>) -> index
      %r = func.call @count(%right) : (!rec.adt<@Tree>) -> index
      %sum = arith.addi %l, %r : index
      rec.yield %sum : index
    } }
    return %n : index
  }
}
