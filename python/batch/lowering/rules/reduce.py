"""Rules for operations that move or reduce arrays."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.extend.core import primitives

from batch.core.errors import LoweringError
from batch.lowering.expansion import KEEP, of_nothing, rule
from batch.tracing.jaxprs import is_empty


@rule("optimization_barrier")
def _barrier(*values):
    """Removes barriers, which prevent XLA from merging computations that a checkpoint repeats."""
    return values


@rule("sharding_constraint", "layout_constraint")
def _one_device(value, **_):
    return value


@rule("call_hi_primitive")
def _made_of_others(*values, _prim):
    """Expands primitives that define their own computation, such as `nonzero` since JAX 0.12."""
    return jax.tree.leaves(_prim.expand(*jax.tree.unflatten(_prim.in_tree, values)))


@rule("iota")
def _positions(*_, shape, dimension, **__):
    if isinstance(shape[dimension], int):
        return KEEP
    raise LoweringError("positions of rows, as from jnp.arange(n), are not supported if n differs "
                        "between instances; count them in the carry of lax.scan, or pass them as "
                        "a ragged argument")


@rule("bitcast_convert_type")
def _bits(value, *, new_dtype):
    """Rejects ragged rows if the width of the type changes, because jaxlib would otherwise end the
    process.
    """
    if value.dtype.itemsize == jnp.dtype(new_dtype).itemsize or \
            all(isinstance(n, int) for n in value.shape):
        return KEEP
    raise LoweringError(f"ragged rows of {value.dtype} cannot be read as {new_dtype.name}, which "
                        "has a different width; read each row with lax.scan")


# --- reductions -------------------------------------------------------------------------

def least(dtype):
    """Returns the smallest value of a dtype, -inf for floats."""
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else \
        False if dtype == numpy.bool_ else jnp.iinfo(dtype).min


def greatest(dtype):
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else \
        True if dtype == numpy.bool_ else jnp.iinfo(dtype).max


_NEUTRAL = {"sum": lambda dtype: 0, "prod": lambda dtype: 1, "max": least,
            "min": greatest, "or": lambda dtype: 0, "xor": lambda dtype: 0,
            "and": lambda dtype: True if dtype == numpy.bool_ else ~numpy.zeros((), dtype)}


def _reduction(kind):
    @rule("reduce_" + kind)
    def _(value, *, axes, **_):
        """Handles reductions over no axis, or of no elements."""
        if not axes:
            return value
        if not is_empty(value):
            return KEEP
        shape = [n for axis, n in enumerate(value.shape) if axis not in axes]
        return jnp.full(shape, _NEUTRAL[kind](value.dtype), value.dtype)


for _kind in _NEUTRAL:
    _reduction(_kind)


@rule("reduce")
def _reduce(*values, dimensions, **_):
    """Handles reductions over no axis, or of no elements. Initial values are neutral."""
    arrays, starts = values[:len(values) // 2], values[len(values) // 2:]
    if not dimensions:
        return arrays
    if not is_empty(arrays[0]):
        return KEEP
    shape = [n for axis, n in enumerate(arrays[0].shape) if axis not in dimensions]
    return [jnp.full(shape, start) for start in starts]


def _place_of(name, start, is_better, best_of):
    @rule(name)
    def _(value, *, axes, index_dtype, **_):
        """Handles arrays with an extent that differs from instance to instance."""
        axis, = axes
        if all(isinstance(n, int) for n in value.shape):
            return KEEP
        count = value.shape[axis]
        if isinstance(count, int):
            best = best_of(value, axis=axis, keepdims=True)
            # If there are NaNs, the first one is selected.
            is_there = jnp.where(best != best, value != value, value == best)
            places = lax.expand_dims(jnp.arange(count, dtype=index_dtype), [
                other for other in range(value.ndim) if other != axis])
            return jnp.where(is_there, places, jnp.asarray(count, index_dtype)).min(axis)

        # Rows are scanned one after another. If no rows exist, the returned index is 0.
        def step(carry, row):
            best, place, at = carry
            takes = (is_better(row, best) | (row != row)) & (best == best)
            return (jnp.where(takes, row, best), jnp.where(takes, at, place), at + 1), None

        rows = jnp.moveaxis(value, axis, 0)
        nothing = jnp.full(rows.shape[1:], start(value.dtype), value.dtype)
        carry = nothing, jnp.zeros(nothing.shape, index_dtype), jnp.zeros((), index_dtype)
        return lax.scan(step, carry, rows)[0][1]


_place_of("argmax", least, lambda row, best: row > best, jnp.max)
_place_of("argmin", greatest, lambda row, best: row < best, jnp.min)


# Maximum number of positions of a window that are computed one after another. The gradient of 2 × 2
# windows then takes a third, and the gradient of 4 × 4 windows half, of its time with
# _scatter_in_blocks().
_MOST_PLACES = 32


@rule("select_and_scatter_add")
def _scatter_to_best(source, operand, *, select_prim, window_dimensions, window_strides,
                     padding):
    """Replaces the jaxlib passes, which reject windows that overlap.

    If a window contains a NaN, the jaxlib passes and JAX select different places.
    """
    if is_empty(source):
        return jnp.zeros(operand.shape, operand.dtype)
    is_greatest = select_prim.name == "ge"
    start = (least if is_greatest else greatest)(operand.dtype)
    padded = lax.pad(operand, jnp.asarray(start, operand.dtype),
                     [(low, high, 0) for low, high in padding])
    are_disjoint = all(step >= n for n, step in zip(window_dimensions, window_strides))
    if are_disjoint and math.prod(window_dimensions) > _MOST_PLACES:
        result = _scatter_in_blocks(source, padded, is_greatest, window_dimensions,
                                    window_strides)
    else:
        result = _scatter_by_place(source, padded, select_prim, window_dimensions,
                                   window_strides)
    return lax.pad(result, jnp.zeros((), source.dtype),
                   [(-low, -high, 0) for low, high in padding])


def _scatter_in_blocks(source, padded, is_greatest, window, strides):
    """Handles windows that do not overlap: each window becomes a row.

    Selects the first of the best elements after the last NaN.
    """
    rank, count, zero = source.ndim, math.prod(window), jnp.zeros((), source.dtype)
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]

    def pairs(sizes):
        return [n for pair in zip(source.shape, sizes) for n in pair]

    def to_shape(array, shape):
        """Pads or truncates the end of each axis."""
        return lax.pad(array, zero, [(0, n - m, 0) for m, n in zip(array.shape, shape)])

    whole = [m * step for m, step in zip(source.shape, strides)]
    rows = to_shape(to_shape(padded, whole).reshape(pairs(strides)), pairs(window))
    rows = rows.transpose(order).reshape(*source.shape, count)
    place = jnp.arange(count, dtype=jnp.int32)
    is_after = place > jnp.where(rows != rows, place, jnp.int32(-1)).max(-1, keepdims=True)
    best = jnp.where(is_after, rows, (least if is_greatest else greatest)(rows.dtype))
    best = (jnp.max if is_greatest else jnp.min)(best, axis=-1, keepdims=True)
    chosen = jnp.where(is_after & (rows == best), place, jnp.int32(count - 1)).min(
        -1, keepdims=True)
    result = jnp.where(place == chosen, source[..., None], zero).reshape(
        *source.shape, *window)
    result = result.transpose(numpy.argsort(order))
    return to_shape(to_shape(result, pairs(strides)).reshape(whole), padded.shape)


def _scatter_by_place(source, padded, select_prim, window, strides):
    """Handles windows of any kind, one position of a window at a time."""
    spans = [(n - 1) * step + 1 for n, step in zip(source.shape, strides)]
    places = list(itertools.product(*map(range, window)))
    best, chosen = None, None
    for number, place in enumerate(places):
        part = lax.slice(padded, place, [at + n for at, n in zip(place, spans)], strides)
        if best is None:
            best, chosen = part, jnp.zeros(part.shape, jnp.int32)
            continue
        stays = select_prim.bind(best, part)
        best = jnp.where(stays, best, part)
        chosen = jnp.where(stays, chosen, jnp.int32(number))
    zero = jnp.zeros((), source.dtype)
    result = jnp.zeros(padded.shape, source.dtype)
    for number, place in enumerate(places):
        result = result + lax.pad(
            jnp.where(chosen == number, source, zero), zero,
            [(at, whole - at - n, step - 1) for at, whole, n, step in zip(
                place, padded.shape, spans, strides)])
    return result


# --- arrays without elements ------------------------------------------------------------

@of_nothing("concatenate")
def _concatenate(*values, dimension):
    return jnp.concatenate([value for value in values if not is_empty(value)], dimension)


@of_nothing("pad")
def _pad(value, padding, *, padding_config):
    # n elements have n - 1 gaps between them.
    shape = [low + high + max(0, n + (n - 1) * between)
             for n, (low, high, between) in zip(value.shape, padding_config)]
    return jnp.full(shape, padding)


@of_nothing("dot_general")
def _product(a, b, *, dimension_numbers, preferred_element_type, **_):
    (of_a, of_b), (batch_a, batch_b) = dimension_numbers
    shape = [a.shape[axis] for axis in batch_a]
    shape += [n for axis, n in enumerate(a.shape) if axis not in (*of_a, *batch_a)]
    shape += [n for axis, n in enumerate(b.shape) if axis not in (*of_b, *batch_b)]
    return jnp.zeros(shape, preferred_element_type or a.dtype)


@of_nothing("dynamic_update_slice")
def _update(value, *_):
    return value


@of_nothing("gather")
def _gather(value, indices, *, dimension_numbers, slice_sizes, **_):
    """Handles empty index vectors, which all select the first slice."""
    if indices.shape[-1] or dimension_numbers.operand_batching_dims or is_empty(value):
        return KEEP
    axes = dimension_numbers.offset_dims
    sizes = iter([n for axis, n in enumerate(slice_sizes)
                  if axis not in dimension_numbers.collapsed_slice_dims])
    batch = iter(indices.shape[:-1])
    rank = len(axes) + indices.ndim - 1
    shape = [next(sizes if axis in axes else batch) for axis in range(rank)]
    first = lax.slice(value, [0] * value.ndim, slice_sizes)
    return lax.broadcast_in_dim(lax.squeeze(
        first, dimension_numbers.collapsed_slice_dims), shape, axes)


def _register_padding(name, starts):
    """Registers a rule for windows of an array without elements.

    The windows contain only padding, which becomes elements. `starts` returns the padding value
    of each operand.
    """
    @of_nothing(name)
    def _(*values, padding, base_dilation, **params):
        count = len(starts(values, params))
        arrays = [lax.pad(value, start, [
            (low, high, step - 1) for (low, high), step in zip(padding, base_dilation)])
            for value, start in zip(values, starts(values, params))]
        return getattr(primitives, name + "_p").bind(
            *arrays, *values[count:], padding=((0, 0),) * len(padding),
            base_dilation=(1,) * len(padding), **params)


def _start(number):
    return lambda values, _: [jnp.asarray(number(values[0].dtype), values[0].dtype)]


_register_padding("reduce_window", lambda values, _: values[len(values) // 2:])
_register_padding("reduce_window_sum", _start(_NEUTRAL["sum"]))
_register_padding("reduce_window_max", _start(least))
_register_padding("reduce_window_min", _start(greatest))
_register_padding("select_and_gather_add", lambda values, params: [
    jnp.zeros((), values[0].dtype), jnp.asarray(
        (least if params["select_prim"].name == "ge" else greatest)(values[1].dtype),
        values[1].dtype)])


# --- cumulative operations --------------------------------------------------------------

def _cumulative(name, operate, neutral):
    @rule(name)
    def _(value, *, axis, reverse):
        """Computes prefixes in log2(n) steps (Hillis and Steele, 1986).

        Each step is an operation on n elements.
        """
        count = value.shape[axis]
        distance = 1
        while distance < count:
            rest = lax.slice_in_dim(value, distance, count, axis=axis) if reverse else \
                lax.slice_in_dim(value, 0, count - distance, axis=axis)
            shape = value.shape[:axis] + (distance,) + value.shape[axis + 1:]
            none = jnp.full(shape, neutral(value.dtype), value.dtype)
            value = operate(value, jnp.concatenate(
                [rest, none] if reverse else [none, rest], axis=axis))
            distance *= 2
        return value


_cumulative("cumsum", lax.add, _NEUTRAL["sum"])
_cumulative("cumprod", lax.mul, _NEUTRAL["prod"])
_cumulative("cummax", lax.max, least)
_cumulative("cummin", lax.min, greatest)
_cumulative("cumlogsumexp", jnp.logaddexp, least)


# --- precision --------------------------------------------------------------------------

@rule("reduce_precision")
def _reduce_precision(value, *, exponent_bits, mantissa_bits):
    """Rounds to even. Underflows become 0, and overflows become infinite."""
    info = jnp.finfo(value.dtype)
    kind = jnp.dtype(f"uint{info.bits}")
    bits = lax.bitcast_convert_type(value, kind)
    dropped = info.nmant - mantissa_bits
    if dropped > 0:
        last = (bits >> kind.type(dropped)) & kind.type(1)
        bits = bits + last + kind.type((1 << (dropped - 1)) - 1)
        bits = bits & kind.type(((1 << info.bits) - 1) ^ ((1 << dropped) - 1))
    if exponent_bits < info.nexp:
        middle, reach = (1 << (info.nexp - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        sign = bits & kind.type(1 << (info.bits - 1))
        infinite = kind.type(((1 << info.nexp) - 1) << info.nmant)
        exponent = bits & infinite
        bits = jnp.where(exponent > kind.type((middle + reach) << info.nmant),
                         sign | infinite, bits)
        bits = jnp.where(exponent <= kind.type(
            (middle - reach) << info.nmant), sign, bits)
    return jnp.where(jnp.isnan(value), value, lax.bitcast_convert_type(bits, value.dtype))
