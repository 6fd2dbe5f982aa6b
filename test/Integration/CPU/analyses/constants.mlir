// REQUIRES: batch-run
// RUN: batch-compile %s --strategy=lazy -o %t.so
// RUN: batch-run %t.so --params=random:1 --inputs=random:1,7 --check-unbatched --counters | FileCheck %s
// RUN: batch-run %t.so --params=random:1 --inputs=random:1,7 --check-unbatched --counters --threads=3 | FileCheck %s
// RUN: batch-run %t.so --params=random:1 --inputs=random:1,7 --check-unbatched --counters --policy=greedy | FileCheck %s

// Code that depends only on parameters is one task per run, not one per instance or flush.
// This holds even though each instance needs the result and control flow waits four times.
// CHECK:     flushes        5
// CHECK:     tasks          36
// CHECK:     main_once: 1 tasks in 1 batches
!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
func.func @main(%x: !vec {batch.name = "x"}, %W: !mat {batch.shared = "W"},
                %b: !vec {batch.shared = "b"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "n"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %c = linalg.matvec ins(%W, %b : !mat, !vec) outs(%b : !vec) -> !vec
  %y, %n = scf.while (%h = %x, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %huge = arith.constant 1.0e30 : f32
    %small = arith.cmpf olt, %e, %huge : f32
    %few = arith.cmpi slt, %n, %four : i64
    %more = arith.andi %small, %few : i1
    scf.condition(%more) %h, %n : !vec, i64
  } do {
  ^bb0(%h: !vec, %n: i64):
    %s = arith.addf %h, %c : !vec
    %next = math.sin %s : !vec
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  %z = arith.mulf %y, %c : !vec
  return %z, %n : !vec, i64
}
