"""batch.bind: arrays that may change. Functions pack them again only after an update."""

import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import assert_same, raises

import batch

rng = numpy.random.default_rng(5)
W = rng.normal(size=(4, 4)).astype(numpy.float32)
X = rng.normal(size=(3, 4)).astype(numpy.float32)


@pytest.fixture
def packed(monkeypatch):
    """List that gets an element each time a model packs parameters."""
    calls, bind = [], batch.Model.bind

    def counted(*arguments, **options):
        calls.append(options)
        return bind(*arguments, **options)

    monkeypatch.setattr(batch.Model, "bind", counted)
    return calls


def test_update(packed):
    """update() takes effect in arguments and closures. Changing only the array has no effect."""
    w = W.copy()
    bound = batch.bind(w)
    product = batch.vmap(lambda v, w: v @ w, in_axes=(0, None))
    closure = batch.vmap(lambda v: lax.fori_loop(0, 2, lambda _, s: s @ jnp.asarray(bound), v))
    for _ in range(3):
        assert_same(product(X, bound), jnp.asarray(X @ W))
        assert_same(closure(X), jnp.asarray(X @ W @ W), 1e-4)
    assert len(packed) == 2  # once for each function
    w += 1
    assert_same(product(X, bound), jnp.asarray(X @ W))
    bound.update()
    assert_same(product(X, bound), jnp.asarray(X @ w))
    bound.update(w * 2)
    assert_same(product(X, bound), jnp.asarray(X @ w * 2))
    assert_same(closure(X), jnp.asarray(X @ w @ w * 4), 1e-4)
    assert len(packed) == 5
    assert_same(jnp.asarray(bound), jnp.asarray(w * 2))


def test_repr():
    assert repr(batch.bind(W)) == "batch.bind(float32[4, 4], version 0)"


def test_refuses_update_of_other_shape():
    with raises(ValueError, "cannot change the shape or dtype of a bound array"):
        batch.bind(W).update(X[0])


def test_refuses_mapped_axis():
    with raises(ValueError, "use in_axes=None"):
        batch.vmap(jnp.sin)(batch.bind(W))


def test_refuses_text():
    with raises(TypeError, "batch.bind expects an array of numbers"):
        batch.bind("text")
