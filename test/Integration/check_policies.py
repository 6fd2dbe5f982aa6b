#!/usr/bin/env python3
"""check_policies.py [MODEL INPUTS ...]: checks that each policy computes the same bits.

  check_policies.py --counts=DATA MODEL...   counts batches for real inputs, in
                                             mini-batches of 32 and 256

The script compares batched with unbatched under each policy, with one worker and several.
A table learned from some instances applies to all. State machines never make more batches
than the depth and agenda policies, and at most 2 % more than any policy.
"""

import os
import sys

import batchtest
import sequences


def check_machine(checks, name, batches, machine):
    """Checks that `machine` makes no more batches than the depth and agenda policies. It may make
    2 % or one batch more than the best policy, because some mini-batches take few batches."""
    best = min(batches.values())
    checks.expect("%s: %s" % (name, batches),
                  batches[machine] <= min(batches["depth"], batches["agenda"]) and
                  batches[machine] <= max(best + 1, 1.02 * best))


def check_counts(data, models):
    checks = batchtest.Checks("batches of policies")
    scratch = batchtest.temporary()
    for model in models:
        program = batchtest.compile_model(
            batchtest.model(model),
            os.path.join(scratch, "model.so"), None, *sequences.sizes(model))
        inputs = batchtest.write_lines(os.path.join(scratch, "inputs.jsonl"),
                                       sequences.instances(model, 256, data))
        for batch in (32, 256):
            batches = {policy: batchtest.run_model(
                program, inputs, "--policy=" + policy, batch=batch,
                check=False)["batches"]
                for policy in ("depth", "agenda", "greedy", "fsm")}
            check_machine(checks, "%s, %d" % (model, batch), batches, "fsm")
    checks.exit()


def main(arguments):
    checks = batchtest.Checks("policies")
    scratch = batchtest.temporary()
    for source, inputs in zip(arguments[::2], arguments[1::2]):
        name = os.path.basename(source)
        size = batchtest.small_size(source)
        program = batchtest.compile_model(source, os.path.join(scratch, "model.so"),
                                          size)
        table = os.path.join(scratch, "table")
        batchtest.run_model(program, inputs, "--learn-policy=" + table, "--limit=5")
        batches = {}
        for option in ("policy=depth", "policy=agenda", "policy=greedy",
                       "policy-table=" + table):
            found = [batchtest.run_model(program, inputs, "--" + option,
                                         "--nodes-per-worker=1",
                                         "--share-tasks=2", threads=threads)
                     for threads in (1, 3)]
            policy = option.split("=")[0 if "table" in option else 1]
            checks.equal("%s, %s: batches on 3 threads" % (name, policy),
                         found[1]["batches"], found[0]["batches"])
            batches[policy] = found[0]["batches"]
        # Objects contain a policy, which the user may override.
        for options in (["--policy=fsm", "--policy-table=" + table],
                        ["--policy=greedy"]):
            own = batchtest.compile_model(source, os.path.join(scratch, "own.so"),
                                          size, *options)
            policy = "policy-table" if len(options) > 1 else "greedy"
            checks.equal("%s compiled with %s" % (name, policy),
                         batchtest.run_model(own, inputs)["batches"], batches[policy])
            checks.equal(name + " by depth all the same", batchtest.run_model(
                own, inputs, "--policy=depth")["batches"], batches["depth"])
        check_machine(checks, name, batches, "policy-table")
    checks.exit()


if sys.argv[1].startswith("--counts="):
    check_counts(sys.argv[1][len("--counts="):], sys.argv[2:])
main(sys.argv[1:])
