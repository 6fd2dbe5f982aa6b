"""Rules for linear algebra.

Each round of a loop computes on whole rows. Cholesky factors and triangular solves are
computed in blocks of at most 64 rows; between blocks, the work consists of matrix products.

A round costs about 20 ns plus the product of a row and a matrix. Factors of 20 × 20 elements
take 2.6 µs, and those of 256 × 256 elements 1 ms.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from batch.core.errors import LoweringError
from batch.lowering.expansion import rule

_BLOCK = 64


def _for_each(rank):
    """Returns a decorator that maps a function of arrays of this rank over their leading axes."""
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
    """Returns the lower factor, computed from the lower half.

    The factor is NaN if the matrix is not positive definite.
    """
    factor = _upper_factor(a)
    # If a pivot has no root, the elements after it are undefined.
    return jnp.where((jnp.diagonal(factor) > 0).all(), factor.T, jnp.nan)


def _upper_factor(a):
    """Returns the transposed factor. The algorithm is the same for blocks and elements."""
    n = len(a)
    if n > _BLOCK:
        h = n // 2
        first = _upper_factor(a[:h, :h])
        right = _substitute(first.T, a[h:, :h].T, lower=True)
        second = _upper_factor(a[h:, h:] - right.T @ right)
        return jnp.block([[first, right], [jnp.zeros_like(right.T), second]])

    def column(factor, given):
        """Computes row j of `factor`, which already contains the rows before it."""
        values, j = given
        values = values - lax.dynamic_slice(factor, (0, j), (n, 1))[:, 0] @ factor
        values = values / jnp.sqrt(lax.dynamic_index_in_dim(values, j, keepdims=False))
        values = jnp.where(jnp.arange(n) >= j, values, 0)
        return lax.dynamic_update_slice(factor, values[None], (j, 0)), None

    return lax.scan(column, jnp.zeros_like(a), (a.T, jnp.arange(n)))[0]


@rule("triangular_solve")
@_for_each(2)
def _triangular_solve(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    if transpose_a == left_side:
        a, lower = a.T, not lower
    b = b if left_side else b.T
    is_vector = b.shape[1] == 1
    x = _substitute(a, b[:, 0] if is_vector else b, lower, unit_diagonal)
    x = x[:, None] if is_vector else x
    return x if left_side else x.T


def _substitute(a, b, lower, unit_diagonal=False):
    """Solves a x = b for x. Each row of x is computed from the rows already known."""
    n = len(a)
    if n > _BLOCK:
        low, high = slice(n // 2), slice(n // 2, n)
        one, other = (low, high) if lower else (high, low)
        first = _substitute(a[one, one], b[one], lower, unit_diagonal)
        second = _substitute(a[other, other], b[other] - a[other, one] @ first, lower,
                             unit_diagonal)
        return jnp.concatenate([first, second] if lower else [second, first])
    diagonal = jnp.ones(n, a.dtype) if unit_diagonal else \
        jnp.where(jnp.eye(n, dtype=bool), a, 0).sum(0)

    def row(x, given):
        factors, right, pivot, j = given
        new = (right - factors @ x) / pivot
        return lax.dynamic_update_slice_in_dim(x, new[None], j, 0), None

    known = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    return lax.scan(row, jnp.zeros_like(b), (known, b, diagonal, jnp.arange(n)),
                    reverse=not lower)[0]


@rule("lu")
@_for_each(2)
def _lu(a, **_):
    """Factorizes with partial pivoting. Returns the factors, pivots and permutation."""
    m, n = a.shape
    rows, columns = jnp.arange(m)[:, None], jnp.arange(n)
    zero = jnp.int32(0)  # slices need indices of the same type

    def swap(array, i, j):
        """Swaps rows i and j."""
        first = lax.dynamic_index_in_dim(array, i, keepdims=True)
        second = lax.dynamic_index_in_dim(array, j, keepdims=True)
        array = lax.dynamic_update_slice_in_dim(array, second, i, 0)
        return lax.dynamic_update_slice_in_dim(array, first, j, 0)

    def eliminate(carry, k):
        a, order = carry
        column = lax.dynamic_slice(a, (zero, k), (m, 1))
        pivot = jnp.argmax(jnp.where(rows >= k, jnp.abs(column), -1)).astype(jnp.int32)
        a, order = swap(a, k, pivot), swap(order, k, pivot)
        row = lax.dynamic_slice(a, (k, zero), (1, n))
        divisor = lax.dynamic_slice(a, (k, k), (1, 1))
        column = lax.dynamic_slice(a, (zero, k), (m, 1))
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


@rule("tridiagonal_solve")
@_for_each(1)
def _tridiagonal_solve(dl, d, du, b, *, perturb_singular=False):
    """Solves by elimination with partial pivoting, as in LAPACK gtsv.

    The upper factor has three diagonals. The result is NaN if the matrix is singular. Raises
    LoweringError for perturb_singular.
    """
    if perturb_singular:
        raise LoweringError("tridiagonal_solve with perturb_singular is not supported; omit "
                            "perturb_singular")
    n = len(d)
    du = jnp.where(jnp.arange(n) < n - 1, du, 0)

    def eliminate(row, given):
        """Eliminates x[i]. Row i is p x[i] + q x[i + 1] = s; the given row has x[i] to x[i + 2]."""
        p, q, s = row
        low, middle, high, right = given
        swaps = jnp.abs(low) > jnp.abs(p)
        factor = jnp.where(swaps, p, low) / jnp.where(swaps, low, p)
        fixed = (jnp.where(swaps, low, p), jnp.where(swaps, middle, q),
                 jnp.where(swaps, high, 0), jnp.where(swaps, right, s))
        return (jnp.where(swaps, q - factor * middle, middle - factor * q),
                jnp.where(swaps, -factor * high, high),
                jnp.where(swaps, s - factor * right, right - factor * s)), fixed

    def substitute(known, row):
        p, q, r, s = row
        x = (s - q * known[0] - r * known[1]) / p
        return (x, known[0]), x

    (p, _, s), rows = lax.scan(eliminate, (d[0], du[0], b[0]),
                               (dl[1:], d[1:], du[1:], b[1:]))
    last = s / p
    rest = lax.scan(substitute, (last, jnp.zeros_like(last)), rows, reverse=True)[1]
    is_regular = (rows[0] != 0).all() & (p != 0)
    return jnp.where(is_regular, jnp.concatenate([rest, last[None]]), jnp.nan)


@rule("cholesky_update")
@_for_each(2)
def _cholesky_update(r, z):
    """Applies Givens rotations, one row at a time."""
    def rotate(z, given):
        row, k = given
        x = lax.dynamic_index_in_dim(row, k, keepdims=False)
        y = lax.dynamic_index_in_dim(z, k, keepdims=False)
        largest = jnp.where(y == 0, 1, jnp.maximum(jnp.abs(x), jnp.abs(y)))
        x, y = x / largest, y / largest
        length = jnp.sqrt(x * x + y * y)
        c, s = jnp.where(y == 0, 1, x / length), jnp.where(y == 0, 0, -y / length)
        return c * z + s * row, c * row - s * z

    return lax.scan(rotate, z, (r, jnp.arange(len(z))))[1]
