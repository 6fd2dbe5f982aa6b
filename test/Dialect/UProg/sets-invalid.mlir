// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{cells have numbers, rows, lists or values of an ADT, not a 'tensor<4xf32>'}}
func.func private @f(!uprog.cells<tensor<4xf32>>)

// -----

uprog.program @p(%n: index, %cells: !uprog.cells<index>) level(device) {
  // expected-error @+1 {{failed to verify that the value is of the type of the cells}}
  "uprog.put"(%cells, %n, %cells) : (!uprog.cells<index>, index, !uprog.cells<index>) -> ()
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{body must yield nothing}}
  uprog.each %k < %n {
    uprog.yield %k : index
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %list: memref<?xi32>) level(device) {
  %yes = arith.constant true
  // expected-error @+1 {{body must end in a uprog.condition that passes on an index or nothing}}
  %m = uprog.compact %i < %n into %list : memref<?xi32> {
    uprog.condition(%yes) %yes : i1
  }
  uprog.yield
}

// -----

// Threads of a unit do it for different numbers.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{'uprog.each' deals numbers out to the threads of a unit}}
  uprog.each %k < %n {
    // expected-error @+1 {{is under control that is not equal on all units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

// What differs between units differs when it comes out of cells, too.
uprog.program @p(%n: index) level(device) {
  // expected-note @+1 {{by what 'gpu.block_id' returns}}
  %x = gpu.block_id x
  %cells = uprog.cells room(64) : !uprog.cells<index>
  uprog.put %cells[%n] = %x : !uprog.cells<index>
  %read = uprog.get %cells[%n] : !uprog.cells<index>
  // expected-note @+1 {{'uprog.for' decides here}}
  uprog.for %k = %n to %read {
    // expected-error @+1 {{is under control that is not equal on all units of the device}}
    uprog.barrier device
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(device) {
  %one = arith.constant 1 : index
  // expected-error @+1 {{has a level, but runs a program, which has its own}}
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
  // expected-error @+1 {{is for one unit of level block in a program of level block; it must be a level below}}
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
  %tasks = uprog.tasks @k room(64)
  %y = uprog.row @x
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%y)
  %all = uprog.row @all
  // expected-error @+1 {{has rows for results, but its tasks have rows of their own}}
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
  %tasks = uprog.tasks @k room(64)
  // expected-error @+1 {{has the row of an operand for result #0, but @k does not insert that result into this operand}}
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%x)
  uprog.yield
}

// -----

// expected-error @+1 {{position must be at least 0 and less than siblings, got 1 and 1}}
#r = #uprog.result<position = 1>

// -----

// expected-error @+1 {{rows have addresses of their own: there is no table with siblings, a layout or blocks}}
#r = #uprog.result<siblings = 2, rows = true>

// -----

uprog.program @p(%n: index, %list: memref<?xi32>) level(device) {
  %cells = uprog.cells room(64) : !uprog.cells<index>
  %yes = arith.constant true
  // expected-error @+1 {{body must write nothing of the unit's}}
  %m = uprog.compact %i < %n into %list : memref<?xi32> {
    uprog.put %cells[%i] = %i : !uprog.cells<index>
    uprog.condition(%yes)
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %a: !uprog.row, %b: !uprog.row) level(device) {
  uprog.each %k < %n {
    // expected-error @+1 {{is for all threads of a unit together, not in a 'uprog.each'}}
    uprog.copy %a to %b : tensor<4xf32>
  }
  uprog.yield
}

// -----

uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{is a member's, but no 'uprog.cells' of the program says for how many there is room}}
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
  %tasks = uprog.tasks @k room(64)
  // expected-error @+1 {{changes other operands in place than another task of the list}}
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
  %tasks = uprog.tasks @k room(64)
  // expected-error @+1 {{has a row for result #0, but steps of @k have no addresses of its rows ('batch.row_list')}}
  uprog.put_task %tasks[%i] = %x : !uprog.row into(%y)
  uprog.yield
}

// -----

uprog.program @p() level(device) {
  // expected-error @+1 {{has room for 0 members; 1 is the least}}
  %cells = uprog.cells room(0) : !uprog.cells<index>
  uprog.yield
}

// -----

uprog.program @p() level(device) {
  // expected-error @+1 {{has room for 0 members; 1 is the least}}
  %list = uprog.members room(0) : memref<?xi32>
  uprog.yield
}
