"""Random calls of elementwise primitives and of array primitives."""

import jax
import jax.experimental.layout
import jax.numpy as jnp
import numpy
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from fuzz.ranks import FLOATS, INTEGERS, bind, maker

# --- elementwise ------------------------------------------------------------------------


@maker("acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i0e", "bessel_i1e", "cbrt",
       "ceil", "cos", "cosh", "digamma", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1",
       "floor", "is_finite", "lgamma", "log", "log1p", "logistic", "rsqrt", "sin", "sinh",
       "sqrt", "tan", "tanh")
def _(draw, name):
    low, high = (1.1, 2) if name == "acosh" else (None, None)
    return getattr(lax, name), draw.array(draw.shape(), draw.dtype(("float32",)), low, high)


@maker("abs", "sign", "neg", "square", "stop_gradient")
def _(draw, name):
    return getattr(lax, name), draw.array(draw.shape(), draw.dtype(FLOATS + INTEGERS))


@maker("not", "population_count", "clz")
def _(draw, name):
    function = getattr(lax, {"not": "bitwise_not"}.get(name, name))
    return function, draw.array(draw.shape(), draw.dtype(INTEGERS))


@maker("round")
def _(draw, name):
    method = draw.choice(lax.RoundingMethod)
    return lambda x: lax.round(x, method), draw.array(draw.shape(), "float32", -3, 3)


@maker("integer_pow")
def _(draw, name):
    power = draw.below(5)
    return lambda x: lax.integer_pow(x, power), draw.array(draw.shape(), draw.dtype(
        ("float32", "int32")))


@maker("reduce_precision")
def _(draw, name):
    bits, mantissa = draw.choice(((8, 7), (5, 10), (8, 23), (4, 3)))
    return lambda x: lax.reduce_precision(x, bits, mantissa), \
        draw.array(draw.shape(), draw.dtype(("float32",)))


@maker("add_any", "eq_to", "le_to", "lt_to", "tie")
def _(draw, name):
    """Draws primitives that JAX creates for derivatives and sorting."""
    shape, dtype = draw.shape(), draw.dtype(("float32", "int32", "uint8", "bfloat16"))
    return lambda a, b: bind(name, a, b), draw.array(shape, dtype), draw.array(shape, dtype)


@maker("mulhi")
def _(draw, name):
    shape, dtype = draw.shape(), draw.dtype(INTEGERS)
    info = jnp.iinfo(dtype)
    a, b = (draw.array(shape, dtype, info.min, int(info.max) + 1) for _ in range(2))
    return lambda a, b: bind(name, a, b), a, b


@maker("add", "sub", "mul", "max", "min", "eq", "ne", "ge", "gt", "le", "lt", "div", "rem")
def _(draw, name):
    kinds = FLOATS + INTEGERS + (() if name in ("add", "sub", "mul", "div", "rem")
                                 else ("bool",))
    shape, dtype = draw.shape(), draw.dtype(kinds)
    return getattr(lax, name), draw.array(shape, dtype), draw.array(shape, dtype)


@maker("pow", "atan2", "nextafter", "igamma", "igammac", "igamma_grad_a", "zeta",
       "polygamma")
def _(draw, name):
    shape, low = draw.shape(), {"zeta": 1.5, "polygamma": 1}.get(name)
    if name == "polygamma":
        return lambda x: lax.polygamma(jnp.ones_like(x), x), draw.array(shape, "float32")
    high = low and 3
    return getattr(lax, name), draw.array(shape, "float32", low, high), \
        draw.array(shape, "float32", low, high)


@maker("and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical")
def _(draw, name):
    shape, dtype = draw.shape(), draw.dtype(INTEGERS)
    function = getattr(lax, name if "_" in name else "bitwise_" + name)
    return function, draw.array(shape, dtype), draw.array(shape, dtype)


@maker("clamp")
def _(draw, name):
    shape, dtype = draw.shape(), draw.dtype(FLOATS + INTEGERS)
    ends = shape if draw.flip() else ()
    return lax.clamp, draw.array(ends, dtype), draw.array(shape, dtype), \
        draw.array(ends, dtype)


@maker("select_n")
def _(draw, name):
    shape, dtype, count = draw.shape(), draw.dtype(), draw.choice((1, 2, 2, 3))
    which = draw.array(() if draw.flip() else shape, "bool" if count < 3 else "int32", 0,
                       count)
    return lax.select_n, which, *(draw.array(shape, dtype) for _ in range(count))


@maker("regularized_incomplete_beta")
def _(draw, name):
    shape = draw.shape()
    return lax.betainc, *(draw.array(shape, "float32") for _ in range(3))


@maker("convert_element_type")
def _(draw, name):
    to = draw.dtype()
    return lambda x: lax.convert_element_type(x, to), draw.array(draw.shape())


@maker("bitcast_convert_type")
def _(draw, name):
    to = draw.dtype(FLOATS + INTEGERS)
    return lambda x: lax.bitcast_convert_type(x, jnp.dtype(to)), \
        draw.array(draw.shape(), draw.dtype(FLOATS + INTEGERS))


# --- arrays -----------------------------------------------------------------------------

@maker("broadcast_in_dim")
def _(draw, name):
    result = draw.shape()
    axes = draw.some(len(result))
    shape = [result[axis] if draw.flip() else 1 for axis in axes]
    return lambda x: lax.broadcast_in_dim(x, result, axes), draw.array(shape)


@maker("broadcast_to")
def _(draw, name):
    result = draw.shape()
    shape = [n if draw.flip() else 1 for n in result]
    return lambda x: bind(name, x, shape=result), draw.array(shape)


@maker("empty", "empty2")
def _(draw, name):
    """Draws an array of arbitrary values. The case reads only its shape."""
    shape = draw.shape()
    if name == "empty":
        return lambda x: x + jnp.zeros_like(lax.empty(shape, "float32")), \
            draw.array(shape, "float32")
    space = jax.memory.Space.Device
    return lambda x: x + jnp.zeros_like(bind(name, dtype=jnp.dtype("float32"),
                                              memory_space=space)), \
        draw.array((), "float32")


@maker("reshape")
def _(draw, name):
    shape, to = draw.shape(), draw.shape()
    if numpy.prod(shape) != numpy.prod(to):
        return None
    return lambda x: lax.reshape(x, to), draw.array(shape)


@maker("squeeze")
def _(draw, name):
    shape = draw.shape()
    axes = [axis for axis, n in enumerate(shape) if n == 1 and draw.flip()]
    return lambda x: lax.squeeze(x, axes), draw.array(shape)


@maker("expand_dims")
def _(draw, name):
    shape, axis = draw.shape(0, 2), draw.below(3)
    return lambda x: lax.expand_dims(x, [axis]), draw.array(shape)


@maker("transpose")
def _(draw, name):
    shape = draw.shape()
    axes = draw.order(len(shape))
    return lambda x: lax.transpose(x, axes), draw.array(shape)


@maker("rev")
def _(draw, name):
    shape = draw.shape()
    axes = draw.some(len(shape))
    return lambda x: lax.rev(x, axes), draw.array(shape)


@maker("slice")
def _(draw, name):
    shape = draw.shape()
    begin = draw.shape_within(shape)
    end = [draw.random.randint(low, n) for low, n in zip(begin, shape)]
    step = [draw.choice((1, 1, 2)) for _ in shape] if draw.flip() else None
    return lambda x: lax.slice(x, begin, end, step), draw.array(shape)


@maker("dynamic_slice")
def _(draw, name):
    shape = draw.shape()
    sizes = draw.shape_within(shape)
    return lambda x, *begin: lax.dynamic_slice(x, begin, sizes), draw.array(shape), \
        *(draw.indices(()) for _ in shape)


@maker("dynamic_update_slice")
def _(draw, name):
    shape, dtype = draw.shape(), draw.dtype()
    update = draw.shape_within(shape)
    return lambda x, new, *begin: lax.dynamic_update_slice(x, new, begin), \
        draw.array(shape, dtype), draw.array(update, dtype), \
        *(draw.indices(()) for _ in shape)


@maker("concatenate")
def _(draw, name):
    shape, dtype = draw.shape(1), draw.dtype()
    axis = draw.below(len(shape))
    shapes = [shape[:axis] + (draw.below(3),) + shape[axis + 1:]
              for _ in range(draw.random.randint(1, 3))]
    return lambda *x: lax.concatenate(x, axis), *(draw.array(s, dtype) for s in shapes)


@maker("pad")
def _(draw, name):
    shape, dtype = draw.shape(), draw.dtype()
    config = [(draw.random.randint(-1, 2), draw.random.randint(-1, 2), draw.below(2))
              for _ in shape]
    return lambda x, value: lax.pad(x, value, config), draw.array(shape, dtype), \
        draw.array((), dtype)


@maker("iota")
def _(draw, name):
    shape, dtype = draw.shape(1), draw.dtype(FLOATS + INTEGERS)
    axis = draw.below(len(shape))
    return lambda: lax.broadcasted_iota(jnp.dtype(dtype), shape, axis),


@maker("split")
def _(draw, name):
    shape = draw.shape(1)
    axis = draw.below(len(shape))
    first = draw.below(shape[axis] + 1)
    sizes = [first, shape[axis] - first]
    return lambda x: lax.split(x, sizes, axis), draw.array(shape)


@maker("tile")
def _(draw, name):
    shape = draw.shape()
    times = [draw.below(3) for _ in shape]
    return lambda x: jnp.tile(x, times), draw.array(shape)


@maker("stack")
def _(draw, name):
    shape, dtype = draw.shape(0, 2), draw.dtype()
    axis = draw.below(len(shape) + 1)
    return lambda *x: jnp.stack(x, axis), \
        *(draw.array(shape, dtype) for _ in range(draw.choice((1, 2))))


@maker("unstack")
def _(draw, name):
    shape = draw.shape(1)
    axis = draw.below(len(shape))
    return lambda x: jnp.unstack(x, axis=axis), draw.array(shape)


@maker("copy")
def _(draw, name):
    return jnp.copy, draw.array(draw.shape())


@maker("device_put", "name", "stage", "sharding_constraint", "layout_constraint")
def _(draw, name):
    """Draws primitives that return their operand."""
    shape = draw.shape()
    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    function = {
        "device_put": lambda x: jax.device_put(x, jax.devices()[0]),
        "stage": lambda x: bind(name, x),
        "name": lambda x: checkpoint_name(x, "a name"),
        "sharding_constraint": lambda x: lax.with_sharding_constraint(x, place),
        "layout_constraint": lambda x: bind(
            name, lax.optimization_barrier(x),
            layout=jax.experimental.layout.Layout(tuple(range(x.ndim))))}[name]
    return lambda x: function(x), draw.array(shape)


@maker("optimization_barrier")
def _(draw, name):
    return lax.optimization_barrier, draw.array(draw.shape())


@maker("gather")
def _(draw, name):
    """Draws gathers of all forms."""
    shape = draw.shape()
    rank = len(shape)
    places = draw.order(rank)[:draw.below(rank + 1)]
    collapsed = tuple(axis for axis in range(rank) if draw.flip())
    sizes = [min(n, 1) if axis in collapsed else draw.random.randint(0, n)
             for axis, n in enumerate(shape)]
    batch = draw.shape(0, 2)
    offsets = draw.some(len(batch) + rank - len(collapsed), rank - len(collapsed))
    numbers = lax.GatherDimensionNumbers(offsets, collapsed, places)
    mode = draw.choice(("clip", "fill", "promise_in_bounds"))
    end = 1 if mode == "promise_in_bounds" else 4
    return lambda x, at: lax.gather(x, at, numbers, sizes, mode=mode), draw.array(shape), \
        draw.indices(batch + (len(places),), end)


@maker("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max")
def _(draw, name):
    kind = name.replace("-", "_")
    shape, dtype = draw.shape(), draw.dtype(("float32", "int32"))
    rank = len(shape)
    places = draw.order(rank)[:draw.below(rank + 1)]
    inserted = tuple(axis for axis in range(rank) if draw.flip())
    window = [draw.random.randint(0, n) for axis, n in enumerate(shape)
              if axis not in inserted]
    # If several updates of `scatter` write the same element, JAX does not specify the result.
    batch = draw.shape(0, 2) if name != "scatter" else (1,) * draw.below(3)
    axes = draw.some(len(batch) + len(window), len(window))
    of_batch, of_window = iter(batch), iter(window)
    updates = [next(of_window if axis in axes else of_batch)
               for axis in range(len(batch) + len(window))]
    numbers = lax.ScatterDimensionNumbers(axes, inserted, places)
    mode = draw.choice(("clip", "drop"))
    return lambda x, at, new: getattr(lax, kind)(x, at, new, numbers, mode=mode), \
        draw.array(shape, dtype), draw.indices(batch + (len(places),), 4), \
        draw.array(updates, dtype)
