"""Values of data types, as a program is given them and as it returns them."""

import collections
import collections.abc

import jax
import numpy

from batch import _adt, _model, _nodes, _runtime, _values
from batch._adt import Data, List
from batch._model import Ragged


class Forest:
    """A value of a data type, or a list of such, for each instance; batch.forest() makes
    one of objects, Forest.of_arrays() of arrays. What it is for a model is found once,
    however often a function is called with it."""

    def __init__(self, kind, values, where="values[{}]", share="identity"):
        self.kind, self.values, self.where, self.share = kind, values, where, share
        self._known = {}

    @classmethod
    def of_arrays(cls, data, variants, fields, roots):
        """Of nodes in arrays, without an object for each.

        data: a class of batch.adt, or list[...] of one.
        variants: of each node, the number of its variant, in the order of declaration.
        fields: {"Leaf.word": array, "Node.left": array}, rows in the order of the
            variant's nodes. A child is the number of its node; lists are batch.Ragged. The
            variants of data types in fields have numbers from where the first one's end,
            and where a name is in two of them it is "Tree.Leaf.word".
        roots: the number of each instance's root, or a Ragged of them. No two instances
            have a node in common.

        Nodes come in any order; `order` of the forest, a Ragged, says which is in each row.
        """
        kind = _kind_of(data)
        return cls(kind, _nodes.Arrays(kind, variants, fields, roots))

    @property
    def order(self):
        if not isinstance(self.values, _nodes.Arrays):
            raise AttributeError("objects have no numbers: their rows are in post-order")
        return self.values.order

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        return "<%d of %s>" % (len(self), _adt.describe(self.kind))

    @property
    def aval(self):
        return jax.core.ShapedArray((len(self),), numpy.int32)


def forest(data, values, share="identity"):
    """Values of a data type for a mini-batch, for arguments that no annotation says it of.

    data: a class of batch.adt, or list[...] of one.
    values: an object for each instance: a variant's, `Tree.Leaf(3)`; a tuple that begins
        with a variant's name, `("Leaf", 3)`; or one of a class that batch.view knows.
    share: which nodes of an instance are one, computed once: "identity": an object in two
        places; "equal": also those whose variants, fields (bits) and children are equal.
    """
    kind = _kind_of(data)
    if share not in ("identity", "equal"):
        raise ValueError("share is 'identity' or 'equal', found %r" % (share,))
    for one in _adt.reachable(_adt.element_of(kind).adt) if share == "equal" else ():
        if one._kind in ("tree", "sequence"):
            raise ValueError("share='equal' gives nodes several parents, but %r is declared "
                             "a %s, whose nodes have one: declare kind='dag', or none" % (
                                 one, one._kind))
    made = of(kind, values, "values")
    return made if made is values and share == "identity" else \
        Forest(kind, made.values, made.where, share)


def _kind_of(data):
    def names(text):
        raise TypeError("%r is no data type" % text)
    kind = _adt.type_of(data, names)
    if not isinstance(_adt.element_of(kind), Data):
        raise TypeError("a forest is of a class of batch.adt, found %r" % (data,))
    return kind


def of(kind, values, what="the argument"):
    """The same of values that may be a forest."""
    if isinstance(values, Forest):
        if values.kind != kind:
            raise TypeError("%s is a batch of %s, found %r" % (
                what, _adt.describe(kind), values))
        return values
    if isinstance(values, (str, bytes, dict, tuple)) or isinstance(
            type(values), _adt.AdtType) or not isinstance(values, collections.abc.Iterable):
        raise TypeError("%s has a %s for each instance: give a list of them, found %s" % (
            what, _adt.describe(kind), _runtime.shown(values)))
    return Forest(kind, list(values), what + " of instance {}" if what != "values" else
                  "values[{}]")


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
        """A field, "h", or "Tree.h" where several data types have it, "Tree.Leaf.h" where
        it is of another type in another variant."""
        found = [key for key in self._fields
                 if key == name or key.rpartition(".")[2] == name]
        if len(found) != 1:
            raise KeyError("%s has %s field %r; its fields are %s" % (
                self._data.__name__, "more than one" if found else "no", name,
                ", ".join(self._fields)))
        return self._fields[found[0]]

    def _of(self, instance):
        """What it is of one instance."""
        return Nodes(self._data, {name: Ragged(rows[instance], [0, len(rows[instance])])
                                  for name, rows in self._fields.items()})

    def __dir__(self):
        return [key.rpartition(".")[2] for key in self._fields]

    def __len__(self):
        return len(next(iter(self._fields.values())))

    def __repr__(self):
        return "<%s of %d instances: %s>" % (
            self._data.__name__, len(self), ", ".join(self.__dir__()))


def fields_in(data, outputs):
    """Of the fields of a result of a data type, by name: the number of the output, and the
    declared type, of whose bits the runtime gives integers.

    outputs: numbers by name.
    """
    fields = {}
    for one in _adt.reachable(data):
        for variant, kinds in zip(one._variants, _adt.fields_of(one)):
            for field, kind in kinds:
                # The latter where a field is of another type in another variant.
                name = "%s.%s" % (one.__name__, field)
                for key, known in ((name, name), ("%s.%s" % (variant.__name__, name),
                                                  "%r.%s" % (variant, field))):
                    if key in outputs:
                        fields[known] = outputs[key], _values.dtype_of(_adt.element_of(kind))
    return fields


def nodes_of(data, fields, outputs):
    """A result of a data type, of the outputs of a run."""
    made = {}
    for name, (number, dtype) in fields.items():
        rows = outputs[number]
        if rows.values.dtype != dtype:
            rows = Ragged(rows.values.view(dtype), rows.offsets)
        made[name] = rows
    return Nodes(data, made)


# A field that is declared in Python, as the runtime's fields are.
_Field = collections.namedtuple("_Field", ["name", "description", "dtype", "shape", "lists",
                                           "is_index", "data_type"])


class Views(_model.Reading):
    """How nodes of classes are read; fields have the types of their declaration."""

    def __init__(self, model, kinds):
        self.data = {data.__name__: data for kind in kinds
                     for data in _adt.reachable(_adt.element_of(kind).adt)}
        self.fields = [list(map(self._field, variant.fields, self._declared(variant)))
                       for variant in model._variants]

    def _declared(self, variant):
        data = self.data.get(variant.data_type)
        for one, fields in zip(data._variants, _adt.fields_of(data)) if data else ():
            if one.__name__ == variant.name:
                return [kind for _, kind in fields]
        return [None] * len(variant.fields)

    @staticmethod
    def _field(field, kind):
        if kind is None:
            return field
        # The runtime has other integers with the same bits.
        name = getattr(_adt.element_of(kind), "name", "")
        return _Field(field.name, _adt.describe(kind),
                      name if name.startswith("uint") else field.dtype, field.shape,
                      field.lists, field.is_index, field.data_type)

    def reader(self, data, cls):
        """A variant's name, and the names of its fields with what the class has by these;
        a view's function; or None."""
        data = self.data[data]
        if isinstance(cls, _adt.AdtType):
            if cls._adt is not data:
                return None
            number = cls._number
        else:
            base = next((base for base in cls.__mro__ if base in data._views), None)
            if base is None:
                return None
            number, function = data._views[base]
            if function is not None:
                return function
        variant = data._variants[number]
        return variant.__name__, [(name, _member(cls, name)) for name in variant._names]

    def array(self, field, what, value, is_list):
        # JAX makes narrower ones of these, too.
        name = getattr(getattr(value, "dtype", None), "name", None)
        if name in ("float64", "int64", "uint64") and name != field.dtype and \
                jax.dtypes.canonicalize_dtype(name) == field.dtype:
            value = numpy.asarray(value)
            if value.dtype.kind != "f" and value.size:
                limits = numpy.iinfo(field.dtype)
                if value.min() < limits.min or value.max() > limits.max:
                    raise ValueError("%s is %s, from %d to %d; found %d to %d" % (
                        what, field.description, limits.min, limits.max, value.min(),
                        value.max()))
            value = value.astype(field.dtype)
        return super().array(field, what, value, is_list)


def _member(cls, name):
    if cls.__getattribute__ is object.__getattribute__:
        for base in cls.__mro__:
            if name in base.__dict__:
                return base.__dict__[name]
    return None


def given(model, leaves, values, size):
    """The arguments of a model, some of which are forests, as the runtime reads them: their
    values, and all nodes.

    leaves: all arguments, by name.   values: of those that are no forests.
    """
    forests = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, Forest)}
    first = next(iter(forests.values()))
    key = id(model), tuple((name, id(forest)) for name, forest in forests.items())
    if key not in first._known:
        # The others live as long as this one does.
        first._known = {key: (model, list(forests.values()), *_read(model, forests, size))}
    _, _, roots, nodes = first._known[key]
    return [roots.get(name, value) for name, value in zip(leaves, values)] + \
        values[len(leaves):], nodes


def _read(model, forests, size):
    """The roots of forests by the names of their arguments, and all nodes."""
    reading = Views(model, [forest.kind for forest in forests.values()])
    objects = {name: (forest.values, forest.where, forest.share == "equal")
               for name, forest in forests.items() if isinstance(forest.values, list)}
    parts = [_model.structures(model, objects, reading, size)] if objects else []
    parts += [({name: roots}, nodes) for name, forest in forests.items()
              if name not in objects
              for roots, nodes in [forest.values.read(model, reading)]]
    return _nodes.together(model, parts)
