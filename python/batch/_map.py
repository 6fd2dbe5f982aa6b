"""batch.map: functions of JAX over many elements, on a fixed number of lanes."""

import builtins
import collections.abc
import functools
import os
import weakref

import jax
import numpy

from batch import _forest, _reader, _runtime, _trees, _vmap
from batch._model import Ragged

# Results that wait for one before them, as multiples of the lanes.
_WINDOW = 16
_MOST_LANES = 2 ** 30 - 1  # twice as many elements have a place


@functools.lru_cache(maxsize=64)
def _mapped(f, lanes, threads, strategy, stack_depth):
    """What is compiled for a function serves all of its calls."""
    return _vmap.Mapped(f, 0, 0, None, {
        "lanes": lanes, "threads": threads, "strategy": strategy, "stack_depth": stack_depth,
        "refill": not _vmap._data_of(f)[0]})


class _Elements:
    """The types that the elements of a map have: those of the first one."""

    def __init__(self, first):
        leaves, self.tree = _trees.flatten(((first,), {}))
        self.types = [self._type(0, leaf) for leaf in leaves]
        self.leaves = self.check(0, first)

    def _type(self, index, leaf):
        try:
            return _vmap.type_of(_vmap.aval_of(leaf))
        except TypeError as error:
            raise TypeError("element %d of xs: %s" % (index, error)) from None

    def check(self, index, element, ragged=False):
        """The leaves of an element, which has these types; `ragged`: but for the first
        extents of arrays."""
        leaves, tree = _trees.flatten(((element,), {}))
        if tree != self.tree:
            raise ValueError("element %d of xs is the tree %s, where the first one is %s" % (
                index, *(tree.children()[0].children()[0] for tree in (tree, self.tree))))
        for leaf, wanted in zip(leaves, self.types):
            found = self._type(index, leaf)
            shapes = [found[0], wanted[0]]
            if ragged and len(shapes[0]) == len(shapes[1]):
                shapes = [shape[1:] for shape in shapes]
            if shapes[0] != shapes[1] or found[1] != wanted[1]:
                raise ValueError("element %d of xs is %s%s where the first one is %s%s" % (
                    index, found[1], list(found[0]), wanted[1], list(wanted[0])))
            _vmap.check_place(leaf)
        return list(builtins.map(_vmap.words, leaves))


def _rows(compiled, tree, outputs, count):
    """The results of `count` instances, of arrays with the instances in front."""
    for row in range(count):
        yield jax.tree.unflatten(tree, [
            array._of(row) if isinstance(array, _forest.Nodes) else
            _vmap.result(array[row], aval) for array, aval in zip(outputs, compiled.results)])


class _Results(collections.abc.Generator):
    """A generator of results.

    readers: the readers of its elements; none before it runs.
    """

    def __init__(self, results, readers):
        self._results, self._readers = results, readers

    def send(self, value):
        # The reader's thread would wait for itself.
        if any(reader.is_here() for reader in self._readers):
            raise ValueError("generator already executing")
        return self._results.send(value)

    def throw(self, *error):
        return self._results.throw(*error)


def _results(results, elements, is_live, *arguments):
    """The results of a generator function for a reader of these elements. A separate thread
    reads the elements if they are live."""
    readers = []

    def generate():
        readers.append((_reader.Thread if is_live else _reader.Here)(elements))
        try:
            yield from results(readers[0], *arguments)
        finally:
            readers[0].close()

    return _Results(generate(), readers)


def _batches(reader, mapped, count, ordered):
    """Results of values of a data type. They run `count` at a time, or fewer if the next
    value is late; a batch is not refilled."""
    kind, first = next(iter(mapped.data.values())), 0
    while True:
        reader.want(count)
        reader.wait(count)
        taken = [reader.pop() for _ in range(min(count, len(reader)))]
        if not taken:
            return reader.finish()
        reader.want(count)  # it reads while these run
        leaves, call = mapped._checked(
            (_forest.Forest(kind, taken, "xs[{%d}]" % first),), {})
        outputs = call.compiled.run(call.words_of(leaves), call.axes, call.size)
        call.compiled.check(outputs, numbers=range(first, first + len(taken)))
        rows = _rows(call.compiled, call.tree, outputs, len(taken))
        yield from rows if ordered else enumerate(rows, first)
        first += len(taken)


def _stream(reader, mapped, lanes, ordered):
    """Results of elements, as lanes end."""
    reader.want(1)
    reader.wait()
    if not len(reader):
        return reader.finish()
    first = reader.pop()
    types = _Elements(first)
    compiled, tree = mapped.compile(types.types, [False] * len(types.types), types.tree)
    function = compiled.bind([])
    session, process = function._session(), os.getpid()
    stream = _runtime.Stream(session, seats=2 * lanes)
    try:
        memory = [numpy.from_dlpack(array) for array in stream.arrays()]
        reader.stream = weakref.ref(stream)
        stream.put(1, compiled.arguments(types.leaves))
        count, taken, shown, waiting, failure = 1, 0, 0, {}, None
        while True:
            room = stream.room
            if ordered:
                room = min(room, _WINDOW * lanes - (count - shown))
            if failure is None:
                reader.want(room)
            while failure is None and len(reader) and stream.ended == 0:
                try:
                    leaves = types.check(count, reader.pop())
                except Exception as error:
                    failure = error
                    break
                stream.put(1, compiled.arguments(leaves))
                count += 1
            if taken == count:
                # Results come before the error that ends the map.
                if failure is not None:
                    raise failure
                if reader.is_over and not len(reader):
                    return reader.finish()
                reader.wait()
                continue
            numbers = stream.take()
            if not numbers:  # woken: there is an element
                continue
            taken += len(numbers)
            # The next take() writes to the same memory.
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
        if os.getpid() == process:  # in another one the session stays in its call
            function._idle.append(session)


def _list(mapped, elements):
    """Results of the elements of a list, as a list."""
    if not elements:
        return []
    types = _Elements(elements[0])
    leaves = [types.check(i, element, ragged=True) for i, element in enumerate(elements)]
    columns = []
    for column in zip(*leaves):
        arrays = [numpy.asarray(leaf) for leaf in column]
        differ = any(array.shape != arrays[0].shape for array in arrays)
        columns.append(Ragged.of(arrays) if differ else numpy.stack(arrays))
    compiled, tree = mapped.compile(_vmap.ragged_types(columns, types.types),
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


def map(f, xs, lanes=64, *, ordered=True, threads=None, strategy="auto",
        stack_depth=64):
    """As jax.lax.map(f, xs, batch_size=lanes), but a lane whose element has ended takes
    the next one at once.

    xs: a tree of arrays, whose elements lie along their first axes: then the results are
        arrays. Or a list of elements, trees of arrays of equal types, but for their first
        extents: then they are a list. Or an iterator of elements, which may be infinite:
        then they come from an iterator as lanes end. A separate thread reads xs, at most
        2 * lanes elements ahead, or 16 * lanes while one result takes long. Where f is
        annotated to take a data type, elements are values of it. Those of an iterator run
        `lanes` at a time, or fewer if the next one is late.
    lanes: elements in progress at once.
    ordered: False: an iterator of (index, result), as they end.
    threads: workers; None: one for each core.
    strategy: where control runs (docs/Pipelines.md); iterators run in lock step.
    stack_depth: as of batch.vmap.
    """
    if not callable(f):
        raise TypeError("batch.map expects a function, found %r" % (f,))
    if isinstance(lanes, bool) or not isinstance(lanes, int) or lanes < 1:
        raise ValueError("batch.map needs at least one lane, found %r" % (lanes,))
    if lanes > _MOST_LANES:
        raise ValueError("batch.map has at most %d lanes, found %d" % (_MOST_LANES, lanes))
    is_list, is_iterator = isinstance(xs, list), _is_iterator(xs)
    has_data = bool(_vmap._data_of(f)[0])
    if (is_iterator or not ordered) and not has_data:
        if strategy not in ("auto", "lockstep"):
            raise ValueError("elements of an iterator, and results as they end, need lanes "
                             "in lock step: strategy=%r has none" % strategy)
        strategy = "lockstep"
    try:
        mapped = _mapped(f, lanes, threads, strategy, stack_depth)
    except TypeError:  # a function that cannot be hashed
        mapped = _mapped.__wrapped__(f, lanes, threads, strategy, stack_depth)
    if has_data:
        if isinstance(xs, _forest.Forest):
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
    leaves, tree = _trees.flatten(xs, "xs")
    sizes = {numpy.shape(leaf)[:1] for leaf in leaves}
    if len(sizes) != 1 or () in sizes:
        raise ValueError("batch.map expects arrays of equal first extents, found %s" % (
            sorted(sizes),))
    (size,), = sizes
    rows = (tree.unflatten([leaf[i] for leaf in leaves]) for i in range(size))
    return _results(_stream, rows, False, mapped, lanes, ordered)
