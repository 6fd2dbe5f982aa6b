// RUN: batch-opt %s --split-input-file --batch-replicate=level=device | FileCheck %s

// A recursion over a tree is a loop over its nodes, children first. A recursive call
// becomes a look-up of the child's result. A tensor that other nodes or the host read is stored in
// a row of the node. The value that is constructed for the node refers to this row.
// CHECK:       uprog.node_results @encode.results : [!uprog.row, !rec.adt<@States>]
// CHECK:       uprog.node_rows @cell.0 : tensor<4xf32>
// CHECK-LABEL: uprog.program @main.instance.all_units(
// CHECK-SAME:    %[[I:.*]]: index) level(device) {
// CHECK:         %[[ROOT:.*]] = uprog.argument 0 of %[[I]] : !rec.adt<@Tree>
// CHECK:         %[[LAST:.*]] = uprog.node_number %[[ROOT]] of %[[I]] : !rec.adt<@Tree>
// CHECK:         %[[END:.*]] = arith.addi %[[LAST]], %{{.*}} : index
// CHECK:         uprog.for %[[N:.*]] = %{{.*}} to %[[END]] {
// CHECK-NEXT:      %[[T:.*]] = uprog.node %[[N]] of %[[I]] : !rec.adt<@Tree>
// CHECK-NEXT:      %[[V:.*]] = uprog.variant %[[T]] : !rec.adt<@Tree>
// CHECK-NEXT:      %[[R:.*]]:2 = uprog.branch %[[V]] -> (!uprog.row, !rec.adt<@States>)
// CHECK-NEXT:      case 0 {
// CHECK-NEXT:        %[[WORD:.*]] = uprog.field 0 of %[[T]] as @leaf : !rec.adt<@Tree> -> index
// CHECK-NEXT:        %[[X:.*]] = uprog.parameter_row @{{.*}}[%[[WORD]]]
// CHECK-NEXT:        %[[S:.*]] = uprog.construct @States::@leaf(%[[X]]) for %[[T]]
// CHECK-NEXT:        uprog.yield %[[X]], %[[S]]
// CHECK-NEXT:      }
// CHECK-NEXT:      default {
// CHECK-NEXT:        %[[LEFT:.*]] = uprog.field 0 of %[[T]] as @node
// CHECK-NEXT:        %[[RIGHT:.*]] = uprog.field 1 of %[[T]] as @node
// CHECK-NEXT:        %[[L:.*]]:2 = uprog.look_up @encode.results[%[[LEFT]]]
// CHECK-NEXT:        %[[RR:.*]]:2 = uprog.look_up @encode.results[%[[RIGHT]]]
// CHECK-NEXT:        %[[H:.*]] = uprog.node_row @cell.0[%[[T]]] : !rec.adt<@Tree>
// CHECK-NEXT:        uprog.site @cell(%[[L]]#0, %[[RR]]#0 : !uprog.row, !uprog.row) into(%[[H]])
// CHECK:             uprog.run @cell.rows
// CHECK-NEXT:        %[[S2:.*]] = uprog.construct @States::@node(%[[L]]#1, %[[RR]]#1, %[[H]]) for %[[T]]
// CHECK-NEXT:        uprog.yield %[[H]], %[[S2]]
// CHECK-NEXT:      }
// CHECK-NEXT:      uprog.remember @encode.results[%[[T]]] = %[[R]]#0, %[[R]]#1
// CHECK:         %[[RESULT:.*]]:2 = uprog.look_up @encode.results[%[[ROOT]]]
// CHECK-NEXT:    uprog.result 0 of %[[I]] = %[[RESULT]]#1 : !rec.adt<@States>
rec.adt @Tree kind tree arity 2 {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
  rec.variant @node(left: !rec.adt<@States>, right: !rec.adt<@States>, h: tensor<4xf32>)
}
batch.kernel @cell(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @cell.rows of @cell(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %z = arith.addf %x, %y : tensor<?x4xf32>
  uprog.yield %z : tensor<?x4xf32>
}
func.func private @encode(%t: !rec.adt<@Tree>, %E: tensor<?x4xf32>)
    -> (tensor<4xf32>, !rec.adt<@States>) {
  %h, %s = rec.match %t : !rec.adt<@Tree> -> tensor<4xf32>, !rec.adt<@States> {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %s = rec.construct @States::@leaf(%x) : (tensor<4xf32>) -> !rec.adt<@States>
    rec.yield %x, %s : tensor<4xf32>, !rec.adt<@States>
  }
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    %hl, %sl = func.call @encode(%l, %E)
        : (!rec.adt<@Tree>, tensor<?x4xf32>) -> (tensor<4xf32>, !rec.adt<@States>)
    %hr, %sr = func.call @encode(%r, %E)
        : (!rec.adt<@Tree>, tensor<?x4xf32>) -> (tensor<4xf32>, !rec.adt<@States>)
    %h = batch.invoke @cell(%hl, %hr) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = rec.construct @States::@node(%sl, %sr, %h)
        : (!rec.adt<@States>, !rec.adt<@States>, tensor<4xf32>) -> !rec.adt<@States>
    rec.yield %h, %s : tensor<4xf32>, !rec.adt<@States>
  } }
  return %h, %s : tensor<4xf32>, !rec.adt<@States>
}
func.func @main(%t: !rec.adt<@Tree>, %E: tensor<?x4xf32> {batch.shared = "E"})
    -> !rec.adt<@States>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %h, %s = func.call @encode(%t, %E)
      : (!rec.adt<@Tree>, tensor<?x4xf32>) -> (tensor<4xf32>, !rec.adt<@States>)
  return %s : !rec.adt<@States>
}
