// RUN: batch-opt %s --split-input-file --verify-diagnostics

// An operator with stages must specify their target.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  // expected-error @+1 {{is in an operator without 'uprog.staging'; run uprog-stage-operators}}
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// All ops of an operator with stages must be in stages.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{is in an operator with stages, but outside of them; move it into a uprog.stage}}
  %y = math.exp %x : tensor<?x4xf32>
  uprog.yield %y : tensor<?x4xf32>
}

// -----

// Yielded values must be results of stages.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{yields a value that is not a result of a stage}}
  uprog.yield %x : tensor<?x4xf32>
}

// -----

uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{no operand of "k.rows" has rows of domain 0}}
  %0 = uprog.stage rows<ragged(0)> shape [4] -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// The values in `reads` must be operands of the operator.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32> scratch 0) {
    uprog.yield %x : tensor<?x4xf32>
  }
  // expected-error @+1 {{reads rows of a value that is not an operand of its operator}}
  %1 = uprog.stage rows<tasks> shape [4] reads(%0 : tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    uprog.yield %0 : tensor<?x4xf32>
  }
  uprog.yield %1 : tensor<?x4xf32>
}

// -----

// The values in `reads` must have the rows of the stage.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                       %o: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>},
                       %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{operator argument #1 does not have the same rows as the stage}}
  %0 = uprog.stage rows<tasks> shape [4] reads(%x : tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    uprog.yield %y : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{has 'shared_dims' 2, but its shape has 1 dimensions}}
  %0 = uprog.stage rows<tasks> shape [4] shared_dims 2 -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{must end in a uprog.yield of its results}}
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>) {
    uprog.yield
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{result #0 does not have the rows and shape of the stage}}
  %0 = uprog.stage rows<tasks> shape [8] -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// Each result must have an offset in scratch memory, or -1.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{has 1 scratch offsets for 2 results}}
  %0, %1 = "uprog.stage"() ({
    uprog.yield %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  }) {rows = #uprog.rows<tasks>, shape = array<i64: 4>, scratch = array<i64: -1>}
      : () -> (tensor<?x4xf32>, tensor<?x4xf32>)
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// A value that the operator yields must not be in scratch memory.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{result #0 is yielded by the operator, so it must not be in scratch memory}}
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32> scratch 0) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// A value that the operator does not yield must be in scratch memory.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{result #1 is not stored: the operator does not yield it, and it is not in scratch memory}}
  %0, %1 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    uprog.yield %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// A reduction must have an attribute that specifies how it runs.
#all = affine_map<(r, i) -> (r, i)>
#one = affine_map<(r, i) -> (r)>
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [] -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    // expected-error @+1 {{is a reduction in a stage, but lacks 'uprog.reduction'; run uprog-stage-operators}}
    %s = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x4xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
    } -> tensor<?xf32>
    uprog.yield %s : tensor<?xf32>
  }
  uprog.yield %0 : tensor<?xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has 'uprog.reduction', but is not a reduction in a stage}}
  %e = math.exp %x {uprog.reduction = #uprog.reduced<lanes>} : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'uprog.reduction' must be #uprog.packed, #uprog.in_place, #uprog.copied, #uprog.gathered or #uprog.reduced}}
  %e = math.exp %x {uprog.reduction = "lanes"} : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

#all = affine_map<(r, i) -> (r, i)>
#one = affine_map<(r, i) -> (r)>
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [] -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    // expected-error @+1 {{is not a contraction of two inputs}}
    %s = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x4xf32>) outs(%e : tensor<?xf32>)
        attrs = {uprog.reduction = #uprog.in_place<left = 0, left_stride = 1, right_stride = 1>} {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
    } -> tensor<?xf32>
    uprog.yield %s : tensor<?xf32>
  }
  uprog.yield %0 : tensor<?xf32>
}

// -----

#all = affine_map<(r, i, j) -> (r, i, j)>
#one = affine_map<(r, i, j) -> (r)>
uprog.operator @k.rows(%n: index, %x: tensor<?x4x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [] -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    // expected-error @+1 {{reads its operands in place, but reduces along more than one dimension}}
    %s = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%x : tensor<?x4x4xf32>) outs(%e : tensor<?xf32>)
        attrs = {uprog.reduction = #uprog.in_place<left = 0, left_stride = 1, right_stride = 1>} {
    ^bb0(%a: f32, %o: f32):
      %q = arith.addf %o, %a : f32
      linalg.yield %q : f32
    } -> tensor<?xf32>
    uprog.yield %s : tensor<?xf32>
  }
  uprog.yield %0 : tensor<?xf32>
}

// -----

#x = affine_map<(t, h, n, k) -> (t, k)>
#w = affine_map<(t, h, n, k) -> (k, n)>
#y = affine_map<(t, h, n, k) -> (t, h, n)>
uprog.operator @columns(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<6x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> (tensor<?x2x4xf32> {uprog.result = #uprog.result<siblings = 1, position = 0>})
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [2, 4] -> (tensor<?x2x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x2x4xf32>
    // expected-error @+1 {{'groups' must be distinct inner dimensions of the stage, excluding the last}}
    %s = linalg.generic {indexing_maps = [#x, #w, #y],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>) outs(%e : tensor<?x2x4xf32>)
        attrs = {uprog.reduction = #uprog.in_place<groups = [1], left = 0, left_stride = 6, right_stride = 4>} {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<?x2x4xf32>
    uprog.yield %s : tensor<?x2x4xf32>
  }
  uprog.yield %0 : tensor<?x2x4xf32>
}

// -----

#x = affine_map<(t, h, n, k) -> (t, k)>
#w = affine_map<(t, h, n, k) -> (k, n)>
#y = affine_map<(t, h, n, k) -> (t, h, n)>
uprog.operator @negative(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<6x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> (tensor<?x2x4xf32> {uprog.result = #uprog.result<siblings = 1, position = 0>})
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [2, 4] -> (tensor<?x2x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x2x4xf32>
    // expected-error @+1 {{'groups' must be distinct inner dimensions of the stage, excluding the last}}
    %s = linalg.generic {indexing_maps = [#x, #w, #y],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>) outs(%e : tensor<?x2x4xf32>)
        attrs = {uprog.reduction = #uprog.copied<groups = [-1], left = 0>} {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<?x2x4xf32>
    uprog.yield %s : tensor<?x2x4xf32>
  }
  uprog.yield %0 : tensor<?x2x4xf32>
}

// -----

#x = affine_map<(t, h, n, k) -> (t, k)>
#w = affine_map<(t, h, n, k) -> (k, n)>
#y = affine_map<(t, h, n, k) -> (t, h, n)>
uprog.operator @twice(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<6x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> (tensor<?x2x4xf32> {uprog.result = #uprog.result<siblings = 1, position = 0>})
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [2, 4] -> (tensor<?x2x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x2x4xf32>
    // expected-error @+1 {{'groups' must be distinct inner dimensions of the stage, excluding the last}}
    %s = linalg.generic {indexing_maps = [#x, #w, #y],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>) outs(%e : tensor<?x2x4xf32>)
        attrs = {uprog.reduction = #uprog.packed<groups = [0, 0], left = 0, panels = <parameters = [0], extents = [2, 4, 6], order = [0, 1, 2], n = 6, k = 4, width = 8>>} {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<?x2x4xf32>
    uprog.yield %s : tensor<?x2x4xf32>
  }
  uprog.yield %0 : tensor<?x2x4xf32>
}

// -----

#x = affine_map<(t, h, n, k) -> (t, k)>
#w = affine_map<(t, h, n, k) -> (k, n)>
#y = affine_map<(t, h, n, k) -> (t, h, n)>
uprog.operator @unsaid(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<6x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> (tensor<?x2x4xf32> {uprog.result = #uprog.result<siblings = 1, position = 0>})
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [2, 4] -> (tensor<?x2x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x2x4xf32>
    // expected-error @+1 {{selects one of 2 groups of panels, starting at group 1, but the number of groups is 2}}
    %s = linalg.generic {indexing_maps = [#x, #w, #y],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>) outs(%e : tensor<?x2x4xf32>)
        attrs = {uprog.reduction = #uprog.packed<groups = [0], left = 0, panels = <parameters = [0], extents = [2, 4, 6], order = [0, 1, 2], n = 6, k = 4, width = 8>, first_group = 1>} {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<?x2x4xf32>
    uprog.yield %s : tensor<?x2x4xf32>
  }
  uprog.yield %0 : tensor<?x2x4xf32>
}

// -----

#x = affine_map<(t, h, n, k) -> (t, k)>
#w = affine_map<(t, h, n, k) -> (k, n)>
#y = affine_map<(t, h, n, k) -> (t, h, n)>
uprog.operator @plain(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<6x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> (tensor<?x2x4xf32> {uprog.result = #uprog.result<siblings = 1, position = 0>})
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [2, 4] -> (tensor<?x2x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x2x4xf32>
    // expected-error @+1 {{selects one of 2 groups of panels, starting at group 0, but the number of groups is 1}}
    %s = linalg.generic {indexing_maps = [#x, #w, #y],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>) outs(%e : tensor<?x2x4xf32>)
        attrs = {uprog.reduction = #uprog.packed<groups = [0], left = 0, panels = <parameters = [0], n = 4, k = 6, width = 8>>} {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<?x2x4xf32>
    uprog.yield %s : tensor<?x2x4xf32>
  }
  uprog.yield %0 : tensor<?x2x4xf32>
}

// -----

#x = affine_map<(t, n, k) -> (t, k)>
#w = affine_map<(t, n, k) -> (k, n)>
#y = affine_map<(t, n, k) -> (t, n)>
uprog.operator @flat(%n: index, %x: tensor<?x6xf32> {uprog.operand = #uprog.operand<gather>},
    %w: tensor<6x4xf32> {uprog.operand = #uprog.operand<shared(0)>})
    -> (tensor<?x4xf32> {uprog.result = #uprog.result<siblings = 1, position = 0>})
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>) {
    %e = tensor.empty(%n) : tensor<?x4xf32>
    // expected-error @+1 {{gathers columns, so the stage must have inner dimensions for rows and columns}}
    %s = linalg.generic {indexing_maps = [#x, #w, #y],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>) outs(%e : tensor<?x4xf32>)
        attrs = {uprog.reduction = #uprog.gathered<left = 0, panels = <parameters = [0], n = 4, k = 6, width = 1>, left_stride = 6, run = 4>} {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<?x4xf32>
    uprog.yield %s : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{'uprog.staging' must be a #uprog.staging attribute on a uprog.operator}}
func.func private @f() attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>}

// -----

// expected-error @+1 {{'uprog.indices' must be an array of strings on a module}}
module attributes {uprog.indices = [1 : i64]} {
}

// -----

// expected-error @+1 {{'uprog.packings' must be an array of #uprog.panels and #uprog.padded attributes on a module}}
module attributes {uprog.packings = [{form = "rows"}]} {}

// -----

// expected-error @+1 {{'vector_bits' must be a power of two and at least 128}}
func.func private @f() attributes {a = #uprog.staging<cpu, vector_bits = 100, lanes = 1>}

// -----

// expected-error @+1 {{'lanes' must be a power of two, and each lane must have at least 32 of the 512 bits}}
func.func private @f() attributes {a = #uprog.staging<cpu, vector_bits = 512, lanes = 32>}

// -----

// expected-error @+1 {{'ragged' requires a domain; other kinds do not take one}}
func.func private @f() attributes {a = #uprog.rows<tasks(1)>}

// -----

// expected-error @+1 {{'n', 'k' and 'width' must be at least 1}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0], n = 0, k = 4, width = 4>}

// -----

// expected-error @+1 {{'extents' and 'order' cannot be combined with several parameters or 'transposed'}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0], extents = [4, 4], order = [0, 1], n = 4, k = 4, width = 4, transposed = true>}

// -----

// expected-error @+1 {{'order' must be a permutation of the dimensions of 'extents'}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0], extents = [2, 4, 4], order = [0, 1, 1], n = 4, k = 4, width = 4>}

// -----

// expected-error @+1 {{'extents' must be at least 1}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0], extents = [0, 4, 4], order = [0, 1, 2], n = 4, k = 4, width = 4>}

// -----

// expected-error @+1 {{'order' must end in dimensions whose extents have the product 'n', preceded by dimensions whose extents have the product 'k'}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0], extents = [2, 4, 6], order = [0, 1, 2], n = 4, k = 6, width = 4>}

// -----

// expected-error @+1 {{'left' must be 0 or 1, the index of an input of the contraction}}
func.func private @f() attributes {a = #uprog.copied<left = 2>}

// -----

// expected-error @+1 {{several parameters are stacked along 'n', so they must be 'transposed'}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0, 1], n = 4, k = 4, width = 4>}

// -----

// expected-error @+1 {{'left' must be 0 or 1, the index of an input of the contraction}}
func.func private @f() attributes {a = #uprog.packed<left = 2, panels = <parameters = [0], n = 4, k = 4, width = 4>>}

// -----

// expected-error @+1 {{'n_offset' and 'k_offset' must be within the panels}}
func.func private @f() attributes {a = #uprog.packed<left = 0, panels = <parameters = [0], n = 4, k = 4, width = 4>, n_offset = 4>}

// -----

// expected-error @+1 {{'n_offset' must be a multiple of the panels' width, 4}}
func.func private @f() attributes {a = #uprog.packed<left = 0, panels = <parameters = [0], n = 8, k = 4, width = 4>, n_offset = 2>}

// -----

// expected-error @+1 {{'first_group' must be the number of a group of the panels, 0 to 1}}
func.func private @f() attributes {a = #uprog.packed<left = 0, panels = <parameters = [0], extents = [2, 4, 4], order = [0, 1, 2], n = 4, k = 4, width = 4>, first_group = 2>}

// -----

// expected-error @+1 {{'breaks' must be in ascending order and at least 1}}
func.func private @f() attributes {a = #uprog.reduced<columns, breaks = [4, 4]>}

// -----

// expected-error @+1 {{'left' must be 0 or 1, the index of an input of the contraction}}
func.func private @f() attributes {a = #uprog.in_place<left = 2, left_stride = 1, right_stride = 1>}

// -----

// expected-error @+1 {{'left_stride' and 'right_stride' must be at least 1}}
func.func private @f() attributes {a = #uprog.in_place<left = 0, left_stride = 0, right_stride = 1>}

// -----

// expected-error @+1 {{'left' must be 0 or 1, the index of an input of the contraction}}
func.func private @f() attributes {a = #uprog.gathered<left = 2, panels = <parameters = [0], n = 4, k = 4, width = 1>, left_stride = 4, run = 4>}

// -----

// expected-error @+1 {{panels must have 'width' 1, because each row of A is a panel}}
func.func private @f() attributes {a = #uprog.gathered<left = 0, panels = <parameters = [0], n = 4, k = 4, width = 4>, left_stride = 4, run = 4>}

// -----

// expected-error @+1 {{'left_stride' and 'run' must be at least 1}}
func.func private @f() attributes {a = #uprog.gathered<left = 0, panels = <parameters = [0], n = 4, k = 4, width = 1>, left_stride = 4, run = 0>}

// -----

// All threads of a block must reach `uprog.await_rows`, because they may wait at a barrier there.
func.func private @k.rows.stage0(%some: i1) {
  scf.if %some {
    // expected-error @+1 {{must be in the function of a stage, outside of its branches and loops, so that all threads reach it}}
    uprog.await_rows
  }
  return
}

// -----

func.func private @k.rows.stage0() {
  uprog.await_rows
  // expected-error @+1 {{must be the only uprog.await_rows of its function}}
  uprog.await_rows
  return
}
