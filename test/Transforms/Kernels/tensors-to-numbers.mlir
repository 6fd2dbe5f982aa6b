// RUN: batch-opt %s --split-input-file --batch-tensors-to-numbers | FileCheck %s

// Loops carry the elements, and each element has its own operations.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>, %[[BOUND:.*]]: tensor<f32>) -> tensor<2xf32>
// CHECK-DAG:     %[[X0:.*]] = tensor.extract %[[X]][%c0
// CHECK-DAG:     %[[X1:.*]] = tensor.extract %[[X]][%c1
// CHECK-DAG:     %[[B:.*]] = tensor.extract %[[BOUND]][]
// CHECK:         %[[R:.*]]:2 = scf.while (%[[A0:.*]] = %[[X0]], %[[A1:.*]] = %[[X1]]) : (f32, f32) -> (f32, f32)
// CHECK:           arith.cmpf olt, %[[A0]], %[[B]] : f32
// CHECK:         ^bb0(%[[C0:.*]]: f32, %[[C1:.*]]: f32):
// CHECK:           %[[N0:.*]] = arith.addf %[[C0]], %[[C0]] : f32
// CHECK:           %[[N1:.*]] = arith.addf %[[C1]], %[[C1]] : f32
// CHECK:           scf.yield %[[N0]], %[[N1]] : f32, f32
// CHECK:         tensor.from_elements %[[R]]#0, %[[R]]#1 : tensor<2xf32>
func.func @loop(%x: tensor<2xf32>, %bound: tensor<f32>) -> tensor<2xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %c0 = arith.constant 0 : index
  %b = tensor.extract %bound[] : tensor<f32>
  %y = scf.while (%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    %e = tensor.extract %a[%c0] : tensor<2xf32>
    %go = arith.cmpf olt, %e, %b : f32
    scf.condition(%go) %a : tensor<2xf32>
  } do {
  ^bb0(%a: tensor<2xf32>):
    %n = arith.addf %a, %a : tensor<2xf32>
    scf.yield %n : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// -----

// A reduction becomes scalar additions, one element after the other.
// CHECK-LABEL: func.func @reduce
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[S0:.*]] = arith.addf %{{.*}}, %[[ZERO]] : f32
// CHECK:         %[[S1:.*]] = arith.addf %[[S0]], %{{.*}} : f32
// CHECK:         %[[S2:.*]] = arith.addf %[[S1]], %{{.*}} : f32
// CHECK-NOT:     linalg
// CHECK:         tensor.from_elements %[[S2]] : tensor<f32>
func.func @reduce(%x: tensor<3xf32>) -> tensor<f32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<3xf32>) outs(%init : tensor<f32>)
      dimensions = [0]
  return %sum : tensor<f32>
}

// -----

// Slices and reshapes move elements. A concatenation by index reads known elements.
// CHECK-LABEL: func.func @places
// CHECK-DAG:     %[[X0:.*]] = tensor.extract %arg0[%c0{{.*}}]
// CHECK-DAG:     %[[X1:.*]] = tensor.extract %arg0[%c1{{.*}}]
// CHECK-DAG:     %[[Y:.*]] = tensor.extract %arg1[]
// CHECK-NOT:     arith.select
// CHECK:         tensor.from_elements %[[X1]], %[[Y]], %[[X0]] : tensor<3xf32>
#map = affine_map<(d0) -> (d0)>
func.func @places(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<3xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %last = tensor.extract_slice %x[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %first = tensor.extract_slice %x[0] [1] [1] : tensor<2xf32> to tensor<1xf32>
  %wide = tensor.expand_shape %y [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %pair = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]}
      outs(%empty : tensor<2xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %less = arith.cmpi ult, %i, %one : index
    %e = tensor.extract %last[%i] : tensor<1xf32>
    %j = arith.subi %i, %one : index
    %f = tensor.extract %wide[%j] : tensor<1xf32>
    %chosen = arith.select %less, %e, %f : f32
    linalg.yield %chosen : f32
  } -> tensor<2xf32>
  %init = tensor.empty() : tensor<3xf32>
  %two = tensor.insert_slice %pair into %init[0] [2] [1] : tensor<2xf32> into tensor<3xf32>
  %all = tensor.insert_slice %first into %two[2] [1] [1] : tensor<1xf32> into tensor<3xf32>
  return %all : tensor<3xf32>
}

// -----

// Branches and counted loops carry the elements. A parameter of few elements becomes scalars.
// CHECK-LABEL: func.func @control
// CHECK:         %[[P:.*]] = tensor.extract %arg1[%{{.*}}] : tensor<1xf32>
// CHECK:         %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (f32) {
// CHECK:           %[[B:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:             arith.mulf %[[A]], %[[P]] : f32
// CHECK:           } else {
// CHECK:             scf.yield %[[A]] : f32
// CHECK:           scf.yield %[[B]] : f32
// CHECK:         tensor.from_elements %[[R]] : tensor<1xf32>
func.func @control(%x: tensor<1xf32>, %w: tensor<1xf32> {batch.shared = "W"}, %n: index)
    -> tensor<1xf32>
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %bound = arith.constant 4.0 : f32
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<1xf32> {
    %e = tensor.extract %a[%zero] : tensor<1xf32>
    %less = arith.cmpf olt, %e, %bound : f32
    %b = scf.if %less -> tensor<1xf32> {
      %c = arith.mulf %a, %w : tensor<1xf32>
      scf.yield %c : tensor<1xf32>
    } else {
      scf.yield %a : tensor<1xf32>
    }
    scf.yield %b : tensor<1xf32>
  }
  return %y : tensor<1xf32>
}

// -----

// A body may yield numbers from outside, and compute with them.
// CHECK-LABEL: func.func @captured
// CHECK-SAME:    (%[[N:.*]]: f32)
// CHECK:         %[[S:.*]] = arith.addf %[[N]], %[[N]] : f32
// CHECK:         tensor.from_elements %[[N]] : tensor<1xf32>
// CHECK:         tensor.from_elements %[[S]] : tensor<1xf32>
#one = affine_map<(d0) -> (d0)>
func.func @captured(%n: f32) -> (tensor<1xf32>, tensor<1xf32>)
    attributes {batch.entry, batch.per_unit, batch.strategy = #batch.strategy<replicate>} {
  %empty = tensor.empty() : tensor<1xf32>
  %x = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]}
      outs(%empty : tensor<1xf32>) {
  ^bb0(%out: f32):
    linalg.yield %n : f32
  } -> tensor<1xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<1xf32>) outs(%empty : tensor<1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %n : f32
    linalg.yield %sum : f32
  } -> tensor<1xf32>
  return %x, %y : tensor<1xf32>, tensor<1xf32>
}

// -----

// A program without `batch.per_unit` remains unchanged.
// CHECK-LABEL: func.func @other
// CHECK:         math.tanh %{{.*}} : tensor<2xf32>
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %y = math.tanh %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
