// RUN: batch-opt %s --convert-batch-to-llvm --split-input-file --verify-diagnostics

// An object must have an entry.
// expected-error @+1 {{the module has no entry; mark the function for one instance with 'attributes {batch.entry}'}}
module {
}

// -----

// Arguments and results of the entry must have types that programs support.
// expected-error @+1 {{a value of type 'memref<4xf32>' cannot be an argument or result of the entry}}
func.func @main(%m: memref<4xf32>) attributes {batch.entry} {
  return
}

// -----

// Parameters are read from a file of tensors, so each must be a tensor.
// expected-error @+1 {{argument #1 is a parameter and must be a tensor; pass a scalar as a tensor of rank 0}}
func.func @main(%n: index, %s: index {batch.shared = "s"}) attributes {batch.entry} {
  return
}

// -----

// The operator of a kernel must have code.
// expected-error @+1 {{the kernel's operator has no code; run convert-operators-to-cpu first}}
batch.kernel @k() {
  batch.yield
}
func.func @main() attributes {batch.entry} {
  batch.invoke @k() : () -> ()
  return
}

// -----

// The operator of a kernel that is invoked must have been converted to a function.
batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  batch.yield %x : tensor<4xf32>
}
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0>} {
  uprog.yield %x : tensor<?x4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {batch.entry} {
  // expected-error @+1 {{the operator of kernel @k has no code; run convert-operators-to-cpu first}}
  %y = batch.invoke @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Only the results of a traversal can be looked up.
rec.adt @Tree {
  rec.variant @leaf()
}
func.func private @visit(%t: !rec.adt<@Tree>) {
  return
}
func.func @main(%t: !rec.adt<@Tree>) attributes {batch.entry} {
  return
}
func.func @main.inspect(%t: !rec.adt<@Tree>) attributes {batch.inspector} {
  // expected-error @+1 {{results of function @visit are looked up here, but no batch.traverse runs it}}
  batch.lookup @visit(%t) : (!rec.adt<@Tree>) -> ()
  return
}

// -----

// expected-error @+1 {{a value of type 'f80' cannot be an argument or result of the entry}}
func.func @main(%x: f80) attributes {batch.entry} {
  return
}

// -----

// expected-error @+1 {{a value of type 'tensor<4xi128>' cannot be an argument or result of the entry, because the runtime does not support its element type}}
func.func @main(%x: tensor<4xi128>) attributes {batch.entry} {
  return
}
