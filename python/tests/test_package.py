"""Imports of the package: optional packages are loaded on first use, or reported as missing."""

import importlib.metadata
import os
import shutil

import pytest
from support.comparison import raises
from support.processes import run_python

import batch


def test_import_loads_no_optional_package():
    done = run_python("""
        import sys, batch
        loaded = {name.split(".")[0] for name in sys.modules}
        print(sorted({"jax", "torch", "numpyro", "cloudpickle"} & loaded))
    """)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("missing, call, message", [
    ("jax", "batch.vmap", "batch.vmap requires JAX; run pip install 'jax>=0.9'\n"),
    ("torch", "batch.from_torch(None, ())",
     "batch.from_torch requires PyTorch; run pip install 'torch>=2.6'\n"),
], ids=["jax", "torch"])
def test_missing_package(missing, call, message):
    done = run_python(f"""
        import sys
        sys.modules[{missing!r}] = None  # as if it were not installed
        import batch
        try:
            {call}
        except ImportError as error:
            print(error)
    """)
    assert done.stdout == message


def test_source_folder_without_the_extension(tmp_path):
    shutil.copytree(os.path.dirname(batch.__file__), tmp_path / "batch",
                    ignore=shutil.ignore_patterns("*.so"))
    done = run_python(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        try:
            import batch
        except ImportError as error:
            print(error)
    """)
    assert done.stdout == (f"the extension of {tmp_path}/batch is not built; run pip install . in "
                           "the root of the clone, and import batch from another folder\n")


def test_version():
    assert batch.__version__ == importlib.metadata.version("batch-compiler")


def test_unknown_name():
    with raises(AttributeError, "module 'batch' has no attribute 'vamp'"):
        _ = batch.vamp
