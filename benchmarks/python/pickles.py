#!/usr/bin/env python3
"""Measures what pickles cost: a task in a process that knows its function, and a worker's start.

  pickles.py [--rounds=15] [--output=FILE]

Needs a Python with the package and cloudpickle: build/python/bin/python benchmarks/python/pickles.py.
The functions are those of a program (__main__), so pickles contain their code. A task pickles a
function, unpickles it and calls it; its overhead is its time less that of the call. A worker is a
new process without a compiler and with an empty cache, which has imported the package and, for
batch.vmap, JAX. Its start is the time to unpickle a function and to call it once. Numbers are
milliseconds: medians of the rounds, in which calls and tasks take turns. The CPU time of a start
excludes the wait for a core on a busy machine.
"""

import argparse
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
os.environ.setdefault("JAX_PLATFORMS", "cpu")

WORKER = """
import pickle, sys, time
import batch
if sys.argv[1] == "jax":
    import jax.numpy, batch.transforms.function
    jax.numpy.zeros(1).block_until_ready()
data, arguments = pickle.load(sys.stdin.buffer)
begin, cpu = time.perf_counter(), time.process_time()
pickle.loads(data)(*arguments)
print((time.perf_counter() - begin) * 1e3, (time.process_time() - cpu) * 1e3)
"""
MODEL = b"""
func.func @main(%x: tensor<3xf32> {batch.name = "x"}, %W: tensor<3x3xf32> {batch.shared = "W"})
    -> (tensor<3xf32> {batch.name = "y"}) attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %p = linalg.vecmat ins(%x, %W : tensor<3xf32>, tensor<3x3xf32>)
                     outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %s = math.sin %p : tensor<3xf32>
  return %s : tensor<3xf32>
}
"""


def functions():
    """Returns (function, arguments, module that a worker imports) by name."""
    import batch
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    @batch.adt
    class Tree:
        class Leaf:
            word: int

        class Node:
            left: "Tree"
            right: "Tree"

    @batch.function
    def encode(tree: Tree, words):
        match tree:
            case Tree.Leaf(word):
                return words[word]
            case Tree.Node(left, right):
                return jnp.tanh(encode(left, words) + encode(right, words))

    def halve(x):
        return lax.while_loop(lambda x: x > 1, lambda x: x / 2, x)

    tree = ("Node", ("Leaf", 1), ("Node", ("Leaf", 2), ("Leaf", 0)))
    return {
        "batch.vmap of a loop": (batch.vmap(halve, threads=1), [np.ones(8, np.float32)], "jax"),
        "batch.vmap of a @batch.function": (
            batch.vmap(encode, in_axes=(0, None), threads=1),
            [[tree] * 8, jnp.ones((3, 64))], "jax"),
        "bound model": (batch.compile(MODEL).bind({"W": np.ones((3, 3), np.float32)}, threads=1),
                        [np.ones((8, 3), np.float32)], "none")}


def milliseconds(call):
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e3


def measure(f, arguments, module, rounds):
    f(*arguments)
    data = pickle.dumps(f)
    arrived = pickle.loads(data)
    arrived(*arguments)
    calls, tasks, starts = [], [], []
    for _ in range(rounds):
        calls.append(milliseconds(lambda: arrived(*arguments)))
        tasks.append(milliseconds(lambda: pickle.loads(pickle.dumps(f))(*arguments)))
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(rounds):
            done = subprocess.run(
                [sys.executable, "-P", "-c", WORKER, module], input=pickle.dumps((data, arguments)),
                stdout=subprocess.PIPE, check=True, env={
                    **os.environ, "BATCH_COMPILE": "/nonexistent", "XDG_CACHE_HOME": cache})
            starts.append([float(number) for number in done.stdout.split()])
    wall, cpu = zip(*starts)
    return {"bytes": len(data), "call": statistics.median(calls),
            "overhead": statistics.median(t - c for t, c in zip(tasks, calls)),
            "start": statistics.median(wall), "fastest start": min(wall),
            "start CPU": statistics.median(cpu)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--output", help="write the numbers to this file as JSON")
    options = parser.parse_args()
    found = {}
    for name, given in functions().items():
        found[name] = measure(*given, options.rounds)
        print(f"{name:32}" + ", ".join(f"{what} {number:.3f}" if what != "bytes" else
                                       f"{number} bytes"
                                       for what, number in found[name].items()), flush=True)
    if options.output:
        with open(options.output, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
