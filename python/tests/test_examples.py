"""Examples from the JAX documentation have the same results with batch.vmap as with jax.vmap.

The examples come from the docstrings of the functions in FUNCTIONS, in the installed JAX. The
following rule chose these functions before any example was run with Batch; support/jax_examples.py
applies it to the installed JAX and prints the functions.

  - Candidates are the public functions of jax.lax, jax.nn, jax.numpy, jax.random,
    jax.scipy.linalg and jax.scipy.special with examples, by module and name, each object once.
  - Of these, the adapted examples (see adapt()) must run under jax.vmap.
  - Of these n functions, the rule takes numbers 0, n/40, 2n/40, …, rounded down.

Operations that Batch deliberately rejects, such as FFT and complex numbers, must be errors.
"""

import re
import time

import jax
import pytest
from support.comparison import assert_same
from support.jax_examples import adapt, is_refused

import batch

pytestmark = pytest.mark.filterwarnings("ignore")

FUNCTIONS = [f"{module}.{name}" for module, names in {
    "jax.lax": "associative_scan scatter_add",
    "jax.nn": "identity",
    "jax.numpy":
        "angle arcsin argsort atleast_2d bitwise_xor column_stack correlate "
        "cumulative_sum diff empty_like fill_diagonal fmax geomspace histogramdd "
        "insert isnan ldexp log1p logical_xor mean nanargmax nanpercentile "
        "ones_like place polymul put_along_axis resize select sort_complex "
        "subtract trapezoid union1d vecdot",
    "jax.scipy.linalg": "cho_factor eigh inv rsf2csf",
}.items() for name in names.split()]
SECONDS = 60  # limit for the examples of one function


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples(name):
    start = time.monotonic()
    adapted = adapt(name)
    if not adapted:
        pytest.skip("this JAX has no such examples")
    function, inputs = adapted
    if is_refused(function, inputs):
        with pytest.raises(batch.LoweringError) as caught:
            batch.vmap(function)(inputs)
        assert re.match(r"\S+:\d+ \(in ", str(caught.value)), "the message has no location"
        adapted = adapt(name, plain=True)
    if adapted:
        function, inputs = adapted
        assert_same(batch.vmap(function)(inputs), jax.vmap(function)(inputs))
    assert time.monotonic() - start < SECONDS


def test_most_functions_have_examples():
    assert sum(adapt(name) is not None for name in FUNCTIONS) >= 0.9 * len(FUNCTIONS)
