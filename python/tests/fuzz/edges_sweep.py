"""Compares operations at edge values of their types under batch.vmap and jax.vmap.

For some numbers, MLIR and LLVM do not define the results of these operations, but
docs/reference/element-types.md defines them. The sweep compares scalars and vectors of each type,
with operands that are arguments or constants.

Results must be bit-identical, unless Batch and XLA may round them differently. On CPUs, XLA flushes
subnormal numbers to zero and Batch does not, so the sweep flushes the results of both.
"""

import argparse
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../test/Integration"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import batchtest
import jax
import jax.numpy as jnp
import numpy
from jax import lax

import batch
from fuzz import workers

SIGNED = [f"int{n}" for n in (8, 16, 32, 64)]
UNSIGNED = [f"uint{n}" for n in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
TYPES = ["bool"] + SIGNED + UNSIGNED + FLOATS
ROUNDED = {"float64": 1e-10, "float32": 1e-5, "bfloat16": 1e-2, "float16": 2e-3}
SECONDS = 900  # limit for the operations of one type in one form


def edges(dtype):
    """Returns the edge values of a type."""
    if dtype == "bool":
        return numpy.asarray([False, True])
    if dtype in FLOATS:
        info = jnp.finfo(dtype)
        numbers = [0.0, -0.0, 0.5, 1.5, 2.5, 3.0, 1.0, 127.5, 128.0, 256.0, 65504.0,
                   2.0 ** 31, 2.0 ** 63, 2.0 ** 64, 1e20, float(info.max), float(info.tiny),
                   numpy.inf]
        numbers += [-number for number in numbers[2:]] + [numpy.nan]
        with numpy.errstate(over="ignore"):
            return numpy.asarray(numbers).astype(jnp.dtype(dtype))
    info = jnp.iinfo(dtype)
    numbers = {info.min, info.min + 1, 0, 1, 2, 3, 5, info.bits - 1, info.bits, info.max - 1,
               info.max}
    numbers |= {-1, -2, -3, -info.bits} if info.min else set()
    return numpy.asarray(sorted(numbers), dtype)


def constants(dtype):
    """Returns constants to use as second operands."""
    if dtype == "bool":
        return [numpy.True_]
    if dtype in FLOATS:
        return list(numpy.asarray([0.0, -0.0, numpy.inf, numpy.nan]).astype(jnp.dtype(dtype)))
    info = jnp.iinfo(dtype)
    return list(numpy.asarray(
        [0, info.bits, info.max] + [-1, info.min] * (dtype in SIGNED), dtype))


# --- functions by name ------------------------------------------------------------------

def _by_name(*functions):
    return {f.__name__: f for f in functions}


def _conversions(source):
    return {f"to {target}": lambda a, target=target: a.astype(target) for target in TYPES
            if target != source}


def _bits(a):
    """Returns the bits of the elements as unsigned integers."""
    return lax.bitcast_convert_type(a, f"uint{8 * a.dtype.itemsize}")


def _powers(*exponents):
    return {f"power {n}": lambda a, n=n: lax.integer_pow(a, n) for n in exponents}


def unary(dtype):
    if dtype == "bool":
        return {"not": jnp.logical_not}
    found = _by_name(lax.sign, lax.neg, *(lax.abs,) * (dtype not in UNSIGNED))
    found["bits"] = _bits
    found |= _powers(0, 2, 5)
    if dtype in FLOATS:
        found |= _by_name(
            lax.floor, lax.ceil, jnp.trunc, jnp.rint, lax.is_finite, jnp.isnan, jnp.isinf,
            jnp.signbit, jnp.nan_to_num)
        found["round"] = lax.round
        found["integers"] = lambda a: jnp.modf(a)[1]
    else:
        found |= _by_name(lax.population_count, lax.clz, lax.bitwise_not)
        if jnp.iinfo(dtype).bits > 8:
            found["float of bits"] = lambda a: _bits(lax.bitcast_convert_type(
                a, f"float{jnp.iinfo(dtype).bits}"))
    return found


def unary_rounded(dtype):
    if dtype not in FLOATS:
        return {}
    return _by_name(
        lax.sqrt, lax.rsqrt, lax.cbrt, lax.exp, lax.expm1, lax.log, lax.log1p, lax.tanh,
        lax.logistic, lax.asin, lax.acos, lax.atan, lax.erf) | _powers(-1, -3)


def binary(dtype):
    found = _by_name(lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)
    if dtype == "bool":
        return found | _by_name(
            lax.max, lax.min, lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor)
    found |= _by_name(
        lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, jnp.floor_divide,
        jnp.remainder, jnp.fmod)
    found["clamp"] = lambda a, b: lax.clamp(a, b, lax.max(a, jnp.asarray(3, a.dtype)))
    found["clamp between"] = lambda a, b: lax.clamp(b, a, b)
    if dtype in FLOATS:
        found |= _by_name(jnp.fmax, jnp.fmin, jnp.copysign, jnp.heaviside)
        found["nextafter"] = lambda a, b: _bits(lax.nextafter(a, b))
        if dtype != "bfloat16":  # XLA loses NaNs in rows of bfloat16 on CPUs
            found["largest"] = lambda a, b: jnp.stack([a, b]).max(0)
            found["least"] = lambda a, b: jnp.stack([a, b]).min(0)
        found["place"] = lambda a, b: jnp.stack([a, b]).argmax(0)
    else:
        found |= _by_name(
            lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical,
            jnp.left_shift, jnp.right_shift)
        # JAX defines negative powers of integers, too.
        found["power"] = lambda a, b: jnp.power(a, b)
    return found


def binary_rounded(dtype):
    if dtype not in FLOATS:
        return {}
    return {"pow": lax.pow, "atan2": lax.atan2, "hypot": jnp.hypot,
            "logaddexp": jnp.logaddexp,
            "pow of an integer": lambda a, b: lax.pow(a, jnp.nan_to_num(b).astype("int32"))}


def _constant(array, value):
    """Returns an array that is filled with `value` and has the shape of `array`.

    Batch sees a constant. The barrier prevents NumPy from computing with it during tracing. It
    also prevents XLA from folding divisions by zero, which would crash XLA.
    """
    return lax.optimization_barrier(jnp.full_like(array, value, value.dtype))


# --- comparisons ------------------------------------------------------------------------

def _exact(functions):
    """Marks functions whose results are not rounded: returns {name: (function, False)}."""
    return {name: (f, False) for name, f in functions.items()}


def _of_arguments(dtype):
    """Returns all functions of two numbers or arrays of a type."""
    def first(g):
        return lambda a, b: g(a)

    ones, twos = _conversions(dtype) | unary(dtype), binary(dtype)
    rounded = {name: first(g) for name, g in unary_rounded(dtype).items()} | \
        binary_rounded(dtype)
    return _exact({name: first(g) for name, g in ones.items()} | twos | {
        f"{name}, b is {c!s}": lambda a, b, g=g, c=c: g(a, _constant(a, c))
        for name, g in twos.items() for c in constants(dtype)}) | {
            name: (g, True) for name, g in rounded.items()}


def _of_constants(dtype):
    """Returns all functions of constants. Folding must give the same results as compiled code."""
    values = [value[()] for value in edges(dtype)[::3]]
    return _exact({
        f"{name} of {value!s}": lambda z, g=g, value=value: g(_constant(z, value))
        for name, g in (_conversions(dtype) | unary(dtype)).items() for value in values
    } | {f"{name} of {a!s} and {b!s}": lambda z, g=g, a=a, b=b: g(_constant(z, a), _constant(z, b))
         for name, g in binary(dtype).items()
         for a in (values[0], values[-1]) for b in constants(dtype)})


def _of_index():
    """Returns functions of a table and an index, which may be out of range."""
    return _exact({
        mode: lambda v, i, mode=mode: v.at[i].get(mode=mode, fill_value=7)
        for mode in ("clip", "fill")} | {
        "default mode": lambda v, i: v[i],
        "dynamic_slice": lambda v, i: lax.dynamic_slice(v, (i, i), (2, 3)),
        "dynamic_index": lambda v, i: lax.dynamic_index_in_dim(v[1], i, keepdims=False),
        "update": lambda v, i: lax.dynamic_update_slice(v, v[1][None, :2], (i, i)),
        "take": lambda v, i: jnp.take(v, i, axis=1),
        "switch": lambda v, i: lax.switch(
            jnp.clip(i, -5, 5).astype("int32"), [lambda: 0, lambda: 1, lambda: 2])} | {
        f"{name}, {mode}": lambda v, i, name=name, mode=mode: getattr(v.at[i], name)(
            v[1], mode=mode)
        for name in ("set", "add") for mode in ("clip", "drop")})


def _of_constant_index(value):
    return {name: (lambda v, g=g: g(v, _constant(v[0, 0].astype("int32"), value)), rounded)
            for name, (g, rounded) in _of_index().items()}


def forms(dtype):
    """Returns {form: (functions, arguments)}. The functions of a form are compiled together.

    Functions are {name: (function, whether its results are rounded)}.
    """
    values = edges(dtype)
    a, b = (grid.ravel() for grid in numpy.meshgrid(values, values, indexing="ij"))
    rows = numpy.resize(a, (2, a.size)), numpy.resize(b, (2, a.size))
    found = {"scalars": (_of_arguments(dtype), (a, b)),
             "rows": (_of_arguments(dtype), rows),
             "constants": (_of_constants(dtype), (numpy.zeros(2, numpy.int32),))}
    if dtype in SIGNED + UNSIGNED:
        table = numpy.arange(12.0, dtype=numpy.float32).reshape(3, 4) + values.size
        found["index"] = _of_index(), (numpy.stack([table] * values.size), values)
        for value in values[[0, -1]]:
            found[f"index {value}"] = _of_constant_index(value), (table[None],)
    return found


def _normal(array):
    """Converts floats to float64, and floats that are subnormal in their type to 0."""
    name = array.dtype.name
    if name not in FLOATS:
        return numpy.asarray(array)
    wide = numpy.asarray(array, numpy.float64)
    return numpy.where(abs(wide) < float(jnp.finfo(name).tiny), wide * 0, wide)


def _difference(a, b, arguments, tolerance):
    """Returns a description of the difference from the array of JAX, or None."""
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return f"{a.dtype.name}{a.shape}, JAX: {b.dtype.name}{b.shape}"
    x, y = _normal(a), _normal(b)
    if x.dtype.kind != "f":
        wrong = x != y
    else:
        both = numpy.isfinite(x) & numpy.isfinite(y)
        # Tolerate more, because intermediate values in XLA functions may also be subnormal.
        least = 4 * float(jnp.finfo(b.dtype).tiny) if tolerance else 0
        near = numpy.where(both, abs(x - y) <= tolerance * abs(y) + least, x == y)
        zero = (x == 0) & (y == 0)
        near &= ~zero | (numpy.signbit(x) == numpy.signbit(y))
        wrong = ~(near | numpy.isnan(x) & numpy.isnan(y))
    places = numpy.argwhere(wrong)
    if not len(places):
        return None
    examples = []
    for place in map(tuple, places[:3]):
        of = ", ".join(str(argument[place[0]]) for argument in arguments) \
            if len(place) == 1 else str(tuple(map(int, place)))
        examples.append(f"{of}: {a[place].item()}, JAX: {b[place].item()}")
    return f"{len(places)} numbers differ, such as {'; '.join(examples)}"


def differences(functions, arguments):
    """Compiles functions together, and compares their results with those of JAX.

    Returns {name: error or None}.
    """
    def combined(*given):
        return {name: g(*given) for name, (g, _) in functions.items()}

    with jax.enable_x64(True):
        wanted = jax.jit(jax.vmap(combined))(*arguments)
        found = batch.vmap(combined)(*arguments)
    errors = {}
    for name, (_, rounded) in functions.items():
        a, b = numpy.asarray(found[name]), numpy.asarray(wanted[name])
        errors[name] = _difference(a, b, arguments, ROUNDED[b.dtype.name] if rounded else 0)
    return errors


def _compare(task):
    """Returns {check: error or None} for one form of a type."""
    what = f"{task['form']} of {task['type']}"
    try:
        errors = differences(*forms(task["type"])[task["form"]])
    except Exception as error:
        return {what: repr(error)}
    return {f"{what}: {name}": error for name, error in errors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("types", nargs="*", metavar="TYPE", help="check only these types")
    batchtest.add_draw_options(parser, "forms of types")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        warnings.filterwarnings("ignore")
        workers.serve(_compare)
        return
    checks = batchtest.Checks("edges")
    tasks = [{"type": dtype, "form": form} for dtype in options.types or TYPES
             for form in forms(dtype)]
    workers.run_checks(checks, __file__, batchtest.draw(options, tasks), SECONDS)
    checks.exit()


if __name__ == "__main__":
    main()
