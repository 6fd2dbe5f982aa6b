"""batch.from_torch: modules of PyTorch are functions of JAX.

torch.export traces a module for one input; each operation of its graph has a rule that
computes the same by JAX (_aten.py).
"""

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
import numpy

from batch import _aten
from batch._expand import LoweringError

# Of arguments, what says where a tensor lies, or what the result's type says.
_LEFT_OUT = {"dtype", "device", "layout", "pin_memory", "memory_format", "non_blocking",
             "requires_grad"}
_RANDOM = re.compile(r"aten\.(native_dropout|dropout|bernoulli|rand|normal|multinomial|"
                     r"exponential|uniform|poisson|geometric|cauchy|log_normal)")
_OF_VALUES = re.compile(r"aten\.(_local_scalar_dense|item|nonzero|masked_select|unique|"
                        r"_unique|bincount|repeat_interleave)|"
                        r"(while_loop|cond|map_impl|scan|associative_scan)\b")
_FRAME = r'File "([^"\n]+)", line (\d+), in (\S+)'
_LAX = "control that depends on values is JAX's: write jax.lax.cond, while_loop or " \
    "scan (or a batch.function) around modules without it"
_NO_GRADIENT = "%s needs a gradient, and none goes through from_torch: what is called " \
    "is a function of JAX; give its detach(), or differentiate by jax.grad"


def _torch():
    try:
        import torch
        import torch.export  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] != "torch":
            raise
        raise ImportError("batch.from_torch needs PyTorch: pip install "
                          "'torch>=2.6'") from None
    return torch


# --- arrays ------------------------------------------------------------------------------

def _dtype(kind):
    """JAX's of PyTorch's, as wide as jax_enable_x64 lets it be; None if there is none."""
    name = str(kind).partition(".")[2]
    if name.startswith(("complex", "float8", "float4", "q", "bits")):
        return None
    try:
        return jax.dtypes.canonicalize_dtype(jnp.dtype(name))
    except TypeError:
        return None


def _to_numpy(tensor):
    torch = _torch()
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(jnp.bfloat16)
    return tensor.numpy()


_arrays = {}  # id of a tensor → (a reference to it, (its version, its type), the array)


def _array(tensor, name):
    """A copy, as a tensor may change; the same one for the same tensor."""
    dtype = _dtype(tensor.dtype)
    if dtype is None or tensor.is_sparse or tensor.is_meta:
        raise LoweringError("'%s' is a tensor of %s%s, which is not supported" % (
            name, tensor.dtype, " without elements that are there" if tensor.is_meta else
            ", which is sparse" if tensor.is_sparse else ""))
    key, version = id(tensor), (tensor._version, dtype)
    known = _arrays.get(key)
    if known and known[0]() is tensor and known[1] == version:
        return known[2]
    array = jnp.array(_to_numpy(tensor).astype(dtype))
    _arrays[key] = weakref.ref(tensor, lambda _: _arrays.pop(key, None)), version, array
    return array


# --- the graph ---------------------------------------------------------------------------

class _Out:
    """What PyTorch says of a result."""

    def __init__(self, name, value):
        self.name, self.shape = name, tuple(value.shape)
        self.kind, self.dtype = value.dtype, _dtype(value.dtype)


def _place(node):
    """The module's line: the innermost one outside of PyTorch."""
    return _innermost(re.findall(_FRAME, node.meta.get("stack_trace") or ""))


def _innermost(frames):
    own = os.path.dirname(_torch().__file__) + os.sep
    frames = [f for f in frames if f[0][0] != "<"]
    frames = [f for f in frames if not f[0].startswith(own)] or frames[-1:]
    return "%s:%s (in %s): " % frames[-1] if frames else ""


def _name(target):
    name = getattr(target, "__name__", str(target))
    if not hasattr(target, "overloadpacket"):
        return name if not hasattr(target, "name") else str(target)
    return str(target.overloadpacket).replace("::", ".")


def _refuse(node, name, what="is not supported"):
    hint = ""
    if _RANDOM.match(name):
        what, hint = "makes random numbers, which a cell does not", \
            "; of dropout, module.eval() does away with it; others are inputs, by " \
            "jax.random"
    elif _OF_VALUES.match(name):
        hint = ": " + _LAX
    raise LoweringError("%s%s %s%s" % (_place(node), name, what, hint))


class _Graph:
    """What torch.export has found. `state`: of the inputs that are none of the caller's,
    the name of a parameter, or an array."""

    def __init__(self, program, state):
        self.nodes = list(program.graph.nodes)
        self.state = state
        for node in self.nodes:
            if node.op == "get_attr":
                self._refuse_part(node)
            if node.op == "call_function":
                node.meta["batch"] = self._rule(node)

    def _refuse_part(self, node):
        user = next(iter(node.users), node)
        _refuse(user, _name(user.target))

    def _rule(self, node):
        if node.target is operator.getitem:
            return _aten.getitem, None
        if getattr(node.target, "__module__", "") == "_operator":  # of numbers
            return lambda out, *values: node.target(*values), None
        name = _name(node.target)
        if name not in _aten.RULES:
            _refuse(node, name)
        value = node.meta.get("val")
        out = [_Out(name, v) for v in value] if isinstance(value, (list, tuple)) else \
            _Out(name, value) if hasattr(value, "dtype") else None
        for o in out if isinstance(out, list) else [out] if out else []:
            if not all(isinstance(n, int) for n in o.shape):
                _refuse(node, name, "gives a tensor whose shape depends on values, which "
                        "is not supported: compute with masks (torch.where)")
            if o.dtype is None:
                _refuse(node, name, "gives %s, which is not supported" % o.kind)
        return _aten.RULES[name], out

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
            _refuse(node, name, "with %s is not supported" % error)
        if out is None:
            return result
        if not isinstance(out, list):
            return self._checked(node, name, result, out)
        return [value if value is None else self._checked(node, name, value, o)
                for value, o in zip(result, out)]

    def _checked(self, node, name, value, out):
        if str(out.kind) == "torch.float64" and out.dtype != jnp.float64:
            _refuse(node, name, "computes in float64: set jax_enable_x64, "
                    "or call module.float()")
        value = jnp.asarray(value).astype(out.dtype)
        if value.shape != out.shape:
            raise AssertionError("%s%s has shape %s here, and %s in PyTorch" % (
                _place(node), name, value.shape, out.shape))
        return value


# --- cells -------------------------------------------------------------------------------

class Cell:
    """A module of PyTorch, as a function of JAX: cell(*inputs), or
    cell(parameters, *inputs).

    parameters: its parameters and buffers by name, as they were when the cell was made;
        one that has several names has the first. In calls without parameters they are
        constants, which functions that Batch compiles share between all instances.
    """

    def __init__(self, module, example):
        torch = _torch()
        self.__name__ = type(module).__name__
        self._tree = torch.utils._pytree
        leaves, self._structure = self._tree.tree_flatten(example)
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                raise ValueError(_NO_GRADIENT % ("example input %d" % i))
        self._example = leaves
        # One tensor given twice would be one input.
        example = self._tree.tree_unflatten(
            [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf
             for leaf in leaves], self._structure)
        program = _export(torch, module, example)
        names, self.parameters = {}, {}
        for found in (module.named_parameters(remove_duplicate=False),
                      module.named_buffers(remove_duplicate=False)):
            for name, tensor in found:
                first = names.setdefault(id(tensor), name)
                names[name] = first
                if first == name:
                    self.parameters[name] = _array(tensor, name)
        signature = program.graph_signature
        changed = sorted(set(signature.buffers_to_mutate.values()))
        if changed:
            raise LoweringError("%s changes its buffer '%s', and a cell changes nothing: "
                                "call module.eval() if it is a running mean, or make it an "
                                "input and a result" % (self.__name__, changed[0]))
        state = {}
        for given in (signature.inputs_to_parameters, signature.inputs_to_buffers):
            state.update((key, names[name]) for key, name in given.items())
        for key, name in signature.inputs_to_lifted_tensor_constants.items():
            state[key] = numpy.asarray(_array(program.constants[name], name))
        self._graph = _Graph(program, state)
        self._results = program.call_spec.out_spec
        self._needed = sorted(set(v for v in state.values() if isinstance(v, str)))

        def run(parameters, *inputs):
            return self._graph.evaluate(parameters, inputs)

        run.__name__ = run.__qualname__ = self.__name__
        self._run = jax.jit(run)

    def __repr__(self):
        return "<batch.from_torch(%s), %d parameters>" % (
            self.__name__, len(self.parameters))

    def __call__(self, *arguments):
        parameters, inputs = self.parameters, arguments
        count = self._structure.num_children if hasattr(self._structure, "num_children") \
            else len(self._structure.children_specs)
        if len(arguments) == count + 1:
            parameters, inputs = self._given(arguments[0]), arguments[1:]
        leaves, structure = self._tree.tree_flatten(tuple(inputs))
        if structure != self._structure:
            raise TypeError("%s takes %d inputs as in its example, or its parameters and "
                            "these; found %d arguments of another structure" % (
                                self.__name__, count, len(arguments)))
        values = [self._input(i, leaf, wanted)
                  for i, (leaf, wanted) in enumerate(zip(leaves, self._example))]
        outputs = self._run({name: parameters[name] for name in self._needed}, *values)
        return self._tree.tree_unflatten(outputs, self._results)

    def _given(self, parameters):
        if not isinstance(parameters, dict):
            raise TypeError("%s: the parameters are a dictionary as cell.parameters is, "
                            "found %s" % (self.__name__, type(parameters).__name__))
        found = {}
        for name in self._needed:
            if name not in parameters:
                raise ValueError("%s: there is no parameter '%s' in those given" % (
                    self.__name__, name))
            found[name] = _converted(parameters[name], "parameter '%s'" % name)
            wanted = self.parameters[name]
            if found[name].shape != wanted.shape or found[name].dtype != wanted.dtype:
                raise ValueError("%s: parameter '%s' is %s, where the module's is %s" % (
                    self.__name__, name, _described(found[name]), _described(wanted)))
        return found

    def _input(self, i, leaf, wanted):
        """An input as an array. What is no tensor in the example is in the graph."""
        if not hasattr(wanted, "shape"):
            if leaf is wanted or type(leaf) is type(wanted) and leaf == wanted:
                return leaf if wanted is not None else 0
            raise ValueError("%s: input %d is %r in the example, and so in every call; "
                             "found %r" % (self.__name__, i, wanted, leaf))
        value = _converted(leaf, "input %d" % i)
        dtype = _dtype(wanted.dtype)
        if getattr(value, "weak_type", False) and \
                jnp.promote_types(value.dtype, dtype) == dtype:
            value = value.astype(dtype)
        if value.shape != tuple(wanted.shape) or value.dtype != dtype:
            raise ValueError("%s: input %d is %s, where the example has %s; a cell is for "
                             "one instance, batch.vmap maps it; for other shapes make a "
                             "cell of an example that has them" % (
                                 self.__name__, i, _described(value),
                                 "%s%s" % (dtype, list(wanted.shape))))
        return value


def _described(array):
    return "%s%s" % (array.dtype, list(array.shape))


def _converted(value, what):
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        if value.requires_grad:
            raise ValueError(_NO_GRADIENT % what)
        value = _to_numpy(value)
    elif hasattr(value, "requires_grad") and value.requires_grad:  # a torch.nn.Parameter
        raise ValueError(_NO_GRADIENT % what)
    try:
        return jnp.asarray(value)
    except TypeError as error:
        raise TypeError("%s: %s" % (what, error)) from None


def _export(torch, module, example):
    decompositions = torch.export.default_decompositions()
    aten = torch.ops.aten
    # JAX has these as they are; their parts transpose parameters.
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
            raise LoweringError("%storch.export does not take %s%s: %s" % (
                _innermost(re.findall(_FRAME, text)), type(module).__name__, hint,
                first.strip())) from error


@contextlib.contextmanager
def _quiet():
    """torch.export logs and prints what it then raises."""
    logger, printed = logging.getLogger("torch"), io.StringIO()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with contextlib.redirect_stderr(printed):
            yield
    finally:
        logger.setLevel(level)
    sys.stderr.write(printed.getvalue())  # of other threads, as a rule


def from_torch(module, example):
    """A module of PyTorch as a function of JAX, for functions that Batch compiles.

        cell = batch.from_torch(torch.nn.GRUCell(4, 8), (torch.zeros(4), torch.zeros(8)))
        f = batch.vmap(lambda x, h: cell(x, h))

    module: without control that depends on values; in eval mode, if it has a mode.
    example: its inputs for one instance, a tuple, or a tensor; of zeros, for example.
        Calls have inputs of the same shapes and types.

    cell(*inputs) has the module's parameters as they are now; cell(parameters, *inputs)
    others: cell.parameters is a dictionary of them. A parameter that several modules share
    is one array. docs/Import.md has more.
    """
    torch = _torch()
    if not isinstance(module, torch.nn.Module):
        raise TypeError("from_torch takes a torch.nn.Module, found %s" %
                        type(module).__name__)
    return Cell(module, example if isinstance(example, tuple) else (example,))
