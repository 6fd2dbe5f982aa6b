// RUN: batch-opt %s --batch-specialize-sizes="sizes=H=64,V=7" | FileCheck %s
// RUN: batch-opt %s --batch-specialize-sizes="sizes=H=128" | batch-opt --batch-specialize-sizes="sizes=H=64,V=7" | FileCheck %s
// RUN: batch-opt %s --batch-specialize-sizes | FileCheck %s --check-prefix=DEFAULT

// CHECK: module attributes {batch.sizes = {H = 64 : index, S = 37 : index, V = 7 : index}}
// DEFAULT: module attributes {batch.sizes = {H = 256 : index, S = 37 : index, V = 100 : index}}
module attributes {batch.sizes = {H = 256 : index, S = [1009 : index, 37 : index],
                                  V = 100 : index}} {
  // Types use the default of a size instead of its placeholder.
  // CHECK: func.func private @slots(tensor<37x64xf32>) -> tensor<74xf32>
  // DEFAULT: func.func private @slots(tensor<37x256xf32>) -> tensor<74xf32>
  func.func private @slots(tensor<1009x256xf32>) -> tensor<2018xf32>

  // Sizes change in fields of ADTs, even in lists. Multiples of a size, up to eight times the
  // size, change with it. Other extents remain unchanged.
  // CHECK: rec.variant @leaf(x: tensor<64xf32>, ys: !rec.list<tensor<512x7xf32>>, z: tensor<2304x99xf32>)
  rec.adt @Tree {
    rec.variant @leaf(x: tensor<256xf32>, ys: !rec.list<tensor<2048x100xf32>>,
                      z: tensor<2304x99xf32>)
  }

  // Sizes change in signatures, attributes, slices, shapes and splats.
  // CHECK-LABEL: func.func @code
  // CHECK-SAME:    (%{{.*}}: tensor<?x128xf32> {batch.shared = "emb"}, %{{.*}}: index) -> (tensor<64xf32>, tensor<7x64xf32>) attributes {mark = tensor<64xf32>}
  // DEFAULT-LABEL: func.func @code(%{{.*}}: tensor<?x512xf32>
  func.func @code(%emb: tensor<?x512xf32> {batch.shared = "emb"}, %i: index)
      -> (tensor<256xf32>, tensor<100x256xf32>)
      attributes {mark = tensor<256xf32>} {
    // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 64] [1, 64] [1, 1] : tensor<?x128xf32> to tensor<64xf32>
    %x = tensor.extract_slice %emb[%i, 256] [1, 256] [1, 1]
        : tensor<?x512xf32> to tensor<256xf32>
    // CHECK: arith.constant dense<1.000000e+00> : tensor<7x64xf32>
    %splat = arith.constant dense<1.0> : tensor<100x256xf32>
    // Constants whose shapes do not change keep their elements.
    // CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    %other = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    // An index constant is not a dimension.
    // CHECK: arith.constant 256 : index
    %c256 = arith.constant 256 : index
    // CHECK: tensor.expand_shape {{.*}} output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
    %row = tensor.expand_shape %x [[0, 1]] output_shape [1, 256]
        : tensor<256xf32> into tensor<1x256xf32>
    // CHECK: tensor.insert_slice {{.*}}[0, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<7x64xf32>
    %y = tensor.insert_slice %row into %splat[0, 0] [1, 256] [1, 1]
        : tensor<1x256xf32> into tensor<100x256xf32>
    // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<64xf32>)
    // CHECK-NEXT: math.tanh %[[A]] : tensor<64xf32>
    %z = scf.for %k = %i to %c256 step %c256 iter_args(%a = %x)
        -> tensor<256xf32> {
      %b = math.tanh %a : tensor<256xf32>
      scf.yield %b : tensor<256xf32>
    }
    return %z, %y : tensor<256xf32>, tensor<100x256xf32>
  }
}
