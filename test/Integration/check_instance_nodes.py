#!/usr/bin/env python3
"""check_instance_nodes.py: tests data structures with strategy `replicate`.

The script runs models of trees and graphs, for single instances and several, in batches of 1, 7 and
64, on one to three workers. Results, including those for each node, have the bits of the unbatched
code. Inputs: a tree of one leaf, a tree that is a list of 10,000 inner nodes, shared nodes, several
types of nodes, lists of children. The script also checks counts and errors.
"""

import json
import os
import random
import subprocess

import batchtest

checks = batchtest.Checks("data structures of single instances")
file = batchtest.temporary_paths()

WAYS = (("auto", 1, 1), ("auto", 7, 2), ("auto", 64, 3), ("device", 7, 2),
        ("device", 64, 3), ("block", 64, 2))

# The graph model in nodes.mlir
GRAPH = batchtest.contents(os.path.join(
    batchtest.ROOT, "test", "Integration", "GPU", "Inputs", "nodes.mlir")).decode()

# A model with functions that call each other, for nodes of two types, and with a third data type
MUTUAL = """
!vec = tensor<200xf32>
!mat = tensor<200x200xf32>
!emb = tensor<?x200xf32>
!tree = !rec.adt<@Tree>
!kids = !rec.adt<@Kids>
rec.adt @Tree kind tree {
  rec.variant @tree(word: index, kids: !kids)
}
rec.adt @Kids kind tree {
  rec.variant @none()
  rec.variant @more(first: !tree, rest: !kids, skip: index)
}
rec.adt @Options {
  rec.variant @plain()
  rec.variant @add(word: index)
}
func.func private @tree(%t: !tree, %E: !emb, %W: !mat) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @tree(%word: index, %kids: !kids) {
    %k = func.call @kids(%kids, %E, %W) : (!kids, !emb, !mat) -> !vec
    %x = tensor.extract_slice %E[%word, 0] [1, 200] [1, 1] : !emb to !vec
    %p = linalg.matvec ins(%W, %k : !mat, !vec) outs(%x : !vec) -> !vec
    %y = math.tanh %p : !vec
    rec.yield %y : !vec
  } }
  return %h : !vec
}
func.func private @kids(%k: !kids, %E: !emb, %W: !mat) -> !vec {
  %h = rec.match %k : !kids -> !vec {
  case @none() {
    %zero = arith.constant dense<0.25> : !vec
    rec.yield %zero : !vec
  }
  case @more(%first: !tree, %rest: !kids, %skip: index) {
    %a = func.call @tree(%first, %E, %W) : (!tree, !emb, !mat) -> !vec
    %b = func.call @kids(%rest, %E, %W) : (!kids, !emb, !mat) -> !vec
    %c = arith.addf %a, %b : !vec
    rec.yield %c : !vec
  } }
  return %h : !vec
}
func.func @main(%t: !tree {batch.name = "t"}, %o: !rec.adt<@Options> {batch.name = "o"},
                %E: !emb {batch.shared = "E"}, %W: !mat {batch.shared = "W"})
    -> (!vec {batch.name = "y"}) attributes {batch.entry} {
  %h = func.call @tree(%t, %E, %W) : (!tree, !emb, !mat) -> !vec
  %y = rec.match %o : !rec.adt<@Options> -> !vec {
  case @plain() {
    rec.yield %h : !vec
  }
  case @add(%word: index) {
    %x = tensor.extract_slice %E[%word, 0] [1, 200] [1, 1] : !emb to !vec
    %s = arith.addf %h, %x : !vec
    rec.yield %s : !vec
  } }
  return %y : !vec
}
"""


def compiled(name, level, text=None, *options):
    path = batchtest.write_lines(file(name + ".mlir"), [text]) if text else \
        batchtest.model(name)
    return checks.run("compile %s, level %s" % (name, level), lambda:
                      batchtest.compile_model(path, file("%s-%s.so" % (name, level)), None,
                                              "--strategy=replicate", "--level=" + level,
                                              *options))


def check_bits(name, inputs, *options, text=None, ways=WAYS):
    """Checks that each way to run a batch gives the bits of the unbatched code."""
    programs = {}
    for level, batch, threads in ways:
        if level not in programs:
            programs[level] = compiled(name, level, text, *options)
        if programs[level]:
            checks.run("%s, level %s, batch %d, %d threads" % (
                name, level, batch, threads), lambda: batchtest.run_model(
                    programs[level], inputs, batch=batch, threads=threads))


def tree(size, pick):
    """Returns a random binary tree with `size` leaves."""
    nodes, open_nodes = [], []
    for _ in range(size):
        nodes.append(["leaf", pick(range(50))])
        open_nodes.append(len(nodes) - 1)
        while len(open_nodes) > 1 and pick((True, False)):
            right, left = open_nodes.pop(), open_nodes.pop()
            nodes.append(["node", {"ref": left}, {"ref": right}])
            open_nodes.append(len(nodes) - 1)
    while len(open_nodes) > 1:
        right, left = open_nodes.pop(), open_nodes.pop()
        nodes.append(["node", {"ref": left}, {"ref": right}])
        open_nodes.append(len(nodes) - 1)
    return {"nodes": nodes, "root": open_nodes[0]}


def deep(size, right):
    """Returns a tree that is a list of nodes to the left or to the right."""
    nodes, last = [["leaf", 7]], 0
    for i in range(size):
        nodes.append(["leaf", i % 50])
        parts = [{"ref": last}, {"ref": len(nodes) - 1}]
        nodes.append(["node"] + (parts[::-1] if right else parts))
        last = len(nodes) - 1
    return {"nodes": nodes, "root": last}


def lines(name, instances):
    return batchtest.write_lines(file(name), [json.dumps(i) for i in instances])


def graph(size, pick):
    """Returns a random graph with nodes of all kinds, most of them shared."""
    nodes = [["given", [pick((-2, -1, 0.5, 1, 2))] * 200], ["start"]]
    for _ in range(size):
        def part():
            return {"ref": pick(range(max(0, len(nodes) - 4), len(nodes)))}
        nodes.append(pick((
            ["pair", part(), part(), pick((0.25, 0.75))],
            ["many", [part() for _ in range(pick((0, 1, 3)))], pick((2, 100))],
            ["given", [pick((-1, 0.25, 1))] * 200])))
    return {"nodes": nodes, "root": len(nodes) - 1}


def kids(depth, pick):
    """Returns a random value of @Kids in MUTUAL: children of a node, and their descendants."""
    value = ["none"]
    for _ in range(pick((0, 1, 3)) if depth else 0):
        value = ["more", ["tree", pick(range(50)), kids(depth - 1, pick)], value,
                 pick((0, 5))]
    return value


def fails(what, text, *command):
    done = subprocess.run([batchtest.tool(command[0]), *command[1:]],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    error = done.stderr.decode()
    checks.expect(what, done.returncode == 1 and text in error,
                  "exit code %d: %s" % (done.returncode, error))


def check_counts():
    """Checks counts: one launch, a task for each inner node, at most one barrier for each task and
    one before them, and no copied bytes."""
    program = compiled("rae", "device", None, "--size=H=64")
    full = {"nodes": [["leaf", 1]] * 8 + [["node", {"ref": 2 * i}, {"ref": 2 * i + 1}]
                                          for i in range(7)], "root": 14}
    report = program and checks.run("counts", lambda: batchtest.run_model(
        program, lines("full", [full]), threads=2))
    if report:
        checks.equal("tasks", report["tasks"], 7)
        checks.expect("at most a barrier for each kernel, and one before",
                      report["barriers"] <= 8, report["barriers"])
        checks.equal("launches", report["launches"], 1)
        checks.equal("copied bytes", report["copied_bytes"], 0)


def check_errors():
    program = compiled("treefc", "auto", None, "--size=H=16")
    bad = [tree(3, random.Random(1).choice) for _ in range(3)]
    bad[1]["nodes"][0] = ["leaf", 1000]
    for threads in (1, 2) if program else ():
        params = file("params")
        batchtest.write_safetensors(params, {
            "E": ("F32", [50, 16], [0.5] * 800), "W": ("F32", [16, 32], [0.1] * 512),
            "b": ("F32", [16], [0.1] * 16)})
        fails("an index out of range, %d threads" % threads,
              "instance 1: index 1000 is out of range for parameter 'E'", "batch-run",
              program, "--inputs=" + lines("bad", bad), "--params=" + params,
              "--threads=%d" % threads)
    for model, text in (("treelstm_cs", "strategy 'replicate' does not support 'rec.map'"),
                        ("stackrnn", "strategy 'replicate' does not support 'rec.construct'"),
                        ("fib", "strategy 'replicate' does not support this call")):
        fails(model, text, "batch-compile", batchtest.model(model), "--strategy=replicate",
              "-o", file("x.so"))


def main():
    pick = random.Random(5).choice
    trees = [{"nodes": [["leaf", 3]], "root": 0}] + [
        tree(pick((2, 3, 9, 20)), pick) for _ in range(63)]
    for model in ("rae", "treernn", "treernn_w", "treefc", "treegru_nary", "mvrnn",
                  "treelstm_nary", "treelstm_nary_tai"):
        check_bits(model, lines("trees", trees), "--size=H=%d" % (
            20 if model == "mvrnn" else 72))
    check_bits("treelstm_2type", os.path.join(
        batchtest.ROOT, "examples", "data", "typed_trees.jsonl"), "--size=H=72")
    check_bits("rae", lines("deep", [deep(10000, False), deep(10000, True)]),
               "--size=H=40", ways=(("device", 1, 2), ("auto", 2, 2)))
    check_bits("graph", lines("graphs", [
        {"g": graph(pick((0, 3, 30)), pick), "x": [pick((-1, 0.5, 1))] * 200,
         "other": graph(pick((0, 3, 20)), pick)} for _ in range(64)]), text=GRAPH)
    check_bits("mutual", lines("mutual", [
        {"t": ["tree", 4, kids(3, pick)], "o": pick((["plain"], ["add", 3]))}
        for _ in range(64)]), text=MUTUAL)
    check_counts()
    check_errors()
    checks.exit()


main()
