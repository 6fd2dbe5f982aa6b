// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{is for 'tensor<?xf32>', which no row holds: its shape must be static, and its elements numbers}}
uprog.buffer @x : tensor<?xf32> copies(1)

// -----

// expected-error @+1 {{has 0 copies; 1 is the least}}
uprog.buffer @x : tensor<4xf32> copies(0)

// -----

uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{refers to unknown uprog.buffer @x}}
  %x = uprog.row @x
  uprog.yield
}

// -----

uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %a = uprog.argument 0 of %i : !uprog.row
  // expected-error @+1 {{avoids 1 rows, but @x has 1 copies: none may be free}}
  %x = uprog.row @x avoiding(%a)
  uprog.yield
}

// -----

batch.source @images : tensor<4xf32>
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{refers to @images, which is no batch.source of a parameter}}
  %x = uprog.parameter_row @images[%i]
  uprog.yield
}

// -----

uprog.program @p(%i: index) level(device) {
  %a = uprog.argument 0 of %i : !uprog.row
  // expected-error @+1 {{has 1 indices, but the tensor has rank 0}}
  %x = uprog.load %a[%i] : tensor<i32>
  uprog.yield
}

// -----

uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{refers to unknown batch.kernel @k}}
  %s = uprog.site @k
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{has 1 operands for a task, but @k takes 2}}
  %s = uprog.site @k(%i : index)
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{has an operand of type 'index' for argument #0 of @k, which is a 'tensor<4xf32>'}}
  %s = uprog.site @k(%i : index)
  uprog.yield
}

// -----

batch.kernel @k(%n: index) -> tensor<4xf32> {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{has rows for 0 results, but @k has 1}}
  %s = uprog.site @k(%i : index)
  uprog.yield
}

// -----

batch.kernel @k(%xs: tensor<?x4xf32>) {
  batch.yield
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{refers to @k, whose argument #0 is ragged; there is no row for it}}
  %s = uprog.site @k(%i : index)
  uprog.yield
}

// -----

batch.kernel @k(%n: index) {
  batch.yield
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{has room for 0 tasks; 1 is the least}}
  %s = uprog.tasks @k room(0)
  uprog.yield
}

// -----

batch.kernel @k(%n: index) {
  batch.yield
}
uprog.program @p(%i: index) level(device) {
  %s = uprog.tasks @k room(2)
  // expected-error @+1 {{has 0 operands for a task, but @k takes 1}}
  uprog.put_task %s[%i]
  uprog.yield
}

// -----

batch.kernel @k(%n: index) {
  batch.yield
}
uprog.program @p(%i: index, %s: !uprog.tasks) level(device) {
  // expected-error @+1 {{needs the result of a uprog.tasks}}
  uprog.put_task %s[%i] = %i : index
  uprog.yield
}

// -----

uprog.program @p(%i: index) level(device) {
  %a = uprog.argument 0 of %i : !uprog.row
  // expected-error @+1 {{needs the type of the tensor after '!uprog.row', and only there}}
  uprog.result 0 of %i = %a : !uprog.row
  uprog.yield
}

// -----

// What a unit lists for itself says nothing of others, but what it reads of an
// instance is equal on all: barriers may follow from it.
batch.kernel @k(%n: index) -> tensor<i1> {
  %c = arith.constant dense<true> : tensor<i1>
  batch.yield %c : tensor<i1>
}
uprog.buffer @c : tensor<i1> copies(1)
uprog.program @alone(%i: index) level(block) {
  %c = uprog.row @c
  %go = uprog.load %c[] : tensor<i1>
  %number = arith.index_castui %go : i1 to index
  uprog.branch %number
  case 1 {
    uprog.barrier block
  }
  uprog.yield
}
uprog.program @together(%i: index) level(device) {
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
  uprog.run @alone tasks(%n)
  uprog.for %i = %n to %n {
    uprog.ref @together(%i) : index
  }
  uprog.yield
}
