// Shared nodes; a recursion that passes a tensor and a number to its calls, reads tensors and
// numbers of the input, and also returns a number; a fold over children with a tensor that is read
// after the loop; kernels in a branch; a result that is an argument of the call.
!vec = tensor<200xf32>
!mat = tensor<200x200xf32>
!graph = !rec.adt<@Graph>
!graphs = !rec.list<!graph>
!out = !rec.adt<@Out>

module attributes {batch.sizes = {D = 200 : index}} {
  rec.adt @Graph kind dag {
    rec.variant @given(x: !vec)
    rec.variant @start()
    rec.variant @pair(left: !graph, right: !graph, scale: f32)
    rec.variant @many(parts: !graphs, most: index)
  }
  rec.adt @Out {
    rec.variant @one(h: !vec, n: index)
    rec.variant @two(left: !out, right: !out, h: !vec, n: index)
  }
  func.func private @walk(%g: !graph, %h0: !vec, %step: index, %W: !mat)
      -> (!vec, index, !out) {
    %one = arith.constant 1 : index
    %small = arith.constant 0.5 : f32
    %h, %n, %o = rec.match %g : !graph -> !vec, index, !out {
    case @given(%x: !vec) {
      %y = math.tanh %x : !vec
      %o = rec.construct @Out::@one(%y, %one) : (!vec, index) -> !out
      rec.yield %y, %one, %o : !vec, index, !out
    }
    case @start() {
      %o = rec.construct @Out::@one(%h0, %step) : (!vec, index) -> !out
      rec.yield %h0, %step, %o : !vec, index, !out
    }
    case @pair(%l: !graph, %r: !graph, %scale: f32) {
      %hl, %nl, %ol = func.call @walk(%l, %h0, %step, %W)
          : (!graph, !vec, index, !mat) -> (!vec, index, !out)
      %hr, %nr, %or = func.call @walk(%r, %h0, %step, %W)
          : (!graph, !vec, index, !mat) -> (!vec, index, !out)
      %n = arith.addi %nl, %nr : index
      %large = arith.cmpf ogt, %scale, %small : f32
      %h = scf.if %large -> !vec {
        %p = linalg.matvec ins(%W, %hl : !mat, !vec) outs(%hr : !vec) -> !vec
        %t = math.tanh %p : !vec
        scf.yield %t : !vec
      } else {
        scf.yield %hr : !vec
      }
      %o = rec.construct @Out::@two(%ol, %or, %h, %n)
          : (!out, !out, !vec, index) -> !out
      rec.yield %h, %n, %o : !vec, index, !out
    }
    case @many(%parts: !graphs, %most: index) {
      %zero = arith.constant 0 : index
      %h, %n = rec.fold %k in %parts init(%a = %h0, %m = %zero)
          : !graphs -> !vec, index {
        %hk, %nk, %ok = func.call @walk(%k, %h0, %step, %W)
            : (!graph, !vec, index, !mat) -> (!vec, index, !out)
        %s = arith.addf %a, %hk : !vec
        %p = linalg.matvec ins(%W, %s : !mat, !vec) outs(%hk : !vec) -> !vec
        %t = math.tanh %p : !vec
        %sum = arith.addi %m, %nk : index
        rec.yield %t, %sum : !vec, index
      }
      %n2 = arith.minui %n, %most : index
      %o = rec.construct @Out::@one(%h, %n2) : (!vec, index) -> !out
      rec.yield %h, %n2, %o : !vec, index, !out
    } }
    return %h, %n, %o : !vec, index, !out
  }
  func.func @main(%g: !graph {batch.name = "g"}, %x: !vec {batch.name = "x"},
                  %other: !graph {batch.name = "other"}, %W: !mat {batch.shared = "W"})
      -> (!out {batch.name = "out"}, !vec {batch.name = "y"}, index {batch.name = "n"},
          !vec {batch.name = "last"})
      attributes {batch.entry} {
    %three = arith.constant 3 : index
    %h0 = math.tanh %x : !vec
    %h, %n, %o = func.call @walk(%g, %h0, %three, %W)
        : (!graph, !vec, index, !mat) -> (!vec, index, !out)
    // A second call, whose arguments include results of the first call.
    %h2, %n2, %o2 = func.call @walk(%other, %h, %n, %W)
        : (!graph, !vec, index, !mat) -> (!vec, index, !out)
    %y = arith.addf %h2, %h : !vec
    return %o, %y, %n2, %h2 : !out, !vec, index, !vec
  }
}
