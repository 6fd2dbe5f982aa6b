"""Registry of rules. A rule uses JAX to compute a PyTorch operation of an exported graph.

A rule receives `out`, the PyTorch description of the result (shape and dtype), or a list of
descriptions for several results. It also receives the arguments of the operation, except those that
specify the placement of a tensor. The value that a rule returns is cast to `out.dtype`. A rule
therefore may compute in any type that is wide enough. Integers have 32 bits unless jax_enable_x64
is set, as in all of JAX.
"""


import jax.numpy as jnp

RULES = {}  # rules by the operation's name without its overload, such as "aten.add"


def rule(*names):
    def add(function):
        RULES.update(("aten." + name, function) for name in names)
        return function
    return add


def as_type(value, dtype):
    return jnp.asarray(value).astype(dtype)


def axes_of(axis, rank):
    """Returns the non-negative axes of a reduction; None or an empty sequence means all axes."""
    if axis is None or isinstance(axis, (list, tuple)) and not axis:
        return tuple(range(rank))
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    return tuple(a % rank for a in axes) if rank else ()


def at_axis(rank, axis, index):
    """Returns a tuple that applies an index or a slice along one axis."""
    return (slice(None),) * (axis % max(rank, 1)) + (index,)
