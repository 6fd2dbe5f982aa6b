// RUN: batch-opt %s --uprog-stage-operators --convert-operators-to-cpu --split-input-file | FileCheck %s

// A row at a computed index is read in vectors of columns. No loop runs over the
// 3797 rows: this number only limits the index. The function has an argument for
// the record of an index out of range. Only the first such index is written.
// CHECK-LABEL: func.func private @row.rows.stage0
// CHECK-SAME:    %[[ERROR:[a-z0-9]*]]: !llvm.ptr)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 3797 : index
// CHECK-NOT:     3797
// CHECK:         %[[IN:.*]] = arith.cmpi ult, %[[I:.*]], %[[ROWS]] : index
// CHECK:         %[[OUT:.*]] = arith.xori %[[IN]]
// CHECK:         scf.if %[[OUT]] {
// CHECK:           %[[OLD:.*]] = llvm.cmpxchg %[[ERROR]], %[[NONE]], %[[ONE]] monotonic monotonic
// CHECK:           %[[FIRST:.*]] = llvm.extractvalue %[[OLD]][1]
// CHECK:           scf.if %[[FIRST]] {
// CHECK:             llvm.store
// CHECK:         %[[OWN:.*]] = arith.select %[[IN]], %[[I]]
// CHECK:         llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
// CHECK-NOT:     scf.for {{.*}} to %[[ROWS]]
// CHECK-LABEL: func.func @row.rows(
// CHECK-SAME:    %[[ERRORS:[a-z0-9]*]]: !llvm.ptr)
// CHECK:         call @row.rows.stage0({{.*}}, %[[ERRORS]])
uprog.operator @row.rows(
    %n: index, %e: tensor<3797x256xf32> {uprog.operand = #uprog.operand<shared(0)>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %c3797 = arith.constant 3797 : index
  %empty = tensor.empty(%n) : tensor<?x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xindex>) outs(%empty : tensor<?x256xf32>) {
  ^bb0(%p: index, %o: f32):
    %in = arith.cmpi ult, %p, %c3797 : index
    cf.assert %in, "dimension 0 of parameter 'E'"
    %own = arith.select %in, %p, %c0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %e[%own, %j] : tensor<3797x256xf32>
    linalg.yield %v : f32
  } -> tensor<?x256xf32>
  uprog.yield %r : tensor<?x256xf32>
}

// -----

// The module's uprog.indices describe the checked indices.
// CHECK: uprog.indices = ["dimension 0 of parameter 'E'", "dimension 1 of a tensor"]

// The number of a parameter's rows is stored before the rows. If the index
// differs between columns, elements are read one at a time.
// CHECK-LABEL: func.func private @element.rows.stage0
// CHECK-DAG:     %[[BEFORE:.*]] = arith.constant -64 : i64
// CHECK:         %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[BEFORE]]]
// CHECK:         %[[EXTENT:.*]] = llvm.load %[[AT]] {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK:         %[[ROWS:.*]] = arith.index_cast %[[EXTENT]] : i64 to index
// CHECK:         arith.cmpi ult, %{{.*}}, %[[ROWS]] : index
// CHECK-NOT:     vector<
// CHECK-LABEL: func.func @element.rows(
uprog.operator @element.rows(
    %n: index, %e: tensor<?x20xf32> {uprog.operand = #uprog.operand<shared(0)>},
    %i: tensor<?x20xi64> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x20xf32> {
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  %rows = tensor.dim %e, %c0 : tensor<?x20xf32>
  %empty = tensor.empty(%n) : tensor<?x20xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?x20xi64>) outs(%empty : tensor<?x20xf32>) {
  ^bb0(%p: i64, %o: f32):
    %q = arith.index_cast %p : i64 to index
    %in = arith.cmpi ult, %q, %rows : index
    cf.assert %in, "dimension 0 of parameter 'E'"
    %own = arith.select %in, %q, %c0 : index
    %column = arith.cmpi ult, %q, %c20 : index
    cf.assert %column, "dimension 1 of a tensor"
    %j = arith.select %column, %q, %c0 : index
    %v = tensor.extract %e[%own, %j] : tensor<?x20xf32>
    linalg.yield %v : f32
  } -> tensor<?x20xf32>
  uprog.yield %r : tensor<?x20xf32>
}

// -----

// An element of a ragged tensor is in a row between two offsets, which are i32
// in memory.
// CHECK-LABEL: func.func private @ragged.rows.stage0
// CHECK-DAG:     %[[NEXT:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK:         %[[A:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK-NEXT:    %[[A64:.*]] = arith.extsi %[[A]] : i32 to i64
// CHECK-NEXT:    %[[FIRST:.*]] = arith.index_cast %[[A64]] : i64 to index
// CHECK:         %[[B:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK-NEXT:    %[[B64:.*]] = arith.extsi %[[B]] : i32 to i64
// CHECK-NEXT:    %[[END:.*]] = arith.index_cast %[[B64]] : i64 to index
// CHECK:         %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]] : index
// CHECK:         %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[COUNT]] : index
// CHECK:         llvm.cmpxchg
// CHECK:         %[[OWN:.*]] = arith.select %[[IN]]
// CHECK-DAG:     %[[BEGIN:.*]] = arith.index_cast %[[FIRST]] : index to i64
// CHECK-DAG:     %[[WHICH:.*]] = arith.index_cast %[[OWN]] : index to i64
// CHECK:         %[[ROW:.*]] = arith.addi %[[BEGIN]], %[[WHICH]] : i64
// If the last ragged tensor has no rows, nothing is read for it.
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt, %[[ROW]], %{{.*}} : i64
// CHECK-NEXT:    scf.if %[[EXISTS]]
// CHECK:           llvm.load
// CHECK:         } else {
// CHECK-NEXT:      %[[NONE:.*]] = arith.constant dense<0.000000e+00>
// CHECK-NEXT:      scf.yield %[[NONE]]
// CHECK-LABEL: func.func @ragged.rows(
uprog.operator @ragged.rows(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
    %offsets: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xindex>) outs(%empty : tensor<?x4xf32>) {
  ^bb0(%p: index, %o: f32):
    %task = linalg.index 0 : index
    %after = arith.addi %task, %c1 : index
    %first = tensor.extract %offsets[%task] : tensor<?xindex>
    %next = tensor.extract %offsets[%after] : tensor<?xindex>
    %count = arith.subi %next, %first : index
    %in = arith.cmpi ult, %p, %count : index
    cf.assert %in, "dimension 0 of a tensor"
    %own = arith.select %in, %p, %c0 : index
    %row = arith.addi %first, %own : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%row, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  uprog.yield %r : tensor<?x4xf32>
}

// -----

// A row is inserted at a computed index. Either all of its columns are in range or none
// are, so both the old row and the new row are read as vectors. If an element is inserted
// instead, the columns are written one at a time.
// CHECK-LABEL: func.func private @insert.rows.stage0
// CHECK:         llvm.cmpxchg
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK:         llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK-LABEL: func.func private @insert.rows.stage1
// CHECK-NOT:     vector<
// CHECK:         llvm.store %{{.*}} : f32, !llvm.ptr
// CHECK-LABEL: func.func @insert.rows(
uprog.operator @insert.rows(
    %n: index, %x: tensor<?x8x32xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x32xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>})
    -> (tensor<?x8x32xf32>, tensor<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty(%n) : tensor<?x8x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %i : tensor<?x8x32xf32>, tensor<?xindex>) outs(%empty : tensor<?x8x32xf32>) {
  ^bb0(%old: f32, %p: index, %o: f32):
    %in = arith.cmpi ult, %p, %c8 : index
    cf.assert %in, "dimension 0 of a tensor"
    %own = arith.select %in, %p, %c0 : index
    %t = linalg.index 0 : index
    %k = linalg.index 1 : index
    %from = arith.subi %k, %own : index
    %here = arith.cmpi ult, %from, %c1 : index
    %j = linalg.index 2 : index
    %v = tensor.extract %r[%t, %j] : tensor<?x32xf32>
    %w = arith.select %here, %v, %old : f32
    linalg.yield %w : f32
  } -> tensor<?x8x32xf32>
  %row = tensor.empty(%n) : tensor<?x32xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r, %i : tensor<?x32xf32>, tensor<?xindex>) outs(%row : tensor<?x32xf32>) {
  ^bb0(%old: f32, %p: index, %o: f32):
    %t = linalg.index 0 : index
    %j = linalg.index 1 : index
    %from = arith.subi %j, %p : index
    %here = arith.cmpi ult, %from, %c1 : index
    %at = arith.select %here, %from, %c0 : index
    %v = tensor.extract %r[%t, %at] : tensor<?x32xf32>
    %w = arith.select %here, %v, %old : f32
    linalg.yield %w : f32
  } -> tensor<?x32xf32>
  uprog.yield %y, %z : tensor<?x8x32xf32>, tensor<?x32xf32>
}
