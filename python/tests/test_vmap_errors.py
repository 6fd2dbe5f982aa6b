"""Errors of batch.vmap: unsuitable arguments, unsupported operations, and the reported lines."""

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from jax.extend import core
from jax.interpreters import mlir
from support.comparison import assert_same, raises
from support.vmap import X, assert_maps_like_jax, marked_line

import batch

x = jnp.asarray(X)


# --- arguments --------------------------------------------------------------------------

@pytest.mark.parametrize("second, options", [
    pytest.param(jnp.asarray(X[:3]), {}, id="other_size"),
    pytest.param(jnp.float32(1), {}, id="rank"),
    pytest.param(x, {"in_axes": 5}, id="axis"),
    pytest.param(x, {"in_axes": (0,)}, id="too_few_axes"),
    pytest.param(x, {"in_axes": None}, id="nothing_to_map"),
    pytest.param(x, {"out_axes": None}, id="mapped_result"),
    pytest.param(x, {"out_axes": 7}, id="axis_of_a_result")])
def test_same_error_type_as_jax(second, options):
    for vmap in jax.vmap, batch.vmap:
        with pytest.raises(ValueError):
            vmap(jnp.add, **options)(x, second)


def test_list_in_itself():
    cell = []
    cell.append(cell)
    with raises(ValueError, "the tree of the arguments contains itself or has more than 200"):
        batch.vmap(jnp.sin)(cell)
    with raises(ValueError, "the tree of in_axes contains itself or has more than 200 levels"):
        batch.vmap(jnp.sin, in_axes=cell)


def test_string():
    with raises(TypeError, "expected an array as an argument, got the string 'text'"):
        batch.vmap(jnp.sin)("text")


def test_number_instead_of_a_function():
    with raises(TypeError, "expects a function"):
        batch.vmap(3)


def test_axis_name():
    with raises(NotImplementedError, "does not support axis_name"):
        batch.vmap(jnp.sin, axis_name="i")


@pytest.mark.parametrize("options, error, text", [
    ({"in_axes": "first"}, TypeError, "or a tree of them; got 'first'"),
    ({"in_axes": (0, 0)}, ValueError, "len(in_axes)=2, len(args)=1"),
    ({"in_axes": ((0, 0),)}, ValueError, "or a tree prefix of the arguments: "),
    ({"in_axes": 2}, ValueError, f"at least 3, but is only 2 (its shape is {X.shape})"),
    ({"in_axes": None}, ValueError, "at least one non-None value in in_axes, or axis_size"),
    ({"out_axes": (0, 0)}, ValueError, "or a tree prefix of the results: "),
    ({"out_axes": None}, ValueError, "out_axes is None; use out_axes=0"),
    ({"out_axes": 2}, ValueError,
     "out_axes=2 is out of range for a result of rank 2; expected -2 to 1")],
    ids=["type", "number", "tree", "rank", "nothing_to_map", "tree_of_results",
         "mapped_result", "rank_of_result"])
def test_invalid_axes(options, error, text):
    with raises(error, text):
        batch.vmap(lambda v: v + 1, **options)(x)


def test_axis_of_rows():
    rows = batch.Ragged.of([numpy.ones(2, "f")])
    with raises(ValueError, "in_axes=1 is unsupported for a batch.Ragged; use in_axes=0"):
        batch.vmap(jnp.sum, in_axes=1)(rows)


def test_result_of_all_instances_of_an_empty_batch():
    with raises(ValueError, "out_axes=None requires at least one instance"):
        batch.vmap(lambda v: jnp.ones(2), out_axes=None)(x[:0])


def test_object():
    with raises(TypeError, "is not a valid JAX type; pass a NumPy or JAX array"):
        batch.vmap(jnp.sin)(object())


@pytest.mark.parametrize("options, error, text", [
    ({"lanes": 2 ** 62}, ValueError, "lanes must be at most 2147483647, got 461168"),
    ({"lanes": 2 ** 70}, ValueError, "lanes must be at most 2147483647"),
    ({"lanes": -2 ** 70}, ValueError, "a non-negative number of lanes"),
    ({"lanes": 1.5}, TypeError, "lanes must be an integer, got 1.5"),
    ({"threads": 2 ** 40}, ValueError, "threads must be at most"),
    ({"threads": "two"}, TypeError, "threads must be an integer, got 'two'"),
], ids=["lanes=2**62", "lanes=2**70", "lanes=-2**70", "lanes=1.5", "threads=2**40",
        "threads=two"])
def test_invalid_option(options, error, text):
    with raises(error, text):
        batch.vmap(lambda v: v + 1, **options)(x)


def test_too_many_lanes_of_map():
    with raises(ValueError, "lanes must be at most 1073741823, got 461168"):
        batch.map(lambda v: v + 1, iter(x), lanes=2 ** 62)


# --- unsupported operations -------------------------------------------------------------

def spectrum(v):
    w = v * 2
    return jnp.linalg.eigvalsh(jnp.outer(w, w))  # here


EIGH = f"test_vmap_errors.py:{marked_line(spectrum)} (in spectrum): eigh "


def test_error_names_the_line():
    with raises(batch.LoweringError, EIGH + "is not supported; compute it outside of the function"):
        batch.vmap(spectrum)(x)


def test_error_in_a_loop_names_the_line():
    with raises(batch.LoweringError, EIGH):
        batch.vmap(lambda v: lax.while_loop(lambda s: s.sum() < 9, spectrum, v))(x)


def test_unused_operation():
    """Operations whose results are unused need no support."""
    assert_maps_like_jax(jax.jit(
        lambda v: (jnp.linalg.eigvalsh(jnp.outer(v, v)), v * 2)[1]), x)


@pytest.mark.parametrize("f, text", [
    pytest.param(lambda v: (jax.debug.print("{}", v), v)[1],
                 "has effects, which are not supported; remove it, or use jax.vmap", id="effect"),
    pytest.param(lambda v: jnp.real(jnp.fft.fft(v)), "test_vmap_errors.py:", id="fft"),
    pytest.param(lambda v: jax.pure_callback(lambda a: a, v, v),
                 "pure_callback is not supported; remove it, or use jax.vmap", id="pure_callback"),
    pytest.param(lambda v: lax.cond(v[0] > 0, lambda: v * 1j, lambda: v * 2j),
                 "complex64, but complex numbers are not supported; compute with real and "
                 "imaginary parts",
                 id="complex"),
    pytest.param(lambda v: lax.rng_uniform(v[0] * 0, v[0], (2,)),
                 "because it has no seed; use jax.random.uniform", id="rng_uniform"),
    pytest.param(lambda v: lax.rng_bit_generator(v[:4].astype("uint32"), (2,)),
                 "because its bits depend on the device; use jax.random.bits", id="rng_bits"),
    pytest.param(lambda v: jax.random.uniform(jax.random.key(v[0].astype(int), impl="rbg")),
                 "keys of 'rbg' are not supported; use impl='threefry2x32'", id="rbg_key"),
    pytest.param(lambda v: lax.approx_max_k(v, 1, aggregate_to_topk=False)[0],
                 "use aggregate_to_topk=True", id="approx_max_k"),
])
def test_unsupported_operation(f, text):
    with raises(batch.LoweringError, text):
        batch.vmap(f)(x)


def test_type_of_keys():
    with raises(batch.LoweringError,
                "keys of type key<rbg> are not supported; use impl='threefry2x32'"):
        batch.vmap(jax.random.uniform)(jax.random.split(jax.random.key(1, impl="rbg"), 3))


def test_type_of_elements():
    with raises(batch.LoweringError, "unsupported element type int4; expected one of bool, int8"):
        batch.vmap(lambda v: v + v)(jnp.ones((2, 3), jnp.int4))


def narrow(v):
    return v.astype(jnp.int4).astype(jnp.int32).sum()  # here


def test_type_of_elements_inside_a_function():
    with raises(batch.LoweringError, f"test_vmap_errors.py:{marked_line(narrow)} (in narrow): "
                "unsupported element type int4; expected one of bool, int8"):
        batch.vmap(narrow)(x)


def test_primitive_that_jaxlib_cannot_lower():
    primitive = core.Primitive("erf_of_eight_bits")
    primitive.def_abstract_eval(lambda aval: aval)
    mlir.register_lowering(primitive, mlir.lower_fun(
        lambda v: lax.erf(v.astype(jnp.float8_e4m3fn)).astype(v.dtype), multiple_results=False))
    with raises(batch.LoweringError, "jaxlib cannot lower erf_of_eight_bits: failed to legalize "
                "operation 'chlo.erf'") as caught:
        batch.vmap(lambda v: primitive.bind(v))(x)
    assert "test_vmap_errors.py:" in str(caught.value)


def test_call_after_an_error():
    def root(value):
        return lax.while_loop(lambda s: jnp.abs(s * s - value) > 1e-4,
                              lambda s: (s + value / s) / 2, value)

    mapped, given = batch.vmap(root), jnp.abs(x[:, 0]) + 1
    mapped(given)
    with raises(batch.LoweringError, EIGH + "is not supported; compute it outside of the function"):
        batch.vmap(spectrum)(x)
    assert_same(mapped(given), jax.vmap(root)(given))


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["called", "jit"])
def test_derivative_of_a_mapped_function(transform):
    derivative = transform(jax.grad(lambda v: batch.vmap(jnp.sin)(v).sum()))
    with raises(NotImplementedError, "batch.vmap(jax.grad(f))"):
        derivative(x)


# --- operations with ragged rows --------------------------------------------------------

def ragged():
    return batch.Ragged.of([numpy.ones(3, numpy.float32), numpy.zeros(2, numpy.float32)])


@pytest.mark.parametrize("name, f", [
    ("concatenate", lambda x: jnp.concatenate([x, x])),
    ("sort", jnp.sort),
    ("cumsum", jnp.cumsum),
    ("scatter", lambda x: x.at[0].set(1.0)),
    ("broadcast_in_dim", lambda x: jnp.outer(x, x)),
], ids=["concatenate", "sort", "cumsum", "scatter", "broadcast_in_dim"])
def test_operation_that_needs_the_number_of_rows(name, f):
    with raises(NotImplementedError, f"): {name} of float32[n0]"):
        batch.vmap(lambda x: f(x).sum())(ragged())


def test_argmax_of_ragged_rows():
    assert batch.vmap(lambda x: jnp.argmax(x))(ragged()).tolist() == [0, 0]
