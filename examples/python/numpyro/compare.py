#!/usr/bin/env python3
"""compare.py [--chains=N] [--warmup=N] [--draws=N]: compares batch.sample and NumPyro NUTS on the
model of baseball.py. Both run all chains at once, on one thread.

For some parameters, the script prints both means, their distance in units of the combined
Monte-Carlo error, and R-hat. Then it prints the smallest number of effective samples of these
parameters, and CPU seconds including compilation; benchmarks/sample has times without compilation.
The exit code is 1 if means differ by more than 4.5 times the error.
"""

import argparse
import os
import sys
import time
import warnings

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false " \
    "intra_op_parallelism_threads=1"
warnings.filterwarnings("ignore", category=FutureWarning)

import arviz  # noqa: E402
import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
import batch  # noqa: E402
import numpy as np  # noqa: E402
from numpyro.infer import MCMC, NUTS  # noqa: E402

import baseball  # noqa: E402


def by_batch(options):
    return batch.sample(baseball.batting, model_kwargs={"hits": baseball.HITS}, threads=1,
                        chains=options.chains, warmup=options.warmup,
                        draws=options.draws).draws


def by_numpyro(options):
    mcmc = MCMC(NUTS(baseball.batting), num_warmup=options.warmup,
                num_samples=options.draws, num_chains=options.chains,
                chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0), hits=baseball.HITS)
    return {name: np.asarray(value)
            for name, value in mcmc.get_samples(group_by_chain=True).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--warmup", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    draws, seconds = {}, {}
    for name, run in ("Batch", by_batch), ("NumPyro", by_numpyro):
        start = time.process_time()
        draws[name] = run(options)
        seconds[name] = time.process_time() - start
    columns = {"mu": "mu", "spread": "spread", "skill": "Clemente"}
    first = {name: {site: value.reshape(value.shape[:2] + (-1,))[:, :, 0]
                    for site, value in found.items() if site in columns}
             for name, found in draws.items()}
    print("%-10s %8s %8s %9s %7s" % ("", "Batch", "NumPyro", "/ errors", "R-hat"))
    worst = 0
    for site, title in columns.items():
        ours, theirs = first["Batch"][site], first["NumPyro"][site]
        off = abs(ours.mean() - theirs.mean()) / np.hypot(arviz.mcse(ours),
                                                          arviz.mcse(theirs))
        worst = max(worst, off)
        print("%-10s %8.4f %8.4f %9.2f %7.4f" % (title, ours.mean(), theirs.mean(), off,
                                                arviz.rhat(ours)))
    for name, found in first.items():
        samples = min(arviz.ess(value) for value in found.values())
        print("%s: %.0f effective samples, %.1f CPU s in all" % (
            name, samples, seconds[name]))
    sys.exit(int(worst > 4.5))


if __name__ == "__main__":
    main()
