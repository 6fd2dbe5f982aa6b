"""Errors of the native module about arguments that only the package itself passes."""

import numpy
import pytest
from support.comparison import raises
from support.package_models import LIMIT, LOOP, W, X, bind_encoder

import batch
from batch import _native

ONE = [X[:1], LIMIT[:1]]  # arguments of one instance


@pytest.fixture(scope="module")
def session():
    return batch.compile(LOOP, strategy="lockstep").bind({"W": W})._session()


@pytest.mark.parametrize("error, text, arguments, nodes", [
    pytest.param(ValueError, "expected 2 arguments, got 1", ONE[:1], None, id="arguments"),
    pytest.param(TypeError, "expected an array and offsets for 'x', got a tuple of length 1",
                 [(X[:1],), LIMIT[:1]], None, id="length_of_pair"),
    pytest.param(TypeError, "expected a list of offsets for 'x', got int",
                 [(X[:1], 3), LIMIT[:1]], None, id="offsets"),
    pytest.param(TypeError, "expected nodes as a tuple of offsets, variants and fields, got int",
                 ONE, 3, id="nodes"),
    pytest.param(TypeError, "variants and fields, got a tuple of length 2", ONE, (1, 2),
                 id="length_of_nodes"),
    pytest.param(TypeError, "expected int64 offsets of the nodes of instances, got int", ONE,
                 (1, 2, 3), id="type_of_offsets_of_nodes"),
    pytest.param(ValueError, "expected 2 offsets for the nodes of 1 instances, got 1", ONE,
                 (numpy.zeros(1, numpy.int64), numpy.zeros(0, numpy.int32), []),
                 id="number_of_offsets_of_nodes"),
    pytest.param(ValueError, "expected a list of fields for each of 0 variants, got 1", ONE,
                 (numpy.zeros(2, numpy.int64), numpy.zeros(0, numpy.int32), [[]]),
                 id="variants"),
])
def test_wrong_arguments_of_session(session, error, text, arguments, nodes):
    with raises(error, text):
        session.run(1, arguments, nodes)


def test_wrong_number_of_fields():
    encode = bind_encoder()
    first, *others = encode.model._variants
    nodes = numpy.array([0, 1]), numpy.zeros(1, numpy.int32), [[], *([] for _ in others)]
    with raises(ValueError, f"variant '{first.name}': expected {len(first.fields)} fields, got 0"):
        encode._session().run(1, [numpy.zeros(1, numpy.int64)], nodes)


def test_unknown_output(session):
    with raises(IndexError, "output 2 is out of range; the model has 2 outputs"):
        session.read(2)


@pytest.fixture
def stream(session):
    stream = _native.Stream(session, capacity=2)
    yield stream
    stream.close()


def test_wrong_number_of_arguments_of_stream(stream):
    with raises(ValueError, "expected 2 arguments, got 1"):
        stream.put(1, ONE[:1])


def test_closed_stream(stream):
    stream.close()
    with raises(ValueError, "the stream is closed"):
        stream.put(1, ONE)
