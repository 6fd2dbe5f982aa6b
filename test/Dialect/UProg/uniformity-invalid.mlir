// RUN: batch-opt %s --split-input-file --verify-diagnostics

// Units would wait forever for units that take a different path. Each thread block has its own
// lanes, so a barrier of all blocks cannot depend on them.
// expected-note @+1 {{argument #0 of @p is not uniform: each block has its own lanes}}
uprog.program @p(%lanes: !batch.lanes, %n: index, %since: i64) level(device) {
  // expected-note @+1 {{'uprog.while' depends on a value that may differ between units}}
  uprog.while {
    %block, %any = batch.next_block %lanes of %n, %n since %since
    uprog.condition(%any)
  } do {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device: units that take another path would never arrive}}
    uprog.barrier device
    uprog.yield
  }
  uprog.yield
}

// -----

// A barrier of a cluster cannot depend on lanes, even if the condition is
// computed.
// expected-note @+1 {{argument #0 of @p is not uniform: each block has its own lanes}}
uprog.program @p(%lanes: !batch.lanes, %n: index, %since: i64) level(device) {
  // expected-note @+1 {{'uprog.while' depends on a value that may differ between units}}
  uprog.while {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the cluster: units that take another path would never arrive}}
    uprog.barrier cluster
    %block, %any = batch.next_block %lanes of %n, %n since %since
    uprog.condition(%any)
  } do {
    uprog.yield
  }
  uprog.yield
}

// -----

// Results of ops of dialects other than arith, batch, math and uprog may be non-uniform.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal on all units of the block}}
  %x = gpu.block_id x
  %y = arith.addi %x, %n : index
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %y
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the block: units that take another path would never arrive}}
    uprog.barrier block
  }
  uprog.yield
}

// -----

// A barrier is an error even if it is nested deeper, under uniform control flow.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.for' depends on a value that may differ between units}}
  uprog.for %i = %n to %x {
    uprog.branch %n
    case 0 {
      // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
      uprog.barrier device
    }
  }
  uprog.yield
}

// -----

// A loop with a non-uniform step is non-uniform.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.for' depends on a value that may differ between units}}
  uprog.for %i = %n to %n step %x {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// A value that a loop carries is non-uniform if its initial value is.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  %last = uprog.for %i = %n to %n iter(%a = %x) : index {
    uprog.yield %a : index
  }
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %last
  default {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// A value that a loop carries is non-uniform if the body yields a non-uniform value.
// This holds even if the value is non-uniform only after an iteration or two.
uprog.program @p(%n: index) level(device) {
  %last:2 = uprog.for %i = %n to %n iter(%a = %n, %b = %n) : index, index {
    // expected-note @+1 {{'uprog.for' depends on a value that may differ between units}}
    uprog.for %j = %n to %a {
      // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
      uprog.barrier device
    }
    // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
    %x = gpu.block_id x
    uprog.yield %b, %x : index, index
  }
  uprog.yield
}

// -----

// A value that a loop carries is non-uniform if the number of iterations is.
uprog.program @p(%n: index, %one: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  %count = uprog.while iter(%i = %n) : index {
    %less = arith.cmpi slt, %i, %x : index
    uprog.condition(%less) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %one : index
    uprog.yield %next : index
  }
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %count
  default {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// Results of a branch are non-uniform if the selector is.
uprog.program @p(%n: index, %one: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  %y = uprog.branch %x -> index
  case 0 {
    uprog.yield %one : index
  }
  default {
    uprog.yield %n : index
  }
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %y
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// Units that do not reach a run do not run their share of its tasks.
uprog.operator @k.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%step: !uprog.step, %n: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %x
  case 0 {
    // expected-error @+1 {{'uprog.run' op is in control flow that may be non-uniform across the units of the device: units that take another path would not run their share of the tasks}}
    uprog.run @k.rows step(%step) tasks(%n)
  }
  uprog.yield
}

// -----

// Threads of a unit run the body for different numbers, so the body cannot contain a barrier.
uprog.program @p(%n: index, %list: memref<?xi32>, %c: i1) level(block) {
  // expected-note @+1 {{'uprog.compact' distributes numbers over the threads of a unit}}
  %count = uprog.compact %i < %n into %list : memref<?xi32> {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the block}}
    uprog.barrier block
    uprog.condition(%c)
  }
  uprog.yield
}

// -----

// A referenced program runs under the control flow around the reference.
uprog.program @wait() level(device) {
  // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
  uprog.barrier device
  uprog.yield
}
uprog.program @p() level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
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

// An argument of a program is non-uniform if any reference passes a non-uniform operand.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  uprog.ref @q(%n) : index
  uprog.ref @q(%x) : index
  uprog.yield
}
uprog.program @q(%k: index) level(device) {
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %k
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// An argument may be non-uniform only because of a reference of the program to itself.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %n
  case 0 {
    // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
    %x = gpu.block_id x
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
    uprog.ref @p(%x) : index
  }
  uprog.yield
}

// -----

// All units that share the tasks of a program must reach the run.
uprog.program @q(%task: index) level(block) {
  uprog.yield
}
uprog.program @p(%n: index) level(cluster) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  // expected-note @+1 {{'uprog.for' depends on a value that may differ between units}}
  uprog.for %i = %n to %x {
    // expected-error @+1 {{'uprog.run' op is in control flow that may be non-uniform across the units of the cluster}}
    uprog.run @q tasks(%n)
  }
  uprog.yield
}

// -----

// The operands of a run must be equal on the units that run a task if barriers depend on them.
uprog.program @q(%task: index, %k: index) level(block) {
  uprog.branch %task
  case 0 {
    uprog.barrier block
  }
  // expected-note @+1 {{'uprog.branch' depends on a value that may differ between units}}
  uprog.branch %k
  case 0 {
    // expected-error @+1 {{'uprog.barrier' op is in control flow that may be non-uniform across the units of the block}}
    uprog.barrier block
  }
  uprog.yield
}
uprog.program @p(%n: index) level(cluster) {
  // expected-note @+1 {{a result of 'gpu.thread_id' is not known to be equal}}
  %x = gpu.thread_id x
  uprog.run @q(%x) tasks(%n) : index
  uprog.yield
}
