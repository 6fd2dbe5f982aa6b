#!/usr/bin/env python3
"""check_sharing.py: tests workers that share the stages of a few tasks.

Results have the same bytes on 1, 2 and 3 threads, in mini-batches of 1, 7 and all
instances. Inside of kernels, workers wait only if one reads what another one has written:
the numbers of barriers are exact.
"""

import os

import batchtest
import sequences

checks = batchtest.Checks("sharing")
scratch = batchtest.temporary()
THREADS = (1, 2, 3)


def compiled(model, size=None, options=""):
    """Returns the object of a model, compiled with `options` of --autobatch if there are any."""
    source = batchtest.model(model)
    path = os.path.join(scratch, model + options)
    if options:
        batchtest.call("batch-opt", source, "-o", path + ".mlir",
                       "--autobatch=sizes=H=%d %s" % (size, options))
        source, size = path + ".mlir", None
    return batchtest.compile_model(source, path + ".so", size)


def tree_file(model, count):
    if model in batchtest.DAG:
        lines = batchtest.dags(count)
    elif model in batchtest.CHAINS + batchtest.TYPED:
        lines = sequences.instances(model, count)
    else:
        name = "trees.txt" if model in batchtest.BINARY else "nary_trees.txt"
        with open(os.path.join(batchtest.INPUTS, name)) as file:
            known = file.read().splitlines()
        lines = [known[i % len(known)] for i in range(count)]
    return batchtest.write_lines(os.path.join(scratch, model + ".in"), lines)


def check_bytes(model, program, inputs, count):
    """Checks that outputs do not depend on the mini-batch size or the number of threads when
    workers share each step."""
    wanted = None
    for batch in (1, 7, count):
        for threads in THREADS:
            what = "%s, batch %d, %d threads" % (model, batch, threads)
            out = os.path.join(scratch, "out.safetensors")
            if not checks.run(what, lambda: batchtest.run_model(
                    program, inputs, "--share-tasks=1", "--outputs=" + out,
                    batch=batch, threads=threads, check=threads == 1)):
                continue
            with open(out, "rb") as file:
                found = file.read()
            wanted = wanted or found
            checks.expect(what + ": same bytes", found == wanted)


def check_barriers(model, program, inputs, each, kernels=None):
    """Checks that on two threads, each batch of a single instance contains `each` barriers.
    `kernels` maps a report to the number of batches that contain barriers (default: all)."""
    one, two = (checks.run("%s on %d threads" % (model, threads),
                           lambda: batchtest.run_model(
                               program, inputs, "--share-tasks=1", "--limit=1",
                               batch=1, threads=threads, check=False))
                for threads in (1, 2))
    if one and two:
        count = one["batches"] if kernels is None else kernels(one)
        checks.equal(model + ": barriers inside of kernels",
                     two["barriers"] - one["barriers"], each * count)


def check(model, size, each, kernels=None, options="", count=64):
    program = checks.run("compile " + model,
                         lambda: compiled(model, size, options))
    if not program:
        return
    inputs = ("random:1,%d" % count if model.startswith("attention")
              else tree_file(model, count))
    name = (model + " " + options).strip()
    check_bytes(name, program, inputs, count)
    if each is not None:
        check_barriers(name, program, inputs, each, kernels)


# The stage that computes the gates of the children also computes a sum over the children. Only the
# last of the three stages waits: for the sum of the children's states.
check("treelstm_cs", 64, 1, lambda one: one["batches"] - 1)
check("treelstm_nary", 64, 0)
check("mvrnn", 64, None)
# An elementwise cell has no barrier, unrolled or not.
check("treernn", 64, 0)
check("treernn", 64, 0, options="unroll=2")
# Heads do not depend on each other from the queries up to the sums of values, so workers do not
# wait for each other there.
check("attention", None, 1, lambda one: one["batches"] - 1, count=12)
checks.exit()
