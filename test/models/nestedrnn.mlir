// NestedRNN: the skeleton of a generator of graphs, with a loop over nodes and an inner loop
// over edges. An outer GRU computes each node. An inner network computes `count` edges of the node.
//
//   h = x, e = 0; for each count:
//     z, r = sigmoid(W_* [h; e] + b_*), m = tanh(W_n [h; r * e] + b_n)
//     h = (1 - z) * e + z * m
//     o = tanh(W_o h + b_o), e = o
//     repeat count times: e = sigmoid(W_e [o; e] + b_e)
//     write h, e and the count
//
// Run it:
//   batch-run test/models/nestedrnn.mlir --params=random:0 \
//     --inputs=random:1,10 --batch=10 --check-unbatched

!vec = tensor<256xf32>
!two = tensor<512xf32>
!mat = tensor<256x256xf32>
!pair = tensor<256x512xf32>
!counts = !rec.list<index>
!steps = !rec.adt<@Steps>

module attributes {batch.sizes = {H = 256 : index}} {
  // Result of the model: the nodes, each with all nodes before it.
  rec.adt @Steps {
    rec.variant @none()
    rec.variant @step(before: !steps, h: !vec, e: !vec, counts: i32)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // W [a; b] + bias
  func.func private @linear(%a: !vec, %b: !vec, %W: !pair, %bias: !vec) -> !vec {
    %ab = tensor.concat dim(0) %a, %b : (!vec, !vec) -> !two
    %y = linalg.matvec ins(%W, %ab : !pair, !two) outs(%bias : !vec) -> !vec
    return %y : !vec
  }

  func.func private @gru(%h: !vec, %e: !vec, %W_z: !pair, %b_z: !vec, %W_r: !pair,
                         %b_r: !vec, %W_n: !pair, %b_n: !vec) -> !vec {
    %az = func.call @linear(%h, %e, %W_z, %b_z) : (!vec, !vec, !pair, !vec) -> !vec
    %ar = func.call @linear(%h, %e, %W_r, %b_r) : (!vec, !vec, !pair, !vec) -> !vec
    %z = func.call @sigmoid(%az) : (!vec) -> !vec
    %r = func.call @sigmoid(%ar) : (!vec) -> !vec
    %re = arith.mulf %r, %e : !vec
    %am = func.call @linear(%h, %re, %W_n, %b_n) : (!vec, !vec, !pair, !vec) -> !vec
    %m = math.tanh %am : !vec
    %one = arith.constant dense<1.0> : !vec
    %rest = arith.subf %one, %z : !vec
    %old = arith.mulf %rest, %e : !vec
    %new = arith.mulf %z, %m : !vec
    %y = arith.addf %old, %new : !vec
    return %y : !vec
  }

  func.func private @edge(%o: !vec, %e: !vec, %W_e: !pair, %b_e: !vec) -> !vec {
    %a = func.call @linear(%o, %e, %W_e, %b_e) : (!vec, !vec, !pair, !vec) -> !vec
    %y = func.call @sigmoid(%a) : (!vec) -> !vec
    return %y : !vec
  }

  func.func @main(%x: !vec {batch.name = "x"}, %counts: !counts {batch.name = "counts"},
                  %W_z: !pair {batch.shared = "W_z"}, %b_z: !vec {batch.shared = "b_z"},
                  %W_r: !pair {batch.shared = "W_r"}, %b_r: !vec {batch.shared = "b_r"},
                  %W_n: !pair {batch.shared = "W_n"}, %b_n: !vec {batch.shared = "b_n"},
                  %W_e: !pair {batch.shared = "W_e"}, %b_e: !vec {batch.shared = "b_e"},
                  %W_o: !mat {batch.shared = "node.W"},
                  %b_o: !vec {batch.shared = "node.b"})
      -> (!steps {batch.name = "steps"}) attributes {batch.entry} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %e0 = arith.constant dense<0.0> : !vec
    %none = rec.construct @Steps::@none() : () -> !steps
    %steps, %last, %edge = rec.fold %count in %counts
        init(%before = %none, %hs = %x, %es = %e0) : !counts -> !steps, !vec, !vec {
      %h = func.call @gru(%hs, %es, %W_z, %b_z, %W_r, %b_r, %W_n, %b_n)
          : (!vec, !vec, !pair, !vec, !pair, !vec, !pair, !vec) -> !vec
      %a = linalg.matvec ins(%W_o, %h : !mat, !vec) outs(%b_o : !vec) -> !vec
      %o = math.tanh %a : !vec
      %e = scf.for %i = %zero to %count step %one iter_args(%current = %o) -> !vec {
        %next = func.call @edge(%o, %current, %W_e, %b_e)
            : (!vec, !vec, !pair, !vec) -> !vec
        scf.yield %next : !vec
      }
      %number = arith.index_cast %count : index to i32
      %step = rec.construct @Steps::@step(%before, %h, %e, %number)
          : (!steps, !vec, !vec, i32) -> !steps
      rec.yield %step, %h, %e : !steps, !vec, !vec
    }
    return %steps : !steps
  }
}
