"""batch.vmap within JAX: weak types, x64, transformations around it, devices, callbacks."""

import inspect
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from support.comparison import assert_same, raises

import batch

rng = numpy.random.default_rng(5)


def normal(*shape):
    return rng.normal(size=shape).astype(numpy.float32)


X = normal(3, 4)
WIDE = X.astype(numpy.float64)
CUBES = normal(3, 3, 3), normal(3, 3, 3)


# --- weak types, x64 ---------------------------------------------------------------------

@pytest.mark.parametrize("transformation", [lambda f: f, jax.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("f, argument", [
    (lambda v: 2.0, X), (lambda v: (v, 1, 1.5, True), X), (lambda v: v * 2, X),
    (lambda v: v + 1, numpy.arange(1, 300, dtype=numpy.int32))],
    ids=["constant", "several", "argument", "integers"])
def test_weak_types(f, argument, transformation):
    assert_same(transformation(batch.vmap(f))(argument), jax.vmap(f)(argument))


def test_weak_type_of_shared_number():
    def f(v, s):
        return s, v * s

    assert_same(batch.vmap(f, in_axes=(0, None))(X, 3.0),
                jax.vmap(f, in_axes=(0, None))(X, 3.0))


@pytest.mark.parametrize("f, argument", [
    (lambda v: jnp.cumsum(v * 2.0), WIDE), (lambda v: v * 2.0, X),
    (lambda v: v * 3, numpy.arange(5)), (lambda v: (1, 2.0), X),
    (lambda v: lax.fori_loop(0, 3, lambda i, s: s + i, v), WIDE)],
    ids=["float64", "float32", "integers", "constants", "loop"])
def test_x64(f, argument):
    with jax.enable_x64(True):
        assert_same(batch.vmap(f)(argument), jax.vmap(f)(argument))


def test_x64_of_ragged():
    with jax.enable_x64(True):
        rows = batch.Ragged(numpy.array([1.0, 2.0, 4.0]), [0, 1, 3])
        assert_same(batch.vmap(lambda v: v.sum() / v.shape[0])(rows), jnp.asarray([1.0, 3.0]))


def test_same_function_with_and_without_x64():
    def f(v):
        return v * 2.0

    mapped = batch.vmap(f)
    for is_wide in True, False:
        with jax.enable_x64(is_wide):
            assert_same(mapped(WIDE), jax.vmap(f)(WIDE))


# --- transformations ---------------------------------------------------------------------

def halve(v):
    return lax.while_loop(lambda s: s.sum() > 1, lambda s: s / 2, v)


@pytest.fixture
def both():
    return jnp.stack([X, X + 1])


def test_jit_outside_and_within_another_vmap(both):
    compiled = jax.jit(batch.vmap(halve))
    for _ in range(2):
        assert_same(compiled(X), jax.vmap(halve)(X))
        assert_same(batch.vmap(lambda v: compiled(v))(both), jax.vmap(jax.vmap(halve))(both))


def test_jit_within_another_vmap_first(both):
    """A function whose first call is within another batch.vmap still calls Batch elsewhere."""
    compiled = jax.jit(batch.vmap(halve))
    assert_same(batch.vmap(lambda v: compiled(v))(both), jax.vmap(jax.vmap(halve))(both))
    assert "batch_vmap" in str(jax.make_jaxpr(compiled)(X))


def test_jax_vmap_around(both):
    assert_same(jax.vmap(batch.vmap(halve))(both), jax.vmap(jax.vmap(halve))(both))


@pytest.mark.parametrize("outer, inner", [
    ((0, None), (0, 0)), ((None, 0), (0, None)), ((1, 0), (1, None)), ((2, None), (0, 0))], ids=str)
def test_jax_vmap_around_along_axes(outer, inner):
    def f(a, b):
        return a * 2 + b.sum()

    assert_same(jax.vmap(batch.vmap(f, in_axes=inner), in_axes=outer)(*CUBES),
                jax.vmap(jax.vmap(f, in_axes=inner), in_axes=outer)(*CUBES))


def test_derivative_within_another_vmap():
    assert_same(batch.vmap(jax.grad(lambda v: batch.vmap(jnp.sin)(v).sum()))(X), jnp.cos(X))


def test_bfloat16_under_jit():
    def f(v, w):
        return v * 2 + w

    half = jnp.asarray(X, jnp.bfloat16)
    axes = {"in_axes": (1, None), "out_axes": 1}
    assert_same(jax.jit(batch.vmap(f, **axes))(half, half[:, 0]),
                jax.vmap(f, **axes)(half, half[:, 0]), 1e-2)


def test_keys_under_jit():
    keys = jax.random.split(jax.random.key(3), 5)
    assert_same(jax.jit(batch.vmap(jax.random.split))(keys), jax.vmap(jax.random.split)(keys))


def test_function_is_traced_for_each_option():
    def f(x):
        return jax.random.uniform(jax.random.key(3), (5,)) + x

    mapped = batch.vmap(f)
    for partitionable in True, False, True:
        with jax.threefry_partitionable(partitionable):
            assert_same(mapped(jnp.zeros(2)), jax.vmap(f)(jnp.zeros(2)))


# --- devices, callbacks ------------------------------------------------------------------

@pytest.fixture
def sharded():
    """An array on two devices."""
    mesh = Mesh(numpy.array(jax.devices()), ("i",))
    assert mesh.size == 2
    return jax.device_put(jnp.ones((4, 2)), NamedSharding(mesh, PartitionSpec("i")))


def test_refuses_array_on_several_devices(sharded):
    with raises(ValueError, "jax.device_put") as caught:
        line = inspect.currentframe().f_lineno + 1
        batch.vmap(jnp.sin)(sharded)
    here = f"{os.path.basename(__file__)}:{line} (in test_refuses_array_on_several_devices): "
    assert here in str(caught.value)


def test_map_refuses_array_on_several_devices(sharded):
    with raises(ValueError, "one CPU device"):
        list(batch.map(jnp.sin, iter([sharded])))


def test_array_on_second_device(sharded):
    moved = jax.device_put(sharded, jax.devices()[1])
    assert batch.vmap(jnp.cos)(moved).shape == (4, 2)


def test_parameter_that_waits_for_a_callback():
    """JAX is still computing the array, and this computation calls Batch."""
    done = subprocess.run([sys.executable, "-c", """
import batch, jax, jax.numpy as jnp
g = batch.vmap(lambda w, x: x + w, in_axes=(None, 0))
called = jax.jit(lambda w, x: g(w, x)[0])
slow = jax.jit(lambda a: jax.lax.fori_loop(0, 12, lambda i, a: jnp.tanh(a @ a), a)[0, :4])
a, xs = jnp.full((900, 900), 1e-3), jnp.arange(4.0)
called(xs, xs), slow(a).block_until_ready()
for i in range(3):
    w = called(slow(a + i), xs)
    g(w, xs)
print("ended")
"""], capture_output=True, text=True, timeout=120, env={**os.environ, "XLA_FLAGS": ""})
    assert done.stdout == "ended\n", done.stderr
