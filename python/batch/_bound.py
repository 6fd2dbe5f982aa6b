"""batch.bind: arrays that may change, as parameters that are packed once."""

import threading

import numpy


class Bound:
    """An array that stays what it is until update(), though its memory may change."""

    def __init__(self, array):
        self._given = array
        self._lock = threading.Lock()
        self.version = 0
        self.value = numpy.array(array)
        if self.value.dtype.kind in "OUSMm":
            raise TypeError("batch.bind expects an array of numbers, found %r" % (array,))

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)

    def update(self, array=None):
        """Takes what the array has now, or another one of its shape and type."""
        value = numpy.array(self._given if array is None else array)
        if value.shape != self.shape or value.dtype != self.dtype:
            raise ValueError("a bound array keeps its shape and type, %s%s; found %s%s" % (
                self.dtype, list(self.shape), value.dtype, list(value.shape)))
        with self._lock:
            if array is not None:
                self._given = array
            self.value = value
            self.version += 1

    def __jax_array__(self):
        import jax.numpy as jnp

        from batch import _compiled
        return _compiled.bound_p.bind(bound=self) if _compiled.is_tracing() else \
            jnp.asarray(self.value)

    def __repr__(self):
        return "batch.bind(%s%s, version %d)" % (self.dtype, list(self.shape), self.version)


def bind(array):
    """Packs an array that may change once, for arguments with in_axes=None, and for
    functions that close over it: `jnp.asarray(bound)` is the array inside of them.

    It is the array as it is now until `bound.update()`, which reads it again, or
    `bound.update(other)`.
    """
    return Bound(array)
