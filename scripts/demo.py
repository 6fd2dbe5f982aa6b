#!/usr/bin/env python3
"""demo.py TOOLS [--trees=FILE] [--batch=N] [--size=N]: runs the demo of scripts/demo and
prints its table."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit("error: %s\n%s" % (" ".join(command),
                                    (done.stdout + done.stderr).decode()))
    return done.stdout.decode()


def nodes_and_height(line):
    nodes = depth = height = 0
    for letter in line:
        if letter == "(":
            nodes, depth = nodes + 1, depth + 1
            height = max(height, depth)
        elif letter == ")":
            depth -= 1
    return nodes, height - 1


def sentence(line):
    words = [part.split()[-1] for part in line.replace("(", ")").split(")")
             if len(part.split()) == 2]
    return " ".join(words)


def milliseconds(microseconds):
    return "%.2f ms" % (microseconds / 1000)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("--trees")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", type=int, default=256)
    options = parser.parse_args()
    path = options.trees
    if not path:
        path = os.path.join(ROOT, "..", "shared", "data", "gum_trees",
                            "binary.txt")
        if not os.path.exists(path):
            path = os.path.join(ROOT, "examples", "data", "trees.txt")
    with open(path) as file:
        lines = [line.strip() for line in file if line.strip()]
    # A small sample is repeated until the mini-batch is full.
    trees = [lines[i % len(lines)] for i in range(options.batch)]
    sizes = [nodes_and_height(line) for line in trees]
    threads = min(2, os.cpu_count() or 1)

    with tempfile.TemporaryDirectory() as folder:
        inputs = os.path.join(folder, "trees.txt")
        with open(inputs, "w") as file:
            file.write("\n".join(trees) + "\n")
        program = os.path.join(folder, "treelstm.so")
        print("batch-compile examples/mlir/treelstm_nary.mlir --size=H=%d" %
              options.size)
        call(os.path.join(options.tools, "batch-compile"),
             os.path.join(ROOT, "examples", "mlir", "treelstm_nary.mlir"),
             "--size=H=%d" % options.size, "-o", program)
        found = []
        for count in (1, threads) if threads > 1 else (1,):
            command = ["batch-run", "treelstm.so", "--params=random:1",
                       "--inputs=trees.txt", "--batch=%d" % options.batch,
                       "--threads=%d" % count, "--bench", "--check-unbatched",
                       "--json"]
            print(" ".join(command))
            command[0] = os.path.join(options.tools, command[0])
            command[1], command[3] = program, "--inputs=" + inputs
            found.append(json.loads(call(*command)))

    first = found[0]
    unbatched = first["unbatched_us"]
    nodes = sum(n for n, _ in sizes)
    print("""
N-ary TreeLSTM, hidden size %d, on %d parse trees (%s):
%d nodes, the highest tree has %d levels. The first sentence is
  "%s"
""" % (options.size, len(trees), os.path.basename(os.path.dirname(path)) + "/" +
       os.path.basename(path), nodes, max(h for _, h in sizes) + 1,
       sentence(trees[0])))
    rule = "-" * 72
    print("%-34s %12s %10s %12s" % ("", "latency", "speed-up", "nodes/s"))
    print(rule)

    def row(title, time):
        print("%-34s %12s %9.1fx %12s" %
              (title, milliseconds(time), unbatched / time,
               "{:,.0f}".format(nodes / time * 1e6)))

    row("one task at a time, 1 thread", unbatched)
    row("batched, 1 thread", first["time_us"]["total"])
    if len(found) > 1:
        row("batched, %d threads" % threads, found[1]["time_us"]["total"])
    print(rule)
    error = max(result["max_relative_error"] for result in found)
    print("%-34s %12d   (tasks: %d, so %.0f at a time on average)" %
          ("batches", first["batches"], first["tasks"],
           first["tasks"] / max(1, first["batches"])))
    print("%-34s %12g   %s" %
          ("largest relative error", error,
           "(bit for bit the same)" if error == 0 else ""))
    if len(found) > 1 and found[1]["time_us"]["total"] > first["time_us"]["total"]:
        print("\n%d threads were slower than one: workers wait for each other at every "
              "level,\nand need cores of their own. The load of this machine is %.1f "
              "on %d cores." % (threads, os.getloadavg()[0], os.cpu_count()))


main()
