#!/usr/bin/env python3
"""check_bytecode.py: checks that text and bytecode contain the same module.

Each model, and its output of --autobatch, prints the same after a conversion to bytecode.
Bytecode compiles to the same object as text, and runs.
"""

import os

import batchtest

checks = batchtest.Checks("bytecode")
path = batchtest.temporary_paths()


def read(name):
    return batchtest.contents(path(name))


def detour(what, name):
    """Converts a module from text to bytecode and back, and compares the two texts."""
    batchtest.call("batch-opt", path(name), "--emit-bytecode", "-o",
                   path("bytecode"))
    batchtest.call("batch-opt", path("bytecode"), "-o", path("again"))
    checks.expect(what + " is bytecode", read("bytecode")[:4] == b"ML\xefR")
    checks.expect(what + " comes back", read("again") == read(name))


for name in batchtest.models():
    source = batchtest.model(name)

    def model():
        batchtest.call("batch-opt", source, "-o", path("text"))
        detour(name, "text")
        batchtest.call("batch-opt", source, "--autobatch", "-o", path("batched"))
        detour(name + " with --autobatch", "batched")

    checks.run(name, model)

source = batchtest.model("treernn")
batchtest.call("batch-opt", source, "--emit-bytecode", "-o", path("tree.mlirbc"))


def run(program, *options):
    batchtest.call("batch-run", program, "--params=random:1", "--inputs=random:1,5",
                   "--check-unbatched", "--outputs=" + path("outputs"), *options)
    return read("outputs")


wanted = checks.run("text", lambda: run(source, "--size=H=8"))
for name in ("tree.mlirbc", "no-suffix"):
    # Tools also recognize bytecode by its first bytes.
    if name != "tree.mlirbc":
        os.link(path("tree.mlirbc"), path(name))
    checks.equal(name, checks.run("run " + name,
                                  lambda: run(path(name), "--size=H=8")), wanted)
objects = []
for program in (source, path("tree.mlirbc")):
    batchtest.call("batch-compile", program, "-o", path("object"))
    objects.append(read("object"))
checks.expect("text and bytecode make the same object", objects[0] == objects[1])
checks.exit()
