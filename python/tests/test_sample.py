"""Samples from known log densities with batch.sample. Draws depend only on the seed."""

import functools
import os
import signal
import threading
import time

import arviz
import jax
import jax.numpy as jnp
import numpy
import pytest
from support.comparison import raises

import batch
from batch.sampling import sample as sampler
from batch.sampling.schedule import schedule

# --- windows of warm-up -----------------------------------------------------------------

# Bits of a warm-up transition (batch.sampling.schedule).
STEP, SEES, ENDS, AVERAGES = 1, 2, 4, 8


@pytest.mark.parametrize("warmup, bounds", [
    (1000, [75, 100, 150, 250, 450, 950]),
    (500, [75, 100, 150, 250, 450]),
    (300, [75, 100, 150, 250]),
    (240, [75, 100, 190]),  # the last window contains the remaining transitions
    (150, [75, 100]),
    (100, [15, 90]),
    (19, []),
    (1, [])])
def test_windows(warmup, bounds):
    """The first window starts at the first bound. Each window ends at one of the other bounds."""
    bits = schedule(warmup)
    assert len(bits) == warmup
    assert (bits & STEP).all()
    assert list(numpy.flatnonzero(bits & AVERAGES)) == [warmup - 1]
    seen = list(numpy.flatnonzero(bits & SEES))
    ends = list(numpy.flatnonzero(bits & ENDS) + 1)
    assert seen[:1] + ends == bounds
    if bounds:
        assert seen == list(range(bounds[0], bounds[-1]))


# --- known posteriors -------------------------------------------------------------------

COVARIANCE = numpy.array([[1.0, 1.2, 0.0], [1.2, 4.0, -0.3], [0.0, -0.3, 0.25]])
CENTRE = numpy.array([1.0, -2.0, 30.0])
PRECISION = numpy.linalg.inv(COVARIANCE)


def gaussian(tree):
    difference = jnp.concatenate([tree["a"][None], tree["b"]]) - CENTRE
    return -0.5 * difference @ PRECISION @ difference


def sample_gaussian(chains=32, **options):
    init = {"a": numpy.zeros(chains), "b": numpy.zeros((chains, 2))}
    return batch.sample(gaussian, chains=chains, init=init, **{"progress": False, **options})


@pytest.fixture(scope="module")
def posterior():
    """Function that returns samples of the Gaussian. It draws each kind of sample once."""
    return functools.cache(lambda algorithm="multinomial", mass="diagonal": sample_gaussian(
        seed=5, algorithm=algorithm, mass=mass))


def coordinates(samples):
    """Returns the draws of the Gaussian, with shape (chains, draws, 3)."""
    return numpy.concatenate([samples.draws["a"][:, :, None], samples.draws["b"]], axis=2)


def errors_between(draws, mean):
    """Returns the distance between `mean` and the mean of all draws, in Monte Carlo errors."""
    return abs(draws.mean() - mean) / arviz.mcse(draws)


ALGORITHMS = pytest.mark.parametrize("algorithm", ["multinomial", "slice"])
MASSES = pytest.mark.parametrize("mass", ["diagonal", "dense"])


@MASSES
@ALGORITHMS
@pytest.mark.parametrize("i", range(3))
def test_mean(posterior, i, algorithm, mass):
    draws = coordinates(posterior(algorithm, mass))
    assert errors_between(draws[:, :, i], CENTRE[i]) < 4.5


@MASSES
@ALGORITHMS
@pytest.mark.parametrize("i", range(3))
def test_r_hat(posterior, i, algorithm, mass):
    assert arviz.rhat(coordinates(posterior(algorithm, mass))[:, :, i]) < 1.01


@MASSES
@ALGORITHMS
@pytest.mark.parametrize("i, j", [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)])
def test_covariance(posterior, i, j, algorithm, mass):
    differences = coordinates(posterior(algorithm, mass)) - CENTRE
    products = differences[:, :, i] * differences[:, :, j]
    assert errors_between(products, COVARIANCE[i, j]) < 4.5


@ALGORITHMS
def test_step_size_fits_target(posterior, algorithm):
    accepted = posterior(algorithm).stats["acceptance_rate"].mean()
    assert 0.75 < accepted < 0.95


def test_dense_mass_takes_fewer_steps(posterior):
    dense, diagonal = (posterior(mass=mass).stats["n_steps"].mean()
                       for mass in ("dense", "diagonal"))
    assert dense < 0.8 * diagonal


def test_higher_target_takes_more_steps(posterior):
    careful = sample_gaussian(seed=5, target_accept=0.95).stats
    assert careful["n_steps"].mean() > 1.2 * posterior().stats["n_steps"].mean()
    assert careful["acceptance_rate"].mean() > 0.93


@ALGORITHMS
def test_one_dimension(algorithm):
    samples = batch.sample(lambda x: -0.5 * (x - 3)**2, chains=16, init=numpy.zeros(16),
                           seed=1, algorithm=algorithm)
    assert errors_between(samples.draws, 3) < 4.5
    assert errors_between((samples.draws - 3)**2, 1) < 4.5


def test_algorithms_draw_different_points(posterior):
    assert not numpy.isin(posterior("slice").draws["a"], posterior().draws["a"]).any()


# --- statistics of draws ----------------------------------------------------------------

def test_shapes_of_draws(posterior):
    shapes = {name: value.shape for name, value in posterior().draws.items()}
    assert shapes == {"a": (32, 1000), "b": (32, 1000, 2)}


def test_types_of_statistics(posterior):
    types = {name: value.dtype.name for name, value in posterior().stats.items()}
    assert types == {"acceptance_rate": "float64", "n_steps": "int64", "tree_depth": "int64",
                     "diverging": "bool", "energy": "float64", "lp": "float64",
                     "step_size": "float64"}


@ALGORITHMS
def test_log_density_is_that_of_the_draw(posterior, algorithm):
    samples = posterior(algorithm)
    with jax.enable_x64(True):
        expected = numpy.asarray(jax.vmap(jax.vmap(gaussian))(samples.draws))
    numpy.testing.assert_allclose(samples.stats["lp"], expected, rtol=1e-9, atol=1e-9)


@ALGORITHMS
def test_energy_includes_momentum(posterior, algorithm):
    stats = posterior(algorithm).stats
    kinetic = stats["energy"] + stats["lp"]
    assert (kinetic > 0).all()
    assert abs(kinetic.mean() - 1.5) < 0.1


@ALGORITHMS
def test_steps_fit_depth(posterior, algorithm):
    stats = posterior(algorithm).stats
    assert (stats["n_steps"] >= 1).all()
    assert (stats["n_steps"] < 2**stats["tree_depth"]).all()


def test_chain_has_one_step_size(posterior):
    sizes = posterior().stats["step_size"]
    assert (sizes == sizes[:, :1]).all()
    assert len(set(sizes[:, 0])) > 16


def test_max_depth():
    stats = sample_gaussian(chains=2, warmup=50, draws=100, max_depth=2).stats
    assert stats["tree_depth"].max() == 2
    assert stats["n_steps"].max() == 3


# --- reproducibility --------------------------------------------------------------------

def sample_few(**options):
    return sample_gaussian(**{"chains": 5, "warmup": 120, "draws": 130, "seed": 7, **options})


@pytest.fixture(scope="module")
def few():
    return sample_few(threads=1)


@pytest.fixture(scope="module")
def few_of_slices():
    return sample_few(threads=1, algorithm="slice")


def assert_same_bits(found, wanted, chains=None):
    """Requires equal draws and statistics in the first `chains` chains, or in all chains."""
    found, wanted = ({"draws": samples.draws, "stats": samples.stats}
                     for samples in (found, wanted))
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(found),
                            jax.tree.leaves(wanted)):
        numpy.testing.assert_array_equal(a[:chains], b[:chains],
                                         err_msg=jax.tree_util.keystr(path))


@pytest.mark.parametrize("options", [
    {"threads": 1}, {"threads": 2}, {"lanes": 3, "threads": 1}, {"lanes": 8, "threads": 2}],
    ids=["repeated", "two_threads", "three_lanes", "eight_lanes"])
def test_same_draws(few, options):
    assert_same_bits(sample_few(**options), few)


@pytest.mark.parametrize("options", [
    {"threads": 2}, {"lanes": 3, "threads": 1}, {"lanes": 8}],
    ids=["two_threads", "three_lanes", "eight_lanes"])
def test_same_draws_of_slices(few_of_slices, options):
    assert_same_bits(sample_few(algorithm="slice", **options), few_of_slices)


def test_same_draws_with_further_chains(few):
    assert_same_bits(sample_few(chains=9, threads=2), few, chains=5)


def test_same_draws_with_further_draws(few):
    longer = sample_few(draws=150)
    numpy.testing.assert_array_equal(longer.draws["a"][:, :130], few.draws["a"])


def test_same_draws_with_key_as_seed(few):
    assert_same_bits(sample_few(seed=jax.random.key(7)), few)


def test_same_draws_in_short_calls(few, monkeypatch):
    """Calls with few transitions, as on a slow machine, return the same draws."""
    monkeypatch.setattr(sampler, "_SLICE", 0)
    assert_same_bits(sample_few(), few)


def test_chains_differ(few):
    assert len(set(few.draws["a"][:, 0])) == 5


def test_seeds_differ(few):
    assert not numpy.isin(few.draws["a"], sample_few(seed=8).draws["a"]).any()


# --- results ----------------------------------------------------------------------------

def test_tree():
    samples = batch.sample(lambda t: -0.5 * (t[0]**2 + jnp.sum(t[1]["w"]**2)), chains=2,
                           warmup=20, draws=10, init=(numpy.ones(2),
                                                      {"w": numpy.ones((2, 3))}))
    assert isinstance(samples.draws, tuple)
    assert samples.draws[1]["w"].shape == (2, 10, 3)
    shapes = {name: value.shape for name, value in samples.to_arviz().posterior.items()}
    assert shapes == {"0": (2, 10), "1.w": (2, 10, 3)}


def test_progress(capsys):
    sample_gaussian(chains=2, warmup=150, draws=100, progress=True)
    lines = capsys.readouterr().err.split("\r")
    assert any("warm-up" in line for line in lines)
    assert f"sample  |{'█' * 24}| 250/250, 2 chains, " in lines[-1]
    assert "diverging, acceptance 0." in lines[-1]


# --- errors, interrupts -----------------------------------------------------------------

def test_target_that_is_no_function_is_refused():
    with raises(TypeError, "NumPyro model or a log density"):
        batch.sample(3)


@pytest.mark.parametrize("option, value, text", [
    ("chains", 0, "chains must be a positive integer, got 0"), ("warmup", 0, "warmup must be"),
    ("draws", 1.5, "draws must be a positive integer, got 1.5"),
    ("max_depth", 17, "max_depth must be at most 16, got 17"), ("lanes", 0, "lanes must be"),
    ("chains", 2 ** 31, "chains must be at most 2147483647, got 2147483648"),
    ("target_accept", 1, "target_accept must be greater than 0 and less than 1, got 1"),
    ("mass", "full", "invalid mass 'full'; expected 'diagonal' or 'dense'"),
    ("algorithm", "hmc", "invalid algorithm 'hmc'; expected 'multinomial' or 'slice'")],
    ids=["chains", "warmup", "draws", "max_depth", "lanes", "chains=2**31", "target_accept",
         "mass", "algorithm"])
def test_option_is_refused(option, value, text):
    with raises(ValueError, text):
        batch.sample(gaussian, **{option: value})


@pytest.mark.parametrize("log_density, init, error, text", [
    (lambda x: -x**2, numpy.zeros(3), ValueError, "of shape (3,); expected (4, ...)"),
    (lambda x: -x**2, numpy.zeros(4, int), TypeError, "expected floating-point numbers"),
    (lambda x: 0.0, {}, ValueError, "no arrays"),
    (lambda x: -x**2, numpy.zeros((4, 2)), TypeError, "has shape (2,); expected a scalar"),
    (lambda x: jnp.log(x), numpy.array([1., 2, -3, 4]), ValueError,
     "not finite at the start of chain 2"),
    (lambda x: -jnp.abs(jnp.fft.fft(x)).sum(), numpy.ones((4, 8)), batch.LoweringError,
     os.path.basename(__file__)),
], ids=["starts_of_other_chains", "integers", "no_starts", "several_numbers",
        "start_outside", "unsupported_primitive"])
def test_log_density_is_refused(log_density, init, error, text):
    with raises(error, text):
        batch.sample(log_density, init=init)


@pytest.fixture
def interruptible():
    """Makes SIGINT raise KeyboardInterrupt, even in background processes of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt(interruptible):
    """An interrupted call ends within half a second. The limit is 2 s, for a busy machine."""
    wide = numpy.eye(300)
    sent = []

    def log_density(x):
        return -jnp.sum((wide @ x)**2)

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def call(warmup):
        batch.sample(log_density, init=numpy.zeros((4, 300)), warmup=warmup, draws=1)

    call(warmup=1)  # compiles
    timer = threading.Timer(4, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call(warmup=10**6)
        elapsed = time.monotonic() - sent[0]
    finally:
        timer.cancel()
    assert elapsed < 2
