"""The compiler exits if the Python process that waits for its result exits."""

import os
import signal
import subprocess
import sys
import time

import batchtest
import pytest

MODEL = batchtest.model("skipnet101")
# Compiles the model; the compiler inherits the pipe as descriptor 9.
PROGRAM = """
import os, subprocess, sys
os.dup2(int(sys.argv[2]), 9)
start = subprocess.Popen
subprocess.Popen = lambda *args, **options: start(*args, **options, pass_fds=(9,))
import batch
batch.compile(sys.argv[1])
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_compiler_ends_with_python(tmp_path, number):
    """A signal to Python also ends the compiler, and the cache contains no partial files.

    Python and the compiler hold one end of a pipe, which is the standard error of the compiler. The
    test waits at the other end until both have ended.
    """
    script = tmp_path / "compile"
    script.write_text(f'#!/bin/sh\nexec 2>&9\nexec "{os.environ["BATCH_COMPILE"]}" "$@"\n')
    script.chmod(0o755)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, MODEL, str(writer)], pass_fds=(writer,),
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "BATCH_COMPILE": str(script)})
    os.close(writer)
    cache = tmp_path / "batch"
    while process.poll() is None and not list(cache.glob("*.lock")):
        time.sleep(0.01)
    time.sleep(0.3)
    assert process.poll() is None, "the compilation ended before the signal"
    process.send_signal(number)
    start = time.monotonic()
    process.wait()
    assert os.read(reader, 1) == b""  # returns once no process holds the write end
    assert time.monotonic() - start <= 2
    os.close(reader)
    assert [file.name for file in cache.iterdir() if file.suffix != ".lock"] == []
