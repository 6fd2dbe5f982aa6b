"""Questions that Python asks of a number of rows while a function is traced.

JAX takes a symbolic extent to be at least 1, and `==` of two that may be equal to be false. A
run may have 0, 1 or any number of rows. So what the user's code compares is a question: the
function is traced once for each answer (batch._functions), and code chooses between these
paths when it runs. JAX's own comparisons are left to JAX.
"""

import dis
import functools
import math
import numbers
import re
import sys
import threading

import jax
import jax.export
import jax.numpy as jnp
import numpy
from jax.extend import core

from batch import _expand

_MOST = 32  # questions on one path
_FEW = 64  # numbers of rows that are tried one after the other


class _State(threading.local):
    is_traced = answer = None  # of a scope of extents; of a Question. Set by what traces


state = _State()


class _Answer:
    def __init__(self, text):
        self.__name__ = text


class Question:
    """Whether an expression of numbers of rows is 0 (`is_zero`), or at least 0.

    first: the answer for many rows, whose path is traced first.
    sources: of its names, what has as many rows; set by what traces.
    """

    def __init__(self, expression, is_zero):
        self.expression, self.is_zero = expression, is_zero
        self.names = sorted(_expand.symbols_of(expression))
        self.line = self._line()
        self.first = not is_zero and (self.line is None or self.line[0] > 0)
        self.sources = {}

    @property
    def text(self):
        return "%s %s 0" % (self.expression, "==" if self.is_zero else ">=")

    @property
    def _variants(self):
        """The answers by number, as a data type has variants."""
        yes, no = self.text, "not %s" % self.text
        return (_Answer(yes), _Answer(no)) if self.first else (_Answer(no), _Answer(yes))

    def answer(self, number):
        return self.first == (number == 0)

    def holds(self, values, array=jnp):
        """The answer for numbers of rows by name: arrays, whose module is `array`."""
        value = evaluate(self.expression, values, array)
        return value == 0 if self.is_zero else value >= 0

    def _line(self):
        """(a, b) where the expression is a * n + b of one n."""
        if len(self.names) != 1:
            return None
        (name,) = self.names
        b, a = (evaluate(self.expression, {name: n}, numpy) for n in (0, 1))
        (n,) = jax.export.symbolic_shape(name, scope=self.expression.scope)
        rest = self.expression - (a - b) * n
        return (a - b, b) if a != b and isinstance(rest, int) else None

    def bound(self):
        """How the one number is compared with a bound, as `arith.cmpi` has it."""
        low, high = self._range()
        if self.is_zero:
            return "eq", low if low <= high else -1
        return ("sge", low) if self.line[0] > 0 else ("sle", high)

    def decided(self, before):
        """The answer that follows from earlier ones, (question, answer), or None."""
        if len(self.names) != 1:
            return None
        before = [pair for pair in before if pair[0].names == self.names]
        least, most, without = 0, math.inf, set()
        for question, is_true in before:
            if question.line is None:
                continue
            low, high = question._range()
            if is_true:
                least, most = max(least, low), min(most, high)
            elif question.is_zero:
                without.update(range(low, high + 1))
            elif question.line[0] > 0:
                most = min(most, low - 1)
            else:
                least = max(least, high + 1)
        while least in without:
            least += 1
        if most - least < _FEW:
            answers = {bool(self._at(n)) for n in range(least, most + 1)
                       if all(question._at(n) == answer for question, answer in before)}
            return answers.pop() if len(answers) == 1 else None
        if self.line is None:
            return None
        low, high = self._range()
        if low <= least and most <= high:
            return True
        return False if low > high or most < low or least > high or \
            low == high and low in without else None

    def _at(self, n):
        return self.holds({self.names[0]: n}, numpy)

    def _range(self):
        """The numbers for which it holds: from, to."""
        a, b = self.line
        if self.is_zero:
            return (-b // a, -b // a) if b % a == 0 and -b // a >= 0 else (1, 0)
        return (max(0, -(b // a)), math.inf) if a > 0 else (0, b // -a)


def evaluate(expression, values, array):
    """An expression of extents, for numbers of rows by name."""
    text = str(expression).replace("^", "**")
    return eval(text, {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b,
                       "max": array.maximum, "min": array.minimum}, dict(values))


def most(before):
    if len(before) >= _MOST:
        raise _expand.LoweringError(
            "%sa number of rows is compared in Python in more than %d ways, each of which is "
            "traced: compare jnp.asarray(n) by jnp.where or lax.cond, and walk rows by lax.scan" %
            (_expand.here(), _MOST))


# --- what JAX's extents are asked --------------------------------------------------------

_Extent = type(jax.export.symbolic_shape("n")[0])
_MADE = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")


def _user():
    """The frame that compares, if it is the user's."""
    frame = sys._getframe(2)
    while frame and frame.f_code.co_name in _MADE and frame.f_code.co_filename[0] == "<":
        frame = frame.f_back  # of a dataclass
    return None if frame is None or frame.f_code.co_filename.startswith(_expand._OWN) else frame


def _instruction(frame):
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def _ask(expression, is_zero):
    if isinstance(expression, int):
        return expression == 0 if is_zero else expression >= 0
    return state.answer(Question(expression, is_zero))


def _at_least(extent, other):
    return _ask(extent - other, False)


_RELATIONS = {
    "__eq__": lambda n, m: _ask(n - m, True),
    "__ne__": lambda n, m: not _ask(n - m, True),
    "__ge__": lambda n, m: _at_least(n, m),
    "__gt__": lambda n, m: _at_least(n, m + 1),
    "__le__": lambda n, m: not _at_least(n, m + 1),
    "__lt__": lambda n, m: not _at_least(n, m)}


def _compare(name, extent, other):
    """The answer, or NotImplemented where JAX gives it."""
    if isinstance(other, numbers.Integral):
        return _RELATIONS[name](extent, int(other))
    if isinstance(other, _Extent):
        return _RELATIONS[name](extent, other) if other.scope is extent.scope else NotImplemented
    if isinstance(other, numbers.Real):
        if not math.isfinite(other):
            return getattr(0.0, name)(float(other))
        if other == int(other):
            return _RELATIONS[name](extent, int(other))
        return name == "__ne__" if name in ("__eq__", "__ne__") else \
            _at_least(extent, math.ceil(other)) == (name in ("__ge__", "__gt__"))
    if isinstance(other, (jax.Array, numpy.ndarray)):
        return getattr(jnp.asarray(extent), name)(other)
    return NotImplemented


def _is_traced(extent):
    return state.is_traced is not None and state.is_traced(extent.scope)


def _hook(name):
    original = getattr(_Extent, name)

    @functools.wraps(original)
    def asked(self, other):
        if _is_traced(self):
            frame = _user()
            # A call compares what it was called with before; `max` and `min` want no equality.
            if frame and not (name in ("__eq__", "__ne__") and
                              _instruction(frame).startswith("CALL")):
                answer = _compare(name, self, other)
                if answer is not NotImplemented:
                    return answer
        return original(self, other)

    setattr(_Extent, name, asked)


def _hook_truth():
    def truth(self):
        return _ask(self, True) is False if _is_traced(self) and _user() else True

    _Extent.__bool__ = truth


def _hook_hash():
    original = _Extent.__hash__

    @functools.wraps(original)
    def hashed(self):
        if _is_traced(self):
            frame = _user()
            if frame and _instruction(frame) == "CONTAINS_OP":
                raise _expand.LoweringError(
                    "%sa number of rows is looked up in a set or a dictionary, where it is equal "
                    "to no number: compare it, `n == 0`, or look it up in a tuple" %
                    _expand.here())
        return original(self)

    _Extent.__hash__ = hashed


for _name in _RELATIONS:
    _hook(_name)
_hook_truth()
_hook_hash()


def refusal(error):
    """The error for what Python cannot do with a number of rows, or None if this is another
    one."""
    text = str(error).splitlines()[0] if str(error) else ""
    if isinstance(error, _expand.LoweringError) or not (
            re.search(r"\b%s\b" % _Extent.__name__, text) or
            isinstance(error, core.InconclusiveDimensionOperation)):
        return None
    return _expand.LoweringError(
        "%sa number of rows is known when the function runs, not to Python (%s): compute with "
        "jnp.asarray(n), walk rows by lax.scan or lax.fori_loop, and number them by "
        "jnp.arange(n)" % (_expand.here(error.__traceback__), text))
