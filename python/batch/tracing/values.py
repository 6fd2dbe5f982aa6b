"""Traced values of data types and lists."""

from __future__ import annotations

import inspect
import itertools
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from batch.core.adt import fields_of
from batch.core.types import Data, List, PyTree, describe_type, element_of
from batch.tracing.locations import user_location
from batch.tracing.primitives import length_p, open_p
from batch.tracing.questions import Question, check_question_count
from batch.tracing.refusals import endless_fields

_LEVELS = 50  # maximum number of nested fields that Python code reads on one path
_traversals = {}


def traversal(name):
    """Registers the decorated function, which a method of ListValue calls."""
    def register(function):
        _traversals[name] = function
        return function
    return register


class Value:
    """Value of a data type in a traced function."""

    __slots__ = ("_data", "_tracer")

    def __init__(self, data: Any, tracer: Any) -> None:
        self._data, self._tracer = data, tracer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        cls = self._data
        # The variant is not queried for an attribute that only the data type itself defines.
        if name not in vars(cls) or any(name in vars(variant) for variant in cls._variants):
            cls = cls._variants[variant_of(self)]
        if name in getattr(cls, "_names", ()):
            return fields_of_value(self, cls)[name]
        try:
            found = inspect.getattr_static(cls, name)
        except AttributeError:
            raise unknown_field(AttributeError, cls, name) from None
        return found.__get__(self, cls) if hasattr(found, "__get__") else found

    def __repr__(self) -> str:
        return f"<traced {self._data.__name__}>"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a value of type {self._data.__name__} has no truth value; distinguish "
                        "its variants with match or isinstance")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(f"values of type {self._data.__name__} cannot be compared, because they "
                        "have no identity in a compiled function; compare their fields")

    __hash__ = None


class ListValue:
    """List of any length in a traced function."""

    __slots__ = ("_kind", "_tracer")

    def __init__(self, kind: List, tracer: Any) -> None:
        self._kind, self._tracer = kind, tracer

    def __repr__(self) -> str:
        return f"<traced {describe_type(self._kind)}>"

    def _refuse(self, what: str, advice: str) -> NoReturn:
        raise TypeError(f"{user_location()}{describe_type(self._kind)} {what}; {advice}")

    def __iter__(self) -> NoReturn:
        self._refuse("cannot be iterated over during tracing", "instead of a loop, use "
                     "list.map(f) to apply f to each element, list.sum(f) to add up the "
                     "results of f, or list.fold(f, init) to carry a value from each "
                     "element to the next")

    def __len__(self) -> NoReturn:
        self._refuse("has an unknown length during tracing", "instead of len(list), use "
                     "list.length, a traced number")

    def __getitem__(self, index: Any) -> NoReturn:
        self._refuse("does not support indexing", "instead of list[i], use "
                     "list.fold(f, init), which can carry one of the elements, or list.map(f) "
                     "to apply f to all elements")

    def __bool__(self) -> NoReturn:
        self._refuse("has no truth value", "instead of `if list`, use list.length > 0 in "
                     "jnp.where or lax.cond")

    @property
    def length(self) -> jax.Array:
        """Number of elements: a scalar of dtype int32, or int64 under jax_enable_x64."""
        return length_p.bind(self._tracer, kind=self._kind)[0]

    @property
    def array(self) -> jax.Array:
        """Elements as one array with a row for each element.

        The elements are numbers or tensors. Raises TypeError for a list of data.
        """
        if isinstance(element_of(self._kind), Data):
            raise TypeError(f"{describe_type(self._kind)} has no array because its elements are "
                            "values of a data type; use list.map(f) for an array of results")
        return self.map(lambda element: element)

    def __jax_array__(self) -> jax.Array:
        return self.array

    def map(self, function: Callable[..., PyTree], *others: Any) -> PyTree:
        """Returns the results of `function` for each element.

        Arrays have a row for each element. Results of data types form lists.

        function: called with an element of this list and an element or row of each of `others`.
        others: lists, or arrays with as many rows. Raises TypeError for anything else.
        """
        return _traversals["map"](function, (self, *others))

    def fold(self, function: Callable[..., PyTree], init: PyTree, *others: Any) -> PyTree:
        """Returns the last carry of `carry = function(carry, element)`.

        Elements are processed one after another. The result has the types of `init`. Raises
        TypeError if `function` returns other types.

        function: called with the carry, an element, and an element or row of each of `others`.
        init: the first carry, a tree of arrays, values of data types and lists.
        others: lists, or arrays with as many rows. Raises TypeError for anything else.
        """
        return _traversals["fold"](function, init, (self, *others))

    def sum(self, function: Callable[..., PyTree] | None = None, *others: Any) -> PyTree:
        """Returns the sum of the results of `function` over all elements.

        function: as for map(); None sums the elements themselves, which are numbers or tensors.
        others: as for map(); unused without a function.
        """
        rows = self.array if function is None else self.map(function, *others)
        return jax.tree.map(lambda a: jnp.sum(a, axis=0), rows)


jax.tree_util.register_pytree_node(
    Value, lambda value: ((value._tracer,), value._data),
    lambda data, parts: Value(data, *parts))
jax.tree_util.register_pytree_node(
    ListValue, lambda value: ((value._tracer,), value._kind),
    lambda kind, parts: ListValue(kind, *parts))


def is_value(value):
    return isinstance(value, (Value, ListValue))


def kind_of(value):
    """Returns the declared type of a Value or a ListValue. Returns None for an array."""
    return Data(value._data) if isinstance(value, Value) else \
        value._kind if isinstance(value, ListValue) else None


def kinds_in(tree):
    """Returns the declared types (see kind_of()) of the leaves of a tree."""
    return [kind_of(part) for part in jax.tree.leaves(tree, is_leaf=is_value)]


def value_of(kind, tracer):
    return Value(kind.adt, tracer) if isinstance(kind, Data) else \
        ListValue(kind, tracer) if isinstance(kind, List) else tracer


class _State(threading.local):
    program = None
    frames = ()  # frames of running functions, the innermost last
    entries = ()  # (scope, frame) of running functions of ragged arrays (entries.Entry)


state = _State()


# --- paths -------------------------------------------------------------------------------

class UnknownResult(BaseException):
    """Exception for a call of a function whose result type is not known yet."""

    def __init__(self, spec):
        super().__init__(spec)
        self.spec = spec


_frame_numbers = itertools.count()


class Frame:
    """Run of a function along one path.

    script: numbers of the variants of the queried values, in the order of the queries.
    """

    def __init__(self, script, root):
        self.script, self.asked, self.decided = script, [], {}
        self.root, self.number = root or self, next(_frame_numbers)
        self.keys = {}  # of identified values: id of a tracer → (key, tracer); keeps tracers alive
        self.unknown = None  # error that ends this run even if user code catches it
        # State of a whole function, stored in its root frame; dims and lists are keyed by list.
        self.dims, self.lists, self.symbols = {}, {}, 0
        # Suffix of the names of the function's symbols, different in each run. JAX caches traces by
        # name, and a cached trace would ask no questions.
        self.suffix = ""
        self.extents = {}  # extents of the function's arguments, by their names in this frame

    def know(self, value, key):
        self.keys[id(value._tracer)] = key, value._tracer

    def variant(self, key, data):
        if key not in self.decided:
            if len(self.asked) == len(self.script):
                self.script.append(0)
            self.decided[key] = self.script[len(self.asked)]
            self.asked.append((key, data))
        return self.decided[key]

    def answer(self, question):
        """Returns the answer to a question on this path."""
        before = [(asked, asked.answer(number)) for (_, asked), number in
                  zip(self.asked, self.script) if isinstance(asked, Question)]
        answer = question.decided(before)
        if answer is None:
            check_question_count(before)
            answer = question.answer(self.variant(question.text, question))
        return answer

    def forget(self):
        """Drops the traced values at the end of a trace."""
        self.keys, self.dims, self.lists = {}, {}, {}

    def path(self):
        return tuple((*asked, number) for asked, number in zip(self.asked, self.script))


def key_of(value):
    """Returns (innermost frame that identifies a value, key of the value there) or (None, None)."""
    for frame in reversed(state.frames):
        known = frame.keys.get(id(value._tracer))
        if known:
            return frame, known[0]
    return None, None


def variant_of(value):
    frame, key = key_of(value)
    if frame:
        return frame.variant(key, value._data)
    if len(value._data._variants) == 1:
        return 0
    raise TypeError(f"the variant of this {value._data.__name__} is unknown here; pass the value "
                    "to a @batch.function, list.map or list.fold, and query the variant there")


def unknown_field(error, variant, name):
    """Returns an error of type `error` for a field that a variant does not have."""
    fields = " or ".join(", ".join(variant._names).rsplit(", ", 1))
    return error(f"{variant} has no field {name!r}" + (f"; expected {fields}" if fields else ""))


def _level(key):
    """Returns the number of nested fields in a key."""
    level = 0
    while isinstance(key, tuple):
        key, level = key[0], level + 1
    return level


def fields_of_value(value, variant):
    """Returns the fields of a value of this variant, by name.

    Raises LoweringError if the value is a field of a field, through too many levels.
    """
    frame, key = key_of(value)
    if _level(key) > _LEVELS:
        raise endless_fields(value._data, _LEVELS)
    tracers = open_p.bind(value._tracer, variant=variant)
    fields = {}
    for (name, kind), tracer in zip(fields_of(value._data)[variant._number], tracers):
        fields[name] = value_of(kind, tracer)
        if is_value(fields[name]) and frame:
            frame.know(fields[name], (key, name))
        elif isinstance(fields[name], ListValue):  # a field of a type with one variant
            root_frame().lists[id(tracer)] = (id(value._tracer), name), (tracer, value)
    return fields


def root_frame():
    if not state.frames:
        raise TypeError("a list is used outside of the trace that it belongs to; use lists only "
                        "in a @batch.function")
    return state.frames[-1].root


def new_symbol(root):
    (dim,) = jax.export.symbolic_shape(f"n{root.symbols}{root.suffix}",
                                       scope=state.program.scope)
    root.symbols += 1
    return dim


def current_program():
    """Returns the program that is being traced, or None."""
    return state.program
