#!/usr/bin/env python3
"""check_memory.py: compares the memory of a mini-batch of 10 with its budget.

Models have their default sizes, ten inputs, and parameters only for the words of these inputs.
`memory_bytes` of batch-run is at most 1.25 x (inputs + parameters + live results). This script
counts the live result bytes on the trees, for models whose rows die and for one whose rows are all
outputs.
"""

import collections
import os

import batchtest

BUDGET = 1.25

checks = batchtest.Checks("memory")
scratch = batchtest.temporary()


def sample(name):
    with open(os.path.join(batchtest.INPUTS, name)) as file:
        return [line.strip() for line in file][:10]


BINARY, NARY = sample("trees.txt"), sample("nary_trees.txt")
DAGS = batchtest.dags(10)


def inputs_of(model):
    path = os.path.join(scratch, model)
    if model in batchtest.DAG:
        return batchtest.write_lines(path + ".jsonl", DAGS)
    if model in batchtest.DEP:
        return batchtest.write_lines(path + ".jsonl", batchtest.dep_trees(NARY))
    return batchtest.write_lines(
        path + ".txt", BINARY if model in batchtest.BINARY else NARY)


def inner_nodes(lines):
    """Returns (height, height of the parent or None) of each inner node."""
    found = []

    def visit(tree):
        if isinstance(tree[1], str):
            return 0
        places = [(kid, visit(kid)) for kid in tree[1:]]
        height = 1 + max(below for _, below in places)
        for kid, below in places:
            if below:
                found.append((below, height))
        return height

    for line in lines:
        height = visit(batchtest.parse_brackets(line))
        if height:
            found.append((height, None))
    return found


def live_treefc():
    """Returns the bytes of live results: the states h of all inner nodes, which are outputs."""
    return len(inner_nodes(BINARY)) * 256 * 4


def live_mvrnn():
    """Returns the bytes of live results. The parent reads the matrix of a node, and the matrix of
    a root is an output. All vectors are outputs. The logits of all nodes are computed last."""
    nodes = inner_nodes(BINARY)
    roots = sum(parent is None for _, parent in nodes)
    most, top = 0, max(height for height, _ in nodes)
    for step in range(1, top + 1):
        vectors = sum(height <= step for height, _ in nodes)
        matrices = sum(height <= step and (parent is None or step <= parent)
                       for height, parent in nodes)
        most = max(most, vectors * 64 * 4 + matrices * 64 * 64 * 4)
    leaves = sum(line.count("(") for line in BINARY) - len(nodes)
    return max(most, len(nodes) * 64 * 4 + roots * 64 * 64 * 4 +
               (len(nodes) + leaves) * 64)


def live_dagrnn():
    """Returns the bytes of live results. A node's task reads the product of the node's word. The
    result of the task is an output."""
    levels, nodes = collections.Counter(), 0
    for dag in DAGS:
        depth = []
        for node in dag["nodes"]:
            depth.append(1 + max([depth[kid["ref"]] for kid in node[2]],
                                 default=0))
        levels.update(depth)
        nodes += len(depth)
    return (nodes + max(levels.values())) * 256 * 4


LIVE = {"treefc": live_treefc, "mvrnn": live_mvrnn, "dagrnn": live_dagrnn}

for model in batchtest.ALL:
    program = checks.run("compile " + model, lambda: batchtest.compile_model(
        batchtest.model(model), os.path.join(scratch, model + ".so")))
    found = program and checks.run("run " + model, lambda: batchtest.run_model(
        program, inputs_of(model), check=False))
    if not found:
        continue
    again = checks.run("check " + model, lambda: batchtest.run_model(
        program, inputs_of(model), "--nodes-per-worker=50", threads=2))
    checks.expect(model + ": rows that are used again hold what they should",
                  again and again["max_relative_error"] == 0)
    bytes_of = found["memory_bytes"]
    total = bytes_of.pop("total")
    live = bytes_of.pop("live_results")
    checks.equal(model + ": the parts are the whole", sum(bytes_of.values()),
                 total)
    checks.expect(model + ": live results have room", live <= bytes_of["results"])
    if model in LIVE:
        checks.equal(model + ": live results", live, LIVE[model]())
    share = total / (bytes_of["inputs"] + bytes_of["parameters"] + live)
    checks.expect("%s: %.3f of %.2f" % (model, share, BUDGET), share <= BUDGET)
checks.exit()
