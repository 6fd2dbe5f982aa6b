// RUN: batch-opt %s --convert-rec-to-llvm | FileCheck %s
// RUN: batch-opt %s --convert-rec-to-llvm --convert-scf-to-cf --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s --check-prefix=LLVM

// No conversion cast remains after the other dialects are lowered.
// LLVM-LABEL: llvm.func @sum(
// LLVM-NOT:   unrealized_conversion_cast

// Declarations remain for the descriptor of the object.
// CHECK: rec.adt @Tree
rec.adt @Tree {
  rec.variant @leaf(word: index, weight: f32)
  rec.variant @node(left: !rec.adt<@Tree>, right: !rec.adt<@Tree>)
}
rec.adt @Rose {
  rec.variant @rose(mark: i8, kids: !rec.list<!rec.adt<@Rose>>)
}

// A match switches on the variant's number; the last case is the default.
// Only the fields that a case uses are loaded; calls pass the context on.
// CHECK-LABEL: func.func @sum
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[T:.*]]: i64) -> f32
func.func @sum(%t: !rec.adt<@Tree>) -> f32 {
  // CHECK:      %[[VARIANTS_AT:.*]] = llvm.getelementptr %[[CTX]][4]
  // CHECK-NEXT: %[[VARIANTS:.*]] = llvm.load %[[VARIANTS_AT]] {tbaa = [#[[BASE:.*]]]} : !llvm.ptr -> !llvm.ptr
  // CHECK-NEXT: %[[VARIANT_AT:.*]] = llvm.getelementptr %[[VARIANTS]][%[[T]]] : {{.*}}, i8
  // CHECK-NEXT: %[[VARIANT:.*]] = llvm.load %[[VARIANT_AT]] {tbaa = [#{{.*}}]} : !llvm.ptr -> i8
  // CHECK:      scf.index_switch %{{.*}} -> f32
  %r = rec.match %t : !rec.adt<@Tree> -> f32 {
  // CHECK-NEXT: case 0 {
  case @leaf(%word: index, %weight: f32) {
    // CHECK-NEXT: %[[CELLS_AT:.*]] = llvm.getelementptr %[[CTX]][5]
    // CHECK-NEXT: %[[CELLS:.*]] = llvm.load %[[CELLS_AT]]
    // CHECK-NEXT: %[[COLUMN_AT:.*]] = llvm.getelementptr %[[CELLS]][1]
    // CHECK-NEXT: %[[COLUMN:.*]] = llvm.load %[[COLUMN_AT]] {tbaa = [#[[BASE]]]}
    // CHECK-NEXT: %[[CELL_AT:.*]] = llvm.getelementptr %[[COLUMN]][%[[T]]]
    // CHECK-NEXT: %[[CELL:.*]] = llvm.load %[[CELL_AT]] {{.*}} : !llvm.ptr -> i64
    // CHECK-NEXT: %[[BITS:.*]] = arith.trunci %[[CELL]] : i64 to i32
    // CHECK-NEXT: %[[WEIGHT:.*]] = arith.bitcast %[[BITS]] : i32 to f32
    // CHECK-NEXT: scf.yield %[[WEIGHT]] : f32
    rec.yield %weight : f32
  }
  // CHECK: default {
  case @node(%l: !rec.adt<@Tree>, %r: !rec.adt<@Tree>) {
    // CHECK: %[[A:.*]] = func.call @sum(%[[CTX]], %{{.*}}) : (!llvm.ptr, i64) -> f32
    %a = func.call @sum(%l) : (!rec.adt<@Tree>) -> f32
    // CHECK: %[[B:.*]] = func.call @sum(%[[CTX]], %{{.*}}) : (!llvm.ptr, i64) -> f32
    %b = func.call @sum(%r) : (!rec.adt<@Tree>) -> f32
    // CHECK: arith.addf %[[A]], %[[B]]
    %c = arith.addf %a, %b : f32
    rec.yield %c : f32
  } }
  return %r : f32
}

// One variant needs no switch. An 8-bit field is truncated from its cell.
// CHECK-LABEL: func.func @mark
func.func @mark(%t: !rec.adt<@Rose>) -> i8 {
  // CHECK-NOT: scf.index_switch
  // CHECK: %[[CELL:.*]] = llvm.load %{{.*}} {{.*}} : !llvm.ptr -> i64
  // CHECK: %[[MARK:.*]] = arith.trunci %[[CELL]] : i64 to i8
  // CHECK: return %[[MARK]]
  %r = rec.match %t : !rec.adt<@Rose> -> i8 {
  case @rose(%mark: i8, %kids: !rec.list<!rec.adt<@Rose>>) {
    rec.yield %mark : i8
  } }
  return %r : i8
}

// A construction uses the next reserved node. If none is left, the construction
// first reserves space.
// CHECK-LABEL: func.func @construct
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[MARK:.*]]: i8, %[[KIDS:.*]]: i64) -> i64
func.func @construct(%mark: i8, %kids: !rec.list<!rec.adt<@Rose>>)
    -> !rec.adt<@Rose> {
  // CHECK:      %[[COUNT:.*]] = llvm.load
  // CHECK:      %[[END:.*]] = arith.addi %[[COUNT]], %[[ONE:.*]] : i64
  // CHECK:      %[[CAPACITY:.*]] = llvm.load
  // CHECK:      %[[FULL:.*]] = arith.cmpi sgt, %[[END]], %[[CAPACITY]]
  // CHECK-NEXT: scf.if %[[FULL]] {
  // CHECK-NEXT:   %[[TABLE_AT:.*]] = llvm.getelementptr %[[CTX]][0]
  // CHECK-NEXT:   %[[TABLE:.*]] = llvm.load %[[TABLE_AT]]
  // CHECK-NEXT:   %[[GROW_AT:.*]] = llvm.getelementptr %[[TABLE]][0]
  // CHECK-NEXT:   %[[GROW:.*]] = llvm.load %[[GROW_AT]]
  // CHECK-NEXT:   llvm.call %[[GROW]](%[[CTX]], %[[ONE]]) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  // CHECK-NEXT: }
  // CHECK:      %[[NODE_AT:.*]] = llvm.getelementptr %[[CTX]][2]
  // CHECK-NEXT: %[[NODE:.*]] = llvm.load %[[NODE_AT]]
  // CHECK:      %[[NUMBER:.*]] = arith.constant 2 : i8
  // CHECK:      llvm.store %[[NUMBER]], %{{.*}} {{.*}} : i8, !llvm.ptr
  // CHECK:      %[[CELL:.*]] = arith.extsi %[[MARK]] : i8 to i64
  // CHECK:      llvm.store %[[CELL]]
  // CHECK:      llvm.store %[[KIDS]]
  // CHECK:      return %[[NODE]]
  %t = rec.construct @Rose::@rose(%mark, %kids)
      : (i8, !rec.list<!rec.adt<@Rose>>) -> !rec.adt<@Rose>
  return %t : !rec.adt<@Rose>
}

// The entries of all result lists are reserved before the loop. Growing the list pool may
// move them, so the loop loads the pool again for each access.
// CHECK-LABEL: func.func @map
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[KIDS:.*]]: i64)
func.func @map(%kids: !rec.list<!rec.adt<@Rose>>)
    -> (!rec.list<!rec.adt<@Rose>>, tensor<?x4xf32>) {
  // CHECK:      %[[BEGIN:.*]] = arith.andi %[[KIDS]], %{{.*}}
  // CHECK:      %[[LENGTH:.*]] = arith.shrui %[[KIDS]], %{{.*}}
  // CHECK:      %[[COUNT:.*]] = arith.muli %[[LENGTH]], %{{.*}}
  // CHECK:      %[[SIZE_AT:.*]] = llvm.getelementptr %[[CTX]][7]
  // CHECK-NEXT: %[[SIZE:.*]] = llvm.load %[[SIZE_AT]]
  // CHECK:      %[[WANTED:.*]] = arith.addi %[[SIZE]], %[[COUNT]]
  // CHECK:      arith.cmpi sgt, %[[WANTED]]
  // CHECK:      scf.if
  // CHECK:        llvm.call %{{.*}}(%[[CTX]], %[[COUNT]]) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  // CHECK:      %[[FIRST:.*]] = llvm.load
  // CHECK:      %[[END:.*]] = arith.addi %[[FIRST]], %[[COUNT]]
  // CHECK:      llvm.store %[[END]]
  // CHECK:      %[[A:.*]] = arith.ori %{{.*}}, %[[FIRST]]
  // CHECK:      %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[LENGTH]]
  // CHECK:      %[[B:.*]] = arith.ori %{{.*}}, %[[SECOND]]
  // CHECK:      scf.for %[[I:.*]] = %{{.*}} to %[[LENGTH]] step
  // CHECK-NEXT:   arith.addi %[[BEGIN]], %[[I]]
  // CHECK-NEXT:   %[[POOL_AT:.*]] = llvm.getelementptr %[[CTX]][6]
  // CHECK-NEXT:   llvm.load %[[POOL_AT]]
  // CHECK:        %[[R:.*]]:2 = func.call @step(%[[CTX]], %{{.*}}) : (!llvm.ptr, i64) -> (i64, i64)
  // CHECK-NEXT:   arith.addi %[[FIRST]], %[[I]]
  // CHECK:        llvm.store %[[R]]#0
  // CHECK-NEXT:   arith.addi %[[SECOND]], %[[I]]
  // CHECK:        llvm.store %[[R]]#1
  // CHECK-SAME:   : i64, !llvm.ptr
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[A]], %[[B]]
  %a, %b = rec.map %kid in %kids : !rec.list<!rec.adt<@Rose>>
      -> !rec.list<!rec.adt<@Rose>>, tensor<?x4xf32> {
    %r:2 = func.call @step(%kid)
        : (!rec.adt<@Rose>) -> (!rec.adt<@Rose>, tensor<4xf32>)
    rec.yield %r#0, %r#1 : !rec.adt<@Rose>, tensor<4xf32>
  }
  return %a, %b : !rec.list<!rec.adt<@Rose>>, tensor<?x4xf32>
}

func.func @step(%t: !rec.adt<@Rose>) -> (!rec.adt<@Rose>, tensor<4xf32>) {
  %r:2 = func.call @step(%t)
      : (!rec.adt<@Rose>) -> (!rec.adt<@Rose>, tensor<4xf32>)
  return %r#0, %r#1 : !rec.adt<@Rose>, tensor<4xf32>
}

// If the lists have different lengths, the run fails. Accumulators are carried in
// converted form.
// CHECK-LABEL: func.func @fold
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[XS:.*]]: i64, %[[NS:.*]]: i64, %[[H:.*]]: i64)
func.func @fold(%xs: tensor<?x4xf32>, %ns: !rec.list<i1>, %h: tensor<4xf32>)
    -> tensor<4xf32> {
  // CHECK:      %[[DIFFER:.*]] = arith.cmpi ne
  // CHECK-NEXT: scf.if %[[DIFFER]] {
  // CHECK-NEXT:   %[[CODE:.*]] = arith.constant 3 : i64
  // CHECK:        llvm.call %{{.*}}(%[[CTX]], %[[CODE]], %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  // CHECK-NEXT:   %[[NEVER:.*]] = arith.constant false
  // CHECK-NEXT:   llvm.intr.assume %[[NEVER]] : i1
  // CHECK:      %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[H]]) -> (i64)
  // CHECK:        arith.trunci %{{.*}} : i64 to i1
  // CHECK:        %[[S:.*]] = arith.select %{{.*}}, %{{.*}}, %[[A]] : i64
  // CHECK-NEXT:   scf.yield %[[S]] : i64
  // CHECK:      return %[[R]]
  %r = rec.fold (%x, %n) in (%xs, %ns) init(%a = %h)
      : tensor<?x4xf32>, !rec.list<i1> -> tensor<4xf32> {
    %s = arith.select %n, %x, %a : tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @length
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %[[XS:.*]]: i64) -> index
func.func @length(%xs: tensor<?x4xf32>) -> index {
  // CHECK-NOT:  rec.phase
  // CHECK:      %[[BITS:.*]] = arith.constant 32 : i64
  // CHECK-NEXT: %[[N:.*]] = arith.shrui %[[XS]], %[[BITS]]
  // CHECK-NEXT: arith.index_cast %[[N]] : i64 to index
  rec.phase "length"
  %n = rec.length %xs : tensor<?x4xf32>
  return %n : index
}

// A fold without accumulators is a loop without results.
// CHECK-LABEL: func.func @fold_without_accumulators
func.func @fold_without_accumulators(%ns: !rec.list<index>) {
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i64 {
  // CHECK-NEXT: }
  rec.fold %n in %ns init() : !rec.list<index> {
    rec.phase "fold"
  }
  return
}

rec.adt @Words {
  rec.variant @word(rest: !rec.adt<@Words>, word: i1)
  rec.variant @end()
}

// Links are counted, then their cells are copied into entries that are reserved
// together.
// CHECK-LABEL: func.func @elements
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[WORDS:.*]]: i64) -> i64
func.func @elements(%words: !rec.adt<@Words>) -> !rec.list<i1> {
  // CHECK-DAG:  %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK-DAG:  %[[ONE:.*]] = arith.constant 1 : i64
  // CHECK:      %[[COUNT:.*]]:2 = scf.while (%[[NODE:.*]] = %[[WORDS]], %[[N:.*]] = %[[ZERO]])
  // CHECK:        %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
  // CHECK:        %[[VARIANT:.*]] = arith.extui %[[BYTE]]
  // CHECK:        %[[LINK:.*]] = arith.constant 3 : i64
  // CHECK:        %[[MORE:.*]] = arith.cmpi eq, %[[VARIANT]], %[[LINK]]
  // CHECK-NEXT:   scf.condition(%[[MORE]]) %[[NODE]], %[[N]]
  // CHECK:      ^bb0(%[[NODE:.*]]: i64, %[[N:.*]]: i64):
  // CHECK:        llvm.getelementptr %{{.*}}[0]
  // CHECK:        %[[REST:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
  // CHECK:        %[[SUM:.*]] = arith.addi %[[N]], %[[ONE]]
  // CHECK:        scf.yield %[[REST]], %[[SUM]]
  // CHECK:      scf.if
  // CHECK:        llvm.call %{{.*}}(%[[CTX]], %[[COUNT]]#1)
  // CHECK:      %[[BEGIN:.*]] = llvm.load
  // CHECK:      scf.for %[[I:.*]] = %[[ZERO]] to %[[COUNT]]#1 step %[[ONE]] iter_args(%[[NODE:.*]] = %[[WORDS]])
  // CHECK:        arith.addi %[[BEGIN]], %[[I]]
  // CHECK:        %[[CELL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
  // CHECK:        llvm.store %[[CELL]]
  // CHECK:        %[[REST:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
  // CHECK:        scf.yield %[[REST]]
  // CHECK:      %[[LIST:.*]] = arith.ori %{{.*}}, %[[BEGIN]]
  // CHECK:      return %[[LIST]]
  %list = rec.elements %words : !rec.adt<@Words> -> !rec.list<i1>
  return %list : !rec.list<i1>
}

// If the position is outside the list, the run fails.
// CHECK-LABEL: func.func @element
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[LIST:.*]]: i64, %[[I:.*]]: index) -> i64
func.func @element(%list: !rec.list<i64>, %i: index) -> i64 {
  // CHECK:      %[[POSITION:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK:      %[[LENGTH:.*]] = arith.shrui %[[LIST]]
  // CHECK-NEXT: %[[OUTSIDE:.*]] = arith.cmpi uge, %[[POSITION]], %[[LENGTH]] : i64
  // CHECK-NEXT: scf.if %[[OUTSIDE]] {
  // CHECK:        %[[CODE:.*]] = arith.constant 4 : i64
  // CHECK:        llvm.call %{{.*}}(%[[CTX]], %[[CODE]], %[[POSITION]], %[[LENGTH]])
  // CHECK:      }
  // CHECK:      arith.addi %{{.*}}, %[[POSITION]] : i64
  // CHECK:      %[[CELL:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
  // CHECK:      return %[[CELL]]
  %e = rec.element %list[%i] : !rec.list<i64> -> i64
  return %e : i64
}

// An empty list takes no entry of the pool. Function 12 of the runtime appends
// elements, because only the runtime stores the capacities of lists.
// CHECK-LABEL: func.func @append
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[N:.*]]: f32) -> i64
func.func @append(%n: f32) -> !rec.list<f32> {
  // CHECK:      %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK:      %[[HIGH:.*]] = arith.shli %[[ZERO]]
  // CHECK-NEXT: %[[NONE:.*]] = arith.ori %[[HIGH]], %[[ZERO]]
  // CHECK:      %[[BITS:.*]] = arith.bitcast %[[N]] : f32 to i32
  // CHECK-NEXT: %[[CELL:.*]] = arith.extui %[[BITS]] : i32 to i64
  // CHECK:      %[[FUNCTION_AT:.*]] = llvm.getelementptr %{{.*}}[12]
  // CHECK-NEXT: %[[FUNCTION:.*]] = llvm.load %[[FUNCTION_AT]]
  // CHECK-NEXT: %[[LIST:.*]] = llvm.call %[[FUNCTION]](%[[CTX]], %[[NONE]], %[[CELL]]) : !llvm.ptr, (!llvm.ptr, i64, i64) -> i64
  // CHECK-NEXT: return %[[LIST]]
  %none = rec.empty : !rec.list<f32>
  %one = rec.append %none, %n : !rec.list<f32>
  return %one : !rec.list<f32>
}
