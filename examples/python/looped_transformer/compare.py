#!/usr/bin/env python3
"""compare.py [--puzzles=N] [--rounds=N] [--threads=N] [--weights=FILE]: compares solver.py under
batch.vmap and under jax.vmap. If PyTorch is installed, also compares PyTorch code batched by hand.

All use the same weights and puzzles. The puzzles were used neither for training nor for choosing
the threshold at which the network stops, and none is a symmetric image of a training puzzle. Prints
the number of puzzles with the same digits after the same number of loops, and CPU and wall seconds.
Times are medians over rounds in which the programs take turns. A first round does not count.
Compilation is separate. The exit code is 1 if a puzzle differs.
"""

import argparse
import os
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--puzzles", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1,
                        help="run Batch, JAX and PyTorch on THREADS threads and cores")
    parser.add_argument("--weights")
    return parser.parse_args()


def main():
    options = arguments()
    # All libraries count the cores when they are imported.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    os.environ["JAX_PLATFORMS"] = "cpu"
    import batch
    import jax
    import numpy
    import solver
    import sudoku

    w = solver.load(options.weights)
    made = [sudoku.puzzle("judge %d" % i) for i in range(options.puzzles)]
    grids, solutions = (numpy.array(each, numpy.int32) for each in zip(*made))
    mapped = batch.vmap(solver.solve, (None, 0), threads=options.threads)
    vmapped = jax.jit(jax.vmap(solver.solve, (None, 0)))
    single = jax.jit(solver.solve)
    ways = {
        "Batch": lambda: mapped(w, grids),
        "jit(vmap)": lambda: jax.block_until_ready(vmapped(w, grids)),
        "jit, one by one": lambda: jax.tree.map(
            lambda *each: numpy.stack(each), *[single(w, grid) for grid in grids]),
    }
    try:
        import torch
        import torch_peer
    except ImportError:
        print("PyTorch is not installed: it is left out")
    else:
        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(False)
        peer, inputs = torch_peer.Solver(w), torch.from_numpy(grids)
        ways["PyTorch, masked"] = lambda: peer.masked(inputs)
        ways["PyTorch, compacted"] = lambda: peer.compacted(inputs)
        for size in 64, 32:
            ways["the same, %d at a time" % size] = \
                lambda size=size: peer.in_groups(size, peer.compacted, inputs)
        ways["PyTorch, one by one"] = lambda: peer.in_groups(1, peer.compacted, inputs)

    results, times = {}, {way: [] for way in ways}
    for turn in range(options.rounds + 1):
        for way, run in ways.items():
            start = time.process_time(), time.perf_counter()
            results[way] = run()
            times[way].append((time.process_time() - start[0],
                               time.perf_counter() - start[1]))

    digits, loops = (numpy.asarray(each) for each in results["Batch"])
    print("%d puzzles, %d solved, with %.1f loops; %d loops at most" % (
        len(grids), (digits == solutions).all(1).sum(), loops.mean(), loops.max()))
    differ = 0
    for way, taken in times.items():
        same = (numpy.asarray(results[way][0]) == digits).all(1) & \
            (numpy.asarray(results[way][1]) == loops)
        differ += int((~same).sum())
        cpu, wall = (sorted(values)[len(values) // 2]
                     for values in zip(*taken[1:] or taken))
        print("%-23s %7.3f CPU s %7.3f s, %d of %d the same" % (
            way, cpu, wall, same.sum(), len(grids)))
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
