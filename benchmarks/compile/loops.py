#!/usr/bin/env python3
"""Measures how compile time grows with the number of waiting loops in a function.

  loops.py [--build=build] [--calls=25,50,100,200,400] [--runs=3] [--most=2.3]
           [--output=FILE]

A helper function has a loop that waits in each round. Two programs call it. `chain`
passes the result of each call to the next one. `fork` passes the input to each call, so
that the calls wait concurrently. The script reports the median CPU seconds of --runs runs
of `batch-compile --strategy=lazy`. It compares the two largest numbers of calls if one is
twice the other. The exit status is 1 if the time grows by a factor of more than --most.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402, stores records
import lazy_programs  # noqa: E402


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--calls", default="25,50,100,200,400")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=float, default=2.3)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "compile-loops.json"))
    options = parser.parse_args()
    tool = os.path.join(options.build, "bin", "batch-compile")
    calls = [int(part) for part in options.calls.split(",")]
    results, over = [], False
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("chain", "fork"):
            times = []
            for count in calls:
                path = os.path.join(folder, "%s%d.mlir" % (kind, count))
                with open(path, "w") as file:
                    file.write(lazy_programs.many_loops(count, kind == "fork"))
                command = [tool, "--strategy=lazy", path, "-o", path + ".so"]
                times.append(statistics.median(
                    cpu_seconds(command) for _ in range(options.runs)))
                ratio = times[-1] / times[-2] if len(times) > 1 else None
                print("%5s %4d calls: %7.2f s%s" % (
                    kind, count, times[-1], ", %.2f times" % ratio if ratio else ""),
                    flush=True)
                results.append({"program": kind, "calls": count,
                                "cpu_seconds": times[-1], "ratio": ratio})
            if calls[-1:] == [2 * n for n in calls[-2:-1]]:
                over |= times[-1] > options.most * times[-2]
    batchtest.store_record(options.output, {
        **batchtest.where_and_when("compile-loops"), "results": results})
    sys.exit(1 if over else 0)


main()
