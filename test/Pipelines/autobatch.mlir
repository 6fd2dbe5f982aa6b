// RUN: batch-opt %s --autobatch | FileCheck %s
// RUN: batch-opt %s --autobatch --mlir-print-ir-after-all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STAGE
// RUN: batch-opt %s --autobatch | batch-opt --autobatch | FileCheck %s
// RUN: batch-opt %s --autobatch --remark-format=emitRemark \
// RUN:   --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Passes run in the order that their inputs require, and each result verifies.
// STAGE:      IR Dump After LinkLibraryPass (batch-link-library)
// STAGE:      IR Dump After SpecializeSizesPass (batch-specialize-sizes)
// STAGE:      IR Dump After LiftCFPass (batch-lift-cf)
// STAGE:      IR Dump After ListElementsPass (batch-list-elements)
// STAGE:      IR Dump After InlineHelpersPass (batch-inline-helpers)
// STAGE-NOT:  call @add
// STAGE:      IR Dump After OutlineKernelsPass (batch-outline-kernels)
// STAGE:      batch.invoke
// STAGE:      IR Dump After AssignPhasesPass (batch-assign-phases)
// STAGE:      IR Dump After TagDepthsPass (batch-tag-depths)
// STAGE:      batch.depth
// STAGE:      IR Dump After VerifyKernelsPass (batch-verify-kernels)
// STAGE:      IR Dump After VectorizeKernelsPass (batch-vectorize-kernels)
// STAGE:      uprog.operator
// STAGE:      IR Dump After LinearizePass (batch-linearize)
// STAGE:      batch.record
// STAGE:      IR Dump After AssignSlotsPass (batch-assign-slots)
// STAGE:      batch.table
// STAGE:      IR Dump After VerifyPlannedPass (batch-verify-planned)
// STAGE-NOT:  uprog.program
// STAGE:      IR Dump After ConvertBatchToUProgPass (convert-batch-to-uprog)
// STAGE:      uprog.program
// STAGE:      IR Dump After VerifyExecutorPass (batch-verify-executor)

// Remarks report decisions at the ops that they concern.
// REMARK-DAG: autobatch.mlir:[[#@LINE+39]]:{{[0-9]+}}: remark: {{.*}}recursion is bottom-up, so the inspector runs one loop over the nodes, children first
// REMARK-DAG: autobatch.mlir:{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}}1{{.*}} result tables; all gathers are inside operators

// The program has one barrier: at the end of a step, in the loop that carries
// the dependence of a node on its children.
// CHECK-NOT:   uprog.barrier
// CHECK-LABEL: uprog.program @main.execute
// CHECK-NOT:     uprog.barrier
// CHECK:         uprog.for %{{.*}} = %{{.*}} to %{{.*}} {
// CHECK-NEXT:      %[[STEP:.*]] = uprog.plan_step
// CHECK-NEXT:      %[[KERNEL:.*]] = uprog.step_kernel %[[STEP]]
// CHECK-NEXT:      uprog.branch %[[KERNEL]]
// CHECK-NEXT:      case 0 {
// CHECK:             uprog.run @encode_leaf.rows
// CHECK-NEXT:      }
// CHECK-NEXT:      case 1 {
// CHECK:             uprog.run @encode_node.rows
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[WAITS:.*]] = uprog.step_barrier %[[STEP]]
// CHECK-NEXT:      uprog.branch %[[WAITS]]
// CHECK-NEXT:      case 1 {
// CHECK-NEXT:        uprog.barrier device
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    uprog.yield
// CHECK-NOT:     uprog.barrier

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!emb = tensor<?x4xf32>
!tree = !rec.adt<@Tree>
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !tree, right: !tree)
}
func.func private @add(%a: !vec, %b: !vec) -> !vec {
  %s = arith.addf %a, %b : !vec
  return %s : !vec
}
func.func private @encode(%t: !tree, %E: !emb, %W: !mat, %b: !vec) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    %y = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    rec.yield %y : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @encode(%l, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
    %hr = func.call @encode(%r, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
    %s = func.call @add(%hl, %hr) : (!vec, !vec) -> !vec
    %y = linalg.matvec ins(%W, %s : !mat, !vec) outs(%b : !vec) -> !vec
    %h = math.tanh %y : !vec
    rec.yield %h : !vec
  } }
  return %h : !vec
}
func.func @main(%t: !tree {batch.name = "tree"}, %E: !emb {batch.shared = "E"},
                %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
    -> (!vec {batch.name = "h"}) attributes {batch.entry} {
  %h = call @encode(%t, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
  return %h : !vec
}
