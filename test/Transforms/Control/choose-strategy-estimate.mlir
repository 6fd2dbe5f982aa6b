// RUN: batch-opt %s --split-input-file --batch-choose-strategy -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 | FileCheck %s

// The estimate of how many operations an instance computes between two waits is its number of
// operations divided by its number of waits. The estimate assumes 10 rounds for loops of unknown
// length, and equally frequent branches. It determines the strategy if replicate is not legal, as
// in recursions over numbers.

// Two reads of one tensor count as one wait, for any number of loop rounds. Reads
// of an input are not waits. There are 4 + 2 * 4 * 4 operations, and 3 rounds of 4 operations.
// CHECK: computes 48 operations between two waits
func.func private @count(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %zero : i64
  %m = scf.if %more -> i64 {
    %less = arith.subi %n, %one : i64
    %k = func.call @count(%less) : (i64) -> i64
    scf.yield %k : i64
  } else {
    scf.yield %n : i64
  }
  return %m : i64
}
func.func @main(%x: tensor<4xf32>, %W: tensor<4x4xf32> {batch.shared = "W"})
    -> tensor<4xf32> attributes {batch.entry} {
  %any = arith.constant 3 : i64
  %counted = func.call @count(%any) : (i64) -> i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %bound = tensor.extract %x[%c0] : tensor<4xf32>
  %v = math.exp %x : tensor<4xf32>
  %u = linalg.matvec ins(%W, %v : tensor<4x4xf32>, tensor<4xf32>)
      outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %e = tensor.extract %u[%i] : tensor<4xf32>
    %f = tensor.extract %u[%c0] : tensor<4xf32>
    %s = arith.addf %e, %f : f32
    %c = arith.cmpf olt, %s, %bound : f32
    %t = arith.negf %a : tensor<4xf32>
    %b = scf.if %c -> tensor<4xf32> {
      scf.yield %t : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Both loops count as 10 rounds, and only the second one waits: 10 * 8 and 10 * (1 + 4)
// operations, and 10 waits. Half of the 8 operations in the branch count.
// CHECK: computes 13 operations between two waits
func.func private @count(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %zero : i64
  %m = scf.if %more -> i64 {
    %less = arith.subi %n, %one : i64
    %k = func.call @count(%less) : (i64) -> i64
    scf.yield %k : i64
  } else {
    scf.yield %n : i64
  }
  return %m : i64
}
func.func @main(%x: tensor<8xf32>, %n: index) -> tensor<8xf32>
    attributes {batch.entry} {
  %any = arith.constant 3 : i64
  %counted = func.call @count(%any) : (i64) -> i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bound = arith.constant 1.0 : f32
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %b = math.sin %a : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %h) -> tensor<8xf32> {
    %first = tensor.extract_slice %a[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %e = tensor.extract %first[%c0] : tensor<1xf32>
    %c = arith.cmpf olt, %e, %bound : f32
    %b = scf.if %c -> tensor<8xf32> {
      %d = arith.mulf %a, %half : tensor<8xf32>
      scf.yield %d : tensor<8xf32>
    } else {
      scf.yield %a : tensor<8xf32>
    }
    scf.yield %b : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

// The estimate ignores recursive calls: there are 4 operations, and half a wait, for each of
// the two calls in the entry.
// CHECK: computes 8 operations between two waits
func.func private @f(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bound = arith.constant 1.0 : f32
  %v = math.exp %x : tensor<4xf32>
  %more = arith.cmpi sgt, %n, %zero : i64
  %y = scf.if %more -> tensor<4xf32> {
    %e = tensor.extract %v[%c0] : tensor<4xf32>
    %c = arith.cmpf olt, %e, %bound : f32
    %i = arith.extui %c : i1 to i64
    %j = arith.subi %n, %one : i64
    %m = arith.subi %j, %i : i64
    %z = func.call @f(%v, %m) : (tensor<4xf32>, i64) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %v : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32>
    attributes {batch.entry} {
  %a = func.call @f(%x, %n) : (tensor<4xf32>, i64) -> tensor<4xf32>
  %b = func.call @f(%a, %n) : (tensor<4xf32>, i64) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
