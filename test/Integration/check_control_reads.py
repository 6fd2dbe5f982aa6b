#!/usr/bin/env python3
"""check_control_reads.py: tests control flow that depends on elements of inputs
and parameters.

Trip counts, branches and rows depend on elements of tensors that exist before the run, so
the program is structural. Results equal those of Python to the bit, for any mini-batch
and number of threads, unbatched, and on the emulator. An index out of range is an error
that names the tensor, the index and the instance.
"""

import os
import random

import batchtest
import reference_runs
from batchtest import narrow

MODELS = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs")
COUNT, COLUMNS, ROWS_T, ROWS_L = 64, 16, 9, 11

checks = batchtest.Checks("elements that control reads")
draw = random.Random(11)


def row():
    return [narrow(draw.uniform(-2, 2)) for _ in range(COLUMNS)]


# The last row contains indices that are out of range.
T = [[draw.randrange(5) for _ in range(4)] for _ in range(ROWS_T)] + [[7] * 4]
S = [[narrow(draw.random()) for _ in range(3)] for _ in range(5)]
L = [draw.randrange(4) for _ in range(ROWS_L - 1)] + [2]
reference = reference_runs.Reference(checks, {
    "T": ("I64", [ROWS_T + 1, 4], [v for r in T for v in r]),
    "L": ("I64", [ROWS_L], L),
    "S": ("F32", [5, 3], [v for r in S for v in r])})


def make_steps(n):
    steps = ["stop"]
    for _ in range(n):
        steps = ["go", draw.randrange(3), [draw.randrange(3) for _ in range(3)], steps]
    return steps


def make_instance():
    length = draw.randrange(1, ROWS_T + 1)
    return {"n": draw.randrange(9), "x": [row() for _ in range(length)],
            "hops": [draw.randrange(length) for _ in range(8)],
            "order": [draw.randrange(length) for _ in range(length)],
            "flags": [[draw.randrange(2) == 1 for _ in range(2)] for _ in range(5)],
            "steps": make_steps(draw.randrange(4)), "again": draw.randrange(ROWS_L)}


def expected(v):
    """Returns {result: values}."""
    y = [0.0] * COLUMNS
    for i in range(v["n"]):
        k = v["order"][v["hops"][i]]
        t = T[k][2]
        if (S[t][1] > 0.5) != v["flags"][t][0]:
            y = [narrow(a + b) for a, b in zip(y, v["x"][k])]
        else:
            y = [narrow(a * max(v["x"][k])) for a in y]
    rounds = min(L[v["again"]], L[-1])
    y = [value * 2**rounds for value in y]
    total, steps = 0, v["steps"]
    while steps[0] == "go":
        times = steps[2][steps[1]]
        y = [value * 2**times for value in y]
        total, steps = total + times, steps[3]
    return {"y": y, "count": [total]}


def check_errors(program, name, ways):
    """Checks the errors for wrong indices of different kinds, each in one instance."""
    def go(v, which):
        v["steps"] = ["go", which, [1, 1, 1], ["stop"]]

    def hop(v, index):
        v["n"], v["hops"] = 8, [index] + v["hops"][1:]

    def parameter(v, last):
        hop(v, 0)
        v["x"], v["order"] = [row() for _ in range(last + 1)], [last]

    def count(v, number):
        v["n"] = number

    def again(v, index):
        v["again"] = index

    for what, change, value, wanted in [
            ("a field", go, 3, "index 3 is out of range for dimension 0 of a tensor of "
             "type tensor<3xi32>, read at control-reads.mlir:"),
            ("too many", count, 9, "index 8 is out of range for dimension 0 of a tensor "
             "of type tensor<8xi64>, read at control-reads.mlir:"),
            ("a parameter", parameter, ROWS_T, "index 7 is out of range for dimension 0 "
             "of parameter 'S' of type tensor<5x3xf32>, read at control-reads.mlir:"),
            ("a vector of any length", again, ROWS_L, "index 11 is out of range for "
             "dimension 0 of parameter 'L' of type tensor<?xi64>, read at control-reads.mlir:"),
            ("a ragged tensor", hop, -1,
             "position -1 is out of range for a list or ragged tensor of length ")]:
        reference.check_error(program, "%s, %s" % (name, what),
                              lambda v: change(v, value), wanted, ways)


reference.give([make_instance() for _ in range(COUNT)], expected)
model = os.path.join(MODELS, "control-reads.mlir")
reference.check_cpu(model, "linearize", check_errors)
reference.check_emulator(model, "linearize", check_errors)

# Control flow that reads a vector, with strategy `linearize` and in lock step
ROUNDS = [2, 0, 3, 1, 5]
NEXT = [[1.0 if i == j else 0.5 if j == (i + 1) % COLUMNS else 0.0
         for j in range(COLUMNS)] for i in range(COLUMNS)]
vector = reference_runs.Reference(checks, {
    "p": ("I64", [len(ROUNDS)], ROUNDS),
    "W": ("F32", [COLUMNS, COLUMNS], [v for r in NEXT for v in r])})


def expected_rounds(v):
    x = v["x"]
    for _ in range(ROUNDS[v["i"]]):
        x = [x[j] + 0.5 * x[(j + 1) % COLUMNS] for j in range(COLUMNS)]
    return {"y": x}


def check_vector(program, name, ways):
    def change(v):
        v["i"] = len(ROUNDS)
    vector.check_error(program, name, change, "index 5 is out of range for dimension 0 of ",
                       ways)


vector.give([{"i": draw.randrange(len(ROUNDS)),
              "x": [float(draw.randint(-8, 8)) for _ in range(COLUMNS)]}
             for _ in range(COUNT)], expected_rounds)
model = os.path.join(MODELS, "vector-control.mlir")
for strategy in ("linearize", "lockstep"):
    vector.check_cpu(model, strategy, check_vector)
    vector.check_emulator(model, strategy, check_vector)
checks.exit()
