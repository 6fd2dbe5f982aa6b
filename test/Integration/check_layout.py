#!/usr/bin/env python3
"""check_layout.py [MODEL INPUTS]…: checks that layouts of kernels preserve all bits.

Compiles each model unchanged, and with kernels that batch their equal operators, by weights and by
shapes. Outputs have the same bytes, batched and unbatched. At size 32, panels have no padding, so
bound parameters take the same memory.
"""

import os
import sys

import batchtest

SIZES = {"bilstm_tagger_char.mlir": "L"}
VARIANTS = ["layout-kernels=shapes", "layout-kernels=weights"]


def main(arguments):
    checks = batchtest.Checks("layouts of kernels")
    scratch = batchtest.temporary()
    out = os.path.join(scratch, "out.safetensors")

    def run(source, inputs, options):
        path = os.path.join(scratch, "model.mlir")
        batchtest.call("batch-opt", source, "-o", path,
                       "--autobatch=sizes=%s=32 %s" % (SIZES.get(
                           os.path.basename(source), "H"), options))
        program = batchtest.compile_model(
            path, os.path.join(scratch, "model.so"), None, "-O0")
        report = batchtest.run_model(program, inputs, "--outputs=" + out, batch=5)
        with open(out, "rb") as file, open(path) as code:
            return (file.read(), report["memory_bytes"]["parameters"],
                    code.read().count("tensor.concat"))

    for source, inputs in zip(arguments[::2], arguments[1::2]):
        model = os.path.basename(source)[:-5]
        plain = checks.run(model, lambda: run(source, inputs, ""))
        for options in VARIANTS:
            found = checks.run("%s, %s" % (model, options),
                               lambda: run(source, inputs, options))
            if found and plain:
                checks.expect("%s, %s: same bytes" % (model, options),
                              found[0] == plain[0])
                checks.equal("%s, %s: bytes of parameters" % (model, options),
                             found[1], plain[1])
            if found and "shapes" in options:
                checks.expect(model + " is laid out", found[2] > plain[2])
    checks.exit()


main(sys.argv[1:])
