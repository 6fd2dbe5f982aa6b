#!/usr/bin/env python3
"""check_prefixes.py: tests slices of the first t rows of a tensor, where t is an index.

The size of a slice is an input, a counter or a kernel's result. Products, softmax,
reductions of any kind, elements, rows, windows, inserts and paddings use the slices.
Results equal those of Python, to the bit except for softmax, for any mini-batch, strategy
and number of threads, unbatched, and on the emulator. A size that is too large, or an
index past the size, is an error that names the tensor, the number and the instance.
Elements past a size may have any value.
"""

import math
import os
import random

import batchtest
import reference_runs

MODEL = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs",
                     "prefixes.mlir")
COUNT, COLUMNS, ROWS, ROWS_E = 64, 19, 12, 24

checks = batchtest.Checks("slices of computed size")
draw = random.Random(17)


def matrix(rows):
    """Returns numbers whose sums and products are exact."""
    return [[draw.randint(-8, 8) / 4 for _ in range(COLUMNS)] for _ in range(rows)]


def flat(rows):
    return [value for row in rows for value in row]


def add(rows):
    return [sum(column) for column in zip(*rows)] if rows else [0.0] * COLUMNS


E = matrix(ROWS_E)
reference = reference_runs.Reference(checks, {
    "E": ("F32", [ROWS_E, COLUMNS], flat(E))})
reference.tolerances["attended"] = 1e-4


def make_instance():
    t = draw.randint(1, ROWS)
    cache = matrix(ROWS)
    # Elements past the size are not read.
    ids = [draw.randrange(ROWS_E) if i < t else draw.choice((-5, 10**9))
           for i in range(ROWS)]
    return {"cache": cache, "q": matrix(1)[0], "ids": ids,
            "numbers": [draw.choice((-1, 0, 0, 4, 1, 2)) * draw.randrange(5)
                        for _ in range(ROWS)],
            "t": t, "o": draw.randint(0, min(t - 1, ROWS - t // 2)),
            "n": draw.randint(0, ROWS)}


def expected(v):
    """Returns {result: values}."""
    t, o, cache, q = v["t"], v["o"], v["cache"], v["q"]
    keys = cache[:t]
    scores = [sum(a * b for a, b in zip(key, q)) for key in keys]
    powers = [math.exp(score - max(scores)) for score in scores]
    count = max([0] + [number & 3 for number in v["numbers"][:t]])
    unsigned = max(number % 2**32 for number in v["numbers"][:t])
    padded = [[-1000.0] * 21 for _ in range(15)]
    for i, key in enumerate(keys):
        padded[i + 2][1:20] = [2 * e for e in key]
    x, filled = q, []
    for _ in range(v["n"]):
        filled.append(x)
        x = [max(0.0, *column) - e for column, e in zip(zip(*filled), x)]
    return {
        "weighed": add([[s * e for e in key] for s, key in zip(scores, keys)]),
        "attended": add([[p / sum(powers) * e for e in key]
                         for p, key in zip(powers, keys)]),
        "largest": [max(scores)],
        "unsigned": [unsigned - 2**32 if unsigned >= 2**31 else unsigned],
        "where": [scores.index(max(scores))],
        "last": [2 * scores[-1]], "row": [2 * e for e in keys[o]],
        "window": add(E[2 * o:2 * o + t // 2]), "padded": flat(padded),
        "inserted": flat([[2 * e for e in key] for key in keys] + cache[t:]),
        "looked": add([E[i] for i in v["ids"][:t]]),
        "computed": add(cache[1::3][:count]),
        "both": [sum(key[:count]) for key in keys] + [7.0] * (ROWS - t),
        "walked": x}


def check_errors(program, name, ways):
    """Checks the errors for wrong numbers. Each check makes one number of one instance wrong."""
    def check(what, change, wanted):
        reference.check_error(program, "%s, %s" % (name, what), change,
                              "index " + wanted, ways)

    def put(key, value):
        def change(v):
            v[key] = value
        return change

    def beyond(v):
        v["t"], v["o"] = 5, 5

    def wrong_id(v):
        v["ids"] = [ROWS_E] + v["ids"][1:]

    size = " is out of range for the size of a slice of dimension 0 of a tensor of type "
    check("a size", put("t", ROWS + 1), "13" + size)
    check("a large one", put("t", 2**31 - 1), "2147483647" + size)
    check("a row beyond", beyond, "5 is out of range for dimension 0 of a tensor of type "
          "tensor<?x19xf32>, read at prefixes.mlir:")
    check("a row before", put("o", -1), "-1 is out of range for ")
    check("no last one", put("t", 0), "")
    check("an index among the first", wrong_id,
          "24 is out of range for dimension 0 of parameter 'E'")


reference.give([make_instance() for _ in range(COUNT)], expected)
first = None
for strategy in ("linearize", "lockstep"):
    bits = reference.check_cpu(MODEL, strategy, check_errors)
    first = first or bits
    checks.equal(strategy + ": the same bits", bits, first)
    reference.check_emulator(MODEL, strategy, check_errors)
checks.exit()
