#!/usr/bin/env python3
"""check_lazy.py: control that waits for tensors (strategy `lazy`).

Batched equals unbatched bit for bit, whatever the mini-batch, the number of threads and
the order of instances. How often tasks run is counted by an oracle of its own, which
replays decisions from the outputs: as often as the instance with the longest chain of
waits waits, and once more if anything is left. What waits together runs together,
whatever the instances did before.
"""

import json
import os
import random
import subprocess

import batchtest

checks = batchtest.Checks("lazy")
scratch = batchtest.temporary()

# A tree is encoded, without waiting; then its vector shrinks step by step as long as
# its first element is large. Trees of all heights wait together.
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

# A walk down a tree: each node's score, which its subtrees do not change, decides
# where it goes on.
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

# A vector shrinks; in each round it is multiplied k times more, so that instances
# come to a wait with chains of tasks of different lengths behind them. No wait
# depends on the head.
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


# Two vectors shrink side by side; what one has become is needed when the other has
# ended, too. Then both turn into one, which shrinks.
PAIR = """
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

PROGRAMS = {}  # of compiled(), by name


# Two ways not to end, where the first input is above 1: a loop, and a recursion in
# which calls in their last position make no stack.
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

# A loop that waits for nothing, and ends where k is even.
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

# A vector shrinks; in each round its kernel adds the row of E that the second element
# picks.
PICK = """
!vec = tensor<8xf32>
!table = tensor<1000x8xf32>
func.func @main(%x: !vec {batch.name = "x"}, %E: !table {batch.shared = "E"})
    -> (!vec {batch.name = "y"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %small = arith.constant 0.02 : f32
  %shrink = arith.constant dense<[0.5, 10.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]> : !vec
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

# A tree or DAG of which each node waits: for an element that decides what it computes.
# The children of a node wait side by side, and a shared node once.
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

# Rows shrink, each until its first element is small: side by side.
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

# A call that needs its own result, if the tree's word is below 50.
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

# Each round of a loop that waits makes a node and a list; all nodes and the last list
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

# In round k, and not before, a loop adds a product that is the same for all instances.
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

def compiled(name, text=None, size=None, options=""):
    """The object of a model or a text, for strategy `lazy`; with other options of
    --autobatch."""
    source = os.path.join(batchtest.MODELS, name + ".mlir")
    if text:
        source = batchtest.write_lines(os.path.join(scratch, name + ".mlir"), [text])
    if options:
        batchtest.call("batch-opt", source, "-o", source + options,
                       "--autobatch=strategy=lazy " + options)
        return checks.run("compile %s %s" % (name, options),
                          lambda: batchtest.compile_model(
                              source + options, source + options + ".so"))
    path = os.path.join(scratch, name + ".so")
    PROGRAMS[name] = checks.run("compile " + name, lambda: batchtest.compile_model(
        source, path, size, "--strategy=lazy"))
    return PROGRAMS[name]


def run(what, program, inputs, batch, threads, *options):
    """The report and outputs of a run that is compared with the unbatched one."""
    out = os.path.join(scratch, "out.safetensors")
    report = checks.run(what, lambda: batchtest.run_model(
        program, inputs, "--outputs=" + out, *options, batch=batch,
        threads=threads, check=threads == 1))
    return (report, batchtest.contents(out)) if report else (None, None)


def fails(what, text, *command):
    done = subprocess.run([batchtest.tool(command[0]), *command[1:]],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    checks.expect(what, done.returncode == 1 and text in done.stdout.decode(),
                  done.stdout.decode())


def check_counts(name, program, inputs, count, chains, waits, left):
    """`chains`: the longest chain of waits of each instance; `waits`: how many it has
    in all, if that is known; `left`: tasks that no wait is for, in every mini-batch."""
    wanted = {}
    for batch in (1, 7, count):
        for threads in (1, 2, 3):
            what = "%s, batch %d, %d threads" % (name, batch, threads)
            # With two threads, rows that nobody needs any more are used again.
            report, found = run(what, program, inputs, batch, threads,
                                "--share-tasks=1", "--nodes-per-worker=1",
                                "--reuse-rows=%d" % (1 if threads == 2 else 1024))
            if not report:
                continue
            checks.equal(what + ": workers that inspect", report["inspectors"],
                         min(threads, batch))
            wanted.setdefault("bytes", found)
            checks.expect(what + ": same bytes", found == wanted["bytes"])
            counts = [report[key] for key in ("flushes", "waits", "batches", "tasks")]
            checks.equal(what + ": same counts", counts,
                         wanted.setdefault(batch, counts))
    if callable(chains):
        chains = waits = chains(batchtest.read_safetensors(
            os.path.join(scratch, "out.safetensors")))
    for batch in (1, 7, count):
        longest = [max(chains[i:i + batch]) for i in range(0, count, batch)]
        checks.equal("%s, batch %d: flushes" % (name, batch), wanted[batch][0],
                     sum(n + left for n in longest))
        if waits:
            checks.equal("%s, batch %d: waits" % (name, batch), wanted[batch][1],
                         sum(waits))
    return wanted


def check(name, program, inputs, count, chains, left):
    """`chains(outputs)`: the waits of each instance, none side by side."""
    return check_counts(name, program, inputs, count, chains, None, left)


def check_order(name, program, lines, outputs):
    """Instances in the opposite order, all together and split up, have the same
    results."""
    path = batchtest.write_lines(os.path.join(scratch, "opposite"), lines[::-1])
    out = os.path.join(scratch, "opposite.safetensors")
    for batch in (len(lines), 5):
        what = "%s, opposite order, batch %d" % (name, batch)
        if not checks.run(what, lambda: batchtest.run_model(
                program, path, "--outputs=" + out, batch=batch)):
            continue
        for key, (kind, shape, values) in batchtest.read_safetensors(out).items():
            size = len(values) // len(lines)
            rows = [values[i:i + size] for i in range(0, len(values), size)]
            forward = outputs[key][2]
            checks.expect("%s: same %s" % (what, key),
                          [v for row in rows[::-1] for v in row] == list(forward))


def random_tree(generator, height):
    if height == 0 or generator.random() < 0.1:
        return ["leaf", generator.randrange(100)]
    return ["node", random_tree(generator, height - 1),
            random_tree(generator, generator.randrange(height))]


def height_of(tree):
    return 0 if tree[0] == "leaf" else 1 + max(map(height_of, tree[1:]))


def check_trees():
    generator = random.Random(7)

    trees = [random_tree(generator, generator.randrange(9)) for _ in range(48)] + [["leaf", 99]]
    lines = [json.dumps(tree) for tree in trees]
    inputs = batchtest.write_lines(os.path.join(scratch, "trees"), lines)
    for name, text in (("shrink", SHRINK), ("walk", WALK)):
        program = compiled(name, text)
        if not program:
            continue
        first = 1 if name == "shrink" else 0
        wanted = check(name, program, inputs, len(lines),
                       lambda outputs: [n + first for n in outputs["steps"][2]],
                       left=1 - first)
        outputs = batchtest.read_safetensors(os.path.join(scratch, "out.safetensors"))
        checks.expect(name + ": instances differ", len(set(outputs["steps"][2])) > 3)
        check_order(name, program, lines, outputs)
        if name != "shrink":
            continue
        # One batch for each level of the highest tree, then one for each step.
        checks.equal("shrink: batches", wanted[len(lines)][2],
                     max(map(height_of, trees)) + 1 + max(outputs["steps"][2]))


def check_rounds():
    """Depths count from the last time that tasks ran: what waits together runs
    together, however long the chains of earlier tasks are."""
    program = compiled("rounds", ROUNDS)
    eager = compiled("rounds", ROUNDS, options="defer=false")
    if not program or not eager:
        return
    ks = [(7 * i) % 6 for i in range(20)]
    lines = [json.dumps({"x": [0.1 + 0.05 * (i % 13)] * 16, "k": k})
             for i, k in enumerate(ks)]
    inputs = batchtest.write_lines(os.path.join(scratch, "rounds"), lines)
    wanted = check("rounds", program, inputs, len(lines),
                   lambda outputs: list(outputs["steps"][2]), left=1)
    outputs = batchtest.read_safetensors(os.path.join(scratch, "out.safetensors"))
    steps = outputs["steps"][2]
    loop = sum(1 + max(k for k, n in zip(ks, steps) if n > t)
               for t in range(max(steps)))
    checks.equal("rounds: batches", wanted[len(lines)][2], loop + 1)
    # Every policy runs what is deferred after all that some wait depends on.
    for policy in ("agenda", "greedy"):
        report, found = run("rounds, " + policy, program, inputs, len(lines), 1,
                            "--policy=" + policy)
        if report:
            checks.expect("rounds, %s: same bytes" % policy, found == wanted["bytes"])
            checks.equal("rounds, %s: flushes and batches" % policy,
                         [report["flushes"], report["batches"]],
                         [wanted[len(lines)][0], loop + 1])
    # If it is not deferred, the head runs whenever instances have ended.
    report, found = run("rounds, heads not deferred", eager, inputs, len(lines), 1)
    if report:
        checks.expect("rounds, heads not deferred: same bytes",
                      found == wanted["bytes"])
        checks.equal("rounds, heads not deferred: batches", report["batches"],
                     loop + len(set(steps)))


def check_rows():
    """Rows that no function keeps and no task reads are used again: memory does not
    grow with the steps."""
    program = compiled("pair", PAIR)
    if not program:
        return
    count = 12
    slots = []
    for scale in (1, 1e30):
        lines = [json.dumps({"x": [0.1 * 3.0 ** (i % 5) * scale] * 16,
                             "y": [0.1 * 4.0 ** (i % 3) * scale ** (i % 2)] * 16})
                 for i in range(count)]
        name = "pair %g" % scale
        inputs = batchtest.write_lines(os.path.join(scratch, "pair"), lines)
        check(name, program, inputs, count, lambda outputs: [
            2 + max(a, b) + c for a, b, c in
            zip(*(outputs[key][2] for key in ("first", "second", "third")))], left=0)
        report, _ = run(name + ", rows used again", program, inputs, count, 1,
                        "--reuse-rows=1")
        if report:
            slots.append(report["slots"])
            checks.expect(name + ": instances differ", report["flushes"] > 10)
    # Of each instance: two vectors at first, two rows for each of them, one of them kept
    # by the last loop.
    checks.expect("pair: rows", len(slots) == 2 and max(slots) <= 8 * count, slots)


def check_examples():
    """Models that run in lock step by default."""
    program = compiled("skipnet38")
    if program:
        check("skipnet38", program, "random:1,9", 9,
              lambda outputs: [17] * 9, left=1)
    program = compiled("seq2seq", size=16)
    if program:
        check("seq2seq", program, "random:3,9", 9,
              lambda outputs: list(outputs["count"][2]), left=1)


def check_forks():
    """What does not depend on each other waits side by side."""
    generator = random.Random(9)

    def nodes_of(tree):
        return 0 if tree[0] == "leaf" else 1 + sum(map(nodes_of, tree[1:]))

    # 2^39 paths from the root to the leaf.
    ladder = {"nodes": [["leaf", 1]] + [["node", {"ref": i}, {"ref": i}]
                                        for i in range(39)], "root": 39}
    trees = [random_tree(generator, generator.randrange(7)) for _ in range(18)]
    lines = [json.dumps(t) for t in trees] + [json.dumps(ladder)]
    inputs = batchtest.write_lines(os.path.join(scratch, "dags"), lines)
    heights = list(map(height_of, trees)) + [39]
    nodes = list(map(nodes_of, trees)) + [39]
    program = compiled("grow", GROW)
    if program:
        count = len(lines)
        wanted = check_counts("grow", program, inputs, count, heights, None, left=1)
        alone = batchtest.write_lines(os.path.join(scratch, "ladder"), lines[-1:])
        report, _ = run("a shared node under a wait", program, alone, 1, 1)
        if report:
            checks.expect("a shared node under a wait: once", report["tasks"] <= 80,
                          report["tasks"])
        # Few branches at a time, or none, change what waits together only.
        for options, chains in ((["--max-fibers=0"], nodes), (["--max-fibers=3"], None),
                                (["--fiber-stack=256K"], heights)):
            what = "grow " + options[0]
            report, found = run(what, program, inputs, count, 1, *options)
            if report:
                checks.expect(what + ": same bytes", found == wanted["bytes"])
                if chains:
                    checks.equal(what + ": flushes", report["flushes"], max(chains) + 1)
                else:
                    checks.expect(what + ": flushes", max(heights) + 1 <=
                                  report["flushes"] <= max(nodes) + 1, report["flushes"])
        serial = compiled("grow", GROW, options="fork=false")
        if serial:
            report, found = run("grow fork=false", serial, inputs, count, 1)
            if report:
                checks.expect("grow fork=false: same bytes", found == wanted["bytes"])
                checks.equal("grow fork=false: flushes", report["flushes"],
                             max(nodes) + 1)
        # On a branch: the last call of a node runs on the stack of its caller.
        chain = '["leaf", 0]'
        for _ in range(20000):
            chain = '["node", ["leaf", 1], %s]' % chain
        deep = batchtest.write_lines(os.path.join(scratch, "deep"), [
            lines[0], '["node", %s, ["leaf", 0]]' % chain])
        for threads in ("1", "3"):
            fails("too deep on a branch", "instance 1: the recursion is deeper than the "
                  "stack of 262144 bytes allows; give a larger one with "
                  "--fiber-stack=BYTES", "batch-run", program, "--params=random:1",
                  "--inputs=" + deep, "--fiber-stack=256K", "--threads=" + threads,
                  "--nodes-per-worker=1")
        out = os.path.join(scratch, "partial.safetensors")
        done = subprocess.run([
            batchtest.tool("batch-run"), program, "--params=random:1", "--inputs=" + deep,
            "--fiber-stack=256K", "--partial-results", "--outputs=" + out],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        rows = list(batchtest.read_safetensors(out)["h"][2])
        checks.expect("partial results where a branch fails", done.returncode == 1 and
                      any(rows[:8]) and not any(rows[8:]), done.stdout.decode())
    program = compiled("rows", ROWS)
    if program:
        lines = [json.dumps([[10 ** generator.uniform(-3, 2)] * 16
                             for _ in range(generator.randrange(9))]) for _ in range(12)]
        inputs = batchtest.write_lines(os.path.join(scratch, "rows"), lines)
        out = os.path.join(scratch, "rows.safetensors")
        checks.run("rows", lambda: batchtest.run_model(
            program, inputs, "--outputs=" + out, batch=len(lines)))
        found = batchtest.read_safetensors(out)
        ends = list(found["steps.offsets"][2])
        waits = [[n + 1 for n in found["steps"][2][begin:end]]
                 for begin, end in zip(ends, ends[1:])]
        check_counts("rows", program, inputs, len(lines),
                     [max(rows, default=0) for rows in waits], list(map(sum, waits)),
                     left=0)
    program = compiled("circle", CIRCLE)
    if program:
        lines = batchtest.write_lines(os.path.join(scratch, "circle"), [
            '["leaf", 60]', '["leaf", 70]', '["leaf", 7]', '["leaf", 8]'])
        for threads in ("1", "3"):
            fails("a call that needs its result", "instance 2: a recursive function "
                  "calls itself with equal arguments, so it has no end", "batch-run",
                  program, "--params=random:1", "--inputs=" + lines,
                  "--threads=" + threads, "--nodes-per-worker=1")


def check_workers():
    """Several workers inspect: they make nodes and lists while others do, compute what
    is the same for all instances once in all, and report the first error."""
    values = [0.05 + 0.09 * (7 * i % 23) for i in range(20)]
    program = compiled("path", PATH)
    if program:
        inputs = batchtest.write_lines(os.path.join(scratch, "path"), [
            json.dumps({"x": [value] * 16, "xs": [[value / (i + 2)] * 16
                                                  for i in range(1 + index % 5)]})
            for index, value in enumerate(values)])
        check("room for nodes and lists", program, inputs, len(values),
              lambda outputs: list(outputs["steps"][2]), left=1)
        # Enough for the arrays to move often while others read and write them.
        many = batchtest.write_lines(os.path.join(scratch, "many"), [
            json.dumps({"x": [0.05 + i % 7 / 100] * 16, "xs": [[i / 999] * 16] * 20})
            for i in range(600)])
        found = [run("room for nodes and lists of many, %d threads" % threads, program,
                     many, 600, threads, "--nodes-per-worker=1")[1]
                 for threads in (1, 2, 3)]
        checks.expect("room for nodes and lists of many", found == found[:1] * 3)
    program = compiled("late", LATE)
    if program:
        # Parts of three workers come to round k at times of their own.
        inputs = batchtest.write_lines(os.path.join(scratch, "late"), [
            json.dumps({"x": [value] * 16, "k": (5, 2, 9)[3 * i // len(values)]})
            for i, value in enumerate(values)])
        wanted = check("a constant is made once", program, inputs, len(values),
                       lambda outputs: list(outputs["steps"][2]), left=0)
        outputs = batchtest.read_safetensors(os.path.join(scratch, "out.safetensors"))
        steps, ks = outputs["steps"][2], [(5, 2, 9)[3 * i // 20] for i in range(20)]
        late = [k for k, n in zip(ks, steps) if k < n]
        checks.equal("a constant is made once: parts", set(late), {5, 2, 9})
        checks.equal("a constant is made once: tasks", wanted[len(values)][3],
                     sum(steps) + len(late) + 1)
        for threads in (1, 2, 3):
            report, found = run("late, greedy", program, inputs, len(values), threads,
                                "--nodes-per-worker=1", "--policy=greedy")
            if report:
                checks.equal("late, greedy, %d threads: batches" % threads, [
                    report["batches"], report["tasks"]], wanted.setdefault(
                        "greedy", [report["batches"], report["tasks"]]))
    program = PROGRAMS.get("rounds")
    if program:
        # Instance 0 has one step in each round, instance 3 has six.
        for what, ks, text in (("earliest", (0, 0, 0, 5), "instance 3: has run 9 steps"),
                               ("first", (0, 5, 5, 5), "instance 1: has run 9 steps")):
            inputs = batchtest.write_lines(os.path.join(scratch, "ends"), [
                json.dumps({"x": [5] * 16, "k": k}) for k in ks])
            for threads in ("1", "2", "3"):
                fails("the %s error, %s threads" % (what, threads), text, "batch-run",
                      program, "--params=random:1", "--inputs=" + inputs,
                      "--max-steps=9", "--nodes-per-worker=1", "--threads=" + threads)


def check_steps():
    """An instance that does not end is named, with its loop, for every number of
    threads, and by unbatched code too; others that ended before do not matter."""
    program = compiled("endless", ENDLESS)
    loop = ENDLESS[:ENDLESS.index("%h, %n = scf.while")].count("\n") + 1
    function = ENDLESS[:ENDLESS.index("func.func private @again")].count("\n") + 1
    first = batchtest.write_lines(os.path.join(scratch, "steps"), [
        json.dumps({"x": [value] * 16, "y": [start] * 16}) for value, start in
        ((0.5, 3), (0.5, 0.5), (2, 1), (3, 1))])
    second = batchtest.write_lines(os.path.join(scratch, "calls"), [
        json.dumps({"x": [0.5] * 16, "y": [start] * 16}) for start in
        (1.5, 0.5, 1e9, 1e8)])
    for inputs, where in ((first, "a loop at endless.mlir:%d:" % loop),
                          (second, "function 'again")):
        for options in (["--threads=1"], ["--threads=2", "--nodes-per-worker=1"],
                        ["--threads=3", "--nodes-per-worker=1"], ["--unbatched"]):
            done = subprocess.run(
                [batchtest.tool("batch-run"), program, "--params=random:1",
                 "--inputs=" + inputs, "--max-steps=50"] + options,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            text = done.stdout.decode()
            checks.expect(
                "an end after 50 steps %s %s" % (where, options), done.returncode == 1 and
                "instance 2: has run 50 steps without an end, the last one in " + where
                in text and "; allow more with --max-steps=N" in text, text)
    # So is one whose loop waits for nothing.
    spinning = compiled("spin", SPIN)
    loop = SPIN[:SPIN.index("%i, %n = scf.while")].count("\n") + 1
    lines = batchtest.write_lines(os.path.join(scratch, "spin"), [
        json.dumps({"x": [0.5] * 16, "k": k}) for k in (4, 6, 7, 5)])
    for options in (["--threads=1"], ["--threads=3"], ["--unbatched"]):
        fails("a loop without a wait %s" % options, "instance 2: has run 50 steps without "
              "an end, the last one in a loop at spin.mlir:%d:" % loop, "batch-run",
              spinning, "--inputs=" + lines, "--max-steps=50", *options)
    # The others have their results if these are wanted.
    for threads in ("1", "2", "3"):
        out = os.path.join(scratch, "partial.safetensors")
        done = subprocess.run(
            [batchtest.tool("batch-run"), program, "--params=random:1", "--inputs=" +
             first, "--max-steps=50", "--partial-results", "--outputs=" + out,
             "--threads=" + threads, "--nodes-per-worker=1"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        text = done.stdout.decode()
        checks.expect("partial results", done.returncode == 1 and all(
            "instance %d: has run 50 steps" % i in text for i in (2, 3)) and
            "instance 0" not in text and "instance 1" not in text, text)
        found = batchtest.read_safetensors(out)
        checks.equal("partial results: values", [
            list(found[name][2]) for name in ("steps", "calls")],
            [[0, 0, 0, 0], [4, 0, 0, 0]])
    # From 1e9 it takes 73 rounds to come below 1, and the first call counts, too.
    for steps, ends in ((73, False), (74, True)):
        checks.expect("%d steps" % steps, ends == (subprocess.run(
            [batchtest.tool("batch-run"), program, "--params=random:1",
             "--inputs=" + second, "--check-unbatched", "--max-steps=%d" % steps],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode == 0))


def check_errors():
    """Targets without waits say so, and what is too deep."""
    fails("GPU", "control waits for a tensor here, and does so on CPUs only",
          "batch-compile", os.path.join(scratch, "walk.mlir"), "--strategy=lazy",
          "--device=emulator", "-o", os.path.join(scratch, "gpu.so"))
    # The second element is 2000 for instance 3 in the round after the first wait.
    picking = compiled("pick", PICK)
    lines = batchtest.write_lines(os.path.join(scratch, "pick"), [
        json.dumps({"x": [0.05, second, 1, 1, 1, 1, 1, 1]}) for second in
        (3, 5, 7, 200, 300)])
    for options in (["--threads=1"], ["--threads=3"], ["--unbatched"]):
        fails("an index out of range in a kernel %s" % options, "instance 3: index 2000 "
              "is out of range for dimension 0 of parameter 'E' of type "
              "tensor<1000x8xf32>, read at pick.mlir:", "batch-run", picking,
              "--params=random:1", "--inputs=" + lines, *options)
    chain = '["leaf", 0]'
    for _ in range(5000):
        chain = '["node", ["leaf", 1], %s]' % chain
    lines = batchtest.write_lines(os.path.join(scratch, "deep"),
                                  ['["leaf", 0]', chain, chain])
    for threads in ("1", "3"):
        fails("too deep", "instance 1: the recursion is deeper than the stack of",
              "batch-run", PROGRAMS["walk"], "--params=random:1",
              "--inputs=" + lines, "--stack-size=131072", "--threads=" + threads)


check_trees()
check_rounds()
check_rows()
check_examples()
check_forks()
check_workers()
check_steps()
check_errors()
checks.exit()
