// BlockDrop: a residual network on images, and a small one, the policy, that selects the
// blocks to run. Convolutions are 3 x 3, without biases. A norm follows each of them.
//
//   F(x)    = norm2(conv2(relu(norm1(conv1(x)))))
//   S(x)    = x, except in the first block of a group: the means of 2 x 2 squares, and
//             zeros for new channels
//   policy  : x = relu(norm(conv(image))), x = relu(S(x) + F(x)) for one block per group,
//             keep = W mean(x) + b > 0
//   network : x = relu(norm(conv(image))),
//             for block j: x = keep[j] ? relu(S(x) + F(x)) : S(x), logits = W mean(x) + b
//
// Written by test/Integration/residual_models.py. Run it:
//   test/Integration/residual_models.py blockdrop --params=blockdrop.safetensors
//   batch-run examples/models/blockdrop.mlir --params=blockdrop.safetensors \
//     --inputs=random:1,4 --batch=4 --check-unbatched

!image = tensor<3x32x32xf32>
!classes = tensor<10xf32>
!of_classes = tensor<10x64xf32>
!map3 = tensor<1x3x32x32xf32>
!padded3 = tensor<1x3x34x34xf32>
!map16 = tensor<1x16x32x32xf32>
!padded16 = tensor<1x16x34x34xf32>
!map32 = tensor<1x32x16x16xf32>
!padded32 = tensor<1x32x18x18xf32>
!map64 = tensor<1x64x8x8xf32>
!padded64 = tensor<1x64x10x10xf32>
!vec16 = tensor<16xf32>
!filter16 = tensor<16x16x3x3xf32>
!filter3to16 = tensor<16x3x3x3xf32>
!vec32 = tensor<32xf32>
!filter32 = tensor<32x32x3x3xf32>
!filter16to32 = tensor<32x16x3x3xf32>
!pooled16 = tensor<1x16x16x16xf32>
!vec64 = tensor<64xf32>
!filter64 = tensor<64x64x3x3xf32>
!filter32to64 = tensor<64x32x3x3xf32>
!pooled32 = tensor<1x32x8x8xf32>
!scores = tensor<15xf32>
!of_scores = tensor<15x64xf32>
!flags = tensor<15xi32>
!tag = tensor<i32>
!scalar = tensor<f32>

#channel = affine_map<(n, c, i, j) -> (c)>
#pixel = affine_map<(n, c, i, j) -> (n, c, i, j)>

module {
  // The position of the first largest logit.
  func.func private @argmax(%logits: !classes) -> !tag {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !tag
    %tag = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%logits, %most : !classes, !scalar) outs(%none : !tag) {
    ^bb0(%logit: f32, %max: f32, %first: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %logit, %max : f32
      %candidate = arith.select %is, %here, %first : i32
      %least = arith.minsi %candidate, %first : i32
      linalg.yield %least : i32
    } -> !tag
    return %tag : !tag
  }

  func.func private @kept(%keep: !flags, %j: index) -> i1 {
    %zero = arith.constant 0 : i32
    %flag = tensor.extract %keep[%j] : !flags
    %is = arith.cmpi ne, %flag, %zero : i32
    return %is : i1
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm16(%x: !map16, %g: !vec16, %b: !vec16, %mean: !vec16, %var: !vec16)
      -> !map16 {
    %epsilon = arith.constant dense<1.0e-5> : !vec16
    %positive = arith.addf %var, %epsilon : !vec16
    %deviation = math.sqrt %positive : !vec16
    %scale = arith.divf %g, %deviation : !vec16
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec16, !vec16, !vec16) outs(%x : !map16) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map16
    return %y : !map16
  }

  func.func private @relu16(%x: !map16) -> !map16 {
    %zero = arith.constant dense<0.0> : !map16
    %y = arith.maximumf %x, %zero : !map16
    return %y : !map16
  }

  // A convolution of 3 x 3 and its norm.
  func.func private @layer3to16(%x: !map3, %W: !filter3to16, %g: !vec16, %b: !vec16,
                               %mean: !vec16, %var: !vec16) -> !map16 {
    %zeros = arith.constant dense<0.0> : !padded3
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 3, 32, 32] [1, 1, 1, 1]
        : !map3 into !padded3
    %zero = arith.constant dense<0.0> : !map16
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded3, !filter3to16) outs(%zero : !map16) -> !map16
    %y = func.call @norm16(%a, %g, %b, %mean, %var)
        : (!map16, !vec16, !vec16, !vec16, !vec16) -> !map16
    return %y : !map16
  }

  func.func private @stem(%image: !image, %W: !filter3to16, %g: !vec16, %b: !vec16,
                          %mean: !vec16, %var: !vec16) -> !map16 {
    %x = tensor.expand_shape %image [[0, 1], [2], [3]] output_shape [1, 3, 32, 32]
        : !image into !map3
    %a = func.call @layer3to16(%x, %W, %g, %b, %mean, %var)
        : (!map3, !filter3to16, !vec16, !vec16, !vec16, !vec16) -> !map16
    %y = func.call @relu16(%a) : (!map16) -> !map16
    return %y : !map16
  }

  // A convolution of 3 x 3 and its norm.
  func.func private @layer16(%x: !map16, %W: !filter16, %g: !vec16, %b: !vec16,
                               %mean: !vec16, %var: !vec16) -> !map16 {
    %zeros = arith.constant dense<0.0> : !padded16
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 16, 32, 32] [1, 1, 1, 1]
        : !map16 into !padded16
    %zero = arith.constant dense<0.0> : !map16
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded16, !filter16) outs(%zero : !map16) -> !map16
    %y = func.call @norm16(%a, %g, %b, %mean, %var)
        : (!map16, !vec16, !vec16, !vec16, !vec16) -> !map16
    return %y : !map16
  }

  // relu(s + F(x))
  func.func private @block16(
      %x: !map16, %s: !map16,
      %c1: !filter16, %g1: !vec16, %b1: !vec16, %mean1: !vec16, %var1: !vec16,
      %c2: !filter16, %g2: !vec16, %b2: !vec16, %mean2: !vec16, %var2: !vec16) -> !map16 {
    %a = func.call @layer16(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map16, !filter16, !vec16, !vec16, !vec16, !vec16) -> !map16
    %r = func.call @relu16(%a) : (!map16) -> !map16
    %f = func.call @layer16(%r, %c2, %g2, %b2, %mean2, %var2)
        : (!map16, !filter16, !vec16, !vec16, !vec16, !vec16) -> !map16
    %sum = arith.addf %s, %f : !map16
    %y = func.call @relu16(%sum) : (!map16) -> !map16
    return %y : !map16
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe16(
      %run: i1, %x: !map16, %s: !map16,
      %c1: !filter16, %g1: !vec16, %b1: !vec16, %mean1: !vec16, %var1: !vec16,
      %c2: !filter16, %g2: !vec16, %b2: !vec16, %mean2: !vec16, %var2: !vec16) -> !map16 {
    %y = scf.if %run -> !map16 {
      %r = func.call @block16(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2)
          : (!map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16,
             !vec16, !vec16, !vec16, !vec16) -> !map16
      scf.yield %r : !map16
    } else {
      scf.yield %s : !map16
    }
    return %y : !map16
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm32(%x: !map32, %g: !vec32, %b: !vec32, %mean: !vec32, %var: !vec32)
      -> !map32 {
    %epsilon = arith.constant dense<1.0e-5> : !vec32
    %positive = arith.addf %var, %epsilon : !vec32
    %deviation = math.sqrt %positive : !vec32
    %scale = arith.divf %g, %deviation : !vec32
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec32, !vec32, !vec32) outs(%x : !map32) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map32
    return %y : !map32
  }

  func.func private @relu32(%x: !map32) -> !map32 {
    %zero = arith.constant dense<0.0> : !map32
    %y = arith.maximumf %x, %zero : !map32
    return %y : !map32
  }

  // A convolution of 3 x 3 and its norm.
  func.func private @layer32(%x: !map32, %W: !filter32, %g: !vec32, %b: !vec32,
                               %mean: !vec32, %var: !vec32) -> !map32 {
    %zeros = arith.constant dense<0.0> : !padded32
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 32, 16, 16] [1, 1, 1, 1]
        : !map32 into !padded32
    %zero = arith.constant dense<0.0> : !map32
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded32, !filter32) outs(%zero : !map32) -> !map32
    %y = func.call @norm32(%a, %g, %b, %mean, %var)
        : (!map32, !vec32, !vec32, !vec32, !vec32) -> !map32
    return %y : !map32
  }

  // relu(s + F(x))
  func.func private @block32(
      %x: !map32, %s: !map32,
      %c1: !filter32, %g1: !vec32, %b1: !vec32, %mean1: !vec32, %var1: !vec32,
      %c2: !filter32, %g2: !vec32, %b2: !vec32, %mean2: !vec32, %var2: !vec32) -> !map32 {
    %a = func.call @layer32(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map32, !filter32, !vec32, !vec32, !vec32, !vec32) -> !map32
    %r = func.call @relu32(%a) : (!map32) -> !map32
    %f = func.call @layer32(%r, %c2, %g2, %b2, %mean2, %var2)
        : (!map32, !filter32, !vec32, !vec32, !vec32, !vec32) -> !map32
    %sum = arith.addf %s, %f : !map32
    %y = func.call @relu32(%sum) : (!map32) -> !map32
    return %y : !map32
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe32(
      %run: i1, %x: !map32, %s: !map32,
      %c1: !filter32, %g1: !vec32, %b1: !vec32, %mean1: !vec32, %var1: !vec32,
      %c2: !filter32, %g2: !vec32, %b2: !vec32, %mean2: !vec32, %var2: !vec32) -> !map32 {
    %y = scf.if %run -> !map32 {
      %r = func.call @block32(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2)
          : (!map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32,
             !vec32, !vec32, !vec32, !vec32) -> !map32
      scf.yield %r : !map32
    } else {
      scf.yield %s : !map32
    }
    return %y : !map32
  }

  // The means of 2 x 2 squares, and channels of zeros.
  func.func private @shortcut32(%x: !map16) -> !map32 {
    %window = tensor.empty() : tensor<2x2xf32>
    %zero = arith.constant dense<0.0> : !pooled16
    %sums = linalg.pooling_nchw_sum
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %window : !map16, tensor<2x2xf32>) outs(%zero : !pooled16) -> !pooled16
    %quarter = arith.constant dense<0.25> : !pooled16
    %means = arith.mulf %sums, %quarter : !pooled16
    %zeros = arith.constant dense<0.0> : !map32
    %y = tensor.insert_slice %means into %zeros[0, 0, 0, 0] [1, 16, 16, 16] [1, 1, 1, 1]
        : !pooled16 into !map32
    return %y : !map32
  }

  // A convolution of 3 x 3 and its norm.
  func.func private @layer16to32(%x: !map16, %W: !filter16to32, %g: !vec32, %b: !vec32,
                               %mean: !vec32, %var: !vec32) -> !map32 {
    %zeros = arith.constant dense<0.0> : !padded16
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 16, 32, 32] [1, 1, 1, 1]
        : !map16 into !padded16
    %zero = arith.constant dense<0.0> : !map32
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %W : !padded16, !filter16to32) outs(%zero : !map32) -> !map32
    %y = func.call @norm32(%a, %g, %b, %mean, %var)
        : (!map32, !vec32, !vec32, !vec32, !vec32) -> !map32
    return %y : !map32
  }

  // relu(s + F(x))
  func.func private @block16to32(
      %x: !map16, %s: !map32,
      %c1: !filter16to32, %g1: !vec32, %b1: !vec32, %mean1: !vec32, %var1: !vec32,
      %c2: !filter32, %g2: !vec32, %b2: !vec32, %mean2: !vec32, %var2: !vec32) -> !map32 {
    %a = func.call @layer16to32(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map16, !filter16to32, !vec32, !vec32, !vec32, !vec32) -> !map32
    %r = func.call @relu32(%a) : (!map32) -> !map32
    %f = func.call @layer32(%r, %c2, %g2, %b2, %mean2, %var2)
        : (!map32, !filter32, !vec32, !vec32, !vec32, !vec32) -> !map32
    %sum = arith.addf %s, %f : !map32
    %y = func.call @relu32(%sum) : (!map32) -> !map32
    return %y : !map32
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe16to32(
      %run: i1, %x: !map16, %s: !map32,
      %c1: !filter16to32, %g1: !vec32, %b1: !vec32, %mean1: !vec32, %var1: !vec32,
      %c2: !filter32, %g2: !vec32, %b2: !vec32, %mean2: !vec32, %var2: !vec32) -> !map32 {
    %y = scf.if %run -> !map32 {
      %r = func.call @block16to32(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2)
          : (!map16, !map32, !filter16to32, !vec32, !vec32, !vec32, !vec32, !filter32,
             !vec32, !vec32, !vec32, !vec32) -> !map32
      scf.yield %r : !map32
    } else {
      scf.yield %s : !map32
    }
    return %y : !map32
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm64(%x: !map64, %g: !vec64, %b: !vec64, %mean: !vec64, %var: !vec64)
      -> !map64 {
    %epsilon = arith.constant dense<1.0e-5> : !vec64
    %positive = arith.addf %var, %epsilon : !vec64
    %deviation = math.sqrt %positive : !vec64
    %scale = arith.divf %g, %deviation : !vec64
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec64, !vec64, !vec64) outs(%x : !map64) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map64
    return %y : !map64
  }

  func.func private @relu64(%x: !map64) -> !map64 {
    %zero = arith.constant dense<0.0> : !map64
    %y = arith.maximumf %x, %zero : !map64
    return %y : !map64
  }

  func.func private @mean64(%x: !map64) -> !vec64 {
    %zero = arith.constant dense<0.0> : !vec64
    %sum = linalg.reduce { arith.addf } ins(%x : !map64) outs(%zero : !vec64)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<64.0> : !vec64
    %mean = arith.divf %sum, %pixels : !vec64
    return %mean : !vec64
  }

  // A convolution of 3 x 3 and its norm.
  func.func private @layer64(%x: !map64, %W: !filter64, %g: !vec64, %b: !vec64,
                               %mean: !vec64, %var: !vec64) -> !map64 {
    %zeros = arith.constant dense<0.0> : !padded64
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 64, 8, 8] [1, 1, 1, 1]
        : !map64 into !padded64
    %zero = arith.constant dense<0.0> : !map64
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded64, !filter64) outs(%zero : !map64) -> !map64
    %y = func.call @norm64(%a, %g, %b, %mean, %var)
        : (!map64, !vec64, !vec64, !vec64, !vec64) -> !map64
    return %y : !map64
  }

  // relu(s + F(x))
  func.func private @block64(
      %x: !map64, %s: !map64,
      %c1: !filter64, %g1: !vec64, %b1: !vec64, %mean1: !vec64, %var1: !vec64,
      %c2: !filter64, %g2: !vec64, %b2: !vec64, %mean2: !vec64, %var2: !vec64) -> !map64 {
    %a = func.call @layer64(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map64, !filter64, !vec64, !vec64, !vec64, !vec64) -> !map64
    %r = func.call @relu64(%a) : (!map64) -> !map64
    %f = func.call @layer64(%r, %c2, %g2, %b2, %mean2, %var2)
        : (!map64, !filter64, !vec64, !vec64, !vec64, !vec64) -> !map64
    %sum = arith.addf %s, %f : !map64
    %y = func.call @relu64(%sum) : (!map64) -> !map64
    return %y : !map64
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe64(
      %run: i1, %x: !map64, %s: !map64,
      %c1: !filter64, %g1: !vec64, %b1: !vec64, %mean1: !vec64, %var1: !vec64,
      %c2: !filter64, %g2: !vec64, %b2: !vec64, %mean2: !vec64, %var2: !vec64) -> !map64 {
    %y = scf.if %run -> !map64 {
      %r = func.call @block64(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2)
          : (!map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64,
             !vec64, !vec64, !vec64, !vec64) -> !map64
      scf.yield %r : !map64
    } else {
      scf.yield %s : !map64
    }
    return %y : !map64
  }

  // The means of 2 x 2 squares, and channels of zeros.
  func.func private @shortcut64(%x: !map32) -> !map64 {
    %window = tensor.empty() : tensor<2x2xf32>
    %zero = arith.constant dense<0.0> : !pooled32
    %sums = linalg.pooling_nchw_sum
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %window : !map32, tensor<2x2xf32>) outs(%zero : !pooled32) -> !pooled32
    %quarter = arith.constant dense<0.25> : !pooled32
    %means = arith.mulf %sums, %quarter : !pooled32
    %zeros = arith.constant dense<0.0> : !map64
    %y = tensor.insert_slice %means into %zeros[0, 0, 0, 0] [1, 32, 8, 8] [1, 1, 1, 1]
        : !pooled32 into !map64
    return %y : !map64
  }

  // A convolution of 3 x 3 and its norm.
  func.func private @layer32to64(%x: !map32, %W: !filter32to64, %g: !vec64, %b: !vec64,
                               %mean: !vec64, %var: !vec64) -> !map64 {
    %zeros = arith.constant dense<0.0> : !padded32
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 32, 16, 16] [1, 1, 1, 1]
        : !map32 into !padded32
    %zero = arith.constant dense<0.0> : !map64
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %W : !padded32, !filter32to64) outs(%zero : !map64) -> !map64
    %y = func.call @norm64(%a, %g, %b, %mean, %var)
        : (!map64, !vec64, !vec64, !vec64, !vec64) -> !map64
    return %y : !map64
  }

  // relu(s + F(x))
  func.func private @block32to64(
      %x: !map32, %s: !map64,
      %c1: !filter32to64, %g1: !vec64, %b1: !vec64, %mean1: !vec64, %var1: !vec64,
      %c2: !filter64, %g2: !vec64, %b2: !vec64, %mean2: !vec64, %var2: !vec64) -> !map64 {
    %a = func.call @layer32to64(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map32, !filter32to64, !vec64, !vec64, !vec64, !vec64) -> !map64
    %r = func.call @relu64(%a) : (!map64) -> !map64
    %f = func.call @layer64(%r, %c2, %g2, %b2, %mean2, %var2)
        : (!map64, !filter64, !vec64, !vec64, !vec64, !vec64) -> !map64
    %sum = arith.addf %s, %f : !map64
    %y = func.call @relu64(%sum) : (!map64) -> !map64
    return %y : !map64
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe32to64(
      %run: i1, %x: !map32, %s: !map64,
      %c1: !filter32to64, %g1: !vec64, %b1: !vec64, %mean1: !vec64, %var1: !vec64,
      %c2: !filter64, %g2: !vec64, %b2: !vec64, %mean2: !vec64, %var2: !vec64) -> !map64 {
    %y = scf.if %run -> !map64 {
      %r = func.call @block32to64(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2)
          : (!map32, !map64, !filter32to64, !vec64, !vec64, !vec64, !vec64, !filter64,
             !vec64, !vec64, !vec64, !vec64) -> !map64
      scf.yield %r : !map64
    } else {
      scf.yield %s : !map64
    }
    return %y : !map64
  }

  func.func @main(%image: !image {batch.name = "image"},
                  %policy_stem: !filter3to16 {batch.shared = "policy.stem"},
                  %policy_stem_n_g: !vec16 {batch.shared = "policy.stem.n.g"},
                  %policy_stem_n_b: !vec16 {batch.shared = "policy.stem.n.b"},
                  %policy_stem_n_mean: !vec16 {batch.shared = "policy.stem.n.mean"},
                  %policy_stem_n_var: !vec16 {batch.shared = "policy.stem.n.var"},
                  %policy_s0b0_c1: !filter16 {batch.shared = "policy.s0b0.c1"},
                  %policy_s0b0_n1_g: !vec16 {batch.shared = "policy.s0b0.n1.g"},
                  %policy_s0b0_n1_b: !vec16 {batch.shared = "policy.s0b0.n1.b"},
                  %policy_s0b0_n1_mean: !vec16 {batch.shared = "policy.s0b0.n1.mean"},
                  %policy_s0b0_n1_var: !vec16 {batch.shared = "policy.s0b0.n1.var"},
                  %policy_s0b0_c2: !filter16 {batch.shared = "policy.s0b0.c2"},
                  %policy_s0b0_n2_g: !vec16 {batch.shared = "policy.s0b0.n2.g"},
                  %policy_s0b0_n2_b: !vec16 {batch.shared = "policy.s0b0.n2.b"},
                  %policy_s0b0_n2_mean: !vec16 {batch.shared = "policy.s0b0.n2.mean"},
                  %policy_s0b0_n2_var: !vec16 {batch.shared = "policy.s0b0.n2.var"},
                  %policy_s1b0_c1: !filter16to32 {batch.shared = "policy.s1b0.c1"},
                  %policy_s1b0_n1_g: !vec32 {batch.shared = "policy.s1b0.n1.g"},
                  %policy_s1b0_n1_b: !vec32 {batch.shared = "policy.s1b0.n1.b"},
                  %policy_s1b0_n1_mean: !vec32 {batch.shared = "policy.s1b0.n1.mean"},
                  %policy_s1b0_n1_var: !vec32 {batch.shared = "policy.s1b0.n1.var"},
                  %policy_s1b0_c2: !filter32 {batch.shared = "policy.s1b0.c2"},
                  %policy_s1b0_n2_g: !vec32 {batch.shared = "policy.s1b0.n2.g"},
                  %policy_s1b0_n2_b: !vec32 {batch.shared = "policy.s1b0.n2.b"},
                  %policy_s1b0_n2_mean: !vec32 {batch.shared = "policy.s1b0.n2.mean"},
                  %policy_s1b0_n2_var: !vec32 {batch.shared = "policy.s1b0.n2.var"},
                  %policy_s2b0_c1: !filter32to64 {batch.shared = "policy.s2b0.c1"},
                  %policy_s2b0_n1_g: !vec64 {batch.shared = "policy.s2b0.n1.g"},
                  %policy_s2b0_n1_b: !vec64 {batch.shared = "policy.s2b0.n1.b"},
                  %policy_s2b0_n1_mean: !vec64 {batch.shared = "policy.s2b0.n1.mean"},
                  %policy_s2b0_n1_var: !vec64 {batch.shared = "policy.s2b0.n1.var"},
                  %policy_s2b0_c2: !filter64 {batch.shared = "policy.s2b0.c2"},
                  %policy_s2b0_n2_g: !vec64 {batch.shared = "policy.s2b0.n2.g"},
                  %policy_s2b0_n2_b: !vec64 {batch.shared = "policy.s2b0.n2.b"},
                  %policy_s2b0_n2_mean: !vec64 {batch.shared = "policy.s2b0.n2.mean"},
                  %policy_s2b0_n2_var: !vec64 {batch.shared = "policy.s2b0.n2.var"},
                  %policy_fc_W: !of_scores {batch.shared = "policy.fc.W"},
                  %policy_fc_b: !scores {batch.shared = "policy.fc.b"},
                  %stem: !filter3to16 {batch.shared = "stem"},
                  %stem_n_g: !vec16 {batch.shared = "stem.n.g"},
                  %stem_n_b: !vec16 {batch.shared = "stem.n.b"},
                  %stem_n_mean: !vec16 {batch.shared = "stem.n.mean"},
                  %stem_n_var: !vec16 {batch.shared = "stem.n.var"},
                  %s0b0_c1: !filter16 {batch.shared = "s0b0.c1"},
                  %s0b0_n1_g: !vec16 {batch.shared = "s0b0.n1.g"},
                  %s0b0_n1_b: !vec16 {batch.shared = "s0b0.n1.b"},
                  %s0b0_n1_mean: !vec16 {batch.shared = "s0b0.n1.mean"},
                  %s0b0_n1_var: !vec16 {batch.shared = "s0b0.n1.var"},
                  %s0b0_c2: !filter16 {batch.shared = "s0b0.c2"},
                  %s0b0_n2_g: !vec16 {batch.shared = "s0b0.n2.g"},
                  %s0b0_n2_b: !vec16 {batch.shared = "s0b0.n2.b"},
                  %s0b0_n2_mean: !vec16 {batch.shared = "s0b0.n2.mean"},
                  %s0b0_n2_var: !vec16 {batch.shared = "s0b0.n2.var"},
                  %s0b1_c1: !filter16 {batch.shared = "s0b1.c1"},
                  %s0b1_n1_g: !vec16 {batch.shared = "s0b1.n1.g"},
                  %s0b1_n1_b: !vec16 {batch.shared = "s0b1.n1.b"},
                  %s0b1_n1_mean: !vec16 {batch.shared = "s0b1.n1.mean"},
                  %s0b1_n1_var: !vec16 {batch.shared = "s0b1.n1.var"},
                  %s0b1_c2: !filter16 {batch.shared = "s0b1.c2"},
                  %s0b1_n2_g: !vec16 {batch.shared = "s0b1.n2.g"},
                  %s0b1_n2_b: !vec16 {batch.shared = "s0b1.n2.b"},
                  %s0b1_n2_mean: !vec16 {batch.shared = "s0b1.n2.mean"},
                  %s0b1_n2_var: !vec16 {batch.shared = "s0b1.n2.var"},
                  %s0b2_c1: !filter16 {batch.shared = "s0b2.c1"},
                  %s0b2_n1_g: !vec16 {batch.shared = "s0b2.n1.g"},
                  %s0b2_n1_b: !vec16 {batch.shared = "s0b2.n1.b"},
                  %s0b2_n1_mean: !vec16 {batch.shared = "s0b2.n1.mean"},
                  %s0b2_n1_var: !vec16 {batch.shared = "s0b2.n1.var"},
                  %s0b2_c2: !filter16 {batch.shared = "s0b2.c2"},
                  %s0b2_n2_g: !vec16 {batch.shared = "s0b2.n2.g"},
                  %s0b2_n2_b: !vec16 {batch.shared = "s0b2.n2.b"},
                  %s0b2_n2_mean: !vec16 {batch.shared = "s0b2.n2.mean"},
                  %s0b2_n2_var: !vec16 {batch.shared = "s0b2.n2.var"},
                  %s0b3_c1: !filter16 {batch.shared = "s0b3.c1"},
                  %s0b3_n1_g: !vec16 {batch.shared = "s0b3.n1.g"},
                  %s0b3_n1_b: !vec16 {batch.shared = "s0b3.n1.b"},
                  %s0b3_n1_mean: !vec16 {batch.shared = "s0b3.n1.mean"},
                  %s0b3_n1_var: !vec16 {batch.shared = "s0b3.n1.var"},
                  %s0b3_c2: !filter16 {batch.shared = "s0b3.c2"},
                  %s0b3_n2_g: !vec16 {batch.shared = "s0b3.n2.g"},
                  %s0b3_n2_b: !vec16 {batch.shared = "s0b3.n2.b"},
                  %s0b3_n2_mean: !vec16 {batch.shared = "s0b3.n2.mean"},
                  %s0b3_n2_var: !vec16 {batch.shared = "s0b3.n2.var"},
                  %s0b4_c1: !filter16 {batch.shared = "s0b4.c1"},
                  %s0b4_n1_g: !vec16 {batch.shared = "s0b4.n1.g"},
                  %s0b4_n1_b: !vec16 {batch.shared = "s0b4.n1.b"},
                  %s0b4_n1_mean: !vec16 {batch.shared = "s0b4.n1.mean"},
                  %s0b4_n1_var: !vec16 {batch.shared = "s0b4.n1.var"},
                  %s0b4_c2: !filter16 {batch.shared = "s0b4.c2"},
                  %s0b4_n2_g: !vec16 {batch.shared = "s0b4.n2.g"},
                  %s0b4_n2_b: !vec16 {batch.shared = "s0b4.n2.b"},
                  %s0b4_n2_mean: !vec16 {batch.shared = "s0b4.n2.mean"},
                  %s0b4_n2_var: !vec16 {batch.shared = "s0b4.n2.var"},
                  %s1b0_c1: !filter16to32 {batch.shared = "s1b0.c1"},
                  %s1b0_n1_g: !vec32 {batch.shared = "s1b0.n1.g"},
                  %s1b0_n1_b: !vec32 {batch.shared = "s1b0.n1.b"},
                  %s1b0_n1_mean: !vec32 {batch.shared = "s1b0.n1.mean"},
                  %s1b0_n1_var: !vec32 {batch.shared = "s1b0.n1.var"},
                  %s1b0_c2: !filter32 {batch.shared = "s1b0.c2"},
                  %s1b0_n2_g: !vec32 {batch.shared = "s1b0.n2.g"},
                  %s1b0_n2_b: !vec32 {batch.shared = "s1b0.n2.b"},
                  %s1b0_n2_mean: !vec32 {batch.shared = "s1b0.n2.mean"},
                  %s1b0_n2_var: !vec32 {batch.shared = "s1b0.n2.var"},
                  %s1b1_c1: !filter32 {batch.shared = "s1b1.c1"},
                  %s1b1_n1_g: !vec32 {batch.shared = "s1b1.n1.g"},
                  %s1b1_n1_b: !vec32 {batch.shared = "s1b1.n1.b"},
                  %s1b1_n1_mean: !vec32 {batch.shared = "s1b1.n1.mean"},
                  %s1b1_n1_var: !vec32 {batch.shared = "s1b1.n1.var"},
                  %s1b1_c2: !filter32 {batch.shared = "s1b1.c2"},
                  %s1b1_n2_g: !vec32 {batch.shared = "s1b1.n2.g"},
                  %s1b1_n2_b: !vec32 {batch.shared = "s1b1.n2.b"},
                  %s1b1_n2_mean: !vec32 {batch.shared = "s1b1.n2.mean"},
                  %s1b1_n2_var: !vec32 {batch.shared = "s1b1.n2.var"},
                  %s1b2_c1: !filter32 {batch.shared = "s1b2.c1"},
                  %s1b2_n1_g: !vec32 {batch.shared = "s1b2.n1.g"},
                  %s1b2_n1_b: !vec32 {batch.shared = "s1b2.n1.b"},
                  %s1b2_n1_mean: !vec32 {batch.shared = "s1b2.n1.mean"},
                  %s1b2_n1_var: !vec32 {batch.shared = "s1b2.n1.var"},
                  %s1b2_c2: !filter32 {batch.shared = "s1b2.c2"},
                  %s1b2_n2_g: !vec32 {batch.shared = "s1b2.n2.g"},
                  %s1b2_n2_b: !vec32 {batch.shared = "s1b2.n2.b"},
                  %s1b2_n2_mean: !vec32 {batch.shared = "s1b2.n2.mean"},
                  %s1b2_n2_var: !vec32 {batch.shared = "s1b2.n2.var"},
                  %s1b3_c1: !filter32 {batch.shared = "s1b3.c1"},
                  %s1b3_n1_g: !vec32 {batch.shared = "s1b3.n1.g"},
                  %s1b3_n1_b: !vec32 {batch.shared = "s1b3.n1.b"},
                  %s1b3_n1_mean: !vec32 {batch.shared = "s1b3.n1.mean"},
                  %s1b3_n1_var: !vec32 {batch.shared = "s1b3.n1.var"},
                  %s1b3_c2: !filter32 {batch.shared = "s1b3.c2"},
                  %s1b3_n2_g: !vec32 {batch.shared = "s1b3.n2.g"},
                  %s1b3_n2_b: !vec32 {batch.shared = "s1b3.n2.b"},
                  %s1b3_n2_mean: !vec32 {batch.shared = "s1b3.n2.mean"},
                  %s1b3_n2_var: !vec32 {batch.shared = "s1b3.n2.var"},
                  %s1b4_c1: !filter32 {batch.shared = "s1b4.c1"},
                  %s1b4_n1_g: !vec32 {batch.shared = "s1b4.n1.g"},
                  %s1b4_n1_b: !vec32 {batch.shared = "s1b4.n1.b"},
                  %s1b4_n1_mean: !vec32 {batch.shared = "s1b4.n1.mean"},
                  %s1b4_n1_var: !vec32 {batch.shared = "s1b4.n1.var"},
                  %s1b4_c2: !filter32 {batch.shared = "s1b4.c2"},
                  %s1b4_n2_g: !vec32 {batch.shared = "s1b4.n2.g"},
                  %s1b4_n2_b: !vec32 {batch.shared = "s1b4.n2.b"},
                  %s1b4_n2_mean: !vec32 {batch.shared = "s1b4.n2.mean"},
                  %s1b4_n2_var: !vec32 {batch.shared = "s1b4.n2.var"},
                  %s2b0_c1: !filter32to64 {batch.shared = "s2b0.c1"},
                  %s2b0_n1_g: !vec64 {batch.shared = "s2b0.n1.g"},
                  %s2b0_n1_b: !vec64 {batch.shared = "s2b0.n1.b"},
                  %s2b0_n1_mean: !vec64 {batch.shared = "s2b0.n1.mean"},
                  %s2b0_n1_var: !vec64 {batch.shared = "s2b0.n1.var"},
                  %s2b0_c2: !filter64 {batch.shared = "s2b0.c2"},
                  %s2b0_n2_g: !vec64 {batch.shared = "s2b0.n2.g"},
                  %s2b0_n2_b: !vec64 {batch.shared = "s2b0.n2.b"},
                  %s2b0_n2_mean: !vec64 {batch.shared = "s2b0.n2.mean"},
                  %s2b0_n2_var: !vec64 {batch.shared = "s2b0.n2.var"},
                  %s2b1_c1: !filter64 {batch.shared = "s2b1.c1"},
                  %s2b1_n1_g: !vec64 {batch.shared = "s2b1.n1.g"},
                  %s2b1_n1_b: !vec64 {batch.shared = "s2b1.n1.b"},
                  %s2b1_n1_mean: !vec64 {batch.shared = "s2b1.n1.mean"},
                  %s2b1_n1_var: !vec64 {batch.shared = "s2b1.n1.var"},
                  %s2b1_c2: !filter64 {batch.shared = "s2b1.c2"},
                  %s2b1_n2_g: !vec64 {batch.shared = "s2b1.n2.g"},
                  %s2b1_n2_b: !vec64 {batch.shared = "s2b1.n2.b"},
                  %s2b1_n2_mean: !vec64 {batch.shared = "s2b1.n2.mean"},
                  %s2b1_n2_var: !vec64 {batch.shared = "s2b1.n2.var"},
                  %s2b2_c1: !filter64 {batch.shared = "s2b2.c1"},
                  %s2b2_n1_g: !vec64 {batch.shared = "s2b2.n1.g"},
                  %s2b2_n1_b: !vec64 {batch.shared = "s2b2.n1.b"},
                  %s2b2_n1_mean: !vec64 {batch.shared = "s2b2.n1.mean"},
                  %s2b2_n1_var: !vec64 {batch.shared = "s2b2.n1.var"},
                  %s2b2_c2: !filter64 {batch.shared = "s2b2.c2"},
                  %s2b2_n2_g: !vec64 {batch.shared = "s2b2.n2.g"},
                  %s2b2_n2_b: !vec64 {batch.shared = "s2b2.n2.b"},
                  %s2b2_n2_mean: !vec64 {batch.shared = "s2b2.n2.mean"},
                  %s2b2_n2_var: !vec64 {batch.shared = "s2b2.n2.var"},
                  %s2b3_c1: !filter64 {batch.shared = "s2b3.c1"},
                  %s2b3_n1_g: !vec64 {batch.shared = "s2b3.n1.g"},
                  %s2b3_n1_b: !vec64 {batch.shared = "s2b3.n1.b"},
                  %s2b3_n1_mean: !vec64 {batch.shared = "s2b3.n1.mean"},
                  %s2b3_n1_var: !vec64 {batch.shared = "s2b3.n1.var"},
                  %s2b3_c2: !filter64 {batch.shared = "s2b3.c2"},
                  %s2b3_n2_g: !vec64 {batch.shared = "s2b3.n2.g"},
                  %s2b3_n2_b: !vec64 {batch.shared = "s2b3.n2.b"},
                  %s2b3_n2_mean: !vec64 {batch.shared = "s2b3.n2.mean"},
                  %s2b3_n2_var: !vec64 {batch.shared = "s2b3.n2.var"},
                  %s2b4_c1: !filter64 {batch.shared = "s2b4.c1"},
                  %s2b4_n1_g: !vec64 {batch.shared = "s2b4.n1.g"},
                  %s2b4_n1_b: !vec64 {batch.shared = "s2b4.n1.b"},
                  %s2b4_n1_mean: !vec64 {batch.shared = "s2b4.n1.mean"},
                  %s2b4_n1_var: !vec64 {batch.shared = "s2b4.n1.var"},
                  %s2b4_c2: !filter64 {batch.shared = "s2b4.c2"},
                  %s2b4_n2_g: !vec64 {batch.shared = "s2b4.n2.g"},
                  %s2b4_n2_b: !vec64 {batch.shared = "s2b4.n2.b"},
                  %s2b4_n2_mean: !vec64 {batch.shared = "s2b4.n2.mean"},
                  %s2b4_n2_var: !vec64 {batch.shared = "s2b4.n2.var"},
                  %fc_W: !of_classes {batch.shared = "fc.W"},
                  %fc_b: !classes {batch.shared = "fc.b"})
      -> (!classes {batch.name = "logits"}, !flags {batch.name = "keep"},
          !tag {batch.name = "cls"}) attributes {batch.entry} {
    %p = func.call @stem(%image, %policy_stem, %policy_stem_n_g, %policy_stem_n_b,
        %policy_stem_n_mean, %policy_stem_n_var)
        : (!image, !filter3to16, !vec16, !vec16, !vec16, !vec16) -> !map16
    %p0 = func.call @block16(%p, %p, %policy_s0b0_c1, %policy_s0b0_n1_g, %policy_s0b0_n1_b,
        %policy_s0b0_n1_mean, %policy_s0b0_n1_var, %policy_s0b0_c2, %policy_s0b0_n2_g,
        %policy_s0b0_n2_b, %policy_s0b0_n2_mean, %policy_s0b0_n2_var)
        : (!map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16
    %ps1 = func.call @shortcut32(%p0)
        : (!map16) -> !map32
    %p1 = func.call @block16to32(%p0, %ps1, %policy_s1b0_c1, %policy_s1b0_n1_g,
        %policy_s1b0_n1_b, %policy_s1b0_n1_mean, %policy_s1b0_n1_var, %policy_s1b0_c2,
        %policy_s1b0_n2_g, %policy_s1b0_n2_b, %policy_s1b0_n2_mean, %policy_s1b0_n2_var)
        : (!map16, !map32, !filter16to32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32
    %ps2 = func.call @shortcut64(%p1)
        : (!map32) -> !map64
    %p2 = func.call @block32to64(%p1, %ps2, %policy_s2b0_c1, %policy_s2b0_n1_g,
        %policy_s2b0_n1_b, %policy_s2b0_n1_mean, %policy_s2b0_n1_var, %policy_s2b0_c2,
        %policy_s2b0_n2_g, %policy_s2b0_n2_b, %policy_s2b0_n2_mean, %policy_s2b0_n2_var)
        : (!map32, !map64, !filter32to64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64
    %scores_mean = func.call @mean64(%p2)
        : (!map64) -> !vec64
    %scores = linalg.matvec ins(%policy_fc_W, %scores_mean : !of_scores, !vec64)
        outs(%policy_fc_b : !scores) -> !scores
    %bound = arith.constant dense<0.0> : !scores
    %are_kept = arith.cmpf ogt, %scores, %bound : !scores
    %flags = arith.extui %are_kept : tensor<15xi1> to !flags
    %x = func.call @stem(%image, %stem, %stem_n_g, %stem_n_b, %stem_n_mean, %stem_n_var)
        : (!image, !filter3to16, !vec16, !vec16, !vec16, !vec16) -> !map16

    %j0 = arith.constant 0 : index
    %run0 = func.call @kept(%flags, %j0)
        : (!flags, index) -> i1
    %x0 = func.call @maybe16(%run0, %x, %x, %s0b0_c1, %s0b0_n1_g, %s0b0_n1_b, %s0b0_n1_mean,
        %s0b0_n1_var, %s0b0_c2, %s0b0_n2_g, %s0b0_n2_b, %s0b0_n2_mean, %s0b0_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %j1 = arith.constant 1 : index
    %run1 = func.call @kept(%flags, %j1)
        : (!flags, index) -> i1
    %x1 = func.call @maybe16(%run1, %x0, %x0, %s0b1_c1, %s0b1_n1_g, %s0b1_n1_b,
        %s0b1_n1_mean, %s0b1_n1_var, %s0b1_c2, %s0b1_n2_g, %s0b1_n2_b, %s0b1_n2_mean,
        %s0b1_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %j2 = arith.constant 2 : index
    %run2 = func.call @kept(%flags, %j2)
        : (!flags, index) -> i1
    %x2 = func.call @maybe16(%run2, %x1, %x1, %s0b2_c1, %s0b2_n1_g, %s0b2_n1_b,
        %s0b2_n1_mean, %s0b2_n1_var, %s0b2_c2, %s0b2_n2_g, %s0b2_n2_b, %s0b2_n2_mean,
        %s0b2_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %j3 = arith.constant 3 : index
    %run3 = func.call @kept(%flags, %j3)
        : (!flags, index) -> i1
    %x3 = func.call @maybe16(%run3, %x2, %x2, %s0b3_c1, %s0b3_n1_g, %s0b3_n1_b,
        %s0b3_n1_mean, %s0b3_n1_var, %s0b3_c2, %s0b3_n2_g, %s0b3_n2_b, %s0b3_n2_mean,
        %s0b3_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %j4 = arith.constant 4 : index
    %run4 = func.call @kept(%flags, %j4)
        : (!flags, index) -> i1
    %x4 = func.call @maybe16(%run4, %x3, %x3, %s0b4_c1, %s0b4_n1_g, %s0b4_n1_b,
        %s0b4_n1_mean, %s0b4_n1_var, %s0b4_c2, %s0b4_n2_g, %s0b4_n2_b, %s0b4_n2_mean,
        %s0b4_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %j5 = arith.constant 5 : index
    %run5 = func.call @kept(%flags, %j5)
        : (!flags, index) -> i1
    %xs5 = func.call @shortcut32(%x4)
        : (!map16) -> !map32
    %x5 = func.call @maybe16to32(%run5, %x4, %xs5, %s1b0_c1, %s1b0_n1_g, %s1b0_n1_b,
        %s1b0_n1_mean, %s1b0_n1_var, %s1b0_c2, %s1b0_n2_g, %s1b0_n2_b, %s1b0_n2_mean,
        %s1b0_n2_var)
        : (i1, !map16, !map32, !filter16to32, !vec32, !vec32, !vec32, !vec32, !filter32,
           !vec32, !vec32, !vec32, !vec32) -> !map32

    %j6 = arith.constant 6 : index
    %run6 = func.call @kept(%flags, %j6)
        : (!flags, index) -> i1
    %x6 = func.call @maybe32(%run6, %x5, %x5, %s1b1_c1, %s1b1_n1_g, %s1b1_n1_b,
        %s1b1_n1_mean, %s1b1_n1_var, %s1b1_c2, %s1b1_n2_g, %s1b1_n2_b, %s1b1_n2_mean,
        %s1b1_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %j7 = arith.constant 7 : index
    %run7 = func.call @kept(%flags, %j7)
        : (!flags, index) -> i1
    %x7 = func.call @maybe32(%run7, %x6, %x6, %s1b2_c1, %s1b2_n1_g, %s1b2_n1_b,
        %s1b2_n1_mean, %s1b2_n1_var, %s1b2_c2, %s1b2_n2_g, %s1b2_n2_b, %s1b2_n2_mean,
        %s1b2_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %j8 = arith.constant 8 : index
    %run8 = func.call @kept(%flags, %j8)
        : (!flags, index) -> i1
    %x8 = func.call @maybe32(%run8, %x7, %x7, %s1b3_c1, %s1b3_n1_g, %s1b3_n1_b,
        %s1b3_n1_mean, %s1b3_n1_var, %s1b3_c2, %s1b3_n2_g, %s1b3_n2_b, %s1b3_n2_mean,
        %s1b3_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %j9 = arith.constant 9 : index
    %run9 = func.call @kept(%flags, %j9)
        : (!flags, index) -> i1
    %x9 = func.call @maybe32(%run9, %x8, %x8, %s1b4_c1, %s1b4_n1_g, %s1b4_n1_b,
        %s1b4_n1_mean, %s1b4_n1_var, %s1b4_c2, %s1b4_n2_g, %s1b4_n2_b, %s1b4_n2_mean,
        %s1b4_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %j10 = arith.constant 10 : index
    %run10 = func.call @kept(%flags, %j10)
        : (!flags, index) -> i1
    %xs10 = func.call @shortcut64(%x9)
        : (!map32) -> !map64
    %x10 = func.call @maybe32to64(%run10, %x9, %xs10, %s2b0_c1, %s2b0_n1_g, %s2b0_n1_b,
        %s2b0_n1_mean, %s2b0_n1_var, %s2b0_c2, %s2b0_n2_g, %s2b0_n2_b, %s2b0_n2_mean,
        %s2b0_n2_var)
        : (i1, !map32, !map64, !filter32to64, !vec64, !vec64, !vec64, !vec64, !filter64,
           !vec64, !vec64, !vec64, !vec64) -> !map64

    %j11 = arith.constant 11 : index
    %run11 = func.call @kept(%flags, %j11)
        : (!flags, index) -> i1
    %x11 = func.call @maybe64(%run11, %x10, %x10, %s2b1_c1, %s2b1_n1_g, %s2b1_n1_b,
        %s2b1_n1_mean, %s2b1_n1_var, %s2b1_c2, %s2b1_n2_g, %s2b1_n2_b, %s2b1_n2_mean,
        %s2b1_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %j12 = arith.constant 12 : index
    %run12 = func.call @kept(%flags, %j12)
        : (!flags, index) -> i1
    %x12 = func.call @maybe64(%run12, %x11, %x11, %s2b2_c1, %s2b2_n1_g, %s2b2_n1_b,
        %s2b2_n1_mean, %s2b2_n1_var, %s2b2_c2, %s2b2_n2_g, %s2b2_n2_b, %s2b2_n2_mean,
        %s2b2_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %j13 = arith.constant 13 : index
    %run13 = func.call @kept(%flags, %j13)
        : (!flags, index) -> i1
    %x13 = func.call @maybe64(%run13, %x12, %x12, %s2b3_c1, %s2b3_n1_g, %s2b3_n1_b,
        %s2b3_n1_mean, %s2b3_n1_var, %s2b3_c2, %s2b3_n2_g, %s2b3_n2_b, %s2b3_n2_mean,
        %s2b3_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %j14 = arith.constant 14 : index
    %run14 = func.call @kept(%flags, %j14)
        : (!flags, index) -> i1
    %x14 = func.call @maybe64(%run14, %x13, %x13, %s2b4_c1, %s2b4_n1_g, %s2b4_n1_b,
        %s2b4_n1_mean, %s2b4_n1_var, %s2b4_c2, %s2b4_n2_g, %s2b4_n2_b, %s2b4_n2_mean,
        %s2b4_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %logits_mean = func.call @mean64(%x14)
        : (!map64) -> !vec64
    %logits = linalg.matvec ins(%fc_W, %logits_mean : !of_classes, !vec64)
        outs(%fc_b : !classes) -> !classes
    %cls = func.call @argmax(%logits) : (!classes) -> !tag
    return %logits, %flags, %cls : !classes, !flags, !tag
  }
}
