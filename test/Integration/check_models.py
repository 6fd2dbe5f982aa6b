#!/usr/bin/env python3
"""check_models.py: every example model parses, verifies and prints stably."""

import os

import batchtest

checks = batchtest.Checks("examples/models")
for name in sorted(os.listdir(batchtest.MODELS)):
    if not name.endswith(".mlir"):
        continue
    path = os.path.join(batchtest.MODELS, name)
    scratch = batchtest.temporary()

    def round_trip():
        first = batchtest.call("batch-opt", path)
        copy = batchtest.write_lines(os.path.join(scratch, name), [first])
        return first, batchtest.call("batch-opt", copy)

    texts = checks.run(name + " parses", round_trip)
    if texts:
        checks.equal(name + " prints stably", texts[0], texts[1])
    checks.equal(name[:-5] + " is in the tests' list",
                 name[:-5] in batchtest.EVERY + batchtest.FURTHER +
                 batchtest.CONTROL, True)
checks.exit()
