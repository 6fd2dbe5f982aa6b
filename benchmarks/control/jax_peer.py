"""JAX: the nets of jax_models.py, compiled as a whole. Mini-batches run under
jax.vmap or one instance after the other, whichever is faster. XLA uses one thread for each
core that the process may use."""

import os
import sys

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[2])])
os.environ["JAX_PLATFORMS"] = "cpu"

import contextlib  # noqa: E402

import jax  # noqa: E402, counts the cores when imported
import numpy  # noqa: E402

from jax_models import NETS  # noqa: E402

inference = contextlib.nullcontext


def start(threads):
    """Does nothing: JAX counted the cores when it was imported."""


def describe():
    return {"version": jax.__version__}


class Model:
    """A model, with the methods that the worker calls."""

    def __init__(self, name, tensors, sizes):
        jax.clear_caches()
        self.net = NETS[name](tensors, name, sizes)
        self.one, self.many = jax.jit(self.net.run), jax.jit(self.batched)

    def batched(self, p, *arrays):
        return jax.vmap(lambda *instance: self.net.run(p, *instance))(*arrays)

    def settings(self, form, batch):
        """Returns {setting: (prepare, run, outputs)}. Only the fastest setting counts."""
        net = self.net

        def one_by_one(*arrays):
            return jax.block_until_ready([self.one(net.p, *instance) for instance in arrays])

        return {
            "one by one": (
                lambda instances: [tuple(jax.device_put(part) for part in net.instance(value))
                                   for value in instances],
                one_by_one, lambda results, count: results),
            "vmap": (
                net.prepare,
                lambda *arrays: jax.block_until_ready(self.many(net.p, *arrays)),
                lambda result, count: [
                    {name: numpy.asarray(value[i]) for name, value in result.items()}
                    for i in range(count)])}
