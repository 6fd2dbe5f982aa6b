#!/usr/bin/env python3
"""check_vmap.py: batch.vmap gives what jax.vmap gives, for one compilation; lanes do not
depend on each other; what it does not compile is an error that says where."""

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

import batchtest  # noqa: E402
import comparison  # noqa: E402

checks = batchtest.Checks("batch.vmap")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")
warnings.filterwarnings("ignore", category=UserWarning)

import batch  # noqa: E402
from batch import _compiler  # noqa: E402

generator = numpy.random.default_rng(3)


def normal(*shape):
    return jnp.asarray(generator.normal(size=shape), jnp.float32)


def close(found, wanted, tolerance=None):
    return comparison.difference(found, wanted, tolerance) is None


def compare(what, f, *arguments, **options):
    """Compares with jax.vmap, twice: the second call compiles nothing."""
    wanted = jax.vmap(f, **options)(*arguments)
    mapped = batch.vmap(f, **options)
    for call in "", ", again":
        try:
            found = mapped(*arguments)
        except Exception as error:
            checks.expect(what + call, False, repr(error))
            return
        difference = comparison.difference(found, wanted)
        checks.expect(what + call, difference is None, difference)


refused = checks.refused

# --- control ---------------------------------------------------------------------------

N = 6
x, y = normal(N, 4), normal(N, 5, 4)
steps = jnp.asarray([0, 3, 17, 1, 40, 2], jnp.int32)
W = normal(4, 4) / 4


def newton(value):
    return lax.while_loop(lambda s: jnp.abs(s * s - value) > 1e-4,
                          lambda s: (s + value / s) / 2, value)


def nested(row, count):
    def body(state):
        row, i = state
        row, _ = lax.scan(lambda c, a: (jnp.tanh(c @ W + a), c * a), row,
                          jnp.stack([row, row + 1]))
        row = lax.cond(row.sum() > 0, lambda v: v * 0.5, lambda v: v + 1.0, row)
        return row, i + 1
    return lax.while_loop(lambda s: s[1] < count, body, (row, jnp.int32(0)))


compare("while", newton, jnp.abs(normal(N)) + 1)
compare("while, scan, cond", nested, x, steps)
compare("scan", lambda v: lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(4), v), y)
compare("scan backwards", lambda v: lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(4), v,
                                             reverse=True), y)
compare("scan without results", lambda v: lax.scan(lambda c, a: (c + a, None), jnp.zeros(4),
                                                   v)[0], y)
compare("scan of a number of rounds", lambda v: lax.scan(lambda c, _: (c * 2, c.sum()), v,
                                                         length=3), x)
compare("fori_loop", lambda v: lax.fori_loop(0, 5, lambda i, c: c + v[i], jnp.zeros(4)), y)
compare("fori_loop to a number that differs", lambda v, n: lax.fori_loop(
    0, n, lambda i, c: jnp.sin(c + i), v), x, steps)
compare("cond", lambda v: lax.cond(v.sum() > 0, lambda v: v * 2, lambda v: -v, v), x)
compare("cond of a number", lambda k, v: lax.cond(k, lambda: v, lambda: -v),
        jnp.arange(N) % 3, x)
compare("switch", lambda k, v: lax.switch(k, [lambda v: v, lambda v: -v, lambda v: v * 2],
                                          v), jnp.asarray([-1, 0, 1, 2, 3, 1]), x)
compare("map", lambda v: lax.map(lambda a: a * 2 + 1, v), y)
compare("a derivative of scan", jax.grad(lambda v: lax.scan(
    lambda c, a: (jnp.tanh(c + a), c), jnp.float32(0), v)[0]), x)
compare("a derivative of a condition", jax.grad(lambda v: lax.cond(
    v.sum() > 0, lambda v: (v ** 2).sum(), lambda v: v.prod(), v)), x)
compare("two derivatives", jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v[::-1])), x)
compare("jit inside", jax.jit(newton), jnp.abs(normal(N)) + 1)
compare("jit around a part", lambda v: jax.jit(newton)(jnp.abs(v).sum()) + 1, x)
compare("checkpoint", jax.grad(lambda v: jax.checkpoint(lambda v: jnp.sin(v).sum())(v)), x)
compare("custom_jvp", lambda v: jax.nn.relu(v) + jax.nn.logsumexp(v), x)
compare("vmap inside", lambda v: jax.vmap(newton)(jnp.abs(v) + 1), x)
compare("vmap inside, by columns", lambda v: jax.vmap(
    lambda c: lax.scan(lambda s, a: (s + a, s), 0., c)[1], in_axes=1, out_axes=1)(v), y)
checks.expect("batch.vmap inside", close(
    batch.vmap(lambda v: batch.vmap(newton)(jnp.abs(v) + 1))(x),
    jax.vmap(lambda v: jax.vmap(newton)(jnp.abs(v) + 1))(x)))

# --- straight lines ---------------------------------------------------------------------

for what, f, *arguments in [
        ("softmax", jax.nn.softmax, x), ("a row", lambda v, i: v[i], y, steps % 5),
        ("rows", lambda v, i: v[i], y, jnp.arange(3 * N).reshape(N, 3) % 5),
        ("dynamic_update_slice", lambda v, i, r: lax.dynamic_update_slice(
            v, r[None], (i, jnp.zeros_like(i))), y, steps % 5, x),
        ("einsum", lambda v: jnp.einsum("ij,kj->ik", v, v), y),
        ("attention", lambda q: jax.nn.dot_product_attention(
            q.reshape(1, 5, 2, 2), q.reshape(1, 5, 2, 2), q.reshape(1, 5, 2, 2)), y),
        ("pad", lambda v: jnp.pad(v, ((1, 1), (0, 2))), y), ("roll", jnp.roll, x, steps),
        ("where", lambda v: jnp.where(v > 0, v, 0), x), ("erf", jax.scipy.special.erf, x),
        ("norm", lambda v: (v - v.mean()) / jnp.sqrt(v.var() + 1e-5), y),
        ("no computation", lambda v: v, x), ("a constant", lambda v: jnp.arange(3), x),
        ("a number", lambda v: 2.0, x)]:
    compare(what, f, *arguments)

# --- scatter ----------------------------------------------------------------------------

rows = jnp.asarray(generator.integers(-5, 5, (N, 3)), jnp.int32)  # none twice, or more
outside = jnp.asarray([[0, 7, 2], [-9, 1, 1], [5, 5, 5]] * 2, jnp.int32)
values = normal(N, 3, 4)
for name in "set", "add", "subtract", "multiply", "min", "max":
    for what, places, options in [("", rows, {}), (" outside", outside, {}),
                                  (" clipped", outside, {"mode": "clip"})]:
        compare("scatter: %s%s" % (name, what), lambda v, i, u: getattr(v.at[i], name)(
            u, **options), y, places, values)
    compare("scatter: %s of one row" % name,
            lambda v, i, u: getattr(v.at[i], name)(u), y, outside[:, 0], values[:, 0])
    known = numpy.asarray(outside).reshape(-1) % 7 - 2
    compare("scatter: %s at known places" % name, lambda v, u: getattr(v.at[known], name)(
        jnp.concatenate([u] * 6)), y, values)
    compare("scatter: %s in vmap" % name, jax.vmap(
        lambda v, i, u: getattr(v.at[i], name)(u), in_axes=(1, 0, 0)), y, x.astype(int), x)
large = normal(N, 50, 60)
for what, f, *arguments in [
        ("one by one", lambda v, i, u: v.at[i].add(u), large, rows, normal(N, 3, 60)),
        ("one by one, set", lambda v, i, u: v.at[i].set(u), large, outside,
         normal(N, 3, 60)),
        ("windows", lambda v, i, u: lax.dynamic_update_slice(
            v, u, (i, jnp.ones_like(i))), y, steps,
         normal(N, 2, 2)),
        ("windows in vmap", jax.vmap(lambda v, i: lax.dynamic_update_slice(v, v[:2] + 1,
                                                                           (i,)), (1, 0)),
         y, steps[:, None] + jnp.arange(4)),
        ("two places of a row", lambda v, i: v.at[i, i - 1].add(1), y, rows),
        ("apply", lambda v, i: v.at[i].apply(jnp.sin), y, outside),
        ("unsigned", lambda v, i: v.at[i].set(7), y, outside.astype(jnp.uint32)),
        ("booleans", lambda v, i: (v > 0).at[i].set(True), y, outside),
        ("a derivative of indexing", lambda v, i: jax.grad(lambda v: (v[i] ** 2).sum())(v),
         y, rows),
        ("in a loop", lambda v, n: lax.fori_loop(0, n, lambda k, c: c.at[k % 5].add(
            c[k % 3]), v), y, steps),
        ("known places in a loop", lambda v, n: lax.fori_loop(
            0, n, lambda k, c: c.at[known[:3]].add(v[k % 3]), v), y, steps),
        ("nowhere", lambda v: v.at[numpy.asarray([9, 8])].add(1), y),
        ("no update", lambda v: v.at[numpy.zeros(0, int)].add(v[:0]), y),
        ("segment_sum", lambda v, i: jax.ops.segment_sum(v, i, 4), values, rows)]:
    compare("scatter: " + what, f, *arguments)
groups = generator.integers(0, 9, 100)
groups[:60] = 3  # one group has most
compare("scatter: groups, some of which are large", jax.grad(
    lambda v: (v.reshape(-1)[groups] ** 2).sum()), y)

# --- arrays without elements ------------------------------------------------------------

for what, f in [
        ("reductions", lambda v: (v[:0].sum(), v[:0].prod(), v[:0].max(initial=3),
                                  jnp.all(v[:0] > 0))),
        ("a product", lambda v: jnp.zeros((3, 0)) @ jnp.zeros((0, 2)) + v[0]),
        ("concatenate, pad", lambda v: (jnp.concatenate([v[:0], v]), jnp.pad(v[:0], (2, 1)))),
        ("a loop carries one", lambda v: lax.fori_loop(
            0, 3, lambda i, c: (c[0] + 1, c[1] * 2), (v, v[:0]))[0]),
        ("scan without a round", lambda v: lax.scan(lambda c, a: (c + a, a), v[0], v[:0])[0]),
        ("scan over empty rows", lambda v: lax.scan(
            lambda c, a: (c + a[0].sum() + a[1], a[0]), v[0], (v[:, None][:, :0], v))[0]),
        ("a branch", lambda v: lax.cond(v[0] > 0, lambda a, b: (a, b.sum()),
                                        lambda a, b: (a * 2, b.sum() + 2), v, v[:0])),
        ("indexing", lambda v: v[jnp.zeros(0, int)].sum() + v), ("sort", lambda v: (
            jnp.sort(v[:0]).sum() + v))]:
    compare("arrays without elements: " + what, f, x)

# --- sorting, sums of what comes before -------------------------------------------------

mixed = jnp.asarray([[3, -0.0, 0, jnp.nan, -1, 3, jnp.inf, -jnp.nan],
                     [0, 0, 0, 0, 0, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]] * 2, jnp.float32)
for what, f, argument in [
        ("sort", jnp.sort, mixed), ("argsort", jnp.argsort, mixed),
        ("argsort, descending", lambda v: jnp.argsort(v, descending=True), mixed),
        ("sort integers", jnp.sort, steps[:, None] * jnp.asarray([3, -1, 7])),
        ("sort unsigned integers", jnp.sort, jnp.asarray(
            generator.integers(0, 2 ** 32, (N, 5), dtype=numpy.uint32))),
        ("sort bfloat16", jnp.sort, mixed.astype(jnp.bfloat16)),
        ("sort columns", lambda v: jnp.sort(v, axis=0), y),
        ("sort by two keys", lambda v: lax.sort((jnp.round(v), v[::-1], v), num_keys=2),
         x),
        ("sort many", jnp.sort, jnp.round(normal(N, 300) * 9)),
        ("top_k", lambda v: lax.top_k(v, 5), mixed),
        ("approx_max_k", lambda v: lax.approx_max_k(v, 2), x),
        ("median", jnp.median, x), ("unique", lambda v: jnp.unique(v, size=3), steps[:, None]
                                    * jnp.asarray([1, 0, 1])),
        ("a derivative of sort", jax.grad(lambda v: (jnp.sort(v) * jnp.arange(4)).sum()), x),
        ("cumsum", jnp.cumsum, y), ("cumsum of rows", lambda v: jnp.cumsum(v, 1), y),
        ("cumsum of integers", jnp.cumsum, steps[:, None] * jnp.asarray([3, -1, 7])),
        ("cumsum backwards", lambda v: lax.cumsum(v, reverse=True), y),
        ("cumprod", jnp.cumprod, x), ("cummax", lax.cummax, mixed[:, :3]),
        ("cummin", lax.cummin, y), ("cumlogsumexp", lax.cumlogsumexp, y),
        ("associative_scan", lambda v: lax.associative_scan(jnp.multiply, v), x),
        ("reduce_precision", lambda v: (lax.reduce_precision(v, 5, 10),
                                        lax.reduce_precision(v, 3, 2)), mixed * 7)]:
    compare(what, f, argument)

# --- linear algebra ---------------------------------------------------------------------

square = normal(N, 4, 4)
definite = square @ square.mT + jnp.eye(4, dtype="float32")
for what, f, *arguments in [
        ("cholesky", jnp.linalg.cholesky, definite),
        ("cholesky of what is not definite", jnp.linalg.cholesky, square @ -square.mT),
        ("solve_triangular", lambda a, b: [jax.scipy.linalg.solve_triangular(
            a, b, lower=lower, trans=trans, unit_diagonal=lower)
            for lower in (False, True) for trans in (0, 1)], definite, y[:, :4]),
        ("solve", jnp.linalg.solve, definite, x), ("inv", jnp.linalg.inv, definite),
        ("solve in vmap", jax.vmap(jnp.linalg.solve, in_axes=(None, 0)), definite, y),
        ("slogdet", jnp.linalg.slogdet, square),
        ("tridiagonal_solve without a solution", lambda d, b: lax.linalg.tridiagonal_solve(
            jnp.ones_like(d).at[0].set(0), d, jnp.ones_like(d).at[-1].set(0), b[:, None]),
         jnp.ones((N, 2), y.dtype), y[:, 0, :2]),
        ("lu", lambda a: jax.scipy.linalg.lu_factor(a[:3]), square),
        ("cho_solve", lambda a, b: jax.scipy.linalg.cho_solve(
            jax.scipy.linalg.cho_factor(a), b), definite, x),
        ("a derivative of a normal density", jax.grad(
            lambda a, v: jax.scipy.stats.multivariate_normal.logpdf(v, jnp.zeros(4), a)),
         definite, x),
        ("cg", lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: a @ v, b)[0], definite, x)]:
    compare(what, f, *arguments)

# --- special functions ------------------------------------------------------------------

positive = jnp.abs(x) + 0.1
for what, f, *arguments in [
        ("gammainc", lambda a, v: (jax.scipy.special.gammainc(a, v),
                                   jax.scipy.special.gammaincc(a, v)), positive, positive * 2),
        ("derivatives of gammainc", jax.grad(lambda a, v: jax.scipy.special.gammainc(
            a, v).sum(), argnums=(0, 1)), positive, positive * 2),
        ("betainc", lambda a: jax.scipy.special.betainc(a, a + 1, a / (a + 1)), positive),
        ("bessel functions", lambda v: (jax.scipy.special.i0e(v), jax.scipy.special.i1e(v)),
         x * 20)]:
    compare(what, f, *arguments)
compare("a derivative of a sample", lambda k, a: jax.grad(
    lambda a: jax.random.gamma(k, a))(a), jax.random.split(jax.random.key(5), N), steps + 0.5)

# --- random numbers ---------------------------------------------------------------------

raw = jax.random.split(jax.random.PRNGKey(3), N)
keys = jax.random.split(jax.random.key(3), N)


def bits(key):
    """Equal bits from the same key, however it is come by."""
    first, second, third = jax.random.split(key, 3)
    return (jax.random.bits(first, (3,)), jax.random.bits(second, (2,), jnp.uint8),
            jax.random.uniform(jax.random.fold_in(third, 5), (2, 2)),
            jax.random.categorical(third, jnp.arange(4.0)),
            jax.random.bernoulli(second, 0.3, (4,)))


def as_words(f):
    """A function whose results may be keys, with their words."""
    return lambda *a: jax.tree.map(lambda v: jax.random.key_data(v) if jax.dtypes.issubdtype(
        v.dtype, jax.dtypes.prng_key) else v, f(*a))


def walk(key, rounds):
    return lax.while_loop(lambda s: s[1] < rounds,
                          lambda s: (jax.random.fold_in(s[0], s[1]), s[1] + 1),
                          (key, jnp.int32(0)))[0]


for what, f, *arguments in [
        ("words", bits, raw), ("a key", bits, keys),
        ("normal", lambda k: jax.random.normal(k, (3,)), keys),
        ("16 bits", lambda k: jax.random.bits(k, (2,), jnp.uint16), keys),
        ("gamma", lambda k: jax.random.gamma(k, jnp.asarray([0.5, 2.0])), keys),
        ("permutation", lambda k: jax.random.permutation(k, 6), keys),
        ("poisson", lambda k: jax.random.poisson(k, 3.5), keys),
        ("a seed", lambda n: jax.random.bits(jax.random.key(n)), steps),
        ("keys of a key", lambda k: jax.vmap(lambda q: jax.random.bits(q, (2,)))(
            jax.random.split(k, 3)), keys),
        ("a key is carried", as_words(walk), keys, steps),
        ("a key that is closed over", lambda i: jax.random.bits(keys[i]), steps % N),
        ("scan over keys", lambda k: lax.scan(
            lambda c, q: (c + jax.random.bits(q, (), c.dtype), jax.random.bits(q)), jnp.uint32(0),
            jax.random.split(k, 4)), keys),
        ("keys are moved and compared", as_words(lambda k, n: (
            jnp.where(n > 2, k, jax.random.clone(jax.random.fold_in(k, 1))) == k,
            jnp.stack([k, jax.random.fold_in(k, 2)])[::-1].reshape(1, 2).T)), keys, steps)]:
    compare("random numbers: " + what, f, *arguments)
for what, options in ("a key", {}), ("of another axis", {"out_axes": 1}):
    f = batch.vmap(lambda k: jax.random.split(k, 3), **options)
    wanted = jax.vmap(lambda k: jax.random.split(k, 3), **options)(keys)
    for call, found in ("", f(keys)), (", under jit", jax.jit(f)(keys)):
        checks.expect("a result that is " + what + call,
                      found.dtype == wanted.dtype and (found == wanted).all(), found)
refused("refuse rbg", batch.LoweringError, "key<rbg>", lambda: batch.vmap(jax.random.bits)(
    jax.random.split(jax.random.key(0, impl="rbg"), N)))
refused("refuse rbg inside", batch.LoweringError, "check_vmap.py:", lambda: batch.vmap(
    lambda n: jax.random.bits(jax.random.key(n, impl="rbg")))(steps))

# --- elements, trees, axes --------------------------------------------------------------

numbers = jnp.asarray(generator.integers(0, 2 ** 32, (N, 3), dtype=numpy.uint32))
for what, f, argument in [
        ("int32", lambda v: v * 3 - 1, jnp.arange(N * 2).reshape(N, 2)),
        ("int8", lambda v: v + v, jnp.arange(N * 2, dtype=jnp.int8).reshape(N, 2)),
        ("uint8", lambda v: v // 3, jnp.arange(200, 200 + N, dtype=jnp.uint8)),
        ("uint32", lambda v: (v ^ (v >> 3)) * 5, numbers),
        ("uint32, compared", lambda v: (v > jnp.uint32(2 ** 31)).sum(), numbers),
        ("bool", lambda v: ~v, jnp.arange(N * 2).reshape(N, 2) % 3 == 0),
        ("float16", lambda v: v * 2 + 1, x.astype(jnp.float16)),
        ("bfloat16", lambda v: (v * 2).sum(), x.astype(jnp.bfloat16)),
        ("float64 as float32", lambda v: v * 2, numpy.asarray(x, numpy.float64)),
        ("another view", lambda v: v * 2, numpy.asarray(y)[:, ::2, ::-1])]:
    compare(what, f, argument)


def with_tree(tree, scale):
    return {"sum": tree["a"] + tree["b"][0], "pair": (tree["b"][1] * scale, None)}


tree = {"a": x, "b": (x + 1, y)}
compare("trees", with_tree, tree, jnp.float32(2), in_axes=(0, None))
compare("axes of a tree", with_tree, {"a": x, "b": (x[0], y)}, jnp.float32(2),
        in_axes=({"a": 0, "b": (None, 0)}, None))
compare("an axis that is not the first", lambda v: v * 2, y, in_axes=1)
compare("the last axis", lambda v: v.sum(axis=0), y, in_axes=-1)
compare("out_axes", lambda v: (v, v + 1), y, out_axes=(1, -1))
compare("out_axes=None", lambda v, w: (v @ w, w.sum()), x, W, in_axes=(0, None),
        out_axes=(0, None))
compare("axis_size", lambda v: v * 2, W, in_axes=None, axis_size=3)
compare("no lane", lambda v: v * 2, x[:0])
compare("one lane", nested, x[:1], steps[:1])
checks.expect("names of arguments", close(
    batch.vmap(lambda v, *, k: v * k)(x, k=x), x * x))
mapped = batch.vmap(nested, threads=2)
alone = [mapped(x[i:i + 1], steps[i:i + 1]) for i in range(N)]
together = mapped(x, steps)
checks.expect("a lane's bits do not depend on the batch", all(
    numpy.array_equal(together[r][i], alone[i][r][0]) for i in range(N) for r in range(2)))
checks.equal("a function keeps its name", batch.vmap(newton).__name__, "newton")

# --- what is compiled and bound ---------------------------------------------------------

compiled, bound = [], []
real_compile, real_bind = _compiler.compile, batch.Model.bind
_compiler.compile = lambda *a, **k: compiled.append(1) or real_compile(*a, **k)
batch.Model.bind = lambda *a, **k: bound.append(1) or real_bind(*a, **k)
mapped = batch.vmap(lambda v, w: v @ w, in_axes=(0, None))
for count in 1, 4, 6, 4:
    mapped(x[:count], W)
checks.equal("one compilation for all numbers of lanes", len(compiled), 1)
checks.equal("an array of JAX is bound once", len(bound), 1)
other = W + 1
checks.expect("another one is another", close(mapped(x, other), x @ other))
mutable = numpy.array(W)
mapped(x, mutable)
mutable += 1
checks.expect("an array of NumPy may change", close(mapped(x, mutable), x @ other))
mapped(x.astype(jnp.float16), W.astype(jnp.float16))
checks.equal("other types are another compilation", len(compiled), 2)
_compiler.compile, batch.Model.bind = real_compile, real_bind

# --- JAX around it ----------------------------------------------------------------------

mapped = batch.vmap(nested)
checks.expect("under jit", close(jax.jit(lambda v, n: mapped(v * 2, n))(x, steps),
                                 jax.vmap(nested)(x * 2, steps)))
checks.expect("under jit, with a parameter", close(
    jax.jit(batch.vmap(lambda v, w: v @ w, in_axes=(0, None)))(x, W), x @ W))
refused("a derivative from outside", NotImplementedError, "batch.vmap(jax.grad(f))",
        lambda: jax.grad(lambda v: batch.vmap(jnp.sin)(v).sum())(x))
refused("a derivative from outside, under jit", NotImplementedError,
        "batch.vmap(jax.grad(f))",
        lambda: jax.jit(jax.grad(lambda v: batch.vmap(jnp.sin)(v).sum()))(x))

# --- what does not fit ------------------------------------------------------------------

for what, options, arguments in [
        ("other sizes", {}, (x, x[:3])), ("a rank", {}, (x, jnp.float32(1))),
        ("an axis", {"in_axes": 5}, (x, x)), ("too few axes", {"in_axes": (0,)}, (x, x)),
        ("nothing to map", {"in_axes": None}, (x, x)),
        ("an output that is mapped", {"out_axes": None}, (x, x)),
        ("an axis of an output", {"out_axes": 7}, (x, x))]:
    try:
        jax.vmap(jnp.add, **options)(*arguments)
        error = None
    except Exception as found:
        error = type(found)
    refused("refuse %s, as jax.vmap does" % what, error or AssertionError, "",
            lambda: batch.vmap(jnp.add, **options)(*arguments))
refused("refuse a string", TypeError, "", lambda: batch.vmap(jnp.sin)("text"))
refused("refuse what is no function", TypeError, "expects a function",
        lambda: batch.vmap(3))
refused("refuse axis_name", NotImplementedError, "axis_name",
        lambda: batch.vmap(jnp.sin, axis_name="i"))


def spectrum(v):
    w = v * 2
    return jnp.linalg.eigvalsh(jnp.outer(w, w))


refused("an error says where", batch.LoweringError, "check_vmap.py:%d (in spectrum): eigh " %
        (spectrum.__code__.co_firstlineno + 2), lambda: batch.vmap(spectrum)(x))
refused("also within control", batch.LoweringError, "check_vmap.py:%d (in spectrum): eigh " %
        (spectrum.__code__.co_firstlineno + 2), lambda: batch.vmap(lambda v: lax.while_loop(
            lambda s: s.sum() < 9, spectrum, v))(x))
refused("an effect", batch.LoweringError, "effect",
        lambda: batch.vmap(lambda v: (jax.debug.print("{}", v), v)[1])(x))
compare("what nothing needs is not refused", jax.jit(
    lambda v: (jnp.linalg.eigvalsh(jnp.outer(v, v)), v * 2)[1]), x)
refused("fft", batch.LoweringError, "check_vmap.py:",
        lambda: batch.vmap(lambda v: jnp.real(jnp.fft.fft(v)))(x))
refused("a callback", batch.LoweringError, "pure_callback is not supported",
        lambda: batch.vmap(lambda v: jax.pure_callback(lambda a: a, v, v))(x))
refused("a complex number", batch.LoweringError, "complex64",
        lambda: batch.vmap(lambda v: lax.cond(v[0] > 0, lambda: v * 1j, lambda: v * 2j))(x))
checks.expect("a call after that", close(mapped(x, steps), jax.vmap(nested)(x, steps)))
checks.exit()
