// MV-RNN (Socher et al. 2012): every node of a binary tree has a vector and a
// matrix. An output layer is applied at every node.
//
//   mv(leaf w)   = (E_v[w], E_m[w])
//   mv(node l r) = (a, A) = mv(l), (b, B) = mv(r)
//                  v = tanh(W_v [B a; A b] + b_v)
//                  M = W_m [A; B] + b_m        (b_m added to every column)
//   logits       = W_out v
//
// B a and A b are products of two activations: no operand is a parameter.
//
// Run it:
//   batch-run test/models/mvrnn.mlir --params=random:0 \
//     --inputs=examples/data/trees.txt --batch=12 --check-unbatched

!vec = tensor<64xf32>
!pair = tensor<128xf32>
!mat = tensor<64x64xf32>
!wide = tensor<64x128xf32>
!tall = tensor<128x64xf32>
!vecs = tensor<?x64xf32>
!mats = tensor<?x64x64xf32>
!out = tensor<5x64xf32>
!classes = tensor<5xf32>
!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>

module attributes {batch.sizes = {H = 64 : index}} {
  rec.adt @Tree kind tree arity 2 {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }

  // Result of the model for every node.
  rec.adt @States {
    rec.variant @leaf(v: !vec, logits: !classes)
    rec.variant @node(left: !states, right: !states, v: !vec, logits: !classes)
  }

  func.func private @output(%v: !vec, %W_out: !out) -> !classes {
    %zero = arith.constant dense<0.0> : !classes
    %y = linalg.matvec ins(%W_out, %v : !out, !vec)
                       outs(%zero : !classes) -> !classes
    return %y : !classes
  }

  func.func private @encode(
      %t: !tree, %E_v: !vecs, %E_m: !mats, %W_v: !wide, %b_v: !vec,
      %W_m: !wide, %b_m: !vec, %W_out: !out) -> (!vec, !mat, !states) {
    %v, %M, %s = rec.match %t : !tree -> !vec, !mat, !states {
    case @leaf(%word: index) {
      %v = tensor.extract_slice %E_v[%word, 0] [1, 64] [1, 1] : !vecs to !vec
      %M = tensor.extract_slice %E_m[%word, 0, 0] [1, 64, 64] [1, 1, 1]
          : !mats to !mat
      %logits = func.call @output(%v, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@leaf(%v, %logits)
          : (!vec, !classes) -> !states
      rec.yield %v, %M, %s : !vec, !mat, !states
    }
    case @node(%l: !tree, %r: !tree) {
      %a, %A, %sl = func.call @encode(
          %l, %E_v, %E_m, %W_v, %b_v, %W_m, %b_m, %W_out)
          : (!tree, !vecs, !mats, !wide, !vec, !wide, !vec, !out)
          -> (!vec, !mat, !states)
      %b, %B, %sr = func.call @encode(
          %r, %E_v, %E_m, %W_v, %b_v, %W_m, %b_m, %W_out)
          : (!tree, !vecs, !mats, !wide, !vec, !wide, !vec, !out)
          -> (!vec, !mat, !states)
      %zero = arith.constant dense<0.0> : !vec
      %Ba = linalg.matvec ins(%B, %a : !mat, !vec) outs(%zero : !vec) -> !vec
      %Ab = linalg.matvec ins(%A, %b : !mat, !vec) outs(%zero : !vec) -> !vec
      %e = tensor.concat dim(0) %Ba, %Ab : (!vec, !vec) -> !pair
      %av = linalg.matvec ins(%W_v, %e : !wide, !pair) outs(%b_v : !vec) -> !vec
      %v = math.tanh %av : !vec

      %AB = tensor.concat dim(0) %A, %B : (!mat, !mat) -> !tall
      %empty = tensor.empty() : !mat
      %bm = linalg.broadcast ins(%b_m : !vec) outs(%empty : !mat)
          dimensions = [1]
      %M = linalg.matmul ins(%W_m, %AB : !wide, !tall) outs(%bm : !mat) -> !mat

      %logits = func.call @output(%v, %W_out) : (!vec, !out) -> !classes
      %s = rec.construct @States::@node(%sl, %sr, %v, %logits)
          : (!states, !states, !vec, !classes) -> !states
      rec.yield %v, %M, %s : !vec, !mat, !states
    } }
    return %v, %M, %s : !vec, !mat, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E_v: !vecs {batch.shared = "E_v"},
                  %E_m: !mats {batch.shared = "E_m"},
                  %W_v: !wide {batch.shared = "W_v"},
                  %b_v: !vec {batch.shared = "b_v"},
                  %W_m: !wide {batch.shared = "W_m"},
                  %b_m: !vec {batch.shared = "b_m"},
                  %W_out: !out {batch.shared = "W_out"})
      -> (!states {batch.name = "states"}, !mat {batch.name = "M_root"})
      attributes {batch.entry} {
    %v, %M, %states = call @encode(
        %tree, %E_v, %E_m, %W_v, %b_v, %W_m, %b_m, %W_out)
        : (!tree, !vecs, !mats, !wide, !vec, !wide, !vec, !out)
        -> (!vec, !mat, !states)
    return %states, %M : !states, !mat
  }
}
