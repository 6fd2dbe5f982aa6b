// RUN: batch-opt %s --split-input-file --verify-diagnostics --rec-unroll=factor=2
// RUN: not batch-opt %s --split-input-file --rec-unroll=factor=0 2>&1 | FileCheck %s --check-prefix=FACTOR
// RUN: not batch-opt %s --split-input-file --rec-unroll="factor=4 max-copies=9" 2>&1 | FileCheck %s --check-prefix=COPIES

// FACTOR: error: invalid value '0' for factor; expected at least 1 (1: no unrolling)
// COPIES: error: this function would get more than max-copies=9 copies of code; unroll fewer levels, test fewer variants or raise max-copies

// After unrolling, the result of a shared node would be computed again for each of its parents.

// expected-note @below {{the ADT is declared as a DAG}}
rec.adt @Graph kind dag {
  rec.variant @source()
  rec.variant @node(left: !rec.adt<@Graph>, right: !rec.adt<@Graph>)
}
func.func @count(%t: !rec.adt<@Graph>) -> index attributes {batch.entry} {
  %n = rec.match %t : !rec.adt<@Graph> -> index {
  case @source() {
    %one = arith.constant 1 : index
    rec.yield %one : index
  }
  case @node(%left: !rec.adt<@Graph>, %right: !rec.adt<@Graph>) {
    // expected-error @below {{this call cannot be inlined: its argument is a child that may be shared, so each parent would recompute the results for it}}
    %l = func.call @count(%left) : (!rec.adt<@Graph>) -> index
    %r = func.call @count(%right) : (!rec.adt<@Graph>) -> index
    %sum = arith.addi %l, %r : index
    rec.yield %sum : index
  } }
  return %n : index
}

// -----

// Without a kind, values may share nodes.

// expected-note @below {{declare 'kind tree' or 'kind sequence' if no value shares nodes}}
rec.adt @List {
  rec.variant @nil()
  rec.variant @cons(rest: !rec.adt<@List>)
}
func.func @length(%l: !rec.adt<@List>) -> index attributes {batch.entry} {
  %n = rec.match %l : !rec.adt<@List> -> index {
  case @nil() {
    %zero = arith.constant 0 : index
    rec.yield %zero : index
  }
  case @cons(%rest: !rec.adt<@List>) {
    %one = arith.constant 1 : index
    // expected-error @below {{this call cannot be inlined}}
    %m = func.call @length(%rest) : (!rec.adt<@List>) -> index
    %sum = arith.addi %m, %one : index
    rec.yield %sum : index
  } }
  return %n : index
}

// -----

rec.adt @Tree kind tree {
  rec.variant @leaf()
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @leaves(%t: !rec.adt<@Tree>) -> index attributes {batch.entry} {
  %n = rec.match %t : !rec.adt<@Tree> -> index {
  case @leaf() {
    %one = arith.constant 1 : index
    rec.yield %one : index
  }
  case @node(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %l = func.call @leaves(%left) : (!rec.adt<@Tree>) -> index
    %r = func.call @leaves(%right) : (!rec.adt<@Tree>) -> index
    %sum = arith.addi %l, %r : index
    rec.yield %sum : index
  } }
  return %n : index
}
