"""Compares random nested programs (nests.py) under batch.vmap and jax.vmap.

The same seed and number produce the same program: --first=NUMBER --programs=1 repeats it.
--programs=2000 is the whole sweep.

In some programs rounding errors grow from round to round. A program whose results differ is
skipped if the results of JAX also differ when the arguments change by rounding errors.
"""

import argparse
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../test/Integration"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import batchtest
import jax
import numpy
from support import comparison

import batch
from fuzz import nests, workers

GROUP = 2  # number of programs that are compiled together
SECONDS = 300  # time limit for a group; an ordinary group takes a few seconds
TOLERANCE = 1e-7  # for float64 results


def program_of(number, seed):
    return nests.make(seed * 1000003 + number)


def differences(programs, seed):
    """Compiles programs together, and compares their results with those of JAX.

    Returns an error, or None, for each program.
    """
    def combined(*state):
        return [program(*state) for program, _ in programs]

    arguments = nests.arguments(seed)
    with jax.enable_x64(True):
        found = batch.vmap(combined)(*arguments)
        wanted = jax.jit(jax.vmap(combined))(*arguments)
        return [comparison.difference(a, b, TOLERANCE) for a, b in zip(found, wanted)]


def is_sensitive(program, seed):
    """Returns whether results of JAX change when the arguments change by rounding errors.

    The result is true if one of eight trials changes a result by more than the tolerance.
    """
    arguments = nests.arguments(seed)
    rng = numpy.random.default_rng(1)
    with jax.enable_x64(True):
        function = jax.jit(jax.vmap(program[0]))
        wanted = function(*arguments)
        for _ in range(8):
            changed = [value * (1 + 2.0 ** -50 * rng.uniform(-1, 1, value.shape))
                       if value.dtype == float else value for value in arguments]
            if comparison.difference(function(*changed), wanted, TOLERANCE):
                return True
    return False


def _compare(task):
    """Returns ([(number, error)], [number of a skipped program]) of a group.

    An unsupported program does not hide the errors of other programs.
    """
    numbers = range(task["first"], task["first"] + task["count"])
    programs = [program_of(number, task["seed"]) for number in numbers]
    try:
        problems = differences(programs, task["seed"])
    except Exception:
        problems = []
        for program in programs:
            try:
                problems += differences([program], task["seed"])
            except Exception as error:
                problems.append(error)
    wrong, skipped = [], []
    for number, program, problem in zip(numbers, programs, problems):
        if isinstance(problem, Exception):
            problem = f"{type(problem).__name__}: {problem}"
        elif problem and is_sensitive(program, task["seed"]):
            skipped.append(number)
            continue
        if problem:
            wrong.append((number, f"{problem}\n{program[1]}"))
    return wrong, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    batchtest.add_soak_options(parser, 6)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        warnings.filterwarnings("ignore")
        workers.serve(_compare)
        return
    checks = batchtest.Checks("nested programs")
    made, skipped = 0, []
    for first, count, outcome, error in workers.run_groups(
            workers.command(__file__), options, GROUP, SECONDS, workers.environment()):
        made += count
        problems, some = ([(first, error)], []) if error else outcome
        skipped += some
        checks.expect(f"programs from {first} on", not problems, "\n".join(
            f"{text}\nrepeat it: --seed={options.seed} --first={number} --programs=1"
            for number, text in problems))
    print(f"{made} programs; {len(skipped)} skipped, whose results rounding changes: "
          f"{', '.join(map(str, skipped))}")
    checks.expect("few programs are skipped", len(skipped) <= 1 + made // 20, skipped)
    checks.exit()


if __name__ == "__main__":
    main()
