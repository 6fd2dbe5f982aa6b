module @jit_step attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @half(%x: tensor<4xf32> {tt.divisible = 16 : i32}) -> tensor<4xf32> {
    %c = arith.constant dense<0.5> : tensor<4xf32>
    %y = arith.mulf %x, %c : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func public @step(%x: tensor<4xf32> {jax.donor = true, mhlo.sharding = "{replicated}"},
                         %W: tensor<4x4xf32>)
      -> tensor<4xf32> attributes {torch.assume = {a = "}"}} {
    %z = call @half(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %y = linalg.matvec ins(%W, %z : tensor<4x4xf32>, tensor<4xf32>)
        outs(%x : tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
