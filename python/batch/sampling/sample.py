"""Draws from NumPyro models and JAX log densities with the No-U-Turn Sampler: batch.sample.

Each chain has its own control flow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy

from batch.core.lru_cache import LruCache
from batch.core.types import PyTree
from batch.runtime.compiler import compile
from batch.runtime.device import parse_device
from batch.sampling.models import MOST_SAMPLERS, Density, Model, run
from batch.sampling.program import DEEPEST, ROWS, program
from batch.sampling.results import STATS, Bar, Samples
from batch.sampling.schedule import schedule
from batch.tracing.options import own_options

_SLICE = 0.25  # target duration of a call in seconds
_MOST = 2 ** 31 - 1  # maximum number of chains, transitions and lanes, which are 32-bit numbers
# A density that reads more than _LARGE bytes reads them for _LANES chains at once.
_LARGE, _LANES = 1 << 20, 16
_CHUNK = 1 << 22  # number of coordinates that are converted to draws at once


_samplers = LruCache(MOST_SAMPLERS)


class Sampler:
    """Compiled target that is bound to its data."""

    def __init__(self, target, *, algorithm="multinomial", mass="diagonal",
                 target_accept=0.8, max_depth=10, lanes=None, threads=None,
                 device="cpu", progress: bool | None = False):
        self.target, self.mass = target, mass
        self.starts = numpy.asarray(target.starts)
        density = target.density
        key = density.key, density.values, mass
        with own_options():
            text, parameters = _samplers.get(key, lambda: program(density.closed, mass))
        if lanes is None and sum(a.nbytes for a in parameters.values()) > _LARGE:
            lanes = _LANES
        strategy, options = ("replicate", ["--level=block"]) if lanes is None else \
            ("lockstep", [])
        model = compile(text, strategy=strategy, device=device, options=options,
                        progress=progress)
        self.function = model.bind(
            dict(parameters, target=numpy.float64(target_accept),
                 depth=numpy.int32(max_depth), slice=numpy.bool_(algorithm == "slice")),
            threads=threads, lanes=lanes or 0)

    def run(self, seed, warmup, draws, progress: bool | None = False):
        """Returns the positions and statistics of all draws, by chain.

        Positions are float64 of shape (chains, draws, dimensions). Statistics are a dictionary of
        arrays of shape (chains, draws).
        """
        chains, count = self.starts.shape
        factor = numpy.eye(count) if self.mass == "dense" else numpy.ones((1, count))
        state = {"q": self.starts, "factor": numpy.tile(factor, (chains, 1, 1)),
                 "mean": numpy.zeros((chains, count)),
                 "squares": numpy.zeros((chains,) + factor.shape),
                 "fits": numpy.zeros((chains, 6))}
        numbers = numpy.arange(chains, dtype=numpy.int32)
        seeds = numpy.full(chains, seed, numpy.int32)
        fits = numpy.zeros(warmup + draws + ROWS, numpy.int32)
        fits[:warmup] = schedule(warmup)
        positions = numpy.empty((chains, draws, count))
        stats = numpy.empty((chains, draws, len(STATS)))
        bar = Bar(progress, chains, warmup, warmup + draws)
        # The division of transitions into calls does not change any bit of the results.
        first, rows = 0, 10
        while first < warmup + draws:
            rows = min(rows, (warmup if first < warmup else warmup + draws) - first)
            start = time.monotonic()
            outputs = self.function(
                first=numpy.full(chains, first), count=numpy.full(chains, rows), seed=seeds,
                chain=numbers, **state,
                schedule=numpy.tile(fits[first:first + ROWS], (chains, 1)))
            elapsed = time.monotonic() - start
            state = {name: outputs[name] for name in state}
            if first >= warmup:
                here = slice(first - warmup, first - warmup + rows)
                positions[:, here] = outputs["positions"][:, :rows]
                stats[:, here] = outputs["stats"][:, :rows]
            first += rows
            bar.update(first, outputs["stats"][:, :rows])
            rows = max(1, min(ROWS, 2 * rows, int(rows * _SLICE / max(elapsed, 1e-9))))
        bar.end()
        return positions, {name: stats[:, :, i].astype(kind)
                           for i, (name, kind) in enumerate(STATS.items())}

    def values(self, positions):
        """Converts positions to the target's tree of arrays.

        Positions have shape (chains, draws, dimensions). Arrays have shape (chains, draws, …).
        """
        chains, draws, count = positions.shape
        flat = positions.reshape(chains * draws, count)
        size = -(-len(flat) // -(-flat.size // _CHUNK))  # equal chunks need one compilation
        parts = []
        for i in range(0, len(flat), size):
            rows = flat[i:i + size]
            padded = rows if len(rows) == size else numpy.resize(rows, (size, count))
            parts.append([numpy.asarray(leaf)[:len(rows)] for leaf in
                          run(self.target.values, padded, mapped=True)])
        return jax.tree.unflatten(self.target.tree, [
            numpy.concatenate(leaves).reshape((chains, draws) + leaves[0].shape[1:])
            for leaves in zip(*parts)])


def sample(target: Callable[..., Any], *, chains: int = 4, lanes: int | None = None,
           warmup: int = 1000, draws: int = 1000, seed: int | jax.Array = 0,
           model_args: Iterable[Any] = (), model_kwargs: Mapping[str, Any] | None = None,
           init: PyTree | Callable[..., Any] | None = None,
           algorithm: Literal["multinomial", "slice"] = "multinomial",
           mass: Literal["diagonal", "dense"] = "diagonal", target_accept: float = 0.8,
           max_depth: int = 10, threads: int | None = None, device: str = "cpu",
           progress: bool | None = None) -> Samples:
    """Draws samples with the No-U-Turn Sampler and returns them as Samples.

    target: a NumPyro model. If `init` is a tree of arrays, a JAX function that returns the log
        density of such a tree, a scalar.
    chains: number of chains.
    warmup: number of transitions of each chain that fit the step size and the mass matrix, in the
        windows of Stan.
    draws: number of draws of each chain after warm-up.
    lanes: number of chains that run at once in lockstep. None: 16 if the density reads more than a
        megabyte of data, else each worker runs one chain after another.
    seed: a number or a JAX key. A draw depends only on the seed, its chain and its number. It does
        not depend on `lanes`, `threads` and the other chains.
    model_args, model_kwargs: arguments of a NumPyro model.
    init: for a log density, the starts of the chains: floating-point arrays of shape (chains, …).
        For a model, a NumPyro initialization strategy; None: init_to_uniform.
    algorithm: selects a draw from the points of a trajectory. "multinomial": in proportion to their
        probabilities. "slice": from the points in a slice.
    mass: form of the mass matrix, "diagonal" or "dense".
    target_accept: mean acceptance probability that the step size is fitted to, between 0 and 1.
    max_depth: maximum number of doublings of a trajectory, at most 16.
    threads: number of workers; None: as in Model.bind().
    device: where the chains run, as in batch.vmap. Draws on a GPU may differ by rounding.
    progress: whether a line on stderr shows the progress; None: only on terminals.

    All computations are in double precision. Ctrl-C ends the call. The next call reads the data of
    the target again. It reuses code that was compiled for a target with the same computation.

    Raises ValueError for an argument that is out of range or unknown. Raises ValueError for a model
    with discrete sites or without latent sites, and for a start without a finite log density.
    Raises TypeError for a target that is not callable, for an `init` that is not floating-point,
    and for a log density that is not a scalar.
    """
    for name, value in (("chains", chains), ("warmup", warmup), ("draws", draws),
                        ("max_depth", max_depth), ("lanes", 1 if lanes is None else lanes)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a positive integer, got {value!r}")
        if value > _MOST:
            raise ValueError(f"{name} must be at most {_MOST}, got {value}")
    if max_depth > DEEPEST:
        raise ValueError(f"max_depth must be at most {DEEPEST}, got {max_depth}")
    if not 0 < target_accept < 1:
        raise ValueError("target_accept must be greater than 0 and less than 1, got "
                         f"{target_accept!r}")
    for name, value, known in (("algorithm", algorithm, ("multinomial", "slice")),
                               ("mass", mass, ("diagonal", "dense"))):
        if value not in known:
            first, second = known
            raise ValueError(f"invalid {name} {value!r}; expected {first!r} or {second!r}")
    parse_device(device)
    if not callable(target):
        raise TypeError(f"batch.sample expects a NumPyro model or a log density, got {target!r}")
    with jax.enable_x64(True), jax.transfer_guard("allow"):
        key = jax.random.key(seed) if isinstance(seed, int) else seed
        key, own = jax.random.split(key)
        number = numpy.asarray(jax.random.bits(own, dtype=jnp.uint32)).astype(numpy.int32)
        if init is None or callable(init):
            drawn = Model(target, tuple(model_args), dict(model_kwargs or {}), init,
                          chains, key)
        else:
            drawn = Density(target, init, chains)
        sampler = Sampler(drawn, algorithm=algorithm, mass=mass,
                          target_accept=target_accept, max_depth=max_depth, lanes=lanes,
                          threads=threads, device=device, progress=progress)
        positions, stats = sampler.run(number, warmup, draws, progress)
        return Samples(sampler.values(positions), stats)
