"""Rules for sorting.

The rank of an element is the number of elements before it. Ranks need two operations with n^2
integer comparisons, which take about 0.3 ns each. Above _MOST_RANKED elements, a bitonic network
sorts. It has log2(n) * (log2(n) + 1) / 2 stages, each of which is a round of a loop.
"""

import math

import jax
import jax.numpy as jnp
import numpy
from jax import lax

from batch.core.errors import LoweringError
from batch.lowering.expansion import rule

_MOST_RANKED = 256


def _ordered(values, total=False):
    """Maps values to signed integers whose order is the order of lax.sort.

    In this order zeros are equal, and NaNs are equal and come last. `total` selects the total
    order of IEEE 754, in which the signs of zeros and NaNs count.
    """
    if values.dtype == bool:
        return values.astype(jnp.int32)
    bits = values.dtype.itemsize * 8
    signed = jnp.dtype(f"int{bits}")
    if jnp.issubdtype(values.dtype, jnp.signedinteger):
        return values
    if jnp.issubdtype(values.dtype, jnp.integer):
        least = jnp.asarray(1 << (bits - 1), values.dtype)
        return lax.bitcast_convert_type(values ^ least, signed)
    if not total:
        zero = jnp.zeros((), values.dtype)
        values = jnp.where(values == zero, zero, values)
        values = jnp.where(jnp.isnan(values), jnp.asarray(
            jnp.nan, values.dtype), values)
    number = lax.bitcast_convert_type(values, signed)
    return jnp.where(number < 0, number ^ jnp.asarray(jnp.iinfo(signed).max, signed), number)


def _before(first, second, last):
    """Returns whether keys `first` precede keys `second`; `last` is the result if all are equal."""
    for a, b in zip(reversed(first), reversed(second)):
        last = (a < b) | ((a == b) & last)
    return last


def _by_rank(keys, count):
    place = jnp.arange(len(keys[0]), dtype=jnp.int32)
    before = _before([key[:, None] for key in keys], [key[None] for key in keys],
                     place[:, None] < place[None])
    rank = jnp.sum(before, axis=0, dtype=jnp.int32)
    return jnp.sum(jnp.where(rank[:, None] == jnp.arange(count, dtype=jnp.int32),
                             place[:, None], 0), axis=0, dtype=jnp.int32)


def _by_network(keys, count):
    """Sorts by a bitonic network, and returns the places of the first `count` elements.

    Places are the last key, so no elements are equal.
    """
    n = len(keys[0])
    size = 1 << (n - 1).bit_length()
    place = jnp.arange(size, dtype=jnp.int32)
    # Padding comes last, because it has the largest keys and places.
    keys = [jnp.pad(key, (0, size - n), constant_values=jnp.iinfo(key.dtype).max)
            for key in keys]
    stages = [(1 << length, 1 << step) for length in range(1, size.bit_length())
              for step in reversed(range(length))]

    def exchange(arrays, stage):
        length, distance = stage
        others = [array[place ^ distance] for array in arrays]
        comes_first = ((place & distance) == 0) == ((place & length) == 0)
        takes = _before(others, arrays, jnp.asarray(False)) == comes_first
        return [jnp.where(takes, other, array)
                for other, array in zip(others, arrays)], None

    lengths, distances = numpy.array(stages, numpy.int32).T
    arrays, _ = lax.scan(exchange, [*keys, place], (jnp.asarray(lengths),
                                                    jnp.asarray(distances)))
    return arrays[-1][:count]


def _order(keys, count):
    """Returns the places of the first `count` elements of a stable sort."""
    return (_by_rank if len(keys[0]) <= _MOST_RANKED else _by_network)(keys, count)


def _along(function, axis, arrays):
    """Applies a function of vectors along an axis of arrays."""
    arrays = [jnp.moveaxis(array, axis, -1) for array in arrays]
    outer = arrays[0].shape[:-1]
    if math.prod(outer) == 1:
        results = function(*(array.reshape(-1) for array in arrays))
    else:
        results = jax.vmap(function)(*(array.reshape(-1, array.shape[-1])
                                       for array in arrays))
    return [jnp.moveaxis(result.reshape(outer + result.shape[-1:]), -1, axis)
            for result in results]


@rule("sort")
def _sort(*arrays, dimension, num_keys, **_):
    if not arrays[0].size:
        return arrays

    def sort(*vectors):
        order = _order(list(map(_ordered, vectors[:num_keys])), len(vectors[0]))
        return [vector[order] for vector in vectors]
    return _along(sort, dimension, arrays)


def _first(array, axis, count, largest):
    def first(vector):
        key = _ordered(vector, total=True)
        order = _order([~key if largest else key], count)
        return vector[order], order
    if not (array.size and count):
        shape = array.shape[:axis] + (count,) + array.shape[axis % array.ndim + 1:]
        return jnp.zeros(shape, array.dtype), jnp.zeros(shape, jnp.int32)
    return _along(first, axis, [array])


@rule("top_k")
def _top_k(array, *, k, axis=-1, **_):
    return _first(array, axis % array.ndim, k, True)


@rule("approx_top_k")
def _approximate(array, *, k, reduction_dimension, is_max_k, aggregate_to_topk, **_):
    if not aggregate_to_topk:
        raise LoweringError("approx_max_k and approx_min_k with aggregate_to_topk=False are not "
                            "supported; use aggregate_to_topk=True")
    return _first(array, reduction_dimension % array.ndim, k, is_max_k)
