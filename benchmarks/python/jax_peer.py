"""JAX and the package batch in one process, so that they can take turns on the same arrays.
Both use one thread for each core that the process may use."""

import os
import sys
import time

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[2])])
os.environ["JAX_PLATFORMS"] = "cpu"

import contextlib  # noqa: E402

import jax  # noqa: E402, counts the cores when imported
import numpy  # noqa: E402

import batch  # noqa: E402
import programs  # noqa: E402

# A form can also name a strategy: "batch lockstep" is batch.vmap with strategy lockstep.
FORMS = ("batch", "vmap", "map")
MOST = 512


inference = contextlib.nullcontext


def start(threads):
    """Does nothing: JAX counted the cores when it was imported."""


def describe():
    return {"version": jax.__version__}


class Programs:
    """The programs, with the methods that the worker calls."""

    def __init__(self):
        self.forms, self.arguments = {}, {}

    def make(self, program):
        jax.clear_caches()
        f, arguments = programs.PROGRAMS[program](MOST, numpy.random.default_rng(1))
        self.function = f
        self.arguments = {program: arguments}
        self.forms = {"vmap": jax.jit(jax.vmap(f)),
                      "map": jax.jit(lambda *xs: jax.lax.map(lambda x: f(*x), xs))}

    def load(self, program, lanes, forms):
        if program not in self.arguments:
            self.make(program)
        self.given = tuple(x[:lanes] for x in self.arguments[program])
        wanted = numpy.asarray(self.forms["vmap"](*self.given)).reshape(lanes, -1)
        agree, refused = {}, {}
        for form in forms:
            name, _, strategy = form.partition(" ")
            if form not in self.forms and name == "batch":
                self.forms[form] = batch.vmap(self.function, threads=int(sys.argv[2]),
                                              strategy=strategy or "auto")
            try:
                found = numpy.asarray(self.forms[form](*self.given)).reshape(lanes, -1)
            except (batch.Error, batch.CompileError) as error:
                refused[form] = str(error).splitlines()[0]
                continue
            agree[form] = float(numpy.isclose(found, wanted, 1e-3, 1e-4).all(1).mean())
        return {"agree": agree, "refused": refused}

    def time(self, form, seconds):
        run, calls = self.forms[form], 0
        begin = time.perf_counter()
        while True:
            jax.block_until_ready(run(*self.given))
            calls, now = calls + 1, time.perf_counter()
            if now >= begin + seconds:
                return {"us": 1e6 * (now - begin) / calls, "calls": calls}
