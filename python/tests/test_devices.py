"""Programs on devices: equal results on the emulator, and what devices refuse.

`pytest --device=emulator` runs the other tests on the emulator.
"""

import os

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import assert_same, raises
from support.vmap import W, X, Y, marked_line
from support.word_trees import Leaf, Node, Tree

import batch
from batch import _native

HERE = os.path.basename(__file__)
STRATEGIES = ("auto", "linearize", "lockstep", "lazy", "replicate")
REFUSED = "device 'emulator' does not support "


def newton(x):
    return lax.while_loop(lambda y: jnp.abs(y * y - x) > 1e-3, lambda y: (y + x / y) / 2, x)


def collatz(n):
    return lax.while_loop(
        lambda s: s[0] > 1,
        lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),
        (n, jnp.int32(0)))[1]


def gru(rows, weights):
    return lax.scan(lambda h, x: (jnp.tanh(weights @ (h + x)), None), jnp.zeros(4), rows)[0]


def branches(x):
    return lax.cond(x.sum() > 0, jnp.tanh, lambda x: x * 2, x)


def layer(x, weights):
    return jax.nn.relu(weights @ x).sum()


def gradient(x, weights):
    return jax.grad(lambda w: (jnp.tanh(w @ x) ** 2).sum())(weights)


def rows_of(x):
    return jax.nn.softmax(x.sum(1)).sum() + x.mean()


def normals(key):
    return jax.random.normal(key, (3,))


@batch.function
def encode(tree: Tree, words, weights):
    match tree:
        case Tree.Leaf(word):
            return words[word]
        case Tree.Node(left, right):
            return jnp.tanh(weights @ (encode(left, words, weights) +
                                       encode(right, words, weights)))


TREES = [Node(Leaf(1), Node(Leaf(2), Leaf(3))), Leaf(4), Node(Leaf(0), Leaf(5))]
RAGGED = batch.Ragged.of([numpy.full((n, 2), n, numpy.float32) for n in (3, 1, 2)])
PROGRAMS = {
    "newton": (newton, 0, (numpy.array([1, 4, 10000], numpy.float32),)),
    "collatz": (collatz, 0, (numpy.arange(1, 7, dtype=numpy.int32),)),
    "gru": (gru, (0, None), (Y, W)),
    "branches": (branches, 0, (X,)),
    "layer": (layer, (0, None), (X, W)),
    "gradient": (gradient, (0, None), (X, W)),
    "ragged rows": (rows_of, 0, (RAGGED,)),
    "sort": (jnp.sort, 0, (X,)),
    "normals": (normals, 0, (jax.random.split(jax.random.key(0), 3),)),
    "trees": (encode, (0, None, None), (TREES, jnp.asarray(X), W)),
}
# Combinations that the CPU refuses too.
REFUSALS = {
    ("trees", "lockstep"): "is a data structure, which strategies 'lockstep' and 'mask' do not "
                           "support",
    ("ragged rows", "lockstep"): "of a value that is stored between steps is not supported",
    ("ragged rows", "replicate"): "strategy 'replicate' does not support 'tensor.dim'",
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_results_on_the_emulator(name, strategy):
    function, in_axes, arguments = PROGRAMS[name]
    mapped = batch.vmap(function, in_axes, strategy=strategy, device="emulator")
    if (name, strategy) in REFUSALS:
        with raises(batch.CompileError, REFUSALS[name, strategy]):
            mapped(*arguments)
        return
    wanted = batch.vmap(function, in_axes, device="cpu")(*arguments)
    for _ in range(2):
        assert_same(mapped(*arguments), wanted)


def test_map():
    """Lanes refill on a device as well. Lists may be ragged."""
    numbers = numpy.arange(1, 12, dtype=numpy.int32)
    wanted = batch.vmap(collatz, device="cpu")(numbers)
    assert_same(batch.map(collatz, numbers, lanes=3, device="emulator"), wanted)
    rows = [numpy.full((n, 2), n, numpy.float32) for n in (2, 1)]
    assert_same(batch.map(rows_of, rows, device="emulator"),
                batch.map(rows_of, rows, device="cpu"))


@pytest.mark.parametrize("ordered", [True, False])
def test_map_of_an_iterator_of_data(ordered):
    """Values of a data type run a batch at a time, which a device supports."""
    def of(tree: Tree):
        return encode(tree, jnp.asarray(X), W)
    found = batch.map(of, iter(TREES), lanes=2, ordered=ordered, device="emulator")
    wanted = batch.vmap(of, device="cpu")(TREES)
    rows = list(found) if ordered else [row for _, row in sorted(found, key=lambda pair: pair[0])]
    assert_same(jnp.stack(rows), wanted)


def test_under_jit():
    mapped = batch.vmap(layer, (0, None), device="emulator")
    assert_same(jax.jit(mapped)(X, W), jax.vmap(layer, (0, None))(X, W))


def test_compiled_model():
    model = batch.compile(DOUBLES, device="emulator")
    assert model.device == "emulator"
    assert batch.compile(DOUBLES).device == "cpu"
    assert (model.bind()(X)["y"] == 2 * X).all()


def test_samples():
    def draw(device):
        return batch.sample(lambda q: -0.5 * q @ q, init=jnp.zeros((2, 2)), chains=2, warmup=6,
                            draws=3, seed=3, threads=1, device=device, progress=False)
    assert_same(jnp.asarray(draw("emulator").draws), jnp.asarray(draw("cpu").draws), 1e-6)


# --- refusals ---------------------------------------------------------------------------

DOUBLES = """
func.func @main(%x: tensor<4xf32> {batch.name = "x"}) -> (tensor<4xf32> {batch.name = "y"})
    attributes {batch.entry} {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def until_small(x):
    return lax.while_loop(lambda x: jnp.abs(x).max() > 1e-2, lambda x: jnp.tanh(W @ x) * 0.9, x)


def test_refuses_waits():
    """Control flow waits for a tensor in strategy lazy, which GPUs do not support."""
    where = r"test_devices\.py:\d+: "
    with pytest.raises(batch.CompileError, match=where + "error: in .*: control flow can wait for "
                       "tensors only on CPUs\n.*legal strategies: 'lockstep', 'replicate'"):
        batch.vmap(until_small, strategy="lazy", device="emulator")(X)


def test_refuses_programs_without_a_strategy():
    """On the CPU, `auto` chooses strategy lazy, the only one that is legal."""
    def halves(x):
        return lax.while_loop(lambda y: jnp.abs(y - x.sum()) > 1, lambda y: (y + x.sum()) / 2, 0.0)
    assert batch.vmap(halves, device="cpu")(RAGGED).shape == (3,)
    with pytest.raises(batch.CompileError, match=r"test_devices\.py:\d+: control flow depends on a "
                       "tensor here; no strategy can batch this program on device 'emulator'; use "
                       "device='cpu'"):
        batch.vmap(halves, device="emulator")(RAGGED)


def test_refuses_models_without_a_strategy():
    """The compiler stores the reason in the object, which only batch-run can run."""
    text = DOUBLES.replace("{batch.entry}", """{
      batch.entry, batch.strategy = #batch.strategy<none>,
      batch.not_batched = "<stdin>:11:8: control flow depends on a tensor here"}""")
    for device, remedy in (("cpu", ""), ("emulator", "; use device='cpu'")):
        with pytest.raises(batch.CompileError, match="^a module:11:8: control flow depends on a "
                           "tensor here; no strategy can batch this program on device "
                           f"'{device}'{remedy}$"):
            batch.compile(text, device=device)


def test_refuses_mask():
    with raises(batch.CompileError, "strategy 'mask' calls functions on the host stack, which GPU "
                "blocks do not have"):
        batch.vmap(newton, strategy="mask", device="emulator")(X[:, 0] ** 2)


def test_refuses_iterators():
    def results():
        return batch.map(collatz, iter([3, 7]), device="emulator")  # here
    with raises(ValueError, f"{HERE}:{marked_line(results)} (in results): {REFUSED}iterators or "
                "ordered=False, because elements cannot arrive while its kernel runs; pass an "
                "array or a list, or use device='cpu'"):
        results()
    with raises(ValueError, REFUSED + "iterators or ordered=False"):
        batch.map(collatz, numpy.arange(1, 5), ordered=False, device="emulator")


def test_refuses_explanations():
    def explains():
        return batch.vmap(layer, (0, None), device="emulator").explain(X, W)  # here
    text = REFUSED + "explain(), because one launch of a kernel runs a whole mini-batch; use " \
        "device='cpu'"
    with raises(ValueError, f"{HERE}:{marked_line(explains)} (in explains): {text}"):
        explains()
    with raises(ValueError, text):
        batch.compile(DOUBLES, device="emulator").bind().explain(X)


def test_refuses_streams():
    function = batch.compile(DOUBLES, strategy="lockstep", device="emulator").bind()
    with raises(batch.Error, "streams of instances are only supported in lockstep on the host; "
                "compile the model with strategy='lockstep' and device='cpu'"):
        _native.Stream(function._session(), capacity=2)


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cuda:-1", "emulator:0", "CPU", None])
def test_refuses_unknown_devices(device):
    text = f"invalid device {device!r}; expected 'cpu', 'emulator', 'cuda' or 'cuda:N', where N " \
        "is the number of a GPU"
    for call in (lambda: batch.vmap(layer, device=device),
                 lambda: batch.map(layer, X, device=device),
                 lambda: batch.compile(DOUBLES, device=device),
                 lambda: batch.sample(layer, device=device)):
        with raises(ValueError, text):
            call()


# --- GPUs -------------------------------------------------------------------------------

def test_refuses_gpus_without_a_driver(monkeypatch):
    monkeypatch.setenv("BATCH_CUDA_DRIVER", "/no/driver.so")
    with pytest.raises(batch.Error, match=r"no NVIDIA driver found \(/no/driver\.so\): .*; install "
                       "the GPU driver, or use device='cpu' or device='emulator'"):
        batch.vmap(layer, (0, None), device="cuda")(X, W)


@pytest.fixture
def one_gpu(monkeypatch):
    """The driver of the runtime's unit tests, which has one GPU."""
    tools = os.path.dirname(os.environ["BATCH_COMPILE"])
    driver = os.path.join(os.path.dirname(tools), "runtime", "unittests", "fake_cuda.so")
    if not os.path.exists(driver):
        pytest.skip("the unit tests of the runtime are not built")
    monkeypatch.setenv("BATCH_CUDA_DRIVER", driver)


def test_number_of_the_gpu(one_gpu):
    """The number reaches the driver. The compiled model does not depend on it."""
    for call in (lambda: batch.vmap(layer, (0, None), device="cuda:7")(X, W),
                 lambda: batch.compile(DOUBLES, device="cuda:7").bind()(X)):
        with raises(batch.Error, "GPU 7 does not exist; this machine has 1, numbered from 0"):
            call()
    model = batch.compile(DOUBLES, device="cuda")
    assert model.device == "cuda"
    assert batch.compile(DOUBLES, device="cuda:0").device == "cuda"
    model.device = "cuda:3"
    with raises(batch.Error, "GPU 3 does not exist"):
        model.bind()(X)
