#!/usr/bin/env python3
"""check_models.py: checks that each example model parses, verifies and prints stably, and
that residual_models.py and speculative_models.py write those that they generate."""

import os

import batchtest
import residual_models
import speculative_models

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
                 batchtest.DECIDING + batchtest.WAITING + batchtest.CONTROL, True)
    for writer, models in ((residual_models, batchtest.RESIDUAL),
                           (speculative_models, batchtest.SPECULATIVE)):
        if name[:-5] in models:
            checks.expect("%s is what %s.py writes" % (name, writer.__name__), batchtest.
                          contents(path).decode() == writer.write(name[:-5]))
checks.exit()
