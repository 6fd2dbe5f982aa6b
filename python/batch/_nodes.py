"""Nodes of data types in arrays: put in order, checked, and put together."""

import numpy

from batch import _adt, _model, _runtime
from batch._adt import Data, List
from batch._model import Ragged


def _whole(what, value):
    """An array of whole numbers."""
    array = numpy.asarray(value)
    if array.size == 0:
        array = array.astype(numpy.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError("%s: an array of whole numbers belongs here, of one dimension; found "
                        "%s%s" % (what, array.dtype, list(array.shape)))
    if array.dtype == numpy.uint64 and array.size and array.max() > 2 ** 63 - 1:
        raise ValueError("%s: there is no node %d" % (what, array.max()))
    return numpy.ascontiguousarray(array, numpy.int64)


def _array(value):
    """NumPy's, but of PyTorch: it has types that NumPy does not have."""
    return value if type(value).__module__ == "torch" else numpy.asarray(value)


def _flat(what, lists, value, rows):
    """The elements of lists, and their offsets by level."""
    levels = []
    for _ in range(lists):
        if isinstance(value, Ragged):
            offsets, value = value.offsets, value.values
        else:
            shape = numpy.shape(value)
            if len(shape) < 2:
                raise TypeError("%s has lists: give a batch.Ragged, or an array with a row "
                                "for each" % what)
            offsets = numpy.arange(shape[0] + 1) * shape[1]
            value = numpy.asarray(value).reshape((shape[0] * shape[1],) + shape[2:])
        if offsets.ndim != 1 or len(offsets) != rows + 1 or offsets[0] != 0 or \
                (offsets[1:] < offsets[:-1]).any():
            raise ValueError("%s has %d lists: their offsets are as many and one more, from "
                             "0, and none less than the one before it; found %s" % (
                                 what, rows, _runtime.shown(offsets)))
        levels.append(offsets)
        rows = offsets[-1]
    if len(value) != rows:
        raise ValueError("%s has %d rows, found %d" % (what, rows, len(value)))
    return value, levels


def _taken(array, levels, rows):
    """Rows of a field, in another order."""
    moved = []
    for offsets in levels:
        begins = offsets[rows]
        lengths = offsets[rows + 1] - begins
        new = _model._offsets(lengths)
        moved.append(new)
        rows = numpy.arange(new[-1]) + numpy.repeat(begins - new[:-1], lengths)
    return None if array is None else array[rows], moved


def _in_order(variants, fields, order, is_node):
    """Variants and fields of nodes whose numbers are others: `order` has the old ones. An
    array is None where no node has the field."""
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


class Arrays:
    """The values of a forest: nodes in arrays, put in post-order."""

    def __init__(self, kind, variants, fields, roots):
        self.data = _adt.reachable(_adt.element_of(kind).adt)
        self.variants = [variant for data in self.data for variant in data._variants]
        self.kinds = [fields for data in self.data for fields in _adt.fields_of(data)]
        self.from_lists = set()  # of variants and fields: numbers that take any type
        numbers = _whole("variants", variants)
        known = ", ".join("%d: %r" % pair for pair in enumerate(self.variants))
        wrong = numpy.flatnonzero((numbers < 0) | (numbers >= len(self.variants)))
        if len(wrong):
            raise ValueError("node %d has variant %d; there are %s" % (
                wrong[0], numbers[wrong[0]], known))
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
        is_node = [[isinstance(_adt.element_of(kind), Data) for _, kind in own]
                   for own in self.kinds]
        order, self.begins = _runtime.order_nodes(
            numbers.astype(numpy.int32),
            [(repr(variant), self.data.index(variant._adt)) for variant in self.variants],
            [(data.__name__, data._kind or "", -1 if data._arity is None else data._arity)
             for data in self.data],
            [[(name, self.data.index(_adt.element_of(kind).adt), array, _begins(levels))
              for (name, kind), (array, levels) in zip(own, column)
              if isinstance(_adt.element_of(kind), Data)]
             for own, column in zip(self.kinds, columns)],
            found, 0, begins)
        self.order = Ragged(order, self.begins)
        if (order[1:] > order[:-1]).all():  # it was so
            self.numbers, self.columns = numbers, columns
        else:
            self.numbers, self.columns, new = _in_order(numbers, columns, order, is_node)
            found = new[found]
        self.roots = found, levels

    def _columns(self, fields, counts):
        """Of each variant, the arrays and offsets of its fields."""
        given, columns = dict(fields), []
        for variant, own, count in zip(self.variants, self.kinds, counts.tolist()):
            columns.append([])
            for name, kind in own:
                short = "%s.%s" % (variant.__name__, name)
                full = "%s.%s" % (variant._adt.__name__, short)
                is_one = sum(other.__name__ == variant.__name__ and name in other._names
                             for other in self.variants) == 1
                key = short if is_one and short in given else full
                what = "field %r" % (key if key in given else short if is_one else full)
                if key not in given:
                    if count == 0:
                        columns[-1].append(self._none(kind))
                        continue
                    raise TypeError("%s is missing: a row for each of %d nodes" % (
                        what, count))
                lists = 0
                while isinstance(kind, List):
                    kind, lists = kind.element, lists + 1
                value = given.pop(key)
                if not lists:
                    if numpy.ndim(value) == 0 or len(value) != count:
                        raise ValueError("%s has a row for each of %d nodes; found an array "
                                         "of shape %s" % (what, count,
                                                          list(numpy.shape(value))))
                array, levels = _flat(what, lists, value, count)
                if not _model._is_array(array):
                    self.from_lists.add((len(columns) - 1, len(columns[-1])))
                columns[-1].append((
                    _whole(what, array) if isinstance(kind, Data) else _array(array),
                    levels))
        if given:
            raise TypeError("there is no field %r; fields are %s" % (
                next(iter(given)), ", ".join(
                    "%s.%s" % (variant.__name__, name)
                    for variant in self.variants for name in variant._names)))
        return columns

    @staticmethod
    def _none(kind):
        lists = 0
        while isinstance(kind, List):
            kind, lists = kind.element, lists + 1
        return None if not isinstance(kind, Data) else numpy.zeros(0, numpy.int64), \
            [numpy.zeros(1, numpy.int64)] * lists

    def __len__(self):
        return len(self.begins) - 1

    def read(self, model, reading):
        """The roots, and the nodes as the runtime takes them."""
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
                    array, _ = _empty(field)  # whatever type it has
                elif not field.data_type:
                    what = "field '%s.%s'" % (variant.__name__, field.name)
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
    """Where the elements of each outermost list begin."""
    if not levels:
        return None
    begins = levels[0]
    for offsets in levels[1:]:
        begins = offsets[begins]
    return begins


def _empty(field):
    return numpy.zeros([0, *field.shape],
                       _model._NUMPY_TYPES.get(field.dtype, numpy.int16)), \
        [numpy.zeros(1, numpy.int64)] * field.lists


def together(model, parts):
    """Roots by name and nodes, of several forests one: an instance has the nodes that it
    has in each."""
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
    """The rows of several columns; `firsts`: what is added to the numbers of nodes."""
    arrays = [array if firsts is None else array + first
              for (array, _), first in zip(columns, [None] * len(columns)
                                           if firsts is None else firsts)]
    levels = []
    for own in zip(*[levels for _, levels in columns]):
        ends = numpy.cumsum([0] + [offsets[-1] for offsets in own])
        levels.append(numpy.concatenate([
            offsets[i > 0:] + end for i, (offsets, end) in enumerate(zip(own, ends))]))
    return numpy.concatenate(arrays), levels
