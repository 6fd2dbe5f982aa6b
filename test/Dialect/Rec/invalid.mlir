// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'rec.adt' op must have at least one variant}}
rec.adt @Empty {
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{'func.func' op is not allowed in 'rec.adt'; expected 'rec.variant'}}
  func.func private @leaf()
}

// -----

rec.adt @Tree {
  // expected-note @+1 {{see existing symbol definition here}}
  rec.variant @leaf()
  // expected-error @+1 {{redefinition of symbol named 'leaf'}}
  rec.variant @leaf()
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{'rec.variant' op has two fields named 'word'}}
  rec.variant @leaf(word: index, word: f32)
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{'rec.variant' op field 'x' refers to unknown ADT @Three}}
  rec.variant @leaf(x: !rec.list<!rec.adt<@Three>>)
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{'rec.variant' op has 1 field names but 2 field types}}
  "rec.variant"() {sym_name = "leaf", field_names = ["x"],
                   field_types = [f32, f32]} : () -> ()
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{field 'x' has unsupported type 'tensor<?x4xf32>'; expected an index, a signless integer or float of at most 64 bits, a static tensor of these, an ADT, or a list of these}}
  rec.variant @leaf(x: tensor<?x4xf32>)
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{field 'x' has unsupported type 'i128'}}
  rec.variant @leaf(x: i128)
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{field 'x' has unsupported type 'si8'}}
  rec.variant @leaf(x: si8)
}

// -----

rec.adt @Tree {
  // expected-error @+1 {{field 'x' has unsupported type '!rec.list<memref<4xf32>>'}}
  rec.variant @leaf(x: !rec.list<memref<4xf32>>)
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
}
func.func @construct() {
  // expected-error @+1 {{'rec.construct' op expects a variant written '@Adt::@variant'}}
  %t = rec.construct @Tree() : () -> !rec.adt<@Tree>
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
}
func.func @construct() {
  // expected-error @+1 {{'rec.construct' op refers to unknown rec.variant @Tree::@node}}
  %t = rec.construct @Tree::@node() : () -> !rec.adt<@Tree>
  return
}

// -----

func.func @construct() {
  // expected-error @+1 {{'rec.construct' op refers to unknown rec.variant @Tree::@node}}
  %t = rec.construct @Tree::@node() : () -> !rec.adt<@Tree>
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
}
func.func @construct() {
  // expected-error @+1 {{'rec.construct' op builds a value of ADT @Tree, but its result has type '!rec.adt<@Bush>'}}
  %t = rec.construct @Tree::@leaf() : () -> !rec.adt<@Bush>
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func @construct() {
  // expected-error @+1 {{'rec.construct' op has 0 values for the 1 field of variant @leaf}}
  %t = rec.construct @Tree::@leaf() : () -> !rec.adt<@Tree>
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func @construct(%f: f32) {
  // expected-error @+1 {{'rec.construct' op has a value of type 'f32' for field 'word' of type 'index'}}
  %t = rec.construct @Tree::@leaf(%f) : (f32) -> !rec.adt<@Tree>
  return
}

// -----

func.func @match(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'rec.match' op matches a value of unknown ADT @Tree}}
  rec.match %t : !rec.adt<@Tree> {
  }
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
  rec.variant @node()
}
func.func @match(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'rec.match' op lacks a case for variant @node}}
  rec.match %t : !rec.adt<@Tree> {
  case @leaf() {}
  }
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
}
func.func @match(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'rec.match' op has duplicate case @leaf}}
  rec.match %t : !rec.adt<@Tree> {
  case @leaf() {}
  case @leaf() {}
  }
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
}
func.func @match(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'rec.match' op has a case for @bud, which is not a variant of @Tree}}
  rec.match %t : !rec.adt<@Tree> {
  case @leaf() {}
  case @bud() {}
  }
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func @match(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'rec.match' op case @leaf has 2 values for the 1 field of variant @leaf}}
  rec.match %t : !rec.adt<@Tree> {
  case @leaf(%a: index, %b: index) {}
  }
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func @match(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'rec.match' op case @leaf has a value of type 'f32' for field 'word' of type 'index'}}
  rec.match %t : !rec.adt<@Tree> {
  case @leaf(%a: f32) {}
  }
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
}
func.func @match(%t: !rec.adt<@Tree>) {
  // expected-error @+1 {{'rec.match' op has 1 case names but 0 regions}}
  "rec.match"(%t) {cases = [@leaf]} : (!rec.adt<@Tree>) -> ()
  return
}

// -----

rec.adt @Tree {
  rec.variant @leaf()
}
func.func @match(%t: !rec.adt<@Tree>, %f: f32) {
  // expected-error @+1 {{along control flow edge from}}
  %r = rec.match %t : !rec.adt<@Tree> -> index {
  case @leaf() {
    // expected-note @+1 {{region branch point}}
    rec.yield %f : f32
  } }
  return
}

// -----

func.func @walk(%xs: !rec.list<index>) {
  // expected-error @+1 {{expected as many elements as lists, got 2 and 1}}
  rec.map (%x, %y) in (%xs) : !rec.list<index> {
  }
  return
}

// -----

func.func @walk(%xs: tensor<4xf32>) {
  // expected-error @+1 {{expected a list, a tensor whose only dynamic dimension is the first, or a list-shaped ADT, got 'tensor<4xf32>'}}
  rec.map %x in %xs : tensor<4xf32> {
  }
  return
}

// -----

func.func @walk() {
  // expected-error @+1 {{'rec.map' op expects at least one list}}
  "rec.map"() ({
    "rec.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @walk(%xs: tensor<?x4xf32>) {
  // expected-error @+1 {{'rec.map' op body has argument types ('f32'); expected ('tensor<4xf32>')}}
  "rec.map"(%xs) ({
  ^bb0(%x: f32):
    "rec.yield"() : () -> ()
  }) : (tensor<?x4xf32>) -> ()
  return
}

// -----

func.func @map(%xs: !rec.list<index>) {
  // expected-error @+1 {{'rec.map' op yields 1 values for 2 results}}
  %r:2 = rec.map %x in %xs : !rec.list<index>
      -> !rec.list<index>, !rec.list<index> {
    rec.yield %x : index
  }
  return
}

// -----

func.func @map(%xs: !rec.list<index>) {
  // expected-error @+1 {{'rec.map' op yields values of type 'index', which cannot be the elements of a result of type 'tensor<?xindex>'}}
  %r = rec.map %x in %xs : !rec.list<index> -> tensor<?xindex> {
    rec.yield %x : index
  }
  return
}

// -----

func.func @fold(%xs: !rec.list<index>, %n: index) {
  // expected-error @+1 {{'rec.fold' op 0-th init and 0-th region iter_arg have different type: 'index' != 'f32'}}
  %r = "rec.fold"(%xs, %n) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %x: index):
    "rec.yield"(%a) : (f32) -> ()
  }) : (!rec.list<index>, index) -> f32
  return
}

// -----

func.func @fold(%xs: !rec.list<index>, %f: f32) {
  // expected-error @+1 {{'rec.fold' op 0-th region iter_arg and 0-th yielded value have different type: 'f32' != 'index'}}
  %r = rec.fold %x in %xs init(%a = %f) : !rec.list<index> -> f32 {
    rec.yield %x : index
  }
  return
}

// -----

func.func @length(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{must be list or tensor whose only dynamic dimension is the first}}
  %n = rec.length %x : tensor<4x?xf32>
  return
}

// -----

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @walk(%ws: !rec.adt<@Words>) {
  // expected-error @+1 {{expected the element type of '!rec.adt<@Words>' after the name of the element, as in '%x: index in'}}
  rec.map %w in %ws : !rec.adt<@Words> {
  }
  return
}

// -----

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @walk(%ws: !rec.adt<@Words>) {
  // expected-error @+1 {{'rec.map' op has an argument of type 'f32' for the elements of ADT @Words, which have type 'index'}}
  rec.map %w: f32 in %ws : !rec.adt<@Words> {
  }
  return
}

// -----

func.func @walk(%xs: !rec.list<index>) {
  // expected-error @+1 {{'rec.map' op body has argument types ('f32'); expected ('index')}}
  rec.map %x: f32 in %xs : !rec.list<index> {
  }
  return
}

// -----

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @walk(%ws: !rec.adt<@Words>) {
  // expected-error @+1 {{'rec.map' op body has argument types (); expected ('!rec.adt<@Words>')}}
  "rec.map"(%ws) ({
    "rec.yield"() : () -> ()
  }) : (!rec.adt<@Words>) -> ()
  return
}

// -----

func.func @walk(%ws: !rec.adt<@Words>, %n: index) {
  // expected-error @+1 {{'rec.fold' op walks a value of unknown ADT @Words}}
  %m = rec.fold %w: index in %ws init(%a = %n) : !rec.adt<@Words> -> index {
    rec.yield %w : index
  }
  return
}

// -----

// An ADT with two recursive fields in one variant is a tree, not a list.
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @walk(%t: !rec.adt<@Tree>, %n: index) {
  // expected-error @+1 {{'rec.fold' op walks a value of ADT @Tree, which is not list-shaped; a list-shaped ADT has two variants: one without fields of the ADT's type, and one with two fields, exactly one of which has the ADT's type}}
  %m = rec.fold %w: index in %t init(%a = %n) : !rec.adt<@Tree> -> index {
    rec.yield %w : index
  }
  return
}

// -----

// No variant ends the list.
rec.adt @Stream {
  rec.variant @a(word: index, rest: !rec.adt<@Stream>)
  rec.variant @b(word: index, rest: !rec.adt<@Stream>)
}
func.func @elements(%t: !rec.adt<@Stream>) {
  // expected-error @+1 {{'rec.elements' op walks a value of ADT @Stream, which is not list-shaped}}
  %m = rec.elements %t : !rec.adt<@Stream> -> !rec.list<index>
  return
}

// -----

// Two fields could be the element.
rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, tag: index, rest: !rec.adt<@Words>)
}
func.func @elements(%t: !rec.adt<@Words>) {
  // expected-error @+1 {{'rec.elements' op walks a value of ADT @Words, which is not list-shaped}}
  %m = rec.elements %t : !rec.adt<@Words> -> !rec.list<index>
  return
}

// -----

// Two variants could be the end.
rec.adt @Words {
  rec.variant @end()
  rec.variant @stop()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @elements(%t: !rec.adt<@Words>) {
  // expected-error @+1 {{'rec.elements' op walks a value of ADT @Words, which is not list-shaped}}
  %m = rec.elements %t : !rec.adt<@Words> -> !rec.list<index>
  return
}

// -----

func.func @elements(%t: !rec.adt<@Words>) {
  // expected-error @+1 {{'rec.elements' op walks a value of unknown ADT @Words}}
  %m = rec.elements %t : !rec.adt<@Words> -> !rec.list<index>
  return
}

// -----

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func @elements(%t: !rec.adt<@Words>) {
  // expected-error @+1 {{'rec.elements' op has a result of type '!rec.list<f32>', but the elements of ADT @Words have type 'index'}}
  %m = rec.elements %t : !rec.adt<@Words> -> !rec.list<f32>
  return
}

// -----

rec.adt @List kind sequence {
  rec.variant @nil()
  // expected-error @below {{has more than one child, but its ADT is a sequence; declare it 'kind tree' or 'kind dag'}}
  rec.variant @node(left: !rec.adt<@List>, right: !rec.adt<@List>)
}

// -----

rec.adt @List kind sequence {
  // expected-error @below {{has more than one child, but its ADT is a sequence}}
  rec.variant @node(parts: !rec.list<!rec.adt<@List>>)
}

// -----

func.func @mark(%x: f32) -> f32 {
  // expected-error @below {{'rec.backedge' must be a unit attribute}}
  %y = arith.negf %x {rec.backedge = 1} : f32
  return %y : f32
}

// -----

rec.adt @Tree arity 1 {
  rec.variant @leaf(word: index)
  // expected-error @below {{has 2 children, but its ADT has arity 1}}
  rec.variant @node(left: !rec.adt<@Tree>, rest: !rec.list<!rec.adt<@Tree>>, right: !rec.adt<@Tree>)
}

// -----

// expected-error @below {{attribute 'arity' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
rec.adt @Tree arity -1 {
  rec.variant @leaf(word: index)
}

// -----

func.func @element(%xs: tensor<?x4xf32>, %i: index) {
  // expected-error @below {{'rec.element' op has a result of type 'tensor<f32>', but the elements have type 'tensor<4xf32>'}}
  %x = rec.element %xs[%i] : tensor<?x4xf32> -> tensor<f32>
  return
}

// -----

func.func @empty() {
  // expected-error @below {{'rec.empty' op result #0 must be list or tensor whose only dynamic dimension is the first, but got 'tensor<4xf32>'}}
  %x = rec.empty : tensor<4xf32>
  return
}

// -----

func.func @append(%xs: tensor<?x4xf32>, %x: tensor<f32>) {
  // expected-error @below {{'rec.append' op failed to verify that the element has the type of the list's elements}}
  %y = "rec.append"(%xs, %x) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @append(%ns: !rec.list<index>, %n: index) {
  // expected-error @below {{'rec.append' op failed to verify that all of {list, result} have same type}}
  %y = "rec.append"(%ns, %n) : (!rec.list<index>, index) -> !rec.list<i64>
  return
}

// -----

func.func @append(%n: index) {
  // expected-error @below {{'list' must be list or tensor whose only dynamic dimension is the first, but got 'index'}}
  %m = rec.append %n, %n : index
  return
}
