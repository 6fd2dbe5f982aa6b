"""Numbered trials, such as calls with mistakes, in processes with limits on time and memory.

If a trial ends its process, this trial fails, and the other trials still run. Finally, a process
repeats some trials, and must not grow any more.
"""

import argparse
import collections
import contextlib
import ctypes
import faulthandler
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile

import batchtest

from fuzz import workers

CHUNK = 100  # number of trials in a task
SECONDS = 60  # time limit for one trial
_MANY = 5000  # minimum number of trials in a long run


class _Allocations(ctypes.Structure):
    """Struct mallinfo2 of the C library."""
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                 "fordblks", "keepcost")]


def _address_space():
    """Returns the size in bytes of the address space of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _state():
    """Returns the resources that this process uses.

    "bytes" counts memory that callers of malloc have not freed. Resident memory also contains free
    memory, whose amount varies from run to run.
    """
    gc.collect()
    count = ctypes.CDLL(None).mallinfo2
    count.restype = _Allocations
    allocations = count()
    return {"bytes": allocations.uordblks + allocations.hblkhd,
            "address space": _address_space(), "blocks": sys.getallocatedblocks(),
            "files": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task"))}


class Trials:
    """A sweep of numbered trials.

    program: path of its command.
    name: name of the trials, such as "calls".
    few: default number of trials.
    memory: bytes that a process may allocate after `start`.
    start: function that runs first in each process.
    make: function of a seed and a number. Returns a description of the trial and a function
        that runs it. That function returns whether the trial ended well, and its outcome.
    after: function that runs after each trial, with its number. Returns an error, or None.
    repeated: number of trials that a process repeats in the end.
    repeated_of_many: the same number if the run is long.
    passes: how often the process repeats them.
    most: largest growth from one pass to the next, by unit.
    """

    def __init__(self, program, name, few, memory, start, make, after=None, repeated=100,
                 repeated_of_many=None, passes=8, most=None):
        self.program, self.name, self.few, self.memory = program, name, few, memory
        self.start, self.make, self.after = start, make, after
        self.repeated, self.passes = repeated, passes
        self.repeated_of_many = repeated_of_many or repeated
        self.most = {"bytes": 64 << 10, "address space": 256 << 10} | (most or {})

    def main(self):
        """Runs the command: the sweep, one of its workers, or the process that repeats trials."""
        parser = argparse.ArgumentParser(
            description=f"runs random {self.name} in processes with limits of time and memory")
        batchtest.add_soak_options(parser, self.few, self.name)
        parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
        parser.add_argument("--passes", type=int, default=0, help=argparse.SUPPRESS)
        options = parser.parse_args()
        if options.passes:
            self._repeat(options)
        elif options.worker:
            self._begin()
            workers.serve(lambda task: self._run(options.seed, **task))
        else:
            checks = batchtest.Checks(f"changed {self.name}")
            environment = workers.environment()
            made = self._run_all(checks, options, environment)
            if made >= CHUNK:
                self._check_growth(checks, options, environment, made)
            checks.exit()

    @contextlib.contextmanager
    def process(self, seed=1):
        """Yields a function of (first, count).

        The function runs `count` trials, from number `first` on, in a worker process. It returns
        the failures. After a trial that ends the process, the next call starts a new process.
        """
        worker = None

        def failures(first, count):
            nonlocal worker
            if not worker:
                worker = workers.Worker(self._command(seed))
            task = self._task(folder, first, count)
            outcome, error = worker.ask(task, count * SECONDS)
            if error:
                worker.end()
                worker = None
            elif not isinstance(outcome, str):
                return outcome[2]
            return [f"{error or outcome}\n{self._last(task, seed)[1]}"]

        with tempfile.TemporaryDirectory() as folder:
            try:
                yield failures
            finally:
                if worker:
                    worker.end()

    # --- in the process of a sweep or a test --------------------------------------------

    def _command(self, seed):
        return workers.command(self.program, f"--seed={seed}")

    def _task(self, folder, first, count):
        return {"first": first, "count": count, "log": os.path.join(folder, f"log-{first}")}

    def _last(self, task, seed):
        """Returns the number of the last trial that began in a task, and how to repeat it.

        The number is None if no trial began.
        """
        with contextlib.suppress(OSError, ValueError), open(task["log"]) as file:
            trial = file.read().strip()
            number = int(trial.split(":")[0])
            return number, (f"after {trial}\n"
                            f"repeat it: --seed={seed} --first={number} --{self.name}=1")
        return None, ""

    def _run_all(self, checks, options, environment):
        """Runs all trials in workers, and returns their number.

        After a trial that ends its process, the remaining trials of its task run.
        """
        outcomes, examples = collections.Counter(), {}
        end = options.first + options.programs if options.minutes is None else sys.maxsize
        folder = batchtest.temporary()
        tasks = (self._task(folder, first, min(CHUNK, end - first))
                 for first in batchtest.soak_numbers(options, CHUNK))
        made = 0
        while tasks:
            left = []
            for task, outcome, error, _ in workers.run_all(
                    self._command(options.seed), tasks, CHUNK * SECONDS, environment):
                first, count = task["first"], task["count"]
                if isinstance(outcome, str):  # a traceback
                    error = outcome
                if error:
                    number, text = self._last(task, options.seed)
                    error += "\n" + text
                    if number is not None:
                        rest = first + count - number - 1
                        count -= rest
                        if rest:
                            left.append(self._task(folder, number + 1, rest))
                    failures = [error]
                else:
                    counts, some, failures = outcome
                    outcomes.update(counts)
                    examples.update(some)
                made += count
                checks.expect(f"{self.name} from {first} on", not failures,
                              "\n".join([f"--seed={options.seed}", *failures]))
            tasks = left
        for outcome, count in outcomes.most_common():
            print(f"{count:6} {outcome}, such as {examples[outcome]}")
        return made

    def _check_growth(self, checks, options, environment, made):
        """Checks that a process does not grow forever if it repeats the same trials."""
        count = self.repeated_of_many if made >= _MANY else self.repeated
        done = subprocess.run(
            [sys.executable, os.path.abspath(self.program), f"--passes={self.passes}",
             f"--{self.name}={count}", f"--seed={options.seed + 1}"],
            env=environment, capture_output=True, text=True)
        states = [json.loads(line) for line in done.stdout.splitlines()
                  if line.startswith("{")]
        if not checks.equal(f"a process that repeats {self.name}",
                            (done.returncode, len(states)), (0, self.passes)):
            print(done.stderr[-3000:])
            return
        # Caches are full after half of the passes. In the second half, the allocator requests large
        # regions in some passes, possibly in most of them. A leak grows in every pass, so the check
        # compares the lower quartile.
        half = self.passes // 2
        last = states[half:]
        for name, step in self.most.items():
            steps = sorted(b[name] - a[name] for a, b in zip(last, last[1:]))
            checks.expect(f"it keeps no {name}", steps[len(steps) // 4] <= step,
                          [s[name] for s in states])
        for name, grown in ("files", 0), ("threads", 2):
            checks.expect(f"it keeps no {name}",
                          states[-1][name] - states[half - 1][name] <= grown,
                          [s[name] for s in states])
        checks.expect("and leaves no objects", "nanobind: leaked" not in done.stderr,
                      done.stderr[-2000:])

    # --- in the processes that run trials -----------------------------------------------

    def _begin(self):
        faulthandler.enable()
        self.start()
        used = _address_space()
        resource.setrlimit(resource.RLIMIT_AS, (used + self.memory, used + self.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def _run(self, seed, first, count, log):
        """Returns (number of trials by outcome, an example of each, [failures])."""
        outcomes, examples, failures = collections.Counter(), {}, []
        log = os.open(log, os.O_CREAT | os.O_WRONLY)
        for number in range(first, first + count):
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            text, run = self.make(seed, number)
            text = f"{number}: {text}"
            os.pwrite(log, text.ljust(400)[:400].encode(), 0)
            well, outcome = run()
            faulthandler.cancel_dump_traceback_later()
            outcomes[outcome if well else "FAILED"] += 1
            examples[outcome if well else "FAILED"] = text
            wrong = [] if well else [outcome]
            if self.after:
                wrong += filter(None, [self.after(number)])
            failures += [f"{text}\n{why}" for why in wrong]
        os.close(log)
        return outcomes, examples, failures

    def _repeat(self, options):
        self._begin()
        for _ in range(options.passes):
            *_, failures = self._run(options.seed, options.first, options.programs, os.devnull)
            print(json.dumps(_state() | {"failures": failures}), flush=True)
