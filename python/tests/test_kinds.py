"""Compares batch.vmap with jax.vmap for each kind of program that JAX users write."""

import jax
import pytest
from support.comparison import raises
from support.kinds import KINDS, REFUSED
from support.vmap import assert_maps_like_jax

import batch

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.sampled(20)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_kind(kind):
    with jax.enable_x64(kind.x64 or jax.config.jax_enable_x64):
        assert_maps_like_jax(kind.function, *kind.arguments, **kind.options)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("kind", REFUSED.values(), ids=REFUSED)
def test_refused_kind(kind):
    call = batch.vmap(kind.function) if kind.arguments else kind.function
    with raises((batch.LoweringError, ValueError), f"kinds.py:{kind.line} "):
        call(*kind.arguments)
