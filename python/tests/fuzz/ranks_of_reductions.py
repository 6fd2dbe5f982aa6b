"""Random calls of reductions, windows, sorting and products."""

import jax
import jax.numpy as jnp
from jax import lax

from fuzz.ranks import INTEGERS, maker

# --- reductions -------------------------------------------------------------------------

@maker("reduce_sum", "reduce_prod", "reduce_max", "reduce_min")
def _(draw, name):
    shape = draw.shape()
    axes = draw.some(len(shape))
    function = getattr(jax.lax, name)
    return lambda x: function(x, axes=axes), draw.array(shape, draw.dtype(
        ("float32", "int32", "uint8", "bfloat16")))


@maker("reduce_and", "reduce_or", "reduce_xor")
def _(draw, name):
    shape = draw.shape()
    axes = draw.some(len(shape))
    function = getattr(jax.lax, name)
    return lambda x: function(x, axes=axes), draw.array(shape, draw.dtype(
        INTEGERS + ("bool",)))


@maker("argmax", "argmin")
def _(draw, name):
    shape = draw.shape(1)
    axis, index = draw.below(len(shape)), draw.choice(("int32", "uint8"))
    function = getattr(lax, name)
    return lambda x: function(x, axis, jnp.dtype(index)), draw.array(shape, draw.dtype(
        ("float32", "int32", "bool", "uint8")))


@maker("reduce")
def _(draw, name):
    shape = draw.shape()
    axes = draw.some(len(shape))
    operate = draw.choice(("two", "several"))
    if operate == "two":
        return lambda x, start: lax.reduce(
            x, start, lambda a, b: a * b + a + b, axes), \
            draw.array(shape, "int32"), draw.array((), "int32", 0, 1)
    return lambda x, y, a, b: lax.reduce(
        (x, y), (a, b), lambda a, b: (jnp.maximum(a[0], b[0]), a[1] + b[1]), axes), \
        draw.array(shape, "int32"), draw.array(shape, "float32"), \
        draw.array((), "int32", 0, 1), draw.array((), "float32", 0, 0)


@maker("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _(draw, name):
    shape = draw.shape(1)
    axis, reverse = draw.below(len(shape)), draw.flip()
    function = getattr(lax, name)
    return lambda x: function(x, axis, reverse), draw.array(shape, draw.dtype(
        ("float32",) if name == "cumlogsumexp" else ("float32", "int32")))


@maker("reduce_window_sum", "reduce_window_max", "reduce_window_min", "reduce_window")
def _(draw, name):
    shape, dtype = draw.shape(), draw.dtype(("float32", "int32"))
    window = [draw.random.randint(1, 2) for _ in shape]
    steps = [draw.random.randint(1, 2) for _ in shape]
    padding = draw.choice(("SAME", "VALID")) if draw.flip() else \
        [(draw.below(2), draw.below(2)) for _ in shape]
    kind = name[len("reduce_window_"):]
    operate = {"sum": lax.add, "max": lax.max, "min": lax.min, "": lambda a, b: a * b + a + b}
    start = {"sum": 0, "": 0}.get(kind)
    if start is None:
        least = jnp.finfo if dtype == "float32" else jnp.iinfo
        start = least(dtype).min if kind == "max" else least(dtype).max
        start = float("-inf" if kind == "max" else "inf") if dtype == "float32" else int(start)
    operate = operate[kind]
    return lambda x: lax.reduce_window(x, jnp.asarray(start, dtype), operate, window, steps,
                                       padding), draw.array(shape, dtype)


def _window(draw, shape):
    """Draws the window, the steps and the padding of a reduction."""
    window = [draw.random.randint(1, 3) for _ in shape]
    steps = [draw.random.randint(1, 3) for _ in shape]
    padding = [(draw.below(3), draw.below(3)) for _ in shape] if draw.flip() else \
        draw.choice(("SAME", "VALID"))
    return window, steps, padding


@maker("select_and_scatter_add")
def _(draw, name):
    """Draws the derivative of the maximum or minimum of a window. XLA aborts for rank 0."""
    shape, (start, operate) = draw.shape(1), draw.choice(((-jnp.inf, lax.max),
                                                          (jnp.inf, lax.min)))
    window, steps, padding = _window(draw, shape)
    if draw.below(4) == 0:  # many windows that do not overlap
        shape = (7,) * draw.choice((2, 3))
        window = steps = [draw.choice((4, 6))] * len(shape)
        padding = [(draw.below(2), draw.below(2)) for _ in shape]
    limit = draw.choice((0.5, 1))

    def with_nan(x):
        return jnp.where(x < limit, x, jnp.nan)

    return lambda x, weights: jax.grad(lambda x: (weights * lax.reduce_window(
        with_nan(x), start, operate, window, steps, padding)).sum())(x), \
        draw.array(shape, "float32"), draw.array((), "float32")


@maker("select_and_gather_add")
def _(draw, name):
    shape, (start, operate) = draw.shape(), draw.choice(((-jnp.inf, lax.max),
                                                         (jnp.inf, lax.min)))
    window, steps, padding = _window(draw, shape)
    return lambda x, y: jax.jvp(lambda x: lax.reduce_window(
        x, start, operate, window, steps, padding), [x], [y]), \
        draw.array(shape, "float32"), draw.array(shape, "float32")


@maker("sort")
def _(draw, name):
    shape, dtype = draw.shape(1), draw.dtype(("float32", "int32", "uint8"))
    axis, keys = draw.below(len(shape)), draw.choice((1, 2))
    operands = [draw.array(shape, dtype) for _ in range(keys)]
    return lambda *x: lax.sort(x, axis, num_keys=keys), *operands


@maker("top_k", "approx_top_k")
def _(draw, name):
    shape = draw.shape(1)
    count = draw.below(shape[-1] + 1)
    return lambda x: lax.top_k(x, count) if name == "top_k" else \
        lax.approx_max_k(x, count), draw.array(shape, "float32")


# --- products ---------------------------------------------------------------------------

@maker("dot_general")
def _(draw, name):
    dtype = draw.dtype(("float32", "float32", "int32", "bfloat16"))
    a = draw.shape()
    order = draw.order(len(a))
    batch = draw.below(len(a) + 1)
    summed = draw.below(len(a) - batch + 1)
    common = order[:batch + summed]
    rest = draw.shape(0, 3 - len(common))
    b = [a[axis] for axis in common] + list(rest)
    places = draw.order(len(b))
    b = [b[place] for place in places]
    of_b = [places.index(i) for i in range(len(common))]
    numbers = ((common[batch:], of_b[batch:]), (common[:batch], of_b[:batch]))
    return lambda x, y: lax.dot_general(x, y, numbers), draw.array(a, dtype), \
        draw.array(b, dtype)


@maker("conv_general_dilated")
def _(draw, name):
    spatial = draw.below(3)
    groups = draw.choice((1, 1, 2))
    channels, features, batch = draw.choice((1, 2)), draw.choice((1, 2)), draw.below(3)
    x = (batch, channels * groups, *draw.random.choices((0, 1, 2, 2), k=spatial))
    w = (features * groups, channels, *draw.random.choices((1, 2), k=spatial))
    steps = [draw.choice((1, 2)) for _ in range(spatial)]
    padding = draw.choice(("SAME", "VALID"))
    return lambda a, b: lax.conv_general_dilated(
        a, b, steps, padding, feature_group_count=groups), draw.array(x, "float32"), \
        draw.array(w, "float32")


@maker("ragged_dot_general")
def _(draw, name):
    m, n, k, groups = (draw.below(3) for _ in range(4))
    return lambda a, b, sizes: lax.ragged_dot(a, b, sizes), draw.array((m, k), "float32"), \
        draw.array((groups, k, n), "float32"), draw.array((groups,), "int32", 0, 2)


@maker("symmetric_product")
def _(draw, name):
    n, k, outer = draw.below(3), draw.below(3), draw.shape(0, 1)
    return lambda a, c: lax.linalg.symmetric_product(
        a, c + jnp.swapaxes(c, -1, -2), alpha=2, beta=0.5), \
        draw.array((*outer, n, k), "float32"), draw.array((*outer, n, n), "float32")


@maker("cholesky_update")
def _(draw, name):
    n = draw.below(4)
    return lambda r, w: lax.linalg.cholesky_update(jnp.triu(r) + jnp.eye(n, dtype=r.dtype), w), \
        draw.array((n, n), "float32"), draw.array((n,), "float32", -1, 1)


@maker("tridiagonal_solve")
def _(draw, name):
    n, k, outer = draw.below(5), draw.below(3), draw.shape(0, 1)
    more = draw.choice((0, 2))  # 0: pivoting exchanges rows
    return lambda low, middle, high, b: lax.linalg.tridiagonal_solve(
        low, middle + more, high, b), draw.array((*outer, n), "float32", 1, 2), \
        draw.array((*outer, n), "float32"), draw.array((*outer, n), "float32", 2, 3), \
        draw.array((*outer, n, k), "float32")


@maker("lu_pivots_to_permutation")
def _(draw, name):
    outer, count = draw.shape(0, 2), draw.below(3)
    size = count + draw.below(2)
    return lambda x: lax.linalg.lu_pivots_to_permutation(x, size), \
        draw.array((*outer, count), "int32", 0, max(1, size))


@maker("custom_linear_solve")
def _(draw, name):
    n = draw.below(3)
    return lambda a, b: jnp.linalg.solve(a + 2 * jnp.eye(n), b), \
        draw.array((n, n), "float32"), draw.array((n, draw.below(3)), "float32")


@maker("cholesky")
def _(draw, name):
    n, outer = draw.below(3), draw.shape(0, 1)
    return lambda x: lax.linalg.cholesky(
        x @ jnp.swapaxes(x, -1, -2) + jnp.eye(n)), draw.array((*outer, n, n), "float32")


@maker("triangular_solve")
def _(draw, name):
    n, k, outer, left = draw.below(3), draw.below(3), draw.shape(0, 1), draw.flip()
    return lambda a, b: lax.linalg.triangular_solve(
        a + jnp.eye(n, dtype=a.dtype), b, left_side=left), draw.array((*outer, n, n), "float32"), \
        draw.array((*outer, n, k) if left else (*outer, k, n), "float32")


@maker("lu")
def _(draw, name):
    shape = (*draw.shape(0, 1), draw.choice((1, 2)), draw.choice((1, 2)))
    return lax.linalg.lu, draw.array(shape, "float32")
