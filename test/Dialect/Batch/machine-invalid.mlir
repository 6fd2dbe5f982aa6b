// RUN: batch-opt %s --split-input-file --verify-diagnostics

// Variables, not results of the machine, store the results of the entry.
// expected-error @+1 {{'batch.machine' op must not have results; variables store the results of the entry}}
batch.machine @m() -> i64 {
  batch.block @b {
    batch.return
  }
}

// -----

// A value that differs between lanes cannot be an argument.
// expected-error @+1 {{'batch.machine' op argument #0 must have 'batch.shared'; values that differ between instances belong in variables}}
batch.machine @m(%n: i64) {
  batch.block @b {
    batch.return
  }
}

// -----

// A parameter of a machine must have a name.
// expected-error @+1 {{'batch.machine' op argument #0: 'batch.shared' of a function must be a string, the name of the parameter}}
batch.machine @m(%w: tensor<4xf32> {batch.shared}) {
  batch.block @b {
    batch.return
  }
}

// -----

// A machine must have a block at which its lanes start.
// expected-error @+1 {{'batch.machine' op requires at least one batch.block}}
batch.machine @m() {
  batch.variable @x : i64
}

// -----

// expected-error @+1 {{'batch.machine' op Operations with a 'SymbolTable' must have exactly one block}}
batch.machine private @m()

// -----

// All code must be in blocks.
batch.machine @m() {
  // expected-error @+1 {{'arith.constant' op must be in a batch.block}}
  %c = arith.constant 1 : i64
  batch.block @b {
    batch.return
  }
}

// -----

// An argument of the entry can be the initial value of only one variable.
batch.machine @m() {
  batch.variable @x : i64 argument(1)
  // expected-error @+1 {{'batch.variable' op duplicates the variable of argument #1}}
  batch.variable @y : i64 argument(1)
  batch.block @b {
    batch.return
  }
}

// -----

// A result of the entry can be the final value of only one variable.
batch.machine @m() {
  batch.variable @x : i64 result(0)
  // expected-error @+1 {{'batch.variable' op duplicates the variable of result #0}}
  batch.variable @y : i64 result(0)
  batch.block @b {
    batch.return
  }
}

// -----

// expected-error @+1 {{'batch.machine' op has no variable for result #0}}
batch.machine @m() {
  batch.variable @y : i64 result(1)
  batch.block @b {
    batch.return
  }
}

// -----

batch.machine @m() {
  // expected-error @+1 {{'batch.variable' op has a negative argument or result number; numbers start at 0}}
  batch.variable @y : i64 argument(-1)
  batch.block @b {
    batch.return
  }
}

// -----

// A variable must have a type whose values can be rows of an array.
batch.machine @m() {
  // expected-error @+1 {{'batch.variable' op must be an integer of at most 64 bits, an index, f16, bf16, f32, f64 or a nonempty static tensor of them, got 'tensor<?xf32>'}}
  batch.variable @x : tensor<?xf32>
  batch.block @b {
    batch.return
  }
}

// -----

batch.machine @m() {
  // expected-error @+1 {{'batch.variable' op must be an integer of at most 64 bits, an index, f16, bf16, f32, f64 or a nonempty static tensor of them, got 'i128'}}
  batch.variable @x : i128
  batch.block @b {
    batch.return
  }
}

// -----

// A variable must be in a machine.
// expected-error @+1 {{'batch.variable' op expects parent op 'batch.machine'}}
batch.variable @x : i64

// -----

// A block must specify where its lanes continue.
batch.machine @m() {
  // expected-error @+1 {{'batch.block' op must end in batch.jump, batch.branch, batch.push_jump or batch.return}}
  batch.block @b {
    uprog.yield
  }
}

// -----

// A block can read only variables of its machine.
batch.machine @m() {
  batch.block @x {
    // expected-error @+1 {{'batch.top' op refers to unknown batch.variable @x}}
    %x = batch.top @x : i64
    batch.return
  }
}

// -----

batch.machine @m() {
  batch.block @b {
    // expected-error @+1 {{'batch.pop' op refers to unknown batch.variable @x}}
    batch.pop @x
    batch.return
  }
}

// -----

// Values that are read and written must have the variable's type.
batch.machine @m() {
  batch.variable @x : i64
  batch.block @b {
    // expected-error @+1 {{'batch.top' op variable @x has type 'i64', but the value has type 'i32'}}
    %x = batch.top @x : i32
    batch.return
  }
}

// -----

batch.machine @m(%w: tensor<4xf32> {batch.shared = "W"}) {
  batch.variable @x : tensor<8xf32> stack
  batch.block @b {
    // expected-error @+1 {{'batch.set' op variable @x has type 'tensor<8xf32>', but the value has type 'tensor<4xf32>'}}
    batch.set @x, %w : tensor<4xf32>
    batch.return
  }
}

// -----

batch.machine @m(%w: tensor<4xf32> {batch.shared = "W"}) {
  batch.variable @x : tensor<8xf32> stack
  batch.block @b {
    // expected-error @+1 {{'batch.push' op variable @x has type 'tensor<8xf32>', but the value has type 'tensor<4xf32>'}}
    batch.push @x, %w : tensor<4xf32>
    batch.return
  }
}

// -----

// Only variables with a stack can be pushed and popped.
batch.machine @m() {
  batch.variable @x : i64
  batch.block @b {
    // expected-error @+1 {{'batch.push' op variable @x has no stack; declare it with 'stack'}}
    batch.push @x
    batch.return
  }
}

// -----

batch.machine @m() {
  batch.variable @x : i64
  batch.block @b {
    // expected-error @+1 {{'batch.pop' op variable @x has no stack; declare it with 'stack'}}
    batch.pop @x
    batch.return
  }
}

// -----

// Lanes can continue only at blocks of the machine.
batch.machine @m() {
  batch.variable @x : i64
  batch.block @b {
    // expected-error @+1 {{'batch.jump' op refers to unknown batch.block @x}}
    batch.jump @x
  }
}

// -----

batch.machine @m() {
  batch.variable @c : i1
  batch.block @b {
    %c = batch.top @c : i1
    // expected-error @+1 {{'batch.branch' op refers to unknown batch.block @elsewhere}}
    batch.branch %c, @b, @elsewhere
  }
}

// -----

batch.machine @m() {
  batch.block @b {
    // expected-error @+1 {{'batch.push_jump' op refers to unknown batch.block @nowhere}}
    batch.push_jump @b return_to(@nowhere)
  }
}

// -----

func.func @f() {
  // expected-error @+1 {{'batch.return' op expects parent op 'batch.block'}}
  batch.return
}
