// RUN: batch-opt %s --split-input-file --uprog-insert-barriers | FileCheck %s

// A barrier separates a write of a row from its reads. Different rows need no
// barrier.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @a : tensor<4xf32> copies(1)
uprog.buffer @b : tensor<4xf32> copies(1)
uprog.buffer @c : tensor<4xf32> copies(1)
// CHECK-LABEL: uprog.program @chain
// CHECK:         uprog.run @f.rows step(%[[A:.*]]) tasks
// CHECK-NEXT:    uprog.run @f.rows step(%[[B:.*]]) tasks
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.run @f.rows step(%[[C:.*]]) tasks
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.result
uprog.program @chain(%i: index) level(device) {
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %a = uprog.row @a
  %b = uprog.row @b
  %c = uprog.row @c
  %sa = uprog.site @f(%x : !uprog.row) into(%a)
  %sb = uprog.site @f(%x : !uprog.row) into(%b)
  %sc = uprog.site @f(%a : !uprog.row) into(%c)
  uprog.run @f.rows step(%sa) tasks(%one)
  uprog.run @f.rows step(%sb) tasks(%one)
  uprog.run @f.rows step(%sc) tasks(%one)
  uprog.result 0 of %i = %c : !uprog.row, tensor<4xf32>
  uprog.yield
}

// -----

// A unit that is ahead may not write a row that another unit still reads in the
// previous round. With a second copy, one barrier per round is enough.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @a : tensor<4xf32> copies(2)
// CHECK-LABEL: uprog.program @turns
// CHECK:         uprog.for
// CHECK:           uprog.barrier device
// CHECK-NEXT:      uprog.run
// CHECK-NEXT:      uprog.yield
uprog.program @turns(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %last = uprog.for %k = %zero to %i iter(%now = %x) : !uprog.row {
    %next = uprog.row @a avoiding(%now)
    %s = uprog.site @f(%now : !uprog.row) into(%next)
    uprog.run @f.rows step(%s) tasks(%one)
    uprog.yield %next : !uprog.row
  }
  uprog.yield
}

// -----

// A temporary with one copy needs two barriers: before it is written again, and
// before it is read.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @t : tensor<4xf32> copies(1)
uprog.buffer @a : tensor<4xf32> copies(2)
// CHECK-LABEL: uprog.program @temporary
// CHECK:         uprog.for
// CHECK:           uprog.barrier device
// CHECK-NEXT:      uprog.run @f.rows step(%[[T:.*]]) tasks
// CHECK:           uprog.barrier device
// CHECK-NEXT:      uprog.run @f.rows
// CHECK-NEXT:      uprog.yield
uprog.program @temporary(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %last = uprog.for %k = %zero to %i iter(%now = %x) : !uprog.row {
    %t = uprog.row @t
    %s = uprog.site @f(%x : !uprog.row) into(%t)
    uprog.run @f.rows step(%s) tasks(%one)
    %next = uprog.row @a avoiding(%now)
    %u = uprog.site @f(%t : !uprog.row) into(%next)
    uprog.run @f.rows step(%u) tasks(%one)
    uprog.yield %next : !uprog.row
  }
  uprog.yield
}

// -----

// Control flow needs a barrier before it reads a row that any branch has
// written. A branch needs one before it writes a row that was read earlier.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<i1> {
  %c = arith.constant dense<true> : tensor<i1>
  batch.yield %c : tensor<i1>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @c : tensor<i1> copies(1)
// CHECK-LABEL: uprog.program @reads
// CHECK:         uprog.branch
// CHECK:           uprog.run
// CHECK-NEXT:    }
// CHECK-NEXT:    uprog.barrier block
// CHECK-NEXT:    uprog.load
// CHECK:         uprog.branch
// CHECK:           uprog.barrier block
// CHECK-NEXT:      uprog.run
// CHECK-NEXT:    }
// CHECK-NEXT:    uprog.yield
uprog.program @reads(%i: index) level(block) {
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %c = uprog.row @c
  uprog.branch %i
  case 1 {
    %s = uprog.site @f(%x : !uprog.row) into(%c)
    uprog.run @f.rows step(%s) tasks(%one)
  }
  %go = uprog.load %c[] : tensor<i1>
  %number = arith.index_castui %go : i1 to index
  uprog.branch %number
  case 1 {
    %s = uprog.site @f(%x : !uprog.row) into(%c)
    uprog.run @f.rows step(%s) tasks(%one)
  }
  uprog.yield
}

// -----

// A batch reads the operands listed for its tasks. A slice counts as its whole row.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @a : tensor<4xf32> copies(1)
uprog.buffer @as : tensor<8x4xf32> copies(1)
uprog.buffer @b : tensor<4xf32> copies(1)
// CHECK-LABEL: uprog.program @batches
// CHECK:         uprog.run @f.rows step(%[[ONE:.*]]) tasks
// CHECK:         uprog.barrier device
// CHECK-NEXT:    uprog.run @f.rows step(%[[BATCH:.*]]) tasks
// CHECK:         uprog.barrier device
// CHECK-NEXT:    uprog.run @f.rows step(%[[PART:.*]]) tasks
uprog.program @batches(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %a = uprog.row @a
  %s = uprog.site @f(%x : !uprog.row) into(%a)
  uprog.run @f.rows step(%s) tasks(%one)
  %tasks = uprog.tasks @f capacity(8)
  uprog.put_task %tasks[%zero] = %a : !uprog.row
  %as = uprog.row @as
  %t = uprog.batch %tasks count(%one) into(%as)
  uprog.run @f.rows step(%t) tasks(%one)
  %part = uprog.slice %as[%zero] : tensor<8x4xf32>
  %b = uprog.row @b
  %u = uprog.site @f(%part : !uprog.row) into(%b)
  uprog.run @f.rows step(%u) tasks(%one)
  uprog.yield
}

// -----

// A reference to another program may read and write any row. If a unit runs
// several tasks in sequence, the program of a task begins with a barrier.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @a : tensor<4xf32> copies(1)
// CHECK-LABEL: uprog.program @per_unit
// CHECK:         uprog.barrier block
// CHECK-NEXT:    uprog.run
uprog.program @per_unit(%i: index) level(block) {
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %a = uprog.row @a
  %s = uprog.site @f(%x : !uprog.row) into(%a)
  uprog.run @f.rows step(%s) tasks(%one)
  uprog.yield
}
// CHECK-LABEL: uprog.program @main.execute
// CHECK:         uprog.run @per_unit
// CHECK-NEXT:    uprog.for
// CHECK-NEXT:      uprog.barrier device
// CHECK-NEXT:      uprog.ref
uprog.program @all_units(%i: index) level(device) {
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

// -----

// A temporary that alternates between two copies needs one barrier per round: a unit
// that is ahead writes the other copy.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @t : tensor<4xf32> copies(2)
uprog.buffer @a : tensor<4xf32> copies(2)
// CHECK-LABEL: uprog.program @in_turn
// CHECK:         uprog.for
// CHECK-NOT:       uprog.barrier
// CHECK:           uprog.run @f.rows
// CHECK:           uprog.barrier device
// CHECK-NEXT:      uprog.run @f.rows
// CHECK-NEXT:      uprog.yield
uprog.program @in_turn(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %last = uprog.for %k = %zero to %i iter(%now = %x) : !uprog.row {
    %t = uprog.row @t in_turn
    %s = uprog.site @f(%x : !uprog.row) into(%t)
    uprog.run @f.rows step(%s) tasks(%one)
    %next = uprog.row @a avoiding(%now)
    %u = uprog.site @f(%t : !uprog.row) into(%next)
    uprog.run @f.rows step(%u) tasks(%one)
    uprog.yield %next : !uprog.row
  }
  uprog.yield
}

// -----

// Two copies are not enough for a loop without another barrier: a unit that is ahead
// writes a row again two rounds later.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @t : tensor<4xf32> copies(2)
// CHECK-LABEL: uprog.program @copies
// CHECK:         uprog.for
// CHECK-NEXT:      %[[T:.*]] = uprog.row @t in_turn
// CHECK-NEXT:      uprog.barrier device
// CHECK-NEXT:      uprog.copy %{{.*}} to %[[T]]
uprog.program @copies(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %x = uprog.argument 0 of %i : !uprog.row
  uprog.for %k = %zero to %i {
    %t = uprog.row @t in_turn
    uprog.copy %x to %t : tensor<4xf32>
  }
  uprog.yield
}

// -----

// A barrier needed only by the first round comes before the loop.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
batch.kernel @g(%x: tensor<4xf32>) -> tensor<i1> {
  %c = arith.constant dense<true> : tensor<i1>
  batch.yield %c : tensor<i1>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.operator @g.rows(%n: index) {
  uprog.yield
}
uprog.buffer @a : tensor<4xf32> copies(1)
uprog.buffer @c : tensor<i1> copies(2)
// CHECK-LABEL: uprog.program @first_round
// CHECK:         uprog.run @f.rows
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.while {
// CHECK-NOT:       uprog.barrier
// CHECK:           uprog.run @g.rows
// CHECK-NEXT:      uprog.barrier device
// CHECK-NEXT:      uprog.load
// CHECK-NOT:       uprog.barrier
// CHECK:         uprog.yield
uprog.program @first_round(%i: index) level(device) {
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %a = uprog.row @a
  %s = uprog.site @f(%x : !uprog.row) into(%a)
  uprog.run @f.rows step(%s) tasks(%one)
  uprog.while {
    %c = uprog.row @c in_turn
    %t = uprog.site @g(%a : !uprog.row) into(%c)
    uprog.run @g.rows step(%t) tasks(%one)
    %go = uprog.load %c[] : tensor<i1>
    uprog.condition(%go)
  } do {
    uprog.yield
  }
  uprog.yield
}

// -----

// The result of a node may have been written in any earlier round, so there is a
// barrier before its reads. A round that computes nothing has no barrier.
rec.adt @Tree {
  rec.variant @leaf(x: tensor<4xf32>)
  rec.variant @node(part: !rec.adt<@Tree>)
}
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.node_rows @b : tensor<4xf32>
uprog.node_results @walk : [!uprog.row]
// CHECK-LABEL: uprog.program @nodes
// CHECK-NOT:     uprog.barrier
// CHECK:           uprog.look_up
// CHECK:           uprog.site
// CHECK-NEXT:      uprog.barrier device
// CHECK-NEXT:      uprog.run @f.rows
// CHECK-NEXT:      uprog.yield
// CHECK-NOT:     uprog.barrier
// CHECK:         uprog.look_up
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.result
uprog.program @nodes(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %root = uprog.argument 0 of %i : !rec.adt<@Tree>
  %last = uprog.node_number %root of %i : !rec.adt<@Tree>
  %end = arith.addi %last, %one : index
  uprog.for %n = %zero to %end {
    %t = uprog.node %n of %i : !rec.adt<@Tree>
    %v = uprog.variant %t : !rec.adt<@Tree>
    %h = uprog.branch %v -> !uprog.row
    case 0 {
      %x = uprog.field 0 of %t as @leaf : !rec.adt<@Tree> -> !uprog.row
      uprog.yield %x : !uprog.row
    }
    default {
      %p = uprog.field 0 of %t as @node : !rec.adt<@Tree> -> !rec.adt<@Tree>
      %y = uprog.look_up @walk[%p] : !rec.adt<@Tree> -> !uprog.row
      %b = uprog.node_row @b[%t] : !rec.adt<@Tree>
      %s = uprog.site @f(%y : !uprog.row) into(%b)
      uprog.run @f.rows step(%s) tasks(%one)
      uprog.yield %b : !uprog.row
    }
    uprog.remember @walk[%t] = %h : !uprog.row of !rec.adt<@Tree>
  }
  %y = uprog.look_up @walk[%root] : !rec.adt<@Tree> -> !uprog.row
  uprog.result 0 of %i = %y : !uprog.row, tensor<4xf32>
  uprog.yield
}

// -----

// Steps of one unit run one after the other. The other units wait for this unit, and
// this unit waits for them.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @a : tensor<4xf32> copies(1)
uprog.buffer @b : tensor<4xf32> copies(1)
uprog.buffer @c : tensor<4xf32> copies(1)
uprog.buffer @d : tensor<4xf32> copies(1)
// CHECK-LABEL: uprog.program @one_unit
// CHECK:         uprog.run {{.*}} level(block)
// CHECK-NEXT:    uprog.run {{.*}} level(block)
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.run @f.rows step(%{{.*}}) tasks(%{{[^)]*}}){{$}}
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.run {{.*}} level(block)
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.load
uprog.program @one_unit(%i: index) level(device) {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %a = uprog.row @a
  %b = uprog.row @b
  %c = uprog.row @c
  %d = uprog.row @d
  %sa = uprog.site @f(%x : !uprog.row) into(%a)
  %sb = uprog.site @f(%a : !uprog.row) into(%b)
  %sc = uprog.site @f(%b : !uprog.row) into(%c)
  %sd = uprog.site @f(%c : !uprog.row) into(%d)
  uprog.run @f.rows step(%sa) tasks(%one) level(block)
  uprog.run @f.rows step(%sb) tasks(%one) level(block)
  uprog.run @f.rows step(%sc) tasks(%one)
  uprog.run @f.rows step(%sd) tasks(%one) level(block)
  %e = uprog.load %d[%zero] : tensor<4xf32>
  uprog.yield
}

// -----

// A loop of steps of one unit has no barrier, but the code after it has one.
batch.kernel @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.buffer @a : tensor<4xf32> copies(1)
// CHECK-LABEL: uprog.program @loop_of_one_unit
// CHECK:         uprog.for
// CHECK-NOT:       uprog.barrier
// CHECK:         }
// CHECK-NEXT:    uprog.barrier device
// CHECK-NEXT:    uprog.result
uprog.program @loop_of_one_unit(%i: index) level(device) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = uprog.argument 0 of %i : !uprog.row
  %a = uprog.row @a
  uprog.for %k = %zero to %i {
    %s = uprog.site @f(%x : !uprog.row) into(%a)
    uprog.run @f.rows step(%s) tasks(%one) level(block)
  }
  uprog.result 0 of %i = %a : !uprog.row, tensor<4xf32>
  uprog.yield
}
