// Computations of kernels on types other than f32. Each result has its own
// reference in check_types.py.

#xs = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
!reals = tensor<21xf64>
!out = tensor<37xf64>
!longs = tensor<11xi64>
!words = tensor<11xi32>
!bits = tensor<11xi1>
!real = tensor<f64>
!long = tensor<i64>
!bit = tensor<i1>

func.func private @linear(%x: !reals, %y: !out, %W: tensor<37x21xf64>)
    -> (!out, !reals, !real) {
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty() : !out
  %s0 = linalg.fill ins(%zero : f64) outs(%e0 : !out) -> !out
  %wx = linalg.matvec ins(%W, %x : tensor<37x21xf64>, !reals) outs(%s0 : !out) -> !out
  %e1 = tensor.empty() : !reals
  %s1 = linalg.fill ins(%zero : f64) outs(%e1 : !reals) -> !reals
  %yw = linalg.vecmat ins(%y, %W : !out, tensor<37x21xf64>) outs(%s1 : !reals) -> !reals
  %e2 = tensor.empty() : !real
  %s2 = linalg.fill ins(%zero : f64) outs(%e2 : !real) -> !real
  %dot = linalg.dot ins(%wx, %y : !out, !out) outs(%s2 : !real) -> !real
  return %wx, %yw, %dot : !out, !reals, !real
}

// Both matrices differ between instances.
func.func private @product(%a: tensor<5x7xf64>, %b: tensor<7x9xf64>) -> tensor<5x9xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<5x9xf64>
  %s = linalg.fill ins(%zero : f64) outs(%e : tensor<5x9xf64>) -> tensor<5x9xf64>
  %c = linalg.matmul ins(%a, %b : tensor<5x7xf64>, tensor<7x9xf64>)
         outs(%s : tensor<5x9xf64>) -> tensor<5x9xf64>
  return %c : tensor<5x9xf64>
}

// Returns m = p ^ (p with halves swapped) for p = n * 0x9e3779b97f4a7c15, and m scaled to [0, 1).
func.func private @mix(%n: !longs) -> (!longs, tensor<11xf64>) {
  %g = arith.constant dense<0x9e3779b97f4a7c15> : !longs
  %c32 = arith.constant dense<32> : !longs
  %c11 = arith.constant dense<11> : !longs
  %scale = arith.constant dense<0x3CA0000000000000> : tensor<11xf64>
  %p = arith.muli %n, %g : !longs
  %high = arith.shrui %p, %c32 : !longs
  %low = arith.shli %p, %c32 : !longs
  %swapped = arith.ori %high, %low : !longs
  %m = arith.xori %swapped, %p : !longs
  %top = arith.shrui %m, %c11 : !longs
  %d = arith.uitofp %top : !longs to tensor<11xf64>
  %u = arith.mulf %d, %scale : tensor<11xf64>
  return %m, %u : !longs, tensor<11xf64>
}

// Some divisors are zero, and the smallest number is divided by -1.
func.func private @divide(%n: !longs, %w: !words) -> (!longs, !longs, !words) {
  %d = arith.extsi %w : !words to !longs
  %q = arith.divsi %n, %d : !longs
  %r = arith.remsi %n, %d : !longs
  %t = arith.trunci %n : !longs to !words
  %u = arith.divui %t, %w : !words
  return %q, %r, %u : !longs, !longs, !words
}

func.func private @compare(%n: !longs, %w: !words, %p: i1) -> (!bits, !words, !long, !bit) {
  %zero = arith.constant 0 : i64
  %yes = arith.constant true
  %d = arith.extui %w : !words to !longs
  %less = arith.cmpi slt, %n, %d : !longs
  %least = arith.minsi %n, %d : !longs
  %most = arith.maxui %n, %d : !longs
  %chosen = arith.select %p, %least, %most : !longs
  %narrow = arith.trunci %chosen : !longs to !words
  %e0 = tensor.empty() : !long
  %s0 = linalg.fill ins(%zero : i64) outs(%e0 : !long) -> !long
  %sum = linalg.generic {indexing_maps = [#xs, #one], iterator_types = ["reduction"]}
           ins(%chosen : !longs) outs(%s0 : !long) {
  ^bb0(%a: i64, %o: i64):
    %s = arith.addi %a, %o : i64
    linalg.yield %s : i64
  } -> !long
  %e1 = tensor.empty() : !bit
  %s1 = linalg.fill ins(%yes : i1) outs(%e1 : !bit) -> !bit
  %all = linalg.generic {indexing_maps = [#xs, #one], iterator_types = ["reduction"]}
           ins(%less : !bits) outs(%s1 : !bit) {
  ^bb0(%a: i1, %o: i1):
    %s = arith.andi %a, %o : i1
    linalg.yield %s : i1
  } -> !bit
  return %less, %narrow, %sum, %all : !bits, !words, !long, !bit
}

// Computes with elements of tensors, scalars, and positions, in one loop.
func.func private @scalars(%x: !reals, %s: !real, %k: i64, %j: i32, %a: f64,
    %C: !real, %D: tensor<3xi64>) -> (!real, tensor<i32>, !longs, !real, tensor<index>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %x2 = tensor.extract %x[%two] : !reals
  %s0 = tensor.extract %s[] : !real
  %c = tensor.extract %C[] : !real
  %d = tensor.extract %D[%two] : tensor<3xi64>
  %0 = arith.addf %x2, %s0 : f64
  %1 = arith.mulf %0, %a : f64
  %2 = arith.mulf %1, %c : f64
  %real = tensor.from_elements %2 : !real
  %3 = arith.addi %d, %k : i64
  %4 = arith.trunci %3 : i64 to i32
  %5 = arith.addi %4, %j : i32
  %word = tensor.from_elements %5 : tensor<i32>
  %e = tensor.empty() : !longs
  %line = linalg.generic {indexing_maps = [#xs], iterator_types = ["parallel"]}
            outs(%e : !longs) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %i64 = arith.index_cast %i : index to i64
    %p = arith.muli %i64, %k : i64
    %q = arith.addi %p, %d : i64
    linalg.yield %q : i64
  } -> !longs
  %looped = scf.for %i = %zero to %four step %one iter_args(%h = %s) -> !real {
    %next = arith.mulf %h, %h : !real
    scf.yield %next : !real
  }
  %position = arith.index_cast %3 : i64 to index
  %where = tensor.from_elements %position : tensor<index>
  return %real, %word, %line, %looped, %where : !real, tensor<i32>, !longs, !real, tensor<index>
}

func.func @main(%x: !reals {batch.name = "x"}, %y: !out {batch.name = "y"},
    %a: tensor<5x7xf64> {batch.name = "a"}, %b: tensor<7x9xf64> {batch.name = "b"},
    %n: !longs {batch.name = "n"}, %w: !words {batch.name = "w"},
    %s: !real {batch.name = "s"}, %p: i1 {batch.name = "p"}, %k: i64 {batch.name = "k"},
    %j: i32 {batch.name = "j"}, %f: f64 {batch.name = "f"},
    %W: tensor<37x21xf64> {batch.shared = "W"}, %C: !real {batch.shared = "C"},
    %D: tensor<3xi64> {batch.shared = "D"})
    -> (!out {batch.name = "wx"}, !reals {batch.name = "yw"}, !real {batch.name = "dot"},
        tensor<5x9xf64> {batch.name = "ab"}, !longs {batch.name = "mixed"},
        tensor<11xf64> {batch.name = "uniform"}, !longs {batch.name = "quotient"},
        !longs {batch.name = "rest"}, !words {batch.name = "unsigned"},
        !bits {batch.name = "less"}, !words {batch.name = "narrow"}, !long {batch.name = "sum"},
        !bit {batch.name = "all"}, !real {batch.name = "real"}, tensor<i32> {batch.name = "word"},
        !longs {batch.name = "line"}, !real {batch.name = "looped"},
        tensor<index> {batch.name = "where"}, i64 {batch.name = "k2"}, i32 {batch.name = "j2"},
        f64 {batch.name = "f2"}, i1 {batch.name = "positive"})
    attributes {batch.entry} {
  %wx, %yw, %dot = call @linear(%x, %y, %W)
    : (!reals, !out, tensor<37x21xf64>) -> (!out, !reals, !real)
  %ab = call @product(%a, %b) : (tensor<5x7xf64>, tensor<7x9xf64>) -> tensor<5x9xf64>
  %mixed, %uniform = call @mix(%n) : (!longs) -> (!longs, tensor<11xf64>)
  %q, %r, %u = call @divide(%n, %w) : (!longs, !words) -> (!longs, !longs, !words)
  %less, %narrow, %sum, %all = call @compare(%n, %w, %p)
    : (!longs, !words, i1) -> (!bits, !words, !long, !bit)
  %real, %word, %line, %looped, %where = call @scalars(%x, %s, %k, %j, %f, %C, %D)
    : (!reals, !real, i64, i32, f64, !real, tensor<3xi64>)
    -> (!real, tensor<i32>, !longs, !real, tensor<index>)
  %k2 = arith.muli %k, %k : i64
  %j2 = arith.muli %j, %j : i32
  %f2 = arith.mulf %f, %f : f64
  %zero = arith.constant 0.0 : f64
  %positive = arith.cmpf ogt, %f, %zero : f64
  return %wx, %yw, %dot, %ab, %mixed, %uniform, %q, %r, %u, %less, %narrow, %sum, %all,
      %real, %word, %line, %looped, %where, %k2, %j2, %f2, %positive
    : !out, !reals, !real, tensor<5x9xf64>, !longs, tensor<11xf64>, !longs, !longs, !words,
      !bits, !words, !long, !bit, !real, tensor<i32>, !longs, !real, tensor<index>, i64, i32,
      f64, i1
}
