// RUN: batch-opt %s --batch-hoist-products | FileCheck %s
// RUN: batch-opt %s --batch-hoist-products | batch-opt --batch-hoist-products | FileCheck %s
// RUN: batch-opt %s --batch-hoist-products --remarks-filter=batch \
// RUN:   --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The loop changes one piece of a concatenated factor. The product of the other piece moves out.
// CHECK-LABEL: func.func @part(
// CHECK-SAME:    %[[W:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4xf32>, %[[O:.*]]: tensor<4xf32>,
// CHECK:         %[[W1:.*]] = tensor.extract_slice %[[W]][0, 0] [4, 4] [1, 1]
// CHECK:         %[[A:.*]] = linalg.matvec ins(%[[W1]], %[[O]] :
// CHECK-SAME:        outs(%[[B]] :
// CHECK:         scf.for {{.*}} iter_args(%[[X:.*]] = %[[O]])
// CHECK-NOT:       tensor.concat
// CHECK:           %[[W2:.*]] = tensor.extract_slice %[[W]][0, 4] [4, 4] [1, 1]
// CHECK:           %[[Y:.*]] = linalg.matvec ins(%[[W2]], %[[X]] :
// CHECK-SAME:          outs(%[[A]] :
// CHECK-NOT:       linalg
// CHECK:           scf.yield %[[Y]]
func.func @part(%W: tensor<4x8xf32>, %b: tensor<4xf32>, %o: tensor<4xf32>,
                %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = scf.for %i = %zero to %n step %one iter_args(%x = %o) -> tensor<4xf32> {
    %ox = tensor.concat dim(0) %o, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    // REMARK: [[@LINE+1]]:10: remark: {{.*}}this product is loop-invariant and is computed once, before the loop
    %y = linalg.matvec ins(%W, %ox : tensor<4x8xf32>, tensor<8xf32>)
        outs(%b : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %e : tensor<4xf32>
}

// The products of the pieces that the loop does not change are added first, wherever
// these pieces are. Adjacent pieces remain together.
// CHECK-LABEL: func.func @ends(
// CHECK-SAME:    %[[W:.*]]: tensor<9x4xf32>, %[[B:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<2xf32>, %[[Q:.*]]: tensor<3xf32>,
// CHECK-DAG:     %[[PQ:.*]] = tensor.concat dim(0) %[[P]], %[[Q]] :
// CHECK-DAG:     %[[W1:.*]] = tensor.extract_slice %[[W]][4, 0] [5, 4] [1, 1]
// CHECK:         %[[A:.*]] = linalg.vecmat ins(%[[PQ]], %[[W1]] :
// CHECK-SAME:        outs(%[[B]] :
// CHECK:         rec.fold
// CHECK:           %[[W2:.*]] = tensor.extract_slice %[[W]][0, 0] [4, 4] [1, 1]
// CHECK:           linalg.vecmat ins(%{{.*}}, %[[W2]] :
// CHECK-SAME:          outs(%[[A]] :
func.func @ends(%W: tensor<9x4xf32>, %b: tensor<4xf32>, %p: tensor<2xf32>,
                %q: tensor<3xf32>, %xs: !rec.list<tensor<4xf32>>) -> tensor<4xf32> {
  %y = rec.fold %x in %xs init(%h = %b) : !rec.list<tensor<4xf32>> -> tensor<4xf32> {
    %all = tensor.concat dim(0) %x, %p, %q
        : (tensor<4xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<9xf32>
    %a = linalg.vecmat ins(%all, %W : tensor<9xf32>, tensor<9x4xf32>)
        outs(%b : tensor<4xf32>) -> tensor<4xf32>
    %next = arith.addf %a, %h : tensor<4xf32>
    rec.yield %next : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// A whole product moves out of two loops, with the code that it needs. The
// constant also remains in the loop, where another op uses it.
// CHECK-LABEL: func.func @whole(
// CHECK:         %[[T:.*]] = math.tanh
// CHECK:         %[[A:.*]] = linalg.matvec ins(%{{.*}}, %[[T]] :
// CHECK:         scf.for
// CHECK:           scf.while
// CHECK-NOT:         linalg.matvec
// CHECK:             %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK:             arith.subf %[[ZERO]], %[[A]]
func.func @whole(%W: tensor<4x4xf32>, %o: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = scf.for %i = %zero to %n step %one iter_args(%x = %o) -> tensor<4xf32> {
    %r:2 = scf.while (%j = %zero, %s = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
      %none = arith.constant dense<0.0> : tensor<4xf32>
      %t = math.tanh %o : tensor<4xf32>
      %y = linalg.matvec ins(%W, %t : tensor<4x4xf32>, tensor<4xf32>)
          outs(%none : tensor<4xf32>) -> tensor<4xf32>
      %minus = arith.subf %none, %y : tensor<4xf32>
      %next = arith.addf %s, %minus : tensor<4xf32>
      %k = arith.addi %j, %one : index
      %go = arith.cmpi ult, %k, %i : index
      scf.condition(%go) %k, %next : index, tensor<4xf32>
    } do {
    ^bb0(%j: index, %s: tensor<4xf32>):
      scf.yield %j, %s : index, tensor<4xf32>
    }
    scf.yield %r#1 : tensor<4xf32>
  }
  return %e : tensor<4xf32>
}

// The loop retains code in a branch, products of a row at a computed position, and sums
// whose start value the loop changes.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT:     linalg
// CHECK:         scf.for
// CHECK:           tensor.concat
// CHECK:           linalg.matvec
// CHECK:           tensor.extract_slice
// CHECK:           linalg.matvec
// CHECK:           scf.if
// CHECK:             linalg.matvec
func.func @stays(%W: tensor<4x8xf32>, %U: tensor<4x4xf32>, %E: tensor<9x4xf32>,
                 %o: tensor<4xf32>, %w: index, %is: i1, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = scf.for %i = %zero to %n step %one iter_args(%x = %o) -> tensor<4xf32> {
    %ox = tensor.concat dim(0) %o, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %y = linalg.matvec ins(%W, %ox : tensor<4x8xf32>, tensor<8xf32>)
        outs(%x : tensor<4xf32>) -> tensor<4xf32>
    %row = tensor.extract_slice %E[%w, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %a = linalg.matvec ins(%U, %row : tensor<4x4xf32>, tensor<4xf32>)
        outs(%y : tensor<4xf32>) -> tensor<4xf32>
    %b = scf.if %is -> tensor<4xf32> {
      %c = linalg.matvec ins(%U, %o : tensor<4x4xf32>, tensor<4xf32>)
          outs(%o : tensor<4xf32>) -> tensor<4xf32>
      %d = arith.addf %a, %c : tensor<4xf32>
      scf.yield %d : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    scf.yield %b : tensor<4xf32>
  }
  return %e : tensor<4xf32>
}

// A read at a computed position in a body remains in the loop, and so does the rounding
// of a short sum.
// CHECK-LABEL: func.func @reads(
// CHECK-NOT:     linalg
// CHECK:         scf.for
// CHECK:           linalg.generic
// CHECK:           linalg.matvec
// CHECK:           tensor.concat
// CHECK:           linalg.matvec
#id = affine_map<(d) -> (d)>
func.func @reads(%U: tensor<4x4xf32>, %E: tensor<9xf32>, %at: tensor<4xindex>,
                 %o: tensor<4xf32>, %W: tensor<4x8xbf16>, %p: tensor<4xbf16>, %n: index)
    -> (tensor<4xf32>, tensor<4xbf16>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e:2 = scf.for %i = %zero to %n step %one iter_args(%x = %o, %q = %p)
      -> (tensor<4xf32>, tensor<4xbf16>) {
    %empty = tensor.empty() : tensor<4xf32>
    %row = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%at : tensor<4xindex>) outs(%empty : tensor<4xf32>) {
    ^bb0(%place: index, %out: f32):
      %element = tensor.extract %E[%place] : tensor<9xf32>
      linalg.yield %element : f32
    } -> tensor<4xf32>
    %y = linalg.matvec ins(%U, %row : tensor<4x4xf32>, tensor<4xf32>)
        outs(%o : tensor<4xf32>) -> tensor<4xf32>
    %next = arith.addf %x, %y : tensor<4xf32>
    %pq = tensor.concat dim(0) %p, %q : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<8xbf16>
    %short = linalg.matvec ins(%W, %pq : tensor<4x8xbf16>, tensor<8xbf16>)
        outs(%p : tensor<4xbf16>) -> tensor<4xbf16>
    scf.yield %next, %short : tensor<4xf32>, tensor<4xbf16>
  }
  return %e#0, %e#1 : tensor<4xf32>, tensor<4xbf16>
}
