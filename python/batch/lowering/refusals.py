"""Primitives that are deliberately unsupported, with reasons and remedies.

The jaxlib passes would reject some of them without a reason, or would compute numbers that differ
from those of JAX.
"""

# Remedy for primitives that have no better one.
REMEDY = "; remove it, or use jax.vmap"
_OUTSIDE = "; compute it outside of the function, for example with jax.vmap"
_DEVICES = " because it needs axis names or several devices; use jax.vmap"

# Unsupported primitives, grouped by the text at the end of the message that rejects them.
_NAMES = {
    _OUTSIDE: (
        "fft", "eig", "eigh", "svd", "qr", "geqrf", "geqp3", "householder_product", "ormqr",
        "schur", "hessenberg", "tridiagonal"),
    _DEVICES: ("inspect_sharding", "pmap", "shard_map", "reshard"),
    REMEDY: (
        "pure_callback", "io_callback", "debug_callback", "debug_print", "ffi_call", "dce_sink",
        "after_all", "create_token", "pallas_call", "run_state", "create_linear", "pin", "unpin",
        "to_edtype", "from_edtype", "unreachable", "select_and_scatter", "scaled_dot", "check",
        "core_map", "with_memory_space_constraint"),
    " because it has no seed; use jax.random.uniform": ("rng_uniform",),
    " because its bits depend on the device; use jax.random.bits": ("rng_bit_generator",)}
# Prefixes of further primitives: those for several devices, and library kernels.
_PREFIXES = {
    _DEVICES: (
        "all_gather", "all_to_all", "axis_index", "pbroadcast", "pmax", "pmin", "ppermute",
        "precv", "preduced", "psend", "psum", "pvary", "ragged_all_to_all", "reduce_scatter",
        "reduced_vary_cast", "unreduced_", "vary_unreduced_cast"),
    REMEDY: ("cudnn_", "dot_product_attention_", "scaled_matmul")}


def refusal(name):
    """Returns the end of the message for an unsupported primitive, or None for others.

    The end contains the remedy, and the reason if there is one.
    """
    for end, names in _NAMES.items():
        if name in names:
            return end
    return next((end for end, prefixes in _PREFIXES.items() if name.startswith(prefixes)), None)
