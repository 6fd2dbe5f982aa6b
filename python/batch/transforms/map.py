"""batch.map: maps JAX functions over many elements, on a fixed number of lanes."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import functools
import os
import weakref
from collections.abc import Callable, Generator, Iterator
from typing import Any, Literal, TypeVar, overload

import jax
import numpy

import batch._native as _native
from batch.core.types import PyTree
from batch.runtime.device import parse_device
from batch.runtime.ragged import Ragged
from batch.tracing.locations import user_location
from batch.tracing.trees import flatten_tree
from batch.transforms.arguments import (
    argument_aval,
    check_place,
    instance_type,
    key_words,
    ragged_types,
    to_result,
)
from batch.transforms.forest import Forest, Nodes
from batch.transforms.reader import Here, Thread
from batch.transforms.vmap import Mapped, data_of

R = TypeVar("R")
# Limit on the results that wait for an earlier result, as a multiple of the number of lanes.
_WINDOW = 16
_MOST_LANES = 2 ** 30 - 1  # the capacity of a stream is twice the number of lanes


@functools.lru_cache(maxsize=64)
def _mapped(f, lanes, threads, strategy, stack_depth, device):
    """Returns the mapped function; all calls with these arguments share its compiled code."""
    return Mapped(f, 0, 0, None, {
        "lanes": lanes, "threads": threads, "strategy": strategy, "stack_depth": stack_depth,
        "device": device, "refill": not data_of(f)[0]})


class _Elements:
    """Types of the elements of a map, taken from the first element."""

    def __init__(self, first):
        leaves, self.tree = flatten_tree(((first,), {}))
        self.types = [self._type(0, leaf) for leaf in leaves]
        self.leaves = self.check(0, first)

    def _type(self, index, leaf):
        try:
            return instance_type(argument_aval(leaf))
        except TypeError as error:
            raise TypeError(f"element {index} of xs: {error}") from None

    def check(self, index, element, ragged=False):
        """Returns the leaves of an element, with keys as words.

        ragged: whether the first extents of arrays may differ.

        Raises ValueError if the element's structure or types differ from the first one's.
        """
        leaves, tree = flatten_tree(((element,), {}))
        if tree != self.tree:
            found, wanted = (t.children()[0].children()[0] for t in (tree, self.tree))
            raise ValueError(f"element {index} of xs has the structure {found}; expected "
                             f"{wanted}, the structure of element 0")
        for leaf, wanted in zip(leaves, self.types):
            found = self._type(index, leaf)
            shapes = [found[0], wanted[0]]
            if ragged and len(shapes[0]) == len(shapes[1]):
                shapes = [shape[1:] for shape in shapes]
            if shapes[0] != shapes[1] or found[1] != wanted[1]:
                raise ValueError(f"element {index} of xs has type {found[1]}{list(found[0])}; "
                                 f"expected {wanted[1]}{list(wanted[0])}, the type of element 0")
            check_place(leaf)
        return list(builtins.map(key_words, leaves))


def _rows(compiled, tree, outputs, count):
    """Yields the results of `count` instances. Outputs have a row for each instance."""
    for row in range(count):
        yield jax.tree.unflatten(tree, [
            array._of(row) if isinstance(array, Nodes) else
            to_result(array[row], aval) for array, aval in zip(outputs, compiled.results)])


class _Results(collections.abc.Generator):
    """A generator of results.

    readers: readers of its elements; empty before the generator runs.
    """

    def __init__(self, results, readers):
        self._results, self._readers = results, readers

    def send(self, value):
        # Without this check, the reader's thread would wait for itself.
        if any(reader.is_here() for reader in self._readers):
            raise ValueError("generator already executing")
        return self._results.send(value)

    def throw(self, *error):
        return self._results.throw(*error)


def _results(results, elements, is_live, *arguments):
    """Returns a generator of the results of these elements.

    results: a generator function of a reader and `arguments`.
    is_live: whether a separate thread reads the elements.
    """
    readers = []

    def generate():
        readers.append((Thread if is_live else Here)(elements))
        try:
            yield from results(readers[0], *arguments)
        finally:
            readers[0].close()

    return _Results(generate(), readers)


def _batches(reader, mapped, count, ordered):
    """Yields the results for elements that are values of a data type.

    Values run `count` at a time, or fewer if the next value is late. A batch is not refilled.
    """
    kind, first = next(iter(mapped.data.values())), 0
    while True:
        reader.want(count)
        reader.wait(count)
        taken = [reader.pop() for _ in range(min(count, len(reader)))]
        if not taken:
            return reader.finish()
        reader.want(count)  # the reader continues while the taken elements run
        leaves, call = mapped._checked(
            (Forest(kind, taken, f"xs[{{{first}}}]"),), {})
        outputs = call.compiled.run(call.words_of(leaves), call.axes, call.size)
        call.compiled.check(outputs, numbers=range(first, first + len(taken)))
        rows = _rows(call.compiled, call.tree, outputs, len(taken))
        yield from rows if ordered else enumerate(rows, first)
        first += len(taken)


def _stream(reader, mapped, lanes, ordered):
    """Yields the results of elements as their lanes finish."""
    reader.want(1)
    reader.wait()
    if not len(reader):
        return reader.finish()
    first = reader.pop()
    types = _Elements(first)
    compiled, tree = mapped.compile(types.types, [False] * len(types.types), types.tree)
    function = compiled.bind([])
    session, process = function._session(), os.getpid()
    stream = _native.Stream(session, capacity=2 * lanes)
    try:
        memory = [numpy.from_dlpack(array) for array in stream.arrays()]
        reader.stream = weakref.ref(stream)
        stream.put(1, compiled.arguments(types.leaves))
        count, taken, shown, waiting, failure = 1, 0, 0, {}, None
        while True:
            available = stream.available
            if ordered:
                available = min(available, _WINDOW * lanes - (count - shown))
            if failure is None:
                reader.want(available)
            while failure is None and len(reader) and stream.ended == 0:
                try:
                    leaves = types.check(count, reader.pop())
                except Exception as error:
                    failure = error
                    break
                stream.put(1, compiled.arguments(leaves))
                count += 1
            if taken == count:
                # The map yields all results before the error that ends it.
                if failure is not None:
                    raise failure
                if reader.is_over and not len(reader):
                    return reader.finish()
                reader.wait()
                continue
            numbers = stream.take()
            if not numbers:  # a new element woke this thread
                continue
            taken += len(numbers)
            # Copy the results, because the next take() writes to the same memory.
            outputs = compiled.from_runtime([array[:len(numbers)].copy()
                                             for array in memory])
            compiled.check(outputs, numbers=numbers)
            for number, result in zip(numbers, _rows(compiled, tree, outputs,
                                                     len(numbers))):
                if ordered:
                    waiting[number] = result
                else:
                    yield number, result
            while shown in waiting:
                yield waiting.pop(shown)
                shown += 1
    finally:
        stream.close()
        if os.getpid() == process:  # in a fork, the parent process still uses the session
            function._idle.append(session)


def _list(mapped, elements):
    """Returns a list of the results for a list of elements."""
    if not elements:
        return []
    types = _Elements(elements[0])
    leaves = [types.check(i, element, ragged=True) for i, element in enumerate(elements)]
    columns = []
    for column in zip(*leaves):
        arrays = [numpy.asarray(leaf) for leaf in column]
        differ = any(array.shape != arrays[0].shape for array in arrays)
        columns.append(Ragged.of(arrays) if differ else numpy.stack(arrays))
    compiled, tree = mapped.compile(ragged_types(columns, types.types),
                                    [False] * len(columns), types.tree)
    axes = [0] * len(columns)
    outputs = compiled.run(columns, axes, len(elements))
    compiled.check(outputs, columns, axes)
    return list(_rows(compiled, tree, outputs, len(elements)))


def _is_iterator(xs):
    return hasattr(xs, "__next__") or (
        hasattr(xs, "__iter__") and not isinstance(xs, Ragged) and
        not hasattr(xs, "__array__") and not numpy.isscalar(xs) and
        jax.tree.structure(xs) == jax.tree.structure(0))


@overload
def map(f: Callable[..., R], xs: Forest, lanes: int = 64, *, ordered: bool = True,
        threads: int | None = None, strategy: str = "auto",
        stack_depth: int = 64, device: str = "cpu") -> R: ...


@overload
def map(f: Callable[..., R], xs: PyTree, lanes: int = 64, *, ordered: Literal[False],
        threads: int | None = None, strategy: str = "auto",
        stack_depth: int = 64, device: str = "cpu") -> Generator[tuple[int, R], None, None]: ...


@overload
def map(f: Callable[..., R], xs: list[Any], lanes: int = 64, *,
        ordered: Literal[True] = True, threads: int | None = None, strategy: str = "auto",
        stack_depth: int = 64, device: str = "cpu") -> list[R]: ...


@overload
def map(f: Callable[..., R], xs: Iterator[Any], lanes: int = 64, *,
        ordered: Literal[True] = True, threads: int | None = None, strategy: str = "auto",
        stack_depth: int = 64, device: str = "cpu") -> Generator[R, None, None]: ...


@overload
def map(f: Callable[..., R], xs: PyTree, lanes: int = 64, *,
        ordered: Literal[True] = True, threads: int | None = None, strategy: str = "auto",
        stack_depth: int = 64, device: str = "cpu") -> R: ...


def map(f: Callable[..., Any], xs: Any, lanes: int = 64, *, ordered: bool = True,
        threads: int | None = None, strategy: str = "auto", stack_depth: int = 64,
        device: str = "cpu") -> Any:
    """Maps f over elements, like jax.lax.map(f, xs, batch_size=lanes), with lanes that refill.

    A lane that finishes its element takes the next one immediately.

    xs: the elements, in one of these forms. If f is annotated to take a data type, elements
        are values of that type.
        If xs is a tree of arrays, elements are indexed by the first axes, and the results
        are arrays.
        If xs is a list, elements are trees of arrays with equal types, except for the first
        extents of arrays. The results are a list.
        If xs is an iterator, which may be infinite, the results are an iterator, which yields them
        as lanes finish. A separate thread reads xs, at most 2 * lanes elements ahead, or 16 * lanes
        while one result takes long. Values of a data type from an iterator run `lanes` at a time,
        or fewer if the next one is late.
    lanes: number of elements in progress at once, from 1 to 2**30 - 1.
    ordered: if False, the results are an iterator of (index, result) pairs, as they become
        available.
    threads: number of workers; None: as in Model.bind().
    strategy: where control flow runs (docs/reference/pipelines.md); iterators run in lockstep.
    stack_depth, device: as in batch.vmap. Only the CPU runs iterators and ordered=False, except
        for values of a data type.

    Raises TypeError if f is not callable. Raises ValueError if `lanes` is out of range, if
    the types of elements differ, or if `strategy` or `device` does not support refilling lanes.
    """
    if not callable(f):
        raise TypeError(f"batch.map expects a function, got {f!r}")
    if isinstance(lanes, bool) or not isinstance(lanes, int) or lanes < 1:
        raise ValueError(f"lanes must be a positive integer, got {lanes!r}")
    if lanes > _MOST_LANES:
        raise ValueError(f"lanes must be at most {_MOST_LANES}, got {lanes}")
    kind, _ = parse_device(device)
    is_list, is_iterator = isinstance(xs, list), _is_iterator(xs)
    has_data = bool(data_of(f)[0])
    if (is_iterator or not ordered) and not has_data:
        if strategy not in ("auto", "lockstep"):
            raise ValueError(f"strategy {strategy!r} does not support iterators or ordered=False, "
                             "which require lockstep execution; use 'lockstep' or 'auto'")
        if kind != "cpu":
            raise ValueError(f"{user_location()}device {device!r} does not support iterators or "
                             "ordered=False, because elements cannot arrive while its kernel "
                             "runs; pass an array or a list, or use device='cpu'")
        strategy = "lockstep"
    try:
        mapped = _mapped(f, lanes, threads, strategy, stack_depth, device)
    except TypeError:  # f is not hashable
        mapped = _mapped.__wrapped__(f, lanes, threads, strategy, stack_depth, device)
    if has_data:
        if isinstance(xs, Forest):
            return mapped(xs)
        results = _results(_batches, xs, not is_list, mapped,
                           len(xs) or 1 if is_list else lanes, ordered)
        return list(results) if is_list and ordered else results
    if is_iterator:
        return _results(_stream, xs, True, mapped, lanes, ordered)
    if is_list:
        return _list(mapped, xs) if ordered else \
            _results(_stream, xs, False, mapped, lanes, ordered)
    if ordered:
        return mapped(xs)
    leaves, tree = flatten_tree(xs, "xs")
    sizes = {numpy.shape(leaf)[:1] for leaf in leaves}
    if len(sizes) != 1 or () in sizes:
        raise ValueError("batch.map expects arrays with equal first extents, got "
                         f"{sorted(sizes)}")
    (size,), = sizes
    rows = (tree.unflatten([leaf[i] for leaf in leaves]) for i in range(size))
    return _results(_stream, rows, False, mapped, lanes, ordered)
