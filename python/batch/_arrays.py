"""Arrays of NumPy and JAX as the runtime reads them, and its results as JAX has them."""

import functools

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core
from jax.interpreters import mlir

from batch import _options

UNMAPPED = object()  # an axis; None would be an empty tree


# --- arguments ---------------------------------------------------------------------------

def _bits(dtype):
    """The type of the same bits that the runtime reads from NumPy."""
    if dtype.name == "bfloat16":
        return numpy.dtype(numpy.int16)
    return numpy.dtype("int%d" % (8 * dtype.itemsize)) if dtype.kind == "u" else dtype


def is_plain(dtype):
    """Whether the runtime reads arrays of this type as they are."""
    return _bits(dtype) is dtype


def for_runtime(array, dtype, axis=UNMAPPED):
    """An array whose first dimension is `axis`; without a copy, as a rule, and without
    calling JAX, which may wait for the caller."""
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

# JAX has no function that makes an array of a weak type of one of another.
_weak_p = core.Primitive("batch_weak")
_weak_p.def_abstract_eval(lambda aval: jax.core.ShapedArray(aval.shape, aval.dtype,
                                                            weak_type=True))
mlir.register_lowering(_weak_p, lambda _, value: [value])
_make_weak = jax.jit(lambda array: _weak_p.bind(array))


def _by_jax(array, is_weak):
    with _options.ours():
        array = jnp.asarray(array)
        return _make_weak(array) if is_weak else array


@functools.lru_cache(maxsize=1024)
def aval(shape, dtype, is_weak):
    return jax.core.ShapedArray(shape, dtype, weak_type=is_weak)


@functools.lru_cache(maxsize=64)
def _place(default, client):
    """The sharding and the devices of arrays that are put nowhere else, with this default
    device, of this client."""
    with jax.ensure_compile_time_eval(), _options.ours():
        sharding = jnp.asarray(numpy.zeros(1, bool)).sharding
    return sharding, list(sharding.device_set)


def default_place():
    return _place(jax.config.jax_default_device, jax.local_devices()[0].client)


@functools.lru_cache(maxsize=1)
def quick_put():
    """What jnp.asarray ends in, for a quarter of its time; it makes weak types, too, and
    takes aligned memory as it is. None where JAX has no such function."""
    try:
        from jaxlib.xla_client import batched_device_put
        array = numpy.arange(3, dtype=numpy.int32)
        with jax.ensure_compile_time_eval(), _options.ours():
            sharding, devices = default_place()
            for is_weak in False, True:
                found = batched_device_put(aval(array.shape, array.dtype, is_weak),
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
    # jnp.asarray knows meshes.
    return jax.sharding.get_abstract_mesh().empty and quick_put() is not None


def putter():
    """Gives to_jax(), for several results: JAX is asked once what holds for them all."""
    if _options.is_guarded() or not is_quick():
        return _by_jax
    quick, (sharding, devices) = quick_put(), default_place()
    # jnp.asarray narrows what JAX would have no type for.
    most_bytes = 8 if jax.config.jax_enable_x64 else 4

    def put(array, is_weak):
        if not isinstance(array, numpy.ndarray) or array.dtype.itemsize > most_bytes:
            return _by_jax(array, is_weak)
        return quick(aval(array.shape, array.dtype, is_weak), sharding, [array], devices,
                     False)

    return put


def to_jax(array, is_weak):
    """A result as an array of JAX's. Nobody else has the memory of one of NumPy's."""
    return putter()(array, is_weak)
