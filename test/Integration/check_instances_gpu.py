#!/usr/bin/env python3
"""check_instances_gpu.py [--long]: programs of single instances (strategy 'replicate') on
the emulator, which raises an error for races, deadlocks and accesses to memory that is
not there or was never written.

Results are within 1e-5 of unbatched code, and have the same bits on one block and on
four, with every seed of the scheduler, whether blocks run instances together or each
another. An index out of range and a loop without an end are errors that name them.
"""

import argparse
import os

import batchtest
import residual_models

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--long", action="store_true", help="10 seeds instead of 1")
seeds = 10 if parser.parse_args().long else 1
checks = batchtest.Checks("single instances on the emulator")
file = batchtest.temporary_paths()

# Sizes, and instances of a run.
MODELS = {"seq2seq": ("H=16 V=30", 5), "attention": ("HEADS=2 D=8 SLOTS=34", 5),
          "nasrnn": ("H=16", 5), "lstm10": ("H=16", 2), "blockdrop": ("", 2)}


def source(name):
    if name in batchtest.RESIDUAL:
        return batchtest.write_lines(
            file(name + ".mlir"), [residual_models.write(name, 4, (1, 1, 1))])
    return os.path.join(batchtest.MODELS, name + ".mlir")


def compiled(name, sizes, level, device="emulator"):
    """Units run instances together, each another, or as their numbers say."""
    path = file("%s-%s.mlir" % (name, level))
    options = "strategy=replicate level=" + level
    if sizes:
        options += " sizes=" + sizes.replace(" ", ",")
    text = batchtest.call("batch-opt", "--autobatch=" + options, source(name))
    batchtest.write_lines(path, [text])
    return batchtest.compile_model(path, file("%s-%s.so" % (name, device)), None,
                                   "--device=" + device)


def run(program, inputs, *options, **more):
    """The bytes of the results, and what the run counts."""
    out = file("results")
    report = batchtest.run_model(program, inputs, "--outputs=" + out, *options,
                                 check=False, **more)
    return batchtest.contents(out), report


def check(name, level, program, inputs, wanted, counts):
    """Returns the results, which are `wanted` if there are such."""
    for blocks, seed in [(1, 0)] + [(4, seed) for seed in range(seeds)]:
        what = "%s, level %s, %d blocks, seed %d" % (name, level, blocks, seed)
        found = checks.run(what, lambda: run(
            program, inputs, "--blocks=%d" % blocks, "--seed=%d" % seed,
            "--check-unbatched=1e-5"))
        if not found:
            continue
        results, report = found
        wanted = wanted or results
        checks.expect(what + ": the same bits", results == wanted)
        checks.equal(what + ": launches", report["launches"], 1)
        checks.equal(what + ": copies, in and out", report["copies"], 2)
        checks.equal(what + ": tasks", report["tasks"], counts["tasks"])
    return wanted


for name, (sizes, instances) in MODELS.items():
    inputs, wanted = "random:1,%d" % instances, None
    cpu = checks.run("compile %s for the CPU" % name,
                     lambda: compiled(name, sizes, "auto", "cpu"))
    _, counts = checks.run(name + " on the CPU",
                           lambda: run(cpu, inputs, "--check-unbatched"))
    for level in ("auto", "device", "block"):
        program = checks.run("compile %s, level %s" % (name, level),
                             lambda: compiled(name, sizes, level))
        if program:
            wanted = check(name, level, program, inputs, wanted, counts)
checks.exit()
