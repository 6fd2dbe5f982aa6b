"""Values of data types, as arguments and results of programs."""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

import jax
import numpy

import batch._native as _native
from batch.core.adt import AdtType, fields_of, reachable, type_of
from batch.core.types import Data, DataType, List, describe_type, element_of
from batch.runtime.field_values import NodeReader
from batch.runtime.model import read_structures
from batch.runtime.node_arrays import NodeArrays, join_forests
from batch.runtime.ragged import Ragged
from batch.tracing.primitives import dtype_of

if TYPE_CHECKING:
    from jax.core import ShapedArray
    from numpy.typing import ArrayLike

Share = Literal["identity", "equal"]


class Forest:
    """A value of a data type, or a list of such values, for each instance.

    batch.forest() creates a forest from objects, Forest.of_arrays() from arrays. Consecutive calls
    of a function with the same forests convert them only once.
    """

    def __init__(self, kind: Data | List, values: list[Any] | NodeArrays,
                 where: str = "values[{}]", share: Share = "identity") -> None:
        self.kind: Data | List = kind
        self.values: list[Any] | NodeArrays = values
        self.where: str = where
        self.share: Share = share
        self._known: dict[Any, Any] = {}

    @classmethod
    def of_arrays(cls, data: DataType, variants: ArrayLike,
                  fields: Mapping[str, ArrayLike | Ragged],
                  roots: ArrayLike | Ragged) -> Forest:
        """Creates a forest from nodes in arrays, without an object for each node.

        data: a class of batch.adt, or list[...] of one.
        variants: a 1-D integer array: for each node, the number of its variant, in the order
            of declaration. Variants of data types in fields are numbered after those of the
            first type.
        fields: {"Leaf.word": array, "Node.left": array}, with rows in the order of the
            variant's nodes. A child is the number of its node; lists are batch.Ragged. A
            name that occurs in two data types is written "Tree.Leaf.word".
        roots: the number of each instance's root, or a Ragged of such numbers. Instances
            must not share nodes.

        Nodes may be in any order. The attribute `order` of the forest, a Ragged, contains the
        number of the node in each row.

        Raises TypeError or ValueError if an array is missing, or has an unsuitable type,
        shape or value.
        """
        kind = _kind_of(data)
        return cls(kind, NodeArrays(kind, variants, fields, roots))

    @property
    def order(self) -> Ragged:
        if not isinstance(self.values, NodeArrays):
            raise AttributeError("a forest of objects has no attribute 'order'; its rows are in "
                                 "post-order")
        return self.values.order

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}  # _known contains models

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<Forest of {len(self)} instances of type {describe_type(self.kind)}>"

    @property
    def aval(self) -> ShapedArray:
        return jax.core.ShapedArray((len(self),), numpy.int32)


def forest(data: DataType, values: Iterable[Any] | Forest,
           share: Share = "identity") -> Forest:
    """Returns a Forest: the values of an argument that has no annotation of its data type.

    data: a class of batch.adt, or list[...] of one.
    values: an iterable with an object for each instance. An object is one of a variant,
        `Tree.Leaf(3)`; a tuple that begins with a variant's name, `("Leaf", 3)`; or one of a
        class registered with batch.view.
    share: which nodes of an instance are merged, and computed once. "identity": an object
        that occurs in two places. "equal": also nodes with equal variants, fields (bits) and
        children.

    Raises TypeError if `data` is not a class of batch.adt, or if `values` is not an iterable
    of such objects. Raises ValueError if `share` is invalid. Also raises ValueError if
    `share` is "equal" and the type is declared a tree or a sequence.
    """
    kind = _kind_of(data)
    if share not in ("identity", "equal"):
        raise ValueError(f"invalid share {share!r}; expected 'identity' or 'equal'")
    for one in reachable(element_of(kind).adt) if share == "equal" else ():
        if one._kind in ("tree", "sequence"):
            raise ValueError(f"share='equal' may give nodes several parents, but {one!r} is "
                             f"declared with kind={one._kind!r}, which allows only one; declare it "
                             "with kind='dag' or without a kind")
    made = as_forest(kind, values, "values")
    return made if made is values and share == "identity" else \
        Forest(kind, made.values, made.where, share)


def _kind_of(data: DataType) -> Data | List:
    def names(text: str) -> NoReturn:
        raise TypeError("expected a class declared with @batch.adt, or list[...] of such a class, "
                        f"got {text!r}")
    kind = type_of(data, names)
    if not isinstance(element_of(kind), Data):
        raise TypeError("expected a class declared with @batch.adt, or list[...] of such a class, "
                        f"got {data!r}")
    return cast("Data | List", kind)


def as_forest(kind: Data | List, values: Any, what: str = "the argument") -> Forest:
    """Returns `values` as a forest of this kind; they may already be one.

    Raises TypeError if they are a forest of another kind, or not an iterable of values.
    """
    if isinstance(values, Forest):
        if values.kind != kind:
            raise TypeError(f"{what} is a forest of type {describe_type(values.kind)}; expected "
                            f"type {describe_type(kind)}")
        return values
    if isinstance(values, (str, bytes, dict, tuple)) or isinstance(
            type(values), AdtType) or not isinstance(values, collections.abc.Iterable):
        raise TypeError(f"{what} must be a list with one {describe_type(kind)} for each instance, "
                        f"got {_native.shown(values)}")
    return Forest(kind, list(values), what + " of instance {}" if what != "values" else
                  "values[{}]")


class Nodes:
    """Nodes that a program has created: for each field, a row per node, in post-order.

    Each field is an attribute of type batch.Ragged: `nodes.h[i]` has the rows of instance i.
    If the program creates one value for each node of its input, row n belongs to node n.
    """

    def __init__(self, data: Any, fields: dict[str, Ragged]) -> None:
        self._data, self._fields = data, fields

    def __getattr__(self, name: str) -> Ragged:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __getitem__(self, name: str) -> Ragged:
        """Returns a field, a batch.Ragged, by its name, such as "h".

        The name is "Tree.h" if several data types have the field. It is "Tree.Leaf.h" if
        variants declare the field with different types. Raises KeyError if no field or more
        than one has this name.
        """
        found = [key for key in self._fields
                 if key == name or key.rpartition(".")[2] == name]
        if len(found) != 1:
            count = "more than one" if found else "no"
            raise KeyError(f"{self._data.__name__} has {count} field {name!r}; expected one of "
                           f"{', '.join(found or self._fields)}")
        return self._fields[found[0]]

    def _of(self, instance: int) -> Nodes:
        """Returns the nodes of one instance."""
        return Nodes(self._data, {name: Ragged(rows[instance], [0, len(rows[instance])])
                                  for name, rows in self._fields.items()})

    def __dir__(self) -> list[str]:
        return [key.rpartition(".")[2] for key in self._fields]

    def __len__(self) -> int:
        return len(next(iter(self._fields.values())))

    def __repr__(self) -> str:
        return f"<{self._data.__name__} of {len(self)} instances: {', '.join(self.__dir__())}>"


def fields_in(data, outputs):
    """Returns {name: (output number, declared dtype)} for the fields of a result.

    The runtime may return the bits of the declared dtype as integers.

    data: the data type of the result.
    outputs: numbers of the model's outputs by name.
    """
    fields = {}
    for one in reachable(data):
        for variant, kinds in zip(one._variants, fields_of(one)):
            for field, kind in kinds:
                # The model uses the second name if variants declare the field with different types.
                name = f"{one.__name__}.{field}"
                for key, known in ((name, name), (f"{variant.__name__}.{name}",
                                                  f"{variant!r}.{field}")):
                    if key in outputs:
                        fields[known] = outputs[key], dtype_of(element_of(kind))
    return fields


def nodes_of(data, fields, outputs):
    """Returns the Nodes of a result, built from the outputs of a run."""
    made = {}
    for name, (number, dtype) in fields.items():
        rows = outputs[number]
        if rows.values.dtype != dtype:
            rows = Ragged(rows.values.view(dtype), rows.offsets)
        made[name] = rows
    return Nodes(data, made)


# A field declared in Python, with the attributes of a runtime field.
_Field = collections.namedtuple("_Field", ["name", "description", "dtype", "shape", "lists",
                                           "is_index", "data_type"])


class ViewReader(NodeReader):
    """Reads nodes that are objects of classes; fields have their declared types."""

    def __init__(self, model, kinds):
        self.data = {data.__name__: data for kind in kinds
                     for data in reachable(element_of(kind).adt)}
        self.fields = [list(map(self._field, variant.fields, self._declared(variant)))
                       for variant in model._variants]

    def _declared(self, variant):
        data = self.data.get(variant.data_type)
        for one, fields in zip(data._variants, fields_of(data)) if data else ():
            if one.__name__ == variant.name:
                return [kind for _, kind in fields]
        return [None] * len(variant.fields)

    @staticmethod
    def _field(field, kind):
        if kind is None:
            return field
        # For unsigned integers, the runtime uses signed integers with the same bits.
        name = getattr(element_of(kind), "name", "")
        return _Field(field.name, describe_type(kind),
                      name if name.startswith("uint") else field.dtype, field.shape,
                      field.lists, field.is_index, field.data_type)

    def reader(self, data, cls):
        """Returns how to read nodes of a class, or None if the class is not registered.

        The result is a view's function, or a variant's name with its fields. Each field is
        a pair: its name, and the attribute of this name in the class or None.
        """
        data = self.data[data]
        if isinstance(cls, AdtType):
            if cls._adt != data:
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
        # Narrow 64-bit types to the type of the field if JAX would narrow them, too.
        name = getattr(getattr(value, "dtype", None), "name", None)
        if name in ("float64", "int64", "uint64") and name != field.dtype and \
                jax.dtypes.canonicalize_dtype(name) == field.dtype:
            value = numpy.asarray(value)
            if value.dtype.kind != "f" and value.size:
                limits = numpy.iinfo(field.dtype)
                if value.min() < limits.min or value.max() > limits.max:
                    raise ValueError(f"{what}: expected {field.description} from {limits.min} to "
                                     f"{limits.max}, got {value.min()} to {value.max()}")
            value = value.astype(field.dtype)
        return super().array(field, what, value, is_list)


def _member(cls, name):
    if cls.__getattribute__ is object.__getattribute__:
        for base in cls.__mro__:
            if name in base.__dict__:
                return base.__dict__[name]
    return None


def model_arguments(model, leaves, values, size):
    """Returns the arguments of a model in the runtime's format, and all nodes.

    leaves: all arguments by name, some of which are forests.
    values: values of the arguments, None for forests; further values remain at the end.
    """
    forests = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, Forest)}
    first = next(iter(forests.values()))
    key = id(model), tuple((name, id(forest)) for name, forest in forests.items())
    if key not in first._known:
        # References to the other forests ensure that their ids remain valid.
        first._known = {key: (model, list(forests.values()), *_read(model, forests, size))}
    _, _, roots, nodes = first._known[key]
    return [roots.get(name, value) for name, value in zip(leaves, values)] + \
        values[len(leaves):], nodes


def _read(model, forests, size):
    """Returns the roots of forests by argument name, and all nodes."""
    reading = ViewReader(model, [forest.kind for forest in forests.values()])
    objects = {name: (forest.values, forest.where, forest.share == "equal")
               for name, forest in forests.items() if isinstance(forest.values, list)}
    parts = [read_structures(model, objects, reading, size)] if objects else []
    parts += [({name: roots}, nodes) for name, forest in forests.items()
              if name not in objects
              for roots, nodes in [forest.values.read(model, reading)]]
    return join_forests(model, parts)
