#!/usr/bin/env python3
"""check_references.py MODEL: compares a model with the float64 reference of
references.py.

  check_references.py --golden CASES   checks the references themselves against
                                       the golden cases in folder CASES
"""

import array
import os
import random
import sys

import batchtest
import convert_case
import references

HIDDEN, VOCABULARY = 24, 40


def nested(tensor):
    return ([list(row) for row in batchtest.rows(tensor)]
            if len(tensor[1]) == 2 else list(tensor[2]))


def random_tree(generator, leaves, binary):
    if leaves == 1:
        return ["leaf", generator.randrange(VOCABULARY)]
    count = 2 if binary else generator.randint(2, min(leaves, 5))
    cuts = [0] + sorted(generator.sample(range(1, leaves), count - 1)) + [leaves]
    kids = [random_tree(generator, b - a, binary)
            for a, b in zip(cuts, cuts[1:])]
    return ["node"] + kids if binary else ["node", kids]


def check_model(model):
    checks = batchtest.Checks(model + " against its reference")
    scratch = batchtest.temporary()
    generator = random.Random(model)
    params = {}
    for name, shape in references.shapes(model, VOCABULARY, HIDDEN).items():
        size = shape[0] * (shape[1] if len(shape) == 2 else 1)
        params[name] = ("F32", shape, array.array(
            "f", [generator.uniform(-0.4, 0.4) for _ in range(size)]))
    trees = [random_tree(generator, leaves, model.endswith("_nary"))
             for leaves in (1, 2, 3, 5, 8, 12)]
    values = {name: nested(tensor) for name, tensor in params.items()}
    expected = {}
    for number, tree in enumerate(trees):
        for name, rows in references.MODELS[model](tree, values).items():
            expected["%d.%s" % (number, name)] = (
                "F32", [len(rows), len(rows[0])], sum(rows, []))
    files = [os.path.join(scratch, name + ".safetensors")
             for name in ("params", "expected")]
    batchtest.write_safetensors(files[0], params)
    batchtest.write_safetensors(files[1], expected)
    inputs = batchtest.write_lines(os.path.join(scratch, "trees.jsonl"), trees)
    program = checks.run("compile", lambda: batchtest.compile_model(
        batchtest.model(model), os.path.join(scratch, "model.so"), HIDDEN))
    if program:
        checks.run("all nodes of %d trees" % len(trees),
                   lambda: batchtest.run_model(
                       program, inputs, "--expect=%s,1e-4,1e-5" % files[1],
                       params=files[0], batch=len(trees)))
    checks.exit()


def check_golden(cases):
    checks = batchtest.Checks("the references")
    scratch = batchtest.temporary()
    import json
    for model, function in references.MODELS.items():
        case = os.path.join(cases, model)
        _, inputs, expected = convert_case.convert(case, scratch)
        params = {name: nested(tensor) for name, tensor in
                  batchtest.read_safetensors(
                      os.path.join(case, "params.safetensors")).items()}
        wanted, worst = batchtest.read_safetensors(expected), 0.0
        with open(inputs) as file:
            for number, line in enumerate(file):
                found = function(json.loads(line)["tree"], params)
                for name, rows in found.items():
                    row_pairs = zip(rows, batchtest.rows(
                        wanted["%d.%s" % (number, name)]))
                    worst = max([worst] + [abs(a - b) for x, y in row_pairs
                                           for a, b in zip(x, y)])
        checks.expect("%s: largest difference %.1e" % (model, worst), worst < 1e-6)
    checks.exit()


if sys.argv[1] == "--golden":
    check_golden(sys.argv[2])
check_model(sys.argv[1])
