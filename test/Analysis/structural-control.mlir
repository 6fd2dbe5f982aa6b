// RUN: batch-opt %s --test-print-structural-control --split-input-file --verify-diagnostics

// Tags, fields, lengths and extents belong to the data structure, so control
// flow that reads them is structural. The body of a tensor op may read elements.

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(bit: i1, kids: !rec.list<!rec.adt<@Tree>>)
}
func.func private @f(%t: !rec.adt<@Tree>) -> tensor<4xf32> {
  %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
  case @leaf(%word: index) {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    rec.yield %zero : tensor<4xf32>
  }
  case @node(%bit: i1, %kids: !rec.list<!rec.adt<@Tree>>) {
    %hs = rec.map %k in %kids : !rec.list<!rec.adt<@Tree>> -> tensor<?x4xf32> {
      %h = func.call @f(%k) : (!rec.adt<@Tree>) -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    }
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %hs, %c0 : tensor<?x4xf32>
    %many = arith.cmpi ugt, %n, %c2 : index
    %both = arith.andi %many, %bit : i1
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %r = scf.if %both -> (tensor<4xf32>) {
      %s = linalg.reduce {arith.addf} ins(%hs : tensor<?x4xf32>)
          outs(%zero : tensor<4xf32>) dimensions = [0]
      %rotated = tensor.generate {
      ^bb0(%i: index):
        %e = tensor.extract %s[%i] : tensor<4xf32>
        tensor.yield %e : f32
      } : tensor<4xf32>
      scf.yield %rotated : tensor<4xf32>
    } else {
      scf.yield %zero : tensor<4xf32>
    }
    rec.yield %r : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
// expected-remark @+1 {{structural}}
func.func @main(%t: !rec.adt<@Tree>) -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%t) : (!rec.adt<@Tree>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// An element of a computed tensor is unknown before the run.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = math.tanh %x : tensor<4xf32>
  // expected-remark @+1 {{tensor-dependent control flow: reads an element of a tensor that is not an input, field or parameter}}
  %e = tensor.extract %t[%c0] : tensor<4xf32>
  %c = arith.cmpf ogt, %e, %zero : f32
  %y = scf.if %c -> (tensor<4xf32>) {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Control flow waits for a forced tensor.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-remark @+1 {{tensor-dependent control flow: waits for a tensor}}
  %y = batch.force %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A while loop is structural if its condition reads no tensor.

// expected-remark @+1 {{structural}}
func.func @main(%n: index, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %h = %x)
      : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %c = arith.cmpi ult, %i, %n : index
    scf.condition(%c) %i, %h : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %h: tensor<4xf32>):
    %next = arith.addi %i, %c1 : index
    %y = math.tanh %h : tensor<4xf32>
    scf.yield %next, %y : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// A while loop is not structural if its condition reads a computed tensor.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.while (%h = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-remark @+1 {{tensor-dependent control flow: reads an element of a tensor that is not an input, field or parameter}}
    %e = tensor.extract %h[%c0] : tensor<4xf32>
    %c = arith.cmpf ogt, %e, %zero : f32
    scf.condition(%c) %h : tensor<4xf32>
  } do {
  ^bb0(%h: tensor<4xf32>):
    %y = math.tanh %h : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A read of a row is structural if the position is an input, but not if a computed
// tensor determines the position.

// expected-remark @+1 {{structural}}
func.func @main(%xs: tensor<?x4xf32>, %i: index) -> tensor<4xf32>
    attributes {batch.entry} {
  %x = rec.element %xs[%i] : tensor<?x4xf32> -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @main(%xs: tensor<?x4xf32>, %t: tensor<index>) -> tensor<4xf32>
    attributes {batch.entry} {
  %u = arith.addi %t, %t : tensor<index>
  // expected-remark @+1 {{tensor-dependent control flow: reads an element of a tensor that is not an input, field or parameter}}
  %i = tensor.extract %u[] : tensor<index>
  %x = rec.element %xs[%i] : tensor<?x4xf32> -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// A function of several blocks is not structured.

// expected-remark @+1 {{tensor-dependent control flow: is not one block of structured control flow}}
func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  cf.cond_br %c, ^a, ^b
^a:
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
^b:
  return %x : tensor<4xf32>
}

// -----

// A scalar that an op computes from a tensor may pass through calls and fields,
// as long as no branch depends on it.

rec.adt @Pair {
  rec.variant @pair(a: i1, b: i1)
}
func.func private @f(%c: i1, %d: i1) -> i1 {
  %p = rec.construct @Pair::@pair(%c, %d) : (i1, i1) -> !rec.adt<@Pair>
  %0 = rec.match %p : !rec.adt<@Pair> -> i1 {
  case @pair(%a: i1, %b: i1) {
    rec.yield %b : i1
  } }
  return %0 : i1
}
// expected-remark @+1 {{structural}}
func.func @main(%d: i1, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %c = builtin.unrealized_conversion_cast %x : tensor<4xf32> to i1
  %b = call @f(%c, %d) : (i1, i1) -> i1
  %y = scf.if %b -> (tensor<4xf32>) {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A branch on a scalar computed from a tensor depends on the tensor, even through calls and fields.

rec.adt @Pair {
  rec.variant @pair(a: i1, b: i1)
}
func.func private @f(%c: i1, %d: i1) -> i1 {
  %p = rec.construct @Pair::@pair(%c, %d) : (i1, i1) -> !rec.adt<@Pair>
  %0 = rec.match %p : !rec.adt<@Pair> -> i1 {
  case @pair(%a: i1, %b: i1) {
    %both = arith.andi %a, %b : i1
    rec.yield %both : i1
  } }
  return %0 : i1
}
func.func @main(%d: i1, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %c = builtin.unrealized_conversion_cast %x : tensor<4xf32> to i1
  %b = call @f(%c, %d) : (i1, i1) -> i1
  // expected-remark @+1 {{tensor-dependent control flow: depends on a value that is computed from a tensor}}
  %y = scf.if %b -> (tensor<4xf32>) {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// If a scalar computed from a tensor selects a value, a match on the value depends on the tensor.

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @main(%t: !rec.adt<@Tree>, %u: !rec.adt<@Tree>, %x: tensor<4xf32>)
    -> index attributes {batch.entry} {
  %c = builtin.unrealized_conversion_cast %x : tensor<4xf32> to i1
  %v = arith.select %c, %t, %u : !rec.adt<@Tree>
  %zero = arith.constant 0 : index
  // expected-remark @+1 {{tensor-dependent control flow: depends on a value that is computed from a tensor}}
  %n = rec.match %v : !rec.adt<@Tree> -> index {
  case @leaf(%word: index) {
    rec.yield %word : index
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    rec.yield %zero : index
  } }
  return %n : index
}

// -----

// A scalar may determine the number of rounds of a loop, unless it comes from a
// tensor.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = builtin.unrealized_conversion_cast %x : tensor<4xf32> to index
  // expected-remark @+1 {{tensor-dependent control flow: depends on a value that is computed from a tensor}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
    %z = math.tanh %h : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Computed elements of a list-shaped ADT do not determine its length.

rec.adt @Bits {
  rec.variant @end()
  rec.variant @bit(bit: i1, rest: !rec.adt<@Bits>)
}
// expected-remark @+1 {{structural}}
func.func @main(%bits: !rec.adt<@Bits>, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %c = builtin.unrealized_conversion_cast %x : tensor<4xf32> to i1
  %more = rec.construct @Bits::@bit(%c, %bits) : (i1, !rec.adt<@Bits>) -> !rec.adt<@Bits>
  %list = rec.elements %more : !rec.adt<@Bits> -> !rec.list<i1>
  %n = rec.length %list : !rec.list<i1>
  %two = arith.constant 2 : index
  %many = arith.cmpi ugt, %n, %two : index
  %y = scf.if %many -> (tensor<4xf32>) {
    %z = math.tanh %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A branch on a list element that is computed from a tensor depends on the tensor.

rec.adt @Bits {
  rec.variant @end()
  rec.variant @bit(bit: i1, rest: !rec.adt<@Bits>)
}
func.func @main(%bits: !rec.adt<@Bits>, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %c = builtin.unrealized_conversion_cast %x : tensor<4xf32> to i1
  %more = rec.construct @Bits::@bit(%c, %bits) : (i1, !rec.adt<@Bits>) -> !rec.adt<@Bits>
  %list = rec.elements %more : !rec.adt<@Bits> -> !rec.list<i1>
  %y = rec.fold %b in %list init(%h = %x) : !rec.list<i1> -> tensor<4xf32> {
    // expected-remark @+1 {{tensor-dependent control flow: depends on a value that is computed from a tensor}}
    %z = scf.if %b -> (tensor<4xf32>) {
      %w = math.tanh %h : tensor<4xf32>
      scf.yield %w : tensor<4xf32>
    } else {
      scf.yield %h : tensor<4xf32>
    }
    rec.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// If the rest of a list depends on a tensor, control flow depends on the tensor,
// even if the elements of the list are tensors.

rec.adt @Rows {
  rec.variant @end()
  rec.variant @row(row: tensor<4xf32>, rest: !rec.adt<@Rows>)
}
func.func @main(%r: !rec.adt<@Rows>, %s: !rec.adt<@Rows>, %x: tensor<4xf32>)
    -> tensor<?x4xf32> attributes {batch.entry} {
  %c = builtin.unrealized_conversion_cast %x : tensor<4xf32> to i1
  %rest = arith.select %c, %r, %s : !rec.adt<@Rows>
  %more = rec.construct @Rows::@row(%x, %rest)
      : (tensor<4xf32>, !rec.adt<@Rows>) -> !rec.adt<@Rows>
  // expected-remark @+1 {{tensor-dependent control flow: depends on a value that is computed from a tensor}}
  %list = rec.elements %more : !rec.adt<@Rows> -> tensor<?x4xf32>
  return %list : tensor<?x4xf32>
}

// -----

// A loop carries each value separately: a value computed from a tensor does not
// affect the other values.

// expected-remark @+1 {{structural}}
func.func @main(%n: index, %d: i1, %x: tensor<4xf32>) -> tensor<4xf32>
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = builtin.unrealized_conversion_cast %x : tensor<4xf32> to i1
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c, %b = %d)
      -> (i1, i1) {
    %other = arith.xori %a, %b : i1
    scf.yield %other, %b : i1, i1
  }
  %y = scf.if %r#1 -> (tensor<4xf32>) {
    %z = arith.negf %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Elements of inputs are known before the run, even in ragged tensors, at
// indices from other inputs, and through calls and loops. Elements of a parameter
// are also known, unless an extent other than the first is unknown.

func.func private @f(%x: tensor<4xi64>, %i: index) -> index {
  %e = tensor.extract %x[%i] : tensor<4xi64>
  %n = arith.index_cast %e : i64 to index
  return %n : index
}
// expected-remark @+1 {{structural}}
func.func @main(%n: tensor<index>, %x: tensor<4xi64>, %y: tensor<4xi64>,
                %xs: tensor<?x4xi64>, %E: tensor<?x4xi64> {batch.shared = "E"},
                %v: tensor<4xi64> {batch.shared = "v"})
    -> tensor<4xf32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = arith.constant dense<0.5> : tensor<4xf32>
  %times = tensor.extract %n[] : tensor<index>
  %r:2 = scf.for %i = %c0 to %times step %c1 iter_args(%g = %h, %z = %x)
      -> (tensor<4xf32>, tensor<4xi64>) {
    %a = func.call @f(%z, %i) : (tensor<4xi64>, index) -> index
    %b = func.call @f(%y, %a) : (tensor<4xi64>, index) -> index
    %c64 = tensor.extract %xs[%b, %c1] : tensor<?x4xi64>
    %c = arith.index_cast %c64 : i64 to index
    %d64 = tensor.extract %E[%c, %c1] : tensor<?x4xi64>
    %d = arith.index_cast %d64 : i64 to index
    %e = tensor.extract %v[%d] : tensor<4xi64>
    %odd = arith.trunci %e : i64 to i1
    %next = scf.if %odd -> tensor<4xf32> {
      %t = math.tanh %g : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    } else {
      scf.yield %g : tensor<4xf32>
    }
    scf.yield %next, %y : tensor<4xf32>, tensor<4xi64>
  }
  return %r#0 : tensor<4xf32>
}

// -----

// One call passes a computed tensor, so the argument is not an input.

func.func private @f(%x: tensor<4xi64>, %i: index) -> index {
  // expected-remark @+1 {{tensor-dependent control flow: reads an element of a tensor that is not an input, field or parameter}}
  %e = tensor.extract %x[%i] : tensor<4xi64>
  %n = arith.index_cast %e : i64 to index
  return %n : index
}
func.func @main(%x: tensor<4xi64>) -> index attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %a = func.call @f(%x, %c0) : (tensor<4xi64>, index) -> index
  %y = arith.addi %x, %x : tensor<4xi64>
  %b = func.call @f(%y, %a) : (tensor<4xi64>, index) -> index
  return %b : index
}

// -----

// A value that a loop carries is not an input if only its initial value is an input.

func.func @main(%n: index, %x: tensor<4xi64>) -> i64 attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %z = %x)
      -> (i64, tensor<4xi64>) {
    // expected-remark @+1 {{tensor-dependent control flow: reads an element of a tensor that is not an input, field or parameter}}
    %e = tensor.extract %z[%c0] : tensor<4xi64>
    %t = arith.addi %s, %e : i64
    %y = arith.addi %z, %z : tensor<4xi64>
    scf.yield %t, %y : i64, tensor<4xi64>
  }
  return %r#0 : i64
}

// -----

// A constant is not an input: it becomes the result of a kernel.

func.func @main(%i: index) -> i64 attributes {batch.entry} {
  %x = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  // expected-remark @+1 {{tensor-dependent control flow: reads an element of a tensor that is not an input, field or parameter}}
  %e = tensor.extract %x[%i] : tensor<4xi64>
  return %e : i64
}

// -----

// A field is known before the run if it contains only inputs, even if the
// program stores these inputs in the field.

rec.adt @Box {
  rec.variant @box(x: tensor<4xi64>)
}
// expected-remark @+1 {{structural}}
func.func @main(%b: !rec.adt<@Box>, %x: tensor<4xi64>) -> i64
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %own = rec.construct @Box::@box(%x) : (tensor<4xi64>) -> !rec.adt<@Box>
  %c = arith.constant true
  %any = arith.select %c, %own, %b : !rec.adt<@Box>
  %e = rec.match %any : !rec.adt<@Box> -> i64 {
  case @box(%y: tensor<4xi64>) {
    %v = tensor.extract %y[%c0] : tensor<4xi64>
    rec.yield %v : i64
  } }
  return %e : i64
}

// -----

// If the program also stores a computed tensor in a field, the field is not
// known before the run. This holds even in a match on an input.

rec.adt @Box {
  rec.variant @box(x: tensor<4xi64>)
}
func.func @main(%b: !rec.adt<@Box>, %x: tensor<4xi64>)
    -> (i64, !rec.adt<@Box>) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %t = arith.addi %x, %x : tensor<4xi64>
  %own = rec.construct @Box::@box(%t) : (tensor<4xi64>) -> !rec.adt<@Box>
  %e = rec.match %b : !rec.adt<@Box> -> i64 {
  case @box(%y: tensor<4xi64>) {
    // expected-remark @+1 {{tensor-dependent control flow: reads an element of a tensor that is not an input, field or parameter}}
    %v = tensor.extract %y[%c0] : tensor<4xi64>
    rec.yield %v : i64
  } }
  return %e, %own : i64, !rec.adt<@Box>
}
