"""Changes to the arguments of a call: user mistakes, and worse.

Each function except numbers() returns a new value and a description of the change.
"""

import jax
import jax.numpy as jnp
import numpy

import batch


class Lied(Exception):
    """Exception that arguments raise."""


class Liar:
    """An array or a list whose methods raise exceptions or return nonsense."""

    def __init__(self, **answers):
        self.answers = answers

    def _answer(self, name):
        answer = self.answers.get(name, Lied)
        if answer is Lied:
            raise Lied(name)
        return answer

    def __len__(self):
        return self._answer("len")

    def __getitem__(self, place):
        answer = self._answer("getitem")
        return answer[place] if isinstance(answer, (list, tuple)) else answer

    def __iter__(self):
        return self._answer("iter")


class Capsule(Liar):
    """A DLPack array whose methods raise exceptions or return nonsense."""

    @property
    def shape(self):
        return self._answer("shape")

    @property
    def dtype(self):
        return self._answer("dtype")

    def __dlpack__(self, **_):
        return self._answer("dlpack")

    def __dlpack_device__(self):
        return self._answer("device")


class Interface(Liar):
    """An array whose __array_interface__ raises an exception or returns nonsense."""

    @property
    def __array_interface__(self):
        return self._answer("interface")


def _raises_after(values):
    yield from values
    raise Lied("iter")


_HELD = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)


def _consumed():
    capsule = _HELD.__dlpack__()
    numpy.from_dlpack(Capsule(dlpack=capsule, device=(1, 0)))
    return capsule


def objects(rng):
    """Returns an object that is not a valid argument of any function, and its description."""
    cell = []
    cell.append(cell)
    table = {}
    table["self"] = table
    return rng.choice([
        lambda: (None, "None"), lambda: ("text", "a text"), lambda: (b"\0\1", "bytes"),
        lambda: (object(), "an object"), lambda: (int, "a type"),
        lambda: (Lied(), "an error"),
        lambda: (lambda *_: None, "a function"), lambda: (1j, "a complex number"),
        lambda: ([], "[]"), lambda: ((), "()"), lambda: ({}, "{}"), lambda: (..., "..."),
        lambda: (slice(3), "a slice"), lambda: ({1, 2}, "a set"),
        lambda: (range(3), "a range"),
        lambda: (cell, "a list in itself"), lambda: (table, "a dictionary in itself"),
        lambda: ([[[[1.0]]]], "lists of lists"),
        lambda: ([1, [2, 3]], "lists of two depths"),
        lambda: ([None, 3], "a list with None"), lambda: (["a", "b"], "a list of texts"),
        lambda: (jax.random.key(0), "a key"), lambda: (numpy, "a module"),
        lambda: (_raises_after([1.0, 2.0]), "a generator that raises"),
        lambda: (iter([1.0, 2.0]), "an iterator"),
        lambda: (Liar(), "an object whose length raises"),
        lambda: (Liar(len=rng.choice([-1, 2 ** 62, 2, "three", None, 1.5])),
                 "a false length"),
        lambda: (Liar(len=2, getitem=rng.choice([None, [1.0], "ab", [[1], [2]]]),
                      iter=rng.choice([Lied, None, 3, _raises_after([1])])),
                 "a false list"),
        lambda: (Capsule(), "a DLPack array that raises"),
        lambda: (Capsule(len=2, dlpack=rng.choice([None, 3, "x", object()]), device=(1, 0)),
                 "no capsule"),
        lambda: (Capsule(len=2, dlpack=_consumed(), device=(1, 0)), "a used capsule"),
        lambda: (Capsule(len=rng.choice([2, 5, -3]), dtype=_HELD.dtype,
                         shape=rng.choice([(9, 9), (), None, "s"]),
                         dlpack=_HELD.__dlpack__(), device=(1, 0)),
                 "a DLPack array with a false shape"),
        lambda: (Capsule(len=2, dlpack=_HELD.__dlpack__(), device=rng.choice(
            [(2, 0), (99, 99), None, "cpu", (1, 5)])), "a DLPack array that is elsewhere"),
        lambda: (Interface(len=2, interface=rng.choice([None, 3, {}, {
            "version": 3, "shape": (2, -3), "typestr": "<f4",
            "data": (_HELD.ctypes.data, True)},
            {"version": 3, "shape": (2, 3), "typestr": "?!", "data": None}])),
         "a false array interface")])()


def numbers(rng, value):
    """Returns a number or a similar object. Unlike the other functions, returns no description."""
    return rng.choice([
        0, -1, 1, 2, 7, -2 ** 31, 2 ** 31 - 1, 2 ** 31, 2 ** 63 - 1, -2 ** 63, 2 ** 64,
        10 ** 30, 0.5, -0.0, 1e300, float("nan"), float("inf"), float("-inf"), True,
        numpy.int8(-3), numpy.float64(2), numpy.uint64(7), numpy.array(3),
        jnp.float32(2), "3", type(value)])


def arrays(rng, value):
    """Changes an array."""
    value = numpy.asarray(value)

    def reshaped():
        return rng.choice([
            lambda: value[None], lambda: value[..., None], lambda: value.ravel(),
            lambda: value[:-1], lambda: value[1:], lambda: value[:0],
            lambda: value[..., :0],
            lambda: value[0], lambda: value.T, lambda: numpy.concatenate([value, value]),
            lambda: value.reshape((1,) * 20 + value.shape),
            lambda: numpy.zeros((0,) * value.ndim, value.dtype)])(), "another shape"

    def typed():
        name = rng.choice([
            "float16", "float64", "int8", "int64", "uint8", "uint32", "uint64", "bool",
            "complex64", "object", "U3", "S2", "M8[s]", ">f4", ">i8", "longdouble", "V5"])
        return value.astype(name), "elements of type " + name

    def view():
        return rng.choice([
            lambda: numpy.repeat(value, 2, -1)[..., ::2], lambda: value[::-1],
            lambda: numpy.asfortranarray(value), lambda: numpy.broadcast_to(
                value[:1], value.shape), lambda: numpy.broadcast_to(
                value.dtype.type(1), value.shape),
            # unaligned elements
            lambda: numpy.ndarray(value.shape, value.dtype, b"\0" + value.tobytes(),
                                  offset=1)])(), "a view"

    def read_only():
        copy = value.copy()
        copy.flags.writeable = False
        return copy, "read-only"

    def filled():
        copy = value.copy()
        if copy.dtype.kind == "f":
            copy[...] = rng.choice([numpy.nan, numpy.inf, -numpy.inf, 1e38, -0.0, 1e-45])
        elif copy.dtype.kind in "iu":
            limits = numpy.iinfo(copy.dtype)
            copy[...] = rng.choice([limits.min, limits.max, 0, 99, 1])
        return copy, "other elements"

    def some():
        copy = value.copy()
        flat = copy.reshape(-1)
        if flat.size and copy.dtype.kind in "fiu":
            with numpy.errstate(all="ignore"):
                flat[rng.randrange(flat.size)] = rng.choice([-1, 100, 2 ** 31 - 1, 1]) \
                    if copy.dtype.itemsize >= 4 else 1
        return copy, "another element"

    def structured():
        return numpy.zeros(value.shape, [("a", "f4"), ("b", "i4")]), "a structured array"

    def deleted():
        array = jnp.asarray(value)
        array.delete()
        return array, "a deleted array of JAX"

    def of_jax():
        return rng.choice([jnp.asarray, lambda v: jnp.asarray(v, jnp.bfloat16),
                           lambda v: jnp.asarray(v).astype(jnp.float16)])(value), "JAX"

    def huge():
        extent = rng.choice(
            [2 ** 20, 2 ** 40, 2 ** 60 // max(1, value.size * value.itemsize)])
        return numpy.broadcast_to(value[:1], (extent,) + value.shape[1:]), "a huge view"

    def others():
        return rng.choice([
            lambda: (memoryview(value), "a memory view"), lambda: (value.tolist(), "lists"),
            lambda: (list(value), "a list of arrays"), lambda: (tuple(value), "a tuple"),
            lambda: (numpy.ma.masked_array(value, value == value), "a masked array"),
            lambda: (bytearray(value.tobytes()), "a byte array"),
            lambda: (value.astype(object).tolist() + [None], "lists with None"),
            lambda: (numpy.matrix(value.reshape(len(value), -1)), "a matrix"),
            lambda: (batch.Ragged(value, [0, 1, len(value)]), "a Ragged"),
            lambda: ((v for v in value), "a generator"),
            lambda: (_raises_after(value), "a generator that raises")])()

    return rng.choice([
        reshaped, reshaped, typed, typed, view, view, read_only, filled, filled, some,
        structured, deleted, of_jax, huge, others, others])()


def offsets(rng, value):
    """Changes the offsets of a Ragged."""
    value = numpy.array(value)
    changed = value.copy()
    if rng.random() < 0.7 and changed.size:
        changed[rng.randrange(changed.size)] = rng.choice(
            [-1, 0, 1, 10 ** 6, 2 ** 62, -2 ** 62])
        return changed, "a false offset"
    return rng.choice([
        lambda: (value[::-1], "offsets that decrease"), lambda: (value[:0], "no offsets"),
        lambda: (value[:1], "one offset"), lambda: (value + 1, "offsets from 1"),
        lambda: (value[None], "offsets in a matrix"),
        lambda: (value.astype(float), "floats"), lambda: (numpy.array(3), "a number"),
        lambda: (list(value) + [None], "None at the end"),
        lambda: objects(rng)])()


def change(rng, value, where=""):
    """Changes a tree of arbitrary objects at one place."""
    inner = where.count("[") < 6 and rng.random() < 0.75
    if isinstance(value, batch.Ragged):
        which = rng.random()
        made = batch.Ragged(value.values, value.offsets)
        if which < 0.5:
            made.values, text = arrays(rng, value.values)
        elif which < 0.8:  # through the constructor, as users do
            new, text = offsets(rng, value.offsets)
            made = batch.Ragged(value.values, new)
        else:  # without the checks of the class
            made.offsets, text = offsets(rng, value.offsets)
        return made, f"{where}: a Ragged of {text}"
    if isinstance(value, (list, tuple)) and value and inner:
        place = rng.randrange(len(value))
        parts = list(value)
        parts[place], text = change(rng, parts[place], f"{where}[{place}]")
        return type(value)(parts) if type(value) in (list, tuple) else parts, text
    if isinstance(value, (list, tuple)) and value and rng.random() < 0.5:
        return rng.choice([
            lambda: (type(value)(list(value)[:-1]), where + ": one fewer"),
            lambda: (type(value)(list(value) * 2), where + ": twice as many"),
            lambda: (type(value)([value] * 2), where + ": a level more"),
            lambda: (type(value)(list(value)[::-1]), where + ": backwards")])()
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value, key=str))
        parts = dict(value)
        if inner:
            parts[key], text = change(rng, value[key], f"{where}[{key!r}]")
            return parts, text
        return rng.choice([
            lambda: ({k: v for k, v in value.items() if k != key},
                     f"{where} without {key!r}"),
            lambda: (dict(value, other=1), where + " with a name that is not there"),
            lambda: ({k + "_" if k == key else k: v for k, v in value.items()},
                     f"{where} with {key!r} renamed")])()
    if isinstance(value, (numpy.ndarray, jax.Array)) and rng.random() < 0.85:
        new, text = arrays(rng, value)
    elif isinstance(value, (int, float)) and rng.random() < 0.7:
        new = numbers(rng, value)
        text = repr(new)[:40]
    else:
        new, text = objects(rng)
    return new, f"{where}: {text}"
