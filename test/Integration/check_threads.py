#!/usr/bin/env python3
"""check_threads.py: checks that models give the same bits on two threads as in unbatched code.
Both threads inspect, schedule and run.

The script is for a batch-run with ThreadSanitizer ($BATCH_RUN; scripts/check --long), so
sizes are small. Posteriors are skipped if their data is missing.
"""

import os

import batchtest
import posteriors
import sequences

checks = batchtest.Checks("two threads")
scratch = batchtest.temporary()


def inputs_of(model):
    """Returns a file of 24 instances."""
    if model in batchtest.BINARY + batchtest.CHILD_SUM:
        name = "trees.txt" if model in batchtest.BINARY else "nary_trees.txt"
        with open(os.path.join(batchtest.INPUTS, name)) as file:
            lines = file.read().splitlines()[:24]
    elif model in batchtest.DEP:
        with open(os.path.join(batchtest.INPUTS, "nary_trees.txt")) as file:
            lines = batchtest.dep_trees(file.read().splitlines()[:24])
    elif model in batchtest.DAG:
        lines = batchtest.dags(24)
    elif model == "fib":
        lines = [{"n": i % 13} for i in range(24)]
    elif model == "ackermann":
        lines = [{"m": i % 3, "n": i % 5} for i in range(24)]
    else:
        lines = sequences.instances(model, 24)
    return batchtest.write_lines(os.path.join(scratch, model + ".in"), lines)


def compiled(model, *options):
    return checks.run("compile " + model, lambda: batchtest.compile_model(
        batchtest.model(model), os.path.join(scratch, model + ".so"), None, *options))


def check(model, program, inputs, *options, params="random:1"):
    for batch in (3, 24):
        report = checks.run(
            "%s, batch %d" % (model, batch), lambda: batchtest.run_model(
                program, inputs, *options, params=params, batch=batch, threads=2))
        if report:
            checks.equal(model + " has two threads", report["threads"], 2)


def check_structural(model):
    source = batchtest.model(model)
    size = batchtest.small_size(source)
    options = sequences.sizes(model) if model in (
        batchtest.TYPED + batchtest.CHAINS + batchtest.LATTICES) else (
            ["--size=H=%d" % size] if size else [])
    program = compiled(model, *options)
    if program:
        check(model, program, inputs_of(model), "--nodes-per-worker=1",
              "--share-tasks=1")


def check_posterior(model):
    sizes = ["--size=N=2"]
    sizes += ["--size=D=3"] if "nuts" in model else []
    sizes += ["--size=ROWS=20"] if model == "nuts_logreg" else []
    try:
        posteriors.write_inputs(model, scratch, 24, dimensions=3, rows=20)
    except OSError:
        print("skipped: the data of %s is missing" % model)
        return
    path = os.path.join(scratch, model)
    starts = path + "_starts.safetensors"
    program = compiled(model, "--strategy=lockstep", *sizes)
    if program:
        check(model, program, path + ".jsonl",
              *(["--input-tensors=" + starts] if os.path.exists(starts) else []),
              params=path + ".safetensors")


for name in batchtest.EVERY:
    check_structural(name)
for name in batchtest.CONTROL:
    if name in posteriors.MODELS:
        check_posterior(name)
    else:
        path = inputs_of(name)
        lanes = compiled(name)
        if lanes:
            check(name, lanes, path)
checks.exit()
