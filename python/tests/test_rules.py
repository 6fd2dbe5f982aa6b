"""Rules that replace JAX primitives give the same results as JAX: shapes, types, edge values.

The expanded function runs only in JAX, without the compiler.
"""

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from jax.extend import core
from support.comparison import raises

from batch.core.errors import LoweringError
from batch.lowering.expansion import expand
from batch.lowering.rules import linalg, scatter, sort, special

pytestmark = pytest.mark.sampled(10)

rng = numpy.random.default_rng(5)


def normal(*shape):
    return rng.normal(size=shape).astype(numpy.float32)


def compare(f, *arguments, tolerance=1e-5, without=()):
    """Compares an expanded function with the function itself.

    without: primitives that the expanded function must not contain.
    """
    expanded = expand(jax.make_jaxpr(f)(*arguments))
    names = {equation.primitive.name for equation in expanded.jaxpr.eqns}
    assert not names & set(without)
    found = jax.jit(core.jaxpr_as_fun(expanded))(*jax.tree.leaves(arguments))
    wanted = jax.tree.leaves(jax.jit(f)(*arguments))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        numpy.testing.assert_allclose(
            numpy.asarray(a, numpy.float64), numpy.asarray(b, numpy.float64),
            rtol=tolerance, atol=tolerance)


# --- scatter ----------------------------------------------------------------------------

X, U = normal(5, 4), normal(3, 4)


@pytest.mark.parametrize("width", [4, 1])
@pytest.mark.parametrize("most", [None, 0], ids=["compared", "one_by_one"])
def test_scatter_of_rows(monkeypatch, most, width):
    if most is not None:
        monkeypatch.setattr(scatter, "_MOST_COMPARED", most)
    compare(lambda v, i, n: [getattr(v.at[i], name)(n, mode=mode)
                             for mode in ("clip", None)
                             for name in ("set", "add", "multiply", "min", "max")],
            X[:, :width], numpy.asarray([1, -1, 1, 7, -9]), normal(5, width),
            without=["scatter", "scatter-add"])


@pytest.mark.parametrize("places", [[1, -1, 1], [7, 0, -9], 2, 9],
                         ids=["one_twice", "outside", "one", "one_outside"])
@pytest.mark.parametrize("mode", ["clip", None])
@pytest.mark.parametrize("name", ["set", "add", "subtract", "multiply", "min", "max"])
def test_scatter(name, mode, places):
    places = numpy.asarray(places)

    def f(v, i, n):
        return getattr(v.at[i], name)(n, mode=mode)

    def all_ways(v, i, n):
        """Writes at constant indices, at computed indices, and in vmap."""
        return (f(v, places, n), f(v, i, n), jax.vmap(f)(
            jnp.stack([v, v + 1]), jnp.stack([i, i * 0]), jnp.stack([n, n * 2])))

    compare(all_ways, X, places, U if places.ndim else U[0], without=["scatter", "scatter-add"])


# --- sorting ----------------------------------------------------------------------------

def sorted_values(kind, count):
    """Returns values: either random ones, some of which are equal, or only edge values."""
    plain = normal(count)
    plain[::3] = plain[0]
    edges = numpy.resize(numpy.asarray([3, -0.0, 0, numpy.nan, -numpy.inf, -numpy.nan, 1],
                                       numpy.float32), count)
    return {"float32": plain, "edges": edges, "int32": (plain * 3).astype(int),
            "int8": (plain * 3).astype(numpy.int8), "bool": plain > 0,
            "uint32": (plain * 2 ** 30).astype(int).astype(numpy.uint32),
            "bfloat16": jnp.asarray(edges, jnp.bfloat16),
            "float16": edges.astype(numpy.float16)}[kind]


@pytest.mark.parametrize("most", [None, 1], ids=["ranks", "network"])
@pytest.mark.parametrize("kind", ["float32", "edges", "int32", "int8", "bool", "uint32",
                                  "bfloat16", "float16"])
@pytest.mark.parametrize("count", [2, 20])
def test_sort(monkeypatch, count, kind, most):
    if most is not None:
        monkeypatch.setattr(sort, "_MOST_RANKED", most)
    compare(lambda v: (jnp.sort(v), jnp.argsort(v), jnp.argsort(v, descending=True),
                       lax.top_k(v, count // 2) if kind != "bool" else ()),
            sorted_values(kind, count), without=["sort", "top_k"])


def test_sort_by_two_keys():
    compare(lambda v, w: lax.sort((v, w, v + w), num_keys=2), numpy.round(normal(9)), normal(9))


@pytest.mark.parametrize("axis", [0, 1])
def test_sort_along_axis(axis):
    compare(lambda v: jnp.sort(v, axis=axis), normal(3, 5))


# --- cumulative sums, precision ---------------------------------------------------------

@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("f", [jnp.cumsum, jnp.cumprod, lax.cummax, lax.cummin,
                               lax.cumlogsumexp], ids=lambda f: f.__name__)
def test_cumulative(f, count):
    compare(lambda v: (f(v, axis=0), f(v, axis=1)), normal(count, 3), tolerance=1e-4)


@pytest.mark.parametrize("f", [lax.cumsum, lax.cummax, lax.cumlogsumexp],
                         ids=lambda f: f.__name__)
def test_cumulative_backwards(f):
    compare(lambda v: f(v, reverse=True), normal(7))


NUMBERS = numpy.concatenate([
    rng.normal(size=50) * 10.0 ** rng.integers(-45, 39, 50),
    [numpy.nan, numpy.inf, -numpy.inf, 0, -0.0, 65504, 65519.9, 65520, 6e-5, 6.1e-5]])


@pytest.mark.parametrize("dtype, exponent, mantissa", [
    (dtype, exponent, mantissa)
    for exponent, mantissa in ((8, 7), (5, 10), (4, 3), (2, 1))
    for dtype in ("float32", "float16")
    if exponent <= jnp.finfo(dtype).nexp and mantissa <= jnp.finfo(dtype).nmant])
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_reduce_precision(dtype, exponent, mantissa):
    compare(lambda v: lax.reduce_precision(v, exponent, mantissa), NUMBERS.astype(dtype),
            tolerance=0)


# --- linear algebra ---------------------------------------------------------------------

SIZES = pytest.mark.parametrize("n, block", [(1, None), (5, None), (5, 2)])


@pytest.fixture
def matrices(monkeypatch, n, block):
    """A square matrix, a matrix of two columns, and a symmetric positive definite matrix."""
    if block:
        monkeypatch.setattr(linalg, "_BLOCK", block)
    a, b = normal(n, n), normal(n, 2)
    return a, b, a @ a.T + n * numpy.eye(n, dtype=numpy.float32)


@pytest.mark.parametrize("pivot", [0, -1])
@pytest.mark.parametrize("n, block, row", [(n, block, row)
                                           for n, block in ((1, None), (5, None), (5, 2))
                                           for row in range(n)])
def test_cholesky_with_invalid_pivot(matrices, n, row, pivot):
    broken = numpy.where(numpy.arange(n) == row, matrices[2] * 0, matrices[2])
    broken[row] = 0
    broken[row, row] = pivot
    compare(jnp.linalg.cholesky, broken)


@SIZES
def test_cholesky(matrices):
    compare(lambda s: (jnp.linalg.cholesky(s), jnp.linalg.cholesky(s, upper=True),
                       jnp.linalg.cholesky(-s), jnp.linalg.cholesky(jnp.stack([s, s + 1]))),
            matrices[2], without=["cholesky"])


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("lower", [False, True])
@SIZES
def test_triangular_solve(matrices, lower, trans, unit):
    _, b, s = matrices
    compare(lambda s, b: (
        jax.scipy.linalg.solve_triangular(s, b, lower=lower, trans=trans, unit_diagonal=unit),
        jax.scipy.linalg.solve_triangular(s, b[:, 0], lower=lower, trans=trans,
                                          unit_diagonal=unit),
        lax.linalg.triangular_solve(s, b.T, lower=lower, transpose_a=bool(trans),
                                    unit_diagonal=unit)),
        s, b, without=["triangular_solve"])


@SIZES
def test_solve_inv_det(matrices):
    a, b, _ = matrices
    compare(lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.slogdet(a),
                          jax.grad(jnp.linalg.det)(a)), a, b, tolerance=1e-3)


@SIZES
def test_lu(matrices):
    compare(lambda a: (lax.linalg.lu(a), lax.linalg.lu(a[:, :2]), lax.linalg.lu(a[:2]),
                       lax.linalg.lu(a * 0)), matrices[0], without=["lu"])


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)], ids=["one", "several"])
@pytest.mark.parametrize("name", ["inv", "cholesky", "slogdet", "solve", "triangular_solve"])
def test_float64(name, shape):
    """With 64-bit types, indices also have 64 bits."""
    f = {"inv": jnp.linalg.inv, "cholesky": jnp.linalg.cholesky, "slogdet": jnp.linalg.slogdet,
         "solve": lambda v: jnp.linalg.solve(v, v[..., :1]),
         "triangular_solve": lambda v: jax.scipy.linalg.solve_triangular(
             v, v[..., :2], lower=True)}[name]
    with jax.enable_x64(True):
        a = normal(*shape).astype(float)
        compare(f, a @ a.swapaxes(-1, -2) + 3 * numpy.eye(3), tolerance=1e-12)


def test_cholesky_with_infinite_pivot():
    """An infinite pivot must not lead to a finite factor."""
    infinite = jnp.diag(jnp.asarray([numpy.inf, 1, 1], jnp.float32))
    expanded = expand(jax.make_jaxpr(jnp.linalg.cholesky)(infinite))
    found = jax.jit(core.jaxpr_as_fun(expanded))(infinite)[0]
    assert not jnp.isfinite(found).all()
    assert jnp.isnan(found[2, 2])


# --- branches ---------------------------------------------------------------------------

def test_constant_branch():
    compare(lambda v: (
        lax.switch(jnp.int32(1), [jnp.sin, jnp.cos, jnp.tan], v),
        lax.switch(jnp.int32(9), [jnp.sin, jnp.cos, jnp.tan], v),
        lax.switch(jnp.int32(-9), [jnp.sin, jnp.cos, jnp.tan], v),
        lax.platform_dependent(v, cpu=lambda v: v + 1, default=lambda v: v - 1),
        jax.grad(lambda v: jnp.log(jnp.diagonal(v)).sum())(jnp.abs(v))),
        normal(4, 4), without=["cond", "scatter-add"])


# --- special functions ------------------------------------------------------------------

ALPHAS = numpy.asarray([1e-2, .1, .5, 1, 1.5, 2, 3, 7.3, 20, 100, 300, -1, numpy.nan])
POINTS = numpy.asarray([0, 1e-4, .1, .7, 1, 1.3, 2, 6, 10, 25, 90, 310, numpy.inf, -1,
                        numpy.nan])
SHAPES = numpy.asarray([.01, .3, 1, 2.5, 10, 40, 0, -1])
SHARES = numpy.asarray([0, 1e-3, .2, .5, .77, .99, 1, 1.1, -.1, numpy.nan])
LINE = numpy.concatenate([numpy.linspace(-40, 40, 161), [0, 1e-8, 300, 1e4, numpy.nan]])


def grid(dtype, *values):
    return [v.reshape(-1).astype(dtype) for v in numpy.meshgrid(*values)]


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    with jax.enable_x64(request.param == "float64"):
        yield request.param


def rounding(dtype):
    return 3e-5 if dtype == "float32" else 1e-10


@pytest.mark.parametrize("name", ["igamma", "igammac", "igamma_grad_a", "random_gamma_grad"])
def test_gamma(name, dtype):
    compare(getattr(lax, name), *grid(dtype, ALPHAS, POINTS), tolerance=rounding(dtype),
            without=[name])


def test_betainc(dtype):
    compare(lax.betainc, *grid(dtype, SHAPES, SHAPES, SHARES), tolerance=rounding(dtype),
            without=["regularized_incomplete_beta"])


def test_i0e(dtype):
    compare(lax.bessel_i0e, LINE.astype(dtype), tolerance=rounding(dtype),
            without=["bessel_i0e"])


FAR_ALPHAS = numpy.asarray([2048.0, 20480, 131072, 1048576, 1048576, 1048576])
FAR_POINTS = numpy.asarray([2080.0, 20480, 131072, 1048576, 1049600, 1047552])


@pytest.mark.parametrize("name, arguments, single, double", [
    ("igamma", (FAR_ALPHAS, FAR_POINTS), 1e-4, 1e-8),
    ("igammac", (FAR_ALPHAS, FAR_POINTS), 1e-4, 1e-8),
    ("random_gamma_grad", (FAR_ALPHAS, FAR_POINTS), 1e-5, 1e-8),
    ("igamma_grad_a", (FAR_ALPHAS, FAR_POINTS), 2e-3, 1e-7),
    ("bessel_i0e", (numpy.asarray([6e37, 3e38, 1e30]),), 1e-6, 1e-14),
], ids=lambda value: value if isinstance(value, str) else "")
def test_large_arguments(name, arguments, single, double, dtype):
    """For these arguments, a series would need thousands of terms, and squares would overflow.

    The reference is JAX in float64, whose own results are right.
    """
    f = getattr(lax, name)
    given = [v.astype(dtype) for v in arguments]
    with jax.enable_x64(True):
        wanted = numpy.asarray(jax.jit(f)(*arguments))
        if name == "random_gamma_grad":
            # Call the rule directly, because some versions of JAX lack the primitive.
            run = special._random_gamma_grad
        else:
            expanded = core.jaxpr_as_fun(expand(jax.make_jaxpr(f)(*given)))
            run = lambda *values: expanded(*values)[0]  # noqa: E731
        found = numpy.asarray(jax.jit(run)(*given))
    assert found.dtype == dtype
    numpy.testing.assert_allclose(found, wanted, atol=0,
                                  rtol=single if dtype == "float32" else double)


def test_igamma_of_bfloat16():
    compare(lax.igamma, jnp.asarray([1, 2], jnp.bfloat16), jnp.asarray([1, 3], jnp.bfloat16),
            tolerance=1e-2)


def test_perturbed_tridiagonal_solve():
    # Call the rule directly, because some versions of JAX lack the option.
    with raises(LoweringError, "tridiagonal_solve with perturb_singular is not supported"):
        linalg._tridiagonal_solve(*normal(4, 3), perturb_singular=True)
