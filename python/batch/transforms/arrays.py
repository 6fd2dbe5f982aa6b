"""Conversion of NumPy and JAX arrays to runtime arguments, and of results to JAX arrays."""

import functools

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core
from jax.interpreters import mlir

from batch.tracing.options import is_guarded, own_options

UNMAPPED = object()  # axis of an unmapped argument; None would be an empty tree


# --- arguments ---------------------------------------------------------------------------

def _bits(dtype):
    """Returns the NumPy dtype with which the runtime reads the bits of arrays of this dtype.

    The runtime reads bfloat16 as int16, and unsigned integers as signed ones.
    """
    if dtype.name == "bfloat16":
        return numpy.dtype(numpy.int16)
    return numpy.dtype(f"int{8 * dtype.itemsize}") if dtype.kind == "u" else dtype


def is_plain(dtype):
    """Returns whether the runtime reads arrays of this dtype without a conversion."""
    return _bits(dtype) is dtype


def for_runtime(array, dtype, axis=UNMAPPED):
    """Returns a NumPy array for the runtime, with dimension `axis` of the argument first.

    Usually creates no copy. Calls no JAX function, because JAX may be waiting for the caller.
    """
    array = numpy.asarray(array)
    if array.dtype != dtype:
        array = array.astype(dtype)
    bits = _bits(dtype)
    if bits is not dtype:
        array = array.view(bits)
    if axis in (UNMAPPED, 0):
        return array
    return array.transpose(axis, *range(axis), *range(axis + 1, array.ndim))


def key_of(words):
    return jax.random.wrap_key_data(words, impl="threefry2x32")


# --- results -----------------------------------------------------------------------------

# JAX has no function that gives an existing array a weak type.
_weak_p = core.Primitive("batch_weak")
_weak_p.def_abstract_eval(lambda aval: jax.core.ShapedArray(aval.shape, aval.dtype,
                                                            weak_type=True))
mlir.register_lowering(_weak_p, lambda _, value: [value])
_make_weak = jax.jit(lambda array: _weak_p.bind(array))


def _by_jax(array, is_weak):
    with own_options():
        array = jnp.asarray(array)
        return _make_weak(array) if is_weak else array


@functools.lru_cache(maxsize=1024)
def shaped_array(shape, dtype, is_weak):
    return jax.core.ShapedArray(shape, dtype, weak_type=is_weak)


@functools.lru_cache(maxsize=64)
def _place(default, client):
    """Returns the sharding and the devices of arrays without an explicit placement.

    The arguments, the default JAX device and the client of the first device, are only the cache
    key.
    """
    with jax.ensure_compile_time_eval(), own_options():
        sharding = jnp.asarray(numpy.zeros(1, bool)).sharding
    return sharding, list(sharding.device_set)


def default_place():
    return _place(jax.config.jax_default_device, jax.local_devices()[0].client)


@functools.lru_cache(maxsize=1)
def quick_put():
    """Returns batched_device_put, the function that jnp.asarray calls internally.

    It takes a quarter of the time of jnp.asarray. It also creates weak types, and uses
    aligned memory without a copy. Returns None if JAX has no such function, or if its
    results differ from those of jnp.asarray.
    """
    try:
        from jaxlib.xla_client import batched_device_put
        array = numpy.arange(3, dtype=numpy.int32)
        with jax.ensure_compile_time_eval(), own_options():
            sharding, devices = default_place()
            for is_weak in False, True:
                found = batched_device_put(shaped_array(array.shape, array.dtype, is_weak),
                                           sharding, [array], devices, False)
                wanted = _by_jax(array, is_weak)
                for ask in (lambda a: a.aval, lambda a: a.sharding, lambda a: a.committed,
                            lambda a: a.tolist()):
                    if ask(found) != ask(wanted):
                        return None
        return batched_device_put
    except Exception:
        return None


def is_quick():
    # jnp.asarray supports meshes; the quick path does not.
    return jax.sharding.get_abstract_mesh().empty and quick_put() is not None


def putter():
    """Returns a function like to_jax() that queries the state of JAX once, for several results."""
    if is_guarded() or not is_quick():
        return _by_jax
    quick, (sharding, devices) = quick_put(), default_place()
    # Wider elements need jnp.asarray, which narrows types that JAX does not have.
    most_bytes = 8 if jax.config.jax_enable_x64 else 4

    def put(array, is_weak):
        if not isinstance(array, numpy.ndarray) or array.dtype.itemsize > most_bytes:
            return _by_jax(array, is_weak)
        return quick(shaped_array(array.shape, array.dtype, is_weak), sharding, [array], devices,
                     False)

    return put


def to_jax(array, is_weak):
    """Converts a result to a JAX array, which may use the memory of a NumPy result.

    The caller must not use that memory elsewhere.
    """
    return putter()(array, is_weak)
