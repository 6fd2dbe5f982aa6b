#!/usr/bin/env python3
"""baseball.py [--chains=N] [--draws=N]: estimates the skill of batters from 45 at-bats each.

batch.sample samples a NumPyro model that pools the batters of 1970 (Efron and Morris 1975). The
script prints its estimate for each batter. It also prints how far the estimates and the early
averages are from the averages of the rest of the season.
"""

import argparse

import batch
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import expit

NAMES = ["Clemente", "F. Robinson", "F. Howard", "Johnstone", "Berry", "Spencer",
         "Kessinger", "L. Alvarado", "Santo", "Swoboda", "Unser", "Williams", "Scott",
         "Petrocelli", "E. Rodriguez", "Campaneris", "Munson", "Alvis"]
AT_BATS = 45
HITS = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7])
REST = np.array([.346, .298, .276, .222, .273, .270, .263, .210, .269, .230, .264, .256,
                 .303, .264, .226, .286, .316, .200])


def batting(hits=None):
    mu = numpyro.sample("mu", dist.Normal(-1, 1))
    spread = numpyro.sample("spread", dist.HalfNormal(0.5))
    with numpyro.plate("batters", len(NAMES)):
        z = numpyro.sample("z", dist.Normal(0, 1))
        skill = numpyro.deterministic("skill", expit(mu + spread * z))
        numpyro.sample("hits", dist.Binomial(AT_BATS, probs=skill), obs=hits)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    samples = batch.sample(batting, model_kwargs={"hits": HITS}, chains=options.chains,
                           draws=options.draws)
    print(samples)
    skill = samples.draws["skill"]
    low, high = np.quantile(skill, [0.05, 0.95], axis=(0, 1))
    print("%-14s %6s %6s %15s %6s" % ("batter", "early", "skill", "90 % of draws", "rest"))
    for i, name in enumerate(NAMES):
        print("%-14s %6.3f %6.3f   %.3f to %.3f %6.3f" % (
            name, HITS[i] / AT_BATS, skill[:, :, i].mean(), low[i], high[i], REST[i]))
    for what, guess in ("early averages", HITS / AT_BATS), ("the model",
                                                            skill.mean(axis=(0, 1))):
        print("error of %s: %.3f" % (what, np.sqrt(np.mean((guess - REST)**2))))


if __name__ == "__main__":
    main()
