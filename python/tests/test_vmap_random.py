"""Random numbers and keys under batch.vmap: the same bits as under jax.vmap."""

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import assert_same, raises
from support.vmap import STEPS, N, as_jax, assert_maps_like_jax

import batch

WORDS = numpy.random.default_rng(3).integers(0, 2 ** 32, (N, 2), dtype=numpy.uint32)
KEYS = jax.random.wrap_key_data(jnp.asarray(WORDS), impl="threefry2x32")


def bits(key):
    """Draws from keys that are derived in several ways."""
    first, second, third = jax.random.split(key, 3)
    return (jax.random.bits(first, (3,)), jax.random.bits(second, (2,), jnp.uint8),
            jax.random.uniform(jax.random.fold_in(third, 5), (2, 2)),
            jax.random.categorical(third, jnp.arange(4.0)),
            jax.random.bernoulli(second, 0.3, (4,)))


def as_words(f):
    """Returns a version of `f` that returns the words of keys instead of the keys."""
    def word(v):
        return jax.random.key_data(v) if jax.dtypes.issubdtype(
            v.dtype, jax.dtypes.prng_key) else v

    return lambda *arguments: jax.tree.map(word, f(*arguments))


def walk(key, rounds):
    return lax.while_loop(lambda s: s[1] < rounds,
                          lambda s: (jax.random.fold_in(s[0], s[1]), s[1] + 1),
                          (key, jnp.int32(0)))[0]


def move_and_compare(k, n):
    return (jnp.where(n > 2, k, jax.random.clone(jax.random.fold_in(k, 1))) == k,
            jnp.stack([k, jax.random.fold_in(k, 2)])[::-1].reshape(1, 2).T)


def case(name, f, *arguments):
    return pytest.param(f, arguments, id=name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f, arguments", [
    case("words", bits, WORDS),
    case("key", bits, KEYS),
    case("normal", lambda k: jax.random.normal(k, (3,)), KEYS),
    case("16_bits", lambda k: jax.random.bits(k, (2,), jnp.uint16), KEYS),
    case("gamma", lambda k: jax.random.gamma(k, jnp.asarray([0.5, 2.0])), KEYS),
    case("permutation", lambda k: jax.random.permutation(k, 6), KEYS),
    case("poisson", lambda k: jax.random.poisson(k, 3.5), KEYS),
    case("seed", lambda n: jax.random.bits(jax.random.key(n)), STEPS),
    case("keys_of_a_key", lambda k: jax.vmap(lambda q: jax.random.bits(q, (2,)))(
        jax.random.split(k, 3)), KEYS),
    case("carried_key", as_words(walk), KEYS, STEPS),
    case("key_in_a_closure", lambda i: jax.random.bits(KEYS[i]), STEPS % N),
    case("scan_over_keys", lambda k: lax.scan(
        lambda c, q: (c + jax.random.bits(q, (), c.dtype), jax.random.bits(q)), jnp.uint32(0),
        jax.random.split(k, 4)), KEYS),
    case("moved_and_compared_keys", as_words(move_and_compare), KEYS, STEPS),
    case("grad_of_a_sample", lambda k, a: jax.grad(lambda a: jax.random.gamma(k, a))(a),
         KEYS, STEPS + 0.5),
])
def test_random_numbers(f, arguments):
    assert_maps_like_jax(f, *as_jax(arguments))


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["called", "jit"])
@pytest.mark.parametrize("out_axes", [0, 1])
def test_results_that_are_keys(out_axes, transform):
    def split(key):
        return jax.random.split(key, 3)

    mapped = transform(batch.vmap(split, out_axes=out_axes))
    assert_same(mapped(KEYS), jax.vmap(split, out_axes=out_axes)(KEYS))


def test_unsupported_generator():
    keys = jax.random.split(jax.random.key(0, impl="rbg"), N)
    with raises(batch.LoweringError, "key<rbg>"):
        batch.vmap(jax.random.bits)(keys)


def test_unsupported_generator_inside_the_function():
    mapped = batch.vmap(lambda n: jax.random.bits(jax.random.key(n, impl="rbg")))
    with raises(batch.LoweringError, "test_vmap_random.py:"):
        mapped(jnp.asarray(STEPS))
