"""BlackJAX NUTS after window adaptation. jax.vmap runs the chains."""

import contextlib

import jax

jax.config.update("jax_enable_x64", True)
import blackjax  # noqa: E402
import models  # noqa: E402

inference = contextlib.nullcontext


def start(threads):
    pass


def describe():
    return {"version": "blackjax %s" % blackjax.__version__}


class Sampler:
    def __init__(self, model, chains, warmup, draws, target):
        log_density, self.starts, constrain = models.density(model, chains)

        def chain(key, start):
            before, after = jax.random.split(key)
            adaptation = blackjax.window_adaptation(blackjax.nuts, log_density,
                                                    target_acceptance_rate=target)
            (state, parameters), _ = adaptation.run(before, start, warmup)
            kernel = blackjax.nuts(log_density, **parameters).step

            def step(state, key):
                state, info = kernel(key, state)
                return state, (state.position, info.num_integration_steps,
                               info.is_divergent)

            _, (positions, steps, diverging) = jax.lax.scan(
                step, state, jax.random.split(after, draws))
            return jax.vmap(constrain)(positions), steps, diverging

        self.chains, self.program = chains, jax.jit(jax.vmap(chain))

    def run(self, seed):
        keys = jax.random.split(jax.random.key(seed), self.chains)
        return jax.block_until_ready(self.program(keys, self.starts))
