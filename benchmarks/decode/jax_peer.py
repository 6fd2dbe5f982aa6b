"""JAX and the package `batch` in one process, where they take turns on the same arrays.

Both use one thread for each core that the process may use. A form is "map", or "batch" or
"vmap" followed by a spelling, as in "batch tuple".
"""

import contextlib
import os
import sys

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[2])])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402, counts the cores when imported
from workload import Worker  # noqa: E402

import compare  # noqa: E402

inference = contextlib.nullcontext


def start(threads):
    """Does nothing: JAX counted the cores when it was imported."""


def describe():
    return {"version": jax.__version__}


class Programs(Worker):
    def start(self, arrays):
        jax.clear_caches()
        self.arrays, self.spelled = arrays, {}

    def program(self, form, lanes, given):
        name, _, spelling = form.partition(" ")
        spelling = spelling or "tuple"
        if spelling not in self.spelled:
            self.spelled[spelling] = compare.Programs(self.arrays, spelling,
                                                      int(sys.argv[2]))
        programs, first = self.spelled[spelling], tuple(part[:1] for part in given)
        if name == "batch":
            programs.ours(*first)
            return lambda: compare.in_chunks(programs.ours, lanes, given)
        if name == "map":
            programs.refilled(lanes, first)
            return lambda: programs.refilled(lanes, given)
        for size in {lanes, len(given[0]) % lanes} - {0}:
            programs.compile_theirs(*(part[:size] for part in given))
        return lambda: compare.in_chunks(programs.theirs, lanes, given)
