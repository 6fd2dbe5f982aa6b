#!/usr/bin/env python3
"""check_case.py MODEL CASE: a golden case, and batched against unbatched.

All nodes, at every batch size up to the number of instances, on one and two
threads.
"""

import os
import sys

import batchtest
import convert_case


def sizes(model, meta):
    """Options of batch-compile."""
    if model == "bilstm_tagger_char":
        return ["--size=L=%d" % (meta["hidden"] // 2)]
    if model == "lstm_nmt":
        return ["--size=H=%d" % meta["hidden"], "--size=V=%d" % meta["cfg"]["vocab"]]
    return ["--size=H=%d" % meta["hidden"]]


def main(model, case):
    checks = batchtest.Checks(os.path.basename(case))
    folder = batchtest.temporary()
    meta, inputs, expected = convert_case.convert(case, folder)
    program = checks.run("compile", lambda: batchtest.compile_model(
        os.path.join(batchtest.MODELS, model + ".mlir"),
        os.path.join(folder, "model.so"), None, *sizes(model, meta)))
    if not program:
        checks.exit()
    params = os.path.join(case, "params.safetensors")
    for batch, threads in ((1, 1), (2, 1), (2, 2), (meta["batch"], 1),
                           (meta["batch"], 2)):
        checks.run("batch %d on %d threads" % (batch, threads),
                   lambda: batchtest.run_model(
                       program, inputs, "--share-tasks=%d" % batch,
                       "--expect=%s,%g,%g" % (expected, meta["rtol"],
                                              meta["atol"]),
                       params=params, batch=batch, threads=threads))
    checks.exit()


main(*sys.argv[1:])
