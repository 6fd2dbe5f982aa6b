"""Reads the work of a model's kernels on a GPU from the Work remarks of batch-opt, and the
steps of mini-batches from traces. Needs only the standard library.
"""

import json
import re

import batchtest

# Special domains of a stage: one row per task, or a stage that runs once
TASKS, ONCE = -1, -2


def run_opt(source, size, options):
    """Returns the remarks of batch-opt about a model's kernels."""
    sizes = " sizes=H=%d" % size if size else ""
    return batchtest.call(
        "batch-opt", source, "--autobatch=gpu" + sizes, "--gpu-persistent=" + options,
        "--remark-format=emitRemark", "--remarks-filter=batch", "-o", "/dev/null", errors=True)


def count(source, size, rows, options):
    """Returns {kernel: its stages}. A stage maps each number of rows to {name: count}, and
    "domain" to the domain of the rows. `options` is text for --gpu-persistent. If there are few
    blocks, the counts also have "sums", the number of sums of each warp, and "place": the first
    byte of the sums, their end, and the number of bytes."""
    text = run_opt(source, size, "%s count-rows=%s" % (
        options, ",".join(map(str, sorted(rows)))))
    found = {}
    for line in re.findall(r'Remark="work of @([^"]*)"', text):
        head, body = line.split(": ")
        name, stage, domain, number = re.fullmatch(
            r"(.*)\.rows, stage (\d+), domain (-?\d+), count (\d+)", head).groups()
        body, *warps = re.split(
            r", sums from byte (\d+) to (\d+) of (\d+), of warps ", body)
        counts = {what: int(value) for what, value
                  in re.findall(r"([a-z ]+) (\d+)(?:, |$)", body)}
        if warps:
            counts["place"] = [int(byte) for byte in warps[:3]]
            counts["sums"] = [int(sums) for sums in warps[3].split()]
        stages = found.setdefault(name, {})
        stages.setdefault(int(stage), {"domain": int(domain)})[int(number)] = counts
    if not found:
        raise batchtest.ToolError("batch-opt printed no Work remarks:\n" + text)
    return {name: [stages[number] for number in sorted(stages)]
            for name, stages in found.items()}


def kept_bytes(source, size, options):
    """Returns the size in bytes of the parameters that stay in the shared memory of a block."""
    text = run_opt(source, size, options)
    return int(re.search(r'Remark="(\d+) of \d+ bytes of parameters stay', text)[1])


def choose(source, size, options):
    """Returns the executor that `auto` selects, by its name in benchmarks/gpu. `options` is text
    for --gpu-persistent."""
    text = run_opt(source, size, options)
    found = re.search(r": executor ([a-z0-9 ]+), which takes the fewest", text)[1]
    return {"cluster of 8": "cluster", "cluster of 16": "cluster-16"}.get(found, found)


def find_steps(program, inputs, batch, trace, *options):
    """Runs a program on the CPU and writes its trace to the file `trace`. Returns
    [(kernel, tasks)] for each mini-batch, and the total number of barriers."""
    counts = batchtest.run_model(program, inputs, "--trace=" + trace, *options,
                                 batch=batch, check=False)
    with open(trace) as file:
        events = json.load(file)["traceEvents"]
    steps = [[] for _ in range(counts["mini_batches"])]
    for event in events:
        if "tasks" in event.get("args", {}):
            steps[event["args"]["mini_batch"]].append(
                (event["name"], event["args"]["tasks"]))
    return steps, counts["barriers"]


def stages_of(kernel, tasks, kids=0):
    """Yields (counts, rows) for each stage of a kernel with `tasks` tasks and `kids` rows in
    ragged domains. The counts of a stage that runs once do not depend on the number of rows."""
    for stage in kernel:
        rows = {TASKS: tasks, ONCE: tasks}.get(stage["domain"], kids)
        yield stage[rows], rows
