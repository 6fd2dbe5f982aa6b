"""Binding of changed parameter files.

A worker process with a memory limit binds them.
"""

import pytest

from fuzz.parameter_files_sweep import FILES


@pytest.fixture(scope="module")
def failures():
    """A function that binds files in a worker process and returns the failures."""
    with FILES.process() as failures:
        yield failures


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_changed_files(failures, first):
    found = failures(first, 100)
    assert not found, "\n".join(found)
