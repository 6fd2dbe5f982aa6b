"""JAX options.

A user's function is traced, and its results are checked, under the options in effect at the
call. It is compiled even under jax_disable_jit. Batch's own traces and transfers run under
own_options().
"""

import contextlib
import operator

import jax
import jax.numpy as jnp
import numpy

_GUARDS = ("transfer_guard_device_to_device", "transfer_guard_device_to_host",
           "transfer_guard_host_to_device")
# Option values that the code of this package expects. debug_nans and debug_infs are omitted: JAX
# does not reset these for jitted functions, and Batch does not let JAX compute results.
_OURS = {"check_tracer_leaks": False, "debug_key_reuse": False, "disable_jit": False,
         "enable_checks": False, "numpy_dtype_promotion": "standard",
         "numpy_rank_promotion": "allow", **dict.fromkeys(_GUARDS, "allow")}
# Further options that have a value per thread.
_OTHERS = ("debug_infs", "debug_nans", "default_device", "default_matmul_precision",
           "default_prng_impl", "enable_custom_prng", "enable_x64", "legacy_prng_key",
           "threefry_partitionable")
_CHECKS = (("nan", numpy.isnan), ("inf", numpy.isinf))


def _value(name):
    value = getattr(jax.config, "jax_" + name)
    return "allow" if value is None and name in _GUARDS else value


@contextlib.contextmanager
def _options(values):
    with contextlib.ExitStack() as stack:
        for name, value in values.items():
            if _value(name) != value:
                stack.enter_context(getattr(jax, name)(value))
        yield


def own_options():
    """Context for Batch's own traces and transfers."""
    return _options(_OURS)


def current_options():
    """Context that applies the options of the calling thread in another thread."""
    return _options({name: _value(name) for name in (*_OURS, *_OTHERS)})


def is_guarded():
    """Returns whether JAX rejects or logs arrays from outside JAX."""
    return call_options()[2]


# Options that affect a call but not its trace.
_CALLS = operator.attrgetter("jax_debug_nans", "jax_debug_infs",
                             "jax_transfer_guard_host_to_device")


def call_options():
    """Returns whether JAX checks for NaNs, checks for infinities, and guards transfers."""
    nans, infs, guard = _CALLS(jax.config)
    return nans, infs, guard is not None and guard != "allow"


def checks_results():
    """Returns whether NaNs or infinities in results are errors."""
    return jax.config.jax_debug_nans or jax.config.jax_debug_infs


def find_unwanted(arrays):
    """Finds a value that JAX options forbid.

    Returns ("nan" or "inf", position of the array, first row with such a value), or None.
    """
    for name, test in _CHECKS:
        if not getattr(jax.config, f"jax_debug_{name}s"):
            continue
        for position, array in enumerate(arrays):
            if array.size and jnp.issubdtype(array.dtype, jnp.floating):
                rows = test(array).reshape(len(array), -1).any(axis=1)
                if rows.any():
                    return name, position, int(rows.argmax())
    return None
