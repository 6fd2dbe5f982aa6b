"""Each rule of batch.from_torch computes the same as the PyTorch operation.

A case is a function of tensors. It runs in PyTorch and, after batch.from_torch, in JAX with x64.
"""

import functools
from unittest import mock

import jax
import pytest
from support.torch_comparison import FunctionModule, compare

from batch.torch import aten

torch = pytest.importorskip("torch")
F = torch.nn.functional
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]

# --- inputs of cases --------------------------------------------------------------------

GENERATOR = torch.Generator().manual_seed(3)


def normal(*shape):
    return torch.randn(*shape, generator=GENERATOR)


def uniform(*shape):
    return torch.rand(*shape, generator=GENERATOR)


def integers(*shape, low=-5, dtype=torch.int64):
    low = 0 if dtype == torch.uint8 else low
    return torch.randint(low, 6, shape, generator=GENERATOR).to(dtype)


X, Y = normal(3, 4), normal(3, 4)
P, Q = uniform(3, 4) * 0.8 + 0.1, uniform(4) + 0.1
M = integers(3, 4)
TRUTH = uniform(3, 4) > 0.5
# (numbers between 0.1 and 0.9, numbers of both signs, a positive vector)
FLOATS = {str(dtype).partition(".")[2]: (P.to(dtype), Y.to(dtype), Q.to(dtype))
          for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)}
# (numbers of both signs if the type is signed, positive numbers)
INTEGERS = {str(dtype).partition(".")[2]:
            (integers(3, 4, dtype=dtype), integers(3, 4, low=1, dtype=dtype).clamp(min=1))
            for dtype in (torch.int64, torch.int32, torch.uint8)}
T = normal(2, 3, 4)
INDEX = torch.tensor([2, 0, 1, 2])
ORDERED = torch.randperm(12, generator=GENERATOR).reshape(3, 4).float()
IMAGE, SIGNAL = normal(1, 4, 9, 8), normal(4, 12)
KERNEL, KERNEL_1D = normal(6, 4, 3, 3), normal(6, 4, 3)
QUERIES, MASK = normal(2, 5, 4), uniform(5, 5) > 0.3

CASES = {}  # (function, inputs) by name


def case(*inputs, suffix=""):
    """Registers a function to compare with PyTorch on these inputs."""
    def register(function):
        CASES[function.__name__ + suffix] = function, inputs
        return function
    return register


def case_by_type(tensors, *places):
    """Registers a function for each type, with the tensors at these indices as inputs."""
    def register(function):
        for name, inputs in tensors.items():
            case(*(inputs[place] for place in places), suffix=f"-{name}")(function)
        return function
    return register


# --- each rule --------------------------------------------------------------------------

@case_by_type(FLOATS, 0, 1)
def functions_of_a_number(a, b):
    return [f(a) for f in (
        torch.exp, torch.log, torch.sqrt, torch.rsqrt, torch.sin, torch.cos, torch.tan,
        torch.asin, torch.acos, torch.atan, torch.sinh, torch.cosh, torch.tanh, torch.asinh,
        torch.atanh, torch.erf, torch.reciprocal, torch.sigmoid, torch.log1p, torch.log2,
        torch.log10, torch.exp2, torch.expm1, torch.digamma, torch.lgamma)] + [
        f(b) for f in (torch.abs, torch.neg, torch.ceil, torch.floor, torch.trunc,
                       torch.round, torch.sign, torch.relu, torch.square, torch.isnan,
                       torch.isinf, torch.logical_not)] + [torch.acosh(a + 1)]


@case_by_type(FLOATS, 1)
def activations(x):
    return [
        F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.elu(x), F.elu(x, 0.5),
        F.selu(x), F.leaky_relu(x), F.leaky_relu(x, 0.2), F.hardtanh(x), F.relu6(x),
        F.softplus(x), F.softplus(x, 2, 1), F.hardswish(x), F.hardsigmoid(x), F.mish(x),
        F.logsigmoid(x), F.tanhshrink(x), F.softsign(x), F.softmin(x, 0), F.glu(x, 1)]


@case_by_type(FLOATS, 0, 1, 2)
def arithmetic(a, b, v):
    return [
        a + b, a + 2, a + 0.5, 3 - a, a - b, torch.sub(a, b, alpha=2),
        torch.add(a, v, alpha=0.5), a * v, a * 3, b / a, b / 2, 1 / a, b // a, b % a,
        torch.fmod(b, a), torch.div(b, a, rounding_mode="trunc"), a ** 2, a ** 0.5,
        a ** -1, a ** b, 2 ** b, -a, torch.maximum(a, b), torch.minimum(a, b),
        torch.max(a, b), torch.atan2(a, b), torch.addcmul(a, a, b, value=0.5),
        torch.lerp(a, b, 0.3), torch.hypot(a, b)]


@case_by_type(FLOATS, 0, 1, 2)
def comparisons(a, b, v):
    return [
        a < b, a <= v, a > 0.5, a >= b, b == b, b != v, torch.where(a < b, a, b),
        torch.where(a < 0.5, a, 1.0), b.clamp(-0.5, 0.5), b.clamp(min=0), b.clamp(max=0.25),
        torch.clamp(b, min=-a, max=a), b.clamp_min(0.1), b.masked_fill(b < 0, 7),
        torch.isclose(a, a), torch.nan_to_num(b / 0)]


@case_by_type(FLOATS, 0, 1)
def reductions(a, b):
    return [
        a.sum(), a.sum(0), a.sum((0, 1)), b.sum(-1, keepdim=True), a.mean(), a.mean(1),
        b.amax(1), b.amin((0, 1), keepdim=True), b.max(), b.min(), b.max(1), b.min(0),
        b.max(0, keepdim=True), b.argmax(), b.argmax(1), b.argmin(0, keepdim=True),
        a.prod(), a.prod(1), a.var(), a.var(1), a.var(0, correction=0, keepdim=True),
        a.std(1), torch.var_mean(a, 1), torch.std_mean(a, 0), b.norm(), b.norm(dim=1),
        torch.logsumexp(a, 1), b.cumsum(1), a.cumprod(0), b.any(), b.any(1), (b > 0).all(),
        b.all(0), F.softmax(b, 1), F.log_softmax(b, 0), F.normalize(b)]


@case_by_type(FLOATS, 0, 1, 2)
def products(a, b, v):
    return [
        a @ b.T, a @ v, v @ v, a[:, 0] @ b, torch.dot(v, v), torch.mv(a, v),
        torch.addmm(a[:, :3], a, b.T), torch.addmm(v[0], a, b.T, beta=0.5, alpha=2),
        torch.outer(v, v), torch.einsum("ij,kj->ik", a, b),
        torch.bmm(a[None], b.T[None]), torch.baddbmm(a[None, :, :3], a[None], b.T[None]),
        F.linear(a, b), F.linear(v, b, b[:, 0]), F.linear(v[None], b), F.bilinear(
            v[None], v[None], torch.stack([b.T @ b, a.T @ a]))]


@case_by_type(INTEGERS, 0, 1)
def arithmetic_of_integers(a, b):
    return [
        a + b, a - b, a * b, a / b, a // b, a % b, torch.fmod(a, b), a + 1, a * 2, a * 0.5,
        torch.div(a, b, rounding_mode="trunc"), a ** 2, torch.pow(b, b), a.abs(), a.sum(),
        a.sum(1), a.prod(), a & b, a | b, a ^ b, ~a, b << 1, b >> 1, a < b, a == 2,
        a < 0.5, a.float() < b, a.to(torch.int16), a.to(torch.bool), a.max(), a.argmax(1),
        a.cumsum(0), torch.exp(a), a.clamp(0, 3), torch.minimum(a, b), a.sort(1).values,
        torch.round(a), torch.sign(a), a.float().mean(), torch.relu(a)]


@case(TRUTH, Y > 0)
def truth(a, b):
    return [
        a & b, a | b, a ^ b, ~a, torch.logical_and(a, b), torch.logical_or(a, b),
        torch.logical_xor(a, b), a.sum(), a.any(), a.all(1), a + b, a * b, a == b,
        torch.where(a, 1.0, 0.0), a.to(torch.float32), a.int() - b.int()]


@case(X, Y.double(), X.half(), M, TRUTH, torch.tensor(0.25, dtype=torch.float64))
def several_types(f, d, h, i, b, s):
    return [
        f + d, f + h, i + f, i * b, b * 2, b + 0.5, f + s, f < s, i < f, h * i, d * s, i / i,
        i * 1.5, h + 1, torch.where(b, f, d), torch.where(b, i, 0.5),
        torch.cat([f, d]), torch.cat([i, f]), torch.stack([h, h * 2]),
        f.double(), f.half(), f.to(torch.bfloat16), f.long(), d.type_as(f), b.long()]


@case(T, X)
def shapes(t, x):
    return [
        t.view(6, 4), t.reshape(-1), t.permute(2, 0, 1), t.transpose(0, 2), x.t(), x.T,
        t.unsqueeze(0), t.unsqueeze(-1), t[:1].squeeze(0), t[:1].squeeze(), x.expand(2, 3, 4),
        x.expand(5, -1, -1), x.repeat(2, 3), t.flip(0, 2), torch.roll(t, 1),
        torch.roll(t, (1, -1), (0, 2)), t.flatten(1), torch.cat([t, t], 1),
        torch.cat([t, t], -1), torch.cat([torch.zeros(0), x[0]]), torch.stack([x, x], 1),
        t.split(2, 1), t.chunk(2, 2), t.split([1, 2], 1), t.unbind(1), t.movedim(0, 2),
        t.swapaxes(1, 2), x.ravel(), x.unflatten(1, (2, 2)), t.contiguous(), t.clone(),
        t.detach(), x.broadcast_to(2, 3, 4), torch.tile(x, (2,)), x.repeat_interleave(2, 0),
        x.diagonal(), x.diagonal(1), t.diagonal(0, 1, 2), torch.diag(x[0]), x.tril(),
        x.triu(1), torch.atleast_2d(x[0]), torch.meshgrid(x[0], x[1], indexing="ij"),
        torch.hstack([x, x])]


@case(T)
def slices(t):
    return [
        t[1], t[:, 1:], t[..., -1], t[:, ::2], t[:, None], t[0, 1:3, ::3], t[:, -2:], t[5:],
        t.select(1, -1), t.narrow(2, 1, 2), t[1:1], torch.tensor_split(t, 3, 2),
        t[:, :, 1:3]]


@case(T)
def padding(t):
    return [
        F.pad(t, (1, 2)), F.pad(t, (1, 0, 2, 1), value=3.5), F.pad(t, (-1, 1)),
        F.pad(t, (1, 2), "reflect"), F.pad(t, (2, 1), "replicate"),
        F.pad(t, (1, 1, 2, 0), "replicate"), F.pad(t, (1, 1, 2, 0), "reflect")]


@case(T, X)
def changes_in_place(t, x):
    t, z = t.clone(), torch.zeros(3, 4)
    t[0] = x
    t[1, 1:] = 2
    t[:, :, 0].add_(1)
    t[:, ::2] *= 0.5
    z.copy_(x)
    w = torch.empty(2, 2).fill_(0.5)
    return t, z, w, z.masked_fill_(x > 0, -1), x.new_zeros(2), x.new_full((2,), 3)


@case(X)
def new_tensors(x):
    return [
        torch.zeros(2, 3), torch.ones(2, dtype=torch.int32), torch.full((2,), 1.5),
        torch.full((2,), 7), torch.arange(5), torch.arange(1, 10, 3), torch.arange(0, 1, 0.25),
        torch.arange(5, 0, -2), torch.zeros_like(x), torch.ones_like(x),
        torch.full_like(x, 2), torch.eye(3), torch.eye(2, 3), torch.linspace(0, 1, 5),
        torch.tensor([1.0, 2.0]) * x[0, 0], torch.scalar_tensor(3.0) + x,
        torch.empty_like(x).fill_(1), x.new_ones(3), torch.ones(()),
        F.one_hot(torch.arange(3), 4)]


@case(T, X, INDEX)
def reads_at_indices(t, x, i):
    return [
        t[:, i], x[i], x[i, i], x[:, i], t[:, i[:, None], i[:2]], t[i[:2] * 0, :, i[:2]],
        torch.index_select(x, 0, i), torch.index_select(t, 2, i), x[i - 3], x[i[0]],
        t[1, i[1]], torch.gather(x, 1, i[None].expand(3, 4)), torch.gather(x, 0, i[None, :2]),
        torch.take_along_dim(x, i[None] % 3, 0), F.embedding(i, x),
        F.embedding(i[0], x, padding_idx=1), F.embedding(i[None], x), x.take(i),
        x[0].index_select(0, i)]


@case(X, INDEX)
def reads_at_a_value(x, i):
    n = i[0].item()
    torch._check(n >= 0)
    torch._check(n < 3)
    return x[n], x.narrow(0, n, 1), x.select(0, n)


@case(T % 3, X, INDEX)
def writes_at_indices(t, x, i):
    return [
        x.index_put((i[:3],), x * 2), t.index_put((i % 2, i % 3), x[0, 0], accumulate=True),
        x.index_add(1, i, x), x.index_fill(0, i[:1], 3), x.index_copy(0, i[:3], x * 3),
        x.scatter(0, i[None], x), x.scatter(0, i[None], 1.5),
        x.scatter_add(1, i[None].expand(3, 4), x),
        x.scatter_reduce(1, i[None].expand(3, 4), x, "amax"),
        x.scatter_reduce(1, i[None].expand(3, 4), x, "sum")]


@case(ORDERED)
def orders(x):
    return [
        x.sort(), x.sort(0, descending=True), x.argsort(1), x.topk(2), x.topk(2, 0),
        x.topk(3, 1, largest=False), torch.sort(x, stable=True, dim=0)]


@case(torch.tensor(1.5), torch.tensor(2.0))
def numbers(a, b):
    return [
        a + b, a.sum(), a.max(), a.argmax(), a.softmax(0), a.cumsum(0), a.expand(3),
        a.view(1), a.reshape(1, 1), a.sort(), a.topk(1), a.max(0), F.log_softmax(a, 0),
        a.any(), a.mean(), a.cumprod(0), torch.gather(a, 0, torch.tensor(0)),
        a.index_select(0, torch.tensor([0])), a.transpose(0, 0), a.flip(()), a.amax()]


@case(IMAGE, SIGNAL, KERNEL, KERNEL_1D)
def convolutions(i, s, k, m):
    return [
        F.conv2d(i, k), F.conv2d(i, k, m[:, 0, 0], 2, 1), F.conv2d(i, k, None, 1, 2, 2),
        F.conv2d(i, k[:, :2], groups=2), F.conv2d(i[0], k), F.conv1d(s, m),
        F.conv1d(s[None], m, None, 3, 1), F.conv2d(i, k, padding="same"),
        F.conv_transpose2d(i, k.transpose(0, 1)), F.conv_transpose2d(
            i, k.transpose(0, 1), m[:, 0, 0], 2, 1, 1, dilation=2),
        F.conv_transpose1d(s[None], m[:4], None, 2, 0, 0, 2),
        F.conv3d(i[:, :, None], k[:, :, None])]


@case(IMAGE, SIGNAL)
def pooling(i, s):
    return [
        F.max_pool2d(i, 2), F.max_pool2d(i, 3, 2, 1), F.max_pool1d(s, 3), F.avg_pool2d(i, 2),
        F.avg_pool2d(i, 3, 2, 1), F.avg_pool2d(i, (3, 2), 1, 1, count_include_pad=False),
        F.avg_pool2d(i, 2, divisor_override=3), F.avg_pool1d(s, 3),
        F.adaptive_avg_pool2d(i, 1), F.adaptive_avg_pool2d(i, (3, 2)),
        F.adaptive_avg_pool1d(s, 4), F.avg_pool3d(i, 2)]


@case(X, T, IMAGE)
def normalizations(x, t, i):
    return [
        F.layer_norm(x, (4,)), F.layer_norm(t, (3, 4), t[0] + 1, t[1]), F.group_norm(i, 2),
        F.group_norm(i, 4, t[0, 0] + 1, t[0, 1]), F.rms_norm(x, (4,), t[0, 0]),
        F.batch_norm(i, t[0, 0], t[0, 1].abs(), t[1, 0], t[1, 1]), F.instance_norm(i),
        F.batch_norm(x, t[0, 0], t[0, 1].abs()), F.local_response_norm(i, 2),
        F.cosine_similarity(x, x + 1), F.layer_norm(x.half(), (4,)),
        F.layer_norm(x.bfloat16(), (4,))]


@case(QUERIES, MASK)
def attention(q, mask):
    return [
        F.scaled_dot_product_attention(q, q, q),
        F.scaled_dot_product_attention(q, q, q, is_causal=True),
        F.scaled_dot_product_attention(q, q + 1, q, attn_mask=mask),
        F.scaled_dot_product_attention(q[:, None], q[:, None], q[:, None], scale=0.3)]


@case(X, Y, INDEX)
def losses(x, y, i):
    return [
        F.mse_loss(x, y), F.cross_entropy(x, i[:3]), F.nll_loss(F.log_softmax(x, 1), i[:3]),
        F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.kl_div(x, y.softmax(1)),
        F.binary_cross_entropy_with_logits(x, y.sigmoid()), F.huber_loss(x, y)]


# --- tests ------------------------------------------------------------------------------

def recorded(name, rule, used):
    """Returns a rule that adds its name to a set when it is used."""
    def run(*arguments, **options):
        used.add(name)
        return rule(*arguments, **options)
    return run


@functools.cache
def compare_case(name):
    """Compares a case with PyTorch, and returns the names of the rules that it uses."""
    function, inputs = CASES[name]
    used = set()
    rules = {key: recorded(key, rule, used) for key, rule in aten.RULES.items()}
    with mock.patch.dict(aten.RULES, rules), jax.enable_x64(True):
        compare(FunctionModule(function), *inputs)
    return used


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    compare_case(name)


def test_cases_use_every_rule():
    assert not set(aten.RULES).difference(*map(compare_case, CASES))
