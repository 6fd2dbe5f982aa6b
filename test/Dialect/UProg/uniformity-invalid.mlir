// RUN: batch-opt %s --split-input-file --verify-diagnostics

// Units that take another way would wait for ever. Each thread block has lanes of
// its own, so a barrier of all blocks cannot depend on them,
// expected-note @+1 {{by argument #0 of @p: each block has lanes of its own}}
uprog.program @p(%lanes: !batch.lanes, %n: index, %since: i64) level(device) {
  // expected-note @+1 {{'uprog.while' decides here}}
  uprog.while {
    %block, %any = batch.next_block %lanes of %n, %n since %since
    uprog.condition(%any)
  } do {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device: units that take another way would never arrive}}
    uprog.barrier device
    uprog.yield
  }
  uprog.yield
}

// -----

// nor one of a cluster, not even where the condition is computed.
// expected-note @+1 {{by argument #0 of @p: each block has lanes of its own}}
uprog.program @p(%lanes: !batch.lanes, %n: index, %since: i64) level(device) {
  // expected-note @+1 {{'uprog.while' decides here}}
  uprog.while {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the cluster: units that take another way would never arrive}}
    uprog.barrier cluster
    %block, %any = batch.next_block %lanes of %n, %n since %since
    uprog.condition(%any)
  } do {
    uprog.yield
  }
  uprog.yield
}

// -----

// Nothing is known of other ops.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns, which is not known to be equal on all units of the block}}
  %x = gpu.block_id x
  %y = arith.addi %x, %n : index
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %y
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the block: units that take another way would never arrive}}
    uprog.barrier block
  }
  uprog.yield
}

// -----

// The barrier may lie deeper, under control that is equal on all units.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.for' decides here}}
  uprog.for %i = %n to %x {
    uprog.branch %n
    case 0 {
      // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
      uprog.barrier device
    }
  }
  uprog.yield
}

// -----

// So it is with the step of a loop,
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.for' decides here}}
  uprog.for %i = %n to %n step %x {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// with what a loop hands on, if what it is given differs,
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  %last = uprog.for %i = %n to %n iter(%a = %x) : index {
    uprog.yield %a : index
  }
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %last
  default {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// or what its body yields, even if it takes an iteration or two to be seen,
uprog.program @p(%n: index) level(device) {
  %last:2 = uprog.for %i = %n to %n iter(%a = %n, %b = %n) : index, index {
    // expected-note @+1 {{'uprog.for' decides here}}
    uprog.for %j = %n to %a {
      // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
      uprog.barrier device
    }
    // expected-note @+1 {{by what 'gpu.block_id' returns}}
    %x = gpu.block_id x
    uprog.yield %b, %x : index, index
  }
  uprog.yield
}

// -----

// or how long it runs;
uprog.program @p(%n: index, %one: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  %count = uprog.while iter(%i = %n) : index {
    %less = arith.cmpi slt, %i, %x : index
    uprog.condition(%less) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %one : index
    uprog.yield %next : index
  }
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %count
  default {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// and with what a branch results in, if the selector differs.
uprog.program @p(%n: index, %one: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  %y = uprog.branch %x -> index
  case 0 {
    uprog.yield %one : index
  }
  default {
    uprog.yield %n : index
  }
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %y
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// Units that are missing leave tasks of an operator undone.
uprog.operator @k.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%step: !uprog.step, %n: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %x
  case 0 {
    // expected-error @+1 {{'uprog.run' op is under control that is not equal on all units of the device: units that take another way would not run their share of the tasks}}
    uprog.run @k.rows step(%step) tasks(%n)
  }
  uprog.yield
}

// -----

// The threads of a unit are asked about different numbers.
uprog.program @p(%n: index, %list: memref<?xi32>, %c: i1) level(block) {
  // expected-note @+1 {{'uprog.compact' deals numbers out to the threads of a unit}}
  %count = uprog.compact %i < %n into %list : memref<?xi32> {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the block}}
    uprog.barrier block
    uprog.condition(%c)
  }
  uprog.yield
}

// -----

// A reference brings its control along,
uprog.program @wait() level(device) {
  // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
  uprog.barrier device
  uprog.yield
}
uprog.program @p() level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %x
  case 0 {
    // expected-note @+1 {{its program is run from here}}
    uprog.ref @between()
  }
  uprog.yield
}
uprog.program @between() level(device) {
  // expected-note @+1 {{its program is run from here}}
  uprog.ref @wait()
  uprog.yield
}

// -----

// and its operands,
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  uprog.ref @q(%n) : index
  uprog.ref @q(%x) : index
  uprog.yield
}
uprog.program @q(%k: index) level(device) {
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %k
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// also if it refers to the program that it is in.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %n
  case 0 {
    // expected-note @+1 {{by what 'gpu.block_id' returns}}
    %x = gpu.block_id x
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the device}}
    uprog.barrier device
    uprog.ref @p(%x) : index
  }
  uprog.yield
}

// -----

// What units share out is tasks of a program: all come to it,
uprog.program @q(%task: index) level(block) {
  uprog.yield
}
uprog.program @p(%n: index) level(cluster) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.for' decides here}}
  uprog.for %i = %n to %x {
    // expected-error @+1 {{'uprog.run' op is under control that is not equal on all units of the cluster}}
    uprog.run @q tasks(%n)
  }
  uprog.yield
}

// -----

// and its operands are equal on those that run a task.
uprog.program @q(%task: index, %k: index) level(block) {
  uprog.branch %task
  case 0 {
    uprog.barrier block
  }
  // expected-note @+1 {{'uprog.branch' decides here}}
  uprog.branch %k
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is under control that is not equal on all units of the block}}
    uprog.barrier block
  }
  uprog.yield
}
uprog.program @p(%n: index) level(cluster) {
  // expected-note @+1 {{by what 'gpu.thread_id' returns}}
  %x = gpu.thread_id x
  uprog.run @q(%x) tasks(%n) : index
  uprog.yield
}
