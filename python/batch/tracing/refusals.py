"""Errors for Python code that cannot be traced, with the line of the user and a remedy."""

import sys
from collections import Counter
from traceback import walk_stack, walk_tb

import jax

from batch.core.errors import LoweringError
from batch.tracing.locations import is_user_file, user_location

_CALLS = 10  # a function that is running this many times at once is recursive

# Remedies for the errors of JAX about reads of traced arrays. The last one is the base class.
_READS = (
    (jax.errors.TracerBoolConversionError,
     "Python cannot test a traced array, as in `if x > 0` or `case 0`; use jax.lax.cond, "
     "jax.lax.switch or jax.lax.while_loop"),
    (jax.errors.TracerArrayConversionError,
     "NumPy cannot read a traced array; use the function of jax.numpy, such as jnp.tanh instead "
     "of np.tanh"),
    (jax.errors.TracerIntegerConversionError,
     "Python cannot use a traced array as an index or in `range`; index a JAX array, or use "
     "jax.lax.fori_loop"),
    (jax.errors.ConcretizationTypeError,
     "Python cannot read the value of a traced array, as in `float(x)` or jnp.arange(n); compute "
     "with the array itself"))


def _recursion(frames):
    """Returns the error for a recursive function of the user, or None if no function is recursive.

    frames: (frame, line) of each call, the outermost first.
    """
    calls = [(frame.f_code, line) for frame, line in frames
             if is_user_file(frame.f_code.co_filename)]
    counts = Counter(code for code, _ in calls)
    if not counts:
        return None
    (code, count), = counts.most_common(1)
    if count < _CALLS:
        return None
    line = next(line for one, line in calls if one == code)
    return LoweringError(
        f"{code.co_filename}:{line} (in {code.co_name}): {code.co_name} calls itself; "
        "declare it with @batch.function")


def endless_fields(data, levels):
    """Returns the error for code that reads fields of fields of a traced value without end."""
    return _recursion(list(walk_stack(sys._getframe(1)))[::-1]) or LoweringError(
        f"{user_location()}Python code follows the fields of a traced {data.__name__} through more "
        f"than {levels} levels; use a @batch.function that calls itself")


def python_refusal(error):
    """Returns the error for Python code that does not end or reads a traced array.

    Returns None for other errors.
    """
    if isinstance(error, RecursionError):
        return _recursion(walk_tb(error.__traceback__))
    remedy = next((text for kind, text in _READS if isinstance(error, kind)), None)
    return LoweringError(user_location(error.__traceback__) + remedy) if remedy else None
