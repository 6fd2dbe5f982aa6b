"""Worker processes with a time limit for each task.

A crash or a hang fails one task, and the other tasks still run.
"""

import faulthandler
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
import traceback

import batchtest

_START = 300  # time limit in seconds for a worker to import its modules


def serve(run):
    """Calls `run` with each task from standard input and writes the results to standard output.

    Workers call this function.
    """
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the output of tasks goes to stderr
    answers.write("\n")
    answers.flush()
    for line in sys.stdin:
        try:
            outcome = run(json.loads(line))
        except BaseException:
            outcome = traceback.format_exc()
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


class Worker:
    """A process that serves tasks.

    Raises OSError or EOFError if it does not start.
    """

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment, bufsize=0)
        try:
            self._answer(_START)
        except (OSError, EOFError):  # TimeoutError is an OSError
            self.end()
            raise

    def _answer(self, seconds):
        """Returns the next line. Raises EOFError or TimeoutError."""
        line, end = b"", time.monotonic() + seconds
        while not line.endswith(b"\n"):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise EOFError
            line += more
        return line

    def ask(self, task, seconds):
        """Returns (result of the task, None), or (None, how the worker ended)."""
        try:
            self.process.stdin.write(json.dumps(task).encode() + b"\n")
            return json.loads(self._answer(seconds)), None
        except TimeoutError:
            return None, f"no end after {seconds} s"
        except (EOFError, BrokenPipeError):
            code = self.process.wait()
            reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return None, f"the process ended: {reason}"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def command(program, *options):
    """Returns the command that starts a worker of a sweep. Its option --worker calls serve()."""
    return [sys.executable, os.path.abspath(program), "--worker", *options]


def environment():
    """Returns the environment of workers: JAX on CPUs, a compiler, and an empty cache."""
    return dict(os.environ, JAX_PLATFORMS="cpu", BATCH_COMPILE=batchtest.tool("batch-compile"),
                XDG_CACHE_HOME=os.path.join(batchtest.temporary(), "cache"))


def cores():
    return int(os.environ.get("BATCH_JOBS") or len(os.sched_getaffinity(0)))


def run_all(command, tasks, seconds, environment=None, workers=None):
    """Runs tasks in worker processes.

    Yields (task, outcome, error, seconds) for each task, in the order in which they end.
    `command` starts a worker. An idle worker reads the next one of `tasks`. If a worker ends,
    `error` gives the reason, and another worker runs the remaining tasks. If no worker starts,
    the remaining tasks do not run.
    """
    ended = queue.SimpleQueue()
    tasks, reading = iter(tasks), threading.Lock()
    stop = threading.Event()

    def work():
        worker = None
        try:
            while not stop.is_set():
                with reading:
                    task = next(tasks, None)
                if task is None:
                    return
                if not worker:
                    try:
                        worker = Worker(command, environment)
                    except (OSError, EOFError) as found:
                        stop.set()
                        ended.put((task, None, f"no worker starts: {found!r}", 0))
                        return
                start = time.monotonic()
                outcome, error = worker.ask(task, seconds)
                if error:
                    worker.end()
                    worker = None
                ended.put((task, outcome, error, time.monotonic() - start))
        finally:
            if worker:
                worker.end()
            ended.put(None)

    threads = [threading.Thread(target=work, daemon=True)
               for _ in range(workers or cores())]
    for thread in threads:
        thread.start()
    working = len(threads)
    try:
        while working:
            if found := ended.get():
                yield found
            else:
                working -= 1
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def run_groups(command, options, size, seconds, environment, **task):
    """Runs numbered cases in tasks of `size` cases. A task has "first" and "count".

    The options are those of batchtest.add_soak_options. If a task raises an exception or ends its
    worker, its cases run again one by one. Yields (first, count, outcome, error).
    """
    end = options.first + options.programs if options.minutes is None else sys.maxsize
    tasks = (dict(task, first=first, count=min(size, end - first), seed=options.seed)
             for first in batchtest.soak_numbers(options, size))
    while tasks:
        single = []
        for done, outcome, error, _ in run_all(command, tasks, seconds, environment):
            first, count = done["first"], done["count"]
            if isinstance(outcome, str):  # a traceback
                error = outcome
            if error and count > 1:
                single += [dict(done, first=one, count=1) for one in range(first, first + count)]
            else:
                yield first, count, outcome, error
        tasks = single


def run_checks(checks, program, tasks, seconds):
    """Runs tasks of a sweep and prints their checks. A task returns {check: error or None}."""
    for task, found, error, _ in run_all(command(program), tasks, seconds, environment()):
        if error or isinstance(found, str):  # a traceback
            found = {str(task): error or found}
        for text, why in found.items():
            checks.expect(text, not why, why)
