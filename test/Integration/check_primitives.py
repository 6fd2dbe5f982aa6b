#!/usr/bin/env python3
"""check_primitives.py [--size=N] MODEL INPUTS OPTIONS…: checks that scheduling and layout
primitives preserve all bits.

Compiles MODEL, a name or a file, without options and with each OPTIONS of --autobatch.
Outputs have the same bytes, batched and unbatched, and the options change the code. After
a `!`, OPTIONS list the counts that they change, and how: "unroll=2 ! tasks< barriers>"
means fewer tasks and more barriers, with the same number of batches. Other counts remain, so
OPTIONS without `!` change no count.
"""

import operator
import os
import sys

import batchtest

COUNTS = ("tasks", "batches", "barriers")
RELATIONS = {"<": operator.lt, ">": operator.gt, "=": operator.eq}


def main(arguments):
    size = 16
    if arguments[0].startswith("--size="):
        size = int(arguments.pop(0)[7:])
    model, inputs, *variants = arguments
    checks = batchtest.Checks(model + ", primitives")
    scratch = batchtest.temporary()
    if not os.path.exists(model):
        model = batchtest.model(model)

    def run(number, options):
        path = os.path.join(scratch, "%d.mlir" % number)
        batchtest.call("batch-opt", model, "-o", path,
                       "--autobatch=sizes=H=%d %s" % (size, options))
        out = os.path.join(scratch, "%d.safetensors" % number)
        # Use -O0, because the tests cover the passes of Batch, not those of LLVM.
        program = batchtest.compile_model(
            path, os.path.join(scratch, "%d.so" % number), None, "-O0")
        report = batchtest.run_model(program, inputs, "--outputs=" + out,
                                     batch=5)
        with open(path) as code, open(out, "rb") as file:
            return report, file.read(), code.read()

    plain = checks.run("as it is", lambda: run(0, ""))
    for number, options in enumerate(variants, 1):
        options, _, claims = (part.strip() for part in options.partition("!"))
        relations = {**dict.fromkeys(COUNTS, "="),
                     **{claim[:-1]: claim[-1] for claim in claims.split()}}
        found = checks.run(options, lambda: run(number, options))
        if not found or not plain:
            continue
        checks.expect("same bytes with " + options, found[1] == plain[1])
        checks.expect("other code with " + options, found[2] != plain[2])
        for count, relation in relations.items():
            now, before = found[0][count], plain[0][count]
            checks.expect("%s with %s: %d %s %d" % (count, options, now, relation, before),
                          RELATIONS[relation](now, before))
    checks.exit()


main(sys.argv[1:])
