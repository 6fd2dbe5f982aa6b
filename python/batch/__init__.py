"""Batches dynamic deep-learning programs at compile time.

A model is written for one input, as MLIR with loops, branches and recursion that may
depend on tensors; Batch runs it for a whole mini-batch:

    model = batch.compile("model.mlir")          # compiled once, kept in a cache
    f = model.bind("weights.safetensors")        # or {"W": array, ...}
    outputs = f(words=[[3, 1], [4, 1, 5]], limit=[1.0, 2.0])

docs/Python.md has all of it.
"""

from batch._compiler import CompileError, clear_cache, compile, compiler
from batch._model import Function, Model, Ragged
from batch._runtime import Cancellation, Cancelled, Error



def __getattr__(name):
    # What needs JAX loads it, when it is asked for.
    if name in ("vmap", "LoweringError"):
        from batch import _vmap
        return getattr(_vmap, name)
    raise AttributeError("module 'batch' has no attribute %r" % name)


__all__ = ["Cancellation", "Cancelled", "CompileError", "Error", "Function", "Model",
           "LoweringError", "Ragged", "clear_cache", "compile", "compiler", "vmap"]
