"""Programs whose control flow waits for tensors, for check_lazy.py and check_lazy_tools.py."""

# A tree is encoded without waits. Then its vector shrinks step by step, as long as its
# first element is large. The trees wait together, whatever their heights.
SHRINK = """
!tree = !rec.adt<@Tree>
!vec = tensor<16xf32>
!table = tensor<?x16xf32>
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !tree, right: !tree)
}
func.func private @encode(%t: !tree, %E: !table) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 16] [1, 1] : !table to !vec
    %y = math.tanh %x : !vec
    rec.yield %y : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @encode(%l, %E) : (!tree, !table) -> !vec
    %hr = func.call @encode(%r, %E) : (!tree, !table) -> !vec
    %s = arith.addf %hl, %hr : !vec
    %y = math.absf %s : !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
func.func @main(%t: !tree {batch.name = "tree"}, %E: !table {batch.shared = "E"})
    -> (!vec {batch.name = "h"}, i64 {batch.name = "steps"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %h0 = func.call @encode(%t, %E) : (!tree, !table) -> !vec
  %h, %n = scf.while (%h = %h0, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %more = arith.cmpf ogt, %e, %small : f32
    scf.condition(%more) %h, %n : !vec, i64
  } do {
  ^bb0(%h: !vec, %n: i64):
    %next = arith.mulf %h, %shrink : !vec
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  return %h, %n : !vec, i64
}
"""

# A walk down a tree. The score of each node determines the next node, and does not depend on the
# subtrees.
WALK = """
!tree = !rec.adt<@Tree>
!vec = tensor<8xf32>
!table = tensor<?x8xf32>
rec.adt @Tree {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !tree, right: !tree)
}
func.func private @walk(%t: !tree, %h: !vec, %n: i64, %E: !table) -> (!vec, i64) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %r:2 = rec.match %t : !tree -> !vec, i64 {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 8] [1, 1] : !table to !vec
    %y = arith.addf %x, %h : !vec
    rec.yield %y, %n : !vec, i64
  }
  case @node(%l: !tree, %r: !tree) {
    %g = math.sin %h : !vec
    %next = arith.addf %g, %h : !vec
    %score = tensor.extract %next[%c0] : !vec
    %zero = arith.constant 1.0 : f32
    %left = arith.cmpf olt, %score, %zero : f32
    %m = arith.addi %n, %one : i64
    %y:2 = scf.if %left -> (!vec, i64) {
      %a:2 = func.call @walk(%l, %next, %m, %E) : (!tree, !vec, i64, !table) -> (!vec, i64)
      scf.yield %a#0, %a#1 : !vec, i64
    } else {
      %a:2 = func.call @walk(%r, %next, %m, %E) : (!tree, !vec, i64, !table) -> (!vec, i64)
      scf.yield %a#0, %a#1 : !vec, i64
    }
    rec.yield %y#0, %y#1 : !vec, i64
  } }
  return %r#0, %r#1 : !vec, i64
}
func.func @main(%t: !tree {batch.name = "tree"}, %E: !table {batch.shared = "E"})
    -> (!vec {batch.name = "h"}, i64 {batch.name = "steps"})
    attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %x = arith.constant dense<0.1> : !vec
  %y = math.exp %x : !vec
  %h, %n = func.call @walk(%t, %y, %zero, %E) : (!tree, !vec, i64, !table) -> (!vec, i64)
  return %h, %n : !vec, i64
}
"""

# A vector shrinks. Each round multiplies it 1 + k times, so instances with different k reach a
# wait after chains of tasks of different lengths. No wait depends on the exponential after the
# loop.
ROUNDS = """
!vec = tensor<16xf32>
func.func @main(%x: !vec {batch.name = "x"}, %k: index {batch.name = "k"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "steps"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %slightly = arith.constant dense<0.98> : !vec
  %h, %n = scf.while (%h = %x, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %more = arith.cmpf ogt, %e, %small : f32
    scf.condition(%more) %h, %n : !vec, i64
  } do {
  ^bb0(%h: !vec, %n: i64):
    %first = arith.mulf %h, %shrink : !vec
    %next = scf.for %i = %c0 to %k step %c1 iter_args(%g = %first) -> !vec {
      %f = arith.mulf %g, %slightly : !vec
      scf.yield %f : !vec
    }
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  %y = math.exp %h : !vec
  return %y, %n : !vec, i64
}
"""

# A loop whose state is one row, and in which every round waits
LONG = """
!vec = tensor<256xf32>
func.func @main(%x: !vec {batch.name = "x"}, %k: index {batch.name = "k"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "steps"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bound = arith.constant 2.0e9 : f32
  %half = arith.constant dense<0.5> : !vec
  %n = arith.index_cast %k : index to i64
  %h, %m = scf.while (%h = %x, %m = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %ok = arith.cmpf olt, %e, %bound : f32
    %room = arith.cmpi slt, %m, %n : i64
    %more = arith.andi %ok, %room : i1
    scf.condition(%more) %h, %m : !vec, i64
  } do {
  ^bb0(%h: !vec, %m: i64):
    %a = arith.mulf %h, %half : !vec
    %next = arith.addf %a, %x : !vec
    %m2 = arith.addi %m, %one : i64
    scf.yield %next, %m2 : !vec, i64
  }
  return %h, %m : !vec, i64
}
"""

# A function whose loop shrinks a vector and waits in each round
SHRINKING = """
!vec = tensor<16xf32>
func.func private @shrink(%x: !vec) -> (!vec, i64) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %h, %n = scf.while (%h = %x, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %more = arith.cmpf ogt, %e, %small : f32
    scf.condition(%more) %h, %n : !vec, i64
  } do {
  ^bb0(%h: !vec, %n: i64):
    %next = arith.mulf %h, %shrink : !vec
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  return %h, %n : !vec, i64
}
"""

# Two vectors shrink concurrently. When both loops have ended, a vector computed from both results
# shrinks.
PAIR = SHRINKING + """
func.func @main(%x: !vec {batch.name = "x"}, %y: !vec {batch.name = "y"})
    -> (!vec {batch.name = "h"}, i64 {batch.name = "first"}, i64 {batch.name = "second"},
        i64 {batch.name = "third"})
    attributes {batch.entry} {
  %x0 = math.absf %x : !vec
  %y0 = math.absf %y : !vec
  %g, %n = func.call @shrink(%x0) : (!vec) -> (!vec, i64)
  %h, %m = func.call @shrink(%y0) : (!vec) -> (!vec, i64)
  %s = arith.addf %g, %h : !vec
  %t = arith.addf %s, %x0 : !vec
  %z, %k = func.call @shrink(%t) : (!vec) -> (!vec, i64)
  return %z, %n, %m, %k : !vec, i64, i64, i64
}
"""

# If x[0] is above 1, the loop does not end. The number of calls of the recursion grows with y[0].
# The recursive calls are tail calls, which need no stack.
ENDLESS = """
!vec = tensor<16xf32>
func.func private @again(%h: !vec, %n: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %bound = arith.constant 1.0 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %e = tensor.extract %h[%c0] : !vec
  %more = arith.cmpf olt, %e, %bound : f32
  %r = scf.if %more -> i64 {
    scf.yield %n : i64
  } else {
    %next = arith.mulf %h, %shrink : !vec
    %m = arith.addi %n, %one : i64
    %s = func.call @again(%next, %m) : (!vec, i64) -> i64
    scf.yield %s : i64
  }
  return %r : i64
}
func.func @main(%x: !vec {batch.name = "x"}, %y: !vec {batch.name = "y"})
    -> (i64 {batch.name = "steps"}, i64 {batch.name = "calls"})
    attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bound = arith.constant 1.0 : f32
  %h, %n = scf.while (%h = %x, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %more = arith.cmpf ogt, %e, %bound : f32
    scf.condition(%more) %h, %n : !vec, i64
  } do {
  ^bb0(%h: !vec, %n: i64):
    %next = math.absf %h : !vec
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  %calls = func.call @again(%y, %zero) : (!vec, i64) -> i64
  return %n, %calls : i64, i64
}
"""

# A loop that never waits, and ends if k is even
SPIN = """
!vec = tensor<16xf32>
func.func @main(%x: !vec {batch.name = "x"}, %k: i64 {batch.name = "k"})
    -> (i64 {batch.name = "rounds"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %h = math.sin %x : !vec
  %e = tensor.extract %h[%c0] : !vec
  %start = arith.fptosi %e : f32 to i64
  %i, %n = scf.while (%i = %k, %n = %start) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi ne, %i, %zero : i64
    scf.condition(%more) %i, %n : i64, i64
  } do {
  ^bb0(%i: i64, %n: i64):
    %next = arith.subi %i, %two : i64
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : i64, i64
  }
  return %n : i64
}
"""

# The vector x is multiplied by `shrink` until the first element of the product is small. In each
# round, a kernel adds 0 times the row of E that the second element selects.
PICK = """
!vec = tensor<8xf32>
!table = tensor<1000x8xf32>
func.func @main(%x: !vec {batch.name = "x"}, %shrink: !vec {batch.name = "shrink"},
                %E: !table {batch.shared = "E"})
    -> (!vec {batch.name = "y"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %small = arith.constant 0.02 : f32
  %y = scf.while (%h = %x) : (!vec) -> !vec {
    %e = tensor.extract %h[%c0] : !vec
    %more = arith.cmpf ogt, %e, %small : f32
    scf.condition(%more) %h : !vec
  } do {
  ^bb0(%h: !vec):
    %second = tensor.extract %h[%c1] : !vec
    %whole = arith.fptosi %second : f32 to i64
    %i = arith.index_cast %whole : i64 to index
    %row = tensor.extract_slice %E[%i, 0] [1, 8] [1, 1] : !table to !vec
    %zero = arith.constant dense<0.0> : !vec
    %none = arith.mulf %row, %zero : !vec
    %less = arith.mulf %h, %shrink : !vec
    %next = arith.addf %less, %none : !vec
    scf.yield %next : !vec
  }
  return %y : !vec
}
"""

# A tree or DAG in which each node waits for an element that determines its computation.
# The children of a node wait concurrently, and a shared node waits once.
GROW = """
!dag = !rec.adt<@Dag>
!vec = tensor<8xf32>
!table = tensor<?x8xf32>
!mat = tensor<8x8xf32>
rec.adt @Dag {
  rec.variant @leaf(word: index)
  rec.variant @node(left: !dag, right: !dag)
}
func.func private @grow(%t: !dag, %E: !table, %W: !mat) -> !vec {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %r = rec.match %t : !dag -> !vec {
  case @leaf(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 8] [1, 1] : !table to !vec
    rec.yield %x : !vec
  }
  case @node(%l: !dag, %r: !dag) {
    %hl = func.call @grow(%l, %E, %W) : (!dag, !table, !mat) -> !vec
    %hr = func.call @grow(%r, %E, %W) : (!dag, !table, !mat) -> !vec
    %s = arith.addf %hl, %hr : !vec
    %h = math.sin %s : !vec
    %e = tensor.extract %h[%c0] : !vec
    %c = arith.cmpf ogt, %e, %zero : f32
    %y = scf.if %c -> !vec {
      %p = linalg.matvec ins(%W, %h : !mat, !vec) outs(%s : !vec) -> !vec
      scf.yield %p : !vec
    } else {
      scf.yield %h : !vec
    }
    rec.yield %y : !vec
  } }
  return %r : !vec
}
func.func @main(%t: !dag {batch.name = "dag"}, %E: !table {batch.shared = "E"},
                %W: !mat {batch.shared = "W"})
    -> (!vec {batch.name = "h"}) attributes {batch.entry} {
  %h = func.call @grow(%t, %E, %W) : (!dag, !table, !mat) -> !vec
  %y = math.tanh %h : !vec
  return %y : !vec
}
"""

# Rows shrink concurrently, each until its first element is small.
ROWS = """
!vec = tensor<16xf32>
func.func @main(%xs: tensor<?x16xf32> {batch.name = "xs"})
    -> (!rec.list<i64> {batch.name = "steps"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %steps = rec.map %x in %xs : tensor<?x16xf32> -> !rec.list<i64> {
    %x0 = math.absf %x : !vec
    %h, %n = scf.while (%h = %x0, %n = %zero) : (!vec, i64) -> (!vec, i64) {
      %e = tensor.extract %h[%c0] : !vec
      %more = arith.cmpf ogt, %e, %small : f32
      scf.condition(%more) %h, %n : !vec, i64
    } do {
    ^bb0(%h: !vec, %n: i64):
      %next = arith.mulf %h, %shrink : !vec
      %m = arith.addi %n, %one : i64
      scf.yield %next, %m : !vec, i64
    }
    rec.yield %n : i64
  }
  return %steps : !rec.list<i64>
}
"""

# A call that depends on its own result if the word of the tree is below 50
CIRCLE = """
!tree = !rec.adt<@Tree>
!vec = tensor<8xf32>
!table = tensor<?x8xf32>
rec.adt @Tree {
  rec.variant @leaf(word: index)
}
func.func private @again(%t: !tree, %E: !table) -> !vec {
  %c0 = arith.constant 0 : index
  %c50 = arith.constant 50 : index
  %word = rec.match %t : !tree -> index {
  case @leaf(%word: index) {
    rec.yield %word : index
  } }
  %x = tensor.extract_slice %E[%word, 0] [1, 8] [1, 1] : !table to !vec
  %h = math.sin %x : !vec
  %e = tensor.extract %h[%c0] : !vec
  %two = arith.constant 2.0 : f32
  %below = arith.cmpf olt, %e, %two : f32
  %first = arith.cmpi ult, %word, %c50 : index
  %c = arith.andi %below, %first : i1
  %y = scf.if %c -> !vec {
    %z = func.call @again(%t, %E) : (!tree, !table) -> !vec
    scf.yield %z : !vec
  } else {
    scf.yield %h : !vec
  }
  return %y : !vec
}
func.func @main(%t: !tree {batch.name = "tree"}, %E: !table {batch.shared = "E"})
    -> (!vec {batch.name = "h"}) attributes {batch.entry} {
  %h = func.call @again(%t, %E) : (!tree, !table) -> !vec
  return %h : !vec
}
"""

# Each round of a loop that waits creates a node and a list. All nodes and the last list
# are results.
PATH = """
!path = !rec.adt<@Path>
!vec = tensor<16xf32>
rec.adt @Path {
  rec.variant @end()
  rec.variant @step(h: !vec, rest: !path)
}
func.func @main(%x: !vec {batch.name = "x"}, %xs: tensor<?x16xf32> {batch.name = "xs"})
    -> (!path {batch.name = "path"}, !rec.list<!vec> {batch.name = "rows"},
        i64 {batch.name = "steps"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %end = rec.construct @Path::@end() : () -> !path
  %first = rec.map %y in %xs : tensor<?x16xf32> -> !rec.list<!vec> {
    %z = math.absf %y : !vec
    rec.yield %z : !vec
  }
  %h, %p, %rows, %n = scf.while (%h = %x, %p = %end, %rows = %first, %n = %zero)
      : (!vec, !path, !rec.list<!vec>, i64) -> (!vec, !path, !rec.list<!vec>, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %more = arith.cmpf ogt, %e, %small : f32
    scf.condition(%more) %h, %p, %rows, %n : !vec, !path, !rec.list<!vec>, i64
  } do {
  ^bb0(%h: !vec, %p: !path, %rows: !rec.list<!vec>, %n: i64):
    %next = arith.mulf %h, %shrink : !vec
    %q = rec.construct @Path::@step(%next, %p) : (!vec, !path) -> !path
    %sums = rec.map %y in %rows : !rec.list<!vec> -> !rec.list<!vec> {
      %z = arith.addf %y, %next : !vec
      rec.yield %z : !vec
    }
    %m = arith.addi %n, %one : i64
    scf.yield %next, %q, %sums, %m : !vec, !path, !rec.list<!vec>, i64
  }
  return %p, %rows, %n : !path, !rec.list<!vec>, i64
}
"""

# In round k only, a loop adds a product that is equal for all instances.
LATE = """
!vec = tensor<16xf32>
func.func @main(%x: !vec {batch.name = "x"}, %k: i64 {batch.name = "k"},
                %B: !vec {batch.shared = "B"}, %W: tensor<16x16xf32> {batch.shared = "W"})
    -> (!vec {batch.name = "h"}, i64 {batch.name = "steps"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<0.75> : !vec
  %h, %n = scf.while (%h = %x, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %h[%c0] : !vec
    %more = arith.cmpf ogt, %e, %small : f32
    scf.condition(%more) %h, %n : !vec, i64
  } do {
  ^bb0(%h: !vec, %n: i64):
    %less = arith.mulf %h, %shrink : !vec
    %isK = arith.cmpi eq, %n, %k : i64
    %next = scf.if %isK -> !vec {
      %same = linalg.matvec ins(%W, %B : tensor<16x16xf32>, !vec)
          outs(%B : !vec) -> !vec
      %sum = arith.addf %less, %same : !vec
      scf.yield %sum : !vec
    } else {
      scf.yield %less : !vec
    }
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  return %h, %n : !vec, i64
}
"""


def many_loops(calls, fork):
    """Returns a program with `calls` loops that wait: one after another, or concurrently if
    `fork` is true."""
    lines = [SHRINKING, """
func.func @main(%x: !vec {batch.name = "x"})
    -> (!vec {batch.name = "h"}, i64 {batch.name = "n"}) attributes {batch.entry} {
  %h0 = math.absf %x : !vec
  %n0 = arith.constant 0 : i64
"""]
    for i in range(calls):
        lines += [
            "  %%k%d = arith.constant dense<%.2f> : !vec" % (i, 1 + 0.01 * i),
            "  %%a%d = arith.addf %%h%d, %%k%d : !vec" % (i, 0 if fork else i, i),
            "  %%h%d, %%m%d = call @shrink(%%a%d) : (!vec) -> (!vec, i64)" % (i + 1, i, i),
            "  %%n%d = arith.addi %%n%d, %%m%d : i64" % (i + 1, i, i)]
    result = "%%h%d" % (1 if fork else calls)
    for i in range(1, calls if fork else 0):
        lines.append("  %%s%d = arith.addf %s, %%h%d : !vec" % (i, result, i + 1))
        result = "%%s%d" % i
    lines += ["  return %s, %%n%d : !vec, i64" % (result, calls), "}"]
    return "\n".join(lines) + "\n"
