"""Bound arrays (batch.bind): parameters that calls pack again only after an update."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from batch.core.lru_cache import LruCache

if TYPE_CHECKING:
    import jax
    from numpy.typing import ArrayLike, NDArray


class _Trace(threading.local):
    """Callback that converts bound arrays during tracing; batch.transforms sets it."""
    bind: Callable[[Bound], Any] | None = None


trace = _Trace()


class Bound:
    """Snapshot of an array. Only update() changes it, even if the memory of the array changes."""

    def __init__(self, array: ArrayLike) -> None:
        self.__setstate__((array, numpy.array(array), 0, None))
        if self.value.dtype.kind in "OUSMm":
            raise TypeError(f"batch.bind expects an array of numbers, got {array!r}")

    def __setstate__(self, state: tuple[ArrayLike, NDArray[Any], int, str | None]) -> None:
        self._given = state[0]
        self.value: NDArray[Any] = state[1]  # update() replaces it, and nothing writes to it
        self.version: int = state[2]
        self._token: str | None = state[3]  # identifies the value in pickles
        self._lock = threading.Lock()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> numpy.dtype[Any]:
        return self.value.dtype

    def update(self, array: ArrayLike | None = None) -> None:
        """Reads the array again, or replaces it with another array of the same shape and dtype.

        Raises a ValueError if the shape or the dtype differs.
        """
        value = numpy.array(self._given if array is None else array)
        if value.shape != self.shape or value.dtype != self.dtype:
            raise ValueError(
                "an update cannot change the shape or dtype of a bound array; expected "
                f"{self.dtype}{list(self.shape)}, got {value.dtype}{list(value.shape)}")
        with self._lock:
            if array is not None:
                self._given = array
            self.value = value
            self.version += 1
            self._token = None

    def __reduce__(self) -> Any:
        with self._lock:
            self._token = self._token or os.urandom(16).hex()
            return _received, (self._token, self.value, self.version)

    def __jax_array__(self) -> jax.Array:
        if trace.bind is not None:
            return trace.bind(self)
        import jax.numpy as jnp
        return jnp.asarray(self.value)

    def __repr__(self) -> str:
        return f"batch.bind({self.dtype}{list(self.shape)}, version {self.version})"


_values = LruCache(64)


def _received(token: str, value: NDArray[Any], version: int) -> Bound:
    """Returns an array whose value arrived before, so that models which it is bound to remain."""
    bound = Bound.__new__(Bound)
    value = _values.get(token, lambda: value)
    bound.__setstate__((value, value, version, token))
    return bound


def bind(array: ArrayLike) -> Bound:
    """Binds an array that may change, so that calls pack it again only after an update.

    Bound arrays can be arguments with in_axes=None. Functions can also close over them: inside
    a function, `jnp.asarray(bound)` returns the array.

    A bound array is a snapshot. `bound.update()` reads the array again, and
    `bound.update(other)` replaces it.

    array: array of numbers; other values raise a TypeError.
    """
    return Bound(array)
