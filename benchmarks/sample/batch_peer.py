"""batch.sample. The sampler is prepared once, as in the other peers."""

import contextlib

import jax
import numpy

jax.config.update("jax_enable_x64", True)
from batch.sampling import sample  # noqa: E402
from batch.sampling.models import Model  # noqa: E402

inference = contextlib.nullcontext


def start(threads):
    pass


def describe():
    return {"version": "jax %s" % jax.__version__}


class Sampler:
    def __init__(self, model, chains, warmup, draws, target):
        self.sampler = sample.Sampler(
            Model(model, (), {}, None, chains, jax.random.key(11)),
            target_accept=target, threads=1)
        self.warmup, self.draws = warmup, draws

    def run(self, seed):
        positions, stats = self.sampler.run(numpy.int32(seed), self.warmup, self.draws)
        return self.sampler.values(positions), stats["n_steps"], stats["diverging"]
