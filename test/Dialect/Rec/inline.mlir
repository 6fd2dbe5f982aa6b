// RUN: batch-opt %s --inline | FileCheck %s

rec.adt @Tree {
  rec.variant @leaf(word: index)
}

func.func private @word(%t: !rec.adt<@Tree>) -> index {
  %r = rec.match %t : !rec.adt<@Tree> -> index {
  case @leaf(%word: index) {
    rec.yield %word : index
  } }
  return %r : index
}

// A function with a match is inlined, even into the body of a map.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     call
// CHECK:         rec.map %[[T:.*]] in
// CHECK-NEXT:      %[[WORD:.*]] = rec.match %[[T]]
// CHECK:           rec.yield %[[WORD]]
func.func @main(%ts: !rec.list<!rec.adt<@Tree>>) -> !rec.list<index> {
  %words = rec.map %t in %ts : !rec.list<!rec.adt<@Tree>>
      -> !rec.list<index> {
    %word = func.call @word(%t) : (!rec.adt<@Tree>) -> index
    rec.yield %word : index
  }
  return %words : !rec.list<index>
}
