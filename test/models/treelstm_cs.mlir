// Child-sum TreeLSTM (Tai et al. 2015) over constituency trees: words at the
// leaves, any number of children.
//
//   lstm(n): (h_k, c_k) = lstm(child k), s = sum of h_k
//            i, o = sigmoid(W_* x + U_* s + b_*), u = tanh(W_u x + U_u s + b_u)
//            f_k = sigmoid(W_f x + U_f h_k + b_f)
//            c = i * u + sum of f_k * c_k, h = o * tanh(c)
//
// x = E[word] and s = 0 at a leaf, and x = 0 at an inner node, so W_f is unused.
//
// Run it:
//   batch-run test/models/treelstm_cs.mlir --params=random:0 \
//     --inputs=examples/data/nary_trees.txt --batch=12 --check-unbatched

!vec = tensor<256xf32>
!rows = tensor<?x256xf32>
!mat = tensor<256x256xf32>
!emb = tensor<?x256xf32>
!tree = !rec.adt<@Tree>
!trees = !rec.list<!tree>
!states = !rec.adt<@States>
!stateslist = !rec.list<!states>

#row = affine_map<(row, col) -> (row, col)>
#lhs = affine_map<(row, col, k) -> (row, k)>
#rhs = affine_map<(row, col, k) -> (col, k)>
#acc = affine_map<(row, col, k) -> (row, col)>

module attributes {batch.sizes = {H = 256 : index}} {
  rec.adt @Tree kind tree {
    rec.variant @leaf(word: index)
    rec.variant @node(kids: !trees)
  }

  // Result of the model: h and c of every node.
  rec.adt @States {
    rec.variant @leaf(h: !vec, c: !vec)
    rec.variant @node(kids: !stateslist, h: !vec, c: !vec)
  }

  func.func private @sigmoid(%x: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %x : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // The sum of the children's rows, or zero without children.
  func.func private @sum(%xs: !rows) -> !vec {
    %zero = arith.constant dense<0.0> : !vec
    %s = linalg.reduce { arith.addf } ins(%xs : !rows) outs(%zero : !vec)
        dimensions = [0]
    return %s : !vec
  }

  // The sum of sigmoid(U_f h_k + a) * c_k over the children k, added to %init.
  func.func private @forget(%hs: !rows, %cs: !rows, %U_f: !mat, %a: !vec,
                            %init: !vec) -> !vec {
    %zero = arith.constant 0 : index
    %n = tensor.dim %hs, %zero : !rows
    %empty = tensor.empty(%n) : !rows
    %as = linalg.broadcast ins(%a : !vec) outs(%empty : !rows) dimensions = [0]
    %fs = linalg.matmul indexing_maps = [#lhs, #rhs, #acc]
        ins(%hs, %U_f : !rows, !mat) outs(%as : !rows) -> !rows
    %fcs = linalg.generic {indexing_maps = [#row, #row, #row],
                           iterator_types = ["parallel", "parallel"]}
        ins(%fs, %cs : !rows, !rows) outs(%empty : !rows) {
    ^bb0(%x: f32, %c: f32, %out: f32):
      %one = arith.constant 1.0 : f32
      %neg = arith.negf %x : f32
      %e = math.exp %neg : f32
      %d = arith.addf %one, %e : f32
      %f = arith.divf %one, %d : f32
      %fc = arith.mulf %f, %c : f32
      linalg.yield %fc : f32
    } -> !rows
    %s = linalg.reduce { arith.addf } ins(%fcs : !rows) outs(%init : !vec)
        dimensions = [0]
    return %s : !vec
  }

  func.func private @encode(
      %t: !tree, %E: !emb, %W_i: !mat, %W_o: !mat, %W_u: !mat, %U_i: !mat,
      %U_o: !mat, %U_u: !mat, %U_f: !mat, %b_i: !vec, %b_o: !vec, %b_u: !vec,
      %b_f: !vec)
      -> (!vec, !vec, !states) {
    %h, %c, %s = rec.match %t : !tree -> !vec, !vec, !states {
    case @leaf(%word: index) {
      %x = tensor.extract_slice %E[%word, 0] [1, 256] [1, 1] : !emb to !vec
      %ai = linalg.matvec ins(%W_i, %x : !mat, !vec) outs(%b_i : !vec) -> !vec
      %ao = linalg.matvec ins(%W_o, %x : !mat, !vec) outs(%b_o : !vec) -> !vec
      %au = linalg.matvec ins(%W_u, %x : !mat, !vec) outs(%b_u : !vec) -> !vec
      %i = func.call @sigmoid(%ai) : (!vec) -> !vec
      %o = func.call @sigmoid(%ao) : (!vec) -> !vec
      %u = math.tanh %au : !vec
      %c = arith.mulf %i, %u : !vec
      %tc = math.tanh %c : !vec
      %h = arith.mulf %o, %tc : !vec
      %s = rec.construct @States::@leaf(%h, %c) : (!vec, !vec) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    }
    case @node(%kids: !trees) {
      %hs, %cs, %states = rec.map %kid in %kids : !trees
          -> !rows, !rows, !stateslist {
        %hk, %ck, %sk = func.call @encode(
            %kid, %E, %W_i, %W_o, %W_u, %U_i, %U_o, %U_u, %U_f, %b_i, %b_o,
            %b_u, %b_f)
            : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !vec,
               !vec, !vec, !vec) -> (!vec, !vec, !states)
        rec.yield %hk, %ck, %sk : !vec, !vec, !states
      }
      %sum = func.call @sum(%hs) : (!rows) -> !vec
      %ai = linalg.matvec ins(%U_i, %sum : !mat, !vec) outs(%b_i : !vec) -> !vec
      %ao = linalg.matvec ins(%U_o, %sum : !mat, !vec) outs(%b_o : !vec) -> !vec
      %au = linalg.matvec ins(%U_u, %sum : !mat, !vec) outs(%b_u : !vec) -> !vec
      %i = func.call @sigmoid(%ai) : (!vec) -> !vec
      %o = func.call @sigmoid(%ao) : (!vec) -> !vec
      %u = math.tanh %au : !vec
      %iu = arith.mulf %i, %u : !vec
      %c = func.call @forget(%hs, %cs, %U_f, %b_f, %iu)
          : (!rows, !rows, !mat, !vec, !vec) -> !vec
      %tc = math.tanh %c : !vec
      %h = arith.mulf %o, %tc : !vec
      %s = rec.construct @States::@node(%states, %h, %c)
          : (!stateslist, !vec, !vec) -> !states
      rec.yield %h, %c, %s : !vec, !vec, !states
    } }
    return %h, %c, %s : !vec, !vec, !states
  }

  func.func @main(%tree: !tree {batch.name = "tree"},
                  %E: !emb {batch.shared = "E"},
                  %W_i: !mat {batch.shared = "W_i"},
                  %W_o: !mat {batch.shared = "W_o"},
                  %W_u: !mat {batch.shared = "W_u"},
                  %U_i: !mat {batch.shared = "U_i"},
                  %U_o: !mat {batch.shared = "U_o"},
                  %U_u: !mat {batch.shared = "U_u"},
                  %U_f: !mat {batch.shared = "U_f"},
                  %b_i: !vec {batch.shared = "b_i"},
                  %b_o: !vec {batch.shared = "b_o"},
                  %b_u: !vec {batch.shared = "b_u"},
                  %b_f: !vec {batch.shared = "b_f"})
      -> (!states {batch.name = "states"}) attributes {batch.entry} {
    %h, %c, %states = call @encode(
        %tree, %E, %W_i, %W_o, %W_u, %U_i, %U_o, %U_u, %U_f, %b_i, %b_o, %b_u,
        %b_f)
        : (!tree, !emb, !mat, !mat, !mat, !mat, !mat, !mat, !mat, !vec, !vec,
           !vec, !vec) -> (!vec, !vec, !states)
    return %states : !states
  }
}
