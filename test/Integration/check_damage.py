#!/usr/bin/env python3
"""check_damage.py LIBRARY: tests damaged objects. batch-run and the C API report an error
for each. No damaged object runs, and none ends the process with a signal."""

import os
import random
import shutil
import subprocess
import sys

import batchtest
import c_api

checks = batchtest.Checks("damaged objects")
path = batchtest.temporary_paths()
library = c_api.Library(sys.argv[1])
generator = random.Random(52)
model = batchtest.compile_model(batchtest.model("treelstm_nary"), path("model.so"), None,
                                "--size=H=16")
whole = batchtest.contents(model)
INPUTS = os.path.join(batchtest.INPUTS, "trees.txt")


def written(data):
    with open(path("m.so"), "wb") as file:
        file.write(data)
    return path("m.so")


def run(file):
    """Returns the exit code and the output of batch-run."""
    done = subprocess.run([batchtest.tool("batch-run"), file, "--params=random:1",
                           "--inputs=" + INPUTS], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, done.stdout


def opened(file):
    """Returns the error with which the C API rejects a file."""
    try:
        c_api.Model(library, file)
    except c_api.ApiError as error:
        return str(error)
    return "no error"


def damaged():
    """Yields (description, bytes) of each damaged object."""
    # Lengths that end within the ELF header, within tables and pages, and within the checksum
    lengths = [0, 1, 4, 16, 63, 64, 100, 4095, 4096, 4097, 5000, len(whole) // 2,
               *(len(whole) - cut for cut in (1, 8, 16, 23, 24, 25, 4096))]
    for length in lengths:
        yield "cut to %d bytes" % length, whole[:length]
    for bit in generator.sample(range(8 * len(whole)), 60):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        yield "bit %d of byte %d" % (bit % 8, bit // 8), bytes(changed)


checks.equal("the whole object", (run(written(whole))[0], opened(written(whole))),
             (0, "no error"))
wanted = "object '%s' is damaged: it" % path("m.so")
for what, data in damaged():
    file = written(data)
    code, text = run(file)
    checks.expect("batch-run, " + what, code == 1 and wanted in text, (code, text))
    text = opened(file)
    checks.expect("the C API, " + what, wanted in text, text)

# Programs that rewrite objects remove the checksum.
for program in "strip", "llvm-strip":
    if shutil.which(program):
        subprocess.run([program, "-o", path("m.so"), model], check=True)
        checks.expect(program, "rewritten by another program such as strip" in
                      run(path("m.so"))[1])
checks.exit()
