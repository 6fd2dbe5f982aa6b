// REQUIRES: batch-run
// RUN: batch-run %s --strategy=lockstep --params=random:1 --inputs=random:1,9 --check-unbatched --json | FileCheck %s
// RUN: batch-run %s --strategy=mask --params=random:1 --inputs=random:1,9 --batch=4 --check-unbatched --json | FileCheck %s

// Functions return parameters, branches yield them, and loops start from them. Lanes read
// rows and elements of the parameters at computed indices.

// CHECK: "unbatched_equal": true

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>

func.func private @add(%n: index, %v: !vec) -> !vec {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %base = arith.cmpi eq, %n, %zero : index
  %r = scf.if %base -> !vec {
    scf.yield %v : !vec
  } else {
    %m = arith.subi %n, %one : index
    %others = func.call @add(%m, %v) : (index, !vec) -> !vec
    %sum = arith.addf %others, %v : !vec
    scf.yield %sum : !vec
  }
  return %r : !vec
}

func.func @main(%n: index, %v: !vec {batch.shared = "v"}, %a: !mat {batch.shared = "a"},
                %b: !mat {batch.shared = "b"}) -> (!vec, !mat, !vec, f32)
    attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %rounds = arith.remui %n, %three : index
  %none = arith.cmpi eq, %rounds, %zero : index
  %sum = call @add(%rounds, %v) : (index, !vec) -> !vec
  %m = scf.if %none -> !mat {
    scf.yield %a : !mat
  } else {
    scf.yield %b : !mat
  }
  %loop = scf.for %i = %zero to %rounds step %one iter_args(%x = %v) -> !vec {
    %y = linalg.matvec ins(%m, %x : !mat, !vec) outs(%v : !vec) -> !vec
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : !mat to !vec
    %z = arith.addf %y, %row : !vec
    scf.yield %z : !vec
  }
  %element = tensor.extract %b[%rounds, %one] : !mat
  return %sum, %m, %loop, %element : !vec, !mat, !vec, f32
}
