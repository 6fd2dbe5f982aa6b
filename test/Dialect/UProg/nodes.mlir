// RUN: batch-opt %s | batch-opt | FileCheck %s
// RUN: batch-opt %s --mlir-print-op-generic | batch-opt | FileCheck %s

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
rec.adt @States {
  rec.variant @leaf(h: tensor<4xf32>)
}

// Nodes of an instance, and their values.
// CHECK: uprog.node_rows @h : tensor<4xf32>
// CHECK: uprog.node_results @encode : [!uprog.row, !rec.adt<@States>]
// CHECK-LABEL: uprog.program @nodes
// CHECK: uprog.node_number %{{.*}} of %{{.*}} : !rec.adt<@Tree>
// CHECK: uprog.node %{{.*}} of %{{.*}} : !rec.adt<@Tree>
// CHECK: uprog.variant %{{.*}} : !rec.adt<@Tree>
// CHECK: uprog.field 1 of %{{.*}} as @node : !rec.adt<@Tree> -> !rec.adt<@Tree>
// CHECK: uprog.node_row @h[%{{.*}}] : !rec.adt<@Tree>
// CHECK: uprog.construct @States::@leaf(%{{.*}}) for %{{.*}} : (!uprog.row) -> !rec.adt<@States> of !rec.adt<@Tree>
// CHECK: uprog.remember @encode[%{{.*}}] = %{{.*}}, %{{.*}} : !uprog.row, !rec.adt<@States> of !rec.adt<@Tree>
// CHECK: uprog.look_up @encode[%{{.*}}] : !rec.adt<@Tree> -> !uprog.row, !rec.adt<@States>
uprog.node_rows @h : tensor<4xf32>
uprog.node_results @encode : [!uprog.row, !rec.adt<@States>]
uprog.program @nodes(%i: index) level(device) {
  %root = uprog.argument 0 of %i : !rec.adt<@Tree>
  %n = uprog.node_number %root of %i : !rec.adt<@Tree>
  %t = uprog.node %n of %i : !rec.adt<@Tree>
  %v = uprog.variant %t : !rec.adt<@Tree>
  %r = uprog.field 1 of %t as @node : !rec.adt<@Tree> -> !rec.adt<@Tree>
  %h = uprog.node_row @h[%t] : !rec.adt<@Tree>
  %s = uprog.construct @States::@leaf(%h) for %t : (!uprog.row) -> !rec.adt<@States> of !rec.adt<@Tree>
  uprog.remember @encode[%t] = %h, %s : !uprog.row, !rec.adt<@States> of !rec.adt<@Tree>
  %g, %u = uprog.look_up @encode[%r] : !rec.adt<@Tree> -> !uprog.row, !rec.adt<@States>
  uprog.result 0 of %i = %u : !rec.adt<@States>
  uprog.yield
}
