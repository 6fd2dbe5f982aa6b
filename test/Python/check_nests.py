#!/usr/bin/env python3
"""check_nests.py [--programs=N | --minutes=N] [--first=N] [--seed=N]: random programs of
scans, while loops, branches and indices, nested three deep (nests.py): batch.vmap gives what
jax.vmap gives. --programs=2000 is the whole sweep.

The same seed and number make the same program: --first=NUMBER --programs=1 repeats one.
"""

import argparse
import os
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402
import workers  # noqa: E402

GROUP = 2  # programs that are compiled together
SECONDS = 300  # for a group; an ordinary one takes a few


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
batchtest.add_soak_options(parser, 6)
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
command = [sys.executable, os.path.abspath(__file__), "--worker"]
made = 0
for first, count, problems, error in workers.run_groups(command, options, GROUP, SECONDS,
                                                        environment):
    made += count
    problems = [(first, error)] if error else problems
    checks.expect("programs from %d on" % first, not problems, "\n".join(
        "%s\nrepeat it: --seed=%d --first=%d --programs=1" % (text, options.seed, number)
        for number, text in problems))
print("%d programs" % made)
checks.exit()
