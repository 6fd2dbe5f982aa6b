// RUN: batch-opt %s | batch-opt | FileCheck %s
// RUN: batch-opt %s --mlir-print-op-generic | batch-opt | FileCheck %s

// The arguments of an operator are the number of tasks, followed by the operands. An
// attribute of each operand specifies how the operand is read.
// CHECK:      uprog.operator @cell.rows of @cell
// CHECK-SAME:   (%{{.*}}: index, %[[H:.*]]: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows>},
// CHECK-SAME:   %{{.*}}: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>},
// CHECK-SAME:   %{{.*}}: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
// CHECK-SAME:   %{{.*}}: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
// CHECK-SAME:   %{{.*}}: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}) -> tensor<?x4xf32> {
// CHECK-NEXT:   uprog.yield %[[H]] : tensor<?x4xf32>
batch.kernel @cell(%h: tensor<4xf32>, %c: tensor<4xf32>, %i: index, %hs: tensor<?x4xf32>,
                   %w: tensor<4x4xf32> {batch.shared}) -> tensor<4xf32> {
  batch.yield %h : tensor<4xf32>
}
uprog.operator @cell.rows of @cell(
    %n: index, %h: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %c: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>},
    %hs: tensor<?x4xf32> {uprog.operand = #uprog.operand<rows ragged(0)>},
    %w: tensor<4x4xf32> {uprog.operand = #uprog.operand<shared(0)>},
    %offsets: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>}) -> tensor<?x4xf32> {
  uprog.yield %h : tensor<?x4xf32>
}

// Operands and results specify the places of rows in a table, unless rows follow
// each other in row-major order. Default values are omitted.
// CHECK:      uprog.operator @table.rows
// CHECK-SAME:   tensor<?x64xf32> {uprog.operand = #uprog.operand<gather layout((d0, d1) -> (d0 floordiv 4, d1 floordiv 16, d0 mod 4, d1 mod 16)) block_bytes(2048)>})
// CHECK-SAME:   -> (tensor<?x64xf32> {uprog.result = #uprog.result<siblings = 2, position = 1>},
// CHECK-SAME:       tensor<?x64xf32> {uprog.result = #uprog.result<layout = (d0, d1) -> (d0, d1), block_bytes = 512>},
// CHECK-SAME:       tensor<?x64xf32> {uprog.result = #uprog.result<>},
// CHECK-SAME:       tensor<?x64xf32>) {
uprog.operator @table.rows(
    %n: index,
    %x: tensor<?x64xf32> {uprog.operand =
        #uprog.operand<gather layout((s, i) -> (s floordiv 4, i floordiv 16, s mod 4, i mod 16)) block_bytes(2048)>})
    -> (tensor<?x64xf32> {uprog.result = #uprog.result<siblings = 2, position = 1>},
        tensor<?x64xf32> {uprog.result = #uprog.result<layout = (s, i) -> (s, i), block_bytes = 512>},
        tensor<?x64xf32> {uprog.result = #uprog.result<siblings = 1>},
        tensor<?x64xf32>) {
  uprog.yield %x, %x, %x, %x : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// An operator without results, whose kernel does not exist. A parameter may have any shape.
// CHECK:      uprog.operator private @nothing.rows of @nothing
// CHECK-SAME:   (%{{.*}}: index, %{{.*}}: tensor<f32> {uprog.operand = #uprog.operand<shared(0)>}) attributes {mark} {
// CHECK-NEXT:   uprog.yield{{$}}
uprog.operator private @nothing.rows of @nothing(
    %n: index, %s: tensor<f32> {uprog.operand = #uprog.operand<shared(0)>})
    attributes {mark} {
  uprog.yield
}

// A program runs operators in loops and branches, with barriers at its level and at a lower level.
// CHECK:      uprog.program @main.execute(%[[STEP:.*]]: !uprog.step, %[[N:.*]]: index, %[[W:.*]]: tensor<4x4xf32>)
// CHECK-SAME:   level(device) attributes {batch.executor} {
uprog.program @main.execute(%step: !uprog.step, %n: index, %w: tensor<4x4xf32>)
    level(device) attributes {batch.executor} {
  // CHECK: uprog.for %[[I:.*]] = %[[N]] to %[[N]] {
  uprog.for %i = %n to %n {
    // CHECK-NEXT: uprog.branch %[[I]]
    uprog.branch %i
    // CHECK-NEXT: case 0 {
    case 0 {
      // CHECK: uprog.run @cell.rows step(%[[STEP]]) tasks(%[[N]])
      uprog.run @cell.rows step(%step) tasks(%n)
      // CHECK-NEXT: uprog.barrier block
      uprog.barrier block
    // CHECK-NEXT: }
    // CHECK-NEXT: case -3 {
    // CHECK-NEXT: }
    }
    case -3 {
    }
    // CHECK-NEXT: uprog.branch %[[I]]{{ *$}}
    // CHECK-NEXT: case 1 {
    uprog.branch %i
    case 1 {
    }
    // CHECK: uprog.barrier device
    uprog.barrier device
  }
  // CHECK: uprog.for %{{.*}} = %[[N]] to %[[N]] attributes {mark} {
  uprog.for %i = %n to %n attributes {mark} {
  }
  // CHECK: uprog.yield
  uprog.yield
}

// A branch may have no cases.
// CHECK:      uprog.program @empty(%[[N:.*]]: index) level(block) {
// CHECK-NEXT:   uprog.branch %[[N]]{{ *$}}
// CHECK-NEXT:   uprog.yield
uprog.program @empty(%n: index) level(block) {
  uprog.branch %n
  uprog.yield
}

// Control flow can pass numbers and steps.
// CHECK-LABEL: uprog.program @numbers(
// CHECK-SAME:    %[[N:.*]]: index, %[[ONE:.*]]: index, %[[X:.*]]: f32, %[[STEP:.*]]: !uprog.step) level(block) {
uprog.program @numbers(%n: index, %one: index, %x: f32, %step: !uprog.step) level(block) {
  // CHECK-NEXT: %[[FOR:.*]]:2 = uprog.for %[[I:.*]] = %[[N]] to %[[N]] step %[[ONE]] iter(%[[A:.*]] = %[[ONE]], %[[B:.*]] = %[[X]]) : index, f32 {
  %for:2 = uprog.for %i = %n to %n step %one iter(%a = %one, %b = %x) : index, f32 {
    // CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[A]], %[[I]] : index
    %sum = arith.addi %a, %i : index
    // CHECK-NEXT: uprog.yield %[[SUM]], %[[B]] : index, f32
    uprog.yield %sum, %b : index, f32
  }
  // CHECK: uprog.for %{{.*}} = %[[N]] to %[[N]] step %[[ONE]] {
  // CHECK-NEXT: }
  uprog.for %i = %n to %n step %one {
  }
  // CHECK: uprog.for %{{.*}} = %[[N]] to %[[N]] iter(%[[S:.*]] = %[[STEP]]) : !uprog.step attributes {mark} {
  // CHECK-NEXT: uprog.yield %[[S]] : !uprog.step
  %last = uprog.for %i = %n to %n iter(%s = %step) : !uprog.step attributes {mark} {
    uprog.yield %s : !uprog.step
  }
  // CHECK: %[[WHILE:.*]]:2 = uprog.while iter(%[[C:.*]] = %[[FOR]]#0) : index {
  %while:2 = uprog.while iter(%c = %for#0) : index {
    // CHECK-NEXT: %[[LESS:.*]] = arith.cmpi slt, %[[C]], %[[N]] : index
    %less = arith.cmpi slt, %c, %n : index
    // CHECK-NEXT: uprog.condition(%[[LESS]]) %[[C]], %[[X]] : index, f32
    uprog.condition(%less) %c, %x : index, f32
  // CHECK-NEXT: } do {
  } do {
  // CHECK-NEXT: ^bb0(%[[D:.*]]: index, %{{.*}}: f32):
  ^bb0(%d: index, %y: f32):
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[D]], %[[ONE]] : index
    %next = arith.addi %d, %one : index
    // CHECK-NEXT: uprog.yield %[[NEXT]] : index
    uprog.yield %next : index
  }
  // CHECK: %{{.*}}:2 = uprog.branch %[[WHILE]]#0 -> (index, f32)
  // CHECK-NEXT: case 2 {
  // CHECK-NEXT:   uprog.yield %[[N]], %[[X]] : index, f32
  // CHECK-NEXT: }
  // CHECK-NEXT: default {
  // CHECK-NEXT:   uprog.yield %[[ONE]], %[[WHILE]]#1 : index, f32
  // CHECK-NEXT: }
  %branch:2 = uprog.branch %while#0 -> (index, f32)
  case 2 {
    uprog.yield %n, %x : index, f32
  }
  default {
    uprog.yield %one, %while#1 : index, f32
  }
  // CHECK-NEXT: uprog.branch %[[N]] {mark}
  // CHECK-NEXT: default {
  // CHECK-NEXT:   uprog.barrier block
  // CHECK-NEXT: }
  uprog.branch %n {mark}
  default {
    uprog.barrier block
  }
  uprog.yield
}

// Units share the runs of a program.
// CHECK-LABEL: uprog.program @one_task(
// CHECK-LABEL: uprog.program @no_operands(
// CHECK-LABEL: uprog.program @tasks(
// CHECK-SAME:    %[[PLAN:.*]]: !batch.plan, %[[N:.*]]: index) level(device) {
// CHECK-NEXT:    uprog.run @one_task(%[[PLAN]], %[[N]]) tasks(%[[N]]) : !batch.plan, index
// CHECK-NEXT:    uprog.run @no_operands tasks(%[[N]])
uprog.program @one_task(%task: index, %plan: !batch.plan, %n: index) level(block) {
  uprog.yield
}
uprog.program @no_operands(%task: index) level(cluster) {
  uprog.yield
}
uprog.program @tasks(%plan: !batch.plan, %n: index) level(device) {
  uprog.run @one_task(%plan, %n) tasks(%n) : !batch.plan, index
  uprog.run @no_operands tasks(%n)
  uprog.yield
}

// A program may have barriers of its own level and of lower levels.
// CHECK:      uprog.program @cluster() level(cluster) {
// CHECK-NEXT:   uprog.barrier block
// CHECK-NEXT:   uprog.barrier cluster
uprog.program @cluster() level(cluster) {
  uprog.barrier block
  uprog.barrier cluster
  uprog.yield
}

// A run may name a function that a target's lowering created from an operator.
// CHECK:      uprog.program @lowered(%[[STEP:.*]]: !uprog.step, %[[N:.*]]: index) level(device) {
// CHECK-NEXT:   uprog.run @kernel step(%[[STEP]]) tasks(%[[N]])
uprog.program @lowered(%step: !uprog.step, %n: index) level(device) {
  uprog.run @kernel step(%step) tasks(%n)
  uprog.yield
}
func.func private @kernel(index) attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0>}

// In a program of lanes, the loop ends when no lane waits. The body of the loop may refer
// to the program itself.
batch.machine @machine() attributes {cached_tops, frames} {
  batch.block @block {
    batch.return
  }
}
func.func @entry() attributes {batch.entry} {
  return
}
// CHECK-LABEL: uprog.program @frame(
// CHECK-SAME:    %[[LANES:.*]]: !batch.lanes) level(block) {
uprog.program @frame(%lanes: !batch.lanes) level(block) {
  // CHECK: batch.start_lanes %[[LANES]] @machine
  batch.start_lanes %lanes @machine
  // CHECK: uprog.while {
  uprog.while {
    %two = arith.constant 2 : index
    // CHECK: %[[KEYS:.*]]:2, %[[LEAST:.*]]:2 = uprog.reduce min %[[I:.*]] < %{{.*}} {
    %keys:2, %least:2 = uprog.reduce min %i < %two {
      // CHECK-NEXT: %[[PREFERENCE:.*]], %[[SINCE:.*]] = batch.block_keys %[[LANES]][%[[I]]]
      %preference, %since = batch.block_keys %lanes[%i]
      // CHECK-NEXT: uprog.yield %[[PREFERENCE]], %[[SINCE]] : i64, i64
      uprog.yield %preference, %since : i64, i64
    }
    // CHECK: %[[BLOCK:.*]], %[[ANY:.*]] = batch.next_block %[[LANES]] of %[[LEAST]]#0, %[[LEAST]]#1 since %[[KEYS]]#1
    %block, %any = batch.next_block %lanes of %least#0, %least#1 since %keys#1
    // CHECK: uprog.condition(%[[ANY]]) %[[BLOCK]] : index
    uprog.condition(%any) %block : index
  // CHECK: } do {
  } do {
  // CHECK-NEXT: ^bb0(%{{.*}}: index):
  ^bb0(%b: index):
    // CHECK: uprog.ref @frame(%[[LANES]]) : !batch.lanes
    uprog.ref @frame(%lanes) : !batch.lanes
    uprog.yield
  }
  uprog.yield
}

// In the loop, a block lists its lanes, takes them as a step, and updates their
// variables.
// CHECK-LABEL: uprog.program @block(
// CHECK-SAME:    %[[LANES:.*]]: !batch.lanes, %[[B:.*]]: index) level(block) {
uprog.program @block(%lanes: !batch.lanes, %b: index) level(block) {
  // CHECK: %[[ALL:.*]], %[[LIST:.*]] = batch.lane_list %[[LANES]] : memref<?xi32>
  %all, %list = batch.lane_list %lanes : memref<?xi32>
  // CHECK: %[[COUNT:.*]] = uprog.compact %[[LANE:.*]] < %[[ALL]] into %[[LIST]] : memref<?xi32> {
  %count = uprog.compact %lane < %all into %list : memref<?xi32> {
    // CHECK-NEXT: %[[RUNS:.*]] = batch.enter_block %[[LANES]][%[[LANE]]], %[[B]]
    %runs = batch.enter_block %lanes[%lane], %b
    // CHECK-NEXT: uprog.condition(%[[RUNS]])
    uprog.condition(%runs)
  }
  // CHECK: uprog.take_lanes %[[LANES]][%[[B]]] tasks(%[[COUNT]])
  %step = uprog.take_lanes %lanes[%b] tasks(%count)
  // CHECK: batch.lane_ops %[[LANES]] @machine::@block prologue
  batch.lane_ops %lanes @machine::@block prologue
  // CHECK: batch.lane_ops %[[LANES]] @machine::@block{{$}}
  batch.lane_ops %lanes @machine::@block
  // CHECK: batch.leave_frame %[[LANES]] @machine
  batch.leave_frame %lanes @machine
  uprog.yield
}

// An attribute specifies the requirements of an operator's code, for a device or for the
// workers of a CPU.
// CHECK-LABEL: uprog.operator @coded.rows
// CHECK-SAME:    attributes {uprog.code = #uprog.code<ragged_scratch = [0, 128], stages = 2, task_scratch = 64>}
uprog.operator @coded.rows(%n: index)
    attributes {uprog.code = #uprog.code<ragged_scratch = [0, 128], stages = 2, task_scratch = 64>} {
  uprog.yield
}
// CHECK-LABEL: func.func private @coded.function()
// CHECK-SAME:    attributes {uprog.code = #uprog.code<stages = 5, task_scratch = 0, workers = <barriers = [2, 4], fixed_scratch = 1024, task_scratch = 256, most_scratch = 4096, row_split = 12, stage_rows = 0, share_tasks = 4>>}
func.func private @coded.function() attributes {uprog.code = #uprog.code<stages = 5, task_scratch = 0, workers = <
    barriers = [2, 4], fixed_scratch = 1024, task_scratch = 256, most_scratch = 4096, row_split = 12, stage_rows = 0, share_tasks = 4>>}

// A slice of each task's row is replaced, at the positions of the task.
// CHECK-LABEL: uprog.operator @insert.rows(
// CHECK-SAME:    %{{.*}}: index, %[[X:[a-z0-9]*]]: tensor<?x6x4xf32> {{.*}}, %[[R:[a-z0-9]*]]: tensor<?x4xf32> {{.*}}, %[[I:[a-z0-9]*]]: tensor<?xindex>
uprog.operator @insert.rows(
    %n: index, %x: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>},
    %i: tensor<?xindex> {uprog.operand = #uprog.operand<scalar>}) -> tensor<?x6x4xf32> {
  // CHECK: %[[ONE:.*]] = uprog.insert %[[R]] into %[[X]] [%[[I]], 0] sizes [1, 4] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  %one = uprog.insert %r into %x [%i, 0] sizes [1, 4] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  // CHECK: uprog.insert %[[R]] into %[[ONE]] [1, %[[I]]] sizes [4, 1] strides [1, 1]
  %two = uprog.insert %r into %one [1, %i] sizes [4, 1] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  uprog.yield %two : tensor<?x6x4xf32>
}

// The function of a stage marks where it reads rows of earlier steps.
// CHECK-LABEL: func.func private @cell.rows.stage0(
// CHECK-NEXT:    uprog.await_rows {mark}
func.func private @cell.rows.stage0(%step: !llvm.ptr<1>) {
  uprog.await_rows {mark}
  return
}
