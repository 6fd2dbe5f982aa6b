#!/usr/bin/env python3
"""Measures the number of batches and the time of each policy.

  run.py [--build=build] [--data=FOLDER] [--beam=256] [--exact=20000] [--runs=21]
         [--output=FILE] [--docs[=FILE]]

Runs batch-policies, which scripts/check builds (as does cmake -S runtime), on task graphs of the
workloads of ED-Batch. The graphs come from lattices, trees and sentence lengths of a folder
(default: ../shared/data if present), or from a seed. State machines learn from 32 instances, in
mini-batches of 32, 16 and 8. The script measures 256 other instances, in mini-batches of 32 and
256, prints tables and stores JSON. --docs also writes the tables to benchmarks/policies/README.md.
"""

import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402, date and machine of records

POLICIES = ("depth", "depth, no phases", "agenda", "depth, no phases, trimmed",
            "ratio", "greedy", "fsm", "fsm base", "fsm max", "fsm sort",
            "fsm share", "fsm urgency")
MARK = "<!-- benchmarks/policies: %s -->"


def mean(value):
    return "%.0f" % value if value == int(value) else "%.1f" % value


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def tables(record):
    lines = [row("workload", "batch", "bound", "search", *POLICIES),
             row(*["---"] * (4 + len(POLICIES)))]
    for result in record["results"]:
        policies = [mean(result["policies"][name]["batches"]) for name in POLICIES]
        best = mean(result["best"]) + ("" if result["optimal"] else "?")
        lines.append(row(result["workload"], str(result["batch"]),
                         mean(result["bound"]), best, *policies))
    lines += ["", "Nanoseconds of processor time per task, medians:", "",
              row("workload", "batch", "tasks", *POLICIES),
              row(*["---"] * (3 + len(POLICIES)))]
    for result in record["results"]:
        lines.append(row(result["workload"], str(result["batch"]),
                         "%.0f" % result["tasks"],
                         *["%.0f" % result["policies"][name]["ns_per_task"]
                           for name in POLICIES]))
    encodings = [name[4:] for name in POLICIES if name.startswith("fsm ")]
    lines += ["", "Learning, seconds (trials, states; * where the table is another one than "
              "without trials):", "",
              row("workload", *encodings, "fsm"),
              row(*["---"] * (2 + len(encodings)))]
    for training in record["training"]:
        chosen = training["encodings"]["chosen"]
        lines.append(row(training["workload"], *[
            "%.2f (%d, %d)%s" % (found["seconds"], found["trials"], found["states"],
                                 "*" * found["learning_changed_it"])
            for found in (training["encodings"][name] for name in encodings)],
            "%.2f, %s%s" % (chosen["seconds"], chosen["encoding"],
                            "*" * chosen["learning_changed_it"])))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.path.join(ROOT, "..", "shared", "data")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--data", default=data if os.path.isdir(data) else "")
    parser.add_argument("--beam", type=int, default=256)
    parser.add_argument("--exact", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "policies.json"))
    parser.add_argument("--docs", nargs="?", const=os.path.join(
        ROOT, "benchmarks", "policies", "README.md"))
    options = parser.parse_args()

    program = os.path.join(options.build, "bin", "batch-policies")
    found = subprocess.run(
        [program, "--data=" + options.data, "--beam=%d" % options.beam,
         "--exact=%d" % options.exact, "--runs=%d" % options.runs],
        stdout=subprocess.PIPE, check=True)
    record = {**batchtest.where_and_when("policies"),
              "data": "files" if options.data else "generated",
              **json.loads(found.stdout)}
    text = tables(record)
    print(text)
    batchtest.store_record(options.output, record)
    print("\nstored in " + os.path.relpath(options.output))
    if options.docs:
        with open(options.docs) as file:
            page = file.read()
        before, rest = page.split(MARK % "begin")
        after = rest.split(MARK % "end")[1]
        with open(options.docs, "w") as file:
            file.write(before + MARK % "begin" + "\n" + text + "\n" + MARK % "end" +
                       after)


main()
