#!/usr/bin/env python3
"""check_sample.py: batch.sample draws from what it is given: known posteriors, whatever
the threads and the chains; windows of warm-up; models of NumPyro and trees of JAX; what
it cannot sample is an error that says why."""

import contextlib
import io
import os
import signal
import sys
import threading
import time
import types
import warnings
from unittest import mock

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore")

import arviz  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
import numpyro  # noqa: E402
import numpyro.distributions as dist  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("batch.sample")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")

import batch  # noqa: E402
from batch import _sample  # noqa: E402


def refused(what, kind, text, call):
    try:
        call()
    except kind as error:
        checks.expect(what, text in str(error), str(error))
        return
    except Exception as error:
        checks.expect(what, False, repr(error))
        return
    checks.expect(what, False, "no error")


# --- windows of warm-up -------------------------------------------------------

def windows(warmup):
    """The bounds of Stan's windows."""
    fits = _sample.schedule(warmup)
    checks.expect("all of warm-up fits the step size", (fits & 1).all() and
                  len(fits) == warmup, fits)
    checks.equal("the average is taken at the end",
                 list(numpy.flatnonzero(fits & 8)), [warmup - 1])
    seen = numpy.flatnonzero(fits & 2)
    ends = list(numpy.flatnonzero(fits & 4) + 1)
    checks.expect("windows follow each other", not len(seen) or (
        list(seen) == list(range(seen[0], seen[-1] + 1)) and ends[-1] == seen[-1] + 1))
    return [int(seen[0])] + [int(end) for end in ends] if len(seen) else []


checks.equal("windows of 1000", windows(1000), [75, 100, 150, 250, 450, 950])
checks.equal("windows of 500", windows(500), [75, 100, 150, 250, 450])
checks.equal("windows of 300", windows(300), [75, 100, 150, 250])
checks.equal("the last window takes what is left", windows(240), [75, 100, 190])
checks.equal("one window", windows(150), [75, 100])
checks.equal("shares of a short warm-up", windows(100), [15, 90])
checks.equal("none", windows(19), [])
checks.equal("one transition", windows(1), [])


# --- known posteriors -----------------------------------------------------------

def errors_off(draws, mean):
    """How many Monte-Carlo errors the mean of (chains, draws) is off."""
    return abs(draws.mean() - mean) / arviz.mcse(draws)


COVARIANCE = numpy.array([[1.0, 1.2, 0.0], [1.2, 4.0, -0.3], [0.0, -0.3, 0.25]])
CENTRE = numpy.array([1.0, -2.0, 30.0])
precision = jnp.asarray(numpy.linalg.inv(COVARIANCE))


def gaussian(tree):
    away = jnp.concatenate([tree["a"][None], tree["b"]]) - CENTRE
    return -0.5 * away @ precision @ away


def starts(chains):
    return {"a": numpy.zeros(chains), "b": numpy.zeros((chains, 2))}


def of_gaussian(chains=32, progress=False, **options):
    return batch.sample(gaussian, chains=chains, init=starts(chains), progress=progress,
                        **options)


def check_gaussian(what, samples):
    draws = numpy.concatenate([samples.draws["a"][:, :, None], samples.draws["b"]], axis=2)
    away = draws - CENTRE
    for i in range(3):
        checks.expect("%s: mean %d" % (what, i),
                      errors_off(draws[:, :, i], CENTRE[i]) < 4.5)
        checks.expect("%s: R-hat %d" % (what, i), arviz.rhat(draws[:, :, i]) < 1.01)
        for j in range(i + 1):
            checks.expect("%s: covariance %d, %d" % (what, i, j), errors_off(
                away[:, :, i] * away[:, :, j], COVARIANCE[i, j]) < 4.5)


samples = of_gaussian(seed=5)
check_gaussian("diagonal", samples)
accepted = samples.stats["acceptance_rate"].mean()
checks.expect("the step size fits the target", 0.75 < accepted < 0.95, accepted)
dense = of_gaussian(seed=5, mass="dense")
check_gaussian("dense", dense)
checks.expect("a dense mass matrix takes fewer steps", dense.stats["n_steps"].mean() <
              0.8 * samples.stats["n_steps"].mean())
careful = of_gaussian(seed=5, target_accept=0.95)
checks.expect("a higher target takes more steps", careful.stats["n_steps"].mean() >
              1.2 * samples.stats["n_steps"].mean() and
              careful.stats["acceptance_rate"].mean() > 0.93)

for algorithm in "multinomial", "slice":
    one = batch.sample(lambda x: -0.5 * (x - 3)**2, chains=16, init=numpy.zeros(16), seed=1,
                       algorithm=algorithm)
    checks.expect("one dimension, %s" % algorithm, errors_off(one.draws, 3) < 4.5 and
                  errors_off((one.draws - 3)**2, 1) < 4.5)

sliced = of_gaussian(seed=5, algorithm="slice")
check_gaussian("slice", sliced)
check_gaussian("slice, dense", of_gaussian(seed=5, mass="dense", algorithm="slice"))
checks.expect("draws from a slice are others", not numpy.isin(
    sliced.draws["a"], samples.draws["a"]).any())
accepted = sliced.stats["acceptance_rate"].mean()
checks.expect("the step size fits the target, slice", 0.75 < accepted < 0.95, accepted)

# What is said of a draw.
checks.equal("shapes", {name: value.shape for name, value in samples.draws.items()},
             {"a": (32, 1000), "b": (32, 1000, 2)})
checks.equal("types", {name: value.dtype.name for name, value in samples.stats.items()},
             {"acceptance_rate": "float64", "n_steps": "int64", "tree_depth": "int64",
              "diverging": "bool", "energy": "float64", "lp": "float64",
              "step_size": "float64"})
for algorithm, found in ("multinomial", samples), ("slice", sliced):
    with jax.enable_x64(True):
        logp = jax.vmap(jax.vmap(gaussian))(found.draws)
    lp, energy = found.stats["lp"], found.stats["energy"]
    checks.expect("the log density is that of the draw, %s" % algorithm,
                  numpy.allclose(logp, lp, rtol=1e-9, atol=1e-9))
    checks.expect("the energy is less than a momentum away, %s" % algorithm,
                  (energy + lp > 0).all() and abs((energy + lp).mean() - 1.5) < 0.1)
    steps, depth = found.stats["n_steps"], found.stats["tree_depth"]
    checks.expect("steps fit the depth, %s" % algorithm,
                  ((steps >= 1) & (steps < 2**depth)).all())
checks.expect("a chain has one step size",
              (samples.stats["step_size"] == samples.stats["step_size"][:, :1]).all() and
              len(set(samples.stats["step_size"][:, 0])) > 16)
shallow = of_gaussian(chains=2, warmup=50, draws=100, max_depth=2)
checks.expect("max_depth", shallow.stats["tree_depth"].max() == 2 and
              shallow.stats["n_steps"].max() == 3)


# --- what draws depend on -------------------------------------------------------

def same(a, b, chains=None):
    return all(numpy.array_equal(x[:chains], y[:chains]) for x, y in zip(
        jax.tree.leaves((a.draws, a.stats)), jax.tree.leaves((b.draws, b.stats))))


few = of_gaussian(chains=5, warmup=120, draws=130, seed=7, threads=1)
checks.expect("a seed repeats", same(few, of_gaussian(
    chains=5, warmup=120, draws=130, seed=7, threads=1)))
checks.expect("threads change no bit", same(few, of_gaussian(
    chains=5, warmup=120, draws=130, seed=7, threads=2)))
checks.expect("lanes change no bit", same(few, of_gaussian(
    chains=5, warmup=120, draws=130, seed=7, lanes=3, threads=1)) and same(few, of_gaussian(
        chains=5, warmup=120, draws=130, seed=7, lanes=8, threads=2)))
checks.expect("other chains change no bit", same(few, of_gaussian(
    chains=9, warmup=120, draws=130, seed=7, threads=2), 5))
checks.expect("nor do later draws", numpy.array_equal(few.draws["a"], of_gaussian(
    chains=5, warmup=120, draws=150, seed=7).draws["a"][:, :130]))
checks.expect("a key is a seed", same(few, of_gaussian(
    chains=5, warmup=120, draws=130, seed=jax.random.key(7))))
checks.expect("chains differ", len(set(few.draws["a"][:, 0])) == 5)
checks.expect("seeds differ", not numpy.isin(few.draws["a"], of_gaussian(
    chains=5, warmup=120, draws=130, seed=8).draws["a"]).any())

few_sliced = of_gaussian(chains=5, warmup=120, draws=130, seed=7, threads=1,
                         algorithm="slice")
checks.expect("threads and lanes change no bit of draws from a slice", all(
    same(few_sliced, of_gaussian(chains=5, warmup=120, draws=130, seed=7,
                                 algorithm="slice", **options))
    for options in ({"threads": 2}, {"lanes": 3, "threads": 1}, {"lanes": 8})))

# Calls of other lengths, as on a slower machine.
limit = _sample._SLICE
_sample._SLICE = 0
checks.expect("where calls end changes no bit", same(few, of_gaussian(
    chains=5, warmup=120, draws=130, seed=7)))
_sample._SLICE = limit


# --- models ---------------------------------------------------------------------

GROUPS = numpy.array([0, 1, 1, 2, 2, 2, 3, 0, 3, 3])
Y = numpy.array([0.3, 1.2, 0.9, -0.4, -0.6, -0.1, 2.0, 0.1, 1.7, 2.2])


def hierarchical(groups, y=None):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    with numpyro.plate("groups", 4):
        z = numpyro.sample("z", dist.Normal(0, 1))
    a = numpyro.deterministic("a", mu + 0.7 * z)
    error = numpyro.sample("error", dist.LogNormal(0, 0.1))
    numpyro.sample("y", dist.Normal(a[groups], error), obs=y)


samples = batch.sample(hierarchical, chains=16, model_args=(GROUPS,),
                       model_kwargs={"y": Y}, seed=2)
checks.equal("sites", {name: value.shape for name, value in samples.draws.items()},
             {"mu": (16, 1000), "z": (16, 1000, 4), "a": (16, 1000, 4),
              "error": (16, 1000)})
checks.expect("values are the model's", (samples.draws["error"] > 0).all() and
              numpy.allclose(samples.draws["a"], samples.draws["mu"][:, :, None] +
                             0.7 * samples.draws["z"]))
# By another sampler.
mcmc = numpyro.infer.MCMC(
    numpyro.infer.NUTS(hierarchical), num_warmup=500, num_samples=1000, num_chains=8,
    chain_method="vectorized", progress_bar=False)
mcmc.run(jax.random.PRNGKey(1), GROUPS, y=Y)
for name, wanted in mcmc.get_samples(group_by_chain=True).items():
    found, wanted = samples.draws[name], numpy.asarray(wanted, numpy.float64)
    for i in numpy.ndindex(found.shape[2:]):
        ours, theirs = found[(..., *i)], wanted[(..., *i)]
        off = abs(ours.mean() - theirs.mean()) / numpy.hypot(arviz.mcse(ours),
                                                             arviz.mcse(theirs))
        checks.expect("NumPyro's mean of %s%s" % (name, list(i)), off < 4.5, off)


def funnel():
    v = numpyro.sample("v", dist.Normal(0, 3))
    with numpyro.plate("n", 9):
        numpyro.sample("x", dist.Normal(0, jnp.exp(v / 2)))


for algorithm in "multinomial", "slice":
    found = batch.sample(funnel, chains=16, warmup=300, draws=300,
                         algorithm=algorithm).stats["diverging"]
    checks.expect("a funnel diverges, %s" % algorithm, 0 < found.mean() < 0.5,
                  found.mean())

data = samples.to_arviz()
checks.expect("ArviZ has all of it", numpy.array_equal(
    data.posterior["z"].values, samples.draws["z"]) and numpy.array_equal(
        data.sample_stats["energy"].values, samples.stats["energy"]) and
    set(data.sample_stats) == set(samples.stats))
newer = types.SimpleNamespace(__version__="1.0.0", from_dict=lambda groups: groups)
with mock.patch.dict(sys.modules, arviz=newer):
    groups = samples.to_arviz()
checks.expect("ArviZ 1 gets groups", groups["posterior"] is samples.draws and
              groups["sample_stats"] is samples.stats)
said = io.StringIO()
with contextlib.redirect_stderr(said):
    of_gaussian(chains=2, warmup=150, draws=100, progress=True)
lines = said.getvalue().split("\r")
checks.expect("a line says how far it is", any("warm-up" in line for line in lines) and
              "sample  |%s| 250/250, 2 chains, " % ("█" * 24) in lines[-1] and
              "diverging, acceptance 0." in lines[-1], lines[-1])
checks.expect("a summary", samples.summary()["r_hat"].max() < 1.02)
tree = batch.sample(lambda t: -0.5 * (t[0]**2 + jnp.sum(t[1]["w"]**2)), chains=2, warmup=20,
                    draws=10, init=(numpy.ones(2), {"w": numpy.ones((2, 3))}))
checks.equal("names of a tree", {name: value.shape for name, value in
                                 tree.to_arviz().posterior.items()},
             {"0": (2, 10), "1.w": (2, 10, 3)})
checks.expect("a tree", isinstance(tree.draws, tuple) and tree.draws[1]["w"].shape ==
              (2, 10, 3))
median = batch.sample(hierarchical, chains=3, warmup=1, draws=1, model_args=(GROUPS,),
                      model_kwargs={"y": Y}, init=numpyro.infer.init_to_median)
checks.expect("NumPyro's strategies for starts", median.draws["mu"].shape == (3, 1))


# --- what is read again -----------------------------------------------------------

FACTOR, OFFSET = 2.0, 1.0
centres = numpy.array([1.0, 2.0])


def scaled(y):
    mu = numpyro.sample("mu", dist.Normal(0, 100).expand([2]).to_event(1))
    numpyro.deterministic("moved", mu + OFFSET)
    with numpyro.plate("n", len(y)):
        numpyro.sample("y", dist.Normal(FACTOR * mu[0] + mu[1], 0.1), obs=y)
    numpyro.factor("near", -jnp.sum((mu - centres)**2))


def means(y=Y, **options):
    """Of what the data, the factor, the offset and the centres decide."""
    draws = batch.sample(scaled, model_args=(y,), chains=4, warmup=200, draws=100,
                         **options).draws
    mu = draws["mu"].mean((0, 1))
    return numpy.array([(FACTOR * draws["mu"][:, :, 0] + draws["mu"][:, :, 1]).mean() - 5,
                        (draws["moved"] - draws["mu"]).mean(), mu[0] - FACTOR * mu[1]])


def expected(y=Y):
    return numpy.array([y.mean() - 5, OFFSET, centres[0] - FACTOR * centres[1]])


def check_means(what, y=Y):
    found = means(y)
    checks.expect("read again: %s" % what, numpy.allclose(found, expected(y), atol=0.4),
                  (found, expected(y)))
    for kept in _sample._programs, _sample._samplers:
        kept._known.clear()
    checks.equal("as if it were new: %s" % what, list(found), list(means(y)))


check_means("nothing")
check_means("other data", Y + 3)
check_means("data of another type", numpy.array([3] * 10))
OFFSET = 5.0
check_means("what values are made of")
FACTOR = -1.5
check_means("a number")
centres[:] = [-3.0, 4.0]
check_means("an array that has changed")

# Another call neither traces nor compiles again.
with mock.patch.object(_sample, "_program", side_effect=AssertionError), \
        mock.patch.object(_sample.Trace, "jit", side_effect=AssertionError):
    batch.sample(scaled, model_args=(Y,), chains=4, warmup=1, draws=1, threads=1)
    means(seed=3)
    means(algorithm="slice")
    means(target_accept=0.7)


def key(function, *shapes):
    with jax.enable_x64(True):
        trace = _sample.Trace(jax.make_jaxpr(function)(*shapes or [jnp.ones(3)]))
        return trace.key, trace.values


for what, function, other in (
        ("numbers", lambda x: x * 2, lambda x: x * 3),
        ("signs of zero", lambda x: x + 0.0, lambda x: x - -0.0),
        ("signs of zero in an inner function", jax.jit(lambda x: x * 0.0),
         jax.jit(lambda x: x * -0.0)),
        ("arrays", lambda x: x * numpy.arange(3.), lambda x: x * numpy.ones(3)),
        ("types of arrays", lambda x: x * numpy.ones(3), lambda x: x * numpy.ones(3, int)),
        ("arrays in an inner function", lambda x: jax.jit(lambda: x * numpy.arange(3.))(),
         lambda x: jax.jit(lambda: x * numpy.ones(3))()),
        ("parameters", lambda x: x.sum(0), lambda x: x.sum(0, keepdims=True)),
        ("orders", lambda x: jnp.sin(x) / jnp.cos(x), lambda x: jnp.cos(x) / jnp.sin(x)),
        ("inner functions", lambda x: jax.lax.map(jnp.sin, x),
         lambda x: jax.lax.map(jnp.cos, x)),
        ("results", lambda x: (x, x + 1), lambda x: (x + 1, x))):
    checks.expect("traces differ in %s" % what, key(function) != key(other))
    checks.equal("the same %s again" % what, key(function), key(function))
C = [numpy.asarray([1., 2., i * i]) for i in range(3)]


def sums(first, second):
    """Adds two of values that only their numbers tell apart."""
    def f(q):
        values = [q, *C, *(q + c for c in C)]
        return jnp.sum(values[first] + values[second])
    return f


keys = {key(sums(i, j)) for i in range(7) for j in range(i, 7)}
checks.equal("traces differ in what is read", len(keys), 28)
checks.expect("traces differ in shapes", key(jnp.sin) != key(jnp.sin, jnp.ones(4)))
logits = [jnp.arange(3.)]
checks.equal("rules of derivatives are no part of it",
             *(key(lambda x: jax.nn.softplus(x * logits[0])) for _ in range(2)))


# --- errors, interrupts -----------------------------------------------------------

def counted():
    k = numpyro.sample("k", dist.Poisson(3.))
    z = numpyro.sample("z", dist.Bernoulli(0.5))
    numpyro.sample("x", dist.Normal(k + z, 1.), obs=0.3)


refused("discrete sites", ValueError, "sites 'k', 'z' are discrete",
        lambda: batch.sample(counted))
refused("no latent site", ValueError, "no latent sites",
        lambda: batch.sample(lambda: numpyro.sample("x", dist.Normal(0, 1), obs=1.0)))
refused("no model", TypeError, "NumPyro model or a log density", lambda: batch.sample(3))
for options, text in (({"chains": 0}, "chains"), ({"warmup": 0}, "warmup"),
                      ({"draws": 1.5}, "draws"), ({"max_depth": 17}, "max_depth is 16"),
                      ({"lanes": 0}, "lanes"), ({"target_accept": 1}, "target_accept"),
                      ({"mass": "full"}, "mass"), ({"algorithm": "hmc"}, "algorithm is")):
    refused("refuse %r" % options, ValueError, text,
            lambda: batch.sample(hierarchical, **options))
refused("starts of other chains", ValueError, "dimension of 4; found shape (3,)",
        lambda: batch.sample(lambda x: -x**2, init=numpy.zeros(3)))
refused("starts that are no real numbers", TypeError, "real numbers; found int",
        lambda: batch.sample(lambda x: -x**2, init=numpy.zeros(4, int)))
refused("no starts", ValueError, "no arrays", lambda: batch.sample(lambda x: 0.0, init={}))
refused("a density of several numbers", TypeError, "one number; found shape (2,)",
        lambda: batch.sample(lambda x: -x**2, init=numpy.zeros((4, 2))))
refused("a start outside", ValueError, "not finite where chain 2 starts",
        lambda: batch.sample(lambda x: jnp.log(x), init=numpy.array([1., 2, -3, 4])))
refused("what is not compiled", batch.LoweringError, "check_sample.py",
        lambda: batch.sample(lambda x: -jnp.abs(jnp.fft.fft(x)).sum(),
                             init=numpy.ones((4, 8))))
sent = []
# Processes in the background of a shell ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)


wide = numpy.eye(300)
batch.sample(lambda x: -jnp.sum((wide @ x)**2), init=numpy.zeros((4, 300)), warmup=1,
             draws=1)
threading.Timer(4, interrupt).start()
try:
    batch.sample(lambda x: -jnp.sum((wide @ x)**2), init=numpy.zeros((4, 300)),
                 warmup=10**6, draws=1)
    checks.expect("an interrupt ends it", False)
except KeyboardInterrupt:
    # Half a second, on a machine that does other things, too.
    checks.expect("an interrupt ends it", time.monotonic() - sent[0] < 2,
                  time.monotonic() - sent[0])
checks.exit()
