The programs around the examples of rec's ops (check_op_examples.py).

// ----- rec.variant
rec.adt @Tree {
  EXAMPLE
}
// ----- rec.construct
rec.adt @Tree {
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @join(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) -> !rec.adt<@Tree> {
  EXAMPLE
  return %t : !rec.adt<@Tree>
}
// ----- rec.match
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
func.func @height(%t: !rec.adt<@Tree>) -> index {
  EXAMPLE
  return %height : index
}
// ----- rec.yield
rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func @word(%t: !rec.adt<@Tree>) -> index {
  EXAMPLE
  return %same : index
}
// ----- rec.map
rec.adt @Tree {
  rec.variant @node(children: !rec.list<!rec.adt<@Tree>>)
}
rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
func.func private @encode(!rec.adt<@Tree>) -> tensor<256xf32>
func.func @maps(%children: !rec.list<!rec.adt<@Tree>>, %counts: !rec.list<index>,
                %sentence: !rec.adt<@Words>) {
  EXAMPLE
  return
}
// ----- rec.fold
func.func private @cell(tensor<256xf32>, index) -> tensor<256xf32>
func.func @chain(%words: !rec.list<index>, %h0: tensor<256xf32>) -> tensor<256xf32> {
  EXAMPLE
  return %h : tensor<256xf32>
}
// ----- rec.length
rec.adt @Tree {
  rec.variant @node(children: !rec.list<!rec.adt<@Tree>>)
}
func.func @count(%children: !rec.list<!rec.adt<@Tree>>) -> index {
  EXAMPLE
  return %n : index
}
// ----- rec.element
func.func @row(%xs: tensor<?x256xf32>, %i: index) -> tensor<256xf32> {
  EXAMPLE
  return %x : tensor<256xf32>
}
// ----- rec.phase
func.func @phases() {
  EXAMPLE
  return
}
