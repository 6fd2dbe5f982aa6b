"""Operations that Batch expands compute the same under batch.vmap as under jax.vmap.

test_rules.py tests only the expansions, with more cases.
"""

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.vmap import STEPS, N, X, Y, as_jax, assert_maps_like_jax

pytestmark = pytest.mark.sampled(3)

generator = numpy.random.default_rng(3)


def normal(*shape):
    return generator.normal(size=shape).astype(numpy.float32)


def case(name, f, *arguments):
    return pytest.param(f, arguments, id=name)


def cases(*values):
    return pytest.mark.parametrize("f, arguments", values)


def compare(f, *arguments):
    assert_maps_like_jax(f, *as_jax(arguments))


# --- scatter ----------------------------------------------------------------------------

PLACES = generator.integers(-5, 5, (N, 3)).astype(numpy.int32)  # some indices occur twice
OUTSIDE = numpy.asarray([[0, 7, 2], [-9, 1, 1], [5, 5, 5]] * 2, numpy.int32)
CONSTANT = OUTSIDE.reshape(-1) % 7 - 2
VALUES = normal(N, 3, 4)
LARGE = normal(N, 50, 60)
# Most elements belong to one group.
GROUPS = numpy.where(numpy.arange(100) < 60, 3, generator.integers(0, 9, 100))

UPDATES = pytest.mark.parametrize("name", ["set", "add", "subtract", "multiply", "min", "max"])


@pytest.mark.parametrize("places, options", [
    (PLACES, {}), (OUTSIDE, {}), (OUTSIDE, {"mode": "clip"})],
    ids=["inside", "outside", "clipped"])
@UPDATES
def test_scatter(name, places, options):
    compare(lambda v, i, u: getattr(v.at[i], name)(u, **options), Y, places, VALUES)


@UPDATES
def test_scatter_of_one_row(name):
    compare(lambda v, i, u: getattr(v.at[i], name)(u), Y, OUTSIDE[:, 0], VALUES[:, 0])


@UPDATES
def test_scatter_at_constant_places(name):
    compare(lambda v, u: getattr(v.at[CONSTANT], name)(jnp.concatenate([u] * 6)), Y, VALUES)


@UPDATES
def test_scatter_in_vmap(name):
    compare(jax.vmap(lambda v, i, u: getattr(v.at[i], name)(u), in_axes=(1, 0, 0)),
            Y, X.astype(numpy.int32), X)


@cases(
    case("one_by_one", lambda v, i, u: v.at[i].add(u), LARGE, PLACES, normal(N, 3, 60)),
    case("one_by_one_set", lambda v, i, u: v.at[i].set(u), LARGE, OUTSIDE, normal(N, 3, 60)),
    case("windows", lambda v, i, u: lax.dynamic_update_slice(v, u, (i, jnp.ones_like(i))),
         Y, STEPS, normal(N, 2, 2)),
    case("windows_in_vmap", jax.vmap(
        lambda v, i: lax.dynamic_update_slice(v, v[:2] + 1, (i,)), (1, 0)),
        Y, STEPS[:, None] + numpy.arange(4, dtype=numpy.int32)),
    case("two_indices", lambda v, i: v.at[i, i - 1].add(1), Y, PLACES),
    case("apply", lambda v, i: v.at[i].apply(jnp.sin), Y, OUTSIDE),
    case("unsigned_places", lambda v, i: v.at[i].set(7), Y, OUTSIDE.astype(numpy.uint32)),
    case("booleans", lambda v, i: (v > 0).at[i].set(True), Y, OUTSIDE),
    case("grad_of_indexing", lambda v, i: jax.grad(lambda v: (v[i] ** 2).sum())(v), Y, PLACES),
    case("in_a_loop", lambda v, n: lax.fori_loop(
        0, n, lambda k, c: c.at[k % 5].add(c[k % 3]), v), Y, STEPS),
    case("constant_places_in_a_loop", lambda v, n: lax.fori_loop(
        0, n, lambda k, c: c.at[CONSTANT[:3]].add(v[k % 3]), v), Y, STEPS),
    case("all_outside", lambda v: v.at[numpy.asarray([9, 8])].add(1), Y),
    case("no_update", lambda v: v.at[numpy.zeros(0, int)].add(v[:0]), Y),
    case("segment_sum", lambda v, i: jax.ops.segment_sum(v, i, 4), VALUES, PLACES),
    case("large_groups", jax.grad(lambda v: (v.reshape(-1)[GROUPS] ** 2).sum()), Y))
def test_scatter_program(f, arguments):
    compare(f, *arguments)


# --- arrays without elements ------------------------------------------------------------

@pytest.mark.parametrize("f", [
    pytest.param(lambda v: (v[:0].sum(), v[:0].prod(), v[:0].max(initial=3),
                            jnp.all(v[:0] > 0)), id="reductions"),
    pytest.param(lambda v: jnp.zeros((3, 0)) @ jnp.zeros((0, 2)) + v[0], id="product"),
    pytest.param(lambda v: (jnp.concatenate([v[:0], v]), jnp.pad(v[:0], (2, 1))),
                 id="concatenate_and_pad"),
    pytest.param(lambda v: lax.fori_loop(
        0, 3, lambda i, c: (c[0] + 1, c[1] * 2), (v, v[:0]))[0], id="carried_by_a_loop"),
    pytest.param(lambda v: lax.scan(lambda c, a: (c + a, a), v[0], v[:0])[0],
                 id="scan_without_a_round"),
    pytest.param(lambda v: lax.scan(lambda c, a: (c + a[0].sum() + a[1], a[0]), v[0],
                                    (v[:, None][:, :0], v))[0], id="scan_over_empty_rows"),
    pytest.param(lambda v: lax.cond(v[0] > 0, lambda a, b: (a, b.sum()),
                                    lambda a, b: (a * 2, b.sum() + 2), v, v[:0]), id="cond"),
    pytest.param(lambda v: v[jnp.zeros(0, int)].sum() + v, id="indexing"),
    pytest.param(lambda v: jnp.sort(v[:0]).sum() + v, id="sort")])
def test_arrays_without_elements(f):
    compare(f, X)


# --- sorting, cumulative operations -----------------------------------------------------

MIXED = numpy.asarray([[3, -0.0, 0, numpy.nan, -1, 3, numpy.inf, -numpy.nan],
                       [0, 0, 0, 0, 0, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]] * 2, numpy.float32)
INTEGERS = STEPS[:, None] * numpy.asarray([3, -1, 7], numpy.int32)


@cases(
    case("sort", jnp.sort, MIXED),
    case("argsort", jnp.argsort, MIXED),
    case("argsort_descending", lambda v: jnp.argsort(v, descending=True), MIXED),
    case("integers", jnp.sort, INTEGERS),
    case("unsigned_integers", jnp.sort,
         generator.integers(0, 2 ** 32, (N, 5), dtype=numpy.uint32)),
    case("bfloat16", jnp.sort, MIXED.astype(jnp.bfloat16)),
    case("columns", lambda v: jnp.sort(v, axis=0), Y),
    case("two_keys", lambda v: lax.sort((jnp.round(v), v[::-1], v), num_keys=2), X),
    case("many", jnp.sort, numpy.round(normal(N, 300) * 9)),
    case("top_k", lambda v: lax.top_k(v, 5), MIXED),
    case("approx_max_k", lambda v: lax.approx_max_k(v, 2), X),
    case("median", jnp.median, X),
    case("unique", lambda v: jnp.unique(v, size=3),
         STEPS[:, None] * numpy.asarray([1, 0, 1], numpy.int32)),
    case("grad", jax.grad(lambda v: (jnp.sort(v) * jnp.arange(4)).sum()), X))
def test_sort(f, arguments):
    compare(f, *arguments)


@cases(
    case("cumsum", jnp.cumsum, Y),
    case("cumsum_of_rows", lambda v: jnp.cumsum(v, 1), Y),
    case("cumsum_of_integers", jnp.cumsum, INTEGERS),
    case("cumsum_backwards", lambda v: lax.cumsum(v, reverse=True), Y),
    case("cumprod", jnp.cumprod, X),
    case("cummax", lax.cummax, MIXED[:, :3]),
    case("cummin", lax.cummin, Y),
    case("cumlogsumexp", lax.cumlogsumexp, Y),
    case("associative_scan", lambda v: lax.associative_scan(jnp.multiply, v), X))
def test_cumulative(f, arguments):
    compare(f, *arguments)


def test_reduce_precision():
    compare(lambda v: (lax.reduce_precision(v, 5, 10), lax.reduce_precision(v, 3, 2)), MIXED * 7)


# --- linear algebra ---------------------------------------------------------------------

SQUARE = normal(N, 4, 4)
SYMMETRIC = SQUARE @ SQUARE.swapaxes(1, 2)
DEFINITE = SYMMETRIC + numpy.eye(4, dtype=numpy.float32)


@cases(
    case("cholesky", jnp.linalg.cholesky, DEFINITE),
    case("cholesky_of_a_negative_matrix", jnp.linalg.cholesky, -SYMMETRIC),
    case("solve_triangular", lambda a, b: [
        jax.scipy.linalg.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=lower)
        for lower in (False, True) for trans in (0, 1)], DEFINITE, Y[:, :4]),
    case("solve", jnp.linalg.solve, DEFINITE, X),
    case("inv", jnp.linalg.inv, DEFINITE),
    case("solve_in_vmap", jax.vmap(jnp.linalg.solve, in_axes=(None, 0)), DEFINITE, Y),
    case("slogdet", jnp.linalg.slogdet, SQUARE),
    case("tridiagonal_solve_of_a_singular_matrix", lambda d, b: lax.linalg.tridiagonal_solve(
        jnp.ones_like(d).at[0].set(0), d, jnp.ones_like(d).at[-1].set(0), b[:, None]),
        numpy.ones((N, 2), numpy.float32), Y[:, 0, :2]),
    case("lu", lambda a: jax.scipy.linalg.lu_factor(a[:3]), SQUARE),
    case("cho_solve", lambda a, b: jax.scipy.linalg.cho_solve(
        jax.scipy.linalg.cho_factor(a), b), DEFINITE, X),
    case("grad_of_a_normal_density", jax.grad(
        lambda a, v: jax.scipy.stats.multivariate_normal.logpdf(v, jnp.zeros(4), a)),
        DEFINITE, X),
    case("cg", lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: a @ v, b)[0], DEFINITE, X))
def test_linear_algebra(f, arguments):
    compare(f, *arguments)


# --- special functions ------------------------------------------------------------------

POSITIVE = numpy.abs(X) + numpy.float32(0.1)


@cases(
    case("gammainc", lambda a, v: (jax.scipy.special.gammainc(a, v),
                                   jax.scipy.special.gammaincc(a, v)), POSITIVE, POSITIVE * 2),
    case("grad_of_gammainc", jax.grad(
        lambda a, v: jax.scipy.special.gammainc(a, v).sum(), argnums=(0, 1)),
        POSITIVE, POSITIVE * 2),
    case("betainc", lambda a: jax.scipy.special.betainc(a, a + 1, a / (a + 1)), POSITIVE),
    case("bessel", lambda v: (jax.scipy.special.i0e(v), jax.scipy.special.i1e(v)), X * 20))
def test_special_function(f, arguments):
    compare(f, *arguments)
