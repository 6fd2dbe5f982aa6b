// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --canonicalize --cse --split-input-file -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=TILES < %t.mlir
// RUN: FileCheck %s --check-prefix=PRODUCTS < %t.mlir
// RUN: FileCheck %s --check-prefix=PARTS < %t.mlir

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#id = affine_map<(r, n) -> (r, n)>
#bias = affine_map<(r, n) -> (n)>

// Weights are stored as B[n][k], so that lanes read adjacent elements.
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [0], n = 64, k = 128, width = 1, transposed = true>,
// CHECK-SAME: #uprog.padded<parameter = 1>]}

// The operator remains. Its attribute specifies the requirements of the
// functions.
// CHECK:      uprog.operator @cell.rows
// CHECK-SAME:   uprog.code = #uprog.code<stages = 1, task_scratch = 0>

// The columns of tiles that a block computes depend only on its number and the number of
// blocks. If there are more blocks than tiles, several blocks compute the same columns and
// share the rows. The code computes all of this before it waits for rows.
// TILES-LABEL: func.func private @cell.rows.stage0(
// TILES-SAME:    %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[ARG2:.*]]: i64, %[[ARG3:.*]]: i64)
// TILES:         %[[ADDRESS2:.*]] = llvm.inttoptr %[[ARG2]]
// TILES-NEXT:    %[[OPAQUE2:.*]] = llvm.intr.launder.invariant.group %[[ADDRESS2]]
// TILES-NEXT:    %[[UNIT64:.*]] = llvm.ptrtoint %[[OPAQUE2]]
// TILES-NEXT:    %[[UNIT:.*]] = arith.trunci %[[UNIT64]]
// TILES-NEXT:    %[[ADDRESS3:.*]] = llvm.inttoptr %[[ARG3]]
// TILES-NEXT:    %[[OPAQUE3:.*]] = llvm.intr.launder.invariant.group %[[ADDRESS3]]
// TILES-NEXT:    %[[UNITS64:.*]] = llvm.ptrtoint %[[OPAQUE3]]
// TILES-NEXT:    %[[UNITS:.*]] = arith.trunci %[[UNITS64]]
// TILES:         %[[LANE:.*]] = arith.remui %[[THREAD:.*]], %c32_i32
// TILES-NEXT:    %[[WARP:.*]] = arith.divui %[[THREAD]], %c32_i32
// TILES:         %[[ACROSS:.*]] = arith.minsi %[[UNITS]], %c8_i32
// TILES:         %[[SHARE:.*]] = arith.divui %[[UNIT]], %c8_i32
// TILES-NEXT:    %[[OTHERS:.*]] = arith.muli %[[SHARE]], %c8_i32
// TILES-NEXT:    %[[FIRST:.*]] = arith.subi %[[UNIT]], %[[OTHERS]]
// TILES:         %[[TURNS:.*]] = arith.select
// TILES:         %[[SHARES:.*]] = arith.select
// TILES:         %[[COUNT:.*]] = arith.trunci
// TILES:         %[[QUADS:.*]] = arith.divui %{{.*}}, %c4_i32

// Blocks with the same columns divide a tile into four slices if there are at least four
// blocks for each quad of rows. With at least two blocks for each quad, there are two slices.
// TILES-NEXT:    %[[NONE:.*]] = arith.cmpi slt, %[[QUADS]], %c1_i32
// TILES-NEXT:    %[[SOME:.*]] = arith.select %[[NONE]], %c1_i32, %[[QUADS]]
// TILES-NEXT:    %[[TWICE:.*]] = arith.muli %[[SOME]], %c2_i32
// TILES-NEXT:    %[[MOST2:.*]] = arith.subi %[[TWICE]], %c1_i32
// TILES-NEXT:    %[[HALVES:.*]] = arith.cmpi slt, %[[MOST2]], %[[SHARES]]
// TILES-NEXT:    %[[ONE:.*]] = arith.extui %[[HALVES]] : i1 to i32
// TILES-NEXT:    %[[TIMES4:.*]] = arith.muli %[[SOME]], %c4_i32
// TILES-NEXT:    %[[MOST4:.*]] = arith.subi %[[TIMES4]], %c1_i32
// TILES-NEXT:    %[[QUARTERS:.*]] = arith.cmpi slt, %[[MOST4]], %[[SHARES]]
// TILES-NEXT:    %[[DIVIDED:.*]] = arith.select %[[QUARTERS]], %c2_i32, %[[ONE]]
// TILES-NEXT:    %[[LEFT:.*]] = arith.subi %c2_i32, %[[DIVIDED]]
// TILES-NEXT:    %[[ROWSHARE:.*]] = arith.shrui %[[SHARE]], %[[DIVIDED]]
// TILES-NEXT:    %[[ROWSHARES:.*]] = arith.shrui %[[SHARES]], %[[DIVIDED]]
// TILES-NEXT:    %[[BEFORE:.*]] = arith.shli %[[ROWSHARE]], %[[DIVIDED]]
// TILES-NEXT:    %[[MINE:.*]] = arith.subi %[[SHARE]], %[[BEFORE]]
// TILES-NEXT:    %[[FIRSTSLICE:.*]] = arith.shli %[[MINE]], %[[LEFT]]

// The addresses of four rows are loaded before the wait for earlier steps. The
// rows are copied after the wait, in the background: 128 times 16 bytes.
// TILES:         %[[ANY:.*]] = arith.cmpi slt, %[[ROWSHARE]], %[[QUADS]]
// TILES:         %[[PLACE:.*]] = scf.if %[[ANY]] -> (!llvm.ptr<1>) {
// TILES:           llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// TILES-NOT:       llvm.load
// TILES:           scf.yield
// TILES:         uprog.await_rows
// TILES:         scf.if %[[ANY]] {
// TILES-NOT:       llvm.load
// TILES:           scf.if
// TILES-NEXT:        nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// TILES-NEXT:      }
// TILES-NEXT:    }
// TILES:         %[[WIDTH:.*]] = arith.shli %c1_i32, %[[SHIFT:.*]] : i32
// TILES-NEXT:    %[[HEIGHT:.*]] = arith.shrui %c8_i32, %[[SHIFT]]

// A block copies its remaining rows to its shared memory, behind the 1024
// bytes that hold the sums of eight tiles. It waits for all of these copies.
// TILES:         scf.for %[[QUAD:.*]] = %[[ROWSHARE]] to %[[QUADS]] step %[[ROWSHARES]]
// TILES:           %[[NEXT:.*]] = arith.addi %[[THREAD]], %c256_i32
// TILES-NEXT:      %[[IS:.*]] = arith.cmpi eq, %[[QUAD]], %[[ROWSHARE]]
// TILES-NEXT:      %[[BEGIN:.*]] = arith.select %[[IS]], %[[NEXT]], %[[THREAD]]
// TILES:           scf.for %[[I:.*]] = %[[BEGIN]] to %{{.*}} step %c2048_i32
// TILES:             %[[OWN:.*]] = arith.divui %{{.*}}, %c32_i32
// TILES:             %[[INQUAD:.*]] = arith.remui %[[OWN]], %c4_i32
// TILES-NOT:         !llvm.ptr<1> -> vector<4xf32>
// TILES-COUNT-8:     nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// TILES:           }
// TILES:           nvvm.cp.async.commit.group
// TILES-NEXT:      nvvm.cp.async.wait.group 0
// TILES-NEXT:      gpu.barrier

// A block computes all tiles of its columns before it copies more rows. Elements are loaded
// before the products. At positions past the edge, the last element is loaded again.
// TILES:           scf.for %[[TURN:.*]] = %c0_i32 to %[[TURNS]] step %[[WIDTH]]
// TILES-NEXT:        scf.for %[[ROW:.*]] = %c0_i32 to %[[ROWS:.*]] step
// TILES:               %[[ALL:.*]] = arith.muli %{{.*}}, %[[WIDTH]]
// TILES-NEXT:          %[[EXISTS:.*]] = arith.cmpi slt, %[[WARP]], %[[ALL]]
// TILES-NEXT:          %[[END:.*]] = arith.subi %[[ALL]], %c1_i32
// TILES-NEXT:          %[[TILE:.*]] = arith.minsi %[[WARP]], %[[END]]
// TILES-NEXT:          arith.shrui %[[TILE]], %[[SHIFT]]
// TILES:               %[[LAST:.*]] = arith.subi %[[COUNT]], %c1_i32
// TILES:               arith.minsi %{{.*}}, %[[LAST]]
// TILES:               arith.minsi %{{.*}}, %c63_i32
// TILES:               %[[VALID:.*]] = arith.andi
// TILES:               %[[SUMAT:.*]] = llvm.getelementptr %{{.*}} !llvm.ptr<3>
// TILES:               %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// TILES:               %[[IDLE:.*]] = arith.cmpi slt, %[[ALL]], %c8_i32
// TILES-NEXT:          %[[DIVIDES:.*]] = arith.cmpi sgt, %[[DIVIDED]], %c0_i32
// TILES-NEXT:          %[[SLICED:.*]] = arith.ori %[[IDLE]], %[[DIVIDES]]
// TILES-NEXT:          %[[QUAD1:.*]] = arith.cmpi slt, %[[ROWS]], %c5_i32
// TILES-NEXT:          %[[FEW:.*]] = arith.andi %[[QUAD1]], %[[SLICED]]
// TILES-NEXT:          scf.if %[[FEW]] {
// TILES-NEXT:            %[[SINGLE:.*]] = arith.cmpi slt, %[[ROWS]], %c2_i32
// TILES-NEXT:            scf.if %[[SINGLE]] {

// A quad of rows or a single row may leave warps idle, or blocks may divide a tile. An item is
// then two columns of a tile. A warp computes every eighth item.
// TILES-NEXT:              %[[ITEMS:.*]] = arith.shli %[[ALL]], %[[LEFT]]
// TILES-NEXT:              scf.for %[[ITEM:.*]] = %[[WARP]] to %[[ITEMS]] step %c8_i32
// TILES-NEXT:                %[[WHOLE:.*]] = arith.shrui %[[ITEM]], %[[LEFT]]
// TILES:                     %[[SLICE:.*]] = arith.addi %[[FIRSTSLICE]], %{{.*}}
// TILES-NEXT:                arith.muli %[[SLICE]], %c2_i32
// TILES:                 } else {
// TILES:                   scf.for %{{.*}} = %[[WARP]] to %[[ITEMS]] step %c8_i32
// TILES:               } else {
// TILES-NEXT:            %[[ROW1:.*]] = arith.cmpi slt, %[[ROWS]], %c2_i32
// TILES-NEXT:            scf.if %[[ROW1]] {
// TILES-NEXT:              scf.for %{{.*}} = %[[WARP]] to %[[ALL]] step %c8_i32
// TILES:                 } else {
// TILES-NEXT:              scf.for %{{.*}} = %[[WARP]] to %[[ALL]] step %c8_i32

// After a barrier, each lane reads the sum of one element. Lanes past the edge do
// nothing. The next tiles reuse the memory of sums, after another barrier.
// TILES:               gpu.barrier
// TILES-NEXT:          scf.if %[[VALID]] {
// TILES-NEXT:            %[[SUM:.*]] = llvm.load %[[SUMAT]] {{.*}} : !llvm.ptr<3> -> f32
// TILES-NEXT:            %[[S:.*]] = arith.addf %[[SUM]], %[[B]]
// TILES-NEXT:            %[[T:.*]] = math.tanh %[[S]]
// TILES-NEXT:            llvm.store %[[T]], %{{.*}} !llvm.ptr<1>
// TILES-NEXT:          }
// TILES:               %[[MORE:.*]] = arith.ori
// TILES-NEXT:          scf.if %[[MORE]] {
// TILES-NEXT:            gpu.barrier
// TILES-NEXT:          }

// Each lane loads four elements along k at once, for all sums of the item, and computes no
// product twice. Items are 1 x 2, 4 x 2, 1 x 8 or 4 x 8 sums. An extent of 128 along k needs
// no loop. A tile at the edge reads its last row again.
// PRODUCTS-LABEL: func.func private @cell.rows.stage0(
// PRODUCTS:         scf.if
// PRODUCTS:         %[[K:.*]] = arith.muli %{{.*}}, %c16_i32
// PRODUCTS-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// PRODUCTS:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// PRODUCTS-COUNT-8: math.fma
// PRODUCTS-NOT:     math.fma
// PRODUCTS:         } else {
// PRODUCTS-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// PRODUCTS-COUNT-3: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// PRODUCTS:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// PRODUCTS-COUNT-8: math.fma
// PRODUCTS-NOT:     math.fma
// PRODUCTS:         } else {
// PRODUCTS-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// PRODUCTS:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// PRODUCTS-COUNT-32: math.fma
// PRODUCTS-NOT:     math.fma
// PRODUCTS:         } else {
// PRODUCTS-NOT:     vector<4xf32>
// PRODUCTS:         arith.minsi %[[LAST:.*]], %c1_i32
// PRODUCTS:         arith.minsi %[[LAST]], %c2_i32
// PRODUCTS:         arith.minsi %[[LAST]], %c3_i32
// PRODUCTS-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// PRODUCTS-COUNT-3: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// PRODUCTS:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// PRODUCTS-COUNT-32: math.fma
// PRODUCTS-NOT:     math.fma
// PRODUCTS:         gpu.shuffle

// The lanes add up their partial sums. In each step, a lane sends half of its sums, and
// adds the sums that it receives to the other half. Finally, a lane has one sum. For a
// single row, the order of additions is the same. One of 16 lanes stores each of 1 x 2 sums.
// PARTS-LABEL: func.func private @cell.rows.stage0(
// PARTS:         %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i32
// PARTS:         %[[BIT:.*]] = arith.trunci %{{.*}} : i32 to i1
// PARTS-NEXT:    arith.select %[[BIT]]
// PARTS-NEXT:    %[[SEND:.*]] = arith.select %[[BIT]]
// PARTS-NEXT:    gpu.shuffle xor %[[SEND]], %c16_i32, %c32_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c8_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c4_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c2_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c1_i32
// PARTS-NOT:     gpu.shuffle
// PARTS:         %[[MEMBER:.*]] = arith.remui %[[LANE]], %c16_i32
// PARTS-NEXT:    %[[LEADER:.*]] = arith.cmpi slt, %[[MEMBER]], %c1_i32
// PARTS-NEXT:    scf.if %[[LEADER]] {
// PARTS:           llvm.store %{{.*}} f32, !llvm.ptr<3>
// PARTS:         } else {
// PARTS-COUNT-4: gpu.shuffle xor %{{.*}}, %c16_i32
// PARTS-NOT:     gpu.shuffle xor %{{.*}}, %c16_i32
// PARTS-COUNT-2: gpu.shuffle xor %{{.*}}, %c8_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c4_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c2_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c1_i32
// PARTS:         %[[OFQUAD:.*]] = arith.remui %[[LANE]], %c4_i32
// PARTS-NEXT:    arith.cmpi slt, %[[OFQUAD]], %c1_i32
// PARTS:         } else {
// PARTS-COUNT-4: gpu.shuffle xor %{{.*}}, %c16_i32
// PARTS-COUNT-2: gpu.shuffle xor %{{.*}}, %c8_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c4_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c2_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c1_i32
// PARTS-NOT:     gpu.shuffle
// PARTS:         } else {
// PARTS-COUNT-16: gpu.shuffle xor %{{.*}}, %c16_i32
// PARTS-COUNT-8: gpu.shuffle xor %{{.*}}, %c8_i32
// PARTS-COUNT-4: gpu.shuffle xor %{{.*}}, %c4_i32
// PARTS-COUNT-2: gpu.shuffle xor %{{.*}}, %c2_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c1_i32
// PARTS-NOT:     gpu.shuffle
// PARTS:         llvm.store %{{.*}} f32, !llvm.ptr<3>
// PARTS-LABEL: func.func private @narrow.rows.stage0
uprog.operator @cell.rows(%n: index, %x: tensor<?x128xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<64x128xf32> {uprog.operand = #uprog.operand<shared(0)>},
                          %b: tensor<64xf32> {uprog.operand = #uprog.operand<shared(1)>})
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y0 = linalg.matmul indexing_maps = [#x, #w, #y]
          ins(%x, %w : tensor<?x128xf32>, tensor<64x128xf32>)
          outs(%start : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #bias, #id],
                       iterator_types = ["parallel", "parallel"]}
         ins(%y0, %b : tensor<?x64xf32>, tensor<64xf32>)
         outs(%empty : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  uprog.yield %y : tensor<?x64xf32>
}

// -----

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// Six elements along k do not fill vectors, so two zeros follow them in the block's memory.
// Lanes read weights one by one, and use zeros past the end. Three columns do not fill a tile,
// so the last one is repeated.
// CHECK-LABEL: func.func private @narrow.rows.stage0
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             arith.remui %{{.*}}, %c2_i32
// CHECK:             llvm.store %[[ZERO:.*]], %{{.*}} : f32, !llvm.ptr<3>
// CHECK-NOT:     vector<{{.*}}ptr<1>
// CHECK:         gpu.barrier
// CHECK:         } else {
// CHECK:           arith.minsi %{{.*}}, %c2_i32
// CHECK-COUNT-32:  arith.select %{{.*}}, %{{.*}}, %[[ZERO]] : f32
// CHECK-COUNT-4:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-32:  math.fma
uprog.operator @narrow.rows(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
                            %w: tensor<3x6xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x6xf32>, tensor<3x6xf32>)
         outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  uprog.yield %y : tensor<?x3xf32>
}
