"""batch.from_torch converts modules. Compiled functions call the converted modules."""

import os
import types

import jax
import jax.numpy as jnp
import numpy
import pytest
from support.comparison import raises
from support.torch_comparison import FunctionModule, assert_as_torch, compare

import batch
from batch.torch.export import array

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.fixture(scope="module", autouse=True)
def no_x64():
    with jax.enable_x64(False):
        yield


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Seeds the random parameters of modules."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        yield


# --- modules ----------------------------------------------------------------------------

@pytest.mark.parametrize("make, shapes", [
    (lambda: nn.LSTMCell(4, 5), [(4,), [(5,), (5,)]]),
    (lambda: nn.GRUCell(4, 5), [(4,), (5,)]),
    (lambda: nn.RNNCell(4, 5), [(4,), (5,)]),
    (lambda: nn.LSTM(4, 5, 2, bidirectional=True), [(6, 4)]),
    (lambda: nn.GRU(4, 5, batch_first=True), [(1, 6, 4), (1, 1, 5)]),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), [(1, 5, 4)]),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8, activation="gelu", norm_first=True),
     [(5, 4)]),
    (lambda: nn.MultiheadAttention(6, 3), [(5, 6), (5, 6), (5, 6)]),
    (lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
                           nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(), nn.Linear(64, 3)),
     [(1, 3, 8, 8)]),
    (lambda: nn.Sequential(nn.Conv1d(3, 4, 3), nn.InstanceNorm1d(4), nn.PReLU()), [(3, 9)]),
    (lambda: nn.Bilinear(3, 4, 2), [(3,), (4,)]),
], ids=["LSTMCell", "GRUCell", "RNNCell", "LSTM", "GRU", "TransformerEncoderLayer",
        "TransformerEncoderLayer_norm_first", "MultiheadAttention", "image_classifier",
        "convolution_1d", "Bilinear"])
def test_module(make, shapes):
    """A list among the shapes specifies a tuple of tensors."""
    compare(make(), *[tuple(torch.randn(*part) for part in shape)
                      if isinstance(shape, list) else torch.randn(*shape)
                      for shape in shapes])


def test_embedding():
    compare(nn.Embedding(7, 3), torch.tensor([3, 1]))


class Node(nn.Module):
    """A node of a TreeLSTM: reads a word's row and two children.

    It also reads a buffer and a constant, and applies one layer twice.
    """

    def __init__(self, words, size):
        super().__init__()
        self.words = nn.Embedding(words, size)
        self.gates = nn.Linear(2 * size, 5 * size)
        self.last = nn.Linear(size, size)
        self.alias = self.last
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, word, left, right):
        (hl, cl), (hr, cr) = left, right
        i, fl, fr, o, u = self.gates(torch.cat([hl, hr])).chunk(5)
        c = i.sigmoid() * u.tanh() + fl.sigmoid() * cl + fr.sigmoid() * cr
        h = o.sigmoid() * c.tanh() + self.words(word) * torch.tensor([0.5])
        return {"h": self.last(self.alias(h)) * self.scale, "c": c}


@pytest.fixture(scope="module")
def tree():
    """Cells for a node, before and after its parameters are doubled, and results of the cells.

    cell, found, wanted: a cell with the first parameters, and its results in JAX and in PyTorch.
    again, third, twice: two cells with doubled parameters, and their result in PyTorch.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        node = Node(9, 4).eval()
        pair = torch.randn(4), torch.randn(4)
    hidden = numpy.random.default_rng(1).normal(size=(4, 4)).astype("f")
    arguments = jnp.int32(7), (hidden[0], hidden[1]), (hidden[2], hidden[3])
    tensors = torch.tensor(7), *[tuple(map(torch.tensor, part)) for part in arguments[1:]]

    def convert():
        return batch.from_torch(node, (torch.tensor(2), pair, pair))

    cell = convert()
    found, wanted = cell(*arguments), node(*tensors)
    doubled = {name: 2 * value for name, value in cell.parameters.items()}
    with torch.no_grad():
        for tensor in [*node.parameters(), *node.buffers()]:
            tensor.mul_(2)
    return types.SimpleNamespace(
        node=node, arguments=arguments, cell=cell, found=found, wanted=wanted,
        doubled=doubled, again=convert(), third=convert(), twice=node(*tensors))


def test_names_of_parameters(tree):
    assert sorted(tree.cell.parameters) == [
        "gates.bias", "gates.weight", "last.bias", "last.weight", "scale", "words.weight"]


def test_tree_of_results(tree):
    assert sorted(tree.found) == ["c", "h"]
    assert_as_torch(tree.found, tree.wanted)


def test_own_parameters_as_argument(tree):
    assert_as_torch(tree.cell(tree.cell.parameters, *tree.arguments), tree.wanted)


def test_cell_keeps_its_parameters(tree):
    assert_as_torch(tree.cell(*tree.arguments), tree.wanted)


def test_other_parameters_as_argument(tree):
    assert_as_torch(tree.cell(tree.doubled, *tree.arguments), tree.twice)


def test_new_cell_reads_parameters(tree):
    assert_as_torch(tree.again(*tree.arguments), tree.twice)


def test_cells_share_arrays_of_parameters(tree):
    assert tree.third.parameters["gates.weight"] is tree.again.parameters["gates.weight"]


def test_gradient(tree):
    found = jax.grad(lambda p: tree.cell(p, *tree.arguments)["h"].sum())(dict(tree.doubled))
    wanted = torch.autograd.grad(tree.twice["h"].sum(), tree.node.gates.weight,
                                 retain_graph=True)
    assert_as_torch(found["gates.weight"], wanted)


# --- functions that Batch compiles ------------------------------------------------------

WORDS, STATES = numpy.arange(5), numpy.random.default_rng(2).normal(
    size=(4, 5, 4)).astype("f")


def assert_close(found, wanted):
    jax.tree.map(lambda a, b: numpy.testing.assert_allclose(
        a, b, rtol=1e-5, atol=1e-5, equal_nan=False), found, wanted)


def compare_vmap(f, *arrays):
    assert_close(batch.vmap(f)(*arrays), jax.vmap(f)(*arrays))


def test_vmap(tree):
    compare_vmap(lambda w, a, b, c, d: tree.cell(w, (a, b), (c, d)), WORDS, *STATES)


def test_vmap_of_loop(tree):
    def steps(word, a, b):
        """Runs rounds of the cell. Their number depends on the state and the word of each lane."""
        def body(s):
            now = tree.again(word, (s[0], s[1]), (s[1], s[0]))
            return now["h"], now["c"], s[2] + 1
        return jax.lax.while_loop(
            lambda s: (s[2] < 9) & (jnp.abs(s[0]).sum() > 0.2 + word), body, (a, b, 0))

    compare_vmap(steps, WORDS, *STATES[:2])


def test_vmap_of_condition(tree):
    compare_vmap(lambda w, a, b: jax.lax.cond(
        w % 2 == 0, lambda: tree.cell(w, (a, b), (a, b))["h"], lambda: a), WORDS, *STATES[:2])


def test_vmap_with_parameters_as_argument(tree):
    mapped = batch.vmap(lambda p, w, a, b: tree.cell(p, w, (a, b), (b, a)),
                        in_axes=(None, 0, 0, 0))
    assert_close(mapped(tree.doubled, WORDS, *STATES[:2]),
                 jax.vmap(lambda w, a, b: tree.again(w, (a, b), (b, a)))(WORDS, *STATES[:2]))


# --- unsupported modules ----------------------------------------------------------------

class Chooses(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Transforms(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x).real


class Draws(nn.Module):
    def forward(self, x):
        return x + torch.rand(4)


class Selects(nn.Module):
    def forward(self, x):
        return x[x > 0]


class Makes(nn.Module):
    def forward(self, x):
        n = x.sum().int().item()
        torch._check(n >= 0)
        return torch.arange(n).sum() + x


class Asks(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


class Reduces(nn.Module):
    def forward(self, x):
        return F.max_pool1d(x[None], 2, return_indices=True)


def place_in(module):
    """Returns the location of the first line of the body of a module's `forward`, as messages print
    it."""
    line = module.forward.__code__.co_firstlineno + 1
    return f"{os.path.basename(__file__)}:{line} (in forward)"


FOUR = torch.zeros(4)


@pytest.mark.parametrize("make, example, error, text", [
    (Chooses, FOUR, batch.LoweringError, "jax.lax.cond"),
    (Transforms, FOUR, batch.LoweringError, place_in(Transforms) + ": aten._fft"),
    (Draws, FOUR, batch.LoweringError, place_in(Draws) + ": aten.rand generates random"),
    (lambda: nn.Dropout().train(), FOUR, batch.LoweringError, "module.eval()"),
    (Selects, FOUR, batch.LoweringError, place_in(Selects) + ": aten."),
    (Makes, FOUR, batch.LoweringError, "aten.arange returns a tensor whose shape depends on "
     "values, which is not supported; compute with masks (torch.where)"),
    (Asks, FOUR, batch.LoweringError, "jax.lax.cond"),
    (Counts, FOUR, batch.LoweringError, "changes its buffer 'count'"),
    (lambda: nn.BatchNorm1d(4).train(), torch.zeros(2, 4), batch.LoweringError,
     "call module.eval()"),
    (Reduces, FOUR, batch.LoweringError, "its result 1"),
    (lambda: FunctionModule(lambda x: x * 1j), FOUR, batch.LoweringError, "complex64"),
    (lambda: nn.Linear(3, 4), FOUR, batch.LoweringError,
     "torch.export failed for Linear: "),
    (lambda: nn.Linear(4, 4), torch.zeros(4, requires_grad=True), ValueError,
     "example input 0 requires a gradient"),
    (lambda: nn.Linear(4, 4, device="meta"), torch.zeros(4, device="meta"),
     batch.LoweringError, "tensor 'weight' of type torch.float32 is on the meta device"),
    (lambda: FunctionModule(lambda x: F.avg_pool2d(x.reshape(1, 2, 2), 2, ceil_mode=True)),
     FOUR, batch.LoweringError, "does not support ceil_mode=True"),
    (lambda: FunctionModule(lambda x: F.max_pool2d(x.reshape(1, 2, 2), 2, ceil_mode=True)),
     FOUR, batch.LoweringError, "does not support ceil_mode=True or a dilation"),
    (lambda: FunctionModule(lambda x: F.adaptive_avg_pool2d(x.reshape(1, 2, 2), (2, 3))),
     FOUR, batch.LoweringError,
     "does not support overlapping windows; expected a size that divides 2, got 3"),
    (lambda: FunctionModule(lambda x: x.scatter_reduce(
        0, torch.tensor([0]), x, "amax", include_self=False)), FOUR, batch.LoweringError,
     "does not support include_self=False"),
    (lambda: FunctionModule(lambda x: x.scatter_reduce(0, torch.tensor([0]), x, "mean")), FOUR,
     batch.LoweringError, "does not support reduce='mean'"),
    (lambda: torch.tanh, FOUR, TypeError, "batch.from_torch expected a torch.nn.Module, got "),
    (lambda: nn.Linear(4, 2).double(), FOUR.double(), batch.LoweringError,
     "jax_enable_x64"),
], ids=["condition", "transform", "random_numbers", "dropout_in_training",
        "shape_that_depends_on_values", "range_of_values", "torch_cond", "changed_buffer",
        "statistics_in_training", "indices_of_maximum", "complex_numbers",
        "example_of_other_size", "example_with_gradient", "meta_parameter",
        "average_of_partial_windows", "maximum_of_partial_windows", "overlapping_windows",
        "scatter_without_self", "scatter_of_means", "function", "float64_without_x64"])
def test_module_is_refused(make, example, error, text):
    with raises(error, text):
        batch.from_torch(make(), example)(jnp.zeros(4))


@pytest.mark.parametrize("make, text", [
    (lambda: torch.eye(4).to_sparse(),
     "tensor 'table' of type torch.float32 is sparse, which is not supported"),
    (lambda: torch.zeros(4, dtype=torch.complex64),
     "tensor 'table' has type torch.complex64, which is not supported"),
], ids=["sparse", "complex"])
def test_parameter_is_refused(make, text):
    with raises(batch.LoweringError, text):
        array(make(), "table")


# --- inputs of cells --------------------------------------------------------------------

ZEROS = numpy.zeros(4, "f")


@pytest.fixture(scope="module")
def linear():
    return batch.from_torch(nn.Linear(4, 2), FOUR)


@pytest.mark.parametrize("inputs, error, text", [
    (lambda cell: [numpy.zeros((3, 4), "f")], ValueError,
     "expected float32[4] as in the example; map the cell over instances with batch.vmap"),
    (lambda cell: [numpy.zeros(4, "i")], ValueError, "input 0 is int32[4]"),
    (lambda cell: [], TypeError, "expected 1 input as in its example"),
    (lambda cell: [ZEROS, ZEROS, ZEROS], TypeError, "got 3 arguments with a different structure"),
    (lambda cell: [{"weight": ZEROS}, ZEROS], ValueError, "parameter 'bias' is missing"),
    (lambda cell: [{"bias": ZEROS, "weight": cell.parameters["weight"]}, ZEROS], ValueError,
     "parameter 'bias' is float32[4]; expected float32[2]"),
    (lambda cell: [ZEROS, ZEROS], TypeError, "expected the parameters as a dictionary"),
    (lambda cell: [torch.zeros(4, requires_grad=True)], ValueError,
     "input 0 requires a gradient"),
    (lambda cell: [dict(nn.Linear(4, 2).named_parameters()), ZEROS], ValueError,
     "parameter 'bias' requires a gradient"),
    (lambda cell: ["word"], TypeError, "input 0"),
], ids=["batch", "type", "none", "too_many", "missing_parameter", "shape_of_parameter",
        "array_as_parameters", "gradient", "parameter_with_gradient", "string"])
def test_input_is_refused(linear, inputs, error, text):
    with raises(error, text):
        linear(*inputs(linear))


def test_constant_input_is_refused():
    cell = batch.from_torch(FunctionModule(lambda x, n: x * n), (FOUR, 2))
    with raises(ValueError, "input 1 is a constant of the cell; expected 2 as in the example, "
                "got 3"):
        cell(ZEROS, 3)


def test_repr(linear):
    assert repr(linear) == "<batch.from_torch(Linear), 2 parameters>"


def test_tensor_as_input(linear):
    assert linear(torch.zeros(4)).shape == (2,)
