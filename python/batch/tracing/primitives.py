"""Primitives for calls, data types and lists."""

import jax
import jax.numpy as jnp
from jax.extend import core

from batch.core.adt import fields_of
from batch.core.types import Data, List, Scalar

# Type of data values and lists in a jaxpr: an integer whose value no equation uses.
HANDLE = jax.core.ShapedArray((), jnp.int32)


def dtype_of(kind):
    return jax.dtypes.canonicalize_dtype(
        {"int": "int64", "float": "float64"}.get(kind.name, kind.name))


def aval_of(kind):
    """Returns the jaxpr type of a value of this declared type."""
    if isinstance(kind, (Data, List)):
        return HANDLE
    return jax.core.ShapedArray(getattr(kind, "shape", ()), dtype_of(kind))


# --- primitives --------------------------------------------------------------------------

def _primitive(name, results, kinds_out=None):
    """Creates a primitive whose equations batch.lowering.recursion lowers.

    results: function that returns the types of an equation's results.
    kinds_out: function that returns the declared types of the results, None for arrays. Equations
        can be mapped if it is given and all results are arrays.
    """
    primitive = core.Primitive(name)
    primitive.multiple_results = True
    primitive.def_abstract_eval(results)

    def refuse(*_, **__):
        raise NotImplementedError(
            "jax.vmap and jax.grad do not support calls, data types and lists of a "
            "@batch.function; apply them to functions of arrays")

    def each(values, dims, **params):
        """Maps over the lanes with a loop. Batch still runs independent lanes together."""
        if kinds_out is None or any(kinds_out(**params)):
            refuse()
        mapped = [jnp.moveaxis(value, dim, 0) for value, dim in zip(values, dims)
                  if dim is not None]

        def lane(parts):
            parts = iter(parts)
            return primitive.bind(*[value if dim is None else next(parts)
                                    for value, dim in zip(values, dims)], **params)

        results = jax.lax.map(lane, mapped)
        return results, [0] * len(results)

    primitive.def_impl(refuse)
    jax.interpreters.batching.primitive_batchers[primitive] = each
    jax.interpreters.ad.primitive_jvps[primitive] = refuse
    return primitive


def _rows(dim, kind, aval):
    return HANDLE if kind else jax.core.ShapedArray((dim, *aval.shape), aval.dtype)


call_p = _primitive("batch_call", lambda *_, spec: spec.avals_out,
                    lambda spec: spec.kinds_out)
open_p = _primitive("batch_open", lambda _, variant: [
    aval_of(kind) for _, kind in fields_of(variant._adt)[variant._number]])
construct_p = _primitive("batch_construct", lambda *_, variant: [HANDLE])
list_p = _primitive("batch_list", lambda *_, kind: [HANDLE])
map_p = _primitive("batch_map", lambda *_, body, closure, kinds, dim: [
    _rows(dim, kind, aval) for kind, aval in zip(body.kinds_out, body.avals_out)])
fold_p = _primitive("batch_fold", lambda *_, body, closure, kinds: body.avals_out,
                    lambda body, **_: body.kinds_out)
# Paths of a function of ragged arrays (tracing.paths.Arm). Each instance takes one path.
paths_p = _primitive("batch_paths", lambda *_, arms, avals: avals)
length_p = _primitive("batch_length", lambda _, kind: [aval_of(Scalar("int"))])
