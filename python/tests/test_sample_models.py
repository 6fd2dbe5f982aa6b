"""batch.sample draws from NumPyro models as NumPyro does, and reads their data at each call."""

import itertools
import sys
import types

import arviz
import jax
import jax.numpy as jnp
import numpy
import numpyro
import numpyro.distributions as dist
import pytest
from support.comparison import raises

import batch
from batch.sampling import models
from batch.sampling import sample as sampler
from batch.tracing.trace_keys import Trace

# --- models -----------------------------------------------------------------------------

GROUPS = numpy.array([0, 1, 1, 2, 2, 2, 3, 0, 3, 3])
Y = numpy.array([0.3, 1.2, 0.9, -0.4, -0.6, -0.1, 2.0, 0.1, 1.7, 2.2])


def hierarchical(groups, y=None):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    with numpyro.plate("groups", 4):
        z = numpyro.sample("z", dist.Normal(0, 1))
    a = numpyro.deterministic("a", mu + 0.7 * z)
    error = numpyro.sample("error", dist.LogNormal(0, 0.1))
    numpyro.sample("y", dist.Normal(a[groups], error), obs=y)


def funnel():
    v = numpyro.sample("v", dist.Normal(0, 3))
    with numpyro.plate("n", 9):
        numpyro.sample("x", dist.Normal(0, jnp.exp(v / 2)))


@pytest.fixture(scope="module")
def samples():
    return batch.sample(hierarchical, chains=16, model_args=(GROUPS,), model_kwargs={"y": Y},
                        seed=2)


@pytest.fixture(scope="module")
def numpyro_draws():
    mcmc = numpyro.infer.MCMC(
        numpyro.infer.NUTS(hierarchical), num_warmup=500, num_samples=1000, num_chains=8,
        chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(1), GROUPS, y=Y)
    return {name: numpy.asarray(value, numpy.float64)
            for name, value in mcmc.get_samples(group_by_chain=True).items()}


def test_sites(samples):
    assert {name: value.shape for name, value in samples.draws.items()} == {
        "mu": (16, 1000), "z": (16, 1000, 4), "a": (16, 1000, 4), "error": (16, 1000)}


def test_values_of_sites(samples):
    draws = samples.draws
    assert (draws["error"] > 0).all()
    numpy.testing.assert_allclose(draws["a"], draws["mu"][:, :, None] + 0.7 * draws["z"],
                                  rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name, index", [
    ("mu", ()), ("error", ()), *itertools.product("az", [(0,), (1,), (2,), (3,)])],
    ids=lambda value: value if isinstance(value, str) else "_".join(map(str, value)) or "all")
def test_mean_is_that_of_numpyro(samples, numpyro_draws, name, index):
    assert numpyro_draws.keys() == samples.draws.keys()
    assert numpyro_draws[name].shape[2:] == samples.draws[name].shape[2:]
    found, wanted = samples.draws[name][(..., *index)], numpyro_draws[name][(..., *index)]
    error = numpy.hypot(arviz.mcse(found), arviz.mcse(wanted))
    assert abs(found.mean() - wanted.mean()) / error < 4.5


@pytest.mark.parametrize("algorithm", ["multinomial", "slice"])
def test_funnel_diverges(algorithm):
    samples = batch.sample(funnel, chains=16, warmup=300, draws=300, algorithm=algorithm)
    assert 0 < samples.stats["diverging"].mean() < 0.5


def test_initialization_strategy():
    samples = batch.sample(hierarchical, chains=3, warmup=1, draws=1, model_args=(GROUPS,),
                           model_kwargs={"y": Y}, init=numpyro.infer.init_to_median)
    assert samples.draws["mu"].shape == (3, 1)


# --- results ----------------------------------------------------------------------------

def test_arviz(samples):
    data = samples.to_arviz()
    assert numpy.array_equal(data.posterior["z"].values, samples.draws["z"])
    assert numpy.array_equal(data.sample_stats["energy"].values, samples.stats["energy"])
    assert set(data.sample_stats) == set(samples.stats)


def test_arviz_1_receives_groups(samples, monkeypatch):
    newer = types.SimpleNamespace(__version__="1.0.0", from_dict=lambda groups: groups)
    monkeypatch.setitem(sys.modules, "arviz", newer)
    groups = samples.to_arviz()
    assert groups["posterior"] is samples.draws
    assert groups["sample_stats"] is samples.stats


def test_summary(samples):
    assert samples.summary()["r_hat"].max() < 1.02


# --- data that changes between calls ----------------------------------------------------

FACTOR, OFFSET, NEAR = 2.0, 1.0, numpy.array([1.0, 2.0])


def scaled(y):
    mu = numpyro.sample("mu", dist.Normal(0, 100).expand([2]).to_event(1))
    numpyro.deterministic("moved", mu + OFFSET)
    with numpyro.plate("n", len(y)):
        numpyro.sample("y", dist.Normal(FACTOR * mu[0] + mu[1], 0.1), obs=y)
    numpyro.factor("near", -jnp.sum((mu - NEAR)**2))


def means(y=Y, **options):
    """Returns means that depend on `y`, OFFSET, FACTOR and NEAR."""
    draws = batch.sample(scaled, model_args=(y,), chains=4, warmup=200, draws=100,
                         **options).draws
    mu = draws["mu"].mean((0, 1))
    return numpy.array([(FACTOR * draws["mu"][:, :, 0] + draws["mu"][:, :, 1]).mean() - 5,
                        (draws["moved"] - draws["mu"]).mean(), mu[0] - FACTOR * mu[1]])


def assert_read_again(y=Y):
    """Requires the expected means, and the same means from a newly compiled model."""
    expected = [y.mean() - 5, OFFSET, NEAR[0] - FACTOR * NEAR[1]]
    found = means(y)
    numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=0.4)
    for cache in models._programs, sampler._samplers:
        cache._known.clear()
    assert list(found) == list(means(y))


@pytest.fixture
def earlier_call():
    """Fills the caches, so that the next call finds a model that was compiled before."""
    means()


@pytest.fixture
def near():
    """The array NEAR, which is restored after the test."""
    before = NEAR.copy()
    yield NEAR
    NEAR[:] = before


@pytest.mark.sampled(3)
@pytest.mark.parametrize("y", [Y, Y + 3, numpy.array([3] * 10)],
                         ids=["same", "other", "integers"])
def test_data_is_read_again(earlier_call, y):
    assert_read_again(y)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, value", [("OFFSET", 5.0), ("FACTOR", -1.5)],
                         ids=["of_deterministic_site", "of_log_density"])
def test_number_is_read_again(earlier_call, monkeypatch, name, value):
    monkeypatch.setitem(globals(), name, value)
    assert_read_again()


def test_array_is_read_again(earlier_call, near):
    near[:] = [-3.0, 4.0]
    assert_read_again()


def test_next_call_compiles_nothing(earlier_call, monkeypatch):
    """The next call traces the model again, but reuses its programs."""
    def refuse(*arguments, **options):
        raise AssertionError("compiles again")

    monkeypatch.setattr(sampler, "program", refuse)
    monkeypatch.setattr(Trace, "jit", refuse)
    batch.sample(scaled, model_args=(Y,), chains=4, warmup=1, draws=1, threads=1)
    means(seed=3)
    means(algorithm="slice")
    means(target_accept=0.7)


# --- errors -----------------------------------------------------------------------------

def discrete():
    k = numpyro.sample("k", dist.Poisson(3.))
    z = numpyro.sample("z", dist.Bernoulli(0.5))
    numpyro.sample("x", dist.Normal(k + z, 1.), obs=0.3)


def test_discrete_sites_are_refused():
    with raises(ValueError, "sites 'k', 'z' are discrete"):
        batch.sample(discrete)


def test_model_without_latent_site_is_refused():
    with raises(ValueError, "no latent sites"):
        batch.sample(lambda: numpyro.sample("x", dist.Normal(0, 1), obs=1.0))
