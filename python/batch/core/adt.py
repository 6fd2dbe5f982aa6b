"""Data types of a program's inputs and results: variants with fields, as in the `rec` dialect.

A data type is declared as a class that contains a class for each variant. Variants become
dataclasses, and programs are called with their objects. This module does not need JAX.
"""

from __future__ import annotations

import copyreg
import dataclasses
import inspect
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy

from batch.core.pickles import find, has_name, pack, unpack
from batch.core.types import (
    Data,
    List,
    Scalar,
    Tensor,
    describe_type,
    element_name,
    element_of,
    tensor,
)

KINDS = ("tree", "sequence", "dag")
Kind = Literal["tree", "sequence", "dag"]


def type_of(annotation, names):
    """Returns the type that an annotation specifies.

    names: function that evaluates annotations, or parts of annotations, that are strings.

    Raises a TypeError if fields cannot have this type.
    """
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
        # typing.List stores text as a ForwardRef.
        return List(type_of(getattr(element, "__forward_arg__", element), names))
    if not isinstance(annotation, type) and hasattr(annotation, "shape") and \
            hasattr(annotation, "dtype"):
        return tensor(*annotation.shape, dtype=annotation.dtype)  # jax.ShapeDtypeStruct
    try:
        return Scalar(element_name(annotation))
    except TypeError:
        if isinstance(annotation, type) and hasattr(annotation, "shape"):
            name = annotation.__name__.rpartition(".")[2]  # JAX names a class jaxlib._jax.Array
            raise TypeError(f"unsupported field type {name}, which specifies no shape; use "
                            "batch.tensor(shape), such as batch.tensor(4)") from None
        raise TypeError(
            f"unsupported field type {annotation!r}; expected int, float, bool, a dtype, "
            "batch.tensor(shape), a class of batch.adt, or a list[...] of these") from None


class Scope:
    """Namespace of a declaration. Names are resolved when they are first needed.

    A pickle contains only the types that the declaration has resolved, and none of its variables.
    """

    def __init__(self, depth: int) -> None:
        frame = sys._getframe(depth + 1)
        self._globals = frame.f_globals
        self._frame = frame if frame.f_locals is not frame.f_globals else None
        self._resolved: dict[str, Any] = {}
        self.data: Any = None  # the data type of this declaration, if it declares one
        self.fields: Any = None  # result of fields_of(data), after its first call

    def names(self, **own: Any) -> Callable[[str], Any]:
        def evaluate(text: str) -> Any:
            if self._globals is None and text in self._resolved:
                return self._resolved[text]
            outer = self._frame.f_locals if self._frame else {}
            try:
                found = eval(text, self._globals or {}, {**outer, **own})
            except NameError as error:
                raise TypeError(f"cannot resolve type {text!r}: {error}; define the name before "
                                "the first use of the data type") from None
            self._resolved[text] = found
            return found
        return evaluate

    def close(self) -> None:
        self._frame = None

    def __getstate__(self) -> dict[str, Any]:
        if self.data is not None:
            fields_of(self.data)  # resolves the types of all fields
        return {**self.__dict__, "_globals": None, "_frame": None,
                "_resolved": dict(sorted(self._resolved.items()))}


class _Tracing(threading.local):
    """Callbacks of a thread that traces a function; batch.tracing.functions sets them."""
    construct = decide = None


tracing = _Tracing()


class AdtType(type):
    """Metaclass of data types and of their variants.

    Its own attributes begin with an underscore, because the user chooses the names of fields.
    Classes with equal declarations are equal: a process may receive a data type from another
    process in several ways.
    """

    def __call__(cls, *arguments, **named):
        if cls._is_adt():
            variants = ", ".join(map(repr, cls._variants))
            raise TypeError(
                f"data type {cls.__name__} cannot be instantiated; call a variant: {variants}")
        if tracing.construct is not None:
            made = tracing.construct(cls, arguments, named)
            if made is not None:
                return made
        return super().__call__(*arguments, **named)

    def __instancecheck__(cls, value):
        if isinstance(type(value), AdtType):
            return type.__instancecheck__(cls, value) or _is_of_equal(cls, type(value))
        return tracing.decide is not None and tracing.decide(cls, value)

    def __eq__(cls, other):
        if cls is other:
            return True
        if not isinstance(other, AdtType) or cls.__name__ != other.__name__:
            return NotImplemented
        own, others = _place(cls), _place(other)
        return own is not None and others is not None and own[1] == others[1] and \
            repr(own[0]) == repr(others[0]) and \
            _declaration(own[0]) == _declaration(others[0])

    def __hash__(cls):
        return hash(cls.__name__)

    def _is_adt(cls):
        return "_variants" in cls.__dict__

    def __repr__(cls):
        # cloudpickle does not preserve __qualname__.
        return cls.__dict__.get("_qualname", cls.__qualname__)


def _type_of_field(variant, annotation, names):
    try:
        return type_of(annotation, names)
    except TypeError as error:
        raise TypeError(f"{variant}: {error}") from None


# Attributes that are not copied from a declared class.
_MADE = ("__dict__", "__weakref__", "__init__", "__repr__", "__eq__", "__hash__",
         "__match_args__", "__dataclass_fields__", "__dataclass_params__")


def _variant(base, number, body):
    own = {key: value for key, value in body.__dict__.items() if key not in _MADE}
    own["__qualname__"] = own["_qualname"] = body.__qualname__
    annotations = inspect.get_annotations(body) if sys.version_info < (3, 14) else {}
    for field, annotation in annotations.items():
        if field.startswith("_") or hasattr(AdtType, field):
            raise TypeError(
                f"{body.__qualname__}: field name {field!r} is reserved; rename the field")
        if isinstance(annotation, type):  # other annotations may contain undefined names
            _type_of_field(body.__qualname__, annotation, None)
    # Objects are compared and shared by identity. They may be nested too deeply for a repr.
    made = dataclasses.dataclass(eq=False, repr=False, slots=True)(
        AdtType(body.__name__, (base,), own))
    made._adt, made._number = base, number
    made._names = tuple(field.name for field in dataclasses.fields(made))
    for name in made._names:
        _check_name(body.__qualname__, name)
    return made


def _check_name(what, name):
    if not (name.isascii() and name.isidentifier()):
        raise TypeError(f"{what}: invalid name {name!r}; names of data types, variants and fields "
                        "must be ASCII identifiers")


# Type checkers cannot determine that variants become dataclasses derived from the data type. For
# them, a data type is Any.
@overload
def adt(cls: type[Any], *, kind: Kind | None = None, arity: int | None = None) -> Any: ...


@overload
def adt(*, kind: Kind | None = None, arity: int | None = None) -> Callable[[type[Any]], Any]: ...


def adt(cls: type[Any] | None = None, *, kind: Kind | None = None,
        arity: int | None = None) -> Any:
    """Declares a data type: a class that contains a class for each variant.

        @batch.adt
        class Tree:
            class Leaf:
                word: int
            class Node:
                left: "Tree"
                right: "Tree"

    The variants become dataclasses: `Tree.Node(Tree.Leaf(3), Tree.Leaf(4))`. The type of a
    field is int, float, bool, a dtype, `batch.tensor(shape)`, a data type, or a list of these.
    An object that occurs in two places is one node, which is computed once. A "tree" or a
    "sequence" has no shared nodes, so the object becomes two nodes there.

    kind: shape of inputs: "tree" (no node has two parents), "sequence" (a tree in which each
        node has at most one child of its own type), or "dag".
    arity: maximum number of children of its own type that a node may have.

    Raises a ValueError for other values of `kind` and `arity`. Raises a TypeError if the class
    has no variants, or if a name is not valid.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"invalid kind {kind!r}; expected 'tree', 'sequence' or 'dag'")
    if arity is not None and (type(arity) is not int or arity < 0):
        raise ValueError(f"invalid arity {arity!r}; expected a non-negative integer")
    scope = Scope(1)

    def declare(cls):
        bodies = [body for body in cls.__dict__.values() if isinstance(body, type)]
        for name in [cls.__name__, *(body.__name__ for body in bodies)]:
            _check_name(cls.__name__, name)
        if not bodies:
            raise TypeError(
                f"{cls.__name__} has no variants; define a class for each variant in its body")
        base = AdtType(cls.__name__, (), {
            "__doc__": cls.__doc__, "__module__": cls.__module__,
            "__qualname__": cls.__qualname__, "_qualname": cls.__qualname__, "__slots__": (),
            "_kind": kind, "_arity": arity, "_scope": scope, "_views": {}})
        scope.data = base
        variants = tuple(_variant(base, i, body) for i, body in enumerate(bodies))
        for variant in variants:
            setattr(base, variant.__name__, variant)
        base._variants = variants
        # The fields of the variants would use these attributes as defaults, so the variants are
        # created first.
        for key, value in cls.__dict__.items():
            if key not in base.__dict__ and key not in _MADE and not isinstance(value, type):
                setattr(base, key, value)
        return base

    return declare if cls is None else declare(cls)


def _place(cls):
    """Returns the data type of a class and the number of its variant, or None for the data type.

    Returns None for a class that a program derives from a variant.
    """
    if cls._is_adt():
        return cls, None
    return (cls._adt, cls._number) if "_number" in cls.__dict__ else None


def _is_of_equal(cls, variant):
    """Returns whether a variant, or a class derived from it, belongs to an equal declaration."""
    data = cls.__dict__.get("_adt", cls)
    if variant._adt is data or data.__name__ != variant._adt.__name__ or variant._adt != data:
        return False
    return cls is data or cls._number == variant._number


def _declaration(data):
    """Returns a value that is equal for data types with equal declarations."""
    try:
        found = [(one.__module__.replace("__mp_main__", "__main__"), repr(one), one._kind,
                  one._arity, _members(one),
                  [(variant.__name__, [(name, describe_type(kind)) for name, kind in fields],
                    _members(variant), [(_member(field.default), _member(field.default_factory))
                                        for field in dataclasses.fields(variant)])
                   for variant, fields in zip(one._variants, fields_of(one))])
                 for one in reachable(data)]
    except (TypeError, ValueError):  # its fields have no valid types
        return object()
    return found


def _members(cls):
    """Returns the methods and constants of a class, as values that can be compared."""
    # cloudpickle does not preserve slots.
    return {name: _member(member) for name, member in vars(cls).items()
            if not name.startswith("__") and not inspect.ismemberdescriptor(member)}


def _member(value):
    value = getattr(value, "__func__", getattr(value, "fget", value))
    if hasattr(value, "__code__"):
        return value.__code__, repr(value.__defaults__)
    is_number = isinstance(value, (bool, int, float, str, numpy.generic))
    return type(value).__name__, repr(value) if is_number else ""


def fields_of(data):
    """Returns the types of fields: for each variant of a data type, a list of (name, type)."""
    # cloudpickle copies the attributes of a class before it pickles them, so they do not change.
    scope = data._scope
    if scope.fields is None:
        names, found = data._scope.names(**{data.__name__: data}), []
        for variant in data._variants:
            annotations = inspect.get_annotations(variant)
            found.append([(name, _type_of_field(repr(variant), annotations[name], names))
                          for name in variant._names])
        _check_children(data, found)
        scope.fields = found
        scope.close()
    return scope.fields


def _check_children(data, fields):
    """Raises a ValueError if a variant contradicts the declared kind or arity."""
    for variant, own in zip(data._variants, fields):
        children = [kind for _, kind in own if element_of(kind) == Data(data)]
        lists = any(isinstance(kind, List) for kind in children)
        if data._kind == "sequence" and (lists or len(children) > 1):
            count = "a list of children" if lists else f"{len(children)} children"
            raise ValueError(
                f"{variant!r} has {count}, but {data.__name__} is declared as a "
                "sequence, whose nodes have at most one child; declare it with kind='tree' or "
                "kind='dag'")
        least = sum(not isinstance(kind, List) for kind in children)
        if data._arity is not None and least > data._arity:
            raise ValueError(
                f"{variant!r} has {least} children, but {data.__name__} is declared "
                f"with arity {data._arity}; declare it with arity {least} or more")


def reachable(data):
    """Returns a data type and all data types reachable from its fields, in a fixed order."""
    found, work = {}, [data]
    while work:
        one = work.pop()
        if one in found:
            continue
        found[one] = True
        work += [element_of(kind).adt for fields in fields_of(one) for _, kind in fields
                 if isinstance(element_of(kind), Data)]
    return list(found)


# --- pickles -----------------------------------------------------------------------------

def _received(name, digest, data):
    """Returns a data type that arrives by value. Prefers an equal one that the program declares."""
    received, own = unpack(digest, data), find("__main__", name)
    return own if isinstance(own, AdtType) and own == received else received


def _reduced(cls):
    if has_name(cls):
        return cls.__qualname__
    place = _place(cls)
    if place is not None and place[1] is not None:
        return getattr, (place[0], cls.__name__)
    return _received, (repr(cls), *pack(cls))


copyreg.pickle(AdtType, _reduced)
# Without this, a pickled dataclass would contain a copy of MISSING, and fields without a default
# would have this copy as their default.
copyreg.pickle(type(dataclasses.MISSING), lambda _: "MISSING")
