"""Operations of PyTorch's, as JAX computes them: those that torch.export leaves of all.

A rule gets `out`, what PyTorch says of the result (shape and dtype; a list where there are
several), and the arguments of the operation, without those that say where a tensor lies.
What it returns is cast to `out.dtype`, so a rule need only compute in a type that is wide
enough; integers have 32 bits unless jax_enable_x64 is set, as in all of JAX.
"""

import math
import operator

import jax
import jax.numpy as jnp
import numpy
from jax import lax

RULES = {}  # by the name without an overload: "aten.add"


def rule(*names):
    def add(function):
        RULES.update(("aten." + name, function) for name in names)
        return function
    return add


def _as(value, dtype):
    return jnp.asarray(value).astype(dtype)


def _axes(axis, rank):
    """Axes of a reduction; none given are all."""
    if axis is None or isinstance(axis, (list, tuple)) and not axis:
        return tuple(range(rank))
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    return tuple(a % rank for a in axes) if rank else ()


def _at(rank, axis, index):
    """An index along one axis."""
    return (slice(None),) * (axis % max(rank, 1)) + (index,)


# --- elements ----------------------------------------------------------------------------

# Of a number in the result's type.
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
    rule(_name)(lambda out, x, function=_function: function(_as(x, out.dtype)))

# Of a number in its own type.
for _name, _function in {
        "isnan": jnp.isnan, "isinf": jnp.isinf, "logical_not": jnp.logical_not,
        "clone": lambda x: x, "alias": lambda x: x, "_to_copy": lambda x: x}.items():
    rule(_name)(lambda out, x, function=_function: function(x))


@rule("round")
def _(out, x, decimals=0):
    x = _as(x, out.dtype)
    return jnp.round(x, decimals) if jnp.issubdtype(out.dtype, jnp.floating) else x


for _name, _function in {
        "mul": jnp.multiply, "maximum": jnp.maximum, "minimum": jnp.minimum,
        "atan2": jnp.arctan2, "hypot": jnp.hypot, "fmod": jnp.fmod,
        "remainder": jnp.remainder,
        "bitwise_and": jnp.bitwise_and, "bitwise_or": jnp.bitwise_or,
        "bitwise_xor": jnp.bitwise_xor, }.items():
    rule(_name)(lambda out, x, y, function=_function: function(
        _as(x, out.dtype), _as(y, out.dtype)))


@rule("add")
def _(out, x, y, alpha=1):
    y = _as(y, out.dtype)
    if jnp.issubdtype(out.dtype, jnp.bool_):
        return _as(x, out.dtype) | y
    return _as(x, out.dtype) + (y if alpha == 1 else alpha * y)


@rule("sub")
def _(out, x, y, alpha=1):
    y = _as(y, out.dtype)
    return _as(x, out.dtype) - (y if alpha == 1 else alpha * y)


@rule("div")
def _(out, x, y, rounding_mode=None):
    x, y = _as(x, out.dtype), _as(y, out.dtype)
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
        return _as(x, out.dtype) ** int(y)
    return jnp.power(_as(x, out.dtype), _as(y, out.dtype))


def _common(x, y):
    """Of tensors of one kind, one with dimensions has the type in which to compare."""
    ranks = [bool(jnp.ndim(value)) for value in (x, y)]
    kinds = [jnp.asarray(value).dtype.kind for value in (x, y)]
    if ranks[0] != ranks[1] and kinds[0] == kinds[1]:
        dtype = (x if ranks[0] else y).dtype
        return _as(x, dtype), _as(y, dtype)
    return x, y


for _name in "eq", "ne", "lt", "le", "gt", "ge":
    rule(_name)(lambda out, x, y, function=getattr(operator, _name): function(
        *_common(jnp.asarray(x), y)))
for _name in "and", "or", "xor":
    rule("logical_" + _name)(
        lambda out, x, y, function=getattr(jnp, "logical_" + _name): function(x, y))


@rule("__lshift__")
def _(out, x, y):
    return lax.shift_left(*jnp.broadcast_arrays(_as(x, out.dtype), _as(y, out.dtype)))


@rule("__rshift__")
def _(out, x, y):
    shift = lax.shift_right_logical if jnp.issubdtype(out.dtype, jnp.unsignedinteger) \
        else lax.shift_right_arithmetic
    return shift(*jnp.broadcast_arrays(_as(x, out.dtype), _as(y, out.dtype)))


@rule("clamp", "hardtanh")
def _(out, x, low=None, high=None, min=None, max=None):
    low, high = (a if a is not None else b for a, b in ((low, min), (high, max)))
    if out.name == "aten.hardtanh":
        low, high = (-1 if low is None else low), (1 if high is None else high)
    x = _as(x, out.dtype)
    x = x if low is None else jnp.maximum(x, _as(low, out.dtype))
    return x if high is None else jnp.minimum(x, _as(high, out.dtype))


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
    return jnp.where(condition, _as(x, out.dtype), _as(y, out.dtype))


# --- products ----------------------------------------------------------------------------

@rule("linear")
def _(out, x, weight, bias=None):
    if math.prod(x.shape[:-1]) == 1:  # a vector: the matrix is read as it lies
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
        # (inputs, outputs of a group, …) becomes (outputs, inputs of a group, …).
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


# --- shapes ------------------------------------------------------------------------------

@rule("view", "squeeze", "unsqueeze")
def _(out, x, *_):
    return x.reshape(out.shape)


@rule("permute")
def _(out, x, axes):
    return jnp.transpose(x, [axis % x.ndim for axis in axes])


@rule("expand")
def _(out, x, *_, **__):
    return jnp.broadcast_to(x, out.shape)


@rule("repeat")
def _(out, x, times):
    return jnp.tile(x, times)


@rule("flip")
def _(out, x, axes):
    return jnp.flip(x, _axes(axes, x.ndim)) if axes else x


@rule("cat")
def _(out, values, axis=0):
    # Of old, a vector without elements goes with every shape.
    values = [_as(v, out.dtype) for v in values
              if v.shape != (0,) or len(out.shape) == 1]
    return jnp.concatenate(values, axis)


@rule("split_with_sizes")
def _(out, x, sizes, axis=0):
    ends = numpy.cumsum([0] + list(sizes))
    return [lax.slice_in_dim(x, int(a), int(b), axis=axis)
            for a, b in zip(ends, ends[1:])]


@rule("select")
def _(out, x, axis, index):
    index_in = lax.index_in_dim if isinstance(index, int) else lax.dynamic_index_in_dim
    return index_in(x, index, axis, keepdims=False)


def _range(x, axis, start, end, step):
    n = x.shape[axis]
    start, end = (min(max(v + n if v < 0 else v, 0), n)
                  for v in (0 if start is None else start, n if end is None else end))
    return start, max(start, end), step


@rule("slice")
def _(out, x, axis=0, start=None, end=None, step=1):
    if not isinstance(start, (int, type(None))):
        return lax.dynamic_slice_in_dim(x, start, out.shape[axis], axis)
    start, end, step = _range(x, axis, start, end, step)
    return lax.slice_in_dim(x, start, end, step, axis)


@rule("slice_scatter")
def _(out, x, source, axis=0, start=None, end=None, step=1):
    start, end, step = _range(x, axis, start, end, step)
    return x.at[_at(x.ndim, axis, slice(start, end, step))].set(_as(source, out.dtype))


@rule("copy")
def _(out, x, source):
    return jnp.broadcast_to(_as(source, out.dtype), out.shape)


@rule("constant_pad_nd")
def _(out, x, pads, value=0):
    ends = [(0, 0, 0)] * (x.ndim - len(pads) // 2)
    ends += [(pads[i], pads[i + 1], 0) for i in range(len(pads) - 2, -1, -2)]
    return lax.pad(x, _as(value, x.dtype), ends)


@rule("diagonal")
def _(out, x, offset=0, first=0, second=1):
    return jnp.diagonal(x, offset, first, second)


# --- reads and writes at indices ---------------------------------------------------------

@rule("embedding")
def _(out, weight, indices, *_):
    return jnp.take(weight, indices, axis=0, mode="clip")


@rule("index_select")
def _(out, x, axis, index):
    return jnp.take(x.reshape(x.shape or (1,)), index, axis=axis, mode="clip")\
        .reshape(out.shape)


def _indices(indices):
    return tuple(slice(None) if index is None else index for index in indices)


@rule("index")
def _(out, x, indices):
    return x[_indices(indices)]


@rule("index_put")
def _(out, x, indices, values, accumulate=False):
    place = x.at[_indices(indices)]
    return (place.add if accumulate else place.set)(_as(values, out.dtype))


def _along(x, axis, index):
    """Where an index reads or writes along an axis; other coordinates are its own."""
    places = list(jnp.indices(index.shape, sparse=True))
    places[axis] = index
    return tuple(places)


@rule("gather")
def _(out, x, axis, index, sparse_grad=False):
    return x[_along(x, axis, index)] if x.ndim else x


@rule("scatter", "scatter_add", "scatter_reduce")
def _(out, x, axis, index, source, reduce=None, include_self=True):
    if not include_self:
        raise NotImplementedError("include_self=False")
    kinds = {None: "set", "sum": "add", "prod": "multiply", "amax": "max", "amin": "min"}
    if out.name == "aten.scatter_add":
        reduce = "sum"
    if reduce not in kinds:
        raise NotImplementedError("reduce=%r" % reduce)
    source = _as(source, out.dtype)
    if source.ndim:
        source = source[tuple(slice(n) for n in index.shape)]
    return getattr(x.at[_along(x, axis, index)], kinds[reduce])(source) if x.ndim else \
        jnp.broadcast_to(source, x.shape)


# --- reductions --------------------------------------------------------------------------

@rule("sum")
def _(out, x, axis=None, keep=False):
    return jnp.sum(_as(x, out.dtype), _axes(axis, x.ndim), keepdims=keep)


@rule("mean")
def _(out, x, axis=None, keep=False):
    return jnp.mean(_as(x, out.dtype), _axes(axis, x.ndim), keepdims=keep)


@rule("prod")
def _(out, x, axis=None, keep=False):
    return jnp.prod(_as(x, out.dtype), _axes(axis, x.ndim), keepdims=keep)


@rule("amax", "amin")
def _(out, x, axis=(), keep=False):
    reduce = jnp.max if out.name == "aten.amax" else jnp.min
    return reduce(x, _axes(axis, x.ndim), keepdims=keep)


@rule("any")
def _(out, x, axis=None, keep=False):
    return jnp.any(x, _axes(axis, x.ndim), keepdims=keep)


@rule("max", "min")
def _(out, x, axis=None, keep=False):
    is_max = (out[0] if isinstance(out, list) else out).name == "aten.max"
    if axis is None:
        return (jnp.max if is_max else jnp.min)(x)
    if not x.ndim:
        return [x, jnp.int32(0)]
    index = (jnp.argmax if is_max else jnp.argmin)(x, axis, keepdims=True)
    values = jnp.take_along_axis(x, index, axis)
    return [v if keep else v.squeeze(axis) for v in (values, index)]


@rule("argmax", "argmin")
def _(out, x, axis=None, keep=False):
    find = jnp.argmax if out.name == "aten.argmax" else jnp.argmin
    return find(x, axis, keepdims=keep) if x.ndim else jnp.int32(0)


@rule("var")
def _(out, x, axis=None, correction=1, keepdim=False):
    return jnp.var(x, _axes(axis, x.ndim), ddof=1 if correction is None else correction,
                   keepdims=keepdim)


@rule("var_mean")
def _(out, x, axis=None, correction=1, keepdim=False):
    axes = _axes(axis, x.ndim)
    return [jnp.var(x, axes, ddof=1 if correction is None else correction,
                    keepdims=keepdim), jnp.mean(x, axes, keepdims=keepdim)]


@rule("cumsum")
def _(out, x, axis):
    return jnp.cumsum(_as(x, out.dtype), axis) if x.ndim else x


@rule("cumprod")
def _(out, x, axis):
    return jnp.cumprod(_as(x, out.dtype), axis) if x.ndim else x


@rule("sort")
def _(out, x, axis=-1, descending=False, stable=False, dim=None):
    axis = axis if dim is None else dim
    if not x.ndim:
        return [x, jnp.int32(0)]
    index = jnp.argsort(x, axis, stable=True, descending=descending)
    return [jnp.take_along_axis(x, index, axis), index]


@rule("topk")
def _(out, x, k, axis=-1, largest=True, sorted=True):
    if not x.ndim:
        return [x, jnp.int32(0)]
    index = jnp.argsort(x, axis, stable=True, descending=largest)
    index = lax.slice_in_dim(index, 0, k, axis=axis)
    return [jnp.take_along_axis(x, index, axis), index]


# --- normalizations, softmax, pooling ----------------------------------------------------

@rule("_softmax", "_log_softmax")
def _(out, x, axis, *_):
    function = jax.nn.log_softmax if "log" in out.name else jax.nn.softmax
    return function(_as(x, out.dtype), axis) if x.ndim else \
        function(_as(x, out.dtype)[None])[0]


def _normal(x, axes, epsilon):
    """In single precision at least."""
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    mean = wide.mean(axes, keepdims=True)
    scale = lax.rsqrt(jnp.square(wide - mean).mean(axes, keepdims=True) + epsilon)
    return (wide - mean) * scale, mean, scale


@rule("native_layer_norm")
def _(out, x, shape, weight, bias, epsilon):
    result, mean, scale = _normal(x, tuple(range(x.ndim - len(shape), x.ndim)), epsilon)
    result = result if weight is None else result * weight
    return [result if bias is None else result + bias, mean, scale]


@rule("native_group_norm")
def _(out, x, weight, bias, count, channels, size, groups, epsilon):
    result, mean, scale = _normal(x.reshape(count, groups, -1), (2,), epsilon)
    result = result.reshape(count, channels, size)
    result = result if weight is None else result * weight[:, None]
    result = result if bias is None else result + bias[:, None]
    return [result.reshape(x.shape), mean.reshape(count, groups),
            scale.reshape(count, groups)]


@rule("_native_batch_norm_legit_no_training")
def _(out, x, weight, bias, mean, variance, momentum, epsilon):
    mean, variance, weight, bias = (
        v if v is None else v.reshape((-1,) + (1,) * (x.ndim - 2))
        for v in (mean, variance, weight, bias))
    result = (x - mean) * lax.rsqrt(variance + epsilon)
    result = result if weight is None else result * weight
    result = result if bias is None else result + bias
    return [result, jnp.zeros(out[1].shape), jnp.zeros(out[2].shape)]


@rule("_native_batch_norm_legit")
def _(out, x, weight, bias, *options):
    if len(options) > 3:
        raise NotImplementedError("running statistics, which change,")
    shape = (-1,) + (1,) * (x.ndim - 2)
    result, mean, scale = _normal(x, (0, *range(2, x.ndim)), options[2])
    result = result if weight is None else result * weight.reshape(shape)
    return [result if bias is None else result + bias.reshape(shape), mean.reshape(-1),
            scale.reshape(-1)]


def _windows(x, reduce, start, size, stride, padding):
    """Of the last dimensions, whose windows lie in the padded tensor."""
    one = (1,) * (x.ndim - len(size))
    return lax.reduce_window(x, start, reduce, one + tuple(size), one + tuple(stride),
                             [(0, 0)] * len(one) + [(p, p) for p in padding])


def _window(values, rank):
    return list(values) * rank if len(values) == 1 else list(values)


@rule("avg_pool2d", "avg_pool3d")
def _(out, x, size, stride=(), padding=(0,), ceil=False, counts_padding=True,
      divisor=None):
    if ceil:
        raise NotImplementedError("ceil_mode=True")
    rank = int(out.name[-2])
    size = _window(size, rank)
    stride, padding = _window(stride or size, rank), _window(padding, rank)
    total = _windows(x, lax.add, _as(0, x.dtype), size, stride, padding)
    if divisor or counts_padding:
        return total / (divisor or math.prod(size))
    return total / _windows(jnp.ones_like(x), lax.add, _as(0, x.dtype), size, stride,
                            padding)


@rule("max_pool2d_with_indices")
def _(out, x, size, stride=(), padding=(0,), dilation=(1,), ceil=False):
    if ceil or set(dilation) != {1}:
        raise NotImplementedError("ceil_mode=True, or a dilation,")
    size = _window(size, 2)
    least = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    return [_windows(x, lax.max, _as(least, x.dtype), size, _window(stride or size, 2),
                     _window(padding, 2)), None]


@rule("_adaptive_avg_pool2d")
def _(out, x, size):
    for axis, n in zip(range(x.ndim - len(size), x.ndim), size):
        if x.shape[axis] % n:
            raise NotImplementedError("windows that overlap: %d elements into %d" % (
                x.shape[axis], n))
        x = x.reshape(x.shape[:axis] + (n, -1) + x.shape[axis + 1:]).mean(axis + 1)
    return x


# --- tensors from nothing ----------------------------------------------------------------

@rule("full", "full_like", "scalar_tensor")
def _(out, *arguments):
    return jnp.full(out.shape, _as(arguments[-1], out.dtype), out.dtype)


@rule("empty", "empty_permuted")
def _(out, *_):
    return jnp.zeros(out.shape, out.dtype)


@rule("arange")
def _(out, *arguments):
    start, end, step = (0, *arguments, 1) if len(arguments) == 1 else (*arguments, 1)[:3]
    return jnp.arange(out.shape[0], dtype=out.dtype) * _as(step, out.dtype) + \
        _as(start, out.dtype)


def getitem(out, values, index):
    if values[index] is None:
        raise NotImplementedError("its result %d" % index)
    return values[index]


# A number that a position may be, and what says of which range it is.
rule("_local_scalar_dense")(lambda out, x: x)
for _name in "_assert_async", "_assert_scalar", "_assert_tensor_metadata":
    rule(_name)(lambda out, *_, **__: None)
