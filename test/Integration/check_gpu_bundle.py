#!/usr/bin/env python3
"""check_gpu_bundle.py: tests the benchmarks for GPU machines, with objects for the
emulator. The bundle of make_bundle.py runs without this repository, compares results, and
reports missing requirements. first_hour.py ends in time, keeps its results and reports
failures."""

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
    """Returns the exit code and the output of a Python script that runs outside of this
    repository."""
    done = subprocess.run([sys.executable] + [str(part) for part in command],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **environment), cwd=scratch)
    return done.returncode, done.stdout.decode()


def make(name, *options):
    """Creates a bundle; returns its run.py."""
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


bundle = make("emulated", "--device=emulator", "--first-hour",
              "--models=" + ",".join(sorted(MODELS)))
try:
    import torch  # noqa: F401
    peers = {"recursive", "levels"}
except ImportError:
    peers = set()
flags = ["--quick", "--torch-device=cpu", "--runs=1", "--batches=3"]

with open(os.path.join(os.path.dirname(bundle), "bundle.json")) as file:
    for entry in json.load(file)["models"]:
        checks.expect(entry["model"] + ": estimates", {"1", "4"} == set(
            entry["estimate_us"]) and min(entry["estimate_us"].values()) > 0)
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
              "FAILED: batch-run: error: batched results differ from unbatched results" in text, text)
with open(os.path.join(scratch, "results.json")) as file:
    checks.equal("--add keeps what was there", len(json.load(file)["results"]),
                 len(record["results"]))

# A script replaces the sanitizer, and runs the command in its arguments.
fake = os.path.join(scratch, "bin", "compute-sanitizer")
os.mkdir(os.path.dirname(fake))
with open(fake, "w") as file:
    file.write('#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\n'
               'exec "$@"\n')
os.chmod(fake, 0o755)
path = os.path.dirname(fake) + os.pathsep + os.environ["PATH"]
first_hour = os.path.join(os.path.dirname(bundle), "first_hour.py")
cases = os.path.join(os.path.dirname(bundle), "cases")
answers = os.path.isdir(cases)  # golden cases exist


def hour(*options):
    """Returns the exit code, the output and the record of a run of first_hour.py."""
    code, text = call(first_hour, "--device=emulator", "--quick", "--output=hour",
                      *options, PATH=path)
    with open(os.path.join(scratch, "hour", "first-hour.json")) as file:
        return code, text, json.load(file)


code, text, record = hour("--parts=answers,times,sanitizer,profile")
checks.expect("a first hour", code == 0 and text.endswith("\n0 wrong\n"), text)
states = {part: [job["state"] for job in found["jobs"]]
          for part, found in record["parts"].items()}
checks.equal("all that it runs", set(sum(states.values(), [])), {"ok"})
checks.equal("tools that are not there", record["parts"]["profile"],
             {"jobs": [], "missing": "ncu", "seconds": 0.0})
if answers:
    checks.equal("each way of running programs", sorted(
        job["name"].split(", ")[1] for job in record["parts"]["answers"]["jobs"]),
        ["block", "block bf16", "block tf32", "device", "device bf16", "device tf32",
         "replicate block", "replicate cluster", "replicate device"])
    checks.equal("sanitizers", len(states["sanitizer"]), 3)
timed = [job for job in record["parts"]["times"]["jobs"] if "compared" not in job["name"]]
checks.expect("times", timed and all(job["us"]["kernels"] > 0 for job in timed))

code, text, record = hour("--parts=answers,times", "--budget=0.9")
checks.expect("a budget that is spent",
              code == 1 and "the smallest job did not succeed" in text, text)

# With an object of another model, the results are wrong.
with open(os.path.join(os.path.dirname(bundle), "bundle.json")) as file:
    manifest = json.load(file)
entry = next(each for each in manifest["models"] if each["model"] == "treelstm_nary")
wrong = next(each for each in manifest["programs"] if each["part"] == "times")
entry["objects"]["device"] = wrong["object"]
with open(os.path.join(os.path.dirname(bundle), "bundle.json"), "w") as file:
    json.dump(manifest, file)
code, text, record = hour("--parts=times")
checks.expect("other bits are wrong", code == 1 and
              "WRONG: treelstm_nary 16 f32: other bits in " in text, text)
checks.expect("so are results beyond the tolerance", "WRONG: treelstm_nary 16 f32, device, 4 "
              "compared: wrong: batch-run: error: batched results differ from unbatched results" in text,
              text)
os.remove(os.path.join(os.path.dirname(bundle), wrong["object"]))
code, text, record = hour("--parts=times")
checks.expect("what does not run is wrong", code == 1 and
              "WRONG: treelstm_nary 16 f32, device, batch 1: wrong: batch-run" in text, text)
checks.expect("the rest is kept", "ok" in [
    job["state"] for job in record["parts"]["times"]["jobs"]])

# Commands end in time, and so do all processes that they have started.
code, text = call("-c", "import sys; sys.path.insert(0, %r); import first_hour\n"
                  "print(first_hour.Watch(60).call(\n"
                  "    ['sh', '-c', 'sleep 99 & echo $!; sleep 99'], 0.5))"
                  % os.path.dirname(bundle))
checks.expect("a command is killed", text.startswith("(None, '"), text)
started = text.split("'")[1].split("\\n")[0]
checks.expect("with what it has started", code == 0 and (
    not os.path.exists("/proc/" + started) or
    " Z " in batchtest.contents("/proc/%s/stat" % started).decode()), text)

code, text = call(bundle, "--device=cuda")
checks.expect("objects are for one device", code != 0 and
              "--device=emulator; make a bundle with" in text, text)
bundle = make("cuda", "--models=treernn", "--sizes=16", "--instances=2")
code, text = call(bundle, CUDA_VISIBLE_DEVICES="")
checks.expect("without a GPU it says so", code == 1 and
              "missing: a device that runs the objects" in text, text)
checks.exit()
