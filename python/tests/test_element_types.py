"""Element types of arguments and results: bool, int8, float64, and bfloat16, which NumPy lacks."""

import jax.numpy as jnp
import numpy
import pytest
from support.comparison import raises

import batch

TYPES = """
module {
  func.func @main(%a: tensor<3xbf16> {batch.name = "a"}, %b: i1 {batch.name = "b"},
                  %c: tensor<2xi8> {batch.name = "c"}, %d: f64 {batch.name = "d"},
                  %w: tensor<3xbf16> {batch.shared = "w"})
      -> (tensor<3xbf16> {batch.name = "p"}, i1 {batch.name = "q"},
          tensor<2xi8> {batch.name = "r"}, f64 {batch.name = "s"})
      attributes {batch.entry} {
    %p = arith.mulf %a, %w : tensor<3xbf16>
    %true = arith.constant true
    %q = arith.xori %b, %true : i1
    %r = arith.addi %c, %c : tensor<2xi8>
    %s = arith.mulf %d, %d : f64
    return %p, %q, %r, %s : tensor<3xbf16>, i1, tensor<2xi8>, f64
  }
}
"""
THREE = numpy.full((1, 3), 3, numpy.int16)


@pytest.fixture(scope="module")
def model():
    return batch.compile(TYPES)


@pytest.fixture(scope="module")
def a():
    return jnp.asarray([[1, 2, 3], [4, 5, 6]], jnp.bfloat16)


@pytest.fixture(scope="module")
def w():
    return jnp.asarray([0.5, 2, -1], jnp.bfloat16)


@pytest.fixture(scope="module")
def run(model, w):
    return model.bind({"w": w})


@pytest.fixture(scope="module")
def outputs(run, a):
    return run(a, [True, False], numpy.array([[1, 2], [3, 100]], numpy.int8), [1.5, 1 / 3])


def test_bfloat16_from_and_to_jax(outputs, a, w):
    p = jnp.from_dlpack(outputs["p"])
    assert p.dtype == jnp.bfloat16
    assert p.shape == a.shape
    assert (p == a * w).all()


def test_bool(outputs):
    assert outputs["q"].dtype == bool
    assert outputs["q"].tolist() == [False, True]


def test_int8(outputs):
    assert outputs["r"].dtype == numpy.int8
    assert outputs["r"].tolist() == [[2, 4], [6, -56]]


def test_float64(outputs):
    assert outputs["s"].tolist() == [2.25, (1 / 3) * (1 / 3)]


def test_int16_is_not_bfloat16(run):
    with raises(TypeError, ": expected tensor<3xbf16>, got numbers of type int16"):
        run(THREE, [True], [[1, 2]], [1.5])


def test_int16_parameter_is_not_bfloat16(model):
    with raises(TypeError, ": expected tensor<3xbf16>, got numbers of type int16"):
        model.bind({"w": THREE[0]})


def test_numbers_as_bfloat16(run):
    with raises(TypeError, "argument 'a' has elements of type bfloat16, which NumPy does not "
                "support; pass a JAX or PyTorch array"):
        run([[1, 2, 3]], [True], [[1, 2]], [1.5])


@pytest.mark.parametrize("error, text, value", [
    pytest.param(ValueError, "expected tensor<2xi8> from -128 to 127, got 1 to 300", 300,
                 id="out_of_range"),
    pytest.param(TypeError, "got numbers of type float64", 1.5, id="float"),
])
def test_wrong_int8(run, a, error, text, value):
    with raises(error, text):
        run(a, [True, False], [[1, 2], [3, value]], [1.5, 2.5])
