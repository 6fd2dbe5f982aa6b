"""Elementwise operations, products and tensor constructors."""

import math
import operator

import jax
import jax.numpy as jnp
from jax import lax

from batch.torch.aten.registry import as_type, rule

# --- elements ----------------------------------------------------------------------------

# Unary operations that compute in the result's type.
for _name, _function in {
        "abs": jnp.abs, "neg": jnp.negative, "exp": jnp.exp, "exp2": jnp.exp2,
        "expm1": jnp.expm1, "log": jnp.log, "log1p": jnp.log1p, "log2": jnp.log2,
        "log10": jnp.log10, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "sin": jnp.sin,
        "cos": jnp.cos, "tan": jnp.tan, "asin": jnp.arcsin, "acos": jnp.arccos,
        "atan": jnp.arctan, "sinh": jnp.sinh, "cosh": jnp.cosh, "tanh": jnp.tanh,
        "asinh": jnp.arcsinh, "acosh": jnp.arccosh, "atanh": jnp.arctanh,
        "erf": lax.erf, "lgamma": lax.lgamma, "digamma": lax.digamma, "ceil": jnp.ceil,
        "floor": jnp.floor, "trunc": jnp.trunc,
        "sign": jnp.sign, "reciprocal": jnp.reciprocal, "sigmoid": jax.nn.sigmoid,
        "relu": jax.nn.relu, "bitwise_not": jnp.bitwise_not}.items():
    rule(_name)(lambda out, x, function=_function: function(as_type(x, out.dtype)))

# Unary operations that compute in the argument's type.
for _name, _function in {
        "isnan": jnp.isnan, "isinf": jnp.isinf, "logical_not": jnp.logical_not,
        "clone": lambda x: x, "alias": lambda x: x, "_to_copy": lambda x: x}.items():
    rule(_name)(lambda out, x, function=_function: function(x))


@rule("round")
def _(out, x, decimals=0):
    x = as_type(x, out.dtype)
    return jnp.round(x, decimals) if jnp.issubdtype(out.dtype, jnp.floating) else x


for _name, _function in {
        "mul": jnp.multiply, "maximum": jnp.maximum, "minimum": jnp.minimum,
        "atan2": jnp.arctan2, "hypot": jnp.hypot, "fmod": jnp.fmod,
        "remainder": jnp.remainder,
        "bitwise_and": jnp.bitwise_and, "bitwise_or": jnp.bitwise_or,
        "bitwise_xor": jnp.bitwise_xor, }.items():
    rule(_name)(lambda out, x, y, function=_function: function(
        as_type(x, out.dtype), as_type(y, out.dtype)))


@rule("add")
def _(out, x, y, alpha=1):
    y = as_type(y, out.dtype)
    if jnp.issubdtype(out.dtype, jnp.bool_):
        return as_type(x, out.dtype) | y
    return as_type(x, out.dtype) + (y if alpha == 1 else alpha * y)


@rule("sub")
def _(out, x, y, alpha=1):
    y = as_type(y, out.dtype)
    return as_type(x, out.dtype) - (y if alpha == 1 else alpha * y)


@rule("div")
def _(out, x, y, rounding_mode=None):
    x, y = as_type(x, out.dtype), as_type(y, out.dtype)
    if rounding_mode == "floor":
        return jnp.floor_divide(x, y)
    if rounding_mode == "trunc":
        return lax.div(*jnp.broadcast_arrays(x, y)) \
            if jnp.issubdtype(out.dtype, jnp.integer) else jnp.trunc(x / y)
    return x / y


@rule("pow")
def _(out, x, y):
    if isinstance(y, (int, float)) and float(y).is_integer() and abs(y) < 64 and \
            not isinstance(x, (int, float)):
        return as_type(x, out.dtype) ** int(y)
    return jnp.power(as_type(x, out.dtype), as_type(y, out.dtype))


def _common(x, y):
    """Returns the operands of a comparison, cast to the type in which they are compared.

    If both are of the same kind and only one has dimensions, both get the type of that one.
    Otherwise, they are unchanged.
    """
    ranks = [bool(jnp.ndim(value)) for value in (x, y)]
    kinds = [jnp.asarray(value).dtype.kind for value in (x, y)]
    if ranks[0] != ranks[1] and kinds[0] == kinds[1]:
        dtype = (x if ranks[0] else y).dtype
        return as_type(x, dtype), as_type(y, dtype)
    return x, y


for _function in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt,
                  operator.ge):
    rule(_function.__name__)(lambda out, x, y, function=_function: function(
        *_common(jnp.asarray(x), y)))
for _name, _function in {"logical_and": jnp.logical_and, "logical_or": jnp.logical_or,
                         "logical_xor": jnp.logical_xor}.items():
    rule(_name)(lambda out, x, y, function=_function: function(x, y))


@rule("__lshift__")
def _(out, x, y):
    return lax.shift_left(*jnp.broadcast_arrays(as_type(x, out.dtype), as_type(y, out.dtype)))


@rule("__rshift__")
def _(out, x, y):
    shift = lax.shift_right_logical if jnp.issubdtype(out.dtype, jnp.unsignedinteger) \
        else lax.shift_right_arithmetic
    return shift(*jnp.broadcast_arrays(as_type(x, out.dtype), as_type(y, out.dtype)))


@rule("clamp", "hardtanh")
def _(out, x, low=None, high=None, min=None, max=None):
    low, high = (a if a is not None else b for a, b in ((low, min), (high, max)))
    if out.name == "aten.hardtanh":
        low, high = (-1 if low is None else low), (1 if high is None else high)
    x = as_type(x, out.dtype)
    x = x if low is None else jnp.maximum(x, as_type(low, out.dtype))
    return x if high is None else jnp.minimum(x, as_type(high, out.dtype))


@rule("gelu")
def _(out, x, approximate="none"):
    return jax.nn.gelu(x, approximate=approximate == "tanh")


@rule("elu")
def _(out, x, alpha=1.0, scale=1.0, input_scale=1.0):
    return scale * jnp.where(x > 0, x, alpha * jnp.expm1(input_scale * jnp.minimum(x, 0)))


@rule("leaky_relu")
def _(out, x, slope=0.01):
    return jnp.where(x > 0, x, slope * x)


@rule("where")
def _(out, condition, x, y):
    return jnp.where(condition, as_type(x, out.dtype), as_type(y, out.dtype))


# --- products ----------------------------------------------------------------------------

@rule("linear")
def _(out, x, weight, bias=None):
    if math.prod(x.shape[:-1]) == 1:  # for a vector, read the matrix as it is stored
        result = (weight @ x.reshape(-1)).reshape(out.shape)
    else:
        result = lax.dot_general(x, weight, (((x.ndim - 1,), (1,)), ((), ())))
    return result if bias is None else result + bias


@rule("bmm", "matmul")
def _(out, x, y):
    return jnp.matmul(x, y)


@rule("addmm")
def _(out, x, a, b, beta=1, alpha=1):
    product = jnp.matmul(a, b)
    product = product if alpha == 1 else alpha * product
    return product + (x if beta == 1 else beta * x)


@rule("_trilinear")
def _(out, x, y, z, of_x, of_y, of_z, axes, unroll=1):
    x, y, z = (jnp.expand_dims(v, grown) for v, grown in ((x, of_x), (y, of_y), (z, of_z)))
    return (x * y * z).sum(tuple(axes))


@rule("convolution")
def _(out, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    rank = x.ndim - 2
    stride, padding, dilation, output_padding = (
        list(v) * rank if len(v) == 1 else list(v)
        for v in (stride, padding, dilation, output_padding))
    if transposed:
        # The shape (inputs, outputs per group, …) becomes (outputs, inputs per group, …).
        weight = jnp.flip(weight, range(2, weight.ndim))
        weight = weight.reshape((groups, weight.shape[0] // groups) + weight.shape[1:])
        weight = jnp.moveaxis(weight, 2, 1)
        weight = weight.reshape((-1,) + weight.shape[2:])
        reach = [d * (n - 1) for d, n in zip(dilation, weight.shape[2:])]
        ends = [(r - p, r - p + o) for r, p, o in zip(reach, padding, output_padding)]
        options = {"window_strides": [1] * rank, "lhs_dilation": stride}
    else:
        ends = [(p, p) for p in padding]
        options = {"window_strides": stride}
    result = lax.conv_general_dilated(x, weight, padding=ends, rhs_dilation=dilation,
                                      feature_group_count=groups, **options)
    return result if bias is None else result + bias.reshape((-1,) + (1,) * rank)


# --- tensor constructors -----------------------------------------------------------------

@rule("full", "full_like", "scalar_tensor")
def _(out, *arguments):
    return jnp.full(out.shape, as_type(arguments[-1], out.dtype), out.dtype)


@rule("empty", "empty_permuted")
def _(out, *_):
    return jnp.zeros(out.shape, out.dtype)


@rule("arange")
def _(out, *arguments):
    start, end, step = (0, *arguments, 1) if len(arguments) == 1 else (*arguments, 1)[:3]
    return jnp.arange(out.shape[0], dtype=out.dtype) * as_type(step, out.dtype) + \
        as_type(start, out.dtype)


def getitem(out, values, index):
    if values[index] is None:
        raise NotImplementedError(f"uses of its result {index}")
    return values[index]


# Reads a scalar, which may be an index. Assertions, such as those about its range, are ignored.
rule("_local_scalar_dense")(lambda out, x: x)
for _name in "_assert_async", "_assert_scalar", "_assert_tensor_metadata":
    rule(_name)(lambda out, *_, **__: None)
