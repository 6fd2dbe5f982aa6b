"""Log densities and NumPyro models as functions of one vector."""

import jax
import jax.numpy as jnp
import numpy
from jax.flatten_util import ravel_pytree

from batch.core.lru_cache import LruCache
from batch.tracing.trace_keys import Trace

MOST_SAMPLERS = 8  # maximum number of samplers that are cached between calls


# --- the target ---------------------------------------------------------------

# JAX programs. Keys identify the computation without its data. In contrast, the keys of compiled
# samplers (sample.py) include the data.
_programs = LruCache(3 * MOST_SAMPLERS)


def run(trace, *arguments, mapped=False):
    """Evaluates a trace in JAX.

    arguments: arrays. If `mapped`, the trace is mapped over their first axis.
    """
    program = _programs.get((trace.key, mapped), lambda: trace.jit(mapped))
    return program(list(map(jnp.asarray, trace.constants)), *arguments)


def _trace(function, *shapes):
    closed, results = jax.make_jaxpr(function, return_shape=True)(*shapes)
    return Trace(closed), jax.tree.structure(results)


class Density:
    """Log density of a tree of arrays, as a function of one float64 vector.

    starts: start vectors of all chains, float64 of shape (chains, dimensions).
    density: trace that returns the log density and its gradient for a vector.
    values: trace that returns the leaves of the target's tree for a vector.
    tree: structure of the target's tree.

    Raises ValueError if `init` has no arrays or no position for each chain. Raises ValueError if
    the log density is not finite at a start. Raises TypeError if `init` is not floating-point, or
    the log density is not a scalar.
    """

    def __init__(self, function, init, chains):
        leaves, tree = jax.tree.flatten(init)
        if not leaves:
            raise ValueError(f"init has no arrays; expected arrays of shape ({chains}, ...)")
        for leaf in leaves:
            shape = numpy.shape(leaf)
            if not shape or shape[0] != chains:
                raise ValueError(f"init has an array of shape {shape}; expected ({chains}, ...), "
                                 "a position for each chain")
            if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating):
                raise TypeError(f"init has an array of type {jnp.result_type(leaf)}; expected "
                                "floating-point numbers")
        leaves = [numpy.asarray(leaf, numpy.float64) for leaf in leaves]
        _, unravel = ravel_pytree(jax.tree.unflatten(tree, [leaf[0] for leaf in leaves]))
        self.starts = numpy.concatenate([leaf.reshape(chains, -1) for leaf in leaves],
                                        axis=1)

        def log_density(q):
            value = function(unravel(q))
            if numpy.shape(value):
                raise TypeError(f"the log density has shape {numpy.shape(value)}; expected a "
                                "scalar")
            return jnp.asarray(value, jnp.float64)

        vector = jax.ShapeDtypeStruct(self.starts.shape[1:], jnp.float64)
        self.density, _ = _trace(jax.value_and_grad(log_density), vector)
        self.values, self.tree = _trace(unravel, vector)
        values = numpy.asarray(run(self.density, self.starts, mapped=True)[0])
        if not numpy.isfinite(values).all():
            chain = numpy.flatnonzero(~numpy.isfinite(values))[0]
            raise ValueError(f"the log density is not finite at the start of chain {chain}; pass "
                             "another start in init")


class Model:
    """Log density of a NumPyro model, as a function of a vector of unconstrained variables.

    The attributes are those of Density. Raises ValueError if the model has no latent sites, or
    has discrete ones.
    """

    def __init__(self, model, args, kwargs, init, chains, key):
        import numpyro
        from numpyro.infer import init_to_uniform
        from numpyro.infer.util import initialize_model
        # Copy NumPy arrays: JAX caches conversions of them, and other code may have cached a
        # conversion to 32 bits.
        args, kwargs = jax.tree.map(
            lambda leaf: leaf.copy() if isinstance(leaf, numpy.ndarray) else leaf,
            (args, kwargs))

        def initialize(keys):
            return initialize_model(
                keys, model, model_args=args, model_kwargs=kwargs,
                init_strategy=init or init_to_uniform, dynamic_args=False)

        def begin(keys):
            _refuse_discrete(model, args, kwargs, keys[0])
            info = initialize(keys)
            positions, potentials, gradients = info.param_info
            if not positions:
                raise ValueError("the model has no latent sites; add a numpyro.sample without "
                                 "obs")
            _, unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], positions))
            starts, gradients = (jax.vmap(lambda tree: ravel_pytree(tree)[0])(trees)
                                 for trees in (positions, gradients))

            def log_density(q):
                with numpyro.validation_enabled(False):  # the starting points are valid
                    return -jnp.asarray(info.potential_fn(unravel(q)), jnp.float64)

            vector = jax.ShapeDtypeStruct(starts.shape[1:], jnp.float64)
            self.density, _ = _trace(jax.value_and_grad(log_density), vector)
            self.values, self.tree = _trace(
                lambda q: info.postprocess_fn(unravel(q)), vector)
            # Values that NumPyro draws once, such as initial values of parameters.
            drawn = [[value for value in trace.constants
                      if isinstance(value, jax.core.Tracer)]
                     for trace in (self.density, self.values)]
            return starts, jnp.isfinite(potentials) & jnp.isfinite(gradients).all(1), drawn

        keys = jax.random.split(key, chains)
        start, tree = _trace(begin, keys)
        self.starts, valid, drawn = jax.tree.unflatten(tree, run(start, keys))
        if not valid.all():
            initialize(keys)  # raises an error with the reason
        for trace, values in zip((self.density, self.values), drawn):
            values = iter(values)
            trace.constants = [next(values) if isinstance(value, jax.core.Tracer) else value
                               for value in trace.constants]


def _refuse_discrete(model, args, kwargs, key):
    from numpyro import handlers
    trace = handlers.trace(handlers.seed(model, key)).get_trace(*args, **kwargs)
    sites = [name for name, site in trace.items()
             if site["type"] == "sample" and not site["is_observed"]
             and site["fn"].support is not None and site["fn"].support.is_discrete]
    if sites:
        names = ", ".join(map(repr, sites))
        raise ValueError(
            (f"sites {names} are discrete and have" if len(sites) > 1 else
             f"site {names} is discrete and has") + " no gradient; marginalize discrete sites, for "
            "example with numpyro.distributions.MixtureSameFamily")
