"""Rules for linear algebra: loops whose rounds compute on whole rows.

A round costs some 100 ns and n * m multiplications for an n by m matrix; so a
factorization costs n rounds, and n^3 multiplications in all.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from batch._expand import rule


def _for_each(rank):
    """Makes a function of matrices (of arrays of this rank) one of arrays of them."""
    def decorate(function):
        @functools.wraps(function)
        def of_arrays(*arrays, **params):
            one = functools.partial(function, **params)
            for _ in range(arrays[0].ndim - rank):
                one = jax.vmap(one)
            return one(*arrays)
        return of_arrays
    return decorate


@rule("cholesky")
@_for_each(2)
def _cholesky(a, **_):
    """The lower factor, of the lower half; what is not positive definite has none."""
    n = len(a)

    def column(factor, given):
        """factor: the transposed one, of which the first rows are there."""
        values, j = given
        values = values - lax.dynamic_slice(factor, (0, j), (n, 1))[:, 0] @ factor
        values = values / jnp.sqrt(lax.dynamic_index_in_dim(values, j, keepdims=False))
        values = jnp.where(jnp.arange(n) >= j, values, 0)
        return lax.dynamic_update_slice(factor, values[None], (j, 0)), None

    factor, _ = lax.scan(column, jnp.zeros_like(a), (a.T, jnp.arange(n)))
    return jnp.where((jnp.diagonal(factor) > 0).all(), factor.T, jnp.nan)


@rule("triangular_solve")
@_for_each(2)
def _triangular_solve(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    """By columns of the matrix: each unknown goes into the equations that are left."""
    if transpose_a != left_side:
        columns = a.T
    else:
        columns, lower = a, not lower
    right = b.T if left_side else b
    n = len(a)
    # Row j: what unknown j is multiplied with.
    diagonal = jnp.ones(n, a.dtype) if unit_diagonal else jnp.diagonal(a)

    def unknown(right, given):
        column, pivot, j = given
        x = lax.dynamic_slice(right, (0, j), (len(right), 1)) / pivot
        place = jnp.arange(n)
        left = place > j if lower else place < j
        return jnp.where(left, right - x * column, jnp.where(place == j, x, right)), None

    solved, _ = lax.scan(unknown, right, (columns, diagonal, jnp.arange(n)),
                         reverse=not lower)
    return solved.T if left_side else solved


@rule("lu")
@_for_each(2)
def _lu(a, **_):
    """With partial pivoting."""
    m, n = a.shape
    rows, columns = jnp.arange(m)[:, None], jnp.arange(n)

    def swap(array, i, j):
        """Rows i and j change places."""
        first = lax.dynamic_index_in_dim(array, i, keepdims=True)
        second = lax.dynamic_index_in_dim(array, j, keepdims=True)
        array = lax.dynamic_update_slice_in_dim(array, second, i, 0)
        return lax.dynamic_update_slice_in_dim(array, first, j, 0)

    def eliminate(carry, k):
        a, order = carry
        column = lax.dynamic_slice(a, (0, k), (m, 1))
        pivot = jnp.argmax(jnp.where(rows >= k, jnp.abs(column), -1)).astype(jnp.int32)
        a, order = swap(a, k, pivot), swap(order, k, pivot)
        row = lax.dynamic_slice(a, (k, 0), (1, n))
        divisor = lax.dynamic_slice(a, (k, k), (1, 1))
        column = lax.dynamic_slice(a, (0, k), (m, 1))
        factors = jnp.where(divisor == 0, column, column / divisor)
        changed = jnp.where(columns > k, a - factors * row,
                            jnp.where(columns == k, factors, a))
        return (jnp.where(rows > k, changed, a), order), pivot

    (a, order), pivots = lax.scan(eliminate, (a, jnp.arange(m, dtype=jnp.int32)),
                                  jnp.arange(min(m, n), dtype=jnp.int32))
    return a, pivots, order


@rule("lu_pivots_to_permutation")
@_for_each(1)
def _permutation(pivots, *, permutation_size):
    place = jnp.arange(permutation_size, dtype=jnp.int32)

    def swap(order, given):
        i, j = given
        first, second = order[i], order[j]
        return jnp.where(place == i, second, jnp.where(place == j, first, order)), None

    return lax.scan(swap, place, (jnp.arange(len(pivots), dtype=jnp.int32), pivots))[0]
