"""Construction of nodes and lists, and traversals of lists, in traced functions."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core

from batch.core.adt import fields_of
from batch.core.errors import LoweringError
from batch.core.types import Data, List, describe_type, element_of
from batch.tracing.jaxprs import is_empty
from batch.tracing.paths import Body, dim_of, give_up, strong
from batch.tracing.primitives import aval_of, construct_p, fold_p, list_p, map_p
from batch.tracing.values import (
    ListValue,
    Value,
    current_program,
    is_value,
    kinds_in,
    root_frame,
    traversal,
    unknown_field,
    value_of,
)


def construct(variant, arguments, named):
    current_program().constructed.add(variant._adt)
    names = variant._names
    if len(arguments) > len(names):
        raise TypeError(f"too many arguments for {variant}; expected {len(names)} "
                        f"({', '.join(names) or 'no fields'}), got {len(arguments)}")
    given = dict(zip(names, arguments))
    for name, value in named.items():
        if name in given:
            raise TypeError(f"{variant} got field {name!r} twice")
        if name not in names:
            raise unknown_field(TypeError, variant, name)
        given[name] = value
    if hasattr(variant, "__post_init__"):
        raise TypeError(f"{variant} has a __post_init__, which compiled functions do not run; "
                        "compute the fields before you call the constructor")
    operands = []
    for field, (name, kind) in zip(dataclasses.fields(variant),
                                   fields_of(variant._adt)[variant._number]):
        if name not in given:
            given[name] = field.default if field.default_factory is dataclasses.MISSING \
                else field.default_factory()
        if given[name] is dataclasses.MISSING:
            raise TypeError(f"field {name!r} of {variant} is missing")
        operands.append(_field(f"{variant}.{name}", kind, given[name]))
    return Value(variant._adt, construct_p.bind(*operands, variant=variant)[0])


def _field(what, kind, value):
    """Returns the constructor operand for `value`, a field of the declared type `kind`.

    Raises TypeError if the value does not have this type.
    """
    if isinstance(kind, Data):
        if not isinstance(value, Value) or value._data != kind.adt:
            raise _mismatch(what, describe_type(kind), f"{value!r:.60}")
        return value._tracer
    if isinstance(kind, List):
        if isinstance(value, ListValue):
            if value._kind != kind:
                raise _mismatch(what, describe_type(kind), describe_type(value._kind))
            return value._tracer
        if isinstance(value, (list, tuple)):
            return list_p.bind(*[_field(f"{what}[{i}]", kind.element, part)
                                 for i, part in enumerate(value)], kind=kind)[0]
        wanted = aval_of(kind.element)
        aval = None if is_value(value) else jax.typeof(value)
        if aval is None or isinstance(element_of(kind), Data) or not aval.shape or \
                isinstance(aval.shape[0], int) or \
                (aval.shape[1:], aval.dtype) != (wanted.shape, wanted.dtype):
            raise _mismatch(what, describe_type(kind), f"{value!r:.60}")
        return value
    wanted = aval_of(kind)
    try:
        array = jnp.asarray(value)
    except TypeError:
        raise _mismatch(what, describe_type(kind), f"{value!r:.60}") from None
    fits = array.dtype == wanted.dtype or jax.typeof(array).weak_type and \
        jnp.issubdtype(wanted.dtype, jnp.floating) >= jnp.issubdtype(array.dtype,
                                                                      jnp.floating)
    if array.shape != wanted.shape or not fits:
        raise _mismatch(what, wanted.str_short(), jax.typeof(array).str_short())
    return lax.convert_element_type(array, wanted.dtype)


def _mismatch(what, wanted, got):
    return TypeError(f"{what}: expected {wanted}, got {got}")


def _elements(values):
    """Returns the declared types of list elements, and their types in a jaxpr.

    The declared type is None for the rows of an array.
    """
    kinds = [value._kind.element if isinstance(value, ListValue) else None
             for value in values]
    avals = []
    for kind, value in zip(kinds, values):
        if kind is None:
            aval = jax.typeof(value)
            avals.append(jax.core.ShapedArray(aval.shape[1:], aval.dtype))
        else:
            avals.append(aval_of(kind))
    return kinds, avals


def _walk(name, function, init, values):
    """Traces the body of a traversal of lists.

    Returns (body, number of outer values, operands, declared types). The body reads the outer
    values, and the operands of its equation begin with them. The declared types are those of
    `values`, None for arrays.

    Raises LoweringError for rows without elements.
    """
    kinds, avals = _elements(values)
    if any(map(is_empty, avals)):
        raise LoweringError(f"list.{name} does not support arrays whose rows have no elements; "
                            "omit them")
    leaves, tree = jax.tree.flatten(init)
    leaves = list(map(strong, leaves))
    carried = kinds_in(init)

    def build(frame, tracers):
        carry = jax.tree.unflatten(tree, tracers[:len(leaves)])
        for number, value in enumerate(jax.tree.leaves(carry, is_leaf=is_value)):
            if is_value(value):
                frame.know(value, (name, number))
        elements = [tracer if kind is None else value_of(kind, tracer)
                    for kind, tracer in zip(kinds, tracers[len(leaves):])]
        for number, element in enumerate(elements):
            if is_value(element):
                frame.know(element, (name, len(carried) + number))
        return ((carry, *elements) if leaves or name == "fold" else tuple(elements)), {}

    body = Body(f"the function of list.{name}", function, [*map(jax.typeof, leaves), *avals],
                build)
    if name == "fold":
        body.tree, body.avals_out, body.kinds_out = tree, [
            jax.typeof(leaf) for leaf in leaves], carried
        body._declared = "init"
    if not body.explore(root_frame()):
        give_up(body.unknown)
    body.function = body._build = None  # all paths are traced, so their tracers can be freed
    closure = _close(body)
    operands = [value._tracer if isinstance(value, ListValue) else value
                for value in values]
    return body, len(closure), closure + leaves + operands, tuple(
        value._kind if isinstance(value, ListValue) else None for value in values)


def _close(body):
    """Makes values of enclosing functions the first arguments of a body, and returns them."""
    outside = {}
    for arm in body.arms:
        for value in arm.closed.consts:
            if isinstance(value, jax.core.Tracer):
                outside[id(value)] = value
    closure = list(outside.values())
    for arm in body.arms:
        jaxpr = arm.closed.jaxpr
        known = {id(c): v for v, c in zip(jaxpr.constvars, arm.closed.consts)}
        kept = [(v, c) for v, c in zip(jaxpr.constvars, arm.closed.consts)
                if id(c) not in outside]
        first = [known.get(id(value)) or core.Var(jax.typeof(value))
                 for value in closure]
        arm.closed = core.ClosedJaxpr(jaxpr.replace(
            constvars=[v for v, _ in kept], invars=[*first, *jaxpr.invars]), [c for _, c in kept])
    return closure


@traversal("map")
def map_lists(function, values):
    dims = list(map(dim_of, values))
    body, closure, operands, kinds = _walk("map", function, (), values)
    results = map_p.bind(*operands, body=body, closure=closure, kinds=kinds, dim=dims[0])
    dims_of, rows = root_frame().dims, []
    for kind, tracer in zip(body.kinds_out, results):
        rows.append(tracer)
        if kind:
            dims_of[id(tracer)] = dims[0], tracer
    # Each leaf of the tree is a traced value or an array.
    leaves = iter(zip(body.kinds_out, rows))
    return jax.tree.unflatten(
        jax.tree.structure(jax.tree.unflatten(body.tree, rows), is_leaf=is_value),
        [tracer if kind is None else ListValue(List(kind), tracer)
         for kind, tracer in leaves])


@traversal("fold")
def fold_lists(function, init, values):
    list(map(dim_of, values))
    body, closure, operands, kinds = _walk("fold", function, init, values)
    return jax.tree.unflatten(body.tree, fold_p.bind(
        *operands, body=body, closure=closure, kinds=kinds))
