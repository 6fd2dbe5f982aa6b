// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{unsupported cell type 'tensor<4xf32>'; expected a number, a row, a list or a value of an ADT}}
func.func private @f(!uprog.cells<tensor<4xf32>>)

// -----

uprog.program @p(%n: index, %cells: !uprog.cells<index>) level(device) {
  // expected-error @+1 {{failed to verify that value has the value type of the cells}}
  "uprog.put"(%cells, %n, %cells) : (!uprog.cells<index>, index, !uprog.cells<index>) -> ()
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{body must not yield values}}
  uprog.each %k < %n {
    uprog.yield %k : index
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %list: memref<?xi32>) level(device) {
  %yes = arith.constant true
  // expected-error @+1 {{body must end in a uprog.condition with at most one value, an index}}
  %m = uprog.compact %i < %n into %list : memref<?xi32> {
    uprog.condition(%yes) %yes : i1
  }
  uprog.yield
}

// -----

// Threads of a unit run the body for different numbers, so the body cannot contain a barrier.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{'uprog.each' distributes numbers over the threads of a unit}}
  uprog.each %k < %n {
    // expected-error @+1 {{is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// A non-uniform value remains non-uniform when it is read from cells.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{a result of 'gpu.block_id' is not known to be equal}}
  %x = gpu.block_id x
  %cells = uprog.cells capacity(64) : !uprog.cells<index>
  uprog.put %cells[%n] = %x : !uprog.cells<index>
  %read = uprog.get %cells[%n] : !uprog.cells<index>
  // expected-note @+1 {{'uprog.for' depends on a value that may differ between units}}
  uprog.for %k = %n to %read {
    // expected-error @+1 {{is in control flow that may be non-uniform across the units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(device) {
  %one = arith.constant 1 : index
  // expected-error @+1 {{has a level, but runs a program, which has its own level}}
  uprog.run @q tasks(%one) level(block)
  uprog.yield
}
uprog.program @q(%n: index) level(block) {
  uprog.yield
}

// -----

uprog.operator @f.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%step: !uprog.step) level(block) {
  %one = arith.constant 1 : index
  // expected-error @+1 {{runs on one block in a block-level program; expected a level below block}}
  uprog.run @f.rows step(%step) tasks(%one) level(block)
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.row_list}) {
  batch.yield %x : tensor<4xf32>
}
uprog.buffer @x : tensor<4xf32> copies(1)
uprog.buffer @all : tensor<64x4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %x = uprog.argument 0 of %i : !uprog.row
  %tasks = uprog.tasks @k capacity(64)
  %y = uprog.row @x
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%y)
  %all = uprog.row @all
  // expected-error @+1 {{has rows for results, but its tasks specify their own rows}}
  %step = uprog.batch %tasks count(%i) into(%all)
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.row_list}) {
  batch.yield %x : tensor<4xf32>
}
uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %x = uprog.row @x
  %tasks = uprog.tasks @k capacity(64)
  // expected-error @+1 {{reuses the row of an operand for result #0, but @k does not insert that result into this operand}}
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%x)
  uprog.yield
}

// -----

// expected-error @+1 {{'position' must be at least 0 and less than 'siblings', got 1 and 1}}
#r = #uprog.result<position = 1>

// -----

// expected-error @+1 {{'rows' cannot be combined with 'siblings', 'layout' or 'block_bytes'}}
#r = #uprog.result<siblings = 2, rows = true>

// -----

uprog.program @p(%n: index, %list: memref<?xi32>) level(device) {
  %cells = uprog.cells capacity(64) : !uprog.cells<index>
  %yes = arith.constant true
  // expected-error @+1 {{body must not write to the unit's memory}}
  %m = uprog.compact %i < %n into %list : memref<?xi32> {
    uprog.put %cells[%i] = %i : !uprog.cells<index>
    uprog.condition(%yes)
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %a: !uprog.row, %b: !uprog.row) level(device) {
  uprog.each %k < %n {
    // expected-error @+1 {{is not allowed in 'uprog.each', because all threads of a unit must run it together}}
    uprog.copy %a to %b : tensor<4xf32>
  }
  uprog.yield
}

// -----

uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{has a member, but its program lacks a 'uprog.cells' that specifies the number of members}}
  %y = uprog.row @x member(%n)
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> (tensor<4xf32> {batch.in_place = 0 : i64, batch.row_list}) {
  batch.yield %x : tensor<4xf32>
}
uprog.buffer @x : tensor<4xf32> copies(2)
uprog.program @p(%i: index) level(device) {
  %x = uprog.row @x
  %y = uprog.row @x avoiding(%x)
  %tasks = uprog.tasks @k capacity(64)
  // expected-error @+1 {{must write the same results in place as the other tasks of the list}}
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%x)
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%y)
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %x = uprog.argument 0 of %i : !uprog.row
  %y = uprog.row @x
  %tasks = uprog.tasks @k capacity(64)
  // expected-error @+1 {{has a row for result #0, but that result of @k does not have 'batch.row_list'}}
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%y)
  uprog.yield
}

// -----

uprog.program @p() level(device) {
  // expected-error @+1 {{expects a capacity of at least 1, got 0}}
  %cells = uprog.cells capacity(0) : !uprog.cells<index>
  uprog.yield
}

// -----

uprog.program @p() level(device) {
  // expected-error @+1 {{expects a capacity of at least 1, got 0}}
  %list = uprog.members capacity(0) : memref<?xi32>
  uprog.yield
}
