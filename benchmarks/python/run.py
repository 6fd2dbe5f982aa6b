#!/usr/bin/env python3
"""Compares JAX functions under batch.vmap with jax.jit(jax.vmap(f)) and with single calls.

  run.py [--programs=a,b] [--lanes=1,8,64,512] [--threads=1,2] [--strategies=a,b]
         [--rounds=5] [--seconds=0.03] [--output=FILE] [--small]

Examples:

  build/python/bin/python benchmarks/python/run.py                  # all, in 4 minutes
  … run.py --programs=newton,gru --threads=1 --strategies=lockstep  # a strategy next to auto

Needs a Python with the package (scripts/python-environment makes build/python). The programs are
those of programs.py: only numbers, small and large layers, loops of equal lengths, and of lengths
that differ by a factor of two or much more. The variants are:

  batch              batch.vmap(f), also with each of --strategies
  vmap               jax.jit(jax.vmap(f))
  map                jax.jit of jax.lax.map over f: one by one, compiled

Each is a call from Python with JAX arrays, until its results are available. For each number of
threads, one process runs JAX and the package on as many cores. Results are compared with those of
vmap: "agree" is the number of instances that agree. At least 90 % must agree, since escape times
depend on the last bit. Then all variants take turns for --rounds rounds of --seconds each. Times
are medians of the rounds. Ratios are medians of the ratios per round: the time of vmap, and of the
faster of vmap and map, over ours. Below 1 is a loss.
"""

import argparse
import json
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "benchmarks", "python")
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import workers  # noqa: E402
import batchtest  # noqa: E402, on the path that workers adds
import turns  # noqa: E402

PROGRAMS = ["mandelbrot", "newton", "collatz", "ode", "rejection", "converge16", "converge64",
            "converge256", "decoder", "gru", "condition", "mlp"]
LEAST_AGREE = 0.9


def run_point(worker, program, lanes, options):
    """Returns the result of a program on a number of lanes, and the failures."""
    forms = ["batch"] + ["batch " + s for s in options.strategies] + ["vmap", "map"]
    loaded = worker.ask("load", program=program, lanes=lanes, forms=forms)
    failed = ["%s, %d lanes, %s: %s" % (program, lanes, form, why)
              for form, why in loaded["refused"].items()]
    failed += ["%s, %d lanes, %s: %.0f %% of the instances agree" % (
        program, lanes, form, 100 * share) for form, share in loaded["agree"].items()
        if share < LEAST_AGREE]
    times = {form: [] for form in forms if form in loaded["agree"]}
    for _ in range(options.rounds):
        for form, known in times.items():
            known.append(worker.ask("time", form=form, seconds=options.seconds)["us"])
    if "batch" not in times:
        return None, failed
    ours = times["batch"]
    best = [min(pair) for pair in zip(times["vmap"], times["map"])]
    return {"program": program, "lanes": lanes, "threads": worker.threads,
            "forms": {form: {"us": statistics.median(known),
                             "ratio": turns.median_ratio(known, ours),
                             "agree": loaded["agree"][form]}
                      for form, known in times.items()},
            "over_vmap": turns.median_ratio(times["vmap"], ours),
            "over_best": turns.median_ratio(best, ours)}, failed


def describe(result):
    return "%-11s %4d lanes %d thread(s)  %s  %.2fx vmap, %.2fx the best" % (
        result["program"], result["lanes"], result["threads"], "  ".join(
            "%s %.1f us" % (form, found["us"]) for form, found in result["forms"].items()),
        result["over_vmap"], result["over_best"])


def print_table(results):
    """Prints a table for the README: the time of the faster of vmap and map, divided by the
    time of batch.vmap."""
    points = sorted({(r["threads"], r["lanes"]) for r in results})
    print("\n| program | " + " | ".join("%d, %d" % point for point in points) + " |")
    print("|---" * (len(points) + 1) + "|")
    for program in dict.fromkeys(r["program"] for r in results):
        known = {(r["threads"], r["lanes"]): r for r in results if r["program"] == program}
        print("| %s | %s |" % (program, " | ".join(
            "%.2f" % known[point]["over_best"] if point in known else "-"
            for point in points)))


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--programs", type=names, default=PROGRAMS)
    parser.add_argument("--lanes", type=numbers, default=[1, 8, 64, 512])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--strategies", type=names, default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--output",
                        default=os.path.join(ROOT, "benchmarks", "results", "python.json"))
    parser.add_argument("--small", action="store_true", help="run one round of one call, for tests")
    options = parser.parse_args()
    batchtest.check_names("program", options.programs, PROGRAMS)
    if options.small:
        options.rounds, options.seconds = 1, 0
    return options


def main():
    options = parse_options()
    record = {**batchtest.where_and_when("python"), "rounds": options.rounds, "results": []}
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    failures = []
    for threads in options.threads:
        worker = workers.Peer(os.path.join(HERE, "worker.py"), "jax", threads)
        if "missing" in worker.about:
            sys.exit("this Python lacks requirements (%s); use build/python/bin/python" %
                     worker.about["missing"])
        record["jax"] = worker.about["version"]
        for program in options.programs:
            for lanes in options.lanes:
                result, failed = run_point(worker, program, lanes, options)
                failures += failed
                for text in failed:
                    print("FAILED: " + text, flush=True)
                if result:
                    record["results"].append(result)
                    print(describe(result), flush=True)
        worker.close()
    if record["results"]:
        print_table(record["results"])
    with open(options.output, "w") as file:
        json.dump(record, file, indent=1)
    print("stored in " + options.output)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
