#!/usr/bin/env python3
"""check_lazy_tools.py: tests tools for runs whose control flow waits (strategy `lazy`).

A run has a plan for each flush. Counters and traces are sums over plans. An oracle of
this script, which replays decisions from the outputs, counts the bytes of live results. A
picture has a cluster for each flush. Policies learn from the plans of the training
inputs, and make as many batches for them as learning reports. Tuned objects compute the
same bits.
"""

import collections
import json
import os
import re
import subprocess

import batchtest
from lazy_programs import ROUNDS

checks = batchtest.Checks("tools for control that waits")
path = batchtest.temporary_paths()

COUNT = 20
KS = [(7 * i) % 6 for i in range(COUNT)]
INPUTS = batchtest.write_lines(path("rounds.jsonl"), [
    json.dumps({"x": [0.01 + 0.05 * (i % 13)] * 16, "k": k}) for i, k in enumerate(KS)])
SOURCE = batchtest.write_lines(path("rounds.mlir"), [ROUNDS])


def live_rows(ks, steps):
    """Returns the maximum number of result rows that a mini-batch needs at once: at each step,
    the rows that the step reads or writes, the rows with which instances continue, and the rows
    for the head."""
    most = 0
    for t in range(max(steps)):
        ended = sum(0 < n <= t for n in steps)
        going = [k for k, n in zip(ks, steps) if n > t]
        # In the first round, instances read rows of inputs, which are not result rows.
        most = max(most, ended + len(going) * (2 if t else 1))
        for j in range(1, max(going) + 1):
            most = max(most, ended + sum(2 if k >= j else 1 for k in going))
    return max(most, len(steps) + sum(n > 0 for n in steps))


def read_trace(file):
    with open(file) as text:
        return [(event["name"], event["args"]) for event in
                json.load(text)["traceEvents"]]


def check_trace(what, events, report):
    """Checks that the steps of all flushes add up to the counters."""
    checks.equal(what + ": batches of the trace", len(events), report["batches"])
    checks.equal(what + ": flushes of the trace",
                 len({(args["mini_batch"], args["flush"]) for _, args in events}),
                 report["flushes"])
    kernels = {}
    for name, args in events:
        tasks, batches = kernels.get(name, (0, 0))
        kernels[name] = (tasks + args["tasks"], batches + 1)
    checks.equal(what + ": tasks of the trace", kernels, {
        kernel["name"]: (kernel["tasks"], kernel["batches"])
        for kernel in report["kernels"]})


def check_picture(what, file, report):
    """Checks that each task has one node in the cluster of its flush. Nodes must read only nodes of
    the same or an earlier cluster. Returns the number of edges between clusters."""
    with open(file) as text:
        picture = text.read()
    clusters, flush = {}, 0
    for line in picture.splitlines():
        flush += line.startswith("  subgraph cluster_")
        found = re.match(r"  (t\d+) \[label=", line)
        if found:
            clusters[found[1]] = flush
    checks.equal(what + ": nodes", len(clusters), report["tasks"])
    checks.equal(what + ": clusters", flush, report["plans"])
    edges = re.findall(r"  (t\d+) -> (t\d+);", picture)
    checks.expect(what + ": edges go forward",
                  all(clusters[a] <= clusters[b] and int(a[1:]) < int(b[1:])
                      for a, b in edges))
    return sum(clusters[a] < clusters[b] for a, b in edges)


def check_counts(program):
    wanted = {}
    for batch in (1, 7, COUNT):
        for threads in (1, 3):
            what = "batch %d, %d threads" % (batch, threads)
            files = {name: path(name) for name in ("outputs", "trace", "dot")}
            report = checks.run(what, lambda: batchtest.run_model(
                program, INPUTS, *["--%s=%s" % item for item in files.items()],
                batch=batch, threads=threads))
            if not report:
                continue
            check_trace(what, read_trace(files["trace"]), report)
            outputs = batchtest.read_safetensors(files["outputs"])
            steps = list(outputs["steps"][2])
            checks.equal(what + ": live results",
                         report["memory_bytes"]["live_results"], 64 * max(
                             live_rows(KS[i:i + batch], steps[i:i + batch])
                             for i in range(0, COUNT, batch)))
            # Each task reads a row.
            checks.equal(what + ": gathered rows", report["gathered_rows"],
                         report["tasks"])
            checks.expect(what + ": gathered runs",
                          0 < report["gathered_runs"] <= report["gathered_rows"])
            if batch == COUNT:
                across = check_picture(what, files["dot"], report)
                # Each round except the first reads the previous round, and the head reads the
                # last round.
                checks.equal(what + ": edges between flushes", across,
                             sum(max(n - 1, 0) + (n > 0) for n in steps))
            # Several workers record deferred tasks in a different order than one worker.
            with open(files["dot"]) as text:
                picture = sorted(re.sub(r"\bt?\d+ (?=->|@|\[)|-> t\d+|tooltip.*", "", line)
                                 for line in text)
            checks.expect(what + ": the same picture, but for names",
                          picture == wanted.setdefault(batch, picture))


def check_partial(program):
    """Checks that counters include the tasks of instances that ran into a limit."""
    inputs = batchtest.write_lines(path("endless.jsonl"), [
        json.dumps({"x": [value] * 16, "k": 0}) for value in (0.1, 1e9, 0.5)])
    trace, dot = path("trace"), path("dot")
    done = subprocess.run(
        [batchtest.tool("batch-run"), program, "--params=random:1", "--inputs=" + inputs,
         "--max-steps=20", "--partial-results", "--json", "--trace=" + trace,
         "--dot=" + dot], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = done.stderr.decode()
    if not checks.expect("partial results", done.returncode == 1 and
                         "instance 1: exceeded the limit of 20 steps" in text and
                         "instance 0" not in text and "instance 2" not in text, text):
        return
    report = json.loads(done.stdout.decode())
    check_trace("partial results", read_trace(trace), report)
    check_picture("partial results", dot, report)
    checks.expect("partial results: live results",
                  report["memory_bytes"]["live_results"] >= 2 * 64)
    # Learning stops at the limit of steps, as the run does.
    for option in ("--policy=fsm", "--policy=depth"):
        done = subprocess.run(
            [batchtest.tool("batch-run"), program, "--params=random:1",
             "--inputs=" + inputs, "--max-steps=20", option],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = done.stderr.decode()
        checks.expect("a limit with " + option, done.returncode == 1 and
                      "error: instance 1: exceeded the limit of 20 steps" in text, text)


def check_learning(name, program, inputs):
    """Checks that --learn-policy reports the actual number of batches for the training inputs in
    mini-batches of 32, 16 and 8. No policy may change any bit of the results."""
    table, out = path("table"), path("outputs")
    arguments = [program, "--params=random:1", "--inputs=" + inputs, "--limit=32"]
    done = subprocess.run([batchtest.tool("batch-run"), *arguments,
                           "--learn-policy=" + table, "--outputs=" + out],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = re.search(r"learned a policy from the first \d+ instances: (\d+) batches "
                      r"\(lower bound: (\d+)\)", done.stderr.decode())
    if not checks.expect(name + ": learning", done.returncode == 0 and found,
                         done.stderr.decode()):
        return
    said, bound = int(found[1]), int(found[2])
    wanted = batchtest.contents(out)
    sums = {}
    for option in ("policy=depth", "policy=agenda", "policy-table=" + table):
        for batch in (32, 16, 8):
            what = "%s, %s, batch %d" % (name, option.split("=")[0 if "table" in option
                                                              else 1], batch)
            report = checks.run(what, lambda: batchtest.run_model(
                program, inputs, "--" + option, "--limit=32", "--outputs=" + out,
                batch=batch, check=False))
            if not report:
                return
            checks.expect(what + ": the same bytes",
                          batchtest.contents(out) == wanted)
            checks.equal(what + ": unknown states", report["unknown_states"], 0)
            sums[option] = sums.get(option, 0) + report["batches"]
    learned = sums.pop("policy-table=" + table)
    checks.equal(name + ": batches as learning said", learned, said)
    checks.expect(name + ": %d batches, others %s, bound %d" % (learned, sums, bound),
                  bound <= learned <= min(sums.values()))


def check_tuning():
    """Checks that kernels are printed in decreasing order of time, and that tuning changes no
    bits."""
    table, outputs = path("tuned.json"), [path("outputs"), path("tuned")]
    text = checks.run("tune", lambda: batchtest.call(
        "batch-run", SOURCE, "--strategy=lazy", "--inputs=" + INPUTS, "--tune=" + table))
    if not text:
        return
    times = [float(line.split()[1]) for line in text.splitlines()[1:]
             if line.startswith("main")]
    checks.expect("tune: kernels by time", len(times) == 3 and
                  times == sorted(times, reverse=True), text)
    with open(table) as file:
        checks.expect("tune: file", json.load(file)["version"] == 1)
    with open(table, "w") as file:
        json.dump({"version": 1, "kernels": {
            "*": {"tile_rows": 3, "row_split": 2, "stage_rows": 5, "share_tasks": 3}}},
                  file)
    for out, options in ((outputs[0], []), (outputs[1], ["--tuning=" + table])):
        checks.run("tuned %s" % options, lambda: batchtest.run_model(
            SOURCE, INPUTS, "--strategy=lazy", "--outputs=" + out, *options, threads=2))
    checks.expect("tuned: the same bytes", batchtest.contents(outputs[0]) ==
                  batchtest.contents(outputs[1]))


def check_batches():
    """Checks the number of batches of the first flush, and the largest number of batches of
    any later flush. The first flush of the parser encodes the words. The experts of a mixture
    are 8 kernels, and the code that joins them and picks the next ones has 3 kernels."""
    sentences = os.path.join(batchtest.INPUTS, "sentences.jsonl")
    for model, inputs, first, most in (("stackrnn", sentences, 21, 3),
                                       ("drnn", "random:1,64", 2, 3),
                                       ("moe_top1", sentences, 1, 11)):
        trace = path(model + ".json")
        program = checks.run("compile " + model, lambda: batchtest.compile_model(
            batchtest.model(model), path(model + ".so"), 16,
            "--strategy=lazy"))
        if not program or not checks.run(model, lambda: batchtest.run_model(
                program, inputs, "--trace=" + trace, batch=64)):
            continue
        batches = collections.Counter(args["flush"] for _, args in read_trace(trace))
        checks.equal(model + ": batches of the first flush", batches.pop(0), first)
        checks.equal(model + ": the most of another", max(batches.values()), most)


def check_heads():
    """Checks that deferred tasks form one batch, for any order in which instances end. The tasks
    of all words in a structural program also form one batch."""
    for model, inputs, heads, sizes in (
            ("berxit", "random:1,16", 16, ("H=48", "HEADS=3", "D=16", "TOKENS=16", "V=40")),
            ("birnn", os.path.join(batchtest.INPUTS, "sentences.jsonl"), 143, ("H=16",))):
        program = checks.run("compile " + model, lambda: batchtest.compile_model(
            batchtest.model(model), path(model + ".so"), None,
            "--strategy=lazy", *("--size=" + size for size in sizes)))
        report = program and checks.run(model, lambda: batchtest.run_model(
            program, inputs, params="random:2", batch=64))
        if not report:
            continue
        checks.equal(model + ": batches of the head", [
            (kernel["tasks"], kernel["batches"]) for kernel in report["kernels"]
            if kernel["name"] == "main_output"], [(heads, 1)])
        if model == "berxit":
            checks.expect("berxit: instances end after different layers",
                          report["waits"] < heads * (report["flushes"] - 1), report)


rounds = checks.run("compile", lambda: batchtest.compile_model(
    SOURCE, path("rounds.so"), None, "--strategy=lazy"))
if rounds:
    check_counts(rounds)
    check_partial(rounds)
    check_learning("rounds", rounds, INPUTS)
for model, inputs in (
        ("stackrnn", os.path.join(batchtest.INPUTS, "sentences.jsonl")),
        ("nestedrnn_td", "random:1,12")):
    program = checks.run("compile " + model, lambda: batchtest.compile_model(
        batchtest.model(model), path(model + ".so"), 16))
    if program:
        check_learning(model, program, inputs)
check_batches()
check_heads()
check_tuning()
checks.exit()
