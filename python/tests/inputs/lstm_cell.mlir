// torch.nn.LSTMCell(4, 4), written by torch-mlir 20261001 as linalg on tensors.
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @cell(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant dense_resource<torch_tensor_16_torch.float32_1> : tensor<16xf32>
    %cst_2 = arith.constant dense_resource<torch_tensor_16_4_torch.float32_1> : tensor<16x4xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_16_torch.float32> : tensor<16xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_16_4_torch.float32> : tensor<16x4xf32>
    %expanded = tensor.expand_shape %arg0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %expanded_5 = tensor.expand_shape %arg1 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %expanded_6 = tensor.expand_shape %arg2 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %0 = tensor.empty() : tensor<4x16xf32>
    %transposed = linalg.transpose ins(%cst_4 : tensor<16x4xf32>) outs(%0 : tensor<4x16xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<1x16xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<1x16xf32>) -> tensor<1x16xf32>
    %3 = linalg.matmul ins(%expanded_5, %transposed : tensor<1x4xf32>, tensor<4x16xf32>) outs(%2 : tensor<1x16xf32>) -> tensor<1x16xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<16xf32>) outs(%1 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%1 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<1x16xf32>
    %transposed_7 = linalg.transpose ins(%cst_2 : tensor<16x4xf32>) outs(%0 : tensor<4x16xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%expanded, %transposed_7 : tensor<1x4xf32>, tensor<4x16xf32>) outs(%2 : tensor<1x16xf32>) -> tensor<1x16xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<16xf32>) outs(%1 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%1 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<1x16xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%5, %8 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%1 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<1x16xf32>
    %extracted_slice = tensor.extract_slice %9[0, 0] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %extracted_slice_8 = tensor.extract_slice %9[0, 4] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %extracted_slice_9 = tensor.extract_slice %9[0, 8] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %extracted_slice_10 = tensor.extract_slice %9[0, 12] [1, 4] [1, 1] : tensor<1x16xf32> to tensor<1x4xf32>
    %10 = tensor.empty() : tensor<1x4xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice : tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      %21 = math.exp %20 : f32
      %22 = arith.addf %21, %cst_0 : f32
      %23 = arith.divf %cst_0, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<1x4xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_8 : tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      %21 = math.exp %20 : f32
      %22 = arith.addf %21, %cst_0 : f32
      %23 = arith.divf %cst_0, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<1x4xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_9 : tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.tanh %in : f32
      linalg.yield %20 : f32
    } -> tensor<1x4xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_10 : tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      %21 = math.exp %20 : f32
      %22 = arith.addf %21, %cst_0 : f32
      %23 = arith.divf %cst_0, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<1x4xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12, %expanded_6 : tensor<1x4xf32>, tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.mulf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<1x4xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%11, %13 : tensor<1x4xf32>, tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.mulf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<1x4xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%15, %16 : tensor<1x4xf32>, tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.addf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<1x4xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.tanh %in : f32
      linalg.yield %20 : f32
    } -> tensor<1x4xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%14, %18 : tensor<1x4xf32>, tensor<1x4xf32>) outs(%10 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %in_12: f32, %out: f32):
      %20 = arith.mulf %in, %in_12 : f32
      linalg.yield %20 : f32
    } -> tensor<1x4xf32>
    %collapsed = tensor.collapse_shape %19 [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
    %collapsed_11 = tensor.collapse_shape %17 [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
    return %collapsed, %collapsed_11 : tensor<4xf32>, tensor<4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_16_torch.float32_1: "0x040000005C1D33BEBAD2D1BE00D2D9BDF8E2DA3D76C6A6BE4034D2BC0042B73EF08852BD80AC633CC0AD30BD103DCF3D60C6A23EBA7EF23E0693A23EC40CF33E601D14BD",
      torch_tensor_16_4_torch.float32_1: "0x04000000005475BB5E54893E16B3D2BE8066BCBEF43245BEEC4B093E404F22BCCEFACA3E70BF35BD4C7B073EACBB1ABE7048C9BDB891F4BE528BA9BEE80E53BE00BB973C60694A3E189B993E8C8DADBEFCF45EBE98F7393E4E94D43E48BDD2BD5C91BF3E400DA5BD10B5583D4ACDE73ECE7BEDBE6629A1BEE09E01BEDC9347BE282FDD3E1AEFA5BEC0B06BBE1ADAB2BE76C2EFBE047095BE9E0EDC3EBC76643E0027783E406AD73C3A3F83BEC03EAD3D9E06EFBE1AFAB8BEC6F983BE2685A13E2619963EC81163BE20CB93BC40BAA33E827FFE3E24344B3EC8558A3DFEA4AB3EC0BB96BEF8D0BE3D6C7AC6BE186EB1BED23E84BE8CAA673EF8E74D3E6AA497BEC8AD1A3E",
      torch_tensor_16_torch.float32: "0x0400000066F8E5BE40BA72BECE4FAE3E006B54BBDC7C7EBE022DC4BE0094EFBEEC10D8BE70B4CFBD56648C3E74678A3E02E5F6BE2EB09F3E8A52C8BEF07BD8BD1C9A4FBE",
      torch_tensor_16_4_torch.float32: "0x040000006E898C3E203F81BD40649C3C0044ED3D00D19E3E48CFF53E9647C5BEECA13BBE9838493ED01BD43EE8C5DE3E22E2E13E78CACB3DF89CDEBE90663C3DAC27A0BE8C94EEBE3E74E33EF0A6C23EFE5DFFBE08AABF3DC880ACBDB882A8BD1C5F6ABE8CE4443E34A197BEDCB13B3E1676813E5C43B73E48713F3E4A5FFDBE0011A6BE38A67F3E1853D63D96B3C7BEE86893BEF2D4F03E547FAC3EB03E5FBED4DC00BE78DDF3BE803E13BC78C8C0BEA277C5BE20B0E1BCA0BF993DF4AD51BE98E7973E38C99BBE6849E83ED06FAF3E64E1D7BE88DBFEBD80D2B83C1867953DD0DDF23D5CEC483EE059F53CCCD179BED445723E5691F5BEA0BB97BE3C2B00BEEC6679BE"
    }
  }
#-}
