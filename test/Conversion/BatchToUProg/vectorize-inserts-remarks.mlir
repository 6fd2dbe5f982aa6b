// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file --remark-format=emitRemark --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s

// Each insert reports whether it copies the tensor, and why.

// CHECK: remarks.mlir:[[# @LINE + 3]]:8: remark: [Passed] Inserts {{.*}}"inserts into the row of argument #0 of kernel @placed if no other task reads it"
batch.kernel @placed(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> (tensor<4x19xf32>, tensor<19xf32>) {
  %s = tensor.extract_slice %x[1, 0] [1, 19] [1, 1] : tensor<4x19xf32> to tensor<19xf32>
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  batch.yield %y, %s : tensor<4x19xf32>, tensor<19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 3]]:8: remark: [Missed] Inserts {{.*}}"copies 512 bytes per task: the destination is read after the insert, or is also a result"
batch.kernel @read(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> (tensor<4x19xf32>, tensor<4x19xf32>) {
  // One op reads the old and the new tensor, so the insert copies the tensor.
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  %s = arith.addf %x, %y : tensor<4x19xf32>
  batch.yield %y, %s : tensor<4x19xf32>, tensor<4x19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 3]]:8: remark: [Passed] Inserts {{.*}}"inserts into the row of argument #0 of kernel @later if no other task reads it"
batch.kernel @later(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> (tensor<4x19xf32>, tensor<4x19xf32>) {
  // The reader of the old tensor moves before the insert, so the insert does not copy.
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  %s = arith.addf %x, %x : tensor<4x19xf32>
  batch.yield %y, %s : tensor<4x19xf32>, tensor<4x19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 4]]:8: remark: [Missed] Inserts {{.*}}"copies 512 bytes per task: an insert in place would save no time, because later code reads the old values"
batch.kernel @large(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> (tensor<4x19xf32>, tensor<4x19xf32>) {
  // If the insert were in place, the sum would need memory of its own.
  %s = arith.addf %x, %x : tensor<4x19xf32>
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  %t = arith.mulf %s, %y : tensor<4x19xf32>
  batch.yield %y, %t : tensor<4x19xf32>, tensor<4x19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 2]]:8: remark: [Missed] {{.*}}is read after the insert, or is also a result"
batch.kernel @kept(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> (tensor<4x19xf32>, tensor<4x19xf32>) {
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  batch.yield %y, %x : tensor<4x19xf32>, tensor<4x19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 2]]:8: remark: [Missed] {{.*}}"copies 512 bytes per task: the kernel returns the result more than once"
batch.kernel @twice(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> (tensor<4x19xf32>, tensor<4x19xf32>) {
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  batch.yield %y, %y : tensor<4x19xf32>, tensor<4x19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 3]]:8: remark: [Missed] {{.*}}"copies 512 bytes per task: the destination is computed in the same kernel"
batch.kernel @computed(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> tensor<4x19xf32> {
  %z = arith.addf %x, %x : tensor<4x19xf32>
  %y = tensor.insert_slice %r into %z[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  batch.yield %y : tensor<4x19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 2]]:8: remark: [Missed] {{.*}}"copies 512 bytes per task: the destination is shared by all tasks"
batch.kernel @shared(%x: tensor<4x19xf32> {batch.shared, batch.parameter = 0 : i64}, %r: tensor<19xf32>, %i: index) -> tensor<4x19xf32> {
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  batch.yield %y : tensor<4x19xf32>
}

// -----

// CHECK: remarks.mlir:[[# @LINE + 2]]:8: remark: [Missed] {{.*}}"copies 512 bytes per task: the kernel does not return the result"
batch.kernel @inner(%x: tensor<4x19xf32>, %r: tensor<19xf32>, %i: index) -> tensor<4x19xf32> {
  %y = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<4x19xf32>
  %z = arith.addf %y, %x : tensor<4x19xf32>
  batch.yield %z : tensor<4x19xf32>
}
