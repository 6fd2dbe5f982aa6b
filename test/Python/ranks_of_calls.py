"""Cases of products, calls, control and random numbers for ranks.py."""

import jax
import jax.custom_batching
import jax.custom_derivatives
import jax.experimental.custom_partitioning
import jax.export
import jax.numpy as jnp
import jax.random
from jax import lax
from ranks import bind, maker, primitives


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
    more = draw.choice((0, 2))  # 0: rows change places
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


# --- calls and control ------------------------------------------------------------------

def _called(x):
    """Contains an update, which only a rule of Batch can compile."""
    y = x.reshape(-1)
    return (y.at[y.astype("int32")].add(2 * y, mode="drop") if y.size else y).reshape(x.shape)


@maker("jit", "call", "closed_call", "composite", "custom_jvp_call", "custom_vjp_call",
       "custom_vmap_call", "linear_call", "remat2", "remat_opt", "call_exported",
       "custom_partitioning")
def _(draw, name):
    shape = draw.shape()

    def closed(x):
        return jax.make_jaxpr(_called)(x)

    def call(x):
        return bind(name, x, **primitives()[name].get_bind_params(
            {"call_jaxpr": closed(x) if name == "closed_call" else closed(x).jaxpr}))[0]

    def vjp_call(optimize):
        function = jax.custom_vjp(_called)
        function.defvjp(lambda x: (_called(x), x), lambda x, y: (x * y,),
                        optimize_remat=optimize)
        return (lambda x: jax.vjp(function, x)[0]) if optimize else function

    def vmap_call(x):
        function = jax.custom_batching.custom_vmap(_called)
        function.def_vmap(lambda size, batched, x: (jax.vmap(_called)(x), True))
        return function(x)

    def jvp_call(x):
        function = jax.custom_jvp(_called)
        function.defjvp(lambda x, y: (_called(*x), *y))
        return function(x)

    def partitioned(x):
        function = jax.experimental.custom_partitioning.custom_partitioning(_called)
        function.def_partition(partition=lambda *_: None, sharding_rule="... -> ...")
        return function(x)

    function = {
        "jit": jax.jit(_called), "call": call, "closed_call": call,
        "composite": lambda x: lax.composite(_called, "test.called")(x),
        "custom_jvp_call": jvp_call, "custom_vjp_call": vjp_call(False),
        "remat_opt": vjp_call(True), "custom_vmap_call": vmap_call,
        "linear_call": lambda x: jax.custom_derivatives.linear_call(
            lambda _, x: 2 * x, lambda _, x: 2 * x, (), x),
        "remat2": jax.checkpoint(_called), "custom_partitioning": partitioned,
        "call_exported": lambda x: jax.export.export(jax.jit(lambda x: 2 * x))(x).call(x),
    }[name]
    return lambda x: function(x), draw.array(shape, "float32")


@maker("cond", "while", "scan", "platform_index")
def _(draw, name):
    shape = draw.shape(1 if name == "scan" else 0)
    if name == "platform_index":
        return lambda x: lax.platform_dependent(
            x, cpu=lambda x: 2 * x, default=lambda x: 3 * x), draw.array(shape)
    if name == "cond":
        return lambda which, x: lax.cond(which, lambda x: 2 * x, lambda x: x + 1, x), \
            draw.array((), "bool"), draw.array(shape, "float32")
    if name == "while":
        return lambda n, x: lax.while_loop(
            lambda carry: carry[0] < 5, lambda carry: (carry[0] + 1, 2 * carry[1]), (n, x)), \
            draw.array((), "int32", 0, 7), draw.array(shape, "float32")
    return lambda start, x: lax.scan(lambda a, row: (a + row, a * row), start, x), \
        draw.array(shape[1:], "float32"), draw.array(shape, "float32")


# --- random numbers ---------------------------------------------------------------------

@maker("random_seed", "random_wrap", "random_unwrap", "random_clone", "iota_2x32_shape")
def _(draw, name):
    """Primitives that calls with keys share."""
    shape = draw.shape(0, 2)
    if name == "iota_2x32_shape":
        return lambda: tuple(bind(name, shape=(2, *shape))),
    if name == "random_wrap":
        return lambda words: jax.random.bits(jax.random.wrap_key_data(words)), \
            draw.array((2,), "uint32")
    return lambda seed: jax.random.key_data(jax.random.clone(jax.random.key(seed))), \
        draw.array((), "int32", 0, 99)


@maker("random_gamma")
def _(draw, name):
    shape, function = draw.shape(), draw.choice((jax.random.gamma, jax.random.loggamma))
    return lambda seed, a: function(jax.random.key(seed), a), \
        draw.array((), "int32", 0, 99), draw.array(shape, "float32", 0.5, 3)


@maker("threefry2x32", "threefry4x32", "philox2x32", "philox4x32")
def _(draw, name):
    shape = draw.shape()
    count = {"threefry2x32": 4, "threefry4x32": 8, "philox2x32": 3, "philox4x32": 6}[name]
    return lambda *words: tuple(bind(name, *words)), \
        *(draw.array(shape, "uint32", 0, 2 ** 32) for _ in range(count))


@maker("random_bits")
def _(draw, name):
    shape, width = draw.shape(), draw.choice((8, 16, 32))
    dtype = jnp.dtype("uint%d" % width)
    return lambda seed: jax.random.bits(jax.random.key(seed), shape, dtype), \
        draw.array((), "int32", 0, 99)


@maker("random_split")
def _(draw, name):
    shape = draw.shape()
    return lambda seed: jax.random.key_data(jax.random.split(jax.random.key(seed), shape)), \
        draw.array((), "int32", 0, 99)


@maker("random_fold_in")
def _(draw, name):
    return lambda seed, number: jax.random.key_data(jax.random.fold_in(
        jax.random.key(seed), number)), draw.array((), "int32", 0, 99), \
        draw.array((), "int32", 0, 99)
