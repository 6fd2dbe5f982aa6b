// RUN: batch-opt %s --test-print-recursion-class --split-input-file --verify-diagnostics

// Calls take parameters and the children of the node, and visit all children. One
// pass, children first, covers the recursion.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
// expected-remark @+1 {{one loop over the nodes can replace this recursion}}
func.func private @f(%t: !rec.adt<@Tree>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %hl = func.call @f(%l, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
    %hr = func.call @f(%r, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
    %s = arith.addf %hl, %hr : tensor<4xf32>
    %h = arith.mulf %s, %w : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Tree>, %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%t, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// One child is not visited, so a pass over all nodes would do too much work.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %hl = func.call @f(%l) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %h = math.tanh %hl : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// An argument that is passed on unchanged is equal for all calls, but a pass over
// the nodes has no such argument.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !rec.adt<@Tree>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %hl = func.call @f(%l, %c) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
    %hr = func.call @f(%r, %c) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
    %s = arith.addf %hl, %hr : tensor<4xf32>
    %h = arith.mulf %s, %c : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Tree>, %c: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %0 = call @f(%t, %c) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A call visits one of two children, and a pass would visit both.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(bit: i1, left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%bit: i1, %l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %k = scf.if %bit -> (!rec.adt<@Tree>) {
      scf.yield %l : !rec.adt<@Tree>
    } else {
      scf.yield %r : !rec.adt<@Tree>
    }
    %hk = func.call @f(%k) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %h = math.tanh %hk : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A pass over the input does not visit values that the program builds.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %hl = func.call @f(%l) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %hr = func.call @f(%r) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %s = arith.addf %hl, %hr : tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func private @g(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %h = func.call @f(%l) : (!rec.adt<@Tree>) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %1 = rec.construct @Tree::@node(%t, %t)
      : (!rec.adt<@Tree>, !rec.adt<@Tree>) -> !rec.adt<@Tree>
  %2 = rec.construct @Tree::@node(%1, %t)
      : (!rec.adt<@Tree>, !rec.adt<@Tree>) -> !rec.adt<@Tree>
  %3 = call @g(%2) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Calls take a state that the parent computes. A pass over the nodes has no state.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(kids: !rec.list<!rec.adt<@Tree>>)
}
rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
  rec.variant @node(h: tensor<4xf32>, kids: !rec.list<!rec.adt<@States>>)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !rec.adt<@Tree>, %p: tensor<4xf32>) -> !rec.adt<@States> {
  %0 = rec.match %t : !rec.adt<@Tree> -> !rec.adt<@States> {
  case @leaf(%x: tensor<4xf32>) {
    %h = arith.addf %p, %x : tensor<4xf32>
    %s = rec.construct @States::@leaf(%h) : (tensor<4xf32>) -> !rec.adt<@States>
    rec.yield %s : !rec.adt<@States>
  }
  case @node(%kids: !rec.list<!rec.adt<@Tree>>) {
    %h = math.tanh %p : tensor<4xf32>
    %ks = rec.map %k in %kids : !rec.list<!rec.adt<@Tree>> -> !rec.list<!rec.adt<@States>> {
      %sk = func.call @f(%k, %h) : (!rec.adt<@Tree>, tensor<4xf32>) -> !rec.adt<@States>
      rec.yield %sk : !rec.adt<@States>
    }
    %s = rec.construct @States::@node(%h, %ks)
        : (tensor<4xf32>, !rec.list<!rec.adt<@States>>) -> !rec.adt<@States>
    rec.yield %s : !rec.adt<@States>
  } }
  return %0 : !rec.adt<@States>
}
func.func @main(%t: !rec.adt<@Tree>, %p: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %0 = call @f(%t, %p) : (!rec.adt<@Tree>, tensor<4xf32>) -> !rec.adt<@States>
  %1 = rec.match %0 : !rec.adt<@States> -> tensor<4xf32> {
  case @leaf(%h: tensor<4xf32>) {
    rec.yield %h : tensor<4xf32>
  }
  case @node(%h: tensor<4xf32>, %kids: !rec.list<!rec.adt<@States>>) {
    %y = math.tanh %h : tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %1 : tensor<4xf32>
}

// -----

// Recursion over numbers has no nodes.

// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @fib(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %small = arith.cmpi ult, %n, %c2 : index
  %0 = scf.if %small -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    %m = arith.subi %n, %c1 : index
    %k = arith.subi %n, %c2 : index
    %a = func.call @fib(%m, %x) : (index, tensor<4xf32>) -> tensor<4xf32>
    %b = func.call @fib(%k, %x) : (index, tensor<4xf32>) -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func @main(%n: index, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %0 = call @fib(%n, %x) : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Two functions over two types that refer to each other: one pass runs both.

rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(kids: !rec.adt<@Forest>)
}
rec.adt @Forest {
  rec.variant @nil()
  rec.variant @cons(head: !rec.adt<@Tree>, tail: !rec.adt<@Forest>)
}
// expected-remark @+1 {{one loop over the nodes can replace this recursion}}
func.func private @tree(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%kids: !rec.adt<@Forest>) {
    %s = func.call @forest(%kids) : (!rec.adt<@Forest>) -> tensor<4xf32>
    %h = math.tanh %s : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
// expected-remark @+1 {{one loop over the nodes can replace this recursion}}
func.func private @forest(%f: !rec.adt<@Forest>) -> tensor<4xf32> {
  %0 = rec.match %f : !rec.adt<@Forest> -> tensor<4xf32> {
  case @nil() {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    rec.yield %zero : tensor<4xf32>
  }
  case @cons(%t: !rec.adt<@Tree>, %rest: !rec.adt<@Forest>) {
    %a = func.call @tree(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
    %b = func.call @forest(%rest) : (!rec.adt<@Forest>) -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @tree(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Two functions over one type take turns: a pass would run both at every node.

rec.adt @Chain {
  rec.variant @end(x: tensor<4xf32>)
  rec.variant @link(next: !rec.adt<@Chain>)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @even(%c: !rec.adt<@Chain>) -> tensor<4xf32> {
  %0 = rec.match %c : !rec.adt<@Chain> -> tensor<4xf32> {
  case @end(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @link(%next: !rec.adt<@Chain>) {
    %h = func.call @odd(%next) : (!rec.adt<@Chain>) -> tensor<4xf32>
    %y = math.tanh %h : tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @odd(%c: !rec.adt<@Chain>) -> tensor<4xf32> {
  %0 = rec.match %c : !rec.adt<@Chain> -> tensor<4xf32> {
  case @end(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @link(%next: !rec.adt<@Chain>) {
    %h = func.call @even(%next) : (!rec.adt<@Chain>) -> tensor<4xf32>
    %y = arith.negf %h : tensor<4xf32>
    rec.yield %y : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%c: !rec.adt<@Chain>) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @even(%c) : (!rec.adt<@Chain>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The elements of a list-shaped ADT are its children. Links and fields that hold
// no tree need no visit.

!tree = !rec.adt<@Tree>
!forest = !rec.adt<@Forest>
!words = !rec.adt<@Words>
rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>, words: !words)
  rec.variant @node(kids: !forest)
}
rec.adt @Forest {
  rec.variant @end(mark: index)
  rec.variant @tree(rest: !forest, first: !tree)
}
rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !words)
}
// expected-remark @+1 {{one loop over the nodes can replace this recursion}}
func.func private @f(%t: !tree) -> tensor<4xf32> {
  %0 = rec.match %t : !tree -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>, %words: !words) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%kids: !forest) {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %es = rec.elements %kids : !forest -> !rec.list<!tree>
    %s = rec.fold %k in %es init(%a = %zero) : !rec.list<!tree> -> tensor<4xf32> {
      %h = func.call @f(%k) : (!tree) -> tensor<4xf32>
      %b = arith.addf %a, %h : tensor<4xf32>
      rec.yield %b : tensor<4xf32>
    }
    rec.yield %s : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%ts: !forest) -> tensor<?x4xf32> attributes {batch.entry} {
  %es = rec.elements %ts : !forest -> !rec.list<!tree>
  %hs = rec.map %t in %es : !rec.list<!tree> -> tensor<?x4xf32> {
    %h = func.call @f(%t) : (!tree) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  return %hs : tensor<?x4xf32>
}

// -----

// The value at the end of the list is not an element, so the tree in it is not
// visited.

!tree = !rec.adt<@Tree>
!forest = !rec.adt<@Forest>
rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(kids: !forest)
}
rec.adt @Forest {
  rec.variant @end(last: !rec.list<!tree>)
  rec.variant @tree(first: !tree, rest: !forest)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !tree) -> tensor<4xf32> {
  %0 = rec.match %t : !tree -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%kids: !forest) {
    %es = rec.elements %kids : !forest -> !rec.list<!tree>
    %hs = rec.map %k in %es : !rec.list<!tree> -> tensor<?x4xf32> {
      %h = func.call @f(%k) : (!tree) -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    }
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %s = linalg.reduce { arith.addf } ins(%hs : tensor<?x4xf32>)
        outs(%zero : tensor<4xf32>) dimensions = [0]
    rec.yield %s : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !tree) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%t) : (!tree) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A recursion that calls nothing for the elements of a list visits none of them.

!tree = !rec.adt<@Tree>
!forest = !rec.adt<@Forest>
rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(first: !tree, kids: !forest)
}
rec.adt @Forest {
  rec.variant @end()
  rec.variant @tree(first: !tree, rest: !forest)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !tree) -> tensor<4xf32> {
  %0 = rec.match %t : !tree -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%first: !tree, %kids: !forest) {
    %es = rec.elements %kids : !forest -> !rec.list<!tree>
    %n = rec.length %es : !rec.list<!tree>
    %zero = arith.constant 0 : index
    %none = arith.cmpi eq, %n, %zero : index
    %h = func.call @f(%first) : (!tree) -> tensor<4xf32>
    %y = scf.if %none -> (tensor<4xf32>) {
      %s = math.tanh %h : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    } else {
      scf.yield %h : tensor<4xf32>
    }
    rec.yield %y : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !tree) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%t) : (!tree) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// One field is walked element by element, the other link by link. A pass would
// visit the links of both.

!tree = !rec.adt<@Tree>
!forest = !rec.adt<@Forest>
rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(kids: !forest, more: !forest)
}
rec.adt @Forest {
  rec.variant @end(x: tensor<4xf32>)
  rec.variant @tree(first: !tree, rest: !forest)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !tree) -> tensor<4xf32> {
  %0 = rec.match %t : !tree -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%kids: !forest, %more: !forest) {
    %es = rec.elements %kids : !forest -> !rec.list<!tree>
    %zero = func.call @g(%more) : (!forest) -> tensor<4xf32>
    %s = rec.fold %k in %es init(%a = %zero) : !rec.list<!tree> -> tensor<4xf32> {
      %h = func.call @f(%k) : (!tree) -> tensor<4xf32>
      %b = arith.addf %a, %h : tensor<4xf32>
      rec.yield %b : tensor<4xf32>
    }
    rec.yield %s : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @g(%f: !forest) -> tensor<4xf32> {
  %0 = rec.match %f : !forest -> tensor<4xf32> {
  case @end(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @tree(%first: !tree, %rest: !forest) {
    %a = func.call @f(%first) : (!tree) -> tensor<4xf32>
    %b = func.call @g(%rest) : (!forest) -> tensor<4xf32>
    %s = arith.addf %a, %b : tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !tree) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%t) : (!tree) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Elements of a value that the program builds are not children of the input.

!tree = !rec.adt<@Tree>
!forest = !rec.adt<@Forest>
rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(kids: !forest)
}
rec.adt @Forest {
  rec.variant @end()
  rec.variant @tree(first: !tree, rest: !forest)
}
// expected-remark @+1 {{no single loop over the nodes can replace this recursion}}
func.func private @f(%t: !tree) -> tensor<4xf32> {
  %0 = rec.match %t : !tree -> tensor<4xf32> {
  case @leaf(%x: tensor<4xf32>) {
    rec.yield %x : tensor<4xf32>
  }
  case @node(%kids: !forest) {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %es = rec.elements %kids : !forest -> !rec.list<!tree>
    %s = rec.fold %k in %es init(%a = %zero) : !rec.list<!tree> -> tensor<4xf32> {
      %h = func.call @f(%k) : (!tree) -> tensor<4xf32>
      %b = arith.addf %a, %h : tensor<4xf32>
      rec.yield %b : tensor<4xf32>
    }
    rec.yield %s : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
func.func @main(%t: !tree) -> tensor<?x4xf32> attributes {batch.entry} {
  %end = rec.construct @Forest::@end() : () -> !forest
  %one = rec.construct @Forest::@tree(%t, %end) : (!tree, !forest) -> !forest
  %node = rec.construct @Tree::@node(%one) : (!forest) -> !tree
  %two = rec.construct @Forest::@tree(%node, %end) : (!tree, !forest) -> !forest
  %es = rec.elements %two : !forest -> !rec.list<!tree>
  %hs = rec.map %k in %es : !rec.list<!tree> -> tensor<?x4xf32> {
    %h = func.call @f(%k) : (!tree) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  return %hs : tensor<?x4xf32>
}
