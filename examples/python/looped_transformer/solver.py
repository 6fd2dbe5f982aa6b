#!/usr/bin/env python3
"""solver.py [FILE]: a looped transformer solves Sudokus (of six by six cells).

The same block runs again and again over a puzzle's cells, until the network says that the
puzzle is solved: easy ones take two or three loops, hard ones as many as there may be. It
is written here for ONE puzzle; `batch.vmap` runs it for many. FILE has weights that
train.py has made; weights.npz is one.
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
MOST, SURE = 16, 2.0  # loops, and what the network must say to end before them
RELATION = numpy.array(sudoku.RELATION)


def normalize(h):
    return h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-5)


def block(w, h, puzzle):
    """A loop: attention and a layer for each cell, whose state is a row of h."""
    h = h + puzzle
    q, k, v = (jnp.moveaxis(part.reshape(-1, HEADS, WIDTH // HEADS), 0, 1)
               for part in jnp.split(h @ w["qkv"], 3, -1))
    scores = q @ jnp.swapaxes(k, 1, 2) / (WIDTH // HEADS) ** 0.5
    attended = jax.nn.softmax(scores + w["relation"][:, RELATION]) @ v
    h = normalize(h + jnp.moveaxis(attended, 0, 1).reshape(-1, WIDTH) @ w["out"])
    return normalize(h + jax.nn.silu(h @ w["up"]) @ w["down"])


def answer(w, h):
    """A score for each digit of each cell, and one (a logit) for all being right."""
    return h @ w["answer"], h.mean(0) @ w["halt"] + w["doubt"]


def solve(w, grid):
    """The solution of ONE puzzle, and how many loops it has taken."""
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
    """Weights: {name: array}."""
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
