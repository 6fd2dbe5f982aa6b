"""Calls of batch.vmap under jax.jit are calls by XLA, without Python."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import export, lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from support.comparison import assert_same, raises
from support.processes import run_python
from support.vmap import assert_equal_bits

import batch
from batch.transforms import xla

generator = numpy.random.default_rng(2)
X = jnp.asarray(generator.normal(size=(8, 4)), jnp.float32)
W = jnp.asarray(generator.normal(size=(4, 4)), jnp.float32)
BOTH = jnp.stack([X, X + 1])
native = pytest.mark.skipif(not xla.is_available(), reason="BATCH_XLA_FFI is 0")


def layer(x, w):
    return jnp.tanh(w @ x)


apply = batch.vmap(layer, in_axes=(0, None))


def apply_known(x):
    return apply(x, W)


def text_of(f, *arguments):
    return jax.jit(f).lower(*arguments).as_text()


# --- the registered function -------------------------------------------------------------

@native
def test_call_uses_no_callback():
    text = text_of(apply, X, W)
    assert "batch_run" in text
    assert "callback" not in text


def test_callback_if_the_variable_is_0():
    done = run_python("""
        import batch, jax, jax.numpy as jnp
        double = jax.jit(batch.vmap(lambda v: v * 2))
        print("callback" in double.lower(jnp.ones(3)).as_text(), double(jnp.ones(3)))
    """, env={**os.environ, "BATCH_XLA_FFI": "0"})
    assert done.stdout == "True [2. 2. 2.]\n"


def test_callback_if_jaxlib_rejects_the_function():
    """JAX remains usable."""
    done = run_python("""
        import ctypes
        import batch, jax, jax.numpy as jnp
        import batch._native as native

        @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        def without_version(frame):
            return None

        native.xla_handler = lambda reporter: jax.ffi.pycapsule(without_version)
        double = jax.jit(batch.vmap(lambda v: v * 2))
        print("callback" in double.lower(jnp.ones(3)).as_text(), double(jnp.ones(3)))
        print(jnp.ones(3) + 1)
    """)
    assert done.stdout == "True [2. 2. 2.]\n[2. 2. 2.]\n"


@native
def test_call_that_was_compiled_in_another_process():
    key = jnp.zeros(2, jnp.uint32)
    call = jax.ffi.ffi_call("batch_run", [jax.ShapeDtypeStruct((3,), jnp.float32)])
    with raises(Exception, "a call of batch.vmap was compiled in another process; compile the "
                "program again with jax.jit"):
        jax.jit(lambda: call(key, instances=numpy.int64(3)))()[0].block_until_ready()


def test_cache_of_jax(tmp_path):
    """A second process uses the programs that JAX has cached on disk."""
    program = """
        import os, sys
        import batch, jax, jax.numpy as jnp
        W = jnp.full((4, 4), float(sys.argv[1]))
        mapped = batch.vmap(lambda x: jnp.tanh(W @ x))
        print(jax.jit(lambda x: mapped(x) + 1)(jnp.ones((2, 4)))[0, 0])
        print(len(os.listdir(os.environ["JAX_COMPILATION_CACHE_DIR"])))
    """
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
                   "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                   "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none"}
    # Some versions of JAX also write messages about the types of processors.
    first, second, other = (run_python(program, value, env=environment).stdout.split()[-2:]
                            for value in ("0.25", "0.25", "0"))
    assert first == second
    assert (first[0], other[0]) == ("1.7615942", "1.0")


def test_export():
    with raises(NotImplementedError, "jax.export does not support batch.vmap, whose compiled code "
                "exists only in this process; export a function that calls jax.vmap"):
        export.export(jax.jit(apply))(X, W)


# --- parameters --------------------------------------------------------------------------

def test_operands_as_parameters():
    jitted = jax.jit(apply)
    for factor in [*range(12), 0, 11]:
        assert_equal_bits(jitted(X, W * factor), apply(X, W * factor))


def test_known_parameters():
    assert_equal_bits(jax.jit(apply_known)(X), apply_known(X))


def test_known_parameters_are_no_operands():
    assert "4x4" not in text_of(apply_known, X)


def test_known_and_other_parameters():
    both = batch.vmap(lambda x, w, b: layer(x, w) + b, in_axes=(0, None, None))
    jitted = jax.jit(lambda x, b: both(x, W, b))
    for b in X[0], X[1], X[0]:
        assert_equal_bits(jitted(X, b), both(X, W, b))


def test_operands_with_equal_values_are_bound_once():
    jitted = jax.jit(apply)
    first = jitted(X, W)
    assert_equal_bits(jitted(X, jnp.array(W, copy=True)), first)


def test_bound_array_under_jit():
    bound = batch.bind(numpy.asarray(W))
    mapped = batch.vmap(lambda x: layer(x, jnp.asarray(bound)))
    jitted = jax.jit(mapped)
    assert_equal_bits(jitted(X), mapped(X))
    bound.update(numpy.asarray(W) * 2)
    assert_equal_bits(jitted(X), mapped(X))


def over_traced(x, w):
    """Calls a function that closes over an array, which has no value at trace time."""
    return batch.vmap(lambda x: layer(x, w))(x)


@pytest.mark.parametrize("f", [
    over_traced, lambda x, w: lax.scan(lambda c, _: (over_traced(c, w), None), x, length=2)[0],
    lambda x, w: jax.vmap(lambda w: over_traced(x, w))(jnp.stack([w, w + 1]))],
    ids=["jit", "scan", "vmap"])
def test_function_that_closes_over_traced_values(f):
    jitted = jax.jit(f)
    for factor in 1, 2, 1:
        assert_same(jitted(X, W * factor), f(X, W * factor))
    assert "batch_vmap" in str(jax.make_jaxpr(f)(X, W))


def test_one_function_that_closes_over_several_traced_values():
    box = []
    mapped = batch.vmap(lambda x: layer(x, box[-1]))

    def f(x, w):
        box.append(w)
        return mapped(x)

    for factor in 1, 2:
        assert_equal_bits(jax.jit(lambda x, w: f(x, w))(X, W * factor), apply(X, W * factor))
    assert not mapped.known


def test_function_that_closes_over_a_traced_key():
    def f(key):
        return batch.vmap(lambda x: x + jax.random.uniform(key))(X)

    assert_same(jax.jit(f)(jax.random.key(3)), X + jax.random.uniform(jax.random.key(3)))


# --- transformations ---------------------------------------------------------------------

def repeated(x):
    for _ in range(10):
        x = apply_known(x)
    return x


@pytest.mark.parametrize("f, wanted", [
    (lambda x: lax.fori_loop(0, 10, lambda _, c: apply(c, W), x), repeated),
    (lambda x: lax.scan(lambda c, _: (apply(c, W), None), x, length=10)[0], repeated),
    (lambda x: jax.jit(apply_known)(x), apply_known),
    (lambda x: lax.cond(x.sum() > 99, lambda x: x, apply_known, x), apply_known)],
    ids=["fori_loop", "scan", "jit", "cond"])
def test_within(f, wanted):
    assert_equal_bits(jax.jit(f)(X), wanted(X))


@pytest.mark.parametrize("f, arguments", [
    (jax.vmap(apply_known), (BOTH,)), (jax.vmap(apply, (0, None)), (BOTH, W)),
    (jax.vmap(apply, (None, 0)), (X, jnp.stack([W, W + 1])))],
    ids=["known", "shared", "parameters"])
def test_jax_vmap_around(f, arguments):
    assert_equal_bits(jax.jit(f)(*arguments), f(*arguments))


def test_donated_argument():
    given = X + 0
    assert_equal_bits(jax.jit(apply_known, donate_argnums=0)(given), apply_known(X))
    assert given.is_deleted()


@pytest.mark.parametrize("f, argument", [
    (lambda v: v * 2, jnp.zeros((0, 3))), (lambda v: (v, v.sum()), jnp.zeros((3, 0))),
    (lambda v: jnp.zeros((0, 2)), X), (lambda v: (v > 0, v.astype(jnp.bfloat16)), X),
    (lambda v: v + 1, jnp.arange(200, 250, dtype=jnp.uint8)),
    (jax.random.split, jax.random.split(jax.random.key(3), 5))],
    ids=["no_lanes", "no_elements", "no_results", "types", "unsigned", "keys"])
def test_arrays(f, argument):
    mapped = batch.vmap(f)
    assert_equal_bits(jax.jit(mapped)(argument), mapped(argument))


def test_no_mapped_argument():
    mapped = batch.vmap(lambda v: v * 2, in_axes=None, axis_size=3)
    assert_equal_bits(jax.jit(mapped)(X[0]), mapped(X[0]))


def test_axes():
    mapped = batch.vmap(layer, in_axes=(1, None), out_axes=1)
    assert_equal_bits(jax.jit(mapped)(X.T, W), mapped(X.T, W))


def test_x64():
    with jax.enable_x64(True):
        mapped = batch.vmap(lambda v: (jnp.cumsum(v), jnp.int64(1) << 40))
        assert_equal_bits(jax.jit(mapped)(X.astype(float)), mapped(X.astype(float)))


# --- devices -----------------------------------------------------------------------------

@pytest.fixture
def mesh():
    return jax.make_mesh((2,), ("d",), axis_types=(AxisType.Auto,))


@pytest.fixture
def sharded(mesh):
    return jax.device_put(X, NamedSharding(mesh, PartitionSpec("d")))


def test_shard_map(mesh, sharded):
    def step(x, w):
        found = apply(x, w)
        return found, lax.psum(found.sum(0), "d")

    rows, none = PartitionSpec("d"), PartitionSpec()
    found, total = jax.jit(jax.shard_map(
        step, mesh=mesh, in_specs=(rows, none), out_specs=(rows, none)))(sharded, W)
    assert_equal_bits(found, apply(X, W))
    assert_same(total, apply(X, W).sum(0))


def test_array_on_several_devices(sharded):
    assert_equal_bits(jax.jit(apply_known)(sharded), apply_known(X))


def test_two_processes():
    """Each process calls its own compiled code, and JAX adds the results with gloo."""
    program = """
        import os, sys
        import batch, jax, jax.numpy as jnp
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(sys.argv[1], 2, int(sys.argv[2]))
        from jax.sharding import NamedSharding, PartitionSpec as P
        mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
        rows = jax.make_array_from_callback((6,), NamedSharding(mesh, P("d")),
                                            lambda i: jnp.arange(6.0)[i])
        double = batch.vmap(lambda v: v * 2)
        step = jax.jit(jax.shard_map(lambda x: jax.lax.psum(double(x).sum(), "d"), mesh=mesh,
                                     in_specs=P("d"), out_specs=P()))
        assert "batch_run" in step.lower(rows).as_text() or not batch.transforms.xla.is_available()
        print("sum", step(rows).addressable_data(0))
    """
    address = f"127.0.0.1:{20000 + os.getpid() % 20000}"
    environment = {**os.environ, "XLA_FLAGS": ""}
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda rank: run_python(program, address, str(rank), env=environment),
                             range(2)))
    assert [process.stdout.splitlines()[-1] for process in done] == ["sum 30.0"] * 2, \
        done[0].stdout + done[1].stdout


# --- calls of several threads, errors ----------------------------------------------------

def test_threads():
    jitted = jax.jit(apply)
    arrays = [(X + i, W * (i % 3)) for i in range(8)]
    wanted = [apply(*pair) for pair in arrays]

    def repeat(i):
        return [jitted(*arrays[i]) for _ in range(50)]

    with ThreadPoolExecutor(8) as pool:
        for i, found in enumerate(pool.map(repeat, range(8))):
            for result in found:
                assert_equal_bits(result, wanted[i])


@batch.function
def countdown(n) -> int:
    return lax.cond(n < 1, lambda: 0, lambda: 1 + countdown(n - 1))


def test_error():
    """The text is that of a call outside of jax.jit."""
    mapped, given = batch.vmap(countdown), jnp.array([3, 100])
    with pytest.raises(batch.Error) as caught:
        mapped(given)
    jitted = jax.jit(mapped)
    with raises(Exception, str(caught.value)):
        jitted(given).block_until_ready()
    assert jitted(jnp.array([3, 10])).tolist() == [3, 10]


def test_function_that_only_jax_keeps():
    jitted = jax.jit(lambda x: batch.vmap(lambda v: v + 1)(x))
    jitted(X)
    gc.collect()
    assert_equal_bits(jitted(X), X + 1)
