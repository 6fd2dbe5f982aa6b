"""batch.from_torch: converts a torch.nn.Module to a JAX function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy

from batch.core.errors import LoweringError
from batch.core.types import PyTree
from batch.torch.export import (
    Graph,
    array,
    converted,
    described,
    export,
    gradient_error,
    jax_dtype,
    load_torch,
)

if TYPE_CHECKING:
    import torch

# --- cells -------------------------------------------------------------------------------

class Cell:
    """A PyTorch module as a JAX function: cell(*inputs), or cell(parameters, *inputs).

    parameters: the module's parameters and buffers by name, with their values at the creation
        of the cell. A tensor with several names is stored under the first one. In calls
        without parameters they are constants. Functions that Batch compiles share constants
        between all instances.
    """

    def __init__(self, module: torch.nn.Module, example: tuple[Any, ...]) -> None:
        torch = load_torch()
        self.__name__: str = type(module).__name__
        self._tree = torch.utils._pytree
        leaves, self._structure = self._tree.tree_flatten(example)
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                raise gradient_error(f"example input {i}")
        self._example = leaves
        # Without clones, a tensor passed twice would become one input.
        example = self._tree.tree_unflatten(
            [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf
             for leaf in leaves], self._structure)
        program = export(torch, module, example)
        names: dict[Any, Any] = {}
        self.parameters: dict[str, jax.Array] = {}
        for found in (module.named_parameters(remove_duplicate=False),
                      module.named_buffers(remove_duplicate=False)):
            for name, tensor in found:
                first = names.setdefault(id(tensor), name)
                names[name] = first
                if first == name:
                    self.parameters[name] = array(tensor, name)
        signature = program.graph_signature
        changed = sorted(set(signature.buffers_to_mutate.values()))
        if changed:
            raise LoweringError(f"{self.__name__} changes its buffer '{changed[0]}', but cells "
                                "have no state; call module.eval() if it is a running mean, or "
                                "make it an input and a result")
        state = {}
        for given in (signature.inputs_to_parameters, signature.inputs_to_buffers):
            state.update((key, names[name]) for key, name in given.items())
        for key, name in signature.inputs_to_lifted_tensor_constants.items():
            state[key] = numpy.asarray(array(program.constants[name], name))
        self._graph = Graph(program, state)
        self._results = program.call_spec.out_spec
        self._needed = sorted(set(v for v in state.values() if isinstance(v, str)))

        def run(parameters, *inputs):
            return self._graph.evaluate(parameters, inputs)

        run.__name__ = run.__qualname__ = self.__name__
        self._run = jax.jit(run)

    def __repr__(self) -> str:
        return f"<batch.from_torch({self.__name__}), {len(self.parameters)} parameters>"

    def __call__(self, *arguments: PyTree) -> PyTree:
        parameters, inputs = self.parameters, arguments
        count = self._structure.num_children if hasattr(self._structure, "num_children") \
            else len(self._structure.children_specs)
        if len(arguments) == count + 1:
            parameters, inputs = self._given(arguments[0]), arguments[1:]
        leaves, structure = self._tree.tree_flatten(tuple(inputs))
        if structure != self._structure:
            raise TypeError(f"{self.__name__}: expected {count} input{'s' * (count != 1)} as in "
                            "its example, or its parameters and these inputs; got "
                            f"{len(arguments)} arguments with a different structure")
        values = [self._input(i, leaf, wanted)
                  for i, (leaf, wanted) in enumerate(zip(leaves, self._example))]
        outputs = self._run({name: parameters[name] for name in self._needed}, *values)
        return self._tree.tree_unflatten(outputs, self._results)

    def _given(self, parameters):
        if not isinstance(parameters, dict):
            raise TypeError(f"{self.__name__}: expected the parameters as a dictionary like "
                            f"cell.parameters, got {type(parameters).__name__}")
        found = {}
        for name in self._needed:
            if name not in parameters:
                raise ValueError(f"{self.__name__}: parameter '{name}' is missing; pass all "
                                 "parameters that cell.parameters contains")
            found[name] = converted(parameters[name], f"parameter '{name}'")
            wanted = self.parameters[name]
            if found[name].shape != wanted.shape or found[name].dtype != wanted.dtype:
                raise ValueError(f"{self.__name__}: parameter '{name}' is "
                                 f"{described(found[name])}; expected {described(wanted)} as in "
                                 "the module")
        return found

    def _input(self, i, leaf, wanted):
        """Returns an input as an array.

        An input that is not a tensor in the example is a constant of the graph. Raises
        ValueError if the input's shape, dtype or constant value differs from the example.
        """
        if not hasattr(wanted, "shape"):
            if leaf is wanted or type(leaf) is type(wanted) and leaf == wanted:
                return leaf if wanted is not None else 0
            raise ValueError(f"{self.__name__}: input {i} is a constant of the cell; expected "
                             f"{wanted!r} as in the example, got {leaf!r}; for other values, "
                             "create a cell from another example")
        value = converted(leaf, f"input {i}")
        dtype = jax_dtype(wanted.dtype)
        if getattr(value, "weak_type", False) and \
                jnp.promote_types(value.dtype, dtype) == dtype:
            value = value.astype(dtype)
        if value.shape != tuple(wanted.shape) or value.dtype != dtype:
            raise ValueError(f"{self.__name__}: input {i} is {described(value)}; expected "
                             f"{dtype}{list(wanted.shape)} as in the example; map the cell over "
                             "instances with batch.vmap, or create a cell from another example")
        return value


def from_torch(module: torch.nn.Module, example: tuple[Any, ...] | torch.Tensor) -> Cell:
    """Converts a PyTorch module to a JAX function that functions compiled by Batch can call.

        cell = batch.from_torch(torch.nn.GRUCell(4, 8), (torch.zeros(4), torch.zeros(8)))
        f = batch.vmap(lambda x, h: cell(x, h))

    module: a torch.nn.Module without control flow that depends on values. It must be in eval
        mode if it computes differently in training.
    example: the module's inputs for one instance: a tuple or a tensor, for example of zeros.
        Calls take inputs of the same shapes and types.

    cell(*inputs) uses the module's parameters as they are at the conversion.
    cell(parameters, *inputs) uses other parameters; cell.parameters is a dictionary of them.
    A parameter that several modules share is one array. docs/reference/import.md describes the
    details.

    Raises TypeError if `module` is not a torch.nn.Module, ImportError without PyTorch, and
    LoweringError for unsupported modules. Raises ValueError if an input of the example
    requires a gradient.
    """
    torch = load_torch()
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"batch.from_torch expected a torch.nn.Module, got {type(module).__name__}")
    return Cell(module, example if isinstance(example, tuple) else (example,))
