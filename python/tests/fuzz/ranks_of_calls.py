"""Random calls of primitives for function calls, control flow and random numbers."""

import jax
import jax.custom_batching
import jax.custom_derivatives
import jax.experimental.custom_partitioning
import jax.export
import jax.numpy as jnp
import jax.random
from jax import lax

from fuzz.ranks import bind, maker, primitives

# --- calls and control ------------------------------------------------------------------

def _called(x):
    """Contains an update, which Batch can compile only with a rule."""
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
    """Draws primitives that functions of random keys have in common."""
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
    dtype = jnp.dtype(f"uint{width}")
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
