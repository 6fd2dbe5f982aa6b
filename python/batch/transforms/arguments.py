"""Types, axes and cache keys of the arguments of batch.vmap."""

import functools
import operator

import jax
import numpy

from batch.core.adt import AdtType
from batch.runtime.binding import Bound
from batch.runtime.ragged import Ragged
from batch.tracing.jaxprs import is_key
from batch.tracing.locations import user_location
from batch.transforms.arrays import UNMAPPED, key_of, to_jax
from batch.transforms.forest import Forest


def spread_axes(axes, tree, what):
    """Returns an axis for each leaf of `tree`; `axes` is a tree prefix of it.

    The axis of an unmapped leaf (None) is UNMAPPED. `what` is "in_axes" or "out_axes", for
    errors. Raises ValueError if `axes` is not a prefix. Raises TypeError if an axis is
    neither an int nor None.
    """
    marked = jax.tree.map(lambda axis: UNMAPPED if axis is None else axis, axes,
                          is_leaf=lambda axis: axis is None)
    try:
        spread = jax.tree.map(lambda axis, part: jax.tree.map(lambda _: axis, part),
                              marked, tree)
    except (ValueError, TypeError) as error:
        whole = "arguments" if what == "in_axes" else "results"
        raise ValueError(f"vmap {what} must be an int, None, or a tree prefix of the {whole}: "
                         f"{error}") from None
    axes = jax.tree.leaves(spread)
    for axis in axes:
        if axis is not UNMAPPED and not isinstance(axis, int):
            raise TypeError(f"vmap {what} must be an int, None, or a tree of them; got {axis!r}")
    return axes


def copy_axes(axes):
    return jax.tree.map(lambda axis: axis, axes, is_leaf=lambda axis: axis is None)


def key_words(leaf):
    """Returns the raw words of a PRNG key, or any other argument unchanged."""
    if isinstance(leaf, (Bound, Ragged, Forest)):
        return leaf
    aval = jax.typeof(leaf)
    return jax.random.key_data(leaf) if is_key(aval) else leaf


def check_place(array):
    if isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer):
        devices = array.devices()
        if len(devices) > 1 or any(d.platform != "cpu" for d in devices):
            places = ", ".join(sorted(map(str, devices)))
            raise ValueError(f"{user_location()}batch.vmap runs on the CPU, but an array is on "
                             f"{places}; move it to one CPU device with jax.device_put")


def argument_aval(leaf):
    """Returns the shape and the dtype of an argument as an abstract value.

    Raises TypeError if JAX has no type for the argument.
    """
    if isinstance(leaf, Bound):
        leaf = leaf.value
    if isinstance(leaf, Ragged):
        leaf = leaf.values
    if isinstance(leaf, Forest):
        return leaf.aval
    try:
        return jax.typeof(leaf)
    except TypeError:
        if isinstance(type(leaf), AdtType):
            data = type(leaf)._adt
            raise TypeError(f"an argument of type {data} requires an annotation; write "
                            f"`def f(tree: {data})`, or pass a batch.forest") from None
        if hasattr(leaf, "__dlpack__"):
            remedy = "numpy.asarray(x.detach()); gradients do not propagate to x" \
                if getattr(leaf, "requires_grad", False) else "numpy.asarray(x)"
            raise TypeError("expected a NumPy or JAX array as an argument, got a "
                            f"{type(leaf).__name__}; pass {remedy}") from None
        if isinstance(leaf, str):
            raise TypeError(f"expected an array as an argument, got the string {leaf!r}; if it is "
                            "the name of a variant in a tuple, annotate the argument as in "
                            "`def f(tree: Tree)`, or pass batch.forest(Tree, values)") from None
        raise TypeError(f"argument {leaf!r} of type {type(leaf)} is not a valid JAX type; pass a "
                        "NumPy or JAX array") from None


def instance_type(aval, axis=UNMAPPED):
    """Returns an argument's shape for one instance, its dtype, and whether its type is weak."""
    dtype = aval.dtype if is_key(aval) else \
        jax.dtypes.canonicalize_dtype(aval.dtype)
    shape = aval.shape if axis is UNMAPPED else aval.shape[:axis] + aval.shape[axis + 1:]
    return shape, dtype, bool(getattr(aval, "weak_type", False))


def ragged_types(leaves, types):
    """Returns `types` with names in place of first extents that differ between instances.

    Ragged arguments with equal offsets share a name. The type of a forest is its kind.
    """
    known, named = [], []
    for leaf, (shape, dtype, is_weak) in zip(leaves, types):
        if isinstance(leaf, Ragged):
            number = next((i for i, offsets in enumerate(known)
                           if numpy.array_equal(offsets, leaf.offsets)), len(known))
            known[number:] = known[number:] or [leaf.offsets]
            shape = (f"n{number}",) + leaf.values.shape[1:]
        named.append(leaf.kind if isinstance(leaf, Forest) else
                     (tuple(shape), dtype, is_weak))
    return named


def to_result(array, aval):
    """Converts a result, of one or of all instances, to the JAX array that the caller receives."""
    is_weak, is_key = form_of(aval)
    array = to_jax(array, is_weak)
    return key_of(array) if is_key else array


def form_of(aval):
    return bool(getattr(aval, "weak_type", False)), is_key(aval)


def cache_key(leaf):
    """Returns a cache key. Arguments with equal keys are validated only once.

    None means that the argument is validated on every call.
    """
    if type(leaf) is numpy.ndarray:
        return leaf.shape, leaf.dtype
    if isinstance(leaf, jax.Array):
        # The aval includes the shape and the weak-type flag.
        return None if isinstance(leaf, jax.core.Tracer) else (leaf.aval, leaf.sharding)
    if type(leaf) is Forest:
        return leaf.kind, len(leaf)
    return (Bound, leaf.shape, leaf.dtype) if type(leaf) is Bound else None


# Options that affect a trace: they change values, types or errors.
trace_options = functools.partial(operator.attrgetter(*[name for name in (
    "jax_debug_key_reuse", "jax_default_prng_impl", "jax_enable_custom_prng", "jax_enable_x64",
    "jax_explicit_x64_dtypes", "jax_high_dynamic_range_gumbel", "jax_legacy_prng_key",
    "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_random_seed_offset",
    "jax_threefry_partitionable") if hasattr(jax.config, name)]), jax.config)
