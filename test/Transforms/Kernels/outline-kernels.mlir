// RUN: batch-opt %s --batch-outline-kernels --split-input-file | FileCheck %s
// RUN: batch-opt %s --batch-outline-kernels=hoist=false --split-input-file | FileCheck %s --check-prefix=INSIDE
// RUN: batch-opt %s --batch-outline-kernels=coarsen=false --split-input-file | FileCheck %s --check-prefix=SINGLE

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!emb = tensor<?x4xf32>
!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !tree, right: !tree)
}

// All tensor code between two points of control flow is one kernel. Its arguments
// have the order of their first use. Arguments that are parameters of the entry
// are shared, with the number of the parameter.
// CHECK:      batch.kernel @encode_node(
// CHECK-SAME:   %[[HL:[^:]*]]: tensor<4xf32>, %[[HR:[^:]*]]: tensor<4xf32>,
// CHECK-SAME:   %[[W:[^:]*]]: tensor<4x4xf32> {batch.parameter = 1 : i64, batch.shared},
// CHECK-SAME:   %[[B:[^:]*]]: tensor<4xf32> {batch.parameter = 2 : i64, batch.shared}) -> tensor<4xf32>
// CHECK-NEXT:   %[[S:.*]] = arith.addf %[[HL]], %[[HR]]
// CHECK-NEXT:   %[[Y:.*]] = linalg.matvec ins(%[[W]], %[[S]] : {{.*}}) outs(%[[B]] : tensor<4xf32>)
// CHECK-NEXT:   %[[H:.*]] = math.tanh %[[Y]]
// CHECK-NEXT:   batch.yield %[[H]] : tensor<4xf32>

// Without coarsening, each operation is a kernel.
// SINGLE:      batch.kernel @encode_node(
// SINGLE-NEXT:   arith.addf
// SINGLE-NEXT:   batch.yield
// SINGLE:      batch.kernel @encode_node_0(
// SINGLE-NEXT:   linalg.matvec
// SINGLE-NEXT:   batch.yield
// SINGLE:      batch.kernel @encode_node_1(
// SINGLE-NEXT:   math.tanh
// SINGLE-NEXT:   batch.yield

// A row of a parameter is not tensor code: it remains in the function.
// CHECK-LABEL: func.func private @encode
// CHECK-SAME:    (%[[T:.*]]: !rec.adt<@Tree>, %[[E:.*]]: tensor<?x4xf32>, %[[W:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func private @encode(%t: !tree, %E: !emb, %W: !mat, %b: !vec) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  // CHECK:      case @leaf(%[[WORD:.*]]: index) {
  // CHECK-NEXT:   %[[X:.*]] = tensor.extract_slice %[[E]][%[[WORD]], 0] [1, 4] [1, 1]
  // CHECK-NEXT:   rec.yield %[[X]]
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    rec.yield %x : !vec
  }
  // CHECK:      case @node(%[[L:.*]]: !rec.adt<@Tree>, %[[R:.*]]: !rec.adt<@Tree>) {
  // CHECK-NEXT:   %[[HL:.*]] = func.call @encode(%[[L]],
  // CHECK-NEXT:   %[[HR:.*]] = func.call @encode(%[[R]],
  // CHECK-NEXT:   %[[H:.*]] = batch.invoke @encode_node(%[[HL]], %[[HR]], %[[W]], %[[B]]) :
  // CHECK-NEXT:   rec.yield %[[H]]
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @encode(%l, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
    %hr = func.call @encode(%r, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
    %s = arith.addf %hl, %hr : !vec
    %y = linalg.matvec ins(%W, %s : !mat, !vec) outs(%b : !vec) -> !vec
    %h = math.tanh %y : !vec
    rec.yield %h : !vec
  } }
  return %h : !vec
}

func.func @main(%t: !tree, %E: !emb {batch.shared = "E"},
                %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
    -> !vec attributes {batch.entry} {
  %h = call @encode(%t, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> !vec
  return %h : !vec
}

// -----

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>
!emb = tensor<?x4xf32>
!tree = !rec.adt<@Tree>
!out = !rec.adt<@Out>

rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(word: index, left: !tree, right: !tree)
}
rec.adt @Out {
  rec.variant @leaf(y: !vec)
  rec.variant @node(left: !out, right: !out, y: !vec)
}

// Code is an output kernel if no recursive result depends on it. The output
// kernels of the leaf and the node are equal, so there is only one. Elementwise
// code on constants and parameters is copied into it.
// CHECK:      batch.kernel @encode_output(
// CHECK-SAME:   %[[B:[^:]*]]: tensor<4xf32> {batch.parameter = 2 : i64, batch.shared},
// CHECK-SAME:   %[[W:[^:]*]]: tensor<4x4xf32> {batch.parameter = 1 : i64, batch.shared},
// CHECK-SAME:   %[[H:[^:]*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %[[ONE:.*]] = arith.constant dense<1.0
// CHECK-NEXT:   %[[BB:.*]] = arith.addf %[[B]], %[[ONE]]
// CHECK-NEXT:   %[[Y:.*]] = linalg.matvec ins(%[[W]], %[[H]] : {{.*}}) outs(%[[BB]] :
// CHECK-NEXT:   batch.yield %[[Y]]

// Code that does not depend on the recursion is an input kernel.
// CHECK:      batch.kernel @encode_node_input(
// CHECK-SAME:   %[[W:[^:]*]]: tensor<4x4xf32> {batch.parameter = 1 : i64, batch.shared},
// CHECK-SAME:   %[[X:[^:]*]]: tensor<4xf32>,
// CHECK-SAME:   %[[B:[^:]*]]: tensor<4xf32> {batch.parameter = 2 : i64, batch.shared}) -> tensor<4xf32>
// CHECK-NEXT:   %[[WX:.*]] = linalg.matvec ins(%[[W]], %[[X]] : {{.*}}) outs(%[[B]] :
// CHECK-NEXT:   batch.yield %[[WX]]

// The recursion itself is the cell.
// CHECK:      batch.kernel @encode_node(
// CHECK-SAME:   %[[HL:[^:]*]]: tensor<4xf32>, %[[HR:[^:]*]]: tensor<4xf32>,
// CHECK-SAME:   %[[W:[^:]*]]: tensor<4x4xf32> {batch.parameter = 1 : i64, batch.shared},
// CHECK-SAME:   %[[WX:[^:]*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %[[S:.*]] = arith.addf %[[HL]], %[[HR]]
// CHECK-NEXT:   %[[A:.*]] = linalg.matvec ins(%[[W]], %[[S]] : {{.*}}) outs(%[[WX]] :
// CHECK-NEXT:   %[[H:.*]] = math.tanh %[[A]]
// CHECK-NEXT:   batch.yield %[[H]]

// Without hoisting, the input code belongs to the cell.
// INSIDE-NOT: @encode_node_input
// INSIDE:     batch.kernel @encode_node(
// INSIDE:       linalg.matvec
// INSIDE:       linalg.matvec
// INSIDE:       batch.yield

// Each kernel is invoked where its operands are available. No tensor code
// remains.
// CHECK-LABEL: func.func private @encode
// CHECK-SAME:    (%{{.*}}: !rec.adt<@Tree>, %[[E:.*]]: tensor<?x4xf32>, %[[W:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func private @encode(%t: !tree, %E: !emb, %W: !mat, %b: !vec) -> (!vec, !out) {
  %h, %o = rec.match %t : !tree -> !vec, !out {
  // CHECK:      case @leaf(%[[WORD:.*]]: index) {
  // CHECK-NEXT:   %[[X:.*]] = tensor.extract_slice %[[E]][%[[WORD]], 0]
  // CHECK-NEXT:   %[[Y:.*]] = batch.invoke @encode_output(%[[B]], %[[W]], %[[X]])
  // CHECK-NEXT:   rec.construct @Out::@leaf(%[[Y]])
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    %one = arith.constant dense<1.0> : !vec
    %bb = arith.addf %b, %one : !vec
    %y = linalg.matvec ins(%W, %x : !mat, !vec) outs(%bb : !vec) -> !vec
    %o = rec.construct @Out::@leaf(%y) : (!vec) -> !out
    rec.yield %x, %o : !vec, !out
  }
  // CHECK:      case @node(%[[WORD:.*]]: index, %{{.*}}: !rec.adt<@Tree>, %{{.*}}: !rec.adt<@Tree>) {
  // CHECK-NEXT:   %[[X:.*]] = tensor.extract_slice %[[E]][%[[WORD]], 0]
  // CHECK-NEXT:   %[[L:.*]]:2 = func.call @encode
  // CHECK-NEXT:   %[[R:.*]]:2 = func.call @encode
  // CHECK-NEXT:   %[[WX:.*]] = batch.invoke @encode_node_input(%[[W]], %[[X]], %[[B]])
  // CHECK-NEXT:   %[[H:.*]] = batch.invoke @encode_node(%[[L]]#0, %[[R]]#0, %[[W]], %[[WX]])
  // CHECK-NEXT:   %[[Y:.*]] = batch.invoke @encode_output(%[[B]], %[[W]], %[[H]])
  // CHECK-NEXT:   %[[O:.*]] = rec.construct @Out::@node(%[[L]]#1, %[[R]]#1, %[[Y]])
  // CHECK-NEXT:   rec.yield %[[H]], %[[O]]
  case @node(%word: index, %l: !tree, %r: !tree) {
    %x = tensor.extract_slice %E[%word, 0] [1, 4] [1, 1] : !emb to !vec
    %hl, %ol = func.call @encode(%l, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !out)
    %hr, %or = func.call @encode(%r, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !out)
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %s = arith.addf %hl, %hr : !vec
    %a = linalg.matvec ins(%W, %s : !mat, !vec) outs(%wx : !vec) -> !vec
    %h = math.tanh %a : !vec
    %one = arith.constant dense<1.0> : !vec
    %bb = arith.addf %b, %one : !vec
    %y = linalg.matvec ins(%W, %h : !mat, !vec) outs(%bb : !vec) -> !vec
    %o = rec.construct @Out::@node(%ol, %or, %y) : (!out, !out, !vec) -> !out
    rec.yield %h, %o : !vec, !out
  } }
  return %h, %o : !vec, !out
}

func.func @main(%t: !tree, %E: !emb {batch.shared = "E"},
                %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
    -> !out attributes {batch.entry} {
  %h, %o = call @encode(%t, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !out)
  return %o : !out
}

// -----

!vec = tensor<4xf32>
!row = tensor<8xf32>
!rows = tensor<?x4xf32>
!mat = tensor<4x4xf32>
!emb = tensor<?x8xf32>
!tree = !rec.adt<@Tree>

rec.adt @Tree {
  rec.variant @node(word: index, kids: !rec.list<!tree>)
}

// Code that computes the same values for all instances and contains a reduction is a
// kernel without per-task operands. The kernel runs once.
// CHECK:      batch.kernel @encode_node_once(
// CHECK-SAME:   %[[W:[^:]*]]: tensor<4x4xf32> {batch.parameter = 1 : i64, batch.shared},
// CHECK-SAME:   %[[B:[^:]*]]: tensor<4xf32> {batch.parameter = 2 : i64, batch.shared}) -> tensor<4xf32>
// CHECK-NEXT:   linalg.matvec
// CHECK-NEXT:   batch.yield

// Input and output code without a reduction is not worth a kernel: it belongs
// to the cell. The extent of a new tensor is that of the ragged argument,
// though the program computes it as the length of the mapped list.
// CHECK:      batch.kernel @encode_node(
// CHECK-SAME:   %[[X:[^:]*]]: tensor<8xf32>, %[[HS:[^:]*]]: tensor<?x4xf32>, %[[ONCE:[^:]*]]: tensor<4xf32>)
// CHECK-SAME:   -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:   %[[HALF:.*]] = tensor.extract_slice %[[X]][4] [4] [1]
// CHECK-NEXT:   %[[TX:.*]] = math.tanh %[[HALF]]
// CHECK:        %[[N:.*]] = tensor.dim %[[HS]], %{{.*}}
// CHECK-NEXT:   %[[E:.*]] = tensor.empty(%[[N]])
// CHECK-NEXT:   %[[TH:.*]] = linalg.map { math.tanh } ins(%[[HS]] : tensor<?x4xf32>) outs(%[[E]] : tensor<?x4xf32>)
// CHECK-NEXT:   %[[S:.*]] = linalg.reduce { arith.addf } ins(%[[TH]] : tensor<?x4xf32>) outs(%[[ONCE]] : tensor<4xf32>)
// CHECK-NEXT:   %[[H:.*]] = arith.addf %[[S]], %[[TX]]
// CHECK-NEXT:   %[[Y:.*]] = math.exp %[[H]]
// CHECK-NEXT:   batch.yield %[[H]], %[[Y]]

// A slice of a row is taken inside of the kernel, whose operand is the row.
// CHECK-LABEL: func.func private @encode
func.func private @encode(%t: !tree, %E: !emb, %W: !mat, %b: !vec) -> (!vec, !vec) {
  // CHECK: case @node(%[[WORD:.*]]: index, %[[KIDS:.*]]: !rec.list
  // CHECK:   %[[ROW:.*]] = tensor.extract_slice %{{.*}}[%[[WORD]], 0] [1, 8]
  // CHECK:   %[[ONCE:.*]] = batch.invoke @encode_node_once(
  // CHECK:   %[[HS:.*]]:2 = rec.map
  // CHECK:   batch.invoke @encode_node(%[[ROW]], %[[HS]]#0, %[[ONCE]])
  %h, %y = rec.match %t : !tree -> !vec, !vec {
  case @node(%word: index, %kids: !rec.list<!tree>) {
    %row = tensor.extract_slice %E[%word, 0] [1, 8] [1, 1] : !emb to !row
    %half = tensor.extract_slice %row[4] [4] [1] : !row to !vec
    %tx = math.tanh %half : !vec
    %once = linalg.matvec ins(%W, %b : !mat, !vec) outs(%b : !vec) -> !vec
    %hs, %ys = rec.map %k in %kids : !rec.list<!tree> -> !rows, !rows {
      %hk, %yk = func.call @encode(%k, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !vec)
      rec.yield %hk, %yk : !vec, !vec
    }
    %n = rec.length %kids : !rec.list<!tree>
    %e = tensor.empty(%n) : !rows
    %th = linalg.map {math.tanh} ins(%hs : !rows) outs(%e : !rows)
    %s = linalg.reduce { arith.addf } ins(%th : !rows) outs(%once : !vec) dimensions = [0]
    %h = arith.addf %s, %tx : !vec
    %y = math.exp %h : !vec
    rec.yield %h, %y : !vec, !vec
  } }
  return %h, %y : !vec, !vec
}

func.func @main(%t: !tree, %E: !emb {batch.shared = "E"},
                %W: !mat {batch.shared = "W"}, %b: !vec {batch.shared = "b"})
    -> !vec attributes {batch.entry} {
  %h, %y = call @encode(%t, %E, %W, %b) : (!tree, !emb, !mat, !vec) -> (!vec, !vec)
  return %y : !vec
}

// -----

// Scalars that instances compute are scalar arguments of kernels. Values that a
// body captures are arguments, too.
// CHECK:      batch.kernel @scalars_0(%[[X:[^:]*]]: tensor<4xf32>, %[[S:[^:]*]]: f32) -> tensor<4xf32>
// CHECK:        linalg.map ins(%[[X]] : tensor<4xf32>)
// CHECK-NEXT:     (%[[E:[^:]*]]: f32
// CHECK-NEXT:       arith.mulf %[[E]], %[[S]] : f32
// CHECK:        batch.yield
// CHECK-LABEL: func.func @scalars
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: f32)
// CHECK-NEXT:    %[[Q:.*]] = arith.mulf %[[S]], %[[S]] : f32
// CHECK-NEXT:    batch.invoke @scalars_0(%[[X]], %[[Q]])
func.func @scalars(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32>
    attributes {batch.entry} {
  %q = arith.mulf %s, %s : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.map ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
    (%a: f32, %init: f32) {
      %0 = arith.mulf %a, %q : f32
      linalg.yield %0 : f32
    }
  return %y : tensor<4xf32>
}

// -----

// Only kernels create rows, so a kernel that runs once computes a constant result.
// CHECK:       batch.kernel @constant_once() -> tensor<4xf32>
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK-NEXT:    batch.yield %[[ZERO]]
// CHECK-LABEL: func.func @constant
// CHECK-NEXT:    %[[ZERO:.*]] = batch.invoke @constant_once()
// CHECK-NEXT:    return %[[ZERO]]
func.func @constant() -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  return %zero : tensor<4xf32>
}

// -----

// Elements of tensors, and values computed from them, belong to the kernel that
// uses them. So do elements of parameters at constant indices.
// CHECK:       batch.kernel @elements_0(%[[X:[^:]*]]: tensor<4xf64>, %[[W:[^:]*]]: tensor<2xf64> {batch.parameter = {{.*}}, batch.shared}, %[[S:[^:]*]]: f64) -> tensor<f64>
// CHECK-DAG:     %[[E:.*]] = tensor.extract %[[X]][%{{.*}}]
// CHECK-DAG:     %[[V:.*]] = tensor.extract %[[W]][%{{.*}}]
// CHECK:         %[[P:.*]] = arith.mulf %[[E]], %[[S]] : f64
// CHECK:         %[[Q:.*]] = arith.addf %[[P]], %[[V]] : f64
// CHECK:         %[[Y:.*]] = tensor.from_elements %[[Q]]
// CHECK-NEXT:    batch.yield %[[Y]]
// CHECK-LABEL: func.func @elements
// CHECK-NOT:     tensor.extract
// CHECK:         batch.invoke @elements_0
func.func @elements(%x: tensor<4xf64>, %s: f64,
                    %w: tensor<2xf64> {batch.shared = "w"}) -> tensor<f64>
    attributes {batch.entry} {
  %one = arith.constant 1 : index
  %e = tensor.extract %x[%one] : tensor<4xf64>
  %v = tensor.extract %w[%one] : tensor<2xf64>
  %p = arith.mulf %e, %s : f64
  %q = arith.addf %p, %v : f64
  %y = tensor.from_elements %q : tensor<f64>
  return %y : tensor<f64>
}

// -----

// Elements read by control flow remain outside of kernels.
// CHECK-LABEL: func.func @chosen
// CHECK:         %[[E:.*]] = tensor.extract
// CHECK:         %[[C:.*]] = arith.cmpf ogt, %[[E]]
// CHECK:         scf.if %[[C]]
func.func @chosen(%x: tensor<4xf64>) -> tensor<4xf64> attributes {batch.entry} {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.extract %x[%one] : tensor<4xf64>
  %c = arith.cmpf ogt, %e, %zero : f64
  %y = scf.if %c -> tensor<4xf64> {
    %n = arith.negf %x : tensor<4xf64>
    scf.yield %n : tensor<4xf64>
  } else {
    scf.yield %x : tensor<4xf64>
  }
  return %y : tensor<4xf64>
}

// -----

// A read of a tensor element by control flow separates kernels. Code that
// needs the element is in a later kernel than the code that computes the tensor.
// CHECK-LABEL: batch.kernel @main_0(
// CHECK:         linalg.dot
// CHECK:         batch.yield
// CHECK-LABEL: batch.kernel @main_1(
// CHECK-SAME:    %[[S:[^:]*]]: f32
// CHECK:         tensor.splat %[[S]] : tensor<4xf32>
// CHECK:         batch.yield

// CHECK-LABEL: func.func @main
// CHECK:         %[[D:.*]] = batch.invoke @main_0
// CHECK-NEXT:    %[[N:.*]] = tensor.extract %[[D]][] : tensor<f32>
// CHECK-NEXT:    %[[H:.*]] = arith.mulf %[[N]], %{{.*}} : f32
// CHECK-NEXT:    %[[Y:.*]] = batch.invoke @main_1(%[[H]]
// CHECK-NEXT:    return %[[Y]], %[[H]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, f32) attributes {batch.entry} {
  %half = arith.constant 0.5 : f32
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.dot ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%zero : tensor<f32>) -> tensor<f32>
  %n = tensor.extract %d[] : tensor<f32>
  %h = arith.mulf %n, %half : f32
  %s = tensor.splat %h : tensor<4xf32>
  %y = arith.mulf %s, %x : tensor<4xf32>
  return %y, %h : tensor<4xf32>, f32
}

// -----

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>

// If only a later kernel reads the results of code, the code belongs to that kernel,
// even across control flow. This does not apply if each operation is a kernel.
// CHECK-LABEL: batch.kernel @main_for(
// CHECK:         linalg.matvec
// CHECK:         linalg.matvec
// CHECK:         batch.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
// CHECK-LABEL: func.func @main
// CHECK:         scf.if
// CHECK:           batch.invoke @main_for_if
// CHECK:         batch.invoke @main_for(
// CHECK-NEXT:    scf.yield
// SINGLE-LABEL: func.func @main
// SINGLE:         batch.invoke @main_for(
// SINGLE:         scf.if
// SINGLE:           batch.invoke @main_for_if
// SINGLE:         batch.invoke @main_for_0(
func.func @main(%n: index, %c: i1, %x: !vec, %W: !mat {batch.shared = "W"},
                %V: !mat {batch.shared = "V"}, %b: !vec {batch.shared = "b"})
    -> (!vec, !vec) attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%g = %x, %h = %x) -> (!vec, !vec) {
    %y = linalg.matvec ins(%W, %g : !mat, !vec) outs(%b : !vec) -> !vec
    %e = scf.if %c -> !vec {
      %t = math.tanh %h : !vec
      scf.yield %t : !vec
    } else {
      scf.yield %h : !vec
    }
    %z = linalg.matvec ins(%V, %e : !mat, !vec) outs(%b : !vec) -> !vec
    scf.yield %y, %z : !vec, !vec
  }
  return %r#0, %r#1 : !vec, !vec
}

// -----

!vec = tensor<4xf32>
!mat = tensor<4x4xf32>

// If control flow reads the result of code, the kernel of the code precedes the
// control flow. If code precedes the mark of a later phase, so does its kernel.
// CHECK-LABEL: func.func @main
// CHECK:         batch.invoke
// CHECK:         scf.if
// CHECK:         batch.invoke
// CHECK:         rec.phase
// CHECK:         batch.invoke
func.func @main(%n: index, %c: i1, %x: !vec, %W: !mat {batch.shared = "W"},
                %V: !mat {batch.shared = "V"}, %b: !vec {batch.shared = "b"})
    -> (!vec, !vec) attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%g = %x, %h = %x, %f = %x)
      -> (!vec, !vec, !vec) {
    %y = linalg.matvec ins(%W, %g : !mat, !vec) outs(%b : !vec) -> !vec
    %e = scf.if %c -> !vec {
      scf.yield %y : !vec
    } else {
      scf.yield %h : !vec
    }
    %z = linalg.matvec ins(%V, %e : !mat, !vec) outs(%b : !vec) -> !vec
    rec.phase "later"
    %u = linalg.matvec ins(%V, %f : !mat, !vec) outs(%b : !vec) -> !vec
    scf.yield %y, %z, %u : !vec, !vec, !vec
  }
  return %r#0, %r#1 : !vec, !vec
}

// -----

// A selected number depends on both operands of the select. The next round reads
// the result of this round, so all code of a round is one kernel.
// CHECK:     batch.kernel @selected_for(
// CHECK:       linalg.reduce
// CHECK-NOT: batch.kernel
// CHECK-LABEL: func.func @selected
func.func @selected(%x: tensor<4xi32>, %n: index) -> tensor<4xi32> attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %zero = arith.constant dense<0> : tensor<i32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<4xi32> {
    %sum = linalg.reduce { arith.addi } ins(%v : tensor<4xi32>) outs(%zero : tensor<i32>)
        dimensions = [0]
    %s = tensor.extract %sum[] : tensor<i32>
    %first = tensor.extract %v[%c0] : tensor<4xi32>
    %small = arith.cmpi slt, %first, %seven : i32
    %next = arith.select %small, %first, %s : i32
    %w = tensor.insert %next into %v[%c1] : tensor<4xi32>
    scf.yield %w : tensor<4xi32>
  }
  return %y : tensor<4xi32>
}

// -----

// A kernel remains at the position of its first op, before the values that control flow
// waits for. It may read values defined after that op.
// CHECK-LABEL: func.func @early
// CHECK:         %[[S:.*]] = arith.sitofp
// CHECK-NEXT:    %[[V:.*]] = batch.invoke @early_0(%{{.*}}, %[[S]])
// CHECK:         batch.force
// CHECK:         return %[[V]]
func.func @early(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: i32)
    -> (tensor<4xf32>, f32) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %t = math.tanh %x : tensor<4xf32>
  %s = arith.sitofp %k : i32 to f32
  %all = tensor.splat %s : tensor<4xf32>
  %v = arith.mulf %t, %all : tensor<4xf32>
  %f = batch.force %y number(0) : tensor<4xf32>
  %e = tensor.extract %f[%c0] : tensor<4xf32>
  return %v, %e : tensor<4xf32>, f32
}

// -----

// A history belongs to control flow: one kernel computes a row, and another kernel reads all
// rows, including the new row. If the position of a row of a history is constant or
// structural, a read of this row becomes rec.element.
// CHECK:       batch.kernel @[[ROW:.*]](
// CHECK:         linalg.matvec
// CHECK:         batch.yield
// CHECK:       batch.kernel @[[READER:.*]]({{.*}}tensor<?x4xf32>
// CHECK:         linalg.reduce
// CHECK:         batch.yield

// CHECK-LABEL: func.func @main
// CHECK:         %[[NONE:.*]] = rec.empty : tensor<?x4xf32>
// CHECK:         scf.for {{.*}} iter_args(%[[H:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[NONE]])
// CHECK:           %[[K:.*]] = batch.invoke @[[ROW]]({{.*}}%[[H]])
// CHECK-NEXT:      %[[AFTER:.*]] = rec.append %[[BEFORE]], %[[K]] : tensor<?x4xf32>
// CHECK-NEXT:      %[[Y:.*]] = batch.invoke @[[READER]]({{.*}}%[[AFTER]]
// CHECK-NEXT:      scf.yield %[[Y]], %[[AFTER]]
// CHECK:         rec.element %{{.*}}[%{{.*}}] : tensor<?x4xf32> -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %n: index, %W: tensor<4x4xf32> {batch.shared = "W"})
    -> (tensor<4xf32>, tensor<4xf32>) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %none = rec.empty : tensor<?x4xf32>
  %last, %rows = scf.for %i = %c0 to %n step %c1
      iter_args(%h = %x, %before = %none) -> (tensor<4xf32>, tensor<?x4xf32>) {
    %k = linalg.matvec ins(%W, %h : tensor<4x4xf32>, tensor<4xf32>)
                       outs(%zero : tensor<4xf32>) -> tensor<4xf32>
    %after = rec.append %before, %k : tensor<?x4xf32>
    %s = linalg.reduce { arith.addf } ins(%after : tensor<?x4xf32>)
        outs(%h : tensor<4xf32>) dimensions = [0]
    scf.yield %s, %after : tensor<4xf32>, tensor<?x4xf32>
  }
  %first = tensor.extract_slice %rows[%c0, 0] [1, 4] [1, 1]
      : tensor<?x4xf32> to tensor<4xf32>
  return %last, %first : tensor<4xf32>, tensor<4xf32>
}
