"""Trials with numbers, such as calls with mistakes, in processes with limits of time and
memory: after one that ends its process the others go on. A last part repeats some until the
process must not grow any more.
"""

import argparse
import collections
import contextlib
import faulthandler
import gc
import json
import os
import resource
import subprocess
import sys

import batchtest
import workers

CHUNK = 100  # trials of a task
SECONDS = 60  # for one trial


def state():
    """How large this process is."""
    gc.collect()
    with open("/proc/self/statm") as file:
        bytes_ = int(file.read().split()[1]) * resource.getpagesize()
    return {"bytes": bytes_, "blocks": sys.getallocatedblocks(),
            "files": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task"))}


class Trials:
    """What a script does with its trials, as its arguments say.

    what: "calls", their name.   few: how many; --long: 10,000.
    memory: bytes that a process may take.
    """

    def __init__(self, what, few, memory):
        parser = argparse.ArgumentParser()
        parser.add_argument("--long", action="store_true", help="10,000 " + what)
        parser.add_argument("--" + what, type=int, dest="count")
        parser.add_argument("--first", type=int, default=0)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
        parser.add_argument("--passes", type=int, default=0, help=argparse.SUPPRESS)
        self.options = parser.parse_args()
        self.seed, self.is_long = self.options.seed, self.options.long
        self.what, self.memory = what, memory
        self.count = self.options.count or (10000 if self.is_long else few)

    def run(self, start, make, after=None, repeated=(100, 14), most=None):
        """Runs all.

        start: is called once in each process, which has more memory afterwards.
        make: of a number, a trial in words, and a function that runs it and returns
            whether it ended well, and how in words.
        after: is called with a number after its trial; says what is wrong, or None.
        repeated: the number of trials that are repeated, and how often.
        most: by how much a process may grow from one time to the next.
        """
        self.start, self.make, self.after = start, make, after
        if self.options.passes:
            self.begin()
            for _ in range(self.options.passes):
                *_, failures = self.run_task({"first": self.options.first,
                                              "count": self.count, "log": os.devnull})
                print(json.dumps(dict(state(), failures=failures)), flush=True)
        elif self.options.worker:
            self.begin()
            workers.serve(self.run_task)
        else:
            path = batchtest.temporary_paths()
            os.mkdir(path("logs"))
            environment = dict(os.environ, XDG_CACHE_HOME=path("cache"),
                               BATCH_COMPILE=batchtest.tool("batch-compile"))
            checks = batchtest.Checks("changed " + self.what)
            self.run_tasks(checks, environment, path("logs"))
            if self.count >= CHUNK:
                self.check_growth(checks, environment, *repeated,
                                  dict({"bytes": 256 << 10}, **(most or {})))
            checks.exit()

    def begin(self):
        os.environ["JAX_PLATFORMS"] = "cpu"
        faulthandler.enable()
        self.start()
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + self.memory, used + self.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def run_task(self, task):
        """(outcomes by name, an example of each, [failures])."""
        outcomes, examples, failures = collections.Counter(), {}, []
        log = os.open(task["log"], os.O_CREAT | os.O_WRONLY)
        for number in range(task["first"], task["first"] + task["count"]):
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            text, run = self.make(number)
            os.pwrite(log, ("%d: %s" % (number, text)).ljust(400)[:400].encode(), 0)
            well, outcome = run()
            faulthandler.cancel_dump_traceback_later()
            outcomes[outcome if well else "FAILED"] += 1
            examples[outcome if well else "FAILED"] = "%d: %s" % (number, text)
            wrong = [] if well else [outcome]
            if self.after:
                wrong += filter(None, [self.after(number)])
            failures += ["%d: %s\n%s" % (number, text, why) for why in wrong]
        os.close(log)
        return outcomes, examples, failures

    def command(self, *options):
        return [sys.executable, os.path.abspath(sys.argv[0]), *options]

    def run_tasks(self, checks, environment, folder):
        """Runs all in workers. After a trial that ends its process the others go on."""
        outcomes, examples = collections.Counter(), {}
        first, last = self.options.first, self.options.first + self.count
        tasks = [{"first": begin, "count": min(CHUNK, last - begin)}
                 for begin in range(first, last, CHUNK)]
        while tasks:
            for task in tasks:
                task["log"] = os.path.join(folder, "log-%d" % task["first"])
            left = []
            for task, outcome, error, _ in workers.run_all(
                    self.command("--worker", "--seed=%d" % self.seed), tasks,
                    CHUNK * SECONDS, environment):
                what = "%s from %d on" % (self.what, task["first"])
                if isinstance(outcome, str):  # a traceback
                    error = outcome
                if error:
                    with contextlib.suppress(OSError, ValueError), \
                            open(task["log"]) as file:
                        trial = file.read().strip()
                        number = int(trial.split(":")[0])
                        error += "\nafter %s\nrepeat it: --seed=%d --first=%d --%s=1" % (
                            trial, self.seed, number, self.what)
                        rest = task["first"] + task["count"] - number - 1
                        if rest:
                            left.append({"first": number + 1, "count": rest})
                    checks.expect(what, False, error)
                    continue
                counts, some, failures = outcome
                outcomes.update(counts)
                examples.update(some)
                checks.expect(what, not failures, "--seed=%d\n%s" % (
                    self.seed, "\n".join(failures)))
            tasks = left
        for outcome, count in outcomes.most_common():
            print("%6d %s, such as %s" % (count, outcome, examples[outcome]))

    def check_growth(self, checks, environment, count, passes, most):
        """The same trials may not make a process larger for ever."""
        done = subprocess.run(
            self.command("--passes=%d" % passes, "--%s=%d" % (self.what, count),
                         "--seed=%d" % (self.seed + 1)),
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        states = [json.loads(line) for line in done.stdout.splitlines()
                  if line.startswith("{")]
        if not checks.equal("a process that repeats " + self.what,
                            (done.returncode, len(states)), (0, passes)):
            print(done.stderr[-3000:])
            return
        # Caches are full after half of the passes. The allocator takes large pieces at
        # times, in half of the passes and more; what trials keep shows in every pass.
        last = states[passes // 2:]
        for name, step in most.items():
            steps = sorted(b[name] - a[name] for a, b in zip(last, last[1:]))
            checks.expect("it keeps no " + name, steps[len(steps) // 4] <= step,
                          [s[name] for s in states])
        for name, grown in ("files", 0), ("threads", 2):
            checks.expect("it keeps no " + name, states[-1][name] - states[
                passes // 2 - 1][name] <= grown, [s[name] for s in states])
        checks.expect("and leaves no objects", "nanobind: leaked" not in done.stderr,
                      done.stderr[-2000:])
