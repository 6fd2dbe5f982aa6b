"""What tells results of batch.vmap from those of jax.vmap."""

import jax
import jax.numpy as jnp
import numpy

_TOLERANCES = {"float64": 1e-10, "float32": 1e-5, "bfloat16": 1e-2, "float16": 1e-2}


def difference(found, wanted, tolerance=None):
    """Text, or None where trees of arrays are the same: structure, types, weak types and
    shapes; numbers of floating point up to rounding (of their type, or `tolerance`), all
    others to the bit."""
    if jax.tree.structure(found) != jax.tree.structure(wanted):
        return "structure %s, wanted %s" % (jax.tree.structure(found),
                                            jax.tree.structure(wanted))
    for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(found),
                            jax.tree.leaves(wanted)):
        text = _leaf(a, b, tolerance)
        if text:
            return "result%s: %s" % (jax.tree_util.keystr(path), text)
    return None


def _leaf(found, wanted, tolerance):
    if not isinstance(found, jax.Array):
        return "is a %s, no array of JAX" % type(found).__name__
    # jax.vmap returns its own arguments as they are.
    a, b = jax.typeof(found), jax.typeof(wanted)
    if a.str_short() != b.str_short():
        return "%s, wanted %s" % (a.str_short(), b.str_short())
    if getattr(a, "weak_type", False) != getattr(b, "weak_type", False):
        return "weak types differ: %r, wanted %r" % (a, b)
    if jnp.issubdtype(b.dtype, jax.dtypes.prng_key):
        found, wanted = jax.random.key_data(found), jax.random.key_data(wanted)
    own = _TOLERANCES.get(b.dtype.name, 0)
    tolerance = own and (tolerance or own)
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
