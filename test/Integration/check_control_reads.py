#!/usr/bin/env python3
"""check_control_reads.py: elements of inputs and parameters decide control.

Trip counts, branches and rows follow from elements of tensors that exist before the
run: the program stays structural. Results are what Python computes, to the bit, for
any mini-batch and number of threads, unbatched, and on the emulator; an element out
of range is an error that names the tensor, the index and the instance.
"""

import os
import random
import struct
import subprocess

import batchtest

MODEL = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs",
                     "control-reads.mlir")
COUNT, COLUMNS, ROWS_T = 64, 16, 9

checks = batchtest.Checks("elements that control reads")
scratch = batchtest.temporary()
draw = random.Random(11)


def path(name):
    return os.path.join(scratch, name)


def narrow(value):
    """As an f32."""
    return struct.unpack("f", struct.pack("f", value))[0]


def row():
    return [narrow(draw.uniform(-2, 2)) for _ in range(COLUMNS)]


T = [[draw.randrange(5) for _ in range(4)] for _ in range(ROWS_T)]
S = [[narrow(draw.random()) for _ in range(3)] for _ in range(5)]
batchtest.write_safetensors(path("parameters"), {
    "T": ("I64", [ROWS_T, 4], [v for r in T for v in r]),
    "S": ("F32", [5, 3], [v for r in S for v in r])})
PARAMETERS = "--params=" + path("parameters")


def make_steps(n):
    steps = ["stop"]
    for _ in range(n):
        steps = ["go", draw.randrange(3), [draw.randrange(3) for _ in range(3)], steps]
    return steps


def make_instance():
    length = draw.randrange(1, ROWS_T + 1)
    return {"n": draw.randrange(9), "x": [row() for _ in range(length)],
            "hops": [draw.randrange(length) for _ in range(8)],
            "order": [draw.randrange(length) for _ in range(length)],
            "flags": [[draw.randrange(2) == 1 for _ in range(2)] for _ in range(5)],
            "steps": make_steps(draw.randrange(4))}


def expected(v):
    """The results y and count."""
    y = [0.0] * COLUMNS
    for i in range(v["n"]):
        k = v["order"][v["hops"][i]]
        t = T[k][2]
        if (S[t][1] > 0.5) != v["flags"][t][0]:
            y = [narrow(a + b) for a, b in zip(y, v["x"][k])]
        else:
            y = [narrow(a * max(v["x"][k])) for a in y]
    total, steps = 0, v["steps"]
    while steps[0] == "go":
        times = steps[2][steps[1]]
        y = [value * 2**times for value in y]
        total, steps = total + times, steps[3]
    return y, total


def compare(wanted):
    outputs = batchtest.read_safetensors(path("outputs"))
    checks.equal("y", list(outputs["y"][2]), [v for y, _ in wanted for v in y])
    checks.equal("count", list(outputs["count"][2]), [n for _, n in wanted])


def run(program, batch, threads, *more):
    batchtest.call("batch-run", program, PARAMETERS, "--inputs=" + path("inputs"),
                   "--outputs=" + path("outputs"), "--batch=%d" % batch,
                   "--threads=%d" % threads, *more)
    with open(path("outputs"), "rb") as file:
        return file.read()


def check_errors(program, ways):
    """One index of one instance is wrong."""
    def go(v, which):
        v["steps"] = ["go", which, [1, 1, 1], ["stop"]]

    def hop(v, index):
        v["n"], v["hops"] = 8, [index] + v["hops"][1:]

    def count(v, number):
        v["n"] = number

    for what, change, value, wanted in [
            ("a field", go, 3, "index 3 is out of range for dimension 0 of a tensor of "
             "type tensor<3xi32>, read at control-reads.mlir:"),
            ("too many", count, 9, "index 8 is out of range for dimension 0 of a tensor "
             "of type tensor<8xi64>, read at control-reads.mlir:"),
            ("a ragged tensor", hop, -1,
             "position -1 is out of range for a list or ragged tensor of length ")]:
        wrong = [dict(v) for v in instances]
        change(wrong[5], value)
        batchtest.write_lines(path("wrong"), wrong)
        for way in ways:
            done = subprocess.run(
                [batchtest.tool("batch-run"), program, PARAMETERS,
                 "--inputs=" + path("wrong")] + way,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
            text = done.stderr.decode()
            checks.expect("%s, %s" % (what, " ".join(way) or "all at once"),
                          done.returncode == 1 and "instance 5: " + wanted in text,
                          "(exit code %d, %r)" % (done.returncode, text))


instances = [make_instance() for _ in range(COUNT)]
batchtest.write_lines(path("inputs"), instances)
references = [expected(instance) for instance in instances]
program = checks.run("compile", lambda: batchtest.compile_model(
    MODEL, path("model.so"), None, "--strategy=linearize"))
if program:
    first = checks.run("one by one", lambda: run(program, 1, 1))
    compare(references)
    for batch, threads in [(7, 1), (COUNT, 1), (1, 2), (COUNT, 2)]:
        checks.equal(
            "same bits, batches of %d on %d threads" % (batch, threads),
            checks.run("run", lambda: run(program, batch, threads,
                                          "--check-unbatched")), first)
    checks.equal("same bits unbatched",
                 checks.run("run", lambda: run(program, 7, 1, "--unbatched")), first)
    check_errors(program, [[], ["--batch=1"], ["--threads=2"], ["--unbatched"]])
emulated = checks.run("compile for the emulator", lambda: batchtest.compile_model(
    MODEL, path("emulated.so"), None, "--strategy=linearize", "--device=emulator"))
if emulated:
    one = checks.run("one by one", lambda: run(emulated, 1, 1, "--blocks=4"))
    compare(references)
    checks.equal("emulator: same bits together", checks.run(
        "run", lambda: run(emulated, COUNT, 1, "--blocks=4")), one)
    check_errors(emulated, [["--blocks=4"]])
checks.exit()
