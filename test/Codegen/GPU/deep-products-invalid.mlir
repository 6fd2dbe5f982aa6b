// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="shared-memory=232448 precision=bf16" --verify-diagnostics

// Each of 512 shares of k has its own tile of sums until the tiles are added.
#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
// expected-error @+1 {{the products of this operator have too many terms: sums and rows need 286720 bytes of shared memory, but a block has 232448}}
uprog.operator @deep.rows(%n: index, %x: tensor<?x131072xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<8x131072xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x131072xf32>, tensor<8x131072xf32>)
         outs(%start : tensor<?x8xf32>) -> tensor<?x8xf32>
  uprog.yield %y : tensor<?x8xf32>
}
