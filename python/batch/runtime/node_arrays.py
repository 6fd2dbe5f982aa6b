"""Orders, checks and joins nodes of data types that are stored in arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

import batch._native as _native
from batch.core.adt import fields_of, reachable
from batch.core.types import Data, List, element_of
from batch.runtime.field_values import NUMPY_TYPES, is_array
from batch.runtime.ragged import Ragged, offsets_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def _whole(what, value):
    """Converts whole numbers to a one-dimensional int64 array.

    Raises a TypeError for other values, and a ValueError for numbers out of range.
    """
    array = numpy.asarray(value)
    if array.size == 0:
        array = array.astype(numpy.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"{what}: expected a one-dimensional array of integers, got "
                        f"{array.dtype}{list(array.shape)}")
    if array.dtype == numpy.uint64 and array.size and array.max() > 2 ** 63 - 1:
        raise ValueError(f"{what}: number {array.max()} is out of range")
    return numpy.ascontiguousarray(array, numpy.int64)


def _array(value):
    """Converts a value to a NumPy array. Returns a PyTorch tensor unchanged, because NumPy lacks
    some PyTorch dtypes."""
    return value if type(value).__module__ == "torch" else numpy.asarray(value)


def _flat(what, lists, value, rows):
    """Returns the elements of lists, and the offsets of the lists by level."""
    levels = []
    for _ in range(lists):
        if isinstance(value, Ragged):
            offsets, value = value.offsets, value.values
        else:
            shape = numpy.shape(value)
            if len(shape) < 2:
                raise TypeError(f"{what} requires lists; pass a batch.Ragged, or an array with a "
                                "row for each list")
            offsets = numpy.arange(shape[0] + 1) * shape[1]
            value = numpy.asarray(value).reshape((shape[0] * shape[1],) + shape[2:])
        if offsets.ndim != 1 or len(offsets) != rows + 1 or offsets[0] != 0 or \
                (offsets[1:] < offsets[:-1]).any():
            raise ValueError(f"{what}: invalid offsets for {rows} lists; expected {rows + 1} "
                             "non-decreasing numbers that start at 0, got "
                             f"{_native.shown(offsets)}")
        levels.append(offsets)
        rows = offsets[-1]
    if len(value) != rows:
        raise ValueError(f"{what}: expected {rows} rows, got {len(value)}")
    return value, levels


def _taken(array, levels, rows):
    """Returns the given rows of a field, in the given order, and their offsets by level."""
    moved = []
    for offsets in levels:
        begins = offsets[rows]
        lengths = offsets[rows + 1] - begins
        new = offsets_of(lengths)
        moved.append(new)
        rows = numpy.arange(new[-1]) + numpy.repeat(begins - new[:-1], lengths)
    return None if array is None else array[rows], moved


def _in_order(variants, fields, order, is_node):
    """Returns the variants and fields of renumbered nodes, and their new numbers.

    `order` contains the old numbers in the new order. An array is None if no node has the field.
    """
    new, rank = numpy.empty_like(order), numpy.empty_like(order)
    new[order] = numpy.arange(len(order))
    for number in range(len(fields)):
        places = numpy.flatnonzero(variants == number)
        rank[places] = numpy.arange(len(places))
    variants, rank = variants[order], rank[order]
    made = []
    for number, own in enumerate(fields):
        rows = rank[variants == number]
        taken = [_taken(array, levels, rows) for array, levels in own]
        made.append([(new[array], levels) if nodes else (array, levels)
                     for (array, levels), nodes in zip(taken, is_node[number])])
    return variants, made, new


class NodeArrays:
    """Values of a forest: nodes in arrays, sorted in post-order."""

    data: list[Any]
    variants: list[Any]
    kinds: list[list[tuple[str, Any]]]
    from_lists: set[tuple[int, int]]
    begins: NDArray[numpy.int64]
    order: Ragged
    numbers: NDArray[numpy.int64]
    columns: list[list[Any]]
    roots: tuple[NDArray[numpy.int64], list[NDArray[numpy.int64]]]

    def __init__(self, kind: Data | List, variants: ArrayLike,
                 fields: Mapping[str, ArrayLike | Ragged], roots: Any) -> None:
        self.data = reachable(element_of(kind).adt)
        self.variants = [variant for data in self.data for variant in data._variants]
        self.kinds = [fields for data in self.data for fields in fields_of(data)]
        self.from_lists = set()  # (variant, field) pairs given as lists of numbers
        numbers = _whole("variants", variants)
        known = ", ".join(f"{i} ({variant!r})" for i, variant in enumerate(self.variants))
        wrong = numpy.flatnonzero((numbers < 0) | (numbers >= len(self.variants)))
        if len(wrong):
            raise ValueError(f"node {wrong[0]} has the invalid variant {numbers[wrong[0]]}; "
                             f"expected one of {known}")
        columns = self._columns(fields, numpy.bincount(numbers,
                                                       minlength=len(self.variants)))
        lists = 0
        while isinstance(kind, List):
            kind, lists = kind.element, lists + 1
        rows = len(roots)
        found, levels = _flat("roots", lists, roots, rows)
        found, begins = _whole("roots", found), numpy.arange(rows + 1)
        for offsets in levels:
            begins = offsets[begins]
        is_node = [[isinstance(element_of(kind), Data) for _, kind in own]
                   for own in self.kinds]
        order, self.begins = _native.order_nodes(
            numbers.astype(numpy.int32),
            [(repr(variant), self.data.index(variant._adt)) for variant in self.variants],
            [(data.__name__, data._kind or "", -1 if data._arity is None else data._arity)
             for data in self.data],
            [[(name, self.data.index(element_of(kind).adt), array, _begins(levels))
              for (name, kind), (array, levels) in zip(own, column)
              if isinstance(element_of(kind), Data)]
             for own, column in zip(self.kinds, columns)],
            found, 0, begins)
        self.order = Ragged(order, self.begins)
        if (order[1:] > order[:-1]).all():  # already in post-order
            self.numbers, self.columns = numbers, columns
        else:
            self.numbers, self.columns, new = _in_order(numbers, columns, order, is_node)
            found = new[found]
        self.roots = found, levels

    def _columns(self, fields: Mapping[str, Any], counts: NDArray[Any]) -> list[list[Any]]:
        """Returns, for each variant, the arrays and offsets of its fields."""
        given, columns = dict(fields), []
        for variant, own, count in zip(self.variants, self.kinds, counts.tolist()):
            columns.append([])
            for name, kind in own:
                short = f"{variant.__name__}.{name}"
                full = f"{variant._adt.__name__}.{short}"
                is_one = sum(other.__name__ == variant.__name__ and name in other._names
                             for other in self.variants) == 1
                key = short if is_one and short in given else full
                what = f"field {key if key in given else short if is_one else full!r}"
                if key not in given:
                    if count == 0:
                        columns[-1].append(self._none(kind))
                        continue
                    raise TypeError(
                        f"{what} is missing; expected one row per node, {count} in total")
                lists = 0
                while isinstance(kind, List):
                    kind, lists = kind.element, lists + 1
                value = given.pop(key)
                if not lists and (numpy.ndim(value) == 0 or len(value) != count):
                    raise ValueError(f"{what}: expected one row per node, {count} in total, got "
                                     f"an array of shape {list(numpy.shape(value))}")
                array, levels = _flat(what, lists, value, count)
                if not is_array(array):
                    self.from_lists.add((len(columns) - 1, len(columns[-1])))
                columns[-1].append((
                    _whole(what, array) if isinstance(kind, Data) else _array(array),
                    levels))
        if given:
            known = ", ".join(f"{variant.__name__}.{name}"
                              for variant in self.variants for name in variant._names)
            raise TypeError(f"unknown field {next(iter(given))!r}; expected one of {known}")
        return columns

    @staticmethod
    def _none(kind: Any) -> Any:
        lists = 0
        while isinstance(kind, List):
            kind, lists = kind.element, lists + 1
        return None if not isinstance(kind, Data) else numpy.zeros(0, numpy.int64), \
            [numpy.zeros(1, numpy.int64)] * lists

    def __len__(self) -> int:
        return len(self.begins) - 1

    def read(self, model: Any, reading: Any) -> tuple[Any, Any]:
        """Returns the roots, and the nodes in the runtime's format."""
        places = {(variant.data_type, variant.name): number
                  for number, variant in enumerate(model._variants)}
        numbers = [places[variant._adt.__name__, variant.__name__]
                   for variant in self.variants]
        fields = [[_empty(field) for field in own] for own in reading.fields]
        for own, (number, variant, column) in enumerate(zip(numbers, self.variants,
                                                            self.columns)):
            for f, (field, (array, levels)) in enumerate(zip(reading.fields[number],
                                                             column)):
                if array is None:
                    continue
                if not field.data_type and len(array) == 0:
                    array, _ = _empty(field)  # an empty array may have any dtype
                elif not field.data_type:
                    what = f"field '{variant.__name__}.{field.name}'"
                    if (own, f) in self.from_lists:
                        array = array.tolist()
                    array = reading.array(field, what, array, True)
                    there = model._variants[number].fields[f].dtype
                    if array.dtype.kind == "u" and there[0] == "i":
                        array = array.view(there)  # the same bits
                fields[number][f] = array, levels
        return self.roots, (self.begins,
                            numpy.array(numbers, numpy.int32)[self.numbers], fields)


def _begins(levels):
    """Returns the offsets at which the elements of each outermost list begin, or None for a field
    without lists."""
    if not levels:
        return None
    begins = levels[0]
    for offsets in levels[1:]:
        begins = offsets[begins]
    return begins


def _empty(field):
    return numpy.zeros([0, *field.shape],
                       NUMPY_TYPES.get(field.dtype, numpy.int16)), \
        [numpy.zeros(1, numpy.int64)] * field.lists


def join_forests(model, parts):
    """Joins several forests. Returns the roots by name, and all nodes.

    Each instance has its nodes from all forests.
    """
    if len(parts) == 1:
        return parts[0]
    instances = len(parts[0][1][0]) - 1
    counts = [len(variants) for _, (_, variants, _) in parts]
    firsts = numpy.cumsum([0] + counts)
    variants = numpy.concatenate([variants for _, (_, variants, _) in parts])
    is_node = [[bool(field.data_type) for field in variant.fields]
               for variant in model._variants]
    fields = [[_joined([nodes[2][v][f] for _, nodes in parts],
                       firsts if is_child else None)
               for f, is_child in enumerate(own)] for v, own in enumerate(is_node)]
    instance_of = numpy.concatenate([
        numpy.repeat(numpy.arange(instances), numpy.diff(begins))
        for _, (begins, _, _) in parts])
    order = numpy.argsort(instance_of, kind="stable")
    variants, fields, new = _in_order(variants, fields, order, is_node)
    roots = {name: (new[numbers + first], levels)
             for (own, _), first in zip(parts, firsts)
             for name, (numbers, levels) in own.items()}
    begins = sum(begins for _, (begins, _, _) in parts)
    return roots, (begins, variants, fields)


def _joined(columns, firsts):
    """Concatenates the rows of columns. Adds `firsts` to node numbers, unless it is None."""
    arrays = [array if firsts is None else array + first
              for (array, _), first in zip(columns, [None] * len(columns)
                                           if firsts is None else firsts)]
    levels = []
    for own in zip(*[levels for _, levels in columns]):
        ends = numpy.cumsum([0] + [offsets[-1] for offsets in own])
        levels.append(numpy.concatenate([
            offsets[i > 0:] + end for i, (offsets, end) in enumerate(zip(own, ends))]))
    return numpy.concatenate(arrays), levels
