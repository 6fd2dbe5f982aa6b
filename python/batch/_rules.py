"""Rules for what moves and reduces arrays."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy
from jax import lax

from batch._expand import KEEP, LoweringError, is_empty, of_nothing, rule


@rule("optimization_barrier")
def _barrier(*values):
    """Barriers keep XLA from merging what a checkpoint computes twice."""
    return values


@rule("sharding_constraint")
def _one_device(value, **_):
    return value


@rule("call_hi_primitive")
def _made_of_others(*values, _prim):
    """Since JAX 0.12: such as `nonzero`, which says itself what it computes."""
    return jax.tree.leaves(_prim.expand(*jax.tree.unflatten(_prim.in_tree, values)))


@rule("iota")
def _positions(*_, shape, dimension, **__):
    if isinstance(shape[dimension], int):
        return KEEP
    raise LoweringError("positions of rows, as of jnp.arange(n), are not supported where n differs "
                        "from instance to instance: count them in the carry of lax.scan, or give "
                        "them as a ragged argument")


# --- reductions -------------------------------------------------------------------------

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
        if not is_empty(value):
            return KEEP
        shape = [n for axis, n in enumerate(value.shape) if axis not in axes]
        return jnp.full(shape, _NEUTRAL[kind](value.dtype), value.dtype)


for _kind in _NEUTRAL:
    _reduction(_kind)


@rule("reduce")
def _reduce(*values, dimensions, **_):
    """Of no axis, or of no element. What a reduction begins with changes nothing."""
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
        """Where an extent differs from instance to instance."""
        axis, = axes
        if all(isinstance(n, int) for n in value.shape):
            return KEEP
        count = value.shape[axis]
        if isinstance(count, int):
            best = best_of(value, axis=axis, keepdims=True)
            # The first NaN is the one.
            is_there = jnp.where(best != best, value != value, value == best)
            places = lax.expand_dims(jnp.arange(count, dtype=index_dtype), [
                other for other in range(value.ndim) if other != axis])
            return jnp.where(is_there, places, jnp.asarray(count, index_dtype)).min(axis)

        # One row after the other; 0 if there is none.
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


@rule("select_and_scatter_add")
def _scatter_to_best(source, operand, *, select_prim, window_dimensions, window_strides,
                     padding):
    """Where windows overlap, or have one element: each place of a window in turn."""
    if math.prod(window_dimensions) > 1 and all(
            step >= n for n, step in zip(window_dimensions, window_strides)):
        return KEEP
    least_or_greatest = least if select_prim.name == "ge" else greatest
    padded = lax.pad(operand, jnp.asarray(least_or_greatest(operand.dtype), operand.dtype),
                     [(low, high, 0) for low, high in padding])
    spans = [(n - 1) * step + 1 for n, step in zip(source.shape, window_strides)]
    places = list(itertools.product(*map(range, window_dimensions)))
    best, chosen = None, None
    for number, place in enumerate(places):
        part = lax.slice(padded, place, [at + n for at, n in zip(place, spans)],
                         window_strides)
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
                place, padded.shape, spans, window_strides)])
    return lax.pad(result, zero, [(-low, -high, 0) for low, high in padding])


# --- of arrays without elements ---------------------------------------------------------

@of_nothing("concatenate")
def _concatenate(*values, dimension):
    return jnp.concatenate([value for value in values if not is_empty(value)], dimension)


@of_nothing("pad")
def _pad(value, padding, *, padding_config):
    # Places between elements: one less than these.
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


# --- sums of what comes before ----------------------------------------------------------

def _cumulative(name, operate, neutral):
    @rule(name)
    def _(value, *, axis, reverse):
        """In log2(n) steps (Hillis and Steele, 1986), each an operation on n elements."""
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
    """Rounded to even; what is too small is zero, what is too large infinite."""
    info = jnp.finfo(value.dtype)
    kind = jnp.dtype("uint%d" % info.bits)
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
