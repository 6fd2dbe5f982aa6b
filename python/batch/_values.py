"""Values of data types and lists, as functions see them while they are traced."""

import inspect

import jax
import jax.numpy as jnp
from jax.extend import core

from batch import _adt, _expand
from batch._adt import Data, List, Scalar, describe, fields_of

# In a jaxpr a value of a data type, and a list, is a number that nobody computes with.
HANDLE = jax.core.ShapedArray((), jnp.int32)


class Value:
    """A value of a data type in a function that is traced."""

    __slots__ = ("_data", "_tracer")

    def __init__(self, data, tracer):
        self._data, self._tracer = data, tracer

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        from batch import _functions
        cls = self._data
        # What it is, is asked for only where variants differ.
        if name not in vars(cls) or any(name in vars(variant) for variant in cls._variants):
            cls = cls._variants[_functions.variant_of(self)]
        if name in getattr(cls, "_names", ()):
            return _functions.fields(self, cls)[name]
        try:
            found = inspect.getattr_static(cls, name)
        except AttributeError:
            raise AttributeError("%s has no field %r; its fields are %s" % (
                cls, name, ", ".join(cls._names) or "none")) from None
        return found.__get__(self, cls) if hasattr(found, "__get__") else found

    def __repr__(self):
        return "<%s that is traced>" % self._data.__name__

    def __bool__(self):
        raise TypeError("a %s has no truth value: tell its variants apart with match or "
                        "isinstance" % self._data.__name__)

    def __eq__(self, other):
        raise TypeError("values of %s are not compared: they have no identity in a compiled "
                        "function" % self._data.__name__)

    __hash__ = None


class ListValue:
    """A list of any length in a function that is traced."""

    __slots__ = ("_kind", "_tracer")

    def __init__(self, kind, tracer):
        self._kind, self._tracer = kind, tracer

    def __repr__(self):
        return "<%s that is traced>" % describe(self._kind)

    def _refuse(self, what, advice):
        raise TypeError("%s%s %s; %s" % (_expand.here(), describe(self._kind), what, advice))

    def __iter__(self):
        self._refuse("has no elements while it is traced", "in place of a loop write list.map(f), "
                     "which gives what f computes of each element, list.sum(f), or "
                     "list.fold(f, init) to carry a value from one to the next")

    def __len__(self):
        self._refuse("has no length that Python knows", "in place of len(list) write "
                     "list.length, a number to compute with")

    def __getitem__(self, index):
        self._refuse("has no elements at positions", "in place of list[i] write "
                     "list.fold(f, init), which can carry one of its elements, or list.map(f) "
                     "for what f computes of all")

    def __bool__(self):
        self._refuse("has no truth value", "in place of `if list` write list.length > 0 in "
                     "jnp.where or lax.cond")

    @property
    def length(self):
        """How many elements it has, a number."""
        return length_p.bind(self._tracer, kind=self._kind)[0]

    @property
    def array(self):
        """The elements, numbers or tensors, as one array."""
        if isinstance(_adt.element_of(self._kind), Data):
            raise TypeError("%s has no array of elements that are data: map(f) gives one of "
                            "what f computes of them" % describe(self._kind))
        return self.map(lambda element: element)

    def __jax_array__(self):
        return self.array

    def map(self, function, *others):
        """What the function gives for each element: arrays with a row for each, lists of
        data. With other lists, or arrays of as many rows, for the elements of all."""
        from batch import _walks
        return _walks.map_lists(function, (self, *others))

    def fold(self, function, init, *others):
        """carry = function(carry, element) for one element after the other."""
        from batch import _walks
        return _walks.fold_lists(function, init, (self, *others))

    def sum(self, function=None, *others):
        """The sum of what the function gives for each element."""
        rows = self.array if function is None else self.map(function, *others)
        return jax.tree.map(lambda a: jnp.sum(a, axis=0), rows)


jax.tree_util.register_pytree_node(
    Value, lambda value: ((value._tracer,), value._data),
    lambda data, parts: Value(data, *parts))
jax.tree_util.register_pytree_node(
    ListValue, lambda value: ((value._tracer,), value._kind),
    lambda kind, parts: ListValue(kind, *parts))


def is_value(value):
    return isinstance(value, (Value, ListValue))


def kind_of(value):
    """The declared type of a value of a data type, or of a list; None of an array."""
    return Data(value._data) if isinstance(value, Value) else \
        value._kind if isinstance(value, ListValue) else None


def kinds_in(tree):
    """The types, as kind_of() has them, of the leaves of a tree."""
    return [kind_of(part) for part in jax.tree.leaves(tree, is_leaf=is_value)]


def dtype_of(kind):
    return jax.dtypes.canonicalize_dtype(
        {"int": "int64", "float": "float64"}.get(kind.name, kind.name))


def aval_of(kind):
    """The type, in a jaxpr, of a value of this declared type."""
    if isinstance(kind, (Data, List)):
        return HANDLE
    return jax.core.ShapedArray(getattr(kind, "shape", ()), dtype_of(kind))


def value_of(kind, tracer):
    return Value(kind.adt, tracer) if isinstance(kind, Data) else \
        ListValue(kind, tracer) if isinstance(kind, List) else tracer


# --- primitives --------------------------------------------------------------------------

def _primitive(name, results, kinds_out=None):
    """One whose equations are lowered by batch._recursion; `results` gives their types.
    With `kinds_out`, which gives their kinds, it is mapped where these are arrays."""
    primitive = core.Primitive(name)
    primitive.multiple_results = True
    primitive.def_abstract_eval(results)

    def refuse(*_, **__):
        raise NotImplementedError(
            "calls, data and lists of a @batch.function are neither mapped nor "
            "differentiated: apply jax.vmap and jax.grad to what it computes of arrays")

    def each(values, dims, **params):
        """One lane after the other: those that do not wait for each other run together
        all the same."""
        if kinds_out is None or any(kinds_out(**params)):
            refuse()
        mapped = [jnp.moveaxis(value, dim, 0) for value, dim in zip(values, dims)
                  if dim is not None]

        def lane(parts):
            parts = iter(parts)
            return primitive.bind(*[value if dim is None else next(parts)
                                    for value, dim in zip(values, dims)], **params)

        results = jax.lax.map(lane, mapped)
        return results, [0] * len(results)

    primitive.def_impl(refuse)
    jax.interpreters.batching.primitive_batchers[primitive] = each
    jax.interpreters.ad.primitive_jvps[primitive] = refuse
    return primitive


def _rows(dim, kind, aval):
    return HANDLE if kind else jax.core.ShapedArray((dim, *aval.shape), aval.dtype)


call_p = _primitive("batch_call", lambda *_, spec: spec.avals_out,
                    lambda spec: spec.kinds_out)
open_p = _primitive("batch_open", lambda _, variant: [
    aval_of(kind) for _, kind in fields_of(variant._adt)[variant._number]])
construct_p = _primitive("batch_construct", lambda *_, variant: [HANDLE])
list_p = _primitive("batch_list", lambda *_, kind: [HANDLE])
map_p = _primitive("batch_map", lambda *_, body, closure, kinds, dim: [
    _rows(dim, kind, aval) for kind, aval in zip(body.kinds_out, body.avals_out)])
fold_p = _primitive("batch_fold", lambda *_, body, closure, kinds: body.avals_out,
                    lambda body, **_: body.kinds_out)
# The paths through a function of ragged arrays (_functions.Arm), of which each instance takes one.
paths_p = _primitive("batch_paths", lambda *_, arms, avals: avals)
length_p = _primitive("batch_length", lambda _, kind: [aval_of(Scalar("int"))])
