// RUN: batch-opt %s --split-input-file --batch-replicate="level=device instances=1" \
// RUN:   | FileCheck %s
// RUN: batch-opt %s --split-input-file --batch-replicate=level=block \
// RUN:   | FileCheck %s --check-prefix=BLOCK
// RUN: batch-opt %s --split-input-file --batch-replicate -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=batch 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Loops pass the locations of tensors, so swapping two tensors costs nothing. A new tensor is
// stored in a copy of the buffer that nothing reads any more. A loop does not begin if it has
// more rounds than the instance may take.
// CHECK:       uprog.buffer @add.0 : tensor<4xf32> copies(3)
// CHECK-LABEL: uprog.program @fibonacci.instance.all_units(
// CHECK-SAME:    %[[I:.*]]: index) level(device) {
// CHECK-NEXT:    uprog.enter_instance %[[I]]
// CHECK-NEXT:    %[[X:.*]] = uprog.argument 0 of %[[I]] : !uprog.row
// CHECK-NEXT:    %[[Y:.*]] = uprog.argument 1 of %[[I]] : !uprog.row
// CHECK-NEXT:    %[[N:.*]] = uprog.argument 2 of %[[I]] : index
// CHECK:         %[[MAY:.*]] = uprog.next_round "a loop at replicate.mlir:[[#]]:12" count(%{{.*}})
// CHECK-NEXT:    %[[END:.*]] = arith.select %[[MAY]], %[[N]], %{{.*}} : index
// CHECK-NEXT:    %[[LAST:.*]]:2 = uprog.for %{{.*}} to %[[END]] iter(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]]) : !uprog.row, !uprog.row {
// CHECK-NEXT:      %[[C:.*]] = uprog.row @add.0 avoiding(%[[A]], %[[B]])
// CHECK-NEXT:      %[[STEP:.*]] = uprog.site @add(%[[A]], %[[B]] : !uprog.row, !uprog.row) into(%[[C]])
// CHECK:           uprog.run @add.rows step(%[[STEP]])
// CHECK-NEXT:      uprog.yield %[[B]], %[[C]] : !uprog.row, !uprog.row
// CHECK:         uprog.result 0 of %[[I]] = %[[LAST]]#1 : !uprog.row, tensor<4xf32>
// CHECK-LABEL: uprog.program @fibonacci.execute() level(device) attributes {batch.executor} {
// CHECK:         %[[COUNT:.*]] = uprog.instances
// CHECK:         uprog.for %[[I:.*]] = %{{.*}} to %[[COUNT]] {
// CHECK-NEXT:      uprog.ref @fibonacci.instance.all_units(%[[I]]) : index

// BLOCK-NOT:  all_units
// BLOCK:      uprog.run @fibonacci.instance tasks
// BLOCK-NOT:  uprog.ref
batch.kernel @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @add.rows of @add(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  %z = arith.addf %x, %y : tensor<?x4xf32>
  uprog.yield %z : tensor<?x4xf32>
}
func.func @fibonacci(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a, %b = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %y)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %c = batch.invoke @add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b, %c : tensor<4xf32>, tensor<4xf32>
  }
  return %b : tensor<4xf32>
}


// -----

// Control flow reads an element. A tensor that is not passed to the next round alternates
// between two copies. The number of rounds has no bound, so rounds are counted.
// CHECK:       uprog.buffer @halve.0 : tensor<4xf32> copies(2)
// CHECK:       uprog.buffer @halve.1 : tensor<i1> copies(2)
// CHECK-LABEL: uprog.program @ends.instance.all_units
// CHECK:         uprog.while iter(%[[A:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}}) : !uprog.row, i64 {
// CHECK-NEXT:      %[[B:.*]] = uprog.row @halve.0 avoiding(%[[A]])
// CHECK-NEXT:      %[[C:.*]] = uprog.row @halve.1 in_turn
// CHECK-NEXT:      uprog.site @halve(%[[A]] : !uprog.row) into(%[[B]], %[[C]])
// CHECK:           %[[GO:.*]] = uprog.load %[[C]][] : tensor<i1>
// CHECK-NEXT:      %[[MAY:.*]] = uprog.next_round "a loop at replicate.mlir:[[#]]:12"
// CHECK-NEXT:      %[[AGAIN:.*]] = arith.andi %[[GO]], %[[MAY]] : i1
// CHECK-NEXT:      uprog.condition(%[[AGAIN]]) %[[B]], %[[N]] : !uprog.row, i64
// CHECK:         uprog.result 1 of %{{.*}} = %{{.*}} : i64
batch.kernel @halve(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>) {
  %c = arith.constant dense<true> : tensor<i1>
  batch.yield %x, %c : tensor<4xf32>, tensor<i1>
}
uprog.operator @halve.rows of @halve(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> (tensor<?x4xf32>, tensor<?xi1>) {
  %c = tensor.empty(%n) : tensor<?xi1>
  uprog.yield %x, %c : tensor<?x4xf32>, tensor<?xi1>
}
func.func @ends(%x: tensor<4xf32>) -> (tensor<4xf32>, i64)
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %y, %n = scf.while (%a = %x, %n = %zero) : (tensor<4xf32>, i64) -> (tensor<4xf32>, i64) {
    %b, %c = batch.invoke @halve(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)
    %go = tensor.extract %c[] : tensor<i1>
    scf.condition(%go) %b, %n : tensor<4xf32>, i64
  } do {
  ^bb0(%b: tensor<4xf32>, %n: i64):
    %m = arith.addi %n, %one : i64
    scf.yield %b, %m : tensor<4xf32>, i64
  }
  return %y, %n : tensor<4xf32>, i64
}


// -----

// A slice is inserted in place, so the argument is copied before the loop.
// CHECK:       uprog.buffer @cache.own : tensor<8x4xf32> copies(1)
// CHECK-LABEL: uprog.program @cache.instance.all_units
// CHECK:         %[[ARGUMENT:.*]] = uprog.argument 1
// CHECK:         %[[OWN:.*]] = uprog.row @cache.own
// CHECK-NEXT:    uprog.copy %[[ARGUMENT]] to %[[OWN]] : tensor<8x4xf32>
// CHECK-NEXT:    %[[LAST:.*]] = uprog.for {{.*}} iter(%[[C:.*]] = %[[OWN]]) : !uprog.row {
// CHECK-NEXT:      uprog.site @put(%{{.*}}, %[[C]], %{{.*}} : !uprog.row, !uprog.row, index) into(%[[C]])
// CHECK:           uprog.yield %[[C]] : !uprog.row

// This insert copies, because the old tensor is a result, too.
// CHECK:         %[[OTHER:.*]] = uprog.row @put.0
// CHECK-NEXT:    uprog.site @put(%{{.*}}, %[[LAST]], %{{.*}}) into(%[[OTHER]])

// REMARK: remark: [Passed] Inserts | {{.*}}inserts into the row of argument #1 of kernel @put
// REMARK: remark: [Missed] Inserts | {{.*}}copies argument #1 of kernel @put, because its row may have other readers or was not created by a kernel
batch.kernel @put(%x: tensor<4xf32>, %cache: tensor<8x4xf32>, %i: index)
    -> (tensor<8x4xf32> {batch.in_place = 1 : i64}) {
  %next = tensor.insert_slice %x into %cache[%i, 0] [1, 4] [1, 1]
      : tensor<4xf32> into tensor<8x4xf32>
  batch.yield %next : tensor<8x4xf32>
}
uprog.operator @put.rows of @put(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %cache: tensor<?x8x4xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x8x4xf32> {
  uprog.yield %cache : tensor<?x8x4xf32>
}
func.func @cache(%x: tensor<4xf32>, %cache: tensor<8x4xf32>, %n: index)
    -> (tensor<8x4xf32>, tensor<8x4xf32>)
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = scf.for %i = %zero to %n step %one iter_args(%c = %cache) -> tensor<8x4xf32> {
    %d = batch.invoke @put(%x, %c, %i)
        : (tensor<4xf32>, tensor<8x4xf32>, index) -> tensor<8x4xf32>
    scf.yield %d : tensor<8x4xf32>
  }
  %other = batch.invoke @put(%x, %last, %zero)
      : (tensor<4xf32>, tensor<8x4xf32>, index) -> tensor<8x4xf32>
  return %last, %other : tensor<8x4xf32>, tensor<8x4xf32>
}


// -----

// This insert copies, because a loop without a round returns its initial value.
// CHECK-LABEL: uprog.program @empty.instance.all_units
// CHECK:         %[[FIRST:.*]] = uprog.row @put.0
// CHECK:         uprog.for {{.*}} iter(%{{.*}} = %[[FIRST]]) : !uprog.row {
// CHECK:         %[[SECOND:.*]] = uprog.row @put.0_1
// CHECK-NEXT:    uprog.site @put(%{{.*}}, %[[FIRST]], %{{.*}} : !uprog.row, !uprog.row, index) into(%[[SECOND]])
batch.kernel @put(%x: tensor<4xf32>, %cache: tensor<8x4xf32>, %i: index)
    -> (tensor<8x4xf32> {batch.in_place = 1 : i64}) {
  %next = tensor.insert_slice %x into %cache[%i, 0] [1, 4] [1, 1]
      : tensor<4xf32> into tensor<8x4xf32>
  batch.yield %next : tensor<8x4xf32>
}
uprog.operator @put.rows of @put(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %cache: tensor<?x8x4xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x8x4xf32> {
  uprog.yield %cache : tensor<?x8x4xf32>
}
func.func @empty(%x: tensor<4xf32>, %cache: tensor<8x4xf32>, %n: index)
    -> (tensor<8x4xf32>, tensor<8x4xf32>)
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %first = batch.invoke @put(%x, %cache, %zero)
      : (tensor<4xf32>, tensor<8x4xf32>, index) -> tensor<8x4xf32>
  %last = scf.for %i = %zero to %n step %one iter_args(%c = %first) -> tensor<8x4xf32> {
    %d = batch.invoke @put(%x, %cache, %i)
        : (tensor<4xf32>, tensor<8x4xf32>, index) -> tensor<8x4xf32>
    scf.yield %d : tensor<8x4xf32>
  }
  %second = batch.invoke @put(%x, %first, %one)
      : (tensor<4xf32>, tensor<8x4xf32>, index) -> tensor<8x4xf32>
  return %last, %second : tensor<8x4xf32>, tensor<8x4xf32>
}


// -----

// If the rounds of a fold select rows of a parameter, products with these rows run
// ahead, for 64 rounds together.
// CHECK:       uprog.buffer @input.0 : tensor<64x4xf32> copies(1)
// CHECK-LABEL: uprog.program @fold.instance.all_units
// CHECK:         %[[LIST:.*]] = uprog.argument 0 of %{{.*}} : !rec.list<index>
// CHECK:         %[[LENGTH:.*]] = uprog.list_length %[[LIST]]
// CHECK:         uprog.for %[[BEGIN:.*]] = %{{.*}} to %[[LENGTH]] step %{{.*}} iter(%[[H:.*]] = %{{.*}}) : !uprog.row {
// CHECK:           %[[END:.*]] = arith.minui %{{.*}}, %[[LENGTH]]
// CHECK-NEXT:      %[[TASKS:.*]] = uprog.tasks @input capacity(64)
// CHECK:           %[[COUNT:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:           uprog.for %[[T:.*]] = %{{.*}} to %[[COUNT]] {
// CHECK-NEXT:        %[[ROUND:.*]] = arith.addi %[[BEGIN]], %[[T]]
// CHECK-NEXT:        %[[WORD:.*]] = uprog.list_element %[[LIST]][%[[ROUND]]]
// CHECK-NEXT:        %[[X:.*]] = uprog.parameter_row @E[%[[WORD]]]
// CHECK-NEXT:        uprog.put_task %[[TASKS]][%[[T]]] = %[[X]] : !uprog.row
// CHECK:           %[[YS:.*]] = uprog.row @input.0
// CHECK-NEXT:      %[[STEP:.*]] = uprog.batch %[[TASKS]] count(%[[COUNT]]) into(%[[YS]])
// CHECK-NEXT:      uprog.run @input.rows step(%[[STEP]]) tasks(%[[COUNT]])
// CHECK-NEXT:      %[[LAST:.*]] = uprog.for %[[I:.*]] = %[[BEGIN]] to %[[END]] iter(%[[S:.*]] = %[[H]]) : !uprog.row {
// CHECK-NEXT:        %[[J:.*]] = arith.subi %[[I]], %[[BEGIN]]
// CHECK-NEXT:        %[[Y:.*]] = uprog.slice %[[YS]][%[[J]]] : tensor<64x4xf32>
// CHECK-NEXT:        %[[Z:.*]] = uprog.row @add.0 avoiding(%[[S]])
// CHECK-NEXT:        uprog.site @add(%[[S]], %[[Y]] : !uprog.row, !uprog.row) into(%[[Z]])
// CHECK-NOT:         uprog.parameter_row
// CHECK:             uprog.yield %[[Z]]
// CHECK:           uprog.yield %[[LAST]]
batch.kernel @input(%w: tensor<4x4xf32> {batch.parameter = 1 : i64, batch.shared}, %x: tensor<4xf32>)
    -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.matvec ins(%w, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>)
      -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}
uprog.operator @input.rows of @input(
    %n: index, %w: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(1)>},
    %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
batch.kernel @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @add.rows of @add(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
func.func @fold(%words: !rec.list<index>, %h: tensor<4xf32>,
                %E: tensor<?x4xf32> {batch.shared = "E"},
                %W: tensor<4x4xf32> {batch.shared = "W"}) -> tensor<4xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %last = rec.fold %w in %words init(%s = %h) : !rec.list<index> -> tensor<4xf32> {
    %x = tensor.extract_slice %E[%w, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %y = batch.invoke @input(%W, %x) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = batch.invoke @add(%s, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %z : tensor<4xf32>
  }
  return %last : tensor<4xf32>
}


// -----

// A case that does not change a value yields its location, without a copy.
// CHECK-LABEL: uprog.program @skip.instance.all_units
// CHECK:         %[[X:.*]] = uprog.argument 0
// CHECK:         %[[C:.*]] = uprog.argument 1 of %{{.*}} : i1
// CHECK:         %[[NUMBER:.*]] = arith.index_castui %[[C]] : i1 to index
// CHECK-NEXT:    %[[Y:.*]] = uprog.branch %[[NUMBER]] -> !uprog.row
// CHECK-NEXT:    case 1 {
// CHECK-NEXT:      %[[N:.*]] = uprog.row @neg.0
// CHECK:           uprog.yield %[[N]] : !uprog.row
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:      uprog.yield %[[X]] : !uprog.row
// CHECK:         uprog.branch %{{.*}} -> !uprog.row
// CHECK-NEXT:    case 3 {
// CHECK:           uprog.site @neg(%[[Y]] : !uprog.row)
// CHECK:         default {
// CHECK-NEXT:      uprog.yield %[[X]] : !uprog.row
batch.kernel @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.negf %x : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @neg.rows of @neg(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>})
    -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
func.func @skip(%x: tensor<4xf32>, %c: i1, %k: index) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %y = scf.if %c -> tensor<4xf32> {
    %n = batch.invoke @neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %z = scf.index_switch %k -> tensor<4xf32>
  case 3 {
    %n = batch.invoke @neg(%y) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  default {
    scf.yield %x : tensor<4xf32>
  }
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// A product that is a single number does not run ahead. Neither does a product whose
// result changes in place, because the next rounds would overwrite its slice.
batch.kernel @dot(%w: tensor<4xf32> {batch.parameter = 1 : i64, batch.shared}, %x: tensor<4xf32>)
    -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = linalg.dot ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>)
      -> tensor<f32>
  batch.yield %y : tensor<f32>
}
uprog.operator @dot.rows of @dot(
    %n: index, %w: tensor<4xf32> {uprog.operand = #uprog.operand<shared(1)>},
    %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32> {
  %y = tensor.empty(%n) : tensor<?xf32>
  uprog.yield %y : tensor<?xf32>
}
batch.kernel @outer(%x: tensor<4xf32>, %w: tensor<8x4xf32> {batch.parameter = 2 : i64, batch.shared})
    -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %y = linalg.matvec ins(%w, %x : tensor<8x4xf32>, tensor<4xf32>) outs(%zero : tensor<8xf32>)
      -> tensor<8xf32>
  batch.yield %y : tensor<8xf32>
}
uprog.operator @outer.rows of @outer(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<8x4xf32> {uprog.operand = #uprog.operand<shared(2)>}) -> tensor<?x8xf32> {
  %y = tensor.empty(%n) : tensor<?x8xf32>
  uprog.yield %y : tensor<?x8xf32>
}
batch.kernel @set(%x: tensor<f32>, %v: tensor<8xf32>, %h: tensor<8xf32>)
    -> (tensor<8xf32> {batch.in_place = 1 : i64}) {
  %next = tensor.insert_slice %x into %v[0] [1] [1] : tensor<f32> into tensor<8xf32>
  batch.yield %next : tensor<8xf32>
}
uprog.operator @set.rows of @set(
    %n: index, %x: tensor<?xf32> {uprog.operand = #uprog.operand<gather>},
    %v: tensor<?x8xf32> {uprog.operand = #uprog.operand<gather>},
    %h: tensor<?x8xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x8xf32> {
  uprog.yield %v : tensor<?x8xf32>
}
// CHECK-LABEL: uprog.program @stays.instance.all_units
// CHECK-NOT:     uprog.batch
// CHECK:         uprog.site @dot
// CHECK:         %[[V:.*]] = uprog.row @outer.0 avoiding(%[[H:.*]])
// CHECK-NEXT:    uprog.site @outer
// CHECK:         uprog.site @set(%{{.*}}, %[[V]], %[[H]] : !uprog.row, !uprog.row, !uprog.row) into(%[[V]])
// CHECK-NOT:     uprog.batch
// CHECK-LABEL: uprog.program @stays.execute
func.func @stays(%words: !rec.list<index>, %h: tensor<8xf32>,
                 %E: tensor<?x4xf32> {batch.shared = "E"},
                 %d: tensor<4xf32> {batch.shared = "d"},
                 %W: tensor<8x4xf32> {batch.shared = "W"}) -> tensor<8xf32>
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %last = rec.fold %w in %words init(%s = %h) : !rec.list<index> -> tensor<8xf32> {
    %x = tensor.extract_slice %E[%w, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %y = batch.invoke @dot(%d, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %v = batch.invoke @outer(%x, %W) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
    %z = batch.invoke @set(%y, %v, %s)
        : (tensor<f32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    rec.yield %z : tensor<8xf32>
  }
  return %last : tensor<8xf32>
}
