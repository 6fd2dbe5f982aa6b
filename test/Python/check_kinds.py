#!/usr/bin/env python3
"""check_kinds.py [NAME...]: batch.vmap gives what jax.vmap gives for each program of
kinds.py, with weak types and trees, twice; those that are errors by decision say where.

Worker processes do them, each with a time limit. Names choose; all others are left out.
"""

import os
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402
import workers  # noqa: E402

SECONDS = 60  # for one kind; an ordinary one takes two


def compare(name):
    """What is wrong with a kind, or None."""
    chosen = kinds.KINDS[name]
    options = dict(chosen.options)
    with jax.enable_x64(options.pop("x64", jax.config.jax_enable_x64)):
        if chosen.line:
            return refuse(chosen)
        wanted = jax.vmap(chosen.function, **options)(*chosen.arguments)
        mapped = batch.vmap(chosen.function, **options)
        for _ in range(2):  # the second call compiles nothing
            text = comparison.difference(mapped(*chosen.arguments), wanted)
            if text:
                return text
    return None


def refuse(chosen):
    """What is wrong with an error, or None."""
    try:
        batch.vmap(chosen.function)(*chosen.arguments) if chosen.arguments else \
            chosen.function()
    except (batch.LoweringError, ValueError) as error:
        place = "kinds.py:%d " % chosen.line
        return None if place in str(error) else "%r does not name %s" % (error, place)
    return "was accepted"


if sys.argv[1:] == ["--worker"]:
    warnings.filterwarnings("ignore")
    import batch
    import jax

    import comparison
    import kinds
    workers.serve(compare)
    sys.exit()

path = batchtest.temporary_paths()
environment = dict(
    os.environ, JAX_PLATFORMS="cpu", XDG_CACHE_HOME=path("cache"),
    BATCH_COMPILE=batchtest.tool("batch-compile"),
    XLA_FLAGS="--xla_force_host_platform_device_count=2")
os.environ.update(environment)
import kinds  # noqa: E402

unknown = set(sys.argv[1:]) - set(kinds.KINDS)
if unknown:
    sys.exit("no kinds: %s" % ", ".join(sorted(unknown)))
checks = batchtest.Checks("kinds")
command = [sys.executable, os.path.abspath(__file__), "--worker"]
for name, problem, error, seconds in workers.run_all(
        command, sys.argv[1:] or list(kinds.KINDS), SECONDS, environment):
    problem = (problem or error or "").strip()
    checks.expect(name, not problem, "(%.1f s): %s\n%s" % (
        seconds, problem.splitlines()[-1:], problem))
checks.exit()
