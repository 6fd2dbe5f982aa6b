// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="blocks=8 shared-memory=5056 count-rows=1,9" \
// RUN:     --remark-format=emitRemark --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="blocks=17 shared-memory=0 block-size=64 precision=bf16 count-rows=40" \
// RUN:     --remark-format=emitRemark --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=BF16

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Eight blocks share two tiles of columns, so four blocks have the same tile. With one row,
// each of these four takes one of four slices, and one of its warps has an item of two sums.
// With nine rows, three of the four blocks have a quad of rows. The last quad has one row. The
// fourth block has no quad.
// CHECK: Work {{.*}}"work of @product, stage 0, domain -1, count 1: busy warps 8, warps 64, most items 1, passes 1, block barriers 2, dependent loads 2, row bytes 1024, most row bytes 128, weight bytes 0, most weight bytes 0, multiplications 8, loads 3, shuffles 5, instructions 24, block instructions 24, wavefronts 19, {{.*}}, sums from byte 1024 to 2048 of {{[0-9]+}}, of warps{{( 2 0 0 0 0 0 0 0){8}"}}
// CHECK: Work {{.*}}"work of @product, stage 0, domain -1, count 9: busy warps 24, warps 64, most items 1, passes 1, block barriers 2, dependent loads 2, row bytes 2304, most row bytes 512, weight bytes 0, {{.*}} of warps{{( 8 8 8 8 0 0 0 0){4}( 2 2 2 2 0 0 0 0){2}( 0){16}"}}
//
// On tensor cores, tiles remain whole. For each of their tiles, blocks read the
// weights that they do not keep: 8 columns of 32 floats. Nine blocks with the same
// tile share ten quads. The first block has two quads, and memory for one of them.
// BF16: Work {{.*}}"work of @product, stage 0, domain -1, count 40: busy warps 17, warps 34, most items 2, passes 2, block barriers 4, dependent loads 2, row bytes 10240, most row bytes 1024, weight bytes 20480, most weight bytes 2048, multiplications 4, loads 6, shuffles 0, instructions 18,
uprog.operator @product(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<rows>},
                        %w: tensor<16x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<16x32xf32>)
      outs(%start : tensor<?x16xf32>) -> tensor<?x16xf32>
  uprog.yield %r : tensor<?x16xf32>
}
// Tiles have 32 elements, two rows of 16 columns: five tiles for nine rows. An
// index selects the row to load.
// CHECK: Work {{.*}}"work of @elements, stage 0, domain -1, count 1: busy warps 1, warps 64, most items 1, passes 0, block barriers 0, dependent loads 2, {{.*}} chain 31, {{.*}} of warps{{( 0){64}"}}
// CHECK: Work {{.*}}"work of @elements, stage 0, domain -1, count 9: busy warps 5, warps 64, most items 1,
uprog.operator @elements(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x16xf32> {
  %y = math.tanh %x : tensor<?x16xf32>
  uprog.yield %y : tensor<?x16xf32>
}
