"""Cache keys of traces differ between different computations, and are equal for equal ones."""

import itertools

import jax
import jax.numpy as jnp
import numpy
import pytest

from batch.tracing.trace_keys import Trace


def key(function, count=3):
    with jax.enable_x64(True):
        trace = Trace(jax.make_jaxpr(function)(jnp.ones(count)))
        return trace.key, trace.values


@pytest.mark.parametrize("function, other", [
    pytest.param(lambda x: x * 2, lambda x: x * 3, id="numbers"),
    pytest.param(lambda x: x + 0.0, lambda x: x - -0.0, id="signs_of_zero"),
    pytest.param(jax.jit(lambda x: x * 0.0), jax.jit(lambda x: x * -0.0),
                 id="signs_of_zero_in_inner_function"),
    pytest.param(lambda x: x * numpy.arange(3.), lambda x: x * numpy.ones(3), id="arrays"),
    pytest.param(lambda x: x * numpy.ones(3), lambda x: x * numpy.ones(3, int),
                 id="types_of_arrays"),
    pytest.param(lambda x: jax.jit(lambda: x * numpy.arange(3.))(),
                 lambda x: jax.jit(lambda: x * numpy.ones(3))(),
                 id="arrays_in_inner_function"),
    pytest.param(lambda x: x.sum(0), lambda x: x.sum(0, keepdims=True), id="parameters"),
    pytest.param(lambda x: jnp.sin(x) / jnp.cos(x), lambda x: jnp.cos(x) / jnp.sin(x),
                 id="orders"),
    pytest.param(lambda x: jax.lax.map(jnp.sin, x), lambda x: jax.lax.map(jnp.cos, x),
                 id="inner_functions"),
    pytest.param(lambda x: (x, x + 1), lambda x: (x + 1, x), id="results")])
def test_keys_differ(function, other):
    assert key(function) != key(other)
    assert key(function) == key(function)


CONSTANTS = [numpy.asarray([1., 2., i * i]) for i in range(3)]


def sum_of_two(first, second):
    """Returns a function that adds two values, which are identified only by their positions."""
    def f(q):
        values = [q, *CONSTANTS, *(q + c for c in CONSTANTS)]
        return jnp.sum(values[first] + values[second])
    return f


def test_keys_differ_by_operands():
    keys = {key(sum_of_two(i, j))
            for i, j in itertools.combinations_with_replacement(range(7), 2)}
    assert len(keys) == 28


def test_keys_differ_by_shape():
    assert key(jnp.sin) != key(jnp.sin, count=4)


def test_derivative_rules_do_not_change_key():
    """Each trace of softplus creates its own derivative functions."""
    logits = jnp.arange(3.)
    first, second = (key(lambda x: jax.nn.softplus(x * logits)) for _ in range(2))
    assert first == second
