"""Recursive models match their MLIR versions bit for bit; other models agree with NumPy."""

import batchtest
import jax
import numpy
import pytest
from support import recursive_models

import batch

H = 16
SHAPES = {"E": (-1, H), "W": (H, H), "U": (H, H), "Q": (H, H), "h0": (H,)}


def random_inputs(name, seed):
    generator = numpy.random.default_rng(seed)
    return [recursive_models.random_input(name, H, generator) for _ in range(9)]


@pytest.mark.parametrize("name", recursive_models.IN_MLIR)
def test_bits_of_the_model_in_mlir(name):
    in_mlir = batch.compile(batchtest.model(name), sizes={"H": H})
    parameters = recursive_models.parameters(H, {
        field.name: [-1 if n is None or n < 0 else n for n in field.shape]
        for field in in_mlir.parameters})
    inputs = random_inputs(name, 1)
    wanted = in_mlir.bind(parameters)(inputs)
    model = recursive_models.IN_MLIR[name](H)
    results = batch.vmap(model.function, in_axes=(0, None))(
        batch.forest(model.argument, inputs), parameters)
    results = results if isinstance(results, tuple) else (results,)
    assert len(model.outputs) == len(wanted)
    for key, array in zip(model.outputs, wanted.values()):
        if isinstance(key, str):
            found = results[0][key]
            numpy.testing.assert_array_equal(found.offsets, array.offsets, key)
            numpy.testing.assert_array_equal(found.values, array.values, key, strict=True)
        else:
            numpy.testing.assert_array_equal(results[key], array, str(key), strict=True)


class Run:
    """Model without an MLIR version, its inputs, and its results for these inputs."""

    def __init__(self, name):
        self.model = recursive_models.OTHERS[name](H)
        self.function = batch.vmap(self.model.function, in_axes=(0, None))
        self.parameters = recursive_models.parameters(H, SHAPES)
        self.inputs = random_inputs(name, 2)
        self.results = self.of(self.inputs)

    def of(self, inputs):
        return [numpy.asarray(a) for a in jax.tree.leaves(self.function(inputs, self.parameters))]


@pytest.fixture(scope="module", params=recursive_models.OTHERS)
def run(request):
    return Run(request.param)


def test_agreement_with_numpy(run):
    wanted = [jax.tree.leaves(run.model.reference(one, run.parameters)) for one in run.inputs]
    assert len(run.results) == len(wanted[0])
    for number, (found, column) in enumerate(zip(run.results, zip(*wanted))):
        numpy.testing.assert_allclose(found, numpy.stack(column), rtol=1e-5, atol=1e-5,
                                      err_msg=f"result {number}")


def test_bits_of_a_single_instance(run):
    for found, all_ in zip(run.of(run.inputs[4:5]), run.results, strict=True):
        numpy.testing.assert_array_equal(found[0], all_[4])


def test_bits_in_reverse_order(run):
    for found, all_ in zip(run.of(run.inputs[::-1]), run.results, strict=True):
        numpy.testing.assert_array_equal(found[::-1], all_)
