// RUN: batch-opt %s --test-print-value-classes --split-input-file --verify-diagnostics

// A child's row may come from the kernel of a leaf or of an inner node. Both results are
// in one class, with the operands of the inner kernel and the field of the result ADT.

// expected-remark @below {{class 0 'h' of 'tensor<4xf32>': @leaf#0 @node#0}}
module {
  rec.adt @Tree {
    rec.variant @leaf(bias: f32)
    rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
  }
  rec.adt @State {
    // expected-remark @+1 {{field 'h' is in class 0}}
    rec.variant @state(h: tensor<4xf32>)
  }
  // expected-remark @+1 {{operands: scalar; results: 0}}
  batch.kernel @leaf(%b: f32) -> tensor<4xf32> {
    %0 = tensor.splat %b : tensor<4xf32>
    batch.yield %0 : tensor<4xf32>
  }
  // expected-remark @+1 {{operands: 0, 0, shared; results: 0}}
  batch.kernel @node(%x: tensor<4xf32>, %y: tensor<4xf32>,
                     %w: tensor<4xf32> {batch.shared}) -> tensor<4xf32> {
    %0 = arith.addf %x, %y : tensor<4xf32>
    %1 = arith.mulf %0, %w : tensor<4xf32>
    batch.yield %1 : tensor<4xf32>
  }
  func.func private @f(%t: !rec.adt<@Tree>, %w: tensor<4xf32>) -> tensor<4xf32> {
    %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
    case @leaf(%b: f32) {
      %h = batch.invoke @leaf(%b) : (f32) -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    }
    case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
      %hl = func.call @f(%l, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
      %hr = func.call @f(%r, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
      %h = batch.invoke @node(%hl, %hr, %w)
          : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    } }
    return %0 : tensor<4xf32>
  }
  func.func @main(%t: !rec.adt<@Tree>, %w: tensor<4xf32> {batch.shared = "w"})
      -> !rec.adt<@State> attributes {batch.entry} {
    %0 = call @f(%t, %w) : (!rec.adt<@Tree>, tensor<4xf32>) -> tensor<4xf32>
    %1 = rec.construct @State::@state(%0) : (tensor<4xf32>) -> !rec.adt<@State>
    return %1 : !rec.adt<@State>
  }
}

// -----

// If leaves are rows of an embedding, the class mixes a table and a parameter.
// A whole parameter is also a row if it is the same operand as other values.

// expected-remark @below {{class 0 of 'tensor<4xf32>': @node#0 parameter 0 parameter 1}}
module {
  rec.adt @Tree {
    rec.variant @none()
    rec.variant @leaf(word: index)
    rec.variant @node(left: !rec.adt<@Tree>)
  }
  // expected-remark @+1 {{operands: 0; results: 0}}
  batch.kernel @node(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = math.tanh %x : tensor<4xf32>
    batch.yield %0 : tensor<4xf32>
  }
  func.func private @f(%t: !rec.adt<@Tree>, %E: tensor<?x4xf32>,
                       %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32> {
    case @none() {
      rec.yield %b : tensor<4xf32>
    }
    case @leaf(%w: index) {
      %x = tensor.extract_slice %E[%w, 0] [1, 4] [1, 1]
          : tensor<?x4xf32> to tensor<4xf32>
      rec.yield %x : tensor<4xf32>
    }
    case @node(%l: !rec.adt<@Tree>) {
      %hl = func.call @f(%l, %E, %b)
          : (!rec.adt<@Tree>, tensor<?x4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %h = batch.invoke @node(%hl) : (tensor<4xf32>) -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    } }
    return %0 : tensor<4xf32>
  }
  func.func @main(%t: !rec.adt<@Tree>, %E: tensor<?x4xf32> {batch.shared = "E"},
                  %b: tensor<4xf32> {batch.shared = "b"})
      -> tensor<4xf32> attributes {batch.entry} {
    %0 = call @f(%t, %E, %b)
        : (!rec.adt<@Tree>, tensor<?x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Values that are never the same operand have separate classes, even if their types are
// equal. A kernel may have results in several classes.

// expected-remark @below {{class 0 of 'tensor<4xf32>': @cell#0}}
// expected-remark @below {{class 1 of 'tensor<4xf32>': @cell#1}}
// expected-remark @below {{class 2 of 'tensor<2xf32>': @output#0}}
module {
  // expected-remark @+1 {{operands: 0, 1; results: 0, 1}}
  batch.kernel @cell(%h: tensor<4xf32>, %c: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = math.tanh %c : tensor<4xf32>
    %1 = arith.addf %h, %c : tensor<4xf32>
    batch.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  // expected-remark @+1 {{operands: 0; results: 2}}
  batch.kernel @output(%h: tensor<4xf32>) -> tensor<2xf32> {
    %0 = tensor.extract_slice %h[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
    batch.yield %0 : tensor<2xf32>
  }
  func.func @main(%n: index, %h0: tensor<4xf32> {batch.shared = "h"},
                  %c0: tensor<4xf32> {batch.shared = "c"})
      -> tensor<2xf32> attributes {batch.entry} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%h = %h0, %c = %c0)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %s:2 = batch.invoke @cell(%h, %c)
          : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      scf.yield %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>
    }
    %y = batch.invoke @output(%r#0) : (tensor<4xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}

// -----

// A list of tensors and its elements are in one class: the results of a map, the
// ragged operand of a kernel, and the list field that holds them.

// expected-remark @below {{class 0 'h' of 'tensor<4xf32>': @sum#0}}
module {
  rec.adt @Tree {
    rec.variant @node(kids: !rec.list<!rec.adt<@Tree>>)
  }
  rec.adt @States {
    // expected-remark @+2 {{field 'h' is in class 0}}
    // expected-remark @+1 {{field 'kids' is in class 0}}
    rec.variant @node(h: tensor<4xf32>, kids: !rec.list<tensor<4xf32>>)
  }
  // expected-remark @+1 {{operands: 0; results: 0}}
  batch.kernel @sum(%hs: tensor<?x4xf32>) -> tensor<4xf32> {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %0 = linalg.reduce {arith.addf} ins(%hs : tensor<?x4xf32>)
        outs(%zero : tensor<4xf32>) dimensions = [0]
    batch.yield %0 : tensor<4xf32>
  }
  func.func private @f(%t: !rec.adt<@Tree>) -> (tensor<4xf32>, !rec.adt<@States>) {
    %0, %1 = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32>, !rec.adt<@States> {
    case @node(%kids: !rec.list<!rec.adt<@Tree>>) {
      %hs = rec.map %k in %kids : !rec.list<!rec.adt<@Tree>> -> tensor<?x4xf32> {
        %hk, %sk = func.call @f(%k)
            : (!rec.adt<@Tree>) -> (tensor<4xf32>, !rec.adt<@States>)
        rec.yield %hk : tensor<4xf32>
      }
      %h = batch.invoke @sum(%hs) : (tensor<?x4xf32>) -> tensor<4xf32>
      %s = rec.construct @States::@node(%h, %hs)
          : (tensor<4xf32>, tensor<?x4xf32>) -> !rec.adt<@States>
      rec.yield %h, %s : tensor<4xf32>, !rec.adt<@States>
    } }
    return %0, %1 : tensor<4xf32>, !rec.adt<@States>
  }
  func.func @main(%t: !rec.adt<@Tree>) -> !rec.adt<@States>
      attributes {batch.entry} {
    %0, %1 = call @f(%t) : (!rec.adt<@Tree>) -> (tensor<4xf32>, !rec.adt<@States>)
    return %1 : !rec.adt<@States>
  }
}

// -----

// Tensors in fields of an input ADT, and tensor arguments, are inputs.

// expected-remark @below {{class 0 of 'tensor<4xf32>': @add#0}}
// expected-remark @below {{class 1 of 'tensor<4xf32>': inputs}}
// expected-remark @below {{class 2 'x' of 'tensor<4xf32>': inputs}}
module {
  rec.adt @Item {
    // expected-remark @+1 {{field 'x' is in class 2}}
    rec.variant @item(x: tensor<4xf32>)
  }
  // expected-remark @+1 {{operands: 2, 1; results: 0}}
  batch.kernel @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.addf %x, %y : tensor<4xf32>
    batch.yield %0 : tensor<4xf32>
  }
  func.func @main(%i: !rec.adt<@Item>, %y: tensor<4xf32>) -> tensor<4xf32>
      attributes {batch.entry} {
    %0 = rec.match %i : !rec.adt<@Item> -> tensor<4xf32> {
    case @item(%x: tensor<4xf32>) {
      %z = batch.invoke @add(%x, %y)
          : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      rec.yield %z : tensor<4xf32>
    } }
    return %0 : tensor<4xf32>
  }
}

// -----

// The elements of a list-shaped ADT are the tensors in its field, both those of
// inputs and those that the program adds.

// expected-remark @below {{class 0 'row' of 'tensor<4xf32>': @negate#0 inputs}}
// expected-remark @below {{class 1 of 'tensor<4xf32>': @sum#0}}
// expected-remark @below {{class 2 of 'tensor<4xf32>': inputs}}
module {
  rec.adt @Rows {
    rec.variant @end()
    // expected-remark @+1 {{field 'row' is in class 0}}
    rec.variant @row(row: tensor<4xf32>, rest: !rec.adt<@Rows>)
  }
  // expected-remark @+1 {{operands: 2; results: 0}}
  batch.kernel @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.negf %x : tensor<4xf32>
    batch.yield %0 : tensor<4xf32>
  }
  // expected-remark @+1 {{operands: 0; results: 1}}
  batch.kernel @sum(%xs: tensor<?x4xf32>) -> tensor<4xf32> {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %0 = linalg.reduce { arith.addf } ins(%xs : tensor<?x4xf32>)
        outs(%zero : tensor<4xf32>) dimensions = [0]
    batch.yield %0 : tensor<4xf32>
  }
  func.func @main(%rows: !rec.adt<@Rows>, %x: tensor<4xf32>) -> tensor<4xf32>
      attributes {batch.entry} {
    %y = batch.invoke @negate(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %more = rec.construct @Rows::@row(%y, %rows)
        : (tensor<4xf32>, !rec.adt<@Rows>) -> !rec.adt<@Rows>
    %xs = rec.elements %more : !rec.adt<@Rows> -> tensor<?x4xf32>
    %s = batch.invoke @sum(%xs) : (tensor<?x4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// Tensors appended to a list are in one class with the other elements of all
// versions of the list.

// expected-remark @below {{class 0 of 'tensor<4xf32>': @next#0 parameter 0 inputs}}
// expected-remark @below {{class 1 of 'tensor<4xf32>': @attend#0}}
module {
  // expected-remark @+1 {{operands: 0; results: 0}}
  batch.kernel @next(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.negf %x : tensor<4xf32>
    batch.yield %0 : tensor<4xf32>
  }
  // expected-remark @+1 {{operands: 0; results: 1}}
  batch.kernel @attend(%xs: tensor<?x4xf32>) -> tensor<4xf32> {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %0 = linalg.reduce { arith.addf } ins(%xs : tensor<?x4xf32>)
        outs(%zero : tensor<4xf32>) dimensions = [0]
    batch.yield %0 : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared = "w"})
      -> tensor<4xf32> attributes {batch.entry} {
    %none = rec.empty : tensor<?x4xf32>
    %one = rec.append %none, %x : tensor<?x4xf32>
    %y = batch.invoke @next(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %two = rec.append %one, %y : tensor<?x4xf32>
    %other = rec.append %one, %w : tensor<?x4xf32>
    %s = batch.invoke @attend(%two) : (tensor<?x4xf32>) -> tensor<4xf32>
    %t = batch.invoke @attend(%other) : (tensor<?x4xf32>) -> tensor<4xf32>
    return %t : tensor<4xf32>
  }
}
