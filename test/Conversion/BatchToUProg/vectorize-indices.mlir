// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file -o %t.1
// RUN: FileCheck %s < %t.1
// RUN: batch-opt %s --batch-vectorize-kernels --split-input-file -o %t.2
// RUN: cmp %t.1 %t.2

// Elements and slices at positions that differ between tasks are read in place.
// An index that may be out of range is checked. If it is out of range, 0 replaces it.
// CHECK-DAG:   #[[TASK:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG:   #[[TASK3:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG:   #[[ALL3:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: uprog.operator @pick.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x8xf32> {uprog.operand = #uprog.operand<gather>}, %[[M:[a-z0-9]*]]: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>}, %[[I:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @pick(%x: tensor<8xf32>, %m: tensor<6x4xf32>, %i: index)
    -> (tensor<1xf32>, tensor<2x2xf32>) {
  // CHECK: linalg.generic {indexing_maps = [#[[TASK]], #[[TASK]]], iterator_types = ["parallel"]} ins(%[[I]] : tensor<?xindex>) outs(%{{.*}} : tensor<?xf32>)
  // CHECK-NEXT: ^bb0(%[[P:.*]]: index, %{{.*}}: f32):
  // CHECK:   %[[ROW:.*]] = linalg.index 0
  // CHECK:   %[[IN:.*]] = arith.cmpi ult, %[[P]], %c8
  // CHECK:   cf.assert %[[IN]], "index {} is out of range for dimension 0 of a tensor of type tensor<8xf32>, read at {{.*}}"
  // CHECK:   %[[OWN:.*]] = arith.select %[[IN]], %[[P]], %c0
  // CHECK:   tensor.extract %[[X]][%[[ROW]], %[[OWN]]] : tensor<?x8xf32>
  %e = tensor.extract %x[%i] : tensor<8xf32>
  %y = tensor.from_elements %e : tensor<1xf32>
  // A slice of two rows may begin at five positions. Its columns are constant.
  // CHECK: linalg.generic {indexing_maps = [#[[TASK3]], #[[ALL3]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[I]] : tensor<?xindex>) outs(%{{.*}} : tensor<?x2x2xf32>)
  // CHECK:   %[[IN:.*]] = arith.cmpi ult, %[[P:.*]], %c5
  // CHECK:   cf.assert %[[IN]], "index {} is out of range for a slice of 2 in dimension 0 of a tensor of type tensor<6x4xf32>
  // CHECK:   %[[OWN:.*]] = arith.select %[[IN]], %[[P]], %c0
  // CHECK:   %[[D1:.*]] = linalg.index 1
  // CHECK:   %[[R:.*]] = arith.addi %[[OWN]], %[[D1]]
  // CHECK:   %[[D2:.*]] = linalg.index 2
  // CHECK:   %[[C:.*]] = arith.addi %c1{{.*}}, %[[D2]]
  // CHECK:   tensor.extract %[[M]][%{{.*}}, %[[R]], %[[C]]] : tensor<?x6x4xf32>
  %z = tensor.extract_slice %m[%i, 1] [2, 2] [1, 1] : tensor<6x4xf32> to tensor<2x2xf32>
  batch.yield %y, %z : tensor<1xf32>, tensor<2x2xf32>
}

// -----

// A parameter with any number of rows is read in the same way as a tensor of the task.
// CHECK-LABEL: uprog.operator @pick_shared.rows
// CHECK-SAME:    %[[E:[a-z0-9]*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<shared(0)>}, %[[I:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @pick_shared(%e: tensor<?x4xf32> {batch.parameter = 0 : i64, batch.shared},
                          %i: index) -> (tensor<1x4xf32>, tensor<f32>, tensor<4xf32>) {
  %two = arith.constant 2 : index
  // CHECK: %[[N:.*]] = tensor.dim %[[E]], %c0
  // CHECK: ins(%[[I]] : tensor<?xindex>) outs(%{{.*}} : tensor<?x1x4xf32>)
  // CHECK:   arith.cmpi ult, %{{.*}}, %[[N]]
  // CHECK:   cf.assert %{{.*}}, "index {} is out of range for dimension 0 of a tensor of type tensor<?x4xf32>
  // CHECK:   %[[OWN:.*]] = arith.select
  // CHECK:   %[[D:.*]] = linalg.index 2
  // CHECK:   %[[C:.*]] = arith.addi %c0{{.*}}, %[[D]]
  // CHECK:   tensor.extract %[[E]][%[[OWN]], %[[C]]] : tensor<?x4xf32>
  %row = tensor.extract_slice %e[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
  // CHECK: tensor.extract %[[E]][%{{.*}}, %c2{{.*}}] : tensor<?x4xf32>
  %x = tensor.extract %e[%i, %two] : tensor<?x4xf32>
  %y = tensor.from_elements %x : tensor<f32>
  // A computed position is an operand of the read, even if it is equal for all
  // tasks.
  // CHECK: %[[FOUR:.*]] = arith.addi
  // CHECK: %[[REPEATED:.*]] = linalg.fill ins(%[[FOUR]] : index)
  // CHECK: ins(%[[REPEATED]] : tensor<?xindex>)
  %four = arith.addi %two, %two : index
  %same = tensor.extract_slice %e[%four, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  batch.yield %row, %y, %same : tensor<1x4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

// A body reads the tensors of its task. Loop indices are in range by
// construction.
// CHECK-LABEL: uprog.operator @body.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x9x4xf32> {{.*}}, %[[IDS:[a-z0-9]*]]: tensor<?x3xi64>
batch.kernel @body(%x: tensor<9x4xf32>, %ids: tensor<3xi64>) -> tensor<3x4xf32> {
  %empty = tensor.empty() : tensor<3x4xf32>
  // CHECK: ins(%[[IDS]] : tensor<?x3xi64>) outs(%{{.*}} : tensor<?x3x4xf32>)
  // CHECK:   %[[I:.*]] = arith.index_cast
  // CHECK:   %[[J:.*]] = linalg.index 2
  // CHECK:   %[[ROW:.*]] = linalg.index 0
  // CHECK:   arith.cmpi ult, %[[I]], %c9
  // CHECK:   cf.assert
  // CHECK:   %[[OWN:.*]] = arith.select
  // CHECK-NOT: cf.assert
  // CHECK:   tensor.extract %[[X]][%[[ROW]], %[[OWN]], %[[J]]] : tensor<?x9x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<3xi64>) outs(%empty : tensor<3x4xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : tensor<9x4xf32>
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  batch.yield %y : tensor<3x4xf32>
}

// -----

// Other tensor operations become either bodies that read elements, or constant slices.
// CHECK-LABEL: uprog.operator @others.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x9x4xf32> {{.*}}, %[[IDS:[a-z0-9]*]]: tensor<?x3x1xindex>
batch.kernel @others(%x: tensor<9x4xf32>, %ids: tensor<3x1xindex>)
    -> (tensor<3x1x4xf32>, tensor<12x4xf32>, tensor<2x4xf32>, tensor<9x4xf32>) {
  // CHECK: %[[I:.*]] = tensor.extract %[[IDS]][%{{.*}}] : tensor<?x3x1xindex>
  // CHECK: arith.cmpi ult, %[[I]], %c9
  // CHECK: tensor.extract %[[X]]
  %g = tensor.gather %x[%ids] gather_dims([0])
      : (tensor<9x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
  // CHECK: tensor.insert_slice %[[X]] into %{{.*}}[0, 1, 0] [%{{.*}}, 9, 4] [1, 1, 1]
  %half = arith.constant 0.5 : f32
  %p = tensor.pad %x low[1, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %half : f32
  } : tensor<9x4xf32> to tensor<12x4xf32>
  // CHECK: tensor.extract %[[X]]
  %m = tensor.generate {
  ^bb0(%i: index, %j: index):
    %v = tensor.extract %x[%i, %j] : tensor<9x4xf32>
    tensor.yield %v : f32
  } : tensor<2x4xf32>
  // CHECK: uprog.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[X]]
  %c = tensor.cast %x : tensor<9x4xf32> to tensor<9x4xf32>
  batch.yield %g, %p, %m, %c : tensor<3x1x4xf32>, tensor<12x4xf32>, tensor<2x4xf32>, tensor<9x4xf32>
}

// -----

// A ragged tensor contains the rows of all tasks, so a position is relative to the
// first row of the task. The offsets determine whether the task has this row, even
// if the position is constant.
// CHECK-LABEL: uprog.operator @ragged.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x8xf32> {uprog.operand = #uprog.operand<rows ragged(0)>}, %[[I:[a-z0-9]*]]: tensor<?xindex> {{.*}}, %[[J:[a-z0-9]*]]: tensor<?xindex> {{.*}}, %[[OFFSETS:[a-z0-9]*]]: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}
batch.kernel @ragged(%x: tensor<?x8xf32>, %i: index, %j: index)
    -> (tensor<8xf32>, tensor<2x3xf32>, tensor<f32>, tensor<8xf32>) {
  %c2 = arith.constant 2 : index
  // CHECK: linalg.generic {{.*}} ins(%[[I]] : tensor<?xindex>) outs(%{{.*}} : tensor<?x8xf32>)
  // CHECK-NEXT: ^bb0(%[[P:.*]]: index, %{{.*}}: f32):
  // CHECK:   %[[TASK:.*]] = linalg.index 0
  // CHECK:   %[[AFTER:.*]] = arith.addi %[[TASK]], %c1
  // CHECK:   %[[FIRST:.*]] = tensor.extract %[[OFFSETS]][%[[TASK]]]
  // CHECK:   %[[NEXT:.*]] = tensor.extract %[[OFFSETS]][%[[AFTER]]]
  // CHECK:   %[[COUNT:.*]] = arith.subi %[[NEXT]], %[[FIRST]]
  // CHECK:   %[[IN:.*]] = arith.cmpi ult, %[[P]], %[[COUNT]]
  // CHECK:   cf.assert %[[IN]], "index {} is out of range for dimension 0 of a tensor of type tensor<?x8xf32>, read at vectorize-indices.mlir:{{[0-9:]+}}"
  // CHECK:   %[[OWN:.*]] = arith.select %[[IN]], %[[P]], %c0
  // CHECK:   %[[ROW:.*]] = arith.addi %[[FIRST]], %[[OWN]]
  // CHECK:   tensor.extract %[[X]][%[[ROW]], %{{.*}}] : tensor<?x8xf32>
  %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
  // Each row of a slice with several rows is checked. Columns begin at the
  // position of the slice.
  // CHECK: linalg.generic {{.*}} ins(%[[I]], %[[J]] : tensor<?xindex>, tensor<?xindex>) outs(%{{.*}} : tensor<?x2x3xf32>)
  // CHECK-NEXT: ^bb0(%[[P:.*]]: index, %[[Q:.*]]: index, %{{.*}}: f32):
  // CHECK:   %[[D1:.*]] = linalg.index 1
  // CHECK:   %[[R:.*]] = arith.addi %[[P]], %[[D1]]
  // CHECK:   arith.cmpi ult, %[[R]], %{{.*}}
  // CHECK:   cf.assert %{{.*}}, "index {} is out of range for dimension 0 of
  // CHECK:   %[[ROW:.*]] = arith.addi
  // CHECK:   arith.cmpi ult, %[[Q]], %c4
  // CHECK:   cf.assert %{{.*}}, "index {} is out of range for a slice of 3 in dimension 1 of
  // CHECK:   %[[C:.*]] = arith.select %{{.*}}, %[[Q]]
  // CHECK:   %[[D2:.*]] = linalg.index 2
  // CHECK:   %[[ALONG:.*]] = arith.muli %[[D2]], %c2
  // CHECK:   %[[COLUMN:.*]] = arith.addi %[[C]], %[[ALONG]]
  // CHECK:   tensor.extract %[[X]][%[[ROW]], %[[COLUMN]]] : tensor<?x8xf32>
  %piece = tensor.extract_slice %x[%i, %j] [2, 3] [1, 2] : tensor<?x8xf32> to tensor<2x3xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[J]] : tensor<?xindex>) outs(%{{.*}} : tensor<?xf32>)
  // CHECK:   %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}}
  // CHECK:   cf.assert %[[IN]]
  // CHECK-NOT: cf.assert
  // CHECK:   tensor.extract %[[X]][%{{.*}}, %c2{{.*}}] : tensor<?x8xf32>
  %e = tensor.extract %x[%j, %c2] : tensor<?x8xf32>
  %f = tensor.from_elements %e : tensor<f32>
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8xf32>)
  // CHECK-NEXT: ^bb0(%{{.*}}: f32):
  // CHECK:   %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK:   %[[IN:.*]] = arith.cmpi ult, %[[ZERO]], %{{.*}}
  // CHECK:   cf.assert %[[IN]]
  // CHECK:   tensor.extract %[[X]]
  %first = tensor.extract_slice %x[0, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
  batch.yield %row, %piece, %f, %first
      : tensor<8xf32>, tensor<2x3xf32>, tensor<f32>, tensor<8xf32>
}

// -----

// A body can also read rows of a ragged tensor of its task, with the same checks.
// CHECK-LABEL: uprog.operator @ragged_body.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x8xf32> {{.*}}, %[[IDS:[a-z0-9]*]]: tensor<?x3xindex> {{.*}}, %[[OFFSETS:[a-z0-9]*]]: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}
batch.kernel @ragged_body(%x: tensor<?x8xf32>, %ids: tensor<3xindex>) -> tensor<3x8xf32> {
  %empty = tensor.empty() : tensor<3x8xf32>
  // CHECK: ins(%[[IDS]] : tensor<?x3xindex>) outs(%{{.*}} : tensor<?x3x8xf32>)
  // CHECK-NEXT: ^bb0(%[[ID:.*]]: index, %{{.*}}: f32):
  // CHECK:   %[[J:.*]] = linalg.index 2
  // CHECK:   %[[TASK:.*]] = linalg.index 0
  // CHECK:   %[[FIRST:.*]] = tensor.extract %[[OFFSETS]][%[[TASK]]]
  // CHECK:   %[[NEXT:.*]] = tensor.extract %[[OFFSETS]]
  // CHECK:   %[[COUNT:.*]] = arith.subi %[[NEXT]], %[[FIRST]]
  // CHECK:   %[[IN:.*]] = arith.cmpi ult, %[[ID]], %[[COUNT]]
  // CHECK:   cf.assert %[[IN]]
  // CHECK:   %[[OWN:.*]] = arith.select %[[IN]], %[[ID]], %c0
  // CHECK:   %[[ROW:.*]] = arith.addi %[[FIRST]], %[[OWN]]
  // CHECK-NOT: cf.assert
  // CHECK:   tensor.extract %[[X]][%[[ROW]], %[[J]]] : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<3xindex>) outs(%empty : tensor<3x8xf32>) {
  ^bb0(%id: index, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%id, %j] : tensor<?x8xf32>
    linalg.yield %v : f32
  } -> tensor<3x8xf32>
  batch.yield %y : tensor<3x8xf32>
}

// -----

// An insert at positions that differ between tasks becomes a select for each element
// of the tensor: the inserted element within the slice, the old element elsewhere.
// The positions of the slice are checked.
// CHECK-DAG:   #[[TASK:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK:       batch.kernel @put
// CHECK-NOT:   batch.in_place
// CHECK-SAME:  batch.copied_bytes = 2304 : i64
// CHECK-LABEL: uprog.operator @put.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x6x19xf32> {{.*}}, %[[R:[a-z0-9]*]]: tensor<?x19xf32> {{.*}}, %[[W:[a-z0-9]*]]: tensor<?x2x4xf32> {{.*}}, %[[S:[a-z0-9]*]]: tensor<?xf32> {{.*}}, %[[I:[a-z0-9]*]]: tensor<?xindex> {{.*}}, %[[J:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @put(%x: tensor<6x19xf32>, %r: tensor<19xf32>, %w: tensor<2x4xf32>,
                  %s: f32, %i: index, %j: index)
    -> (tensor<6x19xf32>, tensor<6x19xf32>, tensor<6x19xf32>, tensor<6x19xf32>,
        tensor<19xf32>) {
  // A whole row is inserted, so there is no condition on the columns.
  // CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[TASK]], #[[ALL]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[X]], %[[I]] :
  // CHECK-NEXT: ^bb0(%[[OLD:.*]]: f32, %[[P:.*]]: index, %{{.*}}: f32):
  // CHECK:   %[[TASKNO:.*]] = linalg.index 0
  // CHECK:   %[[D1:.*]] = linalg.index 1
  // CHECK:   %[[IN:.*]] = arith.cmpi ult, %[[P]], %c6
  // CHECK:   cf.assert %[[IN]], "index {} is out of range for dimension 0 of a tensor of type tensor<6x19xf32>, written at {{.*}}"
  // CHECK:   %[[FIRST:.*]] = arith.select %[[IN]], %[[P]], %c0
  // CHECK:   %[[FROM:.*]] = arith.subi %[[D1]], %[[FIRST]]
  // CHECK:   %[[HERE:.*]] = arith.cmpi ult, %[[FROM]], %c1
  // CHECK:   %[[D2:.*]] = linalg.index 2
  // CHECK-NOT: cmpi
  // CHECK:   %[[V:.*]] = tensor.extract %[[R]][%[[TASKNO]], %[[D2]]] : tensor<?x19xf32>
  // CHECK:   %[[OUT:.*]] = arith.select %[[HERE]], %[[V]], %[[OLD]]
  // CHECK:   linalg.yield %[[OUT]]
  %a = tensor.insert_slice %r into %x[%i, 0] [1, 19] [1, 1] : tensor<19xf32> into tensor<6x19xf32>
  // A slice of two rows with stride two may begin at four positions. A slice of
  // four columns with stride three may begin at ten positions.
  // CHECK: linalg.generic {{.*}} ins(%[[X]], %[[I]], %[[J]] :
  // CHECK:   cf.assert %{{.*}}, "index {} is out of range for a slice of 2 in dimension 0 of a tensor of type tensor<6x19xf32>, written
  // CHECK:   %[[FROM:.*]] = arith.subi
  // CHECK:   %[[BELOW:.*]] = arith.cmpi ult, %[[FROM]], %c3
  // CHECK:   %[[REST:.*]] = arith.remui %[[FROM]], %c2
  // CHECK:   %[[HITS:.*]] = arith.cmpi eq, %[[REST]], %c0
  // CHECK:   %[[ROWIN:.*]] = arith.andi %[[BELOW]], %[[HITS]]
  // CHECK:   %[[DIV:.*]] = arith.divui %[[FROM]], %c2
  // CHECK:   %[[ROW:.*]] = arith.select %[[ROWIN]], %[[DIV]], %c0
  // CHECK:   arith.cmpi ult, %{{.*}}, %c10
  // CHECK:   cf.assert %{{.*}}, "index {} is out of range for a slice of 4 in dimension 1 of
  // CHECK:   %[[COLIN:.*]] = arith.andi
  // CHECK:   %[[COLUMN:.*]] = arith.select %[[COLIN]]
  // CHECK:   %[[BOTH:.*]] = arith.andi %[[ROWIN]], %[[COLIN]]
  // CHECK:   tensor.extract %[[W]][%{{.*}}, %[[ROW]], %[[COLUMN]]]
  // CHECK:   arith.select %[[BOTH]]
  %b = tensor.insert_slice %w into %x[%i, %j] [2, 4] [2, 3] : tensor<2x4xf32> into tensor<6x19xf32>
  // An element is inserted into a constant.
  // CHECK: %[[ZEROS:.*]] = linalg.fill
  // CHECK: linalg.generic {{.*}} ins(%[[ZEROS]], %[[S]], %[[I]], %[[J]] :
  %zeros = arith.constant dense<0.0> : tensor<6x19xf32>
  %c = tensor.insert %s into %zeros[%i, %j] : tensor<6x19xf32>
  // CHECK: uprog.yield
  batch.yield %a, %b, %c, %x, %r
      : tensor<6x19xf32>, tensor<6x19xf32>, tensor<6x19xf32>, tensor<6x19xf32>,
        tensor<19xf32>
}

// -----

// If a result is an argument with inserted slices, and nothing reads the
// argument afterwards, the inserts write to the row of the argument. An inserted value
// that depends on the row is stored in memory before the row changes.
// CHECK:       batch.kernel @cache
// CHECK-SAME:    -> (tensor<6x4xf32> {batch.in_place = 0 : i64}, tensor<8xi64> {batch.in_place = 2 : i64}, tensor<4xf32>)
// CHECK-NOT:   batch.copied_bytes
// CHECK-LABEL: uprog.operator @cache.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x6x4xf32> {{.*}}, %[[R:[a-z0-9]*]]: tensor<?x4xf32> {{.*}}, %[[C:[a-z0-9]*]]: tensor<?x8xi64> {{.*}}, %[[I:[a-z0-9]*]]: tensor<?xindex>
batch.kernel @cache(%x: tensor<6x4xf32>, %r: tensor<4xf32>, %c: tensor<8xi64>, %i: index)
    -> (tensor<6x4xf32>, tensor<8xi64>, tensor<4xf32>) {
  // CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<?xindex>)
  // CHECK:   cf.assert %{{.*}}, "index {} is out of range for dimension 0 of a tensor of type tensor<6x4xf32>, written at
  // CHECK: %[[ONE:.*]] = uprog.insert %[[R]] into %[[X]] [%[[P]], 0] sizes [1, 4] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  %a = tensor.insert_slice %r into %x[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
  // CHECK: %[[FOUR:.*]] = tensor.extract_slice %[[R]]
  // CHECK: %[[TWO:.*]] = uprog.insert %[[FOUR]] into %[[ONE]] [%{{.*}}, 1] sizes [2, 1] strides [3, 1]
  %w = tensor.extract_slice %r[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %b = tensor.insert_slice %w into %a[%i, 1] [2, 1] [3, 1] : tensor<2xf32> into tensor<6x4xf32>
  // CHECK: %[[N:.*]] = tensor.extract %[[C]]
  // CHECK: %[[MORE:.*]] = arith.addi
  // CHECK: %[[COPY:.*]] = linalg.copy ins(%[[MORE]] :
  // CHECK: uprog.insert %[[COPY]] into %[[C]] [%{{.*}}] sizes [1] strides [1] : tensor<?xi64> into tensor<?x8xi64>
  %n = tensor.extract %c[%i] : tensor<8xi64>
  %one = arith.constant 1 : i64
  %more = arith.addi %n, %one : i64
  %d = tensor.insert %more into %c[%i] : tensor<8xi64>
  // CHECK: tensor.extract_slice %[[TWO]]
  %z = tensor.extract_slice %b[2, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
  batch.yield %b, %d, %z : tensor<6x4xf32>, tensor<8xi64>, tensor<4xf32>
}

// -----

// Elements that are inserted with a stride are interleaved with the old
// elements between them.
// CHECK-LABEL: uprog.operator @strides.rows
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x3xf32> {{[^:]*}}, %[[Y:[a-z0-9]*]]: tensor<?x7xf32>
batch.kernel @strides(%x: tensor<3xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  // CHECK: %[[HEAD:.*]] = tensor.extract_slice %[[Y]][0, 0] [%{{.*}}, 1] [1, 1]
  // CHECK: %[[TWO:.*]] = tensor.extract_slice %{{.*}}[0, 0] [%{{.*}}, 2] [1, 1]
  // CHECK: %[[OLD:.*]] = tensor.extract_slice %[[Y]][0, 1] [%{{.*}}, 4] [1, 1]
  // CHECK-DAG: tensor.expand_shape %[[OLD]]
  // CHECK-DAG: tensor.expand_shape %[[TWO]]
  // CHECK: tensor.concat dim(2) %{{.*}}, %{{.*}} : (tensor<?x2x1xf32>, tensor<?x2x1xf32>) -> tensor<?x2x2xf32>
  // CHECK: %[[MIDDLE:.*]] = tensor.collapse_shape %{{.*}} : tensor<?x2x2xf32> into tensor<?x4xf32>
  // CHECK: %[[LAST:.*]] = tensor.extract_slice %{{.*}}[0, 2] [%{{.*}}, 1] [1, 1]
  // CHECK: %[[TAIL:.*]] = tensor.extract_slice %[[Y]][0, 6] [%{{.*}}, 1] [1, 1]
  // CHECK: tensor.concat dim(1) %[[HEAD]], %[[MIDDLE]], %[[LAST]], %[[TAIL]]
  %z = tensor.insert_slice %x into %y[1] [3] [2] : tensor<3xf32> into tensor<7xf32>
  batch.yield %z : tensor<7xf32>
}


// -----

// Positions and strides that are constant operands become attributes. Code generators
// can then read the slices of all rows at fixed positions.
// CHECK-LABEL: uprog.operator @known.rows
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[0, 1, 0] [%{{.*}}, 2, 4] [1, 2, 1]
// CHECK: tensor.insert_slice %[[PART]] into %{{.*}}[0, 1, 0] [%{{.*}}, 2, 4] [1, 1, 1]
batch.kernel @known(%x: tensor<6x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %part = tensor.extract_slice %x[%c1, 0] [2, 4] [%c2, 1]
    : tensor<6x4xf32> to tensor<2x4xf32>
  %z = tensor.insert_slice %part into %y[%c1, 0] [2, 4] [1, 1]
    : tensor<2x4xf32> into tensor<3x4xf32>
  batch.yield %z : tensor<3x4xf32>
}
