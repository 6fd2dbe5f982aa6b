"""Rules for what moves and reduces arrays."""

import math

import jax.numpy as jnp
import numpy

from batch._expand import KEEP, rule


@rule("optimization_barrier")
def _barrier(*values):
    """Barriers keep XLA from merging what a checkpoint computes twice."""
    return values


@rule("sharding_constraint")
def _one_device(value, **_):
    return value


# --- reductions ----------------------------------------------------------------------------

def least(dtype):
    """The number below all others of a type."""
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else \
        False if dtype == bool else jnp.iinfo(dtype).min


def greatest(dtype):
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else \
        True if dtype == bool else jnp.iinfo(dtype).max


_NEUTRAL = {"sum": lambda dtype: 0, "prod": lambda dtype: 1, "max": least,
            "min": greatest, "or": lambda dtype: 0, "xor": lambda dtype: 0,
            "and": lambda dtype: True if dtype == bool else ~numpy.zeros((), dtype)}


def _reduction(kind):
    @rule("reduce_" + kind)
    def _(value, *, axes, **_):
        """Of no axis, or of no element."""
        if not axes:
            return value
        if math.prod(value.shape):
            return KEEP
        shape = [n for axis, n in enumerate(value.shape) if axis not in axes]
        return jnp.full(shape, _NEUTRAL[kind](value.dtype), value.dtype)


for _kind in _NEUTRAL:
    _reduction(_kind)
