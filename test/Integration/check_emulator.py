#!/usr/bin/env python3
"""check_emulator.py [--seeds=N] [--models=a,b]: tests persistent kernels on the emulator,
which reports races, deadlocks, and accesses to missing or uninitialized memory.

For each model and executor, over random forests and seeds of the scheduler: results are
within 1e-5 of the CPU's unbatched code, and bit-identical to those of --batch=1 on the
emulator. Counts: one launch per run, a plan for each group of blocks that gets instances,
and the barriers that the dependences need. Results are bit-identical with weights in shared memory
or in global memory.

A forest is a mini-batch. One process per seed runs all forests of a model.
"""

import argparse
import os

import batchtest

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--seeds", type=int, default=1,
                    help="run SEEDS thread orders; with more than one, two forests")
parser.add_argument("--models", help="run only these models, separated by commas")
arguments = parser.parse_args()
seeds = arguments.seeds
forests = 2 if seeds > 1 else 1
models = arguments.models.split(",") if arguments.models else batchtest.ALL
checks = batchtest.Checks("emulator")
scratch = batchtest.temporary()

# Number of exchanges inside a cell, in addition to the barrier between two batches. Only
# TreeGRU needs an exchange: its candidate reads all columns of a gate.
EXCHANGES = {"treernn": 0, "treernn_w": 0, "treefc": 0, "treelstm_nary": 0,
             "treelstm_nary_tai": 0, "treegru_nary": 1}

# For each model: the size, then pairs (bytes of shared memory for weights, number of blocks). At
# size 20, columns do not fill a tile. At size 13, columns and sums do not fill a vector. The shared
# memory of a block has space for none, some or all of the weights that the compiler expects the
# block to read. A single block reads more columns than the compiler expects.
PLACES = {"treelstm_nary": (20, (0, 8), (4000, 8), (4000, 1), (-1, 1)),
          "mvrnn": (13, (0, 8), (500, 1)), "dagrnn": (16, (0, 8), (512, 1))}


# Runs of every model, by executor, as (instances of a forest, --batch, --blocks).
# A cluster has 8 blocks.
SHAPES = {"device": [(3, 3, 8)], "cluster": [(3, 3, 16)], "block": [(3, 3, 8)]}
# Runs of some models with more instances than groups, and with several mini-batches
MORE = {"device": [], "cluster": [(7, 7, 24), (7, 4, 16)],
        "block": [(7, 7, 3), (7, 5, 4)]}
SOME = ["treernn_w", "treelstm_cs"]


def run(program, shape, seed, output, *more):
    instances, batch, blocks = shape
    return batchtest.run_model(
        program, "random:0,%d" % instances, "--blocks=%d" % blocks,
        "--seed=%d" % seed, *more, "--check-unbatched=1e-5",
        "--outputs=" + output, batch=batch, check=False)


def check(name, program, model, executor, forests, shape):
    instances, batch, blocks = forests * shape[0], *shape[1:]
    name = "%s, %d instances, %d at once on %d blocks" % (
        name, instances, batch, blocks)
    single = os.path.join(scratch, "single.safetensors")
    if not checks.run(name + ", one by one", lambda: run(
            program, (instances, 1, blocks), 0, single)):
        return
    with open(single, "rb") as file:
        wanted = file.read()
    sizes = [min(batch, instances - i) for i in range(0, instances, batch)]
    groups = {"device": 1, "cluster": blocks // 8, "block": blocks}[executor]
    for seed in range(seeds):
        what = "%s, seed %d" % (name, seed)
        batched = os.path.join(scratch, "batched.safetensors")
        found = checks.run(what, lambda: run(
            program, (instances, batch, blocks), seed, batched,
            "--reuse-rows=1"))
        if not found:
            continue
        with open(batched, "rb") as file:
            checks.expect(what + ": as one by one", file.read() == wanted)
        checks.equal(what + ": plans", found["plans"],
                     sum(min(groups, size) for size in sizes))
        checks.equal(what + ": launches", found["launches"], len(sizes))
        checks.equal(what + ": copies, in and out", found["copies"],
                     2 * len(sizes))
        if executor != "device":
            checks.equal(what + ": barriers in global memory",
                         found["barriers"], 0)
        elif model in EXCHANGES:
            # The output layer has no exchanges.
            levels = found["batches"] - len(sizes)
            checks.equal(what + ": barriers", found["barriers"],
                         levels + EXCHANGES[model] * levels)


for model in models:
    for executor in ("device", "cluster", "block"):
        name = "%s, %s" % (model, executor)
        program = checks.run("compile " + name, lambda: batchtest.compile_model(
            batchtest.model(model), os.path.join(scratch, model + executor + ".so"), 16,
            "--device=emulator", "--executor=" + executor))
        if not program:
            continue
        for shape in SHAPES[executor]:
            check(name, program, model, executor, forests, shape)
        for shape in MORE[executor] if model in SOME else []:
            check(name, program, model, executor, min(forests, 5), shape)
if arguments.models:
    checks.exit()

for model, (size, *places) in PLACES.items():
    results = []
    for capacity, blocks in places:
        name = "%s, %d bytes for weights, %d blocks" % (model, capacity, blocks)
        program = checks.run("compile " + name, lambda: batchtest.compile_model(
            batchtest.model(model),
            os.path.join(scratch, "places.so"), size, "--device=emulator",
            "--executor=device", "--shared-memory=%d" % capacity))
        output = os.path.join(scratch, "places.safetensors")
        if program and checks.run(name, lambda: run(
                program, (3, 3, blocks), 0, output)):
            with open(output, "rb") as file:
                results.append(file.read())
    checks.expect(model + ": the same wherever weights lie",
                  len(results) == len(places) and len(set(results)) == 1)

# The phases of a run are timed, including the kernel.
found = checks.run("timed", lambda: batchtest.run_model(
    program, "random:1,3", "--bench=2", check=False))
checks.expect("a kernel takes time", found and found["time_us"]["kernels"] > 0)

# By default, all blocks together run a plan if the program of a small model is compiled for many
# instances. If the program is compiled for few instances, each block runs its own plan.
for instances, plans in ((64, 1), (1, 3)):
    program = checks.run("compile for %d" % instances, lambda: batchtest.compile_model(
        batchtest.model("treefc"), os.path.join(scratch, "auto.so"), 16,
        "--device=emulator", "--instances=%d" % instances))
    found = checks.run("run it", lambda: run(
        program, (3, 3, 8), 1, os.path.join(scratch, "auto.safetensors")))
    checks.equal("plans, compiled for %d" % instances, found and found["plans"], plans)

# If a block waits too long, the run ends with an error that names the block and its step.
program = checks.run("compile for the watchdog", lambda: batchtest.compile_model(
    batchtest.model("treefc"),
    os.path.join(scratch, "watchdog.so"), 16, "--device=emulator",
    "--executor=device"))
try:
    batchtest.run_model(program, "random:1,3", "--watchdog=1e-9", check=False)
    checks.expect("a watchdog of a nanosecond bites", False)
except batchtest.ToolError as error:
    text = str(error)
    for part in ("exited with code 1", "executor device: block ", "waited more than",
                 " at barrier ", ", in step ", "kernel 'encode_node'"):
        checks.expect("the watchdog's message says: " + part, part in text, text)

checks.exit()
