#!/usr/bin/env python3
"""Measures the cost of reads and inserts at computed positions, and of loops over rows.

  run.py [--build=build] [--rounds=9] [--instances=64] [--output=FILE]

Each case compares two variants on one thread, which take turns in rounds:

  row of E      reading 64 rows of 256 elements of a table of 3,797 rows, selected by numbers of
                each instance, versus writing as many elements in order (aim: at most 3)
  loop          a recurrence over 5 to 100 rows of 256 elements as scf.for, versus the same
                recurrence as a fold over a list (aim: at most 1.03)
  decoder       Seq2seq's decoder in lock step, 3,797 words, all instances in one mini-batch,
                versus the unbatched code (aim: below 1)
  cache         attention with a cache and inserts in place, versus selecting every element of
                the cache anew

The ratio of a round is the time of the first variant over that of the second. The ratio of a case
is the median over the rounds.
"""

import argparse
import json
import os
import random
import re
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402, calls tools, stores records

GATHER = """
func.func @main(%ids: tensor<64xi64> {batch.name = "ids"},
                %E: tensor<3797x256xf32> {batch.shared = "E"})
    -> (tensor<64x256xf32> {batch.name = "y"}) attributes {batch.entry} {
  %empty = tensor.empty() : tensor<64x256xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<64xi64>) outs(%empty : tensor<64x256xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %E[%i, %j] : tensor<3797x256xf32>
    linalg.yield %v : f32
  } -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
"""
IN_ORDER = """
func.func @main(%x: tensor<64x256xf32> {batch.name = "x"})
    -> (tensor<64x256xf32> {batch.name = "y"}) attributes {batch.entry} {
  %y = arith.negf %x : tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
"""
RECURRENCE = """
func.func @main(%%xs: tensor<?x256xf32> {batch.name = "xs"},
                %%W: tensor<256x256xf32> {batch.shared = "W"},
                %%U: tensor<256x256xf32> {batch.shared = "U"})
    -> (tensor<256xf32> {batch.name = "h"}) attributes {batch.entry} {
  %%h0 = arith.constant dense<0.5> : tensor<256xf32>
  %%zero = arith.constant dense<0.0> : tensor<256xf32>
%s
    %%wx = linalg.matvec ins(%%W, %%x : tensor<256x256xf32>, tensor<256xf32>)
        outs(%%zero : tensor<256xf32>) -> tensor<256xf32>
    %%sum = linalg.matvec ins(%%U, %%h : tensor<256x256xf32>, tensor<256xf32>)
        outs(%%wx : tensor<256xf32>) -> tensor<256xf32>
    %%next = math.tanh %%sum : tensor<256xf32>
    %s.yield %%next : tensor<256xf32>
  }
  return %%r : tensor<256xf32>
}
"""
FOR = """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %xs, %c0 : tensor<?x256xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %h0) -> tensor<256xf32> {
    %x = tensor.extract_slice %xs[%i, 0] [1, 256] [1, 1]
        : tensor<?x256xf32> to tensor<256xf32>"""
FOLD = """  %r = rec.fold %x in %xs init(%h = %h0) : tensor<?x256xf32> -> tensor<256xf32> {"""
CHOICE = """    %next = linalg.generic {
        indexing_maps = [affine_map<(h, n, d) -> (h, d)>,
                         affine_map<(h, n, d) -> (h, n, d)>],
        iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : !row) outs(%cache : !cache) {
    ^bb0(%new: f32, %old: f32):
      %slot = linalg.index 1 : index
      %is = arith.cmpi eq, %slot, %t : index
      %value = arith.select %is, %new, %old : f32
      linalg.yield %value : f32
    } -> !cache
    return %next : !cache
"""


def model(name):
    with open(batchtest.model(name)) as file:
        return file.read()


def choose(text):
    """Returns a variant of the model `text` in which every step writes the whole cache."""
    new = re.sub(r"    %next = tensor\.insert_slice %x into %cache.*?"
                 r"return %next : !cache\n", lambda _: CHOICE, text, flags=re.S)
    if new == text:
        raise batchtest.ToolError("attention.mlir lacks the expected insert into the cache")
    return new


def cases(folder, instances):
    """Returns [(name, aim, (variant, variant))]. A variant is (way, program, flags). The time of
    the first variant is compared with that of the second."""
    draw = random.Random(3)
    ids, rows = os.path.join(folder, "ids"), os.path.join(folder, "rows")
    batchtest.write_lines(ids, [{"ids": [draw.randrange(3797) for _ in range(64)]}
                                for _ in range(instances)])
    batchtest.write_lines(rows, [
        {"xs": [[round(draw.uniform(-1, 1), 3) for _ in range(256)]
                for _ in range(draw.randrange(5, 101))]} for _ in range(instances)])
    params = "--params=random:0"
    ids, rows = "--inputs=" + ids, "--inputs=" + rows
    drawn = "--inputs=random:1,%d" % instances
    decoder = model("seq2seq")
    attention = model("attention")
    return [
        ("row of E", 3, (("picked", GATHER, [params, ids]),
                         ("in order", IN_ORDER, [drawn]))),
        ("loop", 1.03, (("scf.for", RECURRENCE % (FOR, "scf"), [params, rows]),
                        ("list", RECURRENCE % (FOLD, "rec"), [params, rows]))),
        ("decoder", 1, (("batched", decoder, [params, drawn]),
                        ("unbatched", decoder, [params, drawn, "--unbatched"]))),
        ("cache", None, (("in place", attention, [params, drawn]),
                         ("chosen anew", choose(attention), [params, drawn])))]


def measure(program, flags, instances):
    """Returns the microseconds of a mini-batch: the median of several runs."""
    report = json.loads(batchtest.call(
        "batch-run", program, *flags, "--batch=%d" % instances, "--threads=1",
        "--bench=5", "--json"))
    if "--unbatched" in flags:
        return report["unbatched_us"]
    return report["time_us"]["total"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--instances", type=int, default=64)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "reads.json"))
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, aim, ways in cases(folder, options.instances):
            programs = []
            for way, text, flags in ways:
                source = os.path.join(folder, "%s %s.mlir" % (name, way))
                with open(source, "w") as file:
                    file.write(text)
                program = source[:-len(".mlir")] + ".so"
                batchtest.call("batch-compile", source, "-o", program, *(
                    ["--strategy=lockstep"] if name == "decoder" else []))
                programs.append((program, flags))
            rounds = [[measure(*program, options.instances) for program in programs]
                      for _ in range(options.rounds)]
            ratio = statistics.median(a / b for a, b in rounds)
            medians = [statistics.median(column) for column in zip(*rounds)]
            print("%-9s %10.1f us %-9s %10.1f us %-12s ratio %.2f%s" % (
                name, medians[0], ways[0][0], medians[1], ways[1][0], ratio,
                " (aim: at most %g)" % aim if aim else ""), flush=True)
            results.append({"case": name, "ways": [way for way, _, _ in ways],
                            "us": medians, "ratio": ratio, "aim": aim})
    batchtest.store_record(options.output, {
        **batchtest.where_and_when("reads"), "instances": options.instances,
        "rounds": options.rounds, "results": results})


main()
