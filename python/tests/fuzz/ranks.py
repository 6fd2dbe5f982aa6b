"""Random calls of single JAX primitives: arrays of rank 0 to 3 with extents 0, 1 and 2.

Each primitive that batch.vmap lowers with jaxlib's passes, or that a rule replaces, has a
maker: a function that draws a call of the primitive. Calls that JAX rejects are drawn again.
Modules ranks_of_*.py register the makers.
"""

import collections
import inspect
import random
import zlib

import jax
import jax.experimental
import jax.numpy as jnp
import numpy
from jax import lax
from jax._src.core import new_jaxpr_eqn  # neither this function nor the lowering tables are public
from jax._src.interpreters import mlir
from jax.extend import core

N = 3  # number of instances
FLOATS = ("float32", "float32", "float16", "bfloat16")
INTEGERS = ("int32", "int32", "int8", "uint8", "uint32", "int16")
MAKERS = {}
# Primitives without a maker, by reason.
ELSEWHERE = {
    "symbolic extents: tests of ragged arrays":
        ("dim_as_value", "dimension_size", "shape_assertion"),
    "complex numbers, an error whose text names the type: refusals()":
        ("complex", "conj", "real", "imag"),
    "a part of derivatives, which no final jaxpr contains": ("custom_lin",)}
# Primitives that jax.vmap does not support.
UNMAPPED = ("broadcast_to", "call_exported", "cholesky_update", "composite",
            "custom_partitioning", "linear_call", "ragged_dot_general", "threefry2x32")
_DRAWS = 200

# text: description for messages.
# function: takes the arguments.
# arguments: arrays of N instances. `function` contains the constants.
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
        """Returns distinct axes in increasing order."""
        count = self.below(rank + 1) if count is None else count
        return tuple(sorted(self.random.sample(range(rank), count)))

    def order(self, rank):
        return tuple(self.random.sample(range(rank), rank))

    def dtype(self, kinds=FLOATS + INTEGERS + ("bool",)):
        return self.choice(kinds)

    def array(self, shape, dtype=None, low=None, high=None):
        """Returns an operand. One in five is a constant."""
        dtype = jnp.dtype(dtype or self.dtype())
        is_constant = self.below(5) == 0
        full = tuple(shape) if is_constant else (N, *shape)
        if jnp.issubdtype(dtype, jnp.floating):
            values = self.values.uniform(0.2 if low is None else low,
                                         0.9 if high is None else high, full)
        elif dtype.kind == "b":
            values = self.values.integers(0, 2, full)
        else:
            values = self.values.integers(1 if low is None else low,
                                          5 if high is None else high, full)
        values = numpy.asarray(values).astype(dtype)
        self.text.append(f"{dtype.name}{list(shape)}{' constant' * is_constant}")
        self.arguments.append(values)
        return (values, is_constant)

    def indices(self, shape, end=3):
        return self.array(shape, self.choice(("int32", "int8", "uint32")), 0, end)


def maker(*names):
    """Registers a maker of the primitives with these names.

    A maker takes a Draw and the primitive's name. It returns a function of arrays and the
    operands of that function, or None to be called again.
    """
    def register(function):
        for name in names:
            assert name not in MAKERS, name
            MAKERS[name] = function
        return function
    return register


def make(name, seed):
    """Returns the case of a primitive for a seed."""
    for number in range(_DRAWS):
        draw = Draw(zlib.crc32(f"{name} {seed} {number}".encode()))
        try:
            found = MAKERS[name](draw, name)
            if not found:
                continue
            function, *operands = found
            case = _case(name, draw, function, operands)
            jax.eval_shape(reference(case), *case.arguments)
        except (TypeError, ValueError, IndexError, ZeroDivisionError, AssertionError,
                NotImplementedError):
            continue  # JAX rejects the call
        return case
    raise ValueError(f"JAX accepts none of {_DRAWS} calls of {name}")


def reference(case):
    """Returns a function that computes the results expected from batch.vmap for a case."""
    if case.name in UNMAPPED:
        return lambda *arguments: lax.map(lambda values: case.function(*values), arguments)
    return jax.vmap(case.function)


def primitives():
    """Returns, by name, all primitives that JAX lowers for CPUs or for all platforms."""
    tables = [mlir._lowerings] + list(mlir._platform_specific_lowerings.values())
    return {primitive.name: primitive for table in tables for primitive in table}


def bind(name, *operands, **params):
    return primitives()[name].bind(*operands, **params)


def refusals():
    """Returns {name of an unsupported primitive: function that calls it with a matrix}."""
    linalg = lax.linalg

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
        "rng_bit_generator": lambda x: then(
            *lax.rng_bit_generator(jnp.arange(4, dtype="uint32"), (2,))),
        "complex": lambda x: lax.complex(x, x)}
    return {name: function for name, function in calls.items() if name in primitives()}


def equation_of(primitive):
    """Returns a jaxpr with one equation of a primitive. Its types are arbitrary."""
    a, b = (core.Var(jax.core.ShapedArray((2,), jnp.float32)) for _ in range(2))
    equation = new_jaxpr_eqn([a], [b], primitive, {}, frozenset())
    empty = jax.make_jaxpr(lambda: ())().jaxpr
    return core.ClosedJaxpr(empty.replace(invars=[a], outvars=[b], eqns=[equation]), [])


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
        words = [f"{key}={value!r}" for key, value in sorted(
            inspect.getclosurevars(function).nonlocals.items())
            if isinstance(value, (int, str, tuple, list, dict))]
    return Case(name, f"{name}({', '.join(draw.text + words)})", call, given)
