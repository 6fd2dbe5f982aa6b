"""Repeated calls of batch.vmap: cached calls serve only arguments of the same kinds."""

import concurrent.futures
import contextlib
import json

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from numpy import array_equal
from support.comparison import assert_same, raises
from support.vmap import assert_calls

import batch
from batch.transforms import arrays

NUMBERS = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
MATRIX = jnp.asarray(NUMBERS)


def grow(x, y):
    """Runs a loop, so that the compiled program has work to do."""
    return lax.while_loop(lambda s: (s[0] < 100).all(), lambda s: (s[0] * 2 + 1, s[1] + y),
                          (x, y))


@contextlib.contextmanager
def jax_option(name, value):
    """Context that sets a JAX option for all threads."""
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    try:
        yield
    finally:
        jax.config.update(name, before)


# --- kinds of arguments -----------------------------------------------------------------

def kinds_of_arguments():
    """Returns pairs (x, y) for grow(), with several types, strides and sizes."""
    x = NUMBERS
    y = x[:, 0]
    return [
        (x, y + 1),
        (jnp.asarray(x) + 1, jnp.asarray(y)),
        (x.astype(numpy.int32) + 1, numpy.arange(3, dtype=numpy.int32)),
        (jnp.asarray(x, jnp.int32) + 1, jnp.arange(3)),
        (x.astype(numpy.uint32) + 1, numpy.arange(3, dtype=numpy.uint32)),
        (x.astype(numpy.float16) + 1, numpy.ones(3, numpy.float16)),
        (jnp.asarray(x, jnp.bfloat16) + 1, jnp.ones(3, jnp.bfloat16)),
        (x.astype(float) + 1, numpy.ones(3)),  # converted to float32
        (x.T[:3, :], y + 1),
        (x[::-1], y[::-1] + 1),
        (x, jnp.ones(3)),
        (numpy.tile(x, (5, 1)), jnp.ones(15)),
        (x[:1], jnp.ones(1)),
        (x[:0], jnp.ones(0)),
        (x[:, :2] + 1, jnp.ones(3)),
    ]


def test_quick_put():
    """The installed version of JAX has batched_device_put(), which creates arrays quickly."""
    assert arrays.quick_put()


def test_kinds_of_arguments_in_turn():
    mapped = batch.vmap(grow)
    for _ in range(2):
        for x, y in kinds_of_arguments():
            assert_calls(mapped, grow, x, y)


@pytest.mark.parametrize("dtype, is_quick", [("float32", True), ("bfloat16", False)])
def test_native_call(dtype, is_quick):
    """The runtime reads and returns float32, but not bfloat16, without Python code."""
    mapped = batch.vmap(grow)
    mapped(jnp.asarray(NUMBERS, dtype), jnp.ones(3, dtype))
    (call,) = mapped.calls.values()
    assert bool(call.quick) == is_quick


def test_inconsistent_sizes_after_a_valid_call():
    mapped = batch.vmap(grow)
    assert_calls(mapped, grow, NUMBERS, jnp.ones(3))
    with raises(ValueError, "inconsistent sizes"):
        mapped(NUMBERS, jnp.ones(4))


def test_other_byte_order_after_a_valid_call():
    mapped = batch.vmap(grow)
    assert_calls(mapped, grow, NUMBERS, numpy.ones(3, numpy.float32))
    with pytest.raises(TypeError):
        mapped(NUMBERS.astype(">f4"), numpy.ones(3, ">f4"))


def test_other_number_of_arguments_after_a_valid_call():
    mapped = batch.vmap(grow)
    assert_calls(mapped, grow, NUMBERS, jnp.ones(3))
    with pytest.raises(TypeError):
        mapped(NUMBERS)


def test_weak_types_in_turn():
    def add(a, b):
        return a + b

    weak = jax.vmap(lambda _: 2.0)(NUMBERS)
    assert jax.typeof(weak).weak_type
    half = jnp.ones(3, jnp.float16)
    mapped = batch.vmap(add)
    for _ in range(2):
        assert_calls(mapped, add, half, weak)
        assert_calls(mapped, add, half, weak.astype(jnp.float32))
        assert_calls(mapped, add, weak, weak)


def test_enable_x64_in_turn():
    """The results depend on the option even if the arguments stay the same."""
    def f(v):
        return jnp.cumsum(v * jnp.array([1 / 3, 1]))

    x = numpy.linspace(1, 2, 3)
    mapped = batch.vmap(f)
    for dtype in ("float32", "float64") * 2:
        with jax_option("jax_enable_x64", dtype == "float64"):
            assert_calls(mapped, f, x)
            assert mapped(x).dtype == dtype


def test_threefry_partitionable_in_turn():
    def draw(words):
        return jax.random.uniform(jax.random.wrap_key_data(words), (3,))

    words = numpy.arange(6, dtype=numpy.uint32).reshape(3, 2)
    mapped = batch.vmap(draw)
    for is_partitionable in True, False:
        with jax.threefry_partitionable(is_partitionable):
            assert_calls(mapped, draw, words)


def test_random_seed_offset_in_turn():
    def f(v):
        return v + jax.random.uniform(jax.random.key(0))

    mapped = batch.vmap(f)
    assert_calls(mapped, f, NUMBERS[:, 0])
    with jax_option("jax_random_seed_offset", 5):
        assert_calls(mapped, f, NUMBERS[:, 0])


def test_keys():
    keys = jax.random.split(jax.random.key(3), 5)
    assert_calls(batch.vmap(jax.random.split), jax.random.split, keys)


def test_words_of_keys():
    """The function's arguments are the words of keys, which are ordinary numbers."""
    def add_one(words):
        return words + 1

    keys = jax.random.split(jax.random.key(3), 5)
    assert_calls(batch.vmap(add_one), add_one, jax.random.key_data(keys))


@pytest.fixture
def columns():
    return [MATRIX[:, i] + i for i in range(3)]


def test_trees_in_turn(columns):
    """The calls pass the same leaves in trees of different structures."""
    def total(tree):
        return (jax.tree.reduce(lambda a, b: a * 2 + b, tree),
                jax.tree.map(lambda a: a - 1, tree))

    a, b, c = columns
    mapped = batch.vmap(total)
    for _ in range(2):
        for tree in ((a, b, c), ((a, b), c), [a, b, c], {"z": a, "y": b, "x": c},
                     (a, None, b)):
            assert_calls(mapped, total, tree)


def test_keyword_arguments_in_turn(columns):
    a, b, c = columns
    mapped = batch.vmap(lambda p, q, r=2.0: p - r * q)
    for _ in range(2):
        assert array_equal(mapped(p=a, q=b), a - 2 * b)
        assert array_equal(mapped(q=a, p=b), b - 2 * a)
        assert array_equal(mapped(a, b), a - 2 * b)
        assert array_equal(mapped(a, q=b), a - 2 * b)
        assert array_equal(mapped(a, r=b, q=c), a - b * c)
        assert array_equal(mapped(a, b, c), a - b * c)
        assert array_equal(mapped(c, q=a, r=b), c - a * b)


@pytest.mark.parametrize("options, shape", [
    ({"in_axes": 1}, (2, 4)), ({"in_axes": (-1, 0)}, (4,)), ({"in_axes": (1, None)}, (4, 2)),
    ({"out_axes": 1}, (3, 2)), ({"out_axes": -1}, (3, 2)), ({"out_axes": (1, 0)}, (3, 2)),
], ids=["in_axes=1", "in_axes=(-1, 0)", "in_axes=(1, None)", "out_axes=1", "out_axes=-1",
        "out_axes=(1, 0)"])
def test_axes(options, shape):
    def f(p, q):
        return p + q.sum(), p * 2

    assert_calls(batch.vmap(f, **options), f, MATRIX, numpy.ones(shape, numpy.float32),
                 **options)


def test_axes_are_copied():
    axes = [1, {"k": 0}]
    mapped = batch.vmap(lambda p, t: p + t["k"], in_axes=axes)
    before = mapped(MATRIX, {"k": jnp.arange(4.0)})
    axes[1]["k"] = None
    assert array_equal(mapped(MATRIX, {"k": jnp.arange(4.0)}), before)
    assert array_equal(mapped(MATRIX[:2], {"k": jnp.arange(4.0)}), before[:, :2])


# --- unmapped arrays --------------------------------------------------------------------

def test_bound_array_that_changes_in_a_closure():
    memory = numpy.ones(4, numpy.float32)
    bound = batch.bind(memory)
    mapped = batch.vmap(lambda v: v * jnp.asarray(bound))
    for factor in 2, 3, 4:
        memory[:] = factor
        bound.update()
        for _ in range(2):
            assert array_equal(mapped(MATRIX), MATRIX * factor)


def test_unmapped_arrays_in_turn():
    """The arguments are a bound array and a NumPy array, which both change, and new JAX arrays."""
    memory = numpy.ones(4, numpy.float32)
    bound = batch.bind(memory)
    mapped = batch.vmap(lambda v, w: v * w, in_axes=(0, None))
    for factor in 2, 3, 4:
        memory[:] = factor
        bound.update()
        for array in bound, bound, memory, jnp.full(4, float(factor)):
            assert array_equal(mapped(MATRIX, array), MATRIX * factor)
    other = batch.bind(numpy.full(4, 7, numpy.float32))
    assert array_equal(mapped(MATRIX, other), MATRIX * 7)
    assert array_equal(mapped(MATRIX, bound), MATRIX * 4)


def test_bound_array_of_another_shape():
    mapped = batch.vmap(lambda v, w: v * w, in_axes=(0, None))
    mapped(MATRIX, batch.bind(numpy.ones(4, numpy.float32)))
    wrong = batch.bind(numpy.ones(5, numpy.float32))
    with pytest.raises((TypeError, ValueError)):
        mapped(MATRIX, wrong)


# --- errors of cached calls, limits -----------------------------------------------------

def test_error_of_a_native_call_names_a_line():
    mapped = batch.vmap(lambda x: lax.while_loop(lambda x: x > 0, lambda x: x - 1, x))
    mapped(jnp.ones(3))
    (call,) = mapped.calls.values()
    assert call.quick

    def fail(*_):
        raise batch.Error("it failed in the loop at jaxpr:1")

    call.quick = fail
    with raises(batch.Error, "test_calls.py:"):
        mapped(jnp.ones(3))


def test_number_of_cached_calls():
    def increment(v):
        return v + 1

    mapped = batch.vmap(increment)
    for size in range(1, 400):
        mapped(numpy.zeros(size, numpy.float32))
    assert len(mapped.calls) <= 256
    assert_calls(mapped, increment, numpy.zeros(1, numpy.float32))


# --- threads, workers -------------------------------------------------------------------

def test_threads():
    """Several threads call a function with arguments of several kinds at the same time."""
    kinds = kinds_of_arguments()[:6]
    mapped = batch.vmap(grow)
    wanted = [jax.vmap(grow)(x, y) for x, y in kinds]
    for x, y in kinds:
        mapped(x, y)

    def call(seed):
        for i in range(seed, seed + 60):
            assert_same(mapped(*kinds[i % 6]), wanted[i % 6])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(call, range(4)))


def test_workers_and_single_instances_in_turn():
    """Calls with one instance, which wake no other worker, and with three instances take turns."""
    mapped = batch.vmap(grow, threads=2)
    for x, y in ((NUMBERS[:1], NUMBERS[:1, 0]), (NUMBERS, NUMBERS[:, 0]),
                 (NUMBERS[:1] + 3, NUMBERS[:1, 0])):
        assert_calls(mapped, grow, x + 1, y)


@pytest.mark.parametrize("options, capacity", [((), 0), (("--level=device",), 64)],
                         ids=["default", "device"])
def test_number_of_instances_that_share_units(options, capacity):
    mapped = batch.vmap(grow, threads=2)
    mapped(NUMBERS + 1, NUMBERS[:, 0])
    ((compiled, _),) = mapped.known.values()
    model = batch.compile(compiled.text, options=options)
    assert json.loads(model._model.descriptor)["replicate"]["capacity"] == capacity
