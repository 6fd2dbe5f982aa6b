// RUN: batch-opt %s --uprog-stage-operators=target=gpu --convert-operators-to-gpu=shared-memory=0 --split-input-file -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=TILES < %t.mlir
// RUN: FileCheck %s --check-prefix=PRODUCTS < %t.mlir
// RUN: FileCheck %s --check-prefix=PARTS < %t.mlir
// RUN: FileCheck %s --check-prefix=AFTER < %t.mlir

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#id = affine_map<(r, n) -> (r, n)>
#bias = affine_map<(r, n) -> (n)>

// Weights lie as B[n][k], on which lanes read side by side.
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [0], n = 64, k = 128, width = 1, transposed = true>,
// CHECK-SAME: #uprog.padded<parameter = 1>]}

// The operator stays, and says what the functions need.
// CHECK:      uprog.operator @cell.rows
// CHECK-SAME:   uprog.code = #uprog.code<stages = 1, task_scratch = 0>

// A block's column of tiles depends on the number of blocks alone; blocks that
// have the same one share its rows, tile by tile. A block's tiles are one list,
// one column of tiles after the other: its warps are at eight of it at a time,
// and those beyond its end compute the last one again.
// TILES-LABEL: func.func private @cell.rows.stage0(
// TILES-SAME:    %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[ARG2:.*]]: i64, %[[ARG3:.*]]: i64)
// TILES-DAG:     %[[C8:.*]] = arith.constant 8 : i64
// TILES-DAG:     %[[C32:.*]] = arith.constant 32 : i64
// TILES-DAG:     %[[C0:.*]] = arith.constant 0 : i64
// TILES-DAG:     %[[C1:.*]] = arith.constant 1 : i64
// TILES:         %[[ADDRESS2:.*]] = llvm.inttoptr %[[ARG2]]
// TILES:         %[[OPAQUE2:.*]] = llvm.intr.launder.invariant.group %[[ADDRESS2]]
// TILES:         %[[UNIT:.*]] = llvm.ptrtoint %[[OPAQUE2]]
// TILES:         %[[ADDRESS3:.*]] = llvm.inttoptr %[[ARG3]]
// TILES:         %[[OPAQUE3:.*]] = llvm.intr.launder.invariant.group %[[ADDRESS3]]
// TILES:         %[[UNITS:.*]] = llvm.ptrtoint %[[OPAQUE3]]
// TILES:         %[[WARP:.*]] = arith.divui %{{.*}}, %[[C32]]
// TILES:         %[[ACROSS:.*]] = arith.minsi %[[UNITS]], %[[C8]]
// TILES:         %[[FIRST:.*]] = arith.remui %[[UNIT]], %[[ACROSS]]
// TILES:         %[[SHARE:.*]] = arith.divui %[[UNIT]], %[[ACROSS]]
// TILES:         %[[SHARES:.*]] = arith.divui %{{.*}}, %[[ACROSS]]
// TILES:         %[[BEHIND:.*]] = arith.subi %{{.*}}, %[[SHARE]]
// TILES-NEXT:    %[[OWN:.*]] = arith.maxsi %[[BEHIND]], %[[C0]]
// TILES:         %[[DIVISOR:.*]] = arith.trunci %[[SHARES]]
// TILES:         arith.divui %{{.*}}, %[[DIVISOR]] : i32
// TILES-NEXT:    %[[ROWS:.*]] = arith.extui %[[ROWS32:.*]] : i32
// TILES-NEXT:    %[[COLUMNS:.*]] = arith.subi %[[C8]], %[[FIRST]]
// TILES:         %[[STEP:.*]] = arith.trunci %[[ACROSS]]
// TILES:         arith.divui %{{.*}}, %[[STEP]] : i32
// TILES-NEXT:    %[[TURNS:.*]] = arith.extui
// TILES-NEXT:    %[[ALL:.*]] = arith.muli %[[ROWS]], %[[TURNS]]
// TILES-NEXT:    scf.for %[[AT:.*]] = %[[C0]] to %[[ALL]] step %[[C8]]
// TILES-NEXT:      %[[LEFT:.*]] = arith.subi %[[ALL]], %[[AT]]
// TILES-NEXT:      %[[WORKS:.*]] = arith.cmpi slt, %[[WARP]], %[[LEFT]]
// TILES:           %[[END:.*]] = arith.subi %[[ALL]], %[[C1]]
// TILES-NEXT:      %[[OWNTILE:.*]] = arith.addi %[[AT]], %[[WARP]]
// TILES-NEXT:      %[[TILE:.*]] = arith.minsi %[[OWNTILE]], %[[END]]
// TILES-NEXT:      %[[DIVIDED:.*]] = arith.trunci %[[TILE]]
// TILES-NEXT:      arith.divui %[[DIVIDED]], %[[ROWS32]] : i32
// TILES-NEXT:      %[[TURN:.*]] = arith.extui
// TILES-NEXT:      %[[DONE:.*]] = arith.muli %[[TURN]], %[[ROWS]]
// TILES-NEXT:      %[[REST:.*]] = arith.subi %[[TILE]], %[[DONE]]
// TILES-NEXT:      %[[AFAR:.*]] = arith.muli %[[REST]], %[[SHARES]]
// TILES-NEXT:      %[[ROW:.*]] = arith.addi %[[AFAR]], %[[SHARE]]
// TILES-NEXT:      %[[ASIDE:.*]] = arith.muli %[[TURN]], %[[ACROSS]]
// TILES-NEXT:      %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[ASIDE]]
// TILES-NEXT:      arith.muli %[[COLUMN]], %[[C8]]
// TILES-NEXT:      arith.muli %[[ROW]], %{{.*}}

// Lanes take four of k each, in one load, of all 4 x 8 sums of the tile, and
// compute no product twice.
// PRODUCTS-LABEL: func.func private @cell.rows.stage0(
// PRODUCTS-DAG:     %[[C4:.*]] = arith.constant 4 : i64
// PRODUCTS-DAG:     %[[C32:.*]] = arith.constant 32 : i64
// PRODUCTS-DAG:     %[[C128:.*]] = arith.constant 128 : i64
// PRODUCTS:         %[[LANE:.*]] = arith.remui %{{.*}}, %[[C32]]
// PRODUCTS:         %[[K:.*]] = arith.muli %[[LANE]], %[[C4]]
// PRODUCTS:         scf.for %{{.*}} = %[[K]] to %[[C128]] step %[[C128]]
// PRODUCTS-COUNT-8:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// PRODUCTS-COUNT-128: math.fma
// PRODUCTS-NOT:       math.fma
// PRODUCTS:           scf.yield

// The parts of the lanes are added up: each step halves the sums that a lane has,
// sends the others away and adds what comes. Behind it a lane has one sum.
// PARTS-LABEL: func.func private @cell.rows.stage0(
// PARTS:         %[[SUMS:.*]]:32 = scf.for
// PARTS:         %[[BIT:.*]] = arith.trunci %{{.*}} : i64 to i1
// PARTS:         %[[KEEP:.*]] = arith.select %[[BIT]], %[[SUMS]]#16, %[[SUMS]]#0
// PARTS-NEXT:    %[[SEND:.*]] = arith.select %[[BIT]], %[[SUMS]]#0, %[[SUMS]]#16
// PARTS-NEXT:    %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[SEND]], %c16_i32, %c32_i32
// PARTS-NEXT:    arith.addf %[[KEEP]], %[[OTHER]]
// PARTS:         gpu.shuffle xor %{{.*}}, %c8_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c4_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c2_i32
// PARTS:         gpu.shuffle xor %{{.*}}, %c1_i32
// PARTS-NOT:     gpu.shuffle
// PARTS-LABEL: func.func private @narrow.rows.stage0

// What follows is one element a lane; those over the edge store nothing, nor do
// warps without a tile, which compute no product either.
// AFTER-LABEL: func.func private @cell.rows.stage0(
// AFTER:         %[[WORKS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// AFTER:         %[[LEADS:.*]] = arith.andi %[[WORKS]], %{{.*}} : i1
// AFTER:         %[[INSIDE:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// AFTER-NEXT:    %[[VALID:.*]] = arith.andi %[[LEADS]], %[[INSIDE]] : i1
// AFTER:         %[[MINE:.*]] = arith.andi %[[WORKS]], %{{.*}} : i1
// AFTER-NEXT:    %[[SUM:.*]] = scf.if %[[MINE]] -> (f32)
// AFTER:           gpu.shuffle xor %{{.*}}, %c1_i32
// AFTER:           %[[OWN:.*]] = arith.addf
// AFTER-NEXT:      scf.yield %[[OWN]]
// AFTER:         scf.if %[[VALID]] {
// AFTER:           %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// AFTER-NEXT:      %[[S:.*]] = arith.addf %[[SUM]], %[[B]] : f32
// AFTER-NEXT:      %[[T:.*]] = math.tanh %[[S]] : f32
// AFTER:           llvm.store %[[T]], %{{.*}} : f32, !llvm.ptr<1>
// AFTER-NOT:     stage1
// AFTER-LABEL: func.func private @narrow.rows.stage0
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

// Six of k do not fill vectors: lanes take one each. Three columns do not fill
// a tile: its fourth is the last one again.
// CHECK-LABEL: func.func private @narrow.rows.stage0
// CHECK-COUNT-4:   arith.minsi %{{.*}}, %[[LAST:.*]] : i64
// CHECK:           scf.for {{.*}} -> (f32,
// CHECK-NOT:         vector<
// CHECK-COUNT-32:    math.fma
// CHECK-NOT:         math.fma
// CHECK:             scf.yield
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
