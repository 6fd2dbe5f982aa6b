// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{does not support rows of type 'tensor<?xf32>'; expected a static shape and numeric elements}}
uprog.buffer @x : tensor<?xf32> copies(1)

// -----

// expected-error @+1 {{does not support rows of type 'tensor<4xcomplex<f32>>'; expected a static shape and numeric elements}}
uprog.buffer @x : tensor<4xcomplex<f32>> copies(1)

// -----

// expected-error @+1 {{expects at least 1 copy, got 0}}
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
  // expected-error @+1 {{avoids 1 of the 1 copies of @x; at least one copy must remain}}
  %x = uprog.row @x avoiding(%a)
  uprog.yield
}

// -----

batch.source @images : tensor<4xf32>
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{refers to @images, which is not a batch.source of a parameter}}
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
  // expected-error @+1 {{has an operand of type 'index' for argument #0 of @k, which has type 'tensor<4xf32>'}}
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
  // expected-error @+1 {{refers to @k, whose argument #0 is ragged; ragged arguments are not supported}}
  %s = uprog.site @k(%i : index)
  uprog.yield
}

// -----

batch.kernel @k(%n: index) {
  batch.yield
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{expects a capacity of at least 1, got 0}}
  %s = uprog.tasks @k capacity(0)
  uprog.yield
}

// -----

batch.kernel @k(%n: index) {
  batch.yield
}
uprog.program @p(%i: index) level(device) {
  %s = uprog.tasks @k capacity(2)
  // expected-error @+1 {{has 0 operands for a task, but @k takes 1}}
  uprog.put_task %s[%i]
  uprog.yield
}

// -----

batch.kernel @k(%n: index) {
  batch.yield
}
uprog.program @p(%i: index, %s: !uprog.tasks) level(device) {
  // expected-error @+1 {{tasks must be the result of a uprog.tasks}}
  uprog.put_task %s[%i] = %i : index
  uprog.yield
}

// -----

uprog.program @p(%i: index) level(device) {
  %a = uprog.argument 0 of %i : !uprog.row
  // expected-error @+1 {{requires a tensor type if and only if its value is a '!uprog.row'}}
  uprog.result 0 of %i = %a : !uprog.row
  uprog.yield
}

// -----

// A result in the row of an operand needs an insert into that operand.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %a = uprog.row @x
  // expected-error @+1 {{reuses the row of an operand for result #0, but @k does not insert that result into this operand}}
  %s = uprog.site @k(%a : !uprog.row) into(%a)
  uprog.yield
}

// -----

uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %x = uprog.row @x
  // expected-error @+1 {{expects a row of type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %e = uprog.load %x[%i] : tensor<8xf32>
  uprog.yield
}

// -----

batch.kernel @k(%n: index) -> tensor<8xf32> {
  %x = arith.constant dense<0.0> : tensor<8xf32>
  batch.yield %x : tensor<8xf32>
}
uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %x = uprog.row @x
  // expected-error @+1 {{expects a row of type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %s = uprog.site @k(%i : index) into(%x)
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>) {
  batch.yield
}
batch.source @E : tensor<8xf32> parameter(0)
uprog.program @p(%i: index) level(device) {
  %x = uprog.parameter_row @E[%i]
  %s = uprog.tasks @k capacity(2)
  // expected-error @+1 {{expects a row of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  uprog.put_task %s[%i] = %x : !uprog.row
  uprog.yield
}

// -----

// Results of several tasks must be slices of a tensor for the maximum number of tasks.
batch.kernel @k(%n: index) -> tensor<4xf32> {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  batch.yield %x : tensor<4xf32>
}
uprog.buffer @xs : tensor<2x4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %s = uprog.tasks @k capacity(3)
  %xs = uprog.row @xs
  // expected-error @+1 {{expects a row of type 'tensor<3x4xf32>', got 'tensor<2x4xf32>'}}
  %step = uprog.batch %s count(%i) into(%xs)
  uprog.yield
}

// -----

batch.kernel @k(%n: index) -> tensor<f32> {
  %x = arith.constant dense<0.0> : tensor<f32>
  batch.yield %x : tensor<f32>
}
uprog.buffer @xs : tensor<2xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %s = uprog.tasks @k capacity(2)
  %xs = uprog.row @xs
  // expected-error @+1 {{cannot combine results of type 'tensor<f32>' in one row; expected results of rank at least 1}}
  %step = uprog.batch %s count(%i) into(%xs)
  uprog.yield
}

// -----

func.func @main(%x: tensor<4xf32>, %W: tensor<4xf32> {batch.shared = "W"}) -> tensor<4xf32>
    attributes {batch.entry} {
  return %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{argument number 1 is out of range; an instance has 1 arguments}}
  %a = uprog.argument 1 of %i : !uprog.row
  uprog.yield
}

// -----

func.func @main(%x: tensor<4xf32>, %W: tensor<4xf32> {batch.shared = "W"}) -> tensor<4xf32>
    attributes {batch.entry} {
  return %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{has type 'index', but the argument has type 'tensor<4xf32>'}}
  %a = uprog.argument 0 of %i : index
  uprog.yield
}

// -----

func.func @main(%x: tensor<4xf32>, %W: tensor<4xf32> {batch.shared = "W"}) -> tensor<4xf32>
    attributes {batch.entry} {
  return %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{result number 2 is out of range; an instance has 1 results}}
  uprog.result 2 of %i = %i : index
  uprog.yield
}

// -----

func.func @main(%x: tensor<4xf32>, %W: tensor<4xf32> {batch.shared = "W"}) -> tensor<4xf32>
    attributes {batch.entry} {
  return %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  // expected-error @+1 {{has a value of type 'index', but the result has type 'tensor<4xf32>'}}
  uprog.result 0 of %i = %i : index
  uprog.yield
}

// -----

uprog.program @p(%i: index, %list: !rec.list<f32>) level(device) {
  // expected-error @+1 {{has type 'index', but the list has elements of type 'f32'}}
  %e = uprog.list_element %list[%i] : !rec.list<f32> -> index
  uprog.yield
}

// -----

uprog.buffer @x : tensor<4xf32> copies(3)
uprog.program @p(%i: index) level(device) {
  %a = uprog.row @x
  // expected-error @+1 {{cannot combine 'in_turn' with 'avoiding'}}
  %b = uprog.row @x avoiding(%a) in_turn
  uprog.yield
}

// -----

uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(cluster) {
  // expected-error @+1 {{has a member of a set, but is in a cluster-level program; only device-level programs run sets}}
  %a = uprog.row @x member(%i)
  uprog.yield
}

// -----

batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.program @p(%i: index) level(device) {
  %x = uprog.argument 0 of %i : !uprog.row
  // expected-error @+1 {{writes a row of an input or parameter; copy it first}}
  %s = uprog.site @k(%x : !uprog.row) into(%x)
  uprog.yield
}

// -----

uprog.buffer @x : tensor<4xf32> copies(1)
uprog.program @p(%i: index) level(device) {
  %x = uprog.argument 0 of %i : !uprog.row
  %a = uprog.row @x
  // expected-error @+1 {{writes a row of an input or parameter; copy it first}}
  uprog.copy %a to %x : tensor<4xf32>
  uprog.yield
}

// -----

uprog.program @p(%i: index) level(device) {
  %many = arith.constant 4611686018427387905 : index
  // expected-error @+1 {{counts 4611686018427387905 rounds; expected 0 to 4611686018427387904}}
  %may = uprog.next_round "a loop" count(%many)
  uprog.yield
}

// -----

uprog.program @p(%i: index) level(device) {
  %fewer = arith.constant -1 : index
  // expected-error @+1 {{counts -1 rounds; expected 0 to 4611686018427387904}}
  %may = uprog.next_round "a loop" count(%fewer)
  uprog.yield
}
