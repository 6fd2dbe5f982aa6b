"""Cache keys of JAX traces. Traces with equal keys compute the same results.

A trace contains everything that a function computes. This includes reads of arguments, of
closed-over arrays, of globals and of other state. A function is therefore traced at every call,
which takes a few hundredths of a second. Results that take longer are cached by trace.
"""

import hashlib

import jax
import numpy
from jax.extend import core

from batch.tracing.jaxprs import CALLS, is_key, open_jaxpr


class Trace:
    """Closed jaxpr with cache keys.

    key: equal for traces that differ only in their constants and in the names of variables.
    values: equal for traces with equal constants.
    """

    def __init__(self, closed):
        self.jaxpr, self.constants = open_jaxpr(closed)
        self.key = _jaxpr_key(self.jaxpr)

    @property
    def closed(self):
        return core.ClosedJaxpr(self.jaxpr, self.constants)

    @property
    def values(self):
        return tuple(map(_value_key, self.constants))

    def jit(self, mapped=False):
        """Returns a jitted function of constants and arguments; `mapped` maps it over arguments."""
        jaxpr = self.jaxpr  # `function` captures this, not `self`; the constants can then be freed

        def function(constants, *arguments):
            return core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, constants))(*arguments)

        return jax.jit(jax.vmap(function, (None, 0)) if mapped else function)


class _Itself:
    """Key that equals only keys of the same object."""

    def __init__(self, value):
        self.value = value  # keeps the object alive and its id valid

    def __hash__(self):
        return id(self.value)

    def __eq__(self, other):
        return isinstance(other, _Itself) and self.value is other.value


def _value_key(array):
    """Returns the type of an array and a digest of its elements."""
    aval = jax.typeof(array)
    if is_key(aval):
        array = jax.random.key_data(array)
    return aval, hashlib.blake2b(numpy.asarray(array).tobytes()).digest()


def _parameter_key(value):
    if isinstance(value, core.ClosedJaxpr):
        return _jaxpr_key(value.jaxpr), tuple(map(_value_key, value.consts))
    if isinstance(value, core.Jaxpr):
        return _jaxpr_key(value)
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_parameter_key, value))
    if isinstance(value, (numpy.ndarray, jax.Array)):
        return _value_key(value)
    if isinstance(value, float):  # because 0.0 == -0.0
        return float, value.hex()
    try:
        hash(value)
    except TypeError:
        return _Itself(value)
    return type(value), value  # because 1 == True


def _jaxpr_key(jaxpr):
    """Returns a key of the computation in a jaxpr. Numbers replace the variables."""
    numbers = {}

    def define(variables):
        for v in variables:
            numbers[v] = len(numbers)
        return tuple(v.aval for v in variables)

    def read(atom):
        return _value_key(numpy.asarray(atom.val, atom.aval.dtype)) + (atom.aval,) \
            if isinstance(atom, core.Literal) else numbers[atom]

    lines = [define(jaxpr.constvars), define(jaxpr.invars)]
    for equation in jaxpr.eqns:
        name, params = equation.primitive.name, equation.params
        # The called function alone identifies a call, because a trace is not differentiated.
        if name in CALLS:
            params = {"": params[CALLS[name]]}
        lines.append((equation.primitive, equation.ctx,
                      tuple((name, _parameter_key(params[name])) for name in sorted(params)),
                      tuple(map(read, equation.invars)), define(equation.outvars)))
    return tuple(lines), tuple(map(read, jaxpr.outvars))
