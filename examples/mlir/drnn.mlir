// DRNN: a tree grows from a vector (Alvarez-Melis and Jaakkola, 2017). Two recurrent
// networks run from parent to child and from sibling to sibling. For each child, they compute its
// value, whether it has children, and whether another sibling follows. Trees have at most 4
// levels below the root, and nodes have at most 4 children.
//
//   cell(x, h; W, b) = sigmoid(W [x; h] + b)
//   kids(x, h, depth): ha = cell_a(x, h), (sx, sh) = (x, h); repeat
//     hf = cell_f(sx, sh), p = tanh(W_p [ha; hf]), s = U p + b, q = sigmoid(s)
//     o = softmax(W_o p + q_0 v_a + q_1 v_f)
//     the child is (o, ha), with kids(o, ha, depth + 1) if s_0 > 0 and depth + 1 < 4
//     (sx, sh) = (o, hf)
//   while s_1 > 0 and there are fewer than 4 children
//
// Control flow waits for s of each child. A child's own children and its later siblings do not
// depend on each other.
//
// Run it:
//   batch-run examples/mlir/drnn.mlir --params=random:0 \
//     --inputs=random:1,10 --strategy=lazy --check-unbatched

!vec = tensor<256xf32>
!two = tensor<512xf32>
!mat = tensor<256x256xf32>
!pair = tensor<256x512xf32>
!flags = tensor<2xf32>
!of_flags = tensor<2x256xf32>
!scalar = tensor<f32>
!nodes = !rec.adt<@Nodes>

module attributes {batch.sizes = {H = 256 : index}} {
  // Result of the model: a node, its children, and the siblings after it. The children of a node
  // are created before the siblings after it. The rows of results are in the opposite order: the
  // last node created comes first.
  rec.adt @Nodes {
    rec.variant @none()
    rec.variant @node(siblings: !nodes, kids: !nodes, x: !vec, h: !vec, child_count: i32)
  }

  func.func private @cell(%x: !vec, %h: !vec, %W: !pair, %b: !vec) -> !vec {
    %xh = tensor.concat dim(0) %x, %h : (!vec, !vec) -> !two
    %a = linalg.matvec ins(%W, %xh : !pair, !two) outs(%b : !vec) -> !vec
    %one = arith.constant dense<1.0> : !vec
    %n = arith.negf %a : !vec
    %e = math.exp %n : !vec
    %d = arith.addf %one, %e : !vec
    %y = arith.divf %one, %d : !vec
    return %y : !vec
  }

  // p = tanh(W [ha; hf])
  func.func private @predict(%ha: !vec, %hf: !vec, %W: !pair) -> !vec {
    %both = tensor.concat dim(0) %ha, %hf : (!vec, !vec) -> !two
    %zero = arith.constant dense<0.0> : !vec
    %a = linalg.matvec ins(%W, %both : !pair, !two) outs(%zero : !vec) -> !vec
    %p = math.tanh %a : !vec
    return %p : !vec
  }

  // softmax(W p + q_0 v_a + q_1 v_f) with q = sigmoid(s)
  func.func private @output(%p: !vec, %s: !flags, %W: !mat, %v_a: !vec, %v_f: !vec) -> !vec {
    %one = arith.constant dense<1.0> : !flags
    %n = arith.negf %s : !flags
    %e = math.exp %n : !flags
    %d = arith.addf %one, %e : !flags
    %q = arith.divf %one, %d : !flags
    %q0 = tensor.extract_slice %q[0] [1] [1] : !flags to !scalar
    %q1 = tensor.extract_slice %q[1] [1] [1] : !flags to !scalar
    %empty = tensor.empty() : !vec
    %all0 = linalg.broadcast ins(%q0 : !scalar) outs(%empty : !vec) dimensions = [0]
    %all1 = linalg.broadcast ins(%q1 : !scalar) outs(%empty : !vec) dimensions = [0]
    %a = arith.mulf %all0, %v_a : !vec
    %f = arith.mulf %all1, %v_f : !vec
    %af = arith.addf %a, %f : !vec
    %sum = linalg.matvec ins(%W, %p : !mat, !vec) outs(%af : !vec) -> !vec
    %o = linalg.softmax dimension(0) ins(%sum : !vec) outs(%empty : !vec) -> !vec
    return %o : !vec
  }

  // Returns the children of (x, h), and their number.
  func.func private @kids(
      %x: !vec, %h: !vec, %depth: i32, %W_a: !pair, %b_a: !vec, %W_f: !pair, %b_f: !vec,
      %W_p: !pair, %W_o: !mat, %v_a: !vec, %v_f: !vec, %U: !of_flags, %b: !flags)
      -> (!nodes, i32) {
    %zero = arith.constant 0 : i32
    %ha = func.call @cell(%x, %h, %W_a, %b_a) : (!vec, !vec, !pair, !vec) -> !vec
    %nodes, %count = func.call @siblings(%x, %h, %ha, %depth, %zero, %W_a, %b_a, %W_f, %b_f,
        %W_p, %W_o, %v_a, %v_f, %U, %b)
        : (!vec, !vec, !vec, i32, i32, !pair, !vec, !pair, !vec, !pair, !mat, !vec, !vec,
           !of_flags, !flags) -> (!nodes, i32)
    return %nodes, %count : !nodes, i32
  }

  // Returns the children after (x, h), and the number of children, including `before` earlier ones.
  func.func private @siblings(
      %x: !vec, %h: !vec, %ha: !vec, %depth: i32, %before: i32, %W_a: !pair, %b_a: !vec,
      %W_f: !pair, %b_f: !vec, %W_p: !pair, %W_o: !mat, %v_a: !vec, %v_f: !vec,
      %U: !of_flags, %b: !flags) -> (!nodes, i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %most = arith.constant 4 : i32
    %level = arith.constant 0.0 : f32
    %none = rec.construct @Nodes::@none() : () -> !nodes

    %hf = func.call @cell(%x, %h, %W_f, %b_f) : (!vec, !vec, !pair, !vec) -> !vec
    %p = func.call @predict(%ha, %hf, %W_p) : (!vec, !vec, !pair) -> !vec
    %s = linalg.matvec ins(%U, %p : !of_flags, !vec) outs(%b : !flags) -> !flags
    %o = func.call @output(%p, %s, %W_o, %v_a, %v_f)
        : (!vec, !flags, !mat, !vec, !vec) -> !vec
    %s0 = tensor.extract %s[%c0] : !flags
    %s1 = tensor.extract %s[%c1] : !flags
    %is_parent = arith.cmpf ogt, %s0, %level : f32
    %is_followed = arith.cmpf ogt, %s1, %level : f32
    %below = arith.addi %depth, %one : i32
    %so_far = arith.addi %before, %one : i32
    %has_depth = arith.cmpi slt, %below, %most : i32
    %has_width = arith.cmpi slt, %so_far, %most : i32
    %has_kids = arith.andi %is_parent, %has_depth : i1
    %goes_on = arith.andi %is_followed, %has_width : i1

    %kids, %kid_count = scf.if %has_kids -> (!nodes, i32) {
      %k, %n = func.call @kids(%o, %ha, %below, %W_a, %b_a, %W_f, %b_f, %W_p, %W_o, %v_a,
          %v_f, %U, %b)
          : (!vec, !vec, i32, !pair, !vec, !pair, !vec, !pair, !mat, !vec, !vec, !of_flags,
             !flags) -> (!nodes, i32)
      scf.yield %k, %n : !nodes, i32
    } else {
      scf.yield %none, %zero : !nodes, i32
    }
    %rest, %count = scf.if %goes_on -> (!nodes, i32) {
      %r, %n = func.call @siblings(%o, %hf, %ha, %depth, %so_far, %W_a, %b_a, %W_f, %b_f,
          %W_p, %W_o, %v_a, %v_f, %U, %b)
          : (!vec, !vec, !vec, i32, i32, !pair, !vec, !pair, !vec, !pair, !mat, !vec, !vec,
             !of_flags, !flags) -> (!nodes, i32)
      scf.yield %r, %n : !nodes, i32
    } else {
      scf.yield %none, %so_far : !nodes, i32
    }
    %node = rec.construct @Nodes::@node(%rest, %kids, %o, %ha, %kid_count)
        : (!nodes, !nodes, !vec, !vec, i32) -> !nodes
    return %node, %count : !nodes, i32
  }

  func.func @main(%x: !vec {batch.name = "x"}, %h: !vec {batch.name = "h"},
                  %W_a: !pair {batch.shared = "W_a"}, %b_a: !vec {batch.shared = "b_a"},
                  %W_f: !pair {batch.shared = "W_f"}, %b_f: !vec {batch.shared = "b_f"},
                  %W_p: !pair {batch.shared = "W_pred"},
                  %W_o: !mat {batch.shared = "W_out"}, %v_a: !vec {batch.shared = "v_a"},
                  %v_f: !vec {batch.shared = "v_f"},
                  %U: !of_flags {batch.shared = "U_af"},
                  %b: !flags {batch.shared = "b_af"})
      -> (!nodes {batch.name = "tree"}) attributes {batch.entry} {
    %zero = arith.constant 0 : i32
    %none = rec.construct @Nodes::@none() : () -> !nodes
    %kids, %count = func.call @kids(%x, %h, %zero, %W_a, %b_a, %W_f, %b_f, %W_p, %W_o, %v_a,
        %v_f, %U, %b)
        : (!vec, !vec, i32, !pair, !vec, !pair, !vec, !pair, !mat, !vec, !vec, !of_flags,
           !flags) -> (!nodes, i32)
    %tree = rec.construct @Nodes::@node(%none, %kids, %x, %h, %count)
        : (!nodes, !nodes, !vec, !vec, i32) -> !nodes
    return %tree : !nodes
  }
}
