"""Cases of single primitives of JAX: arrays of rank 0 to 3 with extents 0, 1 and 2.

Each primitive that batch.vmap leaves to jaxlib's passes, or that a rule rewrites, has a
maker. A maker draws a call of its primitive; a call that JAX refuses is drawn again.
Makers of products, calls, control and random numbers are in ranks_of_calls.py.
"""

import collections
import inspect
import random
import zlib

import jax
import jax.experimental.layout
import jax.numpy as jnp
import numpy
from jax import lax
from jax._src.core import new_jaxpr_eqn  # neither this nor lowering tables are public
from jax._src.interpreters import mlir
from jax.ad_checkpoint import checkpoint_name
from jax.extend import core

N = 3  # instances
FLOATS = ("float32", "float32", "float16", "bfloat16")
INTEGERS = ("int32", "int32", "int8", "uint8", "uint32", "int16")
MAKERS = {}
# Primitives that are tested elsewhere, by reason.
ELSEWHERE = {
    "extents that differ from instance to instance: check_extents.py":
        ("dim_as_value", "dimension_size", "shape_assertion"),
    "complex numbers, an error whose text names the type: refusals()":
        ("complex", "conj", "real", "imag"),
    "a part of derivatives, which no jaxpr has in the end": ("custom_lin",)}
# Primitives that jax.vmap does not support.
UNMAPPED = ("broadcast_to", "call_exported", "cholesky_update", "composite",
            "custom_partitioning", "linear_call", "ragged_dot_general", "threefry2x32")
_DRAWS = 200

# text: for messages.   function: of the arguments.
# arguments: arrays of N instances, or None for a constant, which `function` has.
Case = collections.namedtuple("Case", "name text function arguments")


class Draw:
    """Random choices of one case, and the operands of its call."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = numpy.random.default_rng(seed)
        self.arguments, self.text = [], []

    def flip(self):
        return self.random.random() < 0.5

    def below(self, end):
        return self.random.randrange(end)

    def choice(self, values):
        return self.random.choice(list(values))

    def shape(self, low=0, high=3):
        return tuple(self.random.choices((0, 1, 1, 2, 2), k=self.random.randint(low, high)))

    def shape_within(self, shape, least=0):
        return tuple(self.random.randint(min(least, n), n) for n in shape)

    def some(self, rank, count=None):
        """Different axes, in order."""
        count = self.below(rank + 1) if count is None else count
        return tuple(sorted(self.random.sample(range(rank), count)))

    def order(self, rank):
        return tuple(self.random.sample(range(rank), rank))

    def dtype(self, kinds=FLOATS + INTEGERS + ("bool",)):
        return self.choice(kinds)

    def array(self, shape, dtype=None, low=None, high=None):
        """An operand. One in five is a constant."""
        dtype = jnp.dtype(dtype or self.dtype())
        is_constant = self.below(5) == 0
        full = tuple(shape) if is_constant else (N, *shape)
        if jnp.issubdtype(dtype, jnp.floating):
            values = self.values.uniform(0.2 if low is None else low,
                                         0.9 if high is None else high, full)
        elif dtype == bool:
            values = self.values.integers(0, 2, full)
        else:
            values = self.values.integers(1 if low is None else low,
                                          5 if high is None else high, full)
        values = numpy.asarray(values).astype(dtype)
        self.text.append("%s%s%s" % (dtype.name, list(shape), " constant" * is_constant))
        self.arguments.append(values)
        return (values, is_constant)

    def indices(self, shape, end=3):
        return self.array(shape, self.choice(("int32", "int8", "uint32")), 0, end)


def maker(*names):
    """Registers a function of a Draw and the primitive's name. It returns a function of
    arrays and the operands that it takes."""
    def register(function):
        for name in names:
            assert name not in MAKERS, name
            MAKERS[name] = function
        return function
    return register


def make(name, seed):
    """A case of a primitive; the same for the same seed."""
    for number in range(_DRAWS):
        draw = Draw(zlib.crc32(("%s %d %d" % (name, seed, number)).encode()))
        try:
            found = MAKERS[name](draw, name)
            if not found:
                continue
            function, *operands = found
            case = _case(name, draw, function, operands)
            jax.eval_shape(reference(case), *case.arguments)
        except (TypeError, ValueError, IndexError, ZeroDivisionError, AssertionError,
                NotImplementedError):
            continue  # JAX has no such call
        return case
    raise ValueError("JAX accepts none of %d calls of %s" % (_DRAWS, name))


def reference(case):
    """A function whose results batch.vmap of a case must give."""
    if case.name in UNMAPPED:
        return lambda *arguments: lax.map(lambda values: case.function(*values), arguments)
    return jax.vmap(case.function)


def primitives():
    """All primitives that JAX lowers for CPUs, or for all platforms, by name."""
    tables = [mlir._lowerings] + list(mlir._platform_specific_lowerings.values())
    return {primitive.name: primitive for table in tables for primitive in table}


def bind(name, *operands, **params):
    return primitives()[name].bind(*operands, **params)


def refusals():
    """Functions of a matrix that call a refused primitive, by its name."""
    linalg, numbers = lax.linalg, jnp.arange(4, dtype="uint32")

    def then(x, *_):
        return x

    calls = {
        "fft": lambda x: lax.fft(lax.complex(x, x), lax.FftType.FFT, (2,)),
        "eig": lambda x: jnp.linalg.eig(x)[0].real, "eigh": jnp.linalg.eigh,
        "svd": jnp.linalg.svd, "qr": linalg.qr, "schur": linalg.schur,
        "hessenberg": linalg.hessenberg, "tridiagonal": linalg.tridiagonal,
        "geqrf": lambda x: bind("geqrf", x),
        "householder_product": lambda x: linalg.householder_product(x, x[0]),
        "pure_callback": lambda x: jax.pure_callback(then, x, x),
        "io_callback": lambda x: jax.experimental.io_callback(then, x, x),
        "debug_callback": lambda x: then(x, jax.debug.callback(then, x)),
        "debug_print": lambda x: then(x, jax.debug.print("{}", x)),
        "ffi_call": lambda x: jax.ffi.ffi_call("none", x)(x),
        "psum": lambda x: jax.vmap(lambda y: lax.psum(y, "i"), axis_name="i")(x),
        "rng_uniform": lambda x: lax.rng_uniform(x[0, 0], x[0, 1], (2,)),
        "rng_bit_generator": lambda x: then(*lax.rng_bit_generator(numbers, (2,))),
        "complex": lambda x: lax.complex(x, x)}
    return {name: function for name, function in calls.items() if name in primitives()}


def equation_of(primitive):
    """A jaxpr with one equation of a primitive, of arbitrary types."""
    a, b = (core.Var(jax.core.ShapedArray((2,), jnp.float32)) for _ in range(2))
    equation = new_jaxpr_eqn([a], [b], primitive, {}, frozenset())
    return core.ClosedJaxpr(core.Jaxpr((), [a], [b], [equation]), [])


def _case(name, draw, function, operands):
    fixed = [value if is_constant else None for value, is_constant in operands]
    given = [value for value, is_constant in operands if not is_constant]
    given = given or [numpy.zeros(N, numpy.float32)]

    def call(*values):
        values = iter(values)
        return function(*(next(values) if constant is None else jnp.asarray(constant)
                          for constant in fixed))

    words = []
    if function.__closure__:
        words = ["%s=%r" % (key, value) for key, value in sorted(
            inspect.getclosurevars(function).nonlocals.items())
            if isinstance(value, (int, str, tuple, list, dict))]
    return Case(name, "%s(%s)" % (name, ", ".join(draw.text + words)), call, given)


# --- elementwise ------------------------------------------------------------------------

_FLOAT = ("acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos cosh "
          "digamma erf erf_inv erfc exp exp2 expm1 floor is_finite lgamma log log1p "
          "logistic rsqrt sin sinh sqrt tan tanh").split()
_ANY = "abs sign neg square stop_gradient".split()


@maker(*_FLOAT)
def _(draw, name):
    low, high = (1.1, 2) if name == "acosh" else (None, None)
    return getattr(lax, name), draw.array(draw.shape(), draw.dtype(("float32",)), low, high)


@maker(*_ANY)
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
    """Primitives that JAX makes in derivatives and sorting."""
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
    """An array of arbitrary values, of which only the shape is read."""
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
    """Primitives that return their operand."""
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
    """Of any form that JAX takes."""
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
    # Of several updates of one place by `scatter` JAX leaves open which one stays.
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
    """The parameters of a reduction over windows."""
    window = [draw.random.randint(1, 3) for _ in shape]
    steps = [draw.random.randint(1, 3) for _ in shape]
    padding = [(draw.below(3), draw.below(3)) for _ in shape] if draw.flip() else \
        draw.choice(("SAME", "VALID"))
    return window, steps, padding


@maker("select_and_scatter_add")
def _(draw, name):
    """The derivative of the maximum or minimum of a window. XLA aborts where there is
    no axis."""
    shape, (start, operate) = draw.shape(1), draw.choice(((-jnp.inf, lax.max),
                                                          (jnp.inf, lax.min)))
    window, steps, padding = _window(draw, shape)
    if draw.below(4) == 0:  # many places that do not overlap
        shape = (7,) * draw.choice((2, 3))
        window = steps = [draw.choice((4, 6))] * len(shape)
        padding = [(draw.below(2), draw.below(2)) for _ in shape]
    limit = draw.choice((0.5, 1))

    def with_nan(x):
        return jnp.where(x < limit, x, jnp.nan)  # for all of x from limit on

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
