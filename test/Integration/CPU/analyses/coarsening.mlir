// REQUIRES: batch-run
// RUN: batch-opt %s --autobatch -o %t.mlir
// RUN: batch-opt %s --autobatch=coarsen=false -o %t.1.mlir
// RUN: batch-run %t.mlir --params=random:1 --inputs=random:1,7 --check-unbatched --counters | FileCheck %s
// RUN: batch-run %t.1.mlir --params=random:1 --inputs=random:1,7 --check-unbatched --counters | FileCheck %s --check-prefix=SINGLE

// All tensor code between two points of control flow is one task. An instance has a task for each
// of the six rounds, and one for the last product. Without coarsening, each operation is a task.
// CHECK:  tasks          49
// CHECK:  batches        7
// SINGLE: tasks          175
// SINGLE: batches        25
!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
func.func @main(%x: !vec {batch.name = "x"}, %W: !mat {batch.shared = "W"},
                %b: !vec {batch.shared = "b"}) -> (!vec {batch.name = "y"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %y = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x) -> !vec {
    %a = linalg.matvec ins(%W, %h : !mat, !vec) outs(%b : !vec) -> !vec
    %n = arith.negf %a : !vec
    %e = math.tanh %n : !vec
    %next = arith.addf %e, %h : !vec
    scf.yield %next : !vec
  }
  %z = linalg.matvec ins(%W, %y : !mat, !vec) outs(%b : !vec) -> !vec
  return %z : !vec
}
