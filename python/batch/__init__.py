"""Batches dynamic deep-learning programs at compile time.

A model is written for one input, as MLIR. Its loops, branches and recursion may depend on
tensors. Batch runs it for a whole mini-batch:

    model = batch.compile("model.mlir")          # compiled once, kept in a cache
    f = model.bind("weights.safetensors")        # or {"W": array, ...}
    outputs = f(words=[[3, 1], [4, 1, 5]], limit=[1.0, 2.0])

docs/reference/python.md documents the package.
"""

import importlib
import typing

try:
    from batch import _native
except ImportError as error:
    if error.name != "batch":  # the extension exists, but cannot be loaded
        raise
    raise ImportError(f"the extension of {__path__[0]} is not built; run pip install . in the root "
                      "of the clone, and import batch from another folder") from None
from batch._native import Cancellation, Cancelled, Error
from batch.core.adt import adt
from batch.core.errors import CompileError, LoweringError
from batch.core.types import tensor
from batch.core.views import view
from batch.explain.explanation import Explanation
from batch.runtime.arrivals import load
from batch.runtime.binding import bind
from batch.runtime.cache import clear_cache
from batch.runtime.compiler import compile, compiler
from batch.runtime.model import Function, Model
from batch.runtime.ragged import Ragged

if typing.TYPE_CHECKING:
    from batch.sampling.sample import sample
    from batch.torch.from_torch import from_torch
    from batch.transforms.forest import Forest, Nodes, forest
    from batch.transforms.function import function
    from batch.transforms.map import map
    from batch.transforms.vmap import vmap

__version__: str = _native.version

# Names from modules that import JAX. A module is imported when one of its names is first used.
_OF_JAX = {"Forest": "transforms.forest", "Nodes": "transforms.forest",
           "forest": "transforms.forest", "from_torch": "torch.from_torch",
           "function": "transforms.function", "map": "transforms.map",
           "sample": "sampling.sample", "vmap": "transforms.vmap"}


if not typing.TYPE_CHECKING:  # otherwise, type checkers would accept any name
    def __getattr__(name: str) -> typing.Any:
        if name not in _OF_JAX:
            raise AttributeError(f"module 'batch' has no attribute {name!r}")
        try:
            return getattr(importlib.import_module("batch." + _OF_JAX[name]), name)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in ("jax", "jaxlib"):
                raise
            raise ImportError(f"batch.{name} requires JAX; run pip install 'jax>=0.9'") from None


__all__ = ["Cancellation", "Cancelled", "CompileError", "Error", "Explanation", "Forest",
           "Function", "LoweringError", "Model", "Nodes", "Ragged", "adt", "bind", "clear_cache",
           "compile", "compiler", "forest", "from_torch", "function", "load", "map", "sample",
           "tensor", "view", "vmap"]
