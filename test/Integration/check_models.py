#!/usr/bin/env python3
"""check_models.py: checks that each model parses and verifies, and that it prints the same text
after it is parsed again."""

import os

import batchtest

checks = batchtest.Checks("models")
for name in batchtest.models():
    scratch = batchtest.temporary()

    def round_trip():
        first = batchtest.call("batch-opt", batchtest.model(name))
        copy = batchtest.write_lines(os.path.join(scratch, name + ".mlir"), [first])
        return first, batchtest.call("batch-opt", copy)

    texts = checks.run(name + " parses", round_trip)
    if texts:
        checks.equal(name + " prints stably", texts[0], texts[1])
    checks.equal(name + " is in the tests' list",
                 name in batchtest.EVERY + batchtest.FURTHER +
                 batchtest.DECIDING + batchtest.WAITING + batchtest.CONTROL, True)
checks.exit()
