#!/usr/bin/env python3
"""check_ranks.py [--cases=N | --minutes=N] [--first=N] [--seed=N] [--primitive=NAME]: single
primitives of arrays of rank 0 to 3 with extents 0, 1 and 2 (ranks.py), by default each
primitive twice; --cases=10000 is the whole sweep.

batch.vmap gives what jax.vmap gives, and jaxlib's passes, which batch-import hands the
same modules to, do not end the process. Worker processes run groups of cases; the cases of
a group that ends its process run again one by one, so that a failure names its case.
"""

import argparse
import os
import re
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402
import workers  # noqa: E402

GROUP = 40  # cases that are compiled together
SECONDS = 300  # for a group; an ordinary one takes ten


def case_of(number, seed, primitive):
    names = [primitive] if primitive else sorted(ranks.MAKERS)
    return ranks.make(names[number % len(names)], seed * 1000003 + number)


def together(cases):
    """One function of the arguments of all cases."""
    counts = [len(case.arguments) for case in cases]

    def function(*arguments):
        arguments = iter(arguments)
        return [case.function(*(next(arguments) for _ in range(count)))
                for case, count in zip(cases, counts)]
    return function, [value for case in cases for value in case.arguments]


def difference(cases):
    """Errors by the number of a case."""
    function, arguments = together(cases)
    found = batch.vmap(function)(*arguments)
    wanted = [ranks.reference(case)(*case.arguments) for case in cases]
    texts = {i: comparison.difference(a, b, 2e-5)
             for i, (a, b) in enumerate(zip(found, wanted))}
    return {i: text for i, text in texts.items() if text}


def compare(task):
    """[(number, text of the case, what is wrong)] of a group."""
    numbers = range(task["first"], task["first"] + task["count"])
    cases = [case_of(number, task["seed"], task["primitive"]) for number in numbers]
    try:
        problems = difference(cases)
    except Exception:
        problems = {}
        for i, case in enumerate(cases):
            try:
                if difference([case]):
                    problems[i] = difference([case])[0]
            except Exception as error:
                problems[i] = "%s: %s" % (type(error).__name__, error)
    for case in cases:
        imported(case)
    return [(numbers[i], cases[i].text, text) for i, text in sorted(problems.items())]


def imported(case):
    """Hands the module to jaxlib's passes as batch-import does, which may refuse it."""
    shapes = [jax.ShapeDtypeStruct(value.shape[1:], value.dtype)
              for value in case.arguments]
    text = jax.jit(case.function, keep_unused=True).lower(*shapes).as_text()
    try:
        _stablehlo.lower(text.encode(), "module.mlir")
    except _signature.TextError:
        pass


def survey(_):
    """Returns {check: error} for primitives that are not drawn. Each primitive of JAX has a
    maker, a reason or an error by decision, and errors name their primitive."""
    found, primitives = {}, ranks.primitives()
    known = set(ranks.MAKERS).union(*ranks.ELSEWHERE.values())
    left = sorted(name for name in primitives
                  if name not in known and not _expand.is_refused(name))
    found["every primitive of JAX is tested, or has a reason"] = ", ".join(left)
    both = sorted(name for name in known if _expand.is_refused(name))
    found["no primitive is both tested and refused"] = ", ".join(both)

    def check(text, name, call):
        try:
            call()
            found[text] = "there is no error"
        except batch.LoweringError as error:
            found[text] = "" if re.search(r"\b%s\b" % name, str(error)) else str(error)
        except Exception as error:
            found[text] = "%s: %s" % (type(error).__name__, error)

    for name, primitive in primitives.items():
        if _expand.is_refused(name):
            check("an equation of " + name, name,
                  lambda: _expand.expand(ranks.equation_of(primitive)))
    for name, function in ranks.refusals().items():
        check("a call of " + name, "complex" if name == "fft" else name,
              lambda: batch.vmap(function)(numpy.eye(2, dtype="float32")[None]))
    return found


def serve(task):
    return survey(task) if task.get("survey") else compare(task)


parser = argparse.ArgumentParser()
parser.add_argument("--primitive", metavar="NAME", help="make cases of one primitive only")
parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
if "--worker" in sys.argv:
    warnings.filterwarnings("ignore")
    import batch
    import jax
    import numpy
    from batch import _expand, _signature, _stablehlo

    import comparison
    import ranks
    import ranks_of_calls  # noqa: F401
    workers.serve(serve)
    sys.exit()

path = batchtest.temporary_paths()
environment = dict(os.environ, JAX_PLATFORMS="cpu", XDG_CACHE_HOME=path("cache"),
                   BATCH_COMPILE=batchtest.tool("batch-compile"))
os.environ.update(environment)
import ranks  # noqa: E402
import ranks_of_calls  # noqa: E402, F401

checks = batchtest.Checks("primitives by rank")
batchtest.add_soak_options(parser, 2 * len(ranks.MAKERS), "cases")
options = parser.parse_args()
command = [sys.executable, os.path.abspath(__file__), "--worker"]
if not options.primitive and not options.first:
    for task, found, error, _ in workers.run_all(command, [{"survey": True}], SECONDS,
                                                 environment):
        if error or isinstance(found, str):
            found = {"the survey of primitives": error or found}
        for text, why in found.items():
            checks.expect(text, not why, why)
made = 0
for first, count, problems, error in workers.run_groups(command, options, GROUP, SECONDS,
                                                        environment,
                                                        primitive=options.primitive):
    made += count
    if error:
        problems = [(first, case_of(first, options.seed, options.primitive).text, error)]
    checks.expect("cases from %d on" % first, not problems, "\n".join(
        "%s: %s\nrepeat it: --seed=%d --first=%d --cases=1%s" % (
            text, why, options.seed, number,
            options.primitive and " --primitive=" + options.primitive or "")
        for number, text, why in problems))
print("%d cases" % made)
checks.exit()
