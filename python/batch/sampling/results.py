"""Draws, their statistics, and progress on a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import jax
import numpy

from batch.core.types import PyTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

STATS = {"acceptance_rate": float, "n_steps": int, "tree_depth": int, "diverging": bool,
          "energy": float, "lp": float, "step_size": float}


# --- results ------------------------------------------------------------------

class Bar:
    """Line on a terminal that shows the progress of the chains."""

    def __init__(self, shown, chains, warmup, total):
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.chains, self.warmup, self.total = chains, warmup, total
        self.diverging, self.accepted, self.draws = 0, 0.0, 0
        self.start = time.monotonic()

    def update(self, done, stats):
        if not self.shown:
            return
        if done > self.warmup:
            new = stats[:, max(self.warmup - done, -stats.shape[1]):]
            self.diverging += int(new[:, :, 3].sum())
            self.accepted += new[:, :, 0].sum()
            self.draws += new.shape[0] * new.shape[1]
        rate = self.accepted / self.draws if self.draws else stats[:, :, 0].mean()
        width = 24
        full = width * done // self.total
        phase = "sample " if done > self.warmup else "warm-up"
        sys.stderr.write(
            f"\r{phase} |{'█' * full}{' ' * (width - full)}| {done}/{self.total}, {self.chains} "
            f"chains, {self.diverging} diverging, acceptance {rate:.2f}, "
            f"{time.monotonic() - self.start:.1f} s")
        sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\n")


class Samples:
    """Draws and their statistics.

    draws: arrays of shape (chains, draws, …). For a model, they are stored by site, and include
        deterministic sites. For a log density, they form the tree that it takes.
    stats: dictionary of arrays of shape (chains, draws): acceptance_rate, n_steps (leapfrog
        steps), tree_depth, diverging, energy, lp (log density of the unconstrained variables),
        step_size. n_steps and tree_depth are integers, diverging is Boolean, others are floats.
    """

    def __init__(self, draws: PyTree, stats: dict[str, NDArray[Any]]) -> None:
        self.draws: PyTree = draws
        self.stats: dict[str, NDArray[Any]] = stats

    def __repr__(self) -> str:
        chains, draws = self.stats["lp"].shape
        diverging = self.stats["diverging"].sum()
        return f"Samples({chains} chains of {draws} draws, {diverging} diverging)"

    def _named(self) -> dict[str, Any]:
        if isinstance(self.draws, dict) and all(
                isinstance(value, numpy.ndarray) for value in self.draws.values()):
            return self.draws
        return {jax.tree_util.keystr(path, simple=True, separator=".") or "x": leaf
                for path, leaf in jax.tree_util.tree_flatten_with_path(self.draws)[0]}

    def to_arviz(self) -> Any:
        """Returns draws and statistics as ArviZ InferenceData, or as a DataTree from ArviZ 1 on."""
        import arviz
        groups = {"posterior": self._named(), "sample_stats": self.stats}
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)

    def summary(self) -> Any:
        """Returns the ArviZ table of means, intervals, effective sample sizes and R-hat."""
        import arviz
        return arviz.summary(self.to_arviz())
