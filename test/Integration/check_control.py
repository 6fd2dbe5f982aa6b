#!/usr/bin/env python3
"""check_control.py MODEL: tests control flow that reads tensors, one instance at a time.

Compares results of CPU/tensor-control.mlir with the same program in Python. Memory does
not grow with the rounds of a loop, and recursion that is too deep is an error.
"""

import math
import os
import random
import sys

import batchtest


def split(x, w):
    if sum(a * a for a in x) < 1:
        return [math.exp(a) for a in x[:3]] + [x[0], 2 * x[0]], 1
    a = [p * q for p, q in zip(x, w)]
    b = [p - q for p, q in zip(x, a)]
    (ya, ca), (yb, cb) = split(a, w), split(b, w)
    return [p + q for p, q in zip(ya, yb)], ca + cb


def main_function(x, rounds, w):
    v, total = x, 0
    for _ in range(rounds):
        while True:
            small = sum(a * a for a in v) <= 0.5
            v = [p * q for p, q in zip(v, w)]
            if small:
                break
        v, count = split([a + b + 0.5 for a, b in zip(v, x)], w)
        total += count
    return v, total


def main(model):
    checks = batchtest.Checks("control that reads tensors")
    folder = batchtest.temporary()
    generator = random.Random(5)

    def write(name, tensors):
        path = os.path.join(folder, name)
        batchtest.write_safetensors(path, tensors)
        return path

    w = [0.3, 0.45, 0.5, 0.6, 0.7]
    params = write("params", {"w": ("F64", [5], w)})
    tensors, expected, lines = {}, {}, []
    for i in range(12):
        x = [generator.gauss(0, 2) for _ in range(5)]
        tensors["%d.x" % i] = ("F64", [5], x)
        lines.append({"x": {"tensor": "%d.x" % i}, "rounds": i})
        y, count = main_function(x, i, w)
        expected["%d.y" % i] = ("F64", [5], y)
        expected["%d.count" % i] = ("I64", [], [count])
    starts = "--input-tensors=" + write("starts", tensors)
    expect = "--expect=%s,1e-9,1e-9" % write("expected", expected)

    program = checks.run("compile", lambda: batchtest.compile_model(
        model, os.path.join(folder, "model.so")))
    if not program:
        checks.exit()

    def run(lines, *options):
        inputs = batchtest.write_lines(os.path.join(folder, "inputs"), lines)
        return batchtest.run_model(program, inputs, "--unbatched", *options,
                                   params=params, check=False)

    checks.run("results", lambda: run(lines, starts, expect))
    few, many = (run([{"x": {"tensor": "3.x"}, "rounds": rounds}],
                     starts)["memory_bytes"]
                 for rounds in (300, 3000))
    checks.equal("memory of 300 and of 3000 rounds", few, many)

    program = checks.run("compile ackermann", lambda: batchtest.compile_model(
        batchtest.model("ackermann"), os.path.join(folder, "ackermann.so")))
    wanted = {"%d.ackermann" % n: ("I64", [], [2**(n + 3) - 3]) for n in range(8)}
    deep = [{"m": 3, "n": n} for n in range(8)]
    expect = "--expect=%s,0,0" % write("ackermann", wanted)
    checks.run("mutual recursion", lambda: run(deep, expect))
    try:
        run([{"m": 3, "n": 11}], "--stack-size=100000")
        error = "no error"
    except batchtest.ToolError as failure:
        error = str(failure)
    checks.expect("a stack that is too small is an error that names the option",
                  "--stack-size" in error, error)
    checks.exit()


main(*sys.argv[1:])
