// SkipNet: a residual network on images. Before each block, a recurrent gate decides
// whether it runs. The first block always runs. A norm follows each convolution.
//
//   F(x) = norm2(conv2(relu(norm1(conv1(x)))))
//   S(x) = x, except in the first blocks of groups 1 and 2: norm(W x), every second pixel
//   x    = relu(norm(conv(image))), h = c = 0, x = relu(x + F(x)), then for block j:
//          (h, c) = lstm(G mean(x) + g, h, c) with G, g of block j - 1,
//          run = w h + b > 0,
//          x = run ? relu(S(x) + F(x)) : S(x)
//   logits = W mean(x) + b
//
// Written by test/Integration/residual_models.py. Run it:
//   test/Integration/residual_models.py skipnet38 --params=skipnet38.safetensors
//   batch-run examples/models/skipnet38.mlir --params=skipnet38.safetensors \
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
!gate16 = tensor<10x16xf32>
!vec32 = tensor<32xf32>
!filter32 = tensor<32x32x3x3xf32>
!filter16to32 = tensor<32x16x3x3xf32>
!gate32 = tensor<10x32xf32>
!project32 = tensor<32x16x1x1xf32>
!vec64 = tensor<64xf32>
!filter64 = tensor<64x64x3x3xf32>
!filter32to64 = tensor<64x32x3x3xf32>
!gate64 = tensor<10x64xf32>
!project64 = tensor<64x32x1x1xf32>
!state = tensor<10xf32>
!square = tensor<10x10xf32>
!project = tensor<1x10xf32>
!number = tensor<1xf32>
!flags = tensor<18xi32>
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

  func.func private @sigmoid(%x: !state) -> !state {
    %one = arith.constant dense<1.0> : !state
    %n = arith.negf %x : !state
    %e = math.exp %n : !state
    %d = arith.addf %one, %e : !state
    %y = arith.divf %one, %d : !state
    return %y : !state
  }

  // W u + U h + b
  func.func private @sum(%u: !state, %h: !state, %W: !square, %U: !square, %b: !state)
      -> !state {
    %wu = linalg.matvec ins(%W, %u : !square, !state) outs(%b : !state) -> !state
    %a = linalg.matvec ins(%U, %h : !square, !state) outs(%wu : !state) -> !state
    return %a : !state
  }

  func.func private @lstm(
      %u: !state, %h: !state, %c: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state)
      -> (!state, !state) {
    %ai = func.call @sum(%u, %h, %W_i, %U_i, %b_i)
        : (!state, !state, !square, !square, !state) -> !state
    %af = func.call @sum(%u, %h, %W_f, %U_f, %b_f)
        : (!state, !state, !square, !square, !state) -> !state
    %ag = func.call @sum(%u, %h, %W_g, %U_g, %b_g)
        : (!state, !state, !square, !square, !state) -> !state
    %ao = func.call @sum(%u, %h, %W_o, %U_o, %b_o)
        : (!state, !state, !square, !square, !state) -> !state
    %i = func.call @sigmoid(%ai) : (!state) -> !state
    %f = func.call @sigmoid(%af) : (!state) -> !state
    %g = math.tanh %ag : !state
    %o = func.call @sigmoid(%ao) : (!state) -> !state
    %fc = arith.mulf %f, %c : !state
    %ig = arith.mulf %i, %g : !state
    %next = arith.addf %fc, %ig : !state
    %t = math.tanh %next : !state
    %y = arith.mulf %o, %t : !state
    return %y, %next : !state, !state
  }

  func.func private @positive(%h: !state, %w: !project, %b: !number) -> i1 {
    %zero = arith.constant 0.0 : f32
    %first = arith.constant 0 : index
    %s = linalg.matvec ins(%w, %h : !project, !state) outs(%b : !number)
        -> !number
    %number = tensor.extract %s[%first] : !number
    %is = arith.cmpf ogt, %number, %zero : f32
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

  func.func private @mean16(%x: !map16) -> !vec16 {
    %zero = arith.constant dense<0.0> : !vec16
    %sum = linalg.reduce { arith.addf } ins(%x : !map16) outs(%zero : !vec16)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<1024.0> : !vec16
    %mean = arith.divf %sum, %pixels : !vec16
    return %mean : !vec16
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

  // Returns whether the next block runs, and the states.
  func.func private @gate16(
      %x: !map16, %h: !state, %c: !state, %G: !gate16, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean16(%x) : (!map16) -> !vec16
    %u = linalg.matvec ins(%G, %mean : !gate16, !vec16) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
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

  func.func private @mean32(%x: !map32) -> !vec32 {
    %zero = arith.constant dense<0.0> : !vec32
    %sum = linalg.reduce { arith.addf } ins(%x : !map32) outs(%zero : !vec32)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<256.0> : !vec32
    %mean = arith.divf %sum, %pixels : !vec32
    return %mean : !vec32
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

  // norm(W x), every second pixel.
  func.func private @shortcut32(%x: !map16, %W: !project32, %g: !vec32, %b: !vec32,
                               %mean: !vec32, %var: !vec32) -> !map32 {
    %zero = arith.constant dense<0.0> : !map32
    %p = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %W : !map16, !project32) outs(%zero : !map32) -> !map32
    %y = func.call @norm32(%p, %g, %b, %mean, %var)
        : (!map32, !vec32, !vec32, !vec32, !vec32) -> !map32
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

  // Returns whether the next block runs, and the states.
  func.func private @gate32(
      %x: !map32, %h: !state, %c: !state, %G: !gate32, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean32(%x) : (!map32) -> !vec32
    %u = linalg.matvec ins(%G, %mean : !gate32, !vec32) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
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

  // norm(W x), every second pixel.
  func.func private @shortcut64(%x: !map32, %W: !project64, %g: !vec64, %b: !vec64,
                               %mean: !vec64, %var: !vec64) -> !map64 {
    %zero = arith.constant dense<0.0> : !map64
    %p = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %W : !map32, !project64) outs(%zero : !map64) -> !map64
    %y = func.call @norm64(%p, %g, %b, %mean, %var)
        : (!map64, !vec64, !vec64, !vec64, !vec64) -> !map64
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

  // Returns whether the next block runs, and the states.
  func.func private @gate64(
      %x: !map64, %h: !state, %c: !state, %G: !gate64, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean64(%x) : (!map64) -> !vec64
    %u = linalg.matvec ins(%G, %mean : !gate64, !vec64) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
  }

  func.func @main(%image: !image {batch.name = "image"},
                  %stem: !filter3to16 {batch.shared = "stem"},
                  %stem_n_g: !vec16 {batch.shared = "stem.n.g"},
                  %stem_n_b: !vec16 {batch.shared = "stem.n.b"},
                  %stem_n_mean: !vec16 {batch.shared = "stem.n.mean"},
                  %stem_n_var: !vec16 {batch.shared = "stem.n.var"},
                  %g0b0_c1: !filter16 {batch.shared = "g0b0.c1"},
                  %g0b0_n1_g: !vec16 {batch.shared = "g0b0.n1.g"},
                  %g0b0_n1_b: !vec16 {batch.shared = "g0b0.n1.b"},
                  %g0b0_n1_mean: !vec16 {batch.shared = "g0b0.n1.mean"},
                  %g0b0_n1_var: !vec16 {batch.shared = "g0b0.n1.var"},
                  %g0b0_c2: !filter16 {batch.shared = "g0b0.c2"},
                  %g0b0_n2_g: !vec16 {batch.shared = "g0b0.n2.g"},
                  %g0b0_n2_b: !vec16 {batch.shared = "g0b0.n2.b"},
                  %g0b0_n2_mean: !vec16 {batch.shared = "g0b0.n2.mean"},
                  %g0b0_n2_var: !vec16 {batch.shared = "g0b0.n2.var"},
                  %g0b0_gate_W: !gate16 {batch.shared = "g0b0.gate.W"},
                  %g0b0_gate_b: !state {batch.shared = "g0b0.gate.b"},
                  %rnn_W_i: !square {batch.shared = "rnn.W_i"},
                  %rnn_U_i: !square {batch.shared = "rnn.U_i"},
                  %rnn_b_i: !state {batch.shared = "rnn.b_i"},
                  %rnn_W_f: !square {batch.shared = "rnn.W_f"},
                  %rnn_U_f: !square {batch.shared = "rnn.U_f"},
                  %rnn_b_f: !state {batch.shared = "rnn.b_f"},
                  %rnn_W_g: !square {batch.shared = "rnn.W_g"},
                  %rnn_U_g: !square {batch.shared = "rnn.U_g"},
                  %rnn_b_g: !state {batch.shared = "rnn.b_g"},
                  %rnn_W_o: !square {batch.shared = "rnn.W_o"},
                  %rnn_U_o: !square {batch.shared = "rnn.U_o"},
                  %rnn_b_o: !state {batch.shared = "rnn.b_o"},
                  %rnn_proj: !project {batch.shared = "rnn.proj"},
                  %rnn_proj_b: !number {batch.shared = "rnn.proj.b"},
                  %g0b1_c1: !filter16 {batch.shared = "g0b1.c1"},
                  %g0b1_n1_g: !vec16 {batch.shared = "g0b1.n1.g"},
                  %g0b1_n1_b: !vec16 {batch.shared = "g0b1.n1.b"},
                  %g0b1_n1_mean: !vec16 {batch.shared = "g0b1.n1.mean"},
                  %g0b1_n1_var: !vec16 {batch.shared = "g0b1.n1.var"},
                  %g0b1_c2: !filter16 {batch.shared = "g0b1.c2"},
                  %g0b1_n2_g: !vec16 {batch.shared = "g0b1.n2.g"},
                  %g0b1_n2_b: !vec16 {batch.shared = "g0b1.n2.b"},
                  %g0b1_n2_mean: !vec16 {batch.shared = "g0b1.n2.mean"},
                  %g0b1_n2_var: !vec16 {batch.shared = "g0b1.n2.var"},
                  %g0b1_gate_W: !gate16 {batch.shared = "g0b1.gate.W"},
                  %g0b1_gate_b: !state {batch.shared = "g0b1.gate.b"},
                  %g0b2_c1: !filter16 {batch.shared = "g0b2.c1"},
                  %g0b2_n1_g: !vec16 {batch.shared = "g0b2.n1.g"},
                  %g0b2_n1_b: !vec16 {batch.shared = "g0b2.n1.b"},
                  %g0b2_n1_mean: !vec16 {batch.shared = "g0b2.n1.mean"},
                  %g0b2_n1_var: !vec16 {batch.shared = "g0b2.n1.var"},
                  %g0b2_c2: !filter16 {batch.shared = "g0b2.c2"},
                  %g0b2_n2_g: !vec16 {batch.shared = "g0b2.n2.g"},
                  %g0b2_n2_b: !vec16 {batch.shared = "g0b2.n2.b"},
                  %g0b2_n2_mean: !vec16 {batch.shared = "g0b2.n2.mean"},
                  %g0b2_n2_var: !vec16 {batch.shared = "g0b2.n2.var"},
                  %g0b2_gate_W: !gate16 {batch.shared = "g0b2.gate.W"},
                  %g0b2_gate_b: !state {batch.shared = "g0b2.gate.b"},
                  %g0b3_c1: !filter16 {batch.shared = "g0b3.c1"},
                  %g0b3_n1_g: !vec16 {batch.shared = "g0b3.n1.g"},
                  %g0b3_n1_b: !vec16 {batch.shared = "g0b3.n1.b"},
                  %g0b3_n1_mean: !vec16 {batch.shared = "g0b3.n1.mean"},
                  %g0b3_n1_var: !vec16 {batch.shared = "g0b3.n1.var"},
                  %g0b3_c2: !filter16 {batch.shared = "g0b3.c2"},
                  %g0b3_n2_g: !vec16 {batch.shared = "g0b3.n2.g"},
                  %g0b3_n2_b: !vec16 {batch.shared = "g0b3.n2.b"},
                  %g0b3_n2_mean: !vec16 {batch.shared = "g0b3.n2.mean"},
                  %g0b3_n2_var: !vec16 {batch.shared = "g0b3.n2.var"},
                  %g0b3_gate_W: !gate16 {batch.shared = "g0b3.gate.W"},
                  %g0b3_gate_b: !state {batch.shared = "g0b3.gate.b"},
                  %g0b4_c1: !filter16 {batch.shared = "g0b4.c1"},
                  %g0b4_n1_g: !vec16 {batch.shared = "g0b4.n1.g"},
                  %g0b4_n1_b: !vec16 {batch.shared = "g0b4.n1.b"},
                  %g0b4_n1_mean: !vec16 {batch.shared = "g0b4.n1.mean"},
                  %g0b4_n1_var: !vec16 {batch.shared = "g0b4.n1.var"},
                  %g0b4_c2: !filter16 {batch.shared = "g0b4.c2"},
                  %g0b4_n2_g: !vec16 {batch.shared = "g0b4.n2.g"},
                  %g0b4_n2_b: !vec16 {batch.shared = "g0b4.n2.b"},
                  %g0b4_n2_mean: !vec16 {batch.shared = "g0b4.n2.mean"},
                  %g0b4_n2_var: !vec16 {batch.shared = "g0b4.n2.var"},
                  %g0b4_gate_W: !gate16 {batch.shared = "g0b4.gate.W"},
                  %g0b4_gate_b: !state {batch.shared = "g0b4.gate.b"},
                  %g0b5_c1: !filter16 {batch.shared = "g0b5.c1"},
                  %g0b5_n1_g: !vec16 {batch.shared = "g0b5.n1.g"},
                  %g0b5_n1_b: !vec16 {batch.shared = "g0b5.n1.b"},
                  %g0b5_n1_mean: !vec16 {batch.shared = "g0b5.n1.mean"},
                  %g0b5_n1_var: !vec16 {batch.shared = "g0b5.n1.var"},
                  %g0b5_c2: !filter16 {batch.shared = "g0b5.c2"},
                  %g0b5_n2_g: !vec16 {batch.shared = "g0b5.n2.g"},
                  %g0b5_n2_b: !vec16 {batch.shared = "g0b5.n2.b"},
                  %g0b5_n2_mean: !vec16 {batch.shared = "g0b5.n2.mean"},
                  %g0b5_n2_var: !vec16 {batch.shared = "g0b5.n2.var"},
                  %g0b5_gate_W: !gate16 {batch.shared = "g0b5.gate.W"},
                  %g0b5_gate_b: !state {batch.shared = "g0b5.gate.b"},
                  %g1b0_ds: !project32 {batch.shared = "g1b0.ds"},
                  %g1b0_ds_n_g: !vec32 {batch.shared = "g1b0.ds.n.g"},
                  %g1b0_ds_n_b: !vec32 {batch.shared = "g1b0.ds.n.b"},
                  %g1b0_ds_n_mean: !vec32 {batch.shared = "g1b0.ds.n.mean"},
                  %g1b0_ds_n_var: !vec32 {batch.shared = "g1b0.ds.n.var"},
                  %g1b0_c1: !filter16to32 {batch.shared = "g1b0.c1"},
                  %g1b0_n1_g: !vec32 {batch.shared = "g1b0.n1.g"},
                  %g1b0_n1_b: !vec32 {batch.shared = "g1b0.n1.b"},
                  %g1b0_n1_mean: !vec32 {batch.shared = "g1b0.n1.mean"},
                  %g1b0_n1_var: !vec32 {batch.shared = "g1b0.n1.var"},
                  %g1b0_c2: !filter32 {batch.shared = "g1b0.c2"},
                  %g1b0_n2_g: !vec32 {batch.shared = "g1b0.n2.g"},
                  %g1b0_n2_b: !vec32 {batch.shared = "g1b0.n2.b"},
                  %g1b0_n2_mean: !vec32 {batch.shared = "g1b0.n2.mean"},
                  %g1b0_n2_var: !vec32 {batch.shared = "g1b0.n2.var"},
                  %g1b0_gate_W: !gate32 {batch.shared = "g1b0.gate.W"},
                  %g1b0_gate_b: !state {batch.shared = "g1b0.gate.b"},
                  %g1b1_c1: !filter32 {batch.shared = "g1b1.c1"},
                  %g1b1_n1_g: !vec32 {batch.shared = "g1b1.n1.g"},
                  %g1b1_n1_b: !vec32 {batch.shared = "g1b1.n1.b"},
                  %g1b1_n1_mean: !vec32 {batch.shared = "g1b1.n1.mean"},
                  %g1b1_n1_var: !vec32 {batch.shared = "g1b1.n1.var"},
                  %g1b1_c2: !filter32 {batch.shared = "g1b1.c2"},
                  %g1b1_n2_g: !vec32 {batch.shared = "g1b1.n2.g"},
                  %g1b1_n2_b: !vec32 {batch.shared = "g1b1.n2.b"},
                  %g1b1_n2_mean: !vec32 {batch.shared = "g1b1.n2.mean"},
                  %g1b1_n2_var: !vec32 {batch.shared = "g1b1.n2.var"},
                  %g1b1_gate_W: !gate32 {batch.shared = "g1b1.gate.W"},
                  %g1b1_gate_b: !state {batch.shared = "g1b1.gate.b"},
                  %g1b2_c1: !filter32 {batch.shared = "g1b2.c1"},
                  %g1b2_n1_g: !vec32 {batch.shared = "g1b2.n1.g"},
                  %g1b2_n1_b: !vec32 {batch.shared = "g1b2.n1.b"},
                  %g1b2_n1_mean: !vec32 {batch.shared = "g1b2.n1.mean"},
                  %g1b2_n1_var: !vec32 {batch.shared = "g1b2.n1.var"},
                  %g1b2_c2: !filter32 {batch.shared = "g1b2.c2"},
                  %g1b2_n2_g: !vec32 {batch.shared = "g1b2.n2.g"},
                  %g1b2_n2_b: !vec32 {batch.shared = "g1b2.n2.b"},
                  %g1b2_n2_mean: !vec32 {batch.shared = "g1b2.n2.mean"},
                  %g1b2_n2_var: !vec32 {batch.shared = "g1b2.n2.var"},
                  %g1b2_gate_W: !gate32 {batch.shared = "g1b2.gate.W"},
                  %g1b2_gate_b: !state {batch.shared = "g1b2.gate.b"},
                  %g1b3_c1: !filter32 {batch.shared = "g1b3.c1"},
                  %g1b3_n1_g: !vec32 {batch.shared = "g1b3.n1.g"},
                  %g1b3_n1_b: !vec32 {batch.shared = "g1b3.n1.b"},
                  %g1b3_n1_mean: !vec32 {batch.shared = "g1b3.n1.mean"},
                  %g1b3_n1_var: !vec32 {batch.shared = "g1b3.n1.var"},
                  %g1b3_c2: !filter32 {batch.shared = "g1b3.c2"},
                  %g1b3_n2_g: !vec32 {batch.shared = "g1b3.n2.g"},
                  %g1b3_n2_b: !vec32 {batch.shared = "g1b3.n2.b"},
                  %g1b3_n2_mean: !vec32 {batch.shared = "g1b3.n2.mean"},
                  %g1b3_n2_var: !vec32 {batch.shared = "g1b3.n2.var"},
                  %g1b3_gate_W: !gate32 {batch.shared = "g1b3.gate.W"},
                  %g1b3_gate_b: !state {batch.shared = "g1b3.gate.b"},
                  %g1b4_c1: !filter32 {batch.shared = "g1b4.c1"},
                  %g1b4_n1_g: !vec32 {batch.shared = "g1b4.n1.g"},
                  %g1b4_n1_b: !vec32 {batch.shared = "g1b4.n1.b"},
                  %g1b4_n1_mean: !vec32 {batch.shared = "g1b4.n1.mean"},
                  %g1b4_n1_var: !vec32 {batch.shared = "g1b4.n1.var"},
                  %g1b4_c2: !filter32 {batch.shared = "g1b4.c2"},
                  %g1b4_n2_g: !vec32 {batch.shared = "g1b4.n2.g"},
                  %g1b4_n2_b: !vec32 {batch.shared = "g1b4.n2.b"},
                  %g1b4_n2_mean: !vec32 {batch.shared = "g1b4.n2.mean"},
                  %g1b4_n2_var: !vec32 {batch.shared = "g1b4.n2.var"},
                  %g1b4_gate_W: !gate32 {batch.shared = "g1b4.gate.W"},
                  %g1b4_gate_b: !state {batch.shared = "g1b4.gate.b"},
                  %g1b5_c1: !filter32 {batch.shared = "g1b5.c1"},
                  %g1b5_n1_g: !vec32 {batch.shared = "g1b5.n1.g"},
                  %g1b5_n1_b: !vec32 {batch.shared = "g1b5.n1.b"},
                  %g1b5_n1_mean: !vec32 {batch.shared = "g1b5.n1.mean"},
                  %g1b5_n1_var: !vec32 {batch.shared = "g1b5.n1.var"},
                  %g1b5_c2: !filter32 {batch.shared = "g1b5.c2"},
                  %g1b5_n2_g: !vec32 {batch.shared = "g1b5.n2.g"},
                  %g1b5_n2_b: !vec32 {batch.shared = "g1b5.n2.b"},
                  %g1b5_n2_mean: !vec32 {batch.shared = "g1b5.n2.mean"},
                  %g1b5_n2_var: !vec32 {batch.shared = "g1b5.n2.var"},
                  %g1b5_gate_W: !gate32 {batch.shared = "g1b5.gate.W"},
                  %g1b5_gate_b: !state {batch.shared = "g1b5.gate.b"},
                  %g2b0_ds: !project64 {batch.shared = "g2b0.ds"},
                  %g2b0_ds_n_g: !vec64 {batch.shared = "g2b0.ds.n.g"},
                  %g2b0_ds_n_b: !vec64 {batch.shared = "g2b0.ds.n.b"},
                  %g2b0_ds_n_mean: !vec64 {batch.shared = "g2b0.ds.n.mean"},
                  %g2b0_ds_n_var: !vec64 {batch.shared = "g2b0.ds.n.var"},
                  %g2b0_c1: !filter32to64 {batch.shared = "g2b0.c1"},
                  %g2b0_n1_g: !vec64 {batch.shared = "g2b0.n1.g"},
                  %g2b0_n1_b: !vec64 {batch.shared = "g2b0.n1.b"},
                  %g2b0_n1_mean: !vec64 {batch.shared = "g2b0.n1.mean"},
                  %g2b0_n1_var: !vec64 {batch.shared = "g2b0.n1.var"},
                  %g2b0_c2: !filter64 {batch.shared = "g2b0.c2"},
                  %g2b0_n2_g: !vec64 {batch.shared = "g2b0.n2.g"},
                  %g2b0_n2_b: !vec64 {batch.shared = "g2b0.n2.b"},
                  %g2b0_n2_mean: !vec64 {batch.shared = "g2b0.n2.mean"},
                  %g2b0_n2_var: !vec64 {batch.shared = "g2b0.n2.var"},
                  %g2b0_gate_W: !gate64 {batch.shared = "g2b0.gate.W"},
                  %g2b0_gate_b: !state {batch.shared = "g2b0.gate.b"},
                  %g2b1_c1: !filter64 {batch.shared = "g2b1.c1"},
                  %g2b1_n1_g: !vec64 {batch.shared = "g2b1.n1.g"},
                  %g2b1_n1_b: !vec64 {batch.shared = "g2b1.n1.b"},
                  %g2b1_n1_mean: !vec64 {batch.shared = "g2b1.n1.mean"},
                  %g2b1_n1_var: !vec64 {batch.shared = "g2b1.n1.var"},
                  %g2b1_c2: !filter64 {batch.shared = "g2b1.c2"},
                  %g2b1_n2_g: !vec64 {batch.shared = "g2b1.n2.g"},
                  %g2b1_n2_b: !vec64 {batch.shared = "g2b1.n2.b"},
                  %g2b1_n2_mean: !vec64 {batch.shared = "g2b1.n2.mean"},
                  %g2b1_n2_var: !vec64 {batch.shared = "g2b1.n2.var"},
                  %g2b1_gate_W: !gate64 {batch.shared = "g2b1.gate.W"},
                  %g2b1_gate_b: !state {batch.shared = "g2b1.gate.b"},
                  %g2b2_c1: !filter64 {batch.shared = "g2b2.c1"},
                  %g2b2_n1_g: !vec64 {batch.shared = "g2b2.n1.g"},
                  %g2b2_n1_b: !vec64 {batch.shared = "g2b2.n1.b"},
                  %g2b2_n1_mean: !vec64 {batch.shared = "g2b2.n1.mean"},
                  %g2b2_n1_var: !vec64 {batch.shared = "g2b2.n1.var"},
                  %g2b2_c2: !filter64 {batch.shared = "g2b2.c2"},
                  %g2b2_n2_g: !vec64 {batch.shared = "g2b2.n2.g"},
                  %g2b2_n2_b: !vec64 {batch.shared = "g2b2.n2.b"},
                  %g2b2_n2_mean: !vec64 {batch.shared = "g2b2.n2.mean"},
                  %g2b2_n2_var: !vec64 {batch.shared = "g2b2.n2.var"},
                  %g2b2_gate_W: !gate64 {batch.shared = "g2b2.gate.W"},
                  %g2b2_gate_b: !state {batch.shared = "g2b2.gate.b"},
                  %g2b3_c1: !filter64 {batch.shared = "g2b3.c1"},
                  %g2b3_n1_g: !vec64 {batch.shared = "g2b3.n1.g"},
                  %g2b3_n1_b: !vec64 {batch.shared = "g2b3.n1.b"},
                  %g2b3_n1_mean: !vec64 {batch.shared = "g2b3.n1.mean"},
                  %g2b3_n1_var: !vec64 {batch.shared = "g2b3.n1.var"},
                  %g2b3_c2: !filter64 {batch.shared = "g2b3.c2"},
                  %g2b3_n2_g: !vec64 {batch.shared = "g2b3.n2.g"},
                  %g2b3_n2_b: !vec64 {batch.shared = "g2b3.n2.b"},
                  %g2b3_n2_mean: !vec64 {batch.shared = "g2b3.n2.mean"},
                  %g2b3_n2_var: !vec64 {batch.shared = "g2b3.n2.var"},
                  %g2b3_gate_W: !gate64 {batch.shared = "g2b3.gate.W"},
                  %g2b3_gate_b: !state {batch.shared = "g2b3.gate.b"},
                  %g2b4_c1: !filter64 {batch.shared = "g2b4.c1"},
                  %g2b4_n1_g: !vec64 {batch.shared = "g2b4.n1.g"},
                  %g2b4_n1_b: !vec64 {batch.shared = "g2b4.n1.b"},
                  %g2b4_n1_mean: !vec64 {batch.shared = "g2b4.n1.mean"},
                  %g2b4_n1_var: !vec64 {batch.shared = "g2b4.n1.var"},
                  %g2b4_c2: !filter64 {batch.shared = "g2b4.c2"},
                  %g2b4_n2_g: !vec64 {batch.shared = "g2b4.n2.g"},
                  %g2b4_n2_b: !vec64 {batch.shared = "g2b4.n2.b"},
                  %g2b4_n2_mean: !vec64 {batch.shared = "g2b4.n2.mean"},
                  %g2b4_n2_var: !vec64 {batch.shared = "g2b4.n2.var"},
                  %g2b4_gate_W: !gate64 {batch.shared = "g2b4.gate.W"},
                  %g2b4_gate_b: !state {batch.shared = "g2b4.gate.b"},
                  %g2b5_c1: !filter64 {batch.shared = "g2b5.c1"},
                  %g2b5_n1_g: !vec64 {batch.shared = "g2b5.n1.g"},
                  %g2b5_n1_b: !vec64 {batch.shared = "g2b5.n1.b"},
                  %g2b5_n1_mean: !vec64 {batch.shared = "g2b5.n1.mean"},
                  %g2b5_n1_var: !vec64 {batch.shared = "g2b5.n1.var"},
                  %g2b5_c2: !filter64 {batch.shared = "g2b5.c2"},
                  %g2b5_n2_g: !vec64 {batch.shared = "g2b5.n2.g"},
                  %g2b5_n2_b: !vec64 {batch.shared = "g2b5.n2.b"},
                  %g2b5_n2_mean: !vec64 {batch.shared = "g2b5.n2.mean"},
                  %g2b5_n2_var: !vec64 {batch.shared = "g2b5.n2.var"},
                  %fc_W: !of_classes {batch.shared = "fc.W"},
                  %fc_b: !classes {batch.shared = "fc.b"})
      -> (!classes {batch.name = "logits"}, !flags {batch.name = "ran"},
          !tag {batch.name = "cls"}) attributes {batch.entry} {
    %zero = arith.constant dense<0.0> : !state
    %x = func.call @stem(%image, %stem, %stem_n_g, %stem_n_b, %stem_n_mean, %stem_n_var)
        : (!image, !filter3to16, !vec16, !vec16, !vec16, !vec16) -> !map16

    %x0 = func.call @block16(%x, %x, %g0b0_c1, %g0b0_n1_g, %g0b0_n1_b, %g0b0_n1_mean,
        %g0b0_n1_var, %g0b0_c2, %g0b0_n2_g, %g0b0_n2_b, %g0b0_n2_mean, %g0b0_n2_var)
        : (!map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %run1, %h1, %c1 = func.call @gate16(%x0, %zero, %zero, %g0b0_gate_W, %g0b0_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map16, !state, !state, !gate16, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x1 = func.call @maybe16(%run1, %x0, %x0, %g0b1_c1, %g0b1_n1_g, %g0b1_n1_b,
        %g0b1_n1_mean, %g0b1_n1_var, %g0b1_c2, %g0b1_n2_g, %g0b1_n2_b, %g0b1_n2_mean,
        %g0b1_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %run2, %h2, %c2 = func.call @gate16(%x1, %h1, %c1, %g0b1_gate_W, %g0b1_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map16, !state, !state, !gate16, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x2 = func.call @maybe16(%run2, %x1, %x1, %g0b2_c1, %g0b2_n1_g, %g0b2_n1_b,
        %g0b2_n1_mean, %g0b2_n1_var, %g0b2_c2, %g0b2_n2_g, %g0b2_n2_b, %g0b2_n2_mean,
        %g0b2_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %run3, %h3, %c3 = func.call @gate16(%x2, %h2, %c2, %g0b2_gate_W, %g0b2_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map16, !state, !state, !gate16, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x3 = func.call @maybe16(%run3, %x2, %x2, %g0b3_c1, %g0b3_n1_g, %g0b3_n1_b,
        %g0b3_n1_mean, %g0b3_n1_var, %g0b3_c2, %g0b3_n2_g, %g0b3_n2_b, %g0b3_n2_mean,
        %g0b3_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %run4, %h4, %c4 = func.call @gate16(%x3, %h3, %c3, %g0b3_gate_W, %g0b3_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map16, !state, !state, !gate16, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x4 = func.call @maybe16(%run4, %x3, %x3, %g0b4_c1, %g0b4_n1_g, %g0b4_n1_b,
        %g0b4_n1_mean, %g0b4_n1_var, %g0b4_c2, %g0b4_n2_g, %g0b4_n2_b, %g0b4_n2_mean,
        %g0b4_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %run5, %h5, %c5 = func.call @gate16(%x4, %h4, %c4, %g0b4_gate_W, %g0b4_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map16, !state, !state, !gate16, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x5 = func.call @maybe16(%run5, %x4, %x4, %g0b5_c1, %g0b5_n1_g, %g0b5_n1_b,
        %g0b5_n1_mean, %g0b5_n1_var, %g0b5_c2, %g0b5_n2_g, %g0b5_n2_b, %g0b5_n2_mean,
        %g0b5_n2_var)
        : (i1, !map16, !map16, !filter16, !vec16, !vec16, !vec16, !vec16, !filter16, !vec16,
           !vec16, !vec16, !vec16) -> !map16

    %run6, %h6, %c6 = func.call @gate16(%x5, %h5, %c5, %g0b5_gate_W, %g0b5_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map16, !state, !state, !gate16, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %xs6 = func.call @shortcut32(%x5, %g1b0_ds, %g1b0_ds_n_g, %g1b0_ds_n_b, %g1b0_ds_n_mean,
        %g1b0_ds_n_var)
        : (!map16, !project32, !vec32, !vec32, !vec32, !vec32) -> !map32
    %x6 = func.call @maybe16to32(%run6, %x5, %xs6, %g1b0_c1, %g1b0_n1_g, %g1b0_n1_b,
        %g1b0_n1_mean, %g1b0_n1_var, %g1b0_c2, %g1b0_n2_g, %g1b0_n2_b, %g1b0_n2_mean,
        %g1b0_n2_var)
        : (i1, !map16, !map32, !filter16to32, !vec32, !vec32, !vec32, !vec32, !filter32,
           !vec32, !vec32, !vec32, !vec32) -> !map32

    %run7, %h7, %c7 = func.call @gate32(%x6, %h6, %c6, %g1b0_gate_W, %g1b0_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map32, !state, !state, !gate32, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x7 = func.call @maybe32(%run7, %x6, %x6, %g1b1_c1, %g1b1_n1_g, %g1b1_n1_b,
        %g1b1_n1_mean, %g1b1_n1_var, %g1b1_c2, %g1b1_n2_g, %g1b1_n2_b, %g1b1_n2_mean,
        %g1b1_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %run8, %h8, %c8 = func.call @gate32(%x7, %h7, %c7, %g1b1_gate_W, %g1b1_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map32, !state, !state, !gate32, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x8 = func.call @maybe32(%run8, %x7, %x7, %g1b2_c1, %g1b2_n1_g, %g1b2_n1_b,
        %g1b2_n1_mean, %g1b2_n1_var, %g1b2_c2, %g1b2_n2_g, %g1b2_n2_b, %g1b2_n2_mean,
        %g1b2_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %run9, %h9, %c9 = func.call @gate32(%x8, %h8, %c8, %g1b2_gate_W, %g1b2_gate_b, %rnn_W_i,
        %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g, %rnn_b_g,
        %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map32, !state, !state, !gate32, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x9 = func.call @maybe32(%run9, %x8, %x8, %g1b3_c1, %g1b3_n1_g, %g1b3_n1_b,
        %g1b3_n1_mean, %g1b3_n1_var, %g1b3_c2, %g1b3_n2_g, %g1b3_n2_b, %g1b3_n2_mean,
        %g1b3_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %run10, %h10, %c10 = func.call @gate32(%x9, %h9, %c9, %g1b3_gate_W, %g1b3_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map32, !state, !state, !gate32, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x10 = func.call @maybe32(%run10, %x9, %x9, %g1b4_c1, %g1b4_n1_g, %g1b4_n1_b,
        %g1b4_n1_mean, %g1b4_n1_var, %g1b4_c2, %g1b4_n2_g, %g1b4_n2_b, %g1b4_n2_mean,
        %g1b4_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %run11, %h11, %c11 = func.call @gate32(%x10, %h10, %c10, %g1b4_gate_W, %g1b4_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map32, !state, !state, !gate32, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x11 = func.call @maybe32(%run11, %x10, %x10, %g1b5_c1, %g1b5_n1_g, %g1b5_n1_b,
        %g1b5_n1_mean, %g1b5_n1_var, %g1b5_c2, %g1b5_n2_g, %g1b5_n2_b, %g1b5_n2_mean,
        %g1b5_n2_var)
        : (i1, !map32, !map32, !filter32, !vec32, !vec32, !vec32, !vec32, !filter32, !vec32,
           !vec32, !vec32, !vec32) -> !map32

    %run12, %h12, %c12 = func.call @gate32(%x11, %h11, %c11, %g1b5_gate_W, %g1b5_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map32, !state, !state, !gate32, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %xs12 = func.call @shortcut64(%x11, %g2b0_ds, %g2b0_ds_n_g, %g2b0_ds_n_b,
        %g2b0_ds_n_mean, %g2b0_ds_n_var)
        : (!map32, !project64, !vec64, !vec64, !vec64, !vec64) -> !map64
    %x12 = func.call @maybe32to64(%run12, %x11, %xs12, %g2b0_c1, %g2b0_n1_g, %g2b0_n1_b,
        %g2b0_n1_mean, %g2b0_n1_var, %g2b0_c2, %g2b0_n2_g, %g2b0_n2_b, %g2b0_n2_mean,
        %g2b0_n2_var)
        : (i1, !map32, !map64, !filter32to64, !vec64, !vec64, !vec64, !vec64, !filter64,
           !vec64, !vec64, !vec64, !vec64) -> !map64

    %run13, %h13, %c13 = func.call @gate64(%x12, %h12, %c12, %g2b0_gate_W, %g2b0_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map64, !state, !state, !gate64, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x13 = func.call @maybe64(%run13, %x12, %x12, %g2b1_c1, %g2b1_n1_g, %g2b1_n1_b,
        %g2b1_n1_mean, %g2b1_n1_var, %g2b1_c2, %g2b1_n2_g, %g2b1_n2_b, %g2b1_n2_mean,
        %g2b1_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %run14, %h14, %c14 = func.call @gate64(%x13, %h13, %c13, %g2b1_gate_W, %g2b1_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map64, !state, !state, !gate64, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x14 = func.call @maybe64(%run14, %x13, %x13, %g2b2_c1, %g2b2_n1_g, %g2b2_n1_b,
        %g2b2_n1_mean, %g2b2_n1_var, %g2b2_c2, %g2b2_n2_g, %g2b2_n2_b, %g2b2_n2_mean,
        %g2b2_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %run15, %h15, %c15 = func.call @gate64(%x14, %h14, %c14, %g2b2_gate_W, %g2b2_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map64, !state, !state, !gate64, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x15 = func.call @maybe64(%run15, %x14, %x14, %g2b3_c1, %g2b3_n1_g, %g2b3_n1_b,
        %g2b3_n1_mean, %g2b3_n1_var, %g2b3_c2, %g2b3_n2_g, %g2b3_n2_b, %g2b3_n2_mean,
        %g2b3_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %run16, %h16, %c16 = func.call @gate64(%x15, %h15, %c15, %g2b3_gate_W, %g2b3_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map64, !state, !state, !gate64, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x16 = func.call @maybe64(%run16, %x15, %x15, %g2b4_c1, %g2b4_n1_g, %g2b4_n1_b,
        %g2b4_n1_mean, %g2b4_n1_var, %g2b4_c2, %g2b4_n2_g, %g2b4_n2_b, %g2b4_n2_mean,
        %g2b4_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %run17, %h17, %c17 = func.call @gate64(%x16, %h16, %c16, %g2b4_gate_W, %g2b4_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map64, !state, !state, !gate64, !state, !square, !square, !state, !square,
           !square, !state, !square, !square, !state, !square, !square, !state, !project,
           !number) -> (i1, !state, !state)
    %x17 = func.call @maybe64(%run17, %x16, %x16, %g2b5_c1, %g2b5_n1_g, %g2b5_n1_b,
        %g2b5_n1_mean, %g2b5_n1_var, %g2b5_c2, %g2b5_n2_g, %g2b5_n2_b, %g2b5_n2_mean,
        %g2b5_n2_var)
        : (i1, !map64, !map64, !filter64, !vec64, !vec64, !vec64, !vec64, !filter64, !vec64,
           !vec64, !vec64, !vec64) -> !map64

    %logits_mean = func.call @mean64(%x17)
        : (!map64) -> !vec64
    %logits = linalg.matvec ins(%fc_W, %logits_mean : !of_classes, !vec64)
        outs(%fc_b : !classes) -> !classes
    %always = arith.constant 1 : i32
    %n1 = arith.extui %run1 : i1 to i32
    %n2 = arith.extui %run2 : i1 to i32
    %n3 = arith.extui %run3 : i1 to i32
    %n4 = arith.extui %run4 : i1 to i32
    %n5 = arith.extui %run5 : i1 to i32
    %n6 = arith.extui %run6 : i1 to i32
    %n7 = arith.extui %run7 : i1 to i32
    %n8 = arith.extui %run8 : i1 to i32
    %n9 = arith.extui %run9 : i1 to i32
    %n10 = arith.extui %run10 : i1 to i32
    %n11 = arith.extui %run11 : i1 to i32
    %n12 = arith.extui %run12 : i1 to i32
    %n13 = arith.extui %run13 : i1 to i32
    %n14 = arith.extui %run14 : i1 to i32
    %n15 = arith.extui %run15 : i1 to i32
    %n16 = arith.extui %run16 : i1 to i32
    %n17 = arith.extui %run17 : i1 to i32
    %flags = tensor.from_elements %always, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8, %n9,
        %n10, %n11, %n12, %n13, %n14, %n15, %n16, %n17
        : !flags
    %cls = func.call @argmax(%logits) : (!classes) -> !tag
    return %logits, %flags, %cls : !classes, !flags, !tag
  }
}
