// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --canonicalize | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A table is read through two index arrays, one for left and one for right children.
// It is gathered once, and both halves are packed into one row for all gates
// (Cortex, A.3). The result of a gate is indexed by the row of the
// tile, not by the node, so it stays in the worker's scratch.
// CHECK-LABEL: func.func private @gates.rows.stage0
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK-NOT:     llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK-COUNT-3: call @batch.tiles
// CHECK-NOT:     -> i32
// CHECK:         return
// CHECK-NOT:   @gates.rows.stage1
// CHECK-LABEL: func.func @gates.rows(
// CHECK-SAME:    #uprog.code<stages = 1, task_scratch = 0, workers
uprog.operator @gates.rows(%n: index, %l: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %r: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                           %a: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(0)>},
                           %b: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(1)>},
                           %c: tensor<32x64xf32> {uprog.operand = #uprog.operand<shared(2)>})
    -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %lr = tensor.concat dim(1) %l, %r : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  %i = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%lr, %a : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %o = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%lr, %b : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %u = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%lr, %c : tensor<?x64xf32>, tensor<32x64xf32>)
         outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %io = arith.mulf %i, %o : tensor<?x32xf32>
  %t = math.tanh %u : tensor<?x32xf32>
  %h = arith.mulf %io, %t : tensor<?x32xf32>
  uprog.yield %h : tensor<?x32xf32>
}
