"""Questions: comparisons of row counts in Python code while a function is traced.

JAX assumes that a symbolic extent is at least 1. JAX returns False for `==` of two extents if they
may be equal. A run may have 0, 1 or any number of rows. A comparison in user code is therefore a
question. The function is traced once for each answer (batch.tracing.paths), and compiled code
chooses between these paths at run time. JAX answers the comparisons in its own code.
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

from batch.core.errors import LoweringError
from batch.tracing.extents import symbols_of
from batch.tracing.locations import OWN_FOLDERS, user_location

_MOST = 32  # maximum number of questions on one path
_FEW = 64  # maximum number of row counts that are tried one after another


class _State(threading.local):
    is_traced = answer = None  # is_traced(scope), answer(question); set by the tracing code


question_state = _State()


class _Answer:
    def __init__(self, text):
        self.__name__ = text


class Question:
    """Comparison of an expression of row counts with 0: `==` if `is_zero`, else `>=`.

    first: the answer for many rows; its path is traced first.
    sources: for each name in the expression, the source of the row count; set by the tracing code.
    """

    def __init__(self, expression, is_zero):
        self.expression, self.is_zero = expression, is_zero
        self.names = sorted(symbols_of(expression))
        self.line = self._line()
        self.first = not is_zero and (self.line is None or self.line[0] > 0)
        self.sources = {}

    @property
    def text(self):
        return f"{self.expression} {'==' if self.is_zero else '>='} 0"

    @property
    def _variants(self):
        """Answers by number, analogous to the variants of a data type."""
        yes, no = self.text, f"not {self.text}"
        return (_Answer(yes), _Answer(no)) if self.first else (_Answer(no), _Answer(yes))

    def answer(self, number):
        return self.first == (number == 0)

    def holds(self, values, array=jnp):
        """Returns the answer for given row counts.

        values: dictionary from names to arrays of the module `array`.
        """
        value = evaluate_extent(self.expression, values, array)
        return value == 0 if self.is_zero else value >= 0

    def _line(self):
        """Returns (a, b) if the expression is a * n + b for a single extent n, else None."""
        if len(self.names) != 1:
            return None
        (name,) = self.names
        b, a = (evaluate_extent(self.expression, {name: n}, numpy) for n in (0, 1))
        (n,) = jax.export.symbolic_shape(name, scope=self.expression.scope)
        rest = self.expression - (a - b) * n
        return (a - b, b) if a != b and isinstance(rest, int) else None

    def bound(self):
        """Returns the `arith.cmpi` predicate and the bound for the single row count."""
        low, high = self._range()
        if self.is_zero:
            return "eq", low if low <= high else -1
        return ("sge", low) if self.line[0] > 0 else ("sle", high)

    def decided(self, before):
        """Returns the answer that follows from earlier (question, answer) pairs, or None."""
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
        """Returns the first and the last row count for which the comparison holds."""
        a, b = self.line
        if self.is_zero:
            return (-b // a, -b // a) if b % a == 0 and -b // a >= 0 else (1, 0)
        return (max(0, -(b // a)), math.inf) if a > 0 else (0, b // -a)


def evaluate_extent(expression, values, array):
    """Evaluates an expression of extents for row counts given by name."""
    text = str(expression).replace("^", "**")
    return eval(text, {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b,
                       "max": array.maximum, "min": array.minimum}, dict(values))


def check_question_count(before):
    if len(before) >= _MOST:
        raise LoweringError(
            f"{user_location()}Python code compares the number of rows in more than {_MOST} ways, "
            "each of which is traced; compare jnp.asarray(n) in jnp.where or lax.cond, and "
            "process rows with lax.scan")


# --- hooks in JAX extents -----------------------------------------------------------------

_Extent = type(jax.export.symbolic_shape("n")[0])
_MADE = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")


def _user():
    """Returns the frame that performs the comparison, or None if it is not user code."""
    frame = sys._getframe(2)
    while frame and frame.f_code.co_name in _MADE and frame.f_code.co_filename[0] == "<":
        frame = frame.f_back  # skips the generated methods of a dataclass
    return None if frame is None or frame.f_code.co_filename.startswith(OWN_FOLDERS) else frame


def _instruction(frame):
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def _ask(expression, is_zero):
    if isinstance(expression, int):
        return expression == 0 if is_zero else expression >= 0
    return question_state.answer(Question(expression, is_zero))


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
    """Returns the answer to a comparison, or NotImplemented to leave it to JAX."""
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
    return question_state.is_traced is not None and question_state.is_traced(extent.scope)


def _hook(name):
    original = getattr(_Extent, name)

    @functools.wraps(original)
    def asked(self, other):
        if _is_traced(self):
            frame = _user()
            # An equality test during a call is not a question: caches compare the arguments
            # with earlier arguments. `max` and `min` do not test for equality.
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
                raise LoweringError(
                    f"{user_location()}the number of rows is unknown during tracing and cannot "
                    "be looked up in a set or dictionary; compare it, as in `n == 0`, or use a "
                    "tuple, as in `n in (1, 2)`")
        return original(self)

    _Extent.__hash__ = hashed


for _name in _RELATIONS:
    _hook(_name)
_hook_truth()
_hook_hash()


def extent_refusal(error):
    """Returns the error for an operation that Python does not support on a row count.

    Returns None for other errors.
    """
    text = str(error).splitlines()[0] if str(error) else ""
    if isinstance(error, LoweringError) or not (
            re.search(rf"\b{_Extent.__name__}\b", text) or
            isinstance(error, core.InconclusiveDimensionOperation)):
        return None
    return LoweringError(
        f"{user_location(error.__traceback__)}the number of rows is unknown during tracing "
        f"({text}); compute with jnp.asarray(n), process rows with lax.scan or lax.fori_loop, "
        "and count them in the carry")
