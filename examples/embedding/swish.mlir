// A recursive model with an op of the toy dialect in its cell:
//   cell(leaf w) = E[w], cell(node l r) = swish(W (cell(l) + cell(r)))

!vec = tensor<8xf32>
!tree = !rec.adt<@Tree>

module {
  rec.adt @Tree {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }

  func.func private @cell(%t: !tree, %E: tensor<?x8xf32>, %W: tensor<8x8xf32>)
      -> !vec {
    %h = rec.match %t : !tree -> !vec {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 8] [1, 1]
          : tensor<?x8xf32> to !vec
      rec.yield %x : !vec
    }
    case @node(%l: !tree, %r: !tree) {
      %hl = func.call @cell(%l, %E, %W)
          : (!tree, tensor<?x8xf32>, tensor<8x8xf32>) -> !vec
      %hr = func.call @cell(%r, %E, %W)
          : (!tree, tensor<?x8xf32>, tensor<8x8xf32>) -> !vec
      %sum = arith.addf %hl, %hr : !vec
      %zero = arith.constant dense<0.0> : !vec
      %a = linalg.matvec ins(%W, %sum : tensor<8x8xf32>, !vec)
                         outs(%zero : !vec) -> !vec
      %h = toy.swish %a : !vec
      rec.yield %h : !vec
    } }
    return %h : !vec
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: tensor<?x8xf32> {batch.shared = "E"},
                  %W: tensor<8x8xf32> {batch.shared = "W"})
      -> (!vec {batch.name = "h"}) attributes {batch.entry} {
    %h = call @cell(%tree, %E, %W)
        : (!tree, tensor<?x8xf32>, tensor<8x8xf32>) -> !vec
    return %h : !vec
  }
}
