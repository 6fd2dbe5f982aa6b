"""Rules for random numbers: Threefry, with the same bits as JAX."""

import math

import jax
import jax.numpy as jnp
from jax.extend import random
from jax.extend.core import primitives

from batch.core.errors import LoweringError
from batch.lowering.expansion import rule

_threefry = random.threefry_prng_impl
_ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)


def _each(function, shape, *arrays):
    """Maps a function of single keys or numbers over the leading dimensions `shape`."""
    flat = [array.reshape((math.prod(shape),) + array.shape[len(shape):])
            for array in arrays]
    result = jax.vmap(function)(*flat) if shape else function(*arrays)
    return result.reshape(shape + result.shape[1:]) if shape else result


@rule("threefry2x32")
def _threefry2x32(key0, key1, x0, x1):
    """Computes twenty rounds (Salmon et al., SC 2011), about 120 operations."""
    keys = key0, key1, key0 ^ key1 ^ jnp.uint32(0x1BD11BDA)
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for group in range(5):
        for bits in _ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << jnp.uint32(bits)) | (x1 >> jnp.uint32(32 - bits))
            x1 = x0 ^ x1
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + jnp.uint32(group + 1)
    return x0, x1


@rule("random_wrap")
def _wrap(words, *, impl):
    if impl.name != _threefry.name:
        raise LoweringError(f"PRNG keys of '{impl.name}' are not supported; use "
                            "impl='threefry2x32'")
    return words


@rule("random_unwrap", "random_clone")
def _unwrap(words):
    return words


@rule("random_seed")
def _seed(seeds, *, impl):
    _wrap(seeds, impl=impl)
    return _each(_threefry.seed, seeds.shape, seeds)


@rule("random_split")
def _split(keys, *, shape):
    return _each(lambda key: _threefry.split(key, shape), keys.shape[:-1], keys)


@rule("random_fold_in")
def _fold_in(keys, numbers):
    shape = jnp.broadcast_shapes(keys.shape[:-1], numbers.shape)
    return _each(_threefry.fold_in, shape, jnp.broadcast_to(keys, shape + (2,)),
                 jnp.broadcast_to(numbers, shape))


@rule("random_bits")
def _bits(keys, *, bit_width, shape):
    return _each(lambda key: _threefry.random_bits(key, bit_width, shape),
                 keys.shape[:-1], keys)


@rule("random_gamma")
def _gamma(keys, alpha, *, log_space):
    """Draws gamma variates with the loops of JAX, vectorized over all elements."""
    keys = jax.random.wrap_key_data(keys, impl=_threefry.name)
    return primitives.random_gamma_p.impl(keys, alpha, log_space=log_space, use_vmap=True)
