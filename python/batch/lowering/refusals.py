"""Primitives that are deliberately unsupported, with reasons and remedies.

The jaxlib passes would reject some of them without a reason, or would compute numbers that differ
from those of JAX.
"""

_OUTSIDE = "; compute it outside of the function, for example with jax.vmap"
_DEVICES = " because it needs axis names or several devices; use jax.vmap"
REMEDY = "; remove it, or use jax.vmap"

# Ends of the messages, by primitive.
_ENDS = dict.fromkeys((
    "fft", "eig", "eigh", "svd", "qr", "geqrf", "geqp3", "householder_product", "ormqr",
    "schur", "hessenberg", "tridiagonal"), _OUTSIDE) | dict.fromkeys((
        "inspect_sharding", "pmap", "shard_map", "reshard"), _DEVICES) | dict.fromkeys((
            "pure_callback", "io_callback", "debug_callback", "debug_print", "ffi_call", "dce_sink",
            "after_all", "create_token", "pallas_call", "run_state", "create_linear", "pin",
            "unpin", "to_edtype", "from_edtype", "unreachable", "select_and_scatter", "scaled_dot",
            "check", "core_map", "with_memory_space_constraint"), REMEDY) | {
                "rng_uniform": " because it has no seed; use jax.random.uniform",
                "rng_bit_generator": " because its bits depend on the device; use jax.random.bits"}
# Ends of the messages, by prefix: primitives for several devices, and library kernels.
_PREFIXES = {
    ("all_gather", "all_to_all", "axis_index", "pbroadcast", "pmax", "pmin", "ppermute", "precv",
     "preduced", "psend", "psum", "pvary", "ragged_all_to_all", "reduce_scatter",
     "reduced_vary_cast", "unreduced_", "vary_unreduced_cast"): _DEVICES,
    ("cudnn_", "dot_product_attention_", "scaled_matmul"): REMEDY}


def refusal(name):
    """Returns the reason and the remedy for an unsupported primitive, or None for others."""
    ends = (end for prefixes, end in _PREFIXES.items() if name.startswith(prefixes))
    return _ENDS.get(name) or next(ends, None)
