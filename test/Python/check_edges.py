#!/usr/bin/env python3
"""check_edges.py [TYPE... | --minutes=N --seed=N]: operations that MLIR and LLVM leave open
for some numbers give what JAX gives, by the table of docs/ElementTypes.md: for every type, at its edge values, of
scalars and of vectors, and where an operand is a constant.

Numbers are equal to the bit, but for functions that both round. XLA's CPU makes zeros of
subnormal numbers, and Batch keeps them: here both are zero.
"""

import argparse
import os
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax import lax  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("edges")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")
warnings.filterwarnings("ignore")
jax.config.update("jax_enable_x64", True)

import batch  # noqa: E402

SIGNED = ["int%d" % n for n in (8, 16, 32, 64)]
UNSIGNED = ["uint%d" % n for n in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
TYPES = ["bool"] + SIGNED + UNSIGNED + FLOATS
EXACT, ROUNDED = 0, {"float64": 1e-10, "float32": 1e-5, "bfloat16": 1e-2, "float16": 2e-3}


def edges(dtype):
    """The edge values of a type."""
    if dtype == "bool":
        return numpy.asarray([False, True])
    if dtype in FLOATS:
        info = jnp.finfo(dtype)
        numbers = [0.0, -0.0, 0.5, 1.5, 2.5, 3.0, 1.0, 127.5, 128.0, 256.0, 65504.0,
                   2.0 ** 31, 2.0 ** 63, 2.0 ** 64, 1e20, float(info.max), float(info.tiny),
                   numpy.inf]
        numbers += [-number for number in numbers[2:]] + [numpy.nan]
        return numpy.asarray(numbers).astype(jnp.dtype(dtype))
    info = jnp.iinfo(dtype)
    numbers = {info.min, info.min + 1, 0, 1, 2, 3, 5, info.bits - 1, info.bits, info.max - 1,
               info.max}
    numbers |= {-1, -2, -3, -info.bits} if info.min else set()
    return numpy.asarray(sorted(numbers), dtype)


def constants(dtype):
    """Constants that are second operands."""
    if dtype == "bool":
        return [numpy.True_]
    if dtype in FLOATS:
        return list(numpy.asarray([0.0, -0.0, numpy.inf, numpy.nan]).astype(jnp.dtype(dtype)))
    info = jnp.iinfo(dtype)
    return list(numpy.asarray(
        [0, info.bits, info.max] + [-1, info.min] * (dtype in SIGNED), dtype))


def conversions(source):
    return {"to " + target: lambda a, target=target: a.astype(target) for target in TYPES
            if target != source}


def bits(a):
    """The bits in memory."""
    return lax.bitcast_convert_type(a, "uint%d" % (8 * a.dtype.itemsize))


def comparisons():
    return {f.__name__: f for f in (lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)}


def unary(dtype):
    if dtype == "bool":
        return {"not": jnp.logical_not}
    found = {f.__name__: f for f in (lax.sign, lax.neg) + (lax.abs,) * (dtype not in UNSIGNED)}
    found["bits"] = bits
    found.update({"power %d" % n: lambda a, n=n: lax.integer_pow(a, n) for n in (0, 2, 5)})
    if dtype in FLOATS:
        found.update({f.__name__: f for f in (
            lax.floor, lax.ceil, jnp.trunc, jnp.rint, lax.is_finite, jnp.isnan, jnp.isinf,
            jnp.signbit, jnp.nan_to_num)})
        found["round"] = lax.round
        found["integers"] = lambda a: jnp.modf(a)[1]
    else:
        found.update({f.__name__: f for f in (
            lax.population_count, lax.clz, lax.bitwise_not)})
        if jnp.iinfo(dtype).bits > 8:
            found["float of bits"] = lambda a: bits(lax.bitcast_convert_type(
                a, "float%d" % jnp.iinfo(dtype).bits))
    return found


def rounded(dtype):
    """Of one operand, functions that are rounded."""
    if dtype not in FLOATS:
        return {}
    return {f.__name__: f for f in (
        lax.sqrt, lax.rsqrt, lax.cbrt, lax.exp, lax.expm1, lax.log, lax.log1p, lax.tanh,
        lax.logistic, lax.asin, lax.acos, lax.atan, lax.erf)} | {
            "power %d" % n: lambda a, n=n: lax.integer_pow(a, n) for n in (-1, -3)}


def binary(dtype):
    found = dict(comparisons())
    if dtype == "bool":
        return found | {f.__name__: f for f in (
            lax.max, lax.min, lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor)}
    found.update({f.__name__: f for f in (
        lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, jnp.floor_divide,
        jnp.remainder, jnp.fmod)})
    found["clamp"] = lambda a, b: lax.clamp(a, b, lax.max(a, jnp.asarray(3, a.dtype)))
    found["clamp between"] = lambda a, b: lax.clamp(b, a, b)
    if dtype in FLOATS:
        found.update({f.__name__: f for f in (
            jnp.fmax, jnp.fmin, jnp.copysign, jnp.heaviside)})
        found["nextafter"] = lambda a, b: bits(lax.nextafter(a, b))
        if dtype != "bfloat16":  # of which XLA's CPU loses NaNs in rows
            found["largest"] = lambda a, b: jnp.stack([a, b]).max(0)
            found["least"] = lambda a, b: jnp.stack([a, b]).min(0)
        found["place"] = lambda a, b: jnp.stack([a, b]).argmax(0)
    else:
        found.update({f.__name__: f for f in (
            lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical,
            jnp.left_shift, jnp.right_shift)})
        # Of integers, whose negative powers JAX defines, too.
        found["power"] = lambda a, b: jnp.power(a, b)
    return found


def binary_rounded(dtype):
    if dtype not in FLOATS:
        return {}
    return {"pow": lax.pow, "atan2": lax.atan2, "hypot": jnp.hypot,
            "logaddexp": jnp.logaddexp,
            "pow of an integer": lambda a, b: lax.pow(a, jnp.nan_to_num(b).astype("int32"))}


def constant(array, value):
    """The value in the shape of an array. The barrier keeps NumPy from computing with it
    while functions are traced, and XLA's compiler, which dies of divisions by such zeros.
    Batch sees a constant."""
    return lax.optimization_barrier(jnp.full_like(array, value, value.dtype))


def everything(dtype):
    """A function of two numbers, or arrays, that gives all results by name."""
    ones = conversions(dtype) | unary(dtype)
    twos = binary(dtype)

    def f(a, b):
        return {
            "exact": {name: g(a) for name, g in ones.items()} |
                     {name: g(a, b) for name, g in twos.items()} |
                     {"%s, b is %s" % (name, c): g(a, constant(a, c))
                      for name, g in twos.items() for c in constants(dtype)},
            "rounded": {name: g(a) for name, g in rounded(dtype).items()} |
                       {name: g(a, b) for name, g in binary_rounded(dtype).items()}}
    return f


def of_constants(dtype):
    """All of constants: what is folded is what would have been computed."""
    values = [value[()] for value in edges(dtype)[::3]]

    def f(z):
        return {"exact": {
            "%s of %s" % (name, value): g(constant(z, value))
            for name, g in (conversions(dtype) | unary(dtype)).items() for value in values
        } | {"%s of %s and %s" % (name, a, b): g(constant(z, a), constant(z, b))
             for name, g in binary(dtype).items()
             for a in (values[0], values[-1]) for b in constants(dtype)}}
    return f


def normal(array):
    """Doubles, in which subnormal numbers of a type are zeros."""
    name = array.dtype.name
    if name not in FLOATS:
        return numpy.asarray(array)
    wide = numpy.asarray(array, numpy.float64)
    return numpy.where(abs(wide) < float(jnp.finfo(name).tiny), wide * 0, wide)


def difference(a, b, tolerance):
    """The places at which arrays differ."""
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return [(a.shape, a.dtype, b.shape, b.dtype)]
    x, y = normal(a), normal(b)
    if x.dtype.kind != "f":
        wrong = x != y
    else:
        both = numpy.isfinite(x) & numpy.isfinite(y)
        # Intermediate values of XLA's functions may be subnormal, too.
        least = 4 * float(jnp.finfo(b.dtype).tiny) if tolerance else 0
        near = numpy.where(both, abs(x - y) <= tolerance * abs(y) + least, x == y)
        zero = (x == 0) & (y == 0)
        near &= ~zero | (numpy.signbit(x) == numpy.signbit(y))
        wrong = ~(near | numpy.isnan(x) & numpy.isnan(y))
    return [(tuple(map(int, place)), a[tuple(place)].item(), "JAX:", b[tuple(place)].item())
            for place in numpy.argwhere(wrong)]


def compare(what, f, *arguments):
    try:
        wanted = jax.jit(jax.vmap(f))(*arguments)
        found = batch.vmap(f)(*arguments)
    except Exception as error:
        checks.expect(what, False, repr(error))
        return
    for group in wanted:
        for name in wanted[group]:
            a, b = map(numpy.asarray, (found[group][name], wanted[group][name]))
            tolerance = EXACT if group == "exact" else ROUNDED[b.dtype.name]
            wrong = difference(a, b, tolerance)
            named = ["%s: %s" % (", ".join(
                str(argument[place[0][0]]) for argument in arguments), place[1:])
                if len(place[0]) == 1 else place for place in wrong]
            checks.expect("%s: %s" % (what, name), not wrong, "%d: %s" % (len(wrong), named[:3]))


def check_numbers(dtype):
    values = edges(dtype)
    a, b = (grid.ravel() for grid in numpy.meshgrid(values, values, indexing="ij"))
    compare(dtype, everything(dtype), a, b)
    rows = numpy.resize(a, (2, a.size)), numpy.resize(b, (2, a.size))
    compare("rows of " + dtype, everything(dtype), *rows)
    compare("constants of " + dtype, of_constants(dtype), numpy.zeros(2, numpy.int32))


# --- indices ----------------------------------------------------------------------------


def indexed(v, i):
    row = v[1]
    outside = {mode: v.at[i].get(mode=mode, fill_value=7) for mode in ("clip", "fill")}
    return {"exact": outside | {
        "as they are": v[i], "dynamic_slice": lax.dynamic_slice(v, (i, i), (2, 3)),
        "dynamic_index": lax.dynamic_index_in_dim(row, i, keepdims=False),
        "update": lax.dynamic_update_slice(v, row[None, :2], (i, i)),
        "take": jnp.take(v, i, axis=1), "switch": lax.switch(
            jnp.clip(i, -5, 5).astype("int32"), [lambda: 0, lambda: 1, lambda: 2])} | {
        "%s, %s" % (name, mode): getattr(v.at[i], name)(row, mode=mode)
        for name in ("set", "add") for mode in ("clip", "drop")}}


def of_constant_index(value):
    return lambda v: indexed(v, constant(v[0, 0].astype("int32"), value))


def check_indices(dtype):
    values = edges(dtype)
    table = numpy.arange(12.0, dtype=numpy.float32).reshape(3, 4) + values.size
    compare("an index of " + dtype, indexed, numpy.stack([table] * values.size), values)
    for value in values[[0, -1]]:
        compare("index %s of %s" % (value, dtype), of_constant_index(value), table[None])


parser = argparse.ArgumentParser()
parser.add_argument("types", nargs="*", metavar="TYPE", help="check only these types")
batchtest.add_draw_options(parser, "types")
options = parser.parse_args()
for dtype in batchtest.draw(options, options.types or TYPES):
    check_numbers(dtype)
    if dtype in SIGNED + UNSIGNED:
        check_indices(dtype)
checks.exit()
