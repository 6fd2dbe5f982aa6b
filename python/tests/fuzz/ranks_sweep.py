"""Compares random calls of single primitives (ranks.py) under batch.vmap and jax.vmap.

The passes of jaxlib also lower the module of each call, as in batch-import, and must not end
the process. Worker processes run groups of cases. The cases of a group that ends its process
run again one by one, so that a failure names its case. By default, each primitive has two
cases; --cases=10000 is the whole sweep.
"""

import argparse
import contextlib
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../test/Integration"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import batchtest
import jax
from support import comparison

import batch
from batch.core import errors
from batch.lowering import stablehlo
from fuzz import (
    ranks,
    ranks_of_arrays,  # noqa: F401  these modules register makers
    ranks_of_calls,  # noqa: F401
    ranks_of_reductions,  # noqa: F401
    workers,
)

GROUP = 40  # number of cases that are compiled together
SECONDS = 300  # time limit for a group; most groups take ten seconds


def case_of(number, seed, primitive=None):
    names = [primitive] if primitive else sorted(ranks.MAKERS)
    return ranks.make(names[number % len(names)], seed * 1000003 + number)


def _combined(cases):
    """Returns one function of the arguments of all cases, and these arguments."""
    counts = [len(case.arguments) for case in cases]

    def function(*arguments):
        arguments = iter(arguments)
        return [case.function(*(next(arguments) for _ in range(count)))
                for case, count in zip(cases, counts)]
    return function, [value for case in cases for value in case.arguments]


def differences(cases):
    """Compiles cases together. Returns {index of a case: difference from its reference}."""
    function, arguments = _combined(cases)
    found = batch.vmap(function)(*arguments)
    wanted = [ranks.reference(case)(*case.arguments) for case in cases]
    texts = {i: comparison.difference(a, b, 2e-5)
             for i, (a, b) in enumerate(zip(found, wanted))}
    return {i: text for i, text in texts.items() if text}


def lower(case):
    """Lowers the module of a case as batch-import does. The module may be unsupported."""
    shapes = [jax.ShapeDtypeStruct(value.shape[1:], value.dtype)
              for value in case.arguments]
    text = jax.jit(case.function, keep_unused=True).lower(*shapes).as_text()
    with contextlib.suppress(errors.TextError):
        stablehlo.lower_stablehlo(text.encode(), "module.mlir")


def _compare(task):
    """Returns [(number, description of the case, error)] of a group."""
    numbers = range(task["first"], task["first"] + task["count"])
    cases = [case_of(number, task["seed"], task["primitive"]) for number in numbers]
    try:
        problems = differences(cases)
    except Exception:
        problems = {}
        for i, case in enumerate(cases):
            try:
                if found := differences([case]):
                    problems[i] = found[0]
            except Exception as error:
                problems[i] = f"{type(error).__name__}: {error}"
    for case in cases:
        lower(case)
    return [(numbers[i], cases[i].text, text) for i, text in sorted(problems.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    batchtest.add_soak_options(parser, 2 * len(ranks.MAKERS), "cases")
    parser.add_argument("--primitive", metavar="NAME", help="make cases of one primitive only")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        warnings.filterwarnings("ignore")
        workers.serve(_compare)
        return
    checks = batchtest.Checks("primitives by rank")
    made = 0
    for first, count, problems, error in workers.run_groups(
            workers.command(__file__), options, GROUP, SECONDS, workers.environment(),
            primitive=options.primitive):
        made += count
        if error:
            problems = [(first, case_of(first, options.seed, options.primitive).text, error)]
        more = f" --primitive={options.primitive}" if options.primitive else ""
        checks.expect(f"cases from {first} on", not problems, "\n".join(
            f"{text}: {why}\n"
            f"repeat it: --seed={options.seed} --first={number} --cases=1{more}"
            for number, text, why in problems))
    print(f"{made} cases")
    checks.exit()


if __name__ == "__main__":
    main()
