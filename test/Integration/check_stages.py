#!/usr/bin/env python3
"""check_stages.py [--size=N] MODEL INPUTS: checks that each stage of the pipeline runs.

Runs batch-opt with each prefix of the pass list of docs/reference/pipelines.md, compiles
its output, and compares the results' bytes with those of the source.
"""

import os
import sys

import batchtest


def main(arguments):
    size = 16
    if arguments[0].startswith("--size="):
        size = int(arguments.pop(0)[7:])
    model, inputs = arguments
    checks = batchtest.Checks(model + ", stage by stage")
    scratch = batchtest.temporary()
    source = batchtest.model(model)

    def outputs(name, path, sizes):
        # Use -O0, because this script tests the passes of Batch, not those of LLVM.
        program = batchtest.compile_model(
            path, os.path.join(scratch, name + ".so"), sizes, "-O0")
        out = os.path.join(scratch, name + ".safetensors")
        batchtest.call("batch-run", program, "--params=random:1",
                       "--inputs=" + inputs, "--batch=5", "--outputs=" + out)
        with open(out, "rb") as file:
            return file.read()

    # The bits of the results depend on the vector size, so the passes get the options that
    # batch-compile sets.
    vector_bits, registers = batchtest.vector_options().split()
    options = {"batch-specialize-sizes": "sizes=H=%d" % size,
               "uprog-stage-operators": vector_bits, "convert-operators-to-cpu": registers,
               "convert-uprog-to-cpu": vector_bits}
    wanted = checks.run("the source", lambda: outputs("source", source, size))
    flags = []
    open_size = size  # the size, until a pass has set it
    for number, name in enumerate(
            batchtest.table_of_passes("--autobatch") + batchtest.table_of_passes("--cpu-workers")):
        flags.append("--" + name + ("=" + options[name] if name in options else ""))
        if name == "batch-specialize-sizes":
            open_size = None
        path = os.path.join(scratch, "stage%d.mlir" % number)

        def stage():
            batchtest.call("batch-opt", source, "-o", path, *flags)
            return outputs("stage%d" % number, path, open_size)

        found = checks.run("after " + name, stage)
        if found and wanted:
            checks.expect("same bytes after " + name, found == wanted)
    checks.expect("docs/reference/pipelines.md lists passes", flags)
    for name, pipeline in (("autobatch", ["--autobatch=sizes=H=%d" % size]),
                           ("cpu-workers", [
                               "--autobatch=sizes=H=%d" % size,
                               "--cpu-workers=" + batchtest.vector_options()])):
        path = os.path.join(scratch, name + ".mlir")

        def end():
            batchtest.call("batch-opt", source, "-o", path, *pipeline)
            return outputs(name, path, None)

        found = checks.run("after --" + name, end)
        if found and wanted:
            checks.expect("same bytes after --" + name, found == wanted)
    checks.exit()


main(sys.argv[1:])
