"""Calls of batch.vmap with other JAX features: devices, transformations, memory of arrays."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from numpy import array_equal
from support.comparison import raises
from support.vmap import assert_calls

import batch
from batch.transforms import arrays
from batch.transforms import call as calls

ROWS = jnp.asarray(numpy.arange(8, dtype=numpy.float32).reshape(4, 2))


def twice(x):
    return x * 2


@pytest.fixture
def double():
    """A mapped function that has been called."""
    mapped = batch.vmap(twice)
    for _ in range(2):
        mapped(ROWS)
    return mapped


# --- devices and meshes -----------------------------------------------------------------

@pytest.fixture
def mesh():
    return jax.make_mesh((2,), ("a",))


def test_array_on_two_devices_after_one(mesh):
    # Axes of `mesh` are part of an array's type, but axes of `automatic` are not.
    automatic = jax.make_mesh((2,), ("a",), axis_types=(AxisType.Auto,))
    sharded = [jax.device_put(ROWS, NamedSharding(over, PartitionSpec("a")))
               for over in (mesh, automatic)]
    mapped = batch.vmap(twice)
    for _ in range(2):
        assert_calls(mapped, twice, ROWS)
        for array in sharded:
            with raises(ValueError, "test_calls_and_jax.py:"):
                mapped(array)


def test_array_on_another_cpu_device(double):
    """Arrays on any CPU device are accepted.

    Arrays on other devices are rejected, but testing that requires a GPU.
    """
    before = len(double.calls)
    assert array_equal(double(jax.device_put(ROWS, jax.devices()[1])), ROWS * 2)
    assert len(double.calls) == before + 1


def test_results_on_the_default_device(double):
    first, second = jax.devices()[:2]
    with jax.default_device(second):
        found = double(ROWS)
    assert (found.devices(), found.committed) == ({second}, False)
    found = double(ROWS)
    assert (found.devices(), found.committed) == ({first}, False)


def test_results_in_a_mesh(double, mesh):
    """Results have the sharding of new JAX arrays."""
    given = numpy.asarray(ROWS)
    with jax.set_mesh(mesh):
        found, wanted = double(given), jnp.asarray(given)
        assert found.sharding == wanted.sharding


def test_first_call_in_a_mesh(mesh):
    triple = batch.vmap(lambda v: v * 3)
    with jax.set_mesh(mesh):
        assert array_equal(triple(ROWS), ROWS * 3)
    replicated = jax.device_put(ROWS[None], NamedSharding(mesh, PartitionSpec()))
    assert array_equal(jax.vmap(triple)(replicated)[0], ROWS * 3)


def test_call_under_a_transfer_guard(double):
    with jax.transfer_guard("disallow"):
        found = double(ROWS)
    assert array_equal(found, ROWS * 2)
    assert array_equal(double(ROWS), ROWS * 2)


# --- inside JAX transformations ---------------------------------------------------------

def test_call_inside_jit(double):
    assert array_equal(jax.jit(double)(ROWS), ROWS * 2)


def test_call_of_a_concrete_array_inside_jit(double):
    assert array_equal(jax.jit(lambda v: double(ROWS) + v)(1.0), ROWS * 2 + 1)


def test_call_inside_jax_vmap(double):
    stack = jnp.stack([ROWS, ROWS + 1])
    assert array_equal(jax.vmap(double)(stack), stack * 2)


def test_call_inside_batch_vmap(double):
    stack = jnp.stack([ROWS, ROWS])
    mapped = batch.vmap(lambda v: double(v) + double(ROWS).sum())
    assert array_equal(mapped(stack), stack * 2 + ROWS.sum() * 2)


def test_call_without_jit(double):
    with jax.disable_jit():
        assert array_equal(double(ROWS), ROWS * 2)


def test_weak_type_without_jit():
    mapped = batch.vmap(lambda v: lax.while_loop(
        lambda s: s[0] < 50.0, lambda s: (s[0] * 2 + 1, s[1] + 1), (v, 0))[1])
    with jax.disable_jit():
        assert jax.typeof(mapped(ROWS[:, 1])).weak_type


def test_debug_nans():
    mapped, negative = batch.vmap(jnp.log), -ROWS[:, 1]
    with jax.debug_nans(True), raises(FloatingPointError, "invalid value (nan)"):
        mapped(negative)


def uniform(key):
    return jax.random.uniform(key)


@pytest.fixture
def keys():
    return jax.random.split(jax.random.key(0), 4)


def test_concrete_keys_inside_jit(keys):
    mapped, wanted = batch.vmap(uniform), jax.vmap(uniform)(keys)
    for _ in range(2):
        assert array_equal(jax.jit(lambda v: mapped(keys) + v)(0.0), wanted)


def test_concrete_keys_inside_scan(keys):
    mapped, wanted = batch.vmap(uniform), jax.vmap(uniform)(keys)
    for _ in range(2):
        _, found = lax.scan(lambda v, _: (v, mapped(keys) + v), 0.0, None, length=2)
        assert array_equal(found[1], wanted)


# --- results ----------------------------------------------------------------------------

def large():
    return numpy.random.default_rng(1).normal(size=(64, 4096)).astype(numpy.float32)


@pytest.fixture(params=["small", "large"])
def given(request):
    if request.param == "large":
        return large()
    return numpy.arange(12, dtype=numpy.float32).reshape(3, 4)


def test_results_do_not_change(double, given):
    """Later calls in the same session do not change earlier results."""
    first = double(given)
    copy = numpy.array(first)
    for i in range(3):
        double(given + i)
    assert array_equal(first, copy)
    assert array_equal(copy, given * 2)


def test_results_may_be_donated(double, given):
    donated = jax.jit(lambda v: v + 1, donate_argnums=0)(double(given))
    assert array_equal(donated, given * 2 + 1)


def test_views_keep_results(double, given):
    view = numpy.asarray(double(given))
    gc.collect()
    double(given + 1)
    assert array_equal(view, given * 2)


def test_large_results_are_aligned(double):
    """Large results are aligned to 64 bytes, so JAX does not copy them."""
    assert double(jnp.asarray(large())).unsafe_buffer_pointer() % 64 == 0


def test_calls_keep_no_argument(double):
    argument = jnp.asarray(large()) + 0
    alive = weakref.ref(argument)
    double(argument)
    del argument
    gc.collect()
    assert alive() is None


def test_unmapped_result_has_its_own_memory(monkeypatch):
    """The unmapped result is not a view of an array with the results of all instances."""
    handed, put = [], arrays.putter()

    def record(array, is_weak):
        handed.append(array)
        return put(array, is_weak)

    monkeypatch.setattr(calls, "putter", lambda: record)
    mapped = batch.vmap(lambda v: (v[0], jnp.arange(1000.0)), out_axes=(0, None))
    mapped(numpy.zeros((50, 1), numpy.float32))
    assert [(array.shape, array.base is None) for array in handed[1:]] == [((1000,), True)]


def test_deleted_array(double):
    deleted = jnp.ones((4, 2))
    deleted.delete()
    with raises(RuntimeError, "has been deleted"):
        double(deleted)
    assert_calls(double, twice, ROWS)
