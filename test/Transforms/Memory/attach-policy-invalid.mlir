// RUN: not batch-opt %s --batch-attach-policy=policy=random 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not batch-opt %s --autobatch=policy=random 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not batch-opt %s --batch-attach-policy=policy=fsm 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not batch-opt %s --batch-attach-policy="policy=greedy table=%t.policy" 2>&1 | FileCheck %s --check-prefix=ONLY
// RUN: not batch-opt %s --batch-attach-policy=table=%t.none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: printf 'batch-policy 1\nencoding square\n' > %t.policy
// RUN: not batch-opt %s --batch-attach-policy=table=%t.policy 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: printf 'batch-policy 1\nencoding base\nkernel root\nend\n' > %t.other
// RUN: not batch-opt %s --batch-attach-policy=table=%t.other 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: echo 'module attributes {batch.policy = #batch.policy<fsm>} {}' | not batch-opt 2>&1 | FileCheck %s --check-prefix=ATTR
// RUN: echo 'module attributes {batch.policy = #batch.policy<depth, "x">} {}' | not batch-opt 2>&1 | FileCheck %s --check-prefix=ATTR

// NAME: for the --policy option: invalid value 'random'; expected 'depth', 'agenda', 'greedy' or 'fsm'
// TABLE: error: policy 'fsm' requires the table of a state machine; write one with 'batch-run --learn-policy=FILE'
// ONLY: error: only policy 'fsm' takes a table; omit the table or use 'fsm'
// FILE: error: cannot read '{{.*}}.none': {{.*}}o such file
// LINE: error: {{.*}}.policy:2: unknown encoding 'square'; expected base, max, sort, share or urgency
// KERNEL: error: the policy is for another program: unknown kernel 'root'; learn a policy from this program
// ATTR: error: policy 'fsm' requires a table; other policies do not take one
batch.kernel @leaf(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
