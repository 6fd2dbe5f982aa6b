"""batch.vmap and batch.map of JAX functions whose instances have different numbers of rows."""

import os

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import assert_same, raises

import batch

HERE = os.path.basename(__file__)
LENGTHS = 3, 0, 1, 5, 2
rng = numpy.random.default_rng(5)


def normal(*shape):
    return rng.normal(size=shape).astype(numpy.float32)


def ragged(*shape, lengths=LENGTHS):
    return batch.Ragged.of([normal(n, *shape) for n in lengths])


Q, K, V, X = normal(5, 8), ragged(8), ragged(8), ragged()
OTHER = ragged(lengths=(1, 2, 3, 0, 7))
WITH_ROWS = ragged(8, lengths=(3, 1, 4, 5, 2))


def compare_instances(mapped, f, arguments, without=()):
    """Compares the results of a mapped function with those of f for each instance.

    without: instances that are not compared.
    """
    found = mapped(*arguments)
    for i in range(len(arguments[0])):
        if i not in without:
            wanted = jax.tree.map(jnp.asarray, f(*[jnp.asarray(a[i]) for a in arguments]))
            assert_same(jax.tree.map(lambda leaf, i=i: leaf[i], found), wanted, 1e-4)


def compare(f, arguments, without=()):
    """Compares batch.vmap(f) with f for all instances, then for four of them in a different order.

    The second call compiles nothing.
    """
    mapped = batch.vmap(f)
    compare_instances(mapped, f, arguments, without)
    order = [4, 3, 0, 2]
    compare_instances(mapped, f, [
        batch.Ragged.of([a[i] for i in order]) if isinstance(a, batch.Ragged) else a[order]
        for a in arguments])
    assert len(mapped.known) == 1


def attention(q, keys, values):
    return jax.nn.softmax(keys @ q) @ values


FUNCTIONS = {
    "attention": (attention, Q, K, V),
    "derivative of attention": (
        jax.grad(lambda q, keys, values: attention(q, keys, values).sum()), Q, K, V),
    "scan": (lambda v: lax.scan(lambda c, a: (jnp.tanh(c + a), None), jnp.zeros(8), v)[0], K),
    "scan backwards": (lambda v: lax.scan(
        lambda c, a: (jnp.tanh(2 * c + a), None), jnp.zeros(8), v, reverse=True)[0], K),
    "sum, mean and variance": (lambda v: (v.sum(0), v.mean(0), v.var()), K),
    "maximum": (lambda v: v.max(initial=-9.0), X),
    "bits of numbers": (lambda v: lax.bitcast_convert_type(v, jnp.int32).sum(0), K),
    "number of rows": (lambda v: v.shape[0] * 1.5, X),
    "argmax of rows": (lambda v: (v.argmax(1).sum(), v.argmin(1).sum()), K),
    "products": (lambda a, b: jnp.einsum("nd,ne->de", a, jnp.tanh(b)), K, V),
    "layers": (lambda v: jnp.tanh((v - v.mean(1, keepdims=True)) @ jnp.ones((8, 3))).sum(0),
               K),
    "logsumexp": (jax.nn.logsumexp, X),
    "where": (lambda v: jnp.where(v > 0, v, 0).sum(), X),
    "reduction in a loop": (lambda v: lax.while_loop(
        lambda s: s.sum() < 10, lambda s: s + (v ** 2).sum(0) + 1, jnp.zeros(8)), K),
    "last row": (lambda v: v[-1], WITH_ROWS),
    "two numbers of rows": (lambda a, b: a.sum(0) * b.sum(), K, OTHER)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    f, *arguments = FUNCTIONS[name]
    compare(f, arguments)


# JAX rejects these functions for an instance without rows.

@pytest.mark.parametrize("f", [
    lambda v: lax.fori_loop(0, v.shape[0], lambda i, c: jnp.tanh(c + v[i]), jnp.zeros(8)),
    lambda v: (v.argmax(0), v.argmin(0))], ids=["fori_loop", "argmax"])
def test_function_of_at_least_one_row(f):
    compare(f, [K], without=[LENGTHS.index(0)])


def test_argmax_of_equal_values_and_nan():
    """The result is the index of the first NaN, or else of the first of several equal extrema.

    Without rows, it is 0.
    """
    ties = batch.Ragged.of([numpy.asarray(values, numpy.float32) for values in (
        [1, 5, 5], [7], [3, numpy.nan, 9, numpy.nan], [-numpy.inf, -numpy.inf], [])])
    assert batch.vmap(jnp.argmax)(ties).tolist() == [1, 0, 1, 0, 0]
    assert batch.vmap(jnp.argmin)(ties).tolist() == [0, 0, 1, 0, 0]


def test_map_of_list():
    found = batch.map(lambda v: v.sum(0), [normal(n, 8) for n in LENGTHS])
    assert isinstance(found, list)
    assert [a.shape for a in found] == [(8,)] * 5


def test_map_of_ragged_batch():
    assert_same(batch.map(lambda v: v.sum(0), K),
                jnp.stack([K[i].sum(0) for i in range(5)]))


# --- errors ------------------------------------------------------------------------------

def test_refuses_result_with_a_value_per_row():
    with raises(batch.LoweringError, "reduce over the rows") as caught:
        batch.vmap(lambda v: jnp.tanh(v))(K)
    assert f"{HERE}:" in str(caught.value)


def test_refuses_stacked_results_of_scan():
    with raises(batch.LoweringError, "store the needed values in the carry") as caught:
        batch.vmap(lambda v: lax.scan(lambda c, a: (c, a * 2), 0.0, v)[1].sum())(X)
    assert f"{HERE}:" in str(caught.value)


def test_refuses_reshaped_rows():
    with raises(batch.LoweringError, "jaxlib cannot lower reshape; unsupported operations: "
                "stablehlo.dynamic_reshape"):
        batch.vmap(lambda v: v.reshape(-1).sum())(K)


def test_refuses_padded_rows():
    with raises(batch.LoweringError, "a ragged array has unsupported extent n0 + 2; expected the "
                "number of rows of an argument or list") as caught:
        batch.vmap(lambda v: lax.scan(lambda c, a: (c + a, None), 0.0, jnp.pad(v, 1))[0])(X)
    assert f"{HERE}:" in str(caught.value)


def test_refuses_bits_of_another_width():
    with raises(batch.LoweringError, "ragged rows of float32 cannot be read as int8, which has "
                "a different width; read each row with lax.scan"):
        batch.vmap(lambda v: lax.bitcast_convert_type(v, jnp.int8).max())(K)


def test_reads_bits_of_another_width_by_row():
    def f(v):
        def add(total, row):
            return total + lax.bitcast_convert_type(row, jnp.int8).sum(1, dtype=jnp.int32), None
        return lax.scan(add, jnp.zeros(8, jnp.int32), v)[0]

    compare(f, (K,))


def test_refuses_loop_over_twice_as_many_rows():
    """Rows without elements only determine the number of iterations."""
    with raises(batch.LoweringError, "unsupported loop of 2*n0 iterations; expected a fixed "
                "number, or the number of rows of a ragged array or list") as caught:
        batch.vmap(lambda v: lax.scan(lambda c, row: (c + 1, None), 0,
                                      jnp.zeros((2 * v.shape[0], 0)))[0])(X)
    assert f"{HERE}:" in str(caught.value)


def test_refuses_concatenated_rows():
    with raises(batch.LoweringError, "process the rows one by one with lax.scan"):
        batch.vmap(lambda v: jnp.concatenate([v, v]).sum())(X)


def test_refuses_other_axis():
    with raises(ValueError, "use in_axes=0"):
        batch.vmap(jnp.sum, in_axes=1)(K)


def test_refuses_product_of_different_lengths():
    with raises(TypeError, "contracting dimensions"):
        batch.vmap(lambda a, b: a @ b)(X, OTHER)


def test_refuses_ragged_argument_of_jit():
    with raises(TypeError, "Ragged"):
        jax.jit(batch.vmap(jnp.sum))(K)


def test_refuses_ragged_batch_under_jit():
    with raises(TypeError, "JAX cannot trace a batch.Forest, batch.Ragged or batch.Nodes"):
        jax.jit(lambda x: batch.vmap(lambda rows, x: rows.sum() + x)(
            batch.Ragged.of([numpy.ones(2), numpy.ones(3)]), x))(jnp.ones(2))


def test_refuses_rows_of_different_shapes():
    with raises(ValueError, "array 1 has type float32[2, 4], and array 0 has type "
                "float32[2, 3]; only the first"):
        batch.Ragged.of([normal(2, 3), normal(2, 4)])
