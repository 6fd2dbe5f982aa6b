"""NumPyro NUTS. One jitted program runs the NUTS kernel on all chains at once, like
chain_method="vectorized". MCMC.run() would recompile at every call."""

import contextlib

import jax

jax.config.update("jax_enable_x64", True)
import numpyro  # noqa: E402
from numpyro.infer import NUTS  # noqa: E402

inference = contextlib.nullcontext


def start(threads):
    pass


def describe():
    return {"version": "numpyro %s" % numpyro.__version__}


class Sampler:
    def __init__(self, model, chains, warmup, draws, target):
        kernel = NUTS(model, target_accept_prob=target)
        self.start = kernel.init(jax.random.split(jax.random.PRNGKey(11), chains), warmup,
                                 None, (), {})
        constrain = jax.vmap(jax.vmap(kernel.postprocess_fn((), {})))

        def advance(state):
            return kernel.sample(state, (), {})

        def step(state, _):
            state = advance(state)
            return state, (state.z, state.num_steps, state.diverging)

        def program(state):
            state = jax.lax.fori_loop(0, warmup, lambda _, state: advance(state), state)
            _, (z, steps, diverging) = jax.lax.scan(step, state, length=draws)
            z = jax.tree.map(lambda leaf: leaf.swapaxes(0, 1), z)
            return constrain(z), steps, diverging

        self.chains, self.program = chains, jax.jit(program)

    def run(self, seed):
        keys = jax.random.split(jax.random.PRNGKey(seed), self.chains)
        return jax.block_until_ready(self.program(self.start._replace(rng_key=keys)))
