#!/usr/bin/env python3
"""check_races.py: ThreadSanitizer looks at compiled code, too.

For a batch-run with ThreadSanitizer ($BATCH_RUN; scripts/check --long). Programs of
single instances have no race on two workers; without any one of their barriers, they have
one, which is reported with the name of a function of the model.
"""

import os
import re

import batchtest

checks = batchtest.Checks("races")
file = batchtest.temporary_paths()

# Two products, each of which reads all that the other one has made.
LOOP = """
!vec = tensor<96xf32>
!mat = tensor<96x96xf32>
func.func @main(%x: !vec {batch.name = "x"}, %W: !mat {batch.shared = "W"},
                %U: !mat {batch.shared = "U"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "n"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %most = arith.constant 9 : i64
  %bound = arith.constant 5.0 : f32
  %zeros = arith.constant dense<0.0> : !vec
  %y, %n = scf.while (%v = %x, %n = %zero) : (!vec, i64) -> (!vec, i64) {
    %e = tensor.extract %v[%c0] : !vec
    %small = arith.cmpf ult, %e, %bound : f32
    %few = arith.cmpi ult, %n, %most : i64
    %more = arith.andi %small, %few : i1
    scf.condition(%more) %v, %n : !vec, i64
  } do {
  ^bb0(%v: !vec, %n: i64):
    %a = linalg.matvec ins(%W, %v : !mat, !vec) outs(%zeros : !vec) -> !vec
    %b = math.tanh %a : !vec
    %c = linalg.matvec ins(%U, %b : !mat, !vec) outs(%zeros : !vec) -> !vec
    %next = math.tanh %c : !vec
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : !vec, i64
  }
  return %y, %n : !vec, i64
}
"""


def compiled(name, text):
    """A program with its barriers: no pass inserts one after --autobatch."""
    path = batchtest.write_lines(file(name + ".mlir"), [text])
    lowered = batchtest.call("batch-opt", "--cpu-workers=" + batchtest.vector_options(),
                             path)
    path = batchtest.write_lines(file(name + ".llvm.mlir"), [lowered])
    return batchtest.compile_model(path, file(name + ".so"), None, "--sanitize=thread")


def check(name, source, sizes, inputs):
    options = "strategy=replicate level=device" + (" sizes=" + sizes if sizes else "")
    program = checks.run(name, lambda: batchtest.call(
        "batch-opt", "--autobatch=" + options, source))
    if not program:
        return
    whole = checks.run("compile " + name, lambda: compiled(name, program))
    for threads in (2, 3) if whole else ():
        checks.run("%s, %d workers: no race" % (name, threads), lambda:
                   batchtest.run_model(whole, inputs, threads=threads))
    barriers = [found.span() for found in re.finditer(r"\n *uprog\.barrier device\n",
                                                      program)]
    checks.expect(name + " has barriers", barriers)
    for number, (begin, end) in enumerate(barriers):
        what = "%s without barrier %d of %d" % (name, number + 1, len(barriers))
        racing = checks.run("compile " + what, lambda: compiled(
            "%s%d" % (name, number), program[:begin] + "\n" + program[end:]))
        if not racing:
            continue
        try:
            batchtest.run_model(racing, inputs, threads=2, check=False)
            checks.expect(what + ": a race", False)
        except batchtest.ToolError as error:
            checks.expect(what + ": a race", re.search(
                r"WARNING: ThreadSanitizer: data race(.|\n)* main", str(error)),
                str(error))


check("loop", batchtest.write_lines(file("source.mlir"), [LOOP]), "", "random:1,2")
check("seq2seq", os.path.join(batchtest.MODELS, "seq2seq.mlir"), "H=16,V=40",
      "random:3,1")
checks.exit()
