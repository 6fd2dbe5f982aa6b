#!/usr/bin/env python3
"""check_products.py: tests products of matrices for any layout of their factors.

The operands are parameters and activations that differ by a dimension, factors that are computed,
concatenated or transposed, and elements that comparisons find. Some sums run along two dimensions.
Some kernels also compute in f64. All numbers are small multiples of a quarter, so that sums are
exact. Results equal those of Python to the bit, for any mini-batch and number of threads,
unbatched, and on the emulator.
"""

import os
import random

import batchtest
import reference_runs

INPUTS = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs")
MODEL, WITH_F64 = (os.path.join(INPUTS, name) for name in ("products.mlir", "products-f64.mlir"))
COUNT, H, M, N, K, S = 64, 3, 7, 24, 20, 9

checks = batchtest.Checks("products")
draw = random.Random(3)


def tensor(*extents):
    if not extents:
        return draw.randrange(-8, 9) / 4
    return [tensor(*extents[1:]) for _ in range(extents[0])]


def flat(value):
    if not isinstance(value, list):
        return [value]
    return [e for one in value for e in flat(one)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def by_columns(rows, columns):
    """Returns the product [[row . column]]. `columns` lists the columns of the second factor."""
    return [[dot(row, column) for column in columns] for row in rows]


def transpose(rows):
    return [list(column) for column in zip(*rows)]


W, U, O = tensor(H, N, K), tensor(M, N, K), tensor(H, N, 40)
reference = reference_runs.Reference(checks, {
    "W": ("F32", [H, N, K], flat(W)), "U": ("F32", [M, N, K], flat(U)),
    "O": ("F32", [H, N, 40], flat(O))})


def make_instance():
    return {"x": tensor(M, K), "v": tensor(H, K), "q": tensor(H, M, K),
            "d": tensor(H, S, K), "e": tensor(H, S, N), "f": tensor(H, S, 48),
            "l": tensor(H, 301), "u": tensor(H, M, N, 4)}


def expected(v):
    """Returns {name of a result: expected values}."""
    x, q, d, heads = v["x"], v["q"], v["d"], range(H)
    by_head = [by_columns(x, W[h]) for h in heads]
    scores = [by_columns(q[h], d[h]) for h in heads]
    pieces = [[row[8:] + row[:8] for row in one] for one in d]
    return {
        "by_head": flat(by_head),
        "by_inner_head": flat([[by_head[h][m] for h in heads] for m in range(M)]),
        "rows_of_heads": flat([[dot(v["v"][h], column) for column in W[h]]
                               for h in heads]),
        "by_row": flat([[dot(x[m], column) for column in U[m]] for m in range(M)]),
        "over_heads": [sum(by_head[h][m][k] * O[h][k][n] for h in heads
                           for k in range(N)) for m in range(M) for n in range(40)],
        "scores": flat(scores),
        "values": flat([by_columns(scores[h], transpose(v["e"][h])) for h in heads]),
        "wide": flat([by_columns(scores[h], transpose(v["f"][h])) for h in heads]),
        "computed": [2 * score for score in flat(scores)],
        "pieces": flat([by_columns(q[h], pieces[h]) for h in heads]),
        "most": [max(row) for row in v["l"]],
        "sums": [sum(e) for head in v["u"] for row in head for e in row],
        "place": [row.index(max(row)) for row in v["l"]],
        "of_a_head": flat(by_columns(x, W[1])),
        "of_a_part": flat(by_columns(x, transpose(O[2][3:23])))}


def no_errors(program, name, ways):
    pass


reference.give([make_instance() for _ in range(COUNT)], expected)
reference.check_cpu(MODEL, "linearize", no_errors)
reference.check_emulator(MODEL, "linearize", no_errors)


def expected_with_f64(v):
    by_head = [by_columns(v["x"], W[h]) for h in range(H)]
    return {"by_head": flat(by_head), "in_f64": flat(by_head), "of_a_head": flat(by_head[1]),
            "of_a_part": flat(by_columns(v["x"], transpose(O[2][3:23])))}


mixed = reference_runs.Reference(checks, {
    "W": ("F32", [H, N, K], flat(W)), "O": ("F32", [H, N, 40], flat(O))})
mixed.give([{"x": tensor(M, K)} for _ in range(COUNT)], expected_with_f64)
mixed.check_cpu(WITH_F64, "linearize", no_errors)
mixed.check_emulator(WITH_F64, "linearize", no_errors)
checks.exit()
