// RUN: batch-opt %s --split-input-file --verify-diagnostics --batch-lift-cf --mlir-print-op-on-diagnostic=false

func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %one = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %one : i64
  cf.cond_br %more, ^loop(%n : i64), ^end
^loop(%i: i64):
  %j = arith.addi %i, %one : i64
  // expected-error @+1 {{control flow enters a loop that has no exit; add a branch out of it}}
  cf.br ^loop(%j : i64)
^end:
  return %n : i64
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}

// When the loop ends, it has no next tree to carry. Before it ends, it has no tree to return.
// expected-error @+1 {{a value of type '!rec.adt<@Tree>' is not defined on every path to a branch, and its type has no zero to use instead; write this control flow as 'scf'}}
func.func @main(%n: i64, %t: !rec.adt<@Tree>) -> !rec.adt<@Tree>
    attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  cf.br ^loop(%n, %t : i64, !rec.adt<@Tree>)
^loop(%i: i64, %u: !rec.adt<@Tree>):
  %more = arith.cmpi sgt, %i, %zero : i64
  cf.cond_br %more, ^body, ^end(%u : !rec.adt<@Tree>)
^body:
  %j = arith.subi %i, %one : i64
  cf.br ^loop(%j, %t : i64, !rec.adt<@Tree>)
^end(%r: !rec.adt<@Tree>):
  return %r : !rec.adt<@Tree>
}

// -----

func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %zero : i64
  // expected-error @+1 {{has branches in a region, but only functions may contain branches; move them into a function and call it}}
  %r = scf.execute_region -> i64 {
    cf.cond_br %more, ^a, ^b
  ^a:
    scf.yield %one : i64
  ^b:
    scf.yield %zero : i64
  }
  return %r : i64
}

// -----

func.func @main(%n: i64, %bit: i1) -> i64 attributes {batch.entry} {
  cf.cond_br %bit, ^a, ^b
^a:
  return %n : i64
^b:
  // expected-error @+1 {{cannot end a block of a function; only 'cf.br', 'cf.cond_br', 'cf.switch' and 'func.return' can}}
  llvm.unreachable
}
