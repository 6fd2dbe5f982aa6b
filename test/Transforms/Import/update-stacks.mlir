// RUN: batch-opt %s --batch-update-stacks --split-input-file | FileCheck %s
// RUN: batch-opt %s --batch-update-stacks=most-ops=1 --split-input-file | FileCheck %s --check-prefix=LOOP
// RUN: batch-opt %s --batch-update-stacks="most-ops=1 most-ops-panels=1" --split-input-file | FileCheck %s --check-prefix=LOOPS

!row = tensor<8x4xf32>
!stack = tensor<2x8x4xf32>

// A row that is extracted, changed and put back is updated in the stack.

// CHECK-LABEL: func.func @row
// CHECK-SAME:    %[[S:[a-z0-9]*]]: tensor<2x8x4xf32>, %[[X:[a-z0-9]*]]: tensor<4xf32>, %[[E:[a-z0-9]*]]: f32, %[[L:[a-z0-9]*]]: index, %[[I:[a-z0-9]*]]: index
// CHECK:         %[[S1:.*]] = tensor.insert_slice %[[X]] into %[[S]][%[[L]], %[[I]], 0] [1, 1, 4] [1, 1, 1]
// CHECK:         %[[S2:.*]] = tensor.insert %[[E]] into %[[S1]][%[[L]], %[[I]], %[[I]]]
// CHECK:         %[[ROW:.*]] = tensor.extract_slice %[[S2]][%[[L]], 0, 0] [1, 8, 4] [1, 1, 1]
// CHECK:         return %[[S2]], %[[ROW]]
func.func @row(%stack: !stack, %x: tensor<4xf32>, %e: f32, %l: index, %i: index) -> (!stack, !row) {
  %row = tensor.extract_slice %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !stack to !row
  %new = tensor.insert_slice %x into %row[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into !row
  %newer = tensor.insert %e into %new[%i, %i] : !row
  %next = tensor.insert_slice %newer into %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !row into !stack
  return %next, %newer : !stack, !row
}

// -----

!row = tensor<8x4xf32>
!stack = tensor<2x8x4xf32>

// A loop that fills a stack with the changed rows of another stack starts from that stack.

// CHECK-LABEL: func.func @scan
// CHECK-SAME:    %[[S:[a-z0-9]*]]: tensor<2x8x4xf32>, %[[X:[a-z0-9]*]]: tensor<4xf32>, %[[I:[a-z0-9]*]]: index
// CHECK-NOT:     scf.for
// CHECK:         %[[S1:.*]] = tensor.insert_slice %[[X]] into %[[S]][0, %[[I]], 0]
// CHECK:         %[[S2:.*]] = tensor.insert_slice %[[X]] into %[[S1]][1, %[[I]], 0]
// CHECK:         return %[[S2]]
// LOOP-LABEL:  func.func @scan
// LOOP-SAME:     %[[S:[a-z0-9]*]]: tensor<2x8x4xf32>
// LOOP:          scf.for %[[L:.*]] = {{.*}} iter_args(%[[NOW:.*]] = %[[S]])
// LOOP:            tensor.insert_slice %{{.*}} into %[[NOW]][%[[L]],
func.func @scan(%stack: !stack, %x: tensor<4xf32>, %i: index) -> !stack {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %empty = arith.constant dense<0.0> : !stack
  %r = scf.for %l = %c0 to %c2 step %c1 iter_args(%filled = %empty) -> (!stack) {
    %row = tensor.extract_slice %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !stack to !row
    %new = tensor.insert_slice %x into %row[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into !row
    %next = tensor.insert_slice %new into %filled[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !row into !stack
    scf.yield %next : !stack
  }
  return %r : !stack
}

// -----

!row = tensor<8x4xf32>
!stack = tensor<2x8x4xf32>

// A loop that selects the matrices of products is unrolled up to a higher limit (most-ops-panels).

// CHECK-LABEL: func.func @layers
// CHECK-NOT:     scf.for
// CHECK:         tensor.extract_slice %{{.*}}[0, 0, 0]
// CHECK:         tensor.extract_slice %{{.*}}[1, 0, 0]
// LOOP-LABEL:  func.func @layers
// LOOP-NOT:      scf.for
// LOOP:          return
// LOOPS-LABEL: func.func @layers
// LOOPS:         scf.for
func.func @layers(%stack: !stack, %w: tensor<2x4x4xf32>, %x: tensor<4xf32>, %i: index) -> (!stack, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %r:2 = scf.for %l = %c0 to %c2 step %c1 iter_args(%filled = %stack, %y = %x) -> (!stack, tensor<4xf32>) {
    %m = tensor.extract_slice %w[%l, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<2x4x4xf32> to tensor<4x4xf32>
    %p = linalg.matvec ins(%m, %y : tensor<4x4xf32>, tensor<4xf32>) outs(%zeros : tensor<4xf32>) -> tensor<4xf32>
    %row = tensor.extract_slice %filled[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !stack to !row
    %new = tensor.insert_slice %p into %row[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into !row
    %next = tensor.insert_slice %new into %filled[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !row into !stack
    scf.yield %next, %p : !stack, tensor<4xf32>
  }
  return %r#0, %r#1 : !stack, tensor<4xf32>
}

// -----

!row = tensor<8x4xf32>
!stack = tensor<2x8x4xf32>

// A round that reads another row of the old stack needs the old stack. A loop that skips rows
// needs the initial values of these rows.

// CHECK-LABEL: func.func @others
// CHECK:         scf.for {{.*}} iter_args(%[[FILLED:[a-z0-9]*]] =
// CHECK:           tensor.insert_slice %{{.*}} into %[[FILLED]]
// CHECK:         scf.for {{.*}} iter_args(%[[FILLED:[a-z0-9]*]] =
// CHECK:           tensor.insert_slice %{{.*}} into %[[FILLED]]
func.func @others(%stack: !stack, %x: tensor<4xf32>, %i: index) -> (!stack, !row, !stack) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %empty = arith.constant dense<0.0> : !stack
  %zero = arith.constant dense<0.0> : !row
  %r:2 = scf.for %l = %c0 to %c2 step %c1 iter_args(%filled = %empty, %sum = %zero) -> (!stack, !row) {
    %row = tensor.extract_slice %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !stack to !row
    %first = tensor.extract_slice %stack[0, 0, 0] [1, 8, 4] [1, 1, 1] : !stack to !row
    %new = tensor.insert_slice %x into %row[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into !row
    %next = tensor.insert_slice %new into %filled[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !row into !stack
    %more = arith.addf %sum, %first : !row
    scf.yield %next, %more : !stack, !row
  }
  %s = scf.for %l = %c1 to %c2 step %c1 iter_args(%filled = %empty) -> (!stack) {
    %row = tensor.extract_slice %stack[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !stack to !row
    %new = tensor.insert_slice %x into %row[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into !row
    %next = tensor.insert_slice %new into %filled[%l, 0, 0] [1, 8, 4] [1, 1, 1] : !row into !stack
    scf.yield %next : !stack
  }
  return %r#0, %r#1, %s : !stack, !row, !stack
}

// -----

// A column of a square matrix is not a row, though it has the type of one.

// CHECK-LABEL: func.func @column
// CHECK:         %[[COLUMN:.*]] = tensor.extract_slice
// CHECK:         %[[NEW:.*]] = tensor.insert %{{.*}} into %[[COLUMN]][
// CHECK:         tensor.insert_slice %[[NEW]] into %{{.*}}[0, 0] [4, 1]
func.func @column(%m: tensor<4x4xf32>, %e: f32, %i: index) -> tensor<4x4xf32> {
  %column = tensor.extract_slice %m[0, 0] [4, 1] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
  %new = tensor.insert %e into %column[%i] : tensor<4xf32>
  %next = tensor.insert_slice %new into %m[0, 0] [4, 1] [1, 1] : tensor<4xf32> into tensor<4x4xf32>
  return %next : tensor<4x4xf32>
}
