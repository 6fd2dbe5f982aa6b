// RUN: batch-opt %s --split-input-file --verify-diagnostics

// The first argument of an operator must be the number of tasks.
// expected-error @+1 {{'uprog.operator' op the first argument must be the number of tasks, an index}}
uprog.operator @k.rows() {
  uprog.yield
}

// -----

// expected-error @+1 {{'uprog.operator' op the first argument must be the number of tasks, an index}}
uprog.operator @k.rows(%n: i64) {
  uprog.yield
}

// -----

// Results must have a row per task.
// expected-error @+1 {{'uprog.operator' op result #0 must have rows (tensor<?x...>), got 'tensor<4xf32>'}}
uprog.operator @k.rows(%n: index, %w: tensor<4xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> tensor<4xf32> {
  uprog.yield %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{'uprog.operator' op result #0 must have rows (tensor<?x...>), got 'index'}}
uprog.operator @k.rows(%n: index) -> index {
  uprog.yield %n : index
}

// -----

// An operator must have a body.
// expected-error @+1 {{'uprog.operator' op requires a body}}
uprog.operator private @k.rows(index)

// -----

// Bodies must end in the yield of this dialect.
// expected-error @+1 {{'uprog.operator' op must end in uprog.yield}}
uprog.operator @k.rows(%n: index) {
  llvm.unreachable
}

// -----

// expected-error @+1 {{'uprog.program' op must end in uprog.yield}}
uprog.program @p() level(device) {
  llvm.unreachable
}

// -----

// The operands of the yield must have the types of the results.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x8xf32> {
  // expected-error @+1 {{'uprog.yield' op operand types differ from the result types of "k.rows"}}
  uprog.yield %x : tensor<?x4xf32>
}

// -----

uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.yield' op operand types differ from the result types of "p"}}
  uprog.yield %n : index
}

// -----

// A program cannot have results.
// expected-error @+1 {{'uprog.program' op must not have results}}
uprog.program @p(%n: index) -> index level(device) {
  uprog.yield %n : index
}

// -----

// A level must have one of the known names.
// expected-error @+1 {{unknown level 'warp'; expected block, cluster or device}}
uprog.program @p() level(warp) {
  uprog.yield
}

// -----

uprog.program @p(%step: !uprog.step, %n: index) level(device) {
  // expected-error @+1 {{'uprog.run' op refers to unknown uprog.operator or uprog.program @k.rows}}
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.yield
}

// -----

// A function can be run only if a lowering created it from an operator.
func.func private @k.rows(index)
uprog.program @p(%step: !uprog.step, %n: index) level(device) {
  // expected-error @+1 {{'uprog.run' op refers to unknown uprog.operator or uprog.program @k.rows}}
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.yield
}

// -----

// A table cannot be run.
batch.table @k.rows : tensor<4xf32> group(0)
uprog.program @p(%step: !uprog.step, %n: index) level(device) {
  // expected-error @+1 {{'uprog.run' op refers to unknown uprog.operator or uprog.program @k.rows}}
  uprog.run @k.rows step(%step) tasks(%n)
  uprog.yield
}

// -----

// The first argument of a loop's body must be the counter of the loop.
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.for' op body must have an index as its first argument}}
  "uprog.for"(%n, %n) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%i: i64):
    uprog.yield
  }) : (index, index) -> ()
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.for' op body must have an index as its first argument}}
  "uprog.for"(%n, %n) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
    uprog.yield
  }) : (index, index) -> ()
  uprog.yield
}

// -----

// A loop must yield all values that it carries.
uprog.program @p(%n: index) level(device) {
  // expected-error @+2 {{'uprog.for' op along control flow edge from Operation uprog.yield to Region #0: region branch point has 0 operands, but region successor needs 1 inputs}}
  // expected-note @+1 {{region branch point}}
  %sum = uprog.for %i = %n to %n iter(%a = %n) : index {
  }
  uprog.yield
}

// -----

// Yielded values must have the types of the carried values.
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.for' op 0-th region iter_arg and 0-th yielded value have different type: 'index' != 'i1'}}
  %sum = uprog.for %i = %n to %n iter(%a = %n) : index {
    %less = arith.cmpi slt, %a, %n : index
    uprog.yield %less : i1
  }
  uprog.yield
}

// -----

// Control flow can pass numbers and rows, but not tensors.
uprog.program @p(%n: index, %x: tensor<4xf32>) level(device) {
  // expected-error @+1 {{'uprog.for' op operand #2 must be variadic of number, row, step or value of an ADT, but got 'tensor<4xf32>'}}
  %y = uprog.for %i = %n to %n iter(%a = %x) : tensor<4xf32> {
    uprog.yield %a : tensor<4xf32>
  }
  uprog.yield
}

// -----

// A branch must not have two cases for the same selector.
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.branch' op has duplicate case 1}}
  uprog.branch %n
  case 1 {
  }
  case 0 {
  }
  case 1 {
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.branch' op has 0 regions for 1 cases}}
  "uprog.branch"(%n) <{cases = array<i64: 0>}> ({
  }) : (index) -> ()
  uprog.yield
}

// -----

// A branch with results must have results for each selector.
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.branch' op has results, so it requires a default region for selectors without a case}}
  %m = uprog.branch %n -> index
  case 0 {
    uprog.yield %n : index
  }
  uprog.yield
}

// -----

// All cases must yield the results.
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.branch' op along control flow edge from Operation uprog.yield to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  %m = uprog.branch %n -> index
  case 0 {
    // expected-note @+1 {{region branch point}}
    uprog.yield
  }
  default {
    uprog.yield %n : index
  }
  uprog.yield
}

// -----

// The level of a barrier must be the level of the program or a lower level.
uprog.program @p() level(block) {
  // expected-error @+1 {{'uprog.barrier' op has level device, but the units of the device do not run this block-level program together; use level block or below}}
  uprog.barrier device
  uprog.yield
}

// -----

// A while loop must have a condition.
uprog.program @p(%n: index) level(block) {
  // expected-error @+1 {{'uprog.while' op first region must end in uprog.condition}}
  uprog.while {
    uprog.yield
  } do {
    uprog.yield
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.while' op second region must end in uprog.yield}}
  uprog.while {
    uprog.condition(%c)
  } do {
    llvm.unreachable
  }
  uprog.yield
}

// -----

// The condition must pass the arguments of the body.
uprog.program @p(%n: index, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.while' op along control flow edge from Operation uprog.condition to Region #1: region branch point has 1 operands, but region successor needs 0 inputs}}
  uprog.while {
    // expected-note @+1 {{region branch point}}
    uprog.condition(%c) %n : index
  } do {
    uprog.yield
  }
  uprog.yield
}

// -----

// The body must yield the arguments of the first region.
uprog.program @p(%n: index, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.while' op different number of region iter_args and yielded values: 0 != 1}}
  uprog.while {
    uprog.condition(%c)
  } do {
    uprog.yield %n : index
  }
  uprog.yield
}

// -----

// The first region needs initial values for its arguments.
uprog.program @p(%n: index, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.while' op different number of inits and region iter_args: 0 != 1}}
  uprog.while {
  ^bb0(%i: index):
    uprog.condition(%c)
  } do {
    uprog.yield
  }
  uprog.yield
}

// -----

// A loop cannot return tensors.
uprog.program @p(%x: tensor<4xf32>, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.while' op result #0 must be variadic of number, row, step or value of an ADT, but got 'tensor<4xf32>'}}
  uprog.while {
    uprog.condition(%c) %x : tensor<4xf32>
  } do {
  ^bb0(%y: tensor<4xf32>):
    uprog.yield
  }
  uprog.yield
}

// -----

// A reference must name a program and pass its arguments.
uprog.program @p(%n: index) level(block) {
  // expected-error @+1 {{'uprog.ref' op refers to unknown uprog.program @q}}
  uprog.ref @q(%n) : index
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(block) {
  // expected-error @+1 {{'uprog.ref' op operand types differ from the argument types of @p}}
  uprog.ref @p()
  uprog.yield
}

// -----

// A reference must be in a program that all units of the referenced program run.
uprog.program @q() level(cluster) {
  uprog.yield
}
uprog.program @p() level(block) {
  // expected-error @+1 {{'uprog.ref' op is in a block-level program, but refers to cluster-level program @q, which requires all units of the cluster}}
  uprog.ref @q()
  uprog.yield
}

// -----

// A run of an operator must have a step, which specifies the operands.
uprog.operator @k.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.run' op runs an operator, so it must have a step and no operands}}
  uprog.run @k.rows tasks(%n)
  uprog.yield
}

// -----

uprog.operator @k.rows(%n: index) {
  uprog.yield
}
uprog.program @p(%n: index, %step: !uprog.step) level(device) {
  // expected-error @+1 {{'uprog.run' op runs an operator, so it must have a step and no operands}}
  uprog.run @k.rows(%n) step(%step) tasks(%n) : index
  uprog.yield
}

// -----

// A run of a program must pass the arguments after the task number, but no step.
uprog.program @q(%task: index) level(block) {
  uprog.yield
}
uprog.program @p(%n: index, %step: !uprog.step) level(device) {
  // expected-error @+1 {{'uprog.run' op has a step, but runs a program, which takes no step}}
  uprog.run @q step(%step) tasks(%n)
  uprog.yield
}

// -----

uprog.program @q(%task: index) level(block) {
  uprog.yield
}
uprog.program @p(%n: index) level(device) {
  // expected-error @+1 {{'uprog.run' op expects the arguments of @q to be a task number of type index, followed by the operands}}
  uprog.run @q(%n) tasks(%n) : index
  uprog.yield
}

// -----

// Units cannot distribute tasks of a program of their own level.
uprog.program @q(%task: index) level(cluster) {
  uprog.yield
}
uprog.program @p(%n: index) level(cluster) {
  // expected-error @+1 {{'uprog.run' op is in a cluster-level program, but runs cluster-level program @q; tasks require a program of a lower level}}
  uprog.run @q tasks(%n)
  uprog.yield
}

// -----

// The body of uprog.compact must end in a condition with at most one value, an index.
uprog.program @p(%n: index, %list: memref<?xi32>) level(block) {
  // expected-error @+1 {{'uprog.compact' op body must end in a uprog.condition with at most one value, an index}}
  %count = uprog.compact %i < %n into %list : memref<?xi32> {
    uprog.yield
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %list: memref<?xi32>, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.compact' op body must end in a uprog.condition with at most one value, an index}}
  %count = uprog.compact %i < %n into %list : memref<?xi32> {
    uprog.condition(%c) %c : i1
  }
  uprog.yield
}

// -----

// The memory of a list must have elements of type i32.
uprog.program @p(%n: index, %list: memref<?xf32>, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.compact' op operand #1 must be 1D memref of 32-bit signless integer values, but got 'memref<?xf32>'}}
  %count = uprog.compact %i < %n into %list : memref<?xf32> {
    uprog.condition(%c)
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %list: memref<?xi32>, %c: i1) level(block) {
  // expected-error @+1 {{'uprog.compact' op body must have one argument, an index}}
  %count = "uprog.compact"(%n, %list) ({
    "uprog.condition"(%c) : (i1) -> ()
  }) : (index, memref<?xi32>) -> index
  uprog.yield
}

// -----

// A reduction must yield one or more keys of type i64.
uprog.program @p(%n: index) level(block) {
  // expected-error @+1 {{'uprog.reduce' op body must end in a uprog.yield of one or more i64 keys}}
  uprog.reduce min %i < %n {
    uprog.yield
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index) level(block) {
  // expected-error @+1 {{'uprog.reduce' op body must end in a uprog.yield of one or more i64 keys}}
  %key, %which = uprog.reduce min %i < %n {
    uprog.yield %i : index
  }
  uprog.yield
}

// -----

// The body of uprog.reduce, which computes keys, must have no effects except reads.
uprog.program @p(%n: index, %lanes: !batch.lanes) level(block) {
  // expected-error @+1 {{'uprog.reduce' op body must have no effects except reads, because several threads may run it for the same number}}
  %key, %which = uprog.reduce min %i < %n {
    %runs = batch.enter_block %lanes[%i], %i
    %key = arith.extui %runs : i1 to i64
    uprog.yield %key : i64
  }
  uprog.yield
}

// -----

uprog.program @p(%n: index, %k: i64) level(block) {
  // expected-error @+1 {{'uprog.reduce' op body must have one argument, an index}}
  %key, %which = "uprog.reduce"(%n) <{resultSegmentSizes = array<i32: 1, 1>}> ({
    "uprog.yield"(%k) : (i64) -> ()
  }) : (index) -> (i64, index)
  uprog.yield
}

// -----

// Only attributes of the dialect may have its prefix.
// expected-error @+1 {{'func.func' op attribute 'uprog.depth' is not supported on operations}}
func.func private @f() attributes {uprog.depth}

// -----

// An inserted tensor must have the element type of the destination.
uprog.operator @k.rows(%n: index, %x: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x4xf64> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x6x4xf32> {
  // expected-error @+1 {{expects rows of static shape and equal element types}}
  %y = uprog.insert %r into %x [0, 0] sizes [1, 4] strides [1, 1] : tensor<?x4xf64> into tensor<?x6x4xf32>
  uprog.yield %y : tensor<?x6x4xf32>
}

// -----

// Each dimension of a row must have an offset.
uprog.operator @k.rows(%n: index, %x: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x6x4xf32> {
  // expected-error @+1 {{requires an offset, a size and a stride for each dimension of a row}}
  %y = uprog.insert %r into %x [0] sizes [1, 4] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  uprog.yield %y : tensor<?x6x4xf32>
}

// -----

// A slice must be within the row.
uprog.operator @k.rows(%n: index, %x: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x6x4xf32> {
  // expected-error @+1 {{inserts outside of the row}}
  %y = uprog.insert %r into %x [4, 1] sizes [4, 1] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  uprog.yield %y : tensor<?x6x4xf32>
}

// -----

// Only dimensions of size 1 may be omitted.
uprog.operator @k.rows(%n: index, %x: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x6x4xf32> {
  // expected-error @+1 {{shape of source rows does not match 'sizes'}}
  %y = uprog.insert %r into %x [0, 0] sizes [2, 4] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  uprog.yield %y : tensor<?x6x4xf32>
}

// -----

// The extents of the source must be the sizes of the slice.
uprog.operator @k.rows(%n: index, %x: tensor<?x6x4xf32> {uprog.operand = #uprog.operand<gather>},
    %r: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x6x4xf32> {
  // expected-error @+1 {{shape of source rows does not match 'sizes'}}
  %y = uprog.insert %r into %x [0, 0] sizes [1, 3] strides [1, 1] : tensor<?x4xf32> into tensor<?x6x4xf32>
  uprog.yield %y : tensor<?x6x4xf32>
}
