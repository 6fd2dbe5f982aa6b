#!/usr/bin/env python3
"""check_bounds.py: checks that AddressSanitizer checks compiled code.

Requires a batch-run with AddressSanitizer ($BATCH_RUN; scripts/check --long). An instance of
a decoder accesses only its memory. If it gets less memory than its object requires,
AddressSanitizer reports an access with the name of a kernel.
"""

import os
import re

import batchtest

checks = batchtest.Checks("bounds")
file = batchtest.temporary_paths()
os.environ["ASAN_OPTIONS"] = "detect_leaks=0:detect_stack_use_after_return=0"


def compiled(name, text):
    path = batchtest.write_lines(file(name + ".mlir"), [text])
    return batchtest.compile_model(path, file(name + ".so"), None, "--sanitize=address")


def lowered():
    path = batchtest.write_lines(file("planned.mlir"), [batchtest.call(
        "batch-opt", "--autobatch=strategy=replicate level=device sizes=H=96,V=200",
        batchtest.model("seq2seq"))])
    return batchtest.call("batch-opt", "--cpu-workers=" + batchtest.vector_options(), path)


text = checks.run("lower seq2seq", lowered)
program = text and checks.run("compile seq2seq", lambda: compiled("seq2seq", text))
if program:
    checks.run("seq2seq", lambda: batchtest.run_model(program, "random:3,2", threads=2))
    # Divides the size of memory in the descriptor by four.
    less, count = re.subn(r"(bytes\\22:)(\d+)", lambda found: found[1] + str(
        int(found[2]) // 4).rjust(len(found[2])), text)
    checks.equal("places that say how much memory", count, 1)
    program = checks.run("compile with less memory", lambda: compiled("less", less))
if program:
    try:
        batchtest.run_model(program, "random:3,2", threads=2, check=False)
        checks.expect("less memory: an error", False)
    except batchtest.ToolError as error:
        checks.expect("less memory: an error", re.search(
            r"AddressSanitizer: heap-buffer-overflow(.|\n)* in main_\w+\.rows",
            str(error)), str(error))
checks.exit()
