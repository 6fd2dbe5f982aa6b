// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --split-input-file | FileCheck %s

// An index within an inserted piece reads the piece, at a position relative to
// its beginning. Other indices read the tensor around the piece.
// CHECK-LABEL: func.func private @inserted.rows.stage0(
// CHECK-DAG:     %[[BEFORE:.*]] = arith.constant 31 : i64
// CHECK-DAG:     %[[END:.*]] = arith.constant 48 : i64
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant -32 : i64
// CHECK:         %[[BEHIND:.*]] = arith.cmpi slt, %[[BEFORE]], %[[I:.*]] : i64
// CHECK:         %[[BELOW:.*]] = arith.cmpi slt, %[[I]], %[[END]] : i64
// CHECK:         %[[INSIDE:.*]] = arith.andi %[[BEHIND]], %[[BELOW]] : i1
// CHECK:         %[[INNER:.*]] = arith.addi %[[I]], %[[SHIFT]] : i64
// CHECK:         scf.if %[[INSIDE]] -> (vector<16xf32>)
// CHECK-NEXT:      arith.muli %[[INNER]],
// CHECK:         } else {
// CHECK-NEXT:      arith.muli %[[I]],
uprog.operator @inserted.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>}, %y: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x64xf32> {
  %i = tensor.insert_slice %x into %y[0, 32] [%n, 16] [1, 1] : tensor<?x16xf32> into tensor<?x64xf32>
  %e = math.exp %i : tensor<?x64xf32>
  uprog.yield %e : tensor<?x64xf32>
}

// -----

// A reduction is split into a loop for each piece. No loop selects between pieces.
// CHECK-LABEL: func.func private @pieces.rows.stage0(
// CHECK-NOT:     scf.if
// CHECK:       func.func @pieces.rows(
uprog.operator @pieces.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}, %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
                            %z: tensor<?x48xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %c = tensor.concat dim(1) %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %i = tensor.insert_slice %c into %z[0, 32] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<?x48xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%i : tensor<?x48xf32>) outs(%start : tensor<?xf32>) dimensions = [1]
  uprog.yield %s : tensor<?xf32>
}

// -----

// A collapsed index is split into its digits again, with one division each.
// CHECK-LABEL: func.func private @collapsed.rows.stage0(
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : i64
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : i64
// CHECK:         %[[Q:.*]] = arith.divui %[[I:.*]], %[[C5]] : i64
// CHECK:         arith.remui %[[I]], %[[C5]] : i64
// CHECK:         arith.divui %[[Q]], %[[C3]] : i64
// CHECK:         arith.remui %[[Q]], %[[C3]] : i64
// CHECK-NOT:     arith.divui
// CHECK:         math.exp
uprog.operator @collapsed.rows(%n: index, %x: tensor<?x4x3x5xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x60xf32> {
  %c = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<?x4x3x5xf32> into tensor<?x60xf32>
  %e = math.exp %c : tensor<?x60xf32>
  uprog.yield %e : tensor<?x60xf32>
}

// -----

// A scalar has no index: the only element is read.
// CHECK-LABEL: func.func private @scalar.rows.stage0(
// CHECK:         arith.xori
uprog.operator @scalar.rows(%n: index, %k: tensor<2xi32> {uprog.operand = #uprog.operand<shared(0)>}, %i: tensor<?xi32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xi32> {
  %s = tensor.extract_slice %k[1] [1] [1] : tensor<2xi32> to tensor<1xi32>
  %c = tensor.collapse_shape %s [] : tensor<1xi32> into tensor<i32>
  %empty = tensor.empty(%n) : tensor<?xi32>
  %b = linalg.broadcast ins(%c : tensor<i32>) outs(%empty : tensor<?xi32>) dimensions = [0]
  %x = arith.xori %b, %i : tensor<?xi32>
  uprog.yield %x : tensor<?xi32>
}

// -----

// An expanded index is the sum of its digits. A dimension of extent one has no
// digit.
// CHECK-LABEL: func.func private @expanded.rows.stage0(
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : i64
// CHECK:         %[[HIGH:.*]] = arith.remui
// CHECK:         scf.for %[[LOW:[a-z0-9]*]] =
// CHECK-NEXT:      %[[SUM:.*]] = arith.muli %[[HIGH]], %[[C16]] : i64
// CHECK-NEXT:      arith.addi %[[SUM]], %[[LOW]] : i64
uprog.operator @expanded.rows(%n: index, %x: tensor<?x64xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4x1x16xf32> {
  %c = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [%n, 4, 1, 16] : tensor<?x64xf32> into tensor<?x4x1x16xf32>
  %e = math.exp %c : tensor<?x4x1x16xf32>
  uprog.yield %e : tensor<?x4x1x16xf32>
}

// -----

// The addresses of the rows of each result, %e and %c, are loaded once,
// however many pieces the view has.
// CHECK-LABEL:   func.func private @again.rows.stage1(
// CHECK-SAME:      %[[STEP:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr
// CHECK:           %[[RESULTS:.*]] = arith.constant 24 : i64
// CHECK-COUNT-2:   llvm.getelementptr %[[STEP]][%[[RESULTS]]]
// CHECK-NOT:       llvm.getelementptr %[[STEP]][%[[RESULTS]]]
// CHECK:         func.func @again.rows(
uprog.operator @again.rows(%n: index, %x: tensor<?x16xf32> {uprog.operand = #uprog.operand<gather>}) -> (tensor<?x16xf32>, tensor<?x64xf32>) {
  %e = math.exp %x : tensor<?x16xf32>
  %c = tensor.concat dim(1) %e, %x, %e, %e
      : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x64xf32>
  uprog.yield %e, %c : tensor<?x16xf32>, tensor<?x64xf32>
}
