// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{does not support rows of type 'tensor<?xf32>'; expected a static shape and numeric elements}}
uprog.node_rows @h : tensor<?xf32>

// -----

// expected-error @+1 {{has unsupported result type 'tensor<4xf32>'; expected a number, a row or a value of an ADT}}
uprog.node_results @encode : [tensor<4xf32>]

// -----

uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{refers to unknown rec.adt @Tree}}
  %v = uprog.variant %t : !rec.adt<@Tree>
  uprog.yield
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{refers to unknown rec.variant @Tree::@node}}
  %w = uprog.field 0 of %t as @node : !rec.adt<@Tree> -> index
  uprog.yield
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{field number 1 is out of range; @Tree::@leaf has 1 fields}}
  %w = uprog.field 1 of %t as @leaf : !rec.adt<@Tree> -> index
  uprog.yield
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{has type '!uprog.row', but the field has type 'index'}}
  %w = uprog.field 0 of %t as @leaf : !rec.adt<@Tree> -> !uprog.row
  uprog.yield
}

// -----

uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{refers to unknown uprog.node_rows @h}}
  %h = uprog.node_row @h[%t] : !rec.adt<@Tree>
  uprog.yield
}

// -----

uprog.node_rows @h : tensor<4xf32>
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{must be the only uprog.node_row of @h in its program; otherwise, a unit may write a row that others read}}
  %a = uprog.node_row @h[%t] : !rec.adt<@Tree>
  %b = uprog.node_row @h[%t] : !rec.adt<@Tree>
  uprog.yield
}

// -----

uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{refers to unknown uprog.node_results @encode}}
  %n = uprog.look_up @encode[%t] : !rec.adt<@Tree> -> index
  uprog.yield
}

// -----

uprog.node_results @encode : [!uprog.row]
uprog.program @p(%t: !rec.adt<@Tree>, %n: index) level(device) {
  // expected-error @+1 {{has values of types 'index', but @encode has [!uprog.row]}}
  uprog.remember @encode[%t] = %n : index of !rec.adt<@Tree>
  uprog.yield
}

// -----

uprog.program @p(%t: !rec.adt<@Tree>, %h: !uprog.row) level(device) {
  // expected-error @+1 {{refers to unknown rec.variant @States::@leaf}}
  %s = uprog.construct @States::@leaf(%h) for %t : (!uprog.row) -> !rec.adt<@States> of !rec.adt<@Tree>
  uprog.yield
}

// -----

rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
}
uprog.program @p(%t: !rec.adt<@Tree>, %h: !uprog.row) level(device) {
  // expected-error @+1 {{has a result of type '!rec.adt<@Tree>', but @States::@leaf is a variant of '!rec.adt<@States>'}}
  %s = uprog.construct @States::@leaf(%h) for %t : (!uprog.row) -> !rec.adt<@Tree> of !rec.adt<@Tree>
  uprog.yield
}

// -----

rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
}
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  // expected-error @+1 {{has 0 fields, but @States::@leaf has 1}}
  %s = uprog.construct @States::@leaf() for %t : () -> !rec.adt<@States> of !rec.adt<@Tree>
  uprog.yield
}

// -----

rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
}
uprog.program @p(%t: !rec.adt<@Tree>, %n: index) level(device) {
  // expected-error @+1 {{field #0 has type 'index', but @States::@leaf declares it as 'tensor<4xf32>'}}
  %s = uprog.construct @States::@leaf(%n) for %t : (index) -> !rec.adt<@States> of !rec.adt<@Tree>
  uprog.yield
}

// -----

rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
}
uprog.node_rows @h : tensor<8xf32>
uprog.program @p(%t: !rec.adt<@Tree>) level(device) {
  %h = uprog.node_row @h[%t] : !rec.adt<@Tree>
  // expected-error @+1 {{expects a row of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %s = uprog.construct @States::@leaf(%h) for %t : (!uprog.row) -> !rec.adt<@States> of !rec.adt<@Tree>
  uprog.yield
}

// -----

rec.adt @Leaf {
  rec.variant @leaf(x: tensor<4xf32>)
}
uprog.buffer @b : tensor<4xf32> copies(1)
uprog.program @p(%t: !rec.adt<@Leaf>) level(device) {
  %x = uprog.field 0 of %t as @leaf : !rec.adt<@Leaf> -> !uprog.row
  %b = uprog.row @b
  // expected-error @+1 {{writes a row of an input or parameter; copy it first}}
  uprog.copy %b to %x : tensor<4xf32>
  uprog.yield
}
