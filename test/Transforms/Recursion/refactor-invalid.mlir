// RUN: batch-opt %s --split-input-file --verify-diagnostics --rec-refactor
// RUN: not batch-opt %S/refactor.mlir --split-input-file --rec-refactor=max-copies=3 2>&1 | FileCheck %s --check-prefix=COPIES

// COPIES: error: this function would get more than max-copies=3 copies of code; unroll fewer levels, test fewer variants or raise max-copies

// Each parent of a shared node would compute the node's tail.

// expected-note @below {{the ADT is declared as a DAG}}
rec.adt @Graph kind dag {
  rec.variant @source(x: f32)
  rec.variant @node(left: !rec.adt<@Graph>, right: !rec.adt<@Graph>)
}
func.func @sum(%t: !rec.adt<@Graph>) -> f32 attributes {batch.entry} {
  %n = rec.match %t : !rec.adt<@Graph> -> f32 {
  case @source(%x: f32) {
    rec.yield %x : f32
  }
  case @node(%left: !rec.adt<@Graph>, %right: !rec.adt<@Graph>) {
    // expected-error @below {{this call cannot be inlined: its argument is a child that may be shared, so each parent would recompute the results for it}}
    %l = func.call @sum(%left) : (!rec.adt<@Graph>) -> f32
    %r = func.call @sum(%right) : (!rec.adt<@Graph>) -> f32
    %sum = arith.addf %l, %r {rec.backedge} : f32
    rec.yield %sum : f32
  } }
  return %n : f32
}

// -----

// A mark after the match is invalid, too, if nodes may be shared.

// expected-note @below {{declare 'kind tree' or 'kind sequence' if no value shares nodes}}
rec.adt @List {
  rec.variant @nil(x: f32)
  rec.variant @cons(rest: !rec.adt<@List>)
}
func.func @last(%l: !rec.adt<@List>) -> f32 attributes {batch.entry} {
  %n = rec.match %l : !rec.adt<@List> -> f32 {
  case @nil(%x: f32) {
    rec.yield %x : f32
  }
  case @cons(%rest: !rec.adt<@List>) {
    // expected-error @below {{this call cannot be inlined}}
    %m = func.call @last(%rest) : (!rec.adt<@List>) -> f32
    rec.yield %m : f32
  } }
  %neg = arith.negf %n {rec.backedge} : f32
  return %neg : f32
}

// -----

// A base case cannot have a mark, because it calls nothing.

rec.adt @List kind sequence {
  rec.variant @nil(x: f32)
  rec.variant @cons(rest: !rec.adt<@List>)
}
func.func @last(%l: !rec.adt<@List>) -> f32 attributes {batch.entry} {
  %n = rec.match %l : !rec.adt<@List> -> f32 {
  case @nil(%x: f32) {
    // expected-error @below {{this op is marked 'rec.backedge', but no recursive call comes before it in its block; mark an op after the recursive calls of a case}}
    %y = arith.negf %x {rec.backedge} : f32
    rec.yield %y : f32
  }
  case @cons(%rest: !rec.adt<@List>) {
    %m = func.call @last(%rest) : (!rec.adt<@List>) -> f32
    rec.yield %m : f32
  } }
  return %n : f32
}

// -----

// A recursive call must not depend on a marked op.

rec.adt @Tree kind tree {
  rec.variant @leaf()
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @walk(%t: !rec.adt<@Tree>, %x: f32) -> f32 attributes {batch.entry} {
  %n = rec.match %t : !rec.adt<@Tree> -> f32 {
  case @leaf() {
    rec.yield %x : f32
  }
  case @node(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %l = func.call @walk(%left, %x) : (!rec.adt<@Tree>, f32) -> f32
    // expected-note @below {{the mark is here}}
    %m = arith.negf %l {rec.backedge} : f32
    // expected-error @below {{this call depends on an op marked 'rec.backedge'; only ops after all recursive calls of a block can move to the callers, so mark a later op}}
    %r = func.call @walk(%right, %m) : (!rec.adt<@Tree>, f32) -> f32
    rec.yield %r : f32
  } }
  return %n : f32
}

// -----

// Only one of two cases that call recursively has a mark.

rec.adt @Tree kind tree {
  rec.variant @leaf(x: f32)
  rec.variant @one(part: !rec.adt<@Tree>)
  rec.variant @two(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @sum(%t: !rec.adt<@Tree>) -> f32 attributes {batch.entry} {
  %n = rec.match %t : !rec.adt<@Tree> -> f32 {
  case @leaf(%x: f32) {
    rec.yield %x : f32
  }
  case @one(%part: !rec.adt<@Tree>) {
    // expected-error @below {{this call is not followed by an op marked 'rec.backedge', unlike calls in other cases of the function; mark one in every case that calls recursively}}
    %m = func.call @sum(%part) : (!rec.adt<@Tree>) -> f32
    rec.yield %m : f32
  }
  case @two(%left: !rec.adt<@Tree>, %right: !rec.adt<@Tree>) {
    %l = func.call @sum(%left) : (!rec.adt<@Tree>) -> f32
    %r = func.call @sum(%right) : (!rec.adt<@Tree>) -> f32
    %sum = arith.addf %l, %r {rec.backedge} : f32
    rec.yield %sum : f32
  } }
  return %n : f32
}

// -----

// A mark in a case cannot be combined with a mark after the match.

rec.adt @List kind sequence {
  rec.variant @nil(x: f32)
  rec.variant @cons(rest: !rec.adt<@List>)
}
func.func @last(%l: !rec.adt<@List>) -> f32 attributes {batch.entry} {
  %n = rec.match %l : !rec.adt<@List> -> f32 {
  case @nil(%x: f32) {
    rec.yield %x : f32
  }
  case @cons(%rest: !rec.adt<@List>) {
    %m = func.call @last(%rest) : (!rec.adt<@List>) -> f32
    // expected-error @below {{this op is marked inside a block that also has a mark; mark only one place}}
    %neg = arith.negf %m {rec.backedge} : f32
    rec.yield %neg : f32
  } }
  // expected-note @below {{the other mark is here}}
  %abs = math.absf %n {rec.backedge} : f32
  return %abs : f32
}

// -----

func.func @count(%n: i32, %x: f32) -> f32 attributes {batch.entry} {
  %zero = arith.constant 0 : i32
  %end = arith.cmpi eq, %n, %zero : i32
  cf.cond_br %end, ^end(%x : f32), ^next
^next:
  %one = arith.constant 1 : i32
  %m = arith.subi %n, %one : i32
  %y = func.call @count(%m, %x) : (i32, f32) -> f32
  // expected-error @below {{cannot cut a function with several blocks at this marked op; use structured control flow}}
  %neg = arith.negf %y {rec.backedge} : f32
  cf.br ^end(%neg : f32)
^end(%r: f32):
  return %r : f32
}
