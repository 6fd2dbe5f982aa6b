// RUN: batch-opt %s -split-input-file -batch-order-loops | FileCheck %s
// RUN: batch-opt %s -split-input-file -batch-order-loops -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: batch-opt %s -split-input-file -batch-order-loops=order=wavefront \
// RUN:   | FileCheck %s --check-prefix=FORCED

// Two recurrences. The second one reads the product of W and the first one's result.
// This product is part of neither recurrence.
!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
// REMARK: order 'layers': products between the 4 layers read 262144 bytes of parameters once per group of rounds
// CHECK-LABEL: func.func @main
// CHECK:         {batch.order = #batch.order<layers>}
// FORCED-LABEL: func.func @main
// FORCED:         {batch.order = #batch.order<wavefront>}
func.func @main(%n: index, %W: !mat {batch.shared = "W"}, %U: !mat {batch.shared = "U"})
    -> !vec attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h0 = arith.constant dense<0.1> : !vec
  %y:2 = scf.for %i = %zero to %n step %one iter_args(%h = %h0, %g = %h0) -> (!vec, !vec) {
    %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%h : !vec) -> !vec
    %next = math.tanh %a : !vec
    %x = linalg.matvec ins(%W, %next : !mat, !vec) outs(%h0 : !vec) -> !vec
    %s = arith.addf %x, %g : !vec
    %t = math.tanh %s : !vec
    scf.yield %next, %t : !vec, !vec
  }
  return %y#1 : !vec
}

// -----

// If products between layers read few bytes of parameters, grouping rounds does not pay off.
!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
// REMARK: order 'rounds': products between the 4 layers read 1024 bytes of parameters, too few to group rounds
// CHECK-LABEL: func.func @main
// CHECK:         {batch.order = #batch.order<rounds>}
// FORCED-LABEL: func.func @main
// FORCED:         {batch.order = #batch.order<wavefront>}
func.func @main(%n: index, %W: !mat {batch.shared = "W"})
    -> !vec attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h0 = arith.constant dense<0.1> : !vec
  %y:2 = scf.for %i = %zero to %n step %one iter_args(%h = %h0, %g = %h0) -> (!vec, !vec) {
    %next = math.tanh %h : !vec
    %x = linalg.matvec ins(%W, %next : !mat, !vec) outs(%h0 : !vec) -> !vec
    %s = arith.addf %x, %g : !vec
    %t = math.tanh %s : !vec
    scf.yield %next, %t : !vec, !vec
  }
  return %y#1 : !vec
}

// -----

// A single recurrence has one layer. A number that it computes remains in this layer,
// as do the reads of the number. An order in the source remains.
!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
// CHECK-LABEL: func.func @main
// CHECK-NOT:     batch.order
// CHECK:         {batch.order = #batch.order<rounds>}
// FORCED-LABEL: func.func @main
// FORCED-NOT:     batch.order
// FORCED:         {batch.order = #batch.order<rounds>}
func.func @main(%n: index, %W: !mat {batch.shared = "W"}, %E: tensor<?x256xf32> {batch.shared = "E"})
    -> (!vec, !vec) attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h0 = arith.constant dense<0.1> : !vec
  %y:2 = scf.for %i = %zero to %n step %one iter_args(%h = %h0, %k = %zero) -> (!vec, index) {
    %next = linalg.matvec ins(%W, %h : !mat, !vec) outs(%h : !vec) -> !vec
    %e = tensor.extract %next[%k] : !vec
    %c = arith.fptoui %e : f32 to i64
    %m = arith.index_cast %c : i64 to index
    scf.yield %next, %m : !vec, index
  }
  %z:2 = scf.for %i = %zero to %n step %one iter_args(%h = %h0, %g = %y#0) -> (!vec, !vec) {
    %next = math.tanh %h : !vec
    %x = linalg.matvec ins(%W, %next : !mat, !vec) outs(%h0 : !vec) -> !vec
    %s = arith.addf %x, %g : !vec
    scf.yield %next, %s : !vec, !vec
  } {batch.order = #batch.order<rounds>}
  return %z#0, %z#1 : !vec, !vec
}
