// RUN: batch-opt %s --batch-flatten-bodies | FileCheck %s
// RUN: batch-run %s --inputs=random:1,5 --check-unbatched | FileCheck %s --check-prefix=SAME
// RUN: batch-run %s --inputs=random:1,5 --check-unbatched=1e-6 --device=emulator | FileCheck %s --check-prefix=SAME

// SAME: unbatched: the same, largest relative error 0

#one = affine_map<(d0) -> (d0)>

// A concatenation as front ends write it: an element of one tensor or the other. The
// index of a branch that is not taken is 0.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<3xi32> {{.*}}, %[[Y:[a-z0-9]*]]: tensor<2xi32>
// CHECK:         linalg.generic
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[FIRST:.*]] = arith.cmpi ult, %[[I]]
// CHECK:           %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:           %[[AT:.*]] = arith.select %[[FIRST]], %[[I]], %[[ZERO]] : index
// CHECK:           %[[A:.*]] = tensor.extract %[[X]][%[[AT]]]
// CHECK:           %[[REST:.*]] = arith.subi %[[I]]
// CHECK:           %[[ZERO:.*]] = arith.constant 0 : index
// CHECK:           %[[AT:.*]] = arith.select %[[FIRST]], %[[ZERO]], %[[REST]] : index
// CHECK:           %[[B:.*]] = tensor.extract %[[Y]][%[[AT]]]
// CHECK:           %[[E:.*]] = arith.select %[[FIRST]], %[[A]], %[[B]] : i32
// CHECK:           linalg.yield %[[E]]
// Inner conditionals are flattened first. A division by zero is not computed.
// CHECK:         linalg.generic
// CHECK-NOT:       scf.if
// CHECK:           %[[NOT_ZERO:.*]] = arith.cmpi ne
// CHECK:           %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:           %[[BY:.*]] = arith.select %[[NOT_ZERO]], %{{.*}}, %[[ONE]] : i32
// CHECK:           %[[BY2:.*]] = arith.select %{{.*}}, %[[BY]], %{{.*}} : i32
// CHECK:           arith.divsi %{{.*}}, %[[BY2]] : i32
// CHECK-NOT:       scf.if
// CHECK:           linalg.yield
func.func @main(%x: tensor<3xi32> {batch.name = "x"}, %y: tensor<2xi32> {batch.name = "y"})
    -> (tensor<5xi32> {batch.name = "all"}, tensor<3xi32> {batch.name = "divided"})
    attributes {batch.entry} {
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %empty = tensor.empty() : tensor<5xi32>
  %empty3 = tensor.empty() : tensor<3xi32>
  %all = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]}
      outs(%empty : tensor<5xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %first = arith.cmpi ult, %i, %c3 : index
    %e = scf.if %first -> (i32) {
      %a = tensor.extract %x[%i] : tensor<3xi32>
      scf.yield %a : i32
    } else {
      %rest = arith.subi %i, %c3 : index
      %b = tensor.extract %y[%rest] : tensor<2xi32>
      scf.yield %b : i32
    }
    linalg.yield %e : i32
  } -> tensor<5xi32>
  %divided = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<3xi32>) outs(%empty3 : tensor<3xi32>) {
  ^bb0(%a: i32, %out: i32):
    %some = arith.cmpi ne, %a, %zero : i32
    %few = arith.cmpi slt, %a, %four : i32
    %e = scf.if %few -> (i32) {
      %f = scf.if %some -> (i32) {
        %d = arith.divsi %four, %a : i32
        scf.yield %d : i32
      } else {
        scf.yield %zero : i32
      }
      scf.yield %f : i32
    } else {
      scf.yield %a : i32
    }
    linalg.yield %e : i32
  } -> tensor<3xi32>
  return %all, %divided : tensor<5xi32>, tensor<3xi32>
}

// A tensor that may have no elements cannot be read at index 0, so the conditional remains.
// CHECK-LABEL: func.func @dynamic
// CHECK:         scf.if
// CHECK:           tensor.extract
func.func @dynamic(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %z = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%b: f32, %out: f32):
    %i = linalg.index 0 : index
    %inside = arith.cmpi ult, %i, %n : index
    %e = scf.if %inside -> (f32) {
      %a = tensor.extract %x[%i] : tensor<?xf32>
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// If a condition excludes an element, a reduction uses its neutral element instead,
// provided that repeating an element does not change the result.
// CHECK-LABEL: func.func @first
// CHECK:         linalg.generic
// CHECK:         ^bb0(%{{.*}}: f32, %[[SO_FAR:.*]]: i32):
// CHECK:           %[[NEUTRAL:.*]] = arith.constant 2147483647 : i32
// CHECK:           %[[WORD:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NEUTRAL]]
// CHECK:           arith.minsi %[[WORD]], %[[SO_FAR]]
// CHECK:         linalg.generic
// CHECK:         ^bb0(%{{.*}}: f32, %[[SO_FAR:.*]]: f32):
// CHECK:           %[[NEUTRAL:.*]] = arith.constant 0xFF800000 : f32
// CHECK:           %[[SCORE:.*]] = arith.select %{{.*}}, %[[NEUTRAL]], %{{.*}} : f32
// CHECK:           arith.maximumf %[[SO_FAR]], %[[SCORE]]
// CHECK:         linalg.generic
// CHECK:         ^bb0(%{{.*}}: f32, %[[SO_FAR:.*]]: f32):
// CHECK:           %[[SCORE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SO_FAR]] : f32
// CHECK:           arith.addf %[[SO_FAR]], %[[SCORE]]
// CHECK:         linalg.generic
// CHECK:         ^bb0(%{{.*}}: f32, %[[SO_FAR:.*]]: f32):
// CHECK:           %[[SCORE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SO_FAR]] : f32
// CHECK:           arith.maxnumf %[[SO_FAR]], %[[SCORE]]
#whole = affine_map<(d0) -> ()>
func.func @first(%x: tensor<9xf32>, %a: tensor<i32>, %b: tensor<f32>)
    -> (tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %word = linalg.generic {indexing_maps = [#one, #whole], iterator_types = ["reduction"]}
      ins(%x : tensor<9xf32>) outs(%a : tensor<i32>) {
  ^bb0(%e: f32, %so_far: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %is = arith.cmpf ogt, %e, %zero : f32
    %candidate = arith.select %is, %n, %so_far : i32
    %least = arith.minsi %candidate, %so_far : i32
    linalg.yield %least : i32
  } -> tensor<i32>
  %most = linalg.generic {indexing_maps = [#one, #whole], iterator_types = ["reduction"]}
      ins(%x : tensor<9xf32>) outs(%b : tensor<f32>) {
  ^bb0(%e: f32, %so_far: f32):
    %is = arith.cmpf ogt, %e, %zero : f32
    %candidate = arith.select %is, %so_far, %e : f32
    %larger = arith.maximumf %so_far, %candidate : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  %twice = linalg.generic {indexing_maps = [#one, #whole], iterator_types = ["reduction"]}
      ins(%x : tensor<9xf32>) outs(%b : tensor<f32>) {
  ^bb0(%e: f32, %so_far: f32):
    %is = arith.cmpf ogt, %e, %zero : f32
    %candidate = arith.select %is, %e, %so_far : f32
    %sum = arith.addf %so_far, %candidate : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  // The neutral element is not used: maxnumf of NaN and the neutral element is not NaN.
  %number = linalg.generic {indexing_maps = [#one, #whole], iterator_types = ["reduction"]}
      ins(%x : tensor<9xf32>) outs(%b : tensor<f32>) {
  ^bb0(%e: f32, %so_far: f32):
    %is = arith.cmpf ogt, %e, %zero : f32
    %candidate = arith.select %is, %e, %so_far : f32
    %larger = arith.maxnumf %so_far, %candidate : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %word, %most, %twice, %number
      : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// Rows at positions in a ragged list: the positions become an operand of the op.
// CHECK-LABEL: func.func private @rows_at
//  CHECK-SAME: (%[[AT:.*]]: tensor<?x1xi32>, %[[E:.*]]: tensor<9x4xf32>)
//       CHECK:   %[[PLACES:.*]] = tensor.collapse_shape %[[AT]] {{\[\[0, 1\]\]}}
//       CHECK:   linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], {{.*}} ins(%[[PLACES]] : tensor<?xi32>)
//  CHECK-NEXT:   ^bb0(%[[P:.*]]: i32, %{{.*}}: f32):
//   CHECK-NOT:     linalg.index 0
//       CHECK:     tensor.extract %[[E]]
func.func private @rows_at(%at: tensor<?x1xi32>, %E: tensor<9x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %at, %c0 : tensor<?x1xi32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x4xf32>) {
  ^bb0(%o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %p = tensor.extract %at[%r, %c0] : tensor<?x1xi32>
    %i = arith.index_cast %p : i32 to index
    %v = tensor.extract %E[%i, %c] : tensor<9x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %g : tensor<?x4xf32>
}

// A list that may have a different length is read in place: its positions are not those of the
// loop.
// CHECK-LABEL: func.func private @of_another_length
//  CHECK-SAME: (%[[X:.*]]: tensor<?xi32>, %[[AT:.*]]: tensor<?xi32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[X]] : tensor<?xi32>)
//       CHECK:     tensor.extract %[[AT]]
func.func private @of_another_length(%x: tensor<?xi32>, %at: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %g = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%i: i32, %o: i32):
    %r = linalg.index 0 : index
    %p = tensor.extract %at[%r] : tensor<?xi32>
    %s = arith.addi %p, %i : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %g : tensor<?xi32>
}

// A tensor computed from each element of a list is as long as the list, so it becomes an operand.
// CHECK-LABEL: func.func private @of_a_copy
//       CHECK:   %[[COPY:.*]] = linalg.generic
//       CHECK:   linalg.generic {{.*}} ins(%{{.*}}, %[[COPY]] : tensor<?xi32>, tensor<?xi32>)
//   CHECK-NOT:     tensor.extract
func.func private @of_a_copy(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %copy = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%y : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%i: i32, %o: i32):
    linalg.yield %i : i32
  } -> tensor<?xi32>
  %g = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%i: i32, %o: i32):
    %r = linalg.index 0 : index
    %p = tensor.extract %copy[%r] : tensor<?xi32>
    %s = arith.addi %p, %i : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %g : tensor<?xi32>
}
