"""Lists as arguments of models: lists of lists, arrays, and batch.Ragged."""

import types

import jax.numpy as jnp
import numpy
import pytest
from support.comparison import raises
from support.oracle import assert_outputs
from support.package_models import SENTENCES, WORDS, bind_parser, parser_results

import batch
from batch.runtime.field_values import list_values

FLAT = numpy.concatenate([numpy.array(words) for words in SENTENCES])
OFFSETS = numpy.cumsum([0] + [len(words) for words in SENTENCES])


@pytest.fixture(scope="module")
def parse():
    return bind_parser(threads=2)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    return parser_results(tmp_path_factory.mktemp("oracle"))


TOKENS = {
    "lists_of_lists": lambda: SENTENCES,
    "lists_of_int32_arrays": lambda: [numpy.array(words, numpy.int32) for words in SENTENCES],
    "lists_of_int64_arrays": lambda: [numpy.array(words) for words in SENTENCES],
    "ragged": lambda: batch.Ragged(FLAT, OFFSETS),
    "ragged_of_view": lambda: batch.Ragged(numpy.repeat(FLAT, 3)[::3], OFFSETS),
    "jax_arrays": lambda: [jnp.asarray(words) for words in SENTENCES],
}


@pytest.mark.parametrize("make", TOKENS.values(), ids=list(TOKENS))
def test_lists(parse, wanted, make):
    assert_outputs(parse(make()), wanted)


def test_lists_of_equal_length(parse, rng):
    even = rng.integers(0, WORDS, (4, 6))
    assert numpy.array_equal(parse(even)["root"], parse(even.tolist())["root"])


@pytest.mark.parametrize("error, text, call", [
    pytest.param(ValueError, "'tokens': expected 4 offsets for 3 lists, got 2",
                 lambda parse: parse.run(3, [(numpy.array([1]), [numpy.array([0, 1])])]),
                 id="too_few_offsets"),
    pytest.param(ValueError, "'tokens': expected offsets for 1 level of lists, got 2",
                 lambda parse: parse.run(1, [(numpy.array([1]), [numpy.array([0, 1])] * 2)]),
                 id="too_many_levels_of_offsets"),
    pytest.param(batch.Error, "index 200 is out of range", lambda parse: parse([[200]]),
                 id="index_out_of_range"),
    pytest.param(ValueError, "index -1 is out of range", lambda parse: parse([[-1]]),
                 id="negative_index"),
    pytest.param(ValueError, "expects an integer type", lambda parse: parse([numpy.array([1.5])]),
                 id="floats"),
    pytest.param(TypeError, ": expected list of index for each instance, got a value",
                 lambda parse: parse([3]), id="number_instead_of_list"),
])
def test_wrong_list(parse, error, text, call):
    with raises(error, text):
        call(parse)


def test_array_for_lists_of_lists():
    field = types.SimpleNamespace(lists=2, description="list of list of index")
    with raises(TypeError, "argument 'x': expected list of list of index for each instance, got "
                "an array of shape [3]"):
        list_values(field, "argument 'x'", numpy.zeros(3))


@pytest.mark.parametrize("arrays, text", [
    ([], "requires at least one array; use Ragged(values, offsets) for an empty batch"),
    ([[1], 2.0], "array 1 is a scalar; expected an array of rows"),
    ([[[1]], [[1, 2]]],
     "array 1 has type int64[1, 2], and array 0 has type int64[1, 1]; only the first extent"),
], ids=["no_array", "scalar", "different_shapes"])
def test_wrong_arrays_of_ragged(arrays, text):
    with raises(ValueError, text):
        batch.Ragged.of(arrays)


def test_instance_out_of_range():
    with raises(IndexError, "instance 1 is out of range for 1 instances"):
        batch.Ragged([1, 2], [0, 2])[1]


def test_repr_of_ragged():
    assert repr(batch.Ragged([1, 2, 3], [0, 2, 3])) == "Ragged(2 instances, 3 rows)"
