"""Reductions, normalizations and pooling."""

import math

import jax
import jax.numpy as jnp
from jax import lax

from batch.torch.aten.registry import as_type, axes_of, rule

# --- reductions --------------------------------------------------------------------------

@rule("sum")
def _(out, x, axis=None, keep=False):
    return jnp.sum(as_type(x, out.dtype), axes_of(axis, x.ndim), keepdims=keep)


@rule("mean")
def _(out, x, axis=None, keep=False):
    return jnp.mean(as_type(x, out.dtype), axes_of(axis, x.ndim), keepdims=keep)


@rule("prod")
def _(out, x, axis=None, keep=False):
    return jnp.prod(as_type(x, out.dtype), axes_of(axis, x.ndim), keepdims=keep)


@rule("amax", "amin")
def _(out, x, axis=(), keep=False):
    reduce = jnp.max if out.name == "aten.amax" else jnp.min
    return reduce(x, axes_of(axis, x.ndim), keepdims=keep)


@rule("any")
def _(out, x, axis=None, keep=False):
    return jnp.any(x, axes_of(axis, x.ndim), keepdims=keep)


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
    return jnp.var(x, axes_of(axis, x.ndim), ddof=1 if correction is None else correction,
                   keepdims=keepdim)


@rule("var_mean")
def _(out, x, axis=None, correction=1, keepdim=False):
    axes = axes_of(axis, x.ndim)
    return [jnp.var(x, axes, ddof=1 if correction is None else correction,
                    keepdims=keepdim), jnp.mean(x, axes, keepdims=keepdim)]


@rule("cumsum")
def _(out, x, axis):
    return jnp.cumsum(as_type(x, out.dtype), axis) if x.ndim else x


@rule("cumprod")
def _(out, x, axis):
    return jnp.cumprod(as_type(x, out.dtype), axis) if x.ndim else x


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
    return function(as_type(x, out.dtype), axis) if x.ndim else \
        function(as_type(x, out.dtype)[None])[0]


def _normal(x, axes, epsilon):
    """Normalizes x over axes, in at least single precision; also returns the mean and the scale."""
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
def _(out, x, weight, bias, training, momentum, epsilon):
    shape = (-1,) + (1,) * (x.ndim - 2)
    result, mean, scale = _normal(x, (0, *range(2, x.ndim)), epsilon)
    result = result if weight is None else result * weight.reshape(shape)
    return [result if bias is None else result + bias.reshape(shape), mean.reshape(-1),
            scale.reshape(-1)]


def _windows(x, reduce, start, size, stride, padding):
    """Reduces windows over the last dimensions of the padded tensor."""
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
    total = _windows(x, lax.add, as_type(0, x.dtype), size, stride, padding)
    if divisor or counts_padding:
        return total / (divisor or math.prod(size))
    return total / _windows(jnp.ones_like(x), lax.add, as_type(0, x.dtype), size, stride,
                            padding)


@rule("max_pool2d_with_indices")
def _(out, x, size, stride=(), padding=(0,), dilation=(1,), ceil=False):
    if ceil or set(dilation) != {1}:
        raise NotImplementedError("ceil_mode=True or a dilation")
    size = _window(size, 2)
    least = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    return [_windows(x, lax.max, as_type(least, x.dtype), size, _window(stride or size, 2),
                     _window(padding, 2)), None]


@rule("_adaptive_avg_pool2d")
def _(out, x, size):
    for axis, n in zip(range(x.ndim - len(size), x.ndim), size):
        if x.shape[axis] % n:
            raise NotImplementedError(f"overlapping windows; expected a size that divides "
                                      f"{x.shape[axis]}, got {n}")
        x = x.reshape(x.shape[:axis] + (n, -1) + x.shape[axis + 1:]).mean(axis + 1)
    return x
