"""Pickles of functions and data types: by name, or by value with cloudpickle.

A value without a name is packed into bytes. Each process unpacks equal bytes once, so a function
that arrives again is the object that is already traced and compiled.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib
import operator
import pickle
import sys
import threading
from typing import TYPE_CHECKING, Any

from batch.core.lru_cache import LruCache

_KEPT = 64  # limit on the unpacked values that a process keeps


class _Packing(threading.local):
    is_active = False


_packing = _Packing()
_unpacked = LruCache(_KEPT)
atexit.register(_unpacked.clear)  # frees models before the extension module


@functools.cache
def _cloudpickle() -> Any:
    """Returns the module cloudpickle, or None if it is not installed."""
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return None


def _is_by_value(module: str) -> bool:
    """Returns whether the values of a module are pickled by value, as cloudpickle does."""
    if module == "__main__":
        return _cloudpickle() is not None
    tool = sys.modules.get("cloudpickle")
    registered = tool.cloudpickle.list_registry_pickle_by_value() if tool else ()
    return any(module == name or module.startswith(name + ".") for name in registered)


def find(module: str, name: str) -> Any:
    """Returns the value with a qualified name in a module that is loaded; None if none has it."""
    try:
        return operator.attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        return None


def has_name(value: Any) -> bool:
    """Returns whether pickles contain only the name of a function or a data type."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return module is not None and name is not None and not _is_by_value(module) and \
        find(module, name) is value


def pack(value: Any) -> tuple[str, bytes]:
    """Returns the pickle of a value that has no name, and a digest of the pickle.

    Raises a TypeError if this requires cloudpickle, which is not installed.
    """
    tool = _cloudpickle()
    if tool is None and isinstance(value, type):
        raise TypeError(f"cannot pickle the data type {value!r}, because its module has no such "
                        "name; give a data type of a module, or install cloudpickle")
    before, _packing.is_active = _packing.is_active, True
    try:
        data = (tool or pickle).dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        if tool:
            raise
        raise TypeError(f"cannot pickle {getattr(value, '__name__', value)!r}: {error}; give a "
                        "function of a module, or install cloudpickle") from None
    finally:
        _packing.is_active = before
    return hashlib.sha256(data).hexdigest(), data


def unpack(digest: str, data: bytes, *_: Any) -> Any:
    """Returns the value of pack(). Equal digests give the same object."""
    return _unpacked.get(digest, lambda: pickle.loads(data))


def _named(module: str, name: str, *_: Any) -> Any:
    return operator.attrgetter(name)(importlib.import_module(module))


class PicklableFunction:
    """Base of functions that are pickled by name or by value. Copies are the functions themselves.

    Within pack(), where values may refer to each other, their state is pickled in place.
    """

    if TYPE_CHECKING:
        __qualname__: str

    def carried(self) -> tuple[Any, ...]:
        """Returns values with an effect in the process that unpickles them."""
        return ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        if has_name(self):
            carried = () if _packing.is_active else self.carried()
            return (_named, (self.__module__, self.__qualname__, *carried)) if carried else \
                self.__qualname__
        if _packing.is_active:
            return object.__reduce_ex__(self, protocol)
        return unpack, (*pack(self), *self.carried())

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self
