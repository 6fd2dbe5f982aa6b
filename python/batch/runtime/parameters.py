"""Parameters that a bound model keeps for pickles and files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from batch.runtime.field_values import to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Arrays by name, or the contents of a file of parameters.
ParameterValue: TypeAlias = "dict[str, NDArray[Any]] | bytes"


class _Arrays:
    """Arrays, by name. Arrays that the caller can change are copied."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._arrays = {name: _constant(array) for name, array in given.items()}

    def value(self) -> ParameterValue:
        for name, array in self._arrays.items():
            if array.dtype == object:
                raise TypeError(f"parameter {name!r} cannot be pickled or saved because NumPy "
                                "cannot read it; bind a NumPy, JAX or PyTorch array")
        return self._arrays


class _File:
    """File of parameters, which must not change."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.abspath(os.fspath(path))
        self._state = self._current()

    def _current(self):
        state = os.stat(self._path)
        return state.st_mtime_ns, state.st_size, state.st_ino

    def value(self) -> ParameterValue:
        if self._current() != self._state:
            raise ValueError(f"{self._path} has changed since the model was bound to its "
                             "parameters; bind the model again")
        with open(self._path, "rb") as file:
            return file.read()


class _Contents:
    """Contents of a file of parameters from another process or from a saved function."""

    def __init__(self, contents: bytes) -> None:
        self._contents = contents

    def value(self) -> ParameterValue:
        return self._contents


GivenParameters: TypeAlias = "_Arrays | _File | _Contents"


def given_parameters(
        given: Mapping[str, Any] | str | os.PathLike[str] | bytes) -> GivenParameters:
    """Returns parameters with the values at this time."""
    if isinstance(given, bytes):
        return _Contents(given)
    return _File(given) if isinstance(given, (str, os.PathLike)) else _Arrays(given)


def _constant(given):
    array = base = to_numpy(given)
    while isinstance(base, numpy.ndarray) and not base.flags.writeable:
        base = base.base
    is_constant = base is None or isinstance(base, bytes) or \
        isinstance(base, memoryview) and base.readonly
    return array if is_constant else array.copy()
