// RUN: batch-opt %s --convert-uprog-to-cpu --split-input-file | FileCheck %s
// RUN: batch-opt %s --convert-uprog-to-cpu="row-split=7 stage-rows=5" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=SPLIT

func.func private @k.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 4, task_scratch = 64, workers = <
        barriers = [2], fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 12, stage_rows = 0, share_tasks = 1>>}

// A program becomes a function that each worker of a pool runs. A run is divided among
// the workers by rows if each worker has many rows, or if there is only one worker. In
// both cases, no worker waits inside the run.
// CHECK-LABEL: func.func @main.execute
// CHECK-SAME:    (%[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64)
// CHECK-SAME:    attributes {batch.executor}
// CHECK:         %[[STEPS:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[STEPS]] step %{{.*}} {
// CHECK:           %[[STEP:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:           %[[KERNEL:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:           scf.index_switch %[[KERNEL]]
// CHECK:           case 3 {
// CHECK-DAG:         %[[SINGLE:.*]] = arith.cmpi eq, %[[WORKERS]], %{{.*}} : i64
// CHECK-DAG:         %[[LARGE:.*]] = arith.cmpi sge, %[[TASKS:.*]], %{{.*}} : i64
// CHECK:             %[[ROWS:.*]] = arith.ori %[[SINGLE]], %[[LARGE]] : i1
// CHECK:             scf.if %[[ROWS]] {
// CHECK:               %[[NEXT:.*]] = arith.addi %[[WORKER]], %{{.*}} : i64
// CHECK-DAG:           %[[A:.*]] = arith.muli %[[TASKS]], %[[WORKER]] : i64
// CHECK-DAG:           %[[BEGIN:.*]] = arith.divsi %[[A]], %[[WORKERS]] : i64
// CHECK-DAG:           %[[B:.*]] = arith.muli %[[TASKS]], %[[NEXT]] : i64
// CHECK-DAG:           %[[END:.*]] = arith.divsi %[[B]], %[[WORKERS]] : i64
// CHECK-NOT:           llvm.call
// CHECK:               func.call @k.rows(%[[STEP]], %{{.*}}, %{{.*}}, %{{.*}}, %[[BEGIN]], %[[END]],

// Otherwise, workers share each stage, with a barrier only where the code
// requires one: before the third of four stages. The step always ends in a barrier.
// CHECK:             } else {
// CHECK:               func.call @k.rows(%[[STEP]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[TASKS]], %[[WORKER]], %[[WORKERS]], %{{.*}}, %[[TWO:[a-z0-9_]+]])
// CHECK:               llvm.call %{{.*}}(%[[CTX]], %[[WORKER]])
// CHECK:               func.call @k.rows(%[[STEP]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[TASKS]], %[[WORKER]], %[[WORKERS]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}})
// CHECK-NOT:           llvm.call
// CHECK:             }
// CHECK:           default {
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %[[WORKER]])
// CHECK-NEXT:    }
// CHECK-NEXT:    return

// Option row-split is the minimum number of rows per worker for division by rows. Groups of
// stage-rows rows pass all stages one after the other. The last group may be smaller.
// SPLIT-LABEL: func.func @main.execute
// SPLIT:         case 3 {
// SPLIT:           %[[SEVEN:.*]] = arith.constant 7 : i64
// SPLIT-NEXT:      arith.muli %{{.*}}, %[[SEVEN]] : i64
// SPLIT:           scf.for %[[FIRST:.*]] = %{{.*}} to %[[END:.*]] step %[[FIVE:.*]] : i64 {
// SPLIT:             %[[LAST:.*]] = arith.addi %[[FIRST]], %{{.*}} : i64
// SPLIT-NEXT:        %[[STOP:.*]] = arith.minsi %[[LAST]], %[[END]] : i64
// SPLIT:             func.call @k.rows(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST]], %[[STOP]],
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %c0 = arith.constant 0 : index
  %steps = uprog.plan_size %plan
  uprog.for %i = %c0 to %steps {
    %step = uprog.plan_step %plan[%i]
    %k = uprog.step_kernel %step
    uprog.branch %k
    case 3 {
      %n = uprog.step_tasks %step
      uprog.run @k.rows step(%step) tasks(%n)
    }
    uprog.barrier device
  }
  uprog.yield
}

// -----

// The input contains none of the output dialects, so the pass must load them. Workers are the
// units of the device, so barriers below that level wait for no other worker.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT:    return
uprog.program @empty() level(device) {
  uprog.barrier block
  uprog.yield
}

// -----

func.func private @first.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 12, stage_rows = 0, share_tasks = 1>>}

// The code of a machine's block is a function. It is called in one place and not
// inlined, so the loop over steps remains small for any number of blocks.
// CHECK-LABEL: func.func private @main.execute.0(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %[[LANES:.*]]: !llvm.ptr, %[[STEP:.*]]: !llvm.ptr)
// CHECK-SAME:    attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK:         call @first.rows(%[[STEP]],
// CHECK:         return
// CHECK-LABEL: func.func private @main.execute.1(
// CHECK-NOT:     @first.rows
// CHECK:         return
// One loop finds the least keys (the first if several are equal). Another loop
// lists the numbers for which the condition is true.
// CHECK-LABEL: func.func @main.execute(
// CHECK:         scf.while
// CHECK:           scf.for %[[BLOCK:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[LEAST:.*]] = %c9223372036854775807_i64, %{{.*}} = %c9223372036854775807_i64, %[[WHICH:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK:             %[[LESS:.*]] = arith.cmpi slt, %[[KEY:.*]], %[[LEAST]] : i64
// CHECK-NEXT:        arith.select %[[LESS]], %[[KEY]], %[[LEAST]] : i64
// CHECK-NEXT:        arith.select %[[LESS]], %[[BLOCK]], %[[WHICH]] : i64
// CHECK:         } do {
// CHECK:           scf.for %[[LANE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[COUNT:.*]] = %{{.*}}) -> (i64)
// CHECK:             %[[RUNS:.*]] = scf.if %{{.*}} -> (i1) {
// CHECK:             %[[NEXT:.*]] = scf.if %[[RUNS]] -> (i64) {
// CHECK-NEXT:          %[[NUMBER:.*]] = arith.trunci %[[LANE]] : i64 to i32
// CHECK-NEXT:          %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[%[[COUNT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK-NEXT:          llvm.store %[[NUMBER]], %[[PLACE]] : i32, !llvm.ptr
// CHECK:               %[[MORE:.*]] = arith.addi %[[COUNT]], %{{.*}} : i64
// CHECK-NEXT:          scf.yield %[[MORE]] : i64
// CHECK-NEXT:        } else {
// CHECK-NEXT:          scf.yield %[[COUNT]] : i64
// CHECK:             scf.yield %[[NEXT]] : i64
// CHECK:           scf.index_switch
// CHECK:           case 0 {
// CHECK-NEXT:        func.call @main.execute.0({{.*}} {no_inline}
// CHECK-NEXT:        scf.yield
// CHECK:           case 1 {
// CHECK-NEXT:        func.call @main.execute.1({{.*}} {no_inline}
// CHECK-NEXT:        scf.yield
batch.kernel @first(%x: tensor<2xf32>) -> tensor<2xf32> attributes {phase = 0 : i64} {
  batch.yield %x : tensor<2xf32>
}
batch.machine @main.machine() attributes {cached_tops} {
  batch.variable @x : tensor<2xf32> argument(0) result(0)
  batch.block @first {
    %x = batch.top @x : tensor<2xf32>
    %y = batch.invoke @first(%x) : (tensor<2xf32>) -> tensor<2xf32>
    batch.set @x, %y : tensor<2xf32>
    batch.jump @second
  }
  batch.block @second {
    batch.return
  }
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) attributes {batch.executor} {
  batch.start_lanes %lanes @main.machine
  uprog.while {
    %two = arith.constant 2 : index
    %keys:2, %least:2 = uprog.reduce min %i < %two {
      %preference, %since = batch.block_keys %lanes[%i]
      uprog.yield %preference, %since : i64, i64
    }
    %block, %any = batch.next_block %lanes of %least#0, %least#1 since %keys#1
    uprog.condition(%any) %block : index
  } do {
  ^bb0(%block: index):
    %all, %list = batch.lane_list %lanes : memref<?xi32>
    %count = uprog.compact %lane < %all into %list : memref<?xi32> {
      %runs = batch.enter_block %lanes[%lane], %block
      uprog.condition(%runs)
    }
    %step = uprog.take_lanes %lanes[%block] tasks(%count)
    uprog.branch %block
    case 0 {
      %n = uprog.step_tasks %step
      uprog.run @first.rows step(%step) tasks(%n)
      batch.lane_ops %lanes @main.machine::@first
    }
    case 1 {
      batch.lane_ops %lanes @main.machine::@second
    }
    uprog.yield
  }
  uprog.yield
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {batch.entry} {
  return %x : tensor<2xf32>
}

// -----

// A loop carries a step as the address of the step.
// CHECK-LABEL: func.func @first_step
// CHECK:         scf.while : () -> !llvm.ptr {
// CHECK:           %[[STEP:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:           scf.condition(%{{.*}}) %[[STEP]] : !llvm.ptr
// CHECK:         ^bb0(%[[TAKEN:.*]]: !llvm.ptr):
// CHECK:           llvm.getelementptr %[[TAKEN]]
// CHECK-NOT:     unrealized_conversion_cast
uprog.program @first_step(%plan: !batch.plan) level(device) {
  uprog.while {
    %zero = arith.constant 0 : index
    %step = uprog.plan_step %plan[%zero]
    %any = arith.constant false
    uprog.condition(%any) %step : !uprog.step
  } do {
  ^bb0(%step: !uprog.step):
    %tasks = uprog.step_tasks %step
    uprog.yield
  }
  uprog.yield
}

// -----

func.func private @k.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 0, task_scratch = 0, most_scratch = 0,
        row_split = 12, stage_rows = 0, share_tasks = 1>>}

// Each worker runs a share of a program's tasks, at a fixed stride. Numbers and
// steps that the program takes are arguments of its function. The plan is in the
// context.
// CHECK-LABEL: func.func private @one(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64, %[[TASK:.*]]: index, %[[X:.*]]: f32)
// CHECK-SAME:    attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK:         arith.index_cast %[[TASK]] : index to i64
// Before each batch, a worker leaves a run that has been cancelled.
// CHECK:         llvm.getelementptr %[[CTX]][31]
// CHECK:         %[[WORD:.*]] = llvm.load %{{.*}} atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[ENDS:.*]] = arith.cmpi ne, %[[WORD]], %[[ZERO]] : i32
// CHECK-NEXT:    scf.if %[[ENDS]] {
// CHECK:           llvm.call %{{.*}}(%[[CTX]], %[[WORKER]])
// CHECK:           llvm.intr.assume
// CHECK-NEXT:    }
// CHECK-NOT:     scf.if
// CHECK:         call @k.rows(
// CHECK:         call @with_step(%[[CTX]], %[[WORKER]], %[[WORKERS]], %{{.*}}, %[[X]]) : (!llvm.ptr, i64, i64, !llvm.ptr, f32) -> ()
// CHECK:         return
// CHECK-LABEL: func.func private @with_step(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %[[STEP:.*]]: !llvm.ptr, %{{.*}}: f32)
// CHECK:         llvm.getelementptr %[[STEP]]
// CHECK-LABEL: func.func @main.execute(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64) attributes {batch.executor} {
// CHECK:         %[[X:.*]] = scf.for %{{.*}} iter_args(%[[Y:.*]] = %{{.*}}) -> (f32) {
// CHECK:         %[[TASKS:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK-NEXT:    scf.for %[[NUMBER:.*]] = %[[WORKER]] to %[[TASKS]] step %[[WORKERS]] : i64 {
// CHECK-NEXT:      %[[TASK:.*]] = arith.index_cast %[[NUMBER]] : i64 to index
// CHECK-NEXT:      func.call @one(%[[CTX]], %[[WORKER]], %[[WORKERS]], %[[TASK]], %[[X]])
// CHECK-NEXT:    }
// CHECK:         llvm.call %{{.*}}(%[[CTX]], %[[WORKER]])
uprog.program @one(%task: index, %plan: !batch.plan, %x: f32) level(block) {
  %step = uprog.plan_step %plan[%task]
  %n = uprog.step_tasks %step
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.ref @with_step(%plan, %step, %x) : !batch.plan, !uprog.step, f32
  uprog.yield
}
uprog.program @with_step(%plan: !batch.plan, %step: !uprog.step, %x: f32) level(block) {
  %n = uprog.step_tasks %step
  uprog.yield
}
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %zero = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  %steps = uprog.plan_size %plan
  %y = uprog.for %i = %zero to %steps iter(%z = %x) : f32 {
    %double = arith.addf %z, %z : f32
    uprog.yield %double : f32
  }
  uprog.run @one(%plan, %y) tasks(%steps) : !batch.plan, f32
  uprog.barrier device
  uprog.yield
}

// -----

// The results of a machine's block are results of its function.
// CHECK-LABEL: func.func private @main.execute.0(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: index) -> index
// CHECK:         %[[Y:.*]] = arith.addi %[[X]], %[[X]] : index
// CHECK:         return %[[Y]] : index
// CHECK-LABEL: func.func @main.execute(
// CHECK:         scf.index_switch %{{.*}} -> index
// CHECK-NEXT:    case 0 {
// CHECK-NEXT:      %[[CALL:.*]] = func.call @main.execute.0({{.*}}) {no_inline}
// CHECK-NEXT:      scf.yield %[[CALL]] : index
batch.machine @main.machine() attributes {cached_tops} {
  batch.variable @x : tensor<2xf32> argument(0) result(0)
  batch.block @first {
    batch.return
  }
}
uprog.program @main.execute(%lanes: !batch.lanes) level(block) attributes {batch.executor} {
  batch.start_lanes %lanes @main.machine
  %all, %list = batch.lane_list %lanes : memref<?xi32>
  %n = uprog.branch %all -> index
  case 0 {
    %m = arith.addi %all, %all : index
    batch.lane_ops %lanes @main.machine::@first
    uprog.yield %m : index
  }
  default {
    uprog.yield %all : index
  }
  uprog.for %i = %all to %n {
    batch.lane_ops %lanes @main.machine::@first
  }
  uprog.yield
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {batch.entry} {
  return %x : tensor<2xf32>
}

// -----

// All workers form one cluster. They run all tasks of the cluster's program
// together, and wait for each other at cluster barriers.
func.func private @k.rows(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64, i64)
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <fixed_scratch = 0, task_scratch = 0, most_scratch = 0, row_split = 1, stage_rows = 0, share_tasks = 1>>}
// CHECK-LABEL: func.func private @of_cluster(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64, %{{.*}}: index)
// CHECK:         %[[UNITS:.*]] = arith.index_cast %[[WORKERS]] : i64 to index
// CHECK:         arith.muli %[[WORKERS]], %{{.*}} : i64
// CHECK:         scf.if
// CHECK:         llvm.call %{{.*}}(%[[CTX]], %[[WORKER]])
// CHECK:         call @k.rows(
// CHECK-LABEL: func.func @main.execute(
// CHECK-SAME:    %[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64) attributes {batch.executor} {
// CHECK:         %[[C0:.*]] = arith.constant 0 : i64
// CHECK:         %[[C1:.*]] = arith.constant 1 : i64
// CHECK:         %[[TASKS:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:         scf.for %[[NUMBER:.*]] = %[[C0]] to %[[TASKS]] step %[[C1]] : i64 {
// CHECK-NEXT:      %[[TASK:.*]] = arith.index_cast %[[NUMBER]] : i64 to index
// CHECK-NEXT:      func.call @of_cluster(%[[CTX]], %[[WORKER]], %[[WORKERS]], %[[TASK]])
uprog.program @of_cluster(%task: index, %plan: !batch.plan) level(cluster) {
  %step = uprog.plan_step %plan[%task]
  %units = uprog.units
  uprog.run @k.rows step(%step) tasks(%units)
  uprog.barrier cluster
  uprog.run @k.rows step(%step) tasks(%units) level(block)
  uprog.yield
}
uprog.program @main.execute(%plan: !batch.plan) level(device) {
  %n = uprog.plan_size %plan
  uprog.run @of_cluster(%plan) tasks(%n) : !batch.plan
  uprog.yield
}
