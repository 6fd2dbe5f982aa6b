#!/usr/bin/env python3
"""jax_peer.py THREADS SECONDS: times kernels in JAX, see peer.py.

XLA compiles all kernels for CPUs. Settings have channels of images first or last. XLA uses
one thread for each core that the process may use.
"""

import os
import sys

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402, counts the cores when imported

import peer  # noqa: E402


def settings(kernel, batch):
    def make(function, arguments):
        compiled = jax.jit(function)
        return lambda: jax.block_until_ready(compiled(*arguments))

    return {name: make(*setting)
            for name, setting in kernel.jax(jax, batch).items()}


peer.answer(float(sys.argv[2]), settings)
