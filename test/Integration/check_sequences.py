#!/usr/bin/env python3
"""check_sequences.py [--long | --emulator --seeds=N] MODEL DATA: batched equals unbatched.

DATA is shared/data; where it is absent inputs are generated. The first 40
instances at hidden size 16, or with --long 500 at the model's default size;
batches of 1, 10 and 64, one and two threads; bit for bit. With --emulator 2
instances by each executor of a GPU, and by all blocks without weights in shared
memory, with more than one seed of the scheduler (1) two pairs: within 1e-5 of the
CPU, and bit for bit what they are one by one.
"""

import itertools
import os
import sys

import batchtest
import sequences


def compile_model(model, scratch, *options):
    return batchtest.compile_model(
        os.path.join(batchtest.MODELS, model + ".mlir"),
        os.path.join(scratch, "model.so"), None, *options)


def check_emulator(checks, model, inputs, scratch, seeds):
    runs = [(1, 0)] + [(2, seed) for seed in range(seeds)]
    # A stage that reads weights in shared memory begins with a barrier, which would
    # hide that one is missing between the sums of teams of warps of two steps.
    for executor, *options in (("device",), ("cluster",), ("block",),
                               ("device", "--shared-memory=0")):
        program = checks.run(" ".join(["compile for executor", executor, *options]),
                             lambda: compile_model(
                                 model, scratch, "--device=emulator",
                                 "--executor=" + executor, *options,
                                 *sequences.sizes(model)))
        executor = " ".join([executor, *options])
        outputs = []
        for batch, seed in runs:
            path = os.path.join(scratch, "outputs")
            found = program and checks.run(
                "%s, batch %d, seed %d" % (executor, batch, seed),
                lambda: batchtest.run_model(
                    program, inputs, "--check-unbatched=1e-5", "--reuse-rows=1",
                    "--seed=%d" % seed, "--outputs=" + path, batch=batch,
                    check=False))
            if found:
                with open(path, "rb") as file:
                    outputs.append(file.read())
        checks.expect(executor + ": batches as one by one",
                      len(outputs) == len(runs) and len(set(outputs)) == 1)


def check_cpu(checks, model, inputs, scratch, long):
    program = checks.run("compile", lambda: compile_model(
        model, scratch, *([] if long else sequences.sizes(model))))
    if not program:
        return
    for batch, threads in itertools.product((1, 10, 64), (1, 2)):
        checks.run("batch %d, %d threads" % (batch, threads),
                   lambda: batchtest.run_model(
                       program, inputs, "--nodes-per-worker=100",
                       "--share-tasks=%d" % batch, batch=batch, threads=threads))


def main(arguments):
    long, emulator = "--long" in arguments, "--emulator" in arguments
    seeds = max([1] + [int(a[8:]) for a in arguments if a.startswith("--seeds=")])
    model, data = [a for a in arguments if not a.startswith("--")]
    checks = batchtest.Checks(model)
    scratch = batchtest.temporary()
    count = (4 if seeds > 1 else 2) if emulator else 500 if long else 40
    inputs = batchtest.write_lines(os.path.join(scratch, "inputs.jsonl"),
                                   sequences.instances(model, count, data))
    if emulator:
        check_emulator(checks, model, inputs, scratch, seeds)
    else:
        check_cpu(checks, model, inputs, scratch, long)
    checks.exit()


main(sys.argv[1:])
