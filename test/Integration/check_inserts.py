#!/usr/bin/env python3
"""check_inserts.py: tests inserts of slices and elements at positions that are data.

On the CPU, results equal those of Python to the bit, batched and unbatched, for any
mini-batch, strategy and number of threads. On the emulator, some sums may differ by rounding.
In each of these runs, a position out of range is an error that names the tensor, the
index and the instance. The number of copied bytes does not depend on the number of inserts.
"""

import json
import os
import random

import batchtest
import reference_runs
from batchtest import narrow

MODEL = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs",
                     "inserts.mlir")
COUNT, COLUMNS, ROWS, ROWS_P = 64, 19, 9, 7

checks = batchtest.Checks("inserts at computed positions")
draw = random.Random(6)


def vector():
    return [narrow(draw.uniform(-2, 2)) for _ in range(COLUMNS)]


def matrix(rows):
    return [vector() for _ in range(rows)]


def flat(rows):
    return [value for row in rows for value in row]


def add(a, b):
    return [narrow(left + right) for left, right in zip(a, b)]


def thirds(row):
    return [narrow(value / 3) for value in row]


def column_sums(rows):
    sums = [0.0] * COLUMNS
    for row in rows:
        sums = add(row, sums)
    return sums


def put(rows, values):
    """Returns a copy of `rows` with replaced elements: `values` is {(row, column): value}."""
    return [[values.get((i, j), old) for j, old in enumerate(row)]
            for i, row in enumerate(rows)]


def put_row(rows, at, row):
    return [row if i == at else old for i, old in enumerate(rows)]


P = matrix(ROWS_P)
reference = reference_runs.Reference(checks, {"P": ("F32", [ROWS_P, COLUMNS], flat(P))})


def make_instance():
    return {"x": matrix(ROWS), "row": vector(),
            "ids": [draw.randrange(7) for _ in range(4)],
            "words": [draw.randrange(8) for _ in range(8)], "n": draw.randrange(9)}


def expected(v):
    """Returns {result: values}."""
    x, row, ids, words = v["x"], v["row"], v["ids"], v["words"]
    a, b = ids[:2]
    halves = [[0.5] * COLUMNS] * ROWS
    constant = put_row(halves, b, thirds(row))
    dropped = put_row(x, a, row)
    spread = thirds(row)
    for i in range(4):
        spread[1 + 3 * i] = row[i]
    scattered = x
    for i, place in enumerate(ids):
        scattered = put_row(scattered, place, P[i])
    cache, attended = [[0.0] * COLUMNS] * ROWS, row
    counts = [0] * 8
    newer, older = x, [[0.0] * COLUMNS] * ROWS
    two, other = x, row
    for i in range(v["n"]):
        newer, older = put_row(newer, words[i], row), newer
        read = put_row(two, words[i], other)
        two = put(put_row(two, i, row), {(words[i], i): row[words[i]]})
        other = thirds(column_sums(read))
        cache = put_row(cache, i, attended)
        attended = thirds(column_sums(cache))
        counts[words[i]] += 1
    return {
        "dropped": flat(dropped), "kept": flat(put_row(x, b, row)),
        "window": flat(put(x, {(a + i, b + j): x[4 + i][2 + j]
                               for i in range(3) for j in range(5)})),
        "strided": flat(put(x, {(a + 2 * i, b + 3 * j): x[5 + i][3 + j]
                                for i in range(2) for j in range(4)})),
        "partial": flat(put(x, {(b, 2 + j): row[6 + j] for j in range(5)})),
        "element": flat(put(x, {(a, b): row[a]})),
        "constant": flat(constant), "shared": flat(put_row(P, a, thirds(row))),
        "vector": [row[a] if j == b else old for j, old in enumerate(row)],
        "spread": spread, "summed": column_sums(constant),
        "both": flat(add(one, other) for one, other in zip(dropped, x)),
        "integers": [ids[0] if i == b else word for i, word in enumerate(words)],
        "bits": [int(a == b) if i == a else word % 2
                 for i, word in enumerate(words)],
        "scattered": flat(scattered), "cache": flat(cache), "attended": attended,
        "counts": counts, "newer": flat(newer), "older": flat(older),
        "two": flat(two), "other": other}


def check_errors(program, name, ways):
    """Checks the errors for five wrong positions of an instance, one at a time. All other
    positions are valid."""
    for what, key, position, index, wanted in [
            ("a slice", "ids", 0, 7,
             "index 7 is out of range for "),
            ("a negative position", "ids", 1, -1,
             "index -1 is out of range for "),
            ("an element of the loop", "words", 2, 8,
             "index 8 is out of range for dimension 0 of a tensor of "
             "type tensor<8xi64>"),
            ("a row of the loop", "ids", 3, ROWS,
             "index 9 is out of range for dimension 0 of a tensor of "
             "type tensor<9x19xf32>, written at inserts.mlir:"),
            ("far away", "ids", 3, 2**40,
             "index 1099511627776 is out of range for dimension 0 of "
             "a tensor of type tensor<9x19xf32>, written at inserts.mlir:")]:
        def change(v):
            v.update({"n": 8, key: list(v[key])})
            v[key][position] = index
        reference.check_error(program, "%s, %s" % (name, what), change, wanted, ways)


instances = [make_instance() for _ in range(COUNT)]
# The first instance inserts at the last valid positions
instances[0].update(ids=[6, 6, 8, 8], words=[7] * 8, n=8)
reference.give(instances, expected)
first = None
for strategy in ("linearize", "lockstep", "mask"):
    masks = () if strategy == "linearize" else ("--mask-from=0", "--mask-from=0.5")
    bits = reference.check_cpu(MODEL, strategy, check_errors, masks)
    first = first or bits
    checks.equal(strategy + ": the same bits", bits, first)
    if strategy != "mask":  # calls in this strategy need the host's stack
        # The lanes of a GPU share sums of columns, so they add in a different order.
        reference.tolerances = dict.fromkeys(
            ("summed", "other", "cache", "attended"), 1e-5)
        reference.check_emulator(MODEL, strategy, check_errors)
        reference.tolerances = {}


# T steps fill a cache of S rows. At most the first step of an instance copies the cache, so the
# number of copied bytes does not depend on T.
CACHE = MODEL.replace("inserts.mlir", "cache.mlir")
ROW_BYTES = 64 * 32 * 4


def counters(program, count, steps, *options):
    batchtest.write_lines(reference.path("caches"), [
        {"x": [draw.uniform(-1, 1) for _ in range(32)],
         "first": [[draw.uniform(-1, 1) for _ in range(32)] for _ in range(64)],
         "n": steps(i)} for i in range(count)])
    text = batchtest.call(
        "batch-run", program, "--inputs=" + reference.path("caches"), "--params=random:1",
        "--json", "--counters", *options)
    return json.loads(text)


for strategy, device, copied in [("linearize", None, 2), ("lockstep", None, 0),
                                 ("linearize", "emulator", 2),
                                 ("lockstep", "emulator", 0)]:
    program = checks.run("compile", lambda: batchtest.compile_model(
        CACHE, reference.path("cache.so"), None, "--strategy=" + strategy,
        *(["--device=" + device] if device else [])))
    more = ["--blocks=2"] if device else ["--check-unbatched"]
    for steps in (8, 16, 64):
        for threads in ("1", "2") if not device else ("1",):
            report = checks.run("count", lambda: counters(
                program, 4, lambda i: steps - i % 2, "--threads=" + threads, *more))
            checks.equal("%s %s: copied bytes of %d steps on %s threads" % (
                strategy, device or "", steps, threads),
                report and report["copied_bytes"], 4 * copied * ROW_BYTES)
checks.exit()
