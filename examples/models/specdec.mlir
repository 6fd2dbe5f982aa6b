// Speculative decoding, greedy. A small transformer, the draft, writes 4 words. A large one,
// the target, reads them all at once. It keeps those that it would have written, and adds a
// word. Decoding stops when a word is the end or `limit` words are written.
//
//   draft   : y_i = argmax d(words so far, y_1 .. y_i-1)
//   target  : t_i = argmax t(words so far, y_1 .. y_i-1), for all i up to 5 at once
//   n is the first i with y_i+1 != t_i+1, or 4; y_1 .. y_n and t_n+1 are written
//   layer   : x += W_o attend(q, K, V) + b_o with q, k, v = W_* norm1(x) + b_*
//             x += W_2 gelu(W_1 norm2(x) + b_1) + b_2
//   attend  : softmax(q K^T / sqrt(D)) V for each of 4 heads, over the tokens so far
//   logits  = W_out norm(x), for x = E[word] + pos[position] after all layers
//
// Keys and values of a token are computed once. They are stored in lists, to which each
// token appends a row. A round keeps the rows of written words. No wait depends on the
// draft: its words are data, and control waits once per round, for n.
//
// Written by test/Integration/speculative_models.py. Run it:
//   test/Integration/speculative_models.py specdec \
//     --params=specdec.safetensors
//   batch-run examples/models/specdec.mlir --params=specdec.safetensors \
//     --inputs=random:1,10 --batch=10 --strategy=lazy --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!inner = tensor<1013xf32>
!to_inner = tensor<1013x256xf32>
!from_inner = tensor<256x1013xf32>
!heads = tensor<4x64xf32>
!rows = tensor<?x4x64xf32>
!scores = tensor<?x4xf32>
!sums = tensor<4xf32>
!emb = tensor<?x256xf32>
!out = tensor<4000x256xf32>
!classes = tensor<4000xf32>
!scalar = tensor<f32>
!token = tensor<i32>
!drafted = tensor<6xi32>
!flags = tensor<2xi32>
!words = !rec.list<index>
!tokens = tensor<?xi32>
!rounds = !rec.list<i32>
!verdicts = tensor<?x2xi32>

#id = affine_map<(d) -> (d)>
#none = affine_map<(d) -> ()>
#key = affine_map<(token, head, d) -> (token, head, d)>
#query = affine_map<(token, head, d) -> (head, d)>
#score = affine_map<(token, head, d) -> (token, head)>
#all = affine_map<(token, head) -> (token, head)>
#head = affine_map<(token, head) -> (head)>

// Types have other numbers for D and F, so that each follows one size.
module attributes {batch.sizes = {D = 64 : index, F = [1013 : index, 1024 : index],
                                  V = 4000 : index}} {
  // (x - mean) / sqrt(variance + 1e-5) * g + b
  func.func private @norm(%x: !vec, %g: !vec, %b: !vec) -> !vec {
    %c0 = arith.constant 0 : index
    %size = tensor.dim %x, %c0 : !vec
    %number = arith.index_cast %size : index to i32
    %n = arith.sitofp %number : i32 to f32
    %epsilon = arith.constant 1.0e-5 : f32
    %zero = arith.constant dense<0.0> : !scalar
    %sum = linalg.reduce { arith.addf } ins(%x : !vec) outs(%zero : !scalar)
        dimensions = [0]
    %squares = linalg.generic {indexing_maps = [#id, #none, #none],
                               iterator_types = ["reduction"]}
        ins(%x, %sum : !vec, !scalar) outs(%zero : !scalar) {
    ^bb0(%v: f32, %s: f32, %so_far: f32):
      %mean = arith.divf %s, %n : f32
      %d = arith.subf %v, %mean : f32
      %square = arith.mulf %d, %d : f32
      %next = arith.addf %so_far, %square : f32
      linalg.yield %next : f32
    } -> !scalar
    %empty = tensor.empty() : !vec
    %y = linalg.generic {indexing_maps = [#id, #none, #none, #id, #id, #id],
                         iterator_types = ["parallel"]}
        ins(%x, %sum, %squares, %g, %b : !vec, !scalar, !scalar, !vec, !vec)
        outs(%empty : !vec) {
    ^bb0(%v: f32, %s: f32, %square: f32, %scale: f32, %offset: f32, %out: f32):
      %mean = arith.divf %s, %n : f32
      %d = arith.subf %v, %mean : f32
      %variance = arith.divf %square, %n : f32
      %positive = arith.addf %variance, %epsilon : f32
      %inverse = math.rsqrt %positive : f32
      %normal = arith.mulf %d, %inverse : f32
      %scaled = arith.mulf %normal, %scale : f32
      %r = arith.addf %scaled, %offset : f32
      linalg.yield %r : f32
    } -> !vec
    return %y : !vec
  }

  // W x + b, by heads.
  func.func private @split(%x: !vec, %W: !mat, %b: !vec) -> !heads {
    %a = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %y = tensor.expand_shape %a [[0, 1]] output_shape [4, 64] : !vec into !heads
    return %y : !heads
  }

  func.func private @attend(%q: !heads, %K: !rows, %V: !rows) -> !vec {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %tokens = tensor.dim %K, %c0 : !rows
    %empty = tensor.empty(%tokens) : !scores
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : !scores) -> !scores
    %products = linalg.generic {indexing_maps = [#key, #query, #score],
                                iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%K, %q : !rows, !heads) outs(%zeros : !scores) {
    ^bb0(%k: f32, %qd: f32, %so_far: f32):
      %product = arith.mulf %k, %qd : f32
      %next = arith.addf %so_far, %product : f32
      linalg.yield %next : f32
    } -> !scores
    %size = tensor.dim %q, %c1 : !heads
    %number = arith.index_cast %size : index to i32
    %square = arith.sitofp %number : i32 to f32
    %root = math.sqrt %square : f32
    %low = arith.constant dense<0xFF800000> : !sums
    %most = linalg.reduce { arith.maximumf } ins(%products : !scores) outs(%low : !sums)
        dimensions = [0]
    %weights = linalg.generic {indexing_maps = [#all, #head, #all],
                               iterator_types = ["parallel", "parallel"]}
        ins(%products, %most : !scores, !sums) outs(%empty : !scores) {
    ^bb0(%product: f32, %max: f32, %out: f32):
      %below = arith.subf %product, %max : f32
      %score = arith.divf %below, %root : f32
      %weight = math.exp %score : f32
      linalg.yield %weight : f32
    } -> !scores
    %start = arith.constant dense<0.0> : !sums
    %sum = linalg.reduce { arith.addf } ins(%weights : !scores) outs(%start : !sums)
        dimensions = [0]
    %none = arith.constant dense<0.0> : !heads
    %y = linalg.generic {indexing_maps = [#score, #key, #query],
                         iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%weights, %V : !scores, !rows) outs(%none : !heads) {
    ^bb0(%weight: f32, %v: f32, %so_far: f32):
      %product = arith.mulf %weight, %v : f32
      %next = arith.addf %so_far, %product : f32
      linalg.yield %next : f32
    } -> !heads
    %free = tensor.empty() : !heads
    %sums = linalg.broadcast ins(%sum : !sums) outs(%free : !heads) dimensions = [1]
    %mean = arith.divf %y, %sums : !heads
    %all = tensor.collapse_shape %mean [[0, 1]] : !heads into !vec
    return %all : !vec
  }

  // W_2 gelu(W_1 x + b_1) + b_2
  func.func private @forward(%x: !vec, %W_1: !to_inner, %b_1: !inner, %W_2: !from_inner,
                             %b_2: !vec) -> !vec {
    %a = linalg.matvec ins(%W_1, %x : !to_inner, !vec) outs(%b_1 : !inner) -> !inner
    %half = arith.constant dense<0.5> : !inner
    %root = arith.constant dense<0.70710678> : !inner
    %one = arith.constant dense<1.0> : !inner
    %scaled = arith.mulf %a, %root : !inner
    %erf = math.erf %scaled : !inner
    %more = arith.addf %one, %erf : !inner
    %halved = arith.mulf %a, %half : !inner
    %gelu = arith.mulf %halved, %more : !inner
    %y = linalg.matvec ins(%W_2, %gelu : !from_inner, !inner) outs(%b_2 : !vec) -> !vec
    return %y : !vec
  }

  // The result of a layer for a token, and the keys and values including its own.
  func.func private @layer(%x: !vec, %Ks: !rows, %Vs: !rows, %ln1_g: !vec,
                          %ln1_b: !vec, %q_W: !mat, %q_b: !vec, %k_W: !mat, %k_b: !vec,
                          %v_W: !mat, %v_b: !vec, %o_W: !mat, %o_b: !vec, %ln2_g: !vec,
                          %ln2_b: !vec, %ff1_W: !to_inner, %ff1_b: !inner,
                          %ff2_W: !from_inner, %ff2_b: !vec)
      -> (!vec, !rows, !rows) {
    %a = func.call @norm(%x, %ln1_g, %ln1_b) : (!vec, !vec, !vec) -> !vec
    %q = func.call @split(%a, %q_W, %q_b) : (!vec, !mat, !vec) -> !heads
    %k = func.call @split(%a, %k_W, %k_b) : (!vec, !mat, !vec) -> !heads
    %v = func.call @split(%a, %v_W, %v_b) : (!vec, !mat, !vec) -> !heads
    %K = rec.append %Ks, %k : !rows
    %V = rec.append %Vs, %v : !rows
    %y = func.call @attend(%q, %K, %V) : (!heads, !rows, !rows) -> !vec
    %o = linalg.matvec ins(%o_W, %y : !mat, !vec) outs(%o_b : !vec) -> !vec
    %xo = arith.addf %x, %o : !vec
    %b = func.call @norm(%xo, %ln2_g, %ln2_b) : (!vec, !vec, !vec) -> !vec
    %f = func.call @forward(%b, %ff1_W, %ff1_b, %ff2_W, %ff2_b)
        : (!vec, !to_inner, !inner, !from_inner, !vec) -> !vec
    %next = arith.addf %xo, %f : !vec
    return %next, %K, %V : !vec, !rows, !rows
  }

  // E[token] + pos[position]
  func.func private @embed(%token: i32, %position: index, %E: !emb, %pos: !emb) -> !vec {
    %word = arith.index_cast %token : i32 to index
    %e = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
    %p = tensor.extract_slice %pos[%position, 0] [1, 256] [1, 1] : !emb to !vec
    %x = arith.addf %e, %p : !vec
    return %x : !vec
  }

  func.func private @logits(%x: !vec, %g: !vec, %b: !vec, %W_out: !out) -> !classes {
    %a = func.call @norm(%x, %g, %b) : (!vec, !vec, !vec) -> !vec
    %zero = arith.constant dense<0.0> : !classes
    %logits = linalg.matvec ins(%W_out, %a : !out, !vec) outs(%zero : !classes) -> !classes
    return %logits : !classes
  }

  // The rows before a round, and the first `count` rows that the round adds.
  func.func private @kept(%before: !rows, %after: !rows, %count: index) -> !rows {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = rec.length %before : !rows
    %r = scf.for %i = %c0 to %count step %c1 iter_args(%rows = %before) -> !rows {
      %place = arith.addi %first, %i : index
      %x = rec.element %after[%place] : !rows -> !heads
      %more = rec.append %rows, %x : !rows
      scf.yield %more : !rows
    }
    return %r : !rows
  }

  // The smallest i whose word is not accepted, and the smallest i whose word is the end, by
  // the verdicts of a round. Each is 5 if there is none.
  func.func private @judge(%verdicts: !verdicts) -> !flags {
    %last = arith.constant dense<5> : !flags
    %least = linalg.reduce { arith.minsi } ins(%verdicts : !verdicts) outs(%last : !flags)
        dimensions = [0]
    return %least : !flags
  }

  // The position of the first largest logit.
  func.func private @argmax(%logits: !classes) -> i32 {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%logits : !classes) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !token
    %first = linalg.generic {indexing_maps = [#id, #none, #none],
                             iterator_types = ["reduction"]}
        ins(%logits, %most : !classes, !scalar) outs(%none : !token) {
    ^bb0(%logit: f32, %max: f32, %before: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %logit, %max : f32
      %candidate = arith.select %is, %here, %before : i32
      %least = arith.minsi %candidate, %before : i32
      linalg.yield %least : i32
    } -> !token
    %word = tensor.extract %first[] : !token
    return %word : i32
  }

  // The word of the target at place i, and its verdict on the draft's word.
  func.func private @verify(%x: !vec, %drafted: !drafted, %i: index, %g: !vec, %b: !vec,
                            %W_out: !out) -> (!token, !flags) {
    %logits = func.call @logits(%x, %g, %b, %W_out) : (!vec, !vec, !vec, !out) -> !classes
    %out = func.call @argmax(%logits) : (!classes) -> i32
    %c1 = arith.constant 1 : index
    %next = arith.addi %i, %c1 : index
    %y = tensor.extract %drafted[%next] : !drafted
    %accepted = arith.cmpi eq, %out, %y : i32
    %zero = arith.constant 0 : i32
    %none = arith.constant 5 : i32
    %place = arith.index_cast %i : index to i32
    %is_end = arith.cmpi eq, %out, %zero : i32
    %missed = arith.select %accepted, %none, %place : i32
    %ended = arith.select %is_end, %place, %none : i32
    %flags = tensor.from_elements %missed, %ended : !flags
    %token = tensor.from_elements %out : !token
    return %token, %flags : !token, !flags
  }

  func.func @main(%words: !words {batch.name = "tokens"},
                  %limit: i32 {batch.name = "limit"}, %d_E: !emb {batch.shared = "d.E"},
                  %d_pos: !emb {batch.shared = "d.pos"},
                  %d_0_ln1_g: !vec {batch.shared = "d.0.ln1.g"},
                  %d_0_ln1_b: !vec {batch.shared = "d.0.ln1.b"},
                  %d_0_q_W: !mat {batch.shared = "d.0.q.W"},
                  %d_0_q_b: !vec {batch.shared = "d.0.q.b"},
                  %d_0_k_W: !mat {batch.shared = "d.0.k.W"},
                  %d_0_k_b: !vec {batch.shared = "d.0.k.b"},
                  %d_0_v_W: !mat {batch.shared = "d.0.v.W"},
                  %d_0_v_b: !vec {batch.shared = "d.0.v.b"},
                  %d_0_o_W: !mat {batch.shared = "d.0.o.W"},
                  %d_0_o_b: !vec {batch.shared = "d.0.o.b"},
                  %d_0_ln2_g: !vec {batch.shared = "d.0.ln2.g"},
                  %d_0_ln2_b: !vec {batch.shared = "d.0.ln2.b"},
                  %d_0_ff1_W: !to_inner {batch.shared = "d.0.ff1.W"},
                  %d_0_ff1_b: !inner {batch.shared = "d.0.ff1.b"},
                  %d_0_ff2_W: !from_inner {batch.shared = "d.0.ff2.W"},
                  %d_0_ff2_b: !vec {batch.shared = "d.0.ff2.b"},
                  %d_lnf_g: !vec {batch.shared = "d.lnf.g"},
                  %d_lnf_b: !vec {batch.shared = "d.lnf.b"},
                  %d_W_out: !out {batch.shared = "d.W_out"},
                  %t_E: !emb {batch.shared = "t.E"},
                  %t_pos: !emb {batch.shared = "t.pos"},
                  %t_0_ln1_g: !vec {batch.shared = "t.0.ln1.g"},
                  %t_0_ln1_b: !vec {batch.shared = "t.0.ln1.b"},
                  %t_0_q_W: !mat {batch.shared = "t.0.q.W"},
                  %t_0_q_b: !vec {batch.shared = "t.0.q.b"},
                  %t_0_k_W: !mat {batch.shared = "t.0.k.W"},
                  %t_0_k_b: !vec {batch.shared = "t.0.k.b"},
                  %t_0_v_W: !mat {batch.shared = "t.0.v.W"},
                  %t_0_v_b: !vec {batch.shared = "t.0.v.b"},
                  %t_0_o_W: !mat {batch.shared = "t.0.o.W"},
                  %t_0_o_b: !vec {batch.shared = "t.0.o.b"},
                  %t_0_ln2_g: !vec {batch.shared = "t.0.ln2.g"},
                  %t_0_ln2_b: !vec {batch.shared = "t.0.ln2.b"},
                  %t_0_ff1_W: !to_inner {batch.shared = "t.0.ff1.W"},
                  %t_0_ff1_b: !inner {batch.shared = "t.0.ff1.b"},
                  %t_0_ff2_W: !from_inner {batch.shared = "t.0.ff2.W"},
                  %t_0_ff2_b: !vec {batch.shared = "t.0.ff2.b"},
                  %t_1_ln1_g: !vec {batch.shared = "t.1.ln1.g"},
                  %t_1_ln1_b: !vec {batch.shared = "t.1.ln1.b"},
                  %t_1_q_W: !mat {batch.shared = "t.1.q.W"},
                  %t_1_q_b: !vec {batch.shared = "t.1.q.b"},
                  %t_1_k_W: !mat {batch.shared = "t.1.k.W"},
                  %t_1_k_b: !vec {batch.shared = "t.1.k.b"},
                  %t_1_v_W: !mat {batch.shared = "t.1.v.W"},
                  %t_1_v_b: !vec {batch.shared = "t.1.v.b"},
                  %t_1_o_W: !mat {batch.shared = "t.1.o.W"},
                  %t_1_o_b: !vec {batch.shared = "t.1.o.b"},
                  %t_1_ln2_g: !vec {batch.shared = "t.1.ln2.g"},
                  %t_1_ln2_b: !vec {batch.shared = "t.1.ln2.b"},
                  %t_1_ff1_W: !to_inner {batch.shared = "t.1.ff1.W"},
                  %t_1_ff1_b: !inner {batch.shared = "t.1.ff1.b"},
                  %t_1_ff2_W: !from_inner {batch.shared = "t.1.ff2.W"},
                  %t_1_ff2_b: !vec {batch.shared = "t.1.ff2.b"},
                  %t_2_ln1_g: !vec {batch.shared = "t.2.ln1.g"},
                  %t_2_ln1_b: !vec {batch.shared = "t.2.ln1.b"},
                  %t_2_q_W: !mat {batch.shared = "t.2.q.W"},
                  %t_2_q_b: !vec {batch.shared = "t.2.q.b"},
                  %t_2_k_W: !mat {batch.shared = "t.2.k.W"},
                  %t_2_k_b: !vec {batch.shared = "t.2.k.b"},
                  %t_2_v_W: !mat {batch.shared = "t.2.v.W"},
                  %t_2_v_b: !vec {batch.shared = "t.2.v.b"},
                  %t_2_o_W: !mat {batch.shared = "t.2.o.W"},
                  %t_2_o_b: !vec {batch.shared = "t.2.o.b"},
                  %t_2_ln2_g: !vec {batch.shared = "t.2.ln2.g"},
                  %t_2_ln2_b: !vec {batch.shared = "t.2.ln2.b"},
                  %t_2_ff1_W: !to_inner {batch.shared = "t.2.ff1.W"},
                  %t_2_ff1_b: !inner {batch.shared = "t.2.ff1.b"},
                  %t_2_ff2_W: !from_inner {batch.shared = "t.2.ff2.W"},
                  %t_2_ff2_b: !vec {batch.shared = "t.2.ff2.b"},
                  %t_3_ln1_g: !vec {batch.shared = "t.3.ln1.g"},
                  %t_3_ln1_b: !vec {batch.shared = "t.3.ln1.b"},
                  %t_3_q_W: !mat {batch.shared = "t.3.q.W"},
                  %t_3_q_b: !vec {batch.shared = "t.3.q.b"},
                  %t_3_k_W: !mat {batch.shared = "t.3.k.W"},
                  %t_3_k_b: !vec {batch.shared = "t.3.k.b"},
                  %t_3_v_W: !mat {batch.shared = "t.3.v.W"},
                  %t_3_v_b: !vec {batch.shared = "t.3.v.b"},
                  %t_3_o_W: !mat {batch.shared = "t.3.o.W"},
                  %t_3_o_b: !vec {batch.shared = "t.3.o.b"},
                  %t_3_ln2_g: !vec {batch.shared = "t.3.ln2.g"},
                  %t_3_ln2_b: !vec {batch.shared = "t.3.ln2.b"},
                  %t_3_ff1_W: !to_inner {batch.shared = "t.3.ff1.W"},
                  %t_3_ff1_b: !inner {batch.shared = "t.3.ff1.b"},
                  %t_3_ff2_W: !from_inner {batch.shared = "t.3.ff2.W"},
                  %t_3_ff2_b: !vec {batch.shared = "t.3.ff2.b"},
                  %t_lnf_g: !vec {batch.shared = "t.lnf.g"},
                  %t_lnf_b: !vec {batch.shared = "t.lnf.b"},
                  %t_W_out: !out {batch.shared = "t.W_out"})
      -> (!tokens {batch.name = "out"}, !rounds {batch.name = "accepted"})
      attributes {batch.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = rec.empty : !rows
    %no_tokens = rec.empty : !tokens
    %no_rounds = rec.empty : !rounds
    %no_verdicts = rec.empty : !verdicts
    %length = rec.length %words : !words
    %last_place = arith.subi %length, %c1 : index
    %d_0_K, %d_0_V, %t_0_K, %t_0_V, %t_1_K, %t_1_V, %t_2_K, %t_2_V, %t_3_K, %t_3_V
        = scf.for %i = %c0 to %last_place step %c1 iter_args(%d_0_K_i = %none,
            %d_0_V_i = %none, %t_0_K_i = %none, %t_0_V_i = %none, %t_1_K_i = %none,
            %t_1_V_i = %none, %t_2_K_i = %none, %t_2_V_i = %none, %t_3_K_i = %none,
            %t_3_V_i = %none)
        -> (!rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows) {
      %word = rec.element %words[%i] : !words -> index
      %word32 = arith.index_cast %word : index to i32
      %t_x = func.call @embed(%word32, %i, %t_E, %t_pos)
          : (i32, index, !emb, !emb) -> !vec
      %t_x0, %t_0_K_n, %t_0_V_n = func.call @layer(%t_x, %t_0_K_i, %t_0_V_i, %t_0_ln1_g,
          %t_0_ln1_b, %t_0_q_W, %t_0_q_b, %t_0_k_W, %t_0_k_b, %t_0_v_W, %t_0_v_b,
          %t_0_o_W, %t_0_o_b, %t_0_ln2_g, %t_0_ln2_b, %t_0_ff1_W, %t_0_ff1_b, %t_0_ff2_W,
          %t_0_ff2_b)
          : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
             !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
      %t_x1, %t_1_K_n, %t_1_V_n = func.call @layer(%t_x0, %t_1_K_i, %t_1_V_i, %t_1_ln1_g,
          %t_1_ln1_b, %t_1_q_W, %t_1_q_b, %t_1_k_W, %t_1_k_b, %t_1_v_W, %t_1_v_b,
          %t_1_o_W, %t_1_o_b, %t_1_ln2_g, %t_1_ln2_b, %t_1_ff1_W, %t_1_ff1_b, %t_1_ff2_W,
          %t_1_ff2_b)
          : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
             !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
      %t_x2, %t_2_K_n, %t_2_V_n = func.call @layer(%t_x1, %t_2_K_i, %t_2_V_i, %t_2_ln1_g,
          %t_2_ln1_b, %t_2_q_W, %t_2_q_b, %t_2_k_W, %t_2_k_b, %t_2_v_W, %t_2_v_b,
          %t_2_o_W, %t_2_o_b, %t_2_ln2_g, %t_2_ln2_b, %t_2_ff1_W, %t_2_ff1_b, %t_2_ff2_W,
          %t_2_ff2_b)
          : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
             !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
      %t_unused, %t_3_K_n, %t_3_V_n = func.call @layer(%t_x2, %t_3_K_i, %t_3_V_i,
          %t_3_ln1_g, %t_3_ln1_b, %t_3_q_W, %t_3_q_b, %t_3_k_W, %t_3_k_b, %t_3_v_W,
          %t_3_v_b, %t_3_o_W, %t_3_o_b, %t_3_ln2_g, %t_3_ln2_b, %t_3_ff1_W, %t_3_ff1_b,
          %t_3_ff2_W, %t_3_ff2_b)
          : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
             !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
      %d_x = func.call @embed(%word32, %i, %d_E, %d_pos)
          : (i32, index, !emb, !emb) -> !vec
      %d_unused, %d_0_K_n, %d_0_V_n = func.call @layer(%d_x, %d_0_K_i, %d_0_V_i,
          %d_0_ln1_g, %d_0_ln1_b, %d_0_q_W, %d_0_q_b, %d_0_k_W, %d_0_k_b, %d_0_v_W,
          %d_0_v_b, %d_0_o_W, %d_0_o_b, %d_0_ln2_g, %d_0_ln2_b, %d_0_ff1_W, %d_0_ff1_b,
          %d_0_ff2_W, %d_0_ff2_b)
          : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
             !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
      scf.yield %d_0_K_n, %d_0_V_n, %t_0_K_n, %t_0_V_n, %t_1_K_n, %t_1_V_n, %t_2_K_n,
            %t_2_V_n, %t_3_K_n, %t_3_V_n
          : !rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows
    }
    %last_of_prompt = rec.element %words[%last_place] : !words -> index
    %last_of_prompt32 = arith.index_cast %last_of_prompt : index to i32
    %given = tensor.from_elements %last_of_prompt32 : !token
    %r:15 = scf.while (%tokens = %no_tokens, %rounds = %no_rounds, %last = %given,
                  %p = %last_place, %count = %zero, %d_0_K_r = %d_0_K,
                  %d_0_V_r = %d_0_V, %t_0_K_r = %t_0_K, %t_0_V_r = %t_0_V,
                  %t_1_K_r = %t_1_K, %t_1_V_r = %t_1_V, %t_2_K_r = %t_2_K,
                  %t_2_V_r = %t_2_V, %t_3_K_r = %t_3_K, %t_3_V_r = %t_3_V)
        : (!tokens, !rounds, !token, index, i32, !rows, !rows, !rows, !rows, !rows,
            !rows, !rows, !rows, !rows, !rows)
        -> (!tokens, !rounds, !token, index, i32, !rows, !rows, !rows, !rows, !rows,
            !rows, !rows, !rows, !rows, !rows) {
      %empty = arith.constant dense<-1> : !drafted
      %last_word = tensor.extract %last[] : !token
      %first = tensor.insert %last_word into %empty[%c0] : !drafted
      %drafted, %d_0_K_y, %d_0_V_y
          = scf.for %i = %c0 to %c4 step %c1 iter_args(%so_far = %first,
              %d_0_K_i = %d_0_K_r, %d_0_V_i = %d_0_V_r)
          -> (!drafted, !rows, !rows) {
        %position = arith.addi %p, %i : index
        %token = tensor.extract %so_far[%i] : !drafted
        %d_x = func.call @embed(%token, %position, %d_E, %d_pos)
            : (i32, index, !emb, !emb) -> !vec
        %d_y, %d_0_K_n, %d_0_V_n = func.call @layer(%d_x, %d_0_K_i, %d_0_V_i, %d_0_ln1_g,
            %d_0_ln1_b, %d_0_q_W, %d_0_q_b, %d_0_k_W, %d_0_k_b, %d_0_v_W, %d_0_v_b,
            %d_0_o_W, %d_0_o_b, %d_0_ln2_g, %d_0_ln2_b, %d_0_ff1_W, %d_0_ff1_b, %d_0_ff2_W,
            %d_0_ff2_b)
            : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
               !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
        %logits = func.call @logits(%d_y, %d_lnf_g, %d_lnf_b, %d_W_out)
            : (!vec, !vec, !vec, !out) -> !classes
        %y = func.call @argmax(%logits) : (!classes) -> i32
        %next = arith.addi %i, %c1 : index
        %more = tensor.insert %y into %so_far[%next] : !drafted
        scf.yield %more, %d_0_K_n, %d_0_V_n
            : !drafted, !rows, !rows
      }
      %end = arith.addi %p, %c4 : index
      %last_drafted = tensor.extract %drafted[%c4] : !drafted
      %d_x = func.call @embed(%last_drafted, %end, %d_E, %d_pos)
          : (i32, index, !emb, !emb) -> !vec
      %d_unused, %d_0_K_z, %d_0_V_z = func.call @layer(%d_x, %d_0_K_y, %d_0_V_y,
          %d_0_ln1_g, %d_0_ln1_b, %d_0_q_W, %d_0_q_b, %d_0_k_W, %d_0_k_b, %d_0_v_W,
          %d_0_v_b, %d_0_o_W, %d_0_o_b, %d_0_ln2_g, %d_0_ln2_b, %d_0_ff1_W, %d_0_ff1_b,
          %d_0_ff2_W, %d_0_ff2_b)
          : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
             !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
      %outs, %verdicts, %t_0_K_z, %t_0_V_z, %t_1_K_z, %t_1_V_z, %t_2_K_z, %t_2_V_z,
          %t_3_K_z, %t_3_V_z
          = scf.for %i = %c0 to %c5 step %c1 iter_args(%outs_i = %no_tokens,
              %verdicts_i = %no_verdicts, %t_0_K_i = %t_0_K_r, %t_0_V_i = %t_0_V_r,
              %t_1_K_i = %t_1_K_r, %t_1_V_i = %t_1_V_r, %t_2_K_i = %t_2_K_r,
              %t_2_V_i = %t_2_V_r, %t_3_K_i = %t_3_K_r, %t_3_V_i = %t_3_V_r)
          -> (!tokens, !verdicts, !rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows) {
        %position = arith.addi %p, %i : index
        %token = tensor.extract %drafted[%i] : !drafted
        %t_x = func.call @embed(%token, %position, %t_E, %t_pos)
            : (i32, index, !emb, !emb) -> !vec
        %t_x0, %t_0_K_n, %t_0_V_n = func.call @layer(%t_x, %t_0_K_i, %t_0_V_i, %t_0_ln1_g,
            %t_0_ln1_b, %t_0_q_W, %t_0_q_b, %t_0_k_W, %t_0_k_b, %t_0_v_W, %t_0_v_b,
            %t_0_o_W, %t_0_o_b, %t_0_ln2_g, %t_0_ln2_b, %t_0_ff1_W, %t_0_ff1_b, %t_0_ff2_W,
            %t_0_ff2_b)
            : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
               !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
        %t_x1, %t_1_K_n, %t_1_V_n = func.call @layer(%t_x0, %t_1_K_i, %t_1_V_i, %t_1_ln1_g,
            %t_1_ln1_b, %t_1_q_W, %t_1_q_b, %t_1_k_W, %t_1_k_b, %t_1_v_W, %t_1_v_b,
            %t_1_o_W, %t_1_o_b, %t_1_ln2_g, %t_1_ln2_b, %t_1_ff1_W, %t_1_ff1_b, %t_1_ff2_W,
            %t_1_ff2_b)
            : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
               !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
        %t_x2, %t_2_K_n, %t_2_V_n = func.call @layer(%t_x1, %t_2_K_i, %t_2_V_i, %t_2_ln1_g,
            %t_2_ln1_b, %t_2_q_W, %t_2_q_b, %t_2_k_W, %t_2_k_b, %t_2_v_W, %t_2_v_b,
            %t_2_o_W, %t_2_o_b, %t_2_ln2_g, %t_2_ln2_b, %t_2_ff1_W, %t_2_ff1_b, %t_2_ff2_W,
            %t_2_ff2_b)
            : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
               !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
        %t_y, %t_3_K_n, %t_3_V_n = func.call @layer(%t_x2, %t_3_K_i, %t_3_V_i, %t_3_ln1_g,
            %t_3_ln1_b, %t_3_q_W, %t_3_q_b, %t_3_k_W, %t_3_k_b, %t_3_v_W, %t_3_v_b,
            %t_3_o_W, %t_3_o_b, %t_3_ln2_g, %t_3_ln2_b, %t_3_ff1_W, %t_3_ff1_b, %t_3_ff2_W,
            %t_3_ff2_b)
            : (!vec, !rows, !rows, !vec, !vec, !mat, !vec, !mat, !vec, !mat, !vec, !mat,
               !vec, !vec, !vec, !to_inner, !inner, !from_inner, !vec) -> (!vec, !rows, !rows)
        %out, %flags = func.call @verify(%t_y, %drafted, %i, %t_lnf_g, %t_lnf_b, %t_W_out)
            : (!vec, !drafted, index, !vec, !vec, !out) -> (!token, !flags)
        %more = rec.append %outs_i, %out : !tokens
        %more_verdicts = rec.append %verdicts_i, %flags : !verdicts
        scf.yield %more, %more_verdicts, %t_0_K_n, %t_0_V_n, %t_1_K_n, %t_1_V_n, %t_2_K_n,
              %t_2_V_n, %t_3_K_n, %t_3_V_n
            : !tokens, !verdicts, !rows, !rows, !rows, !rows, !rows, !rows, !rows, !rows
      }
      %judged = func.call @judge(%verdicts) : (!verdicts) -> !flags
      %n = tensor.extract %judged[%c0] : !flags
      %end_place = tensor.extract %judged[%c1] : !flags
      %more_rounds = rec.append %rounds, %n : !rounds
      %last_written = arith.minsi %n, %end_place : i32
      %can_write = arith.addi %last_written, %one : i32
      %room = arith.subi %limit, %count : i32
      %writes = arith.minsi %can_write, %room : i32
      %total = arith.addi %count, %writes : i32
      %written = arith.index_cast %writes : i32 to index
      %all = scf.for %i = %c0 to %written step %c1 iter_args(%so_far = %tokens) -> !tokens {
        %word = rec.element %outs[%i] : !tokens -> !token
        %more = rec.append %so_far, %word : !tokens
        scf.yield %more : !tokens
      }
      %accepted = arith.index_cast %n : i32 to index
      %last_out = rec.element %outs[%accepted] : !tokens -> !token
      %kept = arith.addi %accepted, %c1 : index
      %next_place = arith.addi %p, %kept : index
      %d_0_K_k = func.call @kept(%d_0_K_r, %d_0_K_z, %kept)
          : (!rows, !rows, index) -> !rows
      %d_0_V_k = func.call @kept(%d_0_V_r, %d_0_V_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_0_K_k = func.call @kept(%t_0_K_r, %t_0_K_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_0_V_k = func.call @kept(%t_0_V_r, %t_0_V_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_1_K_k = func.call @kept(%t_1_K_r, %t_1_K_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_1_V_k = func.call @kept(%t_1_V_r, %t_1_V_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_2_K_k = func.call @kept(%t_2_K_r, %t_2_K_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_2_V_k = func.call @kept(%t_2_V_r, %t_2_V_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_3_K_k = func.call @kept(%t_3_K_r, %t_3_K_z, %kept)
          : (!rows, !rows, index) -> !rows
      %t_3_V_k = func.call @kept(%t_3_V_r, %t_3_V_z, %kept)
          : (!rows, !rows, index) -> !rows
      %has_ended = arith.cmpi sle, %end_place, %n : i32
      %has_room = arith.cmpi slt, %total, %limit : i32
      %true = arith.constant true
      %is_open = arith.xori %has_ended, %true : i1
      %again = arith.andi %is_open, %has_room : i1
      scf.condition(%again) %all, %more_rounds, %last_out, %next_place, %total,
            %d_0_K_k, %d_0_V_k, %t_0_K_k, %t_0_V_k, %t_1_K_k, %t_1_V_k, %t_2_K_k,
            %t_2_V_k, %t_3_K_k, %t_3_V_k
          : !tokens, !rounds, !token, index, i32, !rows, !rows, !rows, !rows, !rows,
            !rows, !rows, !rows, !rows, !rows
    } do {
    ^bb0(%tokens: !tokens, %rounds: !rounds, %last: !token, %p: index, %count: i32,
         %d_0_K_r: !rows, %d_0_V_r: !rows, %t_0_K_r: !rows, %t_0_V_r: !rows,
         %t_1_K_r: !rows, %t_1_V_r: !rows, %t_2_K_r: !rows, %t_2_V_r: !rows,
         %t_3_K_r: !rows, %t_3_V_r: !rows):
      scf.yield %tokens, %rounds, %last, %p, %count, %d_0_K_r, %d_0_V_r, %t_0_K_r,
            %t_0_V_r, %t_1_K_r, %t_1_V_r, %t_2_K_r, %t_2_V_r, %t_3_K_r, %t_3_V_r
          : !tokens, !rounds, !token, index, i32, !rows, !rows, !rows, !rows, !rows,
            !rows, !rows, !rows, !rows, !rows
    }
    return %r#0, %r#1 : !tokens, !rounds
  }
}
