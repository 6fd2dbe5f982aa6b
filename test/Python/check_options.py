#!/usr/bin/env python3
"""check_options.py [--all | --minutes=N --seed=N] [OPTION...]: runs programs under each of
JAX's options. batch.vmap must give the results of jax.vmap, or of JAX instance by instance, or
raise the same error.

By default, about ten programs run under each option that changes results or errors. --all runs
all programs under these, and some under the others, in about ten minutes. OPTION selects
options by a part of the name.
"""

import argparse
import contextlib
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

import batchtest  # noqa: E402
import comparison  # noqa: E402

checks = batchtest.Checks("JAX's options")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")

import batch  # noqa: E402

generator = np.random.default_rng(3)


def normal(*shape):
    return generator.normal(size=shape)


# --- arrays ------------------------------------------------------------------------------

W = normal(4, 4) / 6  # so that think() converges


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
    """Gives neither NaNs nor infinities: no check may fail."""
    return jnp.where(x > 0, x, 0) + 1


def promotes_ranks(x):
    return jnp.ones((2, 4), x.dtype) * x


def promotes_types(x):
    return x + jnp.arange(4)


def keys():
    return jax.random.split(jax.random.key(5, impl="threefry2x32"), 3)


def normals():
    return jnp.asarray(normal(3, 4))


ARRAYS = [
    (newton, lambda: jnp.array([1.0, 4.0, 9.0])), (draws, keys),
    (not_numbers, lambda: jnp.array([1.0, -1.0])),
    (infinities, lambda: jnp.array([0.0, 1.0])),
    (finds_none, lambda: jnp.array([1.0, -1.0])),
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
    return [np.abs(normal(n, 4)).astype(dtype) for n in (3, 1, 5)]


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
    """A child-sum TreeLSTM, whose children are weighted by attention."""
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
        case Tree.Leaf(x, n):
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


def vector():
    return normal(4).astype(np.float32)


def trees(wrong=False):
    leaves = [Tree.Leaf(vector(), -1.0 if wrong else 1.5) for _ in range(5)]
    return [Tree.Many([leaves[0], Tree.Many(leaves[1:3], vector())], vector()), leaves[3],
            Tree.Many(leaves[4:], vector())]


RECURSIVE = [("encode", encode, encode_one, trees),
             ("encode_wrong", encode, encode_one, lambda: trees(True)),
             ("total", total, total_one, trees)]

# --- options -----------------------------------------------------------------------------

# Options that change the results of a program, or whether it is refused.
CHANGING = [
    ("jax_numpy_rank_promotion", "raise"), ("jax_numpy_rank_promotion", "warn"),
    ("jax_numpy_dtype_promotion", "strict"), ("jax_debug_nans", True), ("jax_debug_infs", True),
    ("jax_enable_checks", True), ("jax_disable_jit", True), ("jax_check_tracer_leaks", True),
    ("jax_transfer_guard", "disallow"), ("jax_transfer_guard", "log"), ("jax_enable_x64", True),
    ("jax_debug_key_reuse", True), ("jax_threefry_partitionable", False),
    ("jax_default_prng_impl", "rbg")]
# Options that change how programs are traced.
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
    ("jax_default_device", jax.devices()[0]), ("jax_eager_constant_folding", True),
    ("jax_log_compiles", True), ("jax_log_checkpoint_residuals", True),
    ("jax_array_garbage_collection_guard", "log"), ("jax_custom_vjp3", True),
    ("jax_disable_bwd_checks", True), ("jax_include_full_tracebacks_in_locations", False),
    ("jax_traceback_in_locations_limit", 0), ("jax_check_static_indices", True),
    ("jax_mutable_array_checks", False), ("jax_auto_pcast", False),
    ("jax_tracer_error_num_traceback_frames", 0), ("jax_scan3", True), ("jax_remat3", True)]
# Prefixes of options under which no program runs, by purpose.
LEFT_OUT = {
    "the compiler, executables and caches of XLA, which Batch does not use": [
        "jax_allow_f16_reductions", "jax_compilation_cache", "jax_compiler_",
        "jax_disable_most_optimizations", "jax_embedded_constants_max_bytes",
        "jax_enable_compilation_cache", "jax_enable_pgle", "jax_exec_time_optimization_effort",
        "jax_hlo_source_file", "jax_memory_fitting", "jax_optimization_level",
        "jax_persistent_cache", "jax_pgle", "jax_raise_persistent_cache_errors",
        "jax_ragged_dot", "jax_remove_custom_partitioning_ptr", "jax_share_binary_between_hosts",
        "jax_use_magma", "jax_xla_profile_version", "jax_bcoo_cusparse_lowering",
        "jax_threefry_gpu_kernel_lowering", "jax_source_url_schema"],
    "platforms and processes, chosen before the first array": [
        "jax_backend_target", "jax_check_proxy_envs", "jax_cpu_", "jax_cross_host",
        "jax_cuda_visible_devices", "jax_distributed_debug", "jax_enable_preemption_service",
        "jax_enable_recoverability", "jax_experimental_unsafe_xla_runtime_errors",
        "jax_force_dcn", "jax_mock_gpu_topology", "jax_num_cpu_devices",
        "jax_oneapi_visible_devices", "jax_pjrt_client", "jax_platform", "jax_rocm_visible",
        "jax_send_traceback_to_runtime", "jax_sort_devices", "jax_xla_backend",
        "jax_debug_leaked_clients", "mock_num_gpu_processes"],
    "several devices, which Batch refuses": [
        "check_vma", "jax_disable_vmap_shmap_error", "jax_disallow_mesh_context_manager",
        "jax_remove_size_one_mesh_axis", "jax_use_shardy_partitioner"],
    "kernels, exports and references, which Batch refuses": [
        "jax2tf", "jax_error_checking_behavior", "jax_export", "jax_mosaic", "jax_pallas",
        "jax_refs_to_pins", "jax_serialization_version", "jax_use_emit_pipeline"],
    "bans on tracing, which Batch needs, and on executions by XLA, which it avoids": [
        "jax_no_execution", "jax_no_tracing"],
    "constant folding in traces, where JAX itself refuses symbolic extents": [
        "eager_constant_folding"],
    "texts and logs": [
        "jax_captured_constants_report_frames", "jax_debug_log_modules", "jax_dump_ir",
        "jax_include_debug_info_in_dumps", "jax_logging_level", "jax_pprint_use_color"]}


def check_table():
    """Checks that the tables above classify each option of JAX."""
    covered = {name for name, _ in CHANGING + OTHERS}
    prefixes = tuple(prefix for names in LEFT_OUT.values() for prefix in names)
    known = jax.config.values
    checks.equal("options of JAX that are in no table", sorted(
        name for name in known if name not in covered and not name.startswith(prefixes)), [])
    checks.equal("options in two tables",
                 sorted(name for name in covered if name.startswith(prefixes)), [])


@contextlib.contextmanager
def option(name, value):
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    # Without a local value, JAX would find nothing after its first finding.
    local = getattr(jax, name[len("jax_"):])(value) if "debug" in name else \
        contextlib.nullcontext()
    try:
        with local:
            yield
    finally:
        jax.config.update(name, before)


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return error


def by_jax(function, *arguments):
    """The outcome in JAX without a guard: compiled code makes no copy that one would refuse."""
    with jax.transfer_guard("allow"):
        return outcome(function, *arguments)


def one_by_one(f, values):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *[f(value) for value in values])


def kind(outcome):
    """The type of an error and the beginning of its message; False for values."""
    return isinstance(outcome, Exception) and (type(outcome), str(outcome)[:24])


def compare(what, ours, theirs):
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        checks.expect(what, kind(ours) == kind(theirs), "%s, JAX has %s" % (
            *("%s: %s" % (type(r).__name__, r) if isinstance(r, Exception) else "values"
              for r in (ours, theirs)),))
        return
    text = comparison.difference(ours, theirs, 2e-4)
    checks.expect(what, text is None, text)


TEN = {newton, draws, not_numbers, infinities, think, order, chooses, promotes_ranks,
       promotes_types, attention, encode, total}
FEW = {draws, order, attention, total}


def run(name, value, programs):
    """Runs some programs (None: all) in new functions, which have not been traced before."""
    for f, arguments in ARRAYS:
        if programs and f not in programs:
            continue
        with jax.enable_x64(value is True and name == "jax_enable_x64"):
            x = jax.block_until_ready(arguments())
        with option(name, value):
            compare("%s=%s: %s" % (name, value, f.__name__), outcome(batch.vmap(f), x),
                    by_jax(jax.vmap(f), x))
    for f in RAGGED:
        if programs and f not in programs:
            continue
        with option(name, value):
            rows = by_jax(ragged)
            compare("%s=%s: %s of ragged arrays" % (name, value, f.__name__),
                    outcome(batch.vmap(f), batch.Ragged.of(rows)),
                    by_jax(one_by_one, f, by_jax(lambda: list(map(jnp.asarray, rows)))))
    for what, f, plain, make in RECURSIVE:
        if programs and f not in programs:
            continue
        with option(name, value):
            values = make()
            compare("%s=%s: %s of trees" % (name, value, what), outcome(batch.vmap(f), values),
                    by_jax(one_by_one, plain, values))


# --- functions that were called under other options --------------------------------------


def draws_inside(x):
    key = jax.random.key(3, impl="threefry2x32")
    return x + jax.random.gumbel(key, (4,), x.dtype), jax.random.uniform(key, (2, 3))


def check_changes():
    """Checks that a function follows the options of each call."""
    x = normals()
    for name, value, f in [
            ("jax_high_dynamic_range_gumbel", True, draws_inside),
            ("jax_threefry_partitionable", False, draws_inside),
            ("jax_random_seed_offset", 7, draws_inside),
            ("jax_enable_x64", True, draws_inside),
            ("jax_numpy_rank_promotion", "raise", promotes_ranks),
            ("jax_numpy_dtype_promotion", "strict", promotes_types),
            ("jax_debug_infs", True, infinities), ("jax_debug_nans", True, not_numbers)]:
        own = {not_numbers: jnp.array([1.0, -1.0]), infinities: jnp.array([0.0, 1.0])}.get(f, x)
        mapped = batch.vmap(f)
        for when in "before", "under", "after":
            with option(name, value if when == "under" else getattr(jax.config, name)):
                compare("%s %s=%s" % (when, name, value), outcome(mapped, own),
                        by_jax(jax.vmap(f), own))
    weights = batch.bind(jnp.ones(4, "float32"))
    with jax.debug_nans(True):
        found = batch.vmap(lambda v: v * 2)(x[:0])
        checks.expect("jax_debug_nans: no instance", found.shape == (0, 4), found)
        checks.refused("jax_debug_nans: a bound argument", FloatingPointError, "nan",
                       lambda: batch.vmap(lambda v, w: jnp.log(v) * w, in_axes=(0, None))(
                           -1 - abs(x), weights))


parser = argparse.ArgumentParser()
parser.add_argument("names", nargs="*", metavar="OPTION",
                    help="only options whose names contain one of these")
parser.add_argument("--all", action="store_true", help="run all programs and options")
batchtest.add_draw_options(parser, "all options")
options = parser.parse_args()
if not options.names:
    check_table()
    check_changes()
is_long = options.all or options.minutes is not None
cases = [(name, value, None if is_long else TEN) for name, value in CHANGING]
if is_long or options.names:
    cases += [(name, value, FEW) for name, value in OTHERS]
cases = [case for case in cases if hasattr(jax.config, case[0]) and (  # of some versions
    not options.names or any(part in case[0] for part in options.names))]
for name, value, programs in batchtest.draw(options, cases):
    run(name, value, programs)
checks.exit()
