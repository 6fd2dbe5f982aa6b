// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu="blocks=2 shared-memory=5056" --split-input-file \
// RUN:     --remark-format=emitRemark --remarks-filter=batch -o /dev/null 2>&1 | FileCheck %s

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Each of two blocks keeps two tiles of 1024 bytes, next to 1024 bytes of sums and four
// rows of 128 bytes. A matrix that two operators read is stored once.
// CHECK: Parameters {{.*}}"parameters of @one that a block keeps in shared memory: 2048 of 2048 bytes in stage 0"
// CHECK: Parameters {{.*}}"parameters of @two that a block keeps in shared memory: 2048 of 2048 bytes in stage 0"
// CHECK: [Passed] Parameters {{.*}}"2048 of 2048 bytes of parameters stay in the 3520 bytes of a block's shared memory"
uprog.operator @one(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                    %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}
uprog.operator @two(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                    %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Parameters that are multiplied by several rows of a task come first. Tiles of other parameters
// come next if they still fit.
// CHECK: Parameters {{.*}}"parameters of @tasks that a block keeps in shared memory: 1024 of 2048 bytes in stage 0"
// CHECK: Parameters {{.*}}"parameters of @edges that a block keeps in shared memory: 2048 of 2048 bytes in stage 0"
// CHECK: [Passed] Parameters {{.*}}"3072 of 4096 bytes of parameters stay in the 3520 bytes of a block's shared memory; the others stream from the L2 cache at every step"
uprog.operator @tasks(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                      %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}
uprog.operator @edges(%n: index, %s: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                      %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                      %offsets: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>},
                      %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(1)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x32xf32>
  %empty = tensor.empty(%rows) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %t = batch.segment_reduce add %r by %offsets into %s : tensor<?x32xf32>, tensor<?xindex>
  uprog.yield %t : tensor<?x32xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A tile of 4096 bytes does not fit.
// CHECK: Parameters {{.*}}"parameters of @large that a block keeps in shared memory: 0 of 8192 bytes in stage 0"
// CHECK: [Missed] Parameters {{.*}}"0 of 8192 bytes of parameters stay in the 1984 bytes of a block's shared memory; the others stream from the L2 cache at every step"
uprog.operator @large(%n: index, %x: tensor<?x128xf32> {uprog.operand = #uprog.operand<gather>},
                      %w: tensor<32x128xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x128xf32>, tensor<32x128xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A tile of 2688 bytes just fits.
// CHECK: [Passed] Parameters {{.*}}"2688 of 5376 bytes of parameters stay in the 2688 bytes of a block's shared memory;
uprog.operator @tile(%n: index, %x: tensor<?x84xf32> {uprog.operand = #uprog.operand<gather>},
                     %w: tensor<32x84xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x84xf32>, tensor<32x84xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// A tile of 2688 bytes does not fit next to a list of numbers and a barrier of
// all blocks. The list and the barrier take 16 bytes each.
// CHECK: [Missed] Parameters {{.*}}"0 of 5376 bytes of parameters stay in the 2656 bytes of a block's shared memory;
uprog.operator @tile(%n: index, %x: tensor<?x84xf32> {uprog.operand = #uprog.operand<gather>},
                     %w: tensor<32x84xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x84xf32>, tensor<32x84xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}
uprog.program @lists(%n: index, %list: memref<?xi32>, %c: i1) level(device) {
  %count = uprog.compact %i < %n into %list : memref<?xi32> {
    uprog.condition(%c)
  }
  uprog.yield
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Weights of a kernel that runs in only one step are read once, so no block keeps them.
// CHECK: Parameters {{.*}}"parameters of @leaf.rows that a block keeps in shared memory: none, because it runs at only one step of a plan"
// CHECK: Parameters {{.*}}"parameters of @node.rows that a block keeps in shared memory: 2048 of 2048 bytes in stage 0"
batch.kernel @leaf(%x: tensor<32xf32>, %w: tensor<32x32xf32> {batch.shared}) -> tensor<32xf32> {
  batch.yield %x : tensor<32xf32>
}
uprog.operator @leaf.rows of @leaf(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                               %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(0)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}
batch.kernel @node(%x: tensor<32xf32>, %w: tensor<32x32xf32> {batch.shared}) -> tensor<32xf32> {
  batch.yield %x : tensor<32xf32>
}
uprog.operator @node.rows of @node(%n: index, %x: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
                               %w: tensor<32x32xf32> {uprog.operand = #uprog.operand<shared(1)>}) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<?x32xf32>, tensor<32x32xf32>)
      outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  uprog.yield %r : tensor<?x32xf32>
}
func.func @inspect(%x: !batch.handle) -> !batch.handle {
  %zero = arith.constant 0 : index
  %leaf = batch.record @leaf(%x) depth(%zero) : (!batch.handle) -> !batch.handle
  %depth = batch.depth(%leaf) : !batch.handle
  %node = batch.record @node(%leaf) depth(%depth) : (!batch.handle) -> !batch.handle
  return %node : !batch.handle
}
