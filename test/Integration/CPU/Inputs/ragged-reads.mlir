// Reads of ragged tensors at data-dependent indices. check_reads.py computes the
// expected values.

!row = tensor<19xf32>
!rows = tensor<?x19xf32>
#id = affine_map<(i, j) -> (i)>
#out = affine_map<(i, j) -> (i, j)>

func.func @main(%seq: !rows {batch.name = "seq"}, %at: tensor<3xi64> {batch.name = "at"})
    -> (!row {batch.name = "ragged"}, tensor<2x4xf32> {batch.name = "pieces"},
        tensor<3x19xf32> {batch.name = "listed"}, tensor<1xf32> {batch.name = "point"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %half = arith.constant 0.5 : f32
  %a64 = tensor.extract %at[%c0] : tensor<3xi64>
  %b64 = tensor.extract %at[%c1] : tensor<3xi64>
  %a = arith.index_cast %a64 : i64 to index
  %b = arith.index_cast %b64 : i64 to index
  %ragged = tensor.extract_slice %seq[%a, 0] [1, 19] [1, 1] : !rows to !row

  // A ragged tensor that a kernel computes.
  %many = tensor.dim %seq, %c0 : !rows
  %init = tensor.empty(%many) : !rows
  %doubled = linalg.add ins(%seq, %seq : !rows, !rows) outs(%init : !rows) -> !rows
  %pieces = tensor.extract_slice %doubled[%a, %b] [2, 4] [1, 2] : !rows to tensor<2x4xf32>
  %p = tensor.extract %doubled[%b, %c2] : !rows
  %point = tensor.from_elements %p : tensor<1xf32>

  // A read in the body of a structured operation.
  %empty = tensor.empty() : tensor<3x19xf32>
  %listed = linalg.generic {indexing_maps = [#id, #out], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<3xi64>) outs(%empty : tensor<3x19xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %seq[%i, %j] : !rows
    %w = arith.addf %v, %half : f32
    linalg.yield %w : f32
  } -> tensor<3x19xf32>
  return %ragged, %pieces, %listed, %point
      : !row, tensor<2x4xf32>, tensor<3x19xf32>, tensor<1xf32>
}
