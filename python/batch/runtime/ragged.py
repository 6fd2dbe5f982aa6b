"""Arrays whose instances have different numbers of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Ragged:
    """Rows of all instances, one after another, and the offset of each instance's rows.

    values: array whose first dimension is the number of rows.
    offsets: int64 array with one more entry than there are instances.
    """

    __slots__ = ("values", "offsets")

    def __init__(self, values: Any, offsets: ArrayLike) -> None:
        self.values: Any = values
        self.offsets: NDArray[numpy.int64] = numpy.ascontiguousarray(
            offsets, dtype=numpy.int64)

    @classmethod
    def of(cls, arrays: Iterable[ArrayLike]) -> Ragged:
        """Returns a Ragged from a list of arrays, one for each instance.

        Only their first extents may differ. Raises a ValueError if other extents or dtypes
        differ, or if the list is empty.
        """
        arrays = [numpy.asarray(array) for array in arrays]
        if not arrays:
            raise ValueError("Ragged.of() requires at least one array; use Ragged(values, offsets) "
                             "for an empty batch")
        first = arrays[0]
        for i, array in enumerate(arrays):
            if array.ndim == 0:
                raise ValueError(f"array {i} is a scalar; expected an array of rows")
            if array.shape[1:] != first.shape[1:] or array.dtype != first.dtype:
                raise ValueError(
                    f"array {i} has type {array.dtype}{list(array.shape)}, and array 0 has type "
                    f"{first.dtype}{list(first.shape)}; only the first extent may differ")
        return cls(numpy.concatenate(arrays), offsets_of([len(array) for array in arrays]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, instance: int) -> Any:
        if not -len(self) <= instance < len(self):
            raise IndexError(f"instance {instance} is out of range for {len(self)} instances")
        instance %= len(self)
        return self.values[self.offsets[instance]:self.offsets[instance + 1]]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Ragged({len(self)} instances, {self.offsets[-1]} rows)"


def offsets_of(lengths: Sequence[int]) -> NDArray[numpy.int64]:
    result = numpy.zeros(len(lengths) + 1, dtype=numpy.int64)
    numpy.cumsum(lengths, out=result[1:])
    return result
