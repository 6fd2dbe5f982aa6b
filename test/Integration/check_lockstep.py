#!/usr/bin/env python3
"""check_lockstep.py [--long]: tests programs in lock step and by masks.

Results are those of unbatched code bit for bit, on 1 to 4096 lanes, with each choice of
the lanes that run together. No lane waits longer than --patience permits. Without the
limit, lanes would. An instance that reaches a limit is an error that names the instance,
the block and the option. The other instances have their results if these are requested.
Each optimization of stacks removes counted traffic.
"""

import argparse
import itertools
import math
import os
import random
import subprocess

import batchtest
import random_recursions

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--long", action="store_true",
                    help="test all combinations of options, not only some")
long = parser.parse_args().long
checks = batchtest.Checks("lock step")
file = batchtest.temporary_paths()
generator = random.Random(16)
SOURCES = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs")


def compiled(source, name, *options):
    return checks.run("compile " + name, lambda: batchtest.compile_model(
        source, file(name + ".so"), None, *options))


# --- lanes ------------------------------------------------------------------

LANES = (1, 2, 7, 64, 1024, 4096)
CHOICES = [list(options) for options in itertools.product(
    ["--block-choice=" + choice for choice in ("work", "program", "most", "learned")],
    ("--mask-from=0", "--mask-from=0.5", "--mask-from=2"),
    ("--threads=1", "--threads=2"))]


def check_grid(name, source, sizes, make):
    """Compares runs on several numbers of lanes and instances with unbatched runs. `make(count)`
    returns lines of inputs, tensors and parameters."""
    for strategy, samples in (("lockstep", 2), ("mask", 1)):
        program = compiled(source, "%s by %s" % (name, strategy), "-O1",
                           "--strategy=" + strategy, *sizes)
        if not program:
            continue
        wanted = {}
        for lanes in LANES:
            # More and fewer instances than lanes, including numbers that are not multiples of the
            # number of lanes
            counts = {1024: (4500,), 4096: (150, 4500)}.get(lanes, (150,))
            for count, refill in itertools.product(counts, ([], ["--refill"])):
                lines, tensors, params = make(count)
                inputs = batchtest.write_lines(file("inputs"), lines)
                batchtest.write_safetensors(file("tensors"), tensors)
                batchtest.write_safetensors(file("params"), params)

                def run(*options):
                    return batchtest.run_model(
                        program, inputs, "--input-tensors=" + file("tensors"),
                        "--outputs=" + file("outputs"), *options,
                        params=file("params"), check=False)

                if count not in wanted:
                    run("--unbatched")
                    wanted[count] = batchtest.contents(file("outputs"))
                for choice in CHOICES if long else generator.sample(CHOICES, samples):
                    what = "%s by %s, %d instances on %d lanes, %s" % (
                        name, strategy, count, lanes, " ".join(refill + choice))
                    report = checks.run(what, lambda: run(
                        "--batch=%d" % lanes, *refill, *choice))
                    if report:
                        checks.expect(what + ": the same bits",
                                      batchtest.contents(file("outputs")) == wanted[count])
                        full = count // lanes * lanes in (0, count) or bool(refill)
                        checks.expect(
                            what + ": the lanes of the last mini-batch",
                            report["lanes"] == (min(lanes, count) if full
                                                else count % lanes), report["lanes"])


def check_emulated(name, source, sizes, make):
    """Checks results of the emulator with a tolerance, because GPUs add in a different order.
    check_lanes.py compares bits."""
    program = compiled(source, name + " on the emulator", "--strategy=lockstep",
                       "--device=emulator", *sizes)
    lines, tensors, params = make(12)
    inputs = batchtest.write_lines(file("inputs"), lines)
    batchtest.write_safetensors(file("tensors"), tensors)
    batchtest.write_safetensors(file("params"), params)
    for options in ["--blocks=1"], ["--blocks=2", "--batch=5", "--refill"]:
        if program:
            checks.run("%s on the emulator, %s" % (name, " ".join(options)),
                       lambda: batchtest.run_model(
                           program, inputs, "--input-tensors=" + file("tensors"),
                           "--check-unbatched=1e-5", *options,
                           params=file("params"), check=False))


def check_lanes():
    def fib(count):
        numbers = random.Random(count)
        return [{"n": numbers.randrange(9)} for _ in range(count)], {}, {}

    def recursion(count):
        numbers = random.Random(count)
        lines = [{"which": i % 3, "n": numbers.randrange(5), "a": numbers.randrange(99),
                  "x": {"tensor": "x%d" % (i % 50)}} for i in range(count)]
        tensors = {"x%d" % i: ("F32", [4], [numbers.uniform(-1, 1) for _ in range(4)])
                   for i in range(50)}
        params = {name: ("F32", shape, [numbers.uniform(-1, 1)
                                        for _ in range(math.prod(shape))])
                  for name, shape in (("w", [4]), ("t", [4, 4]))}
        return lines, tensors, params

    def gauss(count):
        numbers = random.Random(count)
        lines = [{"seed": 1, "chain": i, "q0": {"tensor": "q%d" % (i % 50)}}
                 for i in range(count)]
        tensors = {"q%d" % i: ("F64", [3], [numbers.gauss(0, 1) for _ in range(3)])
                   for i in range(50)}
        return lines, tensors, {"prec": ("F64", [3, 3], [
            2, -1, 0, -1, 2, -1, 0, -1, 2])}

    with open(file("recursion.mlir"), "w") as source:
        source.write(random_recursions.module(random.Random("lanes"), 3))
    for program in (("fib", batchtest.model("fib"), [], fib),
                    ("a recursion", file("recursion.mlir"), [], recursion),
                    ("nuts_gauss", batchtest.model("nuts_gauss"), ["--size=D=3", "--size=N=2"],
                     gauss)):
        check_grid(*program)
        check_emulated(*program)


# --- waiting ----------------------------------------------------------------

def rounds(name, *options):
    return compiled(os.path.join(SOURCES, "rounds.mlir"), name,
                    "--strategy=lockstep", *options)


def check_waiting(device):
    """Checks a run in which one instance waits for a block of high cost, and the other instances
    wait for blocks of low cost."""
    program = rounds("rounds for " + device, "--device=" + device)
    if not program:
        return
    inputs = batchtest.write_lines(
        file("waiting.jsonl"), [{"low": 0, "high": 4}] +
        [{"low": 20, "high": 0} for _ in range(24)])
    patience, found = 12, []
    choices = ["work", "program", "most"] + ["learned"] * (device == "cpu")
    for choice in choices:
        waits = {}
        for steps in (patience, 10**9):
            what = "%s, %s, patience %d" % (device, choice, steps)
            report = checks.run(what, lambda: batchtest.run_model(
                program, inputs, "--block-choice=" + choice, "--refill", "--batch=4",
                "--patience=%d" % steps, "--outputs=" + file("outputs"),
                *(["--blocks=1"] if device == "emulator" else []), check=False))
            if not report:
                return
            waits[steps] = report["longest_wait"]
            found.append(batchtest.contents(file("outputs")))
        bound = patience + len(report["blocks"]) - 1
        what = "%s, %s: a lane waits " % (device, choice)
        checks.expect(what + "no longer than is allowed",
                      0 < waits[patience] <= bound, (waits, bound))
        checks.expect(what + "longer with more patience",
                      waits[10**9] > bound, (waits, bound))
    checks.expect(device + ": waiting changes no bit", len(set(found)) == 1)


# --- limits -----------------------------------------------------------------

def run_on_limits(program, inputs, *options):
    """Runs batch-run, which must end with exit code 1. Returns its error, and its outputs or
    None."""
    output = file("limits.safetensors")
    if os.path.exists(output):
        os.remove(output)
    done = subprocess.run(
        [batchtest.tool("batch-run"), program, "--inputs=" + inputs,
         "--params=random:1", "--outputs=" + output, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    checks.equal("exit code", done.returncode, 1)
    return (done.stderr.decode(),
            batchtest.read_safetensors(output) if os.path.exists(output) else None)


def check_limit(what, program, lines, bad, good, errors, limit, *options):
    """Checks that the instances `bad` run into `limit`, and that no instance does if `good`
    replaces them."""
    def write(values):
        return batchtest.write_lines(file("limits.jsonl"), values)

    wanted = checks.run(what + ": the others", lambda: batchtest.run_model(
        program, write([good if i in bad else line
                        for i, line in enumerate(lines)]),
        "--outputs=" + file("wanted"), check=False))
    if not wanted:
        return
    wanted = batchtest.read_safetensors(file("wanted"))
    text, results = run_on_limits(program, write(lines), limit, *options)
    checks.expect(what + ": an error", any(e in text for e in errors), text)
    checks.expect(what + ": no results", results is None)
    text, results = run_on_limits(program, write(lines), limit, "--partial-results",
                                  *options)
    for error in errors:
        checks.expect(what + ": " + error, error in text, text)
    checks.equal(what + ": one error for each", text.count("error:"), len(bad))
    if not checks.expect(what + ": partial results", results is not None):
        return
    for name, (_, shape, values) in wanted.items():
        size = len(values) // shape[0]
        for i in range(shape[0]):
            row = slice(i * size, (i + 1) * size)
            checks.expect(
                "%s: %s of instance %d" % (what, name, i),
                list(results[name][2][row]) ==
                ([0] * size if i in bad else list(values[row])))


def check_limits():
    endless = [{"low": i % 3, "high": -1 if i in (3, 9) else i % 4}
               for i in range(11)]
    deep = [{"n": 12 if i in (1, 6) else 1 + i % 3} for i in range(8)]

    def check(name, program, calls, *options):
        loop = "%s, no end, %s" % (name, " ".join(options))
        steps = "exceeded the limit of 60 blocks, the last of which was main."
        check_limit(loop, program, endless, (3, 9), {"low": 0, "high": 0},
                    ["instance %d: %s" % (i, steps) for i in (3, 9)],
                    "--max-steps=60", *options)
        text, _ = run_on_limits(program, file("limits.jsonl"), "--max-steps=60")
        checks.expect(loop + ": names options", "--max-steps=N" in text and
                      "--partial-results" in text, text)
        recursion = "%s, deep, %s" % (name, " ".join(options))
        overflow = "the recursion is deeper than 4 calls, in block fibonacci."
        check_limit(recursion, calls, deep, (1, 6), {"n": 1},
                    ["instance %d: %s" % (i, overflow) for i in (1, 6)],
                    "--stack-depth=4", *options)
        text, _ = run_on_limits(calls, file("limits.jsonl"), "--stack-depth=4")
        checks.expect(recursion + ": names options", "--stack-depth=N" in text, text)

    text, _ = run_on_limits("model.so", "inputs", "--partial-results",
                            "--check-unbatched")
    checks.expect("what has no results is not compared",
                  "--check-unbatched cannot be combined with --partial-results" in text, text)
    for strategy in ("lockstep", "mask"):
        program = compiled(os.path.join(SOURCES, "rounds.mlir"),
                           "rounds by " + strategy, "--strategy=" + strategy)
        calls = compiled(batchtest.model("fib"), "fib for limits by " + strategy,
                         "--strategy=" + strategy)
        for options in ([], ["--threads=2"], ["--batch=4", "--block-choice=learned"],
                        ["--batch=3", "--refill", "--mask-from=0"]):
            if program and calls:
                check(strategy, program, calls, *options)
        # With strategy `mask`, memory has one more frame after the frame in which an instance makes
        # too many calls.
        program = compiled(os.path.join(SOURCES, "countdown.mlir"),
                           "countdown by " + strategy, "--strategy=" + strategy)
        if program:
            error = "the recursion is deeper than 4 calls, in block main."
            check_limit("no end, " + strategy, program,
                        [{"n": n} for n in (2, -1, 0, 4, -3)], (1, 4), {"n": 1},
                        ["instance %d: %s" % (i, error) for i in (1, 4)],
                        "--stack-depth=4")
    program = rounds("rounds for emulator", "--device=emulator")
    calls = compiled(batchtest.model("fib"), "fib for emulator", "--strategy=lockstep",
                     "--device=emulator")
    if program and calls:
        check("emulator", program, calls, "--blocks=2")
        check("emulator", program, calls, "--blocks=1", "--batch=3", "--refill")


# --- stack traffic ----------------------------------------------------------

OPTIMIZATIONS = ["live-saves", "temporaries", "needed-stacks", "cached-tops",
                 "cancel-pops"]
MACHINE = ["--batch-outline-blocks", "--batch-outline-kernels", "--batch-assign-phases",
           "--batch-vectorize-kernels", "--batch-lockstep", "--cpu-workers"]


def check_traffic():
    inputs = batchtest.write_lines(file("traffic.jsonl"), [{"n": n} for n in (2, 3)])

    def traffic(on):
        def make():
            flags = ["%s=%s" % (name, str(name in on).lower())
                     for name in OPTIMIZATIONS[:4]]
            batchtest.call(
                "batch-opt", os.path.join(SOURCES, "traffic.mlir"),
                "--batch-recursion-to-stack=" + " ".join(flags),
                *(["--batch-cancel-pops"] if "cancel-pops" in on else []), *MACHINE,
                "-o", file("traffic.mlir"))
            program = batchtest.compile_model(file("traffic.mlir"), file("traffic.so"),
                                              None, "-O0", "--strategy=none")
            report = batchtest.run_model(program, inputs)
            return report["stack_bytes"], report["top_bytes"]
        what = "traffic with " + (", ".join(on) or "nothing")
        return checks.run(what, make) or (0, 0)

    all_stack, all_tops = traffic(OPTIMIZATIONS)
    none, _ = traffic([])
    for name in OPTIMIZATIONS:
        single, _ = traffic([name])
        checks.expect(name + " alone", single < none, (single, none))
        stack, tops = traffic([other for other in OPTIMIZATIONS if other != name])
        # A value that is used only within a step is not live across calls. If it is a variable, it
        # causes no stack traffic, but more accesses to the tops of stacks.
        checks.expect("without " + name,
                      tops > all_tops if name == "temporaries" else stack > all_stack,
                      (stack, all_stack, tops, all_tops))


check_lanes()
for device in ("cpu", "emulator"):
    check_waiting(device)
check_limits()
check_traffic()
checks.exit()
