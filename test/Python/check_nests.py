#!/usr/bin/env python3
"""check_nests.py [--programs=N | --minutes=N] [--first=N] [--seed=N]: random programs of
scans, while loops, branches and indices, nested three deep (nests.py): batch.vmap gives what
jax.vmap gives. --programs=2000 is the whole sweep.

Rounding grows from round to round in some programs. A program whose results differ is left out
if JAX's own results change as much when the arguments change by rounding.

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
TOLERANCE = 1e-7  # rounding is of 64 bits


def together(programs):
    return lambda *state: [program(*state) for program, _ in programs]


def difference(programs, arguments):
    """[what is wrong, or None] of each program."""
    found = batch.vmap(together(programs))(*arguments)
    wanted = jax.jit(jax.vmap(together(programs)))(*arguments)
    return [comparison.difference(a, b, TOLERANCE) for a, b in zip(found, wanted)]


def is_sensitive(program, arguments):
    """True if JAX's results change by more than the tolerance when arguments change by
    rounding, in one of eight trials."""
    function = jax.jit(jax.vmap(program[0]))
    wanted = function(*arguments)
    generator = numpy.random.default_rng(1)
    for _ in range(8):
        changed = [value * (1 + 2.0 ** -50 * generator.uniform(-1, 1, value.shape))
                   if value.dtype == float else value for value in arguments]
        if comparison.difference(function(*changed), wanted, TOLERANCE):
            return True
    return False


def compare(task):
    """([(number, what is wrong)], [number of a program left out]) of a group, which one
    refusal must not hide."""
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
                problems.append(error)
    wrong, sensitive = [], []
    for number, program, problem in zip(numbers, programs, problems):
        if isinstance(problem, Exception):
            problem = "%s: %s" % (type(problem).__name__, problem)
        elif problem and is_sensitive(program, arguments):
            sensitive.append(number)
            continue
        if problem:
            wrong.append((number, "%s\n%s" % (problem, program[1])))
    return wrong, sensitive


parser = argparse.ArgumentParser()
batchtest.add_soak_options(parser, 6)
parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
options = parser.parse_args()
if options.worker:
    warnings.filterwarnings("ignore")
    import batch
    import jax
    import numpy
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
made, left_out = 0, []
for first, count, outcome, error in workers.run_groups(command, options, GROUP, SECONDS,
                                                       environment):
    made += count
    problems, sensitive = ([(first, error)], []) if error else outcome
    left_out += sensitive
    checks.expect("programs from %d on" % first, not problems, "\n".join(
        "%s\nrepeat it: --seed=%d --first=%d --programs=1" % (text, options.seed, number)
        for number, text in problems))
print("%d programs, %d of them left out, since rounding changes their results: %s" %
      (made, len(left_out), ", ".join(map(str, left_out))))
checks.expect("few programs are left out", len(left_out) <= 1 + made // 20, left_out)
checks.exit()
