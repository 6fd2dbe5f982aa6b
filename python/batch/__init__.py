"""Batches dynamic deep-learning programs at compile time.

A model is written for one input, as MLIR with loops, branches and recursion that may
depend on tensors; Batch runs it for a whole mini-batch:

    model = batch.compile("model.mlir")          # compiled once, kept in a cache
    f = model.bind("weights.safetensors")        # or {"W": array, ...}
    outputs = f(words=[[3, 1], [4, 1, 5]], limit=[1.0, 2.0])

docs/Python.md has all of it.
"""

import importlib

from batch._adt import adt, tensor, view
from batch._bound import bind
from batch._compiler import CompileError, clear_cache, compile, compiler
from batch._model import Function, Model, Ragged
from batch._runtime import Cancellation, Cancelled, Error

# What needs JAX loads it, when it is asked for.
_OF_JAX = {"from_torch": "_torch", "vmap": "_vmap", "LoweringError": "_vmap", "map": "_map",
           "sample": "_sample", "function": "_functions", "forest": "_forest",
           "Forest": "_forest", "Nodes": "_forest"}


def __getattr__(name):
    if name not in _OF_JAX:
        raise AttributeError("module 'batch' has no attribute %r" % name)
    try:
        return getattr(importlib.import_module("batch." + _OF_JAX[name]), name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] not in ("jax", "jaxlib"):
            raise
        raise ImportError("batch.%s needs JAX: pip install 'jax>=0.9'" % name) from None


__all__ = ["Cancellation", "Cancelled", "CompileError", "Error", "Forest", "Function",
           "LoweringError", "Model", "Nodes", "Ragged", "adt", "bind", "clear_cache",
           "compile", "compiler", "forest", "from_torch", "function", "map", "sample",
           "tensor", "view", "vmap"]
