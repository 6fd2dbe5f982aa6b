// RUN: batch-opt %s --batch-widen-reductions --split-input-file | FileCheck %s

#id = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>

// Products are added in f32, and the sums are rounded once. Operands remain bf16.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[W:.*]]: tensor<4x8xbf16>, %[[X:.*]]: tensor<8xbf16>, %[[B:.*]]: tensor<4xbf16>
// CHECK:       %[[INIT:.*]] = arith.extf %[[B]] : tensor<4xbf16> to tensor<4xf32>
// CHECK:       %[[SUM:.*]] = linalg.generic
// CHECK-SAME:    iterator_types = ["parallel", "reduction"]
// CHECK-SAME:    ins(%[[W]], %[[X]] : tensor<4x8xbf16>, tensor<8xbf16>) outs(%[[INIT]] : tensor<4xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: bf16, %[[C:.*]]: bf16, %[[ACC:.*]]: f32):
// CHECK-DAG:     %[[A1:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-DAG:     %[[C1:.*]] = arith.extf %[[C]] : bf16 to f32
// CHECK:         %[[P:.*]] = arith.mulf %[[A1]], %[[C1]] : f32
// CHECK:         %[[S:.*]] = arith.addf %[[ACC]], %[[P]] : f32
// CHECK:         linalg.yield %[[S]] : f32
// CHECK:       %[[Y:.*]] = arith.truncf %[[SUM]] : tensor<4xf32> to tensor<4xbf16>
// CHECK:       return %[[Y]]
func.func @product(%W: tensor<4x8xbf16>, %x: tensor<8xbf16>, %b: tensor<4xbf16>)
    -> tensor<4xbf16> {
  %y = linalg.matvec ins(%W, %x : tensor<4x8xbf16>, tensor<8xbf16>)
                     outs(%b : tensor<4xbf16>) -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// A filled start value remains filled.
// CHECK-LABEL: func.func @from_zero
// CHECK:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:       %[[EMPTY:.*]] = tensor.empty() : tensor<f32>
// CHECK:       %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]] : tensor<f32>)
// CHECK:       linalg.generic {{.*}} outs(%[[FILL]] : tensor<f32>)
func.func @from_zero(%x: tensor<8xf16>) -> tensor<f16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<f16>
  %s = linalg.fill ins(%zero : f16) outs(%e : tensor<f16>) -> tensor<f16>
  %y = linalg.dot ins(%x, %x : tensor<8xf16>, tensor<8xf16>) outs(%s : tensor<f16>)
         -> tensor<f16>
  return %y : tensor<f16>
}

// The whole body computes in f32, even with constants and values from outside. A
// rounding in the source remains.
// CHECK-LABEL: func.func @body
// CHECK-SAME:    %{{.*}}: tensor<8xf16>, %[[F:.*]]: f16
// CHECK:       linalg.generic
// CHECK:       ^bb0(%[[A:.*]]: f16, %[[ACC:.*]]: f32):
// CHECK-DAG:     %[[A1:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-DAG:     %[[F1:.*]] = arith.extf %[[F]] : f16 to f32
// CHECK:         %[[M:.*]] = arith.mulf %[[A1]], %[[F1]] : f32
// CHECK:         %[[E:.*]] = math.exp %[[M]] : f32
// CHECK:         %[[C:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:         %[[D:.*]] = arith.divf %[[E]], %[[C]] : f32
// CHECK:         %[[WIDE:.*]] = arith.extf %[[D]] : f32 to f64
// CHECK:         %[[R:.*]] = arith.truncf %[[WIDE]] : f64 to f16
// CHECK:         %[[R1:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK:         %[[S:.*]] = arith.addf %[[ACC]], %[[R1]] : f32
// CHECK:         linalg.yield %[[S]] : f32
func.func @body(%x: tensor<8xf16>, %f: f16, %s: tensor<f16>) -> tensor<f16> {
  %y = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
         ins(%x : tensor<8xf16>) outs(%s : tensor<f16>) {
  ^bb0(%a: f16, %acc: f16):
    %c = arith.constant 3.0 : f16
    %m = arith.mulf %a, %f : f16
    %e = math.exp %m : f16
    %d = arith.divf %e, %c : f16
    %wide = arith.extf %d : f16 to f64
    %r = arith.truncf %wide : f64 to f16
    %sum = arith.addf %acc, %r : f16
    linalg.yield %sum : f16
  } -> tensor<f16>
  return %y : tensor<f16>
}

// Results of types other than f16 and bf16 remain unchanged.
// CHECK-LABEL: func.func @argmax
// CHECK:       %[[R:.*]]:2 = linalg.generic
// CHECK-SAME:    outs(%{{.*}}, %{{.*}} : tensor<f32>, tensor<i64>)
// CHECK:         %[[MORE:.*]] = arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
// CHECK:         arith.select %[[MORE]], %{{.*}}, %{{.*}} : f32
// CHECK:         arith.select %[[MORE]], %{{.*}}, %{{.*}} : i64
// CHECK:       %[[MOST:.*]] = arith.truncf %[[R]]#0 : tensor<f32> to tensor<bf16>
// CHECK:       return %[[MOST]], %[[R]]#1 : tensor<bf16>, tensor<i64>
func.func @argmax(%x: tensor<8xbf16>, %least: tensor<bf16>, %none: tensor<i64>)
    -> (tensor<bf16>, tensor<i64>) {
  %most, %where = linalg.generic
      {indexing_maps = [#id, #one, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<8xbf16>) outs(%least, %none : tensor<bf16>, tensor<i64>) {
  ^bb0(%a: bf16, %best: bf16, %at: i64):
    %i = linalg.index 0 : index
    %now = arith.index_cast %i : index to i64
    %more = arith.cmpf ogt, %a, %best : bf16
    %v = arith.select %more, %a, %best : bf16
    %w = arith.select %more, %now, %at : i64
    linalg.yield %v, %w : bf16, i64
  } -> (tensor<bf16>, tensor<i64>)
  return %most, %where : tensor<bf16>, tensor<i64>
}

// Ops that do not reduce to f16 or bf16 remain unchanged.
// CHECK-LABEL: func.func @others
// CHECK-NEXT:  linalg.matvec {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT:  linalg.matvec {{.*}} outs(%{{.*}} : tensor<4xi32>)
// CHECK-NEXT:  linalg.add
// CHECK-NEXT:  return
func.func @others(%W: tensor<4x8xf16>, %x: tensor<8xf16>, %b: tensor<4xf32>,
                  %V: tensor<4x8xi8>, %v: tensor<8xi8>, %c: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xi32>, tensor<8xf16>) {
  %y = linalg.matvec ins(%W, %x : tensor<4x8xf16>, tensor<8xf16>)
                     outs(%b : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.matvec ins(%V, %v : tensor<4x8xi8>, tensor<8xi8>)
                     outs(%c : tensor<4xi32>) -> tensor<4xi32>
  %s = linalg.add ins(%x, %x : tensor<8xf16>, tensor<8xf16>)
                  outs(%x : tensor<8xf16>) -> tensor<8xf16>
  return %y, %z, %s : tensor<4xf32>, tensor<4xi32>, tensor<8xf16>
}
