"""batch.compile: errors, interrupts and the progress line."""

import pytest
from support.comparison import raises
from support.counting_compiler import COMPILE_ENCODER
from support.package_models import ENCODER, LOOP

import batch

# --- errors -----------------------------------------------------------------------------


@pytest.mark.parametrize("error, text, compile_model", [
    pytest.param(ValueError, "writes a file, but a cached model would not write it",
                 lambda: batch.compile(LOOP, options=["--write-params=/tmp/x"]),
                 id="option_that_writes_file"),
    pytest.param(batch.CompileError, "error", lambda: batch.compile("no\n"), id="invalid_text"),
    pytest.param(FileNotFoundError, "none.mlir", lambda: batch.compile("/none.mlir"),
                 id="missing_file"),
    pytest.param(batch.CompileError, "Q", lambda: batch.compile(ENCODER, sizes={"Q": 1}),
                 id="unknown_size"),
])
def test_wrong_model(error, text, compile_model):
    with raises(error, text):
        compile_model()


def test_error_has_location(tmp_path):
    file = tmp_path / "bad.mlir"
    file.write_text("nonsense\n")
    with raises(batch.CompileError, "bad.mlir:1:1: error"):
        batch.compile(file)


def test_missing_compiler(monkeypatch):
    monkeypatch.setenv("BATCH_COMPILE", "/none")
    with raises(batch.CompileError, "$BATCH_COMPILE is '/none', which is not an executable"):
        batch.compile(LOOP)


@pytest.fixture
def source_tree(monkeypatch, tmp_path):
    """A source tree with a folder in which the process runs, and no compiler on the PATH."""
    for name in ("scripts/demo", "build/bin/batch-compile", "build/tutorial/roots.py"):
        file = tmp_path / "a tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.delenv("BATCH_COMPILE", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("batch.runtime.compiler.FOLDER", str(tmp_path / "python" / "batch"))
    monkeypatch.chdir(tmp_path / "a tree" / "build" / "tutorial")
    return tmp_path / "a tree"


def test_no_compiler(source_tree):
    with raises(batch.CompileError, "cannot find batch-compile; build it with scripts/demo"):
        batch.compiler()


def test_compiler_of_a_source_tree(source_tree):
    (source_tree / "build" / "bin" / "batch-compile").chmod(0o755)
    with raises(batch.CompileError, "cannot find batch-compile; run `export "
                f"PATH='{source_tree}/build/bin':$PATH` in this shell"):
        batch.compiler()


@pytest.mark.parametrize("script, text", [
    ("exit 2", "returned non-zero exit status 2"),
    ('[ "$1" = --version ] || exit 3', "batch-compile exited with status 3"),
], ids=["version", "compilation"])
def test_compiler_that_fails(monkeypatch, tmp_path, script, text):
    program = tmp_path / "batch-compile"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("BATCH_COMPILE", str(program))
    with raises(batch.CompileError, text):
        batch.compile(LOOP)


# --- interrupts and progress ------------------------------------------------------------

def test_interrupt_ends_compilation(compiler):
    done = compiler.run_python("""
        import os, signal, sys, threading, batch
        threading.Timer(0.4, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            batch.compile(sys.argv[1], sizes={"H": 40})
        except KeyboardInterrupt:
            print("interrupted")
    """, ENCODER, slow=5)
    assert done.stdout == "interrupted\n"
    assert compiler.files(".partial") == []


def test_progress_line(compiler):
    done = compiler.run_python("""
        import sys, batch
        batch.compile(sys.argv[1], sizes={"H": 44}, progress=True)
    """, ENCODER, slow=1)
    assert f"batch: compiling {ENCODER}" in done.stdout
    assert "batch: compiled " in done.stdout
    assert done.stdout.endswith("s\n")


def test_no_progress_line_without_terminal(compiler):
    done = compiler.run_python(COMPILE_ENCODER, ENCODER, "48", slow=1)
    assert done.stdout == ""
