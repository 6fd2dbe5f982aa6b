"""The models of the benchmark, in NumPyro, and their log densities for BlackJAX."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.flatten_util import ravel_pytree
from numpyro.contrib.control_flow import scan
from numpyro.infer.util import initialize_model

_random = np.random.default_rng(0)
X = _random.standard_normal((200, 5))
BINARY = (_random.random(200) < 0.5).astype(np.float64)
COUNTS = _random.poisson(3, 200)
GROUPS = _random.integers(0, 10, 200)
Y = _random.standard_normal(200)
SCHOOLS = np.array([28., 8, -3, 7, -1, 1, 18, 12])
SCHOOLS_ERRORS = np.array([15., 10, 16, 11, 9, 11, 10, 18])


def _weights():
    return numpyro.sample("b", dist.Normal(0, 1).expand([5]).to_event(1))


def schools():
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("J", 8):
        z = numpyro.sample("z", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(mu + tau * z, SCHOOLS_ERRORS), obs=SCHOOLS)


def logistic():
    numpyro.sample("y", dist.Bernoulli(logits=X @ _weights()), obs=BINARY)


def poisson():
    numpyro.sample("y", dist.Poisson(jnp.exp(X @ _weights() * 0.1)), obs=COUNTS)


def hierarchical():
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    s = numpyro.sample("s", dist.HalfNormal(1))
    with numpyro.plate("groups", 10):
        a = numpyro.sample("a", dist.Normal(mu, s))
    error = numpyro.sample("error", dist.Exponential(1.))
    numpyro.sample("y", dist.Normal(a[GROUPS], error), obs=Y)


def autoregressive():
    c = numpyro.sample("c", dist.Normal(0, 1))
    phi = numpyro.sample("phi", dist.Uniform(-1, 1))
    s = numpyro.sample("s", dist.HalfNormal(1))
    numpyro.sample("y", dist.Normal(c + phi * Y[:-1], s), obs=Y[1:])


def mixture():
    w = numpyro.sample("w", dist.Dirichlet(jnp.ones(3)))
    m = numpyro.sample("m", dist.Normal(0, 2).expand([3]).to_event(1))
    numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(w), dist.Normal(m, 1.)),
                   obs=Y)


def gaussian_process():
    length = numpyro.sample("length", dist.LogNormal(0, 1))
    x = X[:20, 0]
    kernel = jnp.exp(-0.5 * (x[:, None] - x)**2 / length**2) + 0.1 * jnp.eye(20)
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(20), kernel), obs=Y[:20])


def student():
    nu = numpyro.sample("nu", dist.Gamma(2., .1))
    numpyro.sample("y", dist.StudentT(nu, X @ _weights(), 1.), obs=Y)


def correlation():
    L = numpyro.sample("L", dist.LKJCholesky(3, 1.))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(3), scale_tril=L),
                   obs=Y[:60].reshape(20, 3))


def state_space():
    s = numpyro.sample("s", dist.HalfNormal(1))

    def step(x, y):
        x = numpyro.sample("x", dist.Normal(x, s))
        numpyro.sample("y", dist.Normal(x, 1.), obs=y)
        return x, None

    scan(step, 0., jnp.asarray(Y[:20]))


MODELS = {f.__name__: f for f in (
    schools, logistic, poisson, hierarchical, autoregressive, mixture, gaussian_process,
    student, correlation, state_space)}


def density(model, chains):
    """Returns the arguments of BlackJAX: a function for the log density of a vector, and the
    initial positions of the chains. Also returns a function that converts a vector to the model's
    sites."""
    info = initialize_model(jax.random.split(jax.random.key(11), chains), model,
                            dynamic_args=False)
    _, unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], info.param_info.z))
    starts = jax.vmap(lambda tree: ravel_pytree(tree)[0])(info.param_info.z)
    return lambda q: -info.potential_fn(unravel(q)), starts, \
        lambda q: info.postprocess_fn(unravel(q))
