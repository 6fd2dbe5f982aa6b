"""Types of numbers and tensors in fields, and their limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.comparison import raises

import batch


@batch.adt
class Typed:
    class One:
        a: bool
        b: np.int8
        c: np.int16
        d: "np.int32"
        e: np.uint8
        f: np.uint16
        g: np.uint32
        h: np.float16
        i: jnp.bfloat16
        j: float
        k: batch.tensor(2, dtype="bfloat16")
        m: batch.tensor(2, 2, dtype=np.uint32)
        n: "list[batch.tensor(2)]"
        o: "list[bool]"


@batch.function
def fields(one: Typed):
    match one:
        case Typed.One(a, b, c, d, e, f, g, h, i, j, k, m, n, o):
            return (a, b, c, d, e, f, g, h, i, j, k, m, n.sum(lambda row: row),
                    o.fold(lambda count, is_so: count + is_so, jnp.int32(0)))


fields_of = batch.vmap(fields)
TYPES = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16",
         jax.dtypes.canonicalize_dtype(float).name]  # JAX's type for float
NUMBERS = [True, -128, 2 ** 15 - 1, -2 ** 31, 255, 2 ** 16 - 1, 2 ** 32 - 1, 1 / 3, 1 / 3, 1e39]
MATRIX = np.array([[1, 2], [3, 2 ** 32 - 1]], np.uint32)


def vector():
    return jnp.array([0.5, 1 / 3], jnp.bfloat16)


def jax_numbers():
    return [jnp.asarray(np.asarray(n).astype(t)) for n, t in zip(NUMBERS, TYPES)]


def of_python():
    return [*NUMBERS, vector(), MATRIX,
            [[1, 2], np.float32([3, 4]), np.float32([5.0, 6.0])], [True, False]]


def of_numpy():
    numbers = [np.asarray(n).astype(t if t != "bfloat16" else "float32")[()]
               for n, t in zip(NUMBERS, TYPES)]
    return [*numbers, vector(), MATRIX[::-1][::-1],
            np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([True, False])]


def of_jax():
    return [*jax_numbers(), vector(), jnp.asarray(MATRIX),
            jnp.float32([[1, 2], [3, 4], [5, 6]]), [True, False]]


@pytest.mark.parametrize("values", [of_python, of_numpy, of_jax])
def test_types(values):
    with np.errstate(over="ignore"):
        found = fields_of([Typed.One(*values())])
        wanted = jax_numbers()
    assert [(v.dtype.name, float(v[0])) for v in found[:10]] == \
        [(v.dtype.name, float(v)) for v in wanted]
    assert found[10][0].tolist() == vector().tolist()
    assert found[11][0].tolist() == MATRIX.tolist()
    assert found[12].tolist() == [[9, 12]]
    assert found[13].tolist() == [1]


@pytest.mark.parametrize("field, number, text", [
    ("b", 128, ".b: expected int8 from -128 to 127, got 128"),
    ("b", -129, "got -129"),
    ("g", 2 ** 32, ".g: expected uint32 from 0 to 4294967295, got 4294967296"),
    ("a", 1, ".a: expected bool, got 1"),
    ("f", -1, ".f: expected uint16 from 0 to 65535, got -1"),
], ids=["int8_too_large", "int8_too_small", "uint32_too_large", "bool", "uint16_negative"])
def test_invalid_number(field, number, text):
    values = of_python()
    values["abcdefghij".index(field)] = number
    with np.errstate(over="ignore"), raises((TypeError, ValueError), text):
        fields_of([Typed.One(*values)])
