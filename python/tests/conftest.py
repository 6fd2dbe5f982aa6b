"""Environment of the tests: two CPU devices of JAX, a compiler, and an empty cache.

Markers select tests: `slow` runs only with `-m slow`, `torch` needs PyTorch, and `gpu` needs a GPU.
One in n cases of a test marked `sampled(n)` runs; `--seed` selects it. `--all` runs all cases.
With `sampled(n, "name", …)`, cases with equal parameters of these names run together.
"""

import importlib.util
import itertools
import os
import random
import shutil
import tempfile

import pytest
from support import devices
from support.counting_compiler import CountingCompiler

# JAX reads these variables when it is imported.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"


def pytest_addoption(parser):
    group = parser.getgroup("batch", "random tests of Batch")
    group.addoption("--minutes", type=float, default=None, metavar="N",
                    help="run each slow random test for N minutes (default: its number of cases)")
    group.addoption("--seed", type=int, default=1, metavar="N",
                    help="seed of the slow random tests and of samples (default: 1)")
    group.addoption("--all", action="store_true",
                    help="run all cases of the tests marked sampled, not a sample")
    group.addoption("--device", default="cpu", metavar="NAME",
                    help="run programs on this device where a test specifies none (default: cpu); "
                         "omits the tests that support/devices.py does not list")


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


def _sampled_out(config, items):
    """Returns the cases that sampling excludes."""
    out = []
    for name, cases in itertools.groupby(items, lambda item: item.nodeid.split("[")[0]):
        cases = list(cases)
        marker = cases[0].get_closest_marker("sampled")
        if marker:
            share, *names = marker.args
            groups = {}
            for case in cases:
                key = tuple(case.callspec.params[name] for name in names) or case.nodeid
                groups.setdefault(key, []).append(case)
            drawn = list(groups.values())
            random.Random(f"{config.getoption('--seed')} {name}").shuffle(drawn)
            out += itertools.chain(*drawn[-(-len(drawn) // share):])
    return out


def pytest_collection_modifyitems(config, items):
    """Omits the cases that sampling excludes, and PyTorch tests if PyTorch is not installed.

    With --device, also omits the tests that do not depend on the device.
    """
    named = any("[" in argument for argument in config.args)
    if config.getoption("--device") != "cpu":
        single = any("::" in argument for argument in config.args)
        kept = items if single else devices.mark(items, pytest.mark.xfail)
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept
    if not (named or config.getoption("--all")):
        out = set(_sampled_out(config, items))
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]
    if importlib.util.find_spec("torch"):
        return
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))


@pytest.fixture(scope="module", autouse=True)
def without_compiled_functions():
    """Frees the code that JAX compiled for a module's tests, because the code of all modules
    together takes several gigabytes."""
    yield
    import jax
    jax.clear_caches()


@pytest.fixture(autouse=True)
def under_jit(request, monkeypatch):
    """In the tests of batch.vmap, calls are repeated under jax.jit, with equal bits."""
    # On the emulator, twice as many functions would need too many stacks.
    if request.module.__name__.startswith("test_vmap") and \
            request.config.getoption("--device") == "cpu" and \
            not request.node.get_closest_marker("only_outside_jit"):
        from support import jitted

        from batch.tracing import locations
        from batch.transforms.vmap import Mapped
        monkeypatch.setattr(Mapped, "__call__", jitted.call_also_under_jit)
        # Messages do not name the lines of this module.
        monkeypatch.setattr(locations, "OWN_FOLDERS", (*locations.OWN_FOLDERS, jitted.__file__))


@pytest.fixture(scope="session", autouse=True)
def default_device(pytestconfig):
    """Makes --device the default of batch.vmap, batch.map, batch.compile and batch.sample."""
    device = pytestconfig.getoption("--device")
    if device == "cpu":
        return
    import batch
    for function in batch.vmap, batch.map, batch.compile, batch.sample:
        function.__kwdefaults__["device"] = device


@pytest.fixture
def rng():
    """A random generator that gives each test the same numbers."""
    import numpy
    return numpy.random.default_rng(5)


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A compiler that counts its calls, with an empty cache."""
    compiler = CountingCompiler(tmp_path)
    for name, value in compiler.environment.items():
        monkeypatch.setenv(name, value)
    return compiler
