"""JAX's options.

A user's function is traced, and its results are checked, under the options in effect at the
call. It is compiled even under jax_disable_jit. Batch's own traces and transfers run under
ours().
"""

import contextlib
import operator

import jax
import jax.numpy as jnp
import numpy

_GUARDS = ("transfer_guard_device_to_device", "transfer_guard_device_to_host",
           "transfer_guard_host_to_device")
# The values that the code of this package expects. debug_nans and debug_infs are not among
# them: JAX does not reset these for jitted functions, and no result is a value that Batch
# lets JAX compute.
_OURS = {"check_tracer_leaks": False, "debug_key_reuse": False, "disable_jit": False,
         "enable_checks": False, "numpy_dtype_promotion": "standard",
         "numpy_rank_promotion": "allow", **dict.fromkeys(_GUARDS, "allow")}
# Further options with a value per thread.
_OTHERS = ("debug_infs", "debug_nans", "default_device", "default_matmul_precision",
           "default_prng_impl", "enable_custom_prng", "enable_x64", "legacy_prng_key",
           "threefry_partitionable")
_CHECKS = (("nan", numpy.isnan), ("inf", numpy.isinf))


def _value(name):
    value = getattr(jax.config, "jax_" + name)
    return "allow" if value is None and name in _GUARDS else value


@contextlib.contextmanager
def _set(values):
    with contextlib.ExitStack() as stack:
        for name, value in values.items():
            if _value(name) != value:
                stack.enter_context(getattr(jax, name)(value))
        yield


def ours():
    """A context for Batch's own traces and transfers."""
    return _set(_OURS)


def now():
    """A context that gives another thread the options of this one."""
    return _set({name: _value(name) for name in (*_OURS, *_OTHERS)})


def is_guarded():
    """Whether JAX rejects or logs arrays from outside JAX."""
    return of_calls()[2]


# Options that affect a call but not its trace.
_CALLS = operator.attrgetter("jax_debug_nans", "jax_debug_infs",
                             "jax_transfer_guard_host_to_device")


def of_calls():
    """Whether JAX checks for NaNs, whether for infinities, and whether it guards transfers."""
    nans, infs, guard = _CALLS(jax.config)
    return nans, infs, guard is not None and guard != "allow"


def is_checked():
    """Whether NaNs or infinities in results are errors."""
    return jax.config.jax_debug_nans or jax.config.jax_debug_infs


def unwanted(arrays):
    """Finds a value that JAX's options forbid. Returns "nan" or "inf", the array's position,
    and the first such row; None if there is none."""
    for name, test in _CHECKS:
        if not getattr(jax.config, "jax_debug_%ss" % name):
            continue
        for position, array in enumerate(arrays):
            if array.size and jnp.issubdtype(array.dtype, jnp.floating):
                rows = test(array).reshape(len(array), -1).any(axis=1)
                if rows.any():
                    return name, position, int(rows.argmax())
    return None
