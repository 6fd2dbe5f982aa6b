"""batch.vmap returns the results of jax.vmap, compiles once, and has independent lanes."""

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import assert_same, raises
from support.vmap import STEPS, N, W, X, Y, as_jax, assert_maps_like_jax

import batch
from batch.transforms import compiled as compiling

pytestmark = pytest.mark.sampled(2)


def case(name, f, *arguments, **options):
    return pytest.param(f, arguments, options, id=name)


def cases(*values):
    return pytest.mark.parametrize("f, arguments, options", values)


# --- control ----------------------------------------------------------------------------

def newton(value):
    return lax.while_loop(lambda s: jnp.abs(s * s - value) > 1e-4,
                          lambda s: (s + value / s) / 2, value)


def nested(row, count):
    def body(state):
        row, i = state
        row, _ = lax.scan(lambda c, a: (jnp.tanh(c @ W + a), c * a), row,
                          jnp.stack([row, row + 1]))
        row = lax.cond(row.sum() > 0, lambda v: v * 0.5, lambda v: v + 1.0, row)
        return row, i + 1
    return lax.while_loop(lambda s: s[1] < count, body, (row, jnp.int32(0)))


def sum_and_products(c, a):
    return c + a, c * a


POSITIVE = numpy.abs(X[:, 0]) + 1


@cases(
    case("while", newton, POSITIVE),
    case("while_scan_cond", nested, X, STEPS),
    case("scan", lambda v: lax.scan(sum_and_products, jnp.zeros(4), v), Y),
    case("scan_backwards",
         lambda v: lax.scan(sum_and_products, jnp.zeros(4), v, reverse=True), Y),
    case("scan_without_results",
         lambda v: lax.scan(lambda c, a: (c + a, None), jnp.zeros(4), v)[0], Y),
    case("scan_of_a_length", lambda v: lax.scan(lambda c, _: (c * 2, c.sum()), v, length=3), X),
    case("fori_loop", lambda v: lax.fori_loop(0, 5, lambda i, c: c + v[i], jnp.zeros(4)), Y),
    case("fori_loop_to_different_numbers",
         lambda v, n: lax.fori_loop(0, n, lambda i, c: jnp.sin(c + i), v), X, STEPS),
    case("cond", lambda v: lax.cond(v.sum() > 0, lambda v: v * 2, lambda v: -v, v), X),
    case("cond_of_an_integer", lambda k, v: lax.cond(k, lambda: v, lambda: -v),
         numpy.arange(N) % 3, X),
    case("switch", lambda k, v: lax.switch(k, [lambda v: v, lambda v: -v, lambda v: v * 2], v),
         numpy.asarray([-1, 0, 1, 2, 3, 1]), X),
    case("map", lambda v: lax.map(lambda a: a * 2 + 1, v), Y),
    case("grad_of_scan", jax.grad(lambda v: lax.scan(
        lambda c, a: (jnp.tanh(c + a), c), jnp.float32(0), v)[0]), X),
    case("grad_of_cond", jax.grad(lambda v: lax.cond(
        v.sum() > 0, lambda v: (v ** 2).sum(), lambda v: v.prod(), v)), X),
    case("hessian", jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v[::-1])), X),
    case("jit", jax.jit(newton), POSITIVE),
    case("jit_of_a_part", lambda v: jax.jit(newton)(jnp.abs(v).sum()) + 1, X),
    case("checkpoint", jax.grad(lambda v: jax.checkpoint(lambda v: jnp.sin(v).sum())(v)), X),
    case("custom_jvp", lambda v: jax.nn.relu(v) + jax.nn.logsumexp(v), X),
    case("vmap", lambda v: jax.vmap(newton)(jnp.abs(v) + 1), X),
    case("vmap_of_columns", lambda v: jax.vmap(
        lambda c: lax.scan(lambda s, a: (s + a, s), 0., c)[1], in_axes=1, out_axes=1)(v), Y))
def test_control(f, arguments, options):
    assert_maps_like_jax(f, *as_jax(arguments), **options)


def test_batch_vmap_inside_batch_vmap():
    def with_vmap(vmap):
        return vmap(lambda v: vmap(newton)(jnp.abs(v) + 1))(jnp.asarray(X))

    assert_same(with_vmap(batch.vmap), with_vmap(jax.vmap))


@batch.function
def countdown(n) -> int:
    return lax.cond(n < 1, lambda: 0, lambda: 1 + countdown(n - 1))


def test_recursion_beyond_the_stack_depth():
    with raises(batch.Error, "; allow more with stack_depth"):
        batch.vmap(countdown)(jnp.array([3, 100]))


def test_stack_depth_of_vmap():
    found = batch.vmap(countdown, stack_depth=101)(jnp.array([3, 100]))
    assert found.tolist() == [3, 100]


def test_stack_depth_of_map():
    found = batch.map(countdown, jnp.array([3, 100]), stack_depth=101)
    assert found.tolist() == [3, 100]


# --- straight lines ---------------------------------------------------------------------

@cases(
    case("softmax", jax.nn.softmax, X),
    case("row", lambda v, i: v[i], Y, STEPS % 5),
    case("rows", lambda v, i: v[i], Y, numpy.arange(3 * N).reshape(N, 3) % 5),
    case("dynamic_update_slice", lambda v, i, r: lax.dynamic_update_slice(
        v, r[None], (i, jnp.zeros_like(i))), Y, STEPS % 5, X),
    case("einsum", lambda v: jnp.einsum("ij,kj->ik", v, v), Y),
    case("attention", lambda q: jax.nn.dot_product_attention(
        q.reshape(1, 5, 2, 2), q.reshape(1, 5, 2, 2), q.reshape(1, 5, 2, 2)), Y),
    case("pad", lambda v: jnp.pad(v, ((1, 1), (0, 2))), Y),
    case("roll", jnp.roll, X, STEPS),
    case("where", lambda v: jnp.where(v > 0, v, 0), X),
    case("erf", jax.scipy.special.erf, X),
    case("norm", lambda v: (v - v.mean()) / jnp.sqrt(v.var() + 1e-5), Y),
    case("no_computation", lambda v: v, X),
    case("constant", lambda v: jnp.arange(3), X),
    case("number", lambda v: 2.0, X))
def test_straight_line(f, arguments, options):
    assert_maps_like_jax(f, *as_jax(arguments), **options)


@pytest.mark.parametrize("width, is_kept", [(16, True), (2, False)])
def test_concatenation(width, is_kept):
    """Only a concatenation of long rows remains an operation `tensor.concat`."""
    def swap(x):
        return jnp.concatenate([x[width:2 * width], x[:width]])

    rows = numpy.arange(80, dtype=numpy.float32).reshape(2, 40)
    mapped = batch.vmap(swap)
    wanted = numpy.concatenate([rows[:, width:2 * width], rows[:, :width]], 1)
    assert mapped(jnp.asarray(rows)).tolist() == wanted.tolist()
    ((compiled, _),) = mapped.known.values()
    assert ("tensor.concat" in compiled.text) == is_kept


# --- element types ----------------------------------------------------------------------

WORDS = numpy.random.default_rng(4).integers(0, 2 ** 32, (N, 3), dtype=numpy.uint32)


@cases(
    case("int32", lambda v: v * 3 - 1, numpy.arange(N * 2).reshape(N, 2)),
    case("int8", lambda v: v + v, numpy.arange(N * 2, dtype=numpy.int8).reshape(N, 2)),
    case("uint8", lambda v: v // 3, numpy.arange(200, 200 + N, dtype=numpy.uint8)),
    case("uint32", lambda v: (v ^ (v >> 3)) * 5, WORDS),
    case("uint32_compared", lambda v: (v > jnp.uint32(2 ** 31)).sum(), WORDS),
    case("bool", lambda v: ~v, numpy.arange(N * 2).reshape(N, 2) % 3 == 0),
    case("float16", lambda v: v * 2 + 1, X.astype(numpy.float16)),
    case("bfloat16", lambda v: (v * 2).sum(), X.astype(jnp.bfloat16)))
def test_element_type(f, arguments, options):
    assert_maps_like_jax(f, *as_jax(arguments), **options)


@pytest.mark.parametrize("array", [X.astype(float), Y[:, ::2, ::-1]],
                         ids=["float64", "view"])
def test_numpy_argument(array):
    assert_maps_like_jax(lambda v: v * 2, array)


# --- trees, axes, names -----------------------------------------------------------------

def with_tree(tree, scale):
    return {"sum": tree["a"] + tree["b"][0], "pair": (tree["b"][1] * scale, None)}


@cases(
    case("trees", with_tree, {"a": X, "b": (X + 1, Y)}, numpy.float32(2), in_axes=(0, None)),
    case("axes_of_a_tree", with_tree, {"a": X, "b": (X[0], Y)}, numpy.float32(2),
         in_axes=({"a": 0, "b": (None, 0)}, None)),
    case("second_axis", lambda v: v * 2, Y, in_axes=1),
    case("last_axis", lambda v: v.sum(axis=0), Y, in_axes=-1),
    case("out_axes", lambda v: (v, v + 1), Y, out_axes=(1, -1)),
    case("out_axes=None", lambda v, w: (v @ w, w.sum()), X, W, in_axes=(0, None),
         out_axes=(0, None)),
    case("axis_size", lambda v: v * 2, W, in_axes=None, axis_size=3),
    case("no_lane", lambda v: v * 2, X[:0]),
    case("one_lane", nested, X[:1], STEPS[:1]))
def test_axes(f, arguments, options):
    assert_maps_like_jax(f, *as_jax(arguments), **options)


def test_keyword_argument():
    x = jnp.asarray(X)
    assert_same(batch.vmap(lambda v, *, k: v * k)(x, k=x), x * x)


def test_name_of_the_function():
    assert batch.vmap(newton).__name__ == "newton"


def test_results_do_not_depend_on_the_batch():
    x, steps = as_jax((X, STEPS))
    mapped = batch.vmap(nested, threads=2)
    single = [mapped(x[i:i + 1], steps[i:i + 1]) for i in range(N)]
    batched = mapped(x, steps)
    for result in range(2):
        for i in range(N):
            assert numpy.array_equal(batched[result][i], single[i][result][0])


# --- compilations, parameters -----------------------------------------------------------

@pytest.fixture
def product():
    return batch.vmap(lambda v, w: v @ w, in_axes=(0, None))


@pytest.fixture
def compilations(monkeypatch):
    """List with an element for each compilation."""
    return count_calls(monkeypatch, compiling, "compile")


@pytest.fixture
def bindings(monkeypatch):
    """List with an element for each binding of parameters."""
    return count_calls(monkeypatch, batch.Model, "bind")


def count_calls(monkeypatch, owner, name):
    found, real = [], getattr(owner, name)

    def count(*arguments, **named):
        found.append(name)
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, count)
    return found


def test_one_compilation_for_all_numbers_of_lanes(product, compilations):
    for count in 1, 4, 6, 4:
        product(jnp.asarray(X[:count]), W)
    assert len(compilations) == 1


@pytest.mark.only_outside_jit
def test_jax_parameter_is_bound_once(product, bindings):
    for count in 1, 4, 6, 4:
        product(jnp.asarray(X[:count]), W)
    assert len(bindings) == 1


def test_another_jax_parameter(product):
    x, other = jnp.asarray(X), W + 1
    product(x, W)
    assert_same(product(x, other), x @ other)


def test_numpy_parameter_may_change(product):
    x, parameter = jnp.asarray(X), numpy.array(W)
    product(x, parameter)
    parameter += 1
    assert_same(product(x, parameter), x @ (W + 1))


def test_other_types_are_compiled_separately(product, compilations):
    product(jnp.asarray(X), W)
    product(jnp.asarray(X, jnp.float16), W.astype(jnp.float16))
    assert len(compilations) == 2


# --- inside JAX transformations ---------------------------------------------------------

def test_inside_jit():
    x, steps = as_jax((X, STEPS))
    mapped = batch.vmap(nested)
    assert_same(jax.jit(lambda v, n: mapped(v * 2, n))(x, steps), jax.vmap(nested)(x * 2, steps))


def test_inside_jit_with_a_parameter(product):
    x = jnp.asarray(X)
    assert_same(jax.jit(product)(x, W), x @ W)
