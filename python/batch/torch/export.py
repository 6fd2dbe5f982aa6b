"""Converts an exported PyTorch program to a JAX function."""

import contextlib
import io
import logging
import operator
import os
import re
import sys
import warnings
import weakref

import jax
import jax.numpy as jnp

from batch.core.errors import LoweringError
from batch.torch.aten import RULES
from batch.torch.aten.elements import getitem

# Arguments for the placement of a tensor or the type of the result. Rules do not receive them.
_LEFT_OUT = {"dtype", "device", "layout", "pin_memory", "memory_format", "non_blocking",
             "requires_grad"}
_RANDOM = re.compile(r"aten\.(native_dropout|dropout|bernoulli|rand|normal|multinomial|"
                     r"exponential|uniform|poisson|geometric|cauchy|log_normal)")
_OF_VALUES = re.compile(r"aten\.(_local_scalar_dense|item|nonzero|masked_select|unique|"
                        r"_unique|bincount|repeat_interleave)|"
                        r"(while_loop|cond|map_impl|scan|associative_scan)\b")
_FRAME = r'File "([^"\n]+)", line (\d+), in (\S+)'
_LAX = "control flow that depends on values is not supported in modules; write it outside, " \
    "with jax.lax.cond, while_loop or scan, or in a @batch.function"


def load_torch():
    try:
        import torch
        import torch.export  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] != "torch":
            raise
        raise ImportError("batch.from_torch requires PyTorch; run pip install "
                          "'torch>=2.6'") from None
    return torch


# --- arrays ------------------------------------------------------------------------------

def jax_dtype(kind):
    """Returns the JAX dtype of a PyTorch dtype, or None if JAX has no such dtype.

    Without jax_enable_x64, 64-bit types become 32-bit types.
    """
    name = str(kind).partition(".")[2]
    if name.startswith(("complex", "float8", "float4", "q", "bits")):
        return None
    try:
        return jax.dtypes.canonicalize_dtype(jnp.dtype(name))
    except TypeError:
        return None


def _to_numpy(tensor):
    torch = load_torch()
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(jnp.bfloat16)
    return tensor.numpy()


_arrays = {}  # id of a tensor → (weak reference to it, (its version, JAX dtype), the array)


def array(tensor, name):
    """Returns a JAX array with a copy of the tensor's data, because the tensor may change.

    Returns the same array for the same tensor, until it changes. Raises LoweringError if the
    tensor is sparse, has no data (meta), or has an unsupported dtype.
    """
    dtype = jax_dtype(tensor.dtype)
    if tensor.is_meta:
        raise LoweringError(f"tensor '{name}' of type {tensor.dtype} is on the meta device and "
                            "has no data; load the module's data before its conversion")
    if tensor.is_sparse:
        raise LoweringError(f"tensor '{name}' of type {tensor.dtype} is sparse, which is not "
                            "supported; convert it with to_dense()")
    if dtype is None:
        raise LoweringError(f"tensor '{name}' has type {tensor.dtype}, which is not supported")
    key, version = id(tensor), (tensor._version, dtype)
    known = _arrays.get(key)
    if known and known[0]() is tensor and known[1] == version:
        return known[2]
    array = jnp.array(_to_numpy(tensor).astype(dtype))
    _arrays[key] = weakref.ref(tensor, lambda _: _arrays.pop(key, None)), version, array
    return array


# --- the graph ---------------------------------------------------------------------------

class _Out:
    """PyTorch description of a result: operation, shape, PyTorch dtype and JAX dtype."""

    def __init__(self, name, value):
        self.name, self.shape = name, tuple(value.shape)
        self.kind, self.dtype = value.dtype, jax_dtype(value.dtype)


def _place(node):
    """Returns a node's innermost source line outside of PyTorch."""
    return _innermost(re.findall(_FRAME, node.meta.get("stack_trace") or ""))


def _innermost(frames):
    own = os.path.dirname(load_torch().__file__) + os.sep
    frames = [f for f in frames if f[0][0] != "<"]
    frames = [f for f in frames if not f[0].startswith(own)] or frames[-1:]
    return "{}:{} (in {}): ".format(*frames[-1]) if frames else ""


def _name(target):
    name = getattr(target, "__name__", str(target))
    if not hasattr(target, "overloadpacket"):
        return name if not hasattr(target, "name") else str(target)
    return str(target.overloadpacket).replace("::", ".")


def _refuse(node, name, what="is not supported"):
    hint = ""
    if _RANDOM.match(name):
        what, hint = "generates random numbers, which cells do not support", \
            "; call module.eval() to disable dropout, or generate the numbers with " \
            "jax.random and pass them as inputs"
    elif _OF_VALUES.match(name):
        hint = "; " + _LAX
    raise LoweringError(f"{_place(node)}{name} {what}{hint}")


class Graph:
    """A graph from torch.export.

    state: for each input that the caller does not pass, the name of a parameter or an array.

    Raises LoweringError if the graph contains an unsupported operation.
    """

    def __init__(self, program, state):
        self.nodes = list(program.graph.nodes)
        self.state = state
        for node in self.nodes:
            if node.op == "get_attr":
                self._refuse_subgraph(node)
            if node.op == "call_function":
                node.meta["batch"] = self._rule(node)

    def _refuse_subgraph(self, node):
        user = next(iter(node.users), node)
        _refuse(user, _name(user.target))

    def _rule(self, node):
        if node.target is operator.getitem:
            return getitem, None
        if getattr(node.target, "__module__", "") == "_operator":  # a Python operator on numbers
            return lambda out, *values: node.target(*values), None
        name = _name(node.target)
        if name not in RULES:
            _refuse(node, name)
        value = node.meta.get("val")
        out = [_Out(name, v) for v in value] if isinstance(value, (list, tuple)) else \
            _Out(name, value) if hasattr(value, "dtype") else None
        for o in out if isinstance(out, list) else [out] if out else []:
            if not all(isinstance(n, int) for n in o.shape):
                _refuse(node, name, "returns a tensor whose shape depends on values, which "
                        "is not supported; compute with masks (torch.where)")
            if o.dtype is None:
                _refuse(node, name, f"returns a tensor of type {o.kind}, which is not supported")
        return RULES[name], out

    def evaluate(self, parameters, inputs):
        inputs, known, outputs = iter(inputs), {}, []
        for node in self.nodes:
            if node.op == "placeholder":
                given = self.state.get(node.name)
                known[node] = next(inputs) if given is None else \
                    parameters[given] if isinstance(given, str) else jnp.asarray(given)
            elif node.op == "call_function":
                known[node] = self._call(node, known)
            elif node.op == "output":
                outputs = [known[v] if hasattr(v, "op") else v for v in node.args[0]]
        return outputs

    def _call(self, node, known):
        def read(value):
            if isinstance(value, (list, tuple)):
                return [read(v) for v in value]
            return known[value] if hasattr(value, "op") else value

        function, out = node.meta["batch"]
        name = _name(node.target)
        arguments = {key: read(value) for key, value in node.kwargs.items()
                     if key not in _LEFT_OUT}
        try:
            result = function(out, *map(read, node.args), **arguments)
        except NotImplementedError as error:
            if node.target is operator.getitem:
                name = _name(node.args[0].target)
            _refuse(node, name, f"does not support {error}")
        if out is None:
            return result
        if not isinstance(out, list):
            return self._checked(node, name, result, out)
        return [value if value is None else self._checked(node, name, value, o)
                for value, o in zip(result, out)]

    def _checked(self, node, name, value, out):
        if str(out.kind) == "torch.float64" and out.dtype != jnp.float64:
            _refuse(node, name, "computes in float64; set jax_enable_x64, "
                    "or call module.float()")
        value = jnp.asarray(value).astype(out.dtype)
        if value.shape != out.shape:
            raise AssertionError(f"{_place(node)}{name} has shape {value.shape} in JAX; expected "
                                 f"{out.shape} as in PyTorch")
        return value


def described(array):
    return f"{array.dtype}{list(array.shape)}"


def gradient_error(what):
    """Returns the error for a tensor that requires a gradient."""
    return ValueError(f"{what} requires a gradient, which from_torch does not propagate to "
                      "PyTorch; detach the tensor first, or differentiate with jax.grad")


def converted(value, what):
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        if value.requires_grad:
            raise gradient_error(what)
        value = _to_numpy(value)
    elif hasattr(value, "requires_grad") and value.requires_grad:  # a torch.nn.Parameter
        raise gradient_error(what)
    try:
        return jnp.asarray(value)
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None


def export(torch, module, example):
    decompositions = torch.export.default_decompositions()
    aten = torch.ops.aten
    # JAX supports these operations directly; their decompositions would transpose parameters.
    for kept in aten.linear.default, aten.matmul.default:
        decompositions.pop(kept, None)
    with torch.no_grad(), warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")
        try:
            program = torch.export.export(module, example)
            return program.run_decompositions(decompositions)
        except Exception as error:
            text = str(error)
            hint = "; " + _LAX if re.search(
                r"data-dependent|GuardOnDataDependent|Eq\(u\d|dynamic control flow",
                text) else ""
            first = next((line for line in text.splitlines() if line.strip()),
                         repr(error))
            place = _innermost(re.findall(_FRAME, text))
            raise LoweringError(f"{place}torch.export failed for {type(module).__name__}: "
                                f"{first.strip().rstrip('.')}{hint}") from error


@contextlib.contextmanager
def _quiet():
    """Silences torch.export, which logs and prints the errors that it then raises."""
    logger, printed = logging.getLogger("torch"), io.StringIO()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(printed):
            yield
    finally:
        logger.setLevel(level)
    sys.stderr.write(printed.getvalue())  # this output usually comes from other threads
