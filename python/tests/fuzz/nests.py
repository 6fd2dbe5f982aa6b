"""Random JAX programs: scans, while loops, branches and indices, nested three levels deep.

make() returns a program for a number. A program maps a vector, a small matrix and an integer
of an instance to arrays of the same types.
"""

import random

import jax.numpy as jnp
import numpy
from jax import lax

N = 5  # number of instances
DEPTH = 3


def arguments(seed):
    """Returns a vector, a matrix and an integer for each instance.

    The floats have 64 bits, because rounding errors of 32-bit floats grow from round to round.
    """
    values = numpy.random.default_rng(seed)
    return (values.uniform(-1, 1, (N, 3)).astype(numpy.float64),
            values.uniform(-1, 1, (N, 4, 3)).astype(numpy.float64),
            values.integers(0, 4, N).astype(numpy.int32))


def make(seed):
    """Returns a function of the arguments of one instance, and its text."""
    choices = random.Random(seed)
    words = []

    def block(depth):
        """Returns a function of the state: a vector, a matrix, and a small integer."""
        steps = [step(depth) for _ in range(choices.randint(1, 3))]

        def run(state):
            for one in steps:
                state = one(state)
            return state
        return run

    def step(depth):
        kinds = ["math", "row", "element", "set_row", "set_element", "update", "slice",
                 "gather", "count"]
        if depth:
            kinds = ["scan", "rows", "while", "cond", "switch"] * 3 + kinds
        kind = choices.choice(kinds)
        words.append("  " * (DEPTH - depth) + kind)
        return MAKERS[kind](depth)

    def scan(depth):
        body, length = block(depth - 1), choices.choice((1, 1, 2, 3))
        reverse, fixed = choices.random() < 0.3, choices.random() < 0.4

        def run(state):
            def one(carried, number):
                new = body(carried)
                # If `fixed`, all rounds return the same row.
                return new, state[0] * 2 if fixed else new[0] + number
            (v, m, i), rows = lax.scan(one, state, jnp.arange(length, dtype=state[0].dtype),
                                       reverse=reverse)
            return v + rows.mean(0), m, i
        return run

    def rows(depth):
        body = block(depth - 1)

        def run(state):
            def one(carried, row):
                v, m, i = body(carried)
                return (v + row, m, i), jnp.tanh(v)
            (v, _, i), new = lax.scan(one, state, state[1])
            return v, new, i
        return run

    def loop(depth):
        body, bound = block(depth - 1), choices.choice((1, 2, 3))
        own = choices.random() < 0.5

        def run(state):
            end = jnp.minimum(state[2], bound) if own else jnp.int32(bound)
            return lax.while_loop(lambda s: s[0] < end,
                                  lambda s: (s[0] + 1, body(s[1])),
                                  (jnp.int32(0), state))[1]
        return run

    def cond(depth):
        yes, no, on = block(depth - 1), block(depth - 1), choices.choice("vi")

        def run(state):
            test = state[0].sum() > 0 if on == "v" else state[2] % 2 == 0
            return lax.cond(test, yes, no, state)
        return run

    def switch(depth):
        branches = [block(depth - 1) for _ in range(choices.randint(1, 3))]
        return lambda state: lax.switch(state[2], branches, state)

    def simple(function):
        return lambda depth: function

    def mathematics(depth):
        function = choices.choice((jnp.tanh, jnp.sin, jnp.abs, lambda v: v * 0.5 - 0.25,
                                   lambda v: v / (1 + jnp.abs(v).sum())))
        return lambda s: (function(s[0]), s[1], s[2])

    MAKERS = {
        "scan": scan, "rows": rows, "while": loop, "cond": cond, "switch": switch,
        "math": mathematics,
        "row": simple(lambda s: (s[0] + lax.dynamic_index_in_dim(
            s[1], s[2], keepdims=False), s[1], s[2])),
        "element": simple(lambda s: (s[0] * s[1][s[2], 1], s[1], s[2])),
        "set_row": simple(lambda s: (s[0], s[1].at[s[2]].set(jnp.tanh(s[0])), s[2])),
        "set_element": simple(lambda s: (s[0], s[1].at[s[2], s[2] % 3].add(s[0][0]), s[2])),
        "update": simple(lambda s: (s[0], lax.dynamic_update_slice(
            s[1], jnp.tanh(s[0])[None, :2], (s[2], s[2] % 2)), s[2])),
        "slice": simple(lambda s: (s[0] + lax.dynamic_slice(
            s[1], (s[2], jnp.zeros_like(s[2])), (2, 3)).sum(0), s[1], s[2])),
        "gather": simple(lambda s: (s[0] + s[1][jnp.stack([s[2], s[2] // 2])].mean(0),
                                    s[1], s[2])),
        "count": simple(lambda s: (s[0], s[1], (s[2] * 3 + 1) % 5)),
    }
    run = block(DEPTH)
    return (lambda *state: run(state)), "\n".join(words)
