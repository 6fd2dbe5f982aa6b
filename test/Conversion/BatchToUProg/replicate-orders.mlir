// RUN: batch-opt %s --split-input-file --batch-replicate=level=device | FileCheck %s

// The loop runs layer after layer, 64 rounds at a time. Each round of the first recurrence has
// its own row. The products of these rounds run together, before the sums of the second one.
// CHECK-DAG:   uprog.buffer @first.0 : tensor<64x4xf32> copies(2)
// CHECK-DAG:   uprog.buffer @product.0 : tensor<64x4xf32> copies(1)
// CHECK-DAG:   uprog.buffer @second.0 : tensor<4xf32> copies(2)
// CHECK-LABEL: uprog.program @main.instance.all_units
// CHECK:         uprog.for %[[BEGIN:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter(%[[G:.*]] = %{{.*}}, %[[H:.*]] = %{{.*}}) : !uprog.row, !uprog.row {
// CHECK:           %[[END:.*]] = arith.minui
// CHECK:           %[[AS:.*]] = uprog.row @first.0 avoiding(%[[G]])
// CHECK-NEXT:      %[[LASTA:.*]] = uprog.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step %c3 iter(%[[A:.*]] = %[[G]]) : !uprog.row {
// CHECK-NEXT:        %[[D:.*]] = arith.subi %[[I]], %[[BEGIN]]
// CHECK-NEXT:        %[[N:.*]] = arith.ceildivui %[[D]], %c3
// CHECK-NEXT:        %[[NEXT:.*]] = uprog.slice %[[AS]][%[[N]]] : tensor<64x4xf32>
// CHECK-NEXT:        uprog.site @first(%[[A]] : !uprog.row) into(%[[NEXT]])
// CHECK:             uprog.yield %[[NEXT]]
// CHECK:           %[[TASKS:.*]] = uprog.tasks @product capacity(64)
// CHECK:           uprog.for %[[T:.*]] =
// CHECK-NEXT:        %[[X:.*]] = uprog.slice %[[AS]][%[[T]]] : tensor<64x4xf32>
// CHECK-NEXT:        uprog.put_task %[[TASKS]][%[[T]]] = %[[X]]
// CHECK:           %[[YS:.*]] = uprog.row @product.0
// CHECK-NEXT:      uprog.batch %[[TASKS]] count(%{{.*}}) into(%[[YS]])
// CHECK:           %[[LASTB:.*]] = uprog.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c3 iter(%[[B:.*]] = %[[H]]) : !uprog.row {
// CHECK:             %[[Y:.*]] = uprog.slice %[[YS]]
// CHECK-NEXT:        %[[SUM:.*]] = uprog.row @second.0 avoiding(%[[B]])
// CHECK-NEXT:        uprog.site @second(%[[B]], %[[Y]] : !uprog.row, !uprog.row) into(%[[SUM]])
// CHECK:           uprog.yield %[[LASTA]], %[[LASTB]]
batch.kernel @product(%w: tensor<4x4xf32> {batch.parameter = 0 : i64, batch.shared},
                      %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.matvec ins(%w, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>)
      -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}
uprog.operator @product.rows of @product(
    %n: index, %w: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
    %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
batch.kernel @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.negf %x : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @first.rows of @first(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
batch.kernel @second(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @second.rows of @second(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
func.func @main(%W: tensor<4x4xf32> {batch.shared = "W"}, %n: index, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>)
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %step = arith.constant 3 : index
  %last:2 = scf.for %i = %zero to %n step %step iter_args(%g = %x, %h = %x)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %a = batch.invoke @first(%g) : (tensor<4xf32>) -> tensor<4xf32>
    %y = batch.invoke @product(%W, %a) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = batch.invoke @second(%h, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  } {batch.order = #batch.order<layers>}
  return %last#0, %last#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Wavefront order: a wave has a task of each layer, and these tasks belong to
// three rounds. The only barrier is between two waves.
// CHECK-LABEL: uprog.program @main.instance.all_units
// CHECK:         uprog.next_round "a loop at {{.*}}" count(%{{.*}})
// CHECK:         %[[ROUNDS:.*]] = arith.ceildivui %{{.*}}, %c3
// CHECK:         %[[WAVES:.*]] = arith.addi %[[ROUNDS]], %c2
// CHECK:         uprog.for %[[WAVE:.*]] = %{{.*}} to %[[WAVES]] iter(%[[G:.*]] = %{{.*}}, %[[H:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}) : !uprog.row, !uprog.row, !uprog.row, !uprog.row {
// CHECK-NEXT:      uprog.barrier device
// CHECK:           %[[RUNS:.*]] = arith.cmpi ult, %{{.*}}, %[[ROUNDS]]
// CHECK-NEXT:      %[[NEXTA:.*]] = uprog.row @first.0 avoiding(%[[G]], %[[A]])
// CHECK:           uprog.branch
// CHECK-NEXT:      case 1 {
// CHECK-NEXT:        uprog.site @first(%[[G]] : !uprog.row) into(%[[NEXTA]])
// CHECK:           %[[DELAYED:.*]] = arith.subi %[[WAVE]], %c1
// CHECK-NEXT:      arith.cmpi ult, %[[DELAYED]], %[[ROUNDS]]
// CHECK-NEXT:      %[[NEXTY:.*]] = uprog.row @product.0 avoiding(%[[Y]])
// CHECK:             uprog.site @product(%[[A]] : !uprog.row) into(%[[NEXTY]])
// CHECK:           %[[NEXTH:.*]] = uprog.row @second.0 avoiding(%[[H]])
// CHECK:             uprog.site @second(%[[H]], %[[Y]] : !uprog.row, !uprog.row) into(%[[NEXTH]])
// CHECK:           %[[NEWG:.*]] = uprog.branch
// CHECK:             uprog.yield %[[NEXTA]]
// CHECK:             uprog.yield %[[G]]
// CHECK:           %[[NEWH:.*]] = uprog.branch
// CHECK:             uprog.yield %[[NEXTH]]
// CHECK:             uprog.yield %[[H]]
// CHECK:           uprog.yield %[[NEWG]], %[[NEWH]], %[[NEXTA]], %[[NEXTY]]
batch.kernel @product(%w: tensor<4x4xf32> {batch.parameter = 0 : i64, batch.shared},
                      %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.matvec ins(%w, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>)
      -> tensor<4xf32>
  batch.yield %y : tensor<4xf32>
}
uprog.operator @product.rows of @product(
    %n: index, %w: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
    %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
batch.kernel @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.negf %x : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @first.rows of @first(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
batch.kernel @second(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.addf %x, %y : tensor<4xf32>
  batch.yield %z : tensor<4xf32>
}
uprog.operator @second.rows of @second(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  uprog.yield %x : tensor<?x4xf32>
}
func.func @main(%W: tensor<4x4xf32> {batch.shared = "W"}, %n: index, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>)
    attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %step = arith.constant 3 : index
  %last:2 = scf.for %i = %zero to %n step %step iter_args(%g = %x, %h = %x)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %a = batch.invoke @first(%g) : (tensor<4xf32>) -> tensor<4xf32>
    %y = batch.invoke @product(%W, %a) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = batch.invoke @second(%h, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a, %b : tensor<4xf32>, tensor<4xf32>
  } {batch.order = #batch.order<wavefront>}
  return %last#0, %last#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A table that a product returns is updated in place after a branch. The product does
// not run ahead of its round, because other rounds would read the updated table.
batch.kernel @table(%w: tensor<8x4xf32> {batch.parameter = 0 : i64, batch.shared},
                    %x: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %y = linalg.matmul ins(%w, %x : tensor<8x4xf32>, tensor<4x4xf32>)
      outs(%zero : tensor<8x4xf32>) -> tensor<8x4xf32>
  batch.yield %y : tensor<8x4xf32>
}
uprog.operator @table.rows of @table(
    %n: index, %w: tensor<8x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
    %x: tensor<?x4x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x8x4xf32> {
  %y = tensor.empty(%n) : tensor<?x8x4xf32>
  uprog.yield %y : tensor<?x8x4xf32>
}
batch.kernel @put(%x: tensor<4xf32>, %table: tensor<8x4xf32>, %i: index)
    -> (tensor<8x4xf32> {batch.in_place = 1 : i64}) {
  %next = tensor.insert_slice %x into %table[%i, 0] [1, 4] [1, 1]
      : tensor<4xf32> into tensor<8x4xf32>
  batch.yield %next : tensor<8x4xf32>
}
uprog.operator @put.rows of @put(
    %n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %table: tensor<?x8x4xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x8x4xf32> {
  uprog.yield %table : tensor<?x8x4xf32>
}
// CHECK-LABEL: uprog.program @changed.instance.all_units
// CHECK-NOT:     uprog.tasks
// CHECK:         uprog.for
// CHECK:           uprog.site @table
// CHECK:           %[[TABLE:.*]] = uprog.branch
// CHECK:           uprog.site @put(%{{.*}}, %[[TABLE]], %{{.*}}) into(%[[TABLE]])
func.func @changed(%W: tensor<8x4xf32> {batch.shared = "W"}, %x: tensor<4x4xf32>,
                   %v: tensor<4xf32>, %n: index, %c: i1, %t: tensor<8x4xf32>)
    -> tensor<8x4xf32> attributes {batch.entry, batch.strategy = #batch.strategy<replicate>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = scf.for %i = %zero to %n step %one iter_args(%s = %t) -> tensor<8x4xf32> {
    %y = batch.invoke @table(%W, %x) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %z = batch.invoke @table(%W, %x) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %chosen = scf.if %c -> tensor<8x4xf32> {
      scf.yield %y : tensor<8x4xf32>
    } else {
      scf.yield %z : tensor<8x4xf32>
    }
    %d = batch.invoke @put(%v, %chosen, %i)
        : (tensor<4xf32>, tensor<8x4xf32>, index) -> tensor<8x4xf32>
    scf.yield %d : tensor<8x4xf32>
  }
  return %last : tensor<8x4xf32>
}
