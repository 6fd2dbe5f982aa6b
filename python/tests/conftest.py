"""Environment of the tests: two CPU devices of JAX, a compiler, and an empty cache.

Markers select tests: `slow` runs only with `-m slow`, `torch` needs PyTorch, `gpu` a GPU.
"""

import importlib.util
import os
import shutil
import tempfile

import pytest

# JAX reads these when it is imported.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"


def pytest_addoption(parser):
    group = parser.getgroup("batch", "random tests of Batch")
    group.addoption("--minutes", type=float, default=None, metavar="N",
                    help="run each slow random test for N minutes (default: its number of cases)")
    group.addoption("--seed", type=int, default=1, metavar="N",
                    help="seed of the slow random tests (default: 1)")


def pytest_configure(config):
    """Sets the compiler and an empty cache, which all workers of pytest-xdist share."""
    if hasattr(config, "workerinput"):
        return
    tools = os.environ.get("BATCH_TOOLS")
    compiler = os.path.join(tools, "batch-compile") if tools else shutil.which("batch-compile")
    if not compiler or not os.path.exists(compiler):
        raise pytest.UsageError("batch-compile not found; add build/bin to PATH")
    os.environ["BATCH_COMPILE"] = compiler
    folder = tempfile.mkdtemp(prefix="batch-tests-")
    os.environ["XDG_CACHE_HOME"] = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(items):
    """Skips the tests of PyTorch where it is not installed."""
    if importlib.util.find_spec("torch"):
        return
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))


@pytest.fixture(scope="module", autouse=True)
def without_compiled_functions():
    """Frees what JAX has compiled for a module's tests, some gigabytes in all."""
    yield
    import jax
    jax.clear_caches()


@pytest.fixture
def rng():
    """A random generator with the same numbers for each test."""
    import numpy
    return numpy.random.default_rng(5)
