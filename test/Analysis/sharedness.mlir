// RUN: batch-opt %s --test-print-sharedness --split-input-file --verify-diagnostics

// A parameter remains the same parameter through calls. A value computed only
// from parameters and constants is shared. Everything else belongs to the
// instance.

// expected-remark @+1 {{arguments: parameter 0, instance}}
func.func private @f(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark @+1 {{results: shared}}
  %0 = arith.addf %w, %w {test.print} : tensor<4xf32>
  // expected-remark @+1 {{results: instance}}
  %1 = arith.mulf %0, %x {test.print} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// expected-remark @+1 {{arguments: instance, parameter 0}}
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  // expected-remark @+1 {{results: instance}}
  %0 = call @f(%w, %x) {test.print}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A function argument belongs to the instance if two calls bind it to different
// parameters. If they bind it to the same parameter, it is that parameter.

// expected-remark @+1 {{arguments: instance, parameter 1}}
func.func private @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-remark @+1 {{arguments: parameter 0, parameter 1}}
func.func @main(%v: tensor<4xf32> {batch.shared = "v"},
                %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%v, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = arith.addf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// The argument of a recursive function is a parameter if each call, including
// the recursive one, passes the parameter. If some calls pass computed values,
// it belongs to the instance.

rec.adt @Chain {
  rec.variant @end()
  rec.variant @link(next: !rec.adt<@Chain>)
}
// expected-remark @+1 {{arguments: instance, parameter 0, instance}}
func.func private @f(%c: !rec.adt<@Chain>, %w: tensor<4xf32>,
                     %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rec.match %c : !rec.adt<@Chain> -> tensor<4xf32> {
  case @end() {
    rec.yield %x : tensor<4xf32>
  }
  case @link(%next: !rec.adt<@Chain>) {
    // expected-remark @+1 {{results: instance}}
    %y = arith.addf %w, %x {test.print} : tensor<4xf32>
    %h = func.call @f(%next, %w, %y)
        : (!rec.adt<@Chain>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  } }
  return %0 : tensor<4xf32>
}
// expected-remark @+1 {{arguments: instance, parameter 0}}
func.func @main(%c: !rec.adt<@Chain>, %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%c, %w, %w)
      : (!rec.adt<@Chain>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Calls in a function that the entry does not reach are ignored.

// expected-remark @+1 {{arguments: parameter 0}}
func.func private @f(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-remark @+1 {{arguments: parameter 0}}
func.func @main(%w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The value of a block argument depends on the path to the block, so it belongs to the instance.

// expected-remark @+1 {{arguments: parameter 0, instance}}
func.func private @f(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-remark @+1 {{arguments: parameter 0, parameter 1, instance}}
func.func @main(%w: tensor<4xf32> {batch.shared = "w"},
                %v: tensor<4xf32> {batch.shared = "v"}, %c: i1)
    -> tensor<4xf32> attributes {batch.entry} {
  %0 = call @f(%w, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  cf.cond_br %c, ^end(%w : tensor<4xf32>), ^end(%v : tensor<4xf32>)
^end(%x: tensor<4xf32>):
  %1 = call @f(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Values that the body of an op reads are treated like its operands. A number that is
// extracted from a tensor belongs to the instance: control flow reads the number, and a kernel
// that runs once does not wait for control flow.

// expected-remark @+1 {{arguments: instance, parameter 0}}
func.func @main(%s: f32, %w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<4xf32> attributes {batch.entry} {
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<4xf32>
  // expected-remark @+1 {{results: instance}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>],
                       iterator_types = ["parallel"]}
      outs(%empty : tensor<4xf32>) attrs = {test.print} {
  ^bb0(%unused: f32):
    linalg.yield %s : f32
  } -> tensor<4xf32>
  // expected-remark @+1 {{results: instance}}
  %first = tensor.extract %w[%zero] {test.print} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Lists belong to the instance, whatever they contain, because control flow creates them.

// expected-remark @+1 {{arguments: parameter 0}}
func.func @main(%w: tensor<4xf32> {batch.shared = "w"})
    -> tensor<?x4xf32> attributes {batch.entry} {
  // expected-remark @+1 {{results: instance}}
  %none = rec.empty {test.print} : tensor<?x4xf32>
  // expected-remark @+1 {{results: instance}}
  %rows = rec.append %none, %w {test.print} : tensor<?x4xf32>
  return %rows : tensor<?x4xf32>
}
