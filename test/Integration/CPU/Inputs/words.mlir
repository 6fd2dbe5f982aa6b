// A recurrent network over a list, from its end to its start: h = tanh(W E[word] + U h + b).

!vec = tensor<16xf32>
!mat = tensor<16x16xf32>
!emb = tensor<?x16xf32>
!list = !rec.adt<@List>
module attributes {batch.sizes = {H = 16 : index}} {
  rec.adt @List kind sequence {
    rec.variant @nil()
    rec.variant @cons(word: index, rest: !list)
  }
  func.func private @encode(%l: !list, %E: !emb, %W: !mat, %U: !mat, %b: !vec) -> !vec {
    %h = rec.match %l : !list -> !vec {
    case @nil() {
      %zero = arith.constant dense<0.0> : !vec
      rec.yield %zero : !vec
    }
    case @cons(%word: index, %rest: !list) {
      %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !emb to !vec
      %wx = linalg.matvec ins(%W, %x : !mat, !vec) outs(%b : !vec) -> !vec
      %last = func.call @encode(%rest, %E, %W, %U, %b) : (!list, !emb, !mat, !mat, !vec) -> !vec
      %a = linalg.matvec ins(%U, %last : !mat, !vec) outs(%wx : !vec) -> !vec
      %h = math.tanh %a : !vec
      rec.yield %h : !vec
    } }
    return %h : !vec
  }
  func.func @main(%list: !list {batch.name = "list"}, %E: !emb {batch.shared = "E"},
                  %W: !mat {batch.shared = "W"}, %U: !mat {batch.shared = "U"},
                  %b: !vec {batch.shared = "b"})
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %h = call @encode(%list, %E, %W, %U, %b) : (!list, !emb, !mat, !mat, !vec) -> !vec
    return %h : !vec
  }
}
