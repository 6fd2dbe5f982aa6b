#!/usr/bin/env python3
"""check_instances_gpu.py [--seeds=N] [--seed=N]: tests programs of single instances (strategy
'replicate') on the emulator, which reports races, deadlocks, and accesses to missing or
uninitialized memory.

Results are within 1e-5 of unbatched code. They have the same bits on few and on many blocks,
and with each seed of the scheduler. All blocks, the blocks of a cluster, or single blocks run an
instance. Errors name an index that is out of range, a loop that does not end, and a barrier that
takes too long.
"""

import argparse
import json
import os
import re

import batchtest
import residual_models

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--seeds", type=int, default=1, help="run SEEDS thread orders")
parser.add_argument("--seed", help="run one model in six, drawn by this seed")
options = parser.parse_args()
seeds = options.seeds
checks = batchtest.Checks("single instances on the emulator")
file = batchtest.temporary_paths()

# For each model: sizes, and number of instances of a run
MODELS = {"seq2seq": ("H=16 V=30", 5), "attention": ("HEADS=2 D=8 SLOTS=34", 5),
          "nasrnn": ("H=16", 5), "lstm10": ("H=16", 2), "blockdrop": ("", 2),
          "skipnet38": ("", 2), "rae": ("H=20", 5), "treelstm_2type": ("H=20", 5),
          "nodes": ("D=20", 9),
          "instances": ("", 9)}
# Other orders of loops
ORDERS = {"lstm10": ("layers", "wavefront")}
# Sizes of residual models: a small image, and the number of blocks in each group
SMALL = 4, (1, 1, 1)


def source(name):
    if name in batchtest.RESIDUAL:
        return batchtest.write_lines(file(name + ".mlir"),
                                     [residual_models.write(name, *SMALL)])
    if name in ("instances", "nodes"):
        return os.path.join(batchtest.ROOT, "test", "Integration", "GPU", "Inputs",
                            name + ".mlir")
    return batchtest.model(name)


def parameters(name):
    if name not in batchtest.RESIDUAL:
        return "random:1"
    residual_models.write_params(name, file("params"), *SMALL)
    return file("params")


def compiled(name, sizes, level, device="emulator", order="auto"):
    """Compiles a program whose instances run on all units, on the units of a cluster or on single
    units. With level `auto`, the compiler chooses the level. If the level is followed
    by `units`, every second kernel runs on only one of the instance's units."""
    path = file("%s-%s.mlir" % (name, level.replace(" ", "-")))
    options = "strategy=replicate order=%s" % order
    if sizes:
        options += " sizes=" + sizes.replace(" ", ",")
    if level.endswith("units"):
        text = batchtest.call("batch-opt", "--autobatch=" + options, source(name))
        kernels = re.findall(r"batch\.kernel (?:private )?@([\w.$-]+)", text)
        with open(file("tuning"), "w") as tuning:
            json.dump({"version": 1, "kernels": {
                kernel: {"units": "one"} for kernel in kernels[::2]}}, tuning)
        options += " level=%s instances=1 tuning=%s" % (level.split()[0], file("tuning"))
    else:
        options += " level=" + level
    text = batchtest.call("batch-opt", "--autobatch=" + options, source(name))
    batchtest.write_lines(path, [text])
    return batchtest.compile_model(path, file("%s-%s.so" % (name, device)), None,
                                   "--device=" + device)


def run(program, inputs, *options, **more):
    """Returns the bytes of the results, and the counts of the run."""
    out = file("results")
    report = batchtest.run_model(program, inputs, "--outputs=" + out, *options,
                                 check=False, **more)
    return batchtest.contents(out), report


def check(name, level, program, inputs, wanted, counts, params):
    """Runs a program and compares the results with `wanted`, or else with those of the first run.
    Returns the results to compare with."""
    few, more = (8, 16) if level.startswith("cluster") else (1, 4)
    for blocks, seed in [(few, 0)] + [(more, seed) for seed in range(seeds)]:
        what = "%s, level %s, %d blocks, seed %d" % (name, level, blocks, seed)
        found = checks.run(what, lambda: run(
            program, inputs, "--blocks=%d" % blocks, "--seed=%d" % seed,
            "--check-unbatched=1e-5", params=params))
        if not found:
            continue
        results, report = found
        wanted = wanted or results
        checks.expect(what + ": the same bits", results == wanted)
        checks.equal(what + ": launches", report["launches"], 1)
        checks.equal(what + ": copies, in and out", report["copies"], 2)
        for counter in "tasks", "copied_bytes":
            checks.equal("%s: %s" % (what, counter), report[counter], counts[counter])
        if level in ("block", "cluster"):
            # Instances run one by one, so the number of units does not matter
            one_by_one = counts.setdefault("one by one", report["batches"])
            checks.equal(what + ": batches", report["batches"], one_by_one)
        if level == "block":
            checks.equal(what + ": barriers", report["barriers"], 1)
        if level == "cluster":
            checks.expect(what + ": cluster barriers", report["barriers"] > 1)
    return wanted


def expect_error(what, texts, call):
    try:
        call()
        checks.expect(what + ": an error", False)
    except batchtest.ToolError as error:
        for text in texts:
            checks.expect("%s: says '%s'" % (what, text), text in str(error), str(error))


def check_errors(level, blocks):
    batchtest.write_safetensors(file("params"), {
        "E": ("F32", [10, 5], [1 + i for i in range(50)]), "w": ("F32", [5], [0.9] * 5)})
    batchtest.write_safetensors(file("xs"), {
        "xs": ("F32", [3, 5], [i / 7 for i in range(15)])})
    lines = [{"i": i, "n": 9 * i, "xs": {"tensor": "xs"}} for i in (1, 0, 9, 3, 4)]
    bad = [dict(line, i=3 * line["i"]) for line in lines]
    starts = "--input-tensors=" + file("xs")
    inputs = batchtest.write_lines(file("inputs"), lines)
    program = checks.run("compile for errors, level " + level,
                         lambda: compiled("instances", "", level))

    def start(inputs, *options):
        return run(program, inputs, starts, "--blocks=%d" % blocks, *options,
                   params=file("params"))

    checks.run("lists of tensors, level " + level, lambda: start(inputs, "--check-unbatched=1e-5"))
    expect_error("an index out of range", ("instance 2: index 27 is out of range for "
                                           "parameter 'E' with 10 rows",),
                 lambda: start(batchtest.write_lines(file("bad"), bad)))
    expect_error("too many rounds",
                 ("instance 2: exceeded the limit of 30 steps, the last one in a loop "
                  "at instances", "--max-steps=N"),
                 lambda: start(inputs, "--max-steps=30"))
    expect_error("results of the other instances", ("instance 2: exceeded", "instance 4: exceeded"),
                 lambda: start(inputs, "--max-steps=30", "--partial-results"))
    if level == "cluster":
        expect_error("fewer blocks than a cluster",
                     ("invalid value '4' for --blocks; expected at least 8",),
                     lambda: start(inputs, "--blocks=4"))
        return
    expect_error("a watchdog limit of 1 ns",
                 ("executor device, single instances: block ", "waited more than",
                  " at barrier ", "in kernel 'main_", "' of a loop at instances"),
                 # In some order of threads, one thread waits long enough to read the
                 # clock.
                 lambda: [start(inputs, "--watchdog=1e-9", "--seed=%d" % seed)
                          for seed in range(8)])


def check_model(name, sizes, instances, order, levels):
    what = name if order == "auto" else "%s, order %s" % (name, order)
    inputs, params, wanted = "random:1,%d" % instances, parameters(name), None
    cpu = checks.run("compile %s for the CPU" % what,
                     lambda: compiled(name, sizes, "auto", "cpu", order))
    _, counts = checks.run(what + " on the CPU",
                           lambda: run(cpu, inputs, "--check-unbatched", params=params))
    for level in levels:
        program = checks.run("compile %s, level %s" % (what, level),
                             lambda: compiled(name, sizes, level, order=order))
        if program:
            wanted = check(what, level, program, inputs, wanted, counts, params)


for name in batchtest.sample(MODELS, options.seed, 6):
    sizes, instances = MODELS[name]
    # Models of images take a long time.
    levels = ("auto",) if name in batchtest.RESIDUAL and seeds == 1 else (
        "auto", "device", "block", "cluster", "device units", "cluster units")
    check_model(name, sizes, instances, "auto", levels)
    for order in ORDERS.get(name, ()):
        check_model(name, sizes, instances, order, ("device",))
check_errors("auto", 4)
check_errors("cluster", 8)
checks.exit()
