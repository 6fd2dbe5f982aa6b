#!/usr/bin/env python3
"""check_lanes.py [--seeds=N]: tests programs in lock step on the emulator, which reports races,
deadlocks, and accesses to missing or uninitialized memory.

The model of Fibonacci numbers has control flow only, and runs with 20 seeds of the scheduler. A
recursion over rows that do not fill a line of memory sums products in a different order from the
CPU. Variants: several blocks, more instances than lanes, an explicit block choice, masks, and
stacks without cached tops.
"""

import argparse
import os
import random
import subprocess

import batchtest

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--seeds", type=int, default=1,
                    help="run SEEDS thread orders, at least two")
seeds = max(parser.parse_args().seeds, 2)
checks = batchtest.Checks("lanes on the emulator")
scratch = batchtest.temporary()
generator = random.Random(6)
WALK = os.path.join(batchtest.ROOT, "test", "Integration", "GPU", "Inputs",
                    "walk.mlir")


def compiled(source, name, *options):
    return checks.run("compile " + name, lambda: batchtest.compile_model(
        source, os.path.join(scratch, name + ".so"), None,
        "--strategy=lockstep", *options))


def run(program, inputs, output, *options):
    return batchtest.run_model(program, inputs, *options,
                               "--outputs=" + output, check=False)


def check_runs(name, program, inputs, cpu, tolerance, variants):
    """Checks that each variant agrees with unbatched code, and bit for bit with the
    other variants. If `cpu` is given, its results must also have the same bits."""
    results = os.path.join(scratch, "results.safetensors")
    first = None
    for seed, options in variants:
        title = "%s, seed %d, %s" % (name, seed, " ".join(options))
        report = checks.run(title, lambda: run(
            program, inputs, results, "--seed=%d" % seed, tolerance, *options))
        if not report:
            continue
        checks.equal(title + ": launches", report["launches"],
                     report["mini_batches"])
        found = batchtest.read_safetensors(results)
        first = first or found
        checks.expect(title + ": the same bits", found == first)
    if cpu:
        checks.run(name + " on the CPU",
                   lambda: run(cpu, inputs, results, "--check-unbatched"))
        checks.expect(name + ": the same bits on the CPU",
                      batchtest.read_safetensors(results) == first)


def fails(name, wanted, *arguments):
    done = subprocess.run([batchtest.tool("batch-run")] + list(arguments),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode()
    checks.expect(name, done.returncode == 1 and wanted in text, "\n" + text)


def check_fib():
    inputs = batchtest.write_lines(
        os.path.join(scratch, "fib.jsonl"),
        [{"n": generator.randrange(7)} for _ in range(11)])
    model = batchtest.model("fib")
    program = compiled(model, "fib", "--device=emulator")
    cpu = compiled(model, "fib-cpu")
    variants = [(seed, ["--blocks=3", "--batch=6", "--refill"])
                for seed in range(20)]
    variants += [(1, ["--blocks=1"]), (2, ["--blocks=4"]),
                 (3, ["--blocks=2", "--batch=7", "--block-choice=most"]),
                 (4, ["--blocks=4", "--batch=3", "--refill", "--patience=1"]),
                 (5, ["--blocks=2", "--mask-from=0"])]
    check_runs("fib", program, inputs, cpu, "--check-unbatched", variants)

    few, many = (batchtest.run_model(
        program, inputs, "--blocks=2", "--stack-depth=%d" % depth, batch=6,
        check=False)["memory_bytes"]["device"] for depth in (16, 1016))
    # Each lane has two stacks of numbers and a stack of return addresses, with entries of 8
    # bytes. More memory may be reserved than the stacks need, so the check uses a range.
    checks.expect("memory of stacks on the device",
                  3 * 8 * 1000 * 6 <= many - few < 20 * 8 * 1000 * 6)

    one = batchtest.write_lines(os.path.join(scratch, "one.jsonl"),
                                [{"n": n} for n in (3, 9, 2)])
    fails("the recursion is too deep", "instance 1: the recursion is deeper than 4",
          program, "--inputs=" + one, "--stack-depth=4")
    fails("too many steps", "instance 1: exceeded the limit of 40 blocks", program,
          "--inputs=" + one, "--max-steps=40")
    # The second instance exceeds the limit. Its lane, which is not the first, takes the next
    # instance.
    more = batchtest.write_lines(os.path.join(scratch, "more.jsonl"),
                                 [{"n": n} for n in [2, 9] + 9 * [2]])
    fails("a stopped lane takes the next instance", "instance 1: exceeded the limit of 40 blocks", program,
          "--inputs=" + more, "--max-steps=40", "--blocks=1", "--refill", "--batch=2")
    partial = os.path.join(scratch, "partial.safetensors")
    fails("partial results", "instance 1: exceeded the limit of 40 blocks", program,
          "--inputs=" + one, "--max-steps=40", "--partial-results",
          "--outputs=" + partial)
    (_, _, values), = batchtest.read_safetensors(partial).values()
    checks.equal("partial results of the others", list(values), [3, 0, 2])


def check_walk():
    count = 13
    tensors, lines = {}, []
    for i in range(count):
        for name, shape, size in (("x", [20], 20), ("m", [3, 5], 15)):
            tensors["%d.%s" % (i, name)] = (
                "F32", shape, [generator.uniform(-1, 1) for _ in range(size)])
        lines.append({"n": generator.randrange(6), "x": {"tensor": "%d.x" % i},
                      "m": {"tensor": "%d.m" % i}})
    inputs = batchtest.write_lines(os.path.join(scratch, "walk.jsonl"), lines)
    file = os.path.join(scratch, "walk.safetensors")
    batchtest.write_safetensors(file, tensors)
    program = compiled(WALK, "walk", "--device=emulator")
    variants = [(seed, ["--blocks=3", "--batch=5", "--refill"])
                for seed in range(seeds)]
    variants += [(1, ["--blocks=1"]), (2, ["--blocks=2", "--mask-from=0"])]
    variants = [(seed, options + ["--input-tensors=" + file])
                for seed, options in variants]
    check_runs("walk", program, inputs, None, "--check-unbatched=1e-5", variants)

    # All saved values are stored on stacks, including those that were never written.
    naive = os.path.join(scratch, "naive.mlir")
    checks.run("walk without optimizations", lambda: batchtest.call(
        "batch-opt", WALK, "--batch-recursion-to-stack="
        "live-saves=false temporaries=false needed-stacks=false cached-tops=false",
        "-o", naive))
    program = checks.run("compile it", lambda: batchtest.compile_model(
        naive, naive + ".so", None, "--device=emulator"))
    check_runs("walk without optimizations", program, inputs, None,
               "--check-unbatched=1e-5", variants[:1] + variants[-1:])


check_fib()
check_walk()
checks.exit()
