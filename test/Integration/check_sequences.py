#!/usr/bin/env python3
"""check_sequences.py [--long [--minutes=N --seed=N] | --emulator [--seeds=N]] MODEL DATA:
checks that batched runs equal unbatched ones.

DATA is shared/data. If it is missing, inputs are generated. The script runs the first 40 instances
at hidden size 16, or with --long the first 500 at the model's default size. It runs them in batches
of 1, 10 and 64, on one and two threads, and compares all bits. With --emulator, 2 instances run
with each executor of a GPU, and on all blocks without weights in shared memory. With more than one
seed of the scheduler (default: 1), two pairs run. Results are within 1e-5 of the CPU, and have the
bits of single instances.
"""

import argparse
import itertools
import os

import batchtest
import sequences


def compile_model(model, scratch, *options):
    return batchtest.compile_model(
        batchtest.model(model), os.path.join(scratch, "model.so"), None, *options)


def check_emulator(checks, model, inputs, scratch, seeds):
    runs = [(1, 0)] + [(2, seed) for seed in range(seeds)]
    # A stage that reads weights in shared memory begins with a barrier. That barrier would hide a
    # missing barrier between two steps in which teams of warps compute sums. The last run therefore
    # reads no weights in shared memory.
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


def check_cpu(checks, model, inputs, scratch, options):
    program = checks.run("compile", lambda: compile_model(
        model, scratch, *([] if options.long else sequences.sizes(model))))
    if not program:
        return
    runs = list(itertools.product((1, 10, 64), (1, 2)))
    for batch, threads in batchtest.draw(options, runs):
        checks.run("batch %d, %d threads" % (batch, threads),
                   lambda: batchtest.run_model(
                       program, inputs, "--nodes-per-worker=100",
                       "--share-tasks=%d" % batch, batch=batch, threads=threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--long", action="store_true",
                        help="run 500 instances at the model's default size")
    batchtest.add_draw_options(parser, "runs on the CPU")
    parser.add_argument("--emulator", action="store_true")
    parser.add_argument("--seeds", type=int, default=1, metavar="N",
                        help="run N thread orders on the emulator (default: %(default)s)")
    parser.add_argument("model")
    parser.add_argument("data")
    options = parser.parse_args()
    checks = batchtest.Checks(options.model)
    scratch = batchtest.temporary()
    count = (4 if options.seeds > 1 else 2) if options.emulator else \
        500 if options.long else 40
    inputs = batchtest.write_lines(
        os.path.join(scratch, "inputs.jsonl"),
        sequences.instances(options.model, count, options.data))
    if options.emulator:
        check_emulator(checks, options.model, inputs, scratch, options.seeds)
    else:
        check_cpu(checks, options.model, inputs, scratch, options)
    checks.exit()


main()
