// RUN: batch-opt %s --batch-specialize-sizes="sizes=H=64" --split-input-file --verify-diagnostics
// RUN: not batch-opt %s --batch-specialize-sizes="sizes=H=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not batch-opt %s --batch-specialize-sizes="sizes=H=64x" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not batch-opt %s --batch-specialize-sizes="sizes=H" 2>&1 | FileCheck %s --check-prefix=NONE

// ZERO: error: invalid size 'H=0'; expected NAME=NUMBER with a number from 2 to 2147483647
// TEXT: error: invalid size 'H=64x'; expected NAME=NUMBER with a number from 2 to 2147483647
// NONE: error: invalid size 'H'; expected NAME=NUMBER with a number from 2 to 2147483647

// expected-error @unknown {{unknown size 'H'; add it to 'batch.sizes', such as {batch.sizes = {H = 256 : index}}}}
module {
}

// -----

// expected-error @unknown {{unknown size 'H'; expected one of 'D', 'V'}}
module attributes {batch.sizes = {D = 256 : index, V = 100 : index}} {
}

// -----

// expected-error @+1 {{attribute 'batch.sizes' must be a dictionary such as {H = 256 : index}}}
module attributes {batch.sizes = 256 : index} {
}

// -----

// expected-error @+1 {{size 'H' must be an index from 2 to 2147483647, or an array of two such indices: the number that represents the size in types, and the default}}
module attributes {batch.sizes = {H = 256 : i64}} {
}

// -----

// expected-error @+1 {{size 'H' must be an index from 2 to 2147483647, or an array of two such indices: the number that represents the size in types, and the default}}
module attributes {batch.sizes = {H = 1 : index}} {
}

// -----

// expected-error @+1 {{sizes 'D' and 'H' are ambiguous: their values in types are 512 and 256, and one is 1 to 8 times the other; choose a different value for one, such as {H = [1009 : index, 256 : index]}}}
module attributes {batch.sizes = {D = 512 : index, H = 256 : index}} {
}

// -----

// expected-error @+1 {{sizes 'D' and 'H' are ambiguous: their values in types are 1009 and 2018, and one is 1 to 8 times the other; choose a different value for one, such as {H = [1009 : index, 2018 : index]}}}
module attributes {batch.sizes = {D = [1009 : index, 64 : index], H = [2018 : index, 256 : index]}} {
}

// -----

// expected-error @+1 {{size 'H' must be an index from 2 to 2147483647, or an array of two such indices}}
module attributes {batch.sizes = {H = [1009 : index]}} {
}

// -----

// expected-error @+1 {{size 'H' must be an index from 2 to 2147483647, or an array of two such indices}}
module attributes {batch.sizes = {H = [1009 : index, 1 : index]}} {
}

// -----

module attributes {batch.sizes = {D = 384 : index, H = 256 : index}} {
  // expected-error @+1 {{dimension 768 matches both 2 x size 'D' and 3 x size 'H'; choose a different value for one of the sizes}}
  func.func private @f(tensor<768xf32>)
}

// -----

module attributes {batch.sizes = {H = 2 : index}} {
  func.func @f() {
    // expected-error @+1 {{constant of type 'tensor<2xf32>' cannot be resized to 'tensor<64xf32>', because its elements differ; make it a parameter}}
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    return
  }
}

// -----

module attributes {batch.sizes = {D = 384 : index, H = 256 : index}} {
  func.func @f(%x: tensor<?xf32>) {
    // expected-error @+1 {{dimension 768 matches both 2 x size 'D' and 3 x size 'H'}}
    %y = tensor.extract_slice %x[768] [1] [1] : tensor<?xf32> to tensor<f32>
    return
  }
}
