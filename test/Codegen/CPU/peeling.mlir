// RUN: batch-opt %s --uprog-stage-operators=vector-bits=256 --convert-operators-to-cpu=vector-registers=16 | FileCheck %s --implicit-check-not=llvm.intr.masked

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>

// The last rows of a batch form a smaller tile of static size, which is selected
// once. The code does not check the bounds of tiles or rows. Columns past
// the end are in the padding of rows.
// CHECK-LABEL: func.func private @batch.tiles.v2.
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     arith.minsi
// CHECK-NOT:     scf.if
// CHECK:         scf.index_switch
// CHECK:         case 1 {
// CHECK:           call @batch.tile.1x4x2.
// CHECK:           call @batch.tile.1x1x2.
// CHECK:         case 2 {
// CHECK:           call @batch.tile.2x2x2.
// CHECK:           call @batch.tile.2x1x2.
// CHECK:         case 3 {
// CHECK:           call @batch.tile.3x2x2.
// CHECK:           call @batch.tile.3x1x2.
// CHECK:         case 4 {
// CHECK:           call @batch.tile.4x1x2.
// CHECK:         case 5 {
// CHECK:           call @batch.tile.5x1x2.
// CHECK:         case 6 {
// CHECK:           call @batch.tile.6x1x2.
// CHECK-NOT:     case
// CHECK:         return
// CHECK-LABEL: func.func private @batch.tile.1x4x2.
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     scf.if
// CHECK:         return
// CHECK-LABEL: func.func private @batch.tile.6x1x2.
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     scf.if
// CHECK-COUNT-12: vector.fma
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     scf.if
// CHECK:         return
uprog.operator @cell.rows(%n: index, %x: tensor<?x20xf32> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<40x20xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<?x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x40xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x40xf32>) -> tensor<?x40xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
         ins(%x, %w : tensor<?x20xf32>, tensor<40x20xf32>)
         outs(%start : tensor<?x40xf32>) -> tensor<?x40xf32>
  uprog.yield %y : tensor<?x40xf32>
}
