"""Calls functions of data types with changed values.

A worker process with a memory limit runs the calls.
"""

import pytest

from fuzz.tree_mutations_sweep import TREES


@pytest.fixture(scope="module")
def failures():
    """A function that passes trees to calls in a worker process and returns the failures."""
    with TREES.process() as failures:
        yield failures


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_changed_trees(failures, first):
    found = failures(first, 100)
    assert not found, "\n".join(found)
