#!/usr/bin/env python3
"""check_torch_cells.py: batch.from_torch. Each rule of an operation against PyTorch, whole
modules, alone and in functions that Batch compiles, and errors.

Runs in an environment that has the package, JAX and PyTorch.
"""

import os
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("batch.from_torch")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")
warnings.filterwarnings("ignore", category=UserWarning)

import batch  # noqa: E402
from batch import _aten, _torch  # noqa: E402

nn, F = torch.nn, torch.nn.functional
refused = checks.refused
torch.manual_seed(3)
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5,
             torch.float64: 1e-11}

# Rules say when they have been used.
used = set()


def noted(name, function):
    def run(*arguments, **named):
        used.add(name)
        return function(*arguments, **named)
    return run


for key, function in list(_aten.RULES.items()):
    _aten.RULES[key] = noted(key, function)


class Of(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def flat(value):
    return [leaf for leaf in torch.utils._pytree.tree_flatten(value)[0]
            if leaf is not None]


def differs(found, wanted):
    """What differs, or None."""
    found, wanted = flat(found), flat(wanted)
    if len(found) != len(wanted):
        return "%d results, not %d" % (len(found), len(wanted))
    for i, (a, b) in enumerate(zip(found, wanted)):
        kind = str(_torch._dtype(b.dtype))
        if str(a.dtype) != kind or tuple(a.shape) != tuple(b.shape):
            return "result %d is %s%s, not %s%s" % (i, a.dtype, list(a.shape), kind,
                                                    list(b.shape))
        tolerance = TOLERANCE.get(b.dtype, 0)
        a = numpy.asarray(a).astype(numpy.float64)
        b = b.detach().to(torch.float64).numpy()
        if not numpy.allclose(a, b, tolerance, tolerance, equal_nan=True):
            return "result %d differs by %g" % (i, numpy.abs(a - b).max())
    return None


def compare(what, function, *inputs):
    module = function if isinstance(function, nn.Module) else Of(function)
    module.eval()
    try:
        wanted = module(*[v.clone() if isinstance(v, torch.Tensor) else v for v in inputs])
        found = batch.from_torch(module, tuple(inputs))(*inputs)
    except Exception as error:
        checks.expect(what, False, repr(error)[:600])
        return
    difference = differs(found, wanted)
    checks.expect(what, difference is None, difference)


# --- each rule ---------------------------------------------------------------------------

jax.config.update("jax_enable_x64", True)
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.uint8]


def integers(*shape, low=-5, high=6, dtype=torch.int64):
    return torch.randint(0 if dtype == torch.uint8 else low, high, shape).to(dtype)


x, y = torch.randn(3, 4), torch.randn(3, 4)
p, q = torch.rand(3, 4) * 0.8 + 0.1, torch.rand(4) + 0.1
m, n = integers(3, 4), integers(3, 4, low=1)
yes = torch.rand(3, 4) > 0.5

for dtype in FLOATS:
    name = str(dtype).partition(".")[2] + ": "
    a, b, v = p.to(dtype), y.to(dtype), q.to(dtype)
    compare(name + "functions of a number", lambda a, b: [f(a) for f in (
        torch.exp, torch.log, torch.sqrt, torch.rsqrt, torch.sin, torch.cos, torch.tan,
        torch.asin, torch.acos, torch.atan, torch.sinh, torch.cosh, torch.tanh, torch.asinh,
        torch.atanh, torch.erf, torch.reciprocal, torch.sigmoid, torch.log1p, torch.log2,
        torch.log10, torch.exp2, torch.expm1, torch.digamma, torch.lgamma)] + [
        f(b) for f in (torch.abs, torch.neg, torch.ceil, torch.floor, torch.trunc,
                       torch.round, torch.sign, torch.relu, torch.square, torch.isnan,
                       torch.isinf, torch.logical_not)] + [torch.acosh(a + 1)], a, b)
    compare(name + "activations", lambda x: [
        F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.elu(x), F.elu(x, 0.5),
        F.selu(x), F.leaky_relu(x), F.leaky_relu(x, 0.2), F.hardtanh(x), F.relu6(x),
        F.softplus(x), F.softplus(x, 2, 1), F.hardswish(x), F.hardsigmoid(x), F.mish(x),
        F.logsigmoid(x), F.tanhshrink(x), F.softsign(x), F.softmin(x, 0), F.glu(x, 1)], b)
    compare(name + "arithmetic", lambda a, b, v: [
        a + b, a + 2, a + 0.5, 3 - a, a - b, torch.sub(a, b, alpha=2),
        torch.add(a, v, alpha=0.5), a * v, a * 3, b / a, b / 2, 1 / a, b // a, b % a,
        torch.fmod(b, a), torch.div(b, a, rounding_mode="trunc"), a ** 2, a ** 0.5,
        a ** -1, a ** b, 2 ** b, -a, torch.maximum(a, b), torch.minimum(a, b),
        torch.max(a, b), torch.atan2(a, b), torch.addcmul(a, a, b, value=0.5),
        torch.lerp(a, b, 0.3), torch.hypot(a, b)], a, b, v)
    compare(name + "comparisons", lambda a, b, v: [
        a < b, a <= v, a > 0.5, a >= b, b == b, b != v, torch.where(a < b, a, b),
        torch.where(a < 0.5, a, 1.0), b.clamp(-0.5, 0.5), b.clamp(min=0), b.clamp(max=0.25),
        torch.clamp(b, min=-a, max=a), b.clamp_min(0.1), b.masked_fill(b < 0, 7),
        torch.isclose(a, a), torch.nan_to_num(b / 0)], a, b, v)
    compare(name + "reductions", lambda a, b: [
        a.sum(), a.sum(0), a.sum((0, 1)), b.sum(-1, keepdim=True), a.mean(), a.mean(1),
        b.amax(1), b.amin((0, 1), keepdim=True), b.max(), b.min(), b.max(1), b.min(0),
        b.max(0, keepdim=True), b.argmax(), b.argmax(1), b.argmin(0, keepdim=True),
        a.prod(), a.prod(1), a.var(), a.var(1), a.var(0, correction=0, keepdim=True),
        a.std(1), torch.var_mean(a, 1), torch.std_mean(a, 0), b.norm(), b.norm(dim=1),
        torch.logsumexp(a, 1), b.cumsum(1), a.cumprod(0), b.any(), b.any(1), (b > 0).all(),
        b.all(0), F.softmax(b, 1), F.log_softmax(b, 0), F.normalize(b)],
        a, b)
    compare(name + "products", lambda a, b, v: [
        a @ b.T, a @ v, v @ v, a[:, 0] @ b, torch.dot(v, v), torch.mv(a, v),
        torch.addmm(a[:, :3], a, b.T), torch.addmm(v[0], a, b.T, beta=0.5, alpha=2),
        torch.outer(v, v), torch.einsum("ij,kj->ik", a, b),
        torch.bmm(a[None], b.T[None]), torch.baddbmm(a[None, :, :3], a[None], b.T[None]),
        F.linear(a, b), F.linear(v, b, b[:, 0]), F.linear(v[None], b), F.bilinear(
            v[None], v[None], torch.stack([b.T @ b, a.T @ a]))], a, b, v)

for dtype in INTEGERS:
    a, b = integers(3, 4, dtype=dtype), integers(3, 4, low=1, dtype=dtype).clamp(min=1)
    name = str(dtype).partition(".")[2] + ": "
    compare(name + "arithmetic", lambda a, b: [
        a + b, a - b, a * b, a / b, a // b, a % b, torch.fmod(a, b), a + 1, a * 2, a * 0.5,
        torch.div(a, b, rounding_mode="trunc"), a ** 2, torch.pow(b, b), a.abs(), a.sum(),
        a.sum(1), a.prod(), a & b, a | b, a ^ b, ~a, b << 1, b >> 1, a < b, a == 2,
        a < 0.5, a.float() < b, a.to(torch.int16), a.to(torch.bool), a.max(), a.argmax(1),
        a.cumsum(0), torch.exp(a), a.clamp(0, 3), torch.minimum(a, b), a.sort(1).values,
        torch.round(a), torch.sign(a), a.float().mean(), torch.relu(a)], a, b)
compare("truth", lambda a, b: [
    a & b, a | b, a ^ b, ~a, torch.logical_and(a, b), torch.logical_or(a, b),
    torch.logical_xor(a, b), a.sum(), a.any(), a.all(1), a + b, a * b, a == b,
    torch.where(a, 1.0, 0.0), a.to(torch.float32), a.int() - b.int()], yes, y > 0)
compare("several types", lambda f, d, h, i, b, s: [
    f + d, f + h, i + f, i * b, b * 2, b + 0.5, f + s, f < s, i < f, h * i, d * s, i / i,
    i * 1.5, h + 1, torch.where(b, f, d), torch.where(b, i, 0.5),
    torch.cat([f, d]), torch.cat([i, f]), torch.stack([h, h * 2]),
    f.double(), f.half(), f.to(torch.bfloat16), f.long(), d.type_as(f), b.long()],
    x, y.double(), x.half(), m, yes, torch.tensor(0.25, dtype=torch.float64))

t = torch.randn(2, 3, 4)
compare("shapes", lambda t, x: [
    t.view(6, 4), t.reshape(-1), t.permute(2, 0, 1), t.transpose(0, 2), x.t(), x.T,
    t.unsqueeze(0), t.unsqueeze(-1), t[:1].squeeze(0), t[:1].squeeze(), x.expand(2, 3, 4),
    x.expand(5, -1, -1), x.repeat(2, 3), t.flip(0, 2), torch.roll(t, 1),
    torch.roll(t, (1, -1), (0, 2)), t.flatten(1), torch.cat([t, t], 1),
    torch.cat([t, t], -1), torch.cat([torch.zeros(0), x[0]]), torch.stack([x, x], 1),
    t.split(2, 1), t.chunk(2, 2), t.split([1, 2], 1), t.unbind(1), t.movedim(0, 2),
    t.swapaxes(1, 2), x.ravel(), x.unflatten(1, (2, 2)), t.contiguous(), t.clone(),
    t.detach(), x.broadcast_to(2, 3, 4), torch.tile(x, (2,)), x.repeat_interleave(2, 0),
    x.diagonal(), x.diagonal(1), t.diagonal(0, 1, 2), torch.diag(x[0]), x.tril(), x.triu(1),
    torch.atleast_2d(x[0]), torch.meshgrid(x[0], x[1], indexing="ij"), torch.hstack([x, x])],
    t, x)
compare("slices", lambda t: [
    t[1], t[:, 1:], t[..., -1], t[:, ::2], t[:, None], t[0, 1:3, ::3], t[:, -2:], t[5:],
    t.select(1, -1), t.narrow(2, 1, 2), t[1:1], torch.tensor_split(t, 3, 2),
    t[:, :, 1:3]], t)
compare("padding", lambda t: [
    F.pad(t, (1, 2)), F.pad(t, (1, 0, 2, 1), value=3.5), F.pad(t, (-1, 1)),
    F.pad(t, (1, 2), "reflect"), F.pad(t, (2, 1), "replicate"),
    F.pad(t, (1, 1, 2, 0), "replicate"), F.pad(t, (1, 1, 2, 0), "reflect")], t)


def changes(t, x):
    t, z = t.clone(), torch.zeros(3, 4)
    t[0] = x
    t[1, 1:] = 2
    t[:, :, 0].add_(1)
    t[:, ::2] *= 0.5
    z.copy_(x)
    w = torch.empty(2, 2).fill_(0.5)
    return t, z, w, z.masked_fill_(x > 0, -1), x.new_zeros(2), x.new_full((2,), 3)


compare("changes in place", changes, t, x)
compare("tensors from nothing", lambda x: [
    torch.zeros(2, 3), torch.ones(2, dtype=torch.int32), torch.full((2,), 1.5),
    torch.full((2,), 7), torch.arange(5), torch.arange(1, 10, 3), torch.arange(0, 1, 0.25),
    torch.arange(5, 0, -2), torch.zeros_like(x), torch.ones_like(x),
    torch.full_like(x, 2), torch.eye(3), torch.eye(2, 3), torch.linspace(0, 1, 5),
    torch.tensor([1.0, 2.0]) * x[0, 0], torch.scalar_tensor(3.0) + x,
    torch.empty_like(x).fill_(1), x.new_ones(3), torch.ones(()),
    F.one_hot(torch.arange(3), 4)], x)
index = torch.tensor([2, 0, 1, 2])
compare("reads at indices", lambda t, x, i: [
    t[:, i], x[i], x[i, i], x[:, i], t[:, i[:, None], i[:2]], t[i[:2] * 0, :, i[:2]],
    torch.index_select(x, 0, i), torch.index_select(t, 2, i), x[i - 3], x[i[0]], t[1, i[1]],
    torch.gather(x, 1, i[None].expand(3, 4)), torch.gather(x, 0, i[None, :2]),
    torch.take_along_dim(x, i[None] % 3, 0), F.embedding(i, x),
    F.embedding(i[0], x, padding_idx=1), F.embedding(i[None], x), x.take(i),
    x[0].index_select(0, i)], t, x, index)


def at_a_value(x, i):
    n = i[0].item()
    torch._check(n >= 0)
    torch._check(n < 3)
    return x[n], x.narrow(0, n, 1), x.select(0, n)


compare("positions that are values", at_a_value, x, index)
compare("writes at indices", lambda t, x, i: [
    x.index_put((i[:3],), x * 2), t.index_put((i % 2, i % 3), x[0, 0], accumulate=True),
    x.index_add(1, i, x), x.index_fill(0, i[:1], 3), x.index_copy(0, i[:3], x * 3),
    x.scatter(0, i[None], x), x.scatter(0, i[None], 1.5),
    x.scatter_add(1, i[None].expand(3, 4), x),
    x.scatter_reduce(1, i[None].expand(3, 4), x, "amax"),
    x.scatter_reduce(1, i[None].expand(3, 4), x, "sum")], t % 3, x, index)
compare("orders", lambda x: [
    x.sort(), x.sort(0, descending=True), x.argsort(1), x.topk(2), x.topk(2, 0),
    x.topk(3, 1, largest=False), torch.sort(x, stable=True, dim=0)],
    torch.randperm(12).reshape(3, 4).float())
compare("numbers", lambda a, b: [
    a + b, a.sum(), a.max(), a.argmax(), a.softmax(0), a.cumsum(0), a.expand(3), a.view(1),
    a.reshape(1, 1), a.sort(), a.topk(1), a.max(0), F.log_softmax(a, 0), a.any(), a.mean(),
    a.cumprod(0), torch.gather(a, 0, torch.tensor(0)), a.index_select(0, torch.tensor([0])),
    a.transpose(0, 0), a.flip(()), a.amax()], torch.tensor(1.5), torch.tensor(2.0))

image, signal = torch.randn(1, 4, 9, 8), torch.randn(4, 12)
kernel, kernel1 = torch.randn(6, 4, 3, 3), torch.randn(6, 4, 3)
compare("convolutions", lambda i, s, k, l: [
    F.conv2d(i, k), F.conv2d(i, k, l[:, 0, 0], 2, 1), F.conv2d(i, k, None, 1, 2, 2),
    F.conv2d(i, k[:, :2], groups=2), F.conv2d(i[0], k), F.conv1d(s, l),
    F.conv1d(s[None], l, None, 3, 1), F.conv2d(i, k, padding="same"),
    F.conv_transpose2d(i, k.transpose(0, 1)), F.conv_transpose2d(
        i, k.transpose(0, 1), l[:, 0, 0], 2, 1, 1, dilation=2),
    F.conv_transpose1d(s[None], l[:4], None, 2, 0, 0, 2),
    F.conv3d(i[:, :, None], k[:, :, None])],
    image, signal, kernel, kernel1)
compare("pooling", lambda i, s: [
    F.max_pool2d(i, 2), F.max_pool2d(i, 3, 2, 1), F.max_pool1d(s, 3), F.avg_pool2d(i, 2),
    F.avg_pool2d(i, 3, 2, 1), F.avg_pool2d(i, (3, 2), 1, 1, count_include_pad=False),
    F.avg_pool2d(i, 2, divisor_override=3), F.avg_pool1d(s, 3),
    F.adaptive_avg_pool2d(i, 1), F.adaptive_avg_pool2d(i, (3, 2)),
    F.adaptive_avg_pool1d(s, 4), F.avg_pool3d(i, 2)], image, signal)
compare("normalizations", lambda x, t, i: [
    F.layer_norm(x, (4,)), F.layer_norm(t, (3, 4), t[0] + 1, t[1]), F.group_norm(i, 2),
    F.group_norm(i, 4, t[0, 0] + 1, t[0, 1]), F.rms_norm(x, (4,), t[0, 0]),
    F.batch_norm(i, t[0, 0], t[0, 1].abs(), t[1, 0], t[1, 1]), F.instance_norm(i),
    F.batch_norm(x, t[0, 0], t[0, 1].abs()), F.local_response_norm(i, 2),
    F.cosine_similarity(x, x + 1), F.layer_norm(x.half(), (4,)),
    F.layer_norm(x.bfloat16(), (4,))], x, t, image)
queries = torch.randn(2, 5, 4)
compare("attention", lambda q, mask: [
    F.scaled_dot_product_attention(q, q, q),
    F.scaled_dot_product_attention(q, q, q, is_causal=True),
    F.scaled_dot_product_attention(q, q + 1, q, attn_mask=mask),
    F.scaled_dot_product_attention(q[:, None], q[:, None], q[:, None], scale=0.3)],
    queries, torch.rand(5, 5) > 0.3)
compare("losses", lambda x, y, i: [
    F.mse_loss(x, y), F.cross_entropy(x, i[:3]), F.nll_loss(F.log_softmax(x, 1), i[:3]),
    F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.kl_div(x, y.softmax(1)),
    F.binary_cross_entropy_with_logits(x, y.sigmoid()), F.huber_loss(x, y)], x, y, index)

unused = sorted(set(_aten.RULES) - used)
checks.equal("rules that no test uses", unused, [])

# --- modules -----------------------------------------------------------------------------

jax.config.update("jax_enable_x64", False)


def vector(*shape):
    return torch.randn(*shape)


for module, inputs in [
        (nn.LSTMCell(4, 5), (vector(4), (vector(5), vector(5)))),
        (nn.GRUCell(4, 5), (vector(4), vector(5))),
        (nn.RNNCell(4, 5), (vector(4), vector(5))),
        (nn.LSTM(4, 5, 2, bidirectional=True), (vector(6, 4),)),
        (nn.GRU(4, 5, batch_first=True), (vector(1, 6, 4), vector(1, 1, 5))),
        (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (vector(1, 5, 4),)),
        (nn.TransformerEncoderLayer(4, 2, 8, activation="gelu", norm_first=True),
         (vector(5, 4),)),
        (nn.MultiheadAttention(6, 3), (vector(5, 6), vector(5, 6), vector(5, 6))),
        (nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
                       nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(), nn.Linear(64, 3)),
         (vector(1, 3, 8, 8),)),
        (nn.Sequential(nn.Conv1d(3, 4, 3), nn.InstanceNorm1d(4), nn.PReLU()),
         (vector(3, 9),)),
        (nn.Bilinear(3, 4, 2), (vector(3), vector(4))),
        (nn.Embedding(7, 3), (torch.tensor([3, 1]),))]:
    compare(type(module).__name__, module, *inputs)


class Node(nn.Module):
    """A node of a TreeLSTM, of a word's row and two children; what it computes from its
    buffer and a constant, and a layer that it applies twice."""

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


node = Node(9, 4).eval()
pair = (vector(4), vector(4))
cell = batch.from_torch(node, (torch.tensor(2), pair, pair))
checks.equal("parameters by name, each once", sorted(cell.parameters), [
    "gates.bias", "gates.weight", "last.bias", "last.weight", "scale", "words.weight"])
word, hidden = jnp.int32(7), numpy.random.default_rng(1).normal(size=(4, 4)).astype("f")
arguments = (word, (hidden[0], hidden[1]), (hidden[2], hidden[3]))
wanted = node(torch.tensor(7), *[tuple(map(torch.tensor, part)) for part in arguments[1:]])
checks.equal("the structure of inputs and results", sorted(cell(*arguments)), ["c", "h"])
checks.equal("a tree of results", differs(cell(*arguments), wanted), None)
checks.expect("with its own parameters",
              differs(cell(cell.parameters, *arguments), wanted) is None)
doubled = {name: 2 * value for name, value in cell.parameters.items()}
with torch.no_grad():
    for tensor in list(node.parameters()) + list(node.buffers()):
        tensor.mul_(2)
checks.expect("parameters stay what they were",
              differs(cell(*arguments), wanted) is None)
twice = node(torch.tensor(7), *[tuple(map(torch.tensor, part)) for part in arguments[1:]])
checks.expect("other parameters", differs(cell(doubled, *arguments), twice) is None)
again = batch.from_torch(node, (torch.tensor(2), pair, pair))
checks.expect("parameters are read when a cell is made",
              differs(again(*arguments), twice) is None)
third = batch.from_torch(node, (torch.tensor(2), pair, pair))
checks.expect("cells of a module have one array for a parameter",
              third.parameters["gates.weight"] is again.parameters["gates.weight"])
gradient = jax.grad(lambda p: cell(p, *arguments)["h"].sum())(dict(
    (k, v) for k, v in doubled.items()))
twice["h"].sum().backward()
checks.expect("JAX's gradient of a cell is PyTorch's", differs(
    gradient["gates.weight"], node.gates.weight.grad) is None)

# In functions that Batch compiles.
N = 5
words, states = numpy.arange(N), numpy.random.default_rng(2).normal(
    size=(4, N, 4)).astype("f")


def compiled(what, f, *arrays):
    found, wanted = batch.vmap(f)(*arrays), jax.vmap(f)(*arrays)
    checks.expect(what, jax.tree.all(jax.tree.map(
        lambda a, b: numpy.allclose(a, b, 1e-5, 1e-5), found, wanted)))


compiled("batch.vmap of a cell", lambda w, a, b, c, d: cell(w, (a, b), (c, d)), words,
         *states)


def steps(word, a, b):
    """As often as the state says."""
    def body(s):
        now = again(word, (s[0], s[1]), (s[1], s[0]))
        return now["h"], now["c"], s[2] + 1
    return jax.lax.while_loop(
        lambda s: (s[2] < 9) & (jnp.abs(s[0]).sum() > 0.2 + word), body, (a, b, 0))


compiled("in a loop of each lane's own", steps, words, states[0], states[1])
compiled("in a condition", lambda w, a, b: jax.lax.cond(
    w % 2 == 0, lambda: cell(w, (a, b), (a, b))["h"], lambda: a), words, *states[:2])
mapped = batch.vmap(lambda p, w, a, b: cell(p, w, (a, b), (b, a)), in_axes=(None, 0, 0, 0))
checks.expect("parameters that the caller gives", jax.tree.all(jax.tree.map(
    lambda a, b: numpy.allclose(a, b, 1e-5, 1e-5),
    mapped(doubled, words, states[0], states[1]),
    jax.vmap(lambda w, a, b: again(w, (a, b), (b, a)))(words, states[0], states[1]))))

# --- errors ------------------------------------------------------------------------------


def line(function):
    """A pattern for a place in a function of this file."""
    return "check_torch_cells.py:%d (in forward)" % (function.__code__.co_firstlineno + 1)


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


four = torch.zeros(4)
Lowering = batch.LoweringError
for what, error, text, module, example in [
        ("a condition on values", Lowering, "jax.lax.cond", Chooses(), four),
        ("a transform", Lowering, line(Transforms.forward) + ": aten._fft", Transforms(),
         four),
        ("random numbers", Lowering, line(Draws.forward) + ": aten.rand makes random",
         Draws(), four),
        ("dropout of a module that is trained", Lowering, "module.eval()",
         nn.Dropout().train(), four),
        ("a shape that depends on values", Lowering,
         line(Selects.forward) + ": aten.", Selects(), four),
        ("torch.cond", Lowering, "jax.lax.cond", Asks(), four),
        ("a buffer that changes", Lowering, "changes its buffer 'count'", Counts(), four),
        ("statistics of a module that is trained", Lowering, "call module.eval()",
         nn.BatchNorm1d(4).train(), torch.zeros(2, 4)),
        ("indices of a maximum", Lowering, "its result 1", Reduces(), four),
        ("complex numbers", Lowering, "complex64", Of(lambda x: x * 1j), four),
        ("an example of another size", Lowering, "torch.export does not take Linear",
         nn.Linear(3, 4), four),
        ("an example that needs a gradient", ValueError, "example input 0 needs a gradient",
         nn.Linear(4, 4), torch.zeros(4, requires_grad=True)),
        ("a parameter without memory", Lowering, "'weight'", nn.Linear(4, 4, device="meta"),
         torch.zeros(4, device="meta")),
        ("a function", TypeError, "torch.nn.Module", torch.tanh, four)]:
    refused(what, error, text, lambda: batch.from_torch(module, example)(jnp.zeros(4)))
linear = batch.from_torch(nn.Linear(4, 2), four)
refused("float64 where JAX has none", Lowering, "jax_enable_x64",
        lambda: batch.from_torch(nn.Linear(4, 2).double(), four.double())(jnp.zeros(4)))
zeros = numpy.zeros(4, "f")
for what, error, text, given in [
        ("a batch", ValueError, "batch.vmap maps it", (numpy.zeros((3, 4), "f"),)),
        ("another type", ValueError, "input 0 is int32[4]", (numpy.zeros(4, "i"),)),
        ("no input", TypeError, "takes 1 inputs", ()),
        ("too many", TypeError, "takes 1 inputs", (zeros, zeros, zeros)),
        ("a parameter less", ValueError, "no parameter 'bias'",
         ({"weight": zeros}, zeros)),
        ("a parameter of another shape", ValueError, "parameter 'bias' is float32[4]",
         ({"bias": zeros, "weight": linear.parameters["weight"]}, zeros)),
        ("parameters that are none", TypeError, "a dictionary", (zeros, zeros)),
        ("an input that needs a gradient", ValueError, "needs a gradient",
         (torch.zeros(4, requires_grad=True),)),
        ("a parameter that needs a gradient", ValueError, "'bias' needs a gradient",
         (dict(nn.Linear(4, 2).named_parameters()), zeros)),
        ("a word", TypeError, "input 0", ("word",))]:
    refused("an input: " + what, error, text, lambda: linear(*given))
checks.expect("tensors of PyTorch's as inputs",
              linear(torch.zeros(4)).shape == (2,))

checks.exit()
