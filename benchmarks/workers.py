"""Runs peers in separate processes, for benchmarks in which several peers take turns.

Each process has a fixed number of threads. The threads of its library sleep while other
peers run. Requests and answers are JSON objects, one per line.
"""

import gc
import importlib
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402


class Peer:
    """A worker process, in which `python` runs a script. The arguments of the script are the name
    of a library, the number of threads and `arguments`. `about` describes the library. If the
    library cannot be used, `about` is {"missing": reason}."""

    def __init__(self, script, name, threads, *arguments, python=sys.executable):
        # Thread pools of libraries read their size from the environment. The MALLOC_ settings
        # make malloc keep freed memory, which avoids page faults for each large temporary.
        count = str(threads)
        self.started_with = (script, name, threads, *arguments)
        self.python = python
        environment = dict(
            os.environ, OMP_NUM_THREADS=count, MKL_NUM_THREADS=count,
            OPENBLAS_NUM_THREADS=count, MALLOC_MMAP_THRESHOLD_=str(1 << 30),
            MALLOC_TRIM_THRESHOLD_=str(1 << 31), CUDA_VISIBLE_DEVICES="")
        self.name, self.threads = name, threads
        self.process = subprocess.Popen(
            [python, script, name, count, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
        self.about = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise batchtest.ToolError("the %s worker exited with status %s" %
                                      (self.name, self.process.wait()))
        return json.loads(line)

    def again(self):
        """Returns this peer, or a new peer with the same arguments if its process has ended."""
        return self if self.process.poll() is None else Peer(
            *self.started_with, python=self.python)

    def ask(self, do, **request):
        try:
            self.process.stdin.write(json.dumps(dict(request, do=do)) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # The process has ended; read() reports how.
        found = self.read()
        if "failed" in found:
            raise batchtest.ToolError("%s: %s" % (self.name, found["failed"]))
        return found

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass  # The process has ended.
        self.process.wait()


def serve(make):
    """Runs the loop of a worker. `make(peer)` returns an object with a method for each value of
    "do". `peer` is the module NAME_peer, which has start(threads, *arguments), describe() and
    inference()."""
    # Answers use a separate stream, because libraries may print to stdout.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        peer = importlib.import_module(sys.argv[1] + "_peer")
        sys.setrecursionlimit(10000)
        peer.start(*map(int, sys.argv[2:]))
        worker = make(peer)
    except (ImportError, OSError) as error:  # OSError: a shared library is missing
        answer({"missing": str(error)})
        return
    answer(peer.describe())
    with peer.inference():
        for line in sys.stdin:
            request = json.loads(line)
            what = request.pop("do")
            # The garbage collector does not run in the timed part.
            gc.collect()
            gc.disable()
            try:
                answer(getattr(worker, what)(**request))
            except Exception as error:
                answer({"failed": "%s: %s" % (type(error).__name__, error)})
            gc.enable()
