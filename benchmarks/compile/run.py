#!/usr/bin/env python3
"""Measures the time of batch-opt, and its growth with the size of the program.

  run.py [--build=build] [--ops=1000,10000] [--runs=5] [--slack=1] [--output=FILE]

Makes a program for each number in --ops, with about that many ops. Each program consists of
mutually recursive functions over a tree, each with about 40 ops of tensor code. Times
`batch-opt --autobatch --cpu-workers` on each program, from start to exit, less the time of
`batch-opt` on an empty module. The budget is 200 ms for 1,000 ops and 2.5 s for 10,000. The exit
code is 1 if the smallest time exceeds --slack times the budget.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402, stores records

BUDGET_MS = {1000: 200, 10000: 2500}


def function(number, count):
    """Returns a function whose case for nodes calls the next function on both children."""
    lines = ["func.func private @f%d(%%t: !tree, %%E: !emb, %%W: !mat) -> !vec {" %
             number,
             "  %h = rec.match %t : !tree -> !vec {",
             "  case @leaf(%word: index) {",
             "    %x = tensor.extract_slice %E[%word, 0] [1, 64] [1, 1] "
             ": !emb to !vec",
             "    rec.yield %x : !vec",
             "  }",
             "  case @node(%l: !tree, %r: !tree) {"]
    for name in "lr":
        lines.append("    %%h%s = func.call @f%d(%%%s, %%E, %%W) : "
                     "(!tree, !emb, !mat) -> !vec" %
                     (name, (number + 1) % count, name))
    lines.append("    %zero = arith.constant dense<0.0> : !vec")
    lines.append("    %v0 = arith.addf %hl, %hr : !vec")
    for i in range(30):
        code = ("arith.mulf %%v%d, %%hl : !vec", "arith.addf %%v%d, %%hr : !vec",
                "math.tanh %%v%d : !vec")[i % 3] % i
        if i % 10 == 9:
            code = ("linalg.matvec ins(%%W, %%v%d : !mat, !vec) "
                    "outs(%%zero : !vec) -> !vec" % i)
        lines.append("    %%v%d = %s" % (i + 1, code))
    # The constant makes each function different, because equal functions would share a kernel.
    lines.append("    %%c = arith.constant dense<%d.0> : !vec" % number)
    lines += ["    %y = arith.addf %v30, %c : !vec", "    rec.yield %y : !vec",
              "  } }", "  return %h : !vec", "}"]
    return lines


def program(ops):
    """Returns the text of a program of about `ops` ops, and the exact number of its ops."""
    count = max(1, round(ops / 42))
    lines = ["!vec = tensor<64xf32>", "!mat = tensor<64x64xf32>",
             "!emb = tensor<?x64xf32>", "!tree = !rec.adt<@Tree>",
             "rec.adt @Tree {", "  rec.variant @leaf(word: index)",
             "  rec.variant @node(left: !tree, right: !tree)", "}"]
    for number in range(count):
        lines += function(number, count)
    lines += ['func.func @main(%t: !tree {batch.name = "tree"}, '
              '%E: !emb {batch.shared = "E"}, %W: !mat {batch.shared = "W"}) -> '
              '(!vec {batch.name = "h"}) attributes {batch.entry} {',
              "  %h = call @f0(%t, %E, %W) : (!tree, !emb, !mat) -> !vec",
              "  return %h : !vec", "}"]
    return "\n".join(lines) + "\n", 42 * count


def best_time(command, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--ops", default="1000,10000")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--slack", type=float, default=1)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "compile.json"))
    options = parser.parse_args()
    tool = os.path.join(options.build, "bin", "batch-opt")
    results, over = [], False
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.mlir")
        with open(empty, "w") as file:
            file.write("module {}\n")
        start_up = best_time([tool, empty], options.runs)
        for ops in [int(part) for part in options.ops.split(",")]:
            text, count = program(ops)
            path = os.path.join(folder, "program.mlir")
            with open(path, "w") as file:
                file.write(text)
            taken = 1e3 * (best_time([tool, "--autobatch", "--cpu-workers", path],
                                     options.runs) - start_up)
            budget = BUDGET_MS.get(ops)
            print("%6d ops: %8.1f ms%s" %
                  (count, taken, " (budget %d ms)" % budget if budget else ""))
            over |= budget is not None and taken > options.slack * budget
            results.append({"ops": count, "ms": taken, "budget_ms": budget})
    batchtest.store_record(options.output, {
        **batchtest.where_and_when("compile"), "start_up_ms": 1e3 * start_up,
        "results": results})
    sys.exit(1 if over else 0)


main()
