"""Calls functions of the package with wrong arguments.

A worker process with a memory limit makes the calls.
"""

import pytest

from fuzz.mutations_sweep import CALLS


@pytest.fixture(scope="module")
def failures():
    """A function that runs calls in a worker process and returns the failures."""
    with CALLS.process() as failures:
        yield failures


@pytest.mark.parametrize("first", range(0, 500, 100))
def test_changed_calls(failures, first):
    found = failures(first, 100)
    assert not found, "\n".join(found)
