// A GRU over a list, from its end to its start. With the mark for rec-refactor, each step computes
// the gate n and the state of the previous step.

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!list = !rec.adt<@List>

module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @List kind sequence {
    rec.variant @nil()
    rec.variant @cons(word: index, rest: !list)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  func.func private @next(%rs: !vec, %z: !vec, %h: !vec, %x: !vec, %U_h: !mat)
      -> !vec {
    %ah = linalg.matvec ins(%U_h, %rs : !mat, !vec) outs(%x : !vec) -> !vec
    %n = math.tanh %ah : !vec
    %one = arith.constant dense<1.0> : !vec
    %nz = arith.subf %one, %z : !vec
    %new = arith.mulf %nz, %n : !vec
    %keep = arith.mulf %z, %h : !vec
    %y = arith.addf %keep, %new : !vec
    return %y : !vec
  }

  func.func private @encode(%l: !list, %E: !emb, %U_r: !mat, %U_z: !mat, %U_h: !mat)
      -> !vec {
    %h = rec.match %l : !list -> !vec {
    case @nil() {
      %zero = arith.constant dense<0.0> : !vec
      rec.yield %zero : !vec
    }
    case @cons(%word: index, %rest: !list) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %last = func.call @encode(%rest, %E, %U_r, %U_z, %U_h)
          : (!list, !emb, !mat, !mat, !mat) -> !vec
      %ar = linalg.matvec ins(%U_r, %last : !mat, !vec) outs(%x : !vec) -> !vec
      %r = func.call @sigmoid(%ar) : (!vec) -> !vec
      %az = linalg.matvec ins(%U_z, %last : !mat, !vec) outs(%x : !vec) -> !vec
      %z = func.call @sigmoid(%az) : (!vec) -> !vec
      %rs = arith.mulf %r, %last : !vec
      %h = func.call @next(%rs, %z, %last, %x, %U_h) {rec.backedge}
          : (!vec, !vec, !vec, !vec, !mat) -> !vec
      rec.yield %h : !vec
    } }
    return %h : !vec
  }

  func.func @main(%list: !list {batch.name = "list"},
                  %E: !emb {batch.shared = "E"},
                  %U_r: !mat {batch.shared = "U_r"},
                  %U_z: !mat {batch.shared = "U_z"},
                  %U_h: !mat {batch.shared = "U_h"})
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %h = call @encode(%list, %E, %U_r, %U_z, %U_h)
        : (!list, !emb, !mat, !mat, !mat) -> !vec
    return %h : !vec
  }
}
