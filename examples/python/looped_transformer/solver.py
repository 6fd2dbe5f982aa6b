#!/usr/bin/env python3
"""solver.py [FILE]: a looped transformer solves Sudokus (of six by six cells).

The same block runs repeatedly on a puzzle's cells, until the network predicts that the
puzzle is solved. Easy puzzles take two or three loops, and hard ones up to the limit. The network
is written here for ONE puzzle. `batch.vmap` runs it on many. FILE has weights from train.py
(default: weights.npz).
"""

import os
import sys

import batch
import jax
import jax.numpy as jnp
import numpy
from jax import lax

import sudoku

WIDTH, HEADS = 64, 4
MOST, SURE = 16, 2.0  # maximum number of loops, and the logit above which loops stop earlier
RELATION = numpy.array(sudoku.RELATION)


def normalize(h):
    return h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-5)


def block(w, h, puzzle):
    """Runs one loop: attention, and a layer for each cell. The state of a cell is a row of h."""
    h = h + puzzle
    q, k, v = (jnp.moveaxis(part.reshape(-1, HEADS, WIDTH // HEADS), 0, 1)
               for part in jnp.split(h @ w["qkv"], 3, -1))
    scores = q @ jnp.swapaxes(k, 1, 2) / (WIDTH // HEADS) ** 0.5
    attended = jax.nn.softmax(scores + w["relation"][:, RELATION]) @ v
    h = normalize(h + jnp.moveaxis(attended, 0, 1).reshape(-1, WIDTH) @ w["out"])
    return normalize(h + jax.nn.silu(h @ w["up"]) @ w["down"])


def answer(w, h):
    """Returns a score for each digit of each cell, and the logit of the event that all digits are
    correct."""
    return h @ w["answer"], h.mean(0) @ w["halt"] + w["doubt"]


def solve(w, grid):
    """Returns the solution of ONE puzzle, and its number of loops."""
    puzzle = w["digits"][grid]

    def goes_on(state):
        loops, _, right = state
        return (right <= SURE) & (loops < MOST)

    def think(state):
        loops, h, _ = state
        h = block(w, h, puzzle)
        return loops + 1, h, answer(w, h)[1]

    loops, h, _ = lax.while_loop(goes_on, think, (0, jnp.zeros_like(puzzle), -1.0))
    return answer(w, h)[0].argmax(-1) + 1, loops


def load(file=None):
    """Returns the weights: {name: array}."""
    file = file or os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights.npz")
    with numpy.load(file) as arrays:
        return {name: jnp.asarray(arrays[name], jnp.float32) for name in arrays.files}


def main(file=None):
    grids, solutions = zip(*(sudoku.puzzle("show %d" % i) for i in range(8)))
    found, loops = batch.vmap(solve, (None, 0))(load(file), numpy.array(grids))
    for grid, digits, count, right in zip(grids, found.tolist(), loops, solutions):
        print(sudoku.show(grid))
        print(sudoku.show(digits), "%s, %d loops" % (
            "right" if digits == right else "wrong", count))


if __name__ == "__main__":
    main(*sys.argv[1:])
