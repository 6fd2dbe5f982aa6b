"""batch.compile: errors, the cache of compiled models, interrupts and the progress line."""

import os
import subprocess
import sys

import batchtest
import pytest
from support.comparison import raises
from support.package_models import ENCODER, LOOP
from support.processes import run_python

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


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("BATCH_COMPILE", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("batch.runtime.compiler.FOLDER", str(tmp_path / "python" / "batch"))
    with raises(batch.CompileError, "cannot find batch-compile; build it with scripts/demo"):
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


# --- the cache --------------------------------------------------------------------------

class CountingCompiler:
    """A compiler with an empty cache. It counts its calls and delays each one by $SLOW seconds."""

    def __init__(self, folder):
        self.log = folder / "calls"
        self.log.touch()
        self.cache = folder / "cache" / "batch"
        script = folder / "batch-compile"
        script.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] || {{ echo $$ >> "{self.log}"; '
            f'sleep ${{SLOW:-0}}; }}\nexec "{batchtest.tool("batch-compile")}" "$@"\n')
        script.chmod(0o755)
        self.environment = {"BATCH_COMPILE": str(script), "XDG_CACHE_HOME": str(folder / "cache")}

    def calls(self):
        return len(self.log.read_text().splitlines())

    def files(self, suffix):
        return list(self.cache.glob("*" + suffix))

    def environment_of_process(self, slow=0):
        return {**os.environ, **self.environment, "SLOW": str(slow)}

    def run_python(self, program, *arguments, slow=0):
        return run_python(program, *arguments, env=self.environment_of_process(slow))


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    compiler = CountingCompiler(tmp_path)
    for name, value in compiler.environment.items():
        monkeypatch.setenv(name, value)
    return compiler


@pytest.fixture
def file(tmp_path):
    return batchtest.write_lines(tmp_path / "loop.mlir", [LOOP])


@pytest.mark.parametrize("again", [
    pytest.param(lambda file: batch.compile(file), id="file"),
    pytest.param(lambda file: batch.compile(LOOP + "\n"), id="text"),
    pytest.param(lambda file: batch.compile((LOOP + "\n").encode()), id="bytes"),
])
def test_same_model_compiles_once(compiler, file, again):
    batch.compile(file)
    assert compiler.calls() == 1
    again(file)
    assert compiler.calls() == 1


@pytest.mark.parametrize("other", [
    pytest.param(lambda file: batch.compile(file, options=["-O1"]), id="option"),
    pytest.param(lambda file: batch.compile(file, strategy="lockstep"), id="strategy"),
    pytest.param(lambda file: batch.compile(LOOP.replace("%one", "%uno")), id="text"),
    pytest.param(lambda file: (batch.clear_cache(), batch.compile(file)), id="cleared_cache"),
])
def test_other_model_compiles_again(compiler, file, other):
    batch.compile(file)
    assert compiler.calls() == 1
    other(file)
    assert compiler.calls() == 2


def test_key_contains_files_of_options(compiler, tmp_path):
    table = tmp_path / "tuning.json"
    for rows, calls in (5, 1), (3, 2), (3, 2):
        table.write_text(f'{{"version": 1, "kernels": {{"*": {{"stage_rows": {rows}}}}}}}\n')
        batch.compile(LOOP, options=[f"--tuning={table}"])
        assert compiler.calls() == calls


COMPILE_ENCODER = """
    import sys, batch
    batch.compile(sys.argv[1], sizes={"H": int(sys.argv[2])})
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A compiler, the file of a model in its cache, and the contents of this file."""
    compiler = CountingCompiler(tmp_path_factory.mktemp("stored"))
    done = compiler.run_python(COMPILE_ENCODER, ENCODER, "52")
    assert done.returncode == 0, done.stdout
    (file,) = compiler.files(".so")
    return compiler, file, file.read_bytes()


def flipped(data, place):
    """Returns the data with one bit of the byte at `place` changed."""
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1:]


@pytest.mark.parametrize("damage", [
    pytest.param(lambda data: data[:0], id="empty"),
    pytest.param(lambda data: data[:100], id="100_bytes"),
    pytest.param(lambda data: data[:5000], id="5000_bytes"),
    pytest.param(lambda data: data[:-1], id="without_last_byte"),
    pytest.param(lambda data: flipped(data, 4), id="changed_bit_in_header"),
    pytest.param(lambda data: flipped(data, len(data) // 2), id="changed_bit_in_middle"),
    pytest.param(lambda data: flipped(data, len(data) - 40), id="changed_bit_near_end"),
    pytest.param(lambda data: flipped(data, len(data) - 1), id="changed_bit_in_last_byte"),
])
def test_damaged_file_is_compiled_again(stored, damage):
    """Separate processes open the file, because a fault in its mapped pages raises a signal."""
    compiler, file, whole = stored
    file.write_bytes(damage(whole))
    before = compiler.calls()
    for _ in range(2):
        done = compiler.run_python(COMPILE_ENCODER, ENCODER, "52")
        assert done.returncode == 0, done.stdout
    assert compiler.calls() - before == 1
    assert file.read_bytes() == whole


def test_processes_compile_once(compiler):
    program = "import sys, batch; batch.compile(sys.argv[1], sizes={'H': 24})"
    processes = [subprocess.Popen([sys.executable, "-P", "-c", program, ENCODER],
                                  env=compiler.environment_of_process(slow=0.3))
                 for _ in range(5)]
    assert [process.wait(120) for process in processes] == [0] * 5
    assert compiler.calls() == 1
    assert compiler.files(".partial") == []


def test_cache_has_limit(compiler, monkeypatch):
    """The newest model remains, even if it is larger than the limit."""
    limit = 50000
    monkeypatch.setenv("BATCH_CACHE_BYTES", str(limit))
    for calls, extent in enumerate((8, 12, 20, 28), 1):
        batch.compile(ENCODER, sizes={"H": extent})
        assert compiler.calls() == calls
        states = [file.stat() for file in compiler.files(".so")]
        newest = max(states, key=lambda state: state.st_mtime)
        assert sum(state.st_size for state in states) <= limit + newest.st_size
    assert len(states) < 4
    batch.compile(ENCODER, sizes={"H": 28})
    assert compiler.calls() == 4


def test_wrong_limit_of_cache(compiler, monkeypatch):
    monkeypatch.setenv("BATCH_CACHE_BYTES", "much")
    with raises(ValueError, "invalid value 'much' for $BATCH_CACHE_BYTES"):
        batch.compile(ENCODER, sizes={"H": 36})


def test_cache_that_is_removed_repeatedly(monkeypatch):
    def take(*arguments):
        raise FileNotFoundError

    monkeypatch.setattr("batch.runtime.compiler._take", take)
    with raises(batch.CompileError, "set $XDG_CACHE_HOME to another directory"):
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
