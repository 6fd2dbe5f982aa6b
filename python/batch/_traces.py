"""What was made of functions that JAX has traced, for functions that compute the same.

A trace has all that a function computes: of arguments, arrays that it closes over,
globals, and what it reads elsewhere. So a function is traced whenever it is called, which
takes some hundredths of a second, and what takes longer is kept by what traces say.
"""

import collections
import hashlib
import threading

import jax
import numpy
from jax.extend import core

from batch import _expand


class Trace:
    """A closed jaxpr. `key` is that of all traces that compute the same of their
    constants; `values`, that of those whose constants are the same, too."""

    def __init__(self, closed):
        self.jaxpr, self.constants = _expand.open_jaxpr(closed)
        self.key = _jaxpr(self.jaxpr)

    @property
    def closed(self):
        return core.ClosedJaxpr(self.jaxpr, self.constants)

    @property
    def values(self):
        return tuple(map(_value, self.constants))

    def jit(self, mapped=False):
        """The function of its constants and arguments, by JAX; `mapped` over arguments."""
        jaxpr = self.jaxpr  # constants do not live as long

        def function(constants, *arguments):
            return core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, constants))(*arguments)

        return jax.jit(jax.vmap(function, (None, 0)) if mapped else function)


class Kept:
    """What was made for the last keys that were asked for."""

    def __init__(self, most):
        self._most, self._known = most, collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, key, make):
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()
        with self._lock:
            self._known[key] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


class _Itself:
    """A key that is equal to no other object's."""

    def __init__(self, value):
        self.value = value  # which lives as long, and its id with it

    def __hash__(self):
        return id(self.value)

    def __eq__(self, other):
        return isinstance(other, _Itself) and self.value is other.value


def _value(array):
    """An array's type and what it holds."""
    aval = jax.typeof(array)
    if _expand.is_key(aval):
        array = jax.random.key_data(array)
    return aval, hashlib.blake2b(numpy.asarray(array).tobytes()).digest()


def _parameter(value):
    if isinstance(value, core.ClosedJaxpr):
        return _jaxpr(value.jaxpr), tuple(map(_value, value.consts))
    if isinstance(value, core.Jaxpr):
        return _jaxpr(value)
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_parameter, value))
    if isinstance(value, (numpy.ndarray, jax.Array)):
        return _value(value)
    if isinstance(value, float):  # 0.0 equals -0.0
        return float, value.hex()
    try:
        hash(value)
    except TypeError:
        return _Itself(value)
    return type(value), value  # 1 equals True


def _jaxpr(jaxpr):
    """What a jaxpr computes, with numbers for variables."""
    numbers = {}

    def define(variables):
        for v in variables:
            numbers[v] = len(numbers)
        return tuple(v.aval for v in variables)

    def read(atom):
        return _value(numpy.asarray(atom.val, atom.aval.dtype)) + (atom.aval,) \
            if isinstance(atom, core.Literal) else numbers[atom]

    lines = [define(jaxpr.constvars), define(jaxpr.invars)]
    for equation in jaxpr.eqns:
        name, params = equation.primitive.name, equation.params
        # Of a call counts what is called: nothing here is differentiated any more.
        if name in _expand._CALLS:
            params = {"": params[_expand._CALLS[name]]}
        lines.append((equation.primitive, equation.ctx,
                      tuple((name, _parameter(params[name])) for name in sorted(params)),
                      tuple(map(read, equation.invars)), define(equation.outvars)))
    return tuple(lines), tuple(map(read, jaxpr.outvars))
