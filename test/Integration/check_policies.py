#!/usr/bin/env python3
"""check_policies.py [MODEL INPUTS ...]: every policy computes the same bits.

Batched is compared with unbatched under each policy, with one worker and several. A
table learnt from some instances is followed on all; machines never make more batches
than the depth and agenda policies.
"""

import os
import sys

import batchtest


def main(arguments):
    checks = batchtest.Checks("policies")
    scratch = batchtest.temporary()
    for source, inputs in zip(arguments[::2], arguments[1::2]):
        name = os.path.basename(source)
        with open(source) as file:
            size = 16 if "{H = " in file.read() else None
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
        # Objects carry a policy, which the user may override.
        for options in (["--policy=fsm", "--policy-table=" + table],
                        ["--policy=greedy"]):
            own = batchtest.compile_model(source, os.path.join(scratch, "own.so"),
                                          size, *options)
            policy = "policy-table" if len(options) > 1 else "greedy"
            checks.equal("%s compiled with %s" % (name, policy),
                         batchtest.run_model(own, inputs)["batches"], batches[policy])
            checks.equal(name + " by depth all the same", batchtest.run_model(
                own, inputs, "--policy=depth")["batches"], batches["depth"])
        checks.expect("%s: %s" % (name, batches), batches["policy-table"] <=
                      min(batches["depth"], batches["agenda"]))
    checks.exit()


main(sys.argv[1:])
