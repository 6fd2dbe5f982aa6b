// A tree model whose nodes have a matrix and vectors. No operand of a kernel reads values of both
// nodes and inputs. Tables have rows of one and of two dimensions. A parent reads pieces of its
// children's values: rows, columns, and columns that begin within a vector. A leaf has two vectors
// in one table, because the second vector of a node is the first vector of its left child.

!tree = !rec.adt<@Tree>
!states = !rec.adt<@States>
!vec = tensor<40xf32>
!mat = tensor<3x40xf32>

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#ijk = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>

module attributes {batch.sizes = {H = 40 : index}} {
  rec.adt @Tree kind tree arity 2 {
    rec.variant @leaf(word: index)
    rec.variant @node(left: !tree, right: !tree)
  }
  rec.adt @States {
    rec.variant @leaf(m: !mat, v: !vec)
    rec.variant @node(left: !states, right: !states, m: !mat, v: !vec)
  }

  func.func private @encode(%t: !tree, %E: tensor<?x40xf32>, %W: tensor<40x40xf32>)
      -> (!mat, !vec, !vec, !states) {
    %m, %v, %w, %s = rec.match %t : !tree -> !mat, !vec, !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 40] [1, 1] : tensor<?x40xf32> to !vec
      %v0 = math.tanh %x : !vec
      %w0 = math.exp %x : !vec
      %empty = tensor.empty() : !mat
      %m0 = linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]}
          ins(%x : !vec) outs(%empty : !mat) {
      ^bb0(%a: f32, %b: f32):
        %i = linalg.index 0 : index
        %n = arith.index_cast %i : index to i64
        %f = arith.sitofp %n : i64 to f32
        %p = arith.mulf %a, %f : f32
        %e = math.exp %p : f32
        linalg.yield %e : f32
      } -> !mat
      %o = rec.construct @States::@leaf(%m0, %v0) : (!mat, !vec) -> !states
      rec.yield %m0, %v0, %w0, %o : !mat, !vec, !vec, !states
    }
    case @node(%l: !tree, %r: !tree) {
      %ml, %vl, %wl, %sl = func.call @encode(%l, %E, %W)
          : (!tree, tensor<?x40xf32>, tensor<40x40xf32>) -> (!mat, !vec, !vec, !states)
      %mr, %vr, %wr, %sr = func.call @encode(%r, %E, %W)
          : (!tree, tensor<?x40xf32>, tensor<40x40xf32>) -> (!mat, !vec, !vec, !states)
      // The rows of the left child's matrix, times W.
      %zero = arith.constant dense<0.0> : !mat
      %y = linalg.generic {indexing_maps = [#ijk, #kj, #out],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%ml, %W : !mat, tensor<40x40xf32>) outs(%zero : !mat) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %p = arith.mulf %a, %b : f32
        %q = arith.addf %c, %p : f32
        linalg.yield %q : f32
      } -> !mat
      %z = arith.addf %y, %mr : !mat
      %m1 = math.tanh %z : !mat
      // A row, and columns that begin in the middle of a vector.
      %row = tensor.extract_slice %mr[1, 0] [1, 40] [1, 1] : !mat to !vec
      %part = tensor.extract_slice %vl[5] [30] [1] : !vec to tensor<30xf32>
      %rest = tensor.extract_slice %wr[3] [10] [1] : !vec to tensor<10xf32>
      %both = tensor.concat dim(0) %part, %rest
          : (tensor<30xf32>, tensor<10xf32>) -> !vec
      // The sums of columns.
      %sums = linalg.reduce ins(%ml : !mat) outs(%row : !vec) dimensions = [0]
          (%a: f32, %b: f32) {
            %c = arith.addf %a, %b : f32
            linalg.yield %c : f32
          }
      %z1 = arith.mulf %both, %sums : !vec
      %v1 = math.tanh %z1 : !vec
      %o = rec.construct @States::@node(%sl, %sr, %m1, %v1)
          : (!states, !states, !mat, !vec) -> !states
      rec.yield %m1, %v1, %vl, %o : !mat, !vec, !vec, !states
    }
    }
    return %m, %v, %w, %s : !mat, !vec, !vec, !states
  }
  func.func @main(%t: !tree {batch.name = "tree"},
                  %E: tensor<?x40xf32> {batch.shared = "E"},
                  %W: tensor<40x40xf32> {batch.shared = "W"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %m, %v, %w, %s = func.call @encode(%t, %E, %W)
        : (!tree, tensor<?x40xf32>, tensor<40x40xf32>) -> (!mat, !vec, !vec, !states)
    return %s : !states
  }
}
