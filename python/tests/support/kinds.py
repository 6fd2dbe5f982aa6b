"""JAX programs of the kinds that users write, with arguments for five instances.

KINDS contains programs that return the same under batch.vmap as under jax.vmap. REFUSED
contains unsupported programs: the error names the line that ends with "# here".
"""

import collections
import functools

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.experimental import io_callback
from jax.experimental.ode import odeint
from jax.scipy.optimize import minimize

import batch
from support.vmap import marked_line

N = 5
KINDS = {}
REFUSED = {}
_generator = numpy.random.default_rng(11)

Kind = collections.namedtuple("Kind", "function arguments options x64 line")


def kind(name, function, *arguments, x64=False, **options):
    """Adds a program that batch.vmap supports.

    options: options of vmap. x64: whether it needs 64-bit types.
    """
    assert name not in KINDS, name
    KINDS[name] = Kind(function, arguments, options, x64, None)


def refused(name, function, *arguments):
    """Adds an unsupported program. Without arguments, the function itself calls batch.vmap."""
    assert name not in REFUSED, name
    REFUSED[name] = Kind(function, arguments, {}, False, marked_line(function))


def floats(*shape, dtype=numpy.float32):
    """Returns normally distributed numbers for each instance."""
    return _generator.normal(size=(N,) + shape).astype(dtype)


def positive(*shape):
    return numpy.abs(floats(*shape)) + numpy.float32(0.1)


def below(end, *shape, dtype=numpy.int32):
    return _generator.integers(0, end, (N,) + shape).astype(dtype)


def definite(size):
    """Returns a symmetric positive definite matrix for each instance."""
    a = floats(size, size)
    return a @ a.swapaxes(1, 2) + size * numpy.eye(size, dtype=numpy.float32)


SEEDS = numpy.array([3, 1, 4, 15, 92], numpy.uint32)
RAW = numpy.stack([SEEDS // 2, SEEDS * 77777], 1).astype(numpy.uint32)


def typed():
    return jax.random.wrap_key_data(jnp.asarray(RAW), impl="threefry2x32")


# --- control --------------------------------------------------------------------------


def collatz(n):
    """Returns the number of rounds until n is 1, which differs greatly between instances."""
    return lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(
        s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, jnp.int32(0)))[1]


def moving_average(rows, decay):
    def step(mean, row):
        mean = decay * mean + (1 - decay) * row
        return mean, mean.max()
    return lax.scan(step, jnp.zeros(rows.shape[1]), rows)


def fibonacci(n):
    return lax.fori_loop(0, n, lambda _, ab: (ab[1], ab[0] + ab[1]), (0, 1))[0]


def square_root(y):
    return lax.while_loop(lambda s: jnp.abs(s * s - y) > 1e-3 * y,
                          lambda s: 0.5 * (s + y / s), y + 1)


def tanh_chain(xs):
    return lax.scan(lambda c, x: (jnp.tanh(0.5 * c + x), c * x), jnp.float32(0), xs)


def search(values, wanted):
    """Runs three bisections: nested loops with a branch."""
    def bisect(bounds):
        low, high = bounds
        middle = (low + high) // 2
        return lax.cond(values[middle] < wanted, lambda: (middle + 1, high),
                        lambda: (low, middle))

    def once(i, total):
        low, _ = lax.while_loop(lambda b: b[0] < b[1], bisect, (jnp.zeros_like(i), 8 - i))
        return total + low
    return lax.fori_loop(0, 3, once, 0)


kind("while", collatz, numpy.array([1, 6, 27, 7, 64], numpy.int32))
kind("while with a tree", lambda v: lax.while_loop(
    lambda s: s["norm"] > 1, lambda s: {"v": s["v"] / 2, "norm": jnp.sum(s["v"] ** 2) / 4},
    {"v": v, "norm": jnp.sum(v ** 2)}), 3 * floats(3))
kind("scan", moving_average, floats(6, 3), positive())
kind("scan backwards, of no arrays", lambda v: lax.scan(
    lambda c, _: (c * 0.5 + 1, c), v, None, length=4, reverse=True), floats(2))
kind("scan of several trees", lambda t: lax.scan(
    lambda c, x: ((c[0] + x["a"], None), {"p": (x["b"], c[0])}),
    (jnp.zeros(2), None), t), {"a": floats(4, 2), "b": below(9, 4)})
kind("scan in scan", lambda a: lax.scan(lambda c, row: lax.scan(
    lambda d, x: (d * 0.9 + x, d), c, row), 0.0, a), floats(3, 4))
kind("fori_loop", lambda v: lax.fori_loop(1, 5, lambda i, c: c + v[i] * i, v[0]),
     floats(5, 2))
kind("fori_loop to a number that differs", fibonacci, below(20))
kind("fori_loop around cond and while", search, numpy.sort(floats(8)), floats())
kind("cond", lambda v: lax.cond(v.sum() > 0, jnp.cumsum, lambda v: v[::-1], v), floats(4))
kind("cond without operands", lambda p, v: lax.cond(p, lambda: v * 2, lambda: v - 1),
     below(2).astype(bool), floats(3))
kind("switch", lambda k, v: lax.switch(k, [jnp.sin, jnp.cos, jnp.square, lambda v: v], v),
     numpy.array([-1, 0, 2, 3, 9], numpy.int32), floats(4))
kind("map", lambda rows: lax.map(lambda r: r / jnp.sum(r * r), rows), floats(4, 3))
kind("map of a loop", lambda ns: lax.map(collatz, ns), 1 + below(30, 3))
kind("associative_scan", lambda a: lax.associative_scan(
    lambda x, y: (x[0] * y[0], x[1] * y[0] + y[1]), a), (floats(7), floats(7)))
kind("recursion of Python", lambda v: (lambda g: g(g, v))(
    lambda g, w: w if w.shape[0] == 1 else g(g, w[::2] + w[1::2])), floats(8))
kind("nothing but its argument", lambda v: v, floats(3))
kind("a number", lambda v: (v, 3, 2.5, True), floats(2))

# --- functions around functions -------------------------------------------------------

TABLE = {"E": jnp.linspace(0, 1, 12).reshape(4, 3), "scale": [numpy.arange(3.0), 2.0]}


@jax.custom_vjp
def clip_gradient(x):
    return x


clip_gradient.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))


@jax.custom_jvp
def safe_log(x):
    return jnp.log(jnp.maximum(x, 1e-6))


safe_log.defjvp(lambda p, t: (safe_log(p[0]), t[0] / jnp.maximum(p[0], 1e-6)))


@functools.partial(jax.jit, static_argnames="times")
def repeated(x, times):
    for _ in range(times):
        x = jnp.sin(x) + x
    return x


def perceptron(weights, x):
    for w, b in weights[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = weights[-1]
    return jnp.sum((x @ w + b) ** 2)


WEIGHTS = [(floats(3, 4)[0], floats(4)[0]), (floats(4, 2)[0], floats(2)[0])]
kind("closure over arrays and trees", lambda i, v: {
    "row": TABLE["E"][i] * TABLE["scale"][0], "v": v * TABLE["scale"][1]},
    below(4), floats(3))
kind("jit with a static argument", lambda v: repeated(v, times=3), floats(3))
kind("custom_jvp", lambda v: (jax.grad(lambda w: safe_log(w).sum())(v), jax.nn.silu(v),
                              jax.nn.relu(v)), floats(4))
kind("custom_vjp", jax.grad(lambda v: jnp.sum(clip_gradient(v) ** 2)), floats(4))
kind("remat", jax.grad(lambda v: jax.checkpoint(lambda w: jnp.prod(jnp.cos(w)))(v * 2)),
     floats(4))
kind("grad of a tree of weights", jax.value_and_grad(perceptron), WEIGHTS, floats(3),
     in_axes=(None, 0))
kind("grad of scan", lambda v: jax.value_and_grad(lambda w: tanh_chain(w)[0])(v), floats(6))
kind("grad of cond", jax.grad(lambda v: lax.cond(v[0] > 0, jnp.prod, jnp.sum, v * v)),
     floats(3))
kind("grad of grad", jax.grad(lambda x: jax.grad(lambda y: jnp.sin(y) * y ** 3)(x) ** 2),
     floats())
kind("jacobians and a hessian", lambda v: (
    jax.jacfwd(lambda w: w[::-1] * w[0])(v), jax.jacrev(lambda w: jnp.cumsum(w * w))(v),
    jax.hessian(lambda w: jnp.sum(w[:-1] * w[1:] ** 2))(v)), floats(3))
kind("jvp through a loop", lambda x, t: jax.jvp(square_root, (x,), (t,)), positive(),
     floats())
kind("vmap of while", lambda v: jax.vmap(square_root)(v), positive(4))
kind("vmap of scan", lambda a: jax.vmap(tanh_chain, in_axes=1, out_axes=(0, 1))(a),
     floats(5, 3))
kind("vmap of vmap of cond", lambda a: jax.vmap(jax.vmap(
    lambda x, y: lax.cond(x > y, lambda: x - y, lambda: x * y), (0, None)), (None, 0))(
        a[0], a[1]), floats(2, 3))
kind("vmap of grad", lambda a, w: jax.vmap(
    jax.grad(lambda r, w: jnp.tanh(r @ w)), (0, None))(a, w), floats(4, 3), floats(3))
kind("axes of trees", lambda t, w: {"x": (t["a"] @ w, None), "y": t["b"][0] + w[0]},
     {"a": floats(3).T, "b": [numpy.float32(2), None]}, floats(3, 2)[0],
     in_axes=({"a": 1, "b": None}, None), out_axes={"x": 1, "y": None})

# --- indexing -------------------------------------------------------------------------

x = floats(6, 4)
kind("a row", lambda v, i: v[i], x, below(6))
kind("a row from the end, and one that is not there", lambda v, i: (v[-i], v[i + 5]), x,
     1 + below(4))
kind("rows", lambda v, i: v[i], x, below(6, 2, 2))
kind("elements", lambda v, i, j: v[i, j], x, below(6, 5), below(4, 5))
kind("indices between slices", lambda v, i: v[1:5, i][:, None, ::2], x, below(4, 4))
kind("take in three modes", lambda v, i: tuple(jnp.take(v, i, axis=0, mode=m) for m in (
    "clip", "wrap", "fill")), x, below(20, 4) - 8)
kind("take_along_axis", lambda v, i: jnp.take_along_axis(v, i, axis=1), x, below(4, 6, 2))
kind("dynamic_slice", lambda v, i, j: lax.dynamic_slice(v, (i, j), (2, 3)), x, below(9),
     below(3))
kind("dynamic_update_slice", lambda v, u, i: lax.dynamic_update_slice(v, u, (i, i - 1)), x,
     floats(3, 2), below(6))
kind("reversed and strided", lambda v: (v[::-1], v[4:0:-2, ::3]), x)
kind("roll", lambda v, k: (jnp.roll(v, k), jnp.roll(v, 2, axis=1)), x, below(9) - 4)
kind("pad", lambda v: (jnp.pad(v, ((2, 0), (0, 1)), constant_values=7),
                       jnp.pad(v, 2, mode="reflect"), jnp.pad(v, 1, mode="edge")), x)
kind("pad by less than nothing", lambda v: lax.pad(v, jnp.float32(9),
                                                   ((-1, 2, 1), (1, -2, 0))), x)
kind("where", lambda v: (
    jnp.where(v > 0, v, -1), jnp.select([v > 1, v < 0], [v, -v], 5)), x)
kind("joined and split", lambda v: (jnp.concatenate([v, v[:2] * 2]), jnp.stack([v, v], 1),
                                    jnp.split(v, [1, 4]), jnp.repeat(v, 2, axis=1),
                                    jnp.tile(v, (2, 1))), x)
kind("shapes", lambda v: (v.T, v.reshape(3, 8), v[None, :, None], v.ravel()[3:7],
                          jnp.swapaxes(v.reshape(2, 3, 4), 0, 2)), x)
kind("triangles, diagonals, one_hot", lambda v, i: (
    jnp.tril(v), jnp.triu(v, 1), jnp.diagonal(v), jnp.diag(v[0]), jax.nn.one_hot(i, 4),
    jnp.eye(3) * v[0, 0]), x, below(5, 3))
kind("argmax", lambda v: (v.argmax(), jnp.argmin(v, axis=0), v.max(1), jnp.nanargmax(v)), x)

# --- scatter --------------------------------------------------------------------------

kind("scatter_set", lambda v, i, u: v.at[i].set(u), x, below(6), floats(4))
kind("scatter_add", lambda v, i, u: v.at[i].add(u), x, below(6, 5), floats(5, 4))
kind("scatter of places", lambda v, i, j: v.at[i, j].multiply(3), x, below(6, 3),
     below(4, 3))
kind("scatter_min and max", lambda v, i, u: (v.at[:, i].min(u), v.at[i, 1].max(0.5)), x,
     below(4), floats(6))
kind("scatter to places that are not there", lambda v, i: (
    v.at[i].set(0), v.at[i].add(1, mode="clip"), v.at[i].get(mode="fill", fill_value=4)), x,
    below(12, 3) - 3)
kind("scatter of integers and bools", lambda v, b, i: (v.at[i].add(2), b.at[i].set(True)),
     below(99, 8), below(2, 8).astype(bool), below(8, 4))
kind("scatter in a loop", lambda v, i: lax.fori_loop(
    0, 4, lambda k, w: w.at[i[k]].set(w[k] + 1), v), x, below(6, 4))
kind("segment_sum", lambda v, i: (
    jax.ops.segment_sum(v, i, 4), jax.ops.segment_max(v, i, 4)), floats(7, 2), below(4, 7))
kind("bincount and histogram", lambda i, v: (jnp.bincount(i, length=5), jnp.histogram(
    v, bins=4, range=(-2, 2))[0]), below(5, 9), floats(9))
kind("grad of indexing", lambda v, i: jax.grad(lambda w: jnp.sum(w[i] ** 3))(v), x,
     below(6, 4))

# --- order ----------------------------------------------------------------------------

ties = below(4, 9).astype(numpy.float32) - 1
special = numpy.where(ties == 2, numpy.float32("nan"), numpy.where(
    ties == 0, -numpy.float32(0), ties))
kind("sort", lambda v: (jnp.sort(v), jnp.sort(v, descending=True)), floats(9))
kind("sort of columns", lambda v: jnp.sort(v, axis=0), x)
kind("sort of NaN and zeros", lambda v: (jnp.sort(v), jnp.argsort(v)), special)
kind("sort of integers", lambda a, b: (jnp.sort(a), jnp.sort(b)), below(9, 8) - 4,
     below(255, 8, dtype=numpy.uint8))
kind("argsort", lambda v: (jnp.argsort(v), jnp.argsort(v, descending=True),
                           jnp.argsort(v[:8].reshape(2, 4), axis=1)), ties)
kind("sort_pairs", lambda k, v, w: lax.sort((k, v, w), num_keys=2), ties, below(3, 9),
     floats(9))
kind("lexsort", lambda k, v: jnp.lexsort((v, k)), ties, below(3, 9))
kind("top_k", lambda v: lax.top_k(v, 3), ties)
kind("approx_max_k", lambda v: lax.approx_max_k(v, 2), floats(9))
kind("median and quantiles", lambda v: (jnp.median(v), jnp.quantile(
    v, jnp.array([0.1, 0.5, 0.75])), jnp.percentile(v, 30)), floats(9))
kind("searchsorted", lambda v, w: (jnp.searchsorted(v, w), jnp.searchsorted(
    v, w, side="right", method="sort"), jnp.digitize(w, v)), numpy.sort(ties), floats(3))
kind("unique", lambda v: jnp.unique(v, size=5, fill_value=-1, return_counts=True),
     below(4, 9))
kind("nonzero", lambda v: (jnp.nonzero(v > 0, size=4, fill_value=8),
                           jnp.argwhere(v < 0, size=3), jnp.flatnonzero(v, size=2)), ties)
kind("grad of sort", jax.grad(lambda v: jnp.sum(jnp.sort(v) * jnp.arange(9.0))), floats(9))

# --- running sums, windows, convolutions ----------------------------------------------

image = floats(6, 6, 2)
kernel = floats(3, 3, 2, 4)[0]
NHWC = "NHWC", "HWIO", "NHWC"
kind("cumsum", lambda v, i: (jnp.cumsum(v), lax.cumsum(v, reverse=True), jnp.cumsum(i)),
     floats(9), below(9, 9))
kind("cumprod, cummax, cummin", lambda v: (jnp.cumprod(v), lax.cummax(v), lax.cummin(
    v, reverse=True)), floats(9))
kind("cumlogsumexp", lambda v: lax.cumlogsumexp(v, axis=1), x)
kind("grad of cumsum", jax.grad(lambda v: jnp.sum(jnp.cumsum(v) ** 2)), floats(9))
kind("max_pool", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (2, 2, 1), (2, 2, 1),
                                             "VALID"), image)
kind("max_pool_same", lambda a: lax.reduce_window(
    a, -jnp.inf, lax.max, (3, 3, 1), (2, 2, 1), "SAME"), image)
kind("mean of windows", lambda a: lax.reduce_window(a, 0.0, lax.add, (2, 3, 1), (1, 2, 1),
                                                    "SAME") / 6, image)
kind("grad of max_pool", jax.grad(lambda a: jnp.sum(lax.reduce_window(
    a, -jnp.inf, lax.max, (2, 2, 1), (2, 2, 1), "VALID") ** 2)), image)
kind("conv", lambda a, k: lax.conv_general_dilated(a[None], k, (1, 1), "SAME",
                                                   dimension_numbers=NHWC)[0],
     image, kernel, in_axes=(0, None))
kind("conv of strides and holes", lambda a, k: lax.conv_general_dilated(
    a[None], k, (2, 1), [(1, 2), (0, 1)], rhs_dilation=(1, 2), dimension_numbers=NHWC),
    image, kernel, in_axes=(0, None))
kind("conv_nchw", lambda a, k: lax.conv(a, k, (1, 1), "VALID"), floats(1, 2, 5, 5),
     floats(3, 2, 2, 2))
kind("conv of each channel", lambda a, k: lax.conv_general_dilated(
    a[None], k, (1, 1), "SAME", dimension_numbers=NHWC, feature_group_count=2), image,
    kernel.reshape(3, 3, 1, 8), in_axes=(0, None))
kind("conv_transpose", lambda a, k: lax.conv_transpose(a[None], k, (2, 2), "SAME"), image,
     kernel, in_axes=(0, None))
kind("convolve", lambda a, b: (jnp.convolve(a, b), jnp.correlate(a, b, mode="same")),
     floats(8), floats(3))
kind("grad of conv", lambda a, k: jax.grad(lambda a, k: jnp.sum(lax.conv_general_dilated(
    a[None], k, (1, 1), "SAME", dimension_numbers=NHWC) ** 2), argnums=(0, 1))(a, k),
    image, kernel, in_axes=(0, None))

# --- linear algebra -------------------------------------------------------------------

lower = numpy.tril(definite(4))
kind("cholesky", lambda a: jnp.linalg.cholesky(a), definite(4))
kind("cholesky of a matrix that is not positive", lambda a: jnp.linalg.cholesky(a),
     definite(3) - 4 * numpy.eye(3, dtype=numpy.float32))
kind("cho_solve", lambda a, b: jax.scipy.linalg.cho_solve(
    jax.scipy.linalg.cho_factor(a), b), definite(4), floats(4))
kind("triangular solve", lambda a, b: (
    jax.scipy.linalg.solve_triangular(a, b, lower=True),
    jax.scipy.linalg.solve_triangular(a, b[:, 0], lower=True, trans="T"),
    jax.scipy.linalg.solve_triangular(a.T, b, unit_diagonal=True)), lower / 4, floats(4, 2))
kind("solve", lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.solve(a, b[:, 0])),
     definite(4), floats(4, 2))
kind("lu", lambda a: (jax.scipy.linalg.lu_factor(a), jax.scipy.linalg.lu(a)[2]),
     floats(4, 4))
kind("determinants", lambda a: (jnp.linalg.slogdet(a), jnp.linalg.det(a),
                                jnp.linalg.det(a[:3, :3])), floats(4, 4))
kind("inv", lambda a: jnp.linalg.inv(a), definite(4))
kind("grad of cholesky and solve", jax.grad(lambda a: jnp.sum(jnp.linalg.solve(
    a, jnp.ones(3))) + jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(a))))), definite(3))
kind("matrix_power and norms", lambda a: (
    jnp.linalg.matrix_power(a, 3), jnp.linalg.norm(a), jnp.linalg.norm(a, axis=1),
    jnp.linalg.norm(a, 1)), floats(3, 3))
kind("einsum", lambda a, b: (
    jnp.einsum("hij,hjk->hik", a, b), jnp.einsum("hij,gji->hg", a, b),
    jnp.einsum("iij->j", a[:, :2])), floats(2, 3, 4), floats(2, 4, 3))
kind("products", lambda a, b: (a @ b, jnp.outer(a[0], b[:, 0]), jnp.vdot(a, b.T), jnp.kron(
    a[:2, :2], b[:2, :2]), jnp.tensordot(a, b, 1), jnp.cross(a[0, :3], a[1, :3])),
    floats(3, 4), floats(4, 3))
kind("cg", lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: a @ v, b, tol=1e-7,
                                                   maxiter=20)[0], definite(4), floats(4))

# --- random numbers -------------------------------------------------------------------


def draws(draw, *arguments, **options):
    """Adds a program for raw keys, and one for typed keys."""
    for name, keys in ("raw", RAW), ("typed", typed()):
        kind(f"{draw}, {name} key", RANDOM[draw], keys, *arguments, **options)


RANDOM = {
    "uniform": lambda k: (jax.random.uniform(k, (3,)), jax.random.uniform(k, minval=2)),
    "normal": lambda k: jax.random.normal(k, (2, 3)),
    "split": lambda k: jax.random.split(k, 3),
    "fold_in and split": lambda k, i: jax.random.uniform(jax.random.split(
        jax.random.fold_in(k, i))[1], (2,)),
    "bits": lambda k: tuple(jax.random.bits(k, (5,), d) for d in (
        jnp.uint8, jnp.uint16, jnp.uint32)),
    "gamma": lambda k, a: jax.random.gamma(k, a, (2,)),
}
draws("uniform")
draws("normal")
draws("split")
draws("fold_in and split", below(99))
draws("bits")
draws("gamma", positive())
kind("a key of a seed", lambda s: (jax.random.key(s), jax.random.PRNGKey(s)), SEEDS)
kind("a key in a loop", lambda k, n: lax.fori_loop(0, n, lambda _, s: (
    jax.random.split(s[0])[0], s[1] + jax.random.normal(s[0])), (k, jnp.zeros(()))),
    typed(), below(6))
kind("a key that is the same for all", lambda k, i: jax.random.normal(
    jax.random.fold_in(k, i)), typed()[0], below(99), in_axes=(None, 0))
kind("key_data", lambda k: (jax.random.key_data(k), jax.random.wrap_key_data(
    jax.random.key_data(k) + 1)), typed())
kind("randint and bernoulli", lambda k, p: (
    jax.random.randint(k, (4,), -5, 17), jax.random.bernoulli(k, p, (5,))), typed(),
    positive() / 4)
kind("categorical and choice", lambda k, v: (
    jax.random.categorical(k, v, shape=(3,)), jax.random.choice(k, v, (2,))),
    RAW, floats(6))
kind("permutation", lambda k, v: (
    jax.random.permutation(k, 7), jax.random.permutation(k, v)), typed(), x)
kind("poisson", lambda k, rate: jax.random.poisson(k, 8 * rate, (3,)), RAW, positive())
kind("binomial", lambda k, p: jax.random.binomial(k, 30, p, (2,)), typed(), positive() / 4)
kind("beta and dirichlet", lambda k, a: (jax.random.beta(k, a[0], a[1]),
                                         jax.random.dirichlet(k, a)), typed(), positive(3))
kind("draws from distributions", lambda k: (
    jax.random.exponential(k), jax.random.laplace(k, (2,)), jax.random.gumbel(k, (2,)),
    jax.random.truncated_normal(k, -1, 2, (2,)), jax.random.cauchy(k)), typed())
kind("multivariate_normal", jax.random.multivariate_normal, typed(), floats(3),
     definite(3))
kind("draws in float64 and float16", lambda k: (
    jax.random.normal(k, (2,), jnp.float64), jax.random.uniform(k, (2,), jnp.float16),
    jax.random.bits(k, (2,), jnp.uint64)), RAW, x64=True)

# --- special functions ----------------------------------------------------------------

special_functions = jax.scipy.special
kind("erf", lambda v: (special_functions.erf(v), special_functions.erfc(v),
                       special_functions.ndtr(v), special_functions.log_ndtr(v)),
     3 * floats(6))
kind("erfinv", lambda v: (special_functions.erfinv(jnp.tanh(v)), special_functions.ndtri(
    jax.nn.sigmoid(v))), floats(6))
kind("lgamma", lambda v: (special_functions.gammaln(v), special_functions.gammaln(-v),
                          special_functions.factorial(v), special_functions.betaln(
                              v[0], v[1])), 3 * positive(5))
kind("digamma", lambda v: (special_functions.digamma(v), special_functions.polygamma(1, v)),
     3 * positive(5))
kind("igamma", lambda a, v: (special_functions.gammainc(a, v),
                             special_functions.gammaincc(a, v)), 3 * positive(3),
     3 * positive(3))
kind("grad of igamma", jax.grad(special_functions.gammainc, argnums=(0, 1)), positive(),
     positive())
kind("betainc", lambda a, b, v: special_functions.betainc(a, b, jax.nn.sigmoid(v)),
     2 * positive(3), 2 * positive(3), floats(3))
kind("bessel", lambda v: (special_functions.i0e(v), special_functions.i0(v),
                          special_functions.i1e(v), special_functions.i1(v)), 2 * floats(4))
kind("zeta", lambda v, q: special_functions.zeta(v, q), 1 + positive(3), positive(3))
kind("elementary functions", lambda v: (
    jnp.expm1(v), jnp.log1p(v * v), jnp.arcsinh(v), jnp.arctan2(v, v[0]), jnp.cbrt(v),
    jnp.hypot(v, 2), jnp.tan(v), lax.rsqrt(jnp.abs(v)), jnp.logaddexp(v, v[0]),
    jnp.exp2(v), jnp.sinc(v), jnp.power(jnp.abs(v), v)), floats(5))
kind("rounding", lambda v: (
    jnp.floor(v), jnp.ceil(v), jnp.round(v), jnp.trunc(v), jnp.sign(v), v % 1.5,
    jnp.fmod(v, 1.5), v // 0.7, jnp.modf(v), jnp.nextafter(v, v + 1),
    jnp.round(2 * v) / 2), 4 * floats(5))

# --- types ----------------------------------------------------------------------------

kind("f64", lambda v, w: (jnp.sin(v) @ w, jnp.exp(v) - w, v.astype(jnp.float32), v.sum()),
     floats(4, dtype=numpy.float64), floats(4, dtype=numpy.float64), x64=True)
kind("f64 and f32 in a loop", lambda v: lax.scan(
    lambda c, a: (c / 3 + a.astype(jnp.float64), a), jnp.float64(0), v), floats(4),
    x64=True)
kind("int64", lambda i: (i * 3_000_000_000, i.astype(jnp.int32), i >> 33), below(
    2 ** 40, 3, dtype=numpy.int64), x64=True)
kind("f64 given where it is not on", lambda v: v * 2, floats(3, dtype=numpy.float64))
kind("bf16", lambda v: (v * v, v @ v, v.sum(), jnp.exp(v.astype(jnp.float32))),
     jnp.asarray(floats(6), jnp.bfloat16))
kind("bf16 in a loop", lambda v: lax.fori_loop(
    0, 4, lambda i, c: c * jnp.bfloat16(0.5) + v[i], v[0]),
    jnp.asarray(floats(5), jnp.bfloat16))
kind("f16", lambda v: (jnp.tanh(v), v.max(), v @ v, v.astype(jnp.int8)),
     floats(6, dtype=numpy.float16))
kind("integers that overflow", lambda a, b: (a + a, a * b, -a, jnp.abs(a), a.sum()),
     below(256, 4).astype(numpy.int8), below(256, 4).astype(numpy.int8))
kind("integers without a sign", lambda a, b, c: (
    a - 7, a // 3, a % 7, a > jnp.uint32(2 ** 31), a.astype(jnp.float32), a >> 5,
    b * b, c + c, c.max()),
    below(2 ** 32, 4, dtype=numpy.uint32), below(2 ** 16, 4, dtype=numpy.uint16),
    below(256, 4, dtype=numpy.uint8))
kind("division of integers", lambda a, b: (a // b, a % b, jnp.divmod(a, b), lax.div(a, b),
                                           lax.rem(a, b), a / b),
     below(41, 6) - 20, below(4, 6) + numpy.array([1, -5, 1, -5, 1, -5], numpy.int32))
kind("bool", lambda a, b: (a & b, a ^ b, ~a, a | b, a.any(), a.all(), a.sum(), a < b,
                           jnp.where(a, 1, 2)), below(2, 5).astype(bool),
     below(2, 5).astype(bool))
kind("shifts", lambda a, s: (a << s, a >> s, lax.shift_right_logical(a, s)),
     below(2 ** 31, 4) - 2 ** 30, below(31, 4))
kind("conversions", lambda v, i: (
    v.astype(jnp.int32), v.astype(bool), i.astype(jnp.bfloat16), i.astype(jnp.uint8),
    (v > 0).astype(jnp.float16)), 9 * floats(4), below(999, 4))
kind("weak types", lambda v, w: (w, v * w, w + 1, lax.cond(w > 0, lambda: 1, lambda: 2),
                                 jnp.array(3.0)), jnp.asarray(floats(2), jnp.bfloat16), 2.0,
     in_axes=(0, None))
kind("infinities and NaN", lambda v: (
    1 / v, jnp.log(v), jnp.isnan(v / v), jnp.maximum(v, jnp.nan), jnp.nan_to_num(v),
    jnp.nansum(v), jnp.isinf(1 / v)), special)
kind("population_count", lambda v: (lax.population_count(v), lax.population_count(
    v.astype(jnp.uint8))), below(2 ** 32, 4, dtype=numpy.uint32))
kind("clz", lambda v: (lax.clz(v), lax.clz(v.astype(jnp.int8))),
     below(2 ** 32, 4, dtype=numpy.uint32) >> below(32, 4, dtype=numpy.uint32))
kind("bitcast", lambda v: (lax.bitcast_convert_type(v, jnp.int32), v.view(jnp.uint32)),
     floats(4))
kind("bitcast of other sizes", lambda v, w: (lax.bitcast_convert_type(v, jnp.uint8),
                                             lax.bitcast_convert_type(w, jnp.float32)),
     floats(4), below(2 ** 14, 3, 2, dtype=numpy.uint16))
kind("reduce_precision", lambda v: lax.reduce_precision(v, 5, 3), floats(6))

# --- larger things --------------------------------------------------------------------


def norm_layer(v):
    return (v - v.mean(-1, keepdims=True)) / jnp.sqrt(v.var(-1, keepdims=True) + 1e-5)


kind("softmax", lambda v: (jax.nn.softmax(v), jax.nn.log_softmax(v, axis=0),
                           jax.nn.logsumexp(v), jax.nn.gelu(v), norm_layer(v)), x)
kind("attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
     floats(4, 2, 8), floats(4, 2, 8), floats(4, 2, 8))
kind("no element", lambda v: (v[:0].sum(), v[:0], jnp.concatenate([v[:0], v]), v[2:2].max(
    initial=-1)), floats(5))
kind("arrays of no element", lambda v, w: (v + 1, v @ w, v.sum(0), jnp.exp(w)),
     floats(3, 0), floats(0, 2))
kind("scan of no step", lambda v, e: lax.scan(lambda c, a: (c + a, c * 2), v, e), floats(2),
     floats(0, 2))
kind("reductions", lambda v: (v.prod(), v.std(0), jnp.ptp(v), jnp.all(v > -9, axis=1),
                              v.mean((0, 1)), jnp.average(v, weights=v * v),
                              lax.reduce(v, jnp.float32(0), lax.max, (1,))), x)
kind("polynomials and interpolation", lambda v, p: (
    jnp.polyval(p, v), jnp.interp(v, jnp.arange(4.0), p), jnp.diff(v), jnp.gradient(v),
    jnp.trapezoid(v)), floats(6), floats(4))
kind("odeint", lambda y, k: odeint(lambda y, t, k: -k * y + jnp.sin(t), y,
                                   jnp.linspace(0, 1, 4, dtype=y.dtype), k), floats(2), positive())
kind("bfgs", lambda v: minimize(lambda w: jnp.sum((w - 1) ** 2 + w ** 4), v,
                                method="BFGS").x, floats(3))
kind("a recurrent cell", lambda xs, h, w: lax.scan(lambda h, x: (jnp.where(
    x[0] > -1, jnp.tanh(h @ w + x), h),) * 2, h, xs), floats(5, 3), floats(3),
    floats(3, 3)[0], in_axes=(0, 0, None))

# --- unsupported programs -------------------------------------------------------------


def eigenvalues(a):
    return jnp.linalg.eigh(a + a.T)  # here


def singular_values(a):
    b = a * 2
    return jnp.linalg.svd(b)  # here


def orthogonal(a):
    return jnp.linalg.qr(a)[0]  # here


def spectrum(v):
    return jnp.abs(
        jnp.fft.rfft(v))  # here


def rotated(v):
    turned = v * 1j  # here
    return turned.real


def calls_back(v):
    return jax.pure_callback(numpy.sin, jax.typeof(v), v)  # here


def calls_back_in_a_loop(v):
    def body(i, w):
        return io_callback(lambda w: w, jax.typeof(w), w, ordered=True)  # here
    return lax.fori_loop(0, 2, body, v)


def prints(v):
    w = v + 1
    jax.debug.print("{}", w)  # here
    return w


def sums_over_lanes(v):
    return lax.psum(v, "lanes")  # here


def other_generator(seed):
    key = jax.random.key(seed, impl="rbg")  # here
    return jax.random.normal(key, (2,))


def of_a_sharded_argument():
    return batch.vmap(jnp.sin)(sharded())  # here


def of_a_sharded_constant():
    constant = sharded()
    return batch.vmap(lambda v: v + constant.sum())(floats(4))  # here


def of_other_keys():
    keys = jax.random.split(jax.random.key(1, impl="rbg"), N)
    return batch.vmap(jax.random.normal)(keys)  # here


def with_axis_name():
    return batch.vmap(jnp.sin, axis_name="lanes")(floats(4))  # here


def sharded():
    """Returns an array on two devices, which conftest.py requests from JAX."""
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()[:2]), "d")
    return jax.device_put(floats(4).repeat(2, 0)[:4], jax.sharding.NamedSharding(
        mesh, jax.sharding.PartitionSpec("d")))


refused("eigh", eigenvalues, floats(3, 3))
refused("svd", singular_values, floats(3, 3))
refused("qr", orthogonal, floats(3, 3))
refused("fft", spectrum, floats(8))
refused("complex", rotated, floats(4))
refused("pure_callback", calls_back, floats(4))
refused("io_callback", calls_back_in_a_loop, floats(4))
refused("debug_print", prints, floats(4))
refused("rbg keys", other_generator, SEEDS)
refused("rbg keys as arguments", of_other_keys)
refused("axis_name", with_axis_name)
refused("an array on several devices", of_a_sharded_argument)
refused("a constant on several devices", of_a_sharded_constant)
