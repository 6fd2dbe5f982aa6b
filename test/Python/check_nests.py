#!/usr/bin/env python3
"""check_nests.py [--long] [--programs=N] [--first=N] [--seed=N]: random programs of scans,
while loops, branches and indices, nested three deep (nests.py): batch.vmap gives what
jax.vmap gives. A long run makes 2,000, or as many as 20 minutes allow.

The same seed and number make the same program: --first=NUMBER --programs=1 repeats one.
"""

import argparse
import os
import sys
import time
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402
import workers  # noqa: E402

GROUP = 2  # programs that are compiled together
SECONDS = 300  # for a group; an ordinary one takes a few
LONGEST = 20 * 60  # seconds of a long run


def together(programs):
    return lambda *state: [program(*state) for program, _ in programs]


def difference(programs, arguments):
    """[what is wrong, or None] of each program."""
    found = batch.vmap(together(programs))(*arguments)
    wanted = jax.vmap(together(programs))(*arguments)
    return [comparison.difference(a, b, 1e-7) for a, b in zip(found, wanted)]


def compare(task):
    """[(number, what is wrong)] of a group, which one refusal must not hide."""
    numbers = range(task["first"], task["first"] + task["count"])
    programs = [nests.make(task["seed"] * 1000003 + number) for number in numbers]
    arguments = nests.arguments(task["seed"])
    try:
        problems = difference(programs, arguments)
    except Exception:
        problems = []
        for program in programs:
            try:
                problems += difference([program], arguments)
            except Exception as error:
                problems.append("%s: %s" % (type(error).__name__, error))
    return [(number, "%s\n%s" % (text, program[1]))
            for number, program, text in zip(numbers, programs, problems) if text]


parser = argparse.ArgumentParser()
parser.add_argument("--long", action="store_true", help="2,000 programs")
parser.add_argument("--programs", type=int)
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
options = parser.parse_args()
if options.worker:
    warnings.filterwarnings("ignore")
    import batch
    import jax
    jax.config.update("jax_enable_x64", True)

    import comparison
    import nests
    workers.serve(compare)
    sys.exit()

path = batchtest.temporary_paths()
environment = dict(os.environ, JAX_PLATFORMS="cpu", XDG_CACHE_HOME=path("cache"),
                   BATCH_COMPILE=batchtest.tool("batch-compile"))
checks = batchtest.Checks("nested programs")
first = options.first
end = first + (options.programs or (2000 if options.long else 6))
tasks = [{"first": number, "count": min(GROUP, end - number), "seed": options.seed}
         for number in range(first, end, GROUP)]
command = [sys.executable, os.path.abspath(__file__), "--worker"]
start = time.monotonic()
done, programs = 0, end - first
while tasks:
    left, waiting = [], []
    if options.long and time.monotonic() - start > LONGEST:
        break
    now, waiting = tasks[:50], tasks[50:]
    for task, problems, error, _ in workers.run_all(command, now, SECONDS, environment):
        number, count = task["first"], task["count"]
        if isinstance(problems, str):  # a traceback
            error = problems
        if error and count > 1:
            left += [dict(task, first=one, count=1) for one in range(number, number + count)]
            continue
        done += count
        problems = [(number, error)] if error else problems
        checks.expect("programs from %d on" % number, not problems, "\n".join(
            "%s\nrepeat it: --seed=%d --first=%d --programs=1" % (text, options.seed, one)
            for one, text in problems))
    tasks = left + waiting
print("%d of %d programs" % (done, programs))
checks.exit()
