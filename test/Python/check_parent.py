"""check_parent.py MODEL FOLDER: a compiler ends with the Python that started it, and leaves
nothing in the cache."""

import os
import shutil
import signal
import subprocess
import sys
import time

model, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
bad = 0
for number in (signal.SIGTERM, signal.SIGKILL):
    # The compiler inherits standard error by way of a script: the wait for its end is the
    # wait for both.
    script = os.path.join(folder, "compile")
    with open(script, "w") as file:
        file.write('#!/bin/sh\nexec 2>&9\nexec "%s" "$@"\n' % shutil.which("batch-compile"))
    os.chmod(script, 0o755)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" 9>&%d' % writer, "sh", sys.executable, "-c",
         "import os, sys, subprocess; start = subprocess.Popen\n"
         "subprocess.Popen = lambda *a, **k: start(*a, **k, pass_fds=(9,))\n"
         "import batch; batch.compile(sys.argv[1])", model],
        pass_fds=(writer,), env=dict(os.environ, XDG_CACHE_HOME=folder, BATCH_COMPILE=script))
    os.close(writer)
    cache = os.path.join(folder, "batch")
    while process.poll() is None and not (
            os.path.isdir(cache) and any(name.endswith(".lock") for name in os.listdir(cache))):
        time.sleep(0.01)
    time.sleep(0.3)
    running = process.poll() is None
    process.send_signal(number)
    start = time.monotonic()
    process.wait()
    os.read(reader, 1)  # returns at the end of the last process that has the pipe
    took = time.monotonic() - start
    os.close(reader)
    left = [name for name in os.listdir(cache) if not name.endswith(".lock")]
    if not running or took > 2 or left:
        bad += 1
        print("signal %d: running %s, %.1f s, left %s" % (number, running, took, left))
print("%d wrong" % bad)
