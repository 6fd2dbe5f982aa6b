#!/usr/bin/env python3
"""check_sequences.py [--long] MODEL DATA: batched equals unbatched, bit for bit.

DATA is shared/data; where it is absent inputs are generated. The first 40
instances at hidden size 16, or with --long 500 at the model's default size;
batches of 1, 10 and 64, one and two threads.
"""

import itertools
import os
import sys

import batchtest
import sequences


def main(arguments):
    long = "--long" in arguments
    model, data = [a for a in arguments if a != "--long"]
    checks = batchtest.Checks(model)
    scratch = batchtest.temporary()
    program = checks.run("compile", lambda: batchtest.compile_model(
        os.path.join(batchtest.MODELS, model + ".mlir"),
        os.path.join(scratch, "model.so"), None,
        *([] if long else sequences.sizes(model))))
    if not program:
        checks.exit()
    inputs = batchtest.write_lines(
        os.path.join(scratch, "inputs.jsonl"),
        sequences.instances(model, 500 if long else 40, data))
    for batch, threads in itertools.product((1, 10, 64), (1, 2)):
        checks.run("batch %d, %d threads" % (batch, threads),
                   lambda: batchtest.run_model(
                       program, inputs, "--nodes-per-worker=100", batch=batch,
                       threads=threads))
    checks.exit()


main(sys.argv[1:])
