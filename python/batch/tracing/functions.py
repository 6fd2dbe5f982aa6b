"""Recursive functions on trees and other data types: @batch.function.

Tracing runs a function once for each variant that the function distinguishes. The fields of a
traced value represent any value. Questions about an argument (`match`, `isinstance`) are answered
with one variant after another. Each run therefore follows one path and returns one jaxpr. A call is
an equation. Its result type comes from a path without calls of unknown type.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import jax.numpy as jnp

from batch.core.adt import Scope, reachable, tracing, type_of
from batch.core.errors import LoweringError
from batch.core.types import Data, List, PyTree, Scalar, Tensor, describe_type, element_of
from batch.tracing.entries import answered_questions
from batch.tracing.lists import construct
from batch.tracing.locations import user_location
from batch.tracing.paths import Body, argument_type, decide, give_up
from batch.tracing.primitives import aval_of, call_p
from batch.tracing.trees import flatten_tree
from batch.tracing.values import UnknownResult, is_value, kinds_in, state, value_of

_NESTED = 6  # maximum number of nested calls of a function, each with new argument types


# --- functions ---------------------------------------------------------------------------

class Spec(Body):
    """Function for arguments of fixed types; `symbols` is the number of symbols in these types."""

    def __init__(self, function, tree, avals, kinds, symbols):
        super().__init__(function.__name__, function.function, avals, self._arguments)
        self.argument_tree, self.kinds, self._symbols = tree, kinds, symbols
        self.is_running = False
        known = function.returns()
        if known is not None:
            leaves, self.tree = jax.tree.flatten(known)
            self.avals_out, self.kinds_out = list(map(argument_type, leaves)), \
                kinds_in(known)
            self._declared = "its annotation"

    def _arguments(self, frame, tracers):
        arguments = jax.tree.unflatten(self.argument_tree, tracers)
        values = jax.tree.leaves(arguments, is_leaf=is_value)
        for number, value in enumerate(values):
            if is_value(value):
                frame.know(value, number)
        frame.symbols = self._symbols  # new symbols of the function are numbered after these
        return arguments

    def _check(self, closed):
        if any(isinstance(value, jax.core.Tracer) for value in closed.consts):
            raise TypeError(f"{self.name} reads a value that an enclosing function computes; "
                            "pass it as an argument")

    def resolve(self):
        """Determines the types of the results.

        Raises UnknownResult if they are not known yet.
        """
        if self.tree is not None:
            return
        if self.is_running:
            raise UnknownResult(self)
        self.is_running = True
        try:
            self.explore()
        finally:
            self.is_running = False
        if self.tree is None:
            raise self.unknown


class Program:
    """Functions that are reachable from an entry."""

    def __init__(self):
        self.scope = jax.export.SymbolicScope()
        self.specs = {}
        self.constructed = set()  # data types whose values are constructed in functions
        self._runs = itertools.count()

    def suffix(self):
        """Returns a new suffix for each run of a function; the first suffix is empty."""
        number = next(self._runs)
        return f"_{number}" if number else ""

    def spec(self, function, tree, avals, kinds):
        avals, symbols = _renamed(avals, self.scope)
        key = function, tree, tuple((a.shape, a.dtype, a.weak_type) for a in avals)
        if key not in self.specs:
            around = [spec for (f, *_), spec in self.specs.items()
                      if f is function and spec.is_running]
            if len(around) >= _NESTED:
                types = "; ".join(", ".join(
                    a.str_short() for a, kind in zip(spec.avals, spec.kinds) if not kind)
                    for spec in around)
                raise TypeError(f"{function.__name__} calls itself with new argument types each "
                                f"time ({types}); use the same types in all calls")
            self.specs[key] = Spec(function, tree, avals, kinds, symbols)
        return self.specs[key]

    def complete(self):
        """Traces the pending paths of all functions.

        Raises TypeError if no path determines the result type of a function.
        """
        while True:
            before = sum(len(spec.arms) for spec in self.specs.values())
            left = [spec for spec in list(self.specs.values()) if not spec.explore()]
            count = sum(len(spec.arms) for spec in self.specs.values())
            if not left and all(not spec._pending for spec in self.specs.values()):
                return
            if count == before and left:
                raise unknown_result_error(left[0].unknown.spec)


def unknown_result_error(spec):
    """Returns the error for a function whose result type is not determined by any path."""
    return TypeError(
        f"the result type of {spec.name} is unknown because every path calls {spec.name}, "
        "directly or through another function; annotate the result, as in "
        f"`def {spec.name}(...) -> batch.tensor(256):`")


def _renamed(avals, scope):
    """Renames symbols in order of first appearance. Returns the types and the number of symbols."""
    names, renamed = {}, []
    for aval in avals:
        shape = []
        for axis, n in enumerate(aval.shape):
            if not isinstance(n, int):
                if axis:
                    raise LoweringError(
                        f"an argument of type {aval.str_short()} has a ragged extent on axis "
                        f"{axis}; only axis 0 may be ragged")
                n = names.setdefault(str(n), jax.export.symbolic_shape(
                    f"n{len(names)}", scope=scope)[0])
            shape.append(n)
        renamed.append(aval.update(shape=tuple(shape)))
    return renamed, len(names)


def check_results(kinds):
    """Checks the declared types of an entry's results.

    Raises TypeError for a list of data. Raises TypeError if two results have nodes of the same data
    type, because each output of a model has one name.
    """
    found = {}
    for number, kind in enumerate(kinds):
        if isinstance(kind, List):
            raise TypeError(f"result {number} has unsupported type {describe_type(kind)}; "
                            "return the list as a field of a data type")
        for data in reachable(kind.adt) if kind else ():
            if found.setdefault(data, number) != number:
                raise TypeError(
                    f"results {found[data]} and {number} both contain nodes of "
                    f"{data.__name__}; return one value that contains both")


class EntryTypes:
    """Declared types of the arguments and results of an entry.

    arguments, results: one declared type each, None for an array.
    constructed: data types whose values are constructed in functions.
    """

    def __init__(self, program, arguments, results):
        self.constructed, self.arguments, self.results = program.constructed, arguments, \
            results


@contextlib.contextmanager
def tracing_program():
    """Context that traces functions. A nested context uses the program of the outer one."""
    if state.program is not None:
        yield state.program
        return
    state.program = Program()
    tracing.construct, tracing.decide = construct, decide
    try:
        with answered_questions():
            yield state.program
    except UnknownResult as error:
        raise unknown_result_error(error.spec) from None
    finally:
        state.program = None
        tracing.construct = tracing.decide = None


class Defined:
    """Function that is decorated with @batch.function."""

    if TYPE_CHECKING:
        __name__: str

    def __init__(self, function: Callable[..., Any], scope: Scope) -> None:
        functools.update_wrapper(self, function)
        self.function: Callable[..., Any] = function
        self._scope = scope
        self._returns: list[PyTree] = []  # the result of returns(), after its first call

    def __call__(self, *arguments: Any, **named: Any) -> PyTree:
        leaves, tree = flatten_tree((arguments, named))
        for leaf in leaves:
            if isinstance(leaf, str):
                raise TypeError(
                    f"{user_location()}{self.__name__} got the string {leaf!r}; inside a "
                    "function, construct nodes with their variants, such as `Tree.Leaf(3)`, "
                    "not with tuples")
        leaves = [leaf if isinstance(leaf, jax.Array) else jnp.asarray(leaf)
                  for leaf in leaves]
        avals = list(map(jax.typeof, leaves))
        spec = state.program.spec(self, tree, avals, kinds_in((arguments, named)))
        try:
            spec.resolve()
        except UnknownResult as error:
            give_up(error)
        return jax.tree.unflatten(spec.tree, call_p.bind(*leaves, spec=spec))

    def __get__(self, instance: object, owner: type[Any] | None = None) -> NoReturn:
        raise TypeError(f"@batch.function does not support methods; write {self.__name__} as a "
                        "function outside of the class")

    def returns(self) -> PyTree:
        """Returns the tree of result types in the annotation, or None."""
        if not self._returns:
            annotation = inspect.get_annotations(self.function).get("return")
            self._returns = [None if annotation is None else _annotated(
                annotation, self._scope.names())]
        return self._returns[0]

    def data_arguments(self) -> dict[str, Data | List]:
        return data_arguments(self.function, self._scope)

    def __getstate__(self) -> dict[str, Any]:
        # The scope contains the types in annotations after these calls.
        self.data_arguments()
        self.returns()
        return {**self.__dict__, "_returns": []}


def data_arguments(function, scope=None):
    """Returns the annotated data types of a function's parameters and result, by name.

    The name of the result is "return". Lists of data are included. Other annotations are omitted.
    """
    try:
        annotations = inspect.get_annotations(function)
    except (TypeError, NameError):
        return {}
    names = scope.names() if scope else lambda text: eval(
        text, getattr(function, "__globals__", {}), {})
    found = {}
    for name, annotation in annotations.items():
        try:
            kind = type_of(annotation, names)
        except Exception:  # not a Batch annotation
            continue
        if isinstance(element_of(kind), Data):
            found[name] = kind
    return found


def _annotated(annotation, names):
    """Returns the tree of types in an annotation, or None if it contains anything else."""
    if isinstance(annotation, str):
        try:
            annotation = names(annotation)
        except Exception:
            return None
    if getattr(annotation, "__origin__", None) is tuple:
        annotation = annotation.__args__
    if isinstance(annotation, tuple) and not isinstance(annotation, (Scalar, Tensor, List)):
        parts = [_annotated(part, names) for part in annotation]
        return None if any(part is None for part in parts) else tuple(parts)
    if isinstance(annotation, dict):
        parts = {key: _annotated(part, names) for key, part in annotation.items()}
        return None if any(part is None for part in parts.values()) else parts
    try:
        kind = type_of(annotation, names)
    except TypeError:
        return None
    return value_of(kind, aval_of(kind))
