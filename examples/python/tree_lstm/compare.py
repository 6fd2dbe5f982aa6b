#!/usr/bin/env python3
"""compare.py [--trees=N] [--rounds=N] [--threads=N] [FILE]: compares tree_lstm.py with the same
model in MLIR, which batch-run runs. If PyTorch is installed, also compares it with PyTorch code
that makes one call per node, and with PyTorch code that is batched by hand.

All use the same weights and trees, and their results for all nodes are compared. Times are CPU and
wall milliseconds, from trees of Python objects to NumPy arrays. They are medians over rounds in
which the programs take turns. A first round does not count. batch-run reports only wall time. It
already has its trees in memory, so this time covers inspection, scheduling and execution. The
script also prints the time of Batch on trees that it has read before. Compilation is not timed. The
exit code is 1 if a result differs by more than rounding.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../mlir/treelstm_nary.mlir")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--trees", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1,
                        help="run Batch and PyTorch on THREADS threads and cores")
    parser.add_argument("file", nargs="?")
    return parser.parse_args()


class BatchRun:
    """The model in MLIR, run by batch-run."""

    def __init__(self, trees, weights, threads, folder):
        import batch
        self.folder = folder
        run = os.path.join(os.path.dirname(batch.compiler()), "batch-run")
        names = [os.path.join(folder, name) for name in ("w.safetensors", "trees.jsonl")]
        with open(names[0], "wb") as file:
            end, header = 0, {}
            for name, array in weights.items():
                header[name] = {"dtype": "F32", "shape": array.shape,
                                "data_offsets": [end, end + array.nbytes]}
                end += array.nbytes
            text = json.dumps(header).encode()
            text += b" " * (-len(text) % 8)
            file.write(struct.pack("<Q", len(text)) + text)
            for array in weights.values():
                file.write(array.tobytes())
        with open(names[1], "w") as file:
            for tree in trees:
                print(json.dumps(listed(tree)), file=file)
        model = os.path.join(folder, "model.so")
        subprocess.run([batch.compiler(), MODEL, "-o", model], check=True)
        self.command = [run, model, "--params=" + names[0], "--inputs=" + names[1],
                        "--batch=%d" % len(trees), "--threads=%d" % threads]

    def results(self):
        """Returns h, c and logits of all nodes."""
        import numpy
        outputs = os.path.join(self.folder, "outputs.safetensors")
        subprocess.run([*self.command, "--outputs=" + outputs], check=True,
                       stdout=subprocess.DEVNULL)
        with open(outputs, "rb") as file:
            header = json.loads(file.read(*struct.unpack("<Q", file.read(8))))
            data = file.read()
        return [numpy.frombuffer(data[slice(*header[name]["data_offsets"])], "f4").reshape(
            header[name]["shape"]) for name in ("h", "c", "logits")]

    def time(self):
        """Returns the median time of ten runs of a mini-batch, in seconds."""
        found = subprocess.run([*self.command, "--bench=10", "--json"], check=True,
                               stdout=subprocess.PIPE)
        return json.loads(found.stdout)["time_us"]["total"] / 1e6


def listed(tree):
    from tree_lstm import Tree
    return ["leaf", tree.word] if isinstance(tree, Tree.Leaf) else \
        ["node", listed(tree.left), listed(tree.right)]


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    options = arguments()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import batch
    import jax
    import numpy
    import tree_lstm

    # Read the file until there are enough trees. Each reading creates new objects.
    trees = []
    while len(trees) < options.trees:
        more, words = tree_lstm.read(options.file or tree_lstm.TREES)
        trees += more[:options.trees - len(trees)]
    weights = tree_lstm.weights(len(words))
    given = jax.tree.map(jax.numpy.asarray, weights)
    mapped = batch.vmap(tree_lstm.states, (0, None), threads=options.threads)
    known = batch.forest(tree_lstm.Tree, trees)

    def fields(states):
        return [getattr(states, name).values for name in ("h", "c", "logits")]

    ways = {"Batch": lambda: fields(mapped(trees, given)),
            "the same, of known trees": lambda: fields(mapped(known, given))}
    try:
        import torch
        import torch_peer
    except ImportError:
        print("PyTorch is not installed: it is left out")
    else:
        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(False)
        peer = torch_peer.TreeLSTM(weights)
        ways["PyTorch, by level"] = lambda: peer.by_level(trees)
        ways["PyTorch, a call a node"] = lambda: peer.one_by_one(trees)

    results, times = {}, {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        mlir = BatchRun(trees, weights, options.threads, folder)
        results["batch-run, the MLIR"], of_mlir = mlir.results(), []
        for turn in range(options.rounds + 1):
            of_mlir.append(mlir.time())
            for way, run in ways.items():
                start = time.process_time(), time.perf_counter()
                results[way] = run()
                times[way].append((time.process_time() - start[0],
                                   time.perf_counter() - start[1]))

    print("%d trees of %d nodes" % (len(trees), len(results["Batch"][0])))
    differ = False
    for way, found in results.items():
        error = max(numpy.abs(a - b).max() for a, b in zip(found, results["Batch"]))
        differ |= not error < 1e-5
        cpu, wall = map(median, zip(*times[way][1:] or times[way])) if way in times else \
            (None, median(of_mlir[1:] or of_mlir))
        print("%-25s %s %8.2f ms, differs by %.1g" % (
            way, " " * 15 if cpu is None else "%8.2f CPU ms" % (cpu * 1e3), wall * 1e3,
            error))
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
