// RUN: batch-opt %s -o /dev/null
// RUN: batch-opt %s --sccp --canonicalize --loop-invariant-code-motion -o /dev/null

// Barriers under uniform control flow are legal. Values read from a plan are
// uniform, and so are values computed from them.
uprog.operator @k.rows(%n: index) {
  uprog.yield
}
uprog.program @plan(%plan: !batch.plan) level(device) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %steps = uprog.plan_size %plan
  %sum = uprog.for %i = %zero to %steps step %two iter(%so_far = %zero) : index {
    %step = uprog.plan_step %plan[%i]
    %tasks = uprog.step_tasks %step
    %next = arith.addi %so_far, %tasks : index
    %kernel = uprog.step_kernel %step
    %more = uprog.branch %kernel -> index
    case 0 {
      uprog.run @k.rows step(%step) tasks(%tasks)
      uprog.barrier device
      uprog.yield %next : index
    }
    default {
      uprog.yield %so_far : index
    }
    uprog.yield %more : index
  }
  %left = uprog.while iter(%a = %sum) : index {
    %go = arith.cmpi sgt, %a, %two : index
    uprog.condition(%go) %a : index
  } do {
  ^bb0(%a: index):
    uprog.barrier cluster
    %less = arith.subi %a, %two : index
    uprog.yield %less : index
  }
  uprog.branch %left
  case 1 {
    uprog.ref @again(%plan, %left) : !batch.plan, index
  }
  uprog.yield
}
uprog.program @again(%plan: !batch.plan, %n: index) level(device) {
  uprog.for %i = %n to %n {
    uprog.barrier device
  }
  uprog.branch %n
  case 7 {
    uprog.ref @again(%plan, %n) : !batch.plan, index
  }
  uprog.yield
}

// In a block, values read from its lanes are uniform.
uprog.program @lanes(%lanes: !batch.lanes, %n: index, %since: i64) level(device) {
  uprog.while {
    %keys:2, %least:2 = uprog.reduce min %i < %n {
      %preference, %waits = batch.block_keys %lanes[%i]
      uprog.yield %preference, %waits : i64, i64
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
    %tasks = uprog.step_tasks %step
    uprog.for %i = %n to %tasks {
      uprog.barrier block
    }
    uprog.yield
  }
  uprog.barrier device
  uprog.yield
}

// The number of a task is equal on the units that run it.
uprog.program @task(%number: index, %plan: !batch.plan) level(block) {
  %step = uprog.plan_step %plan[%number]
  %tasks = uprog.step_tasks %step
  uprog.branch %number
  case 0 {
    uprog.run @k.rows step(%step) tasks(%tasks)
    uprog.barrier block
  }
  uprog.yield
}
uprog.program @tasks(%plan: !batch.plan) level(device) {
  %steps = uprog.plan_size %plan
  uprog.run @task(%plan) tasks(%steps) : !batch.plan
  uprog.barrier device
  uprog.yield
}

// If units run an instance together, values that they read from it are uniform.
uprog.buffer @c : tensor<i1> copies(1)
uprog.program @per_unit(%i: index) level(block) {
  %c = uprog.row @c
  %go = uprog.load %c[] : tensor<i1>
  %number = arith.index_castui %go : i1 to index
  uprog.branch %number
  case 1 {
    uprog.barrier block
  }
  uprog.yield
}
uprog.program @all_units(%i: index) level(device) {
  %c = uprog.row @c
  %go = uprog.load %c[] : tensor<i1>
  %number = arith.index_castui %go : i1 to index
  uprog.branch %number
  case 1 {
    uprog.barrier device
  }
  uprog.yield
}
uprog.program @main.execute() level(device) {
  %n = uprog.instances
  uprog.run @per_unit tasks(%n)
  uprog.for %i = %n to %n {
    uprog.ref @all_units(%i) : index
  }
  uprog.yield
}
