// RUN: batch-opt %s --split-input-file --batch-recursion-to-stack -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=SAVES < %t.mlir
// RUN: FileCheck %s --check-prefix=RESULTS < %t.mlir
// RUN: batch-opt %s --split-input-file --batch-recursion-to-stack="live-saves=false temporaries=false needed-stacks=false cached-tops=false tail-calls=false" \
// RUN:   | FileCheck %s --check-prefix=NAIVE

// Functions remain unchanged. A value that lives between steps is a variable,
// with a stack if it is live across a call. Arguments and results of the entry
// are the bottom rows of their variables.
// CHECK-LABEL: func.func @main
// CHECK:         call @fib
// CHECK-LABEL: batch.machine @main.machine() attributes {cached_tops} {
// CHECK-NEXT:    batch.variable @main.arg0 : i64 argument(0)
// CHECK-NEXT:    batch.variable @fib.arg0 : i64 stack
// CHECK-NEXT:    batch.variable @fib.v0 : i64 stack
// CHECK-NEXT:    batch.variable @main.result0 : i64 result(0)
// CHECK-NEXT:    batch.block @main.0 {

// Each call saves the values that are live across it, sets its argument and
// returns to the next block. That block drops the saved value: the argument after
// the first call, and the result of the first call after the second.
// SAVES-LABEL: batch.block @fib.2 {
// SAVES:         %[[N:.*]] = batch.top @fib.arg0 : i64
// SAVES:         %[[N1:.*]] = arith.subi %[[N]]
// SAVES-NEXT:    batch.push @fib.arg0, %[[N1]] : i64
// SAVES-NEXT:    batch.push_jump @fib.0 return_to(@fib.3)
// SAVES-LABEL: batch.block @fib.3 {
// SAVES:         batch.pop @fib.arg0
// SAVES:         %[[N:.*]] = batch.top @fib.arg0 : i64
// SAVES:         %[[N2:.*]] = arith.subi %[[N]]
// SAVES-NEXT:    batch.push @fib.v0{{$}}
// SAVES-NEXT:    batch.set @fib.arg0, %[[N2]] : i64
// SAVES-NEXT:    batch.push_jump @fib.0 return_to(@fib.4)
// SAVES-LABEL: batch.block @fib.4 {
// SAVES:         batch.pop @fib.v0

// The entry ends in a call, so the callee stores its result in the entry's result
// and returns from the entry. The result of the first call is copied before the
// second call overwrites it.
// RESULTS-LABEL: batch.block @main.0 {
// RESULTS:         batch.jump @fib.0
// RESULTS-LABEL: batch.block @fib.1 {
// RESULTS:         %[[N:.*]] = batch.top @fib.arg0 : i64
// RESULTS-NEXT:    batch.set @main.result0, %[[N]] : i64
// RESULTS-NEXT:    batch.return
// RESULTS-LABEL: batch.block @fib.3 {
// RESULTS-NEXT:    %[[A:.*]] = batch.top @main.result0 : i64
// RESULTS:         batch.set @fib.v0, %[[A]] : i64
// RESULTS-LABEL: batch.block @fib.4 {
// RESULTS:         %[[B:.*]] = batch.top @main.result0 : i64
// RESULTS:         %[[A:.*]] = batch.top @fib.v0 : i64
// RESULTS-NEXT:    %[[S:.*]] = arith.addi %[[A]], %[[B]] : i64
// RESULTS-NEXT:    batch.set @main.result0, %[[S]] : i64
// RESULTS-NEXT:    batch.return

// Without optimizations, every value is a variable with a stack. Each call
// saves all variables and returns to its caller.
// NAIVE-LABEL: batch.machine @main.machine() {
// NAIVE-NOT:     batch.variable @{{.*}} : i64{{$}}
// NAIVE:         batch.block @main.0 {
// NAIVE:           batch.push @main.arg0
// NAIVE:           batch.push_jump @fib.0 return_to(@main.1)
// NAIVE:         batch.block @main.1 {
// NAIVE-NEXT:      %[[R:.*]] = batch.top @fib.result0 : i64
// NAIVE-NEXT:      batch.pop @main.v0
// NAIVE-NEXT:      batch.pop @main.arg0
// NAIVE-NEXT:      batch.set @main.v0, %[[R]] : i64
// NAIVE-NEXT:      %[[R:.*]] = batch.top @main.v0 : i64
// NAIVE-NEXT:      batch.set @main.result0, %[[R]] : i64
// NAIVE-NEXT:      batch.return
func.func @fib(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %leaf = arith.cmpi slt, %n, %two : i64
  %r = scf.if %leaf -> i64 {
    scf.yield %n : i64
  } else {
    %n1 = arith.subi %n, %one : i64
    %a = func.call @fib(%n1) : (i64) -> i64
    %n2 = arith.subi %n, %two : i64
    %b = func.call @fib(%n2) : (i64) -> i64
    %s = arith.addi %a, %b : i64
    scf.yield %s : i64
  }
  return %r : i64
}
func.func @main(%n: i64 {batch.name = "n"}) -> i64 attributes {batch.entry} {
  %r = func.call @fib(%n) : (i64) -> i64
  return %r : i64
}

// -----

// f(b, a): all arguments are read before any argument is written. Values that the caller
// needs again are pushed together with the arguments of the callee.

// CHECK-LABEL: batch.machine @main.machine
// CHECK:         batch.block @f.2 {
// CHECK:           %[[N:.*]] = batch.top @f.arg0 : i64
// CHECK:           %[[M:.*]] = arith.subi %[[N]]
// CHECK-NEXT:      %[[B:.*]] = batch.top @f.arg2 : i64
// CHECK-NEXT:      %[[A:.*]] = batch.top @f.arg1 : i64
// CHECK-NEXT:      batch.push @f.arg1, %[[B]] : i64
// CHECK-NEXT:      batch.set @f.arg0, %[[M]] : i64
// CHECK-NEXT:      batch.set @f.arg2, %[[A]] : i64
// CHECK-NEXT:      batch.push_jump @f.0 return_to(@f.3)
func.func @f(%n: i64, %a: i64, %b: i64) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %done = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %done, ^stop, ^go
^stop:
  return %a, %b : i64, i64
^go:
  %m = arith.subi %n, %one : i64
  %s:2 = func.call @f(%m, %b, %a) : (i64, i64, i64) -> (i64, i64)
  %x = arith.addi %s#0, %a : i64
  return %x, %s#1 : i64, i64
}
func.func @main(%a: i64, %b: i64) -> (i64, i64) attributes {batch.entry} {
  %three = arith.constant 3 : i64
  %r:2 = func.call @f(%three, %a, %b) : (i64, i64, i64) -> (i64, i64)
  return %r#1, %r#0 : i64, i64
}

// -----

// Mutual tail recursion consists of jumps only: no stack, one result variable.
// The parameter is the machine's argument.

// CHECK-LABEL: batch.machine @main.machine
// CHECK-SAME:    (%[[W:.*]]: tensor<i64> {batch.shared = "w"}) attributes {cached_tops} {
// CHECK-NOT:     stack
// CHECK-NOT:     result1
// CHECK-NOT:     push
// CHECK:         batch.block @even.1 {
// CHECK-NEXT:      batch.set @main.result0, %[[W]] : tensor<i64>
// CHECK-NEXT:      batch.return
// CHECK:         batch.jump @odd.0
// CHECK:         batch.jump @even.0
func.func @even(%n: i64, %w: tensor<i64>) -> tensor<i64> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %done = arith.cmpi eq, %n, %zero : i64
  %r = scf.if %done -> tensor<i64> {
    scf.yield %w : tensor<i64>
  } else {
    %m = arith.subi %n, %one : i64
    %s = func.call @odd(%w, %m) : (tensor<i64>, i64) -> tensor<i64>
    scf.yield %s : tensor<i64>
  }
  return %r : tensor<i64>
}
func.func @odd(%w: tensor<i64>, %n: i64) -> tensor<i64> {
  %zero = arith.constant 0 : i64
  %none = arith.constant dense<0> : tensor<i64>
  %one = arith.constant 1 : i64
  %done = arith.cmpi eq, %n, %zero : i64
  %r = scf.if %done -> tensor<i64> {
    scf.yield %none : tensor<i64>
  } else {
    %m = arith.subi %n, %one : i64
    %s = func.call @even(%m, %w) : (i64, tensor<i64>) -> tensor<i64>
    scf.yield %s : tensor<i64>
  }
  return %r : tensor<i64>
}
func.func @main(%w: tensor<i64> {batch.shared = "w"}, %n: i64) -> tensor<i64> attributes {batch.entry} {
  %r = func.call @even(%n, %w) : (i64, tensor<i64>) -> tensor<i64>
  return %r : tensor<i64>
}

// -----

// A loop whose values are swapped. Both targets of its branch get their
// arguments before the branch, without blocks for edges. A program without
// recursion has no stacks, even if it calls a function.

// CHECK-LABEL: batch.machine @main.machine
// CHECK-NOT:     stack
// CHECK-NOT:     batch.push @
// CHECK:         batch.block @main.1 {
// CHECK:           batch.branch %{{.*}}, @main.2, @main.3
// CHECK:         batch.block @main.2 {
// CHECK:           %[[J:.*]] = arith.subi
// CHECK-NEXT:      %[[Y:.*]] = batch.top @main.[[VY:.*]] : i64
// CHECK-NEXT:      %[[X:.*]] = batch.top @main.[[VX:.*]] : i64
// CHECK-NEXT:      batch.set @main.{{.*}}, %[[J]] : i64
// CHECK-NEXT:      batch.set @main.[[VX]], %[[Y]] : i64
// CHECK-NEXT:      batch.set @main.[[VY]], %[[X]] : i64
// CHECK-NEXT:      batch.jump @main.1
// CHECK:         batch.block @main.3 {
// CHECK:           batch.push_jump @square.0 return_to(@main.4)
// CHECK:         batch.block @main.4 {
// CHECK:         batch.block @square.0 {
func.func @square(%x: i64) -> i64 {
  %y = arith.muli %x, %x : i64
  return %y : i64
}
func.func @main(%n: i64, %a: i64, %b: i64) -> i64 attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:3 = scf.while (%i = %n, %x = %a, %y = %b)
      : (i64, i64, i64) -> (i64, i64, i64) {
    %more = arith.cmpi sgt, %i, %zero : i64
    scf.condition(%more) %i, %x, %y : i64, i64, i64
  } do {
  ^bb0(%i: i64, %x: i64, %y: i64):
    %j = arith.subi %i, %one : i64
    scf.yield %j, %y, %x : i64, i64, i64
  }
  %s = func.call @square(%r#1) : (i64) -> i64
  %t = arith.addi %s, %r#2 : i64
  return %t : i64
}

// -----

// One target of a branch takes an argument. The other target reads the variable, which keeps its
// value on the path to that target.

// CHECK-LABEL: batch.machine @main.machine
// CHECK:         batch.block @main.1 {
// CHECK-NEXT:      %[[X:.*]] = batch.top @main.v0 : i64
// CHECK-NEXT:      %[[Y:.*]] = arith.addi %[[X]], %[[X]] : i64
// CHECK:           %[[MORE:.*]] = arith.cmpi slt, %[[Y]]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.select %[[MORE]], %[[Y]], %[[X]] : i64
// CHECK-NEXT:      batch.set @main.v0, %[[NEXT]] : i64
// CHECK-NEXT:      batch.branch %[[MORE]], @main.1, @main.2
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  cf.br ^loop(%n : i64)
^loop(%x: i64):
  %y = arith.addi %x, %x : i64
  %limit = arith.constant 100 : i64
  %more = arith.cmpi slt, %y, %limit : i64
  cf.cond_br %more, ^loop(%y : i64), ^end
^end:
  return %x : i64
}

// -----

// Constant tensors and zeros are created where they are needed. A matrix that
// all calls share is not a variable, but a vector that differs between calls is.

// CHECK-LABEL: batch.machine @main.machine
// CHECK-SAME:    (%[[W:.*]]: tensor<4x4xf64> {batch.shared = "W"}, %[[V:.*]]: tensor<4xf64> {batch.shared = "v"})
// CHECK-NEXT:    batch.variable @main.arg2 : tensor<4xf64> argument(0)
// CHECK-NEXT:    batch.variable @f.arg0 : tensor<4xf64>{{$}}
// CHECK-NEXT:    batch.variable @f.arg2 : tensor<4xf64>{{$}}
// CHECK-NOT:     batch.variable {{.*}}4x4
// CHECK:         batch.block @f.1 {
// CHECK:           %[[ZERO:.*]] = linalg.fill
// CHECK:           linalg.matvec ins(%[[W]], %{{.*}} : tensor<4x4xf64>, tensor<4xf64>) outs(%[[ZERO]] : tensor<4xf64>)
func.func @f(%x: tensor<4xf64>, %w: tensor<4x4xf64>, %v: tensor<4xf64>) -> tensor<4xf64> {
  %c = arith.constant 0.0 : f64
  %i = arith.constant 0 : index
  %e = tensor.empty() : tensor<4xf64>
  %zero = linalg.fill ins(%c : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %first = tensor.extract %x[%i] : tensor<4xf64>
  %more = arith.cmpf ogt, %first, %c : f64
  %r = scf.if %more -> tensor<4xf64> {
    %y = linalg.matvec ins(%w, %x : tensor<4x4xf64>, tensor<4xf64>)
                       outs(%zero : tensor<4xf64>) -> tensor<4xf64>
    %z = arith.addf %y, %v : tensor<4xf64>
    %s = func.call @f(%z, %w, %y) : (tensor<4xf64>, tensor<4x4xf64>, tensor<4xf64>) -> tensor<4xf64>
    scf.yield %s : tensor<4xf64>
  } else {
    scf.yield %x : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}
func.func @main(%w: tensor<4x4xf64> {batch.shared = "W"},
                %v: tensor<4xf64> {batch.shared = "v"}, %x: tensor<4xf64>)
    -> tensor<4xf64> attributes {batch.entry} {
  %r = func.call @f(%x, %w, %v) : (tensor<4xf64>, tensor<4x4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// -----

// Without an entry, nothing changes.
// CHECK-LABEL: func.func private @alone
// CHECK-NOT:   batch.machine
func.func private @alone(%n: i64) -> i64 {
  return %n : i64
}
