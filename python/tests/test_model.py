"""Models of batch.compile return the results of batch-run, and reject wrong arguments."""

import sys

import batchtest
import jax.numpy as jnp
import numpy
import pytest
from support.comparison import raises
from support.oracle import assert_outputs
from support.package_models import ENDLESS, LIMIT, LOOP, N, W, X, loop_results

import batch


@pytest.fixture(scope="module")
def loop():
    return batch.compile(LOOP)


@pytest.fixture(scope="module")
def run(loop):
    return loop.bind({"W": W})


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    return loop_results(tmp_path_factory.mktemp("oracle"))


def test_repr(loop):
    assert repr(loop) == ("Model(x: tensor<2x5xf32>, limit: f32) -> "
                          "(y: tensor<2x5xf32>, rounds: i32) with parameters (W: tensor<5x5xf32>)")


# --- arguments --------------------------------------------------------------------------

INPUTS = {
    "arrays": lambda: (X, LIMIT),
    "fortran_order": lambda: (numpy.asfortranarray(X), LIMIT),
    "view": lambda: (numpy.repeat(X, 2, axis=0)[::2], numpy.flip(LIMIT.copy())[::-1]),
    "reversed": lambda: (X[::-1].copy()[::-1], LIMIT),
    "transposed": lambda: (
        numpy.ascontiguousarray(X.transpose(2, 0, 1)).transpose(1, 2, 0), LIMIT),
    "read_only": lambda: (
        numpy.frombuffer(X.tobytes(), numpy.float32).reshape(X.shape), LIMIT),
    "lists": lambda: (X.tolist(), LIMIT.tolist()),
    "list_of_arrays": lambda: (list(X), list(LIMIT)),
    "jax_arrays": lambda: (jnp.asarray(X), jnp.asarray(LIMIT)),
    "memory_view": lambda: (memoryview(X), LIMIT),
}


@pytest.mark.parametrize("threads", [1, 2, None])
@pytest.mark.parametrize("make", INPUTS.values(), ids=list(INPUTS))
def test_arguments(loop, wanted, make, threads):
    x, limit = make()
    assert_outputs(loop.bind({"W": W}, threads=threads)(x, limit=limit), wanted)


def test_parameters_as_jax_arrays(loop, wanted):
    assert_outputs(loop.bind({"W": jnp.asarray(W)})(x=X, limit=LIMIT), wanted)


def test_parameters_from_file(loop, wanted, tmp_path):
    file = tmp_path / "W.safetensors"
    batchtest.write_safetensors(file, {"W": ("F32", [5, 5], W.ravel().tolist())})
    assert_outputs(loop.bind(str(file))(X, LIMIT), wanted)


def test_one_array_for_all_instances(run):
    broadcast = run(numpy.broadcast_to(X[0], X.shape), LIMIT)
    assert numpy.array_equal(broadcast["y"], run(numpy.stack([X[0]] * N), LIMIT)["y"])


def test_no_instance(run):
    empty = run(numpy.zeros((0, 2, 5), numpy.float32), [])
    assert (empty["y"].shape, empty["rounds"].shape) == ((0, 2, 5), (0,))


def test_outputs_belong_to_caller(run):
    outputs = run(X, LIMIT)
    before = {name: array.copy() for name, array in outputs.items()}
    run(X + 1, LIMIT)
    for name in before:
        assert numpy.array_equal(outputs[name], before[name]), name
    outputs["y"][0] = 7
    assert outputs["y"][0, 0, 0] == 7


# --- errors -----------------------------------------------------------------------------

class Unreadable:
    """An array of N numbers whose memory cannot be read."""

    shape = (N,)

    def __len__(self):
        return N

    def __dlpack__(self, **_):
        raise BufferError


class NoCapsule(Unreadable):
    """An array whose __dlpack__ returns an array instead of a capsule."""

    def __dlpack__(self, **_):
        return LIMIT


class OneCapsule:
    """A DLPack array that returns the same capsule each time."""

    def __init__(self, array):
        self.shape, self.dtype = array.shape, array.dtype
        self.capsule = array.__dlpack__()

    def __len__(self):
        return self.shape[0]

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def case(name, error, text, call):
    return pytest.param(error, text, call, id=name)


@pytest.mark.parametrize("error, text, call", [
    case("missing", TypeError, "argument 'limit' (f32) is missing", lambda run: run(X)),
    case("unknown", TypeError, "unknown argument 'z'; expected one of 'x', 'limit'",
         lambda run: run(X, LIMIT, z=1)),
    case("too_many", TypeError, "expected at most 2 arguments, got 3",
         lambda run: run(X, LIMIT, 1)),
    case("given_twice", TypeError, "'x' is given twice; pass it by position or",
         lambda run: run(X, LIMIT, x=X)),
    case("different_numbers_of_instances", ValueError,
         "arguments have different numbers of instances: x 9, limit 8",
         lambda run: run(X, LIMIT[1:])),
    case("number_for_all_instances", TypeError,
         "'limit' has no first dimension; expected a value for each instance",
         lambda run: run(X, 1.0)),
    case("shape", ValueError, "has shape [9,2,4]; expected [9,2,5]",
         lambda run: run(X[:, :, :4], LIMIT)),
    case("element_type", ValueError, "has elements of type f64, but the model expects f32",
         lambda run: run(X.astype(numpy.float64), LIMIT)),
    case("complex_numbers", TypeError,
         "'x' has an unsupported element type; expected bool, int8 to int64, uint8, ",
         lambda run: run(X.astype(numpy.complex64), LIMIT)),
    case("no_capsule", TypeError, "'limit' is not an array in CPU memory",
         lambda run: run(X, NoCapsule())),
    case("unreadable_memory", TypeError,
         "'limit' is not an array in CPU memory; expected an object with __dlpack__",
         lambda run: run(X, Unreadable())),
    case("words", TypeError, "'limit': expected f32, got a list that contains",
         lambda run: run(X, ["a"] * N)),
    case("none", TypeError, "'limit': expected f32, got a list that contains",
         lambda run: run(X, [None] * N)),
    case("uneven_lists", TypeError, "argument 'x': cannot convert the value to tensor<2x5xf32>",
         lambda run: run([[1], [1, 2]] + [[3]] * 7, LIMIT)),
])
def test_wrong_argument(run, wanted, error, text, call):
    """The function remains usable after each of these errors."""
    with raises(error, text):
        call(run)
    assert_outputs(run(X, LIMIT), wanted)


def test_capsule_is_used_once(run):
    limit = LIMIT.copy()
    references = sys.getrefcount(limit)
    array = OneCapsule(limit)
    run(X, array)
    with raises(TypeError, "'limit' is not an array in CPU memory"):
        run(X, array)
    del array
    assert sys.getrefcount(limit) == references


@pytest.mark.parametrize("error, text, bind", [
    case("missing", ValueError, "parameter 'W' of type tensor<5x5xf32> is missing",
         lambda loop: loop.bind()),
    case("unknown", ValueError, "no parameter 'V'", lambda loop: loop.bind({"W": W, "V": W})),
    case("shape", ValueError, "is tensor<5x5xf32>, but the array is",
         lambda loop: loop.bind({"W": W[1:]})),
    case("no_thread", ValueError, "at least 1 thread",
         lambda loop: loop.bind({"W": W}, threads=0)),
    case("missing_file", batch.Error, "/none.safetensors",
         lambda loop: loop.bind("/none.safetensors")),
])
def test_wrong_parameters(loop, error, text, bind):
    with raises(error, text):
        bind(loop)


# --- limits of steps --------------------------------------------------------------------

def test_partial_results(loop, wanted):
    partial = loop.bind({"W": W}, max_steps=60, partial_results=True)
    outputs = partial(X, ENDLESS)
    assert list(partial.failures) == [4]
    assert "max_steps" in partial.failures[4]
    ended = numpy.arange(N) != 4
    assert numpy.array_equal(outputs["y"][ended], wanted["y"][0][ended])


def test_max_steps(loop):
    with raises(batch.Error, "instance 4"):
        loop.bind({"W": W}, max_steps=60)(X, ENDLESS)


# The loop never ends for 0, because doubling does not change 0.
NUMBERS = numpy.array([4, 0, 5, 6], numpy.float32)


@pytest.fixture(scope="module")
def doubling():
    return batch.compile(batchtest.DOUBLING, strategy="linearize")


def test_partial_results_of_linearized_loop(doubling):
    partial = doubling.bind(max_steps=1000, partial_results=True)
    assert partial(NUMBERS)["n"].tolist() == [2, 0, 1, 1]
    assert list(partial.failures) == [1]
    assert "max_steps" in partial.failures[1]


def test_max_steps_of_linearized_loop(doubling):
    with raises(batch.Error, "instance 1"):
        doubling.bind(max_steps=1000)(NUMBERS)
