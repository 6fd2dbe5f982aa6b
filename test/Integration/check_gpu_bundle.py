#!/usr/bin/env python3
"""check_gpu_bundle.py: the benchmarks for GPU machines, with objects for the
emulator: what make_bundle.py makes runs alone, compares results, and says what is
missing."""

import json
import os
import subprocess
import sys

import batchtest

checks = batchtest.Checks("GPU bundle")
scratch = batchtest.temporary()
MODELS = {"treelstm_nary", "dagrnn", "lstm"}
EXECUTORS = {"device", "block"}


def call(*command, **environment):
    """(exit code, output) of a Python script, and of nothing else of ours."""
    done = subprocess.run([sys.executable] + [str(part) for part in command],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **environment), cwd=scratch)
    return done.returncode, done.stdout.decode()


def make(name, *options):
    """A bundle; its run.py."""
    folder = os.path.join(scratch, name)
    tools = os.environ["BATCH_TOOLS"]
    code, text = call(
        os.path.join(batchtest.ROOT, "benchmarks", "gpu", "make_bundle.py"),
        "--build=" + os.path.dirname(tools), "--tools=" + tools,
        "--output=" + folder, "--executors=" + ",".join(sorted(EXECUTORS)),
        *options)
    checks.expect("a bundle is made: " + name, code == 0 and " in all" in text,
                  text)
    return os.path.join(folder, "run.py")


bundle = make("emulated", "--device=emulator",
              "--models=" + ",".join(sorted(MODELS)))
try:
    import torch  # noqa: F401
    peers = {"recursive", "levels"}
except ImportError:
    peers = set()
flags = ["--quick", "--torch-device=cpu", "--runs=1", "--batches=3"]

code, text = call(bundle, "--device=emulator", *flags)
checks.expect("it runs", code == 0, text)
checks.expect("without PyTorch it says so", bool(peers) or "skipped: the peers "
              "(PyTorch" in text, text)
with open(os.path.join(scratch, "results.json")) as file:
    record = json.load(file)
checks.equal("its models", {result["model"] for result in record["results"]},
             MODELS)
for result in record["results"]:
    name = result["model"]
    checks.equal(name + ": executors", set(result["ours"]), EXECUTORS)
    for executor, found in result["ours"].items():
        checks.expect("%s: %s is compared" % (name, executor),
                      0 <= found["error"] <= 1e-4)
        checks.equal("%s: launches of %s" % (name, executor),
                     found["counts"]["launches"], 1)
        checks.expect("%s: %s is timed" % (name, executor),
                      found["median_us"]["kernels"] > 0)
    if name != "lstm":
        checks.equal(name + ": peers", set(result["peers"]), peers)
checks.equal("barriers", [(each["executor"], each["blocks"])
                          for each in record["barriers"]],
             [("block", 1)] + [("device", count) for count in (1, 2, 4, 8)])
with open(os.path.join(scratch, "results.svg")) as file:
    checks.expect("it draws", file.read().endswith("</svg>\n"))

code, text = call(bundle, "--models=treelstm_nary", "--parts=models", "--add",
                  "--tolerance=1e-12", "--no-peers", *flags)
checks.expect("results beyond the tolerance are an error", code == 1 and
              "FAILED: batch-run: error: batched differs" in text, text)
with open(os.path.join(scratch, "results.json")) as file:
    checks.equal("--add keeps what was there", len(json.load(file)["results"]),
                 len(record["results"]))

# The sanitizer's place is taken by a script that runs what it is given.
fake = os.path.join(scratch, "bin", "compute-sanitizer")
os.mkdir(os.path.dirname(fake))
with open(fake, "w") as file:
    file.write('#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\n'
               'exec "$@"\n')
os.chmod(fake, 0o755)
path = os.path.dirname(fake) + os.pathsep + os.environ["PATH"]
code, text = call(bundle, "--sanitize", "--models=lstm", PATH=path)
checks.expect("it runs under a sanitizer", code == 0 and
              text.count(" ok\n") == 3 * len(EXECUTORS), text)
code, text = call(bundle, "--sanitize", "--models=lstm", "--tolerance=1e-12",
                  PATH=path)
checks.expect("what fails there is an error", code == 1 and
              text.count("FAILED") == 3 * len(EXECUTORS), text)
code, text = call(bundle, "--sanitize", PATH="/nowhere")
checks.expect("without a sanitizer it says so", code == 1 and
              "missing: compute-sanitizer" in text, text)

code, text = call(bundle, "--device=cuda")
checks.expect("objects are for one device", code != 0 and
              "--device=emulator; make one with" in text, text)
bundle = make("cuda", "--models=treernn", "--sizes=16", "--instances=2")
code, text = call(bundle, CUDA_VISIBLE_DEVICES="")
checks.expect("without a GPU it says so", code == 1 and
              "missing: a device that runs the objects" in text, text)
checks.exit()
