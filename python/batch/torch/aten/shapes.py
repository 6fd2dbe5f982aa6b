"""Operations that change shapes, and operations that read and write at indices."""


import jax.numpy as jnp
import numpy
from jax import lax

from batch.torch.aten.registry import as_type, at_axis, axes_of, rule

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
    return jnp.flip(x, axes_of(axes, x.ndim)) if axes else x


@rule("cat")
def _(out, values, axis=0):
    # Legacy rule of PyTorch: an empty vector can be concatenated with tensors of any shape.
    values = [as_type(v, out.dtype) for v in values
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
    return x.at[at_axis(x.ndim, axis, slice(start, end, step))].set(as_type(source, out.dtype))


@rule("copy")
def _(out, x, source):
    return jnp.broadcast_to(as_type(source, out.dtype), out.shape)


@rule("constant_pad_nd")
def _(out, x, pads, value=0):
    ends = [(0, 0, 0)] * (x.ndim - len(pads) // 2)
    ends += [(pads[i], pads[i + 1], 0) for i in range(len(pads) - 2, -1, -2)]
    return lax.pad(x, as_type(value, x.dtype), ends)


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
    return (place.add if accumulate else place.set)(as_type(values, out.dtype))


def _along(x, axis, index):
    """Returns the positions that an index reads or writes along an axis.

    The other coordinates are the coordinates of the index elements.
    """
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
        raise NotImplementedError(f"reduce={reduce!r}")
    source = as_type(source, out.dtype)
    if source.ndim:
        source = source[tuple(slice(n) for n in index.shape)]
    return getattr(x.at[_along(x, axis, index)], kinds[reduce])(source) if x.ndim else \
        jnp.broadcast_to(source, x.shape)
