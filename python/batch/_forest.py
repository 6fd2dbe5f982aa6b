"""Values of data types, as a program is given them and as it returns them."""

import collections.abc

import jax
import numpy

from batch import _adt, _model
from batch._adt import Data, List
from batch._model import Ragged


class Forest:
    """A value of a data type, or a list of such, for each instance; batch.forest() makes
    one. What it is for a model is found once, however often a function is called with it."""

    def __init__(self, kind, values):
        self.kind, self.values = kind, values
        self._known = {}

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        return "<%d of %s>" % (len(self), _adt.describe(self.kind))

    @property
    def aval(self):
        return jax.core.ShapedArray((len(self),), numpy.int32)


def forest(data, values):
    """Values of a data type for a mini-batch, for arguments that no annotation says it of.

    data: a class of batch.adt, or list[...] of one.
    values: an object for each instance: a variant's, `Tree.Leaf(3)`; a tuple that begins
        with a variant's name, `("Leaf", 3)`; or one of a class that batch.view knows.
    """
    def names(text):
        raise TypeError("%r is no data type" % text)
    kind = _adt.type_of(data, names)
    if not isinstance(_adt.element_of(kind), Data):
        raise TypeError("batch.forest takes a class of batch.adt, found %r" % (data,))
    return of(kind, values)


def of(kind, values, what="the argument"):
    """The same of values that may be a forest."""
    if isinstance(values, Forest):
        if values.kind != kind:
            raise TypeError("%s is a batch of %s, found %r" % (
                what, _adt.describe(kind), values))
        return values
    if isinstance(values, (str, bytes, dict, tuple)) or isinstance(
            type(values), _adt.AdtType) or not isinstance(values, collections.abc.Iterable):
        raise TypeError("%s has a %s for each instance: give a list of them, found %.60r" % (
            what, _adt.describe(kind), values))
    return Forest(kind, list(values))


class Nodes:
    """What a program has made: a row for each node, in post-order, of each field.

    A field is an attribute, a batch.Ragged: `nodes.h[i]` has the rows of instance i. Where
    the program made a value of each node of its input, row n belongs to node n.
    """

    def __init__(self, data, fields):
        self._data, self._fields = data, fields

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __getitem__(self, name):
        """A field, "h", or "Tree.h" where several data types have it."""
        found = [key for key in self._fields
                 if key == name or key.partition(".")[2] == name]
        if len(found) != 1:
            raise KeyError("%s has %s field %r; its fields are %s" % (
                self._data.__name__, "more than one" if found else "no", name,
                ", ".join(self._fields)))
        return self._fields[found[0]]

    def __dir__(self):
        return [key.partition(".")[2] for key in self._fields]

    def __len__(self):
        return len(next(iter(self._fields.values())))

    def __repr__(self):
        return "<%s of %d instances: %s>" % (
            self._data.__name__, len(self), ", ".join(self.__dir__()))


def names_of(data):
    """The outputs that a result of a data type has, by the names that a model gives them."""
    return ["%s.%s" % (one.__name__, name) for one in _adt.reachable(data)
            for fields in _adt.fields_of(one) for name, kind in fields
            if not isinstance(kind, (Data, List)) or
            isinstance(kind, List) and not isinstance(_adt.element_of(kind), Data)]


def taken(data, outputs):
    """Takes a result of a data type out of a model's outputs, a dict."""
    fields = {}
    for name in dict.fromkeys(names_of(data)):
        if name in outputs:
            fields[name] = outputs.pop(name)
    return Nodes(data, fields)


class Views:
    """How nodes are read: as the tuples of a variant's name and its fields."""

    def __init__(self, kinds):
        self.data = {data.__name__: data for kind in kinds
                     for data in _adt.reachable(_adt.element_of(kind).adt)}

    def __call__(self, value, kind):
        """A node of a data type, by name, as a tuple; what is none stays as it is."""
        data = self.data[kind]
        while not isinstance(value, tuple):
            cls = type(value)
            if isinstance(cls, _adt.AdtType):
                if cls._adt is not data:
                    return value
                return (cls.__name__, *[getattr(value, name) for name in cls._names])
            for base in cls.__mro__:
                if base in data._views:
                    break
            else:
                return value
            number, function = data._views[base]
            if function is None:
                variant = data._variants[number]
                return (variant.__name__, *[getattr(value, name) for name in variant._names])
            made = function(value)
            if made is value:
                return value
            value = made
        return value


def given(model, leaves, values, size):
    """The arguments of a model, some of which are forests, as the runtime reads them: their
    values, and all nodes.

    leaves: all arguments, by name.   values: of those that are no forests.
    """
    forests = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, Forest)}
    first = next(iter(forests.values()))
    key = id(model), tuple((name, id(forest)) for name, forest in forests.items())
    if key not in first._known:
        roots, nodes = _model.structures(
            model, {name: forest.values for name, forest in forests.items()}, size,
            Views([forest.kind for forest in forests.values()]))
        fields = {field.name: field for field in model.arguments}
        roots = {name: _model._values(fields[name], "argument %r" % name, numbers)
                 for name, numbers in roots.items()}
        # The others live as long as this one does.
        first._known = {key: (model, list(forests.values()), roots, nodes)}
    _, _, roots, nodes = first._known[key]
    return [roots.get(name, value) for name, value in zip(leaves, values)] + \
        values[len(leaves):], nodes
