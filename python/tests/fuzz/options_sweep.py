"""Compares programs under batch.vmap and jax.vmap with JAX options.

Under each option, batch.vmap must return the results of jax.vmap, or of JAX instance by
instance, or raise the same error. By default, some programs run under each option that changes
results or errors. --all runs all programs under these options, and a few under the others.
"""

import argparse
import contextlib
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../test/Integration"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import batchtest
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from support import comparison

import batch
from fuzz import workers

SECONDS = 900  # limit for the programs under one option


def _normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


# --- arrays ------------------------------------------------------------------------------

W = _normal(3, 4, 4) / 6  # small, so that think() converges


def newton(x):
    return lax.while_loop(lambda y: jnp.abs(y * y - x) > 1e-3, lambda y: (y + x / y) / 2, x)


def think(x):
    w = jnp.asarray(W, x.dtype)

    def step(h):
        return jnp.tanh(w @ h + x)

    return lax.while_loop(lambda h: jnp.abs(step(h) - h).max() > 1e-3, step, x)


def order(x):
    values, places = lax.top_k(x, 2)
    return jnp.sort(x)[::-1], jnp.argsort(x), jnp.cumsum(x), jnp.median(x), values, places, \
        jnp.argmax(x)


def chooses(x):
    return lax.cond(x.sum() > 0, lambda: jnp.linalg.solve(jnp.eye(4, dtype=x.dtype), x),
                    lambda: lax.switch(jnp.int32(x[0] > 0), [jnp.sin, jnp.cos], x))


def updates(x):
    places = jnp.argsort(x)[:2]
    return jnp.zeros(6, x.dtype).at[places].add(x[:2]), x.at[places[0]].set(1), x[places]


def draws(key):
    first, second = jax.random.split(key)
    return jax.random.normal(first, (3,)), jax.random.randint(second, (2,), 0, 100)


def special(x):
    return lax.igamma(jnp.abs(x) + 1, jnp.abs(x)), jax.scipy.special.logsumexp(x), \
        jnp.linalg.det(jnp.outer(x, x) + jnp.eye(4, dtype=x.dtype))


def slope(x):
    return jax.grad(lambda y: (jnp.tanh(y * y) * think(lax.stop_gradient(y))).sum())(x)


def not_numbers(x):
    return lax.while_loop(lambda y: y < 3, lambda y: y + 1, jnp.log(x))


def infinities(x):
    return lax.while_loop(lambda y: y < 3, lambda y: y + 1, 1 / x)


def finds_none(x):
    """Returns neither NaNs nor infinities, so that no option raises an error."""
    return jnp.where(x > 0, x, 0) + 1


def promotes_ranks(x):
    return jnp.ones((2, 4), x.dtype) * x


def promotes_types(x):
    return x + jnp.arange(4)


def keys():
    return jax.random.split(jax.random.key(5, impl="threefry2x32"), 3)


def normals():
    return jnp.asarray(_normal(5, 3, 4))


def positive_and_negative():
    return jnp.array([1.0, -1.0])


def zero_and_one():
    return jnp.array([0.0, 1.0])


# Pairs: a function, and a function that returns arguments for it.
ARRAYS = [
    (newton, lambda: jnp.array([1.0, 4.0, 9.0])), (draws, keys),
    (not_numbers, positive_and_negative), (infinities, zero_and_one),
    (finds_none, positive_and_negative),
    *[(f, normals) for f in (think, order, chooses, updates, special, slope, promotes_ranks,
                             promotes_types)]]

# --- ragged arrays, trees, lists ---------------------------------------------------------


def attention(rows):
    scores = rows @ jnp.ones(4, rows.dtype)
    return jax.nn.softmax(scores) @ rows, rows.max(0), rows.sum() / rows.shape[0]


def recurrence(rows):
    return lax.scan(lambda h, row: (jnp.tanh(h + row), None), jnp.zeros(4, rows.dtype),
                    rows)[0], jnp.log(rows.sum())


def ragged():
    dtype = jnp.zeros(()).dtype
    return [np.abs(_normal(n, n, 4)).astype(dtype) for n in (3, 1, 5)]


RAGGED = [attention, recurrence]


@batch.adt
class Tree:
    class Leaf:
        x: batch.tensor(4)
        n: float

    class Many:
        kids: list["Tree"]
        g: batch.tensor(4)


def cell(x, h, c):
    c = jax.nn.sigmoid(x + h) * jnp.tanh(x - h) + c
    return jax.nn.sigmoid(x) * jnp.tanh(c), c


def join(g, h, c):
    """Returns the state of a child-sum TreeLSTM node whose children are weighted by attention."""
    gates = jax.nn.sigmoid(h + g[None])
    return cell(jax.nn.softmax(h @ g) @ h, h.sum(axis=0), (gates * c).sum(axis=0))


@batch.function
def encode(tree: Tree):
    match tree:
        case Tree.Leaf(x, n):
            return cell(x * n, jnp.zeros_like(x), jnp.log(n) * x)
        case Tree.Many(kids, g):
            return join(g, *kids.map(encode))


def encode_one(tree):
    if isinstance(tree, Tree.Leaf):
        x, n = jnp.asarray(tree.x), jnp.asarray(tree.n, float)
        return cell(x * n, jnp.zeros_like(x), jnp.log(n) * x)
    rows = [encode_one(kid) for kid in tree.kids]
    return join(jnp.asarray(tree.g), *map(jnp.stack, zip(*rows)))


@batch.function
def total(tree: Tree) -> batch.tensor():
    match tree:
        case Tree.Leaf(x, _):
            return jnp.median(x)
        case Tree.Many(kids, g):
            return kids.fold(lambda s, kid: s + total(kid), jnp.sort(g)[1])


def total_one(tree):
    if isinstance(tree, Tree.Leaf):
        return jnp.median(jnp.asarray(tree.x))
    s = jnp.sort(jnp.asarray(tree.g))[1]
    for kid in tree.kids:
        s = s + total_one(kid)
    return s


def trees(wrong=False):
    """Returns trees. If `wrong`, encode() computes logarithms of negative numbers."""
    vectors = iter(_normal(7, 8, 4).astype(np.float32))
    leaves = [Tree.Leaf(next(vectors), -1.0 if wrong else 1.5) for _ in range(5)]
    return [Tree.Many([leaves[0], Tree.Many(leaves[1:3], next(vectors))], next(vectors)),
            leaves[3], Tree.Many(leaves[4:], next(vectors))]


# Tuples: name, function, the same function of one tree in JAX, and a function that returns trees.
RECURSIVE = [("encode", encode, encode_one, trees),
             ("encode_wrong", encode, encode_one, lambda: trees(True)),
             ("total", total, total_one, trees)]

# --- options -----------------------------------------------------------------------------

# Options that change the results of a program, or that affect whether it is refused.
CHANGING = [
    ("jax_numpy_rank_promotion", "raise"), ("jax_numpy_rank_promotion", "warn"),
    ("jax_numpy_dtype_promotion", "strict"), ("jax_debug_nans", True), ("jax_debug_infs", True),
    ("jax_enable_checks", True), ("jax_disable_jit", True), ("jax_check_tracer_leaks", True),
    ("jax_transfer_guard", "disallow"), ("jax_transfer_guard", "log"), ("jax_enable_x64", True),
    ("jax_debug_key_reuse", True), ("jax_threefry_partitionable", False),
    ("jax_default_prng_impl", "rbg")]
# Other options, under which only a few programs run.
OTHERS = [
    ("jax_transfer_guard", "disallow_explicit"),
    ("jax_transfer_guard_host_to_device", "disallow"),
    ("jax_transfer_guard_device_to_host", "disallow"),
    ("jax_transfer_guard_device_to_device", "disallow"),
    ("jax_default_matmul_precision", "highest"), ("jax_default_matmul_precision", "bfloat16"),
    ("jax_legacy_prng_key", "error"), ("jax_enable_custom_prng", True),
    ("jax_random_seed_offset", 7), ("jax_explicit_x64_dtypes", "error"),
    ("jax_softmax_custom_jvp", True), ("jax_high_dynamic_range_gumbel", True),
    ("jax_use_simplified_jaxpr_constants", True), ("jax_use_direct_linearize", False),
    ("jax_thread_guard", True), ("jax_traceback_filtering", "off"),
    ("jax_explain_cache_misses", True), ("jax_captured_constants_warn_bytes", 0),
    ("jax_default_device", "cpu"), ("jax_eager_constant_folding", True),
    ("jax_log_compiles", True), ("jax_log_checkpoint_residuals", True),
    ("jax_array_garbage_collection_guard", "log"), ("jax_custom_vjp3", True),
    ("jax_disable_bwd_checks", True), ("jax_include_full_tracebacks_in_locations", False),
    ("jax_traceback_in_locations_limit", 0), ("jax_check_static_indices", True),
    ("jax_mutable_array_checks", False), ("jax_auto_pcast", False),
    ("jax_tracer_error_num_traceback_frames", 0), ("jax_scan3", True), ("jax_remat3", True)]


@contextlib.contextmanager
def option(name, value):
    """Context that sets a JAX option."""
    if name == "jax_default_device":
        value = jax.devices(value)[0]
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    # Also set debug options for this thread. If only the global value is set, JAX detects nothing
    # after its first detection.
    local = getattr(jax, name[len("jax_"):])(value) if "debug" in name else \
        contextlib.nullcontext()
    try:
        with local:
            yield
    finally:
        jax.config.update(name, before)


def outcome(function, *arguments):
    """Returns the result of a function, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def by_jax(function, *arguments):
    """Returns the outcome in JAX with transfers allowed, because Batch makes no guarded copies."""
    with jax.transfer_guard("allow"):
        return outcome(function, *arguments)


def _one_by_one(f, values):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *[f(value) for value in values])


def _kind(outcome):
    """Returns the type of an error and the beginning of its message, or False for a result."""
    return isinstance(outcome, Exception) and (type(outcome), str(outcome)[:24])


def difference(ours, theirs):
    """Returns how two outcomes differ, or None."""
    if not isinstance(ours, Exception) and not isinstance(theirs, Exception):
        return comparison.difference(ours, theirs, 2e-4)
    if _kind(ours) == _kind(theirs):
        return None
    ours, theirs = (f"{type(r).__name__}: {r}" if isinstance(r, Exception) else "a result"
                    for r in (ours, theirs))
    return f"{ours}, JAX has {theirs}"


# --- programs under an option -----------------------------------------------------------

def _of_arrays(f, make):
    def run(name, value):
        with jax.enable_x64(value is True and name == "jax_enable_x64"):
            x = jax.block_until_ready(make())
        with option(name, value):
            return difference(outcome(batch.vmap(f), x), by_jax(jax.vmap(f), x))
    return run


def _of_ragged(f):
    def run(name, value):
        with option(name, value):
            rows = by_jax(ragged)
            return difference(
                outcome(batch.vmap(f), batch.Ragged.of(rows)),
                by_jax(_one_by_one, f, by_jax(lambda: list(map(jnp.asarray, rows)))))
    return run


def _of_trees(f, of_one, make):
    def run(name, value):
        with option(name, value):
            values = make()
            return difference(outcome(batch.vmap(f), values),
                              by_jax(_one_by_one, of_one, values))
    return run


# Programs by name. Each is a function that takes an option's name and value, and returns an error
# or None. It calls batch.vmap again, so that each option traces its own function.
PROGRAMS = {f.__name__: _of_arrays(f, make) for f, make in ARRAYS} | {
    f.__name__: _of_ragged(f) for f in RAGGED} | {
    name: _of_trees(f, of_one, make) for name, f, of_one, make in RECURSIVE}
SOME = ["newton", "draws", "not_numbers", "infinities", "think", "order", "chooses",
        "promotes_ranks", "promotes_types", "attention", "encode", "encode_wrong", "total"]
FEW = ["draws", "order", "attention", "total"]


def of_this_version(options):
    """Returns the options that the installed JAX has."""
    return [(name, value) for name, value in options if hasattr(jax.config, name)]


def _run(task):
    """Returns {check: error or None} of programs under an option."""
    name, value = task["name"], task["value"]
    return {f"{name}={value}: {program}": PROGRAMS[program](name, value)
            for program in task["programs"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="OPTION",
                        help="check only options whose names contain one of these")
    parser.add_argument("--all", action="store_true", help="run all programs and options")
    batchtest.add_draw_options(parser, "all options")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        warnings.filterwarnings("ignore")
        workers.serve(_run)
        return
    checks = batchtest.Checks("JAX's options")
    is_long = options.all or options.minutes is not None
    cases = [(CHANGING, list(PROGRAMS) if is_long else SOME)]
    if is_long or options.names:
        cases.append((OTHERS, FEW))
    tasks = [{"name": name, "value": value, "programs": programs}
             for table, programs in cases for name, value in of_this_version(table)
             if not options.names or any(part in name for part in options.names)]
    workers.run_checks(checks, __file__, batchtest.draw(options, tasks), SECONDS)
    checks.exit()


if __name__ == "__main__":
    main()
