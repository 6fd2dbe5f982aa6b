"""Worker processes with a time limit for each task: a crash or a hang is the outcome of
one task, and the others go on."""

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


def serve(run):
    """In a worker: calls `run` with the tasks that come in, and sends what it returns."""
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what tasks print is no answer
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
    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment, bufsize=0)

    def answer(self, seconds):
        """The next line; raises EOFError or TimeoutError."""
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
        """(what the task has returned, None), or (None, how its worker has ended)."""
        try:
            self.process.stdin.write(json.dumps(task).encode() + b"\n")
            return json.loads(self.answer(seconds)), None
        except TimeoutError:
            return None, "no end after %d s" % seconds
        except (EOFError, BrokenPipeError):
            code = self.process.wait()
            return None, "the process ended: %s" % (
                signal.Signals(-code).name if code < 0 else "exit code %d" % code)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def cores():
    return int(os.environ.get("BATCH_JOBS") or len(os.sched_getaffinity(0)))


def run_all(command, tasks, seconds, environment=None, workers=None):
    """Yields (task, outcome, error, seconds) for each task, in the order in which they
    end. `command` starts a process that serves tasks. `tasks` is read when a worker is
    free. If a worker ends, `error` gives the reason, and another worker takes the
    remaining tasks."""
    ended = queue.SimpleQueue()
    tasks, reading = iter(tasks), threading.Lock()
    stop = threading.Event()
    broken = []  # why no worker starts: the next one would not, either

    def work():
        worker = None
        try:
            while not stop.is_set():
                with reading:
                    task = next(tasks, None)
                if task is None:
                    return
                start = time.monotonic()
                if not worker and not broken:
                    try:
                        worker = Worker(command, environment)
                        worker.answer(300)  # it has imported what it needs
                    except (OSError, EOFError) as found:  # TimeoutError is one
                        broken.append("no worker starts: %r" % found)
                    start = time.monotonic()
                outcome, error = (None, broken[0]) if broken else \
                    worker.ask(task, seconds)
                if error and worker:
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
    """Runs numbered cases, `size` of them in a task, which has their "first" and "count".
    The options are those of batchtest.add_soak_options. The cases of a group that raises or
    ends its worker run again one by one. Yields (first, count, outcome, error)."""
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
