"""The decorator batch.function."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast

import jax

from batch.core.adt import Scope
from batch.core.pickles import PicklableFunction
from batch.core.types import PyTree
from batch.tracing.functions import Defined
from batch.tracing.locations import user_location
from batch.tracing.values import current_program
from batch.transforms.forest import Nodes
from batch.transforms.vmap import Mapped, data_of

P = ParamSpec("P")
R = TypeVar("R")


class Function(Defined, PicklableFunction, Generic[P, R]):
    """A @batch.function, which can also be called outside of other functions."""

    def __init__(self, function: Callable[P, R], scope: Scope) -> None:
        super().__init__(function, scope)
        # Functions for one instance. Keys specify for each argument whether it is a data value.
        self.single_instance: dict[tuple[bool, ...], Mapped[Any]] = {}

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        if current_program() is None:
            return cast(R, call_one(self, arguments, named))
        return cast(R, super().__call__(*arguments, **named))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "single_instance": {}}

    def carried(self) -> tuple[Any, ...]:
        return tuple(carried for mapped in list(self.single_instance.values())
                     for carried in mapped.carried())


def function(f: Callable[P, R]) -> Function[P, R]:
    """Makes f a function on values of data types. f may call itself.

        @batch.function
        def total(tree: Tree):
            match tree:
                case Tree.Leaf(word):
                    return word
                case Tree.Node(left, right):
                    return total(left) + total(right)

    The function is compiled with the function that `batch.vmap` maps. Its body may apply any
    JAX function to arrays. `match` and isinstance test the variants of its arguments and of
    their fields. Lists have the methods map, fold and sum. If the function calls itself on
    every path, an annotation specifies its result: `-> batch.tensor(256)`, or a tuple.

    A call outside of other functions runs one instance; arrays are its parameters.

    Raises TypeError if f is not a Python function.
    """
    if not inspect.isfunction(f):
        raise TypeError(f"@batch.function expects a Python function, got {f!r}")
    return Function(f, Scope(1))


def call_one(function: Function[..., Any], arguments: tuple[Any, ...],
             named: dict[str, Any]) -> PyTree:
    """Returns the results of a @batch.function for one instance; arrays are parameters.

    Raises TypeError for keyword-only arguments, and under a JAX transformation.
    """
    bound = inspect.signature(function).bind(*arguments, **named)
    if bound.kwargs:
        raise TypeError(f"{function.__name__} cannot take keyword-only arguments when it is called "
                        "directly; declare them as positional, or call it in a function that is "
                        "passed to batch.vmap")
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(bound.args)):
        raise TypeError(f"{user_location()}JAX cannot trace {function.__name__}, a "
                        "@batch.function; call it in a function that is passed to batch.vmap")
    data, names = data_of(function)
    is_data = tuple(name in data for name, _ in itertools.zip_longest(names, bound.args))
    mapped = function.single_instance.get(is_data)
    if mapped is None:
        mapped = function.single_instance[is_data] = Mapped(
            function, tuple(0 if is_one else None for is_one in is_data), 0, 1,
            {"lanes": 0, "threads": None, "strategy": "auto"})
    results = mapped(*[[value] if is_one else value
                       for value, is_one in zip(bound.args, is_data)])
    return jax.tree.map(
        lambda value: value if isinstance(value, Nodes) else value[0], results)
