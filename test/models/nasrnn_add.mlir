// NASRNN with a sum in unit 3 instead of a product, over a sentence.
// With a_k = W_k x and b_k = U_k m for k = 0 to 7, s the logistic function:
//
//   p0 = s(a0 + b0)     p1 = relu(a1 + b1)  p2 = s(a2 + b2)     p3 = relu(a3 + b3)
//   p4 = tanh(a4 + b4)  p5 = s(a5 + b5)     p6 = tanh(a6 + b6)  p7 = s(a7 + b7)
//   q0 = tanh(p0 * p1)  q1 = tanh(p2 + p3)  q2 = tanh(p4 * p5)  q3 = s(p6 + p7)
//   c' = tanh(q0 + c) * q1,  m' = tanh(c' * tanh(q2 + q3)), from zeros
//
// Run it:
//   batch-run test/models/nasrnn_add.mlir --params=random:0 \
//     --inputs=examples/data/sentences.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!words = !rec.list<index>

module attributes {batch.sizes = {H = 256 : index}} {
  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func private @relu(%x: !vec) -> !vec {
    %zero = arith.constant dense<0.0> : !vec
    %y = arith.maximumf %x, %zero : !vec
    return %y : !vec
  }

  func.func private @product(%x: !vec, %W: !mat) -> !vec {
    %zero = arith.constant dense<0.0> : !vec
    %y = linalg.matvec ins(%W, %x : !mat, !vec) outs(%zero : !vec) -> !vec
    return %y : !vec
  }

  // W x + U m
  func.func private @gate(%x: !vec, %m: !vec, %W: !mat, %U: !mat) -> !vec {
    %a = func.call @product(%x, %W) : (!vec, !mat) -> !vec
    %y = linalg.matvec ins(%U, %m : !mat, !vec) outs(%a : !vec) -> !vec
    return %y : !vec
  }

  func.func private @cell(
      %x: !vec, %c: !vec, %m: !vec,
      %W_0: !mat, %U_0: !mat, %W_1: !mat, %U_1: !mat,
      %W_2: !mat, %U_2: !mat, %W_3: !mat, %U_3: !mat,
      %W_4: !mat, %U_4: !mat, %W_5: !mat, %U_5: !mat,
      %W_6: !mat, %U_6: !mat, %W_7: !mat, %U_7: !mat)
      -> (!vec, !vec) {
    %g0 = func.call @gate(%x, %m, %W_0, %U_0)
        : (!vec, !vec, !mat, !mat) -> !vec
    %g1 = func.call @gate(%x, %m, %W_1, %U_1)
        : (!vec, !vec, !mat, !mat) -> !vec
    %g2 = func.call @gate(%x, %m, %W_2, %U_2)
        : (!vec, !vec, !mat, !mat) -> !vec
    %g3 = func.call @gate(%x, %m, %W_3, %U_3)
        : (!vec, !vec, !mat, !mat) -> !vec
    %g4 = func.call @gate(%x, %m, %W_4, %U_4)
        : (!vec, !vec, !mat, !mat) -> !vec
    %g5 = func.call @gate(%x, %m, %W_5, %U_5)
        : (!vec, !vec, !mat, !mat) -> !vec
    %g6 = func.call @gate(%x, %m, %W_6, %U_6)
        : (!vec, !vec, !mat, !mat) -> !vec
    %g7 = func.call @gate(%x, %m, %W_7, %U_7)
        : (!vec, !vec, !mat, !mat) -> !vec
    %p0 = func.call @sigmoid(%g0) : (!vec) -> !vec
    %p1 = func.call @relu(%g1) : (!vec) -> !vec
    %p2 = func.call @sigmoid(%g2) : (!vec) -> !vec
    %p3 = func.call @relu(%g3) : (!vec) -> !vec
    %p4 = math.tanh %g4 : !vec
    %p5 = func.call @sigmoid(%g5) : (!vec) -> !vec
    %p6 = math.tanh %g6 : !vec
    %p7 = func.call @sigmoid(%g7) : (!vec) -> !vec
    %r0 = arith.mulf %p0, %p1 : !vec
    %q0 = math.tanh %r0 : !vec
    %r1 = arith.addf %p2, %p3 : !vec
    %q1 = math.tanh %r1 : !vec
    %r2 = arith.mulf %p4, %p5 : !vec
    %q2 = math.tanh %r2 : !vec
    %r3 = arith.addf %p6, %p7 : !vec
    %q3 = func.call @sigmoid(%r3) : (!vec) -> !vec
    %r4 = arith.addf %q0, %c : !vec
    %t = math.tanh %r4 : !vec
    %c_next = arith.mulf %t, %q1 : !vec
    %r5 = arith.addf %q2, %q3 : !vec
    %u = math.tanh %r5 : !vec
    %r6 = arith.mulf %c_next, %u : !vec
    %m_next = math.tanh %r6 : !vec
    return %c_next, %m_next : !vec, !vec
  }

  func.func @main(%tokens: !words {batch.name = "tokens"},
                  %E: !emb {batch.shared = "E"},
                  %W_0: !mat {batch.shared = "W_0"},
                  %U_0: !mat {batch.shared = "U_0"},
                  %W_1: !mat {batch.shared = "W_1"},
                  %U_1: !mat {batch.shared = "U_1"},
                  %W_2: !mat {batch.shared = "W_2"},
                  %U_2: !mat {batch.shared = "U_2"},
                  %W_3: !mat {batch.shared = "W_3"},
                  %U_3: !mat {batch.shared = "U_3"},
                  %W_4: !mat {batch.shared = "W_4"},
                  %U_4: !mat {batch.shared = "U_4"},
                  %W_5: !mat {batch.shared = "W_5"},
                  %U_5: !mat {batch.shared = "U_5"},
                  %W_6: !mat {batch.shared = "W_6"},
                  %U_6: !mat {batch.shared = "U_6"},
                  %W_7: !mat {batch.shared = "W_7"},
                  %U_7: !mat {batch.shared = "U_7"})
      -> (!vec {batch.name = "c"}, !vec {batch.name = "m"}) attributes {batch.entry} {
    %zero = arith.constant dense<0.0> : !vec
    %c, %m = rec.fold %w in %tokens init(%c = %zero, %m = %zero)
        : !words -> !vec, !vec {
      %x = tensor.extract_slice %E[%w, 0] [1, 256] [1, 1] : !emb to !vec
      %c_next, %m_next = func.call @cell(%x, %c, %m,
            %W_0, %U_0, %W_1, %U_1, %W_2, %U_2, %W_3, %U_3,
            %W_4, %U_4, %W_5, %U_5, %W_6, %U_6, %W_7, %U_7)
          : (!vec, !vec, !vec, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat,
             !mat, !mat, !mat, !mat, !mat, !mat, !mat, !mat) -> (!vec, !vec)
      rec.yield %c_next, %m_next : !vec, !vec
    }
    return %c, %m : !vec, !vec
  }
}
