#!/usr/bin/env python3
"""check_gpu_work.py [FOLDER...]: checks the compiler's counts of the work of kernels (remark Work).

The script runs models on the emulator, with 8 blocks and hidden size 16. Each warp of each block
stores sums of products in shared memory. The number of these sums must equal the compiler's count
for the rows of each step. Cases: f32 and tensor cores, resident weights or not, from one row to
more rows than a block has memory for.

With a FOLDER, the script also checks the average share of busy warps in a level of TreeLSTM, with
hidden size 256 and 132 blocks. LEAST_BUSY is the minimum share for the trees of GUM.
"""

import argparse
import json
import os
import statistics
import sys

import batchtest
import gpu_work

sys.path.insert(0, os.path.join(batchtest.ROOT, "benchmarks", "gpu"))
import work  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("trees", nargs="*", help="read trees from these folders, GUM's first")
arguments = parser.parse_args()
BLOCKS, SIZE = 8, 16
# Numbers of trees. The step of the roots has as many rows as there are trees.
FORESTS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 40, 150)
# Models and their options, which both batch-compile and --gpu-persistent support
CASES = [("treelstm_nary", []), ("treelstm_nary", ["shared-memory=3000"]),
         ("treelstm_nary", ["precision=bf16"]), ("treelstm_nary", ["precision=tf32"]),
         ("treegru_nary", []), ("treelstm_cs", [])]

# Minimum share of busy warps, by the number of trees in a mini-batch
LEAST_BUSY = {1: 0.25, 10: 0.6, 64: 0.9}

checks = batchtest.Checks("GPU work")
scratch = batchtest.temporary()


def forests(model):
    """Yields (name, values): trees of one inner node, and trees of several heights."""
    binary = model in batchtest.BINARY

    def node(*kids):
        return ["node", *kids] if binary else ["node", list(kids)]

    # All inner nodes have two children, so the number of tasks determines the number of rows of
    # children.
    def tree(height):
        if height == 0:
            return ["leaf", height]
        return node(tree(height - 1), ["leaf", 1] if height % 2 else tree(height - 1))

    for number in FORESTS:
        yield "%d trees" % number, [tree(1)] * number
    yield "a tall tree", [tree(5), tree(2)]


def predict(kernels, steps):
    """Returns the predicted number of sums of each warp, and entry "place" of gpu_work.count()."""
    sums = [0] * len(next(iter(kernels.values()))[0][steps[0][1]]["sums"])
    for kernel, tasks in steps:
        for counts, _ in gpu_work.stages_of(kernels[kernel], tasks, 2 * tasks):
            place = counts["place"]
            sums = [a + b for a, b in zip(sums, counts["sums"])]
    return sums, place


def check(model, options):
    source = batchtest.model(model)
    name = ", ".join([model] + options)
    path = os.path.join(scratch, "%s%d" % (model, len(os.listdir(scratch))))
    program = batchtest.compile_model(
        source, path + ".so", SIZE, "--device=emulator", "--executor=device",
        *("--" + option for option in options))
    host = batchtest.compile_model(source, path + "-cpu.so", SIZE)
    runs = []
    for what, values in forests(model):
        inputs = batchtest.write_lines("%s-%d.jsonl" % (path, len(runs)), values)
        steps, _ = gpu_work.find_steps(host, inputs, None, path + ".json")
        runs.append((what, inputs, steps[0]))
    rows = {n * tasks for _, _, steps in runs for _, tasks in steps for n in (1, 2)}
    kernels = gpu_work.count(source, SIZE, rows, " ".join(
        ["executor=device", "blocks=%d" % BLOCKS] + options))
    for what, inputs, steps in runs:
        sums, place = predict(kernels, steps)
        found = json.loads(batchtest.call("count-accesses", program, inputs, BLOCKS,
                                          *place))
        writes = [bytes // 4 for block in found["writes"] for bytes in block]
        checks.equal("%s, %s: sums of each warp" % (name, what), writes, sums)


for model, options in CASES:
    checks.run("%s %s is counted" % (model, " ".join(options)),
               lambda: check(model, options))
if arguments.trees:
    options = argparse.Namespace(
        size=256, blocks=132, precision="f32", chip="sm_90", instances=64,
        batches=list(LEAST_BUSY), trees=os.path.join(arguments.trees[0], "binary.txt"))
    model, = work.load(["treelstm_nary"], options)
    for batch, least in LEAST_BUSY.items():
        share = statistics.mean(work.shares_of(model.levels(batch)))
        checks.expect("batch %d: %.0f %% of the warps, at least %.0f %%" % (
            batch, 100 * share, 100 * least), share >= least)
else:
    print("skipped: levels of GUM's trees, which are not there")
checks.exit()
