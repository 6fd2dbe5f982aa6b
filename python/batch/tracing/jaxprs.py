"""Helpers for jaxprs: calls, constants, keys and arrays without elements."""

import jax
import jax.numpy as jnp
from jax.extend import core

from batch.core.errors import LoweringError
from batch.runtime.binding import Bound

# Primitives for functions, data types and lists (batch.tracing.primitives).
STRUCTURE = ("batch_call", "batch_open", "batch_construct", "batch_list", "batch_map",
              "batch_fold", "batch_length", "batch_paths")
CONTROL = ("while", "scan", "cond", *STRUCTURE)
# Primitives that only call a function, each with the parameter that stores the function.
CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "call": "call_jaxpr",
          "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
          "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr",
          "custom_vmap_call": "call", "custom_partitioning": "call",
          "linear_call": "callee", "composite": "jaxpr", "remat2": "jaxpr",
          "checkpoint": "jaxpr", "remat_opt": "fwd_jaxpr"}


def open_jaxpr(jaxpr):
    """Returns the jaxpr and the constants of a closed jaxpr, or of a jaxpr without constants."""
    if isinstance(jaxpr, core.ClosedJaxpr):
        return jaxpr.jaxpr, jaxpr.consts
    return jaxpr, []


def scan_counts(params):
    """Returns the number of constants and the number of carried values of a scan."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    constants, carry, _ = params["ft_in"].unpack()  # JAX 0.12 uses this parameter
    return len(constants), len(carry)


def is_empty(aval):
    """Returns whether arrays of this type have no elements.

    The compiler does not support such arrays. Their values are omitted everywhere.
    """
    return any(isinstance(n, int) and n == 0 for n in aval.shape)


def variables(atoms):
    return (atom for atom in atoms if not isinstance(atom, core.Literal))


def evaluate(equations, known, results):
    """Returns the values of the atoms `results`.

    equations: equations without control flow, which compute the atoms.
    known: dictionary from variables to known values.
    """
    known = dict(known)

    def read(atom):
        return atom.val if isinstance(atom, core.Literal) else known[atom]

    for equation in equations:
        bound = equation.primitive.get_bind_params(equation.params)
        functions, params = bound if isinstance(bound, tuple) else ((), bound)
        values = list(map(read, equation.invars))
        if _folds_wrongly(equation):
            values = [jax.lax.optimization_barrier(values[0])]
        result = equation.primitive.bind(*functions, *values, **params)
        known.update(zip(equation.outvars,
                         result if equation.primitive.multiple_results else [result]))
    return [read(atom) for atom in results]


def _folds_wrongly(equation):
    """Returns whether JAX would fold a conversion from floats to integers with NumPy.

    In NumPy, out-of-range numbers wrap around. JAX folds conversions of literals, and arguments
    of an inner jit become literals.
    """
    return equation.primitive.name == "convert_element_type" and \
        isinstance(equation.invars[0], core.Literal) and \
        jnp.issubdtype(equation.invars[0].aval.dtype, jnp.floating) and \
        jnp.issubdtype(equation.params["new_dtype"], jnp.integer)


def constant_type(value):
    """Returns the type of a constant. The constant may be an array of batch.bind."""
    return jax.typeof(value.value if isinstance(value, Bound) else value)


# --- keys -------------------------------------------------------------------------------

def is_key(aval):
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)


def words_of(aval):
    """Returns the type of a key's two uint32 Threefry words, or any other type unchanged.

    Raises LoweringError for keys of other generators.
    """
    if not is_key(aval):
        return aval
    if aval.dtype.name != "key<fry>":
        raise LoweringError(f"PRNG keys of type {aval.dtype.name} are not supported; use "
                            "impl='threefry2x32'")
    return jax.core.ShapedArray(aval.shape + (2,), jnp.uint32)
