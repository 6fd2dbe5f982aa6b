#!/usr/bin/env python3
"""compare.py [--files=N] [--batch=N] [--rounds=N] [--threads=N] [--torch=N]: runs ast_encoder.py on
files of the Python standard library, with and without sharing of equal subtrees. If PyTorch is
installed, also runs the network in PyTorch, with one call per node.

Prints the number of nodes and, for each variant, the number of computed nodes and the percentage
that is saved. Also prints the CPU seconds for all files, separately for the network and for the
walk over the objects of `ast`, which merges nodes. Times are medians over rounds in which the
variants take turns. A first round does not count. PyTorch runs once, on some of the files. Parsing
and compilation are not timed. The exit code is 1 if sharing changes any bit of a result, or if a
result differs from PyTorch's by more than rounding.
"""

import argparse
import os
import random
import sys
import sysconfig
import time

LEFT_OUT = {"site-packages", "dist-packages", "__pycache__", "test", "tests", "lib2to3"}
WAYS = {"shared": "equal", "not shared": "identity"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--batch", type=int, default=25, help="run mini-batches of BATCH files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1,
                        help="run Batch and PyTorch on THREADS threads and cores")
    parser.add_argument("--torch", type=int, default=25, metavar="N",
                        help="let PyTorch read N files, which takes long")
    return parser.parse_args()


def library(count):
    """Returns at most `count` random files of the standard library, without its tests."""
    found = []
    for folder, inner, names in os.walk(sysconfig.get_path("stdlib")):
        inner[:] = sorted(set(inner) - LEFT_OUT)
        found += [os.path.join(folder, name) for name in sorted(names)
                  if name.endswith(".py")]
    return random.Random(0).sample(found, min(count, len(found)))


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    options = arguments()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import ast
    import ast_encoder
    import batch
    import jax
    import numpy

    trees = list(map(ast_encoder.parse, library(options.files)))
    parts = [trees[i:i + options.batch] for i in range(0, len(trees), options.batch)]
    network = jax.tree.map(jax.numpy.asarray, ast_encoder.weights())
    encode = batch.vmap(ast_encoder.code, (0, None), threads=options.threads)

    def run(share, times):
        found = []
        for part in parts:
            forest = batch.forest(ast_encoder.Tree, part, share=share)
            start = time.process_time()
            encode(forest, network)
            middle = time.process_time()
            # The first call has read the nodes of the forest, so this call does not read them.
            found.append(numpy.asarray(encode(forest, network)))
            taken = time.process_time() - middle
            times[0] += middle - start - taken
            times[1] += taken
        return numpy.concatenate(found)

    results, times = {}, {way: [] for way in WAYS}
    for turn in range(options.rounds + 1):
        for way, share in WAYS.items():
            times[way].append([0, 0])
            results[way] = run(share, times[way][-1])

    count = sum(1 for tree in trees for _ in ast.walk(tree))
    computed = {way: sum(computed_nodes(encode, batch.forest(
        ast_encoder.Tree, part, share=share), network) for part in parts)
        for way, share in WAYS.items()}
    print("%d files, %d nodes" % (len(trees), count))
    for way, taken in times.items():
        walk, network_time = map(median, zip(*taken[1:] or taken))
        print("%-11s %8d nodes computed, %4.1f %% saved: walk %6.2f CPU s, network %6.2f" % (
            way, computed[way], 100 - 100 * computed[way] / count, walk, network_time))
    same = (results["shared"].view("i4") == results["not shared"].view("i4")).all()
    print("the bits of all %d vectors are %s" % (len(trees), "equal" if same else
                                                 "NOT equal"))
    return int(not same or differs_from_torch(options, trees, results["shared"]))


def differs_from_torch(options, trees, wanted):
    """Returns whether the PyTorch results differ from `wanted` by more than rounding. Returns False
    if PyTorch is not installed."""
    import ast
    import ast_encoder
    import numpy
    try:
        import torch
        import torch_peer
    except ImportError:
        print("PyTorch is not installed: it is left out")
        return False
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    trees = trees[:options.torch]
    start = time.process_time()
    found = torch_peer.Encoder(ast_encoder.weights()).codes(trees)
    taken = time.process_time() - start
    error = numpy.abs(found - wanted[:len(found)]).max()
    print("PyTorch, %d files, %d nodes: %.2f CPU s, differs by %.1g" % (
        len(trees), sum(1 for tree in trees for _ in ast.walk(tree)), taken, error))
    return not error < 1e-4


def computed_nodes(encode, forest, network):
    """Returns the number of computed nodes. Each kernel has at least one task per node, and one
    kernel has exactly one. The result is therefore the smallest number of tasks."""
    return min(block["tasks"] for block in encode.explain(forest, network).blocks)


if __name__ == "__main__":
    sys.exit(main())
