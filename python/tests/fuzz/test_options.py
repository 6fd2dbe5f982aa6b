"""Programs under JAX options that change results or errors.

The slow tests run more programs and options (test_sweeps.py).
"""

import jax
import jax.numpy as jnp
import pytest
from support.comparison import raises

import batch
from fuzz import options_sweep
from fuzz.options_sweep import (
    CHANGING,
    OTHERS,
    PROGRAMS,
    by_jax,
    difference,
    infinities,
    normals,
    not_numbers,
    of_this_version,
    option,
    outcome,
    positive_and_negative,
    promotes_ranks,
    promotes_types,
    zero_and_one,
)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.sampled(24)
@pytest.mark.parametrize("program", options_sweep.SOME)
@pytest.mark.parametrize("name, value", of_this_version(CHANGING))
def test_program(name, value, program):
    error = PROGRAMS[program](name, value)
    assert error is None, error


# --- functions that were called under other options -------------------------------------

def draws_inside(x):
    key = jax.random.key(3, impl="threefry2x32")
    return x + jax.random.gumbel(key, (4,), x.dtype), jax.random.uniform(key, (2, 3))


@pytest.mark.parametrize("name, value, f, make", [
    ("jax_high_dynamic_range_gumbel", True, draws_inside, normals),
    ("jax_threefry_partitionable", False, draws_inside, normals),
    ("jax_random_seed_offset", 7, draws_inside, normals),
    ("jax_enable_x64", True, draws_inside, normals),
    ("jax_numpy_rank_promotion", "raise", promotes_ranks, normals),
    ("jax_numpy_dtype_promotion", "strict", promotes_types, normals),
    ("jax_debug_infs", True, infinities, zero_and_one),
    ("jax_debug_nans", True, not_numbers, positive_and_negative),
])
def test_function_follows_the_option_of_each_call(name, value, f, make):
    """One function runs before the option changes, while the option is changed, and afterwards."""
    x = make()
    mapped = batch.vmap(f)
    before = getattr(jax.config, name)
    for now in before, value, before:
        with option(name, now):
            error = difference(outcome(mapped, x), by_jax(jax.vmap(f), x))
        assert error is None, f"{name}={now}: {error}"


def test_debug_nans_without_instances():
    with jax.debug_nans(True):
        assert batch.vmap(lambda v: v * 2)(normals()[:0]).shape == (0, 4)


def test_debug_nans_without_rows():
    rows = batch.Ragged.of([normals()[0, :0]] * 2)
    with jax.debug_nans(True):
        assert batch.vmap(lambda v: v.sum())(rows).tolist() == [0, 0]


def test_debug_nans_with_a_bound_argument():
    weights = batch.bind(jnp.ones(4, "float32"))
    mapped = batch.vmap(lambda v, w: jnp.log(v) * w, in_axes=(0, None))
    with jax.debug_nans(True), raises(FloatingPointError, "nan"):
        mapped(-1 - abs(normals()), weights)


# --- the tables of options --------------------------------------------------------------

# Options under which these tests run no program: prefixes of their names, by purpose.
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
TESTED = {name for name, _ in CHANGING + OTHERS}
NOT_TESTED = tuple(prefix for prefixes in LEFT_OUT.values() for prefix in prefixes)


def test_every_option_is_in_a_table():
    assert not [name for name in jax.config.values
                if name not in TESTED and not name.startswith(NOT_TESTED)]


def test_no_option_is_in_two_tables():
    assert not [name for name in TESTED if name.startswith(NOT_TESTED)]
