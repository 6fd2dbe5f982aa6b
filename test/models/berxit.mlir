// Berxit: BERT with early exit (Xin et al., 2021). One layer runs repeatedly on the vectors
// of 128 tokens, until a score of the first vector is positive, at most 12 times.
//
//   x = E[tokens] + pos
//   repeat: y = norm1(x + W_o attend(q, k, v) + b_o) with q, k, v = W_* x + b_*
//           x = norm2(y + W_2 gelu(W_1 y + b_1) + b_2)
//   until w x[0] + b > 0, or 12 times
//   attend : softmax(q k^T / sqrt(D)) v for each of 12 heads
//   gelu(a) = a (1 + erf(a / sqrt(2))) / 2
//   logits  = C x[0] + c, cls = argmax logits (first index on ties)
//
// Run it:
//   batch-run test/models/berxit.mlir --params=random:0 \
//     --inputs=random:1,4 --strategy=lazy --check-unbatched=1e-5

!vec = tensor<768xf32>
!rows = tensor<1009x768xf32>
!mat = tensor<768x768xf32>
!inner = tensor<3072xf32>
!inners = tensor<1009x3072xf32>
!to_inner = tensor<3072x768xf32>
!from_inner = tensor<768x3072xf32>
!split = tensor<1009x12x64xf32>
!heads = tensor<12x1009x64xf32>
!scores = tensor<12x1009x1009xf32>
!sums = tensor<1009xf32>
!tokens = tensor<1009xi32>
!emb = tensor<30522x768xf32>
!row = tensor<1x768xf32>
!one = tensor<1xf32>
!out = tensor<16x768xf32>
!classes = tensor<16xf32>
!scalar = tensor<f32>
!tag = tensor<i32>

#x = affine_map<(token, col) -> (token, col)>
#token = affine_map<(token, col) -> (token)>
#col = affine_map<(token, col) -> (col)>
#lhs = affine_map<(row, col, k) -> (row, k)>
#rhs = affine_map<(row, col, k) -> (col, k)>
#acc = affine_map<(row, col, k) -> (row, col)>
#query = affine_map<(head, row, col, k) -> (head, row, k)>
#key = affine_map<(head, row, col, k) -> (head, col, k)>
#score = affine_map<(head, row, col, k) -> (head, row, col)>

// Types have 1009 tokens, so that the number of tokens differs from H.
module attributes {batch.sizes = {H = 768 : index, HEADS = 12 : index, D = 64 : index,
                                  TOKENS = [1009 : index, 128 : index],
                                  V = 30522 : index}} {
  func.func private @embed(%tokens: !tokens, %E: !emb, %pos: !rows) -> !rows {
    %empty = tensor.empty() : !rows
    %x = linalg.generic {indexing_maps = [#token, #x, #x],
                         iterator_types = ["parallel", "parallel"]}
        ins(%tokens, %pos : !tokens, !rows) outs(%empty : !rows) {
    ^bb0(%token: i32, %p: f32, %out: f32):
      %word = arith.index_cast %token : i32 to index
      %col = linalg.index 1 : index
      %e = tensor.extract %E[%word, %col] : !emb
      %sum = arith.addf %e, %p : f32
      linalg.yield %sum : f32
    } -> !rows
    return %x : !rows
  }

  // W x + b for each row x
  func.func private @linear(%x: !rows, %W: !mat, %b: !vec) -> !rows {
    %empty = tensor.empty() : !rows
    %bs = linalg.broadcast ins(%b : !vec) outs(%empty : !rows) dimensions = [0]
    %y = linalg.matmul indexing_maps = [#lhs, #rhs, #acc]
        ins(%x, %W : !rows, !mat) outs(%bs : !rows) -> !rows
    return %y : !rows
  }

  // (x - mean) / sqrt(variance + 1e-5) * g + b for each row x
  func.func private @norm(%x: !rows, %g: !vec, %b: !vec) -> !rows {
    %c1 = arith.constant 1 : index
    %size = tensor.dim %x, %c1 : !rows
    %number = arith.index_cast %size : index to i32
    %n = arith.sitofp %number : i32 to f32
    %epsilon = arith.constant 1.0e-5 : f32
    %zero = arith.constant dense<0.0> : !sums
    %sum = linalg.reduce { arith.addf } ins(%x : !rows) outs(%zero : !sums) dimensions = [1]
    %squares = linalg.generic {indexing_maps = [#x, #token, #token],
                               iterator_types = ["parallel", "reduction"]}
        ins(%x, %sum : !rows, !sums) outs(%zero : !sums) {
    ^bb0(%v: f32, %s: f32, %so_far: f32):
      %mean = arith.divf %s, %n : f32
      %d = arith.subf %v, %mean : f32
      %square = arith.mulf %d, %d : f32
      %next = arith.addf %so_far, %square : f32
      linalg.yield %next : f32
    } -> !sums
    %empty = tensor.empty() : !rows
    %y = linalg.generic {indexing_maps = [#x, #token, #token, #col, #col, #x],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum, %squares, %g, %b : !rows, !sums, !sums, !vec, !vec)
        outs(%empty : !rows) {
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
    } -> !rows
    return %y : !rows
  }

  func.func private @split(%x: !rows) -> !heads {
    %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [1009, 12, 64]
        : !rows into !split
    %empty = tensor.empty() : !heads
    %y = linalg.transpose ins(%split : !split) outs(%empty : !heads) permutation = [1, 0, 2]
    return %y : !heads
  }

  // softmax(q k^T / sqrt(D)) v
  func.func private @attend(%q: !heads, %k: !heads, %v: !heads) -> !rows {
    %zeros = arith.constant dense<0.0> : !scores
    %products = linalg.batch_matmul indexing_maps = [#query, #key, #score]
        ins(%q, %k : !heads, !heads) outs(%zeros : !scores) -> !scores
    %c2 = arith.constant 2 : index
    %size = tensor.dim %q, %c2 : !heads
    %number = arith.index_cast %size : index to i32
    %square = arith.sitofp %number : i32 to f32
    %root = math.sqrt %square : f32
    %roots = tensor.splat %root : !scores
    %scores = arith.divf %products, %roots : !scores
    %none = tensor.empty() : !scores
    %a = linalg.softmax dimension(2) ins(%scores : !scores) outs(%none : !scores) -> !scores
    %zero = arith.constant dense<0.0> : !heads
    %y = linalg.batch_matmul ins(%a, %v : !scores, !heads) outs(%zero : !heads) -> !heads
    %empty = tensor.empty() : !split
    %split = linalg.transpose ins(%y : !heads) outs(%empty : !split) permutation = [1, 0, 2]
    %rows = tensor.collapse_shape %split [[0], [1, 2]] : !split into !rows
    return %rows : !rows
  }

  // W_2 gelu(W_1 y + b_1) + b_2 for each row y
  func.func private @forward(%y: !rows, %W_1: !to_inner, %b_1: !inner, %W_2: !from_inner,
                             %b_2: !vec) -> !rows {
    %none = tensor.empty() : !inners
    %b1s = linalg.broadcast ins(%b_1 : !inner) outs(%none : !inners) dimensions = [0]
    %a = linalg.matmul indexing_maps = [#lhs, #rhs, #acc]
        ins(%y, %W_1 : !rows, !to_inner) outs(%b1s : !inners) -> !inners
    %half = arith.constant dense<0.5> : !inners
    %root = arith.constant dense<0.70710678> : !inners
    %one = arith.constant dense<1.0> : !inners
    %scaled = arith.mulf %a, %root : !inners
    %erf = math.erf %scaled : !inners
    %more = arith.addf %one, %erf : !inners
    %halved = arith.mulf %a, %half : !inners
    %gelu = arith.mulf %halved, %more : !inners
    %empty = tensor.empty() : !rows
    %b2s = linalg.broadcast ins(%b_2 : !vec) outs(%empty : !rows) dimensions = [0]
    %z = linalg.matmul indexing_maps = [#lhs, #rhs, #acc]
        ins(%gelu, %W_2 : !inners, !from_inner) outs(%b2s : !rows) -> !rows
    return %z : !rows
  }

  // Returns the first position of the largest logit.
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

  func.func @main(%tokens: !tokens {batch.name = "tokens"}, %E: !emb {batch.shared = "E"},
                  %pos: !rows {batch.shared = "pos"},
                  %W_q: !mat {batch.shared = "q.W"}, %b_q: !vec {batch.shared = "q.b"},
                  %W_k: !mat {batch.shared = "k.W"}, %b_k: !vec {batch.shared = "k.b"},
                  %W_v: !mat {batch.shared = "v.W"}, %b_v: !vec {batch.shared = "v.b"},
                  %W_o: !mat {batch.shared = "o.W"}, %b_o: !vec {batch.shared = "o.b"},
                  %g1: !vec {batch.shared = "ln1.g"}, %b1: !vec {batch.shared = "ln1.b"},
                  %W_1: !to_inner {batch.shared = "ff1.W"},
                  %b_1: !inner {batch.shared = "ff1.b"},
                  %W_2: !from_inner {batch.shared = "ff2.W"},
                  %b_2: !vec {batch.shared = "ff2.b"},
                  %g2: !vec {batch.shared = "ln2.g"}, %b2: !vec {batch.shared = "ln2.b"},
                  %w: !row {batch.shared = "exit.W"}, %b: !one {batch.shared = "exit.b"},
                  %C: !out {batch.shared = "cls.W"}, %c: !classes {batch.shared = "cls.b"})
      -> (i32 {batch.name = "layers"}, !vec {batch.name = "first"},
          !classes {batch.name = "logits"}, !tag {batch.name = "cls"})
      attributes {batch.entry} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %most = arith.constant 12 : i32
    %level = arith.constant 0.0 : f32
    %x0 = func.call @embed(%tokens, %E, %pos) : (!tokens, !emb, !rows) -> !rows
    %rows, %layers = scf.while (%x = %x0, %n = %zero) : (!rows, i32) -> (!rows, i32) {
      %xq = func.call @linear(%x, %W_q, %b_q) : (!rows, !mat, !vec) -> !rows
      %xk = func.call @linear(%x, %W_k, %b_k) : (!rows, !mat, !vec) -> !rows
      %xv = func.call @linear(%x, %W_v, %b_v) : (!rows, !mat, !vec) -> !rows
      %q = func.call @split(%xq) : (!rows) -> !heads
      %k = func.call @split(%xk) : (!rows) -> !heads
      %v = func.call @split(%xv) : (!rows) -> !heads
      %a = func.call @attend(%q, %k, %v) : (!heads, !heads, !heads) -> !rows
      %ao = func.call @linear(%a, %W_o, %b_o) : (!rows, !mat, !vec) -> !rows
      %xa = arith.addf %x, %ao : !rows
      %y = func.call @norm(%xa, %g1, %b1) : (!rows, !vec, !vec) -> !rows
      %f = func.call @forward(%y, %W_1, %b_1, %W_2, %b_2)
          : (!rows, !to_inner, !inner, !from_inner, !vec) -> !rows
      %yf = arith.addf %y, %f : !rows
      %z = func.call @norm(%yf, %g2, %b2) : (!rows, !vec, !vec) -> !rows
      %first = tensor.extract_slice %z[0, 0] [1, 768] [1, 1] : !rows to !vec
      %score = linalg.matvec ins(%w, %first : !row, !vec) outs(%b : !one) -> !one
      %s = tensor.extract %score[%c0] : !one
      %count = arith.addi %n, %one : i32
      %is_open = arith.cmpf ole, %s, %level : f32
      %has_layers = arith.cmpi slt, %count, %most : i32
      %again = arith.andi %is_open, %has_layers : i1
      scf.condition(%again) %z, %count : !rows, i32
    } do {
    ^bb0(%x: !rows, %n: i32):
      scf.yield %x, %n : !rows, i32
    }
    %first = tensor.extract_slice %rows[0, 0] [1, 768] [1, 1] : !rows to !vec
    %logits = linalg.matvec ins(%C, %first : !out, !vec) outs(%c : !classes) -> !classes
    %cls = func.call @argmax(%logits) : (!classes) -> !tag
    return %layers, %first, %logits, %cls : i32, !vec, !classes, !tag
  }
}
