#!/usr/bin/env python3
"""check_precision.py [--seed=N] PRODUCTS.mlir: tests products in tf32 and bf16 on the emulator.

Each sum of PRODUCTS is within the bound of docs/explanation/gpu.md. It is as close to the
exact sum with rounded factors as a sum in f32 is. Results of each model with products are
within the bound for models, differ from those of the CPU by more than sums in f32 do, and
have the bits of --batch=1.
"""

import argparse
import math
import os
import random
import struct

import batchtest
import sequences

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("products")
parser.add_argument("--seed", help="test one model in three, drawn by this seed")
options = parser.parse_args()
products = options.products
checks = batchtest.Checks("precision")
path = batchtest.temporary_paths()

# Number of bits that are removed from the fraction of an f32, and the largest relative error of
# this rounding
DROPPED = {"tf32": 13, "bf16": 16}
ROUNDING = {"tf32": 2.0 ** -11, "bf16": 2.0 ** -8}
WITH_PRODUCTS = [model for model in batchtest.EVERY if model != "treernn"]


def compiled(source, precision, *options):
    name = "%s, %s" % (os.path.basename(source), precision)
    output = path(os.path.basename(source) + precision + ".so")
    return checks.run("compile " + name, lambda: batchtest.compile_model(
        source, output, None, "-O1", "--device=emulator",
        "--precision=" + precision, *options))


def read(file):
    return batchtest.contents(path(file))


def rounded(value, precision):
    """Returns a float rounded to `precision`, as the hardware reads it."""
    ulp = 1 << DROPPED[precision]
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    half = ulp // 2
    if precision == "bf16":  # halves to even
        half += bits // ulp % 2 - 1
    return struct.unpack("<f", struct.pack("<I", (bits + half) // ulp * ulp))[0]


# --- Single products ------------------------------------------------------------

generator = random.Random(7)


def matrix(rows, columns):
    return ("F32", [rows, columns],
            [batchtest.narrow(generator.gauss(0, 1))
             for _ in range(rows * columns)])


ROWS = 21  # one tile of rows, and a remainder
parameters = {"E": matrix(ROWS, 44), "W": matrix(20, 44), "V": matrix(5, 30)}
# Values halfway between two neighbors
for i, value in enumerate((1 + 2.0 ** -11, -1 - 3 * 2.0 ** -11,
                           1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8)):
    parameters["E"][2][i] = parameters["W"][2][i] = value
batchtest.write_safetensors(path("parameters.safetensors"), parameters)
words = batchtest.write_lines(path("words.txt"), range(ROWS))


def check_sums(name, weights, first, precision, found):
    """Checks the products of `weights` with rows of E, from column `first` on."""
    _, (columns, depth), factors = weights
    bound = 2 * ROUNDING[precision] + ROUNDING[precision] ** 2
    sums = depth * 2.0 ** -23  # sums in f32, rounded in any direction
    worst = worst_rounded = 0.0
    for i in range(ROWS):
        x = parameters["E"][2][44 * i + first:44 * i + first + depth]
        for j in range(columns):
            w = factors[depth * j:depth * (j + 1)]
            scale = math.fsum(abs(a * b) for a, b in zip(x, w))
            exact = math.fsum(a * b for a, b in zip(x, w))
            close = math.fsum(rounded(a, precision) * rounded(b, precision)
                              for a, b in zip(x, w))
            value = found[columns * i + j]
            worst = max(worst, abs(value - exact) / scale)
            worst_rounded = max(worst_rounded, abs(value - close) / scale)
    what = "%s in %s: " % (name, precision)
    checks.expect(what + "within the bound", worst <= bound + sums,
                  "(%g, bound %g)" % (worst, bound + sums))
    checks.expect(what + "not in f32", worst > sums, "(%g)" % worst)
    checks.expect(what + "the sums of rounded factors", worst_rounded <= sums,
                  "(%g, bound %g)" % (worst_rounded, sums))


for precision in DROPPED:
    program = compiled(products, precision)
    if not program:
        continue

    def run(batch, output):
        return batchtest.run_model(
            program, words, "--blocks=2", "--outputs=" + path(output),
            params=path("parameters.safetensors"), batch=batch, check=False)

    if not checks.run("products in " + precision,
                      lambda: run(ROWS, "sums.safetensors")):
        continue
    tensors = batchtest.read_safetensors(path("sums.safetensors"))
    check_sums("y", parameters["W"], 0, precision, tensors["y"][2])
    check_sums("z", parameters["V"], 7, precision, tensors["z"][2])
    checks.run("one by one in " + precision, lambda: run(1, "one.safetensors"))
    checks.expect("products in %s: as one by one" % precision,
                  read("sums.safetensors") == read("one.safetensors"))

# --- Models -----------------------------------------------------------------------

for model in batchtest.sample(WITH_PRODUCTS, options.seed, 3):
    inputs = "random:1,3"
    if model not in batchtest.ALL:
        inputs = batchtest.write_lines(path("inputs.jsonl"),
                                       sequences.instances(model, 3))
    for precision in DROPPED:
        name = "%s in %s" % (model, precision)
        program = compiled(batchtest.model(model), precision, *sequences.sizes(model))
        if not program:
            continue

        def run_model(batch, output, *options):
            return batchtest.run_model(
                program, inputs, "--blocks=8",
                "--outputs=" + path(output), *options, batch=batch, check=False)

        found = checks.run(name, lambda: run_model(3, "all.safetensors",
                                             "--check-unbatched=1"))
        checks.run(name + ", one by one", lambda: run_model(1, "one.safetensors"))
        if not found:
            continue
        error, levels = found["max_relative_error"], found["batches"]
        bound = levels * 2 * ROUNDING[precision]
        checks.expect("%s: error %.1e, bound %.1e" % (name, error, bound),
                      error <= bound)
        checks.expect(name + ": not in f32", error > ROUNDING[precision] / 16)
        checks.expect(name + ": as one by one",
                      read("all.safetensors") == read("one.safetensors"))

checks.exit()
