"""Comparison of batch.vmap with jax.vmap, and arguments for six instances."""

import inspect

import jax
import jax.numpy as jnp
import numpy

import batch
from support.comparison import assert_same

N = 6
_generator = numpy.random.default_rng(3)
X = _generator.normal(size=(N, 4)).astype(numpy.float32)
Y = _generator.normal(size=(N, 5, 4)).astype(numpy.float32)
W = jnp.asarray(_generator.normal(size=(4, 4)) / 4, jnp.float32)
STEPS = numpy.asarray([0, 3, 17, 1, 40, 2], numpy.int32)


def assert_maps_like_jax(f, *arguments, mapped=None, calls=2, **options):
    """Requires that batch.vmap(f, **options) returns what jax.vmap returns, in each call.

    Only the first call compiles. `mapped` is batch.vmap(f, **options) if it exists already.
    """
    wanted = jax.vmap(f, **options)(*arguments)
    mapped = batch.vmap(f, **options) if mapped is None else mapped
    for _ in range(calls):
        assert_same(mapped(*arguments), wanted)


def assert_equal_bits(found, wanted):
    """Requires equal trees of arrays, with equal types and equal bits."""
    def words(leaf):
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        return leaf.shape, leaf.dtype, leaf.weak_type, numpy.asarray(leaf).tobytes()

    assert jax.tree.map(words, found) == jax.tree.map(words, wanted)


def assert_calls(mapped, f, *arguments, **options):
    """Compares three calls of `mapped` with jax.vmap(f). Only the first call may compile."""
    assert_maps_like_jax(f, *arguments, mapped=mapped, calls=3, **options)


def as_jax(tree):
    """Returns a tree with its arrays as JAX arrays."""
    return jax.tree.map(jnp.asarray, tree)


def marked_line(function):
    """Returns the number of the line of a function that ends with "# here"."""
    lines, first = inspect.getsourcelines(function)
    (line,) = (number for number, text in enumerate(lines, first) if text.endswith("# here\n"))
    return line
