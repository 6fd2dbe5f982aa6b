#!/usr/bin/env python3
"""check_rules.py: what stands in place of JAX's primitives computes the same, on JAX
alone: shapes, types and values at the edges, more than check_vmap.py has time for."""

import os
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax import lax  # noqa: E402
from jax.extend import core  # noqa: E402

import batchtest  # noqa: E402
from batch import _expand, _linear, _lowering, _scatter  # noqa: E402, F401
from batch import _sort, _special  # noqa: E402, F401

checks = batchtest.Checks("rules")
warnings.filterwarnings("ignore")
generator = numpy.random.default_rng(5)


def normal(*shape):
    return generator.normal(size=shape).astype(numpy.float32)


def compare(what, f, *arguments, tolerance=1e-5, without=()):
    """Compares an expanded jaxpr with the function; `without`: primitives that it must
    not have any more."""
    try:
        expanded = _expand.expand(jax.make_jaxpr(f)(*arguments))
        names = {equation.primitive.name for equation in expanded.jaxpr.eqns}
        found = jax.jit(core.jaxpr_as_fun(expanded))(*jax.tree.leaves(arguments))
    except Exception as error:
        checks.expect(what, False, repr(error))
        return
    wanted = jax.tree.leaves(jax.jit(f)(*arguments))
    checks.expect(what, not names & set(without) and len(found) == len(wanted) and all(
        a.dtype == b.dtype and a.shape == b.shape and numpy.allclose(
            numpy.asarray(a, numpy.float64), numpy.asarray(b, numpy.float64),
            rtol=tolerance, atol=tolerance, equal_nan=True)
        for a, b in zip(found, wanted)), (found, wanted))


# --- scatter ----------------------------------------------------------------------------

x, u = normal(5, 4), normal(3, 4)
most = _scatter._MOST_COMPARED
for way, _scatter._MOST_COMPARED in ("compared", most), ("one by one", 0):
    for width in 4, 1:
        compare("scatter, rows of %d, %s" % (width, way), lambda v, i, n: [
            getattr(v.at[i], name)(n, mode=mode) for mode in ("clip", None)
            for name in ("set", "add", "multiply", "min", "max")],
                x[:, :width], numpy.asarray([1, -1, 1, 7, -9]), normal(5, width),
                without=["scatter", "scatter-add"])
_scatter._MOST_COMPARED = most
for name in "set", "add", "subtract", "multiply", "min", "max":
    for mode in "clip", None:
        for what, places in [("one twice", [1, -1, 1]), ("outside", [7, 0, -9]),
                             ("one", 2), ("one outside", 9)]:
            places = numpy.asarray(places)

            def f(v, i, n):
                return getattr(v.at[i], name)(n, mode=mode)

            def all_ways(v, i, n):
                """At places that are known, that are not, and in vmap."""
                return (f(v, places, n), f(v, i, n), jax.vmap(f)(
                    jnp.stack([v, v + 1]), jnp.stack([i, i * 0]), jnp.stack([n, n * 2])))

            compare("scatter, %s, mode %s, %s" % (name, mode, what), all_ways, x, places,
                    u if places.ndim else u[0], without=["scatter", "scatter-add"])

# --- sorting ----------------------------------------------------------------------------

most = _sort._MOST_RANKED
for count in 2, 20:
    plain = normal(count)
    plain[::3] = plain[0]
    edges = numpy.resize(numpy.asarray([3, -0.0, 0, numpy.nan, -numpy.inf, -numpy.nan, 1],
                                       numpy.float32), count)
    for kind, v in [("float32", plain), ("edges", edges), ("int32", (plain * 3).astype(int)),
                    ("int8", (plain * 3).astype(numpy.int8)), ("bool", plain > 0),
                    ("uint32", (plain * 2 ** 30).astype(int).astype(numpy.uint32)),
                    ("bfloat16", jnp.asarray(edges, jnp.bfloat16)),
                    ("float16", edges.astype(numpy.float16))]:
        for way, _sort._MOST_RANKED in ("ranks", most), ("a network", 1):
            title = "%d of %s by %s" % (count, kind, way)
            compare("sort " + title, lambda v: (
                jnp.sort(v), jnp.argsort(v), jnp.argsort(v, descending=True),
                lax.top_k(v, count // 2) if kind != "bool" else ()), v,
                    without=["sort", "top_k"])
_sort._MOST_RANKED = most
compare("sort by two keys", lambda v, w: lax.sort((v, w, v + w), num_keys=2),
        numpy.round(normal(9)), normal(9))
for axis in 0, 1:
    compare("sort axis %d" % axis, lambda v: jnp.sort(v, axis=axis), normal(3, 5))

# --- sums of what comes before, precision -----------------------------------------------

for f in jnp.cumsum, jnp.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp:
    for count in 1, 7:
        compare("%s of %d" % (f.__name__, count), lambda v: (f(v, axis=0), f(v, axis=1)),
                normal(count, 3), tolerance=1e-4)
for f in lax.cumsum, lax.cummax, lax.cumlogsumexp:
    compare(f.__name__ + " backwards", lambda v: f(v, reverse=True), normal(7))
numbers = numpy.concatenate([
    generator.normal(size=50) * 10.0 ** generator.integers(-45, 39, 50),
    [numpy.nan, numpy.inf, -numpy.inf, 0, -0.0, 65504, 65519.9, 65520, 6e-5, 6.1e-5]])
for exponent, mantissa in (8, 7), (5, 10), (4, 3), (2, 1):
    for dtype in numpy.float32, numpy.float16:
        if exponent <= jnp.finfo(dtype).nexp and mantissa <= jnp.finfo(dtype).nmant:
            compare("reduce_precision to %d and %d bits of %s" % (
                exponent, mantissa, dtype.__name__), lambda v: lax.reduce_precision(
                    v, exponent, mantissa), numbers.astype(dtype), tolerance=0)

# --- linear algebra ---------------------------------------------------------------------

most = _linear._BLOCK
for n, _linear._BLOCK in (1, most), (5, most), (5, 2):
    a, b = normal(n, n), normal(n, 2)
    s = a @ a.T + n * numpy.eye(n, dtype=numpy.float32)
    title = ", %d by %d in blocks of %d" % (n, n, _linear._BLOCK)
    for i in range(n):
        for pivot in 0, -1:
            broken = numpy.where(numpy.arange(n) == i, s * 0, s)
            broken[i] = 0
            broken[i, i] = pivot
            compare("cholesky%s, pivot %d is %s" % (title, i, pivot), jnp.linalg.cholesky,
                    broken)
    compare("cholesky" + title, lambda s: (
        jnp.linalg.cholesky(s), jnp.linalg.cholesky(
            s, upper=True), jnp.linalg.cholesky(-s),
        jnp.linalg.cholesky(jnp.stack([s, s + 1]))), s, without=["cholesky"])
    for lower in False, True:
        for trans in 0, 1:
            for unit in False, True:
                compare("triangular_solve%s, lower %s, trans %d, unit %s" % (
                    title, lower, trans, unit), lambda s, b: (
                        jax.scipy.linalg.solve_triangular(
                            s, b, lower=lower, trans=trans, unit_diagonal=unit),
                        jax.scipy.linalg.solve_triangular(
                            s, b[:, 0], lower=lower, trans=trans, unit_diagonal=unit),
                        lax.linalg.triangular_solve(
                            s, b.T, lower=lower, transpose_a=bool(trans),
                            unit_diagonal=unit)), s, b, without=["triangular_solve"])
    compare("solve, inv, det" + title, lambda a, b: (
        jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.slogdet(a),
        jax.grad(jnp.linalg.det)(a)), a, b, tolerance=1e-3)
    compare("lu" + title, lambda a: (lax.linalg.lu(a), lax.linalg.lu(a[:, :2]),
                                     lax.linalg.lu(a[:2]), lax.linalg.lu(a * 0)), a,
            without=["lu"])
_linear._BLOCK = most

# --- branches ---------------------------------------------------------------------------

compare("a branch that is known", lambda v: (
    lax.switch(jnp.int32(1), [jnp.sin, jnp.cos, jnp.tan], v),
    lax.switch(jnp.int32(9), [jnp.sin, jnp.cos, jnp.tan], v),
    lax.switch(jnp.int32(-9), [jnp.sin, jnp.cos, jnp.tan], v),
    lax.platform_dependent(v, cpu=lambda v: v + 1, default=lambda v: v - 1),
    jax.grad(lambda v: jnp.log(jnp.diagonal(v)).sum())(jnp.abs(v))),
    normal(4, 4), without=["cond", "scatter-add"])

# Indices of 64 bits, and systems beside each other.
with jax.enable_x64(True):
    several = normal(2, 3, 3).astype(float)
    positive = several @ several.swapaxes(1, 2) + 3 * numpy.eye(3)
    for name, f in (("inv", jnp.linalg.inv), ("cholesky", jnp.linalg.cholesky),
                    ("slogdet", jnp.linalg.slogdet),
                    ("solve", lambda v: jnp.linalg.solve(v, v[..., :1])),
                    ("triangular_solve", lambda v: jax.scipy.linalg.solve_triangular(
                        v, v[..., :2], lower=True))):
        compare("float64: " + name, f, positive[0], tolerance=1e-12)
        compare("float64: %s of several" % name, f, positive, tolerance=1e-12)
infinite = jnp.diag(jnp.asarray([numpy.inf, 1, 1], jnp.float32))
found = jax.jit(core.jaxpr_as_fun(_expand.expand(jax.make_jaxpr(
    jnp.linalg.cholesky)(infinite))))(infinite)[0]
checks.expect("a factor with an infinite pivot does not pass for a finite one",
              not bool(jnp.isfinite(found).all()) and bool(jnp.isnan(found[2, 2])))

# --- special functions ------------------------------------------------------------------

alphas = numpy.asarray([1e-2, .1, .5, 1, 1.5, 2, 3, 7.3, 20, 100, 300, -1, numpy.nan])
points = numpy.asarray([0, 1e-4, .1, .7, 1, 1.3, 2, 6, 10, 25, 90, 310, numpy.inf, -1,
                        numpy.nan])
shapes = numpy.asarray([.01, .3, 1, 2.5, 10, 40, 0, -1])
shares = numpy.asarray([0, 1e-3, .2, .5, .77, .99, 1, 1.1, -.1, numpy.nan])
line = numpy.concatenate([numpy.linspace(-40, 40, 161), [0, 1e-8, 300, 1e4, numpy.nan]])
for dtype, tolerance in (numpy.float32, 3e-5), (numpy.float64, 1e-10):
    with jax.enable_x64(dtype == numpy.float64):
        a, b = (v.reshape(-1).astype(dtype) for v in numpy.meshgrid(alphas, points))
        for name in "igamma", "igammac", "igamma_grad_a", "random_gamma_grad":
            compare("%s, %s" % (name, dtype.__name__), getattr(lax, name), a, b,
                    tolerance=tolerance, without=[name])
        a, b, c = (v.reshape(-1).astype(dtype)
                   for v in numpy.meshgrid(shapes, shapes, shares))
        compare("betainc, %s" % dtype.__name__, lax.betainc, a, b, c, tolerance=tolerance,
                without=["regularized_incomplete_beta"])
        compare("i0e, %s" % dtype.__name__, lax.bessel_i0e, line.astype(dtype),
                tolerance=tolerance, without=["bessel_i0e"])
# Large arguments, for which series take thousands of terms and squares overflow. JAX's own
# results are right in float64.
with jax.enable_x64(True):
    def far(what, f, *arguments, single, double, ours=None):
        """`ours`: the rule itself, if some versions of JAX lack the primitive."""
        wanted = numpy.asarray(jax.jit(f)(*arguments))
        for dtype, tolerance in (numpy.float32, single), (numpy.float64, double):
            given = [v.astype(dtype) for v in arguments]
            expanded = core.jaxpr_as_fun(_expand.expand(jax.make_jaxpr(f)(*given)))
            found = jax.jit(ours or (lambda *v, f=expanded: f(*v)[0]))(*given)
            found = numpy.asarray(found)
            checks.expect("%s far out, %s" % (what, dtype.__name__), found.dtype == dtype and
                          numpy.allclose(found, wanted, rtol=tolerance, atol=0),
                          (found, wanted))

    a = numpy.asarray([2048.0, 20480, 131072, 1048576, 1048576, 1048576])
    x = numpy.asarray([2080.0, 20480, 131072, 1048576, 1049600, 1047552])
    for name in "igamma", "igammac":
        far(name, getattr(lax, name), a, x, single=1e-4, double=1e-8)
    far("random_gamma_grad", lax.random_gamma_grad, a, x, single=1e-5, double=1e-8,
        ours=_special._random_gamma_grad)
    far("igamma_grad_a", lax.igamma_grad_a, a, x, single=2e-3, double=1e-7)
    line = numpy.asarray([6e37, 3e38, 1e30])
    far("i0e", lax.bessel_i0e, line, single=1e-6, double=1e-14)
compare("igamma of bfloat16", lax.igamma, jnp.asarray([1, 2], jnp.bfloat16),
        jnp.asarray([1, 3], jnp.bfloat16), tolerance=1e-2)
checks.exit()
