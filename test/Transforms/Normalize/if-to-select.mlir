// RUN: batch-opt %s --batch-if-to-select --split-input-file | FileCheck %s
// RUN: batch-opt %s --batch-if-to-select=max-ops=2 --split-input-file | FileCheck %s --check-prefix=FEW
// RUN: batch-opt %s --batch-if-to-select=max-elements=0 --split-input-file | FileCheck %s --check-prefix=NEVER
// RUN: batch-opt %s --batch-if-to-select=max-elements=4 --split-input-file | FileCheck %s --check-prefix=FOUR
// RUN: batch-opt %s --batch-if-to-select=max-elements=3 --split-input-file | FileCheck %s --check-prefix=THREE
// RUN: batch-opt %s --batch-if-to-select=max-elements=3 --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: batch-opt %s --batch-if-to-select=max-elements=0 --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: batch-opt %s --batch-if-to-select --split-input-file --remarks-filter=batch --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY

// Small elementwise branches become straight-line code, in order. A result that
// is equal in both branches needs no select. The ops of both branches count.

// CHECK-LABEL: func.func @small(
// CHECK-SAME: %[[BIT:.*]]: i1, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[X]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[T]], %[[Y]]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[X]]
// CHECK-NEXT: %[[R:.*]] = arith.select %[[BIT]], %[[S]], %[[N]] : tensor<4xf32>
// CHECK-NEXT: return %[[R]], %[[Y]]
// FEW-LABEL: func.func @small(
// FEW: scf.if
func.func @small(%bit: i1, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional converted to a select: both branches together take 3 ops"
  %r:2 = scf.if %bit -> (tensor<4xf32>, tensor<4xf32>) {
    %t = math.tanh %x : tensor<4xf32>
    %s = arith.addf %t, %y : tensor<4xf32>
    scf.yield %s, %y : tensor<4xf32>, tensor<4xf32>
  } else {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n, %y : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The ops in the body of an elementwise linalg op count; constants do not.

// CHECK-LABEL: func.func @generic(
// CHECK-NOT: scf.if
// CHECK: arith.select
// FEW-LABEL: func.func @generic(
// FEW-NOT: scf.if
// FEW: arith.select
func.func @generic(%bit: i1, %x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional converted to a select: both branches together take 2 ops"
  %r = scf.if %bit -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %g = linalg.map ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
        (%in: f32, %out: f32) {
          %one = arith.constant 1.0 : f32
          %a = arith.addf %in, %one : f32
          %b = math.tanh %a : f32
          linalg.yield %b : f32
        }
    scf.yield %g : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Inner conditionals are converted first, so that outer ones may follow.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[A:.*]]: i1, %[[B:.*]]: i1, %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[X]]
// CHECK-NEXT: %[[I:.*]] = arith.select %[[B]], %[[N]], %[[X]]
// CHECK-NEXT: %[[R:.*]] = arith.select %[[A]], %[[I]], %[[X]]
// CHECK-NEXT: return %[[R]]
func.func @nested(%a: i1, %b: i1, %x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional converted to a select: both branches together take 2 ops"
  %r = scf.if %a -> (tensor<4xf32>) {
    // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional converted to a select: both branches together take 1 ops"
    %i = scf.if %b -> (tensor<4xf32>) {
      %n = arith.negf %x : tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %i : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A contraction is worth a sub-batch, so the conditional remains.

// CHECK-LABEL: func.func @contraction(
// CHECK: scf.if
func.func @contraction(%bit: i1, %x: tensor<4xf32>,
                       %w: tensor<4x4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: a branch contains a reduction or contraction"
  %r = scf.if %bit -> (tensor<4xf32>) {
    %y = linalg.matvec ins(%w, %x : tensor<4x4xf32>, tensor<4xf32>)
        outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A call is worth a sub-batch, too. Code that control flow does not reach must not run.

// CHECK-LABEL: func.func @call(
// CHECK: scf.if
func.func private @f(%bit: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @call(%bit, %x) : (i1, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @call(%bit: i1, %x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: a branch contains calls or other control flow"
  %r = scf.if %bit -> (tensor<4xf32>) {
    %y = func.call @f(%bit, %x) : (i1, tensor<4xf32>) -> tensor<4xf32>
    %n = arith.negf %y : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// An index that is in range only in one branch is not used outside of it.

// CHECK-LABEL: func.func @row(
// CHECK: scf.if
func.func @row(%bit: i1, %i: index, %x: tensor<4xf32>,
               %E: tensor<?x4xf32> {batch.shared = "E"})
    -> tensor<4xf32> attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: a branch reads a tensor at an index"
  %r = scf.if %bit -> (tensor<4xf32>) {
    %e = tensor.extract_slice %E[%i, 0] [1, 4] [1, 1]
        : tensor<?x4xf32> to tensor<4xf32>
    %y = arith.addf %x, %e : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// The inspector selects one of several existing rows, such as rows of a
// parameter or results of a call, without a kernel.

// CHECK-LABEL: func.func @ready(
// CHECK: scf.if
func.func @ready(%bit: i1, %i: index, %x: tensor<4xf32>,
                 %E: tensor<?x4xf32> {batch.shared = "E"})
    -> tensor<4xf32> attributes {batch.entry} {
  %e = tensor.extract_slice %E[%i, 0] [1, 4] [1, 1]
      : tensor<?x4xf32> to tensor<4xf32>
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: it chooses between rows that are already computed"
  %r = scf.if %bit -> (tensor<4xf32>) {
    scf.yield %e : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// If the conditional remained, it would split straight-line code.

// CHECK-LABEL: func.func @cut(
// CHECK: %[[N:.*]] = arith.negf
// CHECK-NEXT: %[[R:.*]] = arith.select %{{.*}}, %[[N]], %{{.*}}
// CHECK-NEXT: math.tanh %[[R]]
func.func @cut(%bit: i1, %x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  %n = arith.negf %x : tensor<4xf32>
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional converted to a select: both branches together take 0 ops"
  %r = scf.if %bit -> (tensor<4xf32>) {
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %y = math.tanh %r : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Control flow would wait for the tensor of the condition. A select costs less if both
// branches are small, or if rows exist already.

// CHECK-LABEL: func.func @tensor(
// CHECK: %[[C:.*]] = arith.cmpf
// CHECK: %[[N:.*]] = arith.negf
// CHECK-NEXT: %[[R:.*]] = arith.select %[[C]], %[[N]]
// CHECK-NEXT: arith.select %[[C]], %[[R]]
// NEVER-LABEL: func.func @tensor(
// NEVER: scf.if
// NEVER: scf.if
// FOUR-LABEL: func.func @tensor(
// FOUR: arith.select
// FOUR: arith.select
// THREE-LABEL: func.func @tensor(
// THREE: scf.if
// THREE: arith.select
func.func @tensor(%x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %t = math.exp %x : tensor<4xf32>
  %e = tensor.extract %t[%zero] : tensor<4xf32>
  %half = arith.constant 0.5 : f32
  %c = arith.cmpf ogt, %e, %half : f32
  // WHY-DAG: :[[# @LINE + 3]]:{{.*}} IfToSelect {{.*}}"conditional converted to a select: both branches together take 1 ops"
  // NONE: :[[# @LINE + 2]]:{{.*}} IfToSelect {{.*}}its condition depends on a tensor"
  // MORE-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}its condition depends on a tensor, and both branches together take 4 operations on elements, more than max-elements=3"
  %r = scf.if %c -> (tensor<4xf32>) {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %s = scf.if %c -> (tensor<4xf32>) {
    scf.yield %r : tensor<4xf32>
  } else {
    scf.yield %t : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}

// -----

// A conditional on an element of an input becomes a select, too.

// CHECK-LABEL: func.func @input(
// CHECK: %[[E:.*]] = tensor.extract
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[E]]
// CHECK-NOT: scf.if
// CHECK: arith.select %[[C]]
func.func @input(%x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %e = tensor.extract %x[%zero] : tensor<4xf32>
  %half = arith.constant 0.5 : f32
  %c = arith.cmpf ogt, %e, %half : f32
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional converted to a select: both branches together take 1 ops"
  %r = scf.if %c -> (tensor<4xf32>) {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A conditional with a tensor as a result remains control flow if another result is not a
// static tensor. Here, it is an index.
// CHECK-LABEL: func.func @mixed(
// CHECK: scf.if
func.func @mixed(%bit: i1, %i: index, %x: tensor<4xf32>)
    -> (tensor<4xf32>, index) attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: its results are not all static tensors"
  %r:2 = scf.if %bit -> (tensor<4xf32>, index) {
    %n = arith.negf %x : tensor<4xf32>
    scf.yield %n, %i : tensor<4xf32>, index
  } else {
    %c0 = arith.constant 0 : index
    scf.yield %x, %c0 : tensor<4xf32>, index
  }
  return %r#0, %r#1 : tensor<4xf32>, index
}

// -----

// The sizes of dynamic tensors inside a branch might not match each other if the branch
// is not taken.

// CHECK-LABEL: func.func @ragged(
// CHECK: scf.if
rec.adt @Item {
  rec.variant @item(bit: i1, xs: !rec.list<tensor<4xf32>>)
}
func.func @ragged(%item: !rec.adt<@Item>, %x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  %y = rec.match %item : !rec.adt<@Item> -> tensor<4xf32> {
  case @item(%bit: i1, %list: !rec.list<tensor<4xf32>>) {
    %xs = rec.map %e in %list : !rec.list<tensor<4xf32>> -> tensor<?x4xf32> {
      rec.yield %e : tensor<4xf32>
    }
    // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: a branch contains tensors of dynamic shape"
    %r = scf.if %bit -> (tensor<4xf32>) {
      %s = arith.addf %xs, %xs : tensor<?x4xf32>
      %f = tensor.extract_slice %s[0, 0] [1, 4] [1, 1]
          : tensor<?x4xf32> to tensor<4xf32>
      scf.yield %f : tensor<4xf32>
    } else {
      scf.yield %x : tensor<4xf32>
    }
    rec.yield %r : tensor<4xf32>
  } }
  return %y : tensor<4xf32>
}

// -----

// Integer division by a value that may be zero remains in its branch.

// CHECK-LABEL: func.func @division(
// CHECK: scf.if
func.func @division(%bit: i1, %x: tensor<4xi32>, %y: tensor<4xi32>)
    -> tensor<4xi32> attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: a branch contains code that must not run speculatively"
  %r = scf.if %bit -> (tensor<4xi32>) {
    %d = arith.divsi %x, %y : tensor<4xi32>
    scf.yield %d : tensor<4xi32>
  } else {
    scf.yield %x : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// -----

// More than 16 ops are worth a sub-batch, too.

// CHECK-LABEL: func.func @large(
// CHECK: scf.if
func.func @large(%bit: i1, %x: tensor<4xf32>)
    -> tensor<4xf32> attributes {batch.entry} {
  // WHY-DAG: :[[# @LINE + 1]]:{{.*}} IfToSelect {{.*}}"conditional remains control flow, with a sub-batch for each branch: both branches together take 17 ops, more than max-ops=16"
  %r = scf.if %bit -> (tensor<4xf32>) {
    %0 = math.tanh %x : tensor<4xf32>
    %1 = math.tanh %0 : tensor<4xf32>
    %2 = math.tanh %1 : tensor<4xf32>
    %3 = math.tanh %2 : tensor<4xf32>
    %4 = math.tanh %3 : tensor<4xf32>
    %5 = math.tanh %4 : tensor<4xf32>
    %6 = math.tanh %5 : tensor<4xf32>
    %7 = math.tanh %6 : tensor<4xf32>
    %8 = math.tanh %7 : tensor<4xf32>
    %9 = math.tanh %8 : tensor<4xf32>
    %10 = math.tanh %9 : tensor<4xf32>
    %11 = math.tanh %10 : tensor<4xf32>
    %12 = math.tanh %11 : tensor<4xf32>
    %13 = math.tanh %12 : tensor<4xf32>
    %14 = math.tanh %13 : tensor<4xf32>
    %15 = math.tanh %14 : tensor<4xf32>
    %16 = math.tanh %15 : tensor<4xf32>
    scf.yield %16 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A branch that gathers remains: its indices may be valid only there.
// CHECK-LABEL: func.func @gather
// CHECK:         scf.if
// CHECK:           tensor.gather
func.func @gather(%has: i1 {batch.name = "has"}, %ids: tensor<4x1xindex> {batch.name = "ids"},
                  %T: tensor<100x8xf32> {batch.shared = "T"}) -> tensor<4x8xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %r = scf.if %has -> (tensor<4x8xf32>) {
    %g = tensor.gather %T[%ids] gather_dims([0]) : (tensor<100x8xf32>, tensor<4x1xindex>) -> tensor<4x8xf32>
    scf.yield %g : tensor<4x8xf32>
  } else {
    scf.yield %zero : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
