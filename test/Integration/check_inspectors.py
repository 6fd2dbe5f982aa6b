#!/usr/bin/env python3
"""check_inspectors.py [MODEL INPUTS ...]: compares one inspecting worker with several.

Counts must be equal. Results and the graph of all tasks must have the same bytes. The graph
lists tasks in the order of the schedule.
"""

import os
import sys

import batchtest

COUNTS = ("nodes", "tasks", "batches", "slots", "kernels")


def main(arguments):
    checks = batchtest.Checks("inspectors")
    scratch = batchtest.temporary()

    def run(program, inputs, threads):
        files = [os.path.join(scratch, "%s%d" % (kind, threads))
                 for kind in ("outputs", "graph")]
        found = batchtest.run_model(
            program, inputs, "--nodes-per-worker=1", "--share-tasks=2",
            "--outputs=" + files[0], "--dot=" + files[1], threads=threads, check=threads != 1)
        checks.equal("%d workers inspect" % threads, found["inspectors"], threads)
        data = []
        for path in files:
            with open(path, "rb") as file:
                data.append(file.read())
        return [found[count] for count in COUNTS], data

    for source, inputs in zip(arguments[::2], arguments[1::2]):
        name = os.path.basename(source)
        program = batchtest.compile_model(source, os.path.join(scratch, "model.so"),
                                          batchtest.small_size(source))
        expected = run(program, inputs, 1)
        for threads in (2, 3):
            found = run(program, inputs, threads)
            what = "%s on %d threads: " % (name, threads)
            checks.equal(what + "counts", found[0], expected[0])
            checks.expect(what + "results", found[1][0] == expected[1][0])
            checks.expect(what + "tasks", found[1][1] == expected[1][1])
    checks.exit()


main(sys.argv[1:])
