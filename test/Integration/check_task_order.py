#!/usr/bin/env python3
"""check_task_order.py [MODEL INPUTS]…: tasks in the order of their readers.

Outputs have the same bytes as with tasks as recorded, for any number of workers and
with rows used again; as many rows are read, in fewer pieces.
"""

import os
import sys

import batchtest
import sequences


def main(arguments):
    checks = batchtest.Checks("task order")
    scratch = batchtest.temporary()
    out = os.path.join(scratch, "out.safetensors")
    for source, inputs in zip(arguments[::2], arguments[1::2]):
        model = os.path.basename(source)[:-5]
        program = checks.run(model, lambda: batchtest.compile_model(
            source, os.path.join(scratch, "model.so"), None,
            *sequences.sizes(model)))

        def run(order, *options):
            report = batchtest.run_model(
                program, inputs, "--task-order=" + order, "--outputs=" + out,
                *options, batch=10)
            with open(out, "rb") as file:
                return report, file.read()

        for options in ([], ["--threads=3", "--nodes-per-worker=20"],
                        ["--reuse-rows=1"]):
            name = " ".join([model] + options)
            recorded = checks.run(name, lambda: run("recorded", *options))
            readers = checks.run(name + ", readers",
                                 lambda: run("readers", *options))
            if not recorded or not readers:
                continue
            checks.expect(name + ": same bytes", readers[1] == recorded[1])
            checks.equal(name + ": rows", readers[0]["gathered_rows"],
                         recorded[0]["gathered_rows"])
            before, after = [found[0]["gathered_runs"]
                             for found in (recorded, readers)]
            if not options:
                print("   %s: %d rows, %d runs as recorded, %d by readers" % (
                    model, readers[0]["gathered_rows"], before, after))
            checks.expect(name + ": fewer pieces", after < before,
                          "(%d, before %d)" % (after, before))
    checks.exit()


main(sys.argv[1:])
