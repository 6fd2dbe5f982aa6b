#!/usr/bin/env python3
"""check_counts.py: tests the exact counts of batch-run --json.

The script expects a leaf batch, an inner batch per height, and an output batch; a barrier between
two batches only if one reads the other; an executor that only runs kernels, without copies of
gathered rows; one task for a shared node; and workers that share batches only if these have enough
work.
"""

import os
import re

import batchtest
import sequences

checks = batchtest.Checks("counts")
scratch = batchtest.temporary()


def compiled(model, size=16):
    return checks.run("compile " + model, lambda: batchtest.compile_model(
        batchtest.model(model), os.path.join(scratch, model + ".so"), size))


# Ops of the executor that read a plan or control the execution
CONTROL = {"arith.constant", "uprog.plan_size", "uprog.plan_step",
           "uprog.step_kernel", "uprog.step_barrier", "uprog.step_tasks",
           "uprog.barrier", "uprog.branch", "uprog.for", "uprog.program"}


def count(model, inputs, instances, **wanted):
    """Runs the model on one mini-batch and compares the counts with expected counts. Also checks
    that the executor only runs kernels, and that results equal those of unbatched code."""
    program = compiled(model)
    found = program and checks.run("run " + model, lambda: batchtest.run_model(
        program, inputs, batch=instances))
    if not found:
        return
    checks.equal(model + ": instances", found["instances"], instances)
    code = batchtest.call("batch-opt", "--autobatch=sizes=H=16", batchtest.model(model))
    executor = re.search(r"^  uprog\.program @.*?^  }$", code, re.M | re.S)
    ops = set(re.findall(r"\b([a-z]+\.[a-z_]+) [^=]", executor[0]))
    checks.equal(model + ": what the executor does", ops - CONTROL, {"uprog.run"})
    checks.equal(model + ": largest relative error", found["max_relative_error"], 0)
    for name, value in wanted.items():
        checks.equal("%s: %s" % (model, name), found[name], value)


def trees(name):
    path = os.path.join(batchtest.INPUTS, name)
    with open(path) as file:
        parsed = [batchtest.parse_brackets(line) for line in file]
    measures = [batchtest.size_and_height(tree) for tree in parsed]
    return (path, len(parsed), sum(nodes for nodes, _ in measures),
            max(height for _, height in measures))


def inner_nodes(path):
    """Returns the numbers of inner nodes of height 1, 2 and so on."""
    counts = {}

    def height(tree):
        if isinstance(tree[1], str):
            return 0
        found = 1 + max(height(kid) for kid in tree[1:])
        counts[found] = counts.get(found, 0) + 1
        return found

    for line in open(path):
        height(batchtest.parse_brackets(line))
    return [counts[found] for found in sorted(counts)]


path, instances, nodes, height = trees("trees.txt")
# Each node has two tasks: a cell and an output layer.
count("treelstm_nary", path, instances, tasks=2 * nodes, batches=height + 2,
      barriers=height + 1)
count("treegru_nary", path, instances, tasks=2 * nodes, batches=height + 2,
      barriers=height + 1)
# A leaf is a row of the embedding: no computation and no copy.
inner = inner_nodes(path)
count("treernn", path, instances, tasks=sum(inner), batches=height, barriers=height - 1)
count("treefc", path, instances, tasks=sum(inner), batches=height, barriers=height - 1)

# Two workers share batches of at least this many tasks. One worker runs the smaller batches,
# without a barrier between two of them.
for least in (1, 3, 10, 10 ** 6):
    shared = [tasks >= least for tasks in inner]
    found = checks.run("run treefc", lambda: batchtest.run_model(
        compiled("treefc"), path, "--share-tasks=%d" % least, batch=instances,
        threads=2))
    what = "treefc, batches of %d tasks are shared: " % least
    checks.equal(what + "how many", found and found["shared_batches"], sum(shared))
    checks.equal(what + "barriers", found and found["barriers"],
                 sum(a or b for a, b in zip(shared, shared[1:])))

# If mini-batches have one tree, workers share every batch of large cells, but no batch of small
# cells.
for size, share in ((16, False), (256, True)):
    program = compiled("treefc", size)
    one, two = (checks.run("run treefc %d on %d threads" % (size, threads),
                           lambda: batchtest.run_model(program, path, batch=1,
                                                       threads=threads))
                for threads in (1, 2))
    what = "treefc %d: shared" % size
    checks.equal(what, two and two["shared_batches"],
                 two and two["batches"] * share)
    checks.equal(what + ", barriers", two and two["barriers"],
                 one and one["barriers"] * share)

# One kernel covers any number of children.
path, instances, nodes, height = trees("nary_trees.txt")
count("treelstm_cs", path, instances, tasks=nodes, batches=height + 1, barriers=height)

# A shared node is one task, or two with the hoisted product of its word. This graph has 40 nodes
# and 2^39 paths.
chain = {"nodes": [["node", 7, []]] + [
    ["node", i, [{"ref": i - 1}, {"ref": i - 1}]] for i in range(1, 40)],
    "root": 39}
path = batchtest.write_lines(os.path.join(scratch, "chain.jsonl"), [chain])
count("dagrnn", path, 1, tasks=2 * 40, batches=40 + 1, barriers=40)

# A grid's batches are its anti-diagonals.
grids = batchtest.dags(1)
path = batchtest.write_lines(os.path.join(scratch, "grid.jsonl"), grids)
count("dagrnn", path, 1, tasks=2 * 100, batches=19 + 1, barriers=19)

# The step over the padding before letters reads a constant row and parameters, so it is one task
# for any number of words.
words = [["rare", [1, 2, 3]], ["known", 4], ["rare", [5]], ["rare", [6, 7]]]
path = batchtest.write_lines(os.path.join(scratch, "spelled.jsonl"),
                             [{"tokens": words}, {"tokens": words[2:]}])
model = "bilstm_tagger_char"
program = checks.run("compile " + model, lambda: batchtest.compile_model(
    batchtest.model(model),
    os.path.join(scratch, model + ".so"), None, *sequences.sizes(model)))
for threads in (1, 2):
    dot = os.path.join(scratch, "tasks.dot")
    if program and checks.run(
            "draw the tasks of %d threads" % threads,
            lambda: batchtest.run_model(
                program, path, "--dot=" + dot, "--nodes-per-worker=1", batch=2,
                threads=threads)):
        with open(dot) as file:
            steps = file.read().count('"main_map_rare_once\\n')
        checks.equal(model + ": steps over the first padding", steps, 1)

checks.exit()
