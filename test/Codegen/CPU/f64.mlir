// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu | FileCheck %s
// RUN: batch-opt %s --uprog-stage-operators=vector-bits=256 --convert-operators-to-cpu=vector-registers=16 | FileCheck %s --check-prefix=AVX2

#x = affine_map<(r, n, k) -> (r, k)>
#w = affine_map<(r, n, k) -> (n, k)>
#y = affine_map<(r, n, k) -> (r, n)>
#all = affine_map<(r, i) -> (r, i)>
#row = affine_map<(r, i) -> (r)>

// Both packings of a matrix of f64 are panels, half as wide as those of f32.
// CHECK: module attributes {uprog.packings = [
// CHECK-SAME: #uprog.panels<parameters = [0], n = 40, k = 20, width = 16, transposed = true>,
// CHECK-SAME: #uprog.panels<parameters = [0], n = 20, k = 40, width = 16>
// AVX2: width = 8

// CHECK-LABEL: func.func private @both.rows.stage0
// CHECK:         call @batch.tiles.v2.f64
uprog.operator @both.rows(%n: index, %x: tensor<?x20xf64> {uprog.operand = #uprog.operand<gather>},
                          %z: tensor<?x40xf64> {uprog.operand = #uprog.operand<gather>},
                          %w: tensor<40x20xf64> {uprog.operand = #uprog.operand<shared(0)>})
    -> (tensor<?x40xf64>, tensor<?x20xf64>) {
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty(%n) : tensor<?x40xf64>
  %s0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<?x40xf64>) -> tensor<?x40xf64>
  %y0 = linalg.matmul indexing_maps = [#x, #w, #y]
          ins(%x, %w : tensor<?x20xf64>, tensor<40x20xf64>)
          outs(%s0 : tensor<?x40xf64>) -> tensor<?x40xf64>
  %e1 = tensor.empty(%n) : tensor<?x20xf64>
  %s1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<?x20xf64>) -> tensor<?x20xf64>
  %y1 = linalg.matmul ins(%z, %w : tensor<?x40xf64>, tensor<40x20xf64>)
          outs(%s1 : tensor<?x20xf64>) -> tensor<?x20xf64>
  uprog.yield %y0, %y1 : tensor<?x40xf64>, tensor<?x20xf64>
}

// The vector lanes of a dot product of two operands run along the reduction.
// CHECK-LABEL: func.func private @dot.rows.stage0
// CHECK:         vector.fma %{{.*}} : vector<8xf64>
// CHECK-NOT:     arith.mulf
// AVX2-LABEL:  func.func private @dot.rows.stage0
// AVX2:          vector.fma %{{.*}} : vector<4xf64>
uprog.operator @dot.rows(%n: index, %x: tensor<?x40xf64> {uprog.operand = #uprog.operand<gather>},
                         %y: tensor<?x40xf64> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %s = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %d = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x, %y : tensor<?x40xf64>, tensor<?x40xf64>) outs(%s : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %q = arith.addf %o, %p : f64
    linalg.yield %q : f64
  } -> tensor<?xf64>
  uprog.yield %d : tensor<?xf64>
}

// The widest elements of rows determine the number of lanes of all vectors in an operator.
// Scalars of the tasks, such as positions, do not make vectors narrower.
// CHECK-LABEL: func.func private @mixed.rows.stage0
// CHECK:         arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
// CHECK-LABEL: func.func private @scalars.rows.stage0
// CHECK:         arith.mulf %{{.*}} : vector<16xf32>
uprog.operator @mixed.rows(%n: index, %x: tensor<?x40xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x40xf64> {
  %y = arith.extf %x : tensor<?x40xf32> to tensor<?x40xf64>
  uprog.yield %y : tensor<?x40xf64>
}
uprog.operator @scalars.rows(%n: index, %x: tensor<?x40xf32> {uprog.operand = #uprog.operand<gather>},
                             %s: tensor<?xf64> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x40xf32> {
  %t = arith.truncf %s : tensor<?xf64> to tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?x40xf32>
  %b = linalg.broadcast ins(%t : tensor<?xf32>) outs(%e : tensor<?x40xf32>) dimensions = [1]
  %y = arith.mulf %x, %b : tensor<?x40xf32>
  uprog.yield %y : tensor<?x40xf32>
}

// Other types in an operator do not change the number of partial results of a
// reduction, so the reduction has the same order. Here, there are 64 partial results in eight vectors.
// CHECK-LABEL: func.func private @with_f64.rows.stage
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-LABEL: func.func private @without_f64.rows.stage0
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
uprog.operator @with_f64.rows(%n: index, %x: tensor<?x80xf32> {uprog.operand = #uprog.operand<gather>}) -> (tensor<?xf32>, tensor<?x80xf64>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %d = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<?x80xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.addf %o, %a : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %w = arith.extf %x : tensor<?x80xf32> to tensor<?x80xf64>
  uprog.yield %d, %w : tensor<?xf32>, tensor<?x80xf64>
}
uprog.operator @without_f64.rows(%n: index, %x: tensor<?x80xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %d = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<?x80xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.addf %o, %a : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  uprog.yield %d : tensor<?xf32>
}

// Tiles of f64 fill the registers like tiles of f32.
// CHECK-LABEL: func.func private @batch.tile.1x4x2.f64.a
// CHECK:         vector.broadcast %{{.*}} : f64 to vector<8xf64>
// CHECK-COUNT-8: vector.fma %{{.*}} : vector<8xf64>
// CHECK-NEXT:    scf.yield
// CHECK-LABEL: func.func private @batch.tile.12x1x2.f64.a
// CHECK-COUNT-24: vector.fma %{{.*}} : vector<8xf64>
// CHECK-NOT:      vector.fma
// CHECK:          return
