"""Declares that objects of other classes are nodes of a data type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from batch.core.adt import AdtType

T = TypeVar("T")
R = TypeVar("R")


@overload
def view(data: Any, cls: type[T]) -> \
    Callable[[Callable[[T], R]], Callable[[T], R]]: ...


@overload
def view(data: Any, cls: type[T], variant: Any) -> type[T]: ...


def view(data: Any, cls: type[Any], variant: Any = None) -> Any:
    """Declares that objects of another class are nodes of a data type.

        batch.view(Tree, MyLeaf, Tree.Leaf)      # its attributes have the fields' names

        @batch.view(Tree, MyNode)
        def _(node):                              # or a function creates the node
            return Tree.Node(node.children[0], node.children[1])

    data: class of batch.adt.
    cls: class of the objects. Objects of derived classes are viewed as their nearest base.
    variant: variant of `data` whose fields are attributes of the objects. Without it,
        batch.view returns a decorator for a function from an object to a node.

    Objects in the fields of a node that such a function returns are viewed in turn.

    Raises a TypeError if `data`, `cls` or `variant` is not such a class, or if `cls` is tuple
    or a data type.
    """
    if not (isinstance(data, AdtType) and data._is_adt()):
        raise TypeError(f"batch.view expects a class of batch.adt, got {data!r}")
    if not isinstance(cls, type):
        raise TypeError(f"batch.view expects the class of the viewed objects, got {cls!r}")
    if isinstance(cls, AdtType):
        raise TypeError(f"{cls!r} is a data type; batch.view expects a class of other objects")
    if cls is tuple:
        raise TypeError("batch.view does not support tuple; a tuple that begins with the name of "
                        "a variant is already a node")
    if variant is None:
        def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            data._views[cls] = None, function
            return function
        return register
    if variant not in data._variants:
        raise TypeError(f"{variant!r} is not a variant of {data!r}; expected one of "
                        f"{', '.join(map(repr, data._variants))}")
    data._views[cls] = variant._number, None
    return cls
