// RUN: batch-opt %s --batch-attach-policy=policy=greedy | FileCheck %s --check-prefix=GREEDY
// RUN: batch-opt %s --batch-attach-policy=policy=greedy --batch-attach-policy=policy=depth | FileCheck %s --check-prefix=DEPTH
// RUN: batch-opt %s --batch-attach-policy=policy=agenda --batch-attach-policy | FileCheck %s --check-prefix=AGENDA
// RUN: printf 'batch-policy 1\nencoding base\nkernel node\nkernel leaf\nstate 0 1 : 1\nend\n' > %t.policy
// RUN: batch-opt %s --batch-attach-policy=table=%t.policy | FileCheck %s --check-prefix=FSM
// RUN: batch-opt %s --autobatch="policy=fsm policy-table=%t.policy" | FileCheck %s --check-prefix=FSM

// GREEDY: module attributes {batch.policy = #batch.policy<greedy>}
// AGENDA: module attributes {batch.policy = #batch.policy<agenda>}
// The default policy, `depth`, has no attribute.
// DEPTH-NOT: batch.policy
// The attribute uses the kernel numbers of the module: state "leaf, node" runs the leaf.
// FSM: batch.policy = #batch.policy<fsm, "batch-policy 1\0Aencoding base\0Akernel leaf\0Akernel node\0Astate 0 1 : 0\0Aend\0A">
batch.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
batch.kernel @node(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
func.func @main(%n: index) -> index attributes {batch.entry} {
  return %n : index
}
