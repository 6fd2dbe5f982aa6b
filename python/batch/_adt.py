"""Data types of a program's inputs and results: variants with fields, as in MLIR's `rec`.

Declared as a class with a class for each variant, which are dataclasses: their objects are
what programs are called with. Nothing here needs JAX.
"""

import collections
import dataclasses
import inspect
import sys
import threading

import numpy

# Types of fields. `name` of a scalar and of a tensor's elements is that of a dtype, or
# "int" and "float": what JAX has for these.
Scalar = collections.namedtuple("Scalar", ["name"])
Data = collections.namedtuple("Data", ["adt"])
List = collections.namedtuple("List", ["element"])


@dataclasses.dataclass(frozen=True)
class Tensor:  # which is no tuple: list[] of one would be of two types
    shape: tuple
    name: str


_ELEMENTS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
             "uint64", "float16", "bfloat16", "float32", "float64")
KINDS = ("tree", "sequence", "dag")


def tensor(*shape, dtype="float32"):
    """The type of a field that is an array of this shape: `h: batch.tensor(256)`, or
    `batch.tensor((256,), dtype)` as of jax.ShapeDtypeStruct."""
    if shape and isinstance(shape[0], (tuple, list)):
        if len(shape) > 2:
            raise TypeError("batch.tensor takes a shape and a dtype; found %d more" %
                            (len(shape) - 2))
        shape, dtype = tuple(shape[0]), shape[1] if len(shape) == 2 else dtype
    for n in shape:
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise TypeError("batch.tensor takes extents, numbers above 0; found %r%s" % (
                n, "" if isinstance(n, (int, float)) else
                ": give the type of elements by name, dtype=..."))
    return Tensor(tuple(shape), _element(dtype))


def _element(dtype):
    name = getattr(dtype, "name", None)
    if name not in _ELEMENTS:
        try:
            name = dtype if dtype in _ELEMENTS else numpy.dtype(dtype).name
        except TypeError:
            pass
    if name not in _ELEMENTS:
        raise TypeError("elements of type %r are not supported" % (dtype,))
    return name


def describe(kind):
    """A type as its declaration has it."""
    if isinstance(kind, Data):
        return kind.adt.__name__
    if isinstance(kind, List):
        return "list[%s]" % describe(kind.element)
    if isinstance(kind, Tensor):
        return "batch.tensor(%s)" % ", ".join(
            list(map(str, kind.shape)) + ["dtype='%s'" % kind.name] *
            (kind.name != "float32"))
    return kind.name


def type_of(annotation, names):
    """What an annotation says; `names` is a function that evaluates text."""
    if isinstance(annotation, str):
        annotation = names(annotation)
    if isinstance(annotation, (Scalar, Tensor, Data, List)):
        return annotation
    if isinstance(annotation, AdtType) and annotation._is_adt():
        return Data(annotation)
    if annotation in (int, float):
        return Scalar(annotation.__name__)
    if getattr(annotation, "__origin__", None) is list:
        (element,) = annotation.__args__
        # typing.List has objects for texts.
        return List(type_of(getattr(element, "__forward_arg__", element), names))
    if not isinstance(annotation, type) and hasattr(annotation, "shape") and \
            hasattr(annotation, "dtype"):
        return tensor(*annotation.shape, dtype=annotation.dtype)  # jax.ShapeDtypeStruct
    try:
        return Scalar(_element(annotation))
    except TypeError:
        raise TypeError(
            "%r is no type of a field: int, float, bool, a dtype, batch.tensor(shape), a "
            "class of batch.adt, or list[] of these" % (annotation,)) from None


class Scope:
    """Where the names of a declaration are looked up, when they are first needed."""

    def __init__(self, depth):
        frame = sys._getframe(depth + 1)
        self._globals = frame.f_globals
        self._frame = frame if frame.f_locals is not frame.f_globals else None

    def names(self, **own):
        def evaluate(text):
            outer = self._frame.f_locals if self._frame else {}
            try:
                return eval(text, self._globals, {**outer, **own})
            except NameError as error:
                raise TypeError("%s, in the type %r" % (error, text)) from None
        return evaluate

    def close(self):
        self._frame = None


class _Tracing(threading.local):
    """What runs while a function is traced; set by batch._functions."""
    construct = decide = None


tracing = _Tracing()


class AdtType(type):
    """The class of data types and of their variants, whose own attributes begin with an
    underscore: names of fields are the user's."""

    def __call__(cls, *arguments, **named):
        if cls._is_adt():
            raise TypeError("%s is one of %s" % (cls.__name__, ", ".join(
                v.__qualname__ for v in cls._variants)))
        if tracing.construct is not None:
            made = tracing.construct(cls, arguments, named)
            if made is not None:
                return made
        return super().__call__(*arguments, **named)

    def __instancecheck__(cls, value):
        if isinstance(type(value), AdtType):
            return type.__instancecheck__(cls, value)
        return tracing.decide is not None and tracing.decide(cls, value)

    def _is_adt(cls):
        return "_variants" in cls.__dict__

    def __repr__(cls):
        return cls.__qualname__


# What the body of a variant's class has that is not kept.
_MADE = ("__dict__", "__weakref__", "__init__", "__repr__", "__eq__", "__hash__",
         "__match_args__", "__dataclass_fields__", "__dataclass_params__")


def _variant(base, number, body):
    own = {key: value for key, value in body.__dict__.items() if key not in _MADE}
    own["__qualname__"] = body.__qualname__
    for field in inspect.get_annotations(body) if sys.version_info < (3, 14) else ():
        if field.startswith("_") or hasattr(AdtType, field):
            raise TypeError("%s: a field cannot be called %r" % (body.__qualname__, field))
    # Objects are compared, and shared, by identity; they may be deeper than a text.
    made = dataclasses.dataclass(eq=False, repr=False, slots=True)(
        AdtType(body.__name__, (base,), own))
    made._adt, made._number = base, number
    made._names = tuple(field.name for field in dataclasses.fields(made))
    for name in made._names:
        _check_name(body.__qualname__, name)
    return made


def _check_name(what, name):
    if not (name.isascii() and name.isidentifier()):
        raise TypeError("%s: names of data types, variants and fields are of ASCII letters, "
                        "found %r" % (what, name))


def adt(cls=None, *, kind=None, arity=None):
    """Declares a data type: a class that has a class for each variant.

        @batch.adt
        class Tree:
            class Leaf:
                word: int
            class Node:
                left: "Tree"
                right: "Tree"

    The variants become dataclasses: `Tree.Node(Tree.Leaf(3), Tree.Leaf(4))`. Fields are of
    type int, float, bool, a dtype, `batch.tensor(shape)`, a data type, or a list of these.
    An object in two places is one node, computed once, but of a kind that has none such.

    kind: what inputs are: a "tree" (no node has two parents), a "sequence" (a tree in which
        a node has at most one child of its own type), or a "dag".
    arity: the most children of its own type that a node may have.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError("kind is 'tree', 'sequence' or 'dag', found %r" % (kind,))
    if arity is not None and (type(arity) is not int or arity < 0):
        raise ValueError("arity is a number of children, found %r" % (arity,))
    scope = Scope(1)

    def declare(cls):
        bodies = [body for body in cls.__dict__.values() if isinstance(body, type)]
        for name in [cls.__name__, *(body.__name__ for body in bodies)]:
            _check_name(cls.__name__, name)
        if not bodies:
            raise TypeError("%s has no variant: a class of its own for each" % cls.__name__)
        base = AdtType(cls.__name__, (), {
            "__doc__": cls.__doc__, "__module__": cls.__module__,
            "__qualname__": cls.__qualname__, "__slots__": (),
            "_kind": kind, "_arity": arity, "_scope": scope, "_fields": None, "_views": {}})
        variants = tuple(_variant(base, i, body) for i, body in enumerate(bodies))
        for variant in variants:
            setattr(base, variant.__name__, variant)
        base._variants = variants
        # Not before there are variants, whose fields would have them as defaults.
        for key, value in cls.__dict__.items():
            if key not in base.__dict__ and key not in _MADE and not isinstance(value, type):
                setattr(base, key, value)
        return base

    return declare if cls is None else declare(cls)


def fields_of(data):
    """The types of a data type's fields: for each variant a list of (name, type)."""
    if data._fields is None:
        names, found = data._scope.names(**{data.__name__: data}), []
        for variant in data._variants:
            annotations = inspect.get_annotations(variant)
            try:
                found.append([(name, type_of(annotations[name], names))
                              for name in variant._names])
            except TypeError as error:
                raise TypeError("%s: %s" % (variant.__qualname__, error)) from None
        _check_children(data, found)
        data._fields = found
        data._scope.close()
    return data._fields


def _check_children(data, fields):
    """What a data type is declared to be has to be true of its variants."""
    for variant, own in zip(data._variants, fields):
        children = [kind for _, kind in own if element_of(kind) == Data(data)]
        lists = any(isinstance(kind, List) for kind in children)
        if data._kind == "sequence" and (lists or len(children) > 1):
            raise ValueError("%s has %s, but %s is declared a sequence, whose nodes have one "
                             "child at most: declare it a tree or a dag" % (
                                 variant.__qualname__, "a list of children" if lists else
                                 "%d children" % len(children), data.__name__))
        least = sum(not isinstance(kind, List) for kind in children)
        if data._arity is not None and least > data._arity:
            raise ValueError("%s has %d children, but %s is declared with arity %d" % (
                variant.__qualname__, least, data.__name__, data._arity))


def element_of(kind):
    """What a list, or a list of lists, is of."""
    while isinstance(kind, List):
        kind = kind.element
    return kind


def reachable(data):
    """A data type, and all that its fields are made of, in a fixed order."""
    found, work = {}, [data]
    while work:
        one = work.pop()
        if one in found:
            continue
        found[one] = True
        work += [element_of(kind).adt for fields in fields_of(one) for _, kind in fields
                 if isinstance(element_of(kind), Data)]
    return list(found)


def view(data, cls, variant=None):
    """Says what objects of another class are, as nodes of a data type.

        batch.view(Tree, MyLeaf, Tree.Leaf)      # its attributes have the fields' names

        @batch.view(Tree, MyNode)
        def _(node):                              # or a function makes the node
            return Tree.Node(node.children[0], node.children[1])

    Objects in the fields of what a function makes are viewed in turn. Objects of derived
    classes are viewed as their nearest base.
    """
    if not (isinstance(data, AdtType) and data._is_adt()):
        raise TypeError("batch.view takes a class of batch.adt, found %r" % (data,))
    if not isinstance(cls, type):
        raise TypeError("batch.view takes a class whose objects are nodes, found %r" %
                        (cls,))
    if isinstance(cls, AdtType):
        raise TypeError("%r is a data type itself" % cls)
    if cls is tuple:
        raise TypeError("tuples are nodes already, that begin with a variant's name")
    if variant is None:
        def register(function):
            data._views[cls] = None, function
            return function
        return register
    if variant not in data._variants:
        raise TypeError("%r is no variant of %r" % (variant, data))
    data._views[cls] = variant._number, None
    return cls
