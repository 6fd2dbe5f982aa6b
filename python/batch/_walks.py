"""What functions make of values while they are traced: nodes, lists, walks over lists."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core

from batch import _adt, _expand, _functions
from batch._adt import Data, List, describe, fields_of
from batch._functions import Body, dim_of, give_up, root, strong
from batch._values import (ListValue, Value, aval_of, construct_p, fold_p, is_value, kinds_in,
                           list_p, map_p, value_of)


def construct(variant, arguments, named):
    _functions.program_now().constructed.add(variant._adt)
    names = variant._names
    if len(arguments) > len(names):
        raise TypeError("%s has %d fields (%s), found %d" % (
            variant, len(names), ", ".join(names), len(arguments)))
    given = dict(zip(names, arguments))
    for name, value in named.items():
        if name in given or name not in names:
            raise TypeError("%s has %s %r" % (variant, "two of" if name in given else
                                              "no field", name))
        given[name] = value
    if hasattr(variant, "__post_init__"):
        raise TypeError("%s has a __post_init__, which is not run of values that a function "
                        "makes: compute its fields before" % variant)
    operands = []
    for field, (name, kind) in zip(dataclasses.fields(variant),
                                   fields_of(variant._adt)[variant._number]):
        if name not in given:
            given[name] = field.default if field.default_factory is dataclasses.MISSING \
                else field.default_factory()
        if given[name] is dataclasses.MISSING:
            raise TypeError("%s needs its field %r" % (variant, name))
        operands.append(_field("%s.%s" % (variant, name), kind, given[name]))
    return Value(variant._adt, construct_p.bind(*operands, variant=variant)[0])


def _field(what, kind, value):
    """What a constructor is given for a field of a type."""
    if isinstance(kind, Data):
        if not isinstance(value, Value) or value._data is not kind.adt:
            raise TypeError("%s is a %s, found %.60r" % (what, describe(kind), value))
        return value._tracer
    if isinstance(kind, List):
        if isinstance(value, ListValue):
            if value._kind != kind:
                raise TypeError("%s is a %s, found a %s" % (
                    what, describe(kind), describe(value._kind)))
            return value._tracer
        if isinstance(value, (list, tuple)):
            return list_p.bind(*[_field("%s[%d]" % (what, i), kind.element, part)
                                 for i, part in enumerate(value)], kind=kind)[0]
        wanted = aval_of(kind.element)
        aval = None if is_value(value) else jax.typeof(value)
        if aval is None or isinstance(_adt.element_of(kind), Data) or not aval.shape or \
                isinstance(aval.shape[0], int) or \
                (aval.shape[1:], aval.dtype) != (wanted.shape, wanted.dtype):
            raise TypeError("%s is a %s, found %.60r" % (what, describe(kind), value))
        return value
    wanted = aval_of(kind)
    try:
        array = jnp.asarray(value)
    except TypeError:
        raise TypeError("%s is %s, found %.60r" % (what, describe(kind), value)) from None
    fits = array.dtype == wanted.dtype or jax.typeof(array).weak_type and \
        jnp.issubdtype(wanted.dtype, jnp.floating) >= jnp.issubdtype(array.dtype,
                                                                      jnp.floating)
    if array.shape != wanted.shape or not fits:
        raise TypeError("%s is %s, found %s" % (
            what, wanted.str_short(), jax.typeof(array).str_short()))
    return lax.convert_element_type(array, wanted.dtype)


def _elements(values):
    """The declared types of the elements of lists, None for arrays' rows, and their types
    in a jaxpr."""
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
    """The body of a walk over lists, the number of outer values that it reads, and the
    operands of its equation, which begin with those values."""
    if not values or not all(isinstance(v, ListValue) or hasattr(v, "shape")
                             for v in values):
        raise TypeError("%s walks lists, and arrays with a row for each element" % name)
    kinds, avals = _elements(values)
    if any(map(_expand.is_empty, avals)):
        raise _expand.LoweringError("%s walks rows without elements" % name)
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

    body = Body(name, function, [*map(jax.typeof, leaves), *avals], build)
    if name == "fold":
        body.tree, body.avals_out, body.kinds_out = tree, [
            jax.typeof(leaf) for leaf in leaves], carried
        body._first = "the first value"
    if not body.explore(root()):
        give_up(body.unknown)
    body.function = body._build = None  # they have tracers, and all paths are known
    closure = _close(body)
    operands = [value._tracer if isinstance(value, ListValue) else value
                for value in values]
    return body, len(closure), closure + leaves + operands, tuple(
        value._kind if isinstance(value, ListValue) else None for value in values)


def _close(body):
    """Makes a body's values of enclosing functions its first arguments, and returns them."""
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
            constvars=[v for v, _ in kept], invars=[*first, *jaxpr.invars],
            debug_info=None), [c for _, c in kept])
    return closure


def map_lists(function, values):
    dims = list(map(dim_of, values))
    body, closure, operands, kinds = _walk("map", function, (), values)
    results = map_p.bind(*operands, body=body, closure=closure, kinds=kinds, dim=dims[0])
    dims_of, rows = root().dims, []
    for kind, tracer in zip(body.kinds_out, results):
        rows.append(tracer)
        if kind:
            dims_of[id(tracer)] = dims[0], tracer
    # A leaf of a tree is data, or an array.
    leaves = iter(zip(body.kinds_out, rows))
    return jax.tree.unflatten(
        jax.tree.structure(jax.tree.unflatten(body.tree, rows), is_leaf=is_value),
        [tracer if kind is None else ListValue(List(kind), tracer)
         for kind, tracer in leaves])


def fold_lists(function, init, values):
    list(map(dim_of, values))
    body, closure, operands, kinds = _walk("fold", function, init, values)
    return jax.tree.unflatten(body.tree, fold_p.bind(
        *operands, body=body, closure=closure, kinds=kinds))
