#!/usr/bin/env python3
"""check_gpu_choices.py [--table]: compares estimates for GPUs with times of an H200.

The times are in section `control` of benchmarks/results/gpu-first-hour-2026-11-27.json. Each
model has three batch sizes, and runs at each level of `replicate`, in lock step, or both.
`batch-replicate` and `batch-choose-executor` report the estimates behind their choices. The
number of rounds of some loops is unknown to the compiler. The script passes the number that the
stored counts imply. Each estimate must be within a factor of 2 of its time. There are 12 pairs of
a model and a batch size. For at least 11 of them, the way to run with the shortest estimate must be
the fastest, or at most 5 % slower than the fastest. --table prints all estimates and times.
"""

import argparse
import collections
import json
import os
import re

import batchtest

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--table", action="store_true", help="print all estimates and times")
arguments = parser.parse_args()
checks = batchtest.Checks("choices for GPUs")

RESULTS = os.path.join(batchtest.ROOT, "benchmarks", "results",
                       "gpu-first-hour-2026-11-27.json")
BATCHES = (1, 10, 64)
# Number of steps of an instance outside its loop, and in each round of the loop; None if the
# number of rounds is static.
STEPS = {"seq2seq": (1, 2), "lstm10": (2, 20), "attention": None}
# Number of steps of a round that each member of a set runs separately.
SINGLE_STEPS = {"lstm10": 10}
CLUSTER = 8


def timings():
    """Returns the stored results as {(model, batch): {way: job}}."""
    with open(RESULTS) as file:
        jobs = json.load(file)["parts"]["control"]["jobs"]
    found = collections.defaultdict(dict)
    for job in jobs:
        model, way, batch = re.fullmatch(r"(\w+), (.*), (batch \d+|\d+ compared)",
                                         job["name"]).groups()
        if batch.startswith("batch"):
            found[model, int(batch.split()[1])][way] = job
    return found


def remarks(model, options, *more):
    source = batchtest.model(model)
    return batchtest.call(
        "batch-opt", "--autobatch=gpu " + options, *more, source, "-o", os.devnull,
        "--remark-format=emitRemark", "--remarks-filter=batch", errors=True)


def number(text, pattern):
    found = re.search(pattern.replace("#", r"(\d+\.\d+)"), text)
    assert found, (pattern, text)
    return float(found[1])


def rounds_of(model, job, instances, set_size=0):
    """Returns the average number of rounds of an instance's loop, or, in a set, of the longest
    loop. Returns 1 if the number of rounds is static."""
    if STEPS[model] is None:
        return 1
    once, each = STEPS[model]
    counts = job["counts"]
    if not set_size:
        return max(1, round((counts["tasks"] / instances - once) / each))
    single = SINGLE_STEPS.get(model, 0)
    steps = counts["batches"] / counts["launches"] - once - single * set_size
    return max(1, round(steps / (each - single)))


def estimates(model, batch, jobs):
    """Returns {way: microseconds of a mini-batch}, from the compiler's remarks."""
    found = {}
    for way, job in jobs.items():
        instances = job["counts"]["launches"] * batch
        if way.startswith("lock step"):
            steps = job["counts"]["tasks"] / instances
            text = remarks(model, "strategy=lockstep", "--gpu-persistent")
            found[way] = steps * number(text, r"the longest step of a lane is @\S+, about # us")
            continue
        sets = batch > 1 and way == "replicate device"
        rounds = rounds_of(model, job, instances, batch if sets else 0)
        text = remarks(model, "strategy=replicate cluster-size=%d instances=%d rounds=%d"
                       % (CLUSTER, batch, rounds))
        if batch == 1:
            pattern = {"replicate block": "takes about # us on one unit",
                       "replicate device": "# us on 132 that share all steps",
                       "replicate cluster": "# us on a cluster"}[way]
        else:
            pattern = {"replicate block": "about # us with one unit each",
                       "replicate device": "# us in sets of",
                       "replicate cluster": "# us with one cluster each"}[way]
        found[way] = number(text, pattern)
    return found


total = good = 0
for (model, batch), jobs in sorted(timings().items()):
    assert batch in BATCHES
    predicted = estimates(model, batch, jobs)
    times = {way: job["us"]["kernels"] for way, job in jobs.items()}
    for way in sorted(times):
        factor = predicted[way] / times[way]
        if arguments.table:
            print("%-10s %3d %-18s estimate %8.0f us, measured %8.0f us, ratio %.2f"
                  % (model, batch, way, predicted[way], times[way], factor))
        checks.expect("%s, %d, %s: estimate %.2f times what was measured"
                     % (model, batch, way, factor), 0.5 <= factor <= 2)
    chosen = min(sorted(predicted), key=predicted.get)
    best = min(times.values())
    total += 1
    good += times[chosen] <= 1.05 * best
    if arguments.table:
        print("%-10s %3d chosen: %s, %.2f times the fastest" % (model, batch, chosen,
                                                                 times[chosen] / best))
checks.expect("%d of %d choices are the fastest or within 5 %% of it" % (good, total),
             total == 12 and good >= 11)
checks.exit()
