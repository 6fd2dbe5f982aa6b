#!/usr/bin/env python3
"""Compares the speed of this source tree's Python package with that of another source tree.

  compare_trees.py OTHER [--programs=a,b] [--lanes=1,64] [--rounds=15] [--seconds=0.1]
                   [--output=FILE]

Example:

  git worktree add /tmp/other origin/main && /tmp/other/scripts/python-environment
  build/python/bin/python benchmarks/python/compare_trees.py /tmp/other

OTHER is a folder in which scripts/python-environment has made build/python. Both packages use
the batch-compile of this tree. The trees take turns for --rounds rounds, each in its own process:

  import    a new Python that runs `import batch`, and one that runs `import jax, batch`
  call      batch.vmap(f) with JAX arrays, on one core, for --seconds: the time of a call

Times are medians of the rounds. Ratios are medians of the ratios per round, this tree over the
other: above 1 is a loss.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "benchmarks", "python")
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.dont_write_bytecode = True
import workers  # noqa: E402
import batchtest  # noqa: E402, on the path that workers adds
import turns  # noqa: E402

IMPORTS = ("import batch", "import jax, batch")


def python_of(tree):
    python = os.path.join(tree, "build", "python", "bin", "python")
    if not os.path.exists(python):
        sys.exit("%s does not exist; run %s/scripts/python-environment" % (python, tree))
    return python


def in_turn(trees, rounds, measure):
    """Returns the measurements of each tree by name and round. The trees take turns
    running first."""
    times = {name: [] for name in trees}
    for k in range(rounds):
        for name in sorted(trees, reverse=k % 2 == 1):
            times[name].append(measure(trees[name]))
    return times


def seconds_of(python, statement):
    begin = time.perf_counter()
    subprocess.run([python, "-c", statement], check=True)
    return time.perf_counter() - begin


def result(what, times, scale, unit, **point):
    found = {"what": what, **point, "unit": unit,
             "this": scale * statistics.median(times["this"]),
             "other": scale * statistics.median(times["other"]),
             # The median of the ratios per round: the time of `this` over that of `other`.
             "ratio": turns.median_ratio(times["this"], times["other"])}
    print("%-30s this %8.1f %s  other %8.1f %s  ratio %.3f" % (
        " ".join([what] + ["%s=%s" % item for item in point.items()]),
        found["this"], unit, found["other"], unit, found["ratio"]), flush=True)
    return found


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", metavar="OTHER")
    parser.add_argument("--programs", type=lambda text: text.split(","),
                        default=["newton", "gru", "condition", "mlp"])
    parser.add_argument("--lanes", type=lambda text: [int(n) for n in text.split(",")],
                        default=[1, 64])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--output", help="write the record to OUTPUT as JSON")
    return parser.parse_args()


def main():
    options = parse_options()
    os.environ.setdefault("BATCH_COMPILE", os.path.join(ROOT, "build", "bin", "batch-compile"))
    pythons = {"this": python_of(ROOT), "other": python_of(options.other)}
    record = {**batchtest.where_and_when("python trees"), "rounds": options.rounds,
              "results": []}
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    for statement in IMPORTS:
        times = in_turn(pythons, options.rounds,
                        lambda python, s=statement: seconds_of(python, s))
        record["results"].append(result(statement, times, 1e3, "ms"))
    peers = {name: workers.Peer(os.path.join(HERE, "worker.py"), "jax", 1, python=python)
             for name, python in pythons.items()}
    for name, peer in peers.items():
        if "missing" in peer.about:
            sys.exit("%s lacks requirements: %s" % (pythons[name], peer.about["missing"]))
    for program in options.programs:
        for lanes in options.lanes:
            for name, peer in peers.items():
                found = peer.ask("load", program=program, lanes=lanes, forms=["batch"])
                if found["refused"]:
                    sys.exit("%s: %s: %s" % (name, program, found["refused"]))
            times = in_turn(peers, options.rounds, lambda peer: peer.ask(
                "time", form="batch", seconds=options.seconds)["us"])
            record["results"].append(
                result("call", times, 1, "us", program=program, lanes=lanes))
    for peer in peers.values():
        peer.close()
    if options.output:
        batchtest.store_record(options.output, record)


if __name__ == "__main__":
    main()
