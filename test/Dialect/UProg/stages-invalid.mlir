// RUN: batch-opt %s --split-input-file --verify-diagnostics

// Stages are made for a target.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32> {
  // expected-error @+1 {{needs 'uprog.staging' at its operator}}
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// All of the operator is in stages,
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{is outside of the operator's stages}}
  %y = math.exp %x : tensor<?x4xf32>
  uprog.yield %y : tensor<?x4xf32>
}

// -----

// what it yields too.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{yields what no stage stores}}
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

// Rows are those of operands,
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32> scratch 0) {
    uprog.yield %x : tensor<?x4xf32>
  }
  // expected-error @+1 {{reads rows of a value that is no operand}}
  %1 = uprog.stage rows<tasks> shape [4] reads(%0 : tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    uprog.yield %0 : tensor<?x4xf32>
  }
  uprog.yield %1 : tensor<?x4xf32>
}

// -----

// of the same tasks or domain.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather ragged(0)>},
                       %o: tensor<?xindex> {uprog.operand = #uprog.operand<offsets(0)>},
                       %y: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{operand 1 does not have the rows of the stage}}
  %0 = uprog.stage rows<tasks> shape [4] reads(%x : tensor<?x4xf32>) -> (tensor<?x4xf32>) {
    uprog.yield %y : tensor<?x4xf32>
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
  // expected-error @+1 {{result #0 is not of the stage's rows and shape}}
  %0 = uprog.stage rows<tasks> shape [8] -> (tensor<?x4xf32>) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// What the operator yields is read where the operator's result lies.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{result #0 is yielded by the operator, so it is read there, not in scratch memory}}
  %0 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32> scratch 0) {
    uprog.yield %x : tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// Everything else has a place.
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?x4xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  // expected-error @+1 {{result #1 is stored nowhere: the operator does not yield it, and it has no place in scratch memory}}
  %0, %1 = uprog.stage rows<tasks> shape [4] -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    uprog.yield %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  }
  uprog.yield %0 : tensor<?x4xf32>
}

// -----

// A reduction says how it runs.
#all = affine_map<(r, i) -> (r, i)>
#one = affine_map<(r, i) -> (r)>
uprog.operator @k.rows(%n: index, %x: tensor<?x4xf32> {uprog.operand = #uprog.operand<gather>}) -> tensor<?xf32>
    attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>} {
  %0 = uprog.stage rows<tasks> shape [] -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    // expected-error @+1 {{needs a 'uprog.reduction' in a stage}}
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
  // expected-error @+1 {{'uprog.reduction' is about a reduction in a stage}}
  %e = math.exp %x {uprog.reduction = #uprog.reduced<lanes>} : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'uprog.reduction' is #uprog.packed, #uprog.in_place or #uprog.reduced}}
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
    // expected-error @+1 {{is no contraction: a reduction of two inputs along one dimension}}
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

// expected-error @+1 {{'uprog.staging' is a #uprog.staging of an operator}}
func.func private @f() attributes {uprog.staging = #uprog.staging<cpu, vector_bits = 512, lanes = 16>}

// -----

// expected-error @+1 {{'uprog.packings' is a module's list of #uprog.panels and #uprog.padded}}
module attributes {uprog.packings = [{form = "rows"}]} {}

// -----

// expected-error @+1 {{vector_bits is a power of two of at least 128}}
func.func private @f() attributes {a = #uprog.staging<cpu, vector_bits = 100, lanes = 1>}

// -----

// expected-error @+1 {{lanes is a power of two, of which each has at least 32 of the 512 bits}}
func.func private @f() attributes {a = #uprog.staging<cpu, vector_bits = 512, lanes = 32>}

// -----

// expected-error @+1 {{ragged rows have a domain, the others have none}}
func.func private @f() attributes {a = #uprog.rows<tasks(1)>}

// -----

// expected-error @+1 {{n, k and width are at least 1}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0], n = 0, k = 4, width = 4>}

// -----

// expected-error @+1 {{parameters are stacked along n, so they are transposed}}
func.func private @f() attributes {a = #uprog.panels<parameters = [0, 1], n = 4, k = 4, width = 4>}

// -----

// expected-error @+1 {{a contraction has inputs 0 and 1}}
func.func private @f() attributes {a = #uprog.packed<left = 2, panels = <parameters = [0], n = 4, k = 4, width = 4>>}

// -----

// expected-error @+1 {{offsets lie in the panels}}
func.func private @f() attributes {a = #uprog.packed<left = 0, panels = <parameters = [0], n = 4, k = 4, width = 4>, n_offset = 4>}

// -----

// expected-error @+1 {{breaks ascend from 1 on}}
func.func private @f() attributes {a = #uprog.reduced<columns, breaks = [4, 4]>}

// -----

// expected-error @+1 {{a contraction has inputs 0 and 1}}
func.func private @f() attributes {a = #uprog.in_place<left = 2, left_stride = 1, right_stride = 1>}

// -----

// expected-error @+1 {{strides are at least 1}}
func.func private @f() attributes {a = #uprog.in_place<left = 0, left_stride = 0, right_stride = 1>}
