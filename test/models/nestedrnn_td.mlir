// NestedRNN: the skeleton of a generator of graphs, with a loop over nodes and an inner loop
// over edges. An outer GRU generates each node, and an inner network generates edges from it.
// Computed values end both loops: each step adds between 1/4 and 1/2 to a sum, until the sum
// is larger than 9.9. So each loop takes 20 to 40 steps, the outer one fewer if the tokens run out.
//
//   halt(v) = (1 + sigmoid(w v + b)) / 4
//   h = x, e = 0, s = 0; for each token, while s <= 9.9:
//     z, r = sigmoid(W_* [h; e] + b_*), m = tanh(W_n [h; r * e] + b_n)
//     h = (1 - z) * e + z * m
//     o = tanh(W_o h + b_o + E[token]), e = o, s += halt(o), u = 0
//     while u <= 9.9: e = sigmoid(W_e [o; e] + b_e), u += halt(e)
//     write h, e and the number of rounds of the inner loop
//
// Run it:
//   batch-run test/models/nestedrnn_td.mlir --params=random:0 \
//     --inputs=random:1,10 --strategy=lazy --check-unbatched

!vec = tensor<256xf32>
!two = tensor<512xf32>
!mat = tensor<256x256xf32>
!pair = tensor<256x512xf32>
!emb = tensor<?x256xf32>
!row = tensor<1x256xf32>
!number = tensor<1xf32>
!tokens = !rec.list<index>
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

  // sum + (1 + sigmoid(w v + b)) / 4
  func.func private @halt(%sum: !number, %v: !vec, %w: !row, %b: !number) -> !number {
    %a = linalg.matvec ins(%w, %v : !row, !vec) outs(%b : !number) -> !number
    %one = arith.constant dense<1.0> : !number
    %n = arith.negf %a : !number
    %e = math.exp %n : !number
    %d = arith.addf %one, %e : !number
    %y = arith.divf %one, %d : !number
    %quarter = arith.constant dense<0.25> : !number
    %more = arith.addf %one, %y : !number
    %step = arith.mulf %quarter, %more : !number
    %next = arith.addf %sum, %step : !number
    return %next : !number
  }

  func.func private @goes_on(%sum: !number) -> i1 {
    %zero = arith.constant 0 : index
    %most = arith.constant 9.9 : f32
    %s = tensor.extract %sum[%zero] : !number
    %is = arith.cmpf ole, %s, %most : f32
    return %is : i1
  }

  func.func @main(%x: !vec {batch.name = "x"}, %tokens: !tokens {batch.name = "tokens"},
                  %W_z: !pair {batch.shared = "W_z"}, %b_z: !vec {batch.shared = "b_z"},
                  %W_r: !pair {batch.shared = "W_r"}, %b_r: !vec {batch.shared = "b_r"},
                  %W_n: !pair {batch.shared = "W_n"}, %b_n: !vec {batch.shared = "b_n"},
                  %W_e: !pair {batch.shared = "W_e"}, %b_e: !vec {batch.shared = "b_e"},
                  %W_o: !mat {batch.shared = "node.W"},
                  %b_o: !vec {batch.shared = "node.b"}, %E: !emb {batch.shared = "E"},
                  %w: !row {batch.shared = "w_halt"}, %b: !number {batch.shared = "b_halt"})
      -> (!steps {batch.name = "steps"}) attributes {batch.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %e0 = arith.constant dense<0.0> : !vec
    %s0 = arith.constant dense<0.0> : !number
    %none = rec.construct @Steps::@none() : () -> !steps
    %length = rec.length %tokens : !tokens
    %any = arith.cmpi ugt, %length, %c0 : index
    %r:6 = scf.while (%before = %none, %hs = %x, %es = %e0, %s = %s0, %t = %c0, %more = %any)
        : (!steps, !vec, !vec, !number, index, i1)
        -> (!steps, !vec, !vec, !number, index, i1) {
      scf.condition(%more) %before, %hs, %es, %s, %t, %more
          : !steps, !vec, !vec, !number, index, i1
    } do {
    ^bb0(%before: !steps, %hs: !vec, %es: !vec, %s: !number, %t: index, %more: i1):
      %h = func.call @gru(%hs, %es, %W_z, %b_z, %W_r, %b_r, %W_n, %b_n)
          : (!vec, !vec, !pair, !vec, !pair, !vec, !pair, !vec) -> !vec
      %token = rec.element %tokens[%t] : !tokens -> index
      %x_t = tensor.extract_slice %E[%token, 0] [1, 256] [1, 1] : !emb to !vec
      %a = linalg.matvec ins(%W_o, %h : !mat, !vec) outs(%b_o : !vec) -> !vec
      %ax = arith.addf %a, %x_t : !vec
      %o = math.tanh %ax : !vec
      %sum = func.call @halt(%s, %o, %w, %b) : (!number, !vec, !row, !number) -> !number
      %edges:3 = scf.while (%current = %o, %u = %s0, %n = %zero)
          : (!vec, !number, i32) -> (!vec, !number, i32) {
        %next = func.call @edge(%o, %current, %W_e, %b_e)
            : (!vec, !vec, !pair, !vec) -> !vec
        %v = func.call @halt(%u, %next, %w, %b) : (!number, !vec, !row, !number) -> !number
        %count = arith.addi %n, %one : i32
        %again = func.call @goes_on(%v) : (!number) -> i1
        scf.condition(%again) %next, %v, %count : !vec, !number, i32
      } do {
      ^bb0(%current: !vec, %u: !number, %n: i32):
        scf.yield %current, %u, %n : !vec, !number, i32
      }
      %step = rec.construct @Steps::@step(%before, %h, %edges#0, %edges#2)
          : (!steps, !vec, !vec, i32) -> !steps
      %t1 = arith.addi %t, %c1 : index
      %has_tokens = arith.cmpi ult, %t1, %length : index
      %goes_on = func.call @goes_on(%sum) : (!number) -> i1
      %again = arith.andi %has_tokens, %goes_on : i1
      scf.yield %step, %h, %edges#0, %sum, %t1, %again
          : !steps, !vec, !vec, !number, index, i1
    }
    return %r#0 : !steps
  }
}
