#!/usr/bin/env python3
"""train.py FILE [--steps=N] [--puzzles=N]: trains the network of solver.py and writes its
weights to FILE. Training takes less than two minutes on two cores.

A step runs the block once for each of 128 puzzles. The step learns from the digits that the network
then predicts, and from the network's prediction of whether these are correct. If the network
predicts that they are correct, or after the last loop, the next puzzle replaces this one. The
puzzles are symmetric images of a few hundred puzzles.
"""

import argparse
import os
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy

import solver
import sudoku

WIDTH, AT_ONCE, RATE = solver.WIDTH, 128, 2e-3


def first_weights(key):
    shapes = {"digits": (7, WIDTH), "qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH),
              "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH), "answer": (WIDTH, 6),
              "halt": (WIDTH,)}
    scales = {"digits": 7 ** 0.5, "out": 0.5, "down": 0.5}
    keys = dict(zip(shapes, jax.random.split(key, len(shapes))))
    w = {name: jax.random.normal(keys[name], shape) * scales.get(name, 1) /
         shape[0] ** 0.5 for name, shape in shapes.items()}
    w["relation"] = jnp.zeros((solver.HEADS, 8))
    w["doubt"] = jnp.float32(-3)
    return w


def loss(w, h, grid, digits):
    """Returns the loss of ONE puzzle, and (its state after the loop, the predicted logit, whether
    all digits are correct)."""
    h = solver.block(w, h, w["digits"][grid])
    scores, says = solver.answer(w, h)
    wrong = -jnp.take_along_axis(jax.nn.log_softmax(scores), digits[:, None], 1).mean()
    right = (scores.argmax(-1) == digits).all()
    return wrong + 0.5 * (jnp.logaddexp(0, says) - says * right), (h, says, right)


@jax.jit
def learn(w, moments, count, rate, h, grids, digits):
    """Runs a step of Adam."""
    def mean(w):
        each, known = jax.vmap(loss, (None, 0, 0, 0))(w, h, grids, digits)
        return each.mean(), known

    gradient, known = jax.grad(mean, has_aux=True)(w)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradient)
    second = jax.tree.map(lambda m, g: 0.98 * m + 0.02 * g * g, moments[1], gradient)
    w = jax.tree.map(lambda w, a, b: w - rate * a / (1 - 0.9 ** count) / (
        jnp.sqrt(b / (1 - 0.98 ** count)) + 1e-8), w, first, second)
    return w, (first, second), known


def images(generator, grids, solutions, count):
    """Returns variants of some puzzles, in which digits, rows, columns, bands and stacks are
    permuted. Some variants contain more digits of the solution."""
    chosen = generator.integers(len(grids), size=count)
    grids, solutions = grids[chosen], solutions[chosen]
    share = 0.4 * generator.random((count, 1))
    grids = numpy.where(generator.random(grids.shape) < share, solutions, grids)
    digits = generator.permuted(numpy.tile(numpy.arange(1, 7), (count, 1)), axis=1)
    digits = numpy.pad(digits, ((0, 0), (1, 0)))
    places = []
    for _ in range(count):
        rows = [2 * band + row for band in generator.permutation(3)
                for row in generator.permutation(2)]
        columns = [3 * stack + column for stack in generator.permutation(2)
                   for column in generator.permutation(3)]
        places.append([6 * row + column for row in rows for column in columns])
    return [numpy.take_along_axis(numpy.take_along_axis(digits, each, 1),
                                  numpy.array(places), 1) for each in (grids, solutions)]


def train(steps, puzzles, show):
    made = [sudoku.puzzle("train %d" % i, more=0) for i in range(puzzles)]
    grids, solutions = (numpy.array(each) for each in zip(*made))
    generator = numpy.random.default_rng(0)
    w = first_weights(jax.random.key(0))
    moments = (jax.tree.map(jnp.zeros_like, w),) * 2
    h = numpy.zeros((AT_ONCE, sudoku.CELLS, WIDTH), numpy.float32)
    now = images(generator, grids, solutions, AT_ONCE)
    loops = numpy.zeros(AT_ONCE, int)
    solved = []
    for count in range(1, steps + 1):
        rate = RATE * min(1, count / 100, 2.5 * (steps - count) / steps + 0.02)
        w, moments, known = learn(w, moments, float(count), rate, h, now[0], now[1] - 1)
        h, says, right = map(numpy.array, known)
        loops += 1
        # Some puzzles continue although the network would stop, so that it can change its
        # prediction.
        ends = (says > 0) & (generator.random(AT_ONCE) < 0.9) | (loops == solver.MOST)
        ended = numpy.flatnonzero(ends)
        solved += right[ended].tolist()
        h[ended], loops[ended] = 0, 0
        if len(ended):
            now[0][ended], now[1][ended] = images(generator, grids, solutions, len(ended))
        if count % 100 == 0:
            show("step %d: %.0f %% of the puzzles solved" % (
                count, 100 * numpy.mean(solved or [0])))
            solved = []
    return w


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--puzzles", type=int, default=500)
    options = parser.parse_args()
    start = time.perf_counter(), time.process_time()
    w = train(options.steps, options.puzzles, lambda line: print(line, flush=True))
    numpy.savez_compressed(options.file, **{
        name: numpy.asarray(array, numpy.float16) for name, array in w.items()})
    print("%.0f s, %.0f CPU s" % (time.perf_counter() - start[0],
                                  time.process_time() - start[1]))


if __name__ == "__main__":
    main()
