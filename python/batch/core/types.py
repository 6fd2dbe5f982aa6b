"""Types of the fields of data types, of arguments and of results."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

# Aliases for types that annotations cannot express.
PyTree: TypeAlias = Any  # JAX pytree of arrays
DataType: TypeAlias = Any  # class of batch.adt, or list[...] of one

# Types of fields. `name` is the name of the dtype of a scalar or of a tensor's elements. It is
# "int" or "float" for the types that JAX uses for Python numbers.
class Scalar(NamedTuple):
    name: str


class Data(NamedTuple):
    adt: Any


class List(NamedTuple):
    element: Scalar | Tensor | Data | List


@dataclasses.dataclass(frozen=True)
class Tensor:  # not a namedtuple, because list[] would unpack it into two types
    shape: tuple[int, ...]
    name: str


ELEMENTS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
             "uint64", "float16", "bfloat16", "float32", "float64")


@overload
def tensor(*shape: int, dtype: DTypeLike = "float32") -> Tensor: ...


@overload
def tensor(shape: Sequence[int], /, dtype: DTypeLike = "float32") -> Tensor: ...


def tensor(*shape: Any, dtype: DTypeLike = "float32") -> Tensor:
    """Returns the type of a field that is an array of this shape.

    shape: extents, as in `h: batch.tensor(256)`, or a tuple of them that a dtype may follow,
        as in `batch.tensor((256,), dtype)` and jax.ShapeDtypeStruct.
    dtype: type of the elements, or its name.

    Raises a TypeError if an extent is not a positive integer, or if a dtype is not supported.
    """
    if shape and isinstance(shape[0], (tuple, list)):
        if len(shape) > 2:
            raise TypeError(
                f"batch.tensor expects a shape and a dtype, got {len(shape)} arguments")
        shape, dtype = tuple(shape[0]), shape[1] if len(shape) == 2 else dtype
    for n in shape:
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            expected = "a positive integer" if isinstance(n, (int, float)) else \
                "positive integers, and the element type as dtype=..."
            raise TypeError(f"invalid extent {n!r} of batch.tensor; expected {expected}")
    return Tensor(tuple(shape), element_name(dtype))


def element_name(dtype: Any) -> str:
    name = getattr(dtype, "name", None)
    if name not in ELEMENTS:
        with contextlib.suppress(TypeError):
            name = dtype if dtype in ELEMENTS else numpy.dtype(dtype).name
    if name not in ELEMENTS:
        raise TypeError(
            f"unsupported element type {dtype!r}; expected one of {', '.join(ELEMENTS)}")
    return name


def describe_type(kind: Any) -> str:
    """Returns the text of a type as in a declaration."""
    if isinstance(kind, Data):
        return kind.adt.__name__
    if isinstance(kind, List):
        return f"list[{describe_type(kind.element)}]"
    if isinstance(kind, Tensor):
        dtype = [] if kind.name == "float32" else [f"dtype='{kind.name}'"]
        return f"batch.tensor({', '.join([*map(str, kind.shape), *dtype])})"
    return kind.name


def element_of(kind: Any) -> Any:
    """Returns the innermost element type of nested lists, or any other type unchanged."""
    while isinstance(kind, List):
        kind = kind.element
    return kind
