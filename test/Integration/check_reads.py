#!/usr/bin/env python3
"""check_reads.py: tests reads of tensors at indices that are data.

Slices, elements, bodies of structured operations, gathers, paddings: results equal those
of Python to the bit, for any mini-batch, strategy and number of threads, unbatched, and
on the emulator. An index out of range is an error that names the tensor, the index and
the instance, in each of these runs.
"""

import os
import random

import batchtest
import reference_runs
from batchtest import narrow

MODELS = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs")
COUNT, COLUMNS, ROWS_E, ROWS_P = 64, 19, 11, 7

checks = batchtest.Checks("reads at computed indices")
draw = random.Random(5)


def matrix(rows):
    return [[narrow(draw.uniform(-2, 2)) for _ in range(COLUMNS)]
            for _ in range(rows)]


def flat(rows):
    return [value for row in rows for value in row]


E, P = matrix(ROWS_E), matrix(ROWS_P)
reference = reference_runs.Reference(checks, {
    "E": ("F32", [ROWS_E, COLUMNS], flat(E)),
    "P": ("F32", [ROWS_P, COLUMNS], flat(P))})


def make_ragged_instance():
    length = draw.randrange(2, 7)
    return {"seq": matrix(length), "at": [draw.randrange(length - 1) for _ in range(3)]}


def make_instance():
    # Each element of `ids` is a valid row number in every tensor. The first two elements are
    # also the positions where slices begin.
    order = list(range(COLUMNS))
    draw.shuffle(order)
    return {"x": matrix(9), "ids": [draw.randrange(7) for _ in range(4)],
            "order": order, "words": [draw.randrange(ROWS_E) for _ in range(8)],
            "n": draw.randrange(9)}


def expected_ragged(v):
    """Returns {result: values}."""
    seq, at = v["seq"], v["at"]
    a, b = at[:2]
    return {
        "ragged": seq[a], "point": [2 * seq[b][2]],
        "pieces": [2 * seq[a + i][b + 2 * j] for i in range(2) for j in range(4)],
        "listed": [narrow(e + 0.5) for i in at for e in seq[i]]}


def expected_loops(v):
    """Returns {result: values}."""
    seq = v["seq"]
    rows, shifted, before = [0.0] * COLUMNS, [0.0] * COLUMNS, [0.0] * COLUMNS
    for row in seq:
        rows = [narrow(2 * e - a) for e, a in zip(row, rows)]
        shifted = [max([-100.0] + [narrow(e - a) for e in column])
                   for column, a in zip(zip(*seq), shifted)]
    for i in v["at"]:
        before = [narrow(b + 0.5 * e) for b, e in zip(before, seq[i])]
    return {"rows": rows, "shifted": shifted, "before": before}


def expected(v):
    """Returns {result: values}."""
    x, ids = v["x"], v["ids"]
    a, b = ids[:2]
    summed, walked = [0.0] * COLUMNS, [0.0] * COLUMNS
    for i in ids:
        summed = [narrow(s + p) for s, p in zip(summed, P[i])]
    for word in v["words"][:v["n"]]:
        walked = [narrow(s + e) for s, e in zip(walked, E[word])]
    return {
        "kept": P[a], "dropped": E[b], "same": P[a],
        "window": [x[a + i][b + j] for i in range(3) for j in range(5)],
        "strided": [x[a + 2 * i][b + 3 * j] for i in range(2) for j in range(4)],
        "computed": [narrow(value / 3) for value in x[b]],
        "element": [E[a][b]],
        "several": [E[a + i][b + j] for i in range(2) for j in range(3)],
        "body": flat(E[i] for i in ids),
        "clamped": [2 * e for i in ids for e in x[min(max(i, 1), 2)]],
        "gathered": flat(x[i] for i in ids),
        "pairs": [P[i][i] for i in ids],
        "padded": [0.5] * 2 + E[b] + [0.5] * 3,
        "generated": [x[i + j][j] for i in range(3) for j in range(4)],
        "summed": summed, "permuted": [x[2][j] for j in v["order"]],
        "walked": walked}


def check_errors(program, name, ways):
    """Checks the error for one wrong index of one instance."""
    def check(what, change, wanted, number=5):
        reference.check_error(program, "%s, %s" % (name, what), change,
                              "index " + wanted, ways, number)

    def put(key, position, index):
        def change(v):
            v[key] = list(v[key])
            v[key][position] = index
            if "n" in v:
                v["n"] = 8
        return change

    if "seq" in reference.instances[0]:
        def empty(v):
            v["seq"] = []
        wanted = ("6 is out of range for dimension 0 of a tensor of type "
                  "tensor<?x19xf32>, read at ragged-")
        check("a ragged tensor", put("at", 2, 6), wanted)
        check("a slice of it", put("at", 0, 6), wanted)
        # The last instance of the mini-batch has no rows to read.
        check("no rows", empty, "", COUNT - 1)
        return
    of_E = " is out of range for dimension 0 of parameter 'E'"
    check("a slice", put("ids", 1, 40), "40 is out of range for ")
    check("a negative index", put("ids", 1, -3), "-3 is out of range for ")
    check("a gather", put("ids", 2, 7), "7 is out of range for dimension 0 of parameter "
          "'P' of type tensor<7x19xf32>, read at reads.mlir:")
    check("a row of any number", put("words", 0, ROWS_E), "11" + of_E)
    check("far away", put("words", 0, 2**40), "1099511627776" + of_E)
    check("a column", put("order", 18, COLUMNS), "19 is out of range for dimension 1 of "
          "a tensor of type tensor<9x19xf32>")


for model, strategies, make, expect in [
        ("reads.mlir", ["linearize", "lockstep"], make_instance, expected),
        ("ragged-reads.mlir", ["linearize"], make_ragged_instance, expected_ragged),
        ("ragged-loops.mlir", ["linearize"], make_ragged_instance, expected_loops)]:
    model, first = os.path.join(MODELS, model), None
    reference.give([make() for _ in range(COUNT)], expect)
    for strategy in strategies:
        bits = reference.check_cpu(model, strategy, check_errors)
        first = first or bits
        checks.equal(strategy + ": the same bits", bits, first)
        # The lanes of a GPU share sums, so they add in a different order.
        reference.tolerances = {"summed": 1e-5}
        reference.check_emulator(model, strategy, check_errors)
        reference.tolerances = {}
checks.exit()
