"""batch.vmap: maps JAX functions over a batch; each lane has its own control flow."""

from __future__ import annotations

import functools
import inspect
import re
import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import jax
import numpy

from batch.core.adt import Scope
from batch.core.errors import LoweringError
from batch.core.pickles import PicklableFunction
from batch.core.types import Data, List, PyTree, describe_type
from batch.lowering.types import element_type
from batch.runtime.binding import Bound, trace
from batch.runtime.device import no_explanation, parse_device
from batch.runtime.ragged import Ragged
from batch.tracing.entries import Entry
from batch.tracing.extents import extent_names, symbolic_extents
from batch.tracing.functions import (
    Defined,
    EntryTypes,
    check_results,
    data_arguments,
    tracing_program,
)
from batch.tracing.jaxprs import words_of
from batch.tracing.locations import user_location
from batch.tracing.options import call_options
from batch.tracing.trees import check_tree, flatten_tree
from batch.tracing.values import is_value, kinds_in, value_of
from batch.transforms.arguments import (
    argument_aval,
    cache_key,
    check_place,
    copy_axes,
    instance_type,
    ragged_types,
    spread_axes,
    trace_options,
)
from batch.transforms.arrays import UNMAPPED
from batch.transforms.call import Call
from batch.transforms.compiled import Compiled, in_batch_trace, tracing, without_mesh
from batch.transforms.direct import run, shape_of
from batch.transforms.forest import Forest, as_forest

if TYPE_CHECKING:
    from batch.explain.explanation import Explanation
    from batch.runtime.arrivals import CarriedObject

R = TypeVar("R")
# Attributes of a function in pickles. The others are caches.
_STATE = ("function", "in_axes", "out_axes", "axis_size", "options", "data", "_entry")
_CALLS = 256  # limit on the checked calls that each function caches; a call has a fixed batch size
_DIRECT = 64  # limit on the kinds of arguments for which JAX compiles a program


def data_of(function: Callable[..., Any]) -> tuple[dict[str, Data | List], tuple[str, ...]]:
    """Returns the data types of a function's arguments by name, and all names in order.

    Both are empty if no argument has a data type.
    """
    data = function.data_arguments() if isinstance(function, Defined) else \
        data_arguments(function)
    if not data:
        return {}, ()
    return data, tuple(inspect.signature(function).parameters)


class Mapped(PicklableFunction, Generic[R]):
    """A function over all instances, compiled once for each kind of arguments.

    Its results have the structure of the function's results, and the axes of out_axes.
    """

    def __init__(self, function: Callable[..., R], in_axes: PyTree, out_axes: PyTree,
                 axis_size: int | None, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function: Callable[..., R] = function
        self.in_axes: PyTree = in_axes
        self.out_axes: PyTree = out_axes
        self.axis_size: int | None = axis_size
        self.options: dict[str, Any] = options
        self.data: dict[str, Data | List]
        self.data, self._entry = data_of(function)
        self._forget()

    def _forget(self):
        # Compiled functions, and the structures of their results.
        self.known: dict[Hashable, Any] = {}
        self.calls: dict[Hashable, Any] = {}  # checked calls
        self.lock: Any = threading.RLock()
        # Kinds of arguments that calls pass to `jitted`, and the places of the results.
        self.direct: dict[Hashable, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in _STATE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        functools.update_wrapper(self, state["function"])
        self.__dict__.update(state)
        self._forget()

    def carried(self) -> tuple[CarriedObject, ...]:
        """Returns the objects of all functions that are compiled."""
        with self.lock:
            known = [compiled for compiled, _ in self.known.values()]
        return tuple(carried for compiled in known for carried in compiled.objects())

    def __call__(self, *arguments: Any, **named: Any) -> R:
        results: Any
        if self.direct and not named and trace.bind is None:
            try:
                kinds = (*map(type, arguments), *map(shape_of, arguments))
                place = self.direct.get(kinds)
            except AttributeError:  # not an array
                place = None
            if place is not None and place.sharding is not None:
                results = run(self.jitted, arguments, place)
                if results is not None:
                    return results
        if self.data:  # converted once for all uses below
            arguments, named = self._forests(arguments, named)
        leaves, tree = arguments, None  # a tuple of arrays needs no tree
        kinds = list(map(cache_key, leaves))
        if named or None in kinds:
            leaves, tree = flatten_tree((arguments, named))
            kinds = list(map(cache_key, leaves))
        key = (tree, *kinds, trace_options(), call_options())
        is_tracing = in_batch_trace()
        call = None if is_tracing or None in kinds else self.calls.get(key)
        if call:
            results = call(leaves)
            if call.direct.place is not None and tree is None and \
                    len(self.direct) < _DIRECT and call.direct.needs_only_arguments():
                self.direct[*map(type, arguments), *map(shape_of, arguments)] = call.direct.place
            return results
        leaves, call = self._checked(arguments, named)
        if is_tracing or call.compiled.is_traced or \
                any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return cast(R, call.traced(leaves))
        results = call(leaves)
        if None not in kinds:
            with self.lock:
                while len(self.calls) >= _CALLS:
                    del self.calls[next(iter(self.calls))]
                self.calls[key] = call
        return results

    @functools.cached_property
    def jitted(self) -> Any:
        """The function that JAX dispatches for direct calls."""
        def traced(*arguments):
            leaves, call = self._checked(arguments, {})
            return call.traced(leaves)

        return jax.jit(traced)

    def explain(self, *arguments: Any, **named: Any) -> Explanation:
        """Runs the function, and returns an Explanation.

        It contains the compiler's decisions and, for each line of the function, the number of
        instances that ran it together. Raises TypeError under a JAX transformation, and ValueError
        on another device than the CPU.
        """
        device = self.options.get("device", "cpu")
        if device != "cpu":
            raise ValueError(user_location() + no_explanation(device))
        leaves, call = self._checked(arguments, named)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            raise TypeError("JAX cannot trace explain(), which runs the function; call it outside "
                            "of jax.jit and other transformations")
        return call.compiled.explain(call.words_of(leaves), call.axes, call.size,
                                     repr(getattr(self.function, "__name__", "a function")))

    def _checked(self, arguments, named):
        """Returns the leaves of the arguments, and a call for arguments of their kinds."""
        if self.data:
            arguments, named = self._forests(arguments, named)
        # Keyword arguments are mapped along their first axis.
        in_axes = (tuple(self.in_axes) if isinstance(self.in_axes, list)
                   else self.in_axes), 0
        if isinstance(self.in_axes, (tuple, list)) and len(self.in_axes) != len(arguments):
            raise ValueError("vmap in_axes must be an int, None, or a tuple of entries "
                             "corresponding to the positional arguments passed to the "
                             f"function, but got len(in_axes)={len(self.in_axes)}, "
                             f"len(args)={len(arguments)}")
        leaves, tree = flatten_tree((arguments, named))
        avals = list(map(argument_aval, leaves))
        axes = spread_axes(in_axes, (arguments, named), "in_axes")
        size, axes = self._size(avals, axes, leaves)
        for leaf in leaves:
            check_place(leaf)
        try:
            types = ragged_types(leaves, list(map(instance_type, avals, axes)))
            compiled, results = self.compile(types,
                                             [axis is UNMAPPED for axis in axes], tree)
        except LoweringError as error:  # add a location, because an argument's type has no line
            if re.match(r".*:\d+ \(in ", str(error)):
                raise
            raise LoweringError(user_location() + str(error)) from None
        return leaves, Call(compiled, axes, size, results, self.out_axes)

    def _forests(self, arguments, named):
        """Returns the arguments; those annotated with a data type become forests."""
        arguments, named = list(arguments), dict(named)
        for i, name in enumerate(self._entry):
            if i < len(arguments) and name in self.data:
                arguments[i] = as_forest(self.data[name], arguments[i],
                                          f"argument {name!r}")
        for name in set(named).intersection(self.data):
            named[name] = as_forest(self.data[name], named[name], f"argument {name!r}")
        return tuple(arguments), named

    def _size(self, avals, axes, leaves):
        """Returns the number of instances, and the axes as non-negative numbers.

        Raises ValueError if an axis is out of range or sizes differ.
        """
        size, positive = self.axis_size, []
        for aval, axis, leaf in zip(avals, axes, leaves):
            if axis is UNMAPPED and isinstance(leaf, Forest):
                raise ValueError("in_axes=None is unsupported for an argument of type "
                                 f"{describe_type(leaf.kind)}, which differs between instances; "
                                 "use in_axes=0")
            if axis is UNMAPPED:
                positive.append(axis)
                continue
            if isinstance(leaf, Bound):
                raise ValueError(f"in_axes={axis} is unsupported for an array of batch.bind, "
                                 "which is the same for all instances; use in_axes=None")
            shape = aval.shape
            if isinstance(leaf, Ragged):
                if axis != 0:
                    raise ValueError(f"in_axes={axis} is unsupported for a batch.Ragged; use "
                                     "in_axes=0, the axis of its instances")
                shape = (len(leaf),)
            if not -len(shape) <= axis < len(shape):
                least = axis + 1 if axis >= 0 else -axis
                raise ValueError(f"vmap was requested to map its argument along axis {axis}, "
                                 f"which implies that its rank should be at least {least}, but "
                                 f"is only {len(shape)} (its shape is {shape})")
            axis %= len(shape)
            positive.append(axis)
            if size is None:
                size = shape[axis]
            elif size != shape[axis]:
                raise ValueError("vmap got inconsistent sizes for array axes to be mapped: "
                                 f"{size} and {shape[axis]} (shape {shape}, axis {axis})")
        if size is None:
            raise ValueError("vmap must have at least one non-None value in in_axes, or "
                             "axis_size")
        return size, positive

    def compile(self, types: list[Any], shared: list[bool],
                tree: Any) -> tuple[Any, Any]:
        """Returns the function for arguments of these types, and the tree of its results."""
        if in_batch_trace():  # not cached: the function may read values of this trace
            return self._compile(types, shared, tree)
        key = tree, tuple(types), tuple(shared), trace_options()
        with self.lock:
            if key in self.known:
                return self.known[key]
            found = self._compile(types, shared, tree)
            if not found[0].is_traced:
                self.known[key] = found
            return found

    def _compile(self, types, shared, tree):
        kinds = [kind if isinstance(kind, (Data, List)) else None for kind in types]
        symbols = symbolic_extents(extent_names(
            part[0] for part, kind in zip(types, kinds) if not kind))

        def spec(part, kind):
            if kind:
                return value_of(kind, jax.ShapeDtypeStruct((), numpy.int32))
            shape, dtype, weak = part
            return jax.ShapeDtypeStruct([symbols.get(n, n) for n in shape], dtype,
                                        weak_type=weak)

        function, recursion = self.function, None
        specs = jax.tree.unflatten(tree, list(map(spec, types, kinds)))
        # A function with data arguments is traced like a @batch.function.
        has_data = any(kinds)
        if has_data and not isinstance(function, Defined):
            function = Defined(function, Scope(0))
        failed = []
        with tracing(), without_mesh(), jax.disable_jit(False), \
                tracing_program() as program:
            if symbols and not has_data:
                entry = Entry(lambda a, k: function(*a, **k), specs,
                                         next(iter(symbols.values())).scope)
                closed, result, failed = entry.closed, entry.result, entry.failed
            else:
                closed, result = jax.make_jaxpr(lambda a, k: function(*a, **k),
                                                return_shape=True)(*specs)
            program.complete()
        for constant in closed.consts:
            check_place(constant)
        for variable in closed.jaxpr.invars:
            element_type(words_of(variable.aval).dtype)
        if program.specs or program.constructed:
            check_results(kinds_in(result))
            recursion = EntryTypes(program, kinds, kinds_in(result))
        return (Compiled(closed, shared, self.options, recursion, failed),
                jax.tree.structure(result, is_leaf=is_value))


def vmap(f: Callable[..., R], in_axes: PyTree = 0, out_axes: PyTree = 0,
         axis_size: int | None = None, *, axis_name: Hashable | None = None, lanes: int = 0,
         threads: int | None = None, strategy: str = "auto",
         stack_depth: int = 64, device: str = "cpu") -> Mapped[R]:
    """Maps f over a batch, like jax.vmap; each lane runs its own loops and branches.

    Under `jax.vmap`, a loop runs until its slowest lane finishes, and both branches of a
    conditional run. Under `batch.vmap`, a finished lane costs nothing, and results do not depend on
    the batch. f is traced once for each kind of arguments, and compiled once for any number of
    lanes. The results equal those of jax.vmap, up to rounding.

    in_axes, out_axes, axis_size: as in jax.vmap. Arguments with in_axes=None, and arrays
        that f closes over, are parameters. JAX arrays are copied once, as long as the same arrays
        are passed. Other arrays are copied once if they are bound with batch.bind.
    lanes: maximum number of lanes in progress at once, in lockstep; 0: all.
    threads: number of workers; None: as in Model.bind().
    strategy: where control flow runs (docs/reference/pipelines.md).
    stack_depth: maximum depth of recursive calls in lockstep. Each lane has a stack of this size.
    device: where f runs: "cpu", "cuda", "cuda:N" for the GPU with number N, or "emulator", which
        runs GPU code on the host. Calls copy arguments and results through host memory.

    Raises TypeError if f is not callable, and ValueError if `device` is unknown. Raises
    LoweringError if `axis_name` is given: lanes do not wait for each other.
    """
    if axis_name is not None:
        raise LoweringError(f"{user_location()}batch.vmap does not support axis_name because "
                            "lanes do not wait for each other; use jax.vmap for collectives")
    if not callable(f):
        raise TypeError(f"batch.vmap expects a function, got {f!r}")
    parse_device(device)
    check_tree(in_axes, "in_axes")
    check_tree(out_axes, "out_axes")
    # Cached calls depend on the axes. The caller may change its axes, but not these copies.
    return Mapped(f, copy_axes(in_axes), copy_axes(out_axes), axis_size,
                  {"lanes": lanes, "threads": threads, "strategy": strategy,
                   "stack_depth": stack_depth, "device": device})
