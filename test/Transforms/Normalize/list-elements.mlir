// RUN: batch-opt %s --batch-list-elements | FileCheck %s
// RUN: batch-opt %s --batch-list-elements | batch-opt --batch-list-elements | FileCheck %s

rec.adt @Words {
  rec.variant @end()
  rec.variant @word(word: index, rest: !rec.adt<@Words>)
}
rec.adt @Rows {
  rec.variant @end()
  rec.variant @row(row: tensor<4xf32>, rest: !rec.adt<@Rows>)
}

// Maps and folds at any depth walk lists. The initial values of a fold do not change.
// CHECK-LABEL: func.func @walk
// CHECK-SAME:    (%[[WS:.*]]: !rec.adt<@Words>, %[[RS:.*]]: !rec.adt<@Rows>, %[[NS:.*]]: !rec.list<index>)
func.func @walk(%words: !rec.adt<@Words>, %rows: !rec.adt<@Rows>,
                %ns: !rec.list<index>) -> !rec.list<!rec.adt<@Words>> {
  // CHECK-NEXT: %[[LIST:.*]] = rec.elements %[[WS]] : !rec.adt<@Words> -> !rec.list<index>
  // CHECK-NEXT: rec.map (%[[W:.*]], %[[N:.*]]) in (%[[LIST]], %[[NS]]) : !rec.list<index>, !rec.list<index>
  %r = rec.map (%w: index, %n) in (%words, %ns)
      : !rec.adt<@Words>, !rec.list<index> -> !rec.list<!rec.adt<@Words>> {
    // CHECK-NEXT: %[[ROWS:.*]] = rec.elements %[[RS]] : !rec.adt<@Rows> -> !rec.list<tensor<4xf32>>
    // CHECK-NEXT: rec.fold %{{.*}} in %[[ROWS]] init(%[[A:.*]] = %[[WS]]) : !rec.list<tensor<4xf32>> -> !rec.adt<@Words>
    %s = rec.fold %h: tensor<4xf32> in %rows init(%a = %words)
        : !rec.adt<@Rows> -> !rec.adt<@Words> {
      // CHECK-NEXT: rec.construct @Words::@word(%[[W]], %[[A]])
      %next = rec.construct @Words::@word(%w, %a)
          : (index, !rec.adt<@Words>) -> !rec.adt<@Words>
      rec.yield %next : !rec.adt<@Words>
    }
    rec.yield %s : !rec.adt<@Words>
  }
  return %r : !rec.list<!rec.adt<@Words>>
}
