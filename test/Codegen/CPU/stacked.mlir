// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Parameters whose rows are stacked are packed together in panels. A slice of a
// stack is not packed in panels.
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [1, 0], n = 80, k = 20, width = 32, transposed = true>,
// CHECK-SAME: #uprog.padded<parameter = 1>, #uprog.padded<parameter = 0>]}
// CHECK-LABEL: func.func private @stacked.rows.stage0
// CHECK:         call @batch.tiles.v2.
// CHECK-LABEL: func.func private @part.rows.stage0
// CHECK-NOT:     call @batch.tiles
uprog.operator @stacked.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>},
                             %a: tensor<48x20xf32> {uprog.operand = #uprog.operand<shared(0)>},
                             %b: tensor<32x20xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x80xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x80xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x80xf32>) -> tensor<?x80xf32>
  %ba = tensor.concat dim(0) %b, %a : (tensor<32x20xf32>, tensor<48x20xf32>) -> tensor<80x20xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %ba : tensor<?x20xf32>, tensor<80x20xf32>)
         outs(%start : tensor<?x80xf32>) -> tensor<?x80xf32>
  uprog.yield %y : tensor<?x80xf32>
}
uprog.operator @part.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>},
                          %a: tensor<48x20xf32> {uprog.operand = #uprog.operand<shared(0)>},
                          %b: tensor<32x20xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %ba = tensor.concat dim(0) %b, %a : (tensor<32x20xf32>, tensor<48x20xf32>) -> tensor<80x20xf32>
  %part = tensor.extract_slice %ba[0, 0] [64, 20] [1, 1] : tensor<80x20xf32> to tensor<64x20xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %part : tensor<?x20xf32>, tensor<64x20xf32>)
         outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}
