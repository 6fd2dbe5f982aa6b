"""Compares the results of batch.vmap with those of jax.vmap."""

import re

import jax
import jax.numpy as jnp
import numpy
import pytest

_TOLERANCES = {"float64": 1e-10, "float32": 1e-5, "bfloat16": 1e-2, "float16": 1e-2}


def raises(error, text):
    """Context that requires an error of type `error` whose message contains `text`."""
    return pytest.raises(error, match=re.escape(text))


def assert_same(found, wanted, tolerance=None):
    """Requires equal trees of arrays; see difference()."""
    text = difference(found, wanted, tolerance)
    assert text is None, text


def difference(found, wanted, tolerance=None):
    """Returns how two trees of arrays differ, or None.

    Compares structure, types, weak types and shapes. Floating-point numbers may differ by
    rounding of their type, or by `tolerance` if that is more. All other values must be equal.
    """
    if jax.tree.structure(found) != jax.tree.structure(wanted):
        return f"structure {jax.tree.structure(found)}, wanted {jax.tree.structure(wanted)}"
    for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(found),
                            jax.tree.leaves(wanted)):
        text = _difference_of_leaf(a, b, tolerance)
        if text:
            return f"result{jax.tree_util.keystr(path)}: {text}"
    return None


def _difference_of_leaf(found, wanted, tolerance):
    if not isinstance(found, jax.Array):
        return f"is a {type(found).__name__}, not a JAX array"
    # jax.vmap may return an argument unchanged, so `wanted` may be a NumPy array.
    a, b = jax.typeof(found), jax.typeof(wanted)
    if a.str_short() != b.str_short():
        return f"{a.str_short()}, wanted {b.str_short()}"
    if getattr(a, "weak_type", False) != getattr(b, "weak_type", False):
        return f"weak types differ: {a!r}, wanted {b!r}"
    if jnp.issubdtype(b.dtype, jax.dtypes.prng_key):
        found, wanted = jax.random.key_data(found), jax.random.key_data(wanted)
    own = _TOLERANCES.get(b.dtype.name, 0)
    tolerance = own and max(own, tolerance or 0)
    try:
        if tolerance:
            numpy.testing.assert_allclose(
                numpy.asarray(found, numpy.float64), numpy.asarray(wanted, numpy.float64),
                rtol=tolerance, atol=tolerance)
        else:
            numpy.testing.assert_array_equal(numpy.asarray(found), numpy.asarray(wanted))
    except AssertionError as error:
        return "".join(str(error).strip().splitlines(keepends=True)[:9])
    return None
