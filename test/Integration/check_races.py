#!/usr/bin/env python3
"""check_races.py: checks that ThreadSanitizer checks compiled code.

Requires a batch-run with ThreadSanitizer ($BATCH_RUN; scripts/check --long). Programs of
single instances have no race on two and three workers. If any one of its barriers is
removed, a loop has a race, which is reported with the name of a function of the object.
"""

import os
import re

import batchtest

checks = batchtest.Checks("races")
os.environ["TSAN_OPTIONS"] = "halt_on_error=1"
file = batchtest.temporary_paths()

# Control flow reads an element of a product, and a kernel computes the next round's vector from
# the product. Neither the read nor the kernel contains a barrier.
LOOP = """
!vec = tensor<256xf32>
!mat = tensor<256x256xf32>
func.func @main(%x: !vec {batch.name = "x"}, %W: !mat {batch.shared = "W"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "n"}) attributes {batch.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %most = arith.constant 9 : i64
  %bound = arith.constant 5.0 : f32
  %zeros = arith.constant dense<0.0> : !vec
  %y, %n = scf.while (%v = %x, %k = %zero) : (!vec, i64) -> (!vec, i64) {
    %product = linalg.matvec ins(%W, %v : !mat, !vec) outs(%zeros : !vec) -> !vec
    %e = tensor.extract %product[%c0] : !vec
    %small = arith.cmpf ult, %e, %bound : f32
    %few = arith.cmpi ult, %k, %most : i64
    %more = arith.andi %small, %few : i1
    %m = arith.addi %k, %one : i64
    %all = tensor.splat %e : !vec
    %sum = arith.addf %product, %all : !vec
    %next = math.tanh %sum : !vec
    scf.condition(%more) %next, %m : !vec, i64
  } do {
  ^bb0(%v: !vec, %k: i64):
    scf.yield %v, %k : !vec, i64
  }
  return %y, %n : !vec, i64
}
"""


def compiled(name, text):
    """Compiles the output of --autobatch. No later pass inserts a barrier."""
    path = batchtest.write_lines(file(name + ".mlir"), [text])
    lowered = batchtest.call("batch-opt", "--cpu-workers=" + batchtest.vector_options(),
                             path)
    path = batchtest.write_lines(file(name + ".llvm.mlir"), [lowered])
    return batchtest.compile_model(path, file(name + ".so"), None, "--sanitize=thread")


def check(name, source, sizes, inputs, instances=64):
    """Checks that no worker races with another. Returns the program, which has sets if a
    mini-batch has several instances."""
    options = "strategy=replicate level=device instances=%d" % instances
    options += " sizes=" + sizes if sizes else ""
    program = checks.run(name, lambda: batchtest.call(
        "batch-opt", "--autobatch=" + options, source))
    whole = program and checks.run("compile " + name, lambda: compiled(
        name.replace(", ", "-").replace(" ", "-"), program))
    for threads in (2, 3) if whole else ():
        checks.run("%s, %d workers: no race" % (name, threads), lambda:
                   batchtest.run_model(whole, inputs, threads=threads))
    return program


def check_planted(kind, program, inputs):
    """Checks that the program has a race if any one of the barriers in its loop is removed."""
    begin = program.index("uprog.while")
    loop = begin, program.index("} do {", begin)
    barriers = [found.span() for found in re.finditer(r"\n *uprog\.barrier device\b",
                                                      program)
                if loop[0] < found.start() < loop[1]]
    checks.equal("barriers in the loop" + kind, len(barriers), 2)
    for number, (begin, end) in enumerate(barriers):
        what = "without barrier %d%s" % (number + 1, kind)
        racing = checks.run("compile " + what, lambda: compiled(
            "racing%d" % number, program[:begin] + program[end:]))
        if not racing:
            continue
        try:
            # After a race, workers may wait forever.
            batchtest.call("batch-run", racing, "--inputs=" + inputs, "--params=random:1",
                           "--threads=2", timeout=60)
            checks.expect(what + ": a race", False)
        except batchtest.ToolError as error:
            checks.expect(what + ": a race", re.search(
                r"WARNING: ThreadSanitizer: data race(.|\n)* batch\.execute", str(error)),
                str(error))


check("seq2seq", batchtest.model("seq2seq"), "H=96,V=200", "random:3,2")
for kind, instances in ((", one instance", 1), (", a set", 5)):
    inputs = "random:1,%d" % instances
    program = check("loop" + kind, batchtest.write_lines(file("source.mlir"), [LOOP]), "",
                    inputs, instances)
    if program:
        check_planted(kind, program, inputs)
checks.exit()
