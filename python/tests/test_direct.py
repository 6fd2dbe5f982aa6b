"""Repeated calls of batch.vmap with JAX arrays are dispatched by JAX, outside of jax.jit."""

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from support.comparison import assert_same, raises
from support.vmap import assert_equal_bits

import batch
from batch.transforms import xla
from batch.transforms.compiled import Compiled

pytestmark = pytest.mark.skipif(not xla.is_available(), reason="BATCH_XLA_FFI is 0")

X = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)
W = jnp.linspace(-1, 1, 16).reshape(4, 4)


def layer(x, w):
    return jnp.tanh(w @ x)


@pytest.fixture
def python_runs(monkeypatch):
    """A list that grows with each run that Python starts."""
    runs = []
    for name in "run", "quick":
        original = getattr(Compiled, name)
        monkeypatch.setattr(Compiled, name, lambda *arguments, original=original, name=name:
                            runs.append(name) if name == "quick" else
                            (runs.append(name), original(*arguments))[1])
    return runs


def assert_third_call_is_direct(python_runs, mapped, *arguments):
    first, second = (mapped(*arguments) for _ in range(2))
    before = len(python_runs)
    for _ in range(2):
        assert_equal_bits(mapped(*arguments), first)
    assert_equal_bits(second, first)
    assert len(python_runs) == before


@pytest.mark.parametrize("f, arguments, axes", [
    (jnp.sin, (X,), 0), (jnp.cos, (numpy.asarray(X),), 0),
    (lambda x, y: {"sum": x + y, "rest": (x, y * 2)}, (X, X), 0),
    (lambda tree: tree["a"] + tree["b"], ({"a": X, "b": X},), 0),
    (layer, (X, W), (0, None)), (layer, (X, batch.bind(W)), (0, None)),
    (lambda x: x.astype(jnp.bfloat16), (X,), 1), (lambda x: (x, x[:0]), (X,), 0),
    (lambda x, n: lax.fori_loop(0, n, lambda _, x: x * 2, x), (X, jnp.arange(3)), 0),
    (lambda w: w * 2, (W,), None)],
    ids=["one", "numpy", "several", "dictionary", "parameter", "bound", "bfloat16", "empty", "loop",
         "none"])
def test_third_call_is_direct(python_runs, f, arguments, axes):
    mapped = batch.vmap(f, in_axes=axes, axis_size=3 if axes is None else None)
    assert_third_call_is_direct(python_runs, mapped, *arguments)


def test_out_axes(python_runs):
    mapped = batch.vmap(lambda x: (x, x.sum(), 2.0), out_axes=(1, 0, None))
    assert_third_call_is_direct(python_runs, mapped, X)


def test_large_numpy_arrays_are_read_in_place(python_runs):
    mapped, large = batch.vmap(jnp.sin), numpy.zeros((3, 10000), numpy.float32)
    for _ in range(4):
        mapped(large)
    assert python_runs.count("run") == 4


def test_other_types_after_direct_calls():
    mapped = batch.vmap(lambda x: x * 2)
    for x in [X] * 3 + [X.astype(jnp.int32), X.astype(jnp.bfloat16), numpy.asarray(X), X]:
        assert_same(mapped(x), jax.vmap(lambda x: x * 2)(x))
    with pytest.raises(TypeError):
        mapped("text")


def test_changing_parameters():
    mapped, bound = batch.vmap(layer, in_axes=(0, None)), batch.bind(W)
    for factor in range(12):
        bound.update(W * factor)
        for w in W * factor, bound, numpy.asarray(W * factor), W:
            value = w.value if w is bound else w
            assert_same(mapped(X, w), jax.vmap(layer, in_axes=(0, None))(X, jnp.asarray(value)))


def test_updates_of_a_closed_over_array():
    bound = batch.bind(W)
    mapped = batch.vmap(lambda x: layer(x, jnp.asarray(bound)))
    for factor in range(5):
        bound.update(W * factor)
        assert_same(mapped(X), jax.vmap(layer, in_axes=(0, None))(X, W * factor))


# --- errors, options ---------------------------------------------------------------------

@batch.function
def countdown(n) -> int:
    return lax.cond(n < 1, lambda: 0, lambda: 1 + countdown(n - 1))


def test_error_of_a_direct_call():
    mapped = batch.vmap(countdown)
    for _ in range(3):
        mapped(jnp.array([3, 10]))
    for _ in range(2):
        with raises(batch.Error, "instance 1: the recursion is deeper than 64 calls"):
            mapped(jnp.array([3, 100]))
        assert mapped(jnp.array([3, 10])).tolist() == [3, 10]


def test_error_before_the_argument_is_known():
    """The argument is still computed when the call begins. The error is one of the call."""
    mapped = batch.vmap(countdown)
    slow = jax.jit(lambda a: lax.fori_loop(0, 50, lambda _, a: jnp.tanh(a @ a), a)[0, :2])
    matrix = jnp.full((300, 300), 1e-3)
    for _ in range(3):
        mapped(jnp.array([3, 10]))
    with raises(batch.Error, "the recursion is deeper than 64 calls"):
        mapped((slow(matrix) * 0).astype(jnp.int32) + 100)


def test_deleted_array():
    mapped = batch.vmap(jnp.sin)
    for _ in range(3):
        mapped(X)
    deleted = X + 0
    deleted.delete()
    with raises(RuntimeError, "has been deleted"):
        mapped(deleted)


def test_debug_nans():
    mapped = batch.vmap(jnp.log)
    for _ in range(3):
        mapped(-X)
    with jax.debug_nans(True), raises(FloatingPointError, "in result 0 of instance 0"):
        mapped(-X - 1)


def test_options_that_jit_does_not_know():
    def f(x):
        return x + jax.random.gumbel(jax.random.key(3))

    mapped, name = batch.vmap(f), "jax_high_dynamic_range_gumbel"
    before = getattr(jax.config, name)
    try:
        for value in before, not before, before:
            jax.config.update(name, value)
            wanted = jnp.asarray([f(x) for x in X])
            for _ in range(4):
                assert_same(mapped(X), wanted)
    finally:
        jax.config.update(name, before)


def test_within_traces():
    mapped = batch.vmap(lambda x: x * 2)
    for _ in range(3):
        mapped(X)

    def f(x):
        # X has a value at trace time, and so has the result.
        return x if numpy.asarray(mapped(X))[0, 0] > 1 else mapped(x)

    assert_same(jax.jit(f)(X), X * 2)
    assert_same(batch.vmap(lambda x: x + mapped(X).sum())(X), X + X.sum() * 2)


# --- devices -----------------------------------------------------------------------------

@pytest.fixture
def double():
    """A mapped function whose calls are direct."""
    mapped = batch.vmap(lambda x: x * 2)
    for _ in range(3):
        mapped(X)
    return mapped


def test_other_device(double):
    first, second = jax.devices()[:2]
    for device in first, second, first:
        found = double(jax.device_put(X, device))
        assert (found.devices(), found.committed) == ({first}, False)
        assert_equal_bits(found, X * 2)


def test_default_device(double):
    second = jax.devices()[1]
    with jax.default_device(second):
        assert double(X).devices() == {second}
    assert double(X).devices() == {jax.devices()[0]}


def test_several_devices(double):
    mesh = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Auto,))
    sharded = jax.device_put(X[:, :2], NamedSharding(mesh, PartitionSpec(None, "d")))
    for _ in range(3):
        double(X[:, :2])
    with raises(ValueError, "move it to one CPU device with jax.device_put"):
        double(sharded)
    with jax.set_mesh(mesh):
        assert_same(double(X), X * 2)
