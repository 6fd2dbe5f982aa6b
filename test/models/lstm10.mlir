// Ten LSTM layers over a sentence. At first, all states are zeros. Each layer reads the state h
// of the layer below it. One kernel computes all layers of a word.
//
//   for w in tokens: x = E[w], for l in 0 to 9: (h_l, c_l) = lstm_l(x, h_l, c_l), x = h_l
//   lstm : i, f, o = sigmoid(W_* x + U_* h + b_*), g = tanh(W_g x + U_g h + b_g)
//          c' = f * c + i * g, h' = o * tanh(c')
//
// Run it:
//   batch-run test/models/lstm10.mlir --params=random:0 \
//     --inputs=examples/data/sentences.jsonl --batch=10 --check-unbatched

!vec = tensor<256xf32>
!row = tensor<1x256xf32>
!all = tensor<10x256xf32>
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

  // W x + U h + b
  func.func private @gate(%x: !vec, %h: !vec, %W: !mat, %U: !mat, %b: !vec) -> !vec {
    %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
    %a = linalg.matvec ins(%U, %h : !mat, !vec) outs(%wx : !vec) -> !vec
    return %a : !vec
  }

  func.func private @lstm(
      %x: !vec, %h: !vec, %c: !vec,
      %W_i: !mat, %U_i: !mat, %b_i: !vec, %W_f: !mat, %U_f: !mat, %b_f: !vec,
      %W_g: !mat, %U_g: !mat, %b_g: !vec, %W_o: !mat, %U_o: !mat, %b_o: !vec)
      -> (!vec, !vec) {
    %ai = func.call @gate(%x, %h, %W_i, %U_i, %b_i)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %af = func.call @gate(%x, %h, %W_f, %U_f, %b_f)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %ag = func.call @gate(%x, %h, %W_g, %U_g, %b_g)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %ao = func.call @gate(%x, %h, %W_o, %U_o, %b_o)
        : (!vec, !vec, !mat, !mat, !vec) -> !vec
    %i = func.call @sigmoid(%ai) : (!vec) -> !vec
    %f = func.call @sigmoid(%af) : (!vec) -> !vec
    %g = math.tanh %ag : !vec
    %o = func.call @sigmoid(%ao) : (!vec) -> !vec
    %fc = arith.mulf %f, %c : !vec
    %ig = arith.mulf %i, %g : !vec
    %next = arith.addf %fc, %ig : !vec
    %t = math.tanh %next : !vec
    %y = arith.mulf %o, %t : !vec
    return %y, %next : !vec, !vec
  }

  // Returns the states of all layers as rows of one tensor.
  func.func private @stack(
      %x0: !vec, %x1: !vec, %x2: !vec, %x3: !vec, %x4: !vec,
      %x5: !vec, %x6: !vec, %x7: !vec, %x8: !vec, %x9: !vec) -> !all {
    %r0 = tensor.expand_shape %x0 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r1 = tensor.expand_shape %x1 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r2 = tensor.expand_shape %x2 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r3 = tensor.expand_shape %x3 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r4 = tensor.expand_shape %x4 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r5 = tensor.expand_shape %x5 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r6 = tensor.expand_shape %x6 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r7 = tensor.expand_shape %x7 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r8 = tensor.expand_shape %x8 [[0, 1]] output_shape [1, 256] : !vec into !row
    %r9 = tensor.expand_shape %x9 [[0, 1]] output_shape [1, 256] : !vec into !row
    %all = tensor.concat dim(0) %r0, %r1, %r2, %r3, %r4,
        %r5, %r6, %r7, %r8, %r9
        : (!row, !row, !row, !row, !row, !row, !row, !row, !row, !row) -> !all
    return %all : !all
  }

  func.func @main(%tokens: !words {batch.name = "tokens"},
                  %E: !emb {batch.shared = "E"},
                  %W_i0: !mat {batch.shared = "l0.W_i"},
                  %U_i0: !mat {batch.shared = "l0.U_i"},
                  %b_i0: !vec {batch.shared = "l0.b_i"},
                  %W_f0: !mat {batch.shared = "l0.W_f"},
                  %U_f0: !mat {batch.shared = "l0.U_f"},
                  %b_f0: !vec {batch.shared = "l0.b_f"},
                  %W_g0: !mat {batch.shared = "l0.W_g"},
                  %U_g0: !mat {batch.shared = "l0.U_g"},
                  %b_g0: !vec {batch.shared = "l0.b_g"},
                  %W_o0: !mat {batch.shared = "l0.W_o"},
                  %U_o0: !mat {batch.shared = "l0.U_o"},
                  %b_o0: !vec {batch.shared = "l0.b_o"},
                  %W_i1: !mat {batch.shared = "l1.W_i"},
                  %U_i1: !mat {batch.shared = "l1.U_i"},
                  %b_i1: !vec {batch.shared = "l1.b_i"},
                  %W_f1: !mat {batch.shared = "l1.W_f"},
                  %U_f1: !mat {batch.shared = "l1.U_f"},
                  %b_f1: !vec {batch.shared = "l1.b_f"},
                  %W_g1: !mat {batch.shared = "l1.W_g"},
                  %U_g1: !mat {batch.shared = "l1.U_g"},
                  %b_g1: !vec {batch.shared = "l1.b_g"},
                  %W_o1: !mat {batch.shared = "l1.W_o"},
                  %U_o1: !mat {batch.shared = "l1.U_o"},
                  %b_o1: !vec {batch.shared = "l1.b_o"},
                  %W_i2: !mat {batch.shared = "l2.W_i"},
                  %U_i2: !mat {batch.shared = "l2.U_i"},
                  %b_i2: !vec {batch.shared = "l2.b_i"},
                  %W_f2: !mat {batch.shared = "l2.W_f"},
                  %U_f2: !mat {batch.shared = "l2.U_f"},
                  %b_f2: !vec {batch.shared = "l2.b_f"},
                  %W_g2: !mat {batch.shared = "l2.W_g"},
                  %U_g2: !mat {batch.shared = "l2.U_g"},
                  %b_g2: !vec {batch.shared = "l2.b_g"},
                  %W_o2: !mat {batch.shared = "l2.W_o"},
                  %U_o2: !mat {batch.shared = "l2.U_o"},
                  %b_o2: !vec {batch.shared = "l2.b_o"},
                  %W_i3: !mat {batch.shared = "l3.W_i"},
                  %U_i3: !mat {batch.shared = "l3.U_i"},
                  %b_i3: !vec {batch.shared = "l3.b_i"},
                  %W_f3: !mat {batch.shared = "l3.W_f"},
                  %U_f3: !mat {batch.shared = "l3.U_f"},
                  %b_f3: !vec {batch.shared = "l3.b_f"},
                  %W_g3: !mat {batch.shared = "l3.W_g"},
                  %U_g3: !mat {batch.shared = "l3.U_g"},
                  %b_g3: !vec {batch.shared = "l3.b_g"},
                  %W_o3: !mat {batch.shared = "l3.W_o"},
                  %U_o3: !mat {batch.shared = "l3.U_o"},
                  %b_o3: !vec {batch.shared = "l3.b_o"},
                  %W_i4: !mat {batch.shared = "l4.W_i"},
                  %U_i4: !mat {batch.shared = "l4.U_i"},
                  %b_i4: !vec {batch.shared = "l4.b_i"},
                  %W_f4: !mat {batch.shared = "l4.W_f"},
                  %U_f4: !mat {batch.shared = "l4.U_f"},
                  %b_f4: !vec {batch.shared = "l4.b_f"},
                  %W_g4: !mat {batch.shared = "l4.W_g"},
                  %U_g4: !mat {batch.shared = "l4.U_g"},
                  %b_g4: !vec {batch.shared = "l4.b_g"},
                  %W_o4: !mat {batch.shared = "l4.W_o"},
                  %U_o4: !mat {batch.shared = "l4.U_o"},
                  %b_o4: !vec {batch.shared = "l4.b_o"},
                  %W_i5: !mat {batch.shared = "l5.W_i"},
                  %U_i5: !mat {batch.shared = "l5.U_i"},
                  %b_i5: !vec {batch.shared = "l5.b_i"},
                  %W_f5: !mat {batch.shared = "l5.W_f"},
                  %U_f5: !mat {batch.shared = "l5.U_f"},
                  %b_f5: !vec {batch.shared = "l5.b_f"},
                  %W_g5: !mat {batch.shared = "l5.W_g"},
                  %U_g5: !mat {batch.shared = "l5.U_g"},
                  %b_g5: !vec {batch.shared = "l5.b_g"},
                  %W_o5: !mat {batch.shared = "l5.W_o"},
                  %U_o5: !mat {batch.shared = "l5.U_o"},
                  %b_o5: !vec {batch.shared = "l5.b_o"},
                  %W_i6: !mat {batch.shared = "l6.W_i"},
                  %U_i6: !mat {batch.shared = "l6.U_i"},
                  %b_i6: !vec {batch.shared = "l6.b_i"},
                  %W_f6: !mat {batch.shared = "l6.W_f"},
                  %U_f6: !mat {batch.shared = "l6.U_f"},
                  %b_f6: !vec {batch.shared = "l6.b_f"},
                  %W_g6: !mat {batch.shared = "l6.W_g"},
                  %U_g6: !mat {batch.shared = "l6.U_g"},
                  %b_g6: !vec {batch.shared = "l6.b_g"},
                  %W_o6: !mat {batch.shared = "l6.W_o"},
                  %U_o6: !mat {batch.shared = "l6.U_o"},
                  %b_o6: !vec {batch.shared = "l6.b_o"},
                  %W_i7: !mat {batch.shared = "l7.W_i"},
                  %U_i7: !mat {batch.shared = "l7.U_i"},
                  %b_i7: !vec {batch.shared = "l7.b_i"},
                  %W_f7: !mat {batch.shared = "l7.W_f"},
                  %U_f7: !mat {batch.shared = "l7.U_f"},
                  %b_f7: !vec {batch.shared = "l7.b_f"},
                  %W_g7: !mat {batch.shared = "l7.W_g"},
                  %U_g7: !mat {batch.shared = "l7.U_g"},
                  %b_g7: !vec {batch.shared = "l7.b_g"},
                  %W_o7: !mat {batch.shared = "l7.W_o"},
                  %U_o7: !mat {batch.shared = "l7.U_o"},
                  %b_o7: !vec {batch.shared = "l7.b_o"},
                  %W_i8: !mat {batch.shared = "l8.W_i"},
                  %U_i8: !mat {batch.shared = "l8.U_i"},
                  %b_i8: !vec {batch.shared = "l8.b_i"},
                  %W_f8: !mat {batch.shared = "l8.W_f"},
                  %U_f8: !mat {batch.shared = "l8.U_f"},
                  %b_f8: !vec {batch.shared = "l8.b_f"},
                  %W_g8: !mat {batch.shared = "l8.W_g"},
                  %U_g8: !mat {batch.shared = "l8.U_g"},
                  %b_g8: !vec {batch.shared = "l8.b_g"},
                  %W_o8: !mat {batch.shared = "l8.W_o"},
                  %U_o8: !mat {batch.shared = "l8.U_o"},
                  %b_o8: !vec {batch.shared = "l8.b_o"},
                  %W_i9: !mat {batch.shared = "l9.W_i"},
                  %U_i9: !mat {batch.shared = "l9.U_i"},
                  %b_i9: !vec {batch.shared = "l9.b_i"},
                  %W_f9: !mat {batch.shared = "l9.W_f"},
                  %U_f9: !mat {batch.shared = "l9.U_f"},
                  %b_f9: !vec {batch.shared = "l9.b_f"},
                  %W_g9: !mat {batch.shared = "l9.W_g"},
                  %U_g9: !mat {batch.shared = "l9.U_g"},
                  %b_g9: !vec {batch.shared = "l9.b_g"},
                  %W_o9: !mat {batch.shared = "l9.W_o"},
                  %U_o9: !mat {batch.shared = "l9.U_o"},
                  %b_o9: !vec {batch.shared = "l9.b_o"})
      -> (!all {batch.name = "h"}, !all {batch.name = "c"}) attributes {batch.entry} {
    %zero = arith.constant dense<0.0> : !vec
    %h0, %c0, %h1, %c1, %h2, %c2, %h3, %c3, %h4, %c4,
    %h5, %c5, %h6, %c6, %h7, %c7, %h8, %c8, %h9, %c9
        = rec.fold %w in %tokens
        init(%h0 = %zero, %c0 = %zero, %h1 = %zero, %c1 = %zero,
             %h2 = %zero, %c2 = %zero, %h3 = %zero, %c3 = %zero,
             %h4 = %zero, %c4 = %zero, %h5 = %zero, %c5 = %zero,
             %h6 = %zero, %c6 = %zero, %h7 = %zero, %c7 = %zero,
             %h8 = %zero, %c8 = %zero, %h9 = %zero, %c9 = %zero)
        : !words -> !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec,
          !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec {
      %x = tensor.extract_slice %E[%w, 0] [1, 256] [1, 1] : !emb to !vec
      %y0, %d0 = func.call @lstm(%x, %h0, %c0,
          %W_i0, %U_i0, %b_i0, %W_f0, %U_f0, %b_f0,
          %W_g0, %U_g0, %b_g0, %W_o0, %U_o0, %b_o0)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y1, %d1 = func.call @lstm(%y0, %h1, %c1,
          %W_i1, %U_i1, %b_i1, %W_f1, %U_f1, %b_f1,
          %W_g1, %U_g1, %b_g1, %W_o1, %U_o1, %b_o1)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y2, %d2 = func.call @lstm(%y1, %h2, %c2,
          %W_i2, %U_i2, %b_i2, %W_f2, %U_f2, %b_f2,
          %W_g2, %U_g2, %b_g2, %W_o2, %U_o2, %b_o2)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y3, %d3 = func.call @lstm(%y2, %h3, %c3,
          %W_i3, %U_i3, %b_i3, %W_f3, %U_f3, %b_f3,
          %W_g3, %U_g3, %b_g3, %W_o3, %U_o3, %b_o3)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y4, %d4 = func.call @lstm(%y3, %h4, %c4,
          %W_i4, %U_i4, %b_i4, %W_f4, %U_f4, %b_f4,
          %W_g4, %U_g4, %b_g4, %W_o4, %U_o4, %b_o4)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y5, %d5 = func.call @lstm(%y4, %h5, %c5,
          %W_i5, %U_i5, %b_i5, %W_f5, %U_f5, %b_f5,
          %W_g5, %U_g5, %b_g5, %W_o5, %U_o5, %b_o5)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y6, %d6 = func.call @lstm(%y5, %h6, %c6,
          %W_i6, %U_i6, %b_i6, %W_f6, %U_f6, %b_f6,
          %W_g6, %U_g6, %b_g6, %W_o6, %U_o6, %b_o6)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y7, %d7 = func.call @lstm(%y6, %h7, %c7,
          %W_i7, %U_i7, %b_i7, %W_f7, %U_f7, %b_f7,
          %W_g7, %U_g7, %b_g7, %W_o7, %U_o7, %b_o7)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y8, %d8 = func.call @lstm(%y7, %h8, %c8,
          %W_i8, %U_i8, %b_i8, %W_f8, %U_f8, %b_f8,
          %W_g8, %U_g8, %b_g8, %W_o8, %U_o8, %b_o8)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      %y9, %d9 = func.call @lstm(%y8, %h9, %c9,
          %W_i9, %U_i9, %b_i9, %W_f9, %U_f9, %b_f9,
          %W_g9, %U_g9, %b_g9, %W_o9, %U_o9, %b_o9)
          : (!vec, !vec, !vec, !mat, !mat, !vec, !mat, !mat, !vec,
             !mat, !mat, !vec, !mat, !mat, !vec) -> (!vec, !vec)
      rec.yield %y0, %d0, %y1, %d1, %y2, %d2, %y3, %d3, %y4, %d4,
                %y5, %d5, %y6, %d6, %y7, %d7, %y8, %d8, %y9, %d9
          : !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec,
            !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec
    }
    %h = call @stack(%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8, %h9)
        : (!vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec) -> !all
    %c = call @stack(%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9)
        : (!vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec, !vec) -> !all
    return %h, %c : !all, !all
  }
}
