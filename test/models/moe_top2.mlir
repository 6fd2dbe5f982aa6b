// Mixture of experts, top-2: in each of 2 layers, a gate picks two of 8 networks for
// each token of a sentence.
//
//   x = E[word]; for each layer:
//     s = W_g x, S = indices of the two largest of s, largest first (first on ties)
//     x += sum over e in S of softmax(s[S])_e (W2_e relu(W1_e x + b1_e) + b2_e)
//
// Returns x, and the picked experts of each layer.
//
// Run it:
//   batch-run test/models/moe_top2.mlir --params=random:0 \
//     --inputs=examples/data/sentences.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!emb = tensor<?x256xf32>
!gate = tensor<8x256xf32>
!scores = tensor<8xf32>
!inner = tensor<1024xf32>
!up = tensor<1024x256xf32>
!down = tensor<256x1024xf32>
!scalar = tensor<f32>
!scalars = tensor<?xf32>
!pick = tensor<i32>
!picks = tensor<?xi32>
!routes = tensor<?x2x2xi32>
!words = !rec.list<index>

module attributes {batch.sizes = {H = 256 : index}} {
  // The largest score (the first if several are largest), and its position.
  func.func private @largest(%s: !scores) -> (!scalar, !pick) {
    %low = arith.constant dense<0xFF800000> : !scalar
    %most = linalg.reduce { arith.maximumf } ins(%s : !scores) outs(%low : !scalar)
        dimensions = [0]
    %none = arith.constant dense<2147483647> : !pick
    %pick = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
        iterator_types = ["reduction"]}
        ins(%s, %most : !scores, !scalar) outs(%none : !pick) {
    ^bb0(%score: f32, %max: f32, %first: i32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpf oeq, %score, %max : f32
      %candidate = arith.select %is, %here, %first : i32
      %least = arith.minsi %candidate, %first : i32
      linalg.yield %least : i32
    } -> !pick
    return %most, %pick : !scalar, !pick
  }

  // The scores, with -infinity at a position.
  func.func private @without(%s: !scores, %pick: !pick) -> !scores {
    %empty = tensor.empty() : !scores
    %rest = linalg.generic {
        indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> (d)>],
        iterator_types = ["parallel"]}
        ins(%s, %pick : !scores, !pick) outs(%empty : !scores) {
    ^bb0(%score: f32, %out: i32, %old: f32):
      %position = linalg.index 0 : index
      %here = arith.index_cast %position : index to i32
      %is = arith.cmpi eq, %here, %out : i32
      %low = arith.constant 0xFF800000 : f32
      %r = arith.select %is, %low, %score : f32
      linalg.yield %r : f32
    } -> !scores
    return %rest : !scores
  }

  // Two experts and their weights.
  func.func private @gate(%x: !vec, %W: !gate) -> (!pick, !pick, !scalar, !scalar) {
    %zero = arith.constant dense<0.0> : !scores
    %s = linalg.matvec ins(%W, %x : !gate, !vec) outs(%zero : !scores) -> !scores
    %s0, %p0 = func.call @largest(%s) : (!scores) -> (!scalar, !pick)
    %rest = func.call @without(%s, %p0) : (!scores, !pick) -> !scores
    %s1, %p1 = func.call @largest(%rest) : (!scores) -> (!scalar, !pick)
    %d = arith.subf %s1, %s0 : !scalar
    %e = math.exp %d : !scalar
    %one = arith.constant dense<1.0> : !scalar
    %sum = arith.addf %one, %e : !scalar
    %a0 = arith.divf %one, %sum : !scalar
    %a1 = arith.divf %e, %sum : !scalar
    return %p0, %p1, %a0, %a1 : !pick, !pick, !scalar, !scalar
  }

  // W2 relu(W1 x + b1) + b2
  func.func private @expert(%x: !vec, %W1: !up, %b1: !inner, %W2: !down, %b2: !vec) -> !vec {
    %a = linalg.matvec ins(%W1, %x : !up, !vec) outs(%b1 : !inner) -> !inner
    %zero = arith.constant dense<0.0> : !inner
    %r = arith.maximumf %a, %zero : !inner
    %y = linalg.matvec ins(%W2, %r : !down, !inner) outs(%b2 : !vec) -> !vec
    return %y : !vec
  }

  // The result of the picked expert for x.
  func.func private @pick(%pick: !pick, %x: !vec, %W_01: !up, %b_01: !inner, %W_02: !down,
      %b_02: !vec, %W_11: !up, %b_11: !inner, %W_12: !down, %b_12: !vec, %W_21: !up, %b_21:
      !inner, %W_22: !down, %b_22: !vec, %W_31: !up, %b_31: !inner, %W_32: !down, %b_32:
      !vec, %W_41: !up, %b_41: !inner, %W_42: !down, %b_42: !vec, %W_51: !up, %b_51:
      !inner, %W_52: !down, %b_52: !vec, %W_61: !up, %b_61: !inner, %W_62: !down, %b_62:
      !vec, %W_71: !up, %b_71: !inner, %W_72: !down, %b_72: !vec) -> !vec {
    %number = tensor.extract %pick[] : !pick
    %e = arith.index_cast %number : i32 to index
    %y = scf.index_switch %e -> !vec
    case 0 {
      %r = func.call @expert(%x, %W_01, %b_01, %W_02, %b_02)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    case 1 {
      %r = func.call @expert(%x, %W_11, %b_11, %W_12, %b_12)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    case 2 {
      %r = func.call @expert(%x, %W_21, %b_21, %W_22, %b_22)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    case 3 {
      %r = func.call @expert(%x, %W_31, %b_31, %W_32, %b_32)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    case 4 {
      %r = func.call @expert(%x, %W_41, %b_41, %W_42, %b_42)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    case 5 {
      %r = func.call @expert(%x, %W_51, %b_51, %W_52, %b_52)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    case 6 {
      %r = func.call @expert(%x, %W_61, %b_61, %W_62, %b_62)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    default {
      %r = func.call @expert(%x, %W_71, %b_71, %W_72, %b_72)
          : (!vec, !up, !inner, !down, !vec) -> !vec
      scf.yield %r : !vec
    }
    return %y : !vec
  }

  // A layer: new vectors of all tokens, and the picked experts.
  func.func private @layer(%xs: !rows, %W_g: !gate, %W_01: !up, %b_01: !inner, %W_02:
      !down, %b_02: !vec, %W_11: !up, %b_11: !inner, %W_12: !down, %b_12: !vec, %W_21: !up,
      %b_21: !inner, %W_22: !down, %b_22: !vec, %W_31: !up, %b_31: !inner, %W_32: !down,
      %b_32: !vec, %W_41: !up, %b_41: !inner, %W_42: !down, %b_42: !vec, %W_51: !up, %b_51:
      !inner, %W_52: !down, %b_52: !vec, %W_61: !up, %b_61: !inner, %W_62: !down, %b_62:
      !vec, %W_71: !up, %b_71: !inner, %W_72: !down, %b_72: !vec) -> (!rows, !picks,
      !picks) {
    %p0s, %p1s, %a0s, %a1s = rec.map %x in %xs
        : !rows -> !picks, !picks, !scalars, !scalars {
      %p0, %p1, %a0, %a1 = func.call @gate(%x, %W_g)
          : (!vec, !gate) -> (!pick, !pick, !scalar, !scalar)
      rec.yield %p0, %p1, %a0, %a1 : !pick, !pick, !scalar, !scalar
    }
    %ys = rec.map (%x, %p0, %p1, %a0, %a1) in (%xs, %p0s, %p1s, %a0s, %a1s)
        : !rows, !picks, !picks, !scalars, !scalars -> !rows {
      %y0 = func.call @pick(%p0, %x,
          %W_01, %b_01, %W_02, %b_02, %W_11, %b_11, %W_12, %b_12, %W_21, %b_21, %W_22,
          %b_22, %W_31, %b_31, %W_32, %b_32, %W_41, %b_41, %W_42, %b_42, %W_51, %b_51,
          %W_52, %b_52, %W_61, %b_61, %W_62, %b_62, %W_71, %b_71, %W_72, %b_72)
          : (!pick, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
             !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
             !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec) -> !vec
      %y1 = func.call @pick(%p1, %x,
          %W_01, %b_01, %W_02, %b_02, %W_11, %b_11, %W_12, %b_12, %W_21, %b_21, %W_22,
          %b_22, %W_31, %b_31, %W_32, %b_32, %W_41, %b_41, %W_42, %b_42, %W_51, %b_51,
          %W_52, %b_52, %W_61, %b_61, %W_62, %b_62, %W_71, %b_71, %W_72, %b_72)
          : (!pick, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
             !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
             !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec) -> !vec
      %empty = tensor.empty() : !vec
      %all0 = linalg.broadcast ins(%a0 : !scalar) outs(%empty : !vec) dimensions = [0]
      %all1 = linalg.broadcast ins(%a1 : !scalar) outs(%empty : !vec) dimensions = [0]
      %z0 = arith.mulf %all0, %y0 : !vec
      %z1 = arith.mulf %all1, %y1 : !vec
      %z = arith.addf %z0, %z1 : !vec
      %next = arith.addf %x, %z : !vec
      rec.yield %next : !vec
    }
    return %ys, %p0s, %p1s : !rows, !picks, !picks
  }

  func.func @main(%tokens: !words {batch.name = "tokens"}, %E: !emb {batch.shared = "E"},
                  %l0_gate: !gate {batch.shared = "l0.gate"},
                  %l0_W_01: !up {batch.shared = "l0.e0.1.W"},
                  %l0_b_01: !inner {batch.shared = "l0.e0.1.b"},
                  %l0_W_02: !down {batch.shared = "l0.e0.2.W"},
                  %l0_b_02: !vec {batch.shared = "l0.e0.2.b"},
                  %l0_W_11: !up {batch.shared = "l0.e1.1.W"},
                  %l0_b_11: !inner {batch.shared = "l0.e1.1.b"},
                  %l0_W_12: !down {batch.shared = "l0.e1.2.W"},
                  %l0_b_12: !vec {batch.shared = "l0.e1.2.b"},
                  %l0_W_21: !up {batch.shared = "l0.e2.1.W"},
                  %l0_b_21: !inner {batch.shared = "l0.e2.1.b"},
                  %l0_W_22: !down {batch.shared = "l0.e2.2.W"},
                  %l0_b_22: !vec {batch.shared = "l0.e2.2.b"},
                  %l0_W_31: !up {batch.shared = "l0.e3.1.W"},
                  %l0_b_31: !inner {batch.shared = "l0.e3.1.b"},
                  %l0_W_32: !down {batch.shared = "l0.e3.2.W"},
                  %l0_b_32: !vec {batch.shared = "l0.e3.2.b"},
                  %l0_W_41: !up {batch.shared = "l0.e4.1.W"},
                  %l0_b_41: !inner {batch.shared = "l0.e4.1.b"},
                  %l0_W_42: !down {batch.shared = "l0.e4.2.W"},
                  %l0_b_42: !vec {batch.shared = "l0.e4.2.b"},
                  %l0_W_51: !up {batch.shared = "l0.e5.1.W"},
                  %l0_b_51: !inner {batch.shared = "l0.e5.1.b"},
                  %l0_W_52: !down {batch.shared = "l0.e5.2.W"},
                  %l0_b_52: !vec {batch.shared = "l0.e5.2.b"},
                  %l0_W_61: !up {batch.shared = "l0.e6.1.W"},
                  %l0_b_61: !inner {batch.shared = "l0.e6.1.b"},
                  %l0_W_62: !down {batch.shared = "l0.e6.2.W"},
                  %l0_b_62: !vec {batch.shared = "l0.e6.2.b"},
                  %l0_W_71: !up {batch.shared = "l0.e7.1.W"},
                  %l0_b_71: !inner {batch.shared = "l0.e7.1.b"},
                  %l0_W_72: !down {batch.shared = "l0.e7.2.W"},
                  %l0_b_72: !vec {batch.shared = "l0.e7.2.b"},
                  %l1_gate: !gate {batch.shared = "l1.gate"},
                  %l1_W_01: !up {batch.shared = "l1.e0.1.W"},
                  %l1_b_01: !inner {batch.shared = "l1.e0.1.b"},
                  %l1_W_02: !down {batch.shared = "l1.e0.2.W"},
                  %l1_b_02: !vec {batch.shared = "l1.e0.2.b"},
                  %l1_W_11: !up {batch.shared = "l1.e1.1.W"},
                  %l1_b_11: !inner {batch.shared = "l1.e1.1.b"},
                  %l1_W_12: !down {batch.shared = "l1.e1.2.W"},
                  %l1_b_12: !vec {batch.shared = "l1.e1.2.b"},
                  %l1_W_21: !up {batch.shared = "l1.e2.1.W"},
                  %l1_b_21: !inner {batch.shared = "l1.e2.1.b"},
                  %l1_W_22: !down {batch.shared = "l1.e2.2.W"},
                  %l1_b_22: !vec {batch.shared = "l1.e2.2.b"},
                  %l1_W_31: !up {batch.shared = "l1.e3.1.W"},
                  %l1_b_31: !inner {batch.shared = "l1.e3.1.b"},
                  %l1_W_32: !down {batch.shared = "l1.e3.2.W"},
                  %l1_b_32: !vec {batch.shared = "l1.e3.2.b"},
                  %l1_W_41: !up {batch.shared = "l1.e4.1.W"},
                  %l1_b_41: !inner {batch.shared = "l1.e4.1.b"},
                  %l1_W_42: !down {batch.shared = "l1.e4.2.W"},
                  %l1_b_42: !vec {batch.shared = "l1.e4.2.b"},
                  %l1_W_51: !up {batch.shared = "l1.e5.1.W"},
                  %l1_b_51: !inner {batch.shared = "l1.e5.1.b"},
                  %l1_W_52: !down {batch.shared = "l1.e5.2.W"},
                  %l1_b_52: !vec {batch.shared = "l1.e5.2.b"},
                  %l1_W_61: !up {batch.shared = "l1.e6.1.W"},
                  %l1_b_61: !inner {batch.shared = "l1.e6.1.b"},
                  %l1_W_62: !down {batch.shared = "l1.e6.2.W"},
                  %l1_b_62: !vec {batch.shared = "l1.e6.2.b"},
                  %l1_W_71: !up {batch.shared = "l1.e7.1.W"},
                  %l1_b_71: !inner {batch.shared = "l1.e7.1.b"},
                  %l1_W_72: !down {batch.shared = "l1.e7.2.W"},
                  %l1_b_72: !vec {batch.shared = "l1.e7.2.b"})
      -> (!rows {batch.name = "x"}, !routes {batch.name = "route"})
      attributes {batch.entry} {
    %x0 = rec.map %word in %tokens : !words -> !rows {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      rec.yield %x : !vec
    }
    %x1, %p00, %p01 = func.call @layer(
        %x0, %l0_gate, %l0_W_01, %l0_b_01, %l0_W_02, %l0_b_02, %l0_W_11, %l0_b_11,
        %l0_W_12, %l0_b_12, %l0_W_21, %l0_b_21, %l0_W_22, %l0_b_22, %l0_W_31, %l0_b_31,
        %l0_W_32, %l0_b_32, %l0_W_41, %l0_b_41, %l0_W_42, %l0_b_42, %l0_W_51, %l0_b_51,
        %l0_W_52, %l0_b_52, %l0_W_61, %l0_b_61, %l0_W_62, %l0_b_62, %l0_W_71, %l0_b_71,
        %l0_W_72, %l0_b_72)
        : (!rows, !gate, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
           !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
           !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec) -> (!rows,
           !picks, !picks)
    %x2, %p10, %p11 = func.call @layer(
        %x1, %l1_gate, %l1_W_01, %l1_b_01, %l1_W_02, %l1_b_02, %l1_W_11, %l1_b_11,
        %l1_W_12, %l1_b_12, %l1_W_21, %l1_b_21, %l1_W_22, %l1_b_22, %l1_W_31, %l1_b_31,
        %l1_W_32, %l1_b_32, %l1_W_41, %l1_b_41, %l1_W_42, %l1_b_42, %l1_W_51, %l1_b_51,
        %l1_W_52, %l1_b_52, %l1_W_61, %l1_b_61, %l1_W_62, %l1_b_62, %l1_W_71, %l1_b_71,
        %l1_W_72, %l1_b_72)
        : (!rows, !gate, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
           !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec, !up, !inner,
           !down, !vec, !up, !inner, !down, !vec, !up, !inner, !down, !vec) -> (!rows,
           !picks, !picks)
    %routes = rec.map (%a, %b, %c, %d) in (%p00, %p01, %p10, %p11)
        : !picks, !picks, !picks, !picks -> !routes {
      %0 = tensor.extract %a[] : !pick
      %1 = tensor.extract %b[] : !pick
      %2 = tensor.extract %c[] : !pick
      %3 = tensor.extract %d[] : !pick
      %route = tensor.from_elements %0, %1, %2, %3 : tensor<2x2xi32>
      rec.yield %route : tensor<2x2xi32>
    }
    return %x2, %routes : !rows, !routes
  }
}
