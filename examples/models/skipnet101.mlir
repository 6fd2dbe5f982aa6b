// SkipNet: a residual network on images. Before each block, a recurrent gate decides
// whether it runs. The first block always runs. A norm follows each convolution.
//
//   F(x) = norm3(conv3(relu(norm2(conv2(relu(norm1(conv1(x))))))): 1 x 1, 3 x 3 and 1 x 1
//   S(x) = x, except in the first blocks of groups: norm(W x), every second pixel from group 1
//   x    = the maxima of 3 x 3 in relu(norm(conv(image))), every second pixel of both,
//          h = c = 0, x = relu(S(x) + F(x)), then for block j:
//          (h, c) = lstm(G mean(x) + g, h, c) with G, g of block j - 1,
//          run = w h + b > 0,
//          x = run ? relu(S(x) + F(x)) : S(x)
//   logits = W mean(x) + b
//
// Written by test/Integration/residual_models.py. Run it:
//   test/Integration/residual_models.py skipnet101 --params=skipnet101.safetensors
//   batch-run examples/models/skipnet101.mlir --params=skipnet101.safetensors \
//     --inputs=random:1,4 --batch=4 --check-unbatched

!image = tensor<3x224x224xf32>
!classes = tensor<1000xf32>
!of_classes = tensor<1000x2048xf32>
!state = tensor<10xf32>
!square = tensor<10x10xf32>
!project = tensor<1x10xf32>
!number = tensor<1xf32>
!map3x224 = tensor<1x3x224x224xf32>
!vec3x224 = tensor<3xf32>
!map64x112 = tensor<1x64x112x112xf32>
!vec64x112 = tensor<64xf32>
!map64x56 = tensor<1x64x56x56xf32>
!vec64x56 = tensor<64xf32>
!map256x56 = tensor<1x256x56x56xf32>
!vec256x56 = tensor<256xf32>
!map128x56 = tensor<1x128x56x56xf32>
!vec128x56 = tensor<128xf32>
!map128x28 = tensor<1x128x28x28xf32>
!vec128x28 = tensor<128xf32>
!map512x28 = tensor<1x512x28x28xf32>
!vec512x28 = tensor<512xf32>
!map256x28 = tensor<1x256x28x28xf32>
!vec256x28 = tensor<256xf32>
!map256x14 = tensor<1x256x14x14xf32>
!vec256x14 = tensor<256xf32>
!map1024x14 = tensor<1x1024x14x14xf32>
!vec1024x14 = tensor<1024xf32>
!map512x14 = tensor<1x512x14x14xf32>
!vec512x14 = tensor<512xf32>
!map512x7 = tensor<1x512x7x7xf32>
!vec512x7 = tensor<512xf32>
!map2048x7 = tensor<1x2048x7x7xf32>
!vec2048x7 = tensor<2048xf32>
!filter7by2of3x224to64x112 = tensor<64x3x7x7xf32>
!padded3x230 = tensor<1x3x230x230xf32>
!filter1by1of64x56to64x56 = tensor<64x64x1x1xf32>
!filter3by1of64x56to64x56 = tensor<64x64x3x3xf32>
!padded64x58 = tensor<1x64x58x58xf32>
!filter1by1of64x56to256x56 = tensor<256x64x1x1xf32>
!filter1by1of256x56to64x56 = tensor<64x256x1x1xf32>
!filter1by1of256x56to128x56 = tensor<128x256x1x1xf32>
!filter3by2of128x56to128x28 = tensor<128x128x3x3xf32>
!padded128x58 = tensor<1x128x58x58xf32>
!filter1by1of128x28to512x28 = tensor<512x128x1x1xf32>
!filter1by2of256x56to512x28 = tensor<512x256x1x1xf32>
!filter1by1of512x28to128x28 = tensor<128x512x1x1xf32>
!filter3by1of128x28to128x28 = tensor<128x128x3x3xf32>
!padded128x30 = tensor<1x128x30x30xf32>
!filter1by1of512x28to256x28 = tensor<256x512x1x1xf32>
!filter3by2of256x28to256x14 = tensor<256x256x3x3xf32>
!padded256x30 = tensor<1x256x30x30xf32>
!filter1by1of256x14to1024x14 = tensor<1024x256x1x1xf32>
!filter1by2of512x28to1024x14 = tensor<1024x512x1x1xf32>
!filter1by1of1024x14to256x14 = tensor<256x1024x1x1xf32>
!filter3by1of256x14to256x14 = tensor<256x256x3x3xf32>
!padded256x16 = tensor<1x256x16x16xf32>
!filter1by1of1024x14to512x14 = tensor<512x1024x1x1xf32>
!filter3by2of512x14to512x7 = tensor<512x512x3x3xf32>
!padded512x16 = tensor<1x512x16x16xf32>
!filter1by1of512x7to2048x7 = tensor<2048x512x1x1xf32>
!filter1by2of1024x14to2048x7 = tensor<2048x1024x1x1xf32>
!filter1by1of2048x7to512x7 = tensor<512x2048x1x1xf32>
!filter3by1of512x7to512x7 = tensor<512x512x3x3xf32>
!padded512x9 = tensor<1x512x9x9xf32>
!padded64x114 = tensor<1x64x114x114xf32>
!gate256x56 = tensor<10x256xf32>
!gate512x28 = tensor<10x512xf32>
!gate1024x14 = tensor<10x1024xf32>
!gate2048x7 = tensor<10x2048xf32>
!flags = tensor<33xi32>
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
  func.func private @norm64x112(%x: !map64x112, %g: !vec64x112, %b: !vec64x112, %mean: !vec64x112, %var: !vec64x112)
      -> !map64x112 {
    %epsilon = arith.constant dense<1.0e-5> : !vec64x112
    %positive = arith.addf %var, %epsilon : !vec64x112
    %deviation = math.sqrt %positive : !vec64x112
    %scale = arith.divf %g, %deviation : !vec64x112
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec64x112, !vec64x112, !vec64x112) outs(%x : !map64x112) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map64x112
    return %y : !map64x112
  }

  func.func private @relu64x112(%x: !map64x112) -> !map64x112 {
    %zero = arith.constant dense<0.0> : !map64x112
    %y = arith.maximumf %x, %zero : !map64x112
    return %y : !map64x112
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm64x56(%x: !map64x56, %g: !vec64x56, %b: !vec64x56, %mean: !vec64x56, %var: !vec64x56)
      -> !map64x56 {
    %epsilon = arith.constant dense<1.0e-5> : !vec64x56
    %positive = arith.addf %var, %epsilon : !vec64x56
    %deviation = math.sqrt %positive : !vec64x56
    %scale = arith.divf %g, %deviation : !vec64x56
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec64x56, !vec64x56, !vec64x56) outs(%x : !map64x56) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map64x56
    return %y : !map64x56
  }

  func.func private @relu64x56(%x: !map64x56) -> !map64x56 {
    %zero = arith.constant dense<0.0> : !map64x56
    %y = arith.maximumf %x, %zero : !map64x56
    return %y : !map64x56
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm256x56(%x: !map256x56, %g: !vec256x56, %b: !vec256x56, %mean: !vec256x56, %var: !vec256x56)
      -> !map256x56 {
    %epsilon = arith.constant dense<1.0e-5> : !vec256x56
    %positive = arith.addf %var, %epsilon : !vec256x56
    %deviation = math.sqrt %positive : !vec256x56
    %scale = arith.divf %g, %deviation : !vec256x56
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec256x56, !vec256x56, !vec256x56) outs(%x : !map256x56) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map256x56
    return %y : !map256x56
  }

  func.func private @relu256x56(%x: !map256x56) -> !map256x56 {
    %zero = arith.constant dense<0.0> : !map256x56
    %y = arith.maximumf %x, %zero : !map256x56
    return %y : !map256x56
  }

  func.func private @mean256x56(%x: !map256x56) -> !vec256x56 {
    %zero = arith.constant dense<0.0> : !vec256x56
    %sum = linalg.reduce { arith.addf } ins(%x : !map256x56) outs(%zero : !vec256x56)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<3136.0> : !vec256x56
    %mean = arith.divf %sum, %pixels : !vec256x56
    return %mean : !vec256x56
  }

  // Returns whether the next block runs, and the states.
  func.func private @gate256x56(
      %x: !map256x56, %h: !state, %c: !state, %G: !gate256x56, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean256x56(%x) : (!map256x56) -> !vec256x56
    %u = linalg.matvec ins(%G, %mean : !gate256x56, !vec256x56) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm128x56(%x: !map128x56, %g: !vec128x56, %b: !vec128x56, %mean: !vec128x56, %var: !vec128x56)
      -> !map128x56 {
    %epsilon = arith.constant dense<1.0e-5> : !vec128x56
    %positive = arith.addf %var, %epsilon : !vec128x56
    %deviation = math.sqrt %positive : !vec128x56
    %scale = arith.divf %g, %deviation : !vec128x56
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec128x56, !vec128x56, !vec128x56) outs(%x : !map128x56) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map128x56
    return %y : !map128x56
  }

  func.func private @relu128x56(%x: !map128x56) -> !map128x56 {
    %zero = arith.constant dense<0.0> : !map128x56
    %y = arith.maximumf %x, %zero : !map128x56
    return %y : !map128x56
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm128x28(%x: !map128x28, %g: !vec128x28, %b: !vec128x28, %mean: !vec128x28, %var: !vec128x28)
      -> !map128x28 {
    %epsilon = arith.constant dense<1.0e-5> : !vec128x28
    %positive = arith.addf %var, %epsilon : !vec128x28
    %deviation = math.sqrt %positive : !vec128x28
    %scale = arith.divf %g, %deviation : !vec128x28
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec128x28, !vec128x28, !vec128x28) outs(%x : !map128x28) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map128x28
    return %y : !map128x28
  }

  func.func private @relu128x28(%x: !map128x28) -> !map128x28 {
    %zero = arith.constant dense<0.0> : !map128x28
    %y = arith.maximumf %x, %zero : !map128x28
    return %y : !map128x28
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm512x28(%x: !map512x28, %g: !vec512x28, %b: !vec512x28, %mean: !vec512x28, %var: !vec512x28)
      -> !map512x28 {
    %epsilon = arith.constant dense<1.0e-5> : !vec512x28
    %positive = arith.addf %var, %epsilon : !vec512x28
    %deviation = math.sqrt %positive : !vec512x28
    %scale = arith.divf %g, %deviation : !vec512x28
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec512x28, !vec512x28, !vec512x28) outs(%x : !map512x28) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map512x28
    return %y : !map512x28
  }

  func.func private @relu512x28(%x: !map512x28) -> !map512x28 {
    %zero = arith.constant dense<0.0> : !map512x28
    %y = arith.maximumf %x, %zero : !map512x28
    return %y : !map512x28
  }

  func.func private @mean512x28(%x: !map512x28) -> !vec512x28 {
    %zero = arith.constant dense<0.0> : !vec512x28
    %sum = linalg.reduce { arith.addf } ins(%x : !map512x28) outs(%zero : !vec512x28)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<784.0> : !vec512x28
    %mean = arith.divf %sum, %pixels : !vec512x28
    return %mean : !vec512x28
  }

  // Returns whether the next block runs, and the states.
  func.func private @gate512x28(
      %x: !map512x28, %h: !state, %c: !state, %G: !gate512x28, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean512x28(%x) : (!map512x28) -> !vec512x28
    %u = linalg.matvec ins(%G, %mean : !gate512x28, !vec512x28) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm256x28(%x: !map256x28, %g: !vec256x28, %b: !vec256x28, %mean: !vec256x28, %var: !vec256x28)
      -> !map256x28 {
    %epsilon = arith.constant dense<1.0e-5> : !vec256x28
    %positive = arith.addf %var, %epsilon : !vec256x28
    %deviation = math.sqrt %positive : !vec256x28
    %scale = arith.divf %g, %deviation : !vec256x28
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec256x28, !vec256x28, !vec256x28) outs(%x : !map256x28) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map256x28
    return %y : !map256x28
  }

  func.func private @relu256x28(%x: !map256x28) -> !map256x28 {
    %zero = arith.constant dense<0.0> : !map256x28
    %y = arith.maximumf %x, %zero : !map256x28
    return %y : !map256x28
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm256x14(%x: !map256x14, %g: !vec256x14, %b: !vec256x14, %mean: !vec256x14, %var: !vec256x14)
      -> !map256x14 {
    %epsilon = arith.constant dense<1.0e-5> : !vec256x14
    %positive = arith.addf %var, %epsilon : !vec256x14
    %deviation = math.sqrt %positive : !vec256x14
    %scale = arith.divf %g, %deviation : !vec256x14
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec256x14, !vec256x14, !vec256x14) outs(%x : !map256x14) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map256x14
    return %y : !map256x14
  }

  func.func private @relu256x14(%x: !map256x14) -> !map256x14 {
    %zero = arith.constant dense<0.0> : !map256x14
    %y = arith.maximumf %x, %zero : !map256x14
    return %y : !map256x14
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm1024x14(%x: !map1024x14, %g: !vec1024x14, %b: !vec1024x14, %mean: !vec1024x14, %var: !vec1024x14)
      -> !map1024x14 {
    %epsilon = arith.constant dense<1.0e-5> : !vec1024x14
    %positive = arith.addf %var, %epsilon : !vec1024x14
    %deviation = math.sqrt %positive : !vec1024x14
    %scale = arith.divf %g, %deviation : !vec1024x14
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec1024x14, !vec1024x14, !vec1024x14) outs(%x : !map1024x14) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map1024x14
    return %y : !map1024x14
  }

  func.func private @relu1024x14(%x: !map1024x14) -> !map1024x14 {
    %zero = arith.constant dense<0.0> : !map1024x14
    %y = arith.maximumf %x, %zero : !map1024x14
    return %y : !map1024x14
  }

  func.func private @mean1024x14(%x: !map1024x14) -> !vec1024x14 {
    %zero = arith.constant dense<0.0> : !vec1024x14
    %sum = linalg.reduce { arith.addf } ins(%x : !map1024x14) outs(%zero : !vec1024x14)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<196.0> : !vec1024x14
    %mean = arith.divf %sum, %pixels : !vec1024x14
    return %mean : !vec1024x14
  }

  // Returns whether the next block runs, and the states.
  func.func private @gate1024x14(
      %x: !map1024x14, %h: !state, %c: !state, %G: !gate1024x14, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean1024x14(%x) : (!map1024x14) -> !vec1024x14
    %u = linalg.matvec ins(%G, %mean : !gate1024x14, !vec1024x14) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm512x14(%x: !map512x14, %g: !vec512x14, %b: !vec512x14, %mean: !vec512x14, %var: !vec512x14)
      -> !map512x14 {
    %epsilon = arith.constant dense<1.0e-5> : !vec512x14
    %positive = arith.addf %var, %epsilon : !vec512x14
    %deviation = math.sqrt %positive : !vec512x14
    %scale = arith.divf %g, %deviation : !vec512x14
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec512x14, !vec512x14, !vec512x14) outs(%x : !map512x14) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map512x14
    return %y : !map512x14
  }

  func.func private @relu512x14(%x: !map512x14) -> !map512x14 {
    %zero = arith.constant dense<0.0> : !map512x14
    %y = arith.maximumf %x, %zero : !map512x14
    return %y : !map512x14
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm512x7(%x: !map512x7, %g: !vec512x7, %b: !vec512x7, %mean: !vec512x7, %var: !vec512x7)
      -> !map512x7 {
    %epsilon = arith.constant dense<1.0e-5> : !vec512x7
    %positive = arith.addf %var, %epsilon : !vec512x7
    %deviation = math.sqrt %positive : !vec512x7
    %scale = arith.divf %g, %deviation : !vec512x7
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec512x7, !vec512x7, !vec512x7) outs(%x : !map512x7) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map512x7
    return %y : !map512x7
  }

  func.func private @relu512x7(%x: !map512x7) -> !map512x7 {
    %zero = arith.constant dense<0.0> : !map512x7
    %y = arith.maximumf %x, %zero : !map512x7
    return %y : !map512x7
  }

  // (x - mean) / sqrt(var + 1e-5) * g + b
  func.func private @norm2048x7(%x: !map2048x7, %g: !vec2048x7, %b: !vec2048x7, %mean: !vec2048x7, %var: !vec2048x7)
      -> !map2048x7 {
    %epsilon = arith.constant dense<1.0e-5> : !vec2048x7
    %positive = arith.addf %var, %epsilon : !vec2048x7
    %deviation = math.sqrt %positive : !vec2048x7
    %scale = arith.divf %g, %deviation : !vec2048x7
    %y = linalg.generic {
        indexing_maps = [#channel, #channel, #channel, #pixel],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%mean, %scale, %b : !vec2048x7, !vec2048x7, !vec2048x7) outs(%x : !map2048x7) {
    ^bb0(%m: f32, %s: f32, %offset: f32, %value: f32):
      %d = arith.subf %value, %m : f32
      %p = arith.mulf %d, %s : f32
      %n = arith.addf %p, %offset : f32
      linalg.yield %n : f32
    } -> !map2048x7
    return %y : !map2048x7
  }

  func.func private @relu2048x7(%x: !map2048x7) -> !map2048x7 {
    %zero = arith.constant dense<0.0> : !map2048x7
    %y = arith.maximumf %x, %zero : !map2048x7
    return %y : !map2048x7
  }

  func.func private @mean2048x7(%x: !map2048x7) -> !vec2048x7 {
    %zero = arith.constant dense<0.0> : !vec2048x7
    %sum = linalg.reduce { arith.addf } ins(%x : !map2048x7) outs(%zero : !vec2048x7)
        dimensions = [0, 2, 3]
    %pixels = arith.constant dense<49.0> : !vec2048x7
    %mean = arith.divf %sum, %pixels : !vec2048x7
    return %mean : !vec2048x7
  }

  // Returns whether the next block runs, and the states.
  func.func private @gate2048x7(
      %x: !map2048x7, %h: !state, %c: !state, %G: !gate2048x7, %g: !state,
      %W_i: !square, %U_i: !square, %b_i: !state, %W_f: !square, %U_f: !square, %b_f: !state,
      %W_g: !square, %U_g: !square, %b_g: !state, %W_o: !square, %U_o: !square, %b_o: !state,
      %w: !project, %b: !number) -> (i1, !state, !state) {
    %mean = func.call @mean2048x7(%x) : (!map2048x7) -> !vec2048x7
    %u = linalg.matvec ins(%G, %mean : !gate2048x7, !vec2048x7) outs(%g : !state) -> !state
    %hn, %cn = func.call @lstm(%u, %h, %c, %W_i, %U_i, %b_i, %W_f, %U_f, %b_f,
        %W_g, %U_g, %b_g, %W_o, %U_o, %b_o)
        : (!state, !state, !state, !square, !square, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state) -> (!state, !state)
    %run = func.call @positive(%hn, %w, %b) : (!state, !project, !number) -> i1
    return %run, %hn, %cn : i1, !state, !state
  }

  func.func private @layer7by2of3x224to64x112(%x: !map3x224, %W: !filter7by2of3x224to64x112, %g: !vec64x112, %b: !vec64x112,
                               %mean: !vec64x112, %var: !vec64x112) -> !map64x112 {
    %zeros = arith.constant dense<0.0> : !padded3x230
    %padded = tensor.insert_slice %x into %zeros[0, 0, 3, 3] [1, 3, 224, 224] [1, 1, 1, 1]
        : !map3x224 into !padded3x230
    %zero = arith.constant dense<0.0> : !map64x112
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %W : !padded3x230, !filter7by2of3x224to64x112) outs(%zero : !map64x112) -> !map64x112
    %y = func.call @norm64x112(%a, %g, %b, %mean, %var)
        : (!map64x112, !vec64x112, !vec64x112, !vec64x112, !vec64x112) -> !map64x112
    return %y : !map64x112
  }

  func.func private @layer1by1of64x56to64x56(%x: !map64x56, %W: !filter1by1of64x56to64x56, %g: !vec64x56, %b: !vec64x56,
                               %mean: !vec64x56, %var: !vec64x56) -> !map64x56 {
    %zero = arith.constant dense<0.0> : !map64x56
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map64x56, !filter1by1of64x56to64x56) outs(%zero : !map64x56) -> !map64x56
    %y = func.call @norm64x56(%a, %g, %b, %mean, %var)
        : (!map64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56) -> !map64x56
    return %y : !map64x56
  }

  func.func private @layer3by1of64x56to64x56(%x: !map64x56, %W: !filter3by1of64x56to64x56, %g: !vec64x56, %b: !vec64x56,
                               %mean: !vec64x56, %var: !vec64x56) -> !map64x56 {
    %zeros = arith.constant dense<0.0> : !padded64x58
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 64, 56, 56] [1, 1, 1, 1]
        : !map64x56 into !padded64x58
    %zero = arith.constant dense<0.0> : !map64x56
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded64x58, !filter3by1of64x56to64x56) outs(%zero : !map64x56) -> !map64x56
    %y = func.call @norm64x56(%a, %g, %b, %mean, %var)
        : (!map64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56) -> !map64x56
    return %y : !map64x56
  }

  func.func private @layer1by1of64x56to256x56(%x: !map64x56, %W: !filter1by1of64x56to256x56, %g: !vec256x56, %b: !vec256x56,
                               %mean: !vec256x56, %var: !vec256x56) -> !map256x56 {
    %zero = arith.constant dense<0.0> : !map256x56
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map64x56, !filter1by1of64x56to256x56) outs(%zero : !map256x56) -> !map256x56
    %y = func.call @norm256x56(%a, %g, %b, %mean, %var)
        : (!map256x56, !vec256x56, !vec256x56, !vec256x56, !vec256x56) -> !map256x56
    return %y : !map256x56
  }

  func.func private @layer1by1of256x56to64x56(%x: !map256x56, %W: !filter1by1of256x56to64x56, %g: !vec64x56, %b: !vec64x56,
                               %mean: !vec64x56, %var: !vec64x56) -> !map64x56 {
    %zero = arith.constant dense<0.0> : !map64x56
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map256x56, !filter1by1of256x56to64x56) outs(%zero : !map64x56) -> !map64x56
    %y = func.call @norm64x56(%a, %g, %b, %mean, %var)
        : (!map64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56) -> !map64x56
    return %y : !map64x56
  }

  func.func private @layer1by1of256x56to128x56(%x: !map256x56, %W: !filter1by1of256x56to128x56, %g: !vec128x56, %b: !vec128x56,
                               %mean: !vec128x56, %var: !vec128x56) -> !map128x56 {
    %zero = arith.constant dense<0.0> : !map128x56
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map256x56, !filter1by1of256x56to128x56) outs(%zero : !map128x56) -> !map128x56
    %y = func.call @norm128x56(%a, %g, %b, %mean, %var)
        : (!map128x56, !vec128x56, !vec128x56, !vec128x56, !vec128x56) -> !map128x56
    return %y : !map128x56
  }

  func.func private @layer3by2of128x56to128x28(%x: !map128x56, %W: !filter3by2of128x56to128x28, %g: !vec128x28, %b: !vec128x28,
                               %mean: !vec128x28, %var: !vec128x28) -> !map128x28 {
    %zeros = arith.constant dense<0.0> : !padded128x58
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 128, 56, 56] [1, 1, 1, 1]
        : !map128x56 into !padded128x58
    %zero = arith.constant dense<0.0> : !map128x28
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %W : !padded128x58, !filter3by2of128x56to128x28) outs(%zero : !map128x28) -> !map128x28
    %y = func.call @norm128x28(%a, %g, %b, %mean, %var)
        : (!map128x28, !vec128x28, !vec128x28, !vec128x28, !vec128x28) -> !map128x28
    return %y : !map128x28
  }

  func.func private @layer1by1of128x28to512x28(%x: !map128x28, %W: !filter1by1of128x28to512x28, %g: !vec512x28, %b: !vec512x28,
                               %mean: !vec512x28, %var: !vec512x28) -> !map512x28 {
    %zero = arith.constant dense<0.0> : !map512x28
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map128x28, !filter1by1of128x28to512x28) outs(%zero : !map512x28) -> !map512x28
    %y = func.call @norm512x28(%a, %g, %b, %mean, %var)
        : (!map512x28, !vec512x28, !vec512x28, !vec512x28, !vec512x28) -> !map512x28
    return %y : !map512x28
  }

  func.func private @layer1by2of256x56to512x28(%x: !map256x56, %W: !filter1by2of256x56to512x28, %g: !vec512x28, %b: !vec512x28,
                               %mean: !vec512x28, %var: !vec512x28) -> !map512x28 {
    %zero = arith.constant dense<0.0> : !map512x28
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %W : !map256x56, !filter1by2of256x56to512x28) outs(%zero : !map512x28) -> !map512x28
    %y = func.call @norm512x28(%a, %g, %b, %mean, %var)
        : (!map512x28, !vec512x28, !vec512x28, !vec512x28, !vec512x28) -> !map512x28
    return %y : !map512x28
  }

  func.func private @layer1by1of512x28to128x28(%x: !map512x28, %W: !filter1by1of512x28to128x28, %g: !vec128x28, %b: !vec128x28,
                               %mean: !vec128x28, %var: !vec128x28) -> !map128x28 {
    %zero = arith.constant dense<0.0> : !map128x28
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map512x28, !filter1by1of512x28to128x28) outs(%zero : !map128x28) -> !map128x28
    %y = func.call @norm128x28(%a, %g, %b, %mean, %var)
        : (!map128x28, !vec128x28, !vec128x28, !vec128x28, !vec128x28) -> !map128x28
    return %y : !map128x28
  }

  func.func private @layer3by1of128x28to128x28(%x: !map128x28, %W: !filter3by1of128x28to128x28, %g: !vec128x28, %b: !vec128x28,
                               %mean: !vec128x28, %var: !vec128x28) -> !map128x28 {
    %zeros = arith.constant dense<0.0> : !padded128x30
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 128, 28, 28] [1, 1, 1, 1]
        : !map128x28 into !padded128x30
    %zero = arith.constant dense<0.0> : !map128x28
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded128x30, !filter3by1of128x28to128x28) outs(%zero : !map128x28) -> !map128x28
    %y = func.call @norm128x28(%a, %g, %b, %mean, %var)
        : (!map128x28, !vec128x28, !vec128x28, !vec128x28, !vec128x28) -> !map128x28
    return %y : !map128x28
  }

  func.func private @layer1by1of512x28to256x28(%x: !map512x28, %W: !filter1by1of512x28to256x28, %g: !vec256x28, %b: !vec256x28,
                               %mean: !vec256x28, %var: !vec256x28) -> !map256x28 {
    %zero = arith.constant dense<0.0> : !map256x28
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map512x28, !filter1by1of512x28to256x28) outs(%zero : !map256x28) -> !map256x28
    %y = func.call @norm256x28(%a, %g, %b, %mean, %var)
        : (!map256x28, !vec256x28, !vec256x28, !vec256x28, !vec256x28) -> !map256x28
    return %y : !map256x28
  }

  func.func private @layer3by2of256x28to256x14(%x: !map256x28, %W: !filter3by2of256x28to256x14, %g: !vec256x14, %b: !vec256x14,
                               %mean: !vec256x14, %var: !vec256x14) -> !map256x14 {
    %zeros = arith.constant dense<0.0> : !padded256x30
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 256, 28, 28] [1, 1, 1, 1]
        : !map256x28 into !padded256x30
    %zero = arith.constant dense<0.0> : !map256x14
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %W : !padded256x30, !filter3by2of256x28to256x14) outs(%zero : !map256x14) -> !map256x14
    %y = func.call @norm256x14(%a, %g, %b, %mean, %var)
        : (!map256x14, !vec256x14, !vec256x14, !vec256x14, !vec256x14) -> !map256x14
    return %y : !map256x14
  }

  func.func private @layer1by1of256x14to1024x14(%x: !map256x14, %W: !filter1by1of256x14to1024x14, %g: !vec1024x14, %b: !vec1024x14,
                               %mean: !vec1024x14, %var: !vec1024x14) -> !map1024x14 {
    %zero = arith.constant dense<0.0> : !map1024x14
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map256x14, !filter1by1of256x14to1024x14) outs(%zero : !map1024x14) -> !map1024x14
    %y = func.call @norm1024x14(%a, %g, %b, %mean, %var)
        : (!map1024x14, !vec1024x14, !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14
    return %y : !map1024x14
  }

  func.func private @layer1by2of512x28to1024x14(%x: !map512x28, %W: !filter1by2of512x28to1024x14, %g: !vec1024x14, %b: !vec1024x14,
                               %mean: !vec1024x14, %var: !vec1024x14) -> !map1024x14 {
    %zero = arith.constant dense<0.0> : !map1024x14
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %W : !map512x28, !filter1by2of512x28to1024x14) outs(%zero : !map1024x14) -> !map1024x14
    %y = func.call @norm1024x14(%a, %g, %b, %mean, %var)
        : (!map1024x14, !vec1024x14, !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14
    return %y : !map1024x14
  }

  func.func private @layer1by1of1024x14to256x14(%x: !map1024x14, %W: !filter1by1of1024x14to256x14, %g: !vec256x14, %b: !vec256x14,
                               %mean: !vec256x14, %var: !vec256x14) -> !map256x14 {
    %zero = arith.constant dense<0.0> : !map256x14
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map1024x14, !filter1by1of1024x14to256x14) outs(%zero : !map256x14) -> !map256x14
    %y = func.call @norm256x14(%a, %g, %b, %mean, %var)
        : (!map256x14, !vec256x14, !vec256x14, !vec256x14, !vec256x14) -> !map256x14
    return %y : !map256x14
  }

  func.func private @layer3by1of256x14to256x14(%x: !map256x14, %W: !filter3by1of256x14to256x14, %g: !vec256x14, %b: !vec256x14,
                               %mean: !vec256x14, %var: !vec256x14) -> !map256x14 {
    %zeros = arith.constant dense<0.0> : !padded256x16
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 256, 14, 14] [1, 1, 1, 1]
        : !map256x14 into !padded256x16
    %zero = arith.constant dense<0.0> : !map256x14
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded256x16, !filter3by1of256x14to256x14) outs(%zero : !map256x14) -> !map256x14
    %y = func.call @norm256x14(%a, %g, %b, %mean, %var)
        : (!map256x14, !vec256x14, !vec256x14, !vec256x14, !vec256x14) -> !map256x14
    return %y : !map256x14
  }

  func.func private @layer1by1of1024x14to512x14(%x: !map1024x14, %W: !filter1by1of1024x14to512x14, %g: !vec512x14, %b: !vec512x14,
                               %mean: !vec512x14, %var: !vec512x14) -> !map512x14 {
    %zero = arith.constant dense<0.0> : !map512x14
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map1024x14, !filter1by1of1024x14to512x14) outs(%zero : !map512x14) -> !map512x14
    %y = func.call @norm512x14(%a, %g, %b, %mean, %var)
        : (!map512x14, !vec512x14, !vec512x14, !vec512x14, !vec512x14) -> !map512x14
    return %y : !map512x14
  }

  func.func private @layer3by2of512x14to512x7(%x: !map512x14, %W: !filter3by2of512x14to512x7, %g: !vec512x7, %b: !vec512x7,
                               %mean: !vec512x7, %var: !vec512x7) -> !map512x7 {
    %zeros = arith.constant dense<0.0> : !padded512x16
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 512, 14, 14] [1, 1, 1, 1]
        : !map512x14 into !padded512x16
    %zero = arith.constant dense<0.0> : !map512x7
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %W : !padded512x16, !filter3by2of512x14to512x7) outs(%zero : !map512x7) -> !map512x7
    %y = func.call @norm512x7(%a, %g, %b, %mean, %var)
        : (!map512x7, !vec512x7, !vec512x7, !vec512x7, !vec512x7) -> !map512x7
    return %y : !map512x7
  }

  func.func private @layer1by1of512x7to2048x7(%x: !map512x7, %W: !filter1by1of512x7to2048x7, %g: !vec2048x7, %b: !vec2048x7,
                               %mean: !vec2048x7, %var: !vec2048x7) -> !map2048x7 {
    %zero = arith.constant dense<0.0> : !map2048x7
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map512x7, !filter1by1of512x7to2048x7) outs(%zero : !map2048x7) -> !map2048x7
    %y = func.call @norm2048x7(%a, %g, %b, %mean, %var)
        : (!map2048x7, !vec2048x7, !vec2048x7, !vec2048x7, !vec2048x7) -> !map2048x7
    return %y : !map2048x7
  }

  func.func private @layer1by2of1024x14to2048x7(%x: !map1024x14, %W: !filter1by2of1024x14to2048x7, %g: !vec2048x7, %b: !vec2048x7,
                               %mean: !vec2048x7, %var: !vec2048x7) -> !map2048x7 {
    %zero = arith.constant dense<0.0> : !map2048x7
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%x, %W : !map1024x14, !filter1by2of1024x14to2048x7) outs(%zero : !map2048x7) -> !map2048x7
    %y = func.call @norm2048x7(%a, %g, %b, %mean, %var)
        : (!map2048x7, !vec2048x7, !vec2048x7, !vec2048x7, !vec2048x7) -> !map2048x7
    return %y : !map2048x7
  }

  func.func private @layer1by1of2048x7to512x7(%x: !map2048x7, %W: !filter1by1of2048x7to512x7, %g: !vec512x7, %b: !vec512x7,
                               %mean: !vec512x7, %var: !vec512x7) -> !map512x7 {
    %zero = arith.constant dense<0.0> : !map512x7
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%x, %W : !map2048x7, !filter1by1of2048x7to512x7) outs(%zero : !map512x7) -> !map512x7
    %y = func.call @norm512x7(%a, %g, %b, %mean, %var)
        : (!map512x7, !vec512x7, !vec512x7, !vec512x7, !vec512x7) -> !map512x7
    return %y : !map512x7
  }

  func.func private @layer3by1of512x7to512x7(%x: !map512x7, %W: !filter3by1of512x7to512x7, %g: !vec512x7, %b: !vec512x7,
                               %mean: !vec512x7, %var: !vec512x7) -> !map512x7 {
    %zeros = arith.constant dense<0.0> : !padded512x9
    %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 512, 7, 7] [1, 1, 1, 1]
        : !map512x7 into !padded512x9
    %zero = arith.constant dense<0.0> : !map512x7
    %a = linalg.conv_2d_nchw_fchw
        {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
        ins(%padded, %W : !padded512x9, !filter3by1of512x7to512x7) outs(%zero : !map512x7) -> !map512x7
    %y = func.call @norm512x7(%a, %g, %b, %mean, %var)
        : (!map512x7, !vec512x7, !vec512x7, !vec512x7, !vec512x7) -> !map512x7
    return %y : !map512x7
  }

  func.func private @stem(%image: !image, %W: !filter7by2of3x224to64x112, %g: !vec64x112, %b: !vec64x112,
                          %mean: !vec64x112, %var: !vec64x112) -> !map64x56 {
    %x = tensor.expand_shape %image [[0, 1], [2], [3]] output_shape [1, 3, 224, 224]
        : !image into !map3x224
    %a = func.call @layer7by2of3x224to64x112(%x, %W, %g, %b, %mean, %var)
        : (!map3x224, !filter7by2of3x224to64x112, !vec64x112, !vec64x112, !vec64x112, !vec64x112) -> !map64x112
    %r = func.call @relu64x112(%a) : (!map64x112) -> !map64x112
    %zeros = arith.constant dense<0.0> : !padded64x114
    %padded = tensor.insert_slice %r into %zeros[0, 0, 1, 1] [1, 64, 112, 112] [1, 1, 1, 1]
        : !map64x112 into !padded64x114
    %window = tensor.empty() : tensor<3x3xf32>
    %low = arith.constant dense<0xFF800000> : !map64x56
    %y = linalg.pooling_nchw_max
        {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
        ins(%padded, %window : !padded64x114, tensor<3x3xf32>) outs(%low : !map64x56) -> !map64x56
    return %y : !map64x56
  }

  // relu(s + F(x))
  func.func private @block64x56to256x56(
      %x: !map64x56, %s: !map256x56,
      %c1: !filter1by1of64x56to64x56, %g1: !vec64x56, %b1: !vec64x56, %mean1: !vec64x56, %var1: !vec64x56,
      %c2: !filter3by1of64x56to64x56, %g2: !vec64x56, %b2: !vec64x56, %mean2: !vec64x56, %var2: !vec64x56,
      %c3: !filter1by1of64x56to256x56, %g3: !vec256x56, %b3: !vec256x56, %mean3: !vec256x56, %var3: !vec256x56) -> !map256x56 {
    %a1 = func.call @layer1by1of64x56to64x56(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map64x56, !filter1by1of64x56to64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56) -> !map64x56
    %r1 = func.call @relu64x56(%a1) : (!map64x56) -> !map64x56
    %a2 = func.call @layer3by1of64x56to64x56(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map64x56, !filter3by1of64x56to64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56) -> !map64x56
    %r2 = func.call @relu64x56(%a2) : (!map64x56) -> !map64x56
    %f = func.call @layer1by1of64x56to256x56(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56, !vec256x56) -> !map256x56
    %sum = arith.addf %s, %f : !map256x56
    %y = func.call @relu256x56(%sum) : (!map256x56) -> !map256x56
    return %y : !map256x56
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe64x56to256x56(
      %run: i1, %x: !map64x56, %s: !map256x56,
      %c1: !filter1by1of64x56to64x56, %g1: !vec64x56, %b1: !vec64x56, %mean1: !vec64x56, %var1: !vec64x56,
      %c2: !filter3by1of64x56to64x56, %g2: !vec64x56, %b2: !vec64x56, %mean2: !vec64x56, %var2: !vec64x56,
      %c3: !filter1by1of64x56to256x56, %g3: !vec256x56, %b3: !vec256x56, %mean3: !vec256x56, %var3: !vec256x56) -> !map256x56 {
    %y = scf.if %run -> !map256x56 {
      %r = func.call @block64x56to256x56(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map64x56, !map256x56, !filter1by1of64x56to64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56, !filter3by1of64x56to64x56, !vec64x56,
             !vec64x56, !vec64x56, !vec64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56, !vec256x56) -> !map256x56
      scf.yield %r : !map256x56
    } else {
      scf.yield %s : !map256x56
    }
    return %y : !map256x56
  }

  // relu(s + F(x))
  func.func private @block256x56to256x56(
      %x: !map256x56, %s: !map256x56,
      %c1: !filter1by1of256x56to64x56, %g1: !vec64x56, %b1: !vec64x56, %mean1: !vec64x56, %var1: !vec64x56,
      %c2: !filter3by1of64x56to64x56, %g2: !vec64x56, %b2: !vec64x56, %mean2: !vec64x56, %var2: !vec64x56,
      %c3: !filter1by1of64x56to256x56, %g3: !vec256x56, %b3: !vec256x56, %mean3: !vec256x56, %var3: !vec256x56) -> !map256x56 {
    %a1 = func.call @layer1by1of256x56to64x56(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map256x56, !filter1by1of256x56to64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56) -> !map64x56
    %r1 = func.call @relu64x56(%a1) : (!map64x56) -> !map64x56
    %a2 = func.call @layer3by1of64x56to64x56(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map64x56, !filter3by1of64x56to64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56) -> !map64x56
    %r2 = func.call @relu64x56(%a2) : (!map64x56) -> !map64x56
    %f = func.call @layer1by1of64x56to256x56(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56, !vec256x56) -> !map256x56
    %sum = arith.addf %s, %f : !map256x56
    %y = func.call @relu256x56(%sum) : (!map256x56) -> !map256x56
    return %y : !map256x56
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe256x56to256x56(
      %run: i1, %x: !map256x56, %s: !map256x56,
      %c1: !filter1by1of256x56to64x56, %g1: !vec64x56, %b1: !vec64x56, %mean1: !vec64x56, %var1: !vec64x56,
      %c2: !filter3by1of64x56to64x56, %g2: !vec64x56, %b2: !vec64x56, %mean2: !vec64x56, %var2: !vec64x56,
      %c3: !filter1by1of64x56to256x56, %g3: !vec256x56, %b3: !vec256x56, %mean3: !vec256x56, %var3: !vec256x56) -> !map256x56 {
    %y = scf.if %run -> !map256x56 {
      %r = func.call @block256x56to256x56(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map256x56, !map256x56, !filter1by1of256x56to64x56, !vec64x56, !vec64x56, !vec64x56, !vec64x56, !filter3by1of64x56to64x56, !vec64x56,
             !vec64x56, !vec64x56, !vec64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56, !vec256x56) -> !map256x56
      scf.yield %r : !map256x56
    } else {
      scf.yield %s : !map256x56
    }
    return %y : !map256x56
  }

  // relu(s + F(x))
  func.func private @block256x56to512x28(
      %x: !map256x56, %s: !map512x28,
      %c1: !filter1by1of256x56to128x56, %g1: !vec128x56, %b1: !vec128x56, %mean1: !vec128x56, %var1: !vec128x56,
      %c2: !filter3by2of128x56to128x28, %g2: !vec128x28, %b2: !vec128x28, %mean2: !vec128x28, %var2: !vec128x28,
      %c3: !filter1by1of128x28to512x28, %g3: !vec512x28, %b3: !vec512x28, %mean3: !vec512x28, %var3: !vec512x28) -> !map512x28 {
    %a1 = func.call @layer1by1of256x56to128x56(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map256x56, !filter1by1of256x56to128x56, !vec128x56, !vec128x56, !vec128x56, !vec128x56) -> !map128x56
    %r1 = func.call @relu128x56(%a1) : (!map128x56) -> !map128x56
    %a2 = func.call @layer3by2of128x56to128x28(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map128x56, !filter3by2of128x56to128x28, !vec128x28, !vec128x28, !vec128x28, !vec128x28) -> !map128x28
    %r2 = func.call @relu128x28(%a2) : (!map128x28) -> !map128x28
    %f = func.call @layer1by1of128x28to512x28(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28, !vec512x28, !vec512x28) -> !map512x28
    %sum = arith.addf %s, %f : !map512x28
    %y = func.call @relu512x28(%sum) : (!map512x28) -> !map512x28
    return %y : !map512x28
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe256x56to512x28(
      %run: i1, %x: !map256x56, %s: !map512x28,
      %c1: !filter1by1of256x56to128x56, %g1: !vec128x56, %b1: !vec128x56, %mean1: !vec128x56, %var1: !vec128x56,
      %c2: !filter3by2of128x56to128x28, %g2: !vec128x28, %b2: !vec128x28, %mean2: !vec128x28, %var2: !vec128x28,
      %c3: !filter1by1of128x28to512x28, %g3: !vec512x28, %b3: !vec512x28, %mean3: !vec512x28, %var3: !vec512x28) -> !map512x28 {
    %y = scf.if %run -> !map512x28 {
      %r = func.call @block256x56to512x28(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map256x56, !map512x28, !filter1by1of256x56to128x56, !vec128x56, !vec128x56, !vec128x56, !vec128x56, !filter3by2of128x56to128x28, !vec128x28,
             !vec128x28, !vec128x28, !vec128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28, !vec512x28, !vec512x28) -> !map512x28
      scf.yield %r : !map512x28
    } else {
      scf.yield %s : !map512x28
    }
    return %y : !map512x28
  }

  // relu(s + F(x))
  func.func private @block512x28to512x28(
      %x: !map512x28, %s: !map512x28,
      %c1: !filter1by1of512x28to128x28, %g1: !vec128x28, %b1: !vec128x28, %mean1: !vec128x28, %var1: !vec128x28,
      %c2: !filter3by1of128x28to128x28, %g2: !vec128x28, %b2: !vec128x28, %mean2: !vec128x28, %var2: !vec128x28,
      %c3: !filter1by1of128x28to512x28, %g3: !vec512x28, %b3: !vec512x28, %mean3: !vec512x28, %var3: !vec512x28) -> !map512x28 {
    %a1 = func.call @layer1by1of512x28to128x28(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map512x28, !filter1by1of512x28to128x28, !vec128x28, !vec128x28, !vec128x28, !vec128x28) -> !map128x28
    %r1 = func.call @relu128x28(%a1) : (!map128x28) -> !map128x28
    %a2 = func.call @layer3by1of128x28to128x28(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map128x28, !filter3by1of128x28to128x28, !vec128x28, !vec128x28, !vec128x28, !vec128x28) -> !map128x28
    %r2 = func.call @relu128x28(%a2) : (!map128x28) -> !map128x28
    %f = func.call @layer1by1of128x28to512x28(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28, !vec512x28, !vec512x28) -> !map512x28
    %sum = arith.addf %s, %f : !map512x28
    %y = func.call @relu512x28(%sum) : (!map512x28) -> !map512x28
    return %y : !map512x28
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe512x28to512x28(
      %run: i1, %x: !map512x28, %s: !map512x28,
      %c1: !filter1by1of512x28to128x28, %g1: !vec128x28, %b1: !vec128x28, %mean1: !vec128x28, %var1: !vec128x28,
      %c2: !filter3by1of128x28to128x28, %g2: !vec128x28, %b2: !vec128x28, %mean2: !vec128x28, %var2: !vec128x28,
      %c3: !filter1by1of128x28to512x28, %g3: !vec512x28, %b3: !vec512x28, %mean3: !vec512x28, %var3: !vec512x28) -> !map512x28 {
    %y = scf.if %run -> !map512x28 {
      %r = func.call @block512x28to512x28(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map512x28, !map512x28, !filter1by1of512x28to128x28, !vec128x28, !vec128x28, !vec128x28, !vec128x28, !filter3by1of128x28to128x28, !vec128x28,
             !vec128x28, !vec128x28, !vec128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28, !vec512x28, !vec512x28) -> !map512x28
      scf.yield %r : !map512x28
    } else {
      scf.yield %s : !map512x28
    }
    return %y : !map512x28
  }

  // relu(s + F(x))
  func.func private @block512x28to1024x14(
      %x: !map512x28, %s: !map1024x14,
      %c1: !filter1by1of512x28to256x28, %g1: !vec256x28, %b1: !vec256x28, %mean1: !vec256x28, %var1: !vec256x28,
      %c2: !filter3by2of256x28to256x14, %g2: !vec256x14, %b2: !vec256x14, %mean2: !vec256x14, %var2: !vec256x14,
      %c3: !filter1by1of256x14to1024x14, %g3: !vec1024x14, %b3: !vec1024x14, %mean3: !vec1024x14, %var3: !vec1024x14) -> !map1024x14 {
    %a1 = func.call @layer1by1of512x28to256x28(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map512x28, !filter1by1of512x28to256x28, !vec256x28, !vec256x28, !vec256x28, !vec256x28) -> !map256x28
    %r1 = func.call @relu256x28(%a1) : (!map256x28) -> !map256x28
    %a2 = func.call @layer3by2of256x28to256x14(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map256x28, !filter3by2of256x28to256x14, !vec256x14, !vec256x14, !vec256x14, !vec256x14) -> !map256x14
    %r2 = func.call @relu256x14(%a2) : (!map256x14) -> !map256x14
    %f = func.call @layer1by1of256x14to1024x14(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map256x14, !filter1by1of256x14to1024x14, !vec1024x14, !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14
    %sum = arith.addf %s, %f : !map1024x14
    %y = func.call @relu1024x14(%sum) : (!map1024x14) -> !map1024x14
    return %y : !map1024x14
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe512x28to1024x14(
      %run: i1, %x: !map512x28, %s: !map1024x14,
      %c1: !filter1by1of512x28to256x28, %g1: !vec256x28, %b1: !vec256x28, %mean1: !vec256x28, %var1: !vec256x28,
      %c2: !filter3by2of256x28to256x14, %g2: !vec256x14, %b2: !vec256x14, %mean2: !vec256x14, %var2: !vec256x14,
      %c3: !filter1by1of256x14to1024x14, %g3: !vec1024x14, %b3: !vec1024x14, %mean3: !vec1024x14, %var3: !vec1024x14) -> !map1024x14 {
    %y = scf.if %run -> !map1024x14 {
      %r = func.call @block512x28to1024x14(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map512x28, !map1024x14, !filter1by1of512x28to256x28, !vec256x28, !vec256x28, !vec256x28, !vec256x28, !filter3by2of256x28to256x14, !vec256x14,
             !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14, !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14
      scf.yield %r : !map1024x14
    } else {
      scf.yield %s : !map1024x14
    }
    return %y : !map1024x14
  }

  // relu(s + F(x))
  func.func private @block1024x14to1024x14(
      %x: !map1024x14, %s: !map1024x14,
      %c1: !filter1by1of1024x14to256x14, %g1: !vec256x14, %b1: !vec256x14, %mean1: !vec256x14, %var1: !vec256x14,
      %c2: !filter3by1of256x14to256x14, %g2: !vec256x14, %b2: !vec256x14, %mean2: !vec256x14, %var2: !vec256x14,
      %c3: !filter1by1of256x14to1024x14, %g3: !vec1024x14, %b3: !vec1024x14, %mean3: !vec1024x14, %var3: !vec1024x14) -> !map1024x14 {
    %a1 = func.call @layer1by1of1024x14to256x14(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map1024x14, !filter1by1of1024x14to256x14, !vec256x14, !vec256x14, !vec256x14, !vec256x14) -> !map256x14
    %r1 = func.call @relu256x14(%a1) : (!map256x14) -> !map256x14
    %a2 = func.call @layer3by1of256x14to256x14(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map256x14, !filter3by1of256x14to256x14, !vec256x14, !vec256x14, !vec256x14, !vec256x14) -> !map256x14
    %r2 = func.call @relu256x14(%a2) : (!map256x14) -> !map256x14
    %f = func.call @layer1by1of256x14to1024x14(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map256x14, !filter1by1of256x14to1024x14, !vec1024x14, !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14
    %sum = arith.addf %s, %f : !map1024x14
    %y = func.call @relu1024x14(%sum) : (!map1024x14) -> !map1024x14
    return %y : !map1024x14
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe1024x14to1024x14(
      %run: i1, %x: !map1024x14, %s: !map1024x14,
      %c1: !filter1by1of1024x14to256x14, %g1: !vec256x14, %b1: !vec256x14, %mean1: !vec256x14, %var1: !vec256x14,
      %c2: !filter3by1of256x14to256x14, %g2: !vec256x14, %b2: !vec256x14, %mean2: !vec256x14, %var2: !vec256x14,
      %c3: !filter1by1of256x14to1024x14, %g3: !vec1024x14, %b3: !vec1024x14, %mean3: !vec1024x14, %var3: !vec1024x14) -> !map1024x14 {
    %y = scf.if %run -> !map1024x14 {
      %r = func.call @block1024x14to1024x14(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14, !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
             !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14, !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14
      scf.yield %r : !map1024x14
    } else {
      scf.yield %s : !map1024x14
    }
    return %y : !map1024x14
  }

  // relu(s + F(x))
  func.func private @block1024x14to2048x7(
      %x: !map1024x14, %s: !map2048x7,
      %c1: !filter1by1of1024x14to512x14, %g1: !vec512x14, %b1: !vec512x14, %mean1: !vec512x14, %var1: !vec512x14,
      %c2: !filter3by2of512x14to512x7, %g2: !vec512x7, %b2: !vec512x7, %mean2: !vec512x7, %var2: !vec512x7,
      %c3: !filter1by1of512x7to2048x7, %g3: !vec2048x7, %b3: !vec2048x7, %mean3: !vec2048x7, %var3: !vec2048x7) -> !map2048x7 {
    %a1 = func.call @layer1by1of1024x14to512x14(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map1024x14, !filter1by1of1024x14to512x14, !vec512x14, !vec512x14, !vec512x14, !vec512x14) -> !map512x14
    %r1 = func.call @relu512x14(%a1) : (!map512x14) -> !map512x14
    %a2 = func.call @layer3by2of512x14to512x7(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map512x14, !filter3by2of512x14to512x7, !vec512x7, !vec512x7, !vec512x7, !vec512x7) -> !map512x7
    %r2 = func.call @relu512x7(%a2) : (!map512x7) -> !map512x7
    %f = func.call @layer1by1of512x7to2048x7(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map512x7, !filter1by1of512x7to2048x7, !vec2048x7, !vec2048x7, !vec2048x7, !vec2048x7) -> !map2048x7
    %sum = arith.addf %s, %f : !map2048x7
    %y = func.call @relu2048x7(%sum) : (!map2048x7) -> !map2048x7
    return %y : !map2048x7
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe1024x14to2048x7(
      %run: i1, %x: !map1024x14, %s: !map2048x7,
      %c1: !filter1by1of1024x14to512x14, %g1: !vec512x14, %b1: !vec512x14, %mean1: !vec512x14, %var1: !vec512x14,
      %c2: !filter3by2of512x14to512x7, %g2: !vec512x7, %b2: !vec512x7, %mean2: !vec512x7, %var2: !vec512x7,
      %c3: !filter1by1of512x7to2048x7, %g3: !vec2048x7, %b3: !vec2048x7, %mean3: !vec2048x7, %var3: !vec2048x7) -> !map2048x7 {
    %y = scf.if %run -> !map2048x7 {
      %r = func.call @block1024x14to2048x7(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map1024x14, !map2048x7, !filter1by1of1024x14to512x14, !vec512x14, !vec512x14, !vec512x14, !vec512x14, !filter3by2of512x14to512x7, !vec512x7,
             !vec512x7, !vec512x7, !vec512x7, !filter1by1of512x7to2048x7, !vec2048x7, !vec2048x7, !vec2048x7, !vec2048x7) -> !map2048x7
      scf.yield %r : !map2048x7
    } else {
      scf.yield %s : !map2048x7
    }
    return %y : !map2048x7
  }

  // relu(s + F(x))
  func.func private @block2048x7to2048x7(
      %x: !map2048x7, %s: !map2048x7,
      %c1: !filter1by1of2048x7to512x7, %g1: !vec512x7, %b1: !vec512x7, %mean1: !vec512x7, %var1: !vec512x7,
      %c2: !filter3by1of512x7to512x7, %g2: !vec512x7, %b2: !vec512x7, %mean2: !vec512x7, %var2: !vec512x7,
      %c3: !filter1by1of512x7to2048x7, %g3: !vec2048x7, %b3: !vec2048x7, %mean3: !vec2048x7, %var3: !vec2048x7) -> !map2048x7 {
    %a1 = func.call @layer1by1of2048x7to512x7(%x, %c1, %g1, %b1, %mean1, %var1)
        : (!map2048x7, !filter1by1of2048x7to512x7, !vec512x7, !vec512x7, !vec512x7, !vec512x7) -> !map512x7
    %r1 = func.call @relu512x7(%a1) : (!map512x7) -> !map512x7
    %a2 = func.call @layer3by1of512x7to512x7(%r1, %c2, %g2, %b2, %mean2, %var2)
        : (!map512x7, !filter3by1of512x7to512x7, !vec512x7, !vec512x7, !vec512x7, !vec512x7) -> !map512x7
    %r2 = func.call @relu512x7(%a2) : (!map512x7) -> !map512x7
    %f = func.call @layer1by1of512x7to2048x7(%r2, %c3, %g3, %b3, %mean3, %var3)
        : (!map512x7, !filter1by1of512x7to2048x7, !vec2048x7, !vec2048x7, !vec2048x7, !vec2048x7) -> !map2048x7
    %sum = arith.addf %s, %f : !map2048x7
    %y = func.call @relu2048x7(%sum) : (!map2048x7) -> !map2048x7
    return %y : !map2048x7
  }

  // relu(s + F(x)) if the block runs, else s.
  func.func private @maybe2048x7to2048x7(
      %run: i1, %x: !map2048x7, %s: !map2048x7,
      %c1: !filter1by1of2048x7to512x7, %g1: !vec512x7, %b1: !vec512x7, %mean1: !vec512x7, %var1: !vec512x7,
      %c2: !filter3by1of512x7to512x7, %g2: !vec512x7, %b2: !vec512x7, %mean2: !vec512x7, %var2: !vec512x7,
      %c3: !filter1by1of512x7to2048x7, %g3: !vec2048x7, %b3: !vec2048x7, %mean3: !vec2048x7, %var3: !vec2048x7) -> !map2048x7 {
    %y = scf.if %run -> !map2048x7 {
      %r = func.call @block2048x7to2048x7(%x, %s, %c1, %g1, %b1, %mean1, %var1, %c2, %g2, %b2, %mean2,
          %var2, %c3, %g3, %b3, %mean3, %var3)
          : (!map2048x7, !map2048x7, !filter1by1of2048x7to512x7, !vec512x7, !vec512x7, !vec512x7, !vec512x7, !filter3by1of512x7to512x7, !vec512x7,
             !vec512x7, !vec512x7, !vec512x7, !filter1by1of512x7to2048x7, !vec2048x7, !vec2048x7, !vec2048x7, !vec2048x7) -> !map2048x7
      scf.yield %r : !map2048x7
    } else {
      scf.yield %s : !map2048x7
    }
    return %y : !map2048x7
  }

  func.func @main(%image: !image {batch.name = "image"},
                  %stem: !filter7by2of3x224to64x112 {batch.shared = "stem"},
                  %stem_n_g: !vec64x112 {batch.shared = "stem.n.g"},
                  %stem_n_b: !vec64x112 {batch.shared = "stem.n.b"},
                  %stem_n_mean: !vec64x112 {batch.shared = "stem.n.mean"},
                  %stem_n_var: !vec64x112 {batch.shared = "stem.n.var"},
                  %g0b0_ds: !filter1by1of64x56to256x56 {batch.shared = "g0b0.ds"},
                  %g0b0_ds_n_g: !vec256x56 {batch.shared = "g0b0.ds.n.g"},
                  %g0b0_ds_n_b: !vec256x56 {batch.shared = "g0b0.ds.n.b"},
                  %g0b0_ds_n_mean: !vec256x56 {batch.shared = "g0b0.ds.n.mean"},
                  %g0b0_ds_n_var: !vec256x56 {batch.shared = "g0b0.ds.n.var"},
                  %g0b0_c1: !filter1by1of64x56to64x56 {batch.shared = "g0b0.c1"},
                  %g0b0_n1_g: !vec64x56 {batch.shared = "g0b0.n1.g"},
                  %g0b0_n1_b: !vec64x56 {batch.shared = "g0b0.n1.b"},
                  %g0b0_n1_mean: !vec64x56 {batch.shared = "g0b0.n1.mean"},
                  %g0b0_n1_var: !vec64x56 {batch.shared = "g0b0.n1.var"},
                  %g0b0_c2: !filter3by1of64x56to64x56 {batch.shared = "g0b0.c2"},
                  %g0b0_n2_g: !vec64x56 {batch.shared = "g0b0.n2.g"},
                  %g0b0_n2_b: !vec64x56 {batch.shared = "g0b0.n2.b"},
                  %g0b0_n2_mean: !vec64x56 {batch.shared = "g0b0.n2.mean"},
                  %g0b0_n2_var: !vec64x56 {batch.shared = "g0b0.n2.var"},
                  %g0b0_c3: !filter1by1of64x56to256x56 {batch.shared = "g0b0.c3"},
                  %g0b0_n3_g: !vec256x56 {batch.shared = "g0b0.n3.g"},
                  %g0b0_n3_b: !vec256x56 {batch.shared = "g0b0.n3.b"},
                  %g0b0_n3_mean: !vec256x56 {batch.shared = "g0b0.n3.mean"},
                  %g0b0_n3_var: !vec256x56 {batch.shared = "g0b0.n3.var"},
                  %g0b0_gate_W: !gate256x56 {batch.shared = "g0b0.gate.W"},
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
                  %g0b1_c1: !filter1by1of256x56to64x56 {batch.shared = "g0b1.c1"},
                  %g0b1_n1_g: !vec64x56 {batch.shared = "g0b1.n1.g"},
                  %g0b1_n1_b: !vec64x56 {batch.shared = "g0b1.n1.b"},
                  %g0b1_n1_mean: !vec64x56 {batch.shared = "g0b1.n1.mean"},
                  %g0b1_n1_var: !vec64x56 {batch.shared = "g0b1.n1.var"},
                  %g0b1_c2: !filter3by1of64x56to64x56 {batch.shared = "g0b1.c2"},
                  %g0b1_n2_g: !vec64x56 {batch.shared = "g0b1.n2.g"},
                  %g0b1_n2_b: !vec64x56 {batch.shared = "g0b1.n2.b"},
                  %g0b1_n2_mean: !vec64x56 {batch.shared = "g0b1.n2.mean"},
                  %g0b1_n2_var: !vec64x56 {batch.shared = "g0b1.n2.var"},
                  %g0b1_c3: !filter1by1of64x56to256x56 {batch.shared = "g0b1.c3"},
                  %g0b1_n3_g: !vec256x56 {batch.shared = "g0b1.n3.g"},
                  %g0b1_n3_b: !vec256x56 {batch.shared = "g0b1.n3.b"},
                  %g0b1_n3_mean: !vec256x56 {batch.shared = "g0b1.n3.mean"},
                  %g0b1_n3_var: !vec256x56 {batch.shared = "g0b1.n3.var"},
                  %g0b1_gate_W: !gate256x56 {batch.shared = "g0b1.gate.W"},
                  %g0b1_gate_b: !state {batch.shared = "g0b1.gate.b"},
                  %g0b2_c1: !filter1by1of256x56to64x56 {batch.shared = "g0b2.c1"},
                  %g0b2_n1_g: !vec64x56 {batch.shared = "g0b2.n1.g"},
                  %g0b2_n1_b: !vec64x56 {batch.shared = "g0b2.n1.b"},
                  %g0b2_n1_mean: !vec64x56 {batch.shared = "g0b2.n1.mean"},
                  %g0b2_n1_var: !vec64x56 {batch.shared = "g0b2.n1.var"},
                  %g0b2_c2: !filter3by1of64x56to64x56 {batch.shared = "g0b2.c2"},
                  %g0b2_n2_g: !vec64x56 {batch.shared = "g0b2.n2.g"},
                  %g0b2_n2_b: !vec64x56 {batch.shared = "g0b2.n2.b"},
                  %g0b2_n2_mean: !vec64x56 {batch.shared = "g0b2.n2.mean"},
                  %g0b2_n2_var: !vec64x56 {batch.shared = "g0b2.n2.var"},
                  %g0b2_c3: !filter1by1of64x56to256x56 {batch.shared = "g0b2.c3"},
                  %g0b2_n3_g: !vec256x56 {batch.shared = "g0b2.n3.g"},
                  %g0b2_n3_b: !vec256x56 {batch.shared = "g0b2.n3.b"},
                  %g0b2_n3_mean: !vec256x56 {batch.shared = "g0b2.n3.mean"},
                  %g0b2_n3_var: !vec256x56 {batch.shared = "g0b2.n3.var"},
                  %g0b2_gate_W: !gate256x56 {batch.shared = "g0b2.gate.W"},
                  %g0b2_gate_b: !state {batch.shared = "g0b2.gate.b"},
                  %g1b0_ds: !filter1by2of256x56to512x28 {batch.shared = "g1b0.ds"},
                  %g1b0_ds_n_g: !vec512x28 {batch.shared = "g1b0.ds.n.g"},
                  %g1b0_ds_n_b: !vec512x28 {batch.shared = "g1b0.ds.n.b"},
                  %g1b0_ds_n_mean: !vec512x28 {batch.shared = "g1b0.ds.n.mean"},
                  %g1b0_ds_n_var: !vec512x28 {batch.shared = "g1b0.ds.n.var"},
                  %g1b0_c1: !filter1by1of256x56to128x56 {batch.shared = "g1b0.c1"},
                  %g1b0_n1_g: !vec128x56 {batch.shared = "g1b0.n1.g"},
                  %g1b0_n1_b: !vec128x56 {batch.shared = "g1b0.n1.b"},
                  %g1b0_n1_mean: !vec128x56 {batch.shared = "g1b0.n1.mean"},
                  %g1b0_n1_var: !vec128x56 {batch.shared = "g1b0.n1.var"},
                  %g1b0_c2: !filter3by2of128x56to128x28 {batch.shared = "g1b0.c2"},
                  %g1b0_n2_g: !vec128x28 {batch.shared = "g1b0.n2.g"},
                  %g1b0_n2_b: !vec128x28 {batch.shared = "g1b0.n2.b"},
                  %g1b0_n2_mean: !vec128x28 {batch.shared = "g1b0.n2.mean"},
                  %g1b0_n2_var: !vec128x28 {batch.shared = "g1b0.n2.var"},
                  %g1b0_c3: !filter1by1of128x28to512x28 {batch.shared = "g1b0.c3"},
                  %g1b0_n3_g: !vec512x28 {batch.shared = "g1b0.n3.g"},
                  %g1b0_n3_b: !vec512x28 {batch.shared = "g1b0.n3.b"},
                  %g1b0_n3_mean: !vec512x28 {batch.shared = "g1b0.n3.mean"},
                  %g1b0_n3_var: !vec512x28 {batch.shared = "g1b0.n3.var"},
                  %g1b0_gate_W: !gate512x28 {batch.shared = "g1b0.gate.W"},
                  %g1b0_gate_b: !state {batch.shared = "g1b0.gate.b"},
                  %g1b1_c1: !filter1by1of512x28to128x28 {batch.shared = "g1b1.c1"},
                  %g1b1_n1_g: !vec128x28 {batch.shared = "g1b1.n1.g"},
                  %g1b1_n1_b: !vec128x28 {batch.shared = "g1b1.n1.b"},
                  %g1b1_n1_mean: !vec128x28 {batch.shared = "g1b1.n1.mean"},
                  %g1b1_n1_var: !vec128x28 {batch.shared = "g1b1.n1.var"},
                  %g1b1_c2: !filter3by1of128x28to128x28 {batch.shared = "g1b1.c2"},
                  %g1b1_n2_g: !vec128x28 {batch.shared = "g1b1.n2.g"},
                  %g1b1_n2_b: !vec128x28 {batch.shared = "g1b1.n2.b"},
                  %g1b1_n2_mean: !vec128x28 {batch.shared = "g1b1.n2.mean"},
                  %g1b1_n2_var: !vec128x28 {batch.shared = "g1b1.n2.var"},
                  %g1b1_c3: !filter1by1of128x28to512x28 {batch.shared = "g1b1.c3"},
                  %g1b1_n3_g: !vec512x28 {batch.shared = "g1b1.n3.g"},
                  %g1b1_n3_b: !vec512x28 {batch.shared = "g1b1.n3.b"},
                  %g1b1_n3_mean: !vec512x28 {batch.shared = "g1b1.n3.mean"},
                  %g1b1_n3_var: !vec512x28 {batch.shared = "g1b1.n3.var"},
                  %g1b1_gate_W: !gate512x28 {batch.shared = "g1b1.gate.W"},
                  %g1b1_gate_b: !state {batch.shared = "g1b1.gate.b"},
                  %g1b2_c1: !filter1by1of512x28to128x28 {batch.shared = "g1b2.c1"},
                  %g1b2_n1_g: !vec128x28 {batch.shared = "g1b2.n1.g"},
                  %g1b2_n1_b: !vec128x28 {batch.shared = "g1b2.n1.b"},
                  %g1b2_n1_mean: !vec128x28 {batch.shared = "g1b2.n1.mean"},
                  %g1b2_n1_var: !vec128x28 {batch.shared = "g1b2.n1.var"},
                  %g1b2_c2: !filter3by1of128x28to128x28 {batch.shared = "g1b2.c2"},
                  %g1b2_n2_g: !vec128x28 {batch.shared = "g1b2.n2.g"},
                  %g1b2_n2_b: !vec128x28 {batch.shared = "g1b2.n2.b"},
                  %g1b2_n2_mean: !vec128x28 {batch.shared = "g1b2.n2.mean"},
                  %g1b2_n2_var: !vec128x28 {batch.shared = "g1b2.n2.var"},
                  %g1b2_c3: !filter1by1of128x28to512x28 {batch.shared = "g1b2.c3"},
                  %g1b2_n3_g: !vec512x28 {batch.shared = "g1b2.n3.g"},
                  %g1b2_n3_b: !vec512x28 {batch.shared = "g1b2.n3.b"},
                  %g1b2_n3_mean: !vec512x28 {batch.shared = "g1b2.n3.mean"},
                  %g1b2_n3_var: !vec512x28 {batch.shared = "g1b2.n3.var"},
                  %g1b2_gate_W: !gate512x28 {batch.shared = "g1b2.gate.W"},
                  %g1b2_gate_b: !state {batch.shared = "g1b2.gate.b"},
                  %g1b3_c1: !filter1by1of512x28to128x28 {batch.shared = "g1b3.c1"},
                  %g1b3_n1_g: !vec128x28 {batch.shared = "g1b3.n1.g"},
                  %g1b3_n1_b: !vec128x28 {batch.shared = "g1b3.n1.b"},
                  %g1b3_n1_mean: !vec128x28 {batch.shared = "g1b3.n1.mean"},
                  %g1b3_n1_var: !vec128x28 {batch.shared = "g1b3.n1.var"},
                  %g1b3_c2: !filter3by1of128x28to128x28 {batch.shared = "g1b3.c2"},
                  %g1b3_n2_g: !vec128x28 {batch.shared = "g1b3.n2.g"},
                  %g1b3_n2_b: !vec128x28 {batch.shared = "g1b3.n2.b"},
                  %g1b3_n2_mean: !vec128x28 {batch.shared = "g1b3.n2.mean"},
                  %g1b3_n2_var: !vec128x28 {batch.shared = "g1b3.n2.var"},
                  %g1b3_c3: !filter1by1of128x28to512x28 {batch.shared = "g1b3.c3"},
                  %g1b3_n3_g: !vec512x28 {batch.shared = "g1b3.n3.g"},
                  %g1b3_n3_b: !vec512x28 {batch.shared = "g1b3.n3.b"},
                  %g1b3_n3_mean: !vec512x28 {batch.shared = "g1b3.n3.mean"},
                  %g1b3_n3_var: !vec512x28 {batch.shared = "g1b3.n3.var"},
                  %g1b3_gate_W: !gate512x28 {batch.shared = "g1b3.gate.W"},
                  %g1b3_gate_b: !state {batch.shared = "g1b3.gate.b"},
                  %g2b0_ds: !filter1by2of512x28to1024x14 {batch.shared = "g2b0.ds"},
                  %g2b0_ds_n_g: !vec1024x14 {batch.shared = "g2b0.ds.n.g"},
                  %g2b0_ds_n_b: !vec1024x14 {batch.shared = "g2b0.ds.n.b"},
                  %g2b0_ds_n_mean: !vec1024x14 {batch.shared = "g2b0.ds.n.mean"},
                  %g2b0_ds_n_var: !vec1024x14 {batch.shared = "g2b0.ds.n.var"},
                  %g2b0_c1: !filter1by1of512x28to256x28 {batch.shared = "g2b0.c1"},
                  %g2b0_n1_g: !vec256x28 {batch.shared = "g2b0.n1.g"},
                  %g2b0_n1_b: !vec256x28 {batch.shared = "g2b0.n1.b"},
                  %g2b0_n1_mean: !vec256x28 {batch.shared = "g2b0.n1.mean"},
                  %g2b0_n1_var: !vec256x28 {batch.shared = "g2b0.n1.var"},
                  %g2b0_c2: !filter3by2of256x28to256x14 {batch.shared = "g2b0.c2"},
                  %g2b0_n2_g: !vec256x14 {batch.shared = "g2b0.n2.g"},
                  %g2b0_n2_b: !vec256x14 {batch.shared = "g2b0.n2.b"},
                  %g2b0_n2_mean: !vec256x14 {batch.shared = "g2b0.n2.mean"},
                  %g2b0_n2_var: !vec256x14 {batch.shared = "g2b0.n2.var"},
                  %g2b0_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b0.c3"},
                  %g2b0_n3_g: !vec1024x14 {batch.shared = "g2b0.n3.g"},
                  %g2b0_n3_b: !vec1024x14 {batch.shared = "g2b0.n3.b"},
                  %g2b0_n3_mean: !vec1024x14 {batch.shared = "g2b0.n3.mean"},
                  %g2b0_n3_var: !vec1024x14 {batch.shared = "g2b0.n3.var"},
                  %g2b0_gate_W: !gate1024x14 {batch.shared = "g2b0.gate.W"},
                  %g2b0_gate_b: !state {batch.shared = "g2b0.gate.b"},
                  %g2b1_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b1.c1"},
                  %g2b1_n1_g: !vec256x14 {batch.shared = "g2b1.n1.g"},
                  %g2b1_n1_b: !vec256x14 {batch.shared = "g2b1.n1.b"},
                  %g2b1_n1_mean: !vec256x14 {batch.shared = "g2b1.n1.mean"},
                  %g2b1_n1_var: !vec256x14 {batch.shared = "g2b1.n1.var"},
                  %g2b1_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b1.c2"},
                  %g2b1_n2_g: !vec256x14 {batch.shared = "g2b1.n2.g"},
                  %g2b1_n2_b: !vec256x14 {batch.shared = "g2b1.n2.b"},
                  %g2b1_n2_mean: !vec256x14 {batch.shared = "g2b1.n2.mean"},
                  %g2b1_n2_var: !vec256x14 {batch.shared = "g2b1.n2.var"},
                  %g2b1_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b1.c3"},
                  %g2b1_n3_g: !vec1024x14 {batch.shared = "g2b1.n3.g"},
                  %g2b1_n3_b: !vec1024x14 {batch.shared = "g2b1.n3.b"},
                  %g2b1_n3_mean: !vec1024x14 {batch.shared = "g2b1.n3.mean"},
                  %g2b1_n3_var: !vec1024x14 {batch.shared = "g2b1.n3.var"},
                  %g2b1_gate_W: !gate1024x14 {batch.shared = "g2b1.gate.W"},
                  %g2b1_gate_b: !state {batch.shared = "g2b1.gate.b"},
                  %g2b2_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b2.c1"},
                  %g2b2_n1_g: !vec256x14 {batch.shared = "g2b2.n1.g"},
                  %g2b2_n1_b: !vec256x14 {batch.shared = "g2b2.n1.b"},
                  %g2b2_n1_mean: !vec256x14 {batch.shared = "g2b2.n1.mean"},
                  %g2b2_n1_var: !vec256x14 {batch.shared = "g2b2.n1.var"},
                  %g2b2_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b2.c2"},
                  %g2b2_n2_g: !vec256x14 {batch.shared = "g2b2.n2.g"},
                  %g2b2_n2_b: !vec256x14 {batch.shared = "g2b2.n2.b"},
                  %g2b2_n2_mean: !vec256x14 {batch.shared = "g2b2.n2.mean"},
                  %g2b2_n2_var: !vec256x14 {batch.shared = "g2b2.n2.var"},
                  %g2b2_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b2.c3"},
                  %g2b2_n3_g: !vec1024x14 {batch.shared = "g2b2.n3.g"},
                  %g2b2_n3_b: !vec1024x14 {batch.shared = "g2b2.n3.b"},
                  %g2b2_n3_mean: !vec1024x14 {batch.shared = "g2b2.n3.mean"},
                  %g2b2_n3_var: !vec1024x14 {batch.shared = "g2b2.n3.var"},
                  %g2b2_gate_W: !gate1024x14 {batch.shared = "g2b2.gate.W"},
                  %g2b2_gate_b: !state {batch.shared = "g2b2.gate.b"},
                  %g2b3_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b3.c1"},
                  %g2b3_n1_g: !vec256x14 {batch.shared = "g2b3.n1.g"},
                  %g2b3_n1_b: !vec256x14 {batch.shared = "g2b3.n1.b"},
                  %g2b3_n1_mean: !vec256x14 {batch.shared = "g2b3.n1.mean"},
                  %g2b3_n1_var: !vec256x14 {batch.shared = "g2b3.n1.var"},
                  %g2b3_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b3.c2"},
                  %g2b3_n2_g: !vec256x14 {batch.shared = "g2b3.n2.g"},
                  %g2b3_n2_b: !vec256x14 {batch.shared = "g2b3.n2.b"},
                  %g2b3_n2_mean: !vec256x14 {batch.shared = "g2b3.n2.mean"},
                  %g2b3_n2_var: !vec256x14 {batch.shared = "g2b3.n2.var"},
                  %g2b3_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b3.c3"},
                  %g2b3_n3_g: !vec1024x14 {batch.shared = "g2b3.n3.g"},
                  %g2b3_n3_b: !vec1024x14 {batch.shared = "g2b3.n3.b"},
                  %g2b3_n3_mean: !vec1024x14 {batch.shared = "g2b3.n3.mean"},
                  %g2b3_n3_var: !vec1024x14 {batch.shared = "g2b3.n3.var"},
                  %g2b3_gate_W: !gate1024x14 {batch.shared = "g2b3.gate.W"},
                  %g2b3_gate_b: !state {batch.shared = "g2b3.gate.b"},
                  %g2b4_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b4.c1"},
                  %g2b4_n1_g: !vec256x14 {batch.shared = "g2b4.n1.g"},
                  %g2b4_n1_b: !vec256x14 {batch.shared = "g2b4.n1.b"},
                  %g2b4_n1_mean: !vec256x14 {batch.shared = "g2b4.n1.mean"},
                  %g2b4_n1_var: !vec256x14 {batch.shared = "g2b4.n1.var"},
                  %g2b4_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b4.c2"},
                  %g2b4_n2_g: !vec256x14 {batch.shared = "g2b4.n2.g"},
                  %g2b4_n2_b: !vec256x14 {batch.shared = "g2b4.n2.b"},
                  %g2b4_n2_mean: !vec256x14 {batch.shared = "g2b4.n2.mean"},
                  %g2b4_n2_var: !vec256x14 {batch.shared = "g2b4.n2.var"},
                  %g2b4_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b4.c3"},
                  %g2b4_n3_g: !vec1024x14 {batch.shared = "g2b4.n3.g"},
                  %g2b4_n3_b: !vec1024x14 {batch.shared = "g2b4.n3.b"},
                  %g2b4_n3_mean: !vec1024x14 {batch.shared = "g2b4.n3.mean"},
                  %g2b4_n3_var: !vec1024x14 {batch.shared = "g2b4.n3.var"},
                  %g2b4_gate_W: !gate1024x14 {batch.shared = "g2b4.gate.W"},
                  %g2b4_gate_b: !state {batch.shared = "g2b4.gate.b"},
                  %g2b5_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b5.c1"},
                  %g2b5_n1_g: !vec256x14 {batch.shared = "g2b5.n1.g"},
                  %g2b5_n1_b: !vec256x14 {batch.shared = "g2b5.n1.b"},
                  %g2b5_n1_mean: !vec256x14 {batch.shared = "g2b5.n1.mean"},
                  %g2b5_n1_var: !vec256x14 {batch.shared = "g2b5.n1.var"},
                  %g2b5_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b5.c2"},
                  %g2b5_n2_g: !vec256x14 {batch.shared = "g2b5.n2.g"},
                  %g2b5_n2_b: !vec256x14 {batch.shared = "g2b5.n2.b"},
                  %g2b5_n2_mean: !vec256x14 {batch.shared = "g2b5.n2.mean"},
                  %g2b5_n2_var: !vec256x14 {batch.shared = "g2b5.n2.var"},
                  %g2b5_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b5.c3"},
                  %g2b5_n3_g: !vec1024x14 {batch.shared = "g2b5.n3.g"},
                  %g2b5_n3_b: !vec1024x14 {batch.shared = "g2b5.n3.b"},
                  %g2b5_n3_mean: !vec1024x14 {batch.shared = "g2b5.n3.mean"},
                  %g2b5_n3_var: !vec1024x14 {batch.shared = "g2b5.n3.var"},
                  %g2b5_gate_W: !gate1024x14 {batch.shared = "g2b5.gate.W"},
                  %g2b5_gate_b: !state {batch.shared = "g2b5.gate.b"},
                  %g2b6_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b6.c1"},
                  %g2b6_n1_g: !vec256x14 {batch.shared = "g2b6.n1.g"},
                  %g2b6_n1_b: !vec256x14 {batch.shared = "g2b6.n1.b"},
                  %g2b6_n1_mean: !vec256x14 {batch.shared = "g2b6.n1.mean"},
                  %g2b6_n1_var: !vec256x14 {batch.shared = "g2b6.n1.var"},
                  %g2b6_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b6.c2"},
                  %g2b6_n2_g: !vec256x14 {batch.shared = "g2b6.n2.g"},
                  %g2b6_n2_b: !vec256x14 {batch.shared = "g2b6.n2.b"},
                  %g2b6_n2_mean: !vec256x14 {batch.shared = "g2b6.n2.mean"},
                  %g2b6_n2_var: !vec256x14 {batch.shared = "g2b6.n2.var"},
                  %g2b6_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b6.c3"},
                  %g2b6_n3_g: !vec1024x14 {batch.shared = "g2b6.n3.g"},
                  %g2b6_n3_b: !vec1024x14 {batch.shared = "g2b6.n3.b"},
                  %g2b6_n3_mean: !vec1024x14 {batch.shared = "g2b6.n3.mean"},
                  %g2b6_n3_var: !vec1024x14 {batch.shared = "g2b6.n3.var"},
                  %g2b6_gate_W: !gate1024x14 {batch.shared = "g2b6.gate.W"},
                  %g2b6_gate_b: !state {batch.shared = "g2b6.gate.b"},
                  %g2b7_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b7.c1"},
                  %g2b7_n1_g: !vec256x14 {batch.shared = "g2b7.n1.g"},
                  %g2b7_n1_b: !vec256x14 {batch.shared = "g2b7.n1.b"},
                  %g2b7_n1_mean: !vec256x14 {batch.shared = "g2b7.n1.mean"},
                  %g2b7_n1_var: !vec256x14 {batch.shared = "g2b7.n1.var"},
                  %g2b7_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b7.c2"},
                  %g2b7_n2_g: !vec256x14 {batch.shared = "g2b7.n2.g"},
                  %g2b7_n2_b: !vec256x14 {batch.shared = "g2b7.n2.b"},
                  %g2b7_n2_mean: !vec256x14 {batch.shared = "g2b7.n2.mean"},
                  %g2b7_n2_var: !vec256x14 {batch.shared = "g2b7.n2.var"},
                  %g2b7_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b7.c3"},
                  %g2b7_n3_g: !vec1024x14 {batch.shared = "g2b7.n3.g"},
                  %g2b7_n3_b: !vec1024x14 {batch.shared = "g2b7.n3.b"},
                  %g2b7_n3_mean: !vec1024x14 {batch.shared = "g2b7.n3.mean"},
                  %g2b7_n3_var: !vec1024x14 {batch.shared = "g2b7.n3.var"},
                  %g2b7_gate_W: !gate1024x14 {batch.shared = "g2b7.gate.W"},
                  %g2b7_gate_b: !state {batch.shared = "g2b7.gate.b"},
                  %g2b8_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b8.c1"},
                  %g2b8_n1_g: !vec256x14 {batch.shared = "g2b8.n1.g"},
                  %g2b8_n1_b: !vec256x14 {batch.shared = "g2b8.n1.b"},
                  %g2b8_n1_mean: !vec256x14 {batch.shared = "g2b8.n1.mean"},
                  %g2b8_n1_var: !vec256x14 {batch.shared = "g2b8.n1.var"},
                  %g2b8_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b8.c2"},
                  %g2b8_n2_g: !vec256x14 {batch.shared = "g2b8.n2.g"},
                  %g2b8_n2_b: !vec256x14 {batch.shared = "g2b8.n2.b"},
                  %g2b8_n2_mean: !vec256x14 {batch.shared = "g2b8.n2.mean"},
                  %g2b8_n2_var: !vec256x14 {batch.shared = "g2b8.n2.var"},
                  %g2b8_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b8.c3"},
                  %g2b8_n3_g: !vec1024x14 {batch.shared = "g2b8.n3.g"},
                  %g2b8_n3_b: !vec1024x14 {batch.shared = "g2b8.n3.b"},
                  %g2b8_n3_mean: !vec1024x14 {batch.shared = "g2b8.n3.mean"},
                  %g2b8_n3_var: !vec1024x14 {batch.shared = "g2b8.n3.var"},
                  %g2b8_gate_W: !gate1024x14 {batch.shared = "g2b8.gate.W"},
                  %g2b8_gate_b: !state {batch.shared = "g2b8.gate.b"},
                  %g2b9_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b9.c1"},
                  %g2b9_n1_g: !vec256x14 {batch.shared = "g2b9.n1.g"},
                  %g2b9_n1_b: !vec256x14 {batch.shared = "g2b9.n1.b"},
                  %g2b9_n1_mean: !vec256x14 {batch.shared = "g2b9.n1.mean"},
                  %g2b9_n1_var: !vec256x14 {batch.shared = "g2b9.n1.var"},
                  %g2b9_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b9.c2"},
                  %g2b9_n2_g: !vec256x14 {batch.shared = "g2b9.n2.g"},
                  %g2b9_n2_b: !vec256x14 {batch.shared = "g2b9.n2.b"},
                  %g2b9_n2_mean: !vec256x14 {batch.shared = "g2b9.n2.mean"},
                  %g2b9_n2_var: !vec256x14 {batch.shared = "g2b9.n2.var"},
                  %g2b9_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b9.c3"},
                  %g2b9_n3_g: !vec1024x14 {batch.shared = "g2b9.n3.g"},
                  %g2b9_n3_b: !vec1024x14 {batch.shared = "g2b9.n3.b"},
                  %g2b9_n3_mean: !vec1024x14 {batch.shared = "g2b9.n3.mean"},
                  %g2b9_n3_var: !vec1024x14 {batch.shared = "g2b9.n3.var"},
                  %g2b9_gate_W: !gate1024x14 {batch.shared = "g2b9.gate.W"},
                  %g2b9_gate_b: !state {batch.shared = "g2b9.gate.b"},
                  %g2b10_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b10.c1"},
                  %g2b10_n1_g: !vec256x14 {batch.shared = "g2b10.n1.g"},
                  %g2b10_n1_b: !vec256x14 {batch.shared = "g2b10.n1.b"},
                  %g2b10_n1_mean: !vec256x14 {batch.shared = "g2b10.n1.mean"},
                  %g2b10_n1_var: !vec256x14 {batch.shared = "g2b10.n1.var"},
                  %g2b10_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b10.c2"},
                  %g2b10_n2_g: !vec256x14 {batch.shared = "g2b10.n2.g"},
                  %g2b10_n2_b: !vec256x14 {batch.shared = "g2b10.n2.b"},
                  %g2b10_n2_mean: !vec256x14 {batch.shared = "g2b10.n2.mean"},
                  %g2b10_n2_var: !vec256x14 {batch.shared = "g2b10.n2.var"},
                  %g2b10_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b10.c3"},
                  %g2b10_n3_g: !vec1024x14 {batch.shared = "g2b10.n3.g"},
                  %g2b10_n3_b: !vec1024x14 {batch.shared = "g2b10.n3.b"},
                  %g2b10_n3_mean: !vec1024x14 {batch.shared = "g2b10.n3.mean"},
                  %g2b10_n3_var: !vec1024x14 {batch.shared = "g2b10.n3.var"},
                  %g2b10_gate_W: !gate1024x14 {batch.shared = "g2b10.gate.W"},
                  %g2b10_gate_b: !state {batch.shared = "g2b10.gate.b"},
                  %g2b11_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b11.c1"},
                  %g2b11_n1_g: !vec256x14 {batch.shared = "g2b11.n1.g"},
                  %g2b11_n1_b: !vec256x14 {batch.shared = "g2b11.n1.b"},
                  %g2b11_n1_mean: !vec256x14 {batch.shared = "g2b11.n1.mean"},
                  %g2b11_n1_var: !vec256x14 {batch.shared = "g2b11.n1.var"},
                  %g2b11_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b11.c2"},
                  %g2b11_n2_g: !vec256x14 {batch.shared = "g2b11.n2.g"},
                  %g2b11_n2_b: !vec256x14 {batch.shared = "g2b11.n2.b"},
                  %g2b11_n2_mean: !vec256x14 {batch.shared = "g2b11.n2.mean"},
                  %g2b11_n2_var: !vec256x14 {batch.shared = "g2b11.n2.var"},
                  %g2b11_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b11.c3"},
                  %g2b11_n3_g: !vec1024x14 {batch.shared = "g2b11.n3.g"},
                  %g2b11_n3_b: !vec1024x14 {batch.shared = "g2b11.n3.b"},
                  %g2b11_n3_mean: !vec1024x14 {batch.shared = "g2b11.n3.mean"},
                  %g2b11_n3_var: !vec1024x14 {batch.shared = "g2b11.n3.var"},
                  %g2b11_gate_W: !gate1024x14 {batch.shared = "g2b11.gate.W"},
                  %g2b11_gate_b: !state {batch.shared = "g2b11.gate.b"},
                  %g2b12_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b12.c1"},
                  %g2b12_n1_g: !vec256x14 {batch.shared = "g2b12.n1.g"},
                  %g2b12_n1_b: !vec256x14 {batch.shared = "g2b12.n1.b"},
                  %g2b12_n1_mean: !vec256x14 {batch.shared = "g2b12.n1.mean"},
                  %g2b12_n1_var: !vec256x14 {batch.shared = "g2b12.n1.var"},
                  %g2b12_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b12.c2"},
                  %g2b12_n2_g: !vec256x14 {batch.shared = "g2b12.n2.g"},
                  %g2b12_n2_b: !vec256x14 {batch.shared = "g2b12.n2.b"},
                  %g2b12_n2_mean: !vec256x14 {batch.shared = "g2b12.n2.mean"},
                  %g2b12_n2_var: !vec256x14 {batch.shared = "g2b12.n2.var"},
                  %g2b12_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b12.c3"},
                  %g2b12_n3_g: !vec1024x14 {batch.shared = "g2b12.n3.g"},
                  %g2b12_n3_b: !vec1024x14 {batch.shared = "g2b12.n3.b"},
                  %g2b12_n3_mean: !vec1024x14 {batch.shared = "g2b12.n3.mean"},
                  %g2b12_n3_var: !vec1024x14 {batch.shared = "g2b12.n3.var"},
                  %g2b12_gate_W: !gate1024x14 {batch.shared = "g2b12.gate.W"},
                  %g2b12_gate_b: !state {batch.shared = "g2b12.gate.b"},
                  %g2b13_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b13.c1"},
                  %g2b13_n1_g: !vec256x14 {batch.shared = "g2b13.n1.g"},
                  %g2b13_n1_b: !vec256x14 {batch.shared = "g2b13.n1.b"},
                  %g2b13_n1_mean: !vec256x14 {batch.shared = "g2b13.n1.mean"},
                  %g2b13_n1_var: !vec256x14 {batch.shared = "g2b13.n1.var"},
                  %g2b13_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b13.c2"},
                  %g2b13_n2_g: !vec256x14 {batch.shared = "g2b13.n2.g"},
                  %g2b13_n2_b: !vec256x14 {batch.shared = "g2b13.n2.b"},
                  %g2b13_n2_mean: !vec256x14 {batch.shared = "g2b13.n2.mean"},
                  %g2b13_n2_var: !vec256x14 {batch.shared = "g2b13.n2.var"},
                  %g2b13_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b13.c3"},
                  %g2b13_n3_g: !vec1024x14 {batch.shared = "g2b13.n3.g"},
                  %g2b13_n3_b: !vec1024x14 {batch.shared = "g2b13.n3.b"},
                  %g2b13_n3_mean: !vec1024x14 {batch.shared = "g2b13.n3.mean"},
                  %g2b13_n3_var: !vec1024x14 {batch.shared = "g2b13.n3.var"},
                  %g2b13_gate_W: !gate1024x14 {batch.shared = "g2b13.gate.W"},
                  %g2b13_gate_b: !state {batch.shared = "g2b13.gate.b"},
                  %g2b14_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b14.c1"},
                  %g2b14_n1_g: !vec256x14 {batch.shared = "g2b14.n1.g"},
                  %g2b14_n1_b: !vec256x14 {batch.shared = "g2b14.n1.b"},
                  %g2b14_n1_mean: !vec256x14 {batch.shared = "g2b14.n1.mean"},
                  %g2b14_n1_var: !vec256x14 {batch.shared = "g2b14.n1.var"},
                  %g2b14_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b14.c2"},
                  %g2b14_n2_g: !vec256x14 {batch.shared = "g2b14.n2.g"},
                  %g2b14_n2_b: !vec256x14 {batch.shared = "g2b14.n2.b"},
                  %g2b14_n2_mean: !vec256x14 {batch.shared = "g2b14.n2.mean"},
                  %g2b14_n2_var: !vec256x14 {batch.shared = "g2b14.n2.var"},
                  %g2b14_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b14.c3"},
                  %g2b14_n3_g: !vec1024x14 {batch.shared = "g2b14.n3.g"},
                  %g2b14_n3_b: !vec1024x14 {batch.shared = "g2b14.n3.b"},
                  %g2b14_n3_mean: !vec1024x14 {batch.shared = "g2b14.n3.mean"},
                  %g2b14_n3_var: !vec1024x14 {batch.shared = "g2b14.n3.var"},
                  %g2b14_gate_W: !gate1024x14 {batch.shared = "g2b14.gate.W"},
                  %g2b14_gate_b: !state {batch.shared = "g2b14.gate.b"},
                  %g2b15_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b15.c1"},
                  %g2b15_n1_g: !vec256x14 {batch.shared = "g2b15.n1.g"},
                  %g2b15_n1_b: !vec256x14 {batch.shared = "g2b15.n1.b"},
                  %g2b15_n1_mean: !vec256x14 {batch.shared = "g2b15.n1.mean"},
                  %g2b15_n1_var: !vec256x14 {batch.shared = "g2b15.n1.var"},
                  %g2b15_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b15.c2"},
                  %g2b15_n2_g: !vec256x14 {batch.shared = "g2b15.n2.g"},
                  %g2b15_n2_b: !vec256x14 {batch.shared = "g2b15.n2.b"},
                  %g2b15_n2_mean: !vec256x14 {batch.shared = "g2b15.n2.mean"},
                  %g2b15_n2_var: !vec256x14 {batch.shared = "g2b15.n2.var"},
                  %g2b15_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b15.c3"},
                  %g2b15_n3_g: !vec1024x14 {batch.shared = "g2b15.n3.g"},
                  %g2b15_n3_b: !vec1024x14 {batch.shared = "g2b15.n3.b"},
                  %g2b15_n3_mean: !vec1024x14 {batch.shared = "g2b15.n3.mean"},
                  %g2b15_n3_var: !vec1024x14 {batch.shared = "g2b15.n3.var"},
                  %g2b15_gate_W: !gate1024x14 {batch.shared = "g2b15.gate.W"},
                  %g2b15_gate_b: !state {batch.shared = "g2b15.gate.b"},
                  %g2b16_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b16.c1"},
                  %g2b16_n1_g: !vec256x14 {batch.shared = "g2b16.n1.g"},
                  %g2b16_n1_b: !vec256x14 {batch.shared = "g2b16.n1.b"},
                  %g2b16_n1_mean: !vec256x14 {batch.shared = "g2b16.n1.mean"},
                  %g2b16_n1_var: !vec256x14 {batch.shared = "g2b16.n1.var"},
                  %g2b16_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b16.c2"},
                  %g2b16_n2_g: !vec256x14 {batch.shared = "g2b16.n2.g"},
                  %g2b16_n2_b: !vec256x14 {batch.shared = "g2b16.n2.b"},
                  %g2b16_n2_mean: !vec256x14 {batch.shared = "g2b16.n2.mean"},
                  %g2b16_n2_var: !vec256x14 {batch.shared = "g2b16.n2.var"},
                  %g2b16_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b16.c3"},
                  %g2b16_n3_g: !vec1024x14 {batch.shared = "g2b16.n3.g"},
                  %g2b16_n3_b: !vec1024x14 {batch.shared = "g2b16.n3.b"},
                  %g2b16_n3_mean: !vec1024x14 {batch.shared = "g2b16.n3.mean"},
                  %g2b16_n3_var: !vec1024x14 {batch.shared = "g2b16.n3.var"},
                  %g2b16_gate_W: !gate1024x14 {batch.shared = "g2b16.gate.W"},
                  %g2b16_gate_b: !state {batch.shared = "g2b16.gate.b"},
                  %g2b17_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b17.c1"},
                  %g2b17_n1_g: !vec256x14 {batch.shared = "g2b17.n1.g"},
                  %g2b17_n1_b: !vec256x14 {batch.shared = "g2b17.n1.b"},
                  %g2b17_n1_mean: !vec256x14 {batch.shared = "g2b17.n1.mean"},
                  %g2b17_n1_var: !vec256x14 {batch.shared = "g2b17.n1.var"},
                  %g2b17_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b17.c2"},
                  %g2b17_n2_g: !vec256x14 {batch.shared = "g2b17.n2.g"},
                  %g2b17_n2_b: !vec256x14 {batch.shared = "g2b17.n2.b"},
                  %g2b17_n2_mean: !vec256x14 {batch.shared = "g2b17.n2.mean"},
                  %g2b17_n2_var: !vec256x14 {batch.shared = "g2b17.n2.var"},
                  %g2b17_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b17.c3"},
                  %g2b17_n3_g: !vec1024x14 {batch.shared = "g2b17.n3.g"},
                  %g2b17_n3_b: !vec1024x14 {batch.shared = "g2b17.n3.b"},
                  %g2b17_n3_mean: !vec1024x14 {batch.shared = "g2b17.n3.mean"},
                  %g2b17_n3_var: !vec1024x14 {batch.shared = "g2b17.n3.var"},
                  %g2b17_gate_W: !gate1024x14 {batch.shared = "g2b17.gate.W"},
                  %g2b17_gate_b: !state {batch.shared = "g2b17.gate.b"},
                  %g2b18_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b18.c1"},
                  %g2b18_n1_g: !vec256x14 {batch.shared = "g2b18.n1.g"},
                  %g2b18_n1_b: !vec256x14 {batch.shared = "g2b18.n1.b"},
                  %g2b18_n1_mean: !vec256x14 {batch.shared = "g2b18.n1.mean"},
                  %g2b18_n1_var: !vec256x14 {batch.shared = "g2b18.n1.var"},
                  %g2b18_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b18.c2"},
                  %g2b18_n2_g: !vec256x14 {batch.shared = "g2b18.n2.g"},
                  %g2b18_n2_b: !vec256x14 {batch.shared = "g2b18.n2.b"},
                  %g2b18_n2_mean: !vec256x14 {batch.shared = "g2b18.n2.mean"},
                  %g2b18_n2_var: !vec256x14 {batch.shared = "g2b18.n2.var"},
                  %g2b18_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b18.c3"},
                  %g2b18_n3_g: !vec1024x14 {batch.shared = "g2b18.n3.g"},
                  %g2b18_n3_b: !vec1024x14 {batch.shared = "g2b18.n3.b"},
                  %g2b18_n3_mean: !vec1024x14 {batch.shared = "g2b18.n3.mean"},
                  %g2b18_n3_var: !vec1024x14 {batch.shared = "g2b18.n3.var"},
                  %g2b18_gate_W: !gate1024x14 {batch.shared = "g2b18.gate.W"},
                  %g2b18_gate_b: !state {batch.shared = "g2b18.gate.b"},
                  %g2b19_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b19.c1"},
                  %g2b19_n1_g: !vec256x14 {batch.shared = "g2b19.n1.g"},
                  %g2b19_n1_b: !vec256x14 {batch.shared = "g2b19.n1.b"},
                  %g2b19_n1_mean: !vec256x14 {batch.shared = "g2b19.n1.mean"},
                  %g2b19_n1_var: !vec256x14 {batch.shared = "g2b19.n1.var"},
                  %g2b19_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b19.c2"},
                  %g2b19_n2_g: !vec256x14 {batch.shared = "g2b19.n2.g"},
                  %g2b19_n2_b: !vec256x14 {batch.shared = "g2b19.n2.b"},
                  %g2b19_n2_mean: !vec256x14 {batch.shared = "g2b19.n2.mean"},
                  %g2b19_n2_var: !vec256x14 {batch.shared = "g2b19.n2.var"},
                  %g2b19_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b19.c3"},
                  %g2b19_n3_g: !vec1024x14 {batch.shared = "g2b19.n3.g"},
                  %g2b19_n3_b: !vec1024x14 {batch.shared = "g2b19.n3.b"},
                  %g2b19_n3_mean: !vec1024x14 {batch.shared = "g2b19.n3.mean"},
                  %g2b19_n3_var: !vec1024x14 {batch.shared = "g2b19.n3.var"},
                  %g2b19_gate_W: !gate1024x14 {batch.shared = "g2b19.gate.W"},
                  %g2b19_gate_b: !state {batch.shared = "g2b19.gate.b"},
                  %g2b20_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b20.c1"},
                  %g2b20_n1_g: !vec256x14 {batch.shared = "g2b20.n1.g"},
                  %g2b20_n1_b: !vec256x14 {batch.shared = "g2b20.n1.b"},
                  %g2b20_n1_mean: !vec256x14 {batch.shared = "g2b20.n1.mean"},
                  %g2b20_n1_var: !vec256x14 {batch.shared = "g2b20.n1.var"},
                  %g2b20_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b20.c2"},
                  %g2b20_n2_g: !vec256x14 {batch.shared = "g2b20.n2.g"},
                  %g2b20_n2_b: !vec256x14 {batch.shared = "g2b20.n2.b"},
                  %g2b20_n2_mean: !vec256x14 {batch.shared = "g2b20.n2.mean"},
                  %g2b20_n2_var: !vec256x14 {batch.shared = "g2b20.n2.var"},
                  %g2b20_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b20.c3"},
                  %g2b20_n3_g: !vec1024x14 {batch.shared = "g2b20.n3.g"},
                  %g2b20_n3_b: !vec1024x14 {batch.shared = "g2b20.n3.b"},
                  %g2b20_n3_mean: !vec1024x14 {batch.shared = "g2b20.n3.mean"},
                  %g2b20_n3_var: !vec1024x14 {batch.shared = "g2b20.n3.var"},
                  %g2b20_gate_W: !gate1024x14 {batch.shared = "g2b20.gate.W"},
                  %g2b20_gate_b: !state {batch.shared = "g2b20.gate.b"},
                  %g2b21_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b21.c1"},
                  %g2b21_n1_g: !vec256x14 {batch.shared = "g2b21.n1.g"},
                  %g2b21_n1_b: !vec256x14 {batch.shared = "g2b21.n1.b"},
                  %g2b21_n1_mean: !vec256x14 {batch.shared = "g2b21.n1.mean"},
                  %g2b21_n1_var: !vec256x14 {batch.shared = "g2b21.n1.var"},
                  %g2b21_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b21.c2"},
                  %g2b21_n2_g: !vec256x14 {batch.shared = "g2b21.n2.g"},
                  %g2b21_n2_b: !vec256x14 {batch.shared = "g2b21.n2.b"},
                  %g2b21_n2_mean: !vec256x14 {batch.shared = "g2b21.n2.mean"},
                  %g2b21_n2_var: !vec256x14 {batch.shared = "g2b21.n2.var"},
                  %g2b21_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b21.c3"},
                  %g2b21_n3_g: !vec1024x14 {batch.shared = "g2b21.n3.g"},
                  %g2b21_n3_b: !vec1024x14 {batch.shared = "g2b21.n3.b"},
                  %g2b21_n3_mean: !vec1024x14 {batch.shared = "g2b21.n3.mean"},
                  %g2b21_n3_var: !vec1024x14 {batch.shared = "g2b21.n3.var"},
                  %g2b21_gate_W: !gate1024x14 {batch.shared = "g2b21.gate.W"},
                  %g2b21_gate_b: !state {batch.shared = "g2b21.gate.b"},
                  %g2b22_c1: !filter1by1of1024x14to256x14 {batch.shared = "g2b22.c1"},
                  %g2b22_n1_g: !vec256x14 {batch.shared = "g2b22.n1.g"},
                  %g2b22_n1_b: !vec256x14 {batch.shared = "g2b22.n1.b"},
                  %g2b22_n1_mean: !vec256x14 {batch.shared = "g2b22.n1.mean"},
                  %g2b22_n1_var: !vec256x14 {batch.shared = "g2b22.n1.var"},
                  %g2b22_c2: !filter3by1of256x14to256x14 {batch.shared = "g2b22.c2"},
                  %g2b22_n2_g: !vec256x14 {batch.shared = "g2b22.n2.g"},
                  %g2b22_n2_b: !vec256x14 {batch.shared = "g2b22.n2.b"},
                  %g2b22_n2_mean: !vec256x14 {batch.shared = "g2b22.n2.mean"},
                  %g2b22_n2_var: !vec256x14 {batch.shared = "g2b22.n2.var"},
                  %g2b22_c3: !filter1by1of256x14to1024x14 {batch.shared = "g2b22.c3"},
                  %g2b22_n3_g: !vec1024x14 {batch.shared = "g2b22.n3.g"},
                  %g2b22_n3_b: !vec1024x14 {batch.shared = "g2b22.n3.b"},
                  %g2b22_n3_mean: !vec1024x14 {batch.shared = "g2b22.n3.mean"},
                  %g2b22_n3_var: !vec1024x14 {batch.shared = "g2b22.n3.var"},
                  %g2b22_gate_W: !gate1024x14 {batch.shared = "g2b22.gate.W"},
                  %g2b22_gate_b: !state {batch.shared = "g2b22.gate.b"},
                  %g3b0_ds: !filter1by2of1024x14to2048x7 {batch.shared = "g3b0.ds"},
                  %g3b0_ds_n_g: !vec2048x7 {batch.shared = "g3b0.ds.n.g"},
                  %g3b0_ds_n_b: !vec2048x7 {batch.shared = "g3b0.ds.n.b"},
                  %g3b0_ds_n_mean: !vec2048x7 {batch.shared = "g3b0.ds.n.mean"},
                  %g3b0_ds_n_var: !vec2048x7 {batch.shared = "g3b0.ds.n.var"},
                  %g3b0_c1: !filter1by1of1024x14to512x14 {batch.shared = "g3b0.c1"},
                  %g3b0_n1_g: !vec512x14 {batch.shared = "g3b0.n1.g"},
                  %g3b0_n1_b: !vec512x14 {batch.shared = "g3b0.n1.b"},
                  %g3b0_n1_mean: !vec512x14 {batch.shared = "g3b0.n1.mean"},
                  %g3b0_n1_var: !vec512x14 {batch.shared = "g3b0.n1.var"},
                  %g3b0_c2: !filter3by2of512x14to512x7 {batch.shared = "g3b0.c2"},
                  %g3b0_n2_g: !vec512x7 {batch.shared = "g3b0.n2.g"},
                  %g3b0_n2_b: !vec512x7 {batch.shared = "g3b0.n2.b"},
                  %g3b0_n2_mean: !vec512x7 {batch.shared = "g3b0.n2.mean"},
                  %g3b0_n2_var: !vec512x7 {batch.shared = "g3b0.n2.var"},
                  %g3b0_c3: !filter1by1of512x7to2048x7 {batch.shared = "g3b0.c3"},
                  %g3b0_n3_g: !vec2048x7 {batch.shared = "g3b0.n3.g"},
                  %g3b0_n3_b: !vec2048x7 {batch.shared = "g3b0.n3.b"},
                  %g3b0_n3_mean: !vec2048x7 {batch.shared = "g3b0.n3.mean"},
                  %g3b0_n3_var: !vec2048x7 {batch.shared = "g3b0.n3.var"},
                  %g3b0_gate_W: !gate2048x7 {batch.shared = "g3b0.gate.W"},
                  %g3b0_gate_b: !state {batch.shared = "g3b0.gate.b"},
                  %g3b1_c1: !filter1by1of2048x7to512x7 {batch.shared = "g3b1.c1"},
                  %g3b1_n1_g: !vec512x7 {batch.shared = "g3b1.n1.g"},
                  %g3b1_n1_b: !vec512x7 {batch.shared = "g3b1.n1.b"},
                  %g3b1_n1_mean: !vec512x7 {batch.shared = "g3b1.n1.mean"},
                  %g3b1_n1_var: !vec512x7 {batch.shared = "g3b1.n1.var"},
                  %g3b1_c2: !filter3by1of512x7to512x7 {batch.shared = "g3b1.c2"},
                  %g3b1_n2_g: !vec512x7 {batch.shared = "g3b1.n2.g"},
                  %g3b1_n2_b: !vec512x7 {batch.shared = "g3b1.n2.b"},
                  %g3b1_n2_mean: !vec512x7 {batch.shared = "g3b1.n2.mean"},
                  %g3b1_n2_var: !vec512x7 {batch.shared = "g3b1.n2.var"},
                  %g3b1_c3: !filter1by1of512x7to2048x7 {batch.shared = "g3b1.c3"},
                  %g3b1_n3_g: !vec2048x7 {batch.shared = "g3b1.n3.g"},
                  %g3b1_n3_b: !vec2048x7 {batch.shared = "g3b1.n3.b"},
                  %g3b1_n3_mean: !vec2048x7 {batch.shared = "g3b1.n3.mean"},
                  %g3b1_n3_var: !vec2048x7 {batch.shared = "g3b1.n3.var"},
                  %g3b1_gate_W: !gate2048x7 {batch.shared = "g3b1.gate.W"},
                  %g3b1_gate_b: !state {batch.shared = "g3b1.gate.b"},
                  %g3b2_c1: !filter1by1of2048x7to512x7 {batch.shared = "g3b2.c1"},
                  %g3b2_n1_g: !vec512x7 {batch.shared = "g3b2.n1.g"},
                  %g3b2_n1_b: !vec512x7 {batch.shared = "g3b2.n1.b"},
                  %g3b2_n1_mean: !vec512x7 {batch.shared = "g3b2.n1.mean"},
                  %g3b2_n1_var: !vec512x7 {batch.shared = "g3b2.n1.var"},
                  %g3b2_c2: !filter3by1of512x7to512x7 {batch.shared = "g3b2.c2"},
                  %g3b2_n2_g: !vec512x7 {batch.shared = "g3b2.n2.g"},
                  %g3b2_n2_b: !vec512x7 {batch.shared = "g3b2.n2.b"},
                  %g3b2_n2_mean: !vec512x7 {batch.shared = "g3b2.n2.mean"},
                  %g3b2_n2_var: !vec512x7 {batch.shared = "g3b2.n2.var"},
                  %g3b2_c3: !filter1by1of512x7to2048x7 {batch.shared = "g3b2.c3"},
                  %g3b2_n3_g: !vec2048x7 {batch.shared = "g3b2.n3.g"},
                  %g3b2_n3_b: !vec2048x7 {batch.shared = "g3b2.n3.b"},
                  %g3b2_n3_mean: !vec2048x7 {batch.shared = "g3b2.n3.mean"},
                  %g3b2_n3_var: !vec2048x7 {batch.shared = "g3b2.n3.var"},
                  %fc_W: !of_classes {batch.shared = "fc.W"},
                  %fc_b: !classes {batch.shared = "fc.b"})
      -> (!classes {batch.name = "logits"}, !flags {batch.name = "ran"},
          !tag {batch.name = "cls"}) attributes {batch.entry} {
    %zero = arith.constant dense<0.0> : !state
    %x = func.call @stem(%image, %stem, %stem_n_g, %stem_n_b, %stem_n_mean, %stem_n_var)
        : (!image, !filter7by2of3x224to64x112, !vec64x112, !vec64x112, !vec64x112,
           !vec64x112) -> !map64x56

    %s0 = func.call @layer1by1of64x56to256x56(%x, %g0b0_ds, %g0b0_ds_n_g, %g0b0_ds_n_b,
        %g0b0_ds_n_mean, %g0b0_ds_n_var)
        : (!map64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56,
           !vec256x56) -> !map256x56
    %x0 = func.call @block64x56to256x56(%x, %s0, %g0b0_c1, %g0b0_n1_g, %g0b0_n1_b,
        %g0b0_n1_mean, %g0b0_n1_var, %g0b0_c2, %g0b0_n2_g, %g0b0_n2_b, %g0b0_n2_mean,
        %g0b0_n2_var, %g0b0_c3, %g0b0_n3_g, %g0b0_n3_b, %g0b0_n3_mean, %g0b0_n3_var)
        : (!map64x56, !map256x56, !filter1by1of64x56to64x56, !vec64x56, !vec64x56,
           !vec64x56, !vec64x56, !filter3by1of64x56to64x56, !vec64x56, !vec64x56, !vec64x56,
           !vec64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56,
           !vec256x56) -> !map256x56

    %run1, %h1, %c1 = func.call @gate256x56(%x0, %zero, %zero, %g0b0_gate_W, %g0b0_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map256x56, !state, !state, !gate256x56, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x1 = func.call @maybe256x56to256x56(%run1, %x0, %x0, %g0b1_c1, %g0b1_n1_g, %g0b1_n1_b,
        %g0b1_n1_mean, %g0b1_n1_var, %g0b1_c2, %g0b1_n2_g, %g0b1_n2_b, %g0b1_n2_mean,
        %g0b1_n2_var, %g0b1_c3, %g0b1_n3_g, %g0b1_n3_b, %g0b1_n3_mean, %g0b1_n3_var)
        : (i1, !map256x56, !map256x56, !filter1by1of256x56to64x56, !vec64x56, !vec64x56,
           !vec64x56, !vec64x56, !filter3by1of64x56to64x56, !vec64x56, !vec64x56, !vec64x56,
           !vec64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56,
           !vec256x56) -> !map256x56

    %run2, %h2, %c2 = func.call @gate256x56(%x1, %h1, %c1, %g0b1_gate_W, %g0b1_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map256x56, !state, !state, !gate256x56, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x2 = func.call @maybe256x56to256x56(%run2, %x1, %x1, %g0b2_c1, %g0b2_n1_g, %g0b2_n1_b,
        %g0b2_n1_mean, %g0b2_n1_var, %g0b2_c2, %g0b2_n2_g, %g0b2_n2_b, %g0b2_n2_mean,
        %g0b2_n2_var, %g0b2_c3, %g0b2_n3_g, %g0b2_n3_b, %g0b2_n3_mean, %g0b2_n3_var)
        : (i1, !map256x56, !map256x56, !filter1by1of256x56to64x56, !vec64x56, !vec64x56,
           !vec64x56, !vec64x56, !filter3by1of64x56to64x56, !vec64x56, !vec64x56, !vec64x56,
           !vec64x56, !filter1by1of64x56to256x56, !vec256x56, !vec256x56, !vec256x56,
           !vec256x56) -> !map256x56

    %run3, %h3, %c3 = func.call @gate256x56(%x2, %h2, %c2, %g0b2_gate_W, %g0b2_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map256x56, !state, !state, !gate256x56, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %s3 = func.call @layer1by2of256x56to512x28(%x2, %g1b0_ds, %g1b0_ds_n_g, %g1b0_ds_n_b,
        %g1b0_ds_n_mean, %g1b0_ds_n_var)
        : (!map256x56, !filter1by2of256x56to512x28, !vec512x28, !vec512x28, !vec512x28,
           !vec512x28) -> !map512x28
    %x3 = func.call @maybe256x56to512x28(%run3, %x2, %s3, %g1b0_c1, %g1b0_n1_g, %g1b0_n1_b,
        %g1b0_n1_mean, %g1b0_n1_var, %g1b0_c2, %g1b0_n2_g, %g1b0_n2_b, %g1b0_n2_mean,
        %g1b0_n2_var, %g1b0_c3, %g1b0_n3_g, %g1b0_n3_b, %g1b0_n3_mean, %g1b0_n3_var)
        : (i1, !map256x56, !map512x28, !filter1by1of256x56to128x56, !vec128x56, !vec128x56,
           !vec128x56, !vec128x56, !filter3by2of128x56to128x28, !vec128x28, !vec128x28,
           !vec128x28, !vec128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28,
           !vec512x28, !vec512x28) -> !map512x28

    %run4, %h4, %c4 = func.call @gate512x28(%x3, %h3, %c3, %g1b0_gate_W, %g1b0_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map512x28, !state, !state, !gate512x28, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x4 = func.call @maybe512x28to512x28(%run4, %x3, %x3, %g1b1_c1, %g1b1_n1_g, %g1b1_n1_b,
        %g1b1_n1_mean, %g1b1_n1_var, %g1b1_c2, %g1b1_n2_g, %g1b1_n2_b, %g1b1_n2_mean,
        %g1b1_n2_var, %g1b1_c3, %g1b1_n3_g, %g1b1_n3_b, %g1b1_n3_mean, %g1b1_n3_var)
        : (i1, !map512x28, !map512x28, !filter1by1of512x28to128x28, !vec128x28, !vec128x28,
           !vec128x28, !vec128x28, !filter3by1of128x28to128x28, !vec128x28, !vec128x28,
           !vec128x28, !vec128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28,
           !vec512x28, !vec512x28) -> !map512x28

    %run5, %h5, %c5 = func.call @gate512x28(%x4, %h4, %c4, %g1b1_gate_W, %g1b1_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map512x28, !state, !state, !gate512x28, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x5 = func.call @maybe512x28to512x28(%run5, %x4, %x4, %g1b2_c1, %g1b2_n1_g, %g1b2_n1_b,
        %g1b2_n1_mean, %g1b2_n1_var, %g1b2_c2, %g1b2_n2_g, %g1b2_n2_b, %g1b2_n2_mean,
        %g1b2_n2_var, %g1b2_c3, %g1b2_n3_g, %g1b2_n3_b, %g1b2_n3_mean, %g1b2_n3_var)
        : (i1, !map512x28, !map512x28, !filter1by1of512x28to128x28, !vec128x28, !vec128x28,
           !vec128x28, !vec128x28, !filter3by1of128x28to128x28, !vec128x28, !vec128x28,
           !vec128x28, !vec128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28,
           !vec512x28, !vec512x28) -> !map512x28

    %run6, %h6, %c6 = func.call @gate512x28(%x5, %h5, %c5, %g1b2_gate_W, %g1b2_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map512x28, !state, !state, !gate512x28, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x6 = func.call @maybe512x28to512x28(%run6, %x5, %x5, %g1b3_c1, %g1b3_n1_g, %g1b3_n1_b,
        %g1b3_n1_mean, %g1b3_n1_var, %g1b3_c2, %g1b3_n2_g, %g1b3_n2_b, %g1b3_n2_mean,
        %g1b3_n2_var, %g1b3_c3, %g1b3_n3_g, %g1b3_n3_b, %g1b3_n3_mean, %g1b3_n3_var)
        : (i1, !map512x28, !map512x28, !filter1by1of512x28to128x28, !vec128x28, !vec128x28,
           !vec128x28, !vec128x28, !filter3by1of128x28to128x28, !vec128x28, !vec128x28,
           !vec128x28, !vec128x28, !filter1by1of128x28to512x28, !vec512x28, !vec512x28,
           !vec512x28, !vec512x28) -> !map512x28

    %run7, %h7, %c7 = func.call @gate512x28(%x6, %h6, %c6, %g1b3_gate_W, %g1b3_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map512x28, !state, !state, !gate512x28, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %s7 = func.call @layer1by2of512x28to1024x14(%x6, %g2b0_ds, %g2b0_ds_n_g, %g2b0_ds_n_b,
        %g2b0_ds_n_mean, %g2b0_ds_n_var)
        : (!map512x28, !filter1by2of512x28to1024x14, !vec1024x14, !vec1024x14, !vec1024x14,
           !vec1024x14) -> !map1024x14
    %x7 = func.call @maybe512x28to1024x14(%run7, %x6, %s7, %g2b0_c1, %g2b0_n1_g, %g2b0_n1_b,
        %g2b0_n1_mean, %g2b0_n1_var, %g2b0_c2, %g2b0_n2_g, %g2b0_n2_b, %g2b0_n2_mean,
        %g2b0_n2_var, %g2b0_c3, %g2b0_n3_g, %g2b0_n3_b, %g2b0_n3_mean, %g2b0_n3_var)
        : (i1, !map512x28, !map1024x14, !filter1by1of512x28to256x28, !vec256x28, !vec256x28,
           !vec256x28, !vec256x28, !filter3by2of256x28to256x14, !vec256x14, !vec256x14,
           !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14) -> !map1024x14

    %run8, %h8, %c8 = func.call @gate1024x14(%x7, %h7, %c7, %g2b0_gate_W, %g2b0_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x8 = func.call @maybe1024x14to1024x14(%run8, %x7, %x7, %g2b1_c1, %g2b1_n1_g,
        %g2b1_n1_b, %g2b1_n1_mean, %g2b1_n1_var, %g2b1_c2, %g2b1_n2_g, %g2b1_n2_b,
        %g2b1_n2_mean, %g2b1_n2_var, %g2b1_c3, %g2b1_n3_g, %g2b1_n3_b, %g2b1_n3_mean,
        %g2b1_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run9, %h9, %c9 = func.call @gate1024x14(%x8, %h8, %c8, %g2b1_gate_W, %g2b1_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x9 = func.call @maybe1024x14to1024x14(%run9, %x8, %x8, %g2b2_c1, %g2b2_n1_g,
        %g2b2_n1_b, %g2b2_n1_mean, %g2b2_n1_var, %g2b2_c2, %g2b2_n2_g, %g2b2_n2_b,
        %g2b2_n2_mean, %g2b2_n2_var, %g2b2_c3, %g2b2_n3_g, %g2b2_n3_b, %g2b2_n3_mean,
        %g2b2_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run10, %h10, %c10 = func.call @gate1024x14(%x9, %h9, %c9, %g2b2_gate_W, %g2b2_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x10 = func.call @maybe1024x14to1024x14(%run10, %x9, %x9, %g2b3_c1, %g2b3_n1_g,
        %g2b3_n1_b, %g2b3_n1_mean, %g2b3_n1_var, %g2b3_c2, %g2b3_n2_g, %g2b3_n2_b,
        %g2b3_n2_mean, %g2b3_n2_var, %g2b3_c3, %g2b3_n3_g, %g2b3_n3_b, %g2b3_n3_mean,
        %g2b3_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run11, %h11, %c11 = func.call @gate1024x14(%x10, %h10, %c10, %g2b3_gate_W,
        %g2b3_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x11 = func.call @maybe1024x14to1024x14(%run11, %x10, %x10, %g2b4_c1, %g2b4_n1_g,
        %g2b4_n1_b, %g2b4_n1_mean, %g2b4_n1_var, %g2b4_c2, %g2b4_n2_g, %g2b4_n2_b,
        %g2b4_n2_mean, %g2b4_n2_var, %g2b4_c3, %g2b4_n3_g, %g2b4_n3_b, %g2b4_n3_mean,
        %g2b4_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run12, %h12, %c12 = func.call @gate1024x14(%x11, %h11, %c11, %g2b4_gate_W,
        %g2b4_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x12 = func.call @maybe1024x14to1024x14(%run12, %x11, %x11, %g2b5_c1, %g2b5_n1_g,
        %g2b5_n1_b, %g2b5_n1_mean, %g2b5_n1_var, %g2b5_c2, %g2b5_n2_g, %g2b5_n2_b,
        %g2b5_n2_mean, %g2b5_n2_var, %g2b5_c3, %g2b5_n3_g, %g2b5_n3_b, %g2b5_n3_mean,
        %g2b5_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run13, %h13, %c13 = func.call @gate1024x14(%x12, %h12, %c12, %g2b5_gate_W,
        %g2b5_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x13 = func.call @maybe1024x14to1024x14(%run13, %x12, %x12, %g2b6_c1, %g2b6_n1_g,
        %g2b6_n1_b, %g2b6_n1_mean, %g2b6_n1_var, %g2b6_c2, %g2b6_n2_g, %g2b6_n2_b,
        %g2b6_n2_mean, %g2b6_n2_var, %g2b6_c3, %g2b6_n3_g, %g2b6_n3_b, %g2b6_n3_mean,
        %g2b6_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run14, %h14, %c14 = func.call @gate1024x14(%x13, %h13, %c13, %g2b6_gate_W,
        %g2b6_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x14 = func.call @maybe1024x14to1024x14(%run14, %x13, %x13, %g2b7_c1, %g2b7_n1_g,
        %g2b7_n1_b, %g2b7_n1_mean, %g2b7_n1_var, %g2b7_c2, %g2b7_n2_g, %g2b7_n2_b,
        %g2b7_n2_mean, %g2b7_n2_var, %g2b7_c3, %g2b7_n3_g, %g2b7_n3_b, %g2b7_n3_mean,
        %g2b7_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run15, %h15, %c15 = func.call @gate1024x14(%x14, %h14, %c14, %g2b7_gate_W,
        %g2b7_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x15 = func.call @maybe1024x14to1024x14(%run15, %x14, %x14, %g2b8_c1, %g2b8_n1_g,
        %g2b8_n1_b, %g2b8_n1_mean, %g2b8_n1_var, %g2b8_c2, %g2b8_n2_g, %g2b8_n2_b,
        %g2b8_n2_mean, %g2b8_n2_var, %g2b8_c3, %g2b8_n3_g, %g2b8_n3_b, %g2b8_n3_mean,
        %g2b8_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run16, %h16, %c16 = func.call @gate1024x14(%x15, %h15, %c15, %g2b8_gate_W,
        %g2b8_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x16 = func.call @maybe1024x14to1024x14(%run16, %x15, %x15, %g2b9_c1, %g2b9_n1_g,
        %g2b9_n1_b, %g2b9_n1_mean, %g2b9_n1_var, %g2b9_c2, %g2b9_n2_g, %g2b9_n2_b,
        %g2b9_n2_mean, %g2b9_n2_var, %g2b9_c3, %g2b9_n3_g, %g2b9_n3_b, %g2b9_n3_mean,
        %g2b9_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run17, %h17, %c17 = func.call @gate1024x14(%x16, %h16, %c16, %g2b9_gate_W,
        %g2b9_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x17 = func.call @maybe1024x14to1024x14(%run17, %x16, %x16, %g2b10_c1, %g2b10_n1_g,
        %g2b10_n1_b, %g2b10_n1_mean, %g2b10_n1_var, %g2b10_c2, %g2b10_n2_g, %g2b10_n2_b,
        %g2b10_n2_mean, %g2b10_n2_var, %g2b10_c3, %g2b10_n3_g, %g2b10_n3_b, %g2b10_n3_mean,
        %g2b10_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run18, %h18, %c18 = func.call @gate1024x14(%x17, %h17, %c17, %g2b10_gate_W,
        %g2b10_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x18 = func.call @maybe1024x14to1024x14(%run18, %x17, %x17, %g2b11_c1, %g2b11_n1_g,
        %g2b11_n1_b, %g2b11_n1_mean, %g2b11_n1_var, %g2b11_c2, %g2b11_n2_g, %g2b11_n2_b,
        %g2b11_n2_mean, %g2b11_n2_var, %g2b11_c3, %g2b11_n3_g, %g2b11_n3_b, %g2b11_n3_mean,
        %g2b11_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run19, %h19, %c19 = func.call @gate1024x14(%x18, %h18, %c18, %g2b11_gate_W,
        %g2b11_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x19 = func.call @maybe1024x14to1024x14(%run19, %x18, %x18, %g2b12_c1, %g2b12_n1_g,
        %g2b12_n1_b, %g2b12_n1_mean, %g2b12_n1_var, %g2b12_c2, %g2b12_n2_g, %g2b12_n2_b,
        %g2b12_n2_mean, %g2b12_n2_var, %g2b12_c3, %g2b12_n3_g, %g2b12_n3_b, %g2b12_n3_mean,
        %g2b12_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run20, %h20, %c20 = func.call @gate1024x14(%x19, %h19, %c19, %g2b12_gate_W,
        %g2b12_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x20 = func.call @maybe1024x14to1024x14(%run20, %x19, %x19, %g2b13_c1, %g2b13_n1_g,
        %g2b13_n1_b, %g2b13_n1_mean, %g2b13_n1_var, %g2b13_c2, %g2b13_n2_g, %g2b13_n2_b,
        %g2b13_n2_mean, %g2b13_n2_var, %g2b13_c3, %g2b13_n3_g, %g2b13_n3_b, %g2b13_n3_mean,
        %g2b13_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run21, %h21, %c21 = func.call @gate1024x14(%x20, %h20, %c20, %g2b13_gate_W,
        %g2b13_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x21 = func.call @maybe1024x14to1024x14(%run21, %x20, %x20, %g2b14_c1, %g2b14_n1_g,
        %g2b14_n1_b, %g2b14_n1_mean, %g2b14_n1_var, %g2b14_c2, %g2b14_n2_g, %g2b14_n2_b,
        %g2b14_n2_mean, %g2b14_n2_var, %g2b14_c3, %g2b14_n3_g, %g2b14_n3_b, %g2b14_n3_mean,
        %g2b14_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run22, %h22, %c22 = func.call @gate1024x14(%x21, %h21, %c21, %g2b14_gate_W,
        %g2b14_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x22 = func.call @maybe1024x14to1024x14(%run22, %x21, %x21, %g2b15_c1, %g2b15_n1_g,
        %g2b15_n1_b, %g2b15_n1_mean, %g2b15_n1_var, %g2b15_c2, %g2b15_n2_g, %g2b15_n2_b,
        %g2b15_n2_mean, %g2b15_n2_var, %g2b15_c3, %g2b15_n3_g, %g2b15_n3_b, %g2b15_n3_mean,
        %g2b15_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run23, %h23, %c23 = func.call @gate1024x14(%x22, %h22, %c22, %g2b15_gate_W,
        %g2b15_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x23 = func.call @maybe1024x14to1024x14(%run23, %x22, %x22, %g2b16_c1, %g2b16_n1_g,
        %g2b16_n1_b, %g2b16_n1_mean, %g2b16_n1_var, %g2b16_c2, %g2b16_n2_g, %g2b16_n2_b,
        %g2b16_n2_mean, %g2b16_n2_var, %g2b16_c3, %g2b16_n3_g, %g2b16_n3_b, %g2b16_n3_mean,
        %g2b16_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run24, %h24, %c24 = func.call @gate1024x14(%x23, %h23, %c23, %g2b16_gate_W,
        %g2b16_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x24 = func.call @maybe1024x14to1024x14(%run24, %x23, %x23, %g2b17_c1, %g2b17_n1_g,
        %g2b17_n1_b, %g2b17_n1_mean, %g2b17_n1_var, %g2b17_c2, %g2b17_n2_g, %g2b17_n2_b,
        %g2b17_n2_mean, %g2b17_n2_var, %g2b17_c3, %g2b17_n3_g, %g2b17_n3_b, %g2b17_n3_mean,
        %g2b17_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run25, %h25, %c25 = func.call @gate1024x14(%x24, %h24, %c24, %g2b17_gate_W,
        %g2b17_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x25 = func.call @maybe1024x14to1024x14(%run25, %x24, %x24, %g2b18_c1, %g2b18_n1_g,
        %g2b18_n1_b, %g2b18_n1_mean, %g2b18_n1_var, %g2b18_c2, %g2b18_n2_g, %g2b18_n2_b,
        %g2b18_n2_mean, %g2b18_n2_var, %g2b18_c3, %g2b18_n3_g, %g2b18_n3_b, %g2b18_n3_mean,
        %g2b18_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run26, %h26, %c26 = func.call @gate1024x14(%x25, %h25, %c25, %g2b18_gate_W,
        %g2b18_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x26 = func.call @maybe1024x14to1024x14(%run26, %x25, %x25, %g2b19_c1, %g2b19_n1_g,
        %g2b19_n1_b, %g2b19_n1_mean, %g2b19_n1_var, %g2b19_c2, %g2b19_n2_g, %g2b19_n2_b,
        %g2b19_n2_mean, %g2b19_n2_var, %g2b19_c3, %g2b19_n3_g, %g2b19_n3_b, %g2b19_n3_mean,
        %g2b19_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run27, %h27, %c27 = func.call @gate1024x14(%x26, %h26, %c26, %g2b19_gate_W,
        %g2b19_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x27 = func.call @maybe1024x14to1024x14(%run27, %x26, %x26, %g2b20_c1, %g2b20_n1_g,
        %g2b20_n1_b, %g2b20_n1_mean, %g2b20_n1_var, %g2b20_c2, %g2b20_n2_g, %g2b20_n2_b,
        %g2b20_n2_mean, %g2b20_n2_var, %g2b20_c3, %g2b20_n3_g, %g2b20_n3_b, %g2b20_n3_mean,
        %g2b20_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run28, %h28, %c28 = func.call @gate1024x14(%x27, %h27, %c27, %g2b20_gate_W,
        %g2b20_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x28 = func.call @maybe1024x14to1024x14(%run28, %x27, %x27, %g2b21_c1, %g2b21_n1_g,
        %g2b21_n1_b, %g2b21_n1_mean, %g2b21_n1_var, %g2b21_c2, %g2b21_n2_g, %g2b21_n2_b,
        %g2b21_n2_mean, %g2b21_n2_var, %g2b21_c3, %g2b21_n3_g, %g2b21_n3_b, %g2b21_n3_mean,
        %g2b21_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run29, %h29, %c29 = func.call @gate1024x14(%x28, %h28, %c28, %g2b21_gate_W,
        %g2b21_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x29 = func.call @maybe1024x14to1024x14(%run29, %x28, %x28, %g2b22_c1, %g2b22_n1_g,
        %g2b22_n1_b, %g2b22_n1_mean, %g2b22_n1_var, %g2b22_c2, %g2b22_n2_g, %g2b22_n2_b,
        %g2b22_n2_mean, %g2b22_n2_var, %g2b22_c3, %g2b22_n3_g, %g2b22_n3_b, %g2b22_n3_mean,
        %g2b22_n3_var)
        : (i1, !map1024x14, !map1024x14, !filter1by1of1024x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter3by1of256x14to256x14, !vec256x14,
           !vec256x14, !vec256x14, !vec256x14, !filter1by1of256x14to1024x14, !vec1024x14,
           !vec1024x14, !vec1024x14, !vec1024x14) -> !map1024x14

    %run30, %h30, %c30 = func.call @gate1024x14(%x29, %h29, %c29, %g2b22_gate_W,
        %g2b22_gate_b, %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g,
        %rnn_U_g, %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map1024x14, !state, !state, !gate1024x14, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %s30 = func.call @layer1by2of1024x14to2048x7(%x29, %g3b0_ds, %g3b0_ds_n_g, %g3b0_ds_n_b,
        %g3b0_ds_n_mean, %g3b0_ds_n_var)
        : (!map1024x14, !filter1by2of1024x14to2048x7, !vec2048x7, !vec2048x7, !vec2048x7,
           !vec2048x7) -> !map2048x7
    %x30 = func.call @maybe1024x14to2048x7(%run30, %x29, %s30, %g3b0_c1, %g3b0_n1_g,
        %g3b0_n1_b, %g3b0_n1_mean, %g3b0_n1_var, %g3b0_c2, %g3b0_n2_g, %g3b0_n2_b,
        %g3b0_n2_mean, %g3b0_n2_var, %g3b0_c3, %g3b0_n3_g, %g3b0_n3_b, %g3b0_n3_mean,
        %g3b0_n3_var)
        : (i1, !map1024x14, !map2048x7, !filter1by1of1024x14to512x14, !vec512x14,
           !vec512x14, !vec512x14, !vec512x14, !filter3by2of512x14to512x7, !vec512x7,
           !vec512x7, !vec512x7, !vec512x7, !filter1by1of512x7to2048x7, !vec2048x7,
           !vec2048x7, !vec2048x7, !vec2048x7) -> !map2048x7

    %run31, %h31, %c31 = func.call @gate2048x7(%x30, %h30, %c30, %g3b0_gate_W, %g3b0_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map2048x7, !state, !state, !gate2048x7, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x31 = func.call @maybe2048x7to2048x7(%run31, %x30, %x30, %g3b1_c1, %g3b1_n1_g,
        %g3b1_n1_b, %g3b1_n1_mean, %g3b1_n1_var, %g3b1_c2, %g3b1_n2_g, %g3b1_n2_b,
        %g3b1_n2_mean, %g3b1_n2_var, %g3b1_c3, %g3b1_n3_g, %g3b1_n3_b, %g3b1_n3_mean,
        %g3b1_n3_var)
        : (i1, !map2048x7, !map2048x7, !filter1by1of2048x7to512x7, !vec512x7, !vec512x7,
           !vec512x7, !vec512x7, !filter3by1of512x7to512x7, !vec512x7, !vec512x7, !vec512x7,
           !vec512x7, !filter1by1of512x7to2048x7, !vec2048x7, !vec2048x7, !vec2048x7,
           !vec2048x7) -> !map2048x7

    %run32, %h32, %c32 = func.call @gate2048x7(%x31, %h31, %c31, %g3b1_gate_W, %g3b1_gate_b,
        %rnn_W_i, %rnn_U_i, %rnn_b_i, %rnn_W_f, %rnn_U_f, %rnn_b_f, %rnn_W_g, %rnn_U_g,
        %rnn_b_g, %rnn_W_o, %rnn_U_o, %rnn_b_o, %rnn_proj, %rnn_proj_b)
        : (!map2048x7, !state, !state, !gate2048x7, !state, !square, !square, !state,
           !square, !square, !state, !square, !square, !state, !square, !square, !state,
           !project, !number) -> (i1, !state, !state)
    %x32 = func.call @maybe2048x7to2048x7(%run32, %x31, %x31, %g3b2_c1, %g3b2_n1_g,
        %g3b2_n1_b, %g3b2_n1_mean, %g3b2_n1_var, %g3b2_c2, %g3b2_n2_g, %g3b2_n2_b,
        %g3b2_n2_mean, %g3b2_n2_var, %g3b2_c3, %g3b2_n3_g, %g3b2_n3_b, %g3b2_n3_mean,
        %g3b2_n3_var)
        : (i1, !map2048x7, !map2048x7, !filter1by1of2048x7to512x7, !vec512x7, !vec512x7,
           !vec512x7, !vec512x7, !filter3by1of512x7to512x7, !vec512x7, !vec512x7, !vec512x7,
           !vec512x7, !filter1by1of512x7to2048x7, !vec2048x7, !vec2048x7, !vec2048x7,
           !vec2048x7) -> !map2048x7

    %mean = func.call @mean2048x7(%x32)
        : (!map2048x7) -> !vec2048x7
    %logits = linalg.matvec ins(%fc_W, %mean : !of_classes, !vec2048x7)
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
    %n18 = arith.extui %run18 : i1 to i32
    %n19 = arith.extui %run19 : i1 to i32
    %n20 = arith.extui %run20 : i1 to i32
    %n21 = arith.extui %run21 : i1 to i32
    %n22 = arith.extui %run22 : i1 to i32
    %n23 = arith.extui %run23 : i1 to i32
    %n24 = arith.extui %run24 : i1 to i32
    %n25 = arith.extui %run25 : i1 to i32
    %n26 = arith.extui %run26 : i1 to i32
    %n27 = arith.extui %run27 : i1 to i32
    %n28 = arith.extui %run28 : i1 to i32
    %n29 = arith.extui %run29 : i1 to i32
    %n30 = arith.extui %run30 : i1 to i32
    %n31 = arith.extui %run31 : i1 to i32
    %n32 = arith.extui %run32 : i1 to i32
    %flags = tensor.from_elements %always, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8, %n9,
        %n10, %n11, %n12, %n13, %n14, %n15, %n16, %n17, %n18, %n19, %n20, %n21, %n22, %n23,
        %n24, %n25, %n26, %n27, %n28, %n29, %n30, %n31, %n32
        : !flags
    %cls = func.call @argmax(%logits) : (!classes) -> !tag
    return %logits, %flags, %cls : !classes, !flags, !tag
  }
}
